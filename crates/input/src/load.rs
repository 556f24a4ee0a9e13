//! From inputs to a snapshot: read, recognise, index. What a program that embeds `upheld` starts with.

use std::sync::Arc;

use upheld_dialects::access::Seeds;
use upheld_dialects::access::authzen::Directory;
use upheld_dialects::access::book::Book;
use upheld_dialects::access::manifest::Manifest;
use upheld_dialects::comply::Organisation;
use upheld_dialects::kuma::implied;
use upheld_dialects::{Recognised, SetAside, builtin, recognise_with};
use upheld_engine::comply::Profile;
use upheld_engine::{PolicyKind, Snapshot};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Diagnostics, Fault, Files, SourceId, Sym};

use crate::{Format, Input, parse, read};

/// A snapshot, with what is worth knowing about how it came about.
#[derive(Debug)]
pub struct Loaded {
    /// Everything that questions are asked of.
    pub snapshot: Snapshot,
    /// The settings beside policies that decide requests, by the name of their kind.
    pub manifests: Vec<(Sym, Manifest)>,
    /// What is known of those whom policies decide about.
    pub directory: Directory,
    /// Warnings; there are no errors.
    pub warnings: Diagnostics,
    /// Documents that were left out because they are not ours to resolve.
    pub set_aside: SetAside,
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
    load_assuming(Meshes::Implied, inputs, semantics)
}

/// Whether a mesh exists that no document describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meshes {
    /// It does, if a policy with target references lives there: folders often leave it out.
    Implied,
    /// It does not.
    Described,
}

/// As [`load`], for programs with a store of their own: what a manifest wants the store to begin with is no policy before it is in there.
pub fn load_for_store(inputs: Vec<Input>, semantics: &[&str]) -> Result<Loaded, Box<Broken>> {
    load_with(Meshes::Implied, Seeds::Apart, inputs, semantics)
}

/// As [`load`], with what is assumed about meshes.
pub fn load_assuming(meshes: Meshes, inputs: Vec<Input>, semantics: &[&str]) -> Result<Loaded, Box<Broken>> {
    load_with(meshes, Seeds::Counted, inputs, semantics)
}

fn load_with(meshes: Meshes, seeds: Seeds, inputs: Vec<Input>, semantics: &[&str]) -> Result<Loaded, Box<Broken>> {
    let builtin = builtin().map(|document| Input::text(document.name, Format::Yaml, document.text));
    let (mut files, mut diagnostics) = read(inputs.into_iter().chain(builtin).collect());
    if let Some(text) = Some(meshes).filter(|meshes| *meshes == Meshes::Implied).and_then(|_| implied::meshes(&files)) {
        let source = SourceId::new(files.iter().len());
        files.push(parse(implied::FILE, Format::Yaml, text, source).0);
    }
    let Recognised { draft, kinds, books, organisations, directory, editions, diagnostics: found, set_aside, .. } =
        recognise_with(seeds, &files, semantics);
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
    let mut manifests = Vec::new();
    let mut decides = Vec::new();
    for (kind, Book { decide, manifest }) in books {
        manifests.push((kind, manifest));
        decides.push((kind, decide));
    }
    let complies = organisations.into_iter().map(|(kind, Organisation { comply, history })| (kind, comply, history));
    match Snapshot::build(draft, kinds, decides, files).map(|snapshot| snapshot.with_complies(complies.collect())) {
        Ok(snapshot) => Ok(Loaded { snapshot, manifests, directory, warnings: diagnostics, set_aside }),
        Err((files, problems)) => {
            diagnostics.extend(problems);
            Err(Box::new(Broken { files, diagnostics }))
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
    Some(match nearest(name, editions.iter().map(String::as_str)) {
        Some(nearest) => diagnostic.help(format!("did you mean `{nearest}`?")),
        None => diagnostic.help(format!("there are: {}", editions.join(", "))),
    })
}
