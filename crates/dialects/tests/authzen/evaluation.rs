use serde_json::json;
use upheld_dialects::access::authzen::{Failure, Problem, Verdict};

use crate::{World, request, with};

#[test]
fn the_policy_that_decides_is_named() {
    let answer = World::new().authzen().evaluation(&request("ann read book bible")).unwrap();
    let expected = json!({"decision": true, "context": {"reason": "members read books", "policy": "members-read"}});
    assert_eq!(answer.json(), expected);
}

#[test]
fn what_no_policy_permits_is_denied() {
    let answer = World::new().authzen().evaluation(&request("ann burn book bible")).unwrap();
    assert_eq!(answer.json(), json!({"decision": false, "context": {"reason": "No applicable policy"}}));
}

#[test]
fn obligations_come_with_permits_and_denials() {
    let world = World::new();
    let answer = world.authzen().evaluation(&request("ann read book atlas")).unwrap();
    let expected = json!({"decision": false, "context": {
        "reason": "rare books are for the staff",
        "policy": "rare-books-stay-closed",
        "obligations": [{"id": "ask-first", "type": "notification", "properties": {"to": "desk"}}],
    }});
    assert_eq!(answer.json(), expected);
    let answer = world.authzen().evaluation(&request("bob read book atlas")).unwrap();
    let expected = json!({"decision": true, "context": {
        "reason": "members read books",
        "policy": "members-read",
        "obligations": [{"id": "gloves", "type": "custom", "properties": {}}],
        "advice": [{"id": "smile", "type": "custom", "properties": {"wide": true}}],
    }});
    assert_eq!(answer.json(), expected);
}

#[test]
fn undecided_is_false_with_an_error() {
    // Nobody knows who wrote it.
    let unknown = with(request("ann change book new"), "context", json!({}));
    let answer = World::new().authzen().evaluation(&unknown).unwrap();
    assert!(matches!(answer.verdict, Verdict::Failed(Failure::Undecided(_))));
    let message = "undecided: a fact is missing or of another type, so it is not known whether \
                   `authors-change-their-books` applies";
    let expected =
        json!({"decision": false, "context": {"reason": message, "error": {"code": "undecided", "message": message}}});
    assert_eq!(answer.json(), expected);
}

#[test]
fn facts_of_two_entities_are_compared() {
    let world = World::new();
    for (words, expected) in [
        ("ann change book bible", true),
        ("ann change book atlas", false),
        ("bob change book bible", false),
        ("cid change book bible", false),
    ] {
        assert_eq!(world.decision(&request(words)), expected, "{words}");
    }
    let lend = |words: &str| with(request(words), "action", json!({"name": "lend", "properties": {"weeks": 2}}));
    for (words, expected) in
        [("ann lend book bible", true), ("ann lend book comic", false), ("bob lend book comic", true)]
    {
        assert_eq!(world.decision(&lend(words)), expected, "{words}");
    }
}

#[test]
fn stored_properties_fill_and_given_ones_win() {
    let world = World::new();
    let book = |properties| json!({"type": "book", "id": "atlas", "properties": properties});
    let read = request("ann read book atlas");
    assert!(!world.decision(&read));
    assert!(!world.decision(&with(read.clone(), "resource", book(json!({"branch": "east"})))));
    assert!(world.decision(&with(read.clone(), "resource", book(json!({"rare": false})))));
    let staff = json!({"type": "member", "id": "ann", "properties": {"role": "staff"}});
    assert!(world.decision(&with(read, "subject", staff)));
    // What is null is as good as left out: the stored role counts.
    let says_nothing = json!({"type": "member", "id": "bob", "properties": {"role": null}});
    assert!(world.decision(&with(request("bob read book atlas"), "subject", says_nothing)));
    let other = json!({"type": "member", "id": "bob", "properties": {"role": "guest"}});
    assert!(!world.decision(&with(request("bob read book atlas"), "subject", other)));
}

#[test]
fn an_action_with_several_values_has_one_that_nobody_knows() {
    let world = World::new();
    let answer = world.authzen().evaluation(&request("ann lend book bible")).unwrap();
    assert!(matches!(answer.verdict, Verdict::Failed(Failure::Undecided(_))));
    let other = with(request("ann lend book bible"), "action", json!({"name": "lend", "properties": {"weeks": 1}}));
    assert_eq!(world.authzen().evaluation(&other).unwrap().verdict, Verdict::Denied);
}

#[test]
fn fields_that_nobody_knows_are_passed_over() {
    let mut asked = with(request("ann read book bible"), "color", json!("red"));
    asked["subject"]["color"] = json!("red");
    assert!(World::new().decision(&asked));
}

#[test]
fn a_broken_request_says_what_is_wrong() {
    let good = request("ann read book bible");
    let without = |part: &str, field: Option<&str>| {
        let mut asked = good.clone();
        let map = match field {
            Some(_) => asked[part].as_object_mut(),
            None => asked.as_object_mut(),
        };
        map.unwrap().remove(field.unwrap_or(part));
        asked
    };
    let set = |part: &str, field: &str, value| {
        let mut asked = good.clone();
        asked[part][field] = value;
        asked
    };
    let table = [
        (json!([]), "the request must be an object, not a list"),
        (json!("text"), "the request must be an object, not text"),
        (without("subject", None), "`subject` is missing"),
        (without("action", None), "`action` is missing"),
        (without("resource", None), "`resource` is missing"),
        (without("subject", Some("type")), "`subject.type` is missing"),
        (without("subject", Some("id")), "`subject.id` is missing"),
        (without("action", Some("name")), "`action.name` is missing"),
        (without("resource", Some("type")), "`resource.type` is missing"),
        (without("resource", Some("id")), "`resource.id` is missing"),
        (with(good.clone(), "subject", json!("ann")), "`subject` must be an object, not text"),
        (with(good.clone(), "subject", json!(null)), "`subject` must be an object, not null"),
        (with(good.clone(), "action", json!(["read"])), "`action` must be an object, not a list"),
        (with(good.clone(), "context", json!(5)), "`context` must be an object, not a number"),
        (set("subject", "id", json!(5)), "`subject.id` must be text, not a number"),
        (set("subject", "properties", json!([])), "`subject.properties` must be an object, not a list"),
        (set("action", "name", json!(true)), "`action.name` must be text, not a boolean"),
        (set("resource", "type", json!({})), "`resource.type` must be text, not an object"),
    ];
    let world = World::new();
    for (asked, expected) in table {
        let bad = world.authzen().evaluation(&asked).expect_err(expected);
        assert_eq!(bad.to_string(), expected);
    }
    let bad = world.authzen().evaluation(&without("subject", Some("id"))).unwrap_err();
    assert_eq!((bad.at.as_str(), bad.problem), ("subject.id", Problem::Missing));
    assert!(world.decision(&with(good, "context", json!(null))));
}
