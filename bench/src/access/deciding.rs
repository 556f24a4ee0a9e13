//! Decisions as every surface makes them, with all that is known of a request: against the engine alone, and the worst requests
//! against ordinary ones of their size.

use serde_json::json;
use smol_str::SmolStr;
use upheld_dialects::access::Edition;
use upheld_dialects::access::decider::{Decider, WhichKind};
use upheld_engine::decide::{Decide, Fact, Facts, Maybe, Names, Outcome, Request};
use upheld_engine::{Scratch, Snapshot};
use upheld_loader::load::load;
use upheld_loader::{Format, Input};
use upheld_model::Timestamp;

use super::workload::{Effect, Policy, SubjectTest};

/// Policies that were read from documents.
pub(super) struct Documents {
    snapshot: Snapshot,
}

impl Documents {
    /// The policies of a workload, and a few with patterns and expressions.
    pub(super) fn new(policies: &[Policy]) -> Result<Self, String> {
        let texts = |tests: &[SubjectTest]| -> Vec<_> {
            let test = |test: &SubjectTest| match test {
                SubjectTest::Role(role) => json!({"role": role}),
                SubjectTest::Group(group) => json!({"group": group}),
                SubjectTest::Id(id) => json!({"id": id}),
                SubjectTest::Claim(name, value) => json!({"claim": {"name": name, "value": value}}),
            };
            tests.iter().map(test).collect()
        };
        let document = |policy: &Policy| {
            let effect = if policy.effect == Effect::Permit { "permit" } else { "deny" };
            let actions: Vec<_> = policy.methods.iter().map(|method| json!({"method": method})).collect();
            let resources = [json!({"path": policy.pattern})];
            json!({"id": policy.id, "effect": effect, "subjects": texts(&policy.subjects), "resources": resources, "actions": actions})
        };
        let lists = (0..20).map(|number| {
            let expression = "sets.intersects(subject.claims.some, subject.claims.others)";
            json!({
                "id": format!("lists-{number}"), "effect": "deny", "subjects": [], "resources": [{"path": "/lists/**"}], "actions": [],
                "conditions": [{"type": "custom", "expression": expression}],
            })
        });
        let all: Vec<_> = policies.iter().map(document).chain(lists).collect();
        let input = Input::text("policies.json", Format::Json, json!({"policies": all}).to_string());
        let loaded = load(vec![input], &["access/strict"]).map_err(|broken| broken.diagnostics.errors().to_string())?;
        Ok(Self { snapshot: loaded.snapshot })
    }

    /// What decides, until this process ends.
    pub(super) fn act(self) -> Result<impl FnMut(Request) -> usize, String> {
        let snapshot: &'static Snapshot = Box::leak(Box::new(self.snapshot));
        let decider = Decider::of(snapshot, WhichKind::Only, Edition::Strict).map_err(|problem| problem.message)?;
        let mut scratch = Scratch::<Decide>::default();
        Ok(move |request| {
            let request = decider.complete(request, Some(Timestamp(0)));
            usize::from(decider.decided(&request, &mut scratch).outcome == Outcome::Permit)
        })
    }
}

/// The worst requests by name, each with an ordinary one of its size.
pub(super) const WORST: [&str; 6] = ["tricks", "escapes", "lists", "roles", "claims", "headers"];

/// One of them: the worst, or the ordinary one. Each number gives another path, since deciders remember the last one.
pub(super) fn request(name: &str, is_worst: bool, number: usize) -> Request {
    let mut request = Request::default();
    request.subject.id = Maybe::Is("user-1".into());
    request.action.method = Maybe::Is("GET".into());
    let plain = |length: usize| format!("/{}", "abcdefg/".repeat(length.div_ceil(8)));
    let whole = |number: i64| Fact::Number(number.into());
    let texts =
        |count: i64, name: &str| -> Vec<SmolStr> { (0..count).map(|one| format!("{name}-{one}").into()).collect() };
    let long = |count: i64| Fact::Text("x".repeat(usize::try_from(count * 8).unwrap_or_default()).into());
    let facts =
        |count: i64| -> Facts { texts(count, "fact").into_iter().map(|name| (name, Fact::Bool(true))).collect() };
    let path = match (name, is_worst) {
        ("tricks", true) => format!("/{}..%2f;x/%5c//%3f", "a/".repeat(100)),
        ("tricks", false) => plain(216),
        ("escapes", true) => format!("/%{}41/..;x/%2e%2e", "25".repeat(90)),
        ("escapes", false) => plain(196),
        ("lists", _) => "/lists/x".to_owned(),
        _ => "/api/x".to_owned(),
    };
    match (name, is_worst) {
        ("lists", true) => {
            request.subject.claims.set("some", Fact::List((0..60).map(whole).collect()));
            request.subject.claims.set("others", Fact::List((60..120).map(whole).collect()));
        }
        ("lists", false) => {
            request.subject.claims.set("some", Fact::List(vec![whole(1)]));
            request.subject.claims.set("others", Fact::List(vec![whole(2)]));
            request.subject.claims.set("about", long(118));
        }
        ("roles", true) => request.subject.roles = Names::Known(texts(500, "role")),
        ("claims", true) => request.subject.claims = facts(500),
        ("roles" | "claims", false) => request.subject.claims.set("about", long(500)),
        ("headers", true) => request.resource.facts.set("headers", Fact::Map(facts(100))),
        ("headers", false) => {
            request.resource.facts.set("headers", Fact::Map([("x-about".into(), long(100))].into_iter().collect()));
        }
        _ => {}
    }
    request.resource.path = Maybe::Is(format!("{path}{}", number % 10).into());
    request
}
