//! rwo-statefulset: StatefulSets whose volume would stay attached to a dead node.

use super::finding::{Mode, Severity};
use super::proposal::{Proposal, Want};
use super::registry::{Objects, Pools, Rule};
use super::scene::{Case, Group, Kind, Pooled, Scene, Subject, View};
use crate::policy::RuleKind;
use crate::subject::{AccessModes, Match, Placement};

pub(super) const RULE: Rule = Rule {
    id: "rwo-statefulset",
    kind: RuleKind::Core,
    pools: Pools::Reached,
    objects: Objects::Workloads,
    summary: "Refuses StatefulSets with ReadWriteOnce volumes that target the pool.",
    why: "When the node goes, the volume stays attached to it until its kubelet has unmounted it or the 6-minute force \
          detach, and the replacement waits: 279 s were measured where a Deployment without volume took 7 s.",
    leaves: "ReadWriteMany and ReadOnlyMany claims, storage classes listed in allowedStorageClasses, emptyDir, and \
             generic ephemeral volumes. Only a warning where the taint is tolerated by a key-less toleration, where a \
             pool without a taint may be reached, and where a claim or its access mode is not known. An UPDATE may do \
             anything that adds no violation.",
    opt_out: "Annotate the StatefulSet with sundown.dev/allow-rwo: and the reason, which is recorded.",
    before: "kind: StatefulSet\nspec:\n  template:\n    spec:\n      tolerations: [{key: preemptible, operator: Exists}]\n  \
             volumeClaimTemplates:\n  - metadata: {name: data}\n    spec: {accessModes: [ReadWriteOnce]}",
    after: "kind: StatefulSet\nspec:\n  template:\n    spec: {}   # without the toleration it stays on ordinary nodes\n  \
            volumeClaimTemplates:\n  - metadata: {name: data}\n    spec: {accessModes: [ReadWriteOnce]}",
    decide,
};

/// Help of what is said for information only.
const NOTHING_TO_DO: &str = "nothing is to be done";

/// Annotation on the StatefulSet: why it may.
const ANNOTATION: &str = "sundown.dev/allow-rwo";

/// A claim of the StatefulSet, wherever it comes from.
pub(super) struct ClaimUse {
    /// Name of the template or claim.
    pub name: String,
    /// JSON pointer of the field that says so, relative to the object.
    pub path: String,
    /// Access modes; `None` where the claim is not known.
    pub modes: Option<AccessModes>,
    /// Storage class, empty when unknown.
    pub class: String,
}

/// All claims that the pods of a workload use and that outlive them. A claim template replaces a volume of its
/// name.
pub(super) fn claims(subject: &Subject<'_>, view: &dyn View) -> Vec<ClaimUse> {
    let templates = subject.workload.map(|workload| &*workload.volume_claim_templates).unwrap_or_default();
    let from_templates = templates.iter().enumerate().map(|(index, template)| ClaimUse {
        name: template.metadata.name.as_str().to_owned(),
        path: format!("/spec/volumeClaimTemplates/{index}/spec/accessModes"),
        modes: Some(template.spec.modes()),
        class: template.spec.storage_class_name.as_str().to_owned(),
    });
    let volumes = subject.pod.volumes.iter().enumerate();
    let replaced = |name: &str| templates.iter().any(|template| template.metadata.name == name);
    let existing = volumes.filter(|(_, volume)| !replaced(&volume.name)).filter_map(|(index, volume)| {
        let name = volume.persistent_volume_claim.as_ref()?.claim_name.as_str();
        let known = view.claim(subject.namespace, name);
        Some(ClaimUse {
            name: name.to_owned(),
            path: subject.pod_path(&format!("/spec/volumes/{index}/persistentVolumeClaim/claimName")),
            modes: known.as_ref().map(|claim| claim.modes),
            class: known.map(|claim| claim.storage_class).unwrap_or_default(),
        })
    });
    from_templates.chain(existing).collect()
}

/// Whether the pod gets onto the pool on purpose: by node rules, or by a toleration that names the taint.
fn on_purpose(case: &Case<'_>) -> bool {
    case.reach.placement == Placement::Must || case.reach.tolerance == Some(Match::Explicit)
}

fn violates(claim: &ClaimUse, case: &Case<'_>) -> bool {
    let allowed = &case.policy.rules.rwo_statefulset.allowed_storage_classes;
    claim.modes == Some(AccessModes::SingleNode) && !allowed.contains(&claim.class)
}

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    let subject = scene.subject;
    if subject.kind != Kind::StatefulSet {
        return Vec::new();
    }
    let reason = subject.metadata.annotations.get(ANNOTATION);
    let claims = claims(subject, scene.view);
    let mut proposals = Vec::new();
    for claim in &claims {
        match group.cases.iter().filter(|case| violates(claim, case)).max_by_key(|case| on_purpose(case)) {
            Some(case) => proposals.push(violation(scene, group.mode, claim, case, reason)),
            None => proposals.extend(remark(claim, group.policy())),
        }
    }
    proposals.extend(ephemeral(subject, group.policy()));
    proposals
}

fn violation(
    scene: &Scene<'_>,
    mode: Mode,
    claim: &ClaimUse,
    case: &Case<'_>,
    reason: Option<&str>,
) -> Proposal {
    let pool = &case.policy.name;
    let name = &claim.name;
    let (want, severity, message) = match reason.map(str::trim) {
        Some(reason) if !reason.is_empty() && case.policy.exemptions => {
            let message = format!("ReadWriteOnce claim {name} on pool {pool} is exempt: {reason}");
            (Want::Exempt(reason.to_owned()), Severity::Info, message)
        }
        _ if stood_before(scene, claim, case) => (
            Want::Say,
            Severity::Warning,
            format!("ReadWriteOnce claim {name} stands on pool {pool} as before"),
        ),
        _ if on_purpose(case) => {
            let message = format!(
                "ReadWriteOnce claim {name} on pool {pool}: when a node goes, its volume stays attached until its \
                 kubelet unmounts it or the 6-minute force detach, and the pod waits"
            );
            (if mode == Mode::Enforce { Want::Deny } else { Want::Say }, Severity::Error, message)
        }
        _ => {
            let message =
                format!("ReadWriteOnce claim {name} may land on pool {pool}, where its volume gets stuck");
            (Want::Say, Severity::Warning, message)
        }
    };
    let help = match reason {
        Some(_) if !case.policy.exemptions => {
            "the policy allows no exemptions: sundown.dev/allow-rwo is ignored"
        }
        Some(reason) if reason.trim().is_empty() => "sundown.dev/allow-rwo is ignored: it must hold a reason",
        _ => {
            "keep it off the pool (no toleration, or a node affinity), use ReadWriteMany, list the storage class in \
              allowedStorageClasses, or annotate the StatefulSet with sundown.dev/allow-rwo: <reason>"
        }
    };
    Proposal { want, ..Proposal::say(pool, severity, claim.path.clone(), message, help) }
}

/// Whether the old object had this violation already: the same claim on the same pool, and not only by
/// wildcard or chance where it is on purpose now.
fn stood_before(scene: &Scene<'_>, claim: &ClaimUse, now: &Case<'_>) -> bool {
    let Some(old) = scene.old else { return false };
    let same_claim = claims(old, scene.view).into_iter().find(|before| before.name == claim.name);
    let before = Pooled::of(old.pod, scene.policies).reached;
    let same_pool = before.iter().find(|case| case.policy.name == now.policy.name);
    match (same_claim, same_pool) {
        (Some(claim), Some(before)) => violates(&claim, before) && (on_purpose(before) || !on_purpose(now)),
        _ => false,
    }
}

/// What is worth saying of a claim that violates nothing.
fn remark(claim: &ClaimUse, policy: &str) -> Option<Proposal> {
    let name = &claim.name;
    let (severity, message, help) = match claim.modes {
        None => (
            Severity::Warning,
            format!("claim {name} is not known here: if it is ReadWriteOnce, its volume gets stuck"),
            "create the claim first, or check its access modes",
        ),
        Some(AccessModes::Unknown) => (
            Severity::Warning,
            format!("claim {name} has no access mode that Kubernetes knows"),
            "write accessModes: ReadWriteMany where the volume may move freely",
        ),
        Some(AccessModes::Shared) => {
            (Severity::Info, format!("claim {name} can be mounted on several nodes"), NOTHING_TO_DO)
        }
        Some(AccessModes::SingleNode) => {
            (Severity::Info, format!("claim {name} is of an allowed storage class"), NOTHING_TO_DO)
        }
    };
    Some(Proposal::say(policy, severity, claim.path.clone(), message, help))
}

fn ephemeral(subject: &Subject<'_>, policy: &str) -> Vec<Proposal> {
    let volumes = subject.pod.volumes.iter().enumerate().filter(|(_, volume)| volume.ephemeral.0);
    let say = |(index, volume): (usize, &crate::subject::Volume<'_>)| {
        let message =
            format!("the claim of volume {} belongs to the pod and goes with it", volume.name.as_str());
        let path = subject.pod_path(&format!("/spec/volumes/{index}/ephemeral"));
        Proposal::say(policy, Severity::Info, path, message, NOTHING_TO_DO)
    };
    volumes.map(say).collect()
}
