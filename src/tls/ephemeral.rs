//! A throw-away authority for a laptop: made at start, gone with the process.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, SanType,
};
use rustls::pki_types::{DnsName, PrivateKeyDer, PrivatePkcs8KeyDer};
use time::{Duration, OffsetDateTime};

use super::pair::{Pair, PairError};

/// How long it is valid; a process on a laptop is restarted sooner.
const LIFETIME: Duration = Duration::days(365);
/// Dated back this much, for clocks that are behind.
const BACKDATE: Duration = Duration::hours(1);

/// A fresh authority's certificate and a leaf signed by it; the authority's key is gone.
#[derive(Clone, Debug)]
pub struct Ephemeral {
    /// To be served.
    pub pair: Pair,
    /// The authority, for `caBundle` or `curl --cacert`.
    pub ca_pem: String,
}

/// No certificate could be made.
#[derive(Debug, thiserror::Error)]
pub enum EphemeralError {
    /// A name that cannot stand in a certificate.
    #[error("--tls-san {0:?}: neither a DNS name nor an IP address; give one of these")]
    Name(String),
    /// Key generation or signing failed.
    #[error("cannot make a certificate: {0}")]
    Issue(#[from] rcgen::Error),
    /// What was made cannot be served.
    #[error("cannot serve the certificate just made: {0}")]
    Pair(#[from] PairError),
}

impl Ephemeral {
    /// Makes one for localhost, 127.0.0.1, ::1 and each of `names` (DNS names or IP addresses).
    ///
    /// # Errors
    /// When a name cannot stand in a certificate, or the system gives no randomness.
    pub fn issue(names: &[String]) -> Result<Self, EphemeralError> {
        let authority = CertifiedIssuer::self_signed(authority(), ecdsa_key()?)?;
        let key = ecdsa_key()?;
        let leaf = leaf(names)?.signed_by(&key, &authority)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        Ok(Self { pair: Pair::new(vec![leaf.der().clone()], key)?, ca_pem: authority.pem() })
    }
}

fn ecdsa_key() -> Result<KeyPair, rcgen::Error> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)
}

fn authority() -> CertificateParams {
    let mut params = dated("sundown ephemeral CA");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn leaf(names: &[String]) -> Result<CertificateParams, EphemeralError> {
    let mut params = dated("sundown");
    params.subject_alt_names = vec![
        dns("localhost")?,
        SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        SanType::IpAddress(IpAddr::V6(Ipv6Addr::LOCALHOST)),
    ];
    for name in names {
        params
            .subject_alt_names
            .push(name.parse().map_or_else(|_| dns(name), |ip| Ok(SanType::IpAddress(ip)))?);
    }
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

fn dns(name: &str) -> Result<SanType, EphemeralError> {
    let host = name.strip_prefix("*.").unwrap_or(name);
    // A certificate can hold any ASCII there; clients take host names only.
    match (DnsName::try_from(host), name.try_into()) {
        (Ok(_), Ok(name)) => Ok(SanType::DnsName(name)),
        _ => Err(EphemeralError::Name(name.to_owned())),
    }
}

fn dated(common_name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    let now = OffsetDateTime::now_utc();
    params.not_before = now - BACKDATE;
    params.not_after = now + LIFETIME;
    params
}

#[cfg(test)]
mod tests {
    use rustls::RootCertStore;
    use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
    use rustls::crypto::aws_lc_rs::default_provider;
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
    use rustls::server::ParsedCertificate;

    use super::*;

    #[test]
    fn the_leaf_chains_to_the_authority_under_every_name() {
        let made = Ephemeral::issue(&["sundown.shop.svc".into(), "10.1.2.3".into()]).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(made.ca_pem.as_bytes()).unwrap()).unwrap();
        let leaf = ParsedCertificate::try_from(&made.pair.certified.cert[0]).unwrap();
        let algorithms = default_provider().signature_verification_algorithms.all;
        verify_server_cert_signed_by_trust_anchor(&leaf, &roots, &[], UnixTime::now(), algorithms).unwrap();
        for name in ["localhost", "127.0.0.1", "::1", "sundown.shop.svc", "10.1.2.3"] {
            verify_server_name(&leaf, &ServerName::try_from(name).unwrap()).unwrap();
        }
        assert!(verify_server_name(&leaf, &ServerName::try_from("example.com").unwrap()).is_err());
    }

    #[test]
    fn it_is_dated_back_an_hour() {
        let made = Ephemeral::issue(&[]).unwrap();
        let age = OffsetDateTime::now_utc().unix_timestamp() - made.pair.validity.not_before;
        assert!((3600..3660).contains(&age), "{age}");
    }

    #[test]
    fn a_name_that_is_none_is_refused() {
        let error = Ephemeral::issue(&["two words".into()]).unwrap_err().to_string();
        assert!(error.starts_with("--tls-san \"two words\": "), "{error}");
    }
}
