//! Changes that are reported turn the decision, and none that is smaller does: against all changes over a small universe.

use proptest::collection::vec;
use proptest::prelude::*;
use smol_str::SmolStr;
use upheld_model::Timestamp;

use super::world::{action, algorithm, condition, one_of, requests, resource, rule, set, subject};
use crate::decide::cells::{Field, Given};
use crate::decide::*;
use crate::{Scratch, Silent, ask};

const TEXTS: [&str; 6] = ["a", "b", "ab", "c", "aab", "other"];
const FACTS: [(FactOf, &str); 4] =
    [(FactOf::Subject, "x"), (FactOf::Resource, "state"), (FactOf::Resource, "n.m"), (FactOf::Action, "x")];
const HOUR: i64 = 3600 * 1_000_000_000;

fn outcome(decide: &Decide, request: &Request) -> Outcome {
    ask(decide, &request, &mut Scratch::default(), &mut Silent).outcome
}

fn told(decide: &Decide, request: &Request) -> Vec<Change> {
    let mut scratch = Scratch::default();
    let decided = ask(decide, &request, &mut scratch, &mut Silent);
    changes(decide, request, &decided, scratch.hits())
}

fn doubtful(decide: &Decide, request: &Request) -> Vec<Doubtful> {
    let mut scratch = Scratch::default();
    ask(decide, &request, &mut scratch, &mut Silent);
    decide.doubtful(request, scratch.hits())
}

fn with<'e>(request: &Request, edits: impl IntoIterator<Item = &'e Edit>) -> Request {
    let mut other = request.clone();
    for edit in edits {
        edit.apply(&mut other);
    }
    other
}

fn texts(values: &[&'static str]) -> Vec<Fact> {
    values.iter().map(|text| Fact::Text(SmolStr::new_static(text))).collect()
}

fn operator() -> impl Strategy<Value = Operator> + Clone {
    let [a, b, _, c, ..] = TEXTS;
    prop::sample::select(vec![
        Operator::In(texts(&[a, b])),
        Operator::In(texts(&[c])),
        Operator::NotIn(texts(&[a, b])),
        Operator::Order(Order::Greater, Number::Whole(1)),
        Operator::Order(Order::AtMost, Number::Whole(1)),
        Operator::Contains(Fact::Text(a.into())),
        Operator::Contains(Fact::Text(b.into())),
        Operator::ContainsAny(texts(&[b, c])),
        Operator::StartsWith(a.into()),
        Operator::EndsWith(b.into()),
        Operator::Within(vec!["10.0.0.0/8".parse().unwrap()]),
        Operator::Exists,
        Operator::Absent,
    ])
}

fn fact_test(of: FactOf) -> impl Strategy<Value = Test> + Clone {
    let names: Vec<&str> = FACTS.iter().filter(|(own, _)| *own == of).map(|(_, name)| *name).collect();
    (prop::sample::select(names), operator(), prop::bool::weighted(0.2)).prop_map(move |(name, operator, not)| {
        let absent = if matches!(operator, Operator::In(_)) { Truth::False } else { Truth::Error };
        let path = name.split('.').map(SmolStr::new).collect();
        let mismatch = absent;
        let test = Test::Fact(FactTest { of, name: name.into(), called: None, path, operator, absent, mismatch });
        if not { Test::Not(Matcher { tests: vec![test] }) } else { test }
    })
}

fn clause(own: impl Strategy<Value = Matcher> + Clone, of: FactOf) -> impl Strategy<Value = Vec<Matcher>> + Clone {
    let facts = vec(fact_test(of), 1..3).prop_map(|tests| Matcher { tests });
    vec(prop_oneof![own, facts], 0..3)
}

fn target() -> impl Strategy<Value = Target> + Clone {
    (clause(subject(), FactOf::Subject), clause(resource(), FactOf::Resource), clause(action(), FactOf::Action))
        .prop_map(|(subjects, resources, actions)| Target { subjects, resources, actions })
}

fn conditions() -> impl Strategy<Value = Vec<Condition>> + Clone {
    let others = prop::sample::select(vec![
        Condition::Address(AddressLists::Networks { allow: None, block: vec!["10.0.0.0/8".parse().unwrap()] }),
        Condition::Validity(Validity { from: Some(Timestamp(5 * HOUR)), until: Some(Timestamp(9 * HOUR)) }),
    ]);
    vec(prop_oneof![condition(), others], 0..2)
}

fn members(most: usize, prefix: &'static str) -> impl Strategy<Value = Vec<Member>> + Clone {
    vec((prop::bool::ANY, target(), conditions(), 0..2_i32), 1..most).prop_map(move |all| {
        let rule = |(number, (permits, target, conditions, priority)): (usize, (bool, Target, Vec<Condition>, i32))| {
            let effect = if permits { Effect::Permit } else { Effect::Deny };
            let rule = rule(&format!("{prefix}{number}"), effect, target);
            Rule { conditions, priority: f64::from(priority), ..rule }.into()
        };
        all.into_iter().enumerate().map(rule).collect()
    })
}

/// A few policies, and sometimes a set with a target.
fn small_sets() -> impl Strategy<Value = Set> + Clone {
    let inner = (algorithm(), members(3, "inner"), target(), proptest::option::of(prop::bool::ANY)).prop_map(
        |(algorithm, members, target, default)| {
            let default = default.map(|permits| if permits { Effect::Permit } else { Effect::Deny });
            Set { name: "inner".into(), target, default, ..set(algorithm, members) }
        },
    );
    (algorithm(), members(4, "p"), proptest::option::weighted(0.4, inner)).prop_map(
        |(algorithm, mut members, inner)| {
            members.extend(inner.map(Member::from));
            set(algorithm, members)
        },
    )
}

fn with_facts() -> impl Strategy<Value = Request> + Clone {
    let value = prop::sample::select(
        [
            texts(&TEXTS),
            vec![Fact::Number(Number::Whole(1)), Fact::List(texts(&["a", "c"])), Fact::Bool(true), Fact::Unknown],
        ]
        .concat(),
    );
    let facts = vec((one_of(&FACTS), value), 0..3);
    (requests(1), facts).prop_map(|(mut request, facts)| {
        for ((of, name), fact) in facts {
            let path = name.split('.').map(SmolStr::new).collect();
            Edit::Set(Field::Fact(of, path), Given::Fact(fact)).apply(&mut request);
        }
        request
    })
}

/// All single changes over a small universe.
fn universe(request: &Request) -> Vec<Edit> {
    let text = |text: &str| Given::Text(SmolStr::new(text));
    let mut all = Vec::new();
    for (field, names) in [(Field::Roles, &request.subject.roles), (Field::Groups, &request.subject.groups)] {
        let new = TEXTS.iter().filter(|name| !names.known().iter().any(|known| known == *name));
        all.extend(new.map(|name| Edit::Add(field.clone(), SmolStr::new(name))));
        all.extend(names.known().iter().map(|name| Edit::Remove(field.clone(), name.clone())));
    }
    let plain = [Field::SubjectId, Field::SubjectType, Field::App, Field::Type, Field::ResourceId, Field::Operation];
    for field in plain {
        all.extend(TEXTS.iter().map(|value| Edit::Set(field.clone(), text(value))));
        all.push(Edit::Set(field, Given::Absent));
    }
    all.extend(["GET", "POST", "PUT", "PURGE", "HEAD"].map(|method| Edit::Set(Field::Method, text(method))));
    // Who asks for a path from the root is told of such paths.
    let rooted = request.resource.path.known().is_some_and(|path| path.starts_with('/'));
    for first in if rooted { &[""][..] } else { &["a", "b", "ab", "c", ""] } {
        all.extend((!first.is_empty()).then(|| Edit::Set(Field::Path, text(first))));
        all.extend(["a", "b", "c"].map(|second| Edit::Set(Field::Path, text(&format!("{first}/{second}")))));
    }
    let lists = [&["a"][..], &["b"], &["a", "b"], &["c"]].map(|items| Fact::List(texts(items)));
    let numbers = [0, 1, 2].map(|number: i64| Fact::Number(number.into()));
    let values = [texts(&TEXTS), texts(&["10.0.0.1"]), lists.to_vec(), numbers.to_vec()].concat();
    for (of, name) in FACTS {
        let field = Field::Fact(of, name.split('.').map(SmolStr::new).collect());
        all.extend(values.iter().map(|value| Edit::Set(field.clone(), Given::Fact(value.clone()))));
        all.push(Edit::Set(field, Given::Absent));
    }
    let owner = Field::Fact(FactOf::Resource, vec!["owner".into()]);
    all.extend(["a", "other"].map(|name| Edit::Set(owner.clone(), text(name))));
    all.push(Edit::Set(owner, Given::OwnId));
    all.extend((0..24).map(|hour| Edit::Set(Field::Time, Given::Moment(Timestamp(hour * HOUR)))));
    all.extend(["10.1.2.3", "192.0.2.9", "198.51.100.1"].map(|address| Edit::Set(Field::Address, text(address))));
    all
}

/// The smallest number of changes over the universe that leads to an outcome, if it is below a bound.
fn smallest(decide: &Decide, request: &Request, wanted: Outcome, below: usize) -> Option<Vec<Edit>> {
    let all = universe(request);
    let before = doubtful(decide, request);
    // To make something unknown that an algorithm hides then is no change that anybody should be told of.
    let turns = |edits: &[&Edit]| {
        let other = with(request, edits.iter().copied());
        outcome(decide, &other) == wanted && doubtful(decide, &other).iter().all(|one| before.contains(one))
    };
    let one = all.iter().find(|edit| below > 1 && turns(&[edit])).map(|edit| vec![edit.clone()]);
    one.or_else(|| {
        let pairs =
            all.iter().enumerate().flat_map(|(place, one)| all.iter().skip(place + 1).map(move |two| [one, two]));
        let pair = pairs.into_iter().find(|[one, two]| below > 2 && one.goes_with(two) && turns(&[one, two]));
        pair.map(|pair| pair.map(Clone::clone).to_vec())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn told_changes_turn_the_decision_and_no_smaller_one_does(set in small_sets(), request in with_facts()) {
        let decide = Decide::new(set, Strictness::Strict);
        let wanted = if outcome(&decide, &request) == Outcome::Permit { Outcome::Deny } else { Outcome::Permit };
        let told = told(&decide, &request);
        let mut least = usize::MAX;
        for change in &told {
            let Change::Request(edits, _) = change else { continue };
            prop_assert_eq!(outcome(&decide, &with(&request, edits)), wanted, "{:?}", edits);
            least = least.min(edits.len());
        }
        let smaller = smallest(&decide, &request, wanted, least.min(3));
        prop_assert!(smaller.is_none(), "{:?} is smaller than {:?}", smaller, told);
    }
}
