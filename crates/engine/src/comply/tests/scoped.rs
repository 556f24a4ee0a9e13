//! Policies about single objects, and policies that are cut to some.

use upheld_model::{Code, State};

use super::super::reference::random::{BEGIN, policy};
use super::super::*;
use super::steps::Step;
use super::world::{World, texts, told};
use crate::ruling::Ruling;

fn tagged(key: &str, values: &[&str]) -> Selector {
    Selector { tags: vec![(key.into(), texts(values))], ..Selector::default() }
}

fn only(among: Vec<Selector>, except: Vec<Selector>) -> Selection {
    Selection { among, except }
}

fn sees(comply: &Comply, object: &str) -> Vec<(State, Code)> {
    let object = comply.lookup(object).unwrap();
    let pair = comply.pairs_between(object, object)[0];
    let ruling = Ruling::explain(comply, &comply.question(pair, BEGIN));
    ruling.candidates.iter().map(|own| (own.state, own.reason.code)).collect()
}

#[test]
fn an_object_without_a_tag_that_it_must_have_violates() {
    let comply = World::scoped()
        .object("project/a", "env=dev")
        .object("project/b", "")
        .tags("env", "project.env", Strategy::Present, &[])
        .build();
    assert_eq!(told(&comply.violations(BEGIN)), ["env: project/b <> project/b"]);
    assert_eq!(sees(&comply, "project/a"), [(State::Pass, Code::ComplyPresent)]);
    assert_eq!(sees(&comply, "project/b"), [(State::Hard, Code::ComplyAbsent)]);
}

#[test]
fn a_value_that_is_not_allowed_violates() {
    let comply = World::scoped()
        .object("project/a", "env=dev,prodd")
        .object("project/b", "")
        .tags("env", "project.env", Strategy::Among, &["dev", "prod"])
        .build();
    let violations = comply.violations(BEGIN);
    assert_eq!(told(&violations), ["env: project/a <> project/a"]);
    assert_eq!(violations[0].b.values, ["dev", "prod"]);
    assert_eq!(sees(&comply, "project/b"), [(State::Pass, Code::ComplyUntagged)]);
}

#[test]
fn what_is_out_of_scope_is_skipped_and_counts_nowhere() {
    let selection = only(vec![tagged("unit", &["x"])], vec![tagged("env", &["old"])]);
    let rule = Policy {
        strategy: Strategy::PresentAmong,
        values: texts(&["dev"]),
        only: [selection, Selection::default()],
        ..policy("env", "project.env", "project.env")
    };
    let comply = World::scoped()
        .object("project/in", "unit=x env=qa")
        .object("project/other", "unit=y env=qa")
        .object("project/old", "unit=x env=old")
        .with(rule)
        .build();
    assert_eq!(told(&comply.violations(BEGIN)), ["env: project/in <> project/in"]);
    assert_eq!(sees(&comply, "project/other"), [(State::Skip, Code::SkipNotSelected)]);
    assert_eq!(sees(&comply, "project/old"), [(State::Skip, Code::SkipExcepted)]);
    let filter = Filter::default();
    let cells = comply.cells(&filter);
    assert_eq!((cells.judged_pairs(), cells.tallies()[0].pairs, comply.pair_count()), (1, 1, 3));
    assert_eq!(comply.checks(&filter, BEGIN).len(), 1);
}

#[test]
fn a_policy_between_two_objects_can_be_cut_on_both_sides() {
    let cut = |a: Selection, b: Selection| Policy { only: [a, b], ..policy("env", "workspace.env", "project.env") };
    let world = |rule: Policy| {
        World::scoped()
            .object("workspace/w", "env=dev")
            .object("project/a", "env=qa unit=x")
            .object("project/b", "env=qa unit=y")
            .link("workspace/w", "project/a")
            .link("workspace/w", "project/b")
            .with(rule)
            .build()
    };
    let all = Selection::default;
    assert_eq!(world(cut(all(), all())).violation_count(), 2);
    let some = only(vec![tagged("unit", &["y"])], Vec::new());
    assert_eq!(told(&world(cut(all(), some)).violations(BEGIN)), ["env: workspace/w <> project/b"]);
    let but = only(Vec::new(), vec![tagged("env", &["dev"])]);
    assert_eq!(world(cut(but, all())).violation_count(), 0);
}

#[test]
fn who_moves_comes_under_the_policies_of_the_new_scope() {
    let within = Selector { scopes: vec!["workspace/strict".into()], ..Selector::default() };
    let rule = Policy {
        strategy: Strategy::Present,
        only: [only(vec![within], Vec::new()), Selection::default()],
        ..policy("env", "project.env", "project.env")
    };
    let mut comply = World::scoped()
        .object("workspace/strict", "")
        .object("workspace/easy", "")
        .object("project/p", "")
        .link("workspace/easy", "project/p")
        .with(rule)
        .build();
    assert_eq!(comply.violation_count(), 0);
    let tie = |workspace: &str| super::super::reference::random::Tie {
        a: workspace.into(),
        b: "project/p".into(),
        role: None,
    };
    Step::Unlink(tie("workspace/easy")).take(&mut comply);
    Step::Link(tie("workspace/strict")).take(&mut comply);
    assert_eq!(comply.violations(BEGIN)[0].scope.as_deref(), Some("workspace/strict"));
    let mark = comply.mark();
    Step::Unlink(tie("workspace/strict")).take(&mut comply);
    assert_eq!(comply.violation_count(), 0);
    comply.roll_back(mark);
    assert_eq!(comply.violation_count(), 1);
}

#[test]
fn who_comes_and_goes_is_judged_alone() {
    let mut comply = World::scoped().tags("env", "landingZone.env", Strategy::Present, &[]).build();
    let mark = comply.mark();
    Step::Create("landingZone/l1".into(), Partner::No).take(&mut comply);
    assert_eq!(comply.violation_count(), 1);
    comply.roll_back(mark);
    assert_eq!((comply.violation_count(), comply.pair_count()), (0, 0));
    Step::Create("landingZone/l1".into(), Partner::No).take(&mut comply);
    Step::Delete("landingZone/l1".into()).take(&mut comply);
    assert_eq!((comply.violation_count(), comply.pair_count()), (0, 0));
}
