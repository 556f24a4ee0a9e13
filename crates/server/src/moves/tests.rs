//! Which documents move, and which of two holds.

use std::sync::Arc;

use upheld_store::State;

use super::*;
use crate::folders::Contents;

fn put(id: &str, text: &str) -> Change {
    Change::Put { key: id.parse().unwrap(), text: text.into() }
}

fn view(batches: &[&[Change]]) -> View {
    let state = batches.iter().fold(State::default(), |state, batch| state.with(batch));
    View::build(Arc::new(state), Contents::default(), &Arc::default()).unwrap()
}

/// The changes in words.
fn told(moves: &Moves) -> Vec<String> {
    let told = |change: &Change| match change {
        Change::Put { key, text } => format!("{key} = {text}"),
        Change::Delete { key } => format!("{key} is gone"),
    };
    moves.changes.iter().map(told).collect()
}

const OBJECTS: [(&str, &str); 2] =
    [("project/compliance/p", r#"{"ref":"project/p"}"#), ("landingZone/compliance/z", r#"{"ref":"landingZone/z"}"#)];

#[test]
fn of_two_that_become_one_the_later_holds_and_the_other_is_named() {
    let objects = OBJECTS.map(|(id, text)| put(id, text));
    let (straight, turned) = (r#"{"a":"project/p","b":"landingZone/z"}"#, r#"{"a":"landingZone/z","b":"project/p"}"#);
    let (right, wrong) = ("Link/compliance/project/p~landingZone/z", "Link/compliance/landingZone/z~project/p");
    let moves = Moves::of(&view(&[&objects, &[put(right, straight)], &[put(wrong, turned)]]));
    assert_eq!(told(&moves), [format!("{wrong} is gone"), format!("{right} = {turned}")]);
    assert_eq!(moves.lost, [(right.parse().unwrap(), right.parse().unwrap())]);
    let moves = Moves::of(&view(&[&objects, &[put(wrong, turned)], &[put(right, straight)]]));
    assert_eq!(told(&moves), [format!("{wrong} is gone")]);
    assert_eq!(moves.lost, [(wrong.parse().unwrap(), right.parse().unwrap())]);
}

#[test]
fn a_place_that_somebody_leaves_is_taken_by_another() {
    let moves = Moves::of(&view(&[&[
        put("user/compliance/a", r#"{"ref":"user/b"}"#),
        put("user/compliance/b", r#"{"ref":"user/c"}"#),
    ]]));
    let expected = [
        "user/compliance/a is gone",
        r#"user/compliance/b = {"ref":"user/b"}"#,
        r#"user/compliance/c = {"ref":"user/c"}"#,
    ];
    assert_eq!(told(&moves), expected);
    assert_eq!((moves.count, moves.lost.len()), (2, 0));
}

#[test]
fn what_cannot_be_written_in_an_address_keeps_its_id() {
    assert_eq!(Moves::of(&view(&[&[put("user/default/..", r#"{"ref":"user/.."}"#)]])), Moves::default());
}
