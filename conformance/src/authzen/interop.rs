//! `authzen-interop`: requests of the interoperability events of `AuthZEN`: to-do lists, API gateways, searches, an identity provider.

use anyhow::Context;
use serde_json::{Map, Value as Json, json};

use super::service::{Endpoint, Response, Service};
use super::{fits, set_difference};
use crate::case::Case;
use crate::outcome::Outcome;
use crate::served::both;

/// The rules of the fixture, in its order.
const POLICIES: &str = "
- id: everyone-reads
  effect: permit
  subjects: []
  resources: [{type: [user, todo]}]
  actions: [{operation: [can_read_user, can_read_todos]}]
- id: admins-and-editors-create
  effect: permit
  subjects: [{role: [admin, editor]}]
  resources: [{type: todo}]
  actions: [{operation: can_create_todo}]
- id: evil-geniuses-update
  effect: permit
  subjects: [{role: evil_genius}]
  resources: [{type: todo}]
  actions: [{operation: can_update_todo}]
- id: admins-delete
  effect: permit
  subjects: [{role: admin}]
  resources: [{type: todo}]
  actions: [{operation: can_delete_todo}]
- id: editors-change-their-own
  effect: permit
  subjects: [{role: editor}]
  resources: [{type: todo}]
  actions: [{operation: [can_update_todo, can_delete_todo]}]
  conditions: [{type: custom, expression: resource.ownerID == subject.claims.email}]
- id: everyone-gets
  effect: permit
  subjects: []
  resources: [{type: route, path: ['/users/{userId}', /todos]}]
  actions: [{method: GET}]
- id: some-change-through-the-gateway
  effect: permit
  subjects: [{role: [admin, editor, evil_genius]}]
  resources: [{type: route, path: [/todos, '/todos/{todoId}']}]
  actions: [{method: [POST, PUT, DELETE]}]
- id: owners-do-everything
  effect: permit
  subjects: []
  resources: [{type: record, owner: self}]
  actions: [{operation: [view, edit, delete]}]
- id: departments-view
  effect: permit
  subjects: []
  resources: [{type: record}]
  actions: [{operation: view}]
  conditions: [{type: custom, expression: resource.department == subject.claims.department}]
- id: managers-view
  effect: permit
  subjects: [{role: manager}]
  resources: [{type: record}]
  actions: [{operation: view}]
- id: managers-edit-in-their-department
  effect: permit
  subjects: [{role: manager}]
  resources: [{type: record}]
  actions: [{operation: edit}]
  conditions: [{type: custom, expression: resource.department == subject.claims.department}]
";

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let path = case.text("endpoint")?;
    let endpoint = Endpoint::of(path).with_context(|| format!("there is no endpoint `{path}`"))?;
    let fixture = serde_json::from_str(&case.beside("fixture.json")?).context("the fixture is no JSON")?;
    let directory = directory(&fixture);
    let in_library = match Service::new(POLICIES, &directory)?.call(endpoint, case.field("request"))? {
        Response::Good(answer) => judge(case, &answer)?,
        Response::Bad(reason) => Outcome::Failed(vec![format!("the request was refused: {reason}")]),
    };
    Ok(both(in_library, served(case, path, &directory)))
}

fn served(case: &Case, path: &str, directory: &Json) -> anyhow::Result<Outcome> {
    let answer = Service::served(POLICIES, directory)?.post(path, case.field("request"))?;
    if answer.status != 200 {
        return Ok(Outcome::Failed(vec![format!("status {}: {}", answer.status, answer.text)]));
    }
    judge(case, &answer.json())
}

fn judge(case: &Case, answer: &Json) -> anyhow::Result<Outcome> {
    let expected = case.expected();
    let problems = match expected {
        Json::Bool(_) => difference(expected, answer.get("decision")),
        Json::Array(_) => difference(expected, answer.get("evaluations")),
        other => {
            let results = other.get("results").and_then(Json::as_array).context("the case expects no results")?;
            set_difference(results, answer)
        }
    };
    Ok(if problems.is_empty() { Outcome::Passed } else { Outcome::Failed(problems) })
}

fn difference(expected: &Json, actual: Option<&Json>) -> Vec<String> {
    let actual = actual.unwrap_or(&Json::Null);
    let right = fits(expected, actual);
    (!right).then(|| format!("expected {expected}, got {actual}")).into_iter().collect()
}

/// The people are users of one scenario and identities of the other.
fn directory(fixture: &Json) -> Json {
    let items = |field: &str| fixture.get(field).and_then(Json::as_array).into_iter().flatten();
    let users = items("todo_subjects").chain(items("search_users")).map(|item| entity("user", item));
    let identities = items("todo_subjects").map(|item| entity("identity", item));
    let records = items("search_records").map(|item| entity("record", item));
    let rules = ["todo_rules", "gateway_rules", "search_rules"].into_iter().flat_map(items);
    let mut actions: Vec<&str> = rules.filter_map(|rule| rule.get("action")).flat_map(texts).collect();
    actions.sort_unstable();
    actions.dedup();
    json!({
        "kind": "Directory",
        "subjects": users.chain(identities).collect::<Vec<_>>(),
        "resources": records.collect::<Vec<_>>(),
        "actions": actions.iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
    })
}

/// An item of the fixture: its id, which may be a number, and properties beside it.
fn entity(kind: &str, item: &Json) -> Json {
    let id = item.get("id").map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
    let fields = item.as_object().into_iter().flatten().filter(|(name, _)| *name != "id");
    let properties: Map<String, Json> = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
    json!({"type": kind, "id": id, "properties": properties})
}

/// One text or several.
fn texts(value: &Json) -> Vec<&str> {
    match value {
        Json::Array(items) => items.iter().filter_map(Json::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    }
}
