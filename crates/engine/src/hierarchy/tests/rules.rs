//! Rules of resolving, one example each.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::config::{Config, Content};
use upheld_model::{LayerMerge, MergeAction};

use super::super::answer::Field;
use super::super::fields::Joined;
use super::super::scopes::{FieldParts, across};
use super::super::wholes::{Stack, Whole, WholeJoin, fields};
use super::world::value_of;
use crate::ask::EntryId;
use crate::merge::Strategy;

fn map(entries: &[(&str, &str)]) -> Arc<Config> {
    Config::made(Content::Map(entries.iter().map(|(key, value)| (SmolStr::new(key), value_of(value))).collect()))
}

fn whole(by: usize, act: MergeAction, said: &[(&str, &str)]) -> Whole {
    let meets = Some(LayerMerge { act, strategy: 0 });
    Whole { by, entry: EntryId::new(by), config: map(said), merged: None, meets }
}

/// Fields with who sets them, and who lost as a whole to whom.
type Folded = (Vec<(String, usize)>, Vec<(usize, usize)>);

fn folded(nearest_first: Vec<Whole>) -> Folded {
    let (merged, hidden) =
        Stack::within(WholeJoin::AsTheNextSays, nearest_first).finish(Vec::new(), &[Strategy::patch()]);
    let fields = fields(merged.as_ref()).into_iter().map(|field| (field.name.to_string(), field.by[0]));
    (fields.collect(), hidden.iter().map(|lost| (lost.by, lost.to)).collect())
}

#[test]
fn overrides_survive_levels_of_defaults() {
    let found = folded(vec![
        whole(2, MergeAction::Keep, &[("a", "2")]),
        whole(1, MergeAction::Keep, &[("a", "1")]),
        whole(0, MergeAction::Take, &[("a", "0")]),
    ]);
    assert_eq!(found, (vec![("a".to_owned(), 0)], vec![(1, 2), (2, 0)]));
}

#[test]
fn who_says_nothing_wins_nothing() {
    let found = folded(vec![whole(1, MergeAction::Take, &[]), whole(0, MergeAction::Keep, &[("a", "0")])]);
    assert_eq!(found, (vec![("a".to_owned(), 0)], vec![]));
}

#[test]
fn one_at_two_places_counts_where_it_wins() {
    let found = folded(vec![
        whole(0, MergeAction::KeepOver, &[("a", "0")]),
        whole(1, MergeAction::KeepOver, &[("a", "1")]),
        whole(0, MergeAction::KeepOver, &[("a", "0")]),
    ]);
    assert_eq!(found, (vec![("a".to_owned(), 0)], vec![]));
}

fn joined(by: usize, value: Arc<Config>) -> Joined {
    Joined {
        value: value.clone(),
        origins: [by].into_iter().collect(),
        over: Vec::new(),
        parts: [super::super::fields::Part { by, value }].into_iter().collect(),
    }
}

/// What holds of one field that several scopes set, the nearest first.
fn hidden(name: &str, scopes: &[Joined], apart: &FieldParts, omits: &[&str]) -> Vec<Field> {
    let name = SmolStr::new(name);
    let scopes = scopes.iter().map(|joined| std::iter::once(((&name, None), joined)));
    across(scopes, 0, |_| apart, EntryId::new, |name| !omits.contains(&name))
}

#[test]
fn a_nearer_scope_hides_a_field_as_a_whole() {
    let scopes = [joined(0, map(&[("a", "near")])), joined(1, map(&[("b", "wide")]))];
    let fields = hidden("cors", &scopes, &FieldParts::Whole, &[]);
    assert_eq!(fields.len(), 1);
    assert_eq!((fields[0].by.as_slice(), fields[0].lost[0].by, fields[0].lost[0].to), (&[0][..], 1, 0));
}

#[test]
fn entries_of_a_field_that_stand_apart_hide_each_other_one_by_one() {
    let near = joined(0, map(&[("request", "1s")]));
    let wide = joined(1, map(&[("request", "2s"), ("idle", "3s")]));
    let fields = hidden("timeouts", &[near, wide], &FieldParts::Entries, &[]);
    let rows: Vec<_> = fields.iter().map(|field| (field.title(), field.by[0], field.lost.len())).collect();
    assert_eq!(rows, [("timeouts.idle".to_owned(), 1, 0), ("timeouts.request".to_owned(), 0, 1)]);
}

#[test]
fn a_switch_turns_off_what_stands_apart() {
    let apart = FieldParts::Keyed { key: "name".into(), off: "disable".into() };
    let near = joined(0, map(&[("name", "one")]));
    let wide = joined(1, map(&[("disable", "yes")]));
    let fields = hidden("auth", &[near, wide], &apart, &[]);
    let rows: Vec<_> = fields.iter().map(|field| (field.title(), field.by[0])).collect();
    assert_eq!(rows, [("auth.disable".to_owned(), 1)]);
    assert_eq!((fields[0].lost[0].by, fields[0].lost[0].to), (0, 1));
}

#[test]
fn fields_that_mean_nothing_here_are_left_out() {
    assert!(hidden("retry", &[joined(0, map(&[]))], &FieldParts::Whole, &["retry"]).is_empty());
}
