use serde_json::{Value as Json, json};

use crate::{World, request, with};

fn readers(page: Json) -> Json {
    with(with(request("x read book bible"), "subject", json!({"type": "member"})), "page", page)
}

fn ids(found: &Json) -> Vec<&str> {
    found["results"].as_array().unwrap().iter().map(|result| result["id"].as_str().unwrap()).collect()
}

fn token(found: &Json) -> Json {
    found["page"]["next_token"].clone()
}

#[test]
fn pages_follow_each_other_to_the_end() {
    let world = World::new();
    let search = |page: Json| world.authzen().search_subject(&readers(page)).unwrap().json();
    let first = search(json!({"limit": 2}));
    assert_eq!(ids(&first), ["ann", "bob"]);
    assert_eq!(first["page"]["count"], json!(2));
    assert_ne!(token(&first), json!(""));
    let second = search(json!({"limit": 2, "token": token(&first)}));
    assert_eq!(ids(&second), ["cid"]);
    assert_eq!(second["page"], json!({"next_token": "", "count": 1}));
    // Without a limit, that of the page before counts.
    assert_eq!(search(json!({"token": token(&first)})), second);
    // The same search has the same token.
    assert_eq!(search(json!({"limit": 2})), first);
}

#[test]
fn a_page_that_ends_with_the_last_result_is_the_last() {
    let world = World::new();
    let search = |page: Json| world.authzen().search_subject(&readers(page)).unwrap().json();
    assert_eq!(search(json!({"limit": 3}))["page"], json!({"next_token": "", "count": 3}));
    assert_eq!(search(json!({}))["page"], json!({"next_token": "", "count": 3}));
    assert_eq!(search(json!({"token": ""}))["page"], json!({"next_token": "", "count": 3}));
    assert_eq!(search(json!(null)).get("page"), None);
    let none = search(json!({"limit": 0}));
    assert!(ids(&none).is_empty());
    assert_eq!(ids(&search(json!({"limit": 1, "token": token(&none)}))), ["ann"]);
}

#[test]
fn resources_and_actions_have_pages_too() {
    let world = World::new();
    let books = |page: Json| {
        let asked = with(with(request("bob read book x"), "resource", json!({"type": "book"})), "page", page);
        world.authzen().search_resource(&asked).unwrap().json()
    };
    let first = books(json!({"limit": 1}));
    let second = books(json!({"limit": 1, "token": token(&first)}));
    let third = books(json!({"limit": 1, "token": token(&second)}));
    assert_eq!([ids(&first), ids(&second), ids(&third)], [["atlas"], ["bible"], ["comic"]]);
    assert_eq!(token(&third), json!(""));

    let actions = |page: Json| {
        let asked = with(request("ann x book bible"), "page", page);
        world.authzen().search_action(&asked).unwrap().json()
    };
    let mut page = json!({"limit": 1});
    let mut names = Vec::new();
    loop {
        let found = actions(page);
        names.extend(found["results"].as_array().unwrap().iter().map(|result| result["name"].to_string()));
        if token(&found) == json!("") {
            break;
        }
        page = json!({"limit": 1, "token": token(&found)});
    }
    assert_eq!(names, ["\"change\"", "\"lend\"", "\"read\""]);
}

#[test]
fn some_values_of_one_action_may_be_on_different_pages() {
    let policies = "[{id: some, effect: permit, subjects: [], resources: [],
                      actions: [{property: {name: weeks, operator: lt, value: 3}}]}]";
    let directory = "{kind: Directory, subjects: [{type: member, id: ann}], resources: [{type: book, id: a}],
                      actions: [{name: lend, properties: {weeks: [1, 2, 3]}}]}";
    let world = World::with(policies, directory);
    let search = |page: Json| {
        let found = world.authzen().search_action(&with(request("ann x book a"), "page", page)).unwrap().json();
        (found["results"].clone(), token(&found))
    };
    let lend = |weeks: u8| json!([{"name": "lend", "properties": {"weeks": weeks}}]);
    let (first, token) = search(json!({"limit": 1}));
    assert_eq!(first, lend(1));
    assert_eq!(search(json!({"token": token})), (lend(2), json!("")));
}

#[test]
fn a_token_is_for_one_search() {
    let world = World::new();
    let authzen = world.authzen();
    let first = authzen.search_subject(&readers(json!({"limit": 1}))).unwrap().json();
    let page = json!({"limit": 1, "token": token(&first)});
    let changes = [
        ("resource", json!({"type": "book", "id": "comic"})),
        ("action", json!({"name": "change"})),
        ("context", json!({"ip": "10.0.0.1"})),
        ("subject", json!({"type": "robot"})),
    ];
    let other = "`page.token` belongs to a search for something else";
    for (part, value) in changes {
        let asked = with(readers(page.clone()), part, value);
        assert_eq!(authzen.search_subject(&asked).unwrap_err().to_string(), other, "{part}");
    }
    let asked = with(request("ann read book bible"), "page", page.clone());
    assert_eq!(authzen.search_resource(&asked).unwrap_err().to_string(), other);
    // The order of fields is not a parameter, nor is what nobody reads.
    let mut same = readers(page);
    same["resource"] = json!({"id": "bible", "type": "book"});
    same["color"] = json!("red");
    assert_eq!(ids(&authzen.search_subject(&same).unwrap().json()), ["bob"]);
}

#[test]
fn a_broken_page_is_refused() {
    let world = World::new();
    let limit = "`page.limit` must be a whole number from 0 on, not a number";
    let table = [
        (json!(5), "`page` must be an object, not a number"),
        (json!({"limit": -1}), limit),
        (json!({"limit": 1.5}), limit),
        (json!({"limit": "1"}), "`page.limit` must be a whole number from 0 on, not text"),
        (json!({"token": 5}), "`page.token` must be text, not a number"),
        (json!({"token": "?"}), "`page.token` is not a token of a search"),
        (json!({"token": "AQID"}), "`page.token` is not a token of a search"),
    ];
    for (page, expected) in table {
        assert_eq!(world.authzen().search_subject(&readers(page)).unwrap_err().to_string(), expected);
    }
}
