//! The closed label sets that are not part of the review core.

use crate::review::ErrorReason;

/// Why a request got no decision; label `reason` of `sundown_review_errors_total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refused {
    /// The body is not a review that could be decided.
    Review(ErrorReason),
    /// No such path.
    Path,
    /// Another method than POST.
    Method,
    /// Not `application/json`, or compressed.
    ContentType,
    /// Over the body limit.
    TooLarge,
    /// The body did not arrive in time.
    Timeout,
    /// The body broke off, or was no valid HTTP.
    Body,
    /// The reviewer panicked.
    Panic,
}

impl Refused {
    /// All reasons.
    pub const ALL: [Self; 11] = [
        Self::Review(ErrorReason::Json),
        Self::Review(ErrorReason::NotAReview),
        Self::Review(ErrorReason::Version),
        Self::Review(ErrorReason::Object),
        Self::Path,
        Self::Method,
        Self::ContentType,
        Self::TooLarge,
        Self::Timeout,
        Self::Body,
        Self::Panic,
    ];

    /// The word used in logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Review(reason) => reason.as_str(),
            Self::Path => "path",
            Self::Method => "method",
            Self::ContentType => "content-type",
            Self::TooLarge => "too-large",
            Self::Timeout => "timeout",
            Self::Body => "body",
            Self::Panic => "panic",
        }
    }
}

/// Why a TLS handshake failed; label `reason` of `sundown_tls_handshake_failures_total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HandshakeFailure {
    /// The client closed before or within the handshake: port scans, load-balancer probes, cancelled calls.
    Closed,
    /// Not finished in time.
    Timeout,
    /// The first bytes are not TLS, such as plain HTTP.
    NotTls,
    /// The client sent an alert: it does not trust the certificate, or the name is not in it.
    CertificateRefused,
    /// No common version or cipher, or a broken message.
    Protocol,
    /// The connection broke.
    Io,
}

impl HandshakeFailure {
    /// All reasons.
    pub const ALL: [Self; 6] =
        [Self::Closed, Self::Timeout, Self::NotTls, Self::CertificateRefused, Self::Protocol, Self::Io];

    /// The word used in logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Timeout => "timeout",
            Self::NotTls => "not-tls",
            Self::CertificateRefused => "certificate-refused",
            Self::Protocol => "protocol",
            Self::Io => "io",
        }
    }
}
