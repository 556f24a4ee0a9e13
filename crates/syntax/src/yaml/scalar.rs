//! What a scalar is, by the core schema of YAML 1.2: in goes the text, out comes its kind.

use upheld_model::Kind;

/// The kind of a plain scalar.
///
/// Most are words, and their first letter tells: this is asked for every value of a text.
pub(super) fn kind(text: &str) -> Kind {
    match text.as_bytes() {
        [] | [b'~'] => Kind::Null,
        [b'n' | b'N', ..] if is_null(text) => Kind::Null,
        [b't' | b'T' | b'f' | b'F', ..] if is_boolean(text) => Kind::Bool,
        [b'0'..=b'9' | b'+' | b'-' | b'.', ..] if is_integer(text) => Kind::Integer,
        [b'0'..=b'9' | b'+' | b'-' | b'.', ..] if is_float(text) => Kind::Float,
        _ => Kind::Text,
    }
}

/// `null`, `~` or nothing.
pub(super) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// `true` or `false`.
pub(super) fn is_boolean(text: &str) -> bool {
    matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE")
}

/// Decimal with a sign, hexadecimal or octal.
pub(super) fn is_integer(text: &str) -> bool {
    match text.as_bytes() {
        [b'0', b'x', digits @ ..] => all(digits, u8::is_ascii_hexdigit),
        [b'0', b'o', digits @ ..] => all(digits, |digit| matches!(digit, b'0'..=b'7')),
        [b'+' | b'-', digits @ ..] | digits => all(digits, u8::is_ascii_digit),
    }
}

/// Decimal with a point or an exponent, infinity, or no number at all.
pub(super) fn is_float(text: &str) -> bool {
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || is_decimal(unsigned)
}

/// A boolean of YAML 1.1 that is text in YAML 1.2.
pub(super) fn is_ambiguous_boolean(text: &str) -> bool {
    matches!(text, "yes" | "Yes" | "YES" | "no" | "No" | "NO" | "on" | "On" | "ON" | "off" | "Off" | "OFF")
}

fn is_decimal(text: &str) -> bool {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    let exponent_is_right = exponent.is_none_or(|exponent| {
        all(exponent.strip_prefix(['+', '-']).unwrap_or(exponent).as_bytes(), u8::is_ascii_digit)
    });
    digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty()) && exponent_is_right
}

fn all(digits: &[u8], is_digit: impl Fn(&u8) -> bool) -> bool {
    !digits.is_empty() && digits.iter().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_the_core_schema() {
        let examples = [
            (Kind::Null, "~ null Null NULL"),
            (Kind::Bool, "true True TRUE false False FALSE"),
            (Kind::Integer, "0 7 -7 +7 007 0x1F 0xff 0o17 12345678901234567890"),
            (Kind::Float, "1.0 -1.5 +.5 1. 1e3 1E-3 2.5e+10 .inf -.Inf +.INF .nan .NaN .NAN 685.230e+03"),
            (
                Kind::Text,
                "web nulls nUll tRue truely - + . -- 0x 0xg 0o8 -0x1 1_000 1e 1e+ .e3 1.2.3 1e3e4 +.nan inf nan 12:30 \
                 2024-01-01 1a ~~ yes no on off y n",
            ),
        ];
        for (kind, texts) in examples {
            for text in texts.split_whitespace() {
                assert_eq!(super::kind(text), kind, "{text}");
            }
        }
        assert_eq!(kind(""), Kind::Null);
    }
}
