use serde_json::{Value as Json, json};
use upheld_dialects::access::authzen::{Failure, Verdict};

use crate::{World, request, with};

const POLICIES: &str = "
- {id: role, effect: permit, subjects: [{role: staff}], resources: [], actions: [{operation: role}]}
- {id: group, effect: permit, subjects: [{group: lenders}], resources: [], actions: [{operation: group}]}
- {id: claim, effect: permit, subjects: [{claim: {name: role, value: staff}}], resources: [], actions: [{operation: claim}]}
- {id: kind, effect: permit, subjects: [{type: member, id: ann}], resources: [{type: book, id: atlas}], actions: [{operation: kind}]}
- {id: app, effect: permit, subjects: [], resources: [{app: shop, path: /cart}], actions: [{operation: app}]}
- {id: method, effect: permit, subjects: [], resources: [], actions: [{method: DELETE}]}
- {id: fact, effect: permit, subjects: [], resources: [{property: {name: color, value: red}}], actions: [{operation: fact, property: {name: soft, value: true}}]}
- id: context
  effect: permit
  subjects: []
  resources: []
  actions: [{operation: context}]
  conditions: [{type: custom, expression: environment.device == 'phone'}]
- id: time
  effect: permit
  subjects: []
  resources: []
  actions: [{operation: time}]
  conditions: [{type: time, after: '01:00', before: '02:00'}]
- id: ip
  effect: permit
  subjects: []
  resources: []
  actions: [{operation: ip}]
  conditions: [{type: ip, cidr: 192.168.0.0/16}]
";

fn world() -> World {
    World::with(POLICIES, "kind: Directory")
}

fn asked(action: &str) -> Json {
    request(&format!("ann {action} book atlas"))
}

fn subject(action: &str, properties: Json) -> Json {
    let subject = with(json!({"type": "member", "id": "ann"}), "properties", properties);
    with(asked(action), "subject", subject)
}

#[test]
fn roles_and_groups_are_properties_and_claims() {
    let world = world();
    for (action, properties, expected) in [
        ("role", json!({"role": "staff"}), true),
        ("role", json!({"roles": ["guest", "staff"]}), true),
        ("role", json!({"roles": ["guest"], "role": "staff"}), true),
        ("role", json!({"roles": ["guest"]}), false),
        ("role", json!({"roles": []}), false),
        ("role", json!({}), false),
        ("group", json!({"group": "lenders"}), true),
        ("group", json!({"groups": ["lenders"]}), true),
        ("group", json!({"role": "lenders"}), false),
        ("claim", json!({"role": "staff"}), true),
    ] {
        assert_eq!(world.decision(&subject(action, properties.clone())), expected, "{action} {properties}");
    }
}

#[test]
fn a_role_that_is_no_text_is_not_known() {
    for properties in [json!({"roles": [5]}), json!({"role": {"name": "staff"}}), json!({"roles": true})] {
        let answer = world().authzen().evaluation(&subject("role", properties.clone())).unwrap();
        assert!(matches!(answer.verdict, Verdict::Failed(Failure::Undecided(_))), "{properties}");
    }
}

#[test]
fn types_and_ids_are_matched() {
    let world = world();
    assert!(world.decision(&asked("kind")));
    assert!(!world.decision(&request("bob kind book atlas")));
    assert!(!world.decision(&request("ann kind room atlas")));
}

#[test]
fn the_application_and_the_path_are_properties() {
    let resource = |properties| json!({"type": "book", "id": "x", "properties": properties});
    let world = world();
    assert!(world.decision(&with(asked("app"), "resource", resource(json!({"app": "shop", "path": "/cart"})))));
    assert!(!world.decision(&with(asked("app"), "resource", resource(json!({"app": "shop", "path": ["/cart"]})))));
}

#[test]
fn an_action_of_http_is_its_method() {
    let world = world();
    assert!(world.decision(&asked("DELETE")));
    // What HTTP does is done in small letters as well.
    assert!(world.decision(&asked("delete")));
    let property = json!({"name": "remove", "properties": {"method": "DELETE"}});
    assert!(world.decision(&with(asked("remove"), "action", property)));
}

#[test]
fn other_properties_are_facts() {
    let world = world();
    let red = with(asked("fact"), "resource", json!({"type": "book", "id": "x", "properties": {"color": "red"}}));
    let soft = |soft: Json| with(red.clone(), "action", json!({"name": "fact", "properties": {"soft": soft}}));
    assert!(world.decision(&soft(json!(true))));
    assert!(!world.decision(&soft(json!(false))));
    assert!(!world.decision(&soft(json!("true"))));
    assert!(world.decision(&with(asked("context"), "context", json!({"device": "phone"}))));
    assert!(!world.decision(&with(asked("context"), "context", json!({"device": "desk"}))));
}

#[test]
fn the_context_has_the_moment_and_the_address() {
    let world = world();
    let time = |time: Json| with(asked("time"), "context", json!({"time": time}));
    // Three minutes past one, where the clock of the policy hangs.
    assert!(world.decision(&time(json!("2025-06-27T18:03-07:00"))));
    assert!(world.decision(&time(json!("2025-06-28T01:03:00Z"))));
    assert!(!world.decision(&time(json!("2025-06-27T18:03Z"))));
    assert!(world.decision(&with(asked("ip"), "context", json!({"ip": "192.168.1.1"}))));
    assert!(!world.decision(&with(asked("ip"), "context", json!({"ip": "10.1.1.1"}))));
    for unknown in [time(json!("soon")), time(json!(5)), with(asked("ip"), "context", json!({"ip": 5})), asked("time")]
    {
        let answer = world.authzen().evaluation(&unknown).unwrap();
        assert!(matches!(answer.verdict, Verdict::Failed(Failure::Undecided(_))), "{unknown}");
    }
}

#[test]
fn the_caller_may_know_the_moment() {
    let world = world();
    let now = "2025-06-28T01:03:00Z".parse().ok();
    let authzen = upheld_dialects::access::authzen::AuthZen { now, ..world.authzen() };
    assert!(authzen.evaluation(&asked("time")).unwrap().decision());
    let given = with(asked("time"), "context", json!({"time": "2025-06-28T09:00:00Z"}));
    assert!(!authzen.evaluation(&given).unwrap().decision());
}

#[test]
fn a_template_of_a_route_matches_by_its_names() {
    let world = World::new();
    let route = |id: &str| with(request("cid GET route x"), "resource", json!({"type": "route", "id": id}));
    assert!(world.decision(&route("/shelves/{shelf}")));
    assert!(!world.decision(&route("/shelves/{other}")));
    assert!(!world.decision(&route("/shelves/7")));
    assert!(world.decision(&route("/open/{book}")));
    assert!(!world.decision(&route("/open/{book}/pages")));
    // Only a route has its path in its id.
    assert!(!world.decision(&with(request("cid GET route x"), "resource", json!({"type": "page", "id": "/open/x"}))));
}
