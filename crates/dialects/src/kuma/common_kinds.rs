//! Kinds for types that only the documents tell of.

use upheld_engine::PolicyKind;
use upheld_model::nearest::misspelt;
use upheld_model::{Diagnostic, Fault};

use super::reader::has_target_refs;
use super::resources::ResourceType;
use super::{GROUP, OTHER_TYPES};
use crate::recognise::{Documents, Recognised};

/// What a kind governs that is for all types without a kind of their own.
pub(super) const EVERY_TYPE: &str = "*";

/// A kind for every type that nobody knows but whose documents look like policies with target references. What could be
/// a typo gets none.
pub(super) fn add(documents: &Documents<'_>, recognised: &mut Recognised) {
    let Recognised { draft, kinds, not_in_force, diagnostics, .. } = recognised;
    let symbols = &mut draft.symbols;
    let Some(place) = kinds.iter().position(|kind| symbols.text(kind.governs) == EVERY_TYPE) else { return };
    let common = kinds.remove(place);
    let known: Vec<String> = (kinds.iter().map(|kind| symbols.text(kind.governs).to_owned()))
        .chain(ResourceType::ALL.map(|kind| kind.name().to_owned()))
        .chain(OTHER_TYPES.map(str::to_owned))
        .chain(not_in_force.keys().cloned())
        .collect();
    let mut added: Vec<&str> = Vec::new();
    for document in documents.typed() {
        let Some(resource) = document.resource() else { continue };
        let name = resource.kind.text();
        let ours = resource.group().is_none_or(|group| group == GROUP);
        let is_new = !added.contains(&name) && !known.iter().any(|known| known == name);
        if !ours || !is_new || !has_target_refs(resource) || misspelt(name, known.iter().map(String::as_str)).is_some()
        {
            continue;
        }
        added.push(name);
        let (kind, about) = (symbols.intern(name), "read by the common rules of policies with target references");
        kinds.push(PolicyKind { name: kind, governs: kind, ..common.clone() });
        let message = format!("nobody here knows the type `{name}`");
        diagnostics.push(
            Diagnostic::warning(Fault::CommonRules, message).at_value(document.source, resource.kind, about).help(
                "its policies match, rank and merge as all others do; what their configuration means is not known",
            ),
        );
    }
}
