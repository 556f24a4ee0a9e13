//! The name of a finding: the same in every run, wherever its document stands and whatever was counted.

use std::collections::BTreeMap;

use upheld_dialects::dialect::Finding;
use upheld_dialects::identity::Identities;
use upheld_engine::Snapshot;
use upheld_model::tree::Value;
use upheld_model::{File, Label};
use upheld_report::compliance::fingerprint_of;

/// Gives findings their names.
pub(super) struct Names<'s> {
    snapshot: &'s Snapshot,
    identities: Identities<'s>,
    /// How often a name was given.
    given: BTreeMap<String, usize>,
}

impl<'s> Names<'s> {
    pub(super) fn of(snapshot: &'s Snapshot) -> Self {
        Self { snapshot, identities: Identities::of(snapshot), given: BTreeMap::new() }
    }

    /// The name of a finding. Of those that nothing tells apart, each has its own.
    pub(super) fn name(&mut self, finding: &Finding) -> String {
        let document = finding.problem.label.as_ref().map(|label| self.document(label)).unwrap_or_default();
        let about = finding.about.clone().unwrap_or_else(|| without_counts(&finding.problem.message));
        let name = |number: &str| {
            let parts = [finding.problem.fault.code(), document.as_str(), about.as_str(), number];
            fingerprint_of('f', parts.into_iter())
        };
        let first = name("");
        let given = self.given.entry(first.clone()).or_default();
        *given += 1;
        if *given == 1 { first } else { name(&given.to_string()) }
    }

    /// Who the document at a place is; its file if it is nobody.
    fn document(&self, label: &Label) -> String {
        let Some(file) = self.snapshot.files().get(label.source) else { return String::new() };
        self.identity(file, label).unwrap_or_else(|| file.name.clone())
    }

    fn identity(&self, file: &File, label: &Label) -> Option<String> {
        let holds = |value: &Value<'_>| (value.span().start..=value.span().end).contains(&label.span.start);
        let mut document = file.tree.documents().find(holds)?;
        loop {
            match self.identities.identity(document) {
                Ok(identity) => return Some(identity.to_string()),
                // A list is nobody; those in it are.
                Err(_) => document = document.items().find(holds)?,
            }
        }
    }
}

/// A message without numbers that stand alone.
fn without_counts(message: &str) -> String {
    let is_count = |word: &str| !word.is_empty() && word.chars().all(|letter| letter.is_ascii_digit());
    message.split(' ').map(|word| if is_count(word) { "#" } else { word }).collect::<Vec<_>>().join(" ")
}
