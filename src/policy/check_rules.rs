//! Checks `spec.rules`.

use super::check::label_key;
use super::file::{
    RawConstraint, RawGraceDefault, RawGracePeriod, RawGraceWord, RawInclusion, RawNotReady, RawRules,
    RawTopologySpread, RawWhenUnsatisfiable,
};
use super::issues::Issues;
use super::mode::{Mode, RuleInfo, RuleKind};
use super::pool::Pool;
use super::rules::{Constraint, GraceDefault, GracePeriod, NotReady, Rules, RwoStatefulSet, TopologySpread};
use crate::subject::DEFAULT_GRACE_SECONDS;
use crate::yaml::escaped;

const AT: &str = "/spec/rules";

/// The keys of Kubernetes' own default constraints, with their skews.
/// Source: `systemDefaultConstraints` in the scheduler's `podtopologyspread` plugin.
pub(crate) const CLUSTER_DEFAULTS: [(&str, i64); 2] =
    [("kubernetes.io/hostname", 3), ("topology.kubernetes.io/zone", 5)];

/// Modes and parameters; meaningful only if there is no error.
pub(super) fn rules(raw: RawRules, pool: &Pool, catalogue: &[RuleInfo], issues: &mut Issues) -> Rules {
    advice(&raw, catalogue, issues);
    let topology_spread = topology_spread(raw.topology_spread.as_ref(), pool, issues);
    let modes = catalogue.iter().map(|rule| mode_of(rule, &raw, &topology_spread)).collect();
    Rules {
        modes,
        grace_period: grace_period(raw.grace_period, issues),
        topology_spread,
        not_ready: not_ready(raw.not_ready_toleration, issues),
        rwo_statefulset: RwoStatefulSet {
            allowed_storage_classes: raw
                .rwo_statefulset
                .and_then(|raw| raw.allowed_storage_classes)
                .unwrap_or_default(),
        },
    }
}

fn mode_of(rule: &RuleInfo, raw: &RawRules, spread: &TopologySpread) -> Mode {
    let written = match rule.id {
        "grace-period" => raw.grace_period.as_ref().and_then(|r| r.mode),
        "topology-spread" if spread.constraints.is_empty() => Some(Mode::Off),
        "topology-spread" => raw.topology_spread.as_ref().and_then(|r| r.mode),
        "not-ready-toleration" => raw.not_ready_toleration.as_ref().and_then(|r| r.mode),
        "rwo-statefulset" => raw.rwo_statefulset.as_ref().and_then(|r| r.mode),
        id => raw.others.get(id).and_then(|r| r.mode),
    };
    written.unwrap_or(rule.kind.default_mode())
}

fn advice(raw: &RawRules, catalogue: &[RuleInfo], issues: &mut Issues) {
    for (id, settings) in &raw.others {
        let pointer = format!("{AT}/{}", escaped(id));
        let known = catalogue.iter().find(|rule| rule.id == id && rule.kind == RuleKind::Advice);
        if known.is_none() {
            let ids: Vec<_> = catalogue.iter().map(|rule| rule.id).collect();
            issues.error(
                &pointer,
                format!("there is no rule {id:?}"),
                format!("the rules are {}", ids.join(", ")),
            );
        } else if settings.mode == Some(Mode::Enforce) {
            issues.error(
                &format!("{pointer}/mode"),
                "an advice rule has nothing to enforce",
                "write off, audit or warn",
            );
        }
    }
}

fn grace_period(raw: Option<RawGracePeriod>, issues: &mut Issues) -> GracePeriod {
    let default = match raw.and_then(|raw| raw.default) {
        None | Some(RawGraceDefault::Word(RawGraceWord::Keep)) => GraceDefault::Keep,
        Some(RawGraceDefault::Word(RawGraceWord::Window)) => GraceDefault::Window,
        Some(RawGraceDefault::Seconds(seconds)) => {
            let pointer = format!("{AT}/grace-period/default");
            if seconds < DEFAULT_GRACE_SECONDS {
                issues.error(
                    &pointer,
                    format!("{seconds} is below the {DEFAULT_GRACE_SECONDS} s of the API server"),
                    format!("write {DEFAULT_GRACE_SECONDS} or more, window, or keep"),
                );
            }
            GraceDefault::Seconds(issues.at_least(&pointer, seconds.max(0), 0))
        }
    };
    GracePeriod { default }
}

fn topology_spread(raw: Option<&RawTopologySpread>, pool: &Pool, issues: &mut Issues) -> TopologySpread {
    let fallback = RawTopologySpread::default();
    let written = raw.unwrap_or(&fallback);
    let constraints = match &written.constraints {
        Some(list) => constraints(list, issues),
        None => pool.node_type_key.iter().map(|key| Constraint::soft(key, 1)).collect(),
    };
    if constraints.is_empty() && written.mode != Some(Mode::Off) {
        issues.warning(
            if raw.is_some() { "/spec/rules/topology-spread" } else { "/spec/pool" },
            "topology-spread is off: there is neither pool.nodeTypeKey nor a constraint",
            "label all nodes with their type and set pool.nodeTypeKey, or write mode: off",
        );
    }
    TopologySpread {
        constraints,
        ignore_labels: written.ignore_labels.clone().unwrap_or_default(),
        keep_cluster_defaults: written.keep_cluster_defaults.unwrap_or(true),
        cluster_default_keys: cluster_default_keys(written.cluster_default_keys.as_deref(), issues),
        jobs: written.jobs.unwrap_or(false),
    }
}

fn cluster_default_keys(written: Option<&[String]>, issues: &mut Issues) -> Vec<String> {
    let Some(keys) = written else { return vec![CLUSTER_DEFAULTS[0].0.to_owned()] };
    for (index, key) in keys.iter().enumerate() {
        let pointer = format!("{AT}/topology-spread/clusterDefaultKeys/{index}");
        if CLUSTER_DEFAULTS.iter().all(|(known, _)| known != key) {
            issues.error(
                &pointer,
                format!("Kubernetes has no default constraint on {key:?}"),
                "write kubernetes.io/hostname or topology.kubernetes.io/zone; others go into constraints",
            );
        } else if keys.iter().take(index).any(|earlier| earlier == key) {
            issues.error(&pointer, format!("{key:?} is there twice"), "keep one");
        }
    }
    keys.to_vec()
}

fn constraints(list: &[RawConstraint], issues: &mut Issues) -> Vec<Constraint> {
    let mut checked: Vec<Constraint> = Vec::new();
    for (index, raw) in list.iter().enumerate() {
        let pointer = format!("{AT}/topology-spread/constraints/{index}");
        let Some(constraint) = constraint(&pointer, raw, issues) else { continue };
        if checked.iter().any(|known| known.topology_key == constraint.topology_key) {
            issues.error(
                &format!("{pointer}/topologyKey"),
                format!("{:?} is there twice", constraint.topology_key),
                "keep one constraint for each key",
            );
        }
        checked.push(constraint);
    }
    checked
}

fn constraint(pointer: &str, raw: &RawConstraint, issues: &mut Issues) -> Option<Constraint> {
    let Some(topology_key) = raw.topology_key.clone().filter(|key| !key.is_empty()) else {
        issues.error(pointer, "topologyKey is missing", "add topologyKey, a label key that all nodes bear");
        return None;
    };
    label_key(&format!("{pointer}/topologyKey"), &topology_key, issues);
    let hard = matches!(raw.when_unsatisfiable, Some(RawWhenUnsatisfiable::DoNotSchedule));
    let max_skew = issues.at_least(&format!("{pointer}/maxSkew"), raw.max_skew.unwrap_or(1), 1);
    let min_domains = raw.min_domains.map(|n| issues.at_least(&format!("{pointer}/minDomains"), n, 1));
    if min_domains.is_some() && !hard {
        issues.error(
            &format!("{pointer}/minDomains"),
            "minDomains works with DoNotSchedule only",
            "leave minDomains out, or write whenUnsatisfiable: DoNotSchedule",
        );
    }
    if hard {
        issues.warning(
            &format!("{pointer}/whenUnsatisfiable"),
            format!("DoNotSchedule keeps pods off every node without the label {topology_key}"),
            "make sure that all nodes bear the label, or write ScheduleAnyway",
        );
    }
    let inclusion = |policy: Option<RawInclusion>| {
        policy.map(|policy| if matches!(policy, RawInclusion::Honor) { "Honor" } else { "Ignore" }.to_owned())
    };
    Some(Constraint {
        topology_key,
        max_skew,
        when_unsatisfiable: if hard { "DoNotSchedule" } else { "ScheduleAnyway" }.to_owned(),
        min_domains,
        node_affinity_policy: inclusion(raw.node_affinity_policy),
        node_taints_policy: inclusion(raw.node_taints_policy),
    })
}

/// Below this a network blip evicts pods.
const SHORTEST_OVERLAP_SECONDS: i64 = 10;

fn not_ready(raw: Option<RawNotReady>, issues: &mut Issues) -> NotReady {
    let at = format!("{AT}/not-ready-toleration");
    let raw = raw.unwrap_or_default();
    let overlap = raw.overlap_seconds.unwrap_or(30);
    let overlap_seconds = issues.at_least(&format!("{at}/overlapSeconds"), overlap, 0);
    if overlap < SHORTEST_OVERLAP_SECONDS {
        issues.warning(
            &format!("{at}/overlapSeconds"),
            format!("with {overlap} s a network blip evicts pods"),
            format!("write {SHORTEST_OVERLAP_SECONDS} or more"),
        );
    }
    let cluster_default = raw.cluster_default_seconds.unwrap_or(300);
    NotReady {
        overlap_seconds,
        cluster_default_seconds: issues.at_least(&format!("{at}/clusterDefaultSeconds"), cluster_default, 0),
    }
}
