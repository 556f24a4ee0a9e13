//! `/v1/revisions`: the log, and atomic batches of changes.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use jiff::Timestamp;
use serde_json::{Value as Json_, json};
use upheld_loader::Format;
use upheld_model::tree::{Kind, Value};
use upheld_store::{Change, Digest, Entry, Key, Revision};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Path, Query, RawBody};
use super::paging::Page;
use super::writing::{Intent, answer, refused};
use crate::app::Shared;
use crate::auth::{Access, Operation};
use crate::documents::{Body, format};
use crate::problem::Problem;
use crate::telemetry::Observed;
use crate::view::{RoleLimits, View};
use crate::writer::Condition;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list, append)).routes(routes!(show))
}

/// The log, page by page: oldest first.
#[utoipa::path(get, path = "/v1/revisions", params(Page),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 410, body = Problem), (status = 503, body = Problem)))]
async fn list(State(app): State<Shared>, observed: Observed, Query(page): Query<Page>) -> Result<Json<Json_>, Problem> {
    let limit = page.size()?;
    let reader = Reader::of(&observed);
    let head = app.store.head().await?;
    let after = page.after.as_deref().map(number).transpose()?.unwrap_or(head.oldest);
    let entries = app.store.entries(after, limit).await?;
    let next = entries.last().filter(|_| entries.len() == limit).map(|entry| entry.revision);
    let items: Vec<Json_> = reader.cut_all(&app.live.view(), entries).iter().map(shown).collect();
    Ok(Json(json!({"items": items, "next": next, "oldest": head.oldest, "last": head.revision})))
}

/// One revision.
#[utoipa::path(get, path = "/v1/revisions/{revision}", params(("revision" = u64, Path)),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 404, body = Problem), (status = 410, body = Problem)))]
async fn show(
    State(app): State<Shared>,
    observed: Observed,
    Path(revision): Path<String>,
) -> Result<Json<Json_>, Problem> {
    let wanted = number(&revision)?;
    let before = Revision(wanted.0.saturating_sub(1));
    let entries = app.store.entries(before, 1).await?;
    let found = entries.into_iter().find(|entry| entry.revision == wanted);
    let found = Reader::of(&observed).cut_all(&app.live.view(), found);
    found
        .first()
        .map(|entry| Json(shown(entry)))
        .ok_or_else(|| Problem::not_found(format!("there is no revision {wanted}")))
}

fn number(text: &str) -> Result<Revision, Problem> {
    text.parse().map_err(|_| Problem::bad_request(format!("`{text}` is not a revision number")))
}

/// Somebody who reads the log.
#[derive(Clone, Debug)]
pub(super) struct Reader(Option<Access>);

impl Reader {
    /// Of a request.
    pub(super) fn of(observed: &Observed) -> Self {
        // Nobody is there when a request was let in without asking who it is: nothing is read then.
        Self(observed.access().cloned())
    }

    /// What they may read of entries, as roles hold in a view.
    pub(super) fn cut_all(&self, view: &View, entries: impl IntoIterator<Item = Entry>) -> Vec<ReadEntry> {
        let Some(access) = &self.0 else { return Vec::new() };
        let whole = if view.is_whole_to(access, Operation::Read) { Whole::Yes } else { Whole::No };
        let limits = view.role_limits(access);
        entries.into_iter().filter_map(|entry| cut(access, whole, &limits, entry)).collect()
    }
}

/// What rights and roles leave of an entry; nothing if none of its documents is left. What stands for all of them, and what its author says of
/// all of them, is left out where some are hidden.
fn cut(access: &Access, whole: Whole, limits: &RoleLimits<'_>, entry: Entry) -> Option<ReadEntry> {
    let Entry { revision, time, actor, message, digest, chain: _, mut changes } = entry;
    let (count, is_whole) = (changes.len(), whole == Whole::Yes);
    let may_read = |change: &Change| match change {
        Change::Put { key, text } => access.may_read(key, text) && limits.show_written(key, Some(text)),
        Change::Delete { key } => access.may(Operation::Read, key.into()) && limits.show_written(key, None),
    };
    changes.retain(|change| is_whole || may_read(change));
    if changes.is_empty() && count > 0 {
        return None;
    }
    let message = message.filter(|_| changes.len() == count);
    Some(ReadEntry { revision, time, actor, message, state_digest: is_whole.then_some(digest), changes })
}

/// Whether somebody may read whatever there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    Yes,
    No,
}

/// An entry as somebody may read it.
#[derive(Debug)]
pub(super) struct ReadEntry {
    pub(super) revision: Revision,
    time: Timestamp,
    actor: String,
    message: Option<String>,
    /// Of all documents of the store after it. Answers have a digest of all that they rest on, files and settings too, which is another.
    state_digest: Option<Digest>,
    changes: Vec<Change>,
}

impl ReadEntry {
    /// With some form of its changes.
    pub(super) fn json(&self, change: impl Fn(&Change) -> Json_) -> Json_ {
        let changes: Vec<Json_> = self.changes.iter().map(change).collect();
        let mut entry = json!({
            "revision": self.revision, "time": self.time.to_string(), "actor": self.actor, "message": self.message,
            "stateDigest": self.state_digest, "changes": changes,
        });
        if let (None, Some(fields)) = (self.state_digest, entry.as_object_mut()) {
            fields.shift_remove("stateDigest");
        }
        entry
    }
}

/// An entry, as programs get it.
fn shown(entry: &ReadEntry) -> Json_ {
    entry.json(|change| match change {
        Change::Put { key, text } => {
            let document: Json_ = serde_json::from_str(text).unwrap_or_default();
            json!({"put": key, "document": document})
        }
        Change::Delete { key } => json!({"delete": key}),
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
    let Batch { message, changes, mut conditions } =
        batch_of(&app.live.view(), &body, format, app.config.limits.batch)?;
    conditions.extend(intent.conditions_of_store()?);
    let written = app.writer.write(intent.write(&bytes, message, changes, conditions)).await;
    let written = written.map_err(|refusal| refused(refusal, intent.told(), &app.live.view()))?;
    Ok(answer(&written, intent.mode(), intent.told()))
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
