//! What policies and requests may cost, and what happens beyond that.

use smol_str::SmolStr;
use upheld_model::{NodeRef, SourceId};

use super::world::{all_of, path, set};
use crate::Ruling;
use crate::ask::{Scratch, ask};
use crate::decide::*;
use crate::witness::{Everything, Silent};

fn texts(prefix: &str, count: usize) -> Vec<SmolStr> {
    (0..count).map(|number| format!("{prefix}{number}").into()).collect()
}

fn matchers(tests: impl Iterator<Item = Test>) -> Vec<Matcher> {
    tests.map(|test| Matcher { tests: vec![test] }).collect()
}

fn decide(rules: Vec<Rule>) -> Decide {
    let root = Set {
        name: SmolStr::default(),
        algorithm: Algorithm::DenyOverrides,
        default: Some(Effect::Deny),
        target: Target::default(),
        duties: Vec::new(),
        priority: 0.0,
        members: rules.into_iter().map(Member::from).collect(),
        at: None,
    };
    Decide::new(root, Strictness::Strict)
}

fn rule(name: &str, effect: Effect, target: Target) -> Rule {
    Rule::new(name.into(), effect, target, NodeRef { source: SourceId::new(0), node: 0 })
}

/// What the index and a sweep say, which must be the same.
fn outcome(decide: &Decide, request: &Request) -> Outcome {
    let silent = ask(decide, &request, &mut Scratch::default(), &mut Silent).outcome;
    let told = ask(decide, &request, &mut Scratch::default(), &mut Everything::default()).outcome;
    assert_eq!(silent, told);
    silent
}

fn request(id: &str, path: &str, operation: &str) -> Request {
    let is = |text: &str| Maybe::Is(SmolStr::new(text));
    Request {
        subject: Subject { id: is(id), ..Subject::default() },
        action: Action { operation: is(operation), ..Action::default() },
        resource: Resource { path: is(path), ..Resource::default() },
        environment: Environment::default(),
    }
}

/// S2: three lists of alternatives are looked at one after the other, not in all combinations.
#[test]
fn many_alternatives_decide_as_few_do() {
    let target = Target {
        subjects: matchers(texts("s", 12).into_iter().map(|id| Test::Id(vec![id]))),
        resources: matchers(
            texts("/p", 12).into_iter().map(|path| Test::Path(vec![PathPattern::Glob(Glob::parse(&path).unwrap())])),
        ),
        actions: matchers(texts("o", 12).into_iter().map(|one| Test::Operation(vec![one]))),
    };
    assert_eq!(target.alternatives(), 12 * 12 * 12);
    let decide = decide(vec![rule("many", Effect::Permit, target)]);
    assert_eq!(outcome(&decide, &request("s3", "/p11", "o0")), Outcome::Permit);
    for (id, path, operation) in [("x", "/p1", "o1"), ("s1", "/x", "o1"), ("s1", "/p1", "x"), ("s12", "/p1", "o1")] {
        assert_eq!(outcome(&decide, &request(id, path, operation)), Outcome::Deny, "{id} {path} {operation}");
    }
    let unknown = Subject { id: Maybe::Unknown, ..Subject::default() };
    assert_eq!(outcome(&decide, &Request { subject: unknown.clone(), ..request("", "/p1", "o1") }), Outcome::Undecided);
    assert_eq!(outcome(&decide, &Request { subject: unknown, ..request("", "/x", "o1") }), Outcome::Deny);
}

#[test]
fn alternatives_count_values_of_lists_too() {
    let lists = Target {
        subjects: vec![Matcher { tests: vec![Test::Id(texts("s", 300)), Test::Group(texts("g", 2))] }],
        resources: vec![Matcher { tests: vec![Test::Type(texts("t", 300))] }],
        actions: vec![Matcher { tests: vec![Test::Operation(texts("o", 300))] }],
    };
    assert_eq!(lists.alternatives(), 600 * 300 * 300);
    assert!(lists.alternatives() > MOST_ALTERNATIVES);
    assert_eq!(Target::default().alternatives(), 1);
}

fn claims_like(pattern: &str) -> Target {
    let test = FactTest {
        of: FactOf::Subject,
        name: "note".into(),
        called: None,
        path: vec!["note".into()],
        operator: Operator::Regex(Pattern::build(pattern, None).unwrap()),
        absent: Truth::False,
        mismatch: Truth::False,
    };
    Target { subjects: vec![Matcher { tests: vec![Test::Fact(test)] }], ..Target::default() }
}

fn noted(text: String) -> Request {
    let mut claims = Facts::default();
    claims.set("note", Fact::Text(text.into()));
    Request { subject: Subject { claims, ..Subject::default() }, ..Request::default() }
}

/// S2: a text that would take too many steps is not held against patterns: nobody can tell then, and nothing opens.
#[test]
fn a_text_beyond_the_budget_is_undecided_and_says_so() {
    let permits = decide(vec![rule("long", Effect::Permit, claims_like("[ab]*a[ab]{900}[c-z]"))]);
    let (longest, weight) = (permits.longest_text(), permits.weight());
    assert!(longest.saturating_mul(weight) <= MOST_STEPS && longest < 1 << 20, "{longest} {weight}");
    assert_eq!(outcome(&permits, &noted("b".repeat(100))), Outcome::Deny);
    assert_eq!(outcome(&permits, &noted("b".repeat(longest + 1))), Outcome::Undecided);
    let denies = decide(vec![
        rule("all", Effect::Permit, Target::default()),
        rule("long", Effect::Deny, claims_like("[ab]*a[ab]{900}[c-z]")),
    ]);
    assert_eq!(outcome(&denies, &noted("b".repeat(100))), Outcome::Permit);
    assert_eq!(outcome(&denies, &noted("b".repeat(longest + 1))), Outcome::Undecided);
    let examined = permits.examine(crate::ask::EntryId::new(0), &noted("b".repeat(longest + 1))).unwrap();
    let told = crate::words::miss(examined.first_unknown().unwrap());
    assert!(told.contains(&format!("{} bytes", longest + 1)) && told.contains(&longest.to_string()), "{told}");
}

#[test]
fn policies_without_patterns_take_texts_of_any_length() {
    let plain = decide(vec![rule("one", Effect::Permit, Target::default())]);
    assert_eq!((plain.weight(), plain.longest_text()), (0, MOST_STEPS));
    assert_eq!(outcome(&plain, &noted("b".repeat(1 << 20))), Outcome::Permit);
}

/// The weight is the same whether policies came one by one or all at once.
#[test]
fn weights_follow_changes() {
    use std::sync::Arc;
    let heavy = Arc::new(rule("heavy", Effect::Permit, claims_like("[ab]{500}c")));
    let none = decide(vec![rule("one", Effect::Permit, Target::default())]);
    let place = |at: NodeRef| (at.source.index(), at.node);
    let with = none.with_changes(&[RuleChange::Added(Arc::clone(&heavy))], place).unwrap();
    assert_eq!(with.weight(), heavy.weight());
    assert_eq!(with.longest_text(), longest_text(heavy.weight()));
    let without = with.with_changes(&[RuleChange::Removed(heavy)], place).unwrap();
    assert_eq!((without.weight(), without.longest_text()), (0, none.longest_text()));
}

/// S1: conditions of all policies share one budget, which grows with the policies.
#[test]
fn conditions_together_take_no_more_than_policies_are_worth() {
    let rules = || {
        (0..200).map(|number| {
            let text = "sets.intersects(subject.claims.l, subject.claims.m)";
            let conditions = vec![Condition::Expression(Expression::parse(text).unwrap())];
            Rule { conditions, ..rule(&format!("p{number}"), Effect::Deny, Target::default()) }
        })
    };
    let decide = decide(rules().collect());
    let list = |from: i64, count: i64| Fact::List((from..from + count).map(|item| Fact::Number(item.into())).collect());
    let asked = |count: i64| {
        let claims = [("l".into(), list(0, count)), ("m".into(), list(count, count))].into_iter().collect();
        Request { subject: Subject { claims, ..Subject::default() }, ..request("ann", "/a", "read") }
    };
    let steps = |request: &Request| {
        let mut scratch = Scratch::default();
        ask(&decide, &request, &mut scratch, &mut Silent);
        (decide.steps(request, scratch.hits()), decide.takes_too_much(scratch.hits()))
    };
    assert_eq!(outcome(&decide, &asked(1)), Outcome::Deny);
    assert!(!steps(&asked(1)).1);
    assert_eq!(outcome(&decide, &asked(90)), Outcome::Undecided);
    let (taken, is_too_much) = steps(&asked(90));
    assert!(is_too_much);
    // What comes after the bound is not done: one condition takes at most ten thousand steps.
    assert!(taken < decide.load().most_steps() + 20_000, "{taken}");
    // More policies, more steps: ordinary requests never meet the bound.
    assert!(decide.load().most_steps() > Load::default().most_steps());
    assert_eq!(decide.load().expressions, 200 * rules().next().map_or(0, |rule| Load::of(&rule).expressions));
}

/// S2: tricks in a path end the reading early.
#[test]
fn a_path_with_many_tricks_is_given_up_early() {
    let path = format!("/{}..%2f;x/%5c//%3f", "a/".repeat(100));
    let decide = decide(vec![rule(
        "all",
        Effect::Permit,
        Target {
            resources: matchers([Test::Path(vec![PathPattern::Glob(Glob::parse("/**").unwrap())])].into_iter()),
            ..Target::default()
        },
    )]);
    assert_eq!(outcome(&decide, &request("ann", &path, "read")), Outcome::Undecided);
    assert_eq!(decide.bad_path(&request("ann", &path, "read")), Some(BadPath::TooManyReadings));
}

/// A path that nobody can read costs what some policies cost, and not all that may be about it; a sweep says the same.
#[test]
fn p37_an_unreadable_path_is_undecided_beyond_a_number_of_policies() {
    let about =
        |roles: Vec<Matcher>| Target { subjects: roles, resources: all_of(vec![path("/a/**")]), ..Target::default() };
    let role = |name: &str| all_of(vec![Test::Role(vec![Wildcard::parse(name).unwrap()])]);
    for (count, expected) in [(MOST_DOUBTS, Outcome::Deny), (MOST_DOUBTS + 1, Outcome::Undecided)] {
        // Those about others do not count, and neither do those that are about any path.
        let others = (0..500).map(|number| rule(&format!("other-{number}"), Effect::Deny, about(role("other"))));
        let own = (0..count).map(|number| rule(&format!("own-{number}"), Effect::Deny, about(role("own"))));
        let any = (0..50).map(|number| {
            rule(&format!("any-{number}"), Effect::Deny, Target { subjects: role("any"), ..Target::default() })
        });
        let root = set(Algorithm::DenyOverrides, others.chain(own).chain(any).map(Into::into).collect());
        let decide = Decide::new(root.clone(), Strictness::Strict);
        for path in [Maybe::Is("/%zz".into()), Maybe::Is("a".into()), Maybe::Unknown] {
            let subject = Subject { roles: Names::of(&["own"]), ..Subject::default() };
            let request = Request { subject, resource: Resource { path, ..Resource::default() }, ..Request::default() };
            let mut scratch = Scratch::default();
            let decided = ask(&decide, &&request, &mut scratch, &mut Silent);
            let (swept, matched) = (Ruling::explain(&decide, &&request), Ruling::matched(&decide, &&request));
            assert_eq!((decided.outcome, swept.answer, matched.answer), (expected, decided, decided), "{count}");
            let (naive, _) =
                reference::decide(&root, decide.asked(&request, &mut Readings::default()), decide.unknowns());
            assert_eq!(naive, decided.value);
            assert!(scratch.hits().len() <= 4 * MOST_DOUBTS);
        }
    }
}
