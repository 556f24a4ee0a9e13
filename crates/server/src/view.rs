//! What questions are asked of: a snapshot, and which one it is.

mod editions;
mod lists;
mod part;
mod shifts;
mod steps;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::http::HeaderValue;
use jiff::Timestamp;
use upheld_dialects::access::decider::{Decider, DecidingKind, WhichKind};
use upheld_dialects::access::{Edition, POLICY};
use upheld_dialects::dialect::Native;
use upheld_dialects::{Identities, default_editions};
use upheld_engine::Snapshot;
use upheld_loader::Input;
use upheld_loader::load::{Broken, Choices, Loaded};
use upheld_model::Diagnostic;
use upheld_store::{Revision, State, machine};

use self::editions::Others;
use self::lists::Lists;
pub(crate) use self::lists::{Counts, RowSort, Rows, WhichRows, count};
pub(crate) use self::part::{RoleLimits, Seen};
use self::steps::{Sources, Steps};
use crate::folders::Contents;

/// A snapshot with the state that it was made of. Never changes.
#[derive(Debug)]
pub(crate) struct View {
    /// What is asked.
    pub(crate) loaded: Loaded,
    /// The documents of the store.
    pub(crate) state: Arc<State>,
    /// The files beside them.
    pub(crate) files: Contents,
    /// When it was built.
    pub(crate) built: Timestamp,
    /// How long that took.
    pub(crate) took: Duration,
    /// How it was loaded.
    pub(crate) choices: Arc<Choices>,
    headers: Headers,
    /// What answers say about it in their bodies, once somebody asked.
    pub(crate) stamp: OnceLock<String>,
    sources: Sources,
    /// How many documents changed since everything was loaded.
    changes: usize,
    /// How many may change until everything is loaded anew.
    most_changes: usize,
    /// The same documents with the editions that APIs of original systems show, once somebody asked for them.
    inspected: OnceLock<Option<Box<Loaded>>>,
    lists: Lists,
    others: Others,
}

/// What answers say about their view, as headers.
#[derive(Debug)]
pub(crate) struct Headers {
    /// The fingerprint of everything that was read.
    pub(crate) digest: HeaderValue,
    /// The editions in force.
    pub(crate) semantics: HeaderValue,
}

/// So few changes never make it worth while to load everything anew.
const FEW: usize = 256;

/// A snapshot on its way into a view.
struct Made {
    loaded: Loaded,
    sources: Sources,
    changes: usize,
    most_changes: usize,
    begun: Instant,
}

/// What is no longer used stays behind; when it may be as much as what was used when everything was loaded, all is loaded anew.
fn most_changes(loaded: &Loaded) -> usize {
    let snapshot = &loaded.snapshot;
    let related: usize = snapshot.complies().map(|(_, comply)| comply.room()).sum();
    ((snapshot.policies().len() + snapshot.objects().len() + related) / 2).max(FEW)
}

impl View {
    /// Builds the view of stored documents and files. Takes a while: not for threads that answer.
    pub(crate) fn build(state: Arc<State>, files: Contents, choices: &Arc<Choices>) -> Result<Self, Box<Broken>> {
        let begun = Instant::now();
        let loaded = Choices::clone(choices).load_for_store(files.inputs().collect(), stored(&state))?;
        let sources = Sources::of(&loaded, &state, &files);
        let most_changes = most_changes(&loaded);
        Ok(Self::of(Made { loaded, sources, changes: 0, most_changes, begun }, state, files, choices))
    }

    /// The view of other documents. Computes what is not as it was.
    pub(crate) fn after(&self, state: Arc<State>, files: Contents) -> Result<Self, Box<Broken>> {
        let begun = Instant::now();
        let (steps, most_changes) = (Steps::between(self, &state, &files), self.most_changes);
        match steps.filter(|steps| self.changes + steps.changes.len() <= most_changes) {
            Some(Steps { changes, sources }) => {
                let count = self.changes + changes.len();
                let loaded = self.loaded.after(changes)?;
                Ok(Self::of(Made { loaded, sources, changes: count, most_changes, begun }, state, files, &self.choices))
            }
            None => Self::build(state, files, &self.choices),
        }
    }

    fn of(made: Made, state: Arc<State>, files: Contents, choices: &Arc<Choices>) -> Self {
        let Made { loaded, sources, changes, most_changes, begun } = made;
        let header = |text: &str| HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""));
        // The digest goes over all documents; nobody who asks should wait for that.
        let headers =
            Headers { digest: header(loaded.snapshot.digest()), semantics: header(&choices.semantics.join(", ")) };
        let choices = Arc::clone(choices);
        let (built, took) = (machine::now(), begun.elapsed());
        let (stamp, inspected, lists, others) = (OnceLock::new(), OnceLock::new(), Lists::default(), Others::default());
        Self {
            loaded,
            state,
            files,
            built,
            took,
            choices,
            headers,
            stamp,
            sources,
            changes,
            most_changes,
            inspected,
            lists,
            others,
        }
    }

    /// The last revision of the store that is in it.
    pub(crate) fn revision(&self) -> Revision {
        self.state.revision()
    }

    /// Says who documents are, by the kinds that are in force.
    pub(crate) fn identities(&self) -> Identities<'_> {
        Identities::of(&self.loaded.snapshot)
    }

    /// The names of the editions in force, as answers carry them.
    pub(crate) fn semantics(&self) -> &[String] {
        &self.choices.semantics
    }

    /// The fingerprint of everything that was read.
    pub(crate) fn digest(&self) -> &str {
        self.loaded.snapshot.digest()
    }

    /// What answers say about it, as headers.
    pub(crate) fn headers(&self) -> &Headers {
        &self.headers
    }

    /// Who decides requests: policies of the kind that was named, or of the one that is set.
    pub(crate) fn decider(&self, named: Option<&str>) -> Result<Decider<'_>, Diagnostic> {
        Decider::of(&self.loaded.snapshot, WhichKind::of(named, Some(self.deciding_kind())), self.edition())
    }

    /// The kind of policies that decides requests where nobody names another.
    pub(crate) fn deciding_kind(&self) -> &str {
        self.choices.settings.get::<DecidingKind>().map_or(POLICY, |kind| kind.0.as_str())
    }

    /// What the API of an original system is asked of. The first time may take a while: not for threads that answer.
    pub(crate) fn inspected(&self, native: &dyn Native) -> &Snapshot {
        let system = native.editions().first().and_then(|edition| edition.split_once('/')).map_or("", |(name, _)| name);
        let is_own = |edition: &str| edition.split_once('/').is_some_and(|(name, _)| name == system);
        let chosen = || self.semantics().iter().map(String::as_str).filter(|name| is_own(name));
        let usual = default_editions().filter(|name| is_own(name));
        // What is in force unless somebody chooses is nobody's choice.
        if chosen().next().is_some() && !chosen().eq(usual) {
            return &self.loaded.snapshot;
        }
        let built = self.inspected.get_or_init(|| {
            let others = self.semantics().iter().filter(|name| !is_own(name)).cloned();
            let semantics = others.chain(native.editions().iter().map(|name| (*name).to_owned())).collect();
            let choices = Choices { semantics, ..Choices::clone(&self.choices) };
            choices.load_for_store(self.files.inputs().collect(), stored(&self.state)).ok().map(Box::new)
        });
        // What cannot be read with these editions is shown with those that are in force.
        &built.as_deref().unwrap_or(&self.loaded).snapshot
    }

    /// How access policies and requests are read.
    pub(crate) fn edition(&self) -> Edition {
        self.semantics().iter().find_map(|name| Edition::of(name)).unwrap_or_default()
    }
}

fn stored(state: &State) -> Vec<Input> {
    state.iter().map(|(key, document)| steps::input(key, document)).collect()
}
