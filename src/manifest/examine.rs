//! Examines objects: types, what the API server would refuse, and the rules.

use serde::Deserialize;
use serde_json::{Value, json};

use super::INVALID_OBJECT;
use super::index::Index;
use super::objects::ManifestObject;
use super::shape::coerce;
use super::simulate;
use super::validity::invalid;
use crate::policy::PolicySet;
use crate::review::operations;
use crate::rules::{Action, Finding, Intent, Kind, Mode, Pooled, Scene, Severity, Subject, Verdict, run};
use crate::subject::{Pod, Workload};

/// What came of one object.
#[derive(Debug, Default)]
pub struct Examined {
    /// Findings, paths relative to the object.
    pub findings: Vec<Finding>,
    /// It may or must run on a pool.
    pub targeted: bool,
    /// The pod before and after admission, where it is changed and a preview was asked for.
    pub preview: Option<(Value, Value)>,
    /// A priority class that is not in the input, so that the priority was taken as 0.
    pub unknown_class: Option<String>,
}

/// Examines objects by some policies. The namespace is taken to enforce, and a bare pod to be created, not
/// applied.
pub struct Examiner<'p> {
    policies: &'p PolicySet,
    with_preview: bool,
}

impl<'p> Examiner<'p> {
    /// An examiner; with previews if asked for.
    pub fn new(policies: &'p PolicySet, with_preview: bool) -> Self {
        Self { policies, with_preview }
    }

    /// Examines one object of a kind that holds pods.
    pub fn examine(&self, object: &ManifestObject<'_>, kind: Kind, index: &Index) -> Examined {
        let (json, wrong_types) = coerce(object.node, kind);
        let mut examined = Examined::default();
        examined.findings.extend(wrong_types.into_iter().map(|w| refused(w.path, w.message, w.help)));
        let refusals = invalid(&json, kind).into_iter().map(|i| {
            let help = explain(object.kind, &i.path);
            refused(i.path, i.message, help)
        });
        examined.findings.extend(refusals);
        let simulated = simulate::pod(&json, kind, index, self.default_seconds());
        examined.unknown_class = simulated.unknown_class;
        if let Err(error) = self.judge(&json, kind, &simulated.pod, index, &mut examined) {
            let message = format!("the object does not read: {error}");
            examined.findings.push(refused(String::new(), message, explain(object.kind, "")));
        }
        examined
    }

    fn judge(
        &self,
        object: &Value,
        kind: Kind,
        pod_json: &Value,
        index: &Index,
        examined: &mut Examined,
    ) -> serde_json::Result<()> {
        let pod = Pod::deserialize(pod_json)?;
        let (Some(pod_metadata), Some(pod_spec)) = (&pod.metadata, &pod.spec) else { return Ok(()) };
        // A CronJob is looked at as the Job that it makes.
        let of_cron_job = (kind == Kind::CronJob)
            .then(|| json!({"metadata": object["metadata"], "spec": object.pointer(kind.spec_pointer())}));
        let workload = Workload::deserialize(of_cron_job.as_ref().unwrap_or(object))?;
        let is_pod = kind == Kind::Pod;
        let subject = Subject {
            kind,
            namespace: &workload.metadata.namespace,
            metadata: if is_pod { pod_metadata } else { &workload.metadata },
            pod_metadata,
            pod: pod_spec,
            controller: if is_pod { pod_metadata.controller() } else { kind.pod_controller() },
            workload: (!is_pod).then_some(&workload.spec),
        };
        if pod_metadata.is_mirror() {
            return Ok(());
        }
        let policies = self.policies.policies();
        let pooled = Pooled::of(pod_spec, policies);
        let scene = Scene { subject: &subject, old: None, policies, pooled: &pooled, view: index };
        let verdict = run(&scene);
        examined.targeted = !pooled.reached.is_empty();
        if self.with_preview {
            examined.preview = preview(&pod, pod_json, &verdict, kind)?;
        }
        examined.findings.extend(verdict.findings);
        Ok(())
    }

    /// What DefaultTolerationSeconds fills in; all policies agree on it.
    fn default_seconds(&self) -> i64 {
        let first = self.policies.policies().first();
        first.map_or(300, |policy| policy.rules.not_ready.cluster_default_seconds)
    }
}

fn preview(
    pod: &Pod<'_>,
    before: &Value,
    verdict: &Verdict,
    kind: Kind,
) -> serde_json::Result<Option<(Value, Value)>> {
    let (operations, _) = operations(pod, verdict, kind.pod_pointer());
    if operations.is_empty() {
        return Ok(None);
    }
    let patch: json_patch::Patch = serde_json::from_value(serde_json::to_value(&operations)?)?;
    let mut after = before.clone();
    // The operations are made for this very pod; one that did not apply would be a fault of ours.
    json_patch::patch(&mut after, &patch).map_err(serde::de::Error::custom)?;
    Ok(Some((before.clone(), after)))
}

/// Where the API's own documentation of a field is: indexes and the keys of maps are not part of its name.
fn explain(kind: &str, path: &str) -> String {
    let fields = path.split('/').skip(1).filter(|part| part.parse::<usize>().is_err());
    let mut name = kind.to_lowercase();
    for field in fields {
        name.push('.');
        name.push_str(field);
        if ["labels", "nodeSelector", "annotations"].contains(&field) {
            break;
        }
    }
    format!("kubectl explain {name} says what may stand here")
}

/// A finding about what the API server would refuse.
fn refused(path: String, message: String, help: String) -> Finding {
    Finding {
        rule: INVALID_OBJECT,
        severity: Severity::Error,
        mode: Mode::Warn,
        intent: Intent::Inform,
        policy: String::new(),
        path,
        action: Action::None,
        message,
        help,
        from: Value::Null,
        to: Value::Null,
    }
}
