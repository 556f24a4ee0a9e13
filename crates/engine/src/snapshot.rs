//! Objects, policies and kinds at one moment: immutable and indexed.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Draft, Fault, Files, Id, Lookup, NodeRef, Object, Policy, Sym, Symbols, Table};

use crate::comply::Comply;
use crate::decide::Decide;
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
    symbols: Symbols,
    objects: Table<Object>,
    policies: Table<Policy>,
    kinds: Table<PolicyKind>,
    selects: BTreeMap<(KindId, Sym), Select>,
    merges: BTreeMap<(KindId, Sym), Merge>,
    decides: BTreeMap<KindId, Decide>,
    complies: BTreeMap<KindId, (Comply, Vec<NodeRef>)>,
    digest: OnceLock<String>,
}

impl Snapshot {
    /// Sorts everything by identity, so that the order of arrival is forgotten, and builds one index for each kind and
    /// scope. Gives the files back if there is more than an index can hold.
    pub fn build(
        draft: Draft,
        kinds: Vec<PolicyKind>,
        decides: Vec<(Sym, Decide)>,
        files: Files,
    ) -> Result<Self, (Files, Vec<Diagnostic>)> {
        let Draft { symbols, objects, policies } = draft;
        let objects: Table<Object> = by_identity(objects, &symbols, |o| (o.kind, o.scope, o.name));
        let policies: Table<Policy> = by_identity(policies, &symbols, |p| (p.kind, p.scope, p.name));
        let mut kinds = kinds;
        kinds.sort_by(|a, b| {
            let texts = |kind: &PolicyKind| (symbols.text(kind.name), kind.semantics.map(|s| symbols.text(s)));
            texts(a).cmp(&texts(b))
        });
        let kinds: Table<PolicyKind> = kinds.into_iter().collect();

        let mut groups: BTreeMap<(Sym, Sym), Vec<(PolicyId, &Policy)>> = BTreeMap::new();
        for (id, policy) in policies.iter() {
            groups.entry((policy.kind, policy.scope)).or_default().push((id, policy));
        }
        let targets = Targets::new(&objects);
        let (mut selects, mut merges) = (BTreeMap::new(), BTreeMap::new());
        let mut problems = Vec::new();
        for (id, kind) in kinds.iter() {
            for ((_, scope), group) in groups.range((kind.governs, Sym::MIN)..=(kind.governs, Sym::MAX)) {
                let select = match &kind.choices {
                    Choices::Select(select) => select,
                    // Who is attached to what depends on the topology, which the dialect knows.
                    // So does the order of policies that decide, and the state that others are held against.
                    Choices::Inherit(_) | Choices::Decide(_) | Choices::Comply(_) => continue,
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
        let mut by_kind = BTreeMap::new();
        for (name, decide) in decides {
            if let Some((id, _)) = kinds.iter().find(|(_, kind)| kind.name == name) {
                by_kind.insert(id, decide);
            }
        }
        if problems.is_empty() {
            let (decides, complies, digest) = (by_kind, BTreeMap::new(), OnceLock::new());
            Ok(Self { files, symbols, objects, policies, kinds, selects, merges, decides, complies, digest })
        } else {
            Err((files, problems))
        }
    }

    /// Adds states of related objects, each with the changes that led to it.
    #[must_use]
    pub fn with_complies(mut self, complies: Vec<(Sym, Comply, Vec<NodeRef>)>) -> Self {
        for (name, comply, past) in complies {
            if let Some((id, _)) = self.kinds.iter().find(|(_, kind)| kind.name == name) {
                self.complies.insert(id, (comply, past));
            }
        }
        self
    }

    /// The texts that were read.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// All names, tags and values.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
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
        &self.objects
    }

    /// Policies by type, scope and name.
    pub fn policies(&self) -> &Table<Policy> {
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
        self.selects.get(&(kind, scope))
    }

    /// The layered policies of a kind in a scope; `None` if there are none.
    pub fn merge(&self, kind: KindId, scope: Sym) -> Option<&Merge> {
        self.merges.get(&(kind, scope))
    }

    /// The policies of a kind that decide requests; `None` if there are none.
    pub fn decide(&self, kind: KindId) -> Option<&Decide> {
        self.decides.get(&kind)
    }

    /// All policies that decide requests, by kind.
    pub fn decides(&self) -> impl Iterator<Item = (KindId, &Decide)> {
        self.decides.iter().map(|(kind, decide)| (*kind, decide))
    }

    /// The objects that policies of a kind relate; `None` if there are none.
    pub fn comply(&self, kind: KindId) -> Option<&Comply> {
        self.complies.get(&kind).map(|(comply, _)| comply)
    }

    /// All states of related objects, by kind of policy.
    pub fn complies(&self) -> impl Iterator<Item = (KindId, &Comply)> {
        self.complies.iter().map(|(kind, (comply, _))| (*kind, comply))
    }

    /// A fingerprint of what the documents say: SHA-256 over all of them in the order of their identity, blind to file
    /// names, formatting, comments and the order of keys.
    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| {
            let mut hash = Sha256::new();
            let objects = self.objects.iter().map(|(_, object)| object.at);
            let policies = self.policies.iter().map(|(_, policy)| policy.at);
            let kinds = self.kinds.iter().map(|(_, kind)| kind.at);
            for at in objects.chain(policies).chain(kinds) {
                if let Some(value) = self.files.value(at) {
                    hash_value(value, &mut hash);
                }
            }
            // What happened says more than what came of it.
            for (comply, past) in self.complies.values() {
                hash.update(comply.digest());
                for value in past.iter().filter_map(|at| self.files.value(*at)) {
                    hash_value(value, &mut hash);
                }
            }
            format!("{:x}", hash.finalize())
        })
    }
}

fn by_identity<T>(items: Table<T>, symbols: &Symbols, identity: impl Fn(&T) -> (Sym, Sym, Sym)) -> Table<T> {
    let mut items = items.into_vec();
    items.sort_by(|a, b| {
        let texts = |item: &T| {
            let (kind, scope, name) = identity(item);
            (symbols.text(kind), symbols.text(scope), symbols.text(name))
        };
        texts(a).cmp(&texts(b))
    });
    items.into_iter().collect()
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
