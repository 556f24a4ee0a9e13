//! `/v1/revisions`: the log, and atomic batches of changes.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value as Json_, json};
use upheld_loader::Format;
use upheld_model::tree::{Kind, Value};
use upheld_store::{Change, Entry, Key, Revision};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Path, Query, RawBody};
use super::paging::Page;
use super::writing::{Intent, answer};
use crate::app::Shared;
use crate::documents::{Body, format};
use crate::problem::Problem;
use crate::view::View;
use crate::writer::Condition;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list, append)).routes(routes!(show))
}

/// The log, page by page: oldest first.
#[utoipa::path(get, path = "/v1/revisions", params(Page),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 410, body = Problem), (status = 503, body = Problem)))]
async fn list(State(app): State<Shared>, Query(page): Query<Page>) -> Result<Json<Json_>, Problem> {
    let limit = page.size()?;
    let head = app.store.head().await?;
    let after = page.after.as_deref().map(number).transpose()?.unwrap_or(head.oldest);
    let entries = app.store.entries(after, limit).await?;
    let next = entries.last().filter(|_| entries.len() == limit).map(|entry| entry.revision);
    let items: Vec<Json_> = entries.iter().map(shown).collect();
    Ok(Json(json!({"items": items, "next": next, "oldest": head.oldest, "last": head.revision})))
}

/// One revision.
#[utoipa::path(get, path = "/v1/revisions/{revision}", params(("revision" = u64, Path)),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 404, body = Problem), (status = 410, body = Problem)))]
async fn show(State(app): State<Shared>, Path(revision): Path<String>) -> Result<Json<Json_>, Problem> {
    let wanted = number(&revision)?;
    let before = Revision(wanted.0.saturating_sub(1));
    let entries = app.store.entries(before, 1).await?;
    let found = entries.iter().find(|entry| entry.revision == wanted);
    found.map(|entry| Json(shown(entry))).ok_or_else(|| Problem::not_found(format!("there is no revision {wanted}")))
}

fn number(text: &str) -> Result<Revision, Problem> {
    text.parse().map_err(|_| Problem::bad_request(format!("`{text}` is not a revision number")))
}

/// An entry, as programs get it.
pub(super) fn shown(entry: &Entry) -> Json_ {
    let changes: Vec<Json_> = (entry.changes.iter())
        .map(|change| match change {
            Change::Put { key, text } => {
                let document: Json_ = serde_json::from_str(text).unwrap_or_default();
                json!({"put": key, "document": document})
            }
            Change::Delete { key } => json!({"delete": key}),
        })
        .collect();
    json!({
        "revision": entry.revision, "time": entry.time.to_string(), "actor": entry.actor, "message": entry.message,
        "digest": entry.digest, "changes": changes,
    })
}

/// Changes documents, all of them or none. JSON: `{"message"?, "after"?, "put"?: [document…], "delete"?: [id…]}`; YAML and
/// JSON Lines: every document is put.
#[utoipa::path(post, path = "/v1/revisions", 
    request_body(content((Object = "application/json", example = json!({"message": "staff may read", "put": [{"id": "staff", "effect": "permit", "subjects": [{"role": "staff"}], "resources": [{"path": "/orders/**"}], "actions": [{"method": "GET"}]}]})),
        (String = "application/yaml"))),
    params(("dryRun" = Option<bool>, Query, description = "report what would happen, and change nothing")),
    responses((status = 200, body = Object), (status = 201, body = Object), (status = 400, body = Problem),
        (status = 412, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem), (status = 503, body = Problem)))]
async fn append(
    State(app): State<Shared>,
    intent: Intent,
    headers: HeaderMap,
    RawBody(bytes): RawBody,
) -> Result<Response, Problem> {
    let format = format(&headers)?;
    let body = Body::read(&bytes, format)?;
    let Batch { message, changes, conditions } = batch_of(&app.live.view(), &body, format, app.config.limits.batch)?;
    let write = intent.write(&bytes, message, changes, conditions);
    let mode = write.mode;
    let written = app.writer.write(write).await.map_err(super::writing::refused)?;
    Ok(answer(&written, mode).into_response())
}

/// What somebody wants to change at once.
pub(super) struct Batch {
    pub(super) message: Option<String>,
    pub(super) changes: Vec<Change>,
    pub(super) conditions: Vec<Condition>,
}

/// The changes of a body, at most so many.
pub(super) fn batch_of(view: &View, body: &Body, format: Format, most: usize) -> Result<Batch, Problem> {
    let asked = match format {
        Format::Json => batch(view, body)?,
        _ => Batch::puts(view, body, body.documents())?,
    };
    if asked.changes.is_empty() {
        return Err(Problem::bad_request("nothing is put and nothing is deleted"));
    }
    if asked.changes.len() > most {
        let detail = format!("at most {most} documents at once");
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "batch-too-large", detail));
    }
    Ok(asked)
}

impl Batch {
    fn puts(view: &View, body: &Body, documents: Vec<Value<'_>>) -> Result<Self, Problem> {
        let identities = view.identities();
        let mut changes: Vec<Change> = Vec::with_capacity(documents.len());
        for document in documents {
            let named = body.named(&identities, document)?;
            changes.push(Change::Put { key: named.key, text: named.text });
        }
        let batch = Self { message: None, changes, conditions: Vec::new() };
        batch.without_repetitions()
    }

    /// Two changes of one document in one batch would hide a mistake.
    fn without_repetitions(self) -> Result<Self, Problem> {
        let mut keys: Vec<&Key> = self.changes.iter().map(Change::key).collect();
        keys.sort_unstable();
        match keys.windows(2).find_map(|pair| if let [a, b] = pair { (a == b).then_some(*a) } else { None }) {
            Some(twice) => Err(Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "invalid-documents",
                format!("`{twice}` is changed twice in one batch"),
            )),
            None => Ok(self),
        }
    }
}

fn batch(view: &View, body: &Body) -> Result<Batch, Problem> {
    const FIELDS: [&str; 4] = ["message", "after", "put", "delete"];
    let document = body.only()?;
    if document.kind() != Kind::Map {
        return Err(Problem::bad_request("expected {\"put\": [document…], \"delete\": [id…]}"));
    }
    if let Some((key, _)) = document.entries().find(|(key, _)| !FIELDS.contains(&key.text())) {
        return Err(Problem::bad_request(format!(
            "a batch has no field `{}`; there are {}",
            key.text(),
            FIELDS.join(", ")
        )));
    }
    let get = |name: &str| document.get(name).filter(|value| value.kind() != Kind::Null);
    let list = |name: &str| match get(name) {
        Some(list) if list.kind() != Kind::List => Err(Problem::bad_request(format!("`{name}` must be a list"))),
        list => Ok(list.into_iter().flat_map(Value::items).collect::<Vec<_>>()),
    };
    let mut batch = Batch::puts(view, body, list("put")?)?;
    for id in list("delete")? {
        let key: Key =
            id.text().parse().map_err(|error: upheld_store::BadKey| Problem::bad_request(error.to_string()))?;
        batch.conditions.push(Condition::Present(key.clone()));
        batch.changes.push(Change::Delete { key });
    }
    match get("after").map(Value::as_integer) {
        None => {}
        Some(Some(after)) if after >= 0 => batch.conditions.push(Condition::At(Revision(after.unsigned_abs()))),
        Some(_) => return Err(Problem::bad_request("`after` must be the number of a revision")),
    }
    match get("message").map(Value::as_text) {
        None => {}
        Some(Some(message)) => batch.message = Some(message.to_owned()),
        Some(None) => return Err(Problem::bad_request("`message` must be text")),
    }
    batch.without_repetitions()
}
