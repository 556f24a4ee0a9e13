//! Texts and facts over a small vocabulary, so that much matches.

use smol_str::{SmolStr, format_smolstr};

use super::Bytes;
use crate::decide::number::Number;
use crate::decide::request::{Fact, Facts};

/// Some are as long as a key, some are longer and differ at the end.
const NAMES: [&str; 12] = [
    "a",
    "b",
    "ab",
    "c",
    "aab",
    "",
    "é",
    "*",
    "sixteen-bytes-xx",
    "seventeen-bytes-x",
    "a-name-of-over-sixteen-bytes",
    "a-name-of-over-sixteen-bytez",
];

/// Names of facts; those with a dot are also the way to a fact in a fact.
pub(super) const FACTS: [&str; 8] =
    ["x", "y", "x.y", "x.y.z", "level", "owner", "a-fact-with-a-long-name", "a-fact-with-a-long-name.y"];

/// A name. Crowds have those with numbers.
pub(super) fn name(bytes: &mut Bytes<'_>) -> SmolStr {
    match bytes.below(8) {
        0..5 => SmolStr::new_static(bytes.pick(NAMES.get(..5).unwrap_or_default())),
        5 => SmolStr::new_static(bytes.pick(&NAMES)),
        _ => numbered(bytes.below(96)),
    }
}

/// A name of a crowd.
pub(super) fn numbered(number: usize) -> SmolStr {
    match number % 4 {
        0 => format_smolstr!("a-name-with-the-number-{number}"),
        _ => format_smolstr!("n{number}"),
    }
}

/// Several names, rarely none.
pub(super) fn names(bytes: &mut Bytes<'_>) -> Vec<SmolStr> {
    if bytes.one_in(48) { Vec::new() } else { bytes.some(3, name) }
}

/// A fact that a policy may ask for.
pub(super) fn fact(bytes: &mut Bytes<'_>) -> Fact {
    match bytes.below(16) {
        12 => Fact::Null,
        13 => Fact::List(bytes.any(3, scalar)),
        14 => Fact::Map(Facts::from_iter([("y".into(), scalar(bytes))])),
        15 => {
            let inner = Fact::Map(Facts::from_iter([("z".into(), scalar(bytes))]));
            Fact::Map(Facts::from_iter([("y".into(), inner)]))
        }
        _ => scalar(bytes),
    }
}

fn scalar(bytes: &mut Bytes<'_>) -> Fact {
    match bytes.below(4) {
        0 | 1 => Fact::Text(name(bytes)),
        2 => Fact::Number(number(bytes)),
        _ => Fact::Bool(bytes.one_in(2)),
    }
}

/// A number, or none.
pub(super) fn number(bytes: &mut Bytes<'_>) -> Number {
    // Two that are one as floating numbers.
    const NEIGHBOURS: [u64; 2] = [9_007_199_254_740_992, 9_007_199_254_740_993];
    if bytes.one_in(6) {
        return bytes.pick(&NEIGHBOURS).into();
    }
    bytes.pick(&[0.0, 1.0, 2.0, 3.0, 1.0, 2.0, -0.0, 0.5, -1.0, 1e300, f64::INFINITY, f64::NAN]).into()
}
