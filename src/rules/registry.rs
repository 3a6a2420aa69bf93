//! What a rule is, and what is asked of the registry.

use super::REGISTRY;
use super::proposal::Proposal;
use super::scene::{Group, Scene};
use crate::policy::{RuleInfo, RuleKind};

/// Which pools a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pools {
    /// Those that the pod may or must land on.
    Reached,
    /// Those that it cannot land on.
    Unreached,
}

/// Which objects a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objects {
    /// Pods, and the pods that workloads make.
    Pods,
    /// Workloads only.
    Workloads,
}

/// A rule: what it is called, what it says of itself, and what it decides.
#[derive(Debug)]
pub struct Rule {
    /// Stable kebab-case id.
    pub id: &'static str,
    /// Core or advice.
    pub kind: RuleKind,
    /// Which pools it looks at.
    pub pools: Pools,
    /// Which objects it looks at.
    pub objects: Objects,
    /// One sentence: what it does.
    pub summary: &'static str,
    /// Why, in a few sentences.
    pub why: &'static str,
    /// What it leaves alone.
    pub leaves: &'static str,
    /// How one workload opts out, besides the rule's mode.
    pub opt_out: &'static str,
    /// YAML that makes it speak.
    pub before: &'static str,
    /// The same YAML as admitted, or mended by the user.
    pub after: &'static str,
    /// Decides; pure.
    pub decide: fn(&Scene<'_>, &Group<'_>) -> Vec<Proposal>,
}

/// What the policy loader must know of the rules, in the order of the registry.
pub fn catalogue() -> Vec<RuleInfo> {
    REGISTRY.iter().map(|rule| RuleInfo { id: rule.id, kind: rule.kind, summary: rule.summary }).collect()
}

/// The place of a rule in the registry.
pub(super) fn index_of(id: &str) -> usize {
    REGISTRY.iter().position(|rule| rule.id == id).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_well_described_and_unique() {
        for (index, rule) in REGISTRY.iter().enumerate() {
            let kebab = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(rule.id.chars().all(kebab), "{}", rule.id);
            assert_eq!(index_of(rule.id), index, "{} is there twice", rule.id);
            for text in [rule.summary, rule.why, rule.leaves, rule.opt_out] {
                assert!(text.ends_with('.'), "{}: {text:?} does not end with a period", rule.id);
            }
            assert!(!rule.before.is_empty() && !rule.after.is_empty(), "{}: no example", rule.id);
        }
    }

    #[test]
    fn every_rule_file_is_registered() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/rules");
        #[expect(clippy::disallowed_methods, reason = "the test lists the source files")]
        let files = std::fs::read_dir(folder).unwrap();
        let shared = ["mod", "finding", "proposal", "registry", "run", "scene"];
        let mut rules: Vec<String> = files
            .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().replace('_', "-"))
            .filter(|name| !shared.contains(&name.as_str()))
            .collect();
        let mut registered: Vec<String> = REGISTRY.iter().map(|rule| rule.id.to_owned()).collect();
        rules.sort();
        registered.sort();
        assert_eq!(rules, registered);
    }
}
