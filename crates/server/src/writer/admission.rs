//! Whether a write may be: dialects judge what it changes, and what they let through is on record in the same revision.

use std::sync::Arc;

use jiff::Timestamp;
use upheld_dialects::dialect::{DocumentWriter, RecordChange, WriteTime, dialects};
use upheld_governance::Outcome;
use upheld_model::SourceId;
use upheld_report::compliance::Ruled;
use upheld_store::{Change, Key};
use upheld_syntax::{Format, parse};

use super::{Author, Refusal, unfinished};
use crate::view::View;

/// Why a write may not be.
#[derive(Debug)]
pub(crate) struct NotAdmitted {
    /// In a word.
    pub(crate) outcome: Outcome,
    /// With its reasons.
    pub(crate) ruled: Ruled,
}

/// A write that may be.
pub(super) struct Planned {
    /// The view after it.
    pub(super) view: Arc<View>,
    /// What is written, records included.
    pub(super) changes: Vec<Change>,
    /// What was said of it.
    pub(super) ruled: Option<Ruled>,
}

/// Builds the view after some changes and asks whether they may be. It takes a while, so no thread that answers does it.
pub(super) async fn plan(
    before: Arc<View>,
    changes: Vec<Change>,
    author: Author,
    time: Timestamp,
) -> Result<Planned, Refusal> {
    let planned = tokio::task::spawn_blocking(move || judged(&before, changes, &author, time)).await;
    planned.unwrap_or_else(|_| Err(Refusal::Broken(unfinished())))
}

fn judged(before: &View, mut changes: Vec<Change>, author: &Author, time: Timestamp) -> Result<Planned, Refusal> {
    let after = |changes: &[Change]| {
        let view = before.after(Arc::new(before.state.with(changes)), before.files.clone());
        view.map(Arc::new).map_err(Refusal::Broken)
    };
    let view = after(&changes)?;
    let Author::Caller(caller) = author else { return Ok(Planned { view, changes, ruled: None }) };
    let writer = DocumentWriter { name: &caller.name, roles: &caller.roles };
    let now = upheld_model::Timestamp(i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX));
    let time = WriteTime { now, revision: view.revision().0 };
    let (mut said, mut records) = (None, Vec::new());
    for dialect in dialects() {
        let admitted = dialect.admit(&before.loaded.snapshot, &view.loaded.snapshot, writer, time);
        let Some(admitted) = admitted else { continue };
        if !admitted.outcome.is_done() {
            let refused = NotAdmitted { outcome: admitted.outcome, ruled: admitted.ruled };
            return Err(Refusal::NotAdmitted(Box::new(refused)));
        }
        said = Some(admitted.ruled);
        records.extend(admitted.records.iter().filter_map(change));
    }
    if records.is_empty() {
        return Ok(Planned { view, changes, ruled: said });
    }
    changes.extend(records);
    Ok(Planned { view: after(&changes)?, changes, ruled: said })
}

/// A record, under the name that its dialect gives it.
fn change(record: &RecordChange) -> Option<Change> {
    let (RecordChange::Put(document) | RecordChange::Gone(document)) = record;
    let text = document.to_string();
    let (file, _) = parse("record", Format::Json, text.clone(), SourceId::new(0));
    let identity = upheld_dialects::identity(file.tree.documents().next()?)?;
    let key = Key::new(&identity.kind, &identity.scope, &identity.name).ok()?;
    Some(match record {
        RecordChange::Put(_) => Change::Put { key, text: text.into() },
        RecordChange::Gone(_) => Change::Delete { key },
    })
}
