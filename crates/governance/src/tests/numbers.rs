//! Values that are numbers.

use super::super::*;
use super::world::{World, definition, told};

#[test]
fn numbers_are_kept_in_their_shortest_form_where_they_are_numbers() {
    let number = |tag: &str| Definition { tag: TagType::Number, options: Vec::new(), ..definition(tag) };
    let world = || {
        World::classic()
            .object("workspace/w", "size=5.0 code=007")
            .object("project/p", "size=5 code=7")
            .link("workspace/w", "project/p")
            .policy("size", "workspace.size", "project.size")
            .policy("code", "workspace.code", "project.code")
    };
    let comply = world().define(number("workspace.size")).define(number("project.size")).build();
    assert_eq!(told(&comply.violations()), ["code: workspace/w <> project/p"]);
    let comply = world().build();
    assert_eq!(comply.violations().len(), 2, "without a definition they are texts");
}

#[test]
fn canonical_numbers() {
    let pairs = [("5", "5"), ("05", "5"), ("5.0", "5"), ("+5", "5"), ("-0", "0"), ("0.50", "0.5"), (".5", "0.5")];
    let more = [("1e2", "100"), ("12e-1", "1.2"), ("-1.50E1", "-15"), ("1e-3", "0.001"), ("5.", "5"), ("0e9", "0")];
    for (written, kept) in pairs.into_iter().chain(more) {
        assert_eq!(canonical_number(written).as_deref(), Some(kept), "{written}");
    }
    for written in ["", "-", ".", "e5", "1e", "1.2.3", "five", "1 ", "0x10", "1e99999", "inf", "--1", "١"] {
        assert_eq!(canonical_number(written), None, "{written}");
    }
}
