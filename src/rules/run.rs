//! Runs the rules over a scene, and lets the modes have their say.

use super::REGISTRY;
use super::finding::{Action, Finding, Intent, Mode, Severity};
use super::proposal::{Edit, Want};
use super::registry::{Objects, Pools};
use super::scene::{Group, Scene};

/// An edit, and the finding that gives its value and reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    /// Index in [`Verdict::findings`].
    finding: usize,
    edit: Edit,
}

/// What all rules together say of one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Everything there is to say, in the order of the rules.
    pub findings: Vec<Finding>,
    changes: Vec<Change>,
    /// The reason for which the object is exempt from a rule that would refuse it.
    pub exempt: Option<String>,
}

impl Verdict {
    /// What an enforcing namespace changes, in the order of application, each with its finding.
    pub fn changes(&self) -> impl Iterator<Item = (Edit, &Finding)> {
        self.changes.iter().filter_map(|change| Some((change.edit, self.findings.get(change.finding)?)))
    }

    /// Keeps only these findings, and changes nothing.
    pub fn only_tell(&mut self, told: impl Fn(&Finding) -> bool) {
        self.changes.clear();
        self.findings.retain(told);
    }

    /// What becomes of it in a namespace that only audits: everything is reported, nothing happens.
    pub fn audit(&mut self) {
        for finding in &mut self.findings {
            finding.mode = finding.mode.min(Mode::Audit);
            finding.action = Action::None;
            finding.severity = Severity::Info;
        }
    }

    /// Whether an enforcing namespace refuses the object.
    pub fn denies(&self) -> bool {
        self.findings.iter().any(|finding| finding.intent == Intent::Deny)
    }
}

/// Runs all rules as in a namespace that enforces; an object that is being deleted passes without a word.
pub fn run(scene: &Scene<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    if scene.subject.metadata.deletion_timestamp.0 {
        return verdict;
    }
    for (index, rule) in REGISTRY.iter().enumerate() {
        let cases =
            if rule.pools == Pools::Reached { &scene.pooled.reached } else { &scene.pooled.unreached };
        let wanted_here = rule.objects == Objects::Pods || scene.subject.workload.is_some();
        if cases.is_empty() || !wanted_here {
            continue;
        }
        for group in Group::by_mode(cases, index) {
            for proposal in (rule.decide)(scene, &group) {
                if let Want::Exempt(reason) = &proposal.want {
                    verdict.exempt = Some(reason.clone());
                }
                let (finding, edit) = proposal.into_finding(rule.id, group.mode);
                verdict.changes.extend(edit.map(|edit| Change { finding: verdict.findings.len(), edit }));
                verdict.findings.push(finding);
            }
        }
    }
    verdict
}
