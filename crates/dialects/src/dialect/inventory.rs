//! What there is besides plain objects and policies: scopes, ends of connections, services, and who is attached to what.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use upheld_engine::partition::CellRows;
use upheld_engine::{Granularity, KindId, PolicyId, Snapshot, work};
use upheld_model::{Diagnostic, NodeRef, Policy, Sym, TagSet};
use upheld_report::ChangedDocument;

use crate::identity::Identity;
use crate::question::Words;

/// What a dialect can list.
pub trait Inventory {
    /// Whether things of a kind are in no mesh and no namespace, whatever stands for one.
    fn is_in_no_scope(&self, _kind: &str, _scope: &str) -> bool {
        false
    }

    /// The scopes that connections stay within, by name.
    fn scopes(&self, _snapshot: &Snapshot) -> Vec<Sym> {
        Vec::new()
    }

    /// Such a scope by its name; `None` where there are none.
    fn find_scope(&self, _snapshot: &Snapshot, _name: &str) -> Option<Result<Sym, Diagnostic>> {
        None
    }

    /// Everything that calls and can be called in such a scope.
    fn ends(&self, _snapshot: &Snapshot, _scope: Sym, _each: Granularity) -> Option<Arc<Ends>> {
        None
    }

    /// Services that something offers or calls.
    fn services(&self, _snapshot: &Snapshot) -> Vec<Service> {
        Vec::new()
    }

    /// Everything that can be asked about what there is, besides the connections of [`Self::ends`]: routes, gateways, backends, pods that
    /// call each other. No more than so many questions; whether these are all is said.
    fn questions(&self, _snapshot: &Snapshot, _most: usize) -> (Vec<Words>, Listing) {
        (Vec::new(), Listing::Whole)
    }

    /// Of the questions of two snapshots, those that are perhaps not answered alike; nothing if this dialect cannot tell, so that all are to
    /// be asked.
    fn reached(&self, _worlds: [&Snapshot; 2], _changed: &[ChangedDocument], _most: usize) -> Option<Reached> {
        None
    }

    /// Of its questions, those in whose answers a policy can have a say.
    fn questions_about(&self, _snapshot: &Snapshot, _policy: PolicyId, _most: usize) -> (Vec<Words>, Listing) {
        (Vec::new(), Listing::Whole)
    }

    /// Objects that are kept apart from those of others.
    fn objects(&self, _snapshot: &Snapshot) -> Vec<ListedObject> {
        Vec::new()
    }

    /// One of them by its identity.
    fn object(&self, snapshot: &Snapshot, identity: &Identity) -> Option<ListedObject> {
        self.objects(snapshot).into_iter().find(|object| object.identity() == *identity)
    }

    /// Types of objects that can be listed.
    fn object_types(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Whether objects of a type are listed as the policies that they are, too.
    fn is_policy_type(&self, _kind: &str) -> bool {
        false
    }

    /// What a kind of layers comes to for the pairs of such a scope; `None` for other kinds.
    fn layered_cells(
        &self,
        _snapshot: &Snapshot,
        _kind: KindId,
        _scope: Sym,
        _among: &SomePairs,
    ) -> Option<LayeredCells> {
        None
    }

    /// Whom some policies under a kind of layers can change something for, if they alone come, go or say something else; `None` if that could
    /// be anybody.
    fn layered_reach(
        &self,
        _snapshot: &Snapshot,
        _kind: KindId,
        _scope: Sym,
        _is_meant: &dyn Fn(&Policy) -> bool,
    ) -> Option<LayeredReach> {
        None
    }

    /// What its system makes of a document besides what is written there, by name; `policy` if the document is one.
    fn computed(&self, _snapshot: &Snapshot, _at: NodeRef, _policy: Option<&Policy>) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The proxies that a policy is attached to, and how many there are.
    fn attached(&self, _snapshot: &Snapshot, _policy: PolicyId) -> Option<(Vec<String>, usize)> {
        None
    }

    /// The same proxies in classes that no policy of its kind can tell apart: the first of each by name, and how many they are.
    fn attached_classes(&self, _snapshot: &Snapshot, _policy: PolicyId) -> Option<Vec<(String, u64)>> {
        None
    }
}

/// What a change can reach, among all questions.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    /// Questions that are perhaps not answered alike. Those in one list have one answer before and one after, but for their names.
    pub questions: Vec<Vec<Words>>,
    /// How many results were held against each other, and are the same.
    pub same: u64,
    /// How many results there are of things that were not there before.
    pub began: u64,
    /// How many results there were of things that are not there any more.
    pub ended: u64,
    /// How many questions the change cannot reach.
    pub beyond: u64,
    /// Whether that is all.
    pub listing: Listing,
}

/// Whether a list has everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listing {
    /// It has.
    #[default]
    Whole,
    /// There is more.
    Cut,
}

/// Everything that calls and can be called.
#[derive(Debug, Default)]
pub struct Ends {
    /// Who calls, with the tags of each part.
    pub callers: Vec<(Sym, Vec<TagSet>)>,
    /// Who is called.
    pub called: Vec<(String, Vec<TagSet>)>,
    /// Places in both lists, by the tags that stand there; made where somebody looks.
    by_tag: OnceLock<[Tagged; 2]>,
}

/// Who has which tag, and whose tags are not all known.
#[derive(Debug, Default)]
struct Tagged {
    having: FxHashMap<(Sym, Sym), Vec<usize>>,
    unknown: Vec<usize>,
}

impl Ends {
    /// Some callers and some called ones.
    pub fn new(callers: Vec<(Sym, Vec<TagSet>)>, called: Vec<(String, Vec<TagSet>)>) -> Self {
        Self { callers, called, by_tag: OnceLock::new() }
    }

    /// Those who have one of some tags, or may have it; everybody where no tags are named.
    #[must_use]
    pub fn having(&self, source: Option<&[(Sym, Sym)]>, destination: Option<&[(Sym, Sym)]>) -> Self {
        let [callers, called] = self.by_tag.get_or_init(|| {
            let callers = Tagged::of(self.callers.iter().map(|(_, parts)| parts));
            [callers, Tagged::of(self.called.iter().map(|(_, parts)| parts))]
        });
        let (callers, called) =
            (callers.places(source, self.callers.len()), called.places(destination, self.called.len()));
        Self::new(
            callers.into_iter().filter_map(|place| self.callers.get(place).cloned()).collect(),
            called.into_iter().filter_map(|place| self.called.get(place).cloned()).collect(),
        )
    }
}

impl Tagged {
    fn of<'p>(ends: impl Iterator<Item = &'p Vec<TagSet>>) -> Self {
        let mut all = Self::default();
        for (place, parts) in ends.enumerate() {
            work::step();
            if parts.iter().any(TagSet::has_unknown) {
                all.unknown.push(place);
            }
            for tag in parts.iter().flat_map(TagSet::as_slice) {
                let Some(value) = tag.value else { continue };
                let known = all.having.entry((tag.key, value)).or_default();
                if known.last() != Some(&place) {
                    known.push(place);
                }
            }
        }
        all
    }

    fn places(&self, tags: Option<&[(Sym, Sym)]>, all: usize) -> Vec<usize> {
        let Some(tags) = tags else { return (0..all).collect() };
        let known = tags.iter().filter_map(|tag| self.having.get(tag)).flatten();
        let mut places: Vec<usize> = known.chain(&self.unknown).copied().collect();
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// Pairs under a kind of layers, in cells with one answer: a class of callers and a class of those called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayeredCells {
    /// Who calls, each with its class.
    pub callers: Vec<(Sym, usize)>,
    /// Who is called, each with its class.
    pub called: Vec<(String, usize)>,
    /// The cell of each pair, by class of callers, then by class of those called.
    pub rows: CellRows,
    /// What each cell comes to: all its pairs get the same answer.
    pub cells: Vec<LayeredStanding>,
}

/// Proxies by name.
pub type ProxyNames = BTreeSet<String>;

/// Some of the ends of connections.
#[derive(Clone, Debug, Default)]
pub enum Chosen {
    /// All of them.
    #[default]
    All,
    /// Those at these proxies.
    At(ProxyNames),
    /// All others.
    Elsewhere(ProxyNames),
}

impl Chosen {
    /// Whether an end is one of them; one that is at no proxy is elsewhere.
    pub fn has(&self, proxy: Option<&str>) -> bool {
        let among = |names: &ProxyNames| proxy.is_some_and(|proxy| names.contains(proxy));
        match self {
            Self::All => true,
            Self::At(names) => among(names),
            Self::Elsewhere(names) => !among(names),
        }
    }
}

/// Some connections: those from some callers to some who are called.
#[derive(Clone, Debug, Default)]
pub struct SomePairs {
    /// Who calls.
    pub callers: Chosen,
    /// Who is called.
    pub called: Chosen,
}

/// Whom policies under a kind of layers can change something for.
#[derive(Clone, Debug, Default)]
pub struct LayeredReach {
    /// Those who call.
    pub callers: ProxyNames,
    /// Those who are called.
    pub called: ProxyNames,
}

/// What layers come to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LayeredStanding {
    /// The policies that the result comes from.
    pub policies: Vec<PolicyId>,
    /// Whether the caller may, if the kind says so.
    pub granted: Option<bool>,
}

/// A service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// The scope that it is in.
    pub scope: Sym,
    /// The tag that callers know it by.
    pub tag: Sym,
    /// Its name.
    pub name: Sym,
}

/// An object that is kept apart from those of others.
#[derive(Clone, Debug)]
pub struct ListedObject {
    /// Its type.
    pub kind: String,
    /// The mesh or namespace that it is in, or what stands in its place.
    pub scope: String,
    /// Its name.
    pub name: String,
    /// What it belongs to.
    pub owner: Option<String>,
    /// The values of each of its tags.
    pub tags: Vec<(String, Vec<String>)>,
    /// Where it was written.
    pub at: Option<NodeRef>,
}

impl ListedObject {
    /// `key=value,…`; several values have bars between them.
    pub fn tags_text(&self) -> String {
        let each: Vec<String> = self.tags.iter().map(|(key, values)| format!("{key}={}", values.join("|"))).collect();
        each.join(",")
    }

    /// Who it is.
    pub fn identity(&self) -> Identity {
        Identity::new(&self.kind, &self.scope, &self.name)
    }
}
