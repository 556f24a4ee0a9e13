//! Why an expression fails, and what it reads.

use super::{asked, parsed, request};
use crate::decide::expression::{Cause, Failure};

#[track_caller]
fn fails(text: &str, cause: Cause, path: Option<&str>, underlined: &str) {
    let failure = parsed(text).explain(asked(&request()));
    let start = text.find(underlined).expect("a part of the text");
    let range = start..start + underlined.len();
    assert_eq!(failure, Err(Failure { cause, path: path.map(Into::into), range }), "{text}");
}

#[test]
fn failures_name_the_fact() {
    let gone = "subject.claims.gone";
    fails("true && subject.claims.gone > 3", Cause::Absent, Some(gone), gone);
    fails("has(subject.claims.gone.deeper)", Cause::Absent, Some(gone), "subject.claims.gone.deeper");
    fails("context.colour == 'x'", Cause::Absent, Some("environment.colour"), "context.colour");
    fails("'a' in subject.groups", Cause::Unknown, Some("subject.groups"), "subject.groups");
    let header = "resource.headers['x-y']";
    fails("resource.headers['x-y'] == 'x'", Cause::Absent, Some("resource.headers[\"x-y\"]"), header);
    let third = "subject.claims.numbers[3]";
    fails("subject.claims.numbers[3] == 1", Cause::Absent, Some(third), third);
    let name = "subject.claims.people[0].age";
    fails("subject.claims.people[0].age == 1", Cause::Absent, Some(name), name);
    let holes = "'green' in subject.claims.holes";
    fails(holes, Cause::Unknown, Some("subject.claims.holes"), holes);
    let typed = "subject.claims.level > 'x'";
    fails(typed, Cause::WrongType, Some("subject.claims.level"), typed);
    fails("subject.claims.level", Cause::WrongType, Some("subject.claims.level"), "subject.claims.level");
    fails("1 / 0 == 1", Cause::DivisionByZero, None, "1 / 0");
    fails("int(subject.id) == 1", Cause::Unreadable, Some("subject.id"), "int(subject.id)");
    fails("1e308 * 10 > 0", Cause::OutOfRange, None, "1e308 * 10");
}

#[test]
fn an_expression_tells_what_it_reads() {
    let expression =
        parsed("subject.claims['x-y'].z == 1 || has(resource.owner) && context.time < context.time || 'a' in subject");
    assert_eq!(expression.reads(), ["environment.time", "resource.owner", "subject", "subject.claims[\"x-y\"].z"]);
    assert!(expression.text().starts_with("subject.claims['x-y']"));
    assert_eq!(parsed("subject.claims.people[0].name == 'x'").reads(), ["subject.claims.people"]);
}
