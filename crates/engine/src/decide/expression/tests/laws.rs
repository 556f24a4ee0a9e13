//! What holds for all texts, all expressions and all requests.

use proptest::prelude::*;

use super::{asked, parsed, request};
use crate::decide::expression::Expression;
use crate::decide::truth::Truth;

/// Pieces that random texts are glued from, so that many of them nearly make sense.
const PIECES: [&str; 44] = [
    "subject",
    ".",
    "claims",
    "roles",
    "resource",
    "environment.time",
    "request",
    "(",
    ")",
    "[",
    "]",
    ",",
    "?",
    ":",
    "==",
    "!=",
    "<",
    "&&",
    "||",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    " in ",
    "'a'",
    "\"",
    "r'",
    "\\",
    "'''",
    "1",
    "1e",
    "0x",
    ".5",
    "u",
    "has(",
    "size(",
    "matches(",
    "exists(",
    "null",
    "true",
    "timestamp('2030')",
    "é",
];

/// Boolean expressions: true, false, and errors of all sorts.
fn condition() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "true",
        "false",
        "subject.claims.gone",
        "subject.claims.hidden",
        "subject.claims.level",
        "subject.claims.verified",
        "subject.claims.level > 3",
        "subject.claims.level > 'x'",
        "'admin' in subject.roles",
        "'green' in subject.claims.holes",
        "has(subject.claims.gone)",
        "has(subject.claims.gone.deeper)",
        "1 / 0 == 1",
        "resource.type == 'doc'",
        "resource.id == 'x'",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|one| format!("!({one})")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one}) && ({other})")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one}) || ({other})")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(one, two, three)| format!("({one}) ? ({two}) : ({three})")),
        ]
    })
}

fn truth(text: &str) -> Truth {
    parsed(text).holds(asked(&request()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,80}") {
        read(&text)?;
    }

    #[test]
    fn any_text_of_pieces_is_read_or_refused(pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..24)) {
        read(&pieces.concat())?;
    }

    #[test]
    fn negation_keeps_errors(one in condition()) {
        prop_assert_eq!(truth(&format!("!({one})")), !truth(&one));
    }

    #[test]
    fn both_and_one_of_both_are_those_of_truths(one in condition(), other in condition()) {
        let (first, second) = (truth(&one), truth(&other));
        prop_assert_eq!(truth(&format!("({one}) && ({other})")), first.and(second));
        prop_assert_eq!(truth(&format!("({other}) && ({one})")), first.and(second));
        prop_assert_eq!(truth(&format!("({one}) || ({other})")), first.or(second));
        prop_assert_eq!(truth(&format!("({other}) || ({one})")), first.or(second));
    }

    #[test]
    fn an_explanation_equals_the_answer(one in condition()) {
        let explained = parsed(&one).explain(asked(&request()));
        prop_assert_eq!(explained.map_or(Truth::Error, Truth::from), truth(&one));
    }
}

/// Reads a text, underlines only what is there, and evaluates what was read.
fn read(text: &str) -> Result<(), TestCaseError> {
    match Expression::parse(text) {
        Ok(expression) => {
            let request = request();
            let answer = expression.holds(asked(&request));
            prop_assert_eq!(expression.explain(asked(&request)).map_or(Truth::Error, Truth::from), answer);
        }
        Err(problems) => {
            prop_assert!(!problems.is_empty());
            for problem in problems {
                prop_assert!(text.get(problem.range.clone()).is_some(), "{problem:?}");
            }
        }
    }
    Ok(())
}
