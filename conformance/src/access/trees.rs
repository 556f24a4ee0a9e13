//! `xacml-oasis`: sets in sets, written as the documents of users, and the duties that come with a decision.

use anyhow::bail;
use serde_json::{Map, Value as Json, json};
use upheld_dialects::access::Edition;
use upheld_engine::decide::{Binding, PossibleEffect, Truth, Value};
use upheld_engine::{Scratch, Silent, ask};

use super::tables::truth;
use super::world::{Refused, World, read_request};
use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let mut writer = Writer::default();
    let document = writer.set(case.field("tree"))?;
    let refused = |refused: Refused| anyhow::anyhow!("the tree was {refused}");
    let world = World::read_as("access/xacml", &document).map_err(refused)?;
    let request = read_request(Edition::Strict, &the_request())?.map_err(refused)?;
    world.decided(&request)?;

    let decide = world.decide()?;
    let mut scratch = Scratch::default();
    let decided = ask(decide, &&request, &mut scratch, &mut Silent);
    let duties = decide.duties(&request, scratch.hits());
    let of = |binding: Binding| {
        let ids = duties.iter().filter(|(duty, _)| duty.binding == binding).map(|(duty, _)| duty.id.as_str());
        sorted(ids.collect())
    };

    let expected_ids = |field: &str| {
        let ids = case.field(field).as_array().into_iter().flatten().filter_map(Json::as_str);
        sorted(ids.collect())
    };
    let (word, extended) = words(decided.value);
    let expected = json!({
        "expect": case.field("expect"),
        "extended": case.field("extended"),
        "obligations": expected_ids("obligations"),
        "advice": expected_ids("advice"),
    });
    let actual = json!({
        "expect": word,
        "extended": case.says("extended").then_some(extended),
        "obligations": of(Binding::Obligation),
        "advice": of(Binding::Advice),
    });
    Ok(Outcome::compare(&expected, &actual))
}

/// The order of duties means nothing.
fn sorted(mut ids: Vec<&str>) -> Vec<&str> {
    ids.sort_unstable();
    ids
}

/// A value in the words of the corpus: roughly, and exactly.
fn words(value: Value) -> (&'static str, &'static str) {
    match value {
        Value::Permit => ("permit", "permit"),
        Value::Deny => ("deny", "deny"),
        Value::NotApplicable => ("not-applicable", "not-applicable"),
        Value::Unknown(PossibleEffect::Permit) => ("indeterminate", "indeterminate-permit"),
        Value::Unknown(PossibleEffect::Deny) => ("indeterminate", "indeterminate-deny"),
        Value::Unknown(PossibleEffect::Either) => ("indeterminate", "indeterminate-deny-permit"),
        Value::Foreign => ("foreign", "foreign"),
    }
}

/// Writes trees as documents. Names may come twice in a tree, so policies are numbered.
#[derive(Default)]
struct Writer {
    policies: usize,
}

impl Writer {
    fn set(&mut self, node: &Json) -> anyhow::Result<Json> {
        let (mut policies, mut sets) = (Vec::new(), Vec::new());
        for child in node.get("children").and_then(Json::as_array).into_iter().flatten() {
            if child.get("rule").is_some() {
                policies.push(self.policy(child)?);
            } else {
                sets.push(self.set(child)?);
            }
        }
        Ok(json!({
            "kind": "PolicySet",
            "id": "set",
            "algorithm": node.get("algorithm"),
            "target": {"subjects": subjects(node)?},
            "policies": policies,
            "sets": sets,
            "duties": duties(node),
        }))
    }

    fn policy(&mut self, node: &Json) -> anyhow::Result<Json> {
        self.policies += 1;
        Ok(json!({
            "id": format!("policy-{}", self.policies),
            "effect": node.get("effect"),
            "subjects": subjects(node)?,
            "resources": [],
            "actions": [],
            "conditions": conditions(node)?,
            "duties": duties(node),
        }))
    }
}

/// Who asks, where a request has it, is somebody else, or says nothing of what is compared.
fn subjects(node: &Json) -> anyhow::Result<Json> {
    let word = node.get("target").and_then(Json::as_str).unwrap_or("match");
    Ok(match truth(word)? {
        Truth::True => json!([{"id": SOMEBODY}]),
        Truth::False => json!([{"id": "somebody-else"}]),
        Truth::Error => json!([{"claim": {"name": "age", "operator": "gt", "value": 1}}]),
    })
}

/// What must hold besides: something of the address that the request has, or of the time, which it has not.
fn conditions(node: &Json) -> anyhow::Result<Json> {
    Ok(match node.get("condition").and_then(Json::as_str) {
        None | Some("absent") => json!([]),
        Some("true") => json!([{"type": "ip", "allowlist": [ADDRESS]}]),
        Some("false") => json!([{"type": "ip", "blocklist": [ADDRESS]}]),
        Some("indeterminate") => json!([{"type": "time", "after": "09:00"}]),
        Some(other) => bail!("a condition cannot be `{other}`"),
    })
}

fn duties(node: &Json) -> Json {
    let duties = node.get("duties").and_then(Json::as_array).into_iter().flatten();
    let fields = |duty: &Json| {
        let field = |name: &str| (name.to_owned(), duty.get(name).cloned().unwrap_or_default());
        ["kind", "id", "on"].map(field).into_iter().collect::<Map<_, _>>()
    };
    duties.map(fields).collect()
}

const SOMEBODY: &str = "somebody";
const ADDRESS: &str = "192.0.2.1";

fn the_request() -> Json {
    json!({"subject": {"id": SOMEBODY}, "environment": {"ip": ADDRESS}})
}
