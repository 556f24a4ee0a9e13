//! Tables and laws of expressions.

mod bounds;
mod failures;
mod laws;
mod reference;
mod refused;
mod truths;

use super::Expression;
use crate::decide::number::Number;
use crate::decide::request::{
    Action, Environment, Fact, Facts, Maybe, Names, NormalizedRequest, Path, Request, Resource, Subject,
};
use crate::decide::truth::Truth;

fn text(text: &str) -> Fact {
    Fact::Text(text.into())
}

fn list(facts: &[Fact]) -> Fact {
    Fact::List(facts.to_vec())
}

fn facts(facts: &[(&str, Fact)]) -> Facts {
    facts.iter().map(|(name, fact)| ((*name).into(), fact.clone())).collect()
}

/// The request that the tables ask about.
fn request() -> Request {
    Request {
        subject: Subject {
            kind: Maybe::Is("user".into()),
            id: Maybe::Is("ada".into()),
            roles: Names::of(&["admin", "editor"]),
            groups: Names::Unknown,
            claims: facts(&[
                ("level", Fact::Number(Number::from(4.0))),
                ("half", Fact::Number(Number::from(0.5))),
                ("name", text("Ada Lovelace")),
                ("verified", Fact::Bool(true)),
                ("nothing", Fact::Null),
                ("hidden", Fact::Unknown),
                (
                    "numbers",
                    list(&[
                        Fact::Number(Number::from(1.0)),
                        Fact::Number(Number::from(2.0)),
                        Fact::Number(Number::from(3.0)),
                    ]),
                ),
                ("words", list(&[text("red"), text("green")])),
                ("holes", list(&[text("red"), Fact::Unknown])),
                ("org", Fact::Map(facts(&[("unit", text("engines")), ("floor", Fact::Number(Number::from(2.0)))]))),
                ("same", Fact::Map(facts(&[("floor", Fact::Number(Number::from(2.0))), ("unit", text("engines"))]))),
                ("people", list(&[Fact::Map(facts(&[("name", text("Charles"))]))])),
                ("expires", Fact::Number(Number::from(1_900_000_000.0))),
                ("born", text("1815-12-10T00:00:00Z")),
            ]),
        },
        action: Action {
            method: Maybe::Is("GET".into()),
            operation: Maybe::Absent,
            facts: facts(&[("cost", Fact::Number(Number::from(10.0)))]),
        },
        resource: Resource {
            app: Maybe::Is("docs".into()),
            path: Maybe::Is("/a/../b".into()),
            kind: Maybe::Is("doc".into()),
            id: Maybe::Unknown,
            facts: facts(&[("owner", text("ada")), ("headers", Fact::Map(facts(&[("x-tenant", text("north"))])))]),
        },
        environment: Environment {
            ip: Maybe::Is("10.1.2.3".into()),
            // A Saturday.
            time: "2030-03-02T14:05:09Z".parse().map_or(Maybe::Absent, Maybe::Is),
            facts: facts(&[("tier", text("gold"))]),
        },
    }
}

fn asked(request: &Request) -> NormalizedRequest<'_> {
    NormalizedRequest { request, path: Path::Is("/b"), longest: usize::MAX }
}

fn parsed(text: &str) -> Expression {
    Expression::parse(text).unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

fn holds(text: &str) -> Truth {
    parsed(text).holds(asked(&request()))
}
