//! Objects, policies and kinds at one moment: immutable and indexed.

mod companions;
mod policies;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use upheld_model::tree::{Fingerprint, Kind, Value};
use upheld_model::{
    Diagnostic, Draft, Fault, Files, Id, Lookup, NodeRef, Object, Policy, Sym, Symbols, Table, Timestamp,
};

pub use self::companions::Companions;
pub use self::policies::Policies;
use crate::comply::Comply;
use crate::decide::Decide;
use crate::hierarchy::Hierarchy;
use crate::kind::{Choices, PolicyKind};
use crate::merge::{Merge, Targets};
use crate::select::Select;

/// Which [`Policy`].
pub type PolicyId = Id<Policy>;
/// Which [`Object`].
pub type ObjectId = Id<Object>;
/// Which [`PolicyKind`].
pub type KindId = Id<PolicyKind>;

/// Everything that questions are asked of. Ids mean nothing in another snapshot.
#[derive(Debug)]
pub struct Snapshot {
    files: Files,
    symbols: Arc<Symbols>,
    policies: Policies,
    decides: BTreeMap<KindId, Arc<Decide>>,
    complies: BTreeMap<KindId, (Arc<Comply>, Vec<NodeRef>)>,
    rest: Arc<Rest>,
    companions: Companions,
    digest: OnceLock<String>,
}

/// What stays while only policies change that decide requests, or objects that are related.
#[derive(Debug)]
struct Rest {
    objects: Table<Object>,
    by_identity: FxHashMap<(Sym, Sym, Sym), ObjectId>,
    kinds: Table<PolicyKind>,
    selects: BTreeMap<(KindId, Sym), Select>,
    merges: BTreeMap<(KindId, Sym), Merge>,
    hierarchies: BTreeMap<KindId, Hierarchy>,
}

/// What dialects bring that is indexed already, by the names of kinds.
#[derive(Debug, Default)]
pub struct Indexed {
    /// Policies that decide requests.
    pub decides: Vec<(Sym, Arc<Decide>)>,
    /// States of related objects, each with the changes that led to it.
    pub complies: Vec<(Sym, Arc<Comply>, Vec<NodeRef>)>,
}

impl Snapshot {
    /// Sorts everything by identity, so that the order of arrival is forgotten, and builds one index for each kind and
    /// scope. Gives the files back if there is more than an index can hold.
    pub fn build(
        draft: Draft,
        kinds: Vec<PolicyKind>,
        indexed: Indexed,
        files: Files,
    ) -> Result<Self, (Files, Vec<Diagnostic>)> {
        let Draft { symbols, objects, policies } = draft;
        let objects: Table<Object> = by_identity(objects.into_vec(), &symbols, |o| (o.kind, o.scope, o.name));
        let mut kinds = kinds;
        kinds.sort_by(|a, b| {
            let texts = |kind: &PolicyKind| (symbols.text(kind.name), kind.semantics.map(|s| symbols.text(s)));
            texts(a).cmp(&texts(b))
        });
        let kinds: Table<PolicyKind> = kinds.into_iter().collect();
        let decides =
            |policy: &Policy| kinds.as_slice().iter().any(|k| k.governs == policy.kind && k.decide().is_some());
        let (deciding, others) = policies.into_vec().into_iter().partition(decides);
        let others: Table<Policy> = by_identity(others, &symbols, policy_identity);

        let mut groups: BTreeMap<(Sym, Sym), Vec<(PolicyId, &Policy)>> = BTreeMap::new();
        for (id, policy) in others.iter() {
            groups.entry((policy.kind, policy.scope)).or_default().push((id, policy));
        }
        let targets = Targets::new(&objects);
        let (mut selects, mut merges, mut hierarchies) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut problems = Vec::new();
        for (id, kind) in kinds.iter() {
            for ((_, scope), group) in groups.range((kind.governs, Sym::MIN)..=(kind.governs, Sym::MAX)) {
                let select = match &kind.choices {
                    Choices::Select(select) => select,
                    // The dialect knows the order of policies that decide, and the state that others are held against.
                    Choices::Decide(_) | Choices::Comply(_) => continue,
                    Choices::Hierarchy(hierarchy) => {
                        let index = hierarchies.entry(id).or_insert_with(|| Hierarchy::new(Arc::clone(hierarchy)));
                        let of_group = |policy: &Policy| {
                            policy.attachments().is_some_and(|attachments| attachments.group == Some(hierarchy.group))
                        };
                        for (id, policy) in group.iter().filter(|(_, policy)| of_group(policy)) {
                            index.put(*id, policy, &symbols);
                        }
                        continue;
                    }
                    Choices::Merge(merge) => {
                        merges.insert((id, *scope), Merge::compile(merge, group, &symbols, &targets));
                        continue;
                    }
                };
                match Select::compile(select, group, &symbols) {
                    Ok(select) => drop(selects.insert((id, *scope), select)),
                    Err(_) => problems.push(Diagnostic::error(
                        Fault::Limit,
                        format!("more policies of kind `{}` than a rank can tell apart", symbols.text(kind.name)),
                    )),
                }
            }
        }
        if !problems.is_empty() {
            return Err((files, problems));
        }
        let deciding = by_identity(deciding, &symbols, policy_identity);
        let decides = by_kind(&kinds, indexed.decides);
        let complies = indexed.complies.into_iter().map(|(name, comply, past)| (name, (comply, past)));
        let complies = by_kind(&kinds, complies);
        let identity = |(id, object): (ObjectId, &Object)| ((object.kind, object.scope, object.name), id);
        let by_identity = objects.iter().map(identity).collect();
        for (id, kind) in kinds.iter() {
            // Objects say something themselves, also where no policy does.
            if let Some(hierarchy) = kind.hierarchy() {
                hierarchies.entry(id).or_insert_with(|| Hierarchy::new(Arc::clone(hierarchy)));
            }
        }
        let companions = Companions::default();
        let rest = Arc::new(Rest { objects, by_identity, kinds, selects, merges, hierarchies });
        let (symbols, digest) = (Arc::new(symbols), OnceLock::new());
        let policies = Policies::new(others, deciding);
        Ok(Self { files, symbols, policies, decides, complies, rest, companions, digest })
    }

    /// What this becomes when only policies change that decide requests: all else is shared. `symbols` are those of this one,
    /// perhaps with more.
    #[must_use]
    pub fn deciding_otherwise(
        &self,
        symbols: Arc<Symbols>,
        deciding: Vec<Policy>,
        decides: Vec<(Sym, Arc<Decide>)>,
        files: Files,
    ) -> Self {
        let policies = self.policies.with_deciding(by_identity(deciding, &symbols, policy_identity));
        let decides = by_kind(&self.rest.kinds, decides);
        Self { files, symbols, policies, decides, digest: OnceLock::new(), ..self.shared() }
    }

    /// What this becomes when only documents about related objects change: all else is shared. `policies` are those that
    /// decide no requests, if they are listed otherwise; nothing else may rest on these.
    #[must_use]
    pub fn relating_otherwise(
        &self,
        symbols: Arc<Symbols>,
        policies: Option<Vec<Policy>>,
        complies: impl IntoIterator<Item = (Sym, Arc<Comply>, Vec<NodeRef>)>,
        files: Files,
    ) -> Self {
        let policies = match policies {
            Some(others) => self.policies.with_others(by_identity(others, &symbols, policy_identity)),
            None => self.policies.clone(),
        };
        let complies = complies.into_iter().map(|(name, comply, past)| (name, (comply, past)));
        let complies = by_kind(&self.rest.kinds, complies);
        Self { files, symbols, policies, complies, digest: OnceLock::new(), ..self.shared() }
    }

    /// The same once more.
    fn shared(&self) -> Self {
        let Self { files, symbols, policies, decides, complies, rest, companions, digest } = self;
        Self {
            files: files.clone(),
            symbols: Arc::clone(symbols),
            policies: policies.clone(),
            decides: decides.clone(),
            complies: complies.clone(),
            rest: Arc::clone(rest),
            companions: companions.clone(),
            digest: digest.clone(),
        }
    }

    /// The texts that were read.
    pub fn files(&self) -> &Files {
        &self.files
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
    pub fn objects(&self) -> &Table<Object> {
        &self.rest.objects
    }

    /// The object of a type and a name in a scope.
    pub fn object(&self, kind: Sym, scope: Sym, name: Sym) -> Option<ObjectId> {
        self.rest.by_identity.get(&(kind, scope, name)).copied()
    }

    /// The object of a type and a name in a scope, by their texts.
    pub fn object_named(&self, kind: &str, scope: &str, name: &str) -> Option<ObjectId> {
        let symbol = |text: &str| self.symbols.get(text);
        self.object(symbol(kind)?, symbol(scope)?, symbol(name)?)
    }

    /// What a dialect made of all documents together, by its type.
    pub fn companion<T: std::any::Any + Send + Sync>(&self) -> Option<&T> {
        self.companions.get()
    }

    /// With something that a dialect made of all documents together.
    #[must_use]
    pub fn keeping<T: std::any::Any + Send + Sync>(mut self, companion: Arc<T>) -> Self {
        self.companions = self.companions.with(companion);
        self
    }

    /// Policies by type, scope and name; those that decide requests come last.
    pub fn policies(&self) -> &Policies {
        &self.policies
    }

    /// One policy.
    pub fn policy(&self, id: PolicyId) -> Option<&Policy> {
        self.policies.get(id)
    }

    /// Kinds by name.
    pub fn kinds(&self) -> &Table<PolicyKind> {
        &self.rest.kinds
    }

    /// One kind.
    pub fn kind(&self, id: KindId) -> Option<&PolicyKind> {
        self.rest.kinds.get(id)
    }

    /// The policies of a kind in a scope; `None` if there are none.
    pub fn select(&self, kind: KindId, scope: Sym) -> Option<&Select> {
        self.rest.selects.get(&(kind, scope))
    }

    /// The layered policies of a kind in a scope; `None` if there are none.
    pub fn merge(&self, kind: KindId, scope: Sym) -> Option<&Merge> {
        self.rest.merges.get(&(kind, scope))
    }

    /// The policies of a kind that are attached to objects of a hierarchy; `None` if there are none.
    pub fn hierarchy(&self, kind: KindId) -> Option<&Hierarchy> {
        self.rest.hierarchies.get(&kind)
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
        self.complies.get(&kind).map(|(comply, _)| &**comply)
    }

    /// All states of related objects, by kind of policy.
    pub fn complies(&self) -> impl Iterator<Item = (KindId, &Comply)> {
        self.complies.iter().map(|(kind, (comply, _))| (*kind, &**comply))
    }

    /// A fingerprint of what the documents say: SHA-256 over those of all of them in the order of their identity,
    /// blind to file names, formatting, comments and the order of keys.
    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| {
            let mut hash = Sha256::new();
            let Rest { objects, kinds, .. } = &*self.rest;
            let objects = objects.iter().map(|(_, object)| object.at);
            let policies = self.policies.iter().map(|(_, policy)| policy.at);
            let kinds = kinds.iter().map(|(_, kind)| kind.at);
            for value in objects.chain(policies).chain(kinds).filter_map(|at| self.files.value(at)) {
                hash.update(value.fingerprint(fingerprint));
            }
            // What happened says more than what came of it.
            for (comply, past) in self.complies.values() {
                // When it is asked is not what it says.
                hash.update(comply.digest(Timestamp(i64::MIN)));
                for value in past.iter().filter_map(|at| self.files.value(*at)) {
                    hash.update(value.fingerprint(fingerprint));
                }
            }
            format!("{:x}", hash.finalize())
        })
    }
}

fn policy_identity(policy: &Policy) -> (Sym, Sym, Sym) {
    (policy.kind, policy.scope, policy.name)
}

fn by_identity<T>(mut items: Vec<T>, symbols: &Symbols, identity: impl Fn(&T) -> (Sym, Sym, Sym)) -> Table<T> {
    items.sort_by(|a, b| {
        let texts = |item: &T| {
            let (kind, scope, name) = identity(item);
            (symbols.text(kind), symbols.text(scope), symbols.text(name))
        };
        texts(a).cmp(&texts(b))
    });
    items.into_iter().collect()
}

fn by_kind<T>(kinds: &Table<PolicyKind>, named: impl IntoIterator<Item = (Sym, T)>) -> BTreeMap<KindId, T> {
    let id = |name: Sym| kinds.iter().find(|(_, kind)| kind.name == name).map(|(id, _)| id);
    named.into_iter().filter_map(|(name, item)| Some((id(name)?, item))).collect()
}

fn fingerprint(value: Value<'_>) -> Fingerprint {
    let mut hash = Sha256::new();
    hash_value(value, &mut hash);
    hash.finalize().into()
}

/// Lengths before contents, so that no two values give the same bytes.
fn hash_value(value: Value<'_>, hash: &mut Sha256) {
    match value.kind() {
        Kind::List => {
            let items: Vec<_> = value.items().collect();
            hash.update([b'l']);
            hash.update(items.len().to_le_bytes());
            for item in items {
                hash_value(item, hash);
            }
        }
        Kind::Map => {
            let mut entries: Vec<_> = value.entries().collect();
            entries.sort_by_key(|(key, _)| key.text());
            hash.update([b'm']);
            hash.update(entries.len().to_le_bytes());
            for (key, value) in entries {
                hash_value(key, hash);
                hash_value(value, hash);
            }
        }
        Kind::Null => hash.update([b'0']),
        scalar => {
            hash.update(if scalar == Kind::Text { [b't'] } else { [b'n'] });
            hash.update(value.text().len().to_le_bytes());
            hash.update(value.text());
        }
    }
}
