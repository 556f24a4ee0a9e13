//! What is refused when policies are read strictly, each with its place.

use upheld_dialects::access::Edition;

use crate::world::{policy, read};

#[track_caller]
fn refused(fields: &str) {
    assert!(read(Edition::Strict, &policy(fields)).is_err(), "{fields}");
}

#[track_caller]
fn accepted(fields: &str) {
    let read = read(Edition::Strict, &policy(fields));
    assert!(read.is_ok(), "{fields}: {:?}", read.err());
}

#[test]
fn nothing_may_ask_for_nothing() {
    for clause in ["subjects", "resources", "actions"] {
        refused(&format!("{clause}: [{{}}]"));
        refused(&format!("{clause}: [{{not: {{}}}}]"));
        refused(&format!("{clause}: [null]"));
        refused(&format!("{clause}: [x]"));
    }
    for field in ["id", "role", "group"] {
        refused(&format!("subjects: [{{{field}: ''}}]"));
        refused(&format!("subjects: [{{{field}: []}}]"));
        refused(&format!("subjects: [{{{field}: ['']}}]"));
        refused(&format!("subjects: [{{{field}: null}}]"));
        refused(&format!("subjects: [{{type: user, not: {{{field}: []}}}}]"));
    }
    for field in ["app", "path", "type", "owner"] {
        refused(&format!("resources: [{{{field}: ''}}]"));
    }
    refused("resources: [{app: shop, path: []}]");
    refused("actions: [{method: ''}]");
    refused("actions: [{operation: ''}]");
}

#[test]
fn claims_need_what_their_operator_compares() {
    for claim in [
        "{}",
        "{name: ''}",
        "{name: x}",
        "{name: x, value: null}",
        "{name: x, value: [a]}",
        "{name: x, operator: like, value: a}",
        "{name: x, operator: gt, value: '5'}",
        "{name: x, operator: lt, value: true}",
        "{name: x, operator: contains, value: ''}",
        "{name: x, operator: regex, value: '('}",
        "{name: x, operator: regex, value: 5}",
        "{name: x, operator: startsWith, value: 5}",
        "{name: x, operator: in, value: a}",
        "{name: x, operator: in, value: []}",
        "{name: x, operator: cidr, value: []}",
        "{name: x, operator: cidr, value: here}",
        "{name: x, operator: exists, value: a}",
        "{name: x, value: a, absent: true}",
        "{name: x, value: a, extra: 1}",
        "x",
    ] {
        refused(&format!("subjects: [{{claim: {claim}}}]"));
        refused(&format!("subjects: [{{role: user, claim: {claim}}}]"));
    }
    accepted("subjects: [{claim: {name: x, value: ''}}]");
    accepted("subjects: [{claim: {name: x, value: false}}]");
}

#[test]
fn conditions_need_content() {
    for condition in [
        "{}",
        "{type: day}",
        "{type: time}",
        "{type: time, after: ''}",
        "{type: time, after: abc}",
        "{type: time, after: '25:00'}",
        "{type: time, after: '10:60'}",
        "{type: time, after: 10}",
        "{type: time, dayOfWeek: []}",
        "{type: time, dayOfWeek: [7]}",
        "{type: time, dayOfWeek: [-1]}",
        "{type: time, dayOfWeek: [1.5]}",
        "{type: time, dayOfWeek: 1}",
        "{type: time, after: '10:00', timezone: Mars/Base}",
        "{type: time, after: '10:00', cidr: 10.0.0.0/8}",
        "{type: time, from: '2024-01-01T00:00:00Z', after: '2023-01-01T00:00:00Z'}",
        "{type: ip}",
        "{type: ip, allowlist: []}",
        "{type: ip, blocklist: []}",
        "{type: ip, allowlist: [10.0.0.1], blocklist: []}",
        "{type: ip, allowlist: [10.0.0]}",
        "{type: ip, allowlist: ['']}",
        "{type: ip, cidr: 10.0.0.0/33}",
        "{type: ip, cidr: ''}",
        "{type: custom}",
        "{type: custom, expression: ''}",
        "x",
        "null",
    ] {
        refused(&format!("conditions: [{condition}]"));
    }
    refused("conditions: {type: ip, cidr: 10.0.0.0/8}");
    refused("valid: {}");
    accepted("conditions: []");
}

#[test]
fn patterns_are_bounded() {
    refused(r"resources: [{path: '/a\b'}]");
    refused(r"resources: [{path: '/a\'}]");
    refused(&format!("resources: [{{path: '{}'}}]", "*/".repeat(17)));
    refused(&format!("resources: [{{path: '/{}'}}]", "a".repeat(1024)));
    refused(&format!("subjects: [{{role: '{}'}}]", "*a".repeat(17)));
    accepted(&format!("resources: [{{path: '{}'}}]", "*/".repeat(16)));
    accepted(r"subjects: [{role: 'a\b'}]");
}

#[test]
fn policies_have_the_fields_of_policies() {
    for fields in ["priority: '9'", "priority: .inf", "priority: 9007199254740994", "extra: 1", "enabled: 'no'"] {
        refused(fields);
    }
    refused("actions: [{method: 'G*'}]");
    refused("actions: [{method: 'GET POST'}]");
    refused("actions: [{methods: GET}]");
    refused("subjects: x");
    refused("subjects: null");
    accepted("priority: -9007199254740992");
    accepted("priority: null");
    accepted("priority: 1.25");
    let body = "subjects: [], resources: [], actions: []";
    for broken in [
        "policies: [{effect: permit, BODY}]",
        "policies: [{id: '', effect: permit, BODY}]",
        "policies: [{id: 5, effect: permit, BODY}]",
        "policies: [{id: -x, effect: permit, BODY}]",
        "policies: [{id: p, BODY}]",
        "policies: [{id: p, effect: allow, BODY}]",
        "policies: [{id: p, effect: Permit, BODY}]",
        "policies: [{id: p, effect: permit, BODY}, {id: p, effect: deny, BODY}]",
        "policies: [{id: p, effect: permit, subjects: [], resources: []}]",
        "combiningAlgorithm: first",
        "defaultEffect: allow",
        "excludePaths: ['.*\\.js$']",
    ] {
        let text = format!("name: plugin\npolicySeed: {{}}\n{}\n", broken.replace("BODY", body));
        assert!(read(Edition::Strict, &text).is_err(), "{broken}");
    }
}

/// Written in the language of another system: nothing would ever match them.
const NO_PATHS: [(&str, &str); 5] = [
    ("admin/**", "/admin/**"),
    ("/my%20files/**", "/my files/**"),
    ("/a/../b", "/b"),
    ("/users/{id}/keys", "/users/*/keys"),
    ("/api/v[0-9]+/.*", "/api/v*/**"),
];

#[test]
fn patterns_that_match_no_path_are_refused_where_they_would_open_something() {
    for (pattern, meant) in NO_PATHS {
        let with = |effect: &str, resource: &str| {
            let text = format!("- {{id: p, effect: {effect}, subjects: [], resources: [{resource}], actions: []}}");
            upheld_loader::load::load(
                vec![upheld_loader::Input::text("p.yaml", upheld_loader::Format::Yaml, text)],
                &[Edition::Strict.name()],
            )
        };
        let plain = format!("{{path: '{pattern}'}}");
        let negated = format!("{{path: /x/**, not: {{path: '{pattern}'}}}}");
        for (effect, resource) in [("deny", &plain), ("permit", &negated), ("deny", &negated)] {
            let broken = with(effect, resource).map(|_| ()).unwrap_err();
            let problem = broken.diagnostics.as_slice().first().unwrap();
            assert!(problem.message.contains("matches no path"), "{pattern}: {}", problem.message);
            assert!(
                problem.help.iter().any(|help| help.contains(&format!("`{meant}`"))),
                "{pattern}: {:?}",
                problem.help
            );
        }
        // A permit that matches nothing opens nothing.
        assert!(with("permit", &plain).is_ok(), "{pattern}");
        let errors = read(Edition::Strict, &format!("excludePaths: ['{pattern}']\n")).map(|_| ()).unwrap_err();
        assert!(errors.iter().any(|error| error.contains("excludes nothing")), "{pattern}: {errors:?}");
    }
}
