//! What policies mean to the original system, openings and all.

use serde_json::{Value as Json, json};
use upheld_dialects::access::Edition;

use crate::world::{answer, check, outcome, policy, request};

const COMPAT: Edition = Edition::Compat;

#[test]
fn patterns_are_regular_expressions() {
    let path = |path: &str| [("resource.path", json!(path))];
    check(
        COMPAT,
        &[
            ("resources: [{path: '/api/*'}]", &path("/api/a/b"), "permit"),
            ("resources: [{path: '/api/**'}]", &path("/api"), "deny"),
            ("resources: [{path: '/a.b'}]", &path("/axb"), "permit"),
            ("resources: [{path: '/a|/b'}]", &path("/a/x"), "permit"),
            ("resources: [{path: '/a|/b'}]", &path("x/b"), "permit"),
            ("resources: [{path: '*'}]", &path("/a\nb"), "deny"),
            ("resources: [{path: '/a(b'}]", &path("/a(b"), "undecided"),
            ("resources: [{path: '/%61'}]", &path("/a"), "deny"),
            ("resources: [{path: '/a'}]", &path("/x/../a"), "deny"),
            ("resources: [{path: undefined}]", &[("resource.path", json!(null))], "permit"),
            ("resources: [{app: undefined}]", &[("resource.app", json!(null))], "permit"),
            ("subjects: [{role: 'a+'}]", &[("subject.roles", json!(["aaa"]))], "permit"),
            ("subjects: [{role: '*'}]", &[("subject.roles", json!([]))], "deny"),
            ("resources: [{app: 'sh?op'}]", &[("resource.app", json!("sop"))], "permit"),
        ],
    );
}

#[test]
fn what_is_empty_is_not_looked_at() {
    for fields in [
        "subjects: [{}]",
        "subjects: [x]",
        "subjects: [{role: ''}]",
        "subjects: [{id: 0}]",
        "subjects: [{claim: {}}]",
        "subjects: [{claim: x}]",
        "resources: [{owner: self}]",
        "resources: [{path: null}]",
        "actions: [{method: ''}]",
        "conditions: [{}]",
        "conditions: [x]",
        "conditions: [{type: time}]",
        "conditions: [{type: time, after: ''}]",
        "conditions: [{type: time, after: abc}]",
        "conditions: [{type: time, after: '2030-01-01T00:00:00Z'}]",
        "conditions: [{type: time, dayOfWeek: null}]",
        "conditions: [{type: ip}]",
        "conditions: [{type: ip, blocklist: []}]",
        "conditions: [{type: ip, cidr: 10.0.0.0/8}]",
        "conditions: [{type: custom, expression: 'false'}]",
        "conditions: null",
        "extra: 1",
    ] {
        assert_eq!(outcome(COMPAT, &policy(fields), &request(&[])), "permit", "{fields}");
    }
}

#[test]
fn where_the_original_throws_nothing_is_read() {
    for fields in [
        "subjects: null",
        "subjects: x",
        "subjects: [null]",
        "resources: [{path: 5}]",
        "actions: [{method: 5}]",
        "conditions: [null]",
        "conditions: {type: ip}",
        "conditions: [{type: time, after: 10}]",
        "conditions: [{type: time, dayOfWeek: 1}]",
        "conditions: [{type: ip, allowlist: 5}]",
    ] {
        assert_eq!(outcome(COMPAT, &policy(fields), &request(&[])), "refused", "{fields}");
    }
}

#[test]
fn claims_are_coerced_as_javascript_does() {
    let claim = |claims: Json| [("subject.claims", claims)];
    check(
        COMPAT,
        &[
            ("subjects: [{claim: {name: x, value: a, operator: neq}}]", &claim(json!({})), "permit"),
            ("subjects: [{claim: {name: x, value: null}}]", &claim(json!({})), "deny"),
            ("subjects: [{claim: {name: x, value: null}}]", &claim(json!({"x": null})), "permit"),
            ("subjects: [{claim: {name: x}}]", &claim(json!({})), "permit"),
            ("subjects: [{claim: {name: x}}]", &claim(json!({"x": 1})), "deny"),
            ("subjects: [{claim: {name: x, value: [a]}}]", &claim(json!({"x": ["a"]})), "deny"),
            ("subjects: [{claim: {name: x, value: '5', operator: gt}}]", &claim(json!({"x": 6})), "permit"),
            ("subjects: [{claim: {name: x, value: ' 0x10 ', operator: gt}}]", &claim(json!({"x": 17})), "permit"),
            ("subjects: [{claim: {name: x, value: null, operator: gt}}]", &claim(json!({"x": 1})), "permit"),
            ("subjects: [{claim: {name: x, value: abc, operator: lt}}]", &claim(json!({"x": 6})), "deny"),
            ("subjects: [{claim: {name: x, value: 5, operator: gt}}]", &claim(json!({"x": "6"})), "deny"),
            ("subjects: [{claim: {name: x, value: '', operator: contains}}]", &claim(json!({"x": "a"})), "permit"),
            ("subjects: [{claim: {name: x, value: 1.0, operator: contains}}]", &claim(json!({"x": "a1b"})), "permit"),
            ("subjects: [{claim: {name: x, value: a, operator: contains}}]", &claim(json!({"x": ["a"]})), "deny"),
            ("subjects: [{claim: {name: x, value: b, operator: regex}}]", &claim(json!({"x": "abc"})), "permit"),
            ("subjects: [{claim: {name: x, value: 1, operator: regex}}]", &claim(json!({"x": 1})), "deny"),
            ("subjects: [{claim: {name: x, value: a, operator: like}}]", &claim(json!({"x": "a"})), "deny"),
            ("subjects: [{claim: {name: a.b, value: 1}}]", &claim(json!({"a": {"b": 1}})), "deny"),
            ("subjects: [{claim: {name: a.b, value: 1}}]", &claim(json!({"a.b": 1})), "permit"),
        ],
    );
}

#[test]
fn conditions_are_those_of_the_original() {
    let at = |time: &str| [("environment.time", json!(time))];
    check(
        COMPAT,
        &[
            ("conditions: [{type: time, after: '10'}]", &at("2024-06-15T10:00:00Z"), "permit"),
            ("conditions: [{type: time, after: '10'}]", &at("2024-06-15T09:59:59Z"), "deny"),
            ("conditions: [{type: time, before: '10:00'}]", &at("2024-06-15T09:59:59Z"), "permit"),
            ("conditions: [{type: time, after: '25:00'}]", &[], "deny"),
            ("conditions: [{type: time, before: '25:00'}]", &[], "permit"),
            ("conditions: [{type: time, after: '10:00.5'}]", &at("2024-06-15T10:00:59Z"), "deny"),
            ("conditions: [{type: time, after: '22:00', before: '06:00'}]", &at("2024-06-15T23:00:00Z"), "deny"),
            ("conditions: [{type: time, dayOfWeek: []}]", &[], "deny"),
            ("conditions: [{type: time, dayOfWeek: ['6']}]", &[], "deny"),
            ("conditions: [{type: time, dayOfWeek: '56'}]", &[], "permit"),
            ("conditions: [{type: ip, allowlist: []}]", &[], "deny"),
            ("conditions: [{type: ip, allowlist: [192.0.2.0/24]}]", &[], "deny"),
            ("conditions: [{type: ip, allowlist: [unknown]}]", &[("environment.ip", json!("unknown"))], "permit"),
            (
                "conditions: [{type: ip, blocklist: [192.0.2.7]}]",
                &[("environment.ip", json!("::ffff:192.0.2.7"))],
                "permit",
            ),
            ("conditions: [{type: ip, allowlist: [192.0.2.7], blocklist: [192.0.2.7]}]", &[], "deny"),
        ],
    );
}

#[test]
fn incomplete_requests_are_not_permitted() {
    let without = |part: &str, field: &str| {
        let mut request = request(&[]);
        match field {
            "" => request.as_object_mut().unwrap().remove(part),
            field => request[part].as_object_mut().unwrap().remove(field),
        };
        request
    };
    let table = [
        ("subjects: [{role: user}]", "subject", "roles"),
        ("subjects: [{group: staff}]", "subject", "groups"),
        ("subjects: [{id: u}]", "subject", ""),
        ("resources: [{path: undefined}]", "resource", ""),
        ("resources: [{type: doc}]", "resource", ""),
        ("actions: [{method: GET}]", "action", "method"),
        ("actions: [{operation: read}]", "action", ""),
        ("conditions: [{type: time, after: '09:00'}]", "environment", "time"),
        ("conditions: [{type: ip, blocklist: [10.0.0.1]}]", "environment", ""),
    ];
    for (fields, part, field) in table {
        assert_eq!(outcome(COMPAT, &policy(fields), &without(part, field)), "undecided", "{fields}");
    }
    // What no policy looks at may be missing.
    assert_eq!(outcome(COMPAT, &policy("priority: 1"), &json!({})), "permit");
}

/// Policies as `id effect priority condition`, and what the original answers.
#[track_caller]
fn combined(algorithm: &str, policies: &[&str], expected: &Json) {
    let mut text = format!("combiningAlgorithm: {algorithm}\npolicies:\n");
    for policy in policies {
        let mut words = policy.split(' ');
        let (id, effect) = (words.next().unwrap(), words.next().unwrap());
        let priority = words.next().unwrap_or("null");
        let conditions = if words.next().is_some() { "[{type: ip, allowlist: []}]" } else { "[]" };
        text.push_str(&format!(
            "- {{id: {id}, effect: {effect}, priority: {priority}, subjects: [], resources: [], actions: [], \
             conditions: {conditions}, description: {id}!}}\n"
        ));
    }
    assert_eq!(answer(COMPAT, &text, &request(&[])), *expected, "{algorithm} {policies:?}");
}

#[test]
fn combining_is_that_of_the_original() {
    let by = |effect: &str, id: &str| json!({"effect": effect, "reason": format!("{id}!"), "matchedPolicy": id});
    let nothing = |reason: &str| json!({"effect": "deny", "reason": reason});
    combined("deny-overrides", &["p permit 1000", "d deny -1000"], &by("deny", "d"));
    combined("permit-overrides", &["d deny 1000", "p permit -1000"], &by("permit", "p"));
    combined("first-applicable", &["p permit 1", "d deny 2"], &by("deny", "d"));
    combined("first-applicable", &["p permit 1", "d deny 2 never"], &by("permit", "p"));
    combined("first-applicable", &["p permit 5", "d deny '10'"], &by("deny", "d"));
    combined("first-applicable", &["p permit -1", "d deny"], &by("deny", "d"));
    combined("first-applicable", &["a permit 1", "b deny abc", "c deny 2"], &by("permit", "a"));
    combined("deny-overrides", &["p permit 1 never"], &nothing("No permit or deny decision"));
    combined("first-applicable", &["p permit 1 never"], &nothing("No applicable policy"));
    combined("no-such-algorithm", &["p permit 1", "d deny 2"], &by("deny", "d"));
    combined("deny-unless-permit", &["p permit 1", "d deny 2"], &by("deny", "d"));
    combined("deny-overrides", &["a allow", "p permit"], &by("permit", "p"));
    combined("deny-overrides", &["a allow"], &nothing("No permit or deny decision"));
    combined("first-applicable", &["a allow", "d deny"], &by("allow", "a"));
    combined("deny-overrides", &["n null"], &nothing("No permit or deny decision"));
    combined("first-applicable", &["n null"], &json!({"reason": "n!", "matchedPolicy": "n"}));
    combined("deny-overrides", &["p permit", "p deny"], &by("deny", "p"));
}

#[test]
fn what_the_original_fails_on_counts_only_where_it_gets_there() {
    let claim = |claims: Json| [("subject.claims", claims)];
    check(
        COMPAT,
        &[
            ("subjects: [{claim: {name: s, operator: regex, value: '('}}]", &claim(json!({})), "deny"),
            ("subjects: [{claim: {name: s, operator: regex, value: '('}}]", &claim(json!({"s": 5})), "deny"),
            ("subjects: [{claim: {name: s, operator: regex, value: '('}}]", &claim(json!({"s": "x"})), "undecided"),
            ("subjects: [{role: zz}]\n  resources: [{path: '/a(b'}]", &claim(json!({})), "deny"),
            ("resources: [{path: '/a(b'}]", &claim(json!({})), "undecided"),
            ("subjects: [{claim: {name: constructor}}]", &claim(json!({})), "deny"),
            ("subjects: [{claim: {name: toString, operator: neq}}]", &claim(json!({})), "permit"),
        ],
    );
    let two = "combiningAlgorithm: first-applicable\npolicies:\n\
        - {id: a, effect: permit, subjects: [], resources: [], actions: []}\n\
        - {id: b, effect: permit, subjects: [], resources: [{path: '/a(b'}], actions: []}\n";
    assert_eq!(outcome(COMPAT, two, &request(&[])), "permit");
    assert_eq!(outcome(COMPAT, &two.replace("first-applicable", "deny-overrides"), &request(&[])), "undecided");
}

#[test]
fn the_word_for_nothing_says_nothing() {
    let policies = |algorithm: &str| {
        format!(
            "combiningAlgorithm: {algorithm}\npolicies:\n\
             - {{id: a, effect: not_applicable, subjects: [], resources: [], actions: []}}\n\
             - {{id: b, effect: permit, subjects: [], resources: [], actions: []}}\n"
        )
    };
    for algorithm in ["first-applicable", "deny-overrides"] {
        assert_eq!(outcome(COMPAT, &policies(algorithm), &request(&[])), "permit");
    }
    let alone = "- {id: a, effect: not_applicable, subjects: [], resources: [], actions: []}";
    assert_eq!(outcome(COMPAT, alone, &request(&[])), "deny");
}

#[test]
fn a_request_without_roles_is_never_permitted_where_the_original_fails() {
    let text = "- {id: a, effect: permit, subjects: [], resources: [], actions: []}\n\
                - {id: b, effect: permit, subjects: [{role: x}], resources: [], actions: []}";
    assert_eq!(
        outcome(COMPAT, text, &json!({"subject": {"id": "u"}, "resource": {"path": "/"}, "action": {"method": "GET"}})),
        "undecided"
    );
    let either = "- {id: a, effect: permit, subjects: [{role: admin}, {id: u}], resources: [], actions: []}";
    assert_eq!(
        outcome(
            COMPAT,
            either,
            &json!({"subject": {"id": "u"}, "resource": {"path": "/"}, "action": {"method": "GET"}})
        ),
        "undecided"
    );
}

#[test]
fn the_directory_counts_as_in_every_other_edition() {
    let text = "
kind: Directory
subjects:
- {type: user, id: eve, properties: {suspended: true, roles: [editor], groups: []}}
- {type: user, id: bob, properties: {roles: [editor]}}
resources: [{type: page, id: home, properties: {path: /files/home, app: shop}}]
actions: [{name: fetch, properties: {method: GET}}]
roles: [{name: editor, contains: [reader]}]
---
combiningAlgorithm: deny-overrides
policies:
- {id: readers, effect: permit, subjects: [{role: reader}], resources: [{path: '/files/*'}], actions: [{method: GET}]}
- {id: not-suspended, effect: deny, subjects: [{claim: {name: suspended, value: true}}], resources: [], actions: []}
";
    let asked =
        |id: &str, resource: Json, action: Json| json!({"subject": {"id": id}, "resource": resource, "action": action});
    let (file, get) = (json!({"path": "/files/a"}), json!({"method": "GET"}));
    // Somebody who is suspended stays out, and roles are known that the request does not list.
    assert_eq!(outcome(COMPAT, text, &asked("eve", file.clone(), get.clone())), "deny");
    assert_eq!(outcome(COMPAT, text, &asked("bob", file.clone(), get.clone())), "permit");
    assert_eq!(
        outcome(COMPAT, text, &asked("ann", file, get.clone())),
        "undecided",
        "the original fails without roles"
    );
    // Paths and methods are filled in where the original would have nothing.
    let home = json!({"type": "page", "id": "home"});
    assert_eq!(outcome(COMPAT, text, &asked("bob", home.clone(), get)), "permit");
    assert_eq!(outcome(COMPAT, text, &asked("bob", home.clone(), json!({"operation": "fetch"}))), "permit");
    // What a request says wins.
    let elsewhere = json!({"type": "page", "id": "home", "path": "/other"});
    assert_eq!(outcome(COMPAT, text, &asked("bob", elsewhere, json!({"operation": "fetch"}))), "deny");
    let nobody =
        json!({"subject": {"id": "bob", "roles": [], "groups": []}, "resource": home, "action": {"method": "GET"}});
    assert_eq!(outcome(COMPAT, text, &nobody), "permit", "an empty list says nothing, as in the strict edition");
}
