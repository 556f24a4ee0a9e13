//! Requests of a cell are answered alike, and cells that policies suggest are what they say.

use proptest::prelude::*;
use smol_str::SmolStr;

use super::laws::decider;
use super::world::{all_of, given_path, path, pattern, requests, rule, set, sets};
use crate::decide::cells::{Atoms, Bounds, Cell, Field, Gap, RequestCells, Suggested, Text, classes};
use crate::decide::*;
use crate::{Partition, Scratch, Silent, ask};

/// Small enough to be walked in every case.
const BOUNDS: Bounds = Bounds { states: 4_000, points: 40, cells: 400 };

/// What a request gets, and what the naive way says.
type Answer = (Decided, Option<SmolStr>, (Value, Option<SmolStr>));

fn answer(decide: &Decide, set: &Set, request: &Request) -> Answer {
    let decided = ask(decide, &request, &mut Scratch::default(), &mut Silent);
    let mut buffer = Readings::default();
    (decided, decider(decide, &decided), reference::decide(set, decide.asked(request, &mut buffer), decide.unknowns()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn asking_a_request_is_asking_the_representative_of_its_cell(
        set in sets(4),
        all in prop::collection::vec(requests(1), 24),
    ) {
        let decide = Decide::new(set.clone(), Strictness::Strict);
        let atoms = Atoms::of(&decide);
        let cells = RequestCells::of(&atoms, &all);
        for request in &all {
            let representative = cells.representative(cells.locate(request).unwrap());
            prop_assert_eq!(answer(&decide, &set, request), answer(&decide, &set, representative));
        }
        for cell in cells.cells() {
            prop_assert_eq!(cells.locate(cells.representative(cell)), Some(cell));
        }
        prop_assert_eq!(cells.cells().map(|cell| cells.size(cell)).sum::<u64>(), all.len() as u64);
    }

    #[test]
    fn suggested_cells_are_those_of_their_representatives(
        set in sets(4),
        all in prop::collection::vec(requests(0), 12),
    ) {
        let decide = Decide::new(set.clone(), Strictness::Strict);
        let suggested = Suggested::of(&decide, BOUNDS);
        let found: Vec<(Cell, Request)> = suggested.cells().collect();
        for (cell, representative) in &found {
            prop_assert_eq!(&suggested.atoms().locate(representative), cell, "{:?}", representative);
        }
        let mut cells: Vec<&Cell> = found.iter().map(|(cell, _)| cell).collect();
        cells.sort();
        cells.dedup();
        prop_assert_eq!(cells.len(), found.len());
        for request in all.iter().filter(|request| is_plain(&decide, request)) {
            let own = suggested.atoms().locate(request);
            match found.iter().find(|(cell, _)| *cell == own) {
                Some((_, representative)) => {
                    prop_assert_eq!(answer(&decide, &set, request), answer(&decide, &set, representative));
                }
                None => prop_assert!(!suggested.gaps().is_empty(), "{:?} is in no cell", request),
            }
        }
    }

    #[test]
    fn all_requests_are_in_cells_of_policies_without_gaps(
        set in sets(2),
        all in prop::collection::vec(requests(0), 8),
    ) {
        let decide = Decide::new(set, Strictness::Strict);
        let suggested = Suggested::of(&decide, Bounds { cells: 20_000, ..BOUNDS });
        if suggested.gaps().is_empty() {
            let found: Vec<Cell> = suggested.cells().map(|(cell, _)| cell).collect();
            for request in all.iter().filter(|request| is_plain(&decide, request)) {
                prop_assert!(found.contains(&suggested.atoms().locate(request)), "{:?} is in no cell", request);
            }
        }
    }

    #[test]
    fn a_text_of_a_class_is_covered_by_its_patterns_and_no_others(
        all in prop::collection::vec(pattern(), 0..6),
        given in prop::collection::vec(given_path(), 8),
    ) {
        let globs: Vec<Glob> = all.iter().map(|text| Glob::parse(text).unwrap()).collect();
        let covered_by = |path: &str| -> Vec<u32> {
            (0..).zip(&globs).filter(|(_, glob)| glob.matches(path)).map(|(number, _)| number).collect()
        };
        let tokens: Vec<_> = globs.iter().map(Glob::tokens).collect();
        for text in [Text::Path, Text::PlainPath] {
            let (classes, all) = classes(&tokens, text, 100_000);
            prop_assert!(all);
            for class in &classes {
                prop_assert_eq!(&class.covered_by, &covered_by(&class.example), "{:?}", class.example);
            }
            for path in given.iter().filter(|path| text == Text::Path || is_plain_path(path)) {
                let own = covered_by(path);
                prop_assert_eq!(classes.iter().filter(|class| class.covered_by == own).count(), 1, "{}", path);
            }
        }
    }
}

/// Whether everybody reads the path alike: only these requests are suggested.
fn is_plain(decide: &Decide, request: &Request) -> bool {
    let mut room = Readings::default();
    matches!(decide.asked(request, &mut room).path, Path::Is(_) | Path::Absent)
}

fn is_plain_path(path: &str) -> bool {
    path.starts_with('/') && !path.contains("//")
}

fn tested(tests: Vec<Test>) -> Target {
    Target { subjects: all_of(tests), ..Target::default() }
}

/// One policy for each target.
fn policies(targets: Vec<Target>) -> Decide {
    let rules = targets
        .into_iter()
        .zip(0..)
        .map(|(target, number): (Target, usize)| Member::from(rule(&format!("p{number}"), Effect::Permit, target)));
    Decide::new(set(Algorithm::DenyOverrides, rules.collect()), Strictness::Strict)
}

/// The requests that stand for the cells, after asserting that these are all.
fn all_cells(decide: &Decide) -> Vec<Request> {
    let suggested = Suggested::of(decide, Bounds::default());
    assert_eq!(suggested.gaps(), []);
    suggested.cells().map(|(_, request)| request).collect()
}

fn role(text: &str) -> Test {
    Test::Role(vec![Wildcard::parse(text).unwrap()])
}

fn fact(of: FactOf, name: &str, operator: Operator) -> Test {
    let path = name.split('.').map(SmolStr::new).collect();
    let (absent, mismatch) = (Truth::False, Truth::Error);
    Test::Fact(FactTest { of, name: name.into(), called: None, path, operator, absent, mismatch })
}

fn claim(name: &str, operator: Operator) -> Test {
    fact(FactOf::Subject, name, operator)
}

#[test]
fn a_role_that_another_pattern_covers_implies_it() {
    let decide = policies(vec![tested(vec![role("admin")]), tested(vec![role("adm*")]), tested(vec![role("ops")])]);
    let cells = all_cells(&decide);
    // `admin` never without `adm*`.
    assert_eq!(cells.len(), 3 * 2);
    let widest = cells.iter().map(|request| request.subject.roles.known().len()).max();
    assert_eq!(widest, Some(2));
}

#[test]
fn numbers_have_a_cell_between_bounds_and_others_one_of_their_own() {
    let more = |bound: f64| claim("level", Operator::Order(Order::Greater, bound.into()));
    let decide = policies(vec![tested(vec![more(1.0)]), tested(vec![more(5.0)])]);
    let mut levels: Vec<Option<Fact>> =
        all_cells(&decide).iter().map(|request| request.subject.claims.get("level").cloned()).collect();
    levels.dedup();
    levels.sort_by_key(|level| format!("{level:?}"));
    // No level is like a low one.
    assert_eq!(
        levels,
        [1.0, 5.0, 6.0]
            .map(|level| Some(Fact::Number((level).into())))
            .into_iter()
            .chain([Some(Fact::Text("other".into()))])
            .collect::<Vec<_>>()
    );
}

#[test]
fn facts_in_facts_are_put_beside_each_other() {
    let eq = |name: &str| claim(name, Operator::In(vec![Fact::Text("a".into())]));
    let decide = policies(vec![tested(vec![eq("x.y")]), tested(vec![eq("x.z")])]);
    assert_eq!(all_cells(&decide).len(), 2 * 2);
    let decide = policies(vec![tested(vec![eq("x.y")]), tested(vec![eq("x")])]);
    let suggested = Suggested::of(&decide, Bounds::default());
    let field = |path: &[&str]| Field::Fact(FactOf::Subject, path.iter().copied().map(SmolStr::new).collect());
    assert_eq!(suggested.gaps(), [Gap::Sampled(field(&["x"])), Gap::Sampled(field(&["x", "y"]))]);
}

#[test]
fn an_owner_is_the_subject_or_somebody_else() {
    let decide = policies(vec![tested(vec![Test::OwnedBySubject, Test::Id(vec!["a".into(), "b".into()])])]);
    let owned = |request: &Request| {
        let owner = request.resource.facts.get("owner").or(request.resource.facts.get("ownerId"));
        (request.subject.id.clone(), owner.cloned() == request.subject.id.known().cloned().map(Fact::Text))
    };
    let mut kinds: Vec<_> = all_cells(&decide).iter().map(owned).map(|kind| format!("{kind:?}")).collect();
    kinds.sort();
    kinds.dedup();
    // Whoever is named and whoever is not, each as an owner and not; and nobody, who owns nothing. Of two owners, nobody knows which.
    assert_eq!(kinds.len(), 5, "{kinds:?}");
}

#[test]
fn times_and_addresses_are_cut_where_they_begin_and_end() {
    let hours = |after: u32, before: u32| {
        Condition::Time(TimeWindow {
            after: Some(after * 3600),
            before: Some(before * 3600),
            days: Some(Weekdays::of([1])),
            midnight: Midnight::Crossed,
            zone: jiff::tz::TimeZone::UTC,
            dates: Validity::default(),
        })
    };
    let networks = |allow: &str, block: &str| {
        let parsed = |text: &str| vec![text.parse().unwrap()];
        Condition::Address(AddressLists::Networks { allow: Some(parsed(allow)), block: parsed(block) })
    };
    let with = |condition: Condition| {
        let rule = rule("p", Effect::Permit, Target::default());
        Member::from(Rule { conditions: vec![condition], ..rule })
    };
    let members = vec![with(hours(8, 12)), with(hours(10, 18)), with(networks("10.0.0.0/8", "10.1.0.0/16"))];
    let decide = Decide::new(set(Algorithm::DenyOverrides, members), Strictness::Strict);
    // Neither, one, both, the other, and no time; inside, outside, and what is not an address.
    assert_eq!(all_cells(&decide).len(), 5 * 3);
}

#[test]
fn what_is_not_known_to_be_all_is_said_not_to_be() {
    let many = policies((0..20).map(|number| tested(vec![role(&format!("r{number}"))])).collect());
    let suggested = Suggested::of(&many, BOUNDS);
    assert_eq!(suggested.gaps(), [Gap::Bounded(Field::Roles)]);
    assert_eq!(suggested.cells().count(), BOUNDS.points);

    let wide = |pattern: String| Target { resources: all_of(vec![path(&pattern)]), ..Target::default() };
    let hostile = policies((0..9).map(|number| wide(format!("/**/a{number}/**/b{number}/**"))).collect());
    assert_eq!(Suggested::of(&hostile, BOUNDS).gaps(), [Gap::Bounded(Field::Path)]);

    let texts = policies(vec![tested(vec![claim("x", Operator::StartsWith("a".into()))])]);
    let sampled = Gap::Sampled(Field::Fact(FactOf::Subject, vec!["x".into()]));
    assert_eq!(Suggested::of(&texts, BOUNDS).gaps(), [sampled]);

    // A method is compared in any case, a fact as it is; and `app` is a text, into which nothing leads.
    let get = || Operator::In(vec![Fact::Text("get".into())]);
    let method = vec![Test::Method(vec!["get".into()]), fact(FactOf::Action, "method", get())];
    assert_eq!(Suggested::of(&policies(vec![tested(method)]), BOUNDS).gaps(), [Gap::Sampled(Field::Method)]);
    let hidden = policies(vec![tested(vec![fact(FactOf::Resource, "app.x", get())])]);
    let sampled = Gap::Sampled(Field::Fact(FactOf::Resource, vec!["app".into(), "x".into()]));
    assert_eq!(Suggested::of(&hidden, BOUNDS).gaps(), [sampled]);

    let ids = policies(
        (0..30)
            .flat_map(|number| {
                [Test::Id(vec![format!("{number}").into()]), Test::Operation(vec![format!("{number}").into()])]
            })
            .map(|test| tested(vec![test]))
            .collect(),
    );
    let suggested = Suggested::of(&ids, BOUNDS);
    assert_eq!(suggested.gaps(), [Gap::Cells(31 * 31)]);
    assert_eq!(suggested.cells().count(), BOUNDS.cells);
}
