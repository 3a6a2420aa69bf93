//! A certificate chain with its private key, checked before it may be served.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, Error, InconsistentKeys, RootCertStore};

/// The year 10000, after every time that X.509 can express. Seconds since the epoch.
const END_OF_TIME: u64 = 253_402_300_800;

/// When a certificate is valid, in seconds since the epoch, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// First valid second; 0 for anything before 1970.
    pub not_before: i64,
    /// Last valid second.
    pub not_after: i64,
}

impl Validity {
    /// Reads it from a certificate.
    ///
    /// # Errors
    /// When it is not an X.509 v3 certificate.
    pub fn of(certificate: &CertificateDer<'_>) -> Result<Self, Error> {
        let parsed = ParsedCertificate::try_from(certificate)?;
        // The validity is looked at first, so two impossible times make the verifier tell both ends.
        let not_before = match verdict_at(&parsed, 0) {
            Err(Error::InvalidCertificate(CertificateError::NotValidYetContext { not_before, .. })) => {
                seconds(not_before)
            }
            _ => 0,
        };
        match verdict_at(&parsed, END_OF_TIME) {
            Err(Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => {
                Ok(Self { not_before, not_after: seconds(not_after) })
            }
            Err(error) => Err(error),
            Ok(()) => Err(Error::InvalidCertificate(CertificateError::BadEncoding)),
        }
    }
}

fn verdict_at(certificate: &ParsedCertificate<'_>, now: u64) -> Result<(), Error> {
    let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(now));
    verify_server_cert_signed_by_trust_anchor(certificate, &RootCertStore::empty(), &[], now, &[])
}

fn seconds(time: UnixTime) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX)
}

/// Now, in seconds since the epoch.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// A point in time for people, in UTC.
pub(super) fn utc(seconds: i64) -> String {
    match time::OffsetDateTime::from_unix_timestamp(seconds) {
        Ok(at) => format!("{} {:02}:{:02} UTC", at.date(), at.hour(), at.minute()),
        Err(_) => format!("{seconds} s after 1970"),
    }
}

/// Why a chain and a key cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum PairError {
    /// No PEM certificate.
    #[error("no certificate in it; it must hold PEM blocks `BEGIN CERTIFICATE`, the server's own first")]
    NoCertificate,
    /// Something that is no X.509 v3 certificate.
    #[error("not a usable X.509 certificate ({0}); issue a new one")]
    Certificate(Error),
    /// No PEM private key.
    #[error(
        "no private key in it; it must hold one PEM block `BEGIN PRIVATE KEY` (also EC or RSA), unencrypted"
    )]
    NoKey,
    /// A key of a kind that cannot sign handshakes.
    #[error("not a usable private key ({0}); use ECDSA P-256/P-384, Ed25519 or RSA of at least 2048 bits")]
    Key(Error),
    /// They do not belong together.
    #[error("certificate and private key do not belong together; give both from one issuance")]
    Mismatch,
    /// Too late.
    #[error("the certificate expired on {}; renew it", utc(*.0))]
    Expired(i64),
    /// Too early.
    #[error("the certificate is not valid before {}; check the clocks, or wait", utc(*.0))]
    NotYetValid(i64),
}

impl PairError {
    /// Whether it is the key's file that needs mending.
    pub fn concerns_key(&self) -> bool {
        matches!(self, Self::NoKey | Self::Key(_))
    }
}

/// A chain and its key that belong together and are valid now.
#[derive(Clone, Debug)]
pub struct Pair {
    pub(super) certified: Arc<CertifiedKey>,
    /// Validity of the server's own certificate, the first of the chain.
    pub validity: Validity,
}

impl Pair {
    /// Reads a chain (server's own certificate first) and a private key, both PEM, and checks them.
    ///
    /// # Errors
    /// When they could not be served now; see [`PairError`].
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, PairError> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(chain)
            .collect::<Result<_, _>>()
            .map_err(|_| PairError::NoCertificate)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| PairError::NoKey)?;
        Self::new(chain, key)
    }

    /// Checks a chain (server's own certificate first) and its private key.
    ///
    /// # Errors
    /// When they could not be served now; see [`PairError`].
    pub fn new(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<Self, PairError> {
        let validity = Validity::of(chain.first().ok_or(PairError::NoCertificate)?);
        let validity = validity.map_err(PairError::Certificate)?;
        let key = default_provider().key_provider.load_private_key(key).map_err(PairError::Key)?;
        let certified = CertifiedKey::new(chain, key);
        match certified.keys_match() {
            Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => {}
            Err(_) => return Err(PairError::Mismatch),
        }
        match now() {
            now if now > validity.not_after => Err(PairError::Expired(validity.not_after)),
            now if now < validity.not_before => Err(PairError::NotYetValid(validity.not_before)),
            _ => Ok(Self { certified: Arc::new(certified), validity }),
        }
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};
    use time::{Duration, OffsetDateTime};

    use super::*;

    fn issue(from: i64, until: i64) -> (String, String) {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.not_before = OffsetDateTime::from_unix_timestamp(from).unwrap();
        params.not_after = OffsetDateTime::from_unix_timestamp(until).unwrap();
        (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
    }

    fn error(chain: &str, key: &str) -> String {
        Pair::from_pem(chain.as_bytes(), key.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn both_ends_of_the_validity_are_read() {
        let (from, until) = (now() - 60, now() + Duration::days(90).whole_seconds());
        let (chain, key) = issue(from, until);
        let pair = Pair::from_pem(chain.as_bytes(), key.as_bytes()).unwrap();
        assert_eq!(pair.validity, Validity { not_before: from, not_after: until });
    }

    #[test]
    fn each_defect_has_its_own_error() {
        let (chain, key) = issue(now() - 60, now() + 60);
        let (_, other) = issue(now() - 60, now() + 60);
        assert!(error("", &key).starts_with("no certificate in it"));
        assert!(error(&chain, "").starts_with("no private key in it"));
        assert!(error(&chain, &chain).starts_with("no private key in it"));
        assert!(error(&chain, &other).starts_with("certificate and private key do not belong together"));
        let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(error(garbage, &key).starts_with("not a usable X.509 certificate"));
    }

    #[test]
    fn a_pair_out_of_its_time_says_when() {
        let (chain, key) = issue(0, 1_711_843_200);
        assert_eq!(error(&chain, &key), "the certificate expired on 2024-03-31 00:00 UTC; renew it");
        let (chain, key) = issue(4_102_444_800, 4_102_531_200);
        assert!(error(&chain, &key).starts_with("the certificate is not valid before 2100-01-01 00:00 UTC"));
    }
}
