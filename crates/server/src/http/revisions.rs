//! `/v1/revisions`: the log, and atomic batches of changes.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value as Json_, json};
use upheld_loader::Format;
use upheld_model::tree::{Kind, Value};
use upheld_store::machine::{self, Stopped};
use upheld_store::{Change, Entry, EntrySummary, Key, KeyChange, Revision, StoreError};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Path, Query, RawBody};
use super::paging::Page;
use super::writing::{Intent, answer, refused};
use crate::app::Shared;
use crate::auth::{Access, Operation};
use crate::documents::{Body, format};
use crate::limits::{Undone, heavy};
use crate::problem::Problem;
use crate::telemetry::Observed;
use crate::view::{RoleLimits, View};
use crate::writer::Condition;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list, append)).routes(routes!(show))
}

/// How many changes of each revision are named.
#[derive(Debug, Default, Deserialize)]
struct Named {
    changes: Option<usize>,
}

/// So many are named when nobody says.
const USUALLY_NAMED: usize = 10;

/// The log, page by page: oldest first. Each revision with how many documents it put and deleted, and the first of them by id; one revision has
/// the documents themselves.
#[utoipa::path(get, path = "/v1/revisions",
    params(Page, ("changes" = Option<usize>, Query, description = "how many changes of each revision are named, 10 when left out")),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 410, body = Problem), (status = 503, body = Problem)))]
async fn list(
    State(app): State<Shared>,
    observed: Observed,
    Query(page): Query<Page>,
    Query(named): Query<Named>,
) -> Result<Json<Json_>, Problem> {
    let limit = page.size()?;
    let reader = Reader::of(&observed);
    let head = app.store.head().await?;
    let after = page.after.as_deref().map(number).transpose()?.unwrap_or(head.oldest);
    let part = LogPart { after, limit, named: named.changes.unwrap_or(USUALLY_NAMED) };
    let read = reader.read(&app, part).await?;
    let next = read.last.filter(|_| read.is_full);
    let items = machine::aside(move || read.entries.iter().map(ReadEntry::json).collect::<Vec<Json_>>()).await;
    Ok(Json(json!({"items": items.map_err(unfinished)?, "next": next, "oldest": head.oldest, "last": head.revision})))
}

/// One revision, with all documents that it put.
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
    let shown = match (found, Reader::of(&observed).0) {
        (Some(entry), Some(access)) => {
            let view = app.live.view();
            heavy(move || {
                let whole = Whole::of(&view, &access);
                cut(&access, whole, &view.role_limits(&access), entry).map(|entry| shown(&entry, whole))
            })
            .await?
        }
        _ => None,
    };
    shown.map(Json).ok_or_else(|| Problem::not_found(format!("there is no revision {wanted}")))
}

fn number(text: &str) -> Result<Revision, Problem> {
    text.parse().map_err(|_| Problem::bad_request(format!("`{text}` is not a revision number")))
}

fn unfinished(_: Stopped) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the answer was not finished")
}

/// Somebody who reads the log.
#[derive(Clone, Debug)]
pub(super) struct Reader(Option<Access>);

/// A part of the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogPart {
    /// It begins after this revision.
    pub(super) after: Revision,
    /// At most so many entries.
    pub(super) limit: usize,
    /// How many changes of each entry are named.
    pub(super) named: usize,
}

/// What somebody may read of a part of the log.
#[derive(Debug)]
pub(super) struct ReadLog {
    pub(super) entries: Vec<ReadEntry>,
    /// The last revision of the part, whether or not they may read of it.
    pub(super) last: Option<Revision>,
    /// Whether there may be more after it.
    is_full: bool,
}

/// Why a part of the log was not read.
#[derive(Debug)]
pub(super) enum ReadFailure {
    /// The store does not have it, or does not answer.
    Store(StoreError),
    /// The work on it was not done.
    Undone(Undone),
}

impl From<StoreError> for ReadFailure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<ReadFailure> for Problem {
    fn from(failure: ReadFailure) -> Self {
        match failure {
            ReadFailure::Store(error) => error.into(),
            ReadFailure::Undone(undone) => undone.into(),
        }
    }
}

impl Reader {
    /// Of a request.
    pub(super) fn of(observed: &Observed) -> Self {
        // Nobody is there when a request was let in without asking who it is: nothing is read then.
        Self(observed.access().cloned())
    }

    /// What they may read of a part of the log, as roles hold in the current view. No document is read for a caller who may read all of them;
    /// for others the documents of these entries decide.
    pub(super) async fn read(&self, app: &Shared, part: LogPart) -> Result<ReadLog, ReadFailure> {
        let Some(access) = &self.0 else { return Ok(ReadLog { entries: Vec::new(), last: None, is_full: false }) };
        let (view, LogPart { after, limit, named }) = (app.live.view(), part);
        if Whole::of(&view, access) == Whole::Yes {
            let all = app.store.summaries(after, limit, named).await?;
            let (last, is_full) = (all.last().map(|entry| entry.revision), all.len() == limit);
            let entries = all.into_iter().map(|summary| ReadEntry { summary, whole: Whole::Yes }).collect();
            return Ok(ReadLog { entries, last, is_full });
        }
        let (mut entries, mut last, mut left) = (Vec::new(), None, limit);
        while left > 0 {
            /// So many entries are held in memory with their documents.
            const AT_ONCE: usize = 16;
            let wanted = left.min(AT_ONCE);
            let all = app.store.entries(last.unwrap_or(after), wanted).await?;
            let (count, end) = (all.len(), all.last().map(|entry| entry.revision));
            let (view, access) = (Arc::clone(&view), access.clone());
            let read = heavy(move || {
                let limits = view.role_limits(&access);
                let visible = all.into_iter().filter_map(|entry| cut(&access, Whole::No, &limits, entry));
                let summary = |entry: Entry| ReadEntry { summary: entry.summary(named), whole: Whole::No };
                visible.map(summary).collect::<Vec<_>>()
            });
            entries.extend(read.await.map_err(ReadFailure::Undone)?);
            (last, left) = (end.or(last), left - count);
            if count < wanted {
                break;
            }
        }
        Ok(ReadLog { entries, last, is_full: left == 0 })
    }
}

/// What rights and roles leave of an entry; nothing if none of its documents is left. What its author says of all of them is left out where
/// some are hidden.
fn cut(access: &Access, whole: Whole, limits: &RoleLimits<'_>, mut entry: Entry) -> Option<Entry> {
    let count = entry.changes.len();
    let may_read = |change: &Change| match change {
        Change::Put { key, text } => access.may_read(key, text) && limits.show_written(key, Some(text)),
        Change::Delete { key } => access.may(Operation::Read, key.into()) && limits.show_written(key, None),
    };
    entry.changes.retain(|change| whole == Whole::Yes || may_read(change));
    if entry.changes.is_empty() && count > 0 {
        return None;
    }
    entry.message = entry.message.filter(|_| entry.changes.len() == count);
    Some(entry)
}

/// Whether somebody may read whatever there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    Yes,
    No,
}

impl Whole {
    fn of(view: &View, access: &Access) -> Self {
        if view.is_whole_to(access, Operation::Read) { Self::Yes } else { Self::No }
    }
}

/// An entry as somebody may read it, without the texts of documents.
#[derive(Debug)]
pub(super) struct ReadEntry {
    summary: EntrySummary,
    whole: Whole,
}

impl ReadEntry {
    pub(super) fn revision(&self) -> Revision {
        self.summary.revision
    }

    /// As programs get it.
    pub(super) fn json(&self) -> Json_ {
        let change = |change: &KeyChange| match change {
            KeyChange::Put(key) => json!({"put": key}),
            KeyChange::Delete(key) => json!({"delete": key}),
        };
        written(&self.summary, self.whole, &self.summary.first.iter().map(change).collect::<Vec<_>>())
    }
}

/// An entry with its documents, as programs get it.
fn shown(entry: &Entry, whole: Whole) -> Json_ {
    let change = |change: &Change| match change {
        Change::Put { key, text } => {
            let document: Json_ = serde_json::from_str(text).unwrap_or_default();
            json!({"put": key, "document": document})
        }
        Change::Delete { key } => json!({"delete": key}),
    };
    written(&entry.summary(0), whole, &entry.changes.iter().map(change).collect::<Vec<_>>())
}

/// An entry with some form of its changes. The digest is of all documents of the store after it, so only readers of all of them get it. Answers
/// have a digest of all that they rest on, files and settings too, which is another.
fn written(entry: &EntrySummary, whole: Whole, changes: &[Json_]) -> Json_ {
    let EntrySummary { revision, time, actor, message, digest, puts, deletions, first: _ } = entry;
    let mut written = json!({
        "revision": revision, "time": time.to_string(), "actor": actor, "message": message, "stateDigest": digest,
        "puts": puts, "deletions": deletions, "changes": changes,
    });
    if let (Whole::No, Some(fields)) = (whole, written.as_object_mut()) {
        fields.shift_remove("stateDigest");
    }
    written
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
