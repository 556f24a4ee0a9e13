//! Whether a write may be: dialects judge what it changes, and what they let through is on record in the same revision.

use std::sync::Arc;

use jiff::Timestamp;
use upheld_dialects::Identity;
use upheld_dialects::dialect::{DocumentWriter, RecordChange, WriteTime, WrittenDocument, dialects};
use upheld_governance::Outcome;
use upheld_loader::Format;
use upheld_report::compliance::Ruled;
use upheld_store::{Change, Key};

use super::{Author, Refusal, unfinished};
use crate::auth::Standing;
use crate::documents::{Body, Named};
use crate::view::View;

/// Why a write may not be.
#[derive(Debug)]
pub(crate) struct NotAdmitted {
    /// In a word.
    pub(crate) outcome: Outcome,
    /// With its reasons.
    pub(crate) ruled: Ruled,
}

impl NotAdmitted {
    /// The same for whoever may not know what their write would replace.
    pub(super) fn without_reasons(self) -> Self {
        let answer = "FORBIDDEN: it replaces what does not belong to where your roles hold.".to_owned();
        let outcome = Outcome::Forbidden;
        let (violations, standing) = (Vec::new(), Vec::new());
        let ruled = Ruled { answer, outcome: outcome.word().into(), violations, standing, ..self.ruled };
        Self { outcome, ruled }
    }
}

/// A write that may be.
pub(super) struct Planned {
    /// The view after it.
    pub(super) view: Arc<View>,
    /// What is written, records included.
    pub(super) changes: Vec<Change>,
    /// What was said of it.
    pub(super) ruled: Option<Ruled>,
    /// The same in a word.
    pub(super) outcome: Option<Outcome>,
}

/// Asks whether changes may be that lead from one view to another. It takes a while, so no thread that answers does it.
pub(super) fn judged(
    before: &View,
    view: Arc<View>,
    mut changes: Vec<Change>,
    author: &Author,
    time: Timestamp,
) -> Result<Planned, Refusal> {
    let caller = match author {
        Author::Caller { caller, .. } if caller.standing == Standing::Guarded => caller,
        // Where nobody asks who anybody is, there is nobody to judge.
        Author::Caller { .. } | Author::Server(_) => {
            return Ok(Planned { view, changes, ruled: None, outcome: None });
        }
    };
    let writer = DocumentWriter { name: &caller.name, roles: &caller.roles };
    let now = super::nanoseconds(time);
    let time = WriteTime { now, revision: view.revision().0 };
    let (mut said, mut outcome, mut records) = (None, None, Vec::new());
    for dialect in dialects() {
        let admitted = dialect.admit(&before.loaded.snapshot, &view.loaded.snapshot, writer, time);
        let Some(admitted) = admitted else { continue };
        if !admitted.outcome.is_done() {
            let refused = NotAdmitted { outcome: admitted.outcome, ruled: admitted.ruled };
            return Err(Refusal::NotAdmitted(Box::new(refused)));
        }
        outcome = Some(admitted.outcome);
        said = Some(admitted.ruled);
        let kept: Option<Vec<Change>> = admitted.records.iter().map(|record| change(&view, record)).collect();
        // What cannot be put on record is not let through.
        records.extend(kept.ok_or_else(|| Refusal::Broken(Box::new(unfinished())))?);
    }
    if records.is_empty() {
        return Ok(Planned { view, changes, ruled: said, outcome });
    }
    changes.extend(records);
    let view = before.after(Arc::new(before.state.with(&changes)), before.files.clone()).map_err(Refusal::Broken)?;
    Ok(Planned { view: Arc::new(view), changes, ruled: said, outcome })
}

/// Changes, and what becomes of stored notes about the past because of them.
pub(super) fn with_notes(before: &View, changes: &[Change]) -> Vec<Change> {
    let identities: Vec<Identity> = changes.iter().map(|change| identity(change.key())).collect();
    let written = identities.iter().zip(changes).map(|(identity, own)| match own {
        Change::Put { text, .. } => WrittenDocument { identity, text: Some(text) },
        Change::Delete { .. } => WrittenDocument { identity, text: None },
    });
    let written: Vec<WrittenDocument<'_>> = written.collect();
    let notes = dialects().flat_map(|dialect| dialect.superseded(&before.loaded.snapshot, &written));
    let notes = notes.filter_map(|note| change(before, &note));
    // Notes that stand in files are their owner's.
    let notes = notes.filter(|note| before.state.get(note.key()).is_some());
    changes.iter().cloned().chain(notes).collect()
}

fn identity(key: &Key) -> Identity {
    Identity::new(key.kind(), key.scope(), key.name())
}

/// A record, under the name that its dialect gives it.
fn change(view: &View, record: &RecordChange) -> Option<Change> {
    let (RecordChange::Put(document) | RecordChange::Gone(document)) = record;
    let body = Body::read(document.to_string().as_bytes(), Format::Json).ok()?;
    let Named { key, text } = body.named(&view.identities(), body.only().ok()?).ok()?;
    Some(match record {
        RecordChange::Put(_) => Change::Put { key, text },
        RecordChange::Gone(_) => Change::Delete { key },
    })
}
