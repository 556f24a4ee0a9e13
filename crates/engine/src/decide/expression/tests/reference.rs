//! Another implementation of CEL says the same, where both languages are the same: numbers are floats, none is divided.

use crate::decide::number::Number;
use std::collections::HashMap;

use cel::{Context, Program, Value};
use proptest::prelude::*;

use super::{Expression, asked, facts, list, text};
use crate::decide::request::{Fact, Facts, Request, Subject};
use crate::decide::truth::Truth;

fn claims() -> Facts {
    facts(&[
        ("one", Fact::Number(Number::from(1.0))),
        ("half", Fact::Number(Number::from(0.5))),
        ("word", text("abc")),
        ("other", text("bc")),
        ("yes", Fact::Bool(true)),
        ("numbers", list(&[Fact::Number(Number::from(1.0)), Fact::Number(Number::from(2.5))])),
        ("words", list(&[text("abc"), text("x")])),
        ("map", Fact::Map(facts(&[("inner", Fact::Number(Number::from(2.5)))]))),
    ])
}

fn theirs(fact: &Fact) -> Value {
    match fact {
        Fact::Null | Fact::Unknown => Value::Null,
        Fact::Bool(truth) => Value::Bool(*truth),
        Fact::Number(number) => Value::Float(number.to_f64()),
        Fact::Text(text) => text.as_str().into(),
        Fact::List(facts) => facts.iter().map(theirs).collect::<Vec<_>>().into(),
        Fact::Map(facts) => their_map(facts),
    }
}

fn their_map(facts: &Facts) -> Value {
    let map: HashMap<String, Value> = facts.iter().map(|(name, fact)| (name.to_string(), theirs(fact))).collect();
    map.into()
}

/// What the other implementation says.
fn their_truth(text: &str) -> Truth {
    let program = Program::compile(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut context = Context::default();
    context.add_variable_from_value("subject", HashMap::from([("claims", their_map(&claims()))]));
    match program.execute(&context) {
        Ok(Value::Bool(truth)) => truth.into(),
        Ok(_) | Err(_) => Truth::Error,
    }
}

/// What this one says; none if it sees a mistake of types before it runs.
fn our_truth(text: &str) -> Option<Truth> {
    let request = Request { subject: Subject { claims: claims(), ..Subject::default() }, ..Request::default() };
    Expression::parse(text).ok().map(|expression| expression.holds(asked(&request)))
}

/// Facts of all types, and one that is missing.
fn fact() -> impl Strategy<Value = String> {
    let names = ["one", "half", "word", "other", "yes", "nothing", "numbers", "words", "map", "map.inner", "gone"];
    prop::sample::select(names.to_vec()).prop_map(|name| format!("subject.claims.{name}"))
}

/// Facts that are not lists: those can be joined there, but not here.
fn plain_fact() -> impl Strategy<Value = String> {
    fact().prop_filter("a list", |path| !path.ends_with("numbers") && !path.ends_with("words"))
}

/// Facts that may be lists. Maps are left out: what is not a name is an error here, and in no map there.
fn list_fact() -> impl Strategy<Value = String> {
    let names = ["numbers", "words", "one", "nothing", "gone"];
    prop::sample::select(names.to_vec()).prop_map(|name| format!("subject.claims.{name}"))
}

fn number(depth: u32) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["0.0", "1.0", "2.5", "-1.5", "1e2"]).prop_map(str::to_owned),
        prop::sample::select(vec!["subject.claims.one", "subject.claims.half"]).prop_map(str::to_owned),
        plain_fact(),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let inner = number(depth - 1);
    prop_oneof![
        3 => leaf,
        1 => (inner.clone(), prop::sample::select(vec!["+", "-", "*"]), inner.clone(), prop::sample::select(vec!["+", "-", "*"]), inner.clone())
            .prop_map(|(a, first, b, second, c)| format!("({a} {first} {b} {second} {c})")),
        1 => inner.clone().prop_map(|a| format!("-({a})")),
        1 => list_fact().prop_map(|a| format!("double(size({a}))")),
        1 => word(depth - 1).prop_map(|a| format!("double(size({a}))")),
        1 => (condition(depth - 1), inner.clone(), inner).prop_map(|(c, a, b)| format!("({c} ? {a} : {b})")),
    ]
    .boxed()
}

fn word(depth: u32) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["''", "'abc'", "\"b\"", "'\\u0061bc'", "r'a\\'", "'é'"]).prop_map(str::to_owned),
        prop::sample::select(vec!["subject.claims.word", "subject.claims.other"]).prop_map(str::to_owned),
        plain_fact(),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let inner = word(depth - 1);
    prop_oneof![
        3 => leaf,
        1 => (inner.clone(), inner).prop_map(|(a, b)| format!("({a} + {b})")),
    ]
    .boxed()
}

fn condition(depth: u32) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["true", "false", "subject.claims.yes"]).prop_map(str::to_owned),
        fact(),
        fact().prop_map(|path| format!("has({path})")),
        fact().prop_map(|path| format!("({path} == null)")),
        (fact(), prop::sample::select(vec!["==", "!="]), fact()).prop_map(|(a, sign, b)| format!("({a} {sign} {b})")),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let order = || prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    let test = prop::sample::select(vec!["startsWith", "endsWith"]);
    let (numbers, words, inner) = (number(depth - 1), word(depth - 1), condition(depth - 1));
    prop_oneof![
        1 => leaf,
        2 => (numbers.clone(), order(), numbers.clone()).prop_map(|(a, sign, b)| format!("({a} {sign} {b})")),
        2 => (words.clone(), order(), words.clone()).prop_map(|(a, sign, b)| format!("({a} {sign} {b})")),
        1 => (words.clone(), test, words.clone()).prop_map(|(a, test, b)| format!("{a}.{test}({b})")),
        // Here, lists contain something as well; a sum is not a list.
        1 => (words.clone(), words.clone()).prop_map(|(a, b)| format!("({a} + '').contains({b})")),
        1 => (numbers.clone(), numbers.clone(), numbers).prop_map(|(a, b, c)| format!("({a} in [{b}, {c}])")),
        1 => (words.clone(), list_fact()).prop_map(|(a, list)| format!("({a} in {list})")),
        1 => (words.clone(), words).prop_map(|(a, b)| format!("([{a}, 'x'] == ['abc', {b}])")),
        2 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} && {b} || {c})")),
        1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
        1 => inner.prop_map(|a| format!("!{a}")),
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn both_say_the_same(text in condition(3)) {
        if let Some(ours) = our_truth(&text) {
            prop_assert_eq!(ours, their_truth(&text), "{}", text);
        }
    }
}

#[test]
fn most_random_expressions_are_compared() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = [0; 3];
    for _ in 0..1000 {
        let text = condition(3).new_tree(&mut runner).expect("an expression").current();
        match our_truth(&text) {
            Some(Truth::True) => seen[0] += 1,
            Some(Truth::False) => seen[1] += 1,
            Some(Truth::Error) => seen[2] += 1,
            None => {}
        }
    }
    assert!(seen.iter().all(|count| *count > 100) && seen.iter().sum::<i32>() > 700, "{seen:?}");
}
