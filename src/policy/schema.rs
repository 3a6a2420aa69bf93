//! The JSON Schema of a policy file, from the types that read it and the registry of rules.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::API_VERSION;
use super::check::KIND;
use super::file::{RawAdvice, RawGracePeriod, RawNotReady, RawPolicy, RawRwoStatefulSet, RawTopologySpread};
use super::mode::{RuleInfo, RuleKind};

/// The schema, as editors and validators take it (draft 2020-12).
#[expect(clippy::indexing_slicing, reason = "serde_json makes a member that is assigned to")]
pub fn schema(catalogue: &[RuleInfo]) -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let core = [
        ("grace-period", generator.subschema_for::<RawGracePeriod>()),
        ("topology-spread", generator.subschema_for::<RawTopologySpread>()),
        ("not-ready-toleration", generator.subschema_for::<RawNotReady>()),
        ("rwo-statefulset", generator.subschema_for::<RawRwoStatefulSet>()),
    ];
    let advice = generator.subschema_for::<RawAdvice>();
    let mut schema = generator.into_root_schema_for::<RawPolicy>().to_value();
    let mut properties = serde_json::Map::new();
    for rule in catalogue {
        let of_core = core.iter().find(|(id, _)| *id == rule.id).map(|(_, schema)| schema);
        let mut property = of_core.unwrap_or(&advice).clone().to_value();
        property["description"] = json!(rule.summary);
        if rule.kind == RuleKind::Advice {
            property["properties"] = json!({"mode": {"enum": ["off", "audit", "warn", false, null]}});
        }
        properties.insert(rule.id.to_owned(), property);
    }
    let rules = json!({
        "type": ["object", "null"],
        "description": "What each rule does; core rules default to enforce, advice to warn.",
        "properties": properties,
        "additionalProperties": false,
    });
    schema["$defs"]["RawSpec"]["properties"]["rules"] = rules;
    schema["$id"] = json!("https://sundown.dev/schemas/preemptionpolicy-v1alpha1.json");
    schema["properties"]["apiVersion"] = json!({"const": API_VERSION});
    schema["properties"]["kind"] = json!({"const": KIND});
    schema["required"] = json!(["apiVersion", "kind", "metadata", "spec"]);
    schema["$defs"]["RawSpec"]["required"] = json!(["pool", "shutdown"]);
    schema["$defs"]["RawMetadata"]["required"] = json!(["name"]);
    schema
}

impl schemars::JsonSchema for super::file::RawRules {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Rules".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "object"})
    }
}
