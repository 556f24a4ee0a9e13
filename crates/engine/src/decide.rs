//! Family *decide*: may this request go on? Policies permit or deny; an algorithm combines what they say.
//!
//! ```text
//! rules, sets ──▶ Decide ── index   atoms and a trie of paths: which policies may be about a request      index
//!                        ── check   the same truth, policy by policy                                      rule, condition
//!                        ── resolve votes are tallied set by set, inner ones first                        family, value
//! why not                           every part of a policy held against the request                       examine
//! ```
//!
//! A fact that is missing is neither true nor false: the policy's answer is unknown, and so is the decision where that
//! matters. Enforcement stops what is undecided.

pub mod cells;
mod condition;
mod examine;
pub mod expression;
mod fact_test;
mod family;
mod flip;
mod glob;
mod index;
mod path;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
pub mod request;
mod rule;
#[cfg(test)]
mod tests;
mod truth;
mod value;

pub use condition::{AddressLists, Condition, Midnight, TimeWindow, Validity, Weekdays};
pub use examine::{Examined, Held, Miss, shown};
pub use expression::{Cause, Expression, Failure, Problem};
pub use fact_test::{FactOf, FactTest, Operator, Order};
pub use family::{By, Decide, DecideScratch, Decided, Manner, Measure, Outcome, RuleChange, Rules, RulesIter};
pub use flip::{Change, Edit, changes};
pub use glob::{BadPattern, ForeignPattern, Glob, MAX_LENGTH, MAX_REGEX, MAX_WILDCARDS, PatternProblem, Wild};
pub use path::BadPath;
pub use request::{Action, Asked, Environment, Fact, Facts, Maybe, Names, Request, Resource, Subject, View};
pub use rule::{ANY_METHOD, Binding, Clause, Duty, Matcher, Member, PathPattern, Rule, Set, Status, Target, Test};
pub use truth::Truth;
pub use value::{Algorithm, Combined, Could, Effect, Rank, Tally, Value, Vote};
