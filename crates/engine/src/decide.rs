//! Family *decide*: may this request go on? Policies permit or deny; an algorithm combines what they say.
//!
//! ```text
//! rules, sets ──▶ Decide ── index   atoms and a trie of paths: which policies may be about a request      index
//!                        ── check   the same truth, policy by policy                                      rule, condition
//!                        ── resolve votes are tallied set by set, inner ones first                        family, value
//! why not                           every part of a policy held against the request                       examine
//! what if                           policies with one thing otherwise, for tests of policies                mutant
//! what differs                      two sets of policies, over all requests that there could be             shifts
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
mod load;
mod mutant;
mod number;
mod openings;
mod path;
mod pattern;
mod reads;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
pub mod request;
mod rule;
pub mod shifts;
mod shortfall;
mod tally;
#[cfg(test)]
mod tests;
mod truth;
mod value;
mod wildcards;

pub use condition::{AddressLists, Condition, Midnight, TimeWindow, Validity, Weekdays};
pub use examine::{Examined, ExaminedPart, Miss, shown};
pub use expression::{Cause, Expression, Failure, Problem};
pub use fact_test::{FactOf, FactTest, Operator, Order};
pub use family::{
    By, Decide, DecideScratch, Decided, Doubtful, MOST_DOUBTS, Measure, Outcome, RuleChange, Rules, RulesIter,
    Speaking, SpeaksBy, Strictness,
};
pub use flip::{Change, Edit, changes};
pub use glob::{BadPattern, ForeignPattern, Glob, MAX_LENGTH, MAX_REGEX, MAX_WILDCARDS, PatternProblem, Wildcard};
pub use load::Load;
pub use mutant::{Mutant, MutantOf, Mutation, mutants};
pub use number::Number;
pub use openings::{Opening, openings};
pub use path::{BadPath, PathReading, Readings};
pub use pattern::{MOST_ALTERNATIVES, MOST_STEPS, MOST_WEIGHT, Pattern, longest_text};
pub use request::{
    Action, Environment, Fact, Facts, Maybe, Names, NormalizedRequest, Path, Request, Resource, Subject, View,
};
pub use rule::{ANY_METHOD, Binding, Clause, Duty, Matcher, Member, PathPattern, Rule, Set, Status, Target, Test};
pub use shortfall::Shortfall;
pub use tally::Tally;
pub use truth::Truth;
pub use value::{Algorithm, Combined, Effect, PossibleEffect, Rank, Unknowns, Value, Vote};
