use serde_json::{Value as Json, json};
use upheld_dialects::access::authzen::{Answer, Batch, MOST_EVALUATIONS};

use crate::{World, request, with};

#[track_caller]
fn decisions(asked: &Json) -> Vec<bool> {
    match World::new().authzen().evaluations(asked).expect("a good request") {
        Batch::Several(answers) => answers.iter().map(Answer::decision).collect(),
        Batch::Single(answer) => panic!("one answer: {answer:?}"),
    }
}

fn batch(words: &str, items: Json) -> Json {
    with(request(words), "evaluations", items)
}

fn book(id: &str) -> Json {
    json!({"resource": {"type": "book", "id": id}})
}

#[test]
fn items_take_what_they_leave_out_from_the_defaults() {
    let items = json!([{}, book("atlas"), {"subject": {"type": "robot", "id": "r2"}}, {"action": {"name": "burn"}}]);
    assert_eq!(decisions(&batch("ann read book bible", items)), [true, false, true, false]);
}

#[test]
fn a_default_is_replaced_whole() {
    let mut asked = batch("ann read book atlas", json!([{}, book("atlas")]));
    asked["resource"]["properties"] = json!({"rare": false});
    // The properties of the default are not those of the item.
    assert_eq!(decisions(&asked), [true, false]);
    let asked = batch("ann read book atlas", json!([{"resource": {"type": "book"}}]));
    assert_eq!(decisions(&asked), [false]);
    // Nothing is something else than left out.
    assert_eq!(decisions(&batch("ann read book bible", json!([{"subject": null}, {}]))), [false, true]);
}

#[test]
fn the_context_is_a_default_too() {
    let context = json!({"time": "2025-06-28T09:00:00Z", "ip": "10.1.1.1"});
    let asked = with(batch("ann enter room hall", json!([{}, {"context": {"ip": "10.1.1.1"}}])), "context", context);
    assert_eq!(decisions(&asked), [true, false]);
}

#[test]
fn a_semantic_says_where_to_stop() {
    let items = json!([book("bible"), book("atlas"), book("comic")]);
    for (semantic, expected) in [
        ("execute_all", vec![true, false, true]),
        ("deny_on_first_deny", vec![true, false]),
        ("permit_on_first_permit", vec![true]),
    ] {
        let options = json!({"evaluations_semantic": semantic});
        assert_eq!(decisions(&with(batch("ann read book x", items.clone()), "options", options)), expected);
    }
    assert_eq!(decisions(&with(batch("ann read book x", items), "options", json!({}))), [true, false, true]);
}

#[test]
fn a_broken_item_is_false_with_an_error() {
    let asked = json!({
        "subject": {"type": "member", "id": "ann"},
        "action": {"name": "read"},
        "evaluations": [book("bible"), {}, 5, {"resource": {"type": "book", "id": 5}}],
    });
    let answer = World::new().authzen().evaluations(&asked).unwrap().json();
    let broken = |message: &str| json!({"decision": false, "context": {"error": {"code": "bad-request", "status": 400, "message": message}}});
    let items = answer["evaluations"].as_array().unwrap();
    assert_eq!(items[0]["decision"], json!(true));
    assert_eq!(items[1], broken("`resource` is missing"));
    assert_eq!(items[2], broken("`evaluations[2]` must be an object, not a number"));
    assert_eq!(items[3], broken("`resource.id` must be text, not a number"));
    // It is a denial like any other.
    let options = json!({"evaluations_semantic": "deny_on_first_deny"});
    assert_eq!(decisions(&with(asked, "options", options)), [true, false]);
}

#[test]
fn without_a_list_it_is_one_request() {
    let world = World::new();
    let one = request("ann read book bible");
    let expected = world.authzen().evaluation(&one).unwrap();
    for asked in [one.clone(), with(one.clone(), "evaluations", json!([])), with(one, "evaluations", json!(null))] {
        assert_eq!(world.authzen().evaluations(&asked).unwrap(), Batch::Single(expected.clone()));
    }
    let bad = world.authzen().evaluations(&json!({"subject": {"type": "member", "id": "ann"}})).unwrap_err();
    assert_eq!(bad.to_string(), "`action` is missing");
}

#[test]
fn a_broken_batch_is_refused_whole() {
    let asked = batch("ann read book bible", json!([{}]));
    let table = [
        (json!(7), "the request must be an object, not a number"),
        (with(asked.clone(), "evaluations", json!({})), "`evaluations` must be a list, not an object"),
        (with(asked.clone(), "subject", json!("ann")), "`subject` must be an object, not text"),
        (with(asked.clone(), "options", json!("all")), "`options` must be an object, not text"),
        (
            with(asked.clone(), "options", json!({"evaluations_semantic": 1})),
            "`options.evaluations_semantic` must be text, not a number",
        ),
        (
            with(asked.clone(), "options", json!({"evaluations_semantic": "all"})),
            "`options.evaluations_semantic` cannot be `all`: expected `execute_all` or `deny_on_first_deny` or \
             `permit_on_first_permit`",
        ),
        (
            with(asked, "evaluations", Json::Array(vec![json!({}); MOST_EVALUATIONS + 1])),
            "`evaluations` has more than 10000 items",
        ),
    ];
    for (asked, expected) in table {
        assert_eq!(World::new().authzen().evaluations(&asked).unwrap_err().to_string(), expected);
    }
}
