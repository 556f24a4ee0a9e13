//! Values that were probably meant to be the same: the usual cause of puzzling violations.

use smol_str::SmolStr;
use unicode_normalization::UnicodeNormalization;

/// Two values that nearly agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearMiss {
    /// A value of the first side.
    pub a: SmolStr,
    /// A value of the second side.
    pub b: SmolStr,
    /// In what they differ.
    pub kind: NearMissKind,
}

/// In what two values differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NearMissKind {
    /// Upper and lower case.
    Case,
    /// Blanks.
    Blanks,
    /// Characters that cannot be seen.
    Invisible,
    /// How Unicode writes the same characters.
    Unicode,
    /// One character.
    OneEdit,
}

impl NearMissKind {
    /// The word that users see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Case => "case",
            Self::Blanks => "blanks",
            Self::Invisible => "invisible characters",
            Self::Unicode => "Unicode form",
            Self::OneEdit => "one character",
        }
    }
}

/// Pairs of values that nearly agree; none if the two sides share a value.
pub fn near_misses(a: &[SmolStr], b: &[SmolStr]) -> Vec<NearMiss> {
    let mut found = Vec::new();
    if a.iter().any(|value| b.contains(value)) {
        return found;
    }
    for one in a {
        for other in b {
            if let Some(kind) = kind(one, other) {
                found.push(NearMiss { a: one.clone(), b: other.clone(), kind });
            }
        }
    }
    found
}

fn kind(one: &str, other: &str) -> Option<NearMissKind> {
    let blanks = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
    let visible = |text: &str| text.chars().filter(|letter| !is_invisible(*letter)).collect::<String>();
    let form = |text: &str| text.nfkc().collect::<String>();
    let same = |fold: &dyn Fn(&str) -> String| fold(one) == fold(other);
    if same(&str::to_lowercase) {
        Some(NearMissKind::Case)
    } else if same(&blanks) {
        Some(NearMissKind::Blanks)
    } else if same(&visible) {
        Some(NearMissKind::Invisible)
    } else if same(&form) {
        Some(NearMissKind::Unicode)
    } else if is_one_edit(one, other) {
        Some(NearMissKind::OneEdit)
    } else {
        None
    }
}

/// Controls, direction marks, joiners, variation selectors and the like.
fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}')
        || matches!(letter, '\u{2066}'..='\u{2069}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// One character more, less or another; short values are too easily alike.
fn is_one_edit(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().min(other.len()) < 3 || one.len().abs_diff(other.len()) > 1 {
        return false;
    }
    let start = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    start + end + 1 >= one.len().max(other.len())
}
