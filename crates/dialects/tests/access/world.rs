//! Policies and a request in, a word out.

use serde_json::{Value as Json, json};
use upheld_dialects::access::decider::{CompleteRequest, Decider, WhichKind};
use upheld_dialects::access::{Edition, request, view};
use upheld_engine::decide::{Decided, Outcome, Request};
use upheld_engine::{Ruling, Scratch, Silent, ask};
use upheld_loader::load::{Broken, Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostics, Severity, SourceId};

/// The policies of a text in YAML.
pub(crate) fn read(edition: Edition, text: &str) -> Result<Loaded, Vec<String>> {
    load(vec![Input::text("manifest.yaml", Format::Yaml, text)], &[edition.name()]).map_err(|broken| {
        let Broken { diagnostics, .. } = *broken;
        let errors = diagnostics.as_slice().iter().filter(|problem| problem.severity == Severity::Error);
        errors
            .map(|problem| {
                assert!(problem.label.is_some(), "`{}` says not where", problem.message);
                problem.message.clone()
            })
            .collect()
    })
}

/// A request with all that is known of it.
fn complete(edition: Edition, loaded: &Loaded, asked: &Json) -> CompleteRequest {
    let source = SourceId::new(0);
    let (file, _) = upheld_syntax::parse("request", Format::Json, asked.to_string(), source);
    let mut found = Diagnostics::default();
    let document = file.tree.documents().next().unwrap();
    let request = request::read(source, document, edition, &mut found);
    let request = request.unwrap_or_else(|| panic!("{asked}: {:?}", found.as_slice()));
    Decider::of(&loaded.snapshot, WhichKind::Only, edition).unwrap().complete(request, None)
}

/// What a request gets: by the index, and the same without.
pub(crate) fn decided(edition: Edition, loaded: &Loaded, asked: &Json) -> Decided {
    let request: &Request = &complete(edition, loaded, asked);
    let (_, decide) = loaded.snapshot.decides().next().unwrap();
    let decided = ask(decide, &request, &mut Scratch::default(), &mut Silent);
    assert_eq!(decided, Ruling::explain(decide, &request).answer, "with and without the index");
    decided
}

/// `permit`, `deny`, `undecided`, or `refused` where the policies are.
pub(crate) fn outcome(edition: Edition, text: &str, asked: &Json) -> &'static str {
    match read(edition, text) {
        Ok(loaded) => decided(edition, &loaded, asked).outcome.word(),
        Err(_) => "refused",
    }
}

/// The answer in the shape of the original.
pub(crate) fn answer(edition: Edition, text: &str, asked: &Json) -> Json {
    let loaded = read(edition, text).unwrap();
    assert_ne!(decided(edition, &loaded, asked).outcome, Outcome::Undecided);
    let decider = Decider::of(&loaded.snapshot, WhichKind::Only, edition).unwrap();
    let decision = decider.decision(&complete(edition, &loaded, asked), &mut Scratch::default());
    view::decision(decider.files, decider.decide, &decision)
}

/// A policy that permits, with these fields; what is not mentioned is anything.
pub(crate) fn policy(fields: &str) -> String {
    let mut text = "combiningAlgorithm: deny-overrides\npolicies:\n- id: p\n  effect: permit\n".to_owned();
    for list in ["subjects", "resources", "actions"] {
        if !fields.contains(&format!("{list}:")) {
            text.push_str(&format!("  {list}: []\n"));
        }
    }
    text.push_str(&format!("  {fields}\n"));
    text
}

/// Somebody who reads a page on a Saturday at ten, with other values in places of it.
pub(crate) fn request(changes: &[(&str, Json)]) -> Json {
    let mut request = json!({
        "subject": {"id": "u", "roles": ["user"], "groups": ["staff"], "claims": {}},
        "resource": {"app": "shop", "path": "/api/test"},
        "action": {"method": "GET"},
        "environment": {"ip": "192.0.2.7", "time": "2024-06-15T10:00:00Z"},
    });
    for (place, value) in changes {
        let (part, name) = place.split_once('.').unwrap();
        request[part][name] = value.clone();
    }
    request
}

/// Fields of a policy, what is different in the request, and what it gets.
type Row<'r> = (&'r str, &'r [(&'r str, Json)], &'r str);

/// Checks policies of one field each.
pub(crate) fn check(edition: Edition, rows: &[Row<'_>]) {
    for (fields, changes, expected) in rows {
        let actual = outcome(edition, &policy(fields), &request(changes));
        assert_eq!(actual, *expected, "{fields} {changes:?}");
    }
}
