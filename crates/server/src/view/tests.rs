//! Views that were made out of one another, held against views that were built at once.

use std::sync::Arc;

use upheld_engine::work::{Unfinished, Work};
use upheld_store::{Change, Key, State};

use super::View;
use crate::auth::{Access, Operation};
use crate::folders::Contents;

fn put(name: &str, path: &str) -> Change {
    let text = format!(
        r#"{{"id": "{name}", "effect": "permit", "subjects": [], "resources": [{{"path": "{path}"}}], "actions": []}}"#
    );
    Change::Put { key: key(name), text: text.into() }
}

fn delete(name: &str) -> Change {
    Change::Delete { key: key(name) }
}

fn key(name: &str) -> Key {
    Key::new("AccessPolicy", "access", name).unwrap()
}

fn file(path: &str) -> (String, Vec<u8>) {
    let text = format!("id: of-{path}\neffect: deny\nsubjects: []\nresources: [{{path: /{path}}}]\nactions: []\n");
    (path.to_owned(), text.into_bytes())
}

/// Names and places of all policies in the order of evaluation.
fn shown(view: &View) -> Vec<String> {
    let decider = view.decider(None).unwrap();
    let place = |rule: &upheld_engine::decide::Rule| decider.files.locate(rule.at).unwrap().file.to_owned();
    decider.decide.rules().iter().map(|rule| format!("{} {}", rule.name, place(rule))).collect()
}

#[track_caller]
fn check(before: &View, changes: &[Change], files: &Contents) -> View {
    let state = Arc::new(before.state.with(changes));
    let after = before.after(Arc::clone(&state), files.clone()).unwrap();
    let built = View::build(state, files.clone(), &before.choices).unwrap();
    assert_eq!(after.digest(), built.digest());
    assert_eq!(shown(&after), shown(&built));
    assert_eq!(after.revision(), built.revision());
    after
}

#[test]
fn a_view_leads_to_the_next() {
    let files = Contents::of(vec![file("a.yaml"), file("b.yaml")]);
    let mut view = View::build(Arc::default(), files.clone(), &Arc::default()).unwrap();
    let steps: [&[Change]; 8] = [
        &[put("one", "/1")],
        &[put("two", "/2"), put("three", "/3")],
        &[put("one", "/1/changed")],
        &[delete("two")],
        &[put("two", "/2/again"), put("four", "/4")],
        &[delete("one"), put("three", "/3/changed"), put("five", "/5")],
        // Who comes back within one step has another place than before, so all is loaded anew.
        &[delete("three"), put("three", "/3/back")],
        &[delete("two"), delete("three"), delete("four"), delete("five")],
    ];
    for changes in steps {
        view = check(&view, changes, &files);
    }
}

#[test]
fn files_change_as_documents_do() {
    let files = |names: &[&str]| Contents::of(names.iter().map(|name| file(name)).collect());
    let state = Arc::new(State::default().with(&[put("one", "/1")]));
    let mut view = View::build(state, files(&["a", "b", "c"]), &Arc::default()).unwrap();
    let changed = Contents::of(vec![file("a"), ("b".to_owned(), file("other").1), file("c")]);
    for files in [changed, files(&["a", "c"]), files(&["c"]), files(&["b", "c"]), Contents::default()] {
        view = check(&view, &[put("two", "/2")], &files);
    }
}

/// Among many relationships a few hundred writes are few: nothing is loaded anew because of them.
#[test]
fn many_relationships_are_not_loaded_anew_for_a_few_writes() {
    let users: String = (0..2 * super::FEW).map(|number| format!("- {{ref: user/u{number}}}\n")).collect();
    let text = format!("- {{ref: workspace/w}}\n- {{ref: project/p, workspace: w}}\n{users}");
    let files = Contents::of(vec![("all.yaml".to_owned(), text.into_bytes())]);
    let mut view = View::build(Arc::default(), files.clone(), &Arc::default()).unwrap();
    for number in 0..=super::FEW {
        let name = format!("project/p~user/u{number}");
        let key = Key::new("Link", "compliance", &name).unwrap();
        let text = format!(r#"{{"a": "project/p", "b": "user/u{number}"}}"#);
        let state = Arc::new(view.state.with(&[Change::Put { key, text: text.into() }]));
        view = view.after(state, files.clone()).unwrap();
    }
    assert_eq!(view.changes, super::FEW + 1);
}

#[test]
fn what_stays_behind_is_cleared_away() {
    let mut view = View::build(Arc::default(), Contents::default(), &Arc::default()).unwrap();
    for round in 0..super::FEW * 2 + 10 {
        let state = Arc::new(view.state.with(&[put("one", &format!("/{round}"))]));
        view = view.after(state, Contents::default()).unwrap();
        assert!(view.changes <= super::FEW, "{} changes", view.changes);
    }
    assert_eq!(shown(&view), ["one store:AccessPolicy/access/one"]);
}

/// Ends something after some of its steps, whichever; tells how many it takes.
fn ended_anywhere<T>(what: &str, does: impl Fn() -> T) -> u64 {
    let whole = Work::default();
    assert!(whole.during(&does).is_ok());
    let steps = whole.steps();
    for most in [0, 1, steps / 4, steps / 2, steps * 3 / 4, steps - 1] {
        let unfinished = Work::of_steps(most).during(&does).err();
        assert_eq!(unfinished, Some(Unfinished::OutOfSteps), "{what}: {most} of {steps}");
    }
    assert!(Work::of_steps(steps).during(&does).is_ok(), "{what}: what was given up before is in nobody's way");
    steps
}

/// P1: whoever leaves while their part is made, or a view of the past, takes the work along.
#[test]
fn p1_the_building_of_a_view_ends_at_any_step() {
    let view = |count: usize| {
        let changes: Vec<Change> = (0..count).map(|number| put(&format!("p{number}"), &format!("/{number}"))).collect();
        let files = Contents::of((0..count).map(|number| file(&format!("f{number}.yaml"))).collect());
        View::build(Arc::new(State::default().with(&changes)), files, &Arc::default()).unwrap()
    };
    let steps = |count: usize| {
        let (view, all) = (view(count), Access::unlimited());
        let seen = view.seen(&all, Operation::Read);
        [
            ended_anywhere("a view", || {
                View::build(Arc::clone(&view.state), view.files.clone(), &view.choices).unwrap()
            }),
            ended_anywhere("what is seen", || view.seen(&all, Operation::Read)),
            ended_anywhere("a part", || view.part(&seen).unwrap()),
        ]
    };
    let (few, many) = (steps(10), steps(60));
    // Each of a hundred more documents is a step to read, to offer, to check, to keep and to digest, or to look at.
    for ((few, many), each) in few.into_iter().zip(many).zip([5, 1, 5]) {
        assert!(many >= few + 100 * each, "{few} {many}");
    }
}
