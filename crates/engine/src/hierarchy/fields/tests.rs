//! Laws over random levels, and one example for each act.

mod laws;

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::config::{Config, Content};

use super::*;
use crate::hierarchy::scopes::FieldParts;
use crate::merge::Strategy as MergeStrategy;

/// A field of each sort.
const FIELDS: [&str; 6] = ["cumulative", "list", "patch", "plain", "providers", "transformation"];

fn rules(plain_when_deep: PlainWhenDeep, within: Within, same_level: SameLevel) -> Rules {
    let meetings = [
        FieldMerge::Cumulative,
        FieldMerge::Deep(Combiner::AccessList),
        FieldMerge::Deep(Combiner::Patch(MergeStrategy::patch())),
        FieldMerge::Plain,
        FieldMerge::Deep(Combiner::Providers(Switch::Absorbs)),
        FieldMerge::Deep(Combiner::Transformation),
    ];
    let rule = |(name, meeting): (&str, FieldMerge)| FieldRule {
        name: name.into(),
        meeting,
        same_level,
        apart: FieldParts::Whole,
    };
    Rules { fields: FIELDS.into_iter().zip(meetings).map(rule).collect(), plain_when_deep, within }
}

fn text(text: &str) -> Arc<Config> {
    Config::made(Content::Text(text.into()))
}

fn list(items: impl IntoIterator<Item = Arc<Config>>) -> Arc<Config> {
    Config::made(Content::List(items.into_iter().collect()))
}

fn map<'k>(entries: impl IntoIterator<Item = (&'k str, Arc<Config>)>) -> Arc<Config> {
    Config::made(Content::Map(entries.into_iter().map(|(key, value)| (SmolStr::new(key), value)).collect()))
}

fn providers(names: &[&str]) -> Arc<Config> {
    map([("providers", list(names.iter().map(|name| map([("provider", text(name))]))))])
}

fn level(inheritance: Inheritance, layers: Vec<FieldLayer<'static>>) -> Level<'static> {
    Level { layers, inheritance }
}

fn layer(by: usize, field: &str, value: Arc<Config>) -> FieldLayer<'static> {
    FieldLayer { by, fields: vec![(field.into(), value)].into() }
}

const SHALLOW_CHILD: Inheritance = Inheritance { reach: Reach::Shallow, prefer: Prefer::Child };
const SHALLOW_PARENT: Inheritance = Inheritance { reach: Reach::Shallow, prefer: Prefer::Parent };
const DEEP_CHILD: Inheritance = Inheritance { reach: Reach::Deep, prefer: Prefer::Child };
const DEEP_PARENT: Inheritance = Inheritance { reach: Reach::Deep, prefer: Prefer::Parent };

#[track_caller]
fn check(rules: &Rules, levels: &[Level<'_>], field: &str, value: &Config, origins: &[usize]) {
    let folded = fold(rules, levels);
    let joined = folded.get(field).unwrap();
    assert_eq!(*joined.value, *value);
    assert_eq!(joined.origins.as_slice(), origins);
}

fn common() -> Rules {
    rules(PlainWhenDeep::AsNamed, Within::ByField, SameLevel::First)
}

#[test]
fn each_level_says_how_it_meets_those_before_it() {
    let chain = |parent, grandparent| {
        let named = |by, inheritance, name| level(inheritance, vec![layer(by, "plain", text(name))]);
        [named(0, DEEP_PARENT, "child"), named(1, parent, "parent"), named(2, grandparent, "grandparent")]
    };
    check(&common(), &chain(SHALLOW_CHILD, SHALLOW_CHILD), "plain", &text("child"), &[0]);
    check(&common(), &chain(SHALLOW_PARENT, SHALLOW_CHILD), "plain", &text("parent"), &[1]);
    check(&common(), &chain(SHALLOW_CHILD, SHALLOW_PARENT), "plain", &text("grandparent"), &[2]);
    check(&common(), &chain(SHALLOW_PARENT, SHALLOW_PARENT), "plain", &text("grandparent"), &[2]);
}

#[test]
fn what_deep_means_for_plain_fields_is_a_choice() {
    let levels = |inheritance| {
        [
            level(SHALLOW_CHILD, vec![layer(0, "plain", text("c"))]),
            level(inheritance, vec![layer(1, "plain", text("p"))]),
        ]
    };
    let winners = [(PlainWhenDeep::AsNamed, 0, 1), (PlainWhenDeep::Child, 0, 0), (PlainWhenDeep::Parent, 1, 1)];
    for (choice, with_child, with_parent) in winners {
        let rules = rules(choice, Within::ByField, SameLevel::First);
        let winner = |inheritance| fold(&rules, &levels(inheritance)).get("plain").unwrap().origins.to_vec();
        assert_eq!(winner(DEEP_CHILD), [with_child], "{choice:?}");
        assert_eq!(winner(DEEP_PARENT), [with_parent], "{choice:?}");
    }
}

#[test]
fn only_unseen_providers_are_added() {
    let combine = rules(PlainWhenDeep::AsNamed, Within::ByField, SameLevel::Combine);
    let parent = vec![layer(1, "providers", providers(&["a"])), layer(2, "providers", providers(&["b"]))];
    let levels = [level(SHALLOW_CHILD, vec![layer(0, "providers", providers(&["a"]))]), level(DEEP_CHILD, parent)];
    check(&combine, &levels, "providers", &providers(&["a", "b"]), &[0, 2]);
}

#[test]
fn whoever_disables_turns_all_off() {
    let off = || map([("disable", map([]))]);
    let levels = [
        level(SHALLOW_CHILD, vec![layer(0, "providers", providers(&["a"]))]),
        level(DEEP_CHILD, vec![layer(1, "providers", off())]),
        level(DEEP_PARENT, vec![layer(2, "providers", providers(&["b"]))]),
    ];
    check(&common(), &levels, "providers", &off(), &[1]);
    let lost: Vec<usize> =
        fold(&common(), &levels).get("providers").unwrap().over.iter().map(|beaten| beaten.by).collect();
    assert_eq!(lost, [0, 2]);
}

#[test]
fn a_switch_that_is_a_value_turns_off_only_for_the_preferred_side() {
    let off = || map([("disable", map([]))]);
    let mut rules = common();
    let rule = rules.fields.iter_mut().find(|rule| rule.name == "providers").unwrap();
    rule.meeting = FieldMerge::Deep(Combiner::Providers(Switch::Preferred));
    let levels = |inheritance, child, parent| {
        [
            level(SHALLOW_CHILD, vec![layer(0, "providers", child)]),
            level(inheritance, vec![layer(1, "providers", parent)]),
        ]
    };
    check(&rules, &levels(DEEP_PARENT, off(), providers(&["a"])), "providers", &providers(&["a"]), &[1]);
    check(&rules, &levels(DEEP_CHILD, off(), providers(&["a"])), "providers", &off(), &[0]);
    check(&rules, &levels(DEEP_PARENT, providers(&["a"]), off()), "providers", &off(), &[1]);
    check(&rules, &levels(DEEP_CHILD, providers(&["a"]), off()), "providers", &providers(&["a"]), &[0]);
}

#[test]
fn the_preferred_transformation_comes_last() {
    let setting = |value| map([("request", map([("set", list([text(value)])), ("body", text(value))]))]);
    let both = |first, last| map([("request", map([("set", list([text(first), text(last)])), ("body", text(last))]))]);
    let levels = |inheritance| {
        [
            level(SHALLOW_CHILD, vec![layer(0, "transformation", setting("child"))]),
            level(inheritance, vec![layer(1, "transformation", setting("parent"))]),
        ]
    };
    check(&common(), &levels(DEEP_CHILD), "transformation", &both("parent", "child"), &[0, 1]);
    check(&common(), &levels(DEEP_PARENT), "transformation", &both("child", "parent"), &[0, 1]);
}

#[test]
fn a_policy_that_is_attached_twice_counts_once() {
    let twice = vec![layer(0, "cumulative", list([text("a")])), layer(0, "cumulative", list([text("a")]))];
    check(&common(), &[level(SHALLOW_CHILD, twice)], "cumulative", &list([text("a")]), &[0]);
}

#[test]
fn empty_values_are_not_set() {
    let levels = [level(
        SHALLOW_CHILD,
        vec![layer(0, "plain", text("")), layer(1, "plain", list([])), layer(2, "plain", map([]))],
    )];
    check(&common(), &levels, "plain", &map([]), &[2]);
}
