//! The checks can be turned off, and a change is checked as a whole reading is.

use upheld_loader::load::{Change, Choices};
use upheld_loader::{Format, Input};

use super::{mistakes, read_under};

const RIGHT: &str =
    "type: MeshTimeout\nname: t\nmesh: default\nspec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}\n";

fn wrong() -> String {
    RIGHT.replace("idleTimeout", "idleTimout")
}

#[test]
fn without_schemas_payloads_are_passed_on_as_they_are() {
    assert_eq!(mistakes(&wrong()).len(), 1);
    assert!(read_under(Choices::default().without_schemas(), &wrong()).is_ok());
}

#[test]
fn the_setting_changes_no_digest() {
    let digest = |choices: Choices| read_under(choices, RIGHT).unwrap().snapshot.digest().to_owned();
    assert_eq!(digest(Choices::default()), digest(Choices::default().without_schemas()));
}

#[test]
fn a_change_is_refused_for_the_same_mistakes_as_a_whole_reading() {
    let input = |text: &str| Input::text("stored/t", Format::Yaml, text);
    let loaded = Choices::default().load_for_store(Vec::new(), vec![input(RIGHT)]).unwrap();
    let stored = loaded.first_stored();
    let refused = loaded.after(vec![Change::Replaced(stored, input(&wrong()))]).unwrap_err();
    let anew = Choices::default().load_for_store(Vec::new(), vec![input(&wrong())]).unwrap_err();
    assert_eq!(refused.diagnostics.as_slice(), anew.diagnostics.as_slice());
    assert_eq!(refused.diagnostics.errors(), 1);
    assert!(loaded.after(vec![Change::New(input(&RIGHT.replace("name: t", "name: u")))]).is_ok());
    let new = loaded.after(vec![Change::New(input(&wrong().replace("name: t", "name: u")))]).unwrap_err();
    assert_eq!(new.diagnostics.errors(), 1);
    let off = Choices::default().without_schemas().load_for_store(Vec::new(), vec![input(RIGHT)]).unwrap();
    assert!(off.after(vec![Change::Replaced(stored, input(&wrong()))]).is_ok());
}
