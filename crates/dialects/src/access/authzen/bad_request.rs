//! Why a request cannot be answered at all.

use std::fmt;

use serde_json::Value as Json;

use super::evaluate::{MOST_EVALUATIONS, Semantic};

/// A request that lacks something or says something impossible: status 400 over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRequest {
    /// The field, for example `subject.id`; empty for the whole request.
    pub at: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What can be wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It must be there.
    Missing,
    /// It is of another type.
    WrongType {
        /// What it must be, with its article.
        expected: &'static str,
        /// What it is, with its article.
        found: &'static str,
    },
    /// There is no such way to answer several requests.
    UnknownSemantic(String),
    /// The name of the action is this method, and here another one is said.
    OtherMethod(&'static str),
    /// It is a longer list than is answered.
    TooMany,
    /// It is not a token that a search gave.
    NotAToken,
    /// It is the token of a search for something else.
    OtherSearch,
}

impl BadRequest {
    /// Of a field.
    pub(super) fn new(at: impl Into<String>, problem: Problem) -> Self {
        Self { at: at.into(), problem }
    }

    /// Of a field that has a value of another type.
    pub(super) fn wrong_type(at: impl Into<String>, expected: &'static str, found: &Json) -> Self {
        Self::new(at, Problem::WrongType { expected, found: noun(found) })
    }
}

impl fmt::Display for BadRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at.is_empty() {
            f.write_str("the request")?;
        } else {
            write!(f, "`{}`", self.at)?;
        }
        match &self.problem {
            Problem::Missing => f.write_str(" is missing"),
            Problem::WrongType { expected, found } => write!(f, " must be {expected}, not {found}"),
            Problem::UnknownSemantic(word) => {
                let known = Semantic::ALL.map(|semantic| format!("`{}`", semantic.word()));
                write!(f, " cannot be `{word}`: expected {}", known.join(" or "))
            }
            Problem::OtherMethod(method) => {
                write!(f, " contradicts `action.name`, which is `{method}`: leave one of them out")
            }
            Problem::TooMany => write!(f, " has more than {MOST_EVALUATIONS} items"),
            Problem::NotAToken => f.write_str(" is not a token of a search"),
            Problem::OtherSearch => f.write_str(" belongs to a search for something else"),
        }
    }
}

impl std::error::Error for BadRequest {}

fn noun(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}
