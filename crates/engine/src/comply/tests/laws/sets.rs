//! The laws of the strategies.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::subsequence;
use proptest::strategy::Strategy;
use smol_str::SmolStr;

use super::super::super::policy::Strategy as Asked;
use super::super::super::reference::random::{BEGIN, policy};
use super::super::super::{Verdict, reference};
use super::super::world::World;

type Set = BTreeSet<&'static str>;

const VALUES: [&str; 5] = ["one", "two", "three", "Three", ""];

fn set() -> impl Strategy<Value = Set> {
    subsequence(&VALUES[..], 0..=VALUES.len()).prop_map(|values| values.into_iter().collect())
}

/// Whether the engine says that a workspace and a project comply.
fn holds(asked: Asked, workspace: &Set, project: &Set) -> bool {
    verdict(asked, workspace, project).holds()
}

fn verdict(asked: Asked, workspace: &Set, project: &Set) -> Verdict {
    let list = |set: &Set| set.iter().copied().collect::<Vec<_>>();
    let rule = super::super::super::Policy { strategy: asked, ..policy("rule", "workspace.env", "project.env") };
    let comply = World::current()
        .object("workspace/w", "other=one")
        .object("project/p", "")
        .tag("workspace/w", "env", &list(workspace))
        .tag("project/p", "env", &list(project))
        .with(rule)
        .build();
    let (one, other) = (comply.lookup("workspace/w").unwrap(), comply.lookup("project/p").unwrap());
    let checks = comply.findings_between(one, other, BEGIN);
    assert_eq!(checks, comply.findings_between(other, one, BEGIN));
    assert_eq!(checks.len(), 1);
    checks[0].verdict
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn both_strategies_are_as_defined(a in set(), b in set()) {
        let text = |set: &Set| set.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
        for asked in Asked::BETWEEN {
            prop_assert_eq!(holds(asked, &a, &b), reference::holds(asked, &text(&a), &text(&b)));
            let without_evidence = verdict(asked, &a, &b) == Verdict::BothEmpty;
            prop_assert_eq!(without_evidence, a.is_empty() && b.is_empty());
        }
        let shared = a.intersection(&b).next().is_some();
        prop_assert_eq!(holds(Asked::Intersection, &a, &b), shared || (a.is_empty() && b.is_empty()));
        prop_assert_eq!(holds(Asked::Subset, &a, &b), a.is_empty() == b.is_empty() && b.is_subset(&a));
    }

    #[test]
    fn intersection_is_symmetric(a in set(), b in set()) {
        prop_assert_eq!(holds(Asked::Intersection, &a, &b), holds(Asked::Intersection, &b, &a));
    }

    #[test]
    fn an_intersection_survives_more_values(a in set(), b in set(), more in set()) {
        if !a.is_empty() && holds(Asked::Intersection, &a, &b) {
            let (wider_a, wider_b): (Set, Set) = (&a | &more, &b | &more);
            prop_assert!(holds(Asked::Intersection, &wider_a, &b));
            prop_assert!(holds(Asked::Intersection, &a, &wider_b));
        }
    }

    #[test]
    fn a_subset_survives_more_authority_and_less_use(a in set(), b in set(), more in set()) {
        if !b.is_empty() && holds(Asked::Subset, &a, &b) {
            prop_assert!(holds(Asked::Subset, &(&a | &more), &b));
            for value in &b {
                prop_assert!(holds(Asked::Subset, &a, &Set::from([*value])));
            }
        }
    }

    #[test]
    fn a_subset_is_an_intersection(a in set(), b in set()) {
        prop_assert!(!holds(Asked::Subset, &a, &b) || holds(Asked::Intersection, &a, &b));
    }

    #[test]
    fn one_side_without_values_breaks_what_rests_on_none(a in set()) {
        for asked in Asked::BETWEEN {
            prop_assert!(holds(asked, &Set::new(), &Set::new()));
            if !a.is_empty() {
                prop_assert!(!holds(asked, &a, &Set::new()));
                prop_assert!(!holds(asked, &Set::new(), &a));
            }
        }
    }
}

/// Whether the engine says that a project alone complies with what a policy names.
fn alone(asked: Asked, project: &Set, named: &Set) -> Verdict {
    let list = |set: &Set| set.iter().copied().collect::<Vec<_>>();
    let comply = World::scoped()
        .object("project/p", "other=one")
        .tag("project/p", "env", &list(project))
        .tags("rule", "project.env", asked, &list(named))
        .build();
    let project = comply.lookup("project/p").unwrap();
    let checks = comply.findings_between(project, project, BEGIN);
    assert_eq!(checks.len(), 1);
    assert_eq!(comply.violations(BEGIN).len(), usize::from(!checks[0].verdict.holds()));
    checks[0].verdict
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn the_strategies_about_one_object_are_as_defined(own in set(), named in set()) {
        let text = |set: &Set| set.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
        for asked in Asked::ALONE {
            prop_assert_eq!(alone(asked, &own, &named).holds(), reference::holds(asked, &text(&own), &text(&named)));
        }
        let [present, among, both] = Asked::ALONE.map(|asked| alone(asked, &own, &named));
        prop_assert_eq!(present.holds(), !own.is_empty());
        prop_assert_eq!(among.holds(), own.is_subset(&named));
        prop_assert_eq!(both.holds(), present.holds() && among.holds());
        prop_assert_eq!(among.is_without_evidence(), own.is_empty());
        prop_assert!(!present.is_without_evidence() && !both.is_without_evidence());
    }
}

/// As many values as a word has bits, a few less and a few more: each is reported from every other.
#[test]
fn values_around_the_size_of_a_word_are_told_apart() {
    for count in 60..=70 {
        let values: Vec<String> = (0..count).map(|number| format!("value-{number}")).collect();
        for asked in Asked::BETWEEN {
            let mut world = World::current().object("workspace/w", "env=value-0");
            for value in &values {
                let project = format!("project/{value}");
                world = world.object(&project, &format!("env={value}")).link("workspace/w", &project);
            }
            let rule =
                super::super::super::Policy { strategy: asked, ..policy("rule", "workspace.env", "project.env") };
            assert_eq!(world.with(rule).build().violations(BEGIN).len(), count - 1, "{count} {asked:?}");
        }
    }
}

#[test]
fn values_that_are_not_allowed_are_told_apart_from_many_that_are() {
    for count in [5, 60, 63, 70, 150] {
        let values: Vec<String> = (0..count).map(|number| format!("value-{number}")).collect();
        let named: Vec<&str> = values.iter().step_by(2).map(String::as_str).collect();
        let mut world = World::scoped().tags("rule", "project.env", Asked::Among, &named);
        for value in &values {
            world = world.object(&format!("project/{value}"), &format!("env={value}"));
        }
        assert_eq!(world.build().violations(BEGIN).len(), count / 2, "{count}");
    }
}

/// A rule knows more values than a word has bits.
#[test]
fn many_values_are_held_against_each_other_one_by_one() {
    let value = |number: usize| SmolStr::new(format!("value-{number}"));
    let many: Vec<SmolStr> = (0..200).map(value).collect();
    let texts: Vec<&str> = many.iter().map(SmolStr::as_str).collect();
    for asked in Asked::BETWEEN {
        let mut world = World::current().object("workspace/w", "").tag("workspace/w", "env", &texts[..100]);
        for (number, text) in texts.iter().enumerate() {
            let project = format!("project/p{number:03}");
            world = world.object(&project, "").tag(&project, "env", &[*text]).link("workspace/w", &project);
        }
        let rule = super::super::super::Policy { strategy: asked, ..policy("rule", "workspace.env", "project.env") };
        let violations = world.with(rule).build().violations(BEGIN);
        let expected: Vec<String> = (100..200).map(|number| format!("project/p{number:03}")).collect();
        assert_eq!(violations.iter().map(|own| own.b.object.to_string()).collect::<Vec<_>>(), expected);
    }
}
