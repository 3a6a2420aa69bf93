//! local-volume: data that dies with the node.

use super::finding::Severity;
use super::proposal::Proposal;
use super::registry::{Objects, Pools, Rule};
use super::rwo_statefulset::claims;
use super::scene::{Group, Kind, Scene};
use crate::policy::RuleKind;

pub(super) const RULE: Rule = Rule {
    id: "local-volume",
    kind: RuleKind::Advice,
    pools: Pools::Reached,
    objects: Objects::Workloads,
    summary: "Warns about volumes that live on one node of the pool.",
    why: "A hostPath, or a volume of a storage class without provisioner, is on the disk of one node: with the node it is gone.",
    leaves: "Pods of DaemonSets, emptyDir, and storage classes that are not known.",
    opt_out: "Set the mode of the rule to off in the policy.",
    before: "volumes:\n- name: data\n  hostPath: {path: /data}",
    after: "volumes:\n- name: data\n  emptyDir: {}   # if it may be lost",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    let subject = scene.subject;
    if subject.kind == Kind::DaemonSet {
        return Vec::new();
    }
    let host_paths = subject.pod.volumes.iter().enumerate().filter(|(_, volume)| volume.host_path.0);
    let of_node = host_paths.map(|(index, volume)| {
        let path = subject.pod_path(&format!("/spec/volumes/{index}/hostPath"));
        say(group, path, volume.name.as_str(), "is a directory of the node")
    });
    let local =
        claims(subject, scene.view).into_iter().filter(|claim| scene.view.is_local_class(&claim.class));
    let of_class = local.map(|claim| say(group, claim.path, &claim.name, "is bound to one node"));
    of_node.chain(of_class).collect()
}

fn say(group: &Group<'_>, path: String, name: &str, what: &str) -> Proposal {
    Proposal::say(
        group.policy(),
        Severity::Warning,
        path,
        format!("volume {name} {what}: its data goes with a preempted node"),
        "keep data that matters elsewhere, or keep the workload off the pool",
    )
}
