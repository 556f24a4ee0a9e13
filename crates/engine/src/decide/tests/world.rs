//! Random policies and requests over a small vocabulary, so that much matches.

use proptest::collection::vec;
use proptest::prelude::*;
use smol_str::SmolStr;
use upheld_model::{NodeRef, SourceId, Timestamp};

use crate::decide::reference::changing::Step;
use crate::decide::*;

pub(in crate::decide) fn rule(name: &str, effect: Effect, target: Target) -> Rule {
    let at = NodeRef { source: SourceId::new(0), node: 0 };
    Rule::new(name.into(), effect, target, at)
}

pub(in crate::decide) fn set(algorithm: Algorithm, members: Vec<Member>) -> Set {
    Set {
        name: SmolStr::default(),
        algorithm,
        default: None,
        target: Target::default(),
        duties: Vec::new(),
        priority: 0.0,
        members,
        at: None,
    }
}

pub(in crate::decide) fn path(pattern: &str) -> Test {
    Test::Path(vec![PathPattern::Glob(Glob::parse(pattern).unwrap())])
}

pub(in crate::decide) fn all_of(tests: Vec<Test>) -> Vec<Matcher> {
    vec![Matcher { tests }]
}

pub(in crate::decide) fn one_of<T: Clone + std::fmt::Debug + 'static>(
    items: &'static [T],
) -> impl Strategy<Value = T> + Clone {
    prop::sample::select(items)
}

const NAMES: [&str; 4] = ["a", "b", "ab", "c"];
const SEGMENTS: [&str; 12] = ["a", "b", "ab", "", "*", "**", "a*", "?", "*b", "a**", "**b", "?*b"];
const METHODS: [&str; 5] = ["GET", "post", "PUT", "PURGE", "*"];

pub(in crate::decide) fn text() -> impl Strategy<Value = SmolStr> + Clone {
    one_of(&NAMES).prop_map(SmolStr::new)
}

fn texts() -> impl Strategy<Value = Vec<SmolStr>> + Clone {
    vec(text(), 1..3)
}

fn wild() -> impl Strategy<Value = Vec<Wildcard>> + Clone {
    let pattern = one_of(&["a", "b", "a*", "*b", "*", "a*b", "c"]);
    vec(pattern.prop_map(|pattern| Wildcard::parse(pattern).unwrap()), 1..3)
}

pub(in crate::decide) fn pattern() -> impl Strategy<Value = String> + Clone {
    vec(one_of(&SEGMENTS), 1..5)
        .prop_map(|segments| segments.join("/"))
        .prop_filter("a pattern", |pattern| Glob::parse(pattern).is_ok())
}

pub(in crate::decide) fn given_path() -> impl Strategy<Value = String> + Clone {
    vec(one_of(&["a", "b", "ab", "", "aab", "c"]), 1..6).prop_map(|segments| segments.join("/"))
}

fn fact_value() -> impl Strategy<Value = Fact> + Clone {
    prop_oneof![
        text().prop_map(Fact::Text),
        (0..3_i32).prop_map(|number| Fact::Number((f64::from(number)).into())),
        any::<bool>().prop_map(Fact::Bool),
    ]
}

fn claim() -> impl Strategy<Value = Test> + Clone {
    let operator = prop_oneof![
        4 => vec(fact_value(), 1..3).prop_map(Operator::In),
        1 => vec(fact_value(), 1..3).prop_map(Operator::NotIn),
        1 => (0..3_i32).prop_map(|bound| Operator::Order(Order::Greater, f64::from(bound).into())),
        1 => Just(Operator::Exists),
        1 => Just(Operator::Absent),
    ];
    (one_of(&["x", "y"]), operator).prop_map(|(name, operator)| {
        let absent = if matches!(operator, Operator::In(_)) { Truth::False } else { Truth::Error };
        let (name, path) = (SmolStr::new(name), vec![SmolStr::new(name)]);
        Test::Fact(FactTest { of: FactOf::Subject, name, called: None, path, operator, absent, mismatch: Truth::Error })
    })
}

pub(in crate::decide) fn subject() -> impl Strategy<Value = Matcher> + Clone {
    let test = prop_oneof![
        texts().prop_map(Test::Id),
        wild().prop_map(Test::Role),
        texts().prop_map(Test::Group),
        texts().prop_map(Test::SubjectType),
        claim(),
    ];
    let not = test.clone().prop_map(|test| Test::Not(Matcher { tests: vec![test] }));
    vec(prop_oneof![6 => test, 1 => not], 1..3).prop_map(|tests| Matcher { tests })
}

pub(in crate::decide) fn resource() -> impl Strategy<Value = Matcher> + Clone {
    let paths = vec(pattern(), 1..3).prop_map(|patterns| {
        let globs = patterns.iter().map(|pattern| PathPattern::Glob(Glob::parse(pattern).unwrap()));
        Test::Path(globs.collect())
    });
    let others = prop_oneof![
        texts().prop_map(Test::Type),
        wild().prop_map(Test::App),
        Just(Test::OwnedBySubject),
        texts().prop_map(Test::ResourceId),
    ];
    (proptest::option::weighted(0.8, paths), vec(others, 0..2))
        .prop_filter("asks for something", |(path, others)| path.is_some() || !others.is_empty())
        .prop_map(|(path, others)| Matcher { tests: path.into_iter().chain(others).collect() })
}

pub(in crate::decide) fn action() -> impl Strategy<Value = Matcher> + Clone {
    let methods = vec(one_of(&METHODS).prop_map(SmolStr::new), 1..3).prop_map(Test::Method);
    let test = prop_oneof![3 => methods, 1 => texts().prop_map(Test::Operation)];
    vec(test, 1..3)
        .prop_filter("one test of a sort", |tests| {
            tests.iter().filter(|test| matches!(test, Test::Method(_))).count() < 2
        })
        .prop_map(|tests| Matcher { tests })
}

fn target() -> impl Strategy<Value = Target> + Clone {
    (vec(subject(), 0..3), vec(resource(), 0..3), vec(action(), 0..3))
        .prop_map(|(subjects, resources, actions)| Target { subjects, resources, actions })
}

pub(in crate::decide) fn condition() -> impl Strategy<Value = Condition> + Clone {
    let window = (0..24_u32, 0..24_u32).prop_map(|(after, before)| {
        Condition::Time(TimeWindow {
            after: Some(after * 3600),
            before: Some(before * 3600),
            days: None,
            midnight: Midnight::Crossed,
            zone: jiff::tz::TimeZone::UTC,
            dates: Validity::default(),
        })
    });
    let address = one_of(&["10.0.0.0/8", "192.0.2.0/24"]).prop_map(|network| {
        let allow = Some(vec![network.parse().unwrap()]);
        Condition::Address(AddressLists::Networks { allow, block: Vec::new() })
    });
    prop_oneof![window, address]
}

fn rules(most: usize) -> impl Strategy<Value = Vec<Rule>> + Clone {
    let one = (prop::bool::ANY, target(), vec(condition(), 0..2), -1..2_i32, prop::bool::weighted(0.1));
    vec(one, 0..most).prop_map(|all| {
        let numbered = all.into_iter().enumerate();
        let rules = numbered.map(|(number, (permits, target, conditions, priority, off))| {
            let effect = if permits { Effect::Permit } else { Effect::Deny };
            let status = if off { Status::Off } else { Status::On };
            let rule = rule(&format!("p{number}"), effect, target);
            Rule { conditions, priority: f64::from(priority), status, ..rule }
        });
        rules.collect()
    })
}

pub(in crate::decide) fn algorithm() -> impl Strategy<Value = Algorithm> + Clone {
    prop::sample::select(Algorithm::ALL.to_vec())
}

pub(in crate::decide) fn unknowns() -> impl Strategy<Value = Unknowns> + Clone {
    one_of(&[Unknowns::Union, Unknowns::Xacml])
}

/// Sets up to three levels deep.
pub(in crate::decide) fn sets(most: usize) -> impl Strategy<Value = Set> + Clone {
    let flat = (algorithm(), rules(most))
        .prop_map(|(algorithm, rules)| set(algorithm, rules.into_iter().map(Member::from).collect()));
    flat.prop_recursive(2, 16, 3, move |inner| {
        let inner =
            (inner, -1..2_i32, proptest::option::weighted(0.3, target()), proptest::option::of(prop::bool::ANY));
        (algorithm(), rules(4), vec(inner, 0..3)).prop_map(|(algorithm, rules, sets)| {
            let mut members: Vec<Member> = rules.into_iter().map(Member::from).collect();
            for (number, (inner, priority, target, default)) in sets.into_iter().enumerate() {
                let default = default.map(|permits| if permits { Effect::Permit } else { Effect::Deny });
                let target = target.unwrap_or_default();
                let inner =
                    Set { priority: f64::from(priority), target, default, ..renamed(inner, &format!("s{number}")) };
                members.push(inner.into());
            }
            set(algorithm, members)
        })
    })
}

/// A step of a change; rarely one that is about a set.
pub(in crate::decide) fn step() -> impl Strategy<Value = Step> + Clone {
    let rule = || {
        rules(2).prop_filter_map("a policy", |rules| rules.into_iter().next()).prop_map(|rule| {
            let name = format!("new {} {:?}", rule.priority, rule.effect).into();
            Rule { name, ..rule }
        })
    };
    let default = proptest::option::of(prop::bool::ANY)
        .prop_map(|permits| permits.map(|permits| if permits { Effect::Permit } else { Effect::Deny }));
    prop_oneof![
        6 => (any::<usize>(), rule()).prop_map(|(place, rule)| Step::Insert(place, rule.into())),
        4 => (any::<usize>(), rule()).prop_map(|(place, rule)| Step::Replace(place, rule)),
        4 => any::<usize>().prop_map(Step::Remove),
        1 => (any::<usize>(), sets(2)).prop_map(|(place, set)| Step::Insert(place, renamed(set, "inner ").into())),
        1 => (algorithm(), default).prop_map(|(algorithm, default)| Step::Settings(algorithm, default)),
    ]
}

fn renamed(set: Set, prefix: &str) -> Set {
    let members = set.members.into_iter().map(|member| match member {
        Member::Rule(rule) => Rule { name: format!("{prefix}{}", rule.name).into(), ..(*rule).clone() }.into(),
        Member::Set(inner) => renamed(*inner, prefix).into(),
    });
    Set { members: members.collect(), ..set }
}

fn maybe<T: Clone + std::fmt::Debug + 'static>(
    inner: impl Strategy<Value = T> + Clone + 'static,
    unknown: u32,
) -> impl Strategy<Value = Maybe<T>> + Clone {
    prop_oneof![20 => inner.prop_map(Maybe::Is), 2 => Just(Maybe::Absent), unknown => Just(Maybe::Unknown)]
}

/// Requests; the higher the weight, the more is unknown.
pub(in crate::decide) fn requests(unknown: u32) -> impl Strategy<Value = Request> + Clone {
    let names = move || {
        let some = || vec(text(), 0..3);
        prop_oneof![
            20 => some().prop_map(Names::Known),
            unknown => some().prop_map(Names::at_least),
            unknown => Just(Names::Unknown),
        ]
    };
    let claims = vec((one_of(&["x", "y"]), prop_oneof![20 => fact_value(), unknown => Just(Fact::Unknown)]), 0..3);
    let claims = claims.prop_map(|claims| {
        let mut facts = Facts::default();
        for (name, fact) in claims {
            facts.set(name, fact);
        }
        facts
    });
    let subject = (maybe(text(), unknown), maybe(text(), unknown), names(), names(), claims)
        .prop_map(|(kind, id, roles, groups, claims)| Subject { kind, id, roles, groups, claims });
    let methods = one_of(&["GET", "get", "POST", "PUT", "PURGE", "OTHER"]).prop_map(SmolStr::new);
    let action = (maybe(methods, unknown), maybe(text(), unknown)).prop_map(|(method, operation)| Action {
        method,
        operation,
        facts: Facts::default(),
    });
    let owner = proptest::option::of(text());
    let path = given_path().prop_map(SmolStr::from);
    let resource =
        (maybe(text(), unknown), maybe(path, unknown), maybe(text(), unknown), maybe(text(), unknown), owner).prop_map(
            |(app, path, kind, id, owner)| {
                let facts = owner.map(|owner| (SmolStr::new("owner"), Fact::Text(owner))).into_iter().collect();
                Resource { app, path, kind, id, facts }
            },
        );
    let hours = (0..24_i64).prop_map(|hour| Timestamp(hour * 3600 * 1_000_000_000));
    let address = one_of(&["10.1.2.3", "192.0.2.9", "nonsense"]).prop_map(SmolStr::new);
    let environment = (maybe(address, unknown), maybe(hours, unknown)).prop_map(|(ip, time)| Environment {
        ip,
        time,
        facts: Facts::default(),
    });
    (subject, action, resource, environment).prop_map(|(subject, action, resource, environment)| Request {
        subject,
        action,
        resource,
        environment,
    })
}
