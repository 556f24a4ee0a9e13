//! Parts of policies that no request can meet: refused where something would be let in because of them.

use serde_json::{Value as Json, json};
use upheld_dialects::access::Edition;
use upheld_dialects::access::claim::STORED;
use upheld_loader::load::{Choices, Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::{Fault, Severity};

use crate::world::{decided, policy, read, request};

/// A resource that never matches, and words that the repair has.
const NEVER: [(&str, &str); 19] = [
    ("{host: 'admin.example.com:8443'}", "`admin.example.com`"),
    ("{host: 'https://admin.example.com'}", "`admin.example.com`"),
    ("{host: 'admin.example.com/x'}", "`admin.example.com`"),
    ("{host: '*.internal.example'}", "operator: endsWith, value: .internal.example"),
    ("{host: [a.example, '^b$']}", "name each host"),
    ("{path: '/admin/:id'}", "`/admin/*`"),
    ("{path: '/:x'}", "`/*`"),
    ("{path: '/<id>'}", "`/*`"),
    ("{path: '/(a|b)/x'}", "`/a/x`, `/b/x`"),
    ("{header: {name: 'x a', value: b}}", "names of headers"),
    ("{header: {name: 'x(y)', value: b}}", "names of headers"),
    ("{header: {name: 'x-*', operator: exists}}", "names of headers"),
    ("{property: {name: Host, value: a.example}}", "`host`"),
    ("{property: {name: Headers.x, value: b}}", "`headers`"),
    ("{property: {name: owenr, value: ann}}", "`owner`"),
    ("{property: {name: host, value: 'a.example:80'}}", "`a.example`"),
    ("{property: {name: host, operator: endsWith, value: '.example:80'}}", "whole labels"),
    ("{property: {name: host, operator: startsWith, value: 'https://'}}", "whole labels"),
    ("{property: {name: host, operator: contains, value: 'ü'}}", "whole labels"),
];

fn rule(effect: &str, resource: &str) -> String {
    format!("- {{id: p, effect: {effect}, subjects: [], resources: [{resource}], actions: []}}")
}

fn loaded(text: &str) -> Result<Loaded, Vec<(Severity, Fault, String, String)>> {
    load(vec![Input::text("p.yaml", Format::Yaml, text)], &[Edition::Strict.name()]).map_err(|broken| {
        let all = broken.diagnostics.into_iter();
        all.map(|one| (one.severity, one.fault, one.message, one.help.join(" "))).collect()
    })
}

#[test]
fn a_part_that_never_matches_is_refused_in_denies_and_within_not() {
    for (resource, repair) in NEVER {
        let not = format!("{{type: x, not: {resource}}}");
        for text in [rule("deny", resource), rule("deny", &not), rule("permit", &not)] {
            let found = loaded(&text).map(|_| ()).unwrap_err();
            let wanted = |(severity, fault, _, help): &(Severity, Fault, String, String)| {
                (*severity, *fault) == (Severity::Error, Fault::ImpossibleMatch) && help.contains(repair)
            };
            assert!(found.iter().any(wanted), "{text}: {found:?}");
        }
    }
}

#[test]
fn a_permit_that_never_matches_is_warned_about() {
    for (resource, repair) in NEVER {
        let read = loaded(&rule("permit", resource)).unwrap_or_else(|found| panic!("{resource}: {found:?}"));
        let help = |help: &String| help.contains(repair);
        assert!(read.warnings.as_slice().iter().any(|warning| warning.help.iter().any(help)), "{resource}");
    }
}

#[test]
fn a_permit_that_a_value_never_met_would_open_is_refused() {
    for property in [
        "{name: host, operator: neq, value: 'a.example:80'}",
        "{name: host, operator: nin, value: [b.example, '*.example']}",
        "{name: Host, operator: absent}",
        "{name: Host, operator: neq, value: a.example, absent: true}",
    ] {
        assert!(loaded(&rule("permit", &format!("{{property: {property}}}"))).is_err(), "{property}");
    }
}

#[test]
fn the_target_of_a_set_that_never_matches_is_refused() {
    let set = |host: &str| {
        format!(
            "kind: PolicySet\nid: s\nalgorithm: deny-overrides\ntarget: {{resources: [{{host: '{host}'}}]}}\npolicies: []\n"
        )
    };
    assert!(loaded(&set("a.example:80")).is_err());
    assert!(loaded(&set("a.example")).is_ok());
}

#[test]
fn stars_and_expressions_in_names_that_are_open_are_warned_about() {
    let told = |text: &str| -> Vec<(Severity, String)> {
        let read = loaded(text).unwrap_or_else(|found| panic!("{text}: {found:?}"));
        let all = read.warnings.as_slice().iter();
        all.map(|warning| (warning.severity, warning.message.clone())).collect()
    };
    for role in ["^admin$", "admin.*", "(a|b)", "admin[0-9]", r"ops-\d"] {
        for effect in ["permit", "deny"] {
            let text = format!(
                "- {{id: p, effect: {effect}, subjects: [{{role: '{role}'}}], resources: [{{path: /x}}], actions: []}}"
            );
            let warned = told(&text);
            assert!(
                matches!(warned.as_slice(), [(Severity::Warning, message)] if message.contains(role)),
                "{warned:?}"
            );
        }
    }
    for resource in ["{type: 'doc*'}", "{id: '*'}"] {
        assert_eq!(told(&rule("deny", resource)).len(), 1, "{resource}");
        assert_eq!(told(&rule("permit", resource)), [], "{resource}: a permit that matches nothing opens nothing");
    }
    for role in ["admin", "admin*", "workspace-manager@x/y", "a.b"] {
        let text = format!(
            "- {{id: p, effect: deny, subjects: [{{role: '{role}'}}], resources: [{{path: /x}}], actions: []}}"
        );
        assert_eq!(told(&text), [], "{role}");
    }
}

/// What a request for a host gets where one is denied and everything else is permitted.
fn with_host(denied: &str, asked: Json) -> &'static str {
    let text = format!(
        "policies:\n- {{id: all, effect: permit, subjects: [], resources: [], actions: []}}\n- {{id: d, effect: deny, subjects: [], resources: [{denied}], actions: []}}\n"
    );
    let read = read(Edition::Strict, &text).unwrap();
    decided(Edition::Strict, &read, &request(&[("resource.host", asked)])).outcome.word()
}

#[test]
fn a_denied_host_is_met_however_both_are_written() {
    for (denied, asked) in [
        ("bücher.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "BÜCHER.example:443"),
        ("Admin.Example.com.", "admin.example.com:8443"),
        ("'::1'", "[::1]:8443"),
        ("'[0:0::1]'", "::1"),
        ("192.0.2.7", "::ffff:192.0.2.7"),
    ] {
        assert_eq!(with_host(&format!("{{host: {denied}}}"), json!(asked)), "deny", "{denied} {asked}");
        assert_eq!(
            with_host(&format!("{{property: {{name: host, value: {denied}}}}}"), json!(asked)),
            "deny",
            "{asked}"
        );
    }
    assert_eq!(with_host("{host: a.example}", json!("b.example")), "permit");
    for (operator, value) in [
        ("endsWith", ".A.Example"),
        ("endsWith", ".bücher.example"),
        ("startsWith", "bücher."),
        ("contains", ".bücher."),
        ("containsAny", "[x., '.bücher.']"),
    ] {
        let property = format!("{{property: {{name: host, operator: {operator}, value: {value}}}}}");
        for asked in ["b.a.example", "bücher.shop", "x.bücher.example", "c.example"] {
            let is_met = match operator {
                "endsWith" => asked.ends_with(&value.to_lowercase()),
                "startsWith" => asked.starts_with(value),
                _ => asked.contains(".bücher."),
            };
            let expected = if is_met { "deny" } else { "permit" };
            assert_eq!(with_host(&property, json!(asked)), expected, "{property} {asked}");
        }
    }
}

#[test]
fn a_host_of_a_request_that_is_none_is_unknown() {
    for asked in ["https://a.example", "a.example/x", "*.example", "a@b", "127.1", ""] {
        assert_eq!(with_host("{host: c.example}", json!(asked)), "undecided", "{asked}");
    }
}

#[test]
fn a_header_in_capital_letters_is_met() {
    for resource in ["{property: {name: headers.X-A, value: b}}", "{header: {name: X-A, value: b}}"] {
        let text = policy(&format!("resources: [{resource}]"));
        let read = read(Edition::Strict, &text).unwrap();
        let asked = request(&[("resource.headers", json!({"x-A": "b"}))]);
        assert_eq!(decided(Edition::Strict, &read, &asked).outcome.word(), "permit", "{resource}");
    }
}

#[test]
fn a_time_that_ends_before_it_begins_is_refused() {
    let of =
        |from: &str, until: &str| policy(&format!("conditions: [{{type: time, from: '{from}', until: '{until}'}}]"));
    let (early, late) = ("2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z");
    assert!(read(Edition::Strict, &of(early, late)).is_ok());
    for text in [of(late, early), of(early, early)] {
        let errors = read(Edition::Strict, &text).map(|_| ()).unwrap_err();
        assert!(errors.iter().any(|error| error.ends_with("is never")), "{errors:?}");
    }
}

#[test]
fn a_time_beyond_all_that_can_be_told_is_an_open_end() {
    for until in ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999+02:00", "2300-01-01T00:00:00Z"] {
        for fields in [
            format!("valid: {{from: '1500-01-01T00:00:00Z', until: '{until}'}}"),
            format!("conditions: [{{type: time, from: '0001-01-01T00:00:00Z', until: '{until}'}}]"),
            format!("conditions: [{{type: time, before: '{until}'}}]"),
        ] {
            let read = read(Edition::Strict, &policy(&fields)).unwrap_or_else(|found| panic!("{fields}: {found:?}"));
            assert_eq!(decided(Edition::Strict, &read, &request(&[])).outcome.word(), "permit", "{fields}");
        }
    }
    for bad in ["9999-12-32T00:00:00Z", "9999-12-31", "9999-12-31T23:59:59", "2025-13-01T00:00:00Z", "later"] {
        assert!(read(Edition::Strict, &policy(&format!("valid: {{until: '{bad}'}}"))).is_err(), "{bad}");
    }
}

#[test]
fn a_document_that_a_store_holds_loads_with_a_warning_and_decides_as_it_did() {
    let stored = |document: Json| {
        let input = Input::text(format!("{STORED}AccessPolicy/access/p"), Format::Json, document.to_string());
        Choices::of_semantics(&[Edition::Strict.name()]).load_for_store(Vec::new(), vec![input])
    };
    let deny =
        json!({"id": "p", "effect": "deny", "subjects": [], "resources": [{"host": "a.example:80"}], "actions": []});
    let kept = stored(deny).unwrap_or_else(|broken| panic!("{:?}", broken.diagnostics));
    let warnings = kept.warnings.as_slice();
    assert!(warnings.iter().any(|warning| warning.fault == Fault::ImpossibleMatch), "{warnings:?}");
    assert_eq!(kept.snapshot.policies().len(), 1);
    let window = json!([{"type": "time", "from": "2026-01-01T00:00:00Z", "until": "2025-01-01T00:00:00Z"}]);
    let never =
        json!({"id": "p", "effect": "permit", "subjects": [], "resources": [], "actions": [], "conditions": window});
    assert!(stored(never).is_ok());
    let manifest = "excludePaths: ['/admin/:id', /health]";
    let of = |name: &str| vec![Input::text(name, Format::Yaml, manifest)];
    let choices = || Choices::of_semantics(&[Edition::Strict.name()]);
    assert!(choices().load_for_store(of("manifest.yaml"), Vec::new()).is_err());
    assert!(choices().load_for_store(Vec::new(), of(&format!("{STORED}AccessManifest/access/manifest"))).is_ok());
    let broken =
        json!({"id": "p", "effect": "deny", "subjects": [], "resources": [{"hsot": "a.example"}], "actions": []});
    assert!(stored(broken).is_err(), "what was an error before is one");
}
