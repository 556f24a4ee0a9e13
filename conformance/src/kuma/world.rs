//! A snapshot of the documents of a case, and the questions that several families ask of it.

use std::sync::Arc;

use anyhow::{Context, bail};
use serde_json::Value as Json;
use upheld_dialects::Reading;
use upheld_dialects::document::Resource;
use upheld_dialects::kuma::ends::proxies;
use upheld_dialects::kuma::resources::Dataplane;
use upheld_dialects::schemas::Schemas;
use upheld_engine::{
    Companions, Entry, KindId, PolicyKind, Question, Resolve, Ruling, Scratch, Select, SelectKind, Snapshot,
};
use upheld_model::tree::Value;
use upheld_model::{Object, Policy, State, TagSet};

use crate::documents;

/// Everything that a case is about.
#[derive(Debug)]
pub(super) struct World {
    pub(super) snapshot: Snapshot,
    mesh: String,
}

/// What stands for a question: a policy, or the default of the kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing<'w> {
    pub(super) name: &'w str,
    pub(super) policy: Option<&'w Policy>,
}

impl World {
    /// Reads documents under an edition; questions are about one mesh. A document that is refused is an error.
    pub(super) fn new(edition: &str, mesh: &str, documents: &[Json]) -> anyhow::Result<Self> {
        let files = documents::read(documents)?;
        // Cases are cut down to what they are about.
        let settings = Companions::default().with(Arc::new(Schemas::Off));
        let reading = Reading { semantics: &[edition], settings: &settings };
        let recognised = upheld_dialects::recognise_with(reading, &files, None);
        Ok(Self { snapshot: documents::snapshot(recognised, files)?, mesh: mesh.to_owned() })
    }

    /// The proxy of the case.
    pub(super) fn dataplane(&self) -> anyhow::Result<(&Object, Dataplane<'_>)> {
        let (_, object) = proxies(&self.snapshot).next().context("the case has no dataplane")?;
        let resource = self.value(object.at).and_then(Resource::of).context("the dataplane has no document")?;
        Ok((object, Dataplane::of(resource)))
    }

    /// What stands for a question. The default counts where the kind's document gives it a name.
    pub(super) fn standing(&self, kind: &str, question: &Question<'_>) -> anyhow::Result<Option<Standing<'_>>> {
        let (id, kind) = self.kind(kind)?;
        let select = self.select(id);
        let ruling = select.map(|select| Ruling::matched(select, question));
        let winner = ruling.as_ref().and_then(|ruling| ruling.in_state(State::Won).next());
        if let Some((select, winner)) = select.zip(winner) {
            let policy = select.entry(winner.entry).and_then(|entry| self.snapshot.policy(entry.policy));
            return Ok(policy.map(|policy| Standing { name: self.name(policy), policy: Some(policy) }));
        }
        let default = self.value(kind.at).and_then(|document| document.at_path(&["default", "name"]));
        Ok(default.map(|name| Standing { name: name.text(), policy: None }))
    }

    /// The names of all policies that count for a question, best first.
    pub(super) fn counting(&self, kind: &str, question: &Question<'_>) -> anyhow::Result<Vec<&str>> {
        let (id, _) = self.kind(kind)?;
        Ok(self.select(id).map_or_else(Vec::new, |select| self.names(select, question)))
    }

    /// The names of the policies of the entries that count, best first.
    pub(super) fn names(&self, select: &Select, question: &Question<'_>) -> Vec<&str> {
        let policies = counting(select, question).into_iter().filter_map(|entry| self.snapshot.policy(entry.policy));
        policies.map(|policy| self.name(policy)).collect()
    }

    /// The policies of a kind in the mesh of the case, with an entry for each selector of a field.
    pub(super) fn split_by(&self, kind: &str, field: &str) -> anyhow::Result<Select> {
        let (_, kind) = self.kind(kind)?;
        let (mesh, field) = (self.snapshot.symbols().get(&self.mesh), self.snapshot.symbols().get(field));
        let governed = |policy: &Policy| policy.kind == kind.governs && Some(policy.scope) == mesh;
        let policies: Vec<_> = self.snapshot.policies().iter().filter(|(_, policy)| governed(policy)).collect();
        let split = SelectKind { split: field, ..kind.select().context("the kind selects nothing")?.clone() };
        match Select::compile(&split, &policies, self.snapshot.symbols()) {
            Ok(select) => Ok(select),
            Err(_) => bail!("more policies than a rank can tell apart"),
        }
    }

    /// How the policies of a kind resolve.
    pub(super) fn resolve(&self, kind: &str) -> anyhow::Result<Resolve> {
        let (_, kind) = self.kind(kind)?;
        Ok(kind.select().context("the kind selects nothing")?.resolve)
    }

    /// Tags to ask about.
    pub(super) fn tags<'t>(&self, tags: impl IntoIterator<Item = (&'t str, &'t str)>) -> TagSet {
        let mut lookup = self.snapshot.lookup();
        let symbols = tags.into_iter().map(|(key, value)| (lookup.symbol(key), Some(lookup.symbol(value))));
        TagSet::new(symbols.collect::<Vec<_>>())
    }

    /// The name of a policy.
    pub(super) fn name(&self, policy: &Policy) -> &str {
        self.snapshot.text(policy.name)
    }

    /// The value at a reference.
    pub(super) fn value(&self, at: upheld_model::NodeRef) -> Option<Value<'_>> {
        self.snapshot.files().value(at)
    }

    /// The policies of a kind in the mesh of the case; nothing if there are none.
    pub(super) fn select(&self, kind: KindId) -> Option<&Select> {
        let mesh = self.snapshot.symbols().get(&self.mesh)?;
        self.snapshot.select(kind, mesh)
    }

    /// A kind of the edition.
    pub(super) fn kind(&self, name: &str) -> anyhow::Result<(KindId, &PolicyKind)> {
        let mut kinds = self.snapshot.kinds().iter();
        let found = kinds.find(|(_, kind)| self.snapshot.text(kind.name) == name);
        found.with_context(|| format!("there is no kind `{name}`"))
    }
}

/// The entries that count for a question, best first.
pub(super) fn counting<'e>(select: &'e Select, question: &Question<'_>) -> Vec<&'e Entry> {
    select.standing(question, &mut Scratch::default())
}

/// Tags of a case as pairs.
pub(super) fn pairs(tags: &Json) -> impl Iterator<Item = (&str, &str)> {
    let fields = tags.as_object().into_iter().flatten();
    fields.filter_map(|(key, value)| value.as_str().map(|value| (key.as_str(), value)))
}
