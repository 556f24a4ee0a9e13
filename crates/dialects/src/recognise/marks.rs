//! How a text that cannot be parsed is told to be one of ours all the same: by the types and API groups that it names, or by the
//! fields of documents that need no type.

use std::collections::BTreeSet;

use upheld_model::{Diagnostics, Files};

use super::{Documents, Kustomizations, Reading, Recognised};
use crate::dialect::{Known, dialects};

/// The words that documents of ours are known by.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    types: BTreeSet<String>,
    groups: BTreeSet<String>,
}

impl Marks {
    /// Those of all dialects, under the kinds that some files bring.
    pub fn of(reading: Reading<'_>, files: &Files) -> Self {
        let mut recognised = Recognised::default();
        let mut documents = Documents::of(files.iter(), Kustomizations::none(), &mut Diagnostics::default());
        let kinds = std::mem::take(&mut documents.kinds);
        recognised.read_kinds(files, kinds, reading);
        let readers = recognised.readers(reading, files, &Documents::default(), Known::Nothing);
        let mut marks = Self::default();
        marks.types.extend(readers.words());
        marks.types.extend(recognised.not_in_force.keys().cloned());
        for kind in &recognised.kinds {
            let text = |symbol| recognised.draft.symbols.text(symbol).to_owned();
            marks.types.insert(text(kind.governs));
            marks.groups.extend(kind.hierarchy().map(|hierarchy| text(hierarchy.group)));
        }
        for dialect in dialects() {
            marks.types.extend(dialect.own_types().into_iter().map(str::to_owned));
            marks.groups.extend(dialect.known_types().group.map(str::to_owned));
        }
        marks.types.extend([super::TESTS, crate::policy_kind::POLICY_KIND].map(str::to_owned));
        marks
    }

    /// Whether a text has any of them.
    pub fn are_in(&self, text: &str) -> bool {
        let typed = ["kind", "type"].into_iter().flat_map(|key| values(text, key));
        let group = |version: &str| version.split_once('/').is_some_and(|(group, _)| self.groups.contains(group));
        typed.into_iter().any(|word| self.types.contains(word))
            || values(text, "apiVersion").any(group)
            || dialects().any(|dialect| dialect.resembles_text(text))
    }
}

/// What stands behind a key in a text, wherever that is: `key: value` or `"key": "value"`.
pub(crate) fn values<'t>(text: &'t str, key: &'t str) -> impl Iterator<Item = &'t str> {
    text.match_indices(key).filter_map(move |(start, _)| {
        let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/');
        if text.get(..start)?.ends_with(is_word) {
            return None;
        }
        let rest = text.get(start + key.len()..)?.trim_start_matches(['"', '\'']);
        let value = rest.trim_start_matches([' ', '\t']).strip_prefix(':')?;
        let value = value.trim_start_matches([' ', '\t', '"', '\'']);
        let end = value.find(|letter: char| !is_word(letter)).unwrap_or(value.len());
        value.get(..end)
    })
}

/// Whether a text has a key.
pub(crate) fn has_key(text: &str, key: &str) -> bool {
    values(text, key).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_yaml_and_json() {
        let text = "apiVersion: v1\nkind: 'Secret'\n- kind:\tList\n{\"kind\": \"Mesh\", \"mankind\": \"x\", \"kind\":\"A\"}\nkindly: no\n";
        assert_eq!(values(text, "kind").collect::<Vec<_>>(), ["Secret", "List", "Mesh", "A"]);
        assert!(has_key(text, "apiVersion") && !has_key(text, "type"));
    }
}
