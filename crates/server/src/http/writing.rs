//! What all writes have in common.

mod told;

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value as Json_, json};
use sha2::{Digest, Sha256};
use upheld_store::{Change, IdempotencyKey, Key, Revision};

pub(crate) use self::told::Told;
use super::asked::{Asked, Undigested};
use super::stamp::Stamp;
use crate::auth::{Access, Caller, Operation};
use crate::problem::Problem;
use crate::telemetry::Observed;
use crate::view::View;
use crate::writer::{Author, Condition, Effect, Mode, Refusal, Write, Written};

/// What the head of a request says about a write: who, whether it is meant, and under which conditions.
#[derive(Debug)]
pub(crate) struct Intent {
    caller: Caller,
    access: Access,
    mode: Mode,
    idempotency: Option<String>,
    tags: Tags,
    /// Why, where the body has no place for it.
    message: Option<String>,
    line: String,
}

/// `If-Match` and `If-None-Match`.
#[derive(Debug, Default)]
struct Tags {
    matches: Option<String>,
    none_match: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wanted {
    dry_run: Option<String>,
    message: Option<String>,
}

impl<S: Sync> FromRequestParts<S> for Intent {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let Query(Wanted { dry_run, message }) =
            Query::try_from_uri(&parts.uri).map_err(|error| Problem::bad_request(error.body_text()))?;
        let mode = match dry_run.as_deref() {
            None | Some("false") => Mode::Commit,
            Some("true" | "") => Mode::DryRun,
            Some(other) => return Err(Problem::bad_request(format!("`dryRun={other}`: expected true or false"))),
        };
        let caller = Caller::of(parts);
        let access = parts.extensions.get::<Observed>().and_then(Observed::access).cloned();
        let access = access.ok_or_else(|| Problem::unavailable("nobody knows who asks"))?;
        let tags = Tags {
            matches: text(&parts.headers, &header::IF_MATCH)?,
            none_match: text(&parts.headers, &header::IF_NONE_MATCH)?,
        };
        let idempotency = text(&parts.headers, &header::HeaderName::from_static("idempotency-key"))?;
        if idempotency.as_deref().is_some_and(|key| key.is_empty() || key.len() > 255) {
            return Err(Problem::bad_request("an idempotency key has 1 to 255 characters"));
        }
        let line = format!("{} {}", parts.method, parts.uri);
        let message = message.filter(|message| !message.trim().is_empty());
        Ok(Self { caller, access, mode, idempotency, tags, message, line })
    }
}

fn text(headers: &HeaderMap, name: &header::HeaderName) -> Result<Option<String>, Problem> {
    let value = headers.get(name).map(|value| value.to_str().map(str::to_owned));
    value.transpose().map_err(|_| Problem::bad_request(format!("the header `{name}` is not valid text")))
}

impl Intent {
    /// Whether it is meant.
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Why it is wanted, as the address has it.
    pub(crate) fn message(&self) -> Option<String> {
        self.message.clone()
    }

    /// What of a write its author may be told.
    pub(crate) fn told(&self) -> Told<'_> {
        Told(Some(&self.access))
    }

    /// The write that is wanted. The idempotency key belongs to the same line, body and author only.
    pub(crate) fn write(
        &self,
        body: &[u8],
        message: Option<String>,
        changes: Vec<Change>,
        conditions: Vec<Condition>,
    ) -> Write {
        let idempotency = self.idempotency.as_ref().filter(|_| self.mode == Mode::Commit).map(|name| {
            let mut hash = Sha256::new();
            for part in [self.caller.name.as_bytes(), self.line.as_bytes(), body] {
                hash.update(part.len().to_le_bytes());
                hash.update(part);
            }
            // Whoever guesses a key of somebody else finds nothing.
            let name = format!("{}/{name}", self.caller);
            IdempotencyKey { name, request: format!("{:x}", hash.finalize()) }
        });
        let (caller, access) = (self.caller.clone(), self.access.clone());
        let author = Author::Caller { caller, access, right: Operation::Write };
        Write { author, message, changes, conditions, idempotency, mode: self.mode }
    }

    /// What `If-Match` asks of the whole store: it is at that revision.
    pub(crate) fn conditions_of_store(&self) -> Result<Vec<Condition>, Problem> {
        if self.tags.none_match.is_some() {
            return Err(Problem::bad_request("`If-None-Match` means nothing for a batch"));
        }
        match self.tags.matches.as_deref().map(str::trim) {
            None | Some("*") => Ok(Vec::new()),
            Some(tag) => Ok(vec![Condition::At(revision(tag)?)]),
        }
    }

    /// What `If-Match` and `If-None-Match` ask of a document.
    pub(crate) fn conditions(&self, key: &Key) -> Result<Vec<Condition>, Problem> {
        let mut conditions = Vec::new();
        match self.tags.matches.as_deref().map(str::trim) {
            None => {}
            Some("*") => conditions.push(Condition::Present(key.clone())),
            Some(tag) => conditions.push(Condition::Unchanged(key.clone(), revision(tag)?)),
        }
        match self.tags.none_match.as_deref().map(str::trim) {
            None => {}
            Some("*") => conditions.push(Condition::Absent(key.clone())),
            Some(_) => return Err(Problem::bad_request("`If-None-Match` of a write can only be `*`")),
        }
        Ok(conditions)
    }
}

/// The revision of an entity tag: `"17"`.
fn revision(tag: &str) -> Result<Revision, Problem> {
    let number = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
    number.and_then(|number| number.parse().ok()).ok_or_else(|| {
        Problem::bad_request(format!("`{tag}` is not an entity tag of this server: they look like \"17\""))
    })
}

/// The entity tag of a document that was last changed in a revision.
pub(crate) fn tag(revision: Revision) -> String {
    format!("\"{revision}\"")
}

/// What came of a write, for programs.
pub(crate) fn answer(written: &Written, mode: Mode, told: Told<'_>) -> Response {
    let everything = told.everything();
    let known = written.effects.iter().filter(|(key, _)| everything || told.may_know(key));
    let changes: Vec<Json_> = known.map(|(key, effect)| json!({"id": key, "effect": effect.word()})).collect();
    let (files, all) = (written.view.loaded.snapshot.files(), written.view.loaded.warnings.as_slice());
    let warnings = told.diagnostics(files, all, &written.view).into_iter();
    let warnings: Vec<Json_> = warnings.map(|warning| upheld_answers::diagnostic_json(files, warning)).collect();
    let created = mode == Mode::Commit && written.effects.iter().any(|(_, effect)| *effect != Effect::Unchanged);
    let mut body = serde_json::to_value(Stamp::of(&written.view)).unwrap_or_default();
    if let Some(fields) = body.as_object_mut() {
        fields.insert("revision".to_owned(), json!(written.revision));
        fields.insert("dryRun".to_owned(), json!(mode == Mode::DryRun));
        fields.insert("changes".to_owned(), json!(changes));
        fields.insert("diagnostics".to_owned(), json!(warnings));
        let is_of_another = mode == Mode::Commit && written.revision != written.view.revision();
        if !told.sees_all_of(&written.view) || is_of_another {
            // It goes over all documents, and those of a request that was made before were others.
            fields.shift_remove("digest");
        }
        if let Some(ruled) = written.ruled.as_ref().filter(|_| everything) {
            fields.insert("admission".to_owned(), json!(ruled));
        }
        if let Some(shifts) = written.shifts.as_ref().filter(|_| told.sees_all_of(&written.view)) {
            fields.insert("shifts".to_owned(), json!(shifts));
        }
    }
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    let mut response = (status, Json(body)).into_response();
    if mode == Mode::Commit {
        of_view(&mut response, Arc::clone(&written.view), told);
    }
    response
}

/// An answer that is of the view after a write.
pub(crate) fn of_view(response: &mut Response, view: Arc<View>, told: Told<'_>) {
    let sees_all = told.sees_all_of(&view);
    response.extensions_mut().insert(Asked(view));
    if !sees_all {
        response.extensions_mut().insert(Undigested);
    }
}

/// Why a write changed nothing, for programs.
pub(crate) fn refused(refusal: Refusal, told: Told<'_>, view: &View) -> Problem {
    let refusal = told.refusal(refusal, view);
    let failed = |detail: String| Problem::new(StatusCode::PRECONDITION_FAILED, "precondition-failed", detail);
    match refusal {
        Refusal::NotPermitted(problem) => *problem,
        Refusal::Broken(broken) => Problem::broken(&broken),
        Refusal::NotAdmitted(refused) if told.everything() => Problem::not_admitted(&refused),
        Refusal::NotAdmitted(refused) => Problem::not_admitted(&refused).without_reasons(),
        Refusal::Undone(undone) => undone.into(),
        Refusal::Store(error) => error.into(),
        Refusal::Condition(condition, found) => match (condition, found) {
            (Condition::At(wanted), found) => {
                failed(format!("the store is at revision {}, not at {wanted}", found.unwrap_or_default()))
            }
            (Condition::Unchanged(key, wanted), Some(found)) => {
                failed(format!("`{key}` was changed in revision {found}, after {wanted}"))
            }
            (Condition::Unchanged(key, _) | Condition::Present(key), _) => {
                Problem::not_found(format!("there is no document `{key}`"))
            }
            (Condition::Absent(key), _) => failed(format!("there already is a document `{key}`")),
        },
    }
}
