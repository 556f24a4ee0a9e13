//! Policies as files, and requests as bodies.

use upheld_engine::decide::{Decide, Fact, Maybe, Names, Request};
use upheld_loader::load::load;
use upheld_loader::{Format, Input};

use crate::access::{Effect, Policy, SubjectTest, Workload};

/// One policy a line.
pub(super) fn policies(workload: &Workload) -> String {
    workload.policies.iter().map(|policy| document(policy) + "\n").collect()
}

/// A policy as JSON.
pub(crate) fn document(policy: &Policy) -> String {
    let quoted = |text: &str| format!("{text:?}");
    let effect = if policy.effect == Effect::Permit { "permit" } else { "deny" };
    let subjects: Vec<String> = (policy.subjects.iter())
        .map(|test| match test {
            SubjectTest::Role(name) => format!("{{\"role\": {}}}", quoted(name)),
            SubjectTest::Group(name) => format!("{{\"group\": {}}}", quoted(name)),
            SubjectTest::Id(name) => format!("{{\"id\": {}}}", quoted(name)),
            SubjectTest::Claim(name, value) => {
                format!("{{\"claim\": {{\"name\": {}, \"value\": {}}}}}", quoted(name), quoted(value))
            }
        })
        .collect();
    // An empty list means everybody.
    let subjects = subjects.join(", ");
    let methods: Vec<String> =
        policy.methods.iter().map(|method| format!("{{\"method\": {}}}", quoted(method))).collect();
    let methods = if methods.is_empty() { "{\"method\": \"*\"}".to_owned() } else { methods.join(", ") };
    format!(
        "{{\"id\": {}, \"effect\": \"{effect}\", \"subjects\": [{subjects}], \"resources\": [{{\"path\": {}}}], \"actions\": [{methods}]}}",
        quoted(&policy.id),
        quoted(&policy.pattern),
    )
}

/// A policy that is another one each time, and about nobody who asks.
pub(super) fn changing(number: usize) -> String {
    format!(
        "{{\"id\": \"changing\", \"effect\": \"permit\", \"subjects\": [{{\"role\": \"nobody-{number}\"}}], \
         \"resources\": [{{\"path\": \"/nowhere\"}}], \"actions\": [{{\"method\": \"GET\"}}]}}"
    )
}

/// The same policies in this process, read from the same text.
pub(super) fn decide(workload: &Workload) -> Result<Decide, String> {
    let input = Input::text("policies.jsonl", Format::JsonLines, policies(workload));
    let loaded = load(vec![input], &[]).map_err(|broken| format!("{:?}", broken.diagnostics.as_slice().first()))?;
    let decide = loaded.snapshot.decides().next().map(|(_, decide)| decide.clone());
    decide.ok_or_else(|| "there are no policies".to_owned())
}

/// Requests as their askers write them.
pub(super) fn bodies(workload: &Workload) -> Vec<String> {
    workload.requests.iter().map(|request| body(&request.own)).collect()
}

fn body(request: &Request) -> String {
    let text =
        |value: &Maybe<smol_str::SmolStr>| value.known().map(|text| format!("{:?}", text.as_str())).unwrap_or_default();
    let names =
        |names: &Names| names.known().iter().map(|name| format!("{:?}", name.as_str())).collect::<Vec<_>>().join(",");
    let claims: Vec<String> = (request.subject.claims.iter())
        .filter_map(|(name, fact)| match fact {
            Fact::Text(value) => Some(format!("{:?}: {:?}", name.as_str(), value.as_str())),
            _ => None,
        })
        .collect();
    format!(
        "{{\"subject\": {{\"id\": {}, \"roles\": [{}], \"groups\": [{}], \"claims\": {{{}}}}}, \"action\": {{\"method\": {}}}, \
         \"resource\": {{\"path\": {}}}}}",
        text(&request.subject.id),
        names(&request.subject.roles),
        names(&request.subject.groups),
        claims.join(","),
        text(&request.action.method),
        text(&request.resource.path),
    )
}
