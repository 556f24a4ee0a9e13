//! Policies about the tags of single objects, and policies that are cut to some: who is prevented, and what would fix it.

use smol_str::SmolStr;
use upheld_engine::comply::reference::NaiveEdition;
use upheld_engine::comply::{Policy, Selection, Selector, Strategy};

use super::super::Outcome::{Allowed, Blocked, Invalid, Soft};
use super::super::*;
use super::world::{Tested, World, administrator, definition, end_user, link, policy, set_tags};

fn texts(values: &[&str]) -> Vec<SmolStr> {
    values.iter().copied().map(SmolStr::new).collect()
}

fn tags(id: &str, tag: &str, strategy: Strategy, values: &[&str]) -> Policy {
    Policy { strategy, values: texts(values), ..policy(id, tag, tag) }
}

fn world() -> World {
    World::new(NaiveEdition::Scoped, Settings::default())
        .open(&["workspace.env", "project.env", "project.unit"])
        .object("workspace/w", "env=dev")
}

/// What could be done about the first violation, as values of the tag that come and go.
fn proposed(comply: &Tested) -> Vec<(Vec<SmolStr>, Vec<SmolStr>)> {
    let fixes = comply.organisation.trial(comply.now()).fixes(&Seeker::new(end_user()), &comply.violations()[0]).ways;
    let edit = |fix: &Fix| match fix.edits.as_slice() {
        [Edit::Tag { add, remove, .. }] => (add.clone(), remove.clone()),
        other => panic!("{other:?}"),
    };
    fixes.iter().map(edit).collect()
}

#[test]
fn end_users_are_prevented_and_administrators_recorded() {
    let mut comply = world()
        .object("project/p", "env=dev")
        .link("workspace/w", "project/p")
        .with(tags("env", "project.env", Strategy::PresentAmong, &["dev", "qa"]))
        .build();
    assert_eq!(comply.act(&end_user(), &set_tags("project/p", "env=prod")).outcome, Blocked);
    assert_eq!(comply.act(&end_user(), &set_tags("project/p", "env=")).outcome, Blocked);
    assert_eq!(comply.act(&end_user(), &set_tags("project/p", "env=qa")).outcome, Allowed);
    assert_eq!(comply.act(&administrator(), &set_tags("project/p", "env=prod")).outcome, Soft);
    assert!(comply.seen(&comply.violations()[0]).is_some());
}

#[test]
fn who_comes_to_live_under_a_policy_is_held_against_it() {
    let within = Selector { scopes: vec!["workspace/w".into()], ..Selector::default() };
    let only = [Selection { among: vec![within], except: Vec::new() }, Selection::default()];
    let rule = Policy { only, ..tags("env", "project.env", Strategy::Present, &[]) };
    let mut comply = world().object("project/p", "").with(rule).build();
    assert_eq!(comply.violations(), []);
    assert_eq!(comply.act(&end_user(), &link("workspace/w", "project/p")).outcome, Blocked);
    assert_eq!(comply.act(&administrator(), &link("workspace/w", "project/p")).outcome, Soft);
}

#[test]
fn a_value_that_was_meant_is_proposed_first() {
    let comply = world()
        .object("project/p", "env=prodd,qa")
        .with(tags("env", "project.env", Strategy::PresentAmong, &["dev", "qa", "prod"]))
        .build();
    let proposed = proposed(&comply);
    assert_eq!(proposed[0], (texts(&["prod"]), texts(&["prodd"])), "{proposed:?}");
    assert!(proposed.contains(&(Vec::new(), texts(&["prodd"]))), "{proposed:?}");
}

#[test]
fn a_missing_tag_is_filled_with_its_default_or_with_what_is_allowed() {
    let usual = Definition { default: texts(&["qa"]), ..definition("project.env") };
    let world = |rule: Policy| {
        World::new(NaiveEdition::Scoped, Settings::default()).define(usual.clone()).object("project/p", "").with(rule)
    };
    let comply = world(tags("env", "project.env", Strategy::Present, &[])).build();
    let first = |comply: &Tested| proposed(comply)[0].0.clone();
    assert_eq!(first(&comply), texts(&["qa"]));
    let comply = world(tags("env", "project.env", Strategy::PresentAmong, &["prod", "dev"])).build();
    let proposed = proposed(&comply);
    assert_eq!(proposed.iter().map(|(add, _)| add.clone()).collect::<Vec<_>>(), [texts(&["prod"]), texts(&["dev"])]);
}

#[test]
fn what_a_policy_allows_is_what_can_be_chosen() {
    let comply = World::new(NaiveEdition::Scoped, Settings::default())
        .object("user/u", "unit=x")
        .with(tags("unit", "principal.unit", Strategy::Among, &["y", "x"]))
        .build();
    let user = comply.lookup("user/u").unwrap();
    let values = comply.organisation.allowed_values(comply.now(), &administrator(), user, "unit");
    assert_eq!(values, Ok(texts(&["x", "y"])));
}

#[test]
fn policies_that_make_no_sense_are_refused() {
    let cut = |rule: Policy| {
        let some = Selector { tags: vec![("env".into(), texts(&["dev"]))], ..Selector::default() };
        Policy { only: [Selection { among: vec![some], except: Vec::new() }, Selection::default()], ..rule }
    };
    let create = |comply: &mut Tested, rule: Policy| {
        let decision = comply.act(&administrator(), &Action::CreatePolicy(rule));
        (decision.outcome, decision.refusal)
    };
    let mut current = World::current().open(&["workspace.env", "project.env"]).build();
    let between = || policy("env", "workspace.env", "project.env");
    let refused = create(&mut current, cut(between()));
    assert_eq!(refused, (Invalid, Some(Refusal::Selectors { policy: "env".into() })));
    let alone = create(&mut current, tags("env", "project.env", Strategy::Present, &[]));
    assert!(matches!(alone, (Invalid, Some(Refusal::NoPair { .. }))), "{alone:?}");
    let mut scoped = world().build();
    let wrong = create(&mut scoped, Policy { strategy: Strategy::Present, ..between() });
    assert!(matches!(wrong, (Invalid, Some(Refusal::Strategy { .. }))), "{wrong:?}");
    let wrong = create(&mut scoped, policy("env", "project.env", "project.env"));
    assert!(matches!(wrong, (Invalid, Some(Refusal::Strategy { .. }))), "{wrong:?}");
    // A tag that is only selected by is in use as well.
    assert_eq!(create(&mut scoped, cut(tags("unit", "project.unit", Strategy::Among, &["x"]))).0, Allowed);
    let undefine = Action::Undefine { subject: "project".into(), key: "env".into() };
    let refused = scoped.act(&administrator(), &undefine);
    assert_eq!(refused.refusal, Some(Refusal::TagInUse { key: "env".into(), policy: "unit".into() }));
}
