//! JavaScript regular expressions without flags, answered in linear time.
//!
//! ```text
//! pattern ──(reader: escapes and classes, translate: groups and repetitions)──▶ syntax of the `regex` crate
//! pattern, text ──(units)──▶ one character for each UTF-16 code unit, because JavaScript counts those
//! ```
//!
//! The grammar is the lenient one of browsers (Annex B of ECMAScript), in which nearly every text is a pattern. What needs
//! backtracking is refused. Only whether something is found is asked, so that captures and laziness need no translation.

mod names;
mod reader;
#[cfg(test)]
mod tests;
mod translate;
mod units;

use std::error::Error;
use std::fmt;

use regex::{Regex, RegexBuilder};

/// A JavaScript regular expression, compiled for a linear-time engine.
#[derive(Clone, Debug)]
pub struct JavaScriptRegex {
    regex: Regex,
}

impl JavaScriptRegex {
    /// Compiles what `new RegExp(pattern)` does.
    pub fn new(pattern: &str) -> Result<Self, Refused> {
        check_length(pattern)?;
        Self::compile(pattern)
    }

    /// Whether it is found anywhere in a text, as `RegExp.prototype.test` says.
    pub fn is_found_in(&self, text: &str) -> bool {
        self.regex.is_match(&units::split(text))
    }

    fn compile(pattern: &str) -> Result<Self, Refused> {
        let regex = translate::translate(&units::split(pattern))?;
        let regex = RegexBuilder::new(&regex).size_limit(SIZE_LIMIT).nest_limit(NEST_LIMIT).build();
        // What the translator writes is well-formed, so that only the size can be wrong.
        regex.map(|regex| Self { regex }).map_err(|_| Refused::Unsupported("too many states"))
    }
}

/// What the original makes of a wildcard pattern: every `*` becomes `.*`, anchored with ^ and $, nothing escaped.
pub fn wildcard(pattern: &str) -> Result<JavaScriptRegex, Refused> {
    check_length(pattern)?;
    JavaScriptRegex::compile(&format!("^{}$", pattern.replace('*', ".*")))
}

/// Why a pattern cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// JavaScript itself throws a `SyntaxError`; this is what is wrong.
    Invalid(&'static str),
    /// JavaScript may run it, but it has something that cannot be had here.
    Unsupported(&'static str),
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(why) => write!(formatter, "this is not a valid JavaScript regular expression: {why}"),
            Self::Unsupported(what) => write!(formatter, "a regular expression with {what} is not supported"),
        }
    }
}

impl Error for Refused {}

/// How many code units a pattern may have.
const LENGTH_LIMIT: usize = 1024;
/// How many bytes a compiled pattern may take.
const SIZE_LIMIT: usize = 1 << 20;
/// How deep the translation may be: more than [`translate::DEPTH_LIMIT`] groups with all that is between them.
const NEST_LIMIT: u32 = 512;

fn check_length(pattern: &str) -> Result<(), Refused> {
    if pattern.encode_utf16().nth(LENGTH_LIMIT).is_none() {
        Ok(())
    } else {
        Err(Refused::Unsupported("more than 1024 characters"))
    }
}
