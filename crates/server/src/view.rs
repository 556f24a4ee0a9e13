//! What questions are asked of: a snapshot, and which one it is.

mod steps;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::http::HeaderValue;
use jiff::Timestamp;
use upheld_dialects::access::Edition;
use upheld_dialects::access::manifest::Manifest;
use upheld_dialects::kuma::DEFAULT_SEMANTICS;
use upheld_dialects::kuma::view::EDITION;
use upheld_engine::decide::Decide;
use upheld_engine::{KindId, Snapshot};
use upheld_input::load::{Broken, Choices, Loaded};
use upheld_input::{Format, Input};
use upheld_model::Files;
use upheld_store::{Revision, State};

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
    /// What decides while there is no policy: nobody is let in.
    closed: Option<Arc<Loaded>>,
    sources: Sources,
    /// How many documents changed since everything was loaded.
    changes: usize,
    /// The same documents with the editions that Kuma's inspection endpoints show, once somebody asked for them.
    inspected: OnceLock<Option<Box<Loaded>>>,
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
    /// If it is there already.
    closed: Option<Arc<Loaded>>,
    begun: Instant,
}

/// The editions that Kuma's inspection endpoints show, unless an operator names others of Kuma's.
const INSPECTED: [&str; 2] = [EDITION, "kuma/2"];

impl View {
    /// Builds the view of stored documents and files. Takes a while: not for threads that answer.
    pub(crate) fn build(state: Arc<State>, files: Contents, choices: &Arc<Choices>) -> Result<Self, Box<Broken>> {
        let begun = Instant::now();
        let loaded = Choices::clone(choices).load_for_store(files.inputs().collect(), stored(&state))?;
        let sources = Sources::of(&loaded, &state, &files);
        Self::of(Made { loaded, sources, changes: 0, closed: None, begun }, state, files, choices)
    }

    /// The view of other documents. Computes what is not as it was.
    pub(crate) fn after(&self, state: Arc<State>, files: Contents) -> Result<Self, Box<Broken>> {
        let begun = Instant::now();
        // What is no longer used stays behind; when it may be as much as what is used, all is loaded anew.
        let (policies, objects) = (self.loaded.snapshot.policies().len(), self.loaded.snapshot.objects().len());
        let most = policies.midpoint(objects).max(FEW);
        let steps = Steps::between(self, &state, &files);
        match steps.filter(|steps| self.changes + steps.changes.len() <= most) {
            Some(Steps { changes, sources }) => {
                let count = self.changes + changes.len();
                let loaded = self.loaded.after(changes)?;
                let closed = self.closed.clone();
                Self::of(Made { loaded, sources, changes: count, closed, begun }, state, files, &self.choices)
            }
            None => Self::build(state, files, &self.choices),
        }
    }

    fn of(made: Made, state: Arc<State>, files: Contents, choices: &Arc<Choices>) -> Result<Self, Box<Broken>> {
        let Made { loaded, sources, changes, closed, begun } = made;
        let closed = match (loaded.snapshot.decides().next(), closed) {
            (Some(_), _) => None,
            (None, Some(closed)) => Some(closed),
            (None, None) => {
                let nothing = Input::text("builtin:nobody.json", Format::Json, r#"{"policies": []}"#);
                Some(Arc::new(Choices::clone(choices).load_for_store(vec![nothing], Vec::new())?))
            }
        };
        let header = |text: &str| HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""));
        // The digest goes over all documents; nobody who asks should wait for that.
        let headers =
            Headers { digest: header(loaded.snapshot.digest()), semantics: header(&choices.semantics.join(", ")) };
        let choices = Arc::clone(choices);
        let (built, took) = (Timestamp::now(), begun.elapsed());
        let (stamp, inspected) = (OnceLock::new(), OnceLock::new());
        Ok(Self { loaded, state, files, built, took, choices, headers, stamp, closed, sources, changes, inspected })
    }

    /// The last revision of the store that is in it.
    pub(crate) fn revision(&self) -> Revision {
        self.state.revision()
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

    /// The policies that decide requests: those of the kind that was named, or the first. There always are some: without
    /// policies, the default effect decides.
    pub(crate) fn decider(&self, named: Option<&str>) -> Option<Decider<'_>> {
        let loaded = self.closed.as_deref().unwrap_or(&self.loaded);
        let snapshot = &loaded.snapshot;
        let name = |id: KindId| snapshot.kind(id).map_or("", |kind| snapshot.text(kind.name));
        let mut all = snapshot.decides();
        let (id, decide) = match named {
            Some(named) => all.find(|(id, _)| name(*id).eq_ignore_ascii_case(named))?,
            None => all.next()?,
        };
        let kind = snapshot.kind(id)?;
        let manifest = loaded.manifests.iter().find(|(name, _)| *name == kind.name);
        let manifest = manifest.map(|(_, manifest)| manifest.as_ref());
        Some(Decider { decide, manifest, files: snapshot.files() })
    }

    /// What Kuma's inspection endpoints are asked of. The first time may take a while: not for threads that answer.
    pub(crate) fn inspected(&self) -> &Snapshot {
        let of_kuma = || self.semantics().iter().map(String::as_str).filter(|name| name.starts_with("kuma/"));
        // What is in force unless somebody chooses is nobody's choice.
        if of_kuma().next().is_some() && !of_kuma().eq(DEFAULT_SEMANTICS) {
            return &self.loaded.snapshot;
        }
        let built = self.inspected.get_or_init(|| {
            let others = self.semantics().iter().filter(|name| !name.starts_with("kuma/")).cloned();
            let semantics = others.chain(INSPECTED.map(str::to_owned)).collect();
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

/// Policies that decide requests, with all that belongs to them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decider<'v> {
    /// The policies.
    pub(crate) decide: &'v Decide,
    /// The settings beside them.
    pub(crate) manifest: Option<&'v Manifest>,
    /// Where they were written.
    pub(crate) files: &'v Files,
}
