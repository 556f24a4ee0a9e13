//! Objects, policies and kinds at one moment: immutable and indexed.
//!
//! - `roster`: objects and policies, each with an id that it keeps
//! - `documents`: the fingerprint of everything that was read
//! - `compile`: policies of selections and merges, into their indexes and out again
//! - `companions`: what other rooms keep beside the indexes
//!
//! The next snapshot is made of the last one ([`Snapshot::after`]): whatever a change does not touch is shared.

mod companions;
mod compile;
mod documents;
mod roster;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use upheld_model::{Diagnostic, Draft, Files, Id, Lookup, NodeRef, Object, Policy, SourceId, Sym, Symbols, Table};

pub use self::companions::Companions;
pub use self::documents::of_document;
use self::documents::{DocumentSet, fingerprints};
use self::roster::Replaced;
pub use self::roster::{Described, Identity, Roster};
use crate::comply::Comply;
use crate::decide::Decide;
use crate::digest::{Encoder, Fingerprint, hex};
use crate::hierarchy::Hierarchy;
use crate::kind::{Choices, PolicyKind};
use crate::merge::{Merge, Targets};
use crate::select::Select;
use crate::work;

/// Which [`Policy`].
pub type PolicyId = Id<Policy>;
/// Which [`Object`].
pub type ObjectId = Id<Object>;
/// Which [`PolicyKind`].
pub type KindId = Id<PolicyKind>;

/// Everything that questions are asked of. Ids mean nothing in another snapshot, unless that was made of this one.
#[derive(Clone, Debug)]
pub struct Snapshot {
    texts: Texts,
    symbols: Arc<Symbols>,
    kinds: Arc<Table<PolicyKind>>,
    objects: Roster<Object>,
    policies: Roster<Policy>,
    selects: BTreeMap<(KindId, Sym), Arc<Select>>,
    merges: BTreeMap<(KindId, Sym), Arc<Merge>>,
    /// What references mean; nothing as long as no policy refers to anything.
    targets: Option<Targets>,
    hierarchies: BTreeMap<KindId, Hierarchy>,
    decides: BTreeMap<KindId, Arc<Decide>>,
    complies: BTreeMap<KindId, Arc<Comply>>,
    companions: Companions,
    documents: OnceLock<DocumentSet>,
    digest: OnceLock<String>,
}

/// What dialects bring that is indexed already, by the names of kinds.
#[derive(Debug, Default)]
pub struct Indexed {
    /// Policies that decide requests.
    pub decides: Vec<(Sym, Arc<Decide>)>,
    /// States of related objects.
    pub complies: Vec<(Sym, Arc<Comply>)>,
}

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// All files.
    pub files: Files,
    /// The documents that can change an answer.
    pub documents: Arc<[NodeRef]>,
    /// What else can change an answer: settings that stand in no document.
    pub settings: Fingerprint,
}

impl From<Files> for Texts {
    /// Files with nothing in them that a digest would cover.
    fn from(files: Files) -> Self {
        Self { files, ..Self::default() }
    }
}

/// What is different in the next snapshot.
#[derive(Debug)]
pub struct Difference {
    /// The symbols of before, perhaps with more.
    pub symbols: Arc<Symbols>,
    /// All files of the next one.
    pub files: Files,
    /// Which of them are not as they were: what these described is gone.
    pub changed: BTreeSet<SourceId>,
    /// Documents of these that could change an answer, as they were.
    pub gone: Vec<NodeRef>,
    /// Documents of these that can change an answer now.
    pub came: Vec<NodeRef>,
    /// Objects that they describe now.
    pub objects: Vec<Object>,
    /// Policies that they describe now.
    pub policies: Vec<Policy>,
    /// All of what is indexed already.
    pub indexed: Indexed,
}

impl Snapshot {
    /// Sorts everything by identity, so that the order of arrival is forgotten, and builds one index for each kind and
    /// scope. Gives the files back if there is more than an index can hold.
    pub fn build(
        draft: Draft,
        kinds: Vec<PolicyKind>,
        indexed: Indexed,
        texts: Texts,
    ) -> Result<Self, (Files, Vec<Diagnostic>)> {
        let Draft { symbols, objects, policies } = draft;
        let mut kinds = kinds;
        kinds.sort_by(|a, b| {
            let texts = |kind: &PolicyKind| (symbols.text(kind.name), kind.semantics.map(|s| symbols.text(s)));
            texts(a).cmp(&texts(b))
        });
        let objects = Roster::new(objects.into_vec(), &symbols);
        let policies = Roster::new(policies.into_vec(), &symbols);
        let mut snapshot = Self {
            texts,
            symbols: Arc::new(symbols),
            kinds: Arc::new(kinds.into_iter().collect()),
            objects,
            policies,
            selects: BTreeMap::new(),
            merges: BTreeMap::new(),
            targets: None,
            hierarchies: BTreeMap::new(),
            decides: BTreeMap::new(),
            complies: BTreeMap::new(),
            companions: Companions::default(),
            documents: OnceLock::new(),
            digest: OnceLock::new(),
        };
        snapshot.take(indexed);
        let came: Vec<(PolicyId, Arc<Policy>)> =
            snapshot.policies.shared().map(|(id, policy)| (id, Arc::clone(policy))).collect();
        let problems = snapshot.compile(&[], &came);
        if !problems.is_empty() {
            return Err((snapshot.texts.files, problems));
        }
        snapshot.attach(&[], &came);
        Ok(snapshot)
    }

    /// The next snapshot. `None` if there is more than an index can hold: build it, and be told what.
    pub fn after(&self, difference: Difference) -> Option<Self> {
        let Difference { symbols, files, changed, gone, came, objects, policies, indexed } = difference;
        let mut next = self.clone();
        (next.symbols, next.digest) = (symbols, OnceLock::new());
        if let Some(documents) = next.documents.get_mut() {
            fingerprints(&self.texts.files, &gone).for_each(|fingerprint| documents.remove(fingerprint));
            fingerprints(&files, &came).for_each(|fingerprint| documents.add(fingerprint));
        }
        next.texts.files = files;
        // Once there are fingerprints of all of them nobody reads the list again, and it is as long as there are documents.
        next.texts.documents = if next.documents.get().is_some() {
            Arc::from([])
        } else {
            let still = self.texts.documents.iter().filter(|at| !changed.contains(&at.source));
            still.copied().chain(came).collect()
        };
        let objects = next.objects.replace(&changed, objects, &next.symbols);
        let policies = next.policies.replace(&changed, policies, &next.symbols);
        next.take(indexed);
        let Replaced { gone, came } = &policies;
        next.refer(&objects);
        if !next.compile(gone, came).is_empty() {
            return None;
        }
        next.attach(gone, came);
        Some(next)
    }

    /// Takes what is indexed already.
    fn take(&mut self, Indexed { decides, complies }: Indexed) {
        self.decides = by_kind(&self.kinds, decides);
        self.complies = by_kind(&self.kinds, complies);
    }

    /// Takes policies of hierarchies out, and puts others in.
    fn attach(&mut self, gone: &[(PolicyId, Arc<Policy>)], came: &[(PolicyId, Arc<Policy>)]) {
        for (id, kind) in self.kinds.iter() {
            let Choices::Hierarchy(choices) = &kind.choices else { continue };
            let is_own = |policy: &Policy| {
                let group = policy.attachments().and_then(|attachments| attachments.group);
                policy.kind == kind.governs && group == Some(choices.group)
            };
            // Objects say something themselves, also where no policy does.
            let index = self.hierarchies.entry(id).or_insert_with(|| Hierarchy::new(Arc::clone(choices)));
            for (_, policy) in gone.iter().filter(|(_, policy)| is_own(policy)) {
                index.remove(policy.scope, policy.name);
            }
            for (id, policy) in came.iter().filter(|(_, policy)| is_own(policy)) {
                work::step();
                index.put(*id, policy, &self.symbols);
            }
        }
    }

    /// The texts that were read.
    pub fn files(&self) -> &Files {
        &self.texts.files
    }

    /// All names, tags and values.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// The same, to be shared with another snapshot.
    pub fn shared_symbols(&self) -> Arc<Symbols> {
        Arc::clone(&self.symbols)
    }

    /// Symbols for a question.
    pub fn lookup(&self) -> Lookup<'_> {
        Lookup::new(&self.symbols)
    }

    /// The text of a symbol.
    pub fn text(&self, symbol: Sym) -> &str {
        self.symbols.text(symbol)
    }

    /// Objects by type, scope and name.
    pub fn objects(&self) -> &Roster<Object> {
        &self.objects
    }

    /// The object of a type and a name in a scope.
    pub fn object(&self, kind: Sym, scope: Sym, name: Sym) -> Option<ObjectId> {
        self.objects.find((kind, scope, name))
    }

    /// The object of a type and a name in a scope, by their texts.
    pub fn object_named(&self, kind: &str, scope: &str, name: &str) -> Option<ObjectId> {
        let symbol = |text: &str| self.symbols.get(text);
        self.object(symbol(kind)?, symbol(scope)?, symbol(name)?)
    }

    /// The objects of a type in a scope, by name.
    pub fn objects_in(&self, kind: &str, scope: &str) -> impl Iterator<Item = (ObjectId, &Object)> {
        let symbols = self.symbols.get(kind).zip(self.symbols.get(scope));
        symbols.into_iter().flat_map(|(kind, scope)| self.objects.in_scope(kind, scope, &self.symbols))
    }

    /// The policy of a type and a name in a scope, by their texts.
    pub fn policy_named(&self, kind: &str, scope: &str, name: &str) -> Option<PolicyId> {
        let symbol = |text: &str| self.symbols.get(text);
        self.policies.find((symbol(kind)?, symbol(scope)?, symbol(name)?))
    }

    /// What a dialect made of all documents together, by its type.
    pub fn companion<T: std::any::Any + Send + Sync>(&self) -> Option<&T> {
        self.companions.get()
    }

    /// With all that dialects made of all documents together.
    #[must_use]
    pub fn keeping_all(mut self, companions: Companions) -> Self {
        self.companions = self.companions.with_all(companions);
        self
    }

    /// With something that a dialect made of all documents together.
    #[must_use]
    pub fn keeping<T: std::any::Any + Send + Sync>(mut self, companion: Arc<T>) -> Self {
        self.companions = self.companions.with(companion);
        self
    }

    /// Policies by type, scope and name.
    pub fn policies(&self) -> &Roster<Policy> {
        &self.policies
    }

    /// One policy.
    pub fn policy(&self, id: PolicyId) -> Option<&Policy> {
        self.policies.get(id)
    }

    /// Kinds by name.
    pub fn kinds(&self) -> &Table<PolicyKind> {
        &self.kinds
    }

    /// One kind.
    pub fn kind(&self, id: KindId) -> Option<&PolicyKind> {
        self.kinds.get(id)
    }

    /// The policies of a kind in a scope; `None` if there are none.
    pub fn select(&self, kind: KindId, scope: Sym) -> Option<&Select> {
        self.selects.get(&(kind, scope)).map(Arc::as_ref)
    }

    /// The layered policies of a kind in a scope; `None` if there are none.
    pub fn merge(&self, kind: KindId, scope: Sym) -> Option<&Merge> {
        self.merges.get(&(kind, scope)).map(Arc::as_ref)
    }

    /// All layered policies, by kind and scope.
    pub fn merges(&self) -> impl Iterator<Item = (KindId, Sym, &Merge)> {
        self.merges.iter().map(|((kind, scope), merge)| (*kind, *scope, merge.as_ref()))
    }

    /// What references of layered policies mean; `None` if there are none.
    pub fn targets(&self) -> Option<&Targets> {
        self.targets.as_ref()
    }

    /// The policies of a kind that are attached to objects of a hierarchy; `None` if there are none.
    pub fn hierarchy(&self, kind: KindId) -> Option<&Hierarchy> {
        self.hierarchies.get(&kind)
    }

    /// The policies of a kind that decide requests; `None` if there are none.
    pub fn decide(&self, kind: KindId) -> Option<&Decide> {
        self.decides.get(&kind).map(Arc::as_ref)
    }

    /// All policies that decide requests, by kind.
    pub fn decides(&self) -> impl Iterator<Item = (KindId, &Decide)> {
        self.decides.iter().map(|(kind, decide)| (*kind, decide.as_ref()))
    }

    /// The objects that policies of a kind relate; `None` if there are none.
    pub fn comply(&self, kind: KindId) -> Option<&Comply> {
        self.complies.get(&kind).map(Arc::as_ref)
    }

    /// All states of related objects, by kind of policy.
    pub fn complies(&self) -> impl Iterator<Item = (KindId, &Comply)> {
        self.complies.iter().map(|(kind, comply)| (*kind, comply.as_ref()))
    }

    /// A fingerprint of everything that can change an answer: two snapshots with one digest answer every question alike. It is
    /// blind to file names, formatting, comments and the order of keys, and to the order of documents where that means
    /// nothing.
    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| {
            let Texts { files, documents, settings } = &self.texts;
            let mut encoder = Encoder::default();
            encoder.word("upheld.dev/snapshot/1");
            encoder.fingerprint(settings);
            self.documents.get_or_init(|| DocumentSet::new(files, documents)).encode(&mut encoder);
            // One document may have kinds of several editions.
            encoder.list(self.kinds.as_slice(), |encoder, kind| {
                encoder.text(self.text(kind.name));
                encoder.option(kind.semantics, |encoder, edition| encoder.text(self.text(edition)));
            });
            // A kind without policies says nothing, whether it is there or not.
            let some = self.decides.values().filter(|decide| !decide.rules().is_empty());
            encoder.list(some, |encoder, decide| decide.encode_order(encoder));
            hex(&encoder.finish())
        })
    }

    /// How many pages, shards and buckets two snapshots do not share: what a change has copied.
    pub fn unshared(&self, other: &Self) -> usize {
        let documents = self.documents.get().zip(other.documents.get());
        let selects = self.selects.iter().filter_map(|(key, own)| Some(own.unshared(other.selects.get(key)?)));
        let merges = self.merges.iter().filter_map(|(key, own)| Some(own.unshared(other.merges.get(key)?)));
        let targets = self.targets.as_ref().zip(other.targets.as_ref());
        let hierarchies =
            self.hierarchies.iter().filter_map(|(kind, own)| Some(own.unshared(other.hierarchies.get(kind)?)));
        self.objects.unshared(&other.objects)
            + self.policies.unshared(&other.policies)
            + selects.sum::<usize>()
            + merges.sum::<usize>()
            + targets.map_or(0, |(own, other)| own.unshared(other))
            + hierarchies.sum::<usize>()
            + documents.map_or(0, |(own, other)| own.unshared(other))
    }
}

fn by_kind<T>(kinds: &Table<PolicyKind>, named: impl IntoIterator<Item = (Sym, T)>) -> BTreeMap<KindId, T> {
    let id = |name: Sym| kinds.iter().find(|(_, kind)| kind.name == name).map(|(id, _)| id);
    named.into_iter().filter_map(|(name, item)| Some((id(name)?, item))).collect()
}
