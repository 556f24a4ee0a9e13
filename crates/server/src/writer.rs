//! The way of a write: the view that it would lead to is built first, dialects are asked whether it may be, then the log goes on, then the
//! view is swapped in.

mod admission;
mod effect;
mod tolerated;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use tokio::sync::{Mutex, MutexGuard};
use upheld_governance::Outcome;
use upheld_loader::load::Broken;
use upheld_report::{Shifts, compliance::Ruled};
use upheld_store::{Appended, Batch, Change, IdempotencyKey, Key, Revision, State, Store, StoreError, machine};

pub(crate) use self::admission::NotAdmitted;
use self::admission::{Planned, judged, with_notes};
pub(crate) use self::effect::Effect;
use self::effect::effective;
use self::tolerated::{can_match, is_affordable};
use crate::auth::{Access, Caller, Operation};
use crate::folders::Folders;
use crate::limits::{Undone, at_length, heavy};
use crate::live::Live;
use crate::moves::Moves;
use crate::problem::Problem;
use crate::telemetry::{Asked, Metrics, Reloaded};
use crate::view::View;

/// Changes documents, one write at a time.
#[derive(Debug)]
pub(crate) struct Writer {
    live: Arc<Live>,
    store: Arc<dyn Store>,
    folders: Arc<Folders>,
    metrics: Arc<Metrics>,
    /// The most steps that one request may take under policies that are written.
    most_steps: Option<usize>,
    /// Whoever builds the next view holds this.
    turn: Mutex<()>,
    /// Whether the store could not keep what was written last.
    failing: AtomicBool,
}

/// What somebody wants to change.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) author: Author,
    pub(crate) message: Option<String>,
    pub(crate) changes: Vec<Change>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) idempotency: Option<IdempotencyKey>,
    pub(crate) mode: Mode,
}

/// Who writes.
#[derive(Clone, Debug)]
pub(crate) enum Author {
    /// The server itself, for its own reasons.
    Server(&'static str),
    /// Somebody who asked: what they write is judged by the roles that they proved.
    Caller {
        caller: Caller,
        access: Access,
        /// The right that they need on every document that becomes another.
        right: Operation,
    },
}

impl Author {
    /// What the log calls them.
    fn name(&self) -> String {
        match self {
            Self::Server(name) => (*name).to_owned(),
            // With how they proved it: whoever has a token of that name is not whoever an issuer calls so.
            Self::Caller { caller, .. } => caller.to_string(),
        }
    }

    /// Which of the documents that they name are there and kept from them by their roles.
    fn kept(&self, before: &View, named: &[Change]) -> Vec<Key> {
        let Self::Caller { access, .. } = self else { return Vec::new() };
        let limits = before.role_limits(access);
        let is_kept =
            |key: &&Key| before.state.get(key).is_some_and(|document| !limits.show_written(key, Some(&document.text)));
        named.iter().map(Change::key).filter(is_kept).cloned().collect()
    }

    /// Whether they may change the documents that they name.
    fn may_change(&self, before: &View, named: &[Change]) -> Result<(), Refusal> {
        let Self::Caller { access, right, .. } = self else { return Ok(()) };
        let needed = named.iter().try_for_each(|change| access.need(*right, before, change.key()));
        needed.map_err(|problem| Refusal::NotPermitted(Box::new(problem)))
    }

    /// Whether they may change what becomes another besides the documents that they name.
    fn may_change_besides(&self, before: &View, named: &[Change], all: &[Change]) -> Result<(), Refusal> {
        let Self::Caller { access, right, .. } = self else { return Ok(()) };
        let named: HashSet<&Key> = named.iter().map(Change::key).collect();
        let others = all.iter().map(Change::key).filter(|key| !named.contains(key));
        let needed = access.need_besides(*right, before, others);
        needed.map_err(|problem| Refusal::NotPermitted(Box::new(problem)))
    }
}

/// Whether it is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It is.
    Commit,
    /// Only what would happen is wanted.
    DryRun,
}

/// What must be so, or nothing happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The whole store is at this revision.
    At(Revision),
    /// The document was last changed in this revision.
    Unchanged(Key, Revision),
    /// There is such a document.
    Present(Key),
    /// There is no such document.
    Absent(Key),
}

/// What came of a write.
#[derive(Debug)]
pub(crate) struct Written {
    /// The view after it.
    pub(crate) view: Arc<View>,
    /// The revision that it is, or would be; the one before if nothing changed.
    pub(crate) revision: Revision,
    /// What happened to each document.
    pub(crate) effects: Vec<(Key, Effect)>,
    /// What was said of it, where somebody has a say.
    pub(crate) ruled: Option<Ruled>,
    /// What it would change, of a write that is not meant.
    pub(crate) shifts: Option<Shifts>,
    /// What was said of it, in a word.
    admitted: Option<Outcome>,
}

/// Why a write changed nothing.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Something was not as its author thought.
    Condition(Condition, Option<Revision>),
    /// Its author does not have the right to all that would become another.
    NotPermitted(Box<Problem>),
    /// The documents would make no snapshot.
    Broken(Box<Broken>),
    /// It may not be.
    NotAdmitted(Box<NotAdmitted>),
    /// What it would change was not found out.
    Undone(Undone),
    /// The store could not.
    Store(StoreError),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// How often a write tries again because another server was faster.
const TRIES: usize = 8;

impl Writer {
    pub(crate) fn new(
        live: Arc<Live>,
        store: Arc<dyn Store>,
        folders: Arc<Folders>,
        metrics: Arc<Metrics>,
        most_steps: Option<usize>,
    ) -> Self {
        Self { live, store, folders, metrics, most_steps, turn: Mutex::default(), failing: AtomicBool::new(false) }
    }

    /// Writes, or says what it would do.
    pub(crate) async fn write(&self, write: Write) -> Result<Written, Refusal> {
        let asked = if write.mode == Mode::DryRun { Asked::DryRun } else { Asked::Write };
        let written = self.write_in_turn(write).await;
        let outcome = match &written {
            Ok(written) => written.admitted,
            Err(Refusal::NotAdmitted(refused)) => Some(refused.outcome),
            Err(_) => None,
        };
        if let Some(outcome) = outcome {
            self.metrics.admitted(asked, outcome);
        }
        written
    }

    async fn write_in_turn(&self, write: Write) -> Result<Written, Refusal> {
        // Whoever only asks holds nobody up.
        if write.mode == Mode::DryRun {
            return self.try_write(&write).await;
        }
        let turn = self.turn.lock().await;
        for _ in 0..TRIES {
            match self.try_write(&write).await {
                // Another server wrote in between: what it wrote is looked at, and the conditions hold or do not.
                Err(Refusal::Store(StoreError::Conflict(_))) => self.catch_up(&turn).await?,
                Err(refusal @ Refusal::Store(_)) => return Err(refusal),
                // What is refused for what was there before may be right for what is there now.
                Err(refusal) if self.is_behind().await? => {
                    tracing::debug!(?refusal, "another server wrote; the write is looked at again");
                    self.catch_up(&turn).await?;
                }
                other => return other,
            }
        }
        if write.conditions.is_empty() {
            // Nothing was as its author did not expect: there is only too much going on.
            return Err(Refusal::Store(StoreError::Unreachable("other servers write all the time".to_owned())));
        }
        Err(Refusal::Store(StoreError::Conflict(self.live.view().revision())))
    }

    async fn try_write(&self, write: &Write) -> Result<Written, Refusal> {
        let before = self.live.view();
        write.author.may_change(&before, &write.changes)?;
        if let Some(known) = self.repeated(write, &before).await? {
            return Ok(known);
        }
        let kept = write.author.kept(&before, &write.changes);
        for condition in &write.conditions {
            condition.check(&before.state, &kept)?;
        }
        // Those who judge a write say why it may not be; what they let through, roles may still keep from its author.
        let kept = || match kept.first() {
            Some(key) => Err(Refusal::NotPermitted(Box::new(Access::kept(key)))),
            None => Ok(()),
        };
        let wanted = with_notes(&before, &write.changes);
        let (mut changes, mut effects) = effective(&before.state, &wanted);
        if changes.is_empty() {
            // Another server may have changed it since.
            if write.mode == Mode::Commit && self.is_behind().await? {
                return Err(Refusal::Store(StoreError::Conflict(before.revision())));
            }
            kept()?;
            let mut revision = before.revision();
            if let Some(key) = &write.idempotency {
                revision = self.store.remember(key.clone(), Some(revision), machine::now()).await?;
            }
            return Ok(Written { revision, view: before, effects, ruled: None, shifts: None, admitted: None });
        }
        let mut view = next(Arc::new(before.state.with(&changes)), Arc::clone(&before), write.mode).await?;
        can_match(&view, &changes).map_err(Refusal::Broken)?;
        is_affordable(&before, &view, self.most_steps).map_err(Refusal::Broken)?;
        if let Some(moved) = Moves::after(&changes, &view) {
            (changes, effects) = effective(&before.state, &moved);
            let after = Arc::new(before.state.with(&changes));
            view = next(after, Arc::clone(&before), write.mode).await?;
        }
        write.author.may_change_besides(&before, &write.changes, &changes)?;
        let time = machine::now();
        let (was, author) = (Arc::clone(&before), write.author.clone());
        let judged = worked(write.mode, move || judged(&was, view, changes, &author, time)).await;
        let Planned { view, changes, ruled, outcome: admitted } = match judged.and_then(|judged| judged) {
            // What is kept from its author is not told by a refusal, either.
            Err(Refusal::NotAdmitted(refused)) if kept().is_err() => {
                return Err(Refusal::NotAdmitted(Box::new(refused.without_reasons())));
            }
            judged => judged?,
        };
        kept()?;
        if write.mode == Mode::DryRun {
            let (after, moment) = (Arc::clone(&view), nanoseconds(time));
            let shifts =
                at_length(heavy(move || before.shifts_to(&after, moment, 0))).await.map_err(Refusal::Undone)?;
            return Ok(Written { revision: view.revision(), view, effects, ruled, shifts: Some(shifts), admitted });
        }
        let Write { author, message, idempotency, .. } = write.clone();
        let (after, seen) = (before.revision(), Some(before.state.digest()));
        let batch = Batch { after, seen, time, actor: author.name(), message, changes, idempotency };
        let appended = self.store.append(batch).await;
        let failed = matches!(appended, Err(StoreError::Unreachable(_) | StoreError::Unusable(_)));
        self.failing.store(failed, Ordering::Relaxed);
        match appended? {
            Appended::Now(revision, _) => {
                self.live.swap(Arc::clone(&view));
                Ok(Written { view, revision, effects, ruled, shifts: None, admitted })
            }
            Appended::Before(revision) if revision > before.revision() => Err(StoreError::Conflict(revision).into()),
            Appended::Before(revision) => {
                Ok(Written { view: before, revision, effects, ruled: None, shifts: None, admitted: None })
            }
        }
    }

    /// Why writes are not kept, if they are not. Whoever wrote last found out; until somebody writes again, a write that changes nothing does.
    pub(crate) async fn problem(&self) -> Option<StoreError> {
        if !self.failing.load(Ordering::Relaxed) {
            return None;
        }
        let error = self.store.try_write().await.err();
        self.failing.store(error.is_some(), Ordering::Relaxed);
        error
    }

    /// What the same request came to when it was made before. The store knows; the changes are not looked at again.
    async fn repeated(&self, write: &Write, before: &Arc<View>) -> Result<Option<Written>, Refusal> {
        let Some(key) = &write.idempotency else { return Ok(None) };
        let Some(revision) = self.store.remembered(key).await? else { return Ok(None) };
        if revision > before.revision() {
            // It was made by another server. What is acknowledged here can be read here.
            return Err(StoreError::Conflict(revision).into());
        }
        let effects = write.changes.iter().map(|change| (change.key().clone(), Effect::Unchanged)).collect();
        Ok(Some(Written { view: Arc::clone(before), revision, effects, ruled: None, shifts: None, admitted: None }))
    }

    /// Takes in what other servers wrote.
    pub(crate) async fn refresh(&self) -> Result<(), Refusal> {
        let turn = self.turn.lock().await;
        self.catch_up(&turn).await
    }

    async fn catch_up(&self, _turn: &MutexGuard<'_, ()>) -> Result<(), Refusal> {
        const AT_ONCE: usize = 1000;
        let before = self.live.view();
        let mut state = (*before.state).clone();
        self.is_same_log(&state).await?;
        loop {
            let entries = match self.store.entries(state.revision(), AT_ONCE).await {
                Ok(entries) => entries,
                // So much happened that the way there is forgotten.
                Err(StoreError::Compacted { .. }) => {
                    state = self.store.state(None).await?;
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            let all = entries.len() < AT_ONCE;
            for entry in &entries {
                state.apply(entry);
                if state.digest() != entry.digest {
                    let message = format!(
                        "it is damaged: the digest of revision {} is not that of its documents",
                        entry.revision
                    );
                    return Err(StoreError::Unusable(message).into());
                }
            }
            if all {
                break;
            }
        }
        if state.revision() == before.revision() {
            return Ok(());
        }
        match next(Arc::new(state), before, Mode::Commit).await {
            Ok(view) => self.live.swap(view),
            Err(Refusal::Broken(broken)) => {
                tracing::error!(
                    problems = broken.diagnostics.errors(),
                    "what another server wrote cannot be read together with the files here; the last good snapshot stays in use"
                );
                self.folders.note(Some(broken));
            }
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// Whether another server wrote what is not in the view here. A database that was put back may have come to the same revision again.
    async fn is_behind(&self) -> Result<bool, StoreError> {
        let (head, view) = (self.store.head().await?, self.live.view());
        Ok((head.revision, head.digest) != (view.revision(), view.state.digest()))
    }

    /// Whether the log still has the past that was read: a database that was put back to an earlier state has another one.
    pub(crate) async fn is_same_log(&self, state: &State) -> Result<(), StoreError> {
        match self.store.digest(state.revision()).await {
            Ok(digest) if digest != state.digest() => {
                let last = self.store.head().await?.revision;
                Err(StoreError::Diverged { own: state.revision(), last })
            }
            Err(StoreError::Future { asked, last }) => Err(StoreError::Diverged { own: asked, last }),
            // What came before is forgotten; everything is read again.
            Ok(_) | Err(StoreError::Compacted { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Reads files again.
    pub(crate) async fn reload(&self) -> Reloaded {
        let _turn = self.turn.lock().await;
        let before = self.live.view();
        let folders = Arc::clone(&self.folders);
        let read = machine::aside(move || folders.read()).await;
        let contents = match read {
            Ok(Ok(contents)) => contents,
            Ok(Err(broken)) => {
                self.refuse_files(broken);
                return Reloaded::Broken;
            }
            Err(_) => return Reloaded::Broken,
        };
        if contents.same_as(&before.files) && self.folders.problem().is_none() {
            return Reloaded::Unchanged;
        }
        let state = Arc::clone(&before.state);
        match machine::aside(move || before.after(state, contents)).await {
            Ok(Ok(view)) => {
                self.folders.note(None);
                tracing::info!(digest = view.digest(), "files were reloaded");
                self.live.swap(Arc::new(view));
                Reloaded::Changed
            }
            Ok(Err(broken)) => {
                self.refuse_files(broken);
                Reloaded::Broken
            }
            Err(_) => Reloaded::Broken,
        }
    }

    fn refuse_files(&self, broken: Box<Broken>) {
        let first = broken.diagnostics.as_slice().first().map_or("", |diagnostic| diagnostic.message.as_str());
        tracing::error!(
            problems = broken.diagnostics.errors(),
            first,
            "files are invalid; the last good snapshot stays in use"
        );
        self.folders.note(Some(broken));
    }
}

/// Works on a write where nobody waits for it who answers. What is only asked about waits for its turn, and ends with whoever asks.
async fn worked<T: Send + 'static>(mode: Mode, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refusal> {
    match mode {
        Mode::DryRun => heavy(work).await.map_err(Refusal::Undone),
        Mode::Commit => machine::aside(work).await.map_err(|_| Refusal::Broken(Box::new(unfinished()))),
    }
}

/// The view after what changed in the store.
async fn next(state: Arc<State>, before: Arc<View>, mode: Mode) -> Result<Arc<View>, Refusal> {
    let built = worked(mode, move || before.after(state, before.files.clone())).await?;
    built.map(Arc::new).map_err(Refusal::Broken)
}

/// Nobody was there to the end.
fn unfinished() -> Broken {
    Broken { files: upheld_model::Files::default(), diagnostics: upheld_model::Diagnostics::default() }
}

impl Condition {
    /// What is kept from its author is not there for them.
    fn check(&self, state: &State, kept: &[Key]) -> Result<(), Refusal> {
        let found = |key: &Key| state.get(key).filter(|_| !kept.contains(key)).map(|document| document.revision);
        let (holds, found) = match self {
            Self::At(revision) => (*revision == state.revision(), Some(state.revision())),
            Self::Unchanged(key, revision) => (found(key) == Some(*revision), found(key)),
            Self::Present(key) => (found(key).is_some(), None),
            Self::Absent(key) => (found(key).is_none(), found(key)),
        };
        if holds { Ok(()) } else { Err(Refusal::Condition(self.clone(), found)) }
    }
}

fn nanoseconds(time: Timestamp) -> upheld_model::Timestamp {
    upheld_model::Timestamp(i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX))
}
