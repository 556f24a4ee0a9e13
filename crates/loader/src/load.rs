//! From inputs to a snapshot: read, recognise, index. What a program that embeds `upheld` starts with.

mod after;
mod without;

use std::any::Any;
use std::sync::Arc;

use upheld_dialects::recognise::{self, Before, IMPLIED, Kustomizations, Surroundings};
use upheld_dialects::schemas::Schemas;
use upheld_dialects::{Dialect, Reading, Recognised, SetAside, builtin, dialects, recognise_with};
use upheld_engine::comply::Profile;
use upheld_engine::digest::{Encoder, Fingerprint};
use upheld_engine::{Companions, PolicyKind, Snapshot, Texts};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Diagnostics, Fault, Files, SourceId};
use upheld_syntax::{Format, parse};

pub use self::after::Change;
use crate::aside::LeftAside;
use crate::read::Origin;
use crate::{Input, foreign, read};

/// A snapshot, with what is worth knowing about how it came about.
#[derive(Debug)]
pub struct Loaded {
    /// Everything that questions are asked of.
    pub snapshot: Snapshot,
    /// Warnings; there are no errors.
    pub warnings: Diagnostics,
    /// Documents that were left out because they are not ours to resolve.
    pub set_aside: Arc<SetAside>,
    /// Files that were left out because they are not ours.
    pub left_aside: Arc<LeftAside>,
    choices: Arc<Choices>,
    /// Where documents stand that nobody wrote.
    implied: SourceId,
    /// Warnings about texts, whatever they mean.
    about_texts: Vec<Diagnostic>,
}

/// How inputs are read.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// The editions in force.
    pub semantics: Vec<String>,
    /// What dialects are reported besides, found by its type.
    pub settings: Companions,
}

/// Inputs with at least one error. Nothing is answered from them: an answer without the broken policy could be wrong.
#[derive(Debug)]
pub struct Broken {
    /// The files, to show the places.
    pub files: Files,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// Loads inputs together with the built-in kinds.
///
/// ```
/// use upheld_loader::{Format, Input, load::load};
///
/// let policy = "
/// type: TrafficLog
/// name: all
/// mesh: default
/// sources: [{match: {kuma.io/service: '*'}}]
/// destinations: [{match: {kuma.io/service: '*'}}]
/// conf: {backend: splunk}
/// ";
/// let loaded = load(vec![Input::text("all.yaml", Format::Yaml, policy)], &["kuma/0.3"]).unwrap();
/// assert_eq!(loaded.snapshot.policies().len(), 1);
/// ```
pub fn load(inputs: Vec<Input>, semantics: &[&str]) -> Result<Loaded, Box<Broken>> {
    Choices::of_semantics(semantics).load(inputs)
}

impl Loaded {
    /// The first of the documents of a store; the others follow in order.
    pub fn first_stored(&self) -> SourceId {
        SourceId::new(self.implied.index() + 1)
    }

    /// The same, with what was left out before anything was read.
    #[must_use]
    pub fn leaving_aside(self, aside: LeftAside) -> Self {
        let mut left_aside = LeftAside::clone(&self.left_aside);
        left_aside.extend(aside);
        Self { left_aside: Arc::new(left_aside), ..self }
    }

    /// Does something while another thread makes the digest of the snapshot: that takes a while where there are a million documents.
    pub fn beside_digest<T>(&self, work: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            scope.spawn(|| self.snapshot.digest());
            work()
        })
    }

    fn before(&self) -> Before<'_> {
        let Self { snapshot, warnings, set_aside, implied, .. } = self;
        Before { snapshot, warnings, set_aside, implied: *implied }
    }
}

impl Choices {
    /// The usual ones, with these editions in force.
    pub fn of_semantics(semantics: &[&str]) -> Self {
        Self { semantics: semantics.iter().copied().map(str::to_owned).collect(), ..Self::default() }
    }

    /// Loads inputs together with the built-in kinds.
    pub fn load(self, inputs: Vec<Input>) -> Result<Loaded, Box<Broken>> {
        self.load_with(inputs, Vec::new())
    }

    /// With something that a dialect is reported besides the documents.
    #[must_use]
    pub fn with<T: Any + Send + Sync>(self, setting: T) -> Self {
        Self { settings: self.settings.with(Arc::new(setting)), ..self }
    }

    /// Without a look at the fields of known kinds: what policies say is passed on as it is.
    #[must_use]
    pub fn without_schemas(self) -> Self {
        self.with(Schemas::Off)
    }

    /// As [`Self::load`], for programs with a store of their own. The documents of the store come after all others; see
    /// [`Loaded::after`] for what happens when they change.
    pub fn load_for_store(self, inputs: Vec<Input>, stored: Vec<Input>) -> Result<Loaded, Box<Broken>> {
        // Who writes something that is there already must learn that it does not count.
        let settings = self.settings.with(Arc::new(Surroundings::Own));
        let settings = dialects().fold(settings, |settings, dialect| dialect.for_store(settings));
        Self { settings, ..self }.load_with(inputs, stored)
    }

    /// What stands in no document, and can change an answer all the same. Editions are those of the kinds in force.
    fn fingerprint(&self) -> Fingerprint {
        let mut encoder = Encoder::default();
        for (dialect, own) in dialects().filter_map(|one| Some((one, one.fingerprint(&self.settings)?))) {
            encoder.word(dialect.name());
            encoder.fingerprint(&own);
        }
        encoder.finish()
    }

    fn names(&self) -> Vec<&str> {
        self.semantics.iter().map(String::as_str).collect()
    }

    fn reading<'r>(&'r self, semantics: &'r [&'r str]) -> Reading<'r> {
        Reading { semantics, settings: &self.settings }
    }

    fn load_with(self, inputs: Vec<Input>, stored: Vec<Input>) -> Result<Loaded, Box<Broken>> {
        let builtin = builtin().map(|document| Input::text(document.name, Format::Yaml, document.text));
        let mut all: Vec<Input> = inputs.into_iter().chain(builtin).collect();
        let implied = SourceId::new(all.len());
        all.push(Input::text(IMPLIED, Format::Yaml, ""));
        all.extend(stored);
        let origins: Vec<Origin> = all.iter().map(Input::origin).collect();
        let (mut files, about_texts) = read(all);
        let (about_texts, mut left_aside) = match self.settings.get().copied().unwrap_or_default() {
            Surroundings::Own => (about_texts, LeftAside::default()),
            Surroundings::Mixed => foreign::leave_aside(&mut files, &origins, about_texts, self.reading(&self.names())),
        };
        let loaded = Arc::new(self).recognise(files, implied, about_texts, None)?;
        left_aside.kustomizations.extend(Kustomizations::in_snapshot(&loaded.snapshot).changing().map(str::to_owned));
        Ok(Loaded { left_aside: Arc::new(left_aside), ..loaded })
    }

    /// Recognises all documents, those that are known from before with less work.
    fn recognise(
        self: Arc<Self>,
        mut files: Files,
        implied: SourceId,
        about_texts: Diagnostics,
        before: Option<Before<'_>>,
    ) -> Result<Loaded, Box<Broken>> {
        files.put(implied, None);
        let text = recognise::implied(&files, &self.settings);
        files.put(implied, text.map(|text| parse(IMPLIED, Format::Yaml, text, implied).0));
        let semantics = self.names();
        let reading = self.reading(&semantics);
        let Recognised {
            draft,
            kinds,
            indexed,
            companions,
            other_editions,
            editions,
            diagnostics: found,
            set_aside,
            documents,
            ..
        } = recognise_with(reading, &files, before);
        let mut diagnostics = about_texts;
        let about_texts = diagnostics.as_slice().to_vec();
        let unknown: Vec<Diagnostic> = semantics.iter().filter_map(|name| unknown_edition(name, &editions)).collect();
        // Without its kinds no policy can be recognised: that would be said of every one of them.
        if unknown.is_empty() {
            diagnostics.extend(found);
        }
        diagnostics.extend(unknown);
        diagnostics.sort();
        if diagnostics.errors() > 0 {
            return Err(Box::new(Broken { files, diagnostics }));
        }
        let texts = Texts { files, documents: documents.into(), settings: self.fingerprint() };
        match Snapshot::build(draft, kinds, indexed, texts) {
            Ok(snapshot) => {
                let complete = |snapshot: Snapshot, dialect: &dyn Dialect| {
                    dialect.complete(snapshot, other_editions.clone(), &self.settings)
                };
                let snapshot = dialects().fold(snapshot.keeping_all(companions), complete);
                let (choices, warnings, set_aside) = (Arc::clone(&self), diagnostics, Arc::new(set_aside));
                Ok(Loaded { snapshot, warnings, set_aside, left_aside: Arc::default(), choices, implied, about_texts })
            }
            Err((files, problems)) => {
                diagnostics.extend(problems);
                Err(Box::new(Broken { files, diagnostics }))
            }
        }
    }
}

/// The rules of the built-in kind of the comply family in an edition, without any documents.
///
/// ```
/// use upheld_loader::load::profile;
///
/// assert_eq!(profile("meshstack/classic").unwrap().pairs.len(), 4);
/// ```
pub fn profile(edition: &str) -> Option<Arc<Profile>> {
    let loaded = load(Vec::new(), &[edition]).ok()?;
    let of_edition = |kind: &PolicyKind| kind.semantics.is_some_and(|own| loaded.snapshot.text(own) == edition);
    let mut kinds = loaded.snapshot.kinds().iter().filter(|(_, kind)| of_edition(kind));
    kinds.find_map(|(_, kind)| Some(Arc::clone(&kind.comply()?.profile)))
}

fn unknown_edition(name: &str, editions: &[String]) -> Option<Diagnostic> {
    if editions.iter().any(|edition| edition == name) {
        return None;
    }
    let diagnostic = Diagnostic::error(Fault::BadSetting, format!("there are no semantics `{name}`"));
    Some(diagnostic.suggest_or(nearest(name, editions.iter().map(String::as_str)), || {
        format!("there are: {}", editions.join(", "))
    }))
}
