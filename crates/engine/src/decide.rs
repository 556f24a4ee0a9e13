//! Family *decide*: may this request go on? Policies permit or deny; an algorithm combines what they say.

pub mod request;
mod truth;

pub use request::{Action, Asked, Environment, Fact, Facts, Maybe, Names, Request, Resource, Subject, View};
pub use truth::Truth;
