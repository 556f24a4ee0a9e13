//! Regular expressions that know what they cost, and how much all of them together may.
//!
//! Holding a text against a pattern takes at most one step for each byte and each state of its automaton. So a decision takes at most
//! as many steps as its longest text has bytes, times the states of all patterns: [`longest_text`] says which texts keep that within
//! [`MOST_STEPS`]. A longer one is not held against any pattern, and what it would come to is not known. That is a matter of policies
//! and texts alone, so a sweep, the index and an explanation agree.

use regex::{Error, Regex, RegexBuilder};

use super::glob::MAX_REGEX;

/// The most steps that the patterns of a decision may take.
pub const MOST_STEPS: usize = 1 << 27;
/// The most that patterns of all policies may weigh together; then texts may have 512 bytes.
pub const MOST_WEIGHT: usize = 1 << 18;
/// The most combinations of alternatives that a policy may have.
pub const MOST_ALTERNATIVES: usize = 100_000;

/// Bytes that a compiled pattern may take, for one of weight.
const BYTES: usize = 64;
/// What the smallest patterns take.
const SMALL: usize = 1 << 10;

/// A regular expression with its weight. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    weight: u32,
}

impl Pattern {
    /// Reads a pattern; groups may stand so deep in each other.
    pub fn build(text: &str, nesting: Option<u32>) -> Result<Self, Error> {
        let mut bytes = SMALL;
        loop {
            let mut builder = RegexBuilder::new(text);
            nesting.map(|nesting| builder.nest_limit(nesting));
            // Whoever is too large for one size is tried with the next; all tries together take twice as long as the last.
            match builder.size_limit(bytes).build() {
                Ok(regex) => return Ok(Self { regex, weight: u32::try_from(bytes / BYTES).unwrap_or(u32::MAX) }),
                Err(Error::CompiledTooBig(_)) if bytes < MAX_REGEX => bytes *= 2,
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether a text has something in it that looks like this.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    /// About how many states its automaton has.
    pub fn weight(&self) -> usize {
        self.weight as usize
    }
}

/// The longest text, in bytes, that may be held against patterns that weigh so much together.
pub fn longest_text(weight: usize) -> usize {
    MOST_STEPS / weight.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_weighs_about_as_much_as_it_has_states() {
        let weight = |text: &str| Pattern::build(text, None).unwrap().weight();
        assert!(weight("^a+$") <= 32 && weight("^(alpha|beta)-[0-9]{1,3}$") <= 128, "{}", weight("^a+$"));
        assert!((512..=4096).contains(&weight("[ab]{899}c")), "{}", weight("[ab]{899}c"));
        assert!(weight("[ab]*a[ab]{900}[c-z]") >= 512);
        assert!(matches!(Pattern::build("[ab]{999}{999}", None), Err(Error::CompiledTooBig(_))));
        assert!(Pattern::build("(", None).is_err());
    }

    #[test]
    fn all_patterns_together_keep_a_decision_short() {
        for weight in [0, 1, 16, 1000, MOST_WEIGHT] {
            assert!(longest_text(weight).saturating_mul(weight) <= MOST_STEPS);
        }
        assert_eq!(longest_text(MOST_WEIGHT), 512);
    }
}
