//! Nothing is unbounded: neither texts, nor depth, nor work.

use super::{asked, facts, list, parsed, request, text};
use crate::decide::expression::{Cause, DEEPEST, Expression, MOST_BYTES};
use crate::decide::number::Number;
use crate::decide::request::{Fact, Request};
use crate::decide::truth::Truth;

fn with_claim(fact: Fact) -> Request {
    let mut request = request();
    request.subject.claims = facts(&[("large", fact), ("level", Fact::Number(Number::from(1.0)))]);
    request
}

#[track_caller]
fn too_many_steps(expression: &str, request: &Request) {
    let failure = parsed(expression).explain(asked(request)).expect_err("has too much to do");
    assert_eq!(failure.cause, Cause::TooManySteps, "{expression}");
}

fn nested(depth: usize, open: &str, close: &str) -> String {
    format!("{}true{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn texts_end_somewhere() {
    let padded = format!("true{}", " ".repeat(MOST_BYTES - 4));
    assert!(Expression::parse(&padded).is_ok());
    let problems = Expression::parse(&format!("{padded} ")).expect_err("one byte too many");
    assert_eq!(problems[0].message, "the expression is longer than 4096 bytes");
}

#[test]
fn parentheses_nest_32_deep() {
    assert!(Expression::parse(&nested(DEEPEST, "(", ")")).is_ok());
    let text = nested(DEEPEST + 1, "(", ")");
    let problems = Expression::parse(&text).expect_err("one parenthesis too many");
    assert_eq!(problems[0].message, "the expression is nested more than 32 deep");
    assert_eq!(text.get(problems[0].range.clone()), Some("true"));
}

#[test]
fn whatever_nests_is_bounded() {
    let chains = [
        "!".repeat(4000) + "true",
        "-".repeat(4000) + "1 == 1",
        "(".repeat(4000),
        "[".repeat(4000),
        "size(".repeat(800),
        "true ? ".repeat(500),
        format!("{}true", "true ? true : ".repeat(200)),
        format!("subject.claims{} == 1", ".a".repeat(1000)),
        format!("subject.claims{} == 1", "[0]".repeat(1000)),
        format!("'a'{} == 'a'", ".lowerAscii()".repeat(200)),
        "a[".repeat(1000),
        "a.b(".repeat(1000),
    ];
    for chain in chains {
        let problems = Expression::parse(&chain).expect_err("is nested too deep");
        assert!(problems[0].message.contains("nested more than 32 deep"), "{chain}: {problems:?}");
    }
}

#[test]
fn long_chains_are_no_depth() {
    let all = vec!["true"; 400].join(" && ");
    assert_eq!(parsed(&all).holds(asked(&request())), Truth::True);
    let sum = vec!["1"; 900].join(" + ") + " == 900";
    assert_eq!(parsed(&sum).holds(asked(&request())), Truth::True);
}

#[test]
fn work_is_bounded() {
    let numbers =
        |count: u32| list(&(0..count).map(|number| Fact::Number(u64::from(number).into())).collect::<Vec<_>>());
    let long = with_claim(numbers(20_000));
    too_many_steps("-1 in subject.claims.large", &long);
    too_many_steps("subject.claims.large.contains(-1)", &long);
    too_many_steps("subject.claims.large == subject.claims.large", &long);
    too_many_steps("sets.contains(subject.claims.large, subject.claims.large)", &with_claim(numbers(200)));
    too_many_steps("sets.contains([], subject.claims.large) || -1 in subject.claims.large", &long);
    let unknown = with_claim(Fact::List(vec![Fact::Unknown; 1_000_000]));
    too_many_steps("1 in subject.claims.large", &unknown);
    too_many_steps("subject.claims.large == subject.claims.large", &unknown);
    let long = with_claim(text(&"x".repeat(700_000)));
    too_many_steps("subject.claims.large.contains('y')", &long);
    too_many_steps("subject.claims.large.matches('y')", &long);
    too_many_steps("subject.claims.large.lowerAscii() == ''", &long);
    too_many_steps("subject.claims.large + 'x' == ''", &long);
    too_many_steps("subject.claims.large == subject.claims.large", &long);
    let joined = vec!["subject.claims.large"; 100].join(" + ") + " == ''";
    too_many_steps(&joined, &with_claim(text(&"x".repeat(10_000))));
    let many = (0..700_000).map(|name| (smol_str::format_smolstr!("{name}"), Fact::Null)).collect();
    let mut wide = request();
    wide.resource.facts = many;
    too_many_steps("resource.gone == 1", &wide);
}

#[test]
fn nothing_is_free_once_the_steps_are_used_up() {
    let long = with_claim(text(&"x".repeat(700_000)));
    too_many_steps("subject.claims.large.contains('y') || true", &long);
    // What is decided before costs nothing.
    assert_eq!(parsed("true || subject.claims.large.contains('y')").holds(asked(&long)), Truth::True);
}

#[test]
fn ordinary_lists_are_no_problem() {
    let numbers = list(&(0..2000).map(|number| Fact::Number(i64::from(number).into())).collect::<Vec<_>>());
    let request = with_claim(numbers);
    assert_eq!(parsed("-1 in subject.claims.large").holds(asked(&request)), Truth::False);
    assert_eq!(parsed("subject.claims.large == subject.claims.large").holds(asked(&request)), Truth::True);
}

#[test]
fn deep_facts_are_not_followed() {
    let deep = |depth: usize| (0..depth).fold(Fact::Null, |inner, _| list(&[inner]));
    let same = "subject.claims.large == subject.claims.large";
    assert_eq!(parsed(same).explain(asked(&with_claim(deep(DEEPEST)))), Ok(true));
    let failure = parsed(same).explain(asked(&with_claim(deep(DEEPEST + 1)))).expect_err("is too deep");
    assert_eq!(failure.cause, Cause::TooDeep);
}
