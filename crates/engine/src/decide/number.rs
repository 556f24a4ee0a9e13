//! Numbers of documents and requests: whole ones are exact to 64 bits.

use std::cmp::Ordering;
use std::fmt;

/// A number of JSON. Whole numbers of up to 64 bits are kept as they are; all others are floating. A number has one form only, so `5.0` is
/// the whole number 5, and equal numbers are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    Whole(i64),
    /// A whole number that is too large for the other.
    Large(u64),
    /// Any other: with a fraction, beyond 64 bits, or none at all.
    Other(f64),
}

/// To which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To lesser numbers.
    Down,
    /// To greater numbers.
    Up,
}

/// The first whole number beyond 64 bits.
const BEYOND: f64 = 18_446_744_073_709_551_616.0;

impl Number {
    /// Whether it can be compared: beyond 64 bits, floating numbers stand for many whole ones.
    pub fn is_exact(self) -> bool {
        match self {
            Self::Whole(_) | Self::Large(_) => true,
            Self::Other(number) => number.abs() < BEYOND,
        }
    }

    /// The nearest floating number.
    #[expect(clippy::cast_precision_loss, reason = "the nearest one is asked for")]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Large(number) => number as f64,
            Self::Other(number) => number,
        }
    }

    /// The whole number, if it is one.
    pub fn whole(self) -> Option<i128> {
        match self {
            Self::Whole(number) => Some(number.into()),
            Self::Large(number) => Some(number.into()),
            Self::Other(_) => None,
        }
    }

    /// A whole number, if it has at most 64 bits.
    pub fn of_whole(number: i128) -> Option<Self> {
        let large = || u64::try_from(number).ok().map(Self::Large);
        i64::try_from(number).ok().map(Self::Whole).or_else(large)
    }

    /// The same number below zero, or above it.
    pub fn negated(self) -> Option<Self> {
        match self {
            Self::Other(number) => Some(Self::Other(-number)),
            whole => whole.whole().and_then(|whole| Self::of_whole(-whole)),
        }
    }

    /// A number that is less by one, or more; the next one there is where that is no other.
    #[must_use]
    pub fn moved(self, step: Step) -> Self {
        let (by, float) = match step {
            Step::Down => (-1, self.to_f64() - 1.0),
            Step::Up => (1, self.to_f64() + 1.0),
        };
        let whole = self.whole().and_then(|whole| Self::of_whole(whole + by));
        let next = match step {
            Step::Down => float.min(self.to_f64().next_down()),
            Step::Up => float.max(self.to_f64().next_up()),
        };
        whole.unwrap_or_else(|| next.into())
    }

    /// The number that a text writes in decimal digits. Where the nearest floating number is a whole one and the text is not, so that it
    /// would equal its neighbour, the number is none.
    pub fn parse(text: &str) -> Option<Self> {
        let float: f64 = text.parse().ok()?;
        match exactly(text) {
            Some(Digits::Whole(whole)) => Some(Self::of_whole(whole).unwrap_or(Self::Other(float))),
            Some(Digits::Fraction) if float.fract() == 0.0 => Some(Self::Other(f64::NAN)),
            // Beyond all bounds: zero, or next to it, is a fraction that was rounded.
            None if float == 0.0 => Some(Self::Other(f64::NAN)),
            Some(Digits::Fraction) | None => Some(Self::from(float)),
        }
    }
}

/// What decimal digits come to.
enum Digits {
    /// A whole number.
    Whole(i128),
    /// Any other.
    Fraction,
}

/// What a text of digits, with or without a fraction and an exponent, comes to without rounding; nothing if that is beyond all bounds.
fn exactly(text: &str) -> Option<Digits> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits: String = [whole, fraction].concat();
    if !digits.trim_start_matches(['+', '-']).bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let trimmed = digits.trim_end_matches('0');
    if trimmed.trim_start_matches(['+', '-']).is_empty() {
        return Some(Digits::Whole(0));
    }
    let zeros = i32::try_from(digits.len() - trimmed.len()).ok()?;
    let places = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?.checked_add(zeros)?;
    if places < 0 {
        return Some(Digits::Fraction);
    }
    let factor = 10_i128.checked_pow(u32::try_from(places).ok()?)?;
    trimmed.parse::<i128>().ok()?.checked_mul(factor).map(Digits::Whole)
}

impl From<f64> for Number {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and within the bounds of the other type")]
    fn from(number: f64) -> Self {
        if number.fract() == 0.0 && number.abs() < BEYOND {
            Self::of_whole(number as i128).unwrap_or(Self::Other(number))
        } else {
            Self::Other(number)
        }
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        Self::Whole(number)
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or(Self::Large(number), Self::Whole)
    }
}

impl From<u16> for Number {
    fn from(number: u16) -> Self {
        Self::Whole(number.into())
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self.whole(), other.whole()) {
            (Some(own), Some(other)) => Some(own.cmp(&other)),
            (Some(own), None) => against(own, other.to_f64()),
            (None, Some(other)) => against(other, self.to_f64()).map(Ordering::reverse),
            (None, None) => self.to_f64().partial_cmp(&other.to_f64()),
        }
    }
}

/// A whole number against one that is not: it has a fraction, is beyond all whole ones, or is none.
fn against(whole: i128, other: f64) -> Option<Ordering> {
    if other.abs() >= BEYOND || other.is_nan() {
        return 0.0.partial_cmp(&other);
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is within the bounds of the other type")]
    let below = other.floor() as i128;
    Some(if whole <= below { Ordering::Less } else { Ordering::Greater })
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Large(number) => number.fmt(f),
            Self::Other(number) => number.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_exact_to_64_bits() {
        let number = |text: &str| Number::parse(text).unwrap();
        assert_ne!(number("9007199254740993"), number("9007199254740992"));
        assert!(number("9007199254740993") > number("9007199254740992"));
        assert!(number("18446744073709551615") > number("18446744073709551614"));
        assert!(number("-9223372036854775808") < number("-9223372036854775807"));
        assert_eq!(number("5.0"), number("5"));
        assert_eq!(number("-0.0"), number("0"));
        assert_eq!(number("5e0"), number("5"));
        assert!(!number("18446744073709551616").is_exact());
        assert_eq!(number("9007199254740993.0"), number("9007199254740993"));
        assert_eq!(number("9007199254740993e0"), number("9007199254740993"));
        assert_eq!(number("900719925474099.30e1"), number("9007199254740993"));
        assert_eq!(number("1e3"), number("1000"));
        assert_eq!((number("0.10"), number("1e-1")), (number("0.1"), number("0.1")));
        assert_eq!(Number::parse("0x10"), None);
    }

    #[test]
    fn digits_that_would_be_rounded_to_a_whole_number_are_not_exact() {
        for text in ["9007199254740993.5", "5.00000000000000000001", "1e-400", "1e400", "NaN", "inf"] {
            assert!(!Number::parse(text).unwrap().is_exact(), "{text}");
        }
    }

    #[test]
    fn whole_and_floating_numbers_have_one_order() {
        let all = ["-1e30", "-2.5", "-2", "-0.5", "0", "0.5", "9007199254740993", "18446744073709551615", "1e30"];
        for (place, one) in all.iter().enumerate() {
            for (other_place, other) in all.iter().enumerate() {
                let compared = Number::parse(one).unwrap().partial_cmp(&Number::parse(other).unwrap());
                assert_eq!(compared, Some(place.cmp(&other_place)), "{one} {other}");
            }
        }
        assert_eq!(Number::from(f64::NAN).partial_cmp(&Number::Whole(1)), None);
    }
}
