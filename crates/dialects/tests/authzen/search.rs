use serde_json::{Value as Json, json};

use crate::{World, request, with};

fn member() -> Json {
    json!({"type": "member"})
}

fn books() -> Json {
    json!({"type": "book"})
}

/// `context` and `results`.
fn answer(complete: Json, results: Json) -> Json {
    with(with(json!({}), "context", complete), "results", results)
}

fn complete(results: Json) -> Json {
    answer(json!({"complete": true}), results)
}

fn entities(kind: &str, ids: &[&str]) -> Json {
    ids.iter().map(|id| json!({"type": kind, "id": id})).collect()
}

#[test]
fn subjects_that_may_are_listed_by_id() {
    let world = World::new();
    let search = |asked: Json| world.authzen().search_subject(&asked).unwrap().json();
    let read = with(request("x read book bible"), "subject", member());
    assert_eq!(search(read.clone()), complete(entities("member", &["ann", "bob", "cid"])));
    // An id is not looked at.
    assert_eq!(search(request("bob read book bible")), search(read));
    let rare = with(request("x read book atlas"), "subject", member());
    assert_eq!(search(rare.clone()), complete(entities("member", &["bob"])));
    let robots = with(rare, "subject", json!({"type": "robot"}));
    assert_eq!(search(robots), complete(entities("robot", &["r2"])));
}

#[test]
fn resources_that_may_be_used_are_listed_by_id() {
    let world = World::new();
    let search = |asked: Json| world.authzen().search_resource(&asked).unwrap().json();
    let read = with(request("ann read book x"), "resource", books());
    assert_eq!(search(read), complete(entities("book", &["bible", "comic"])));
    let change = with(request("ann change book x"), "resource", books());
    assert_eq!(search(change), complete(entities("book", &["bible", "comic"])));
}

#[test]
fn actions_are_listed_with_the_values_they_need() {
    let world = World::new();
    let search = |words: &str| world.authzen().search_action(&request(words)).unwrap().json();
    let lend = json!({"name": "lend", "properties": {"weeks": 2}});
    assert_eq!(search("ann x book bible"), complete(json!([{"name": "change"}, lend, {"name": "read"}])));
    // Whether `cid` may change it depends on a claim that he has not.
    let unknown = json!({"complete": false, "undecided": 1});
    assert_eq!(search("cid x book bible"), answer(unknown, json!([{"name": "read"}])));
}

#[test]
fn an_action_that_is_permitted_with_all_values_is_listed_once() {
    let policies = "[{id: all, effect: permit, subjects: [], resources: [], actions: []}]";
    let directory = "{kind: Directory, subjects: [{type: member, id: ann}], resources: [{type: book, id: a}],
                      actions: [{name: lend, properties: {weeks: [1, 2], kind: [x, y], fixed: 1}}]}";
    let world = World::with(policies, directory);
    let found = world.authzen().search_action(&request("ann x book a")).unwrap();
    assert_eq!(found.json(), complete(json!([{"name": "lend"}])));
}

#[test]
fn every_result_evaluates_to_true() {
    let world = World::new();
    for id in ["atlas", "bible", "comic"] {
        for subject in ["ann", "bob", "cid"] {
            let asked = request(&format!("{subject} x book {id}"));
            let found = world.authzen().search_action(&asked).unwrap().json();
            for action in found["results"].as_array().unwrap() {
                assert!(world.decision(&with(asked.clone(), "action", action.clone())), "{asked} {action}");
            }
        }
    }
}

#[test]
fn what_nobody_knows_has_no_results() {
    let world = World::new();
    let stranger = |part: &str, id: &str, kind: &str| {
        let reason = format!("the directory has no {part} `{id}` of type `{kind}`");
        answer(json!({"complete": false, "reason": reason}), json!([]))
    };
    let authzen = world.authzen();
    let found = authzen.search_action(&request("eve x book bible")).unwrap().json();
    assert_eq!(found, stranger("subject", "eve", "member"));
    let found = authzen.search_action(&request("ann x book none")).unwrap().json();
    assert_eq!(found, stranger("resource", "none", "book"));
    let found = authzen.search_subject(&request("x read book none")).unwrap().json();
    assert_eq!(found, stranger("resource", "none", "book"));
    let found = authzen.search_resource(&request("eve read book x")).unwrap().json();
    assert_eq!(found, stranger("subject", "eve", "member"));
    let found = authzen.search_resource(&request("ann read film x")).unwrap().json();
    assert_eq!(found, complete(json!([])));
    let ghosts = with(request("x read book bible"), "subject", json!({"type": "ghost"}));
    assert_eq!(authzen.search_subject(&ghosts).unwrap().json(), complete(json!([])));
}

#[test]
fn undecided_entities_make_a_search_incomplete() {
    // `cid` has no claim to compare.
    let asked = with(request("x change book bible"), "subject", member());
    let found = World::new().authzen().search_subject(&asked).unwrap();
    assert!(!found.is_complete());
    assert_eq!(found.json(), answer(json!({"complete": false, "undecided": 2}), entities("member", &["ann"])));
}

#[test]
fn properties_narrow_a_search() {
    let world = World::new();
    let read = |properties: Json| {
        let books = json!({"type": "book", "properties": properties});
        world.authzen().search_resource(&with(request("ann read book x"), "resource", books)).unwrap().json()
    };
    assert_eq!(read(json!({"branch": "south"})), complete(entities("book", &["comic"])));
    // An atlas is known to be rare; that the others are not rare is not known, but neither is it otherwise.
    assert_eq!(read(json!({"rare": false})), complete(entities("book", &["bible", "comic"])));
    assert_eq!(read(json!({"rare": true})), complete(json!([])));
}

#[test]
fn a_search_has_required_fields_of_its_own() {
    let world = World::new();
    let without = |part: &str, field: Option<&str>| {
        let mut asked = request("ann read book bible");
        let map = match field {
            Some(_) => asked[part].as_object_mut(),
            None => asked.as_object_mut(),
        };
        map.unwrap().remove(field.unwrap_or(part));
        asked
    };
    let authzen = world.authzen();
    let subject = |asked: Json| authzen.search_subject(&asked).map_err(|bad| bad.to_string());
    let resource = |asked: Json| authzen.search_resource(&asked).map_err(|bad| bad.to_string());
    let action = |asked: Json| authzen.search_action(&asked).map_err(|bad| bad.to_string());
    assert_eq!(subject(without("subject", None)).unwrap_err(), "`subject` is missing");
    assert_eq!(subject(without("subject", Some("type"))).unwrap_err(), "`subject.type` is missing");
    assert!(subject(without("subject", Some("id"))).is_ok());
    assert_eq!(subject(without("action", None)).unwrap_err(), "`action` is missing");
    assert_eq!(subject(without("resource", Some("id"))).unwrap_err(), "`resource.id` is missing");
    assert_eq!(resource(without("subject", Some("id"))).unwrap_err(), "`subject.id` is missing");
    assert_eq!(resource(without("resource", None)).unwrap_err(), "`resource` is missing");
    assert!(resource(without("resource", Some("id"))).is_ok());
    assert!(action(without("action", None)).is_ok());
    assert_eq!(action(without("subject", None)).unwrap_err(), "`subject` is missing");
    assert_eq!(action(without("resource", Some("id"))).unwrap_err(), "`resource.id` is missing");
}
