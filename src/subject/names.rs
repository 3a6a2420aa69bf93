//! What the API accepts as label keys and values.

fn is_alphanumeric_at_ends(text: &str) -> bool {
    let alphanumeric = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(alphanumeric) && text.ends_with(alphanumeric)
}

fn is_name(text: &str) -> bool {
    text.len() <= 63
        && is_alphanumeric_at_ends(text)
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

fn is_dns_subdomain(text: &str) -> bool {
    let label = |part: &str| {
        is_alphanumeric_at_ends(part)
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    text.len() <= 253 && text.split('.').all(label)
}

/// A label, taint or annotation key: `[DNS subdomain/]name`.
/// Source: `IsQualifiedName` in `k8s.io/apimachinery/pkg/util/validation`.
pub fn is_qualified_name(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => is_dns_subdomain(prefix) && is_name(name),
        None => is_name(key),
    }
}

/// A label value; empty is one.
/// Source: `IsValidLabelValue` in `k8s.io/apimachinery/pkg/util/validation`.
pub fn is_label_value(value: &str) -> bool {
    value.is_empty() || is_name(value)
}
