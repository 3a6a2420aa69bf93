//! deployment-rwo: a Deployment that waits for its volume.

use super::finding::Severity;
use super::proposal::Proposal;
use super::registry::{Objects, Pools, Rule};
use super::rwo_statefulset::{ClaimUse, claims};
use super::scene::{Group, Kind, Scene};
use crate::policy::RuleKind;
use crate::subject::AccessModes;

pub(super) const RULE: Rule = Rule {
    id: "deployment-rwo",
    kind: RuleKind::Advice,
    pools: Pools::Reached,
    objects: Objects::Workloads,
    summary: "Warns about ReadWriteOnce claims of workloads other than StatefulSets on the pool.",
    why: "The replacement starts on another node and waits there for the volume, which stays attached to the dead one for minutes.",
    leaves: "Claims that are not known, shared claims, and storage classes listed in allowedStorageClasses of rwo-statefulset.",
    opt_out: "Set the mode of the rule to off in the policy.",
    before: "volumes:\n- name: data\n  persistentVolumeClaim: {claimName: data}   # ReadWriteOnce",
    after: "volumes:\n- name: data\n  persistentVolumeClaim: {claimName: data}   # ReadWriteMany",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    let subject = scene.subject;
    if matches!(subject.kind, Kind::StatefulSet | Kind::DaemonSet) {
        return Vec::new();
    }
    let stuck = |claim: &ClaimUse| {
        let case = group.cases.iter().find(|case| {
            let allowed = &case.policy.rules.rwo_statefulset.allowed_storage_classes;
            claim.modes == Some(AccessModes::SingleNode) && !allowed.contains(&claim.class)
        })?;
        Some(Proposal::say(
            &case.policy.name,
            Severity::Warning,
            claim.path.clone(),
            format!("ReadWriteOnce claim {}: the replacement waits minutes for its volume", claim.name),
            "use ReadWriteMany, or keep the workload off the pool",
        ))
    };
    claims(subject, scene.view).iter().filter_map(stuck).collect()
}
