//! Modes, and what a policy must know of the rules.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

/// How strongly something acts: of a rule in a policy, of a namespace, or the weaker of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// The rule does not run.
    Off,
    /// The rule reports and changes nothing; the client sees nothing.
    Audit,
    /// The client gets a warning; nothing is changed.
    Warn,
    /// The rule changes or denies.
    Enforce,
}

impl Mode {
    /// All modes, weakest first.
    pub const ALL: [Self; 4] = [Self::Off, Self::Audit, Self::Warn, Self::Enforce];

    /// The word used in policies, namespace labels, logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Audit => "audit",
            Self::Warn => "warn",
            Self::Enforce => "enforce",
        }
    }
}

impl<'de> Deserialize<'de> for Mode {
    /// Reads the word; an unquoted `off` is the boolean false to YAML as Kubernetes reads it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ModeVisitor;
        impl Visitor<'_> for ModeVisitor {
            type Value = Mode;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("enforce, warn, audit or off")
            }

            fn visit_bool<E: Error>(self, word: bool) -> Result<Mode, E> {
                if word {
                    Err(E::invalid_type(serde::de::Unexpected::Bool(word), &self))
                } else {
                    Ok(Mode::Off)
                }
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Mode, E> {
                let known = Mode::ALL.into_iter().find(|mode| mode.as_str() == word);
                known.ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(word), &self))
            }
        }
        deserializer.deserialize_any(ModeVisitor)
    }
}

impl schemars::JsonSchema for Mode {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Mode".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        // An unquoted off is false to some readers.
        schemars::json_schema!({"enum": ["enforce", "warn", "audit", "off", false]})
    }
}

/// Whether a rule may change or deny, or only advise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// Changes or denies; has parameters; `enforce` unless the policy says otherwise.
    Core,
    /// Takes a mode only, never `enforce`; `warn` unless the policy says otherwise.
    Advice,
}

impl RuleKind {
    /// The mode of a rule that the policy does not mention.
    pub fn default_mode(self) -> Mode {
        match self {
            Self::Core => Mode::Enforce,
            Self::Advice => Mode::Warn,
        }
    }
}

/// What a policy must know of a rule: the registry of rules hands these to the loader, in its order.
#[derive(Clone, Copy, Debug)]
pub struct RuleInfo {
    /// Stable kebab-case id.
    pub id: &'static str,
    /// Core or advice.
    pub kind: RuleKind,
    /// One sentence for the schema.
    pub summary: &'static str,
}
