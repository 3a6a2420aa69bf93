//! What a scalar means, by the rules of go-yaml v2, which `sigs.k8s.io/yaml` uses.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::node::Value;

/// What a scalar means before it becomes a value or a key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float(f64),
    String(String),
}

/// The meaning of a scalar written without quotes and without a tag.
pub(super) fn plain(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
        _ => number(text).unwrap_or_else(|| Scalar::String(text.to_owned())),
    }
}

/// The meaning of a scalar under a tag: the suffix of a core tag (`int` for `!!int`) or `None` for any other tag.
///
/// # Errors
/// Says why the text is not of the tag's kind.
pub(super) fn tagged(tag: Option<&str>, text: &str) -> Result<Scalar, String> {
    let Some(tag) = tag else { return Ok(Scalar::String(text.to_owned())) };
    match (tag, plain(text)) {
        ("null", Scalar::Null) => Ok(Scalar::Null),
        ("bool", found @ Scalar::Bool(_)) => Ok(found),
        ("int", found @ (Scalar::Int(_) | Scalar::UInt(_))) => Ok(found),
        ("float", found @ Scalar::Float(_)) => Ok(found),
        ("float", Scalar::Int(number)) => Ok(Scalar::Float(number as f64)),
        ("null" | "bool" | "int" | "float", _) => Err(format!("`{text}` is not what the tag `!!{tag}` says")),
        ("binary", _) => binary(text),
        _ => Ok(Scalar::String(text.to_owned())),
    }
}

/// Base64 under `!!binary`; bytes that are not UTF-8 become replacement characters, as in JSON.
fn binary(text: &str) -> Result<Scalar, String> {
    let packed: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
    let bytes = STANDARD.decode(packed).map_err(|error| format!("`!!binary` is not base64: {error}"))?;
    Ok(Scalar::String(String::from_utf8_lossy(&bytes).into_owned()))
}

/// A number, if the text is one. Underscores are dropped after the first character.
fn number(text: &str) -> Option<Scalar> {
    match text.as_bytes().first()? {
        b'.' => decimal(text).map(Scalar::Float),
        b'0'..=b'9' | b'+' | b'-' => {
            let digits = text.replace('_', "");
            whole(&digits).or_else(|| decimal(&digits).map(Scalar::Float))
        }
        _ => None,
    }
}

/// A whole number with the prefixes of Go: `0x`, `0b`, `0o` and a leading zero for octal.
fn whole(text: &str) -> Option<Scalar> {
    let (negative, signed, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, true, text.get(1..)?),
        b'+' => (false, true, text.get(1..)?),
        _ => (false, false, text),
    };
    let (radix, digits) = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, unsigned.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, unsigned.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, unsigned.get(2..)?),
        [b'0', _, ..] => (8, unsigned.get(1..)?),
        _ => (10, unsigned),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let size = u64::from_str_radix(digits, radix).ok()?;
    match (negative, i64::try_from(size)) {
        (true, _) => 0_i64.checked_sub_unsigned(size).map(Scalar::Int),
        (false, Ok(number)) => Some(Scalar::Int(number)),
        (false, Err(_)) => (!signed).then_some(Scalar::UInt(size)),
    }
}

/// A decimal number; one too large for a double is none.
fn decimal(text: &str) -> Option<f64> {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let shaped = body.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    let begins = body.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !shaped || !begins {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

impl Scalar {
    /// The value, as it is after the step through JSON: a number without a fraction is a whole number.
    ///
    /// # Errors
    /// JSON has neither infinity nor not-a-number.
    pub(super) fn into_value(self) -> Result<Value, String> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::UInt(value) => Value::UInt(value),
            Self::Float(value) if !value.is_finite() => {
                return Err(
                    "infinity and not-a-number cannot be sent to the cluster: JSON has neither".to_owned()
                );
            }
            // As JSON has it: the shortest digits that are this double, in a whole number if they are one.
            Self::Float(value) => value.to_string().parse().map_or(Value::Float(value), Value::Int),
            Self::String(text) => Value::String(text),
        })
    }

    /// The key, as a string.
    ///
    /// # Errors
    /// Null and whole numbers above 63 bits cannot be keys.
    pub(super) fn into_key(self) -> Result<String, String> {
        match self {
            Self::String(text) => Ok(text),
            Self::Bool(value) => Ok(value.to_string()),
            Self::Int(value) => Ok(value.to_string()),
            Self::Float(value) => Ok(short_float(value as f32)),
            Self::Null => Err("null cannot be the key of a mapping".to_owned()),
            Self::UInt(value) => Err(format!("the number {value} is too large to be the key of a mapping")),
        }
    }
}

/// A number as a key: single precision, the shortest form, an exponent below 1e-4 and from 1e6 (Go's `%g`).
fn short_float(number: f32) -> String {
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf".to_owned() } else { "-.inf".to_owned() };
    }
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return number.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}
