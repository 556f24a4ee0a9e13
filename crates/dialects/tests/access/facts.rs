//! Facts that are absent, unknown or of another type, as docs/access.md has them.

use upheld_dialects::access::{Edition, request};
use upheld_engine::decide::Outcome;
use upheld_engine::{Scratch, Silent, ask};
use upheld_loader::load::load;
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostics, SourceId};
use upheld_syntax::parse;

/// What becomes of a request with these claims where a claim alone decides; everything else is denied.
fn outcome(matcher: &str, claims: &str) -> Outcome {
    let policy = format!("- {{id: p, effect: permit, subjects: [{matcher}], resources: [], actions: []}}\n");
    answer(&policy, &format!("{{subject: {{claims: {claims}}}}}"))
}

/// What becomes of a request under a policy.
fn answer(policy: &str, asked: &str) -> Outcome {
    let loaded = load(vec![Input::text("p.yaml", Format::Yaml, policy)], &["access/strict"]);
    let loaded = loaded.unwrap_or_else(|broken| panic!("{:#?}", broken.diagnostics));
    let (parsed, _) = parse("request.yaml", Format::Yaml, asked.to_owned(), SourceId::new(0));
    let document = parsed.tree.documents().next().expect("a document");
    let mut found = Diagnostics::default();
    let request = request::read_asked(SourceId::new(0), document, Edition::Strict, &mut found).expect("a request");
    let (_, decide) = loaded.snapshot.decides().next().expect("policies");
    ask(decide, &&request, &mut Scratch::default(), &mut Silent).outcome
}

const FITS: Outcome = Outcome::Permit;
const DOES_NOT_FIT: Outcome = Outcome::Deny;
const UNKNOWN: Outcome = Outcome::Undecided;

#[test]
fn operators_over_absent_unknown_and_mistyped_claims() {
    let table = [
        ("value: a", [DOES_NOT_FIT, UNKNOWN, DOES_NOT_FIT]),
        ("operator: in, value: [a, b]", [DOES_NOT_FIT, UNKNOWN, DOES_NOT_FIT]),
        ("operator: neq, value: a", [UNKNOWN, UNKNOWN, FITS]),
        ("operator: nin, value: [a, b]", [UNKNOWN, UNKNOWN, FITS]),
        ("operator: neq, value: a, absent: true", [FITS, UNKNOWN, FITS]),
        ("operator: gt, value: 5", [UNKNOWN; 3]),
        ("operator: lte, value: 5", [UNKNOWN; 3]),
        ("operator: contains, value: a", [UNKNOWN; 3]),
        ("operator: containsAny, value: [a, b]", [UNKNOWN; 3]),
        ("operator: startsWith, value: a", [UNKNOWN; 3]),
        ("operator: endsWith, value: a", [UNKNOWN; 3]),
        ("operator: regex, value: a", [UNKNOWN; 3]),
        ("operator: cidr, value: 10.0.0.0/8", [UNKNOWN; 3]),
        ("operator: exists", [DOES_NOT_FIT, UNKNOWN, FITS]),
        ("operator: absent", [FITS, UNKNOWN, DOES_NOT_FIT]),
    ];
    for (operator, expected) in table {
        let matcher = format!("{{claim: {{name: c, {operator}}}}}");
        // A boolean is neither text nor number nor list.
        for (claims, expected) in ["{}", "{c: '?'}", "{c: true}"].iter().zip(expected) {
            assert_eq!(outcome(&matcher, claims), expected, "{operator} over {claims}");
        }
    }
}

#[test]
fn within_not_an_absent_claim_is_unknown_unless_it_may_be_absent() {
    assert_eq!(outcome("{not: {claim: {name: c, value: a}}}", "{}"), UNKNOWN);
    assert_eq!(outcome("{not: {claim: {name: c, value: a, absent: true}}}", "{}"), FITS);
    assert_eq!(outcome("{not: {claim: {name: c, value: a}}}", "{c: b}"), FITS);
    assert_eq!(outcome("{not: {claim: {name: c, value: a}}}", "{c: a}"), DOES_NOT_FIT);
}

#[test]
fn dots_lead_into_maps_and_quotes_keep_them() {
    let country = "{claim: {name: address.country, value: de}}";
    assert_eq!(outcome(country, "{address: {country: de}}"), FITS);
    assert_eq!(outcome(country, "{address.country: de}"), FITS);
    assert_eq!(outcome(country, "{address.country: fr, address: {country: de}}"), DOES_NOT_FIT);
    assert_eq!(outcome("{claim: {name: '\"a.b\".c', value: 1}}", "{a.b: {c: 1}}"), FITS);
}

#[test]
fn parts_say_nothing_where_the_whole_name_may_be_there() {
    let country = "{claim: {name: address.country, value: de}}";
    assert_eq!(outcome(country, "{address.country: '?', address: {country: de}}"), UNKNOWN);
    assert_eq!(outcome(country, "{'*': '?', address: {country: de}}"), UNKNOWN);
    assert_eq!(outcome(country, "{'*': '?', address.country: de}"), FITS);
}

#[test]
fn within_not_an_absent_id_or_owner_is_unknown() {
    let others = "- {id: p, effect: permit, subjects: [], resources: [{not: {owner: self}}], actions: []}\n";
    let asked = |asked: &str| answer(others, asked);
    assert_eq!(asked("{subject: {id: ann}, resource: {owner: bob}}"), FITS);
    assert_eq!(asked("{subject: {id: bob}, resource: {owner: bob}}"), DOES_NOT_FIT);
    assert_eq!(asked("{resource: {owner: bob}}"), UNKNOWN);
    assert_eq!(asked("{subject: {id: ann}}"), UNKNOWN);
    assert_eq!(outcome("{not: {id: ann}}", "{}"), UNKNOWN);
}

#[test]
fn roles_that_are_known_count_where_there_may_be_others() {
    let denied = "- {id: no-interns, effect: deny, subjects: [{role: intern}], resources: [], actions: []}\n\
        - {id: all, effect: permit, subjects: [], resources: [], actions: []}\n";
    let asked = |roles: &str| answer(denied, &format!("{{subject: {{roles: {roles}}}}}"));
    assert_eq!(asked("[intern, '?']"), Outcome::Deny);
    assert_eq!(asked("[editor, '?']"), UNKNOWN);
    assert_eq!(asked("[editor]"), Outcome::Permit);
}

#[test]
fn values_are_not_converted() {
    assert_eq!(outcome("{claim: {name: c, value: 5}}", "{c: 5}"), FITS);
    assert_eq!(outcome("{claim: {name: c, value: 5}}", "{c: '5'}"), DOES_NOT_FIT);
}
