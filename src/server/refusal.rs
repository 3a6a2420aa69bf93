//! Requests that get no decision: an HTTP error with one line that says why, so that the cluster's failurePolicy
//! decides.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tracing::{debug, warn};

use crate::review::{Endpoint, ReviewError};
use crate::telemetry::Refused;

/// Why a request gets no decision.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("no such path; reviews go to {}", paths())]
    Path,
    #[error("reviews are sent by POST")]
    Method,
    #[error("the Content-Type must be application/json, in UTF-8")]
    ContentType,
    #[error("the body must not be compressed; send it without Content-Encoding")]
    ContentEncoding,
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the body did not arrive within {0:?}")]
    Timeout(std::time::Duration),
    #[error("the body cannot be read: {0}")]
    Body(axum::Error),
    #[error(transparent)]
    Review(#[from] ReviewError),
    #[error("the review failed unexpectedly; the log says where")]
    Panic,
}

impl Refusal {
    /// As a closed set, for the metrics.
    pub(super) fn reason(&self) -> Refused {
        match self {
            Self::Path => Refused::Path,
            Self::Method => Refused::Method,
            Self::ContentType | Self::ContentEncoding => Refused::ContentType,
            Self::TooLarge(_) => Refused::TooLarge,
            Self::Timeout(_) => Refused::Timeout,
            Self::Body(_) => Refused::Body,
            Self::Review(error) => Refused::Review(error.reason),
            Self::Panic => Refused::Panic,
        }
    }

    /// What an API server may cause is a warning; what only others do is noise.
    pub(super) fn log(&self) {
        let (reason, why) = (self.reason().as_str(), self.to_string());
        match self {
            Self::Path | Self::Method | Self::ContentType | Self::ContentEncoding | Self::Body(_) => {
                debug!(reason, why, "request refused");
            }
            Self::TooLarge(_) | Self::Timeout(_) | Self::Review(_) | Self::Panic => {
                warn!(reason, why, "request refused");
            }
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Path => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::ContentType | Self::ContentEncoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Timeout(_) => StatusCode::REQUEST_TIMEOUT,
            Self::Body(_) | Self::Review(_) => StatusCode::BAD_REQUEST,
            Self::Panic => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status(), format!("{self}\n")).into_response()
    }
}

fn paths() -> String {
    Endpoint::ALL.map(Endpoint::path).join(", ")
}
