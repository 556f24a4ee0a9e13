//! Expressions, part by part: against asking about every request of a small world.

use std::collections::BTreeSet;

use proptest::prelude::*;
use smol_str::SmolStr;

use super::world::{decision, is_confirmed};
use crate::decide::number::Number;
use crate::decide::shifts::{Bounds, Certainty, Verdict, shifts};
use crate::decide::tests::world::{all_of, rule, set};
use crate::decide::*;

const CLAUSES: [&str; 14] = [
    "subject.claims.age >= 18",
    "subject.claims.age < 21",
    "20 == subject.claims.age",
    "subject.claims.age != 18",
    "18 < subject.claims.age",
    "subject.claims.age in [18, 20, 'x']",
    "subject.claims.dept == 'a'",
    "subject.claims.dept != 'b'",
    "subject.claims.dept in ['a', 'b']",
    "subject.claims.vip",
    "subject.claims.vip == false",
    "'x' in subject.roles",
    "resource.type == 'doc'",
    "request.resource.type in ['doc', 'map']",
];

fn expression() -> impl Strategy<Value = String> {
    let clause = prop::sample::select(&CLAUSES[..]).prop_map(str::to_owned);
    clause.prop_recursive(3, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one}) && ({other})")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} || {other})")),
            inner.prop_map(|one| format!("!({one})")),
        ]
    })
}

fn policy(number: usize, effect: Effect, expression: &str, dept: Option<&str>) -> Rule {
    let claim = |dept: &str| {
        let operator = Operator::In(vec![Fact::Text(dept.into())]);
        let (of, name, path) = (FactOf::Subject, SmolStr::new("dept"), vec![SmolStr::new("dept")]);
        let (absent, mismatch) = (Truth::False, Truth::False);
        all_of(vec![Test::Fact(FactTest { of, name, called: None, path, operator, absent, mismatch })])
    };
    let target = Target { subjects: dept.map(claim).unwrap_or_default(), ..Target::default() };
    let conditions = vec![Condition::Expression(Expression::parse(expression).expect("can be read"))];
    Rule { conditions, ..rule(&format!("p{number}"), effect, target) }
}

fn policies() -> impl Strategy<Value = Decide> {
    let one = (any::<bool>(), expression(), prop::sample::select(&[None, Some("a"), Some("c")][..]));
    prop::collection::vec(one, 1..3).prop_map(|all| {
        let rules = (0..).zip(all).map(|(number, (permits, expression, dept))| {
            policy(number, if permits { Effect::Permit } else { Effect::Deny }, &expression, dept).into()
        });
        Decide::new(set(Algorithm::DenyOverrides, rules.collect()), Strictness::Strict)
    })
}

/// Every sort of request that the clauses could tell apart.
fn requests() -> Vec<Request> {
    let number = |number: f64| Fact::Number(Number::from(number));
    let text = |text: &str| Fact::Text(text.into());
    let sorts =
        || [Fact::Null, Fact::Bool(true), Fact::Bool(false), Fact::List(Vec::new()), Fact::Map(Facts::default())];
    let numbers = [17.0, 18.0, 19.5, 20.0, 20.5, 21.0, 30.0].map(number);
    let ages: Vec<Option<Fact>> =
        [None].into_iter().chain(numbers.into_iter().chain([text("x"), text("y")]).chain(sorts()).map(Some)).collect();
    let depts: Vec<Option<Fact>> = [None]
        .into_iter()
        .chain([text("a"), text("b"), text("c"), text("d"), number(1.0), Fact::Null].map(Some))
        .collect();
    let vips: Vec<Option<Fact>> =
        [None].into_iter().chain([Fact::Bool(true), Fact::Bool(false), text("x"), Fact::Null].map(Some)).collect();
    let mut all = Vec::new();
    for age in &ages {
        for dept in &depts {
            for vip in &vips {
                for roles in [vec![], vec!["x"], vec!["y"], vec!["y", "x"]] {
                    for kind in [None, Some("doc"), Some("map"), Some("other")] {
                        let mut request = Request::default();
                        request.subject.roles = Names::Known(roles.iter().map(SmolStr::new).collect());
                        request.resource.kind = kind.map_or(Maybe::Absent, |kind| Maybe::Is(kind.into()));
                        for (name, fact) in [("age", age), ("dept", dept), ("vip", vip)] {
                            if let Some(fact) = fact {
                                request.subject.claims.set(name, fact.clone());
                            }
                        }
                        all.push(request);
                    }
                }
            }
        }
    }
    all
}

fn pairs(verdict: &Verdict) -> BTreeSet<String> {
    verdict.shifts().iter().map(|shift| format!("{:?} {:?}", shift.before, shift.after)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn what_expressions_change_is_what_asking_says_otherwise(before in policies(), after in policies()) {
        let verdict = shifts(&before, &after, &Bounds::default());
        for shift in verdict.shifts() {
            prop_assert_eq!(&shift.certainty, &Certainty::Sure, "{:#?}", shift);
            prop_assert!(is_confirmed(&before, &after, shift), "{:#?}", shift);
        }
        let mut known = BTreeSet::new();
        for request in requests() {
            let (one, other) = (decision(&before, &request), decision(&after, &request));
            if one.outcome != other.outcome {
                known.insert(format!("{one:?} {other:?}"));
            }
        }
        prop_assert_eq!(pairs(&verdict), known);
    }
}

/// Policies about owners and names with dots, which read more than expressions do.
fn entangled_policies() -> impl Strategy<Value = Decide> {
    let clauses =
        ["subject.id == 'root'", "subject.id != 'ann'", "subject.claims.a.b == 'x'", "resource.owner == 'ann'", "true"];
    let dotted = Test::Fact(FactTest {
        of: FactOf::Subject,
        name: SmolStr::new("a.b"),
        called: None,
        path: vec![SmolStr::new("a"), SmolStr::new("b")],
        operator: Operator::In(vec![Fact::Text("x".into())]),
        absent: Truth::False,
        mismatch: Truth::False,
    });
    let target = move |number: u8| match number {
        0 => Target::default(),
        1 => Target { resources: all_of(vec![Test::OwnedBySubject]), ..Target::default() },
        _ => Target { subjects: all_of(vec![dotted.clone()]), ..Target::default() },
    };
    let one = (any::<bool>(), prop::sample::select(clauses.to_vec()), 0..3_u8);
    prop::collection::vec(one, 1..3).prop_map(move |all| {
        let rules = (0..).zip(all).map(|(number, (permits, expression, about))| {
            let effect = if permits { Effect::Permit } else { Effect::Deny };
            Rule { target: target(about), ..policy(number, effect, expression, None) }.into()
        });
        Decide::new(set(Algorithm::DenyOverrides, rules.collect()), Strictness::Strict)
    })
}

fn entangled_requests() -> Vec<Request> {
    let text = |text: &str| Fact::Text(text.into());
    let texts = ["x", "y", "root", "ann", "other"];
    let mut all = Vec::new();
    for id in [None, Some("root"), Some("ann"), Some("other"), Some("")] {
        for owner in [None].into_iter().chain(texts.map(Some)) {
            for whole in [None, Some("x"), Some("y")] {
                for inner in [None, Some("x"), Some("y")] {
                    let mut request = Request::default();
                    request.subject.id = id.map_or(Maybe::Absent, |id| Maybe::Is(id.into()));
                    if let Some(owner) = owner {
                        request.resource.facts.set("owner", text(owner));
                    }
                    if let Some(whole) = whole {
                        request.subject.claims.set("a.b", text(whole));
                    }
                    if let Some(inner) = inner {
                        let mut facts = Facts::default();
                        facts.set("b", text(inner));
                        request.subject.claims.set("a", Fact::Map(facts));
                    }
                    all.push(request);
                }
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Here not everything is known, but nothing that changes is left out.
    #[test]
    fn what_reads_more_than_expressions_do_is_not_taken_for_the_same(before in entangled_policies(), after in entangled_policies()) {
        let verdict = shifts(&before, &after, &Bounds::default());
        for shift in verdict.shifts().iter().filter(|shift| shift.certainty == Certainty::Sure) {
            prop_assert!(is_confirmed(&before, &after, shift), "{:#?}", shift);
        }
        let found = pairs(&verdict);
        for request in entangled_requests() {
            let (one, other) = (decision(&before, &request), decision(&after, &request));
            let pair = format!("{one:?} {other:?}");
            prop_assert!(one.outcome == other.outcome || found.contains(&pair), "{} of {:?}: {:#?}", pair, request, verdict);
        }
    }
}

fn alone(expression: &str) -> Decide {
    let rules = vec![policy(0, Effect::Permit, expression, None).into()];
    Decide::new(set(Algorithm::DenyOverrides, rules), Strictness::Strict)
}

#[test]
fn an_expression_that_is_written_otherwise_is_equal() {
    for (one, other) in [
        (
            "subject.claims.age >= 18 && subject.claims.dept == 'a'",
            "subject.claims.dept == 'a' && subject.claims.age >= 18",
        ),
        ("!(subject.claims.age < 18)", "subject.claims.age >= 18"),
        ("subject.claims.dept in ['a', 'b']", "subject.claims.dept == 'a' || 'b' == subject.claims.dept"),
        ("!('x' in subject.roles || subject.claims.vip)", "!subject.claims.vip && !('x' in subject.roles)"),
        // What nobody looks into stands for itself.
        (
            "resource.path.startsWith('/a') && subject.claims.vip",
            "subject.claims.vip && resource.path.startsWith('/a')",
        ),
        ("subject.id == resource.owner || subject.claims.vip", "subject.claims.vip || subject.id == resource.owner"),
    ] {
        let verdict = shifts(&alone(one), &alone(other), &Bounds::default());
        assert!(matches!(verdict, Verdict::Equal { changed: 1, .. }), "{one}: {verdict:#?}");
    }
}

#[test]
fn two_parts_that_must_be_equal_are_found() {
    let always = shifts(&alone("subject.id == resource.owner"), &alone("true"), &Bounds::default());
    assert!(always.shifts().iter().any(|shift| shift.certainty == Certainty::Sure), "{always:#?}");
    let never = shifts(&alone("false"), &alone("subject.id == resource.owner"), &Bounds::default());
    let owned = never.shifts().iter().find(|shift| shift.after.outcome == Outcome::Permit);
    assert_eq!(owned.map(|shift| &shift.certainty), Some(&Certainty::Sure), "{never:#?}");
}

#[test]
fn bounds_that_move_are_shown_by_a_value_between_them() {
    let verdict = shifts(&alone("subject.claims.age >= 18"), &alone("subject.claims.age >= 21"), &Bounds::default());
    let [shift] = verdict.shifts() else { panic!("{verdict:#?}") };
    let Some(Fact::Number(age)) = shift.example.subject.claims.get("age") else { panic!("{shift:#?}") };
    assert!(age.to_f64() >= 18.0 && age.to_f64() < 21.0);
    // Too many parts at once are one, of which nobody knows what is in it.
    let many = |from: i32| {
        (from..from + 20).map(|number| format!("subject.claims.n{number} == 1")).collect::<Vec<_>>().join(" || ")
    };
    let verdict = shifts(&alone(&many(0)), &alone(&format!("{} ", many(0))), &Bounds::default());
    assert!(verdict.shifts().iter().all(|shift| shift.certainty != Certainty::Sure), "{verdict:#?}");
}
