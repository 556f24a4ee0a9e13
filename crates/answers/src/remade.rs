//! What would change if documents were made again, or were called otherwise: what rests on an age or a name, and on nothing else.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use upheld_dialects::Identity;
use upheld_dialects::document::Resource;
use upheld_dialects::recognise::IMPLIED;
use upheld_engine::PolicyKind;
use upheld_loader::load::{Change, Loaded};
use upheld_loader::{Format, Input};
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Fault, NodeRef, Severity, SourceId, Sym};
use upheld_report::{Refused, Shifts};
use upheld_syntax::edit::{Edited, Replacement, applied};

use crate::World;
use crate::progress::Progress;
use crate::shifts::shifts;
use crate::shown::shown;

/// What is supposed of documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Remade {
    /// These policies are deleted and made again, now.
    pub recreated: Vec<String>,
    /// All policies are made again at once, as after a restore from a backup: none is older than another.
    pub restored: bool,
    /// These policies have other names.
    pub renamed: BTreeMap<String, String>,
}

impl Remade {
    /// Whether anything is supposed.
    pub fn is_something(&self) -> bool {
        *self != Self::default()
    }
}

impl World<'_> {
    /// What would change if something were so. `loaded` is what this world was read from.
    pub fn if_supposed(
        &self,
        loaded: &Loaded,
        supposed: &Remade,
        progress: &dyn Progress,
    ) -> Result<(Loaded, Shifts), Refused> {
        let after = self.supposed(loaded, supposed)?;
        let shifts = shifts(self, &World::new(&after.snapshot, self.options()), progress);
        Ok((after, shifts))
    }

    fn supposed(&self, loaded: &Loaded, supposed: &Remade) -> Result<Loaded, Refused> {
        let mut edits = Edits { loaded, by_file: BTreeMap::new() };
        let now = self.options().now.to_string();
        let mesh = self.options().mesh.as_deref();
        if supposed.restored {
            let snapshot = self.snapshot();
            // Decisions and rules about tags do not know ages.
            let is_aged =
                |kind: &PolicyKind| kind.select().is_some() || kind.merge().is_some() || kind.hierarchy().is_some();
            let kinds: BTreeSet<Sym> =
                snapshot.kinds().iter().filter(|(_, kind)| is_aged(kind)).map(|(_, kind)| kind.governs).collect();
            // What a control plane adds by itself is nobody's to restore.
            let is_written = |at: NodeRef| snapshot.files().get(at.source).is_some_and(|file| file.name != IMPLIED);
            let policies = snapshot.policies().iter();
            let policies = policies.filter(|(_, policy)| kinds.contains(&policy.kind) && is_written(policy.at));
            for (_, policy) in policies {
                let [kind, scope, name] = [policy.kind, policy.scope, policy.name].map(|part| snapshot.text(part));
                let identity = Identity::new(kind, scope, name).to_string();
                edits.made(policy.at, &now).ok_or_else(|| by_hand(&identity, AGE))?;
            }
        }
        for policy in &supposed.recreated {
            let found = shown(self.snapshot(), policy, mesh)?;
            edits.made(found.node, &now).ok_or_else(|| by_hand(&found.identity(), AGE))?;
        }
        for (policy, name) in &supposed.renamed {
            let found = shown(self.snapshot(), policy, mesh)?;
            edits.named(found.node, name).ok_or_else(|| by_hand(&found.identity(), "another name"))?;
        }
        edits.read()
    }
}

/// What documents cannot always be given.
const AGE: &str = "another time at which it was made";

fn by_hand(policy: &str, what: &str) -> Diagnostic {
    let message = format!("{policy} cannot be given {what}");
    Diagnostic::error(Fault::NotFound, message)
        .help("write the other version down, and compare the two: `upheld diff OLD NEW`")
}

/// Other texts in place of some.
struct Edits<'l> {
    loaded: &'l Loaded,
    by_file: BTreeMap<SourceId, Vec<Replacement>>,
}

impl<'l> Edits<'l> {
    /// A document says that it was made at a moment.
    fn made(&mut self, at: NodeRef, moment: &str) -> Option<()> {
        let resource = Resource::of(self.loaded.snapshot.files().value(at)?)?;
        let (holder, field) = resource.made_in()?;
        self.set(at.source, holder, field, moment)
    }

    /// A document has another name.
    fn named(&mut self, at: NodeRef, name: &str) -> Option<()> {
        let document = self.loaded.snapshot.files().value(at)?;
        let own = |holder: &Value<'l>| ["name", "id"].into_iter().find(|key| holder.get(key).is_some());
        let holders = [Resource::of(document).and_then(Resource::made_in).map(|(holder, _)| holder), Some(document)];
        let (holder, key) = holders.into_iter().flatten().find_map(|holder| Some((holder, own(&holder)?)))?;
        self.set(at.source, holder, key, name)
    }

    fn set(&mut self, source: SourceId, holder: Value<'l>, key: &str, value: &str) -> Option<()> {
        let file = self.loaded.snapshot.files().get(source)?;
        let edited = Edited { text: file.tree.text(), format: Format::of_file(file) };
        self.by_file.entry(source).or_default().extend(edited.set_one(holder, key, value)?);
        Some(())
    }

    /// What is read then.
    fn read(self) -> Result<Loaded, Refused> {
        let Self { loaded, by_file } = self;
        let changes = by_file.into_iter().filter_map(|(source, replacements)| {
            let file = loaded.snapshot.files().get(source)?;
            let text = applied(file.tree.text(), &replacements)?;
            Some(Change::Replaced(source, Input::text(file.name.clone(), Format::of_file(file), text)))
        });
        loaded.after(changes.collect()).map_err(|broken| {
            let own = Diagnostic::error(Fault::NotFound, "the documents cannot be read then");
            let first = broken.diagnostics.as_slice().iter().find(|problem| problem.severity == Severity::Error);
            Refused::from(match first {
                Some(problem) => own.help(problem.message.clone()),
                None => own,
            })
        })
    }
}
