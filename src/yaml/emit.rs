//! Prints an object as block YAML, as kubectl would.

use serde_json::Value;

use super::scalar::{Scalar, plain};

/// The value as YAML; reading it back gives the same value.
pub fn to_string(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(members) if !members.is_empty() => mapping(&mut text, value, 0, false),
        Value::Array(items) if !items.is_empty() => sequence(&mut text, value, 0),
        scalar => {
            text.push_str(&inline(scalar));
            text.push('\n');
        }
    }
    text
}

/// `first_in_place`: the first key follows a dash on the line that is begun already.
fn mapping(text: &mut String, value: &Value, indent: usize, first_in_place: bool) {
    for (index, (key, value)) in value.as_object().into_iter().flatten().enumerate() {
        if index > 0 || !first_in_place {
            text.push_str(&" ".repeat(indent));
        }
        text.push_str(&quoted(key));
        text.push(':');
        match value {
            Value::Object(members) if !members.is_empty() => {
                text.push('\n');
                mapping(text, value, indent + 2, false);
            }
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                sequence(text, value, indent);
            }
            scalar => {
                text.push(' ');
                text.push_str(&inline(scalar));
                text.push('\n');
            }
        }
    }
}

fn sequence(text: &mut String, value: &Value, indent: usize) {
    for item in value.as_array().into_iter().flatten() {
        text.push_str(&" ".repeat(indent));
        text.push('-');
        match item {
            Value::Object(members) if !members.is_empty() => {
                text.push(' ');
                mapping(text, item, indent + 2, true);
            }
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                sequence(text, item, indent + 2);
            }
            scalar => {
                text.push(' ');
                text.push_str(&inline(scalar));
                text.push('\n');
            }
        }
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        // JSON is YAML: {} and [], numbers, true, false and null.
        other => other.to_string(),
    }
}

/// A string as it may stand in YAML: as it is where that reads back the same, else as a JSON string.
fn quoted(text: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "_-./+=@%^~,;".contains(c);
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric() || "_/.".contains(c));
    let is_string = plain(text) == Scalar::String(text.to_owned());
    if starts_well && is_string && text.chars().all(harmless) && !text.contains("---") {
        return text.to_owned();
    }
    Value::from(text).to_string()
}
