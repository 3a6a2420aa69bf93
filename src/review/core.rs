//! The decision: from a request to an answer.

use std::sync::Arc;

use arc_swap::ArcSwap;

use super::decode::{Object, Request, decode};
use super::encode::{Answer, AuditAnnotations, denial, encode, findings_text, patch_text, warnings};
use super::outcome::{Decision, Endpoint, ErrorReason, Record, ReviewError, Reviewed, Reviewer};
use super::patch::operations;
use crate::policy::PolicySet;
use crate::rules::{
    Action, Finding, Intent, Kind, Mode, Pooled, Scene, Severity, Subject, Verdict, View, run,
};
use crate::subject::{Metadata, Pod, Workload};

/// Decides reviews by the loaded policies, which may be exchanged while it runs.
pub struct Core {
    policies: ArcSwap<PolicySet>,
    view: Arc<dyn View>,
}

impl Core {
    /// A core with these policies and this view of the cluster.
    pub fn new(policies: PolicySet, view: Arc<dyn View>) -> Self {
        Self { policies: ArcSwap::from_pointee(policies), view }
    }

    /// Puts other policies in place; reviews under way end with the old ones.
    pub fn replace(&self, policies: PolicySet) {
        self.policies.store(Arc::new(policies));
    }
}

impl Reviewer for Core {
    fn review(&self, endpoint: Endpoint, body: &[u8]) -> Result<Reviewed, ReviewError> {
        let request = decode(body)?;
        let policies = self.policies.load();
        let deciding =
            Deciding { request: &request, policies: &policies, view: &*self.view, mode: mode(endpoint) };
        let (answer, mut record) = match endpoint {
            Endpoint::PodsEnforce | Endpoint::PodsAudit => deciding.pod(),
            Endpoint::WorkloadsEnforce | Endpoint::WorkloadsAudit => deciding.workload(),
        }?;
        record.uid = request.uid.as_str().to_owned();
        let body = encode(&request.uid, &answer).map_err(unencodable)?;
        Ok(Reviewed { body, record })
    }
}

fn mode(endpoint: Endpoint) -> Mode {
    match endpoint {
        Endpoint::PodsEnforce | Endpoint::WorkloadsEnforce => Mode::Enforce,
        Endpoint::PodsAudit | Endpoint::WorkloadsAudit => Mode::Audit,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn unencodable(error: serde_json::Error) -> ReviewError {
    ReviewError { reason: ErrorReason::Object, message: format!("the answer does not encode: {error}") }
}

fn unreadable(message: &str) -> ReviewError {
    ReviewError { reason: ErrorReason::Object, message: message.to_owned() }
}

struct Deciding<'a> {
    request: &'a Request<'a>,
    policies: &'a PolicySet,
    view: &'a dyn View,
    /// Of the namespace: enforce or audit.
    mode: Mode,
}

type Decided = Result<(Answer, Record), ReviewError>;

impl Deciding<'_> {
    fn pod(&self) -> Decided {
        if !self.request.is_ours() || self.request.kind.kind != "Pod" {
            return Ok(self.not_ours());
        }
        let Object::Pod(pod) = &self.request.object else {
            return Err(unreadable("the request has no object"));
        };
        let Pod { kind, metadata: Some(metadata), spec: Some(spec) } = &**pod else {
            return Err(unreadable("the pod has no metadata, or no spec"));
        };
        check_kind(kind, "Pod")?;
        if metadata.is_mirror() {
            return Ok(self.not_ours());
        }
        let subject = Subject {
            kind: Kind::Pod,
            namespace: &self.request.namespace,
            metadata,
            pod_metadata: metadata,
            pod: spec,
            controller: metadata.controller(),
            workload: None,
        };
        let mut verdict = self.run(&subject, None);
        self.hold_back(&mut verdict);
        self.pod_answer(pod, metadata, verdict).map_err(unencodable)
    }

    fn pod_answer(
        &self,
        pod: &Pod<'_>,
        metadata: &Metadata<'_>,
        verdict: Verdict,
    ) -> serde_json::Result<(Answer, Record)> {
        let (operations, recorded) = operations(pod, &verdict, Kind::Pod.pod_pointer());
        let patch = patch_text(&operations)?;
        let enforcing = self.mode == Mode::Enforce;
        let mut answer = Answer::default();
        if patch.is_some() {
            // A review without an edit leaves the annotations of an earlier round alone.
            answer.audit = AuditAnnotations {
                patch: patch.clone(),
                findings: findings_text(&verdict.findings)?,
                exempt: None,
            };
        }
        if enforcing {
            answer.warnings = warnings(&verdict.findings);
            if !recorded {
                answer
                    .warnings
                    .push("sundown: changes are not recorded, the pod's annotations are full".to_owned());
            }
            answer.patch.clone_from(&patch);
        }
        let decision = match (&patch, enforcing) {
            (None, _) => Decision::Allowed,
            (Some(_), true) => Decision::Patched,
            (Some(_), false) => Decision::WouldPatch,
        };
        let mut record = self.record(decision, metadata, verdict);
        record.would_be_patch = patch.filter(|_| !enforcing);
        Ok((answer, record))
    }

    fn workload(&self) -> Decided {
        let kind = match self.request.kind.kind.as_str() {
            "StatefulSet" if self.request.is_ours() => Kind::StatefulSet,
            "Deployment" if self.request.is_ours() => Kind::Deployment,
            _ => return Ok(self.not_ours()),
        };
        let Object::Workload(workload) = &self.request.object else {
            return Err(unreadable("the request has no object"));
        };
        check_kind(&workload.kind, &self.request.kind.kind)?;
        let subject = self.subject(kind, workload);
        let old = match &self.request.old_object {
            Object::Workload(old) => Some(self.subject(kind, old)),
            _ => None,
        };
        let mut verdict = self.run(&subject, old.as_ref());
        as_seen_on_a_workload(&mut verdict, &subject);
        self.hold_back(&mut verdict);
        self.workload_answer(&workload.metadata, verdict).map_err(unencodable)
    }

    fn subject<'s>(&'s self, kind: Kind, workload: &'s Workload<'s>) -> Subject<'s> {
        Subject {
            kind,
            namespace: &self.request.namespace,
            metadata: &workload.metadata,
            pod_metadata: &workload.spec.template.metadata,
            pod: &workload.spec.template.spec,
            controller: kind.pod_controller(),
            workload: Some(&workload.spec),
        }
    }

    fn workload_answer(
        &self,
        metadata: &Metadata<'_>,
        verdict: Verdict,
    ) -> serde_json::Result<(Answer, Record)> {
        let enforcing = self.mode == Mode::Enforce;
        let mut answer = Answer {
            audit: AuditAnnotations {
                patch: None,
                findings: findings_text(&verdict.findings)?,
                exempt: verdict.exempt.clone(),
            },
            ..Answer::default()
        };
        let decision = match (verdict.denies(), enforcing) {
            (false, _) => Decision::Allowed,
            (true, true) => Decision::Denied,
            (true, false) => Decision::WouldDeny,
        };
        if enforcing {
            answer.warnings = warnings(&verdict.findings);
            answer.denial = verdict.denies().then(|| denial(&verdict.findings));
        }
        Ok((answer, self.record(decision, metadata, verdict)))
    }

    fn run(&self, subject: &Subject<'_>, old: Option<&Subject<'_>>) -> Verdict {
        let policies = self.policies.policies();
        let pooled = Pooled::of(subject.pod, policies);
        run(&Scene { subject, old, policies, pooled: &pooled, view: self.view })
    }

    /// What happens is the weaker of the rules' modes and the namespace's.
    fn hold_back(&self, verdict: &mut Verdict) {
        if self.mode != Mode::Enforce {
            verdict.audit();
        }
    }

    fn not_ours(&self) -> (Answer, Record) {
        (Answer::default(), self.record(Decision::NotOurs, &Metadata::default(), Verdict::default()))
    }

    fn record(&self, decision: Decision, metadata: &Metadata<'_>, verdict: Verdict) -> Record {
        let request = self.request;
        let ours = decision != Decision::NotOurs;
        let resource = match request.kind.kind.as_str() {
            "Pod" if ours => "pods",
            "StatefulSet" if ours => "statefulsets",
            "Deployment" if ours => "deployments",
            _ => "other",
        };
        let operation = match request.operation.as_str() {
            "CREATE" => "CREATE",
            "UPDATE" => "UPDATE",
            _ => "other",
        };
        let name =
            if request.name.is_empty() { metadata.display_name() } else { request.name.as_str().to_owned() };
        Record {
            decision,
            resource,
            operation,
            uid: String::new(),
            namespace: request.namespace.as_str().to_owned(),
            name,
            findings: verdict.findings,
            would_be_patch: None,
            exempt: verdict.exempt,
        }
    }
}

fn check_kind(found: &str, wanted: &str) -> Result<(), ReviewError> {
    if found.is_empty() || found == wanted {
        return Ok(());
    }
    let found: String = found.chars().take(60).collect();
    Err(unreadable(&format!("the object is a {found:?}, the request says {wanted}")))
}

/// A workload itself is not changed: of what will happen to its pods, the user is told what goes against what
/// was written. Where the priority is not resolved yet, the window is not known, and nothing is told of it.
fn as_seen_on_a_workload(verdict: &mut Verdict, subject: &Subject<'_>) {
    let priority_is_open = subject.pod.priority.is_none()
        && !subject.pod.priority_class_name.is_empty()
        && !subject.pod.is_system_critical();
    let told = |finding: &Finding| {
        finding.intent != Intent::Change || (finding.severity == Severity::Error && !priority_is_open)
    };
    verdict.only_tell(told);
    for finding in &mut verdict.findings {
        if finding.action == Action::Change {
            finding.action = Action::Advise;
            finding.severity = Severity::Warning;
        }
    }
}
