//! The texts that values are kept and compared as.

use smol_str::SmolStr;

/// A number in its shortest decimal form: `5.0` is `5`, `1e2` is `100`; nothing if it is none.
///
/// ```
/// use upheld_governance::canonical_number;
///
/// assert_eq!(canonical_number("5.0").as_deref(), Some("5"));
/// assert_eq!(canonical_number("-0.50").as_deref(), Some("-0.5"));
/// assert_eq!(canonical_number("five"), None);
/// ```
pub fn canonical_number(text: &str) -> Option<String> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (rest, 0),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && part.is_empty()) || !digits(whole) || !digits(part) || exponent.unsigned_abs() > 400 {
        return None;
    }
    let mut all = format!("{whole}{part}");
    let mut point = i64::try_from(whole.len()).ok()? + i64::from(exponent);
    while point < 0 {
        all.insert(0, '0');
        point += 1;
    }
    let mut at = usize::try_from(point).ok()?;
    while all.len() < at {
        all.push('0');
    }
    let kept = all.get(..at)?.trim_start_matches('0').len();
    let whole = if kept == 0 { "0" } else { all.get(at - kept..at)? };
    at = at.min(all.len());
    let part = all.get(at..)?.trim_end_matches('0');
    let sign = if whole == "0" && part.is_empty() { "" } else { sign };
    Some(if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") })
}

/// As [`canonical_number`], for whole numbers.
pub(crate) fn canonical_integer(text: &str) -> Option<String> {
    canonical_number(text).filter(|number| !number.contains('.'))
}

/// The text that a bare number of a document is kept as: `5.0` is `5`. What begins with zeros, or has an exponent without a
/// point, is a name to most people and stays as it is written.
///
/// ```
/// use upheld_governance::bare_number;
///
/// assert_eq!(bare_number("5.0"), "5");
/// assert_eq!(bare_number("0815"), "0815");
/// assert_eq!(bare_number("1e3"), "1e3");
/// ```
pub fn bare_number(text: &str) -> SmolStr {
    let digits = text.trim_start_matches(['+', '-']);
    let zeros = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    let power = digits.contains(['e', 'E']) && !digits.contains('.');
    let number = if zeros || power { None } else { canonical_number(text) };
    number.map_or_else(|| SmolStr::new(text), SmolStr::from)
}
