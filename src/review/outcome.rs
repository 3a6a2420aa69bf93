//! What a review ends in, for the HTTP layer, the log and the metrics.

use crate::rules::Finding;

/// The four endpoints; the mode is part of the path, so that no lookup decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// Mutating, pods CREATE, namespace mode enforce.
    PodsEnforce,
    /// Mutating, pods CREATE, namespace mode audit.
    PodsAudit,
    /// Validating, StatefulSets and Deployments CREATE/UPDATE, namespace mode enforce.
    WorkloadsEnforce,
    /// Validating, StatefulSets and Deployments CREATE/UPDATE, namespace mode audit.
    WorkloadsAudit,
}

impl Endpoint {
    /// All endpoints.
    pub const ALL: [Self; 4] =
        [Self::PodsEnforce, Self::PodsAudit, Self::WorkloadsEnforce, Self::WorkloadsAudit];

    /// The URL path.
    pub fn path(self) -> &'static str {
        match self {
            Self::PodsEnforce => "/pods/enforce",
            Self::PodsAudit => "/pods/audit",
            Self::WorkloadsEnforce => "/workloads/enforce",
            Self::WorkloadsAudit => "/workloads/audit",
        }
    }
}

/// What was decided, as a closed set for logs and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Allowed, nothing to do.
    Allowed,
    /// Allowed with a patch.
    Patched,
    /// Refused.
    Denied,
    /// Allowed; in enforce mode it would have been patched.
    WouldPatch,
    /// Allowed; in enforce mode it would have been refused.
    WouldDeny,
    /// Allowed because it is not ours to judge: another kind, operation, subresource, or a mirror pod.
    NotOurs,
}

impl Decision {
    /// The word used in logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Patched => "patched",
            Self::Denied => "denied",
            Self::WouldPatch => "would-patch",
            Self::WouldDeny => "would-deny",
            Self::NotOurs => "not-ours",
        }
    }
}

/// Everything the log and the metrics need to know of a decided review.
#[derive(Clone, Debug)]
pub struct Record {
    /// What was decided.
    pub decision: Decision,
    /// `pods`, `statefulsets`, `deployments` or `other`.
    pub resource: &'static str,
    /// `CREATE`, `UPDATE` or `other`.
    pub operation: &'static str,
    /// `request.uid`.
    pub uid: String,
    /// `request.namespace`.
    pub namespace: String,
    /// Name of the object, or `prefix*` where only generateName is known.
    pub name: String,
    /// All findings, whatever their mode.
    pub findings: Vec<Finding>,
    /// The JSON Patch that audit mode held back, as text.
    pub would_be_patch: Option<String>,
    /// Reason given in `sundown.dev/allow-rwo`, when it exempted the object.
    pub exempt: Option<String>,
}

/// A decided review: HTTP 200.
#[derive(Clone, Debug)]
pub struct Reviewed {
    /// The AdmissionReview response, as JSON.
    pub body: Vec<u8>,
    /// For the log and the metrics.
    pub record: Record,
}

/// Why a review could not be decided; the cluster's failurePolicy then decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorReason {
    /// The body is not JSON, or is cut short.
    Json,
    /// JSON, but no AdmissionReview with a request.
    NotAReview,
    /// An AdmissionReview of another version than v1.
    Version,
    /// The object in it does not parse as the kind it claims to be.
    Object,
}

impl ErrorReason {
    /// The word used in logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::NotAReview => "not-a-review",
            Self::Version => "version",
            Self::Object => "object",
        }
    }
}

/// A review that could not be decided: HTTP 400 with this line.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ReviewError {
    /// As a closed set, for the metrics.
    pub reason: ErrorReason,
    /// One line that says why.
    pub message: String,
}

/// Decides reviews; the server knows no more of the core than this.
pub trait Reviewer: Send + Sync + 'static {
    /// Decides one review. `body` is the whole HTTP body.
    ///
    /// # Errors
    /// When it cannot be decided; nothing is guessed.
    fn review(&self, endpoint: Endpoint, body: &[u8]) -> Result<Reviewed, ReviewError>;
}
