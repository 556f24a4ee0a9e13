//! What the description says of all endpoints alike, so that no handler has to repeat it.

use axum::http::Method;
use serde_json::{Map, Value as Json, json};

use crate::auth::{Endpoint, Form, Operation};

type Fields = Map<String, Json>;

/// Which endpoints are described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// Those that are answered from a view.
    Viewed,
    /// All others.
    Operations,
}

/// How errors are sent.
const PROBLEM: &str = "application/problem+json";
/// How most answers are sent.
const JSON: &str = "application/json";

/// The description as it is served, with what every endpoint may answer.
pub(super) fn complete(mut description: Json, group: Group, base: &str) -> Json {
    let paths = description.get_mut("paths").and_then(Json::as_object_mut);
    for (path, item) in paths.into_iter().flatten() {
        // The log and what follows it are the same for every view.
        let viewed = group == Group::Viewed && !path.starts_with("/v1/revisions") && !path.starts_with("/v1/events");
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            let Some(operation) = operation.as_object_mut() else { continue };
            let asks = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap_or_default();
            let endpoint = Endpoint::of(&asks, path, base);
            add_responses(operation, group, endpoint.form);
            if viewed && endpoint.operation != Operation::Write {
                add_choice(operation);
            }
        }
    }
    description
}

/// Adds the endpoints of one description to another.
pub(super) fn join(mut description: Json, other: Json) -> Json {
    let Json::Object(other) = other else { return description };
    for (name, part) in other {
        let Some(own) = description.get_mut(&name).and_then(Json::as_object_mut) else { continue };
        match (name.as_str(), part) {
            ("paths", Json::Object(paths)) => own.extend(paths),
            ("components", Json::Object(components)) => {
                for (section, found) in components {
                    let own = own.entry(section).or_insert_with(|| json!({}));
                    if let (Some(own), Json::Object(found)) = (own.as_object_mut(), found) {
                        own.extend(found);
                    }
                }
            }
            _ => {}
        }
    }
    description
}

fn add_responses(operation: &mut Fields, group: Group, form: Form) {
    let Some(responses) = operation.get_mut("responses").and_then(Json::as_object_mut) else { return };
    for (status, words, whose) in ANSWERS {
        if *whose == Whose::All || (*whose == Whose::Viewed && group == Group::Viewed) {
            responses.entry(*status).or_insert_with(|| json!({"description": words, "content": {}}));
        }
    }
    for (status, words) in [("200", "The answer."), ("201", "Done."), ("204", "Done.")] {
        if let Some(response) = responses.get_mut(status).and_then(Json::as_object_mut) {
            describe(response, words);
        }
    }
    for (status, response) in responses {
        let Some((_, words, _)) = ANSWERS.iter().find(|(known, ..)| known == status) else { continue };
        let Some(response) = response.as_object_mut() else { continue };
        describe(response, words);
        let content = response.entry("content").or_insert_with(|| json!({}));
        let Some(content) = content.as_object_mut() else { continue };
        // Handlers name the body; how it is sent is known here.
        if content.get(JSON).is_some_and(|body| *body == problem()) {
            content.shift_remove(JSON);
        }
        let refused = matches!(status.as_str(), "401" | "403" | "429");
        let own = match form {
            Form::Text if refused => Some(("text/plain", json!({"schema": {"type": "string"}}))),
            Form::Seed => Some((JSON, fields("error"))),
            Form::Native(_) => Some((JSON, fields("title"))),
            Form::Text | Form::Problem | Form::Grpc => None,
        };
        content.extend(own.map(|(sort, body)| (sort.to_owned(), body)));
        // What the way in refuses before anybody looks where it leads is a problem for all.
        if !(refused && matches!(form, Form::Text | Form::Seed | Form::Native(_))) {
            content.insert(PROBLEM.to_owned(), problem());
        }
    }
}

/// Says what a response is, unless its handler says it.
fn describe(response: &mut Fields, words: &str) {
    if response.get("description").is_none_or(|description| description == "") {
        response.insert("description".to_owned(), json!(words));
    }
}

/// An object with a field at least.
fn fields(required: &str) -> Json {
    json!({"schema": {"type": "object", "required": [required]}})
}

/// Which endpoints may answer something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// All of them.
    All,
    /// Those that are answered from a view.
    Viewed,
    /// Those that say so themselves.
    Named,
}

/// Problems, in words.
const ANSWERS: &[(&str, &str, Whose)] = &[
    ("400", "The request is invalid.", Whose::All),
    ("401", "The caller is not authenticated.", Whose::All),
    ("403", "The caller is not permitted to do this.", Whose::All),
    ("404", "There is no such name or revision.", Whose::Viewed),
    ("406", "That format is not available.", Whose::Named),
    ("408", "The body took too long.", Whose::All),
    ("409", "It is read-only.", Whose::Named),
    ("410", "The revision was compacted away.", Whose::Viewed),
    ("412", "It changed in the meantime.", Whose::Named),
    ("413", "The body is too large.", Whose::All),
    ("415", "The format of the body is not supported.", Whose::Named),
    ("422", "The request is valid, but it cannot be answered.", Whose::Viewed),
    ("429", "Too many requests; `Retry-After` says when to try again.", Whose::All),
    ("500", "What is kept contradicts itself, and is not handed out.", Whose::Named),
    ("503", "Not available now; `Retry-After` says when to try again.", Whose::All),
];

fn problem() -> Json {
    json!({"schema": {"$ref": "#/components/schemas/Problem"}})
}

/// Which view is asked.
fn add_choice(operation: &mut Fields) {
    let parameters = operation.entry("parameters").or_insert_with(|| json!([]));
    if let Some(parameters) = parameters.as_array_mut() {
        let revision = json!({"type": "integer", "format": "int64", "minimum": 0});
        parameters.push(json!({
            "name": "at", "in": "query", "required": false, "schema": revision,
            "description": "answer as of this revision",
        }));
        parameters.push(json!({
            "name": "minRevision", "in": "query", "required": false, "schema": revision,
            "description": "wait until this revision has arrived; 503 if it does not",
        }));
        parameters.push(json!({
            "name": "semantics", "in": "query", "required": false, "schema": {"type": "string"}, "example": "access/strict",
            "description": "editions of the rules in place of those in force, with commas between them",
        }));
    }
}
