//! Regular expressions, compiled once.

use regex::Error;

use super::Checker;
use crate::decide::expression::node::Node;
use crate::decide::expression::{DEEPEST, Problem};
use crate::decide::pattern::Pattern;
use crate::decide::request::Fact;

impl Checker<'_> {
    /// The regular expression that a literal is.
    pub(super) fn pattern(&mut self, pattern: &Node) -> Option<Pattern> {
        let Some(Fact::Text(text)) = pattern.constant() else {
            let problem = Problem::new(pattern.range.clone(), "the pattern of `matches` must be a literal text");
            self.problems.push(problem.help("to compare with a fact, use `==`, `contains` or `startsWith`"));
            return None;
        };
        let nesting = u32::try_from(DEEPEST).unwrap_or(u32::MAX);
        let built = Pattern::build(&plain_classes(text), Some(nesting));
        built.map_err(|error| self.problems.push(refused(pattern, &error))).ok()
    }
}

/// The pattern with `\d`, `\w` and `\s` as CEL means them: digits, letters and blanks of ASCII. Those of all scripts
/// would let through more than authors expect, and are large.
fn plain_classes(pattern: &str) -> String {
    let mut plain = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            // A class may stand in a class, so these mean the same inside and outside of brackets.
            Some('d') => plain.push_str("[0-9]"),
            Some('D') => plain.push_str("[^0-9]"),
            Some('w') => plain.push_str("[0-9A-Za-z_]"),
            Some('W') => plain.push_str("[^0-9A-Za-z_]"),
            Some('s') => plain.push_str(r"[\t\n\f\r\x20]"),
            Some('S') => plain.push_str(r"[^\t\n\f\r\x20]"),
            other => {
                plain.push('\\');
                plain.extend(other);
            }
        }
    }
    plain
}

fn refused(pattern: &Node, error: &Error) -> Problem {
    if let Error::CompiledTooBig(_) = error {
        let problem = Problem::new(pattern.range.clone(), "the regular expression is too large");
        return problem.help("write `+` or `*` instead of large repetitions; lengths are compared by `size(text)`");
    }
    // The last line says what is wrong; the lines before draw the pattern.
    let told = error.to_string();
    let reason = told.lines().last().unwrap_or_default().trim_start_matches("error: ");
    let problem = Problem::new(pattern.range.clone(), format!("this is not a valid regular expression: {reason}"));
    problem.help("write it as a raw text, like r'^v[0-9]+$'")
}
