//! Durations in Go's syntax, as the kubelet's configuration takes them.

/// Why a text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// No number where one must stand.
    #[error("is not a duration: write a number with a unit, such as 150s or 2m30s")]
    Syntax,
    /// A number without a unit behind it.
    #[error("has a number without a unit: add one of ns, us, ms, s, m, h (such as 150s)")]
    MissingUnit,
    /// A unit that Go does not know, such as `d`.
    #[error("has an unknown unit: the units are ns, us, ms, s, m, h (a day is 24h)")]
    UnknownUnit,
    /// More than about 292 years.
    #[error("is too large")]
    Overflow,
}

/// The largest magnitude, 2^63 nanoseconds (only a negative duration may reach it).
const LIMIT: u64 = 1 << 63;

/// Parses a duration exactly as Go's `time.ParseDuration` does; the result is in nanoseconds.
///
/// # Errors
/// For everything that Go refuses too: an empty text, a missing or unknown unit (`1d`), an overflow.
pub fn parse_duration(text: &str) -> Result<i64, DurationError> {
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..).unwrap_or_default()),
        Some(b'+') => (false, text.get(1..).unwrap_or_default()),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(DurationError::Syntax);
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (nanos, behind) = parse_term(rest)?;
        total = total.checked_add(nanos).filter(|sum| *sum <= LIMIT).ok_or(DurationError::Overflow)?;
        rest = behind;
    }
    if negative {
        return Ok(0i64.wrapping_sub_unsigned(total));
    }
    i64::try_from(total).map_err(|_| DurationError::Overflow)
}

/// One `number unit` pair: its nanoseconds and the text behind it.
fn parse_term(text: &str) -> Result<(u64, &str), DurationError> {
    let (whole, rest, has_whole) = leading_integer(text)?;
    let (fraction, scale, rest, has_fraction) = match rest.strip_prefix('.') {
        Some(digits) => leading_fraction(digits),
        None => (0, 1.0, rest, false),
    };
    if !has_whole && !has_fraction {
        return Err(DurationError::Syntax);
    }
    let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let (name, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let unit = unit_nanos(name)?;
    let mut nanos = whole.checked_mul(unit).filter(|n| *n <= LIMIT).ok_or(DurationError::Overflow)?;
    if fraction > 0 {
        // Go does this step in floating point too.
        nanos += (fraction as f64 * (unit as f64 / scale)) as u64;
        if nanos > LIMIT {
            return Err(DurationError::Overflow);
        }
    }
    Ok((nanos, behind))
}

fn unit_nanos(name: &str) -> Result<u64, DurationError> {
    Ok(match name {
        "ns" => 1,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60 * 1_000_000_000,
        "h" => 3_600 * 1_000_000_000,
        "" => return Err(DurationError::MissingUnit),
        _ => return Err(DurationError::UnknownUnit),
    })
}

fn leading_integer(text: &str) -> Result<(u64, &str, bool), DurationError> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let value = digits.bytes().try_fold(0u64, |value, digit| {
        value.checked_mul(10)?.checked_add(u64::from(digit - b'0')).filter(|next| *next <= LIMIT)
    });
    Ok((value.ok_or(DurationError::Overflow)?, rest, !digits.is_empty()))
}

/// Digits behind the point: value, the power of ten to divide by, the rest, whether there was a digit.
/// Digits that no longer fit are dropped, as Go drops them.
fn leading_fraction(text: &str) -> (u64, f64, &str, bool) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let (mut value, mut scale) = (0u64, 1.0f64);
    for digit in digits.bytes() {
        if value > (LIMIT - 1) / 10 {
            break;
        }
        let next = value * 10 + u64::from(digit - b'0');
        if next > LIMIT {
            break;
        }
        value = next;
        scale *= 10.0;
    }
    (value, scale, rest, !digits.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn reads_what_go_reads() {
        for (text, want) in [
            ("0", 0),
            ("150s", 150 * SECOND),
            ("2m30s", 150 * SECOND),
            ("1h", 3600 * SECOND),
            ("1.5h", 5400 * SECOND),
            (".5s", SECOND / 2),
            ("5.s", 5 * SECOND),
            ("1m1h", 3660 * SECOND),
            ("+5s", 5 * SECOND),
            ("-1m", -60 * SECOND),
            ("1\u{b5}s", 1000),
            ("-2562047h47m16.854775808s", i64::MIN),
        ] {
            assert_eq!(parse_duration(text), Ok(want), "{text}");
        }
    }

    #[test]
    fn refuses_what_go_refuses() {
        use DurationError::{MissingUnit, Overflow, Syntax, UnknownUnit};
        for (text, want) in [
            ("", Syntax),
            ("-", Syntax),
            ("s", Syntax),
            (".s", Syntax),
            ("-+5s", Syntax),
            ("5", MissingUnit),
            ("5s0", MissingUnit),
            ("1d", UnknownUnit),
            ("1 s", UnknownUnit),
            ("99999999999999999999h", Overflow),
            ("2562047h47m16.854775808s", Overflow),
        ] {
            assert_eq!(parse_duration(text), Err(want), "{text:?}");
        }
    }
}
