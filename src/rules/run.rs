//! Runs the rules over a scene, and lets the modes have their say.

use serde_json::Value;

use super::finding::{Finding, Intent, Mode};
use super::proposal::{Edit, Want};
use super::registry::{Objects, Pools, REGISTRY};
use super::scene::{Case, Group, Scene, reach_of};
use crate::subject::Placement;

/// An edit, and what is recorded of it on the pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Id of the rule.
    pub rule: &'static str,
    /// JSON pointer of the field.
    pub path: String,
    /// Value before.
    pub from: Value,
    /// Value after.
    pub to: Value,
    /// What is to be done.
    pub edit: Edit,
}

impl Change {
    fn new(finding: &Finding, edit: Edit) -> Self {
        Self {
            rule: finding.rule,
            path: finding.path.clone(),
            from: finding.from.clone(),
            to: finding.to.clone(),
            edit,
        }
    }
}

/// What all rules together say of one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Everything there is to say, in the order of the rules.
    pub findings: Vec<Finding>,
    /// What an enforcing namespace changes, in the order of application.
    pub changes: Vec<Change>,
    /// The reason for which the object is exempt from a rule that would refuse it.
    pub exempt: Option<String>,
}

impl Verdict {
    /// Whether an enforcing namespace refuses the object.
    pub fn denies(&self) -> bool {
        self.findings.iter().any(|finding| finding.intent == Intent::Deny)
    }
}

/// Runs all rules. What happens is the weaker of the rule's mode and the namespace's; an object that is being
/// deleted passes without a word.
pub fn run(scene: &Scene<'_>, namespace: Mode) -> Verdict {
    let mut verdict = Verdict::default();
    if scene.subject.metadata.deletion_timestamp.0 {
        return verdict;
    }
    let unreached: Vec<Case<'_>> = reach_of(scene.subject.pod, scene.policies)
        .filter(|case| case.reach.placement == Placement::Never)
        .collect();
    for (index, rule) in REGISTRY.iter().enumerate() {
        let cases = if rule.pools == Pools::Reached { scene.reached } else { &unreached };
        let wanted_here = rule.objects == Objects::Pods || scene.subject.workload.is_some();
        if cases.is_empty() || !wanted_here {
            continue;
        }
        for group in Group::by_mode(cases, index) {
            for proposal in (rule.decide)(scene, &group) {
                if let Want::Exempt(reason) = &proposal.want {
                    verdict.exempt = Some(reason.clone());
                }
                let mode = group.mode.min(namespace);
                let (finding, edit) = proposal.into_finding(rule.id, group.mode, mode);
                verdict.changes.extend(edit.map(|edit| Change::new(&finding, edit)));
                verdict.findings.push(finding);
            }
        }
    }
    verdict
}
