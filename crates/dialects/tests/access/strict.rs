//! What policies mean when they are read strictly.

use serde_json::{Value as Json, json};
use upheld_dialects::access::Edition;

use crate::world::{answer, check, outcome, policy, request};

const STRICT: Edition = Edition::Strict;

#[test]
fn paths_are_patterns_of_segments() {
    let table = [
        ("/api/*", "/api/users", true),
        ("/api/*", "/api/users/7", false),
        ("/api/*", "/api/", true),
        ("/api/*", "/api", false),
        ("/api/**", "/api/users/7", true),
        ("/api/**", "/api", false),
        ("/**/x", "/x", false),
        ("/**/x", "/a/b/x", true),
        ("/a/**/z", "/a/z", false),
        ("/a/**/z", "/a/x/z", true),
        ("/a**z", "/a/b/z", true),
        ("/a***z", "/a/b/z", true),
        ("/a/**.js", "/a/b/c.js", true),
        ("/a/**.js", "/a/b/c.css", false),
        ("*", "/a/b", true),
        ("/*", "/a/b", false),
        ("/v?/x", "/v1/x", true),
        ("/v?/x", "/v12/x", false),
        ("/v?x", "/v/x", false),
        ("/a?*", "/ab", true),
        ("/a?*", "/a", false),
        ("/a.b", "/axb", false),
        ("/{id}", "/{id}", true),
        ("/[ab]", "/a", false),
        ("/a|/b", "/a", false),
        (r"/\*", "/*", true),
        (r"/\*", "/a", false),
        (r"/\?", "/a", false),
        ("/A", "/a", false),
        ("/é?", "/éé", true),
    ];
    for (pattern, path, covers) in table {
        let fields = format!("resources: [{{path: '{pattern}'}}]");
        let expected = if covers { "permit" } else { "deny" };
        assert_eq!(
            outcome(STRICT, &policy(&fields), &request(&[("resource.path", json!(path))])),
            expected,
            "{pattern} {path}"
        );
    }
}

#[test]
fn paths_are_matched_in_every_way_in_which_they_are_read() {
    let admin = "resources: [{path: '/admin/**'}]";
    check(
        STRICT,
        &[
            (admin, &[("resource.path", json!("/public/../admin/x"))], "undecided"),
            (admin, &[("resource.path", json!("/admin/./x"))], "permit"),
            (admin, &[("resource.path", json!("/admin/x?y=/../z"))], "permit"),
            (admin, &[("resource.path", json!("/%61dmin/x"))], "permit"),
            (admin, &[("resource.path", json!("/admin%2Fx"))], "permit"),
            (admin, &[("resource.path", json!("/%2561dmin/x"))], "undecided"),
            (admin, &[("resource.path", json!("//admin/x"))], "undecided"),
            (admin, &[("resource.path", json!("/public//x"))], "deny"),
            (admin, &[("resource.path", json!("admin/x"))], "undecided"),
            (admin, &[("resource.path", json!("/admin/%zz"))], "undecided"),
            (admin, &[("resource.path", json!("/admin/%ff"))], "undecided"),
        ],
    );
}

#[test]
fn roles_and_apps_have_stars_and_nothing_else() {
    check(
        STRICT,
        &[
            ("subjects: [{role: 'admin:*'}]", &[("subject.roles", json!(["admin:a:b"]))], "permit"),
            ("subjects: [{role: '*:read'}]", &[("subject.roles", json!(["docs:read"]))], "permit"),
            ("subjects: [{role: 'a*b*c'}]", &[("subject.roles", json!(["a-b-c"]))], "permit"),
            ("subjects: [{role: 'a*b*c'}]", &[("subject.roles", json!(["a-c-b"]))], "deny"),
            ("subjects: [{role: 'a.c'}]", &[("subject.roles", json!(["abc"]))], "deny"),
            ("subjects: [{role: 'a?'}]", &[("subject.roles", json!(["ab"]))], "deny"),
            ("subjects: [{role: '*'}]", &[("subject.roles", json!([]))], "deny"),
            ("subjects: [{role: [x, user]}]", &[], "permit"),
            ("subjects: [{group: 'st*'}]", &[], "deny"),
            ("resources: [{app: 'sh*'}]", &[], "permit"),
            ("resources: [{app: '*'}]", &[("resource.app", json!(""))], "permit"),
            ("resources: [{type: 'd*'}]", &[("resource.type", json!("doc"))], "deny"),
        ],
    );
}

#[test]
fn claims_are_compared_without_coercion() {
    let claim = |claims: serde_json::Value| [("subject.claims", claims)];
    check(
        STRICT,
        &[
            ("subjects: [{claim: {name: x, value: 5}}]", &claim(json!({"x": 5.0})), "permit"),
            ("subjects: [{claim: {name: x, value: 5}}]", &claim(json!({"x": "5"})), "deny"),
            ("subjects: [{claim: {name: x, value: 5}}]", &claim(json!({})), "deny"),
            ("subjects: [{claim: {name: x, value: 1}}]", &claim(json!({"x": true})), "deny"),
            ("subjects: [{claim: {name: x, value: 5, operator: gte}}]", &claim(json!({"x": 5})), "permit"),
            ("subjects: [{claim: {name: x, value: 5, operator: gt}}]", &claim(json!({"x": 5})), "deny"),
            ("subjects: [{claim: {name: x, value: 5, operator: lte}}]", &claim(json!({"x": 5.5})), "deny"),
            ("subjects: [{claim: {name: x, value: 5, operator: gt}}]", &claim(json!({"x": "6"})), "undecided"),
            ("subjects: [{claim: {name: x, value: 5, operator: gt}}]", &claim(json!({})), "undecided"),
            ("subjects: [{claim: {name: x, value: [a, b], operator: in}}]", &claim(json!({"x": "b"})), "permit"),
            ("subjects: [{claim: {name: x, value: [a, b], operator: nin}}]", &claim(json!({"x": "c"})), "permit"),
            ("subjects: [{claim: {name: x, value: [a, b], operator: nin}}]", &claim(json!({})), "undecided"),
            ("subjects: [{claim: {name: x, value: a, operator: neq}}]", &claim(json!({})), "undecided"),
            ("subjects: [{claim: {name: x, value: a, operator: neq, absent: true}}]", &claim(json!({})), "permit"),
            ("subjects: [{claim: {name: x, value: a, operator: contains}}]", &claim(json!({"x": ["a"]})), "permit"),
            ("subjects: [{claim: {name: x, value: a, operator: contains}}]", &claim(json!({"x": "cat"})), "permit"),
            ("subjects: [{claim: {name: x, value: a, operator: contains}}]", &claim(json!({"x": 1})), "undecided"),
            (
                "subjects: [{claim: {name: x, value: [a, b], operator: containsAny}}]",
                &claim(json!({"x": ["b"]})),
                "permit",
            ),
            ("subjects: [{claim: {name: x, value: ca, operator: startsWith}}]", &claim(json!({"x": "cat"})), "permit"),
            ("subjects: [{claim: {name: x, value: at, operator: endsWith}}]", &claim(json!({"x": "cat"})), "permit"),
            ("subjects: [{claim: {name: x, value: '^c.t$', operator: regex}}]", &claim(json!({"x": "cat"})), "permit"),
            ("subjects: [{claim: {name: x, value: a, operator: regex}}]", &claim(json!({"x": "cat"})), "permit"),
            ("subjects: [{claim: {name: x, operator: exists}}]", &claim(json!({"x": null})), "deny"),
            ("subjects: [{claim: {name: x, operator: exists}}]", &claim(json!({})), "deny"),
            ("subjects: [{claim: {name: x, operator: absent}}]", &claim(json!({})), "permit"),
            (
                "subjects: [{claim: {name: x, value: 10.0.0.0/8, operator: cidr}}]",
                &claim(json!({"x": "10.1.2.3"})),
                "permit",
            ),
            (
                "subjects: [{claim: {name: x, value: 10.0.0.0/8, operator: cidr}}]",
                &claim(json!({"x": "here"})),
                "undecided",
            ),
        ],
    );
}

#[test]
fn names_of_claims_may_lead_into_maps() {
    let claim = |claims: serde_json::Value| [("subject.claims", claims)];
    check(
        STRICT,
        &[
            ("subjects: [{claim: {name: a.b, value: 1}}]", &claim(json!({"a": {"b": 1}})), "permit"),
            ("subjects: [{claim: {name: a.b, value: 1}}]", &claim(json!({"a.b": 1})), "permit"),
            ("subjects: [{claim: {name: a.b, value: 1}}]", &claim(json!({"a": 1})), "deny"),
            (r#"subjects: [{claim: {name: '"a.b"', value: 1}}]"#, &claim(json!({"a.b": 1})), "permit"),
            (r#"subjects: [{claim: {name: '"a.b"', value: 1}}]"#, &claim(json!({"a": {"b": 1}})), "deny"),
            (r#"subjects: [{claim: {name: '"a.b".c', value: 1}}]"#, &claim(json!({"a.b": {"c": 1}})), "permit"),
        ],
    );
}

#[test]
fn of_what_is_absent_nobody_knows_that_it_is_something_else() {
    let none = json!(null);
    check(
        STRICT,
        &[
            ("subjects: [{not: {role: admin}}]", &[], "permit"),
            ("subjects: [{not: {role: user}}]", &[], "deny"),
            ("subjects: [{not: {role: admin}}]", &[("subject.roles", json!([]))], "permit"),
            ("subjects: [{not: {id: bob}}]", &[], "permit"),
            ("subjects: [{not: {id: bob}}]", &[("subject.id", none.clone())], "undecided"),
            ("subjects: [{not: {claim: {name: x, value: a}}}]", &[], "undecided"),
            ("subjects: [{not: {claim: {name: x, value: a, absent: true}}}]", &[], "permit"),
            ("subjects: [{not: {claim: {name: x, value: 3, operator: gt, absent: true}}}]", &[], "permit"),
            ("resources: [{not: {type: doc}}]", &[], "undecided"),
            ("resources: [{not: {type: doc}}]", &[("resource.type", json!("page"))], "permit"),
            ("resources: [{not: {owner: self}}]", &[], "undecided"),
            ("resources: [{not: {owner: self}}]", &[("resource.owner", json!("v"))], "permit"),
            ("resources: [{path: /api/*, not: {path: /api/test}}]", &[], "deny"),
            ("actions: [{not: {method: GET}}]", &[], "deny"),
            ("actions: [{not: {operation: read}}]", &[], "undecided"),
        ],
    );
}

#[test]
fn owners_are_subjects() {
    check(
        STRICT,
        &[
            ("resources: [{owner: self}]", &[("resource.owner", json!("u"))], "permit"),
            ("resources: [{owner: self}]", &[("resource.ownerId", json!("u"))], "permit"),
            ("resources: [{owner: self}]", &[("resource.ownerId", json!("v"))], "deny"),
            ("resources: [{owner: self}]", &[], "deny"),
        ],
    );
}

/// Somebody who decodes a path and passes it on makes a query of what follows an escaped `?`.
#[test]
fn an_escaped_question_mark_may_begin_a_query() {
    let asked = request(&[("resource.path", json!("/a%3Fb"))]);
    let both = r"resources: [{path: ['/a\?b', '/a']}]";
    assert_eq!(outcome(STRICT, &policy(r"resources: [{path: '/a\?b'}]"), &asked), "undecided");
    assert_eq!(outcome(STRICT, &policy("resources: [{path: /a}]"), &asked), "undecided");
    assert_eq!(outcome(STRICT, &policy(both), &asked), "permit");
}

#[test]
fn methods_have_no_case_and_operations_do() {
    check(
        STRICT,
        &[
            ("actions: [{method: get}]", &[], "permit"),
            ("actions: [{method: [POST, GET]}]", &[], "permit"),
            ("actions: [{method: PURGE}]", &[("action.method", json!("purge"))], "permit"),
            ("actions: [{method: PURGE}]", &[("action.method", json!("other"))], "deny"),
            ("actions: [{method: '*'}]", &[("action.method", json!("other"))], "permit"),
            ("actions: [{operation: read}]", &[("action.operation", json!("Read"))], "deny"),
            ("actions: [{operation: '*'}]", &[("action.operation", json!("read"))], "deny"),
        ],
    );
}

#[test]
fn windows_go_over_midnight_and_belong_to_the_day_they_begin() {
    let at = |time: &str| [("environment.time", json!(time))];
    let night = "conditions: [{type: time, after: '22:00', before: '06:00', dayOfWeek: [5]}]";
    check(
        STRICT,
        &[
            ("conditions: [{type: time, after: '22:00', before: '06:00'}]", &at("2024-06-15T23:00:00Z"), "permit"),
            ("conditions: [{type: time, after: '22:00', before: '06:00'}]", &at("2024-06-15T05:59:59Z"), "permit"),
            ("conditions: [{type: time, after: '22:00', before: '06:00'}]", &at("2024-06-15T06:00:00Z"), "deny"),
            (night, &at("2024-06-14T22:00:00Z"), "permit"),
            (night, &at("2024-06-15T03:00:00Z"), "permit"),
            (night, &at("2024-06-14T03:00:00Z"), "deny"),
            (night, &at("2024-06-15T22:30:00Z"), "deny"),
            ("conditions: [{type: time, after: '10:00:30'}]", &at("2024-06-15T10:00:29Z"), "deny"),
            ("conditions: [{type: time, after: '10:00:30'}]", &at("2024-06-15T10:00:30Z"), "permit"),
            (
                "conditions: [{type: time, before: '12:00', timezone: America/New_York}]",
                &at("2024-06-15T15:00:00Z"),
                "permit",
            ),
            ("conditions: [{type: time, after: '2024-01-01T00:00:00Z'}]", &at("2024-06-15T10:00:00Z"), "permit"),
            ("conditions: [{type: time, before: '2024-01-01T00:00:00Z'}]", &at("2024-06-15T10:00:00Z"), "deny"),
            ("conditions: [{type: time, after: '2024-06-15T12:00:00+02:00'}]", &at("2024-06-15T10:00:00Z"), "permit"),
            ("conditions: [{type: time, from: '2024-06-16T00:00:00Z'}]", &at("2024-06-15T10:00:00Z"), "deny"),
            ("conditions: [{type: time, after: '09:00'}]", &[("environment.time", json!(null))], "undecided"),
        ],
    );
}

#[test]
fn addresses_are_numbers() {
    let from = |address: &str| [("environment.ip", json!(address))];
    check(
        STRICT,
        &[
            ("conditions: [{type: ip, cidr: 10.0.0.0/8}]", &from("10.9.8.7"), "permit"),
            ("conditions: [{type: ip, cidr: 10.0.0.0/8}]", &from("11.0.0.1"), "deny"),
            ("conditions: [{type: ip, cidr: 10.0.0.0/8}]", &from("::ffff:10.0.0.1"), "permit"),
            ("conditions: [{type: ip, allowlist: ['::ffff:10.0.0.1']}]", &from("10.0.0.1"), "permit"),
            ("conditions: [{type: ip, allowlist: ['::ffff:10.0.0.0/104']}]", &from("10.0.0.1"), "permit"),
            ("conditions: [{type: ip, allowlist: ['2001:db8::/32']}]", &from("2001:DB8:0::1"), "permit"),
            ("conditions: [{type: ip, allowlist: [10.0.0.0/8], blocklist: [10.0.0.1]}]", &from("10.0.0.1"), "deny"),
            ("conditions: [{type: ip, blocklist: [10.0.0.1]}]", &from("10.0.0.2"), "permit"),
            ("conditions: [{type: ip, blocklist: [10.0.0.1]}]", &from("unknown"), "undecided"),
            ("conditions: [{type: ip, blocklist: [10.0.0.1]}]", &[("environment.ip", json!(null))], "undecided"),
        ],
    );
}

#[test]
fn all_fields_of_an_alternative_and_one_alternative_of_a_list() {
    check(
        STRICT,
        &[
            ("subjects: [{role: user, group: staff}]", &[], "permit"),
            ("subjects: [{role: user, group: other}]", &[], "deny"),
            ("subjects: [{role: x}, {group: staff}]", &[], "permit"),
            // True beats an error in a list, and false beats it within an alternative.
            ("subjects: [{claim: {name: x, value: 1, operator: gt}}, {role: user}]", &[], "permit"),
            ("subjects: [{claim: {name: x, value: 1, operator: gt}, role: x}]", &[], "deny"),
            ("subjects: [{claim: {name: x, value: 1, operator: gt}}, {role: x}]", &[], "undecided"),
            ("enabled: false", &[], "deny"),
            ("valid: {from: '2030-01-01T00:00:00Z'}", &[], "deny"),
            ("valid: {until: '2030-01-01T00:00:00Z'}", &[], "permit"),
        ],
    );
}

#[test]
fn errors_do_not_open() {
    let text = |algorithm: &str, default: &str| {
        format!(
            "combiningAlgorithm: {algorithm}\ndefaultEffect: {default}\npolicies:\n\
             - {{id: open, effect: permit, priority: 1, subjects: [], resources: [], actions: []}}\n\
             - {{id: shut, effect: deny, subjects: [{{claim: {{name: x, value: 1, operator: gt}}}}], resources: [], actions: []}}\n"
        )
    };
    let table = [
        ("deny-overrides", "undecided"),
        ("ordered-deny-overrides", "undecided"),
        ("permit-overrides", "permit"),
        ("first-applicable", "permit"),
        ("deny-unless-permit", "permit"),
        ("permit-unless-deny", "permit"),
        ("only-one-applicable", "undecided"),
        ("unanimous", "undecided"),
        ("priority-deny-overrides", "permit"),
    ];
    for (algorithm, expected) in table {
        for default in ["permit", "deny"] {
            assert_eq!(outcome(STRICT, &text(algorithm, default), &request(&[])), expected, "{algorithm}");
        }
    }
}

#[test]
fn the_first_with_the_winning_effect_is_named() {
    let text = "combiningAlgorithm: deny-overrides\npolicies:\n\
        - {id: low, effect: deny, priority: -1, subjects: [], resources: [], actions: [], description: low one}\n\
        - {id: high, effect: deny, priority: 1.5, subjects: [], resources: [], actions: [], description: high one}\n\
        - {id: open, effect: permit, priority: 9, subjects: [], resources: [], actions: []}\n";
    let expected = json!({"effect": "deny", "reason": "high one", "matchedPolicy": "high"});
    assert_eq!(answer(STRICT, text, &request(&[])), expected);
}

#[test]
fn all_lists_of_addresses_must_hold() {
    let from = |ip: &str| [("environment.ip", json!(ip))];
    let both = "conditions: [{type: ip, allowlist: [10.0.0.7, 192.0.2.7], cidr: 10.0.0.0/8, blocklist: [10.0.0.9]}]";
    check(
        STRICT,
        &[
            (both, &from("10.0.0.7"), "permit"),
            (both, &from("192.0.2.7"), "deny"),
            (both, &from("10.0.0.8"), "deny"),
            (both, &from("10.0.0.9"), "deny"),
        ],
    );
}

#[test]
fn roles_contain_others_also_where_groups_are_not_known() {
    let text = "
kind: Directory
subjects: [{type: user, id: eve, properties: {roles: [editor], groups: 5}}]
roles: [{name: editor, contains: [reader]}]
---
{id: all, effect: permit, subjects: [], resources: [], actions: []}
---
{id: no-readers, effect: deny, subjects: [{role: reader}], resources: [], actions: []}
";
    let asked =
        json!({"subject": {"type": "user", "id": "eve"}, "action": {"method": "GET"}, "resource": {"path": "/"}});
    assert_eq!(outcome(STRICT, text, &asked), "deny");
}

#[test]
fn roles_of_a_request_stay_known_where_groups_may_bring_others() {
    let text = "
kind: Directory
subjects:
- {type: user, id: eve, properties: {groups: [staff]}}
- {type: service, id: eve}
groups: [{name: staff, roles: [editor]}]
---
kind: PolicySet
id: open
algorithm: permit-unless-deny
policies: [{id: no-interns, effect: deny, subjects: [{role: intern}], resources: [], actions: []}]
";
    let asked =
        json!({"subject": {"id": "eve", "roles": ["intern"]}, "action": {"method": "GET"}, "resource": {"path": "/"}});
    assert_eq!(outcome(STRICT, text, &asked), "deny");
}

#[test]
fn hosts_of_the_directory_are_written_in_one_way() {
    let text = "
kind: Directory
resources: [{type: site, id: a, properties: {host: 'Intranet.Example:443', headers: {X-Tier: free}}}]
---
{id: all, effect: permit, subjects: [], resources: [], actions: []}
---
{id: not-the-intranet, effect: deny, subjects: [], resources: [{host: intranet.example, header: {name: x-tier, value: free}}], actions: []}
";
    let asked = json!({"action": {"method": "GET"}, "resource": {"type": "site", "id": "a"}});
    assert_eq!(outcome(STRICT, text, &asked), "deny");
}

#[test]
fn the_id_of_a_route_is_its_path() {
    let text = "
{id: all, effect: permit, subjects: [], resources: [], actions: []}
---
{id: no-admin, effect: deny, subjects: [], resources: [{path: '/admin/**'}], actions: []}
";
    let asked = |resource: Json| json!({"action": {"method": "GET"}, "resource": resource});
    assert_eq!(outcome(STRICT, text, &asked(json!({"type": "route", "id": "/admin/x"}))), "deny");
    assert_eq!(outcome(STRICT, text, &asked(json!({"type": "page", "id": "/admin/x"}))), "permit");
    let both = json!({"type": "route", "id": "/admin/x", "path": "/open"});
    assert_eq!(outcome(STRICT, text, &asked(both)), "permit", "what a request says wins");
}
