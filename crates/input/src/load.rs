//! From inputs to a snapshot: read, recognise, index. What a program that embeds `upheld` starts with.

mod after;

use std::sync::Arc;

use upheld_dialects::access::Seeds;
use upheld_dialects::access::authzen::Directory;
use upheld_dialects::access::manifest::Manifest;
use upheld_dialects::gateway_api::{ControllerSettings, Gateways};
use upheld_dialects::kuma::implied;
use upheld_dialects::recognise::{Before, Deciding};
use upheld_dialects::{Reading, Recognised, SetAside, builtin, recognise_with};
use upheld_engine::comply::Profile;
use upheld_engine::digest::{Encode, Fingerprint};
use upheld_engine::{Indexed, PolicyKind, Snapshot, Texts};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Diagnostics, Fault, Files, SourceId, Sym};

pub use self::after::Change;
use crate::{Format, Input, parse, read};

/// A snapshot, with what is worth knowing about how it came about.
#[derive(Debug)]
pub struct Loaded {
    /// Everything that questions are asked of.
    pub snapshot: Snapshot,
    /// The settings beside policies that decide requests, by the name of their kind.
    pub manifests: Vec<(Sym, Arc<Manifest>)>,
    /// What is known of those whom policies decide about.
    pub directory: Arc<Directory>,
    /// Warnings; there are no errors.
    pub warnings: Diagnostics,
    /// Documents that were left out because they are not ours to resolve.
    pub set_aside: Arc<SetAside>,
    choices: Arc<Choices>,
    /// Where meshes stand that no document describes.
    implied: SourceId,
    /// How many documents are about gateways.
    about_gateways: usize,
    deciding: Deciding,
    /// Warnings about texts, whatever they mean.
    about_texts: Vec<Diagnostic>,
}

/// How inputs are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// Whether a mesh exists that no document describes.
    pub meshes: Meshes,
    /// What the seeds of manifests are.
    pub seeds: Seeds,
    /// The editions in force.
    pub semantics: Vec<String>,
    /// What the controller of gateways was started with.
    pub controller: ControllerSettings,
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
/// use upheld_input::{Format, Input, load::load};
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

/// Whether a mesh exists that no document describes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Meshes {
    /// It does, if a policy with target references lives there: folders often leave it out.
    #[default]
    Implied,
    /// It does not.
    Described,
}

impl Loaded {
    /// The first of the documents of a store; the others follow in order.
    pub fn first_stored(&self) -> SourceId {
        SourceId::new(self.implied.index() + 1)
    }

    fn before(&self) -> Before<'_> {
        let Self { snapshot, deciding, warnings, set_aside, about_gateways, implied, .. } = self;
        Before { snapshot, deciding, warnings, set_aside, about_gateways: *about_gateways, implied: *implied }
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

    /// As [`Self::load`], for programs with a store of their own: what a manifest wants the store to begin with is no policy
    /// before it is in there. The documents of the store come after all others; see [`Loaded::after`] for what happens when
    /// they change.
    pub fn load_for_store(self, inputs: Vec<Input>, stored: Vec<Input>) -> Result<Loaded, Box<Broken>> {
        Self { seeds: Seeds::Apart, ..self }.load_with(inputs, stored)
    }

    /// What stands in no document, and can change an answer all the same. Editions are those of the kinds in force, meshes that are
    /// implied have documents, and seeds that count are policies.
    fn settings(&self) -> Fingerprint {
        let Self { meshes: _, seeds: _, semantics: _, controller } = self;
        controller.fingerprint()
    }

    fn names(&self) -> Vec<&str> {
        self.semantics.iter().map(String::as_str).collect()
    }

    fn reading<'r>(&'r self, semantics: &'r [&'r str]) -> Reading<'r> {
        Reading { semantics, seeds: self.seeds, controller: &self.controller }
    }

    fn load_with(self, inputs: Vec<Input>, stored: Vec<Input>) -> Result<Loaded, Box<Broken>> {
        let builtin = builtin().map(|document| Input::text(document.name, Format::Yaml, document.text));
        let mut all: Vec<Input> = inputs.into_iter().chain(builtin).collect();
        let implied = SourceId::new(all.len());
        all.push(Input::text(implied::FILE, Format::Yaml, ""));
        all.extend(stored);
        let (files, about_texts) = read(all);
        Arc::new(self).recognise(files, implied, about_texts, None)
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
        let text = Some(self.meshes).filter(|meshes| *meshes == Meshes::Implied).and_then(|_| implied::meshes(&files));
        files.put(implied, text.map(|text| parse(implied::FILE, Format::Yaml, text, implied).0));
        let semantics = self.names();
        let reading = self.reading(&semantics);
        let Recognised {
            draft,
            kinds,
            organisations,
            other_editions,
            directory,
            deciding,
            editions,
            diagnostics: found,
            set_aside,
            documents,
            about_gateways,
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
        let manifests = deciding.manifests().collect();
        let complies = organisations.complies().collect();
        let indexed = Indexed { decides: deciding.decides().collect(), complies };
        let texts = Texts { files, documents: documents.into(), settings: self.settings() };
        match Snapshot::build(draft, kinds, indexed, texts) {
            Ok(snapshot) => {
                let gateways = Gateways::of(&snapshot, self.controller.clone(), other_editions);
                let snapshot = snapshot.keeping(Arc::new(gateways)).keeping(Arc::new(organisations));
                let (directory, set_aside) = (Arc::new(directory), Arc::new(set_aside));
                let (choices, warnings) = (self, diagnostics);
                Ok(Loaded {
                    snapshot,
                    manifests,
                    directory,
                    warnings,
                    set_aside,
                    choices,
                    implied,
                    about_gateways,
                    deciding,
                    about_texts,
                })
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
/// use upheld_input::load::profile;
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
