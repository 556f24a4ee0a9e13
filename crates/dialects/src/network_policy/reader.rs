//! Reads policies, and what they are about where there are any.

use std::collections::BTreeMap;

use smol_str::SmolStr;
use upheld_engine::decide::{Decide, Member, Rule, Set, Strictness, Target};
use upheld_engine::{DecideKind, PolicyKind, Snapshot};
use upheld_model::{Files, NodeRef, Policy, PolicyContent, SourceId, Sym, Symbols};

use super::POLICY;
use super::rules::{Mentioned, Rules};
use super::shapes;
use super::workloads::{Labels, Workload, agreed, is_namespace, listed, namespace_labels, namespace_of, type_of};
use crate::dialect::{Document, Known, ListedObject, Opening, Reader, Side, Taken};
use crate::document::{Form, Resource};
use crate::recognise::Recognised;
use crate::shape::Checker;

/// What all documents come to.
#[derive(Debug, Default)]
pub(super) struct Network {
    /// The policies of every kind that governs them, by its name.
    pub(super) kinds: Vec<(Sym, Directions)>,
    /// Everything with pods, by type, namespace and name.
    pub(super) workloads: Vec<Workload>,
    /// The labels of namespaces that somebody described.
    pub(super) namespaces: BTreeMap<SmolStr, Labels>,
    /// What policies look at.
    pub(super) mentioned: Mentioned,
    /// How many policies there are.
    policies: usize,
}

/// The rules of one kind, by direction: both must agree to a connection.
#[derive(Debug)]
pub(super) struct Directions {
    /// What may leave a pod.
    pub(super) egress: Decide,
    /// What may come to one.
    pub(super) ingress: Decide,
}

impl Network {
    /// That of a snapshot, if there is any policy.
    pub(super) fn of(snapshot: &Snapshot) -> Option<&Self> {
        snapshot.companion::<Self>().filter(|network| network.policies > 0)
    }

    /// Everything with pods, as it is listed.
    pub(super) fn listed(&self) -> Vec<ListedObject> {
        let row = |workload: &Workload| ListedObject {
            kind: workload.kind.name.to_owned(),
            scope: workload.pod.namespace.to_string(),
            name: workload.name.to_string(),
            owner: None,
            tags: listed(&workload.pod.labels),
            at: Some(workload.at),
        };
        self.workloads.iter().map(row).collect()
    }
}

/// Takes documents, and reads them when all are there.
pub(super) struct NetworkReader<'f> {
    files: &'f Files,
    kinds: Vec<(Sym, DecideKind)>,
    /// Whether there is any policy: only then pods and namespaces matter.
    wanted: Wanted,
    came: Vec<(SourceId, Resource<'f>)>,
    change: Change,
}

/// Whether pods and namespaces matter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Everything,
    PoliciesOnly,
}

/// Whether what is known still holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    /// All documents are read, whatever was known.
    AllAreRead,
    /// No document of ours changed.
    None,
    /// Some did.
    Some,
}

impl<'f> NetworkReader<'f> {
    pub(super) fn new(opening: Opening<'f, '_>) -> Self {
        let Opening { files, kinds, symbols, documents, known, .. } = opening;
        let is_policy = |document: &Document<'_>| document.resource().is_some_and(is_policy);
        let (any, change) = match known {
            Known::Unchanged(before, _) => (Network::of(before.snapshot).is_some(), Change::None),
            Known::Nothing | Known::Reusable(_) => (documents.typed().any(is_policy), Change::AllAreRead),
        };
        let wanted = if any { Wanted::Everything } else { Wanted::PoliciesOnly };
        Self { files, kinds: governing(kinds, symbols), wanted, came: Vec::new(), change }
    }

    fn is_ours(&self, resource: Resource<'_>) -> bool {
        is_policy(resource) || (self.wanted == Wanted::Everything && knows(resource))
    }
}

impl<'f> Reader<'f> for NetworkReader<'f> {
    // Others may take a namespace for themselves.
    fn see(&mut self, document: &Document<'f>, side: Side) {
        let Some(resource) = document.resource().filter(|resource| self.is_ours(*resource)) else { return };
        if self.change != Change::AllAreRead {
            self.change = Change::Some;
        }
        if side == Side::Came {
            self.came.push((document.source, resource));
        }
    }

    fn take(&mut self, document: &Document<'f>, _side: Side) -> Taken {
        match document.resource() {
            Some(resource) if is_policy(resource) => Taken::Yes,
            Some(resource) if self.is_ours(resource) => Taken::Shared,
            _ => Taken::No,
        }
    }

    fn words(&self) -> Vec<String> {
        vec![POLICY.to_owned()]
    }

    fn finish(mut self: Box<Self>, recognised: &mut Recognised) -> Option<()> {
        match self.change {
            Change::AllAreRead => {}
            Change::None => return Some(()),
            // What a rule means for whom depends on all of them.
            Change::Some => return None,
        }
        let mut network = Network::default();
        let mut rules = Vec::new();
        for (source, resource) in std::mem::take(&mut self.came) {
            let at = NodeRef { source, node: resource.document.number() };
            if is_policy(resource) {
                rules.extend(self.policy(source, resource, &mut network, recognised));
            } else if let Some(kind) = type_of(resource) {
                network.workloads.push(Workload::read(resource, kind, at));
            } else {
                let (name, labels) = namespace_labels(resource);
                match network.namespaces.get_mut(&name) {
                    Some(known) => agreed(known, labels),
                    None => drop(network.namespaces.insert(name, labels)),
                }
            }
        }
        network.workloads.sort_by(|one, other| one.identity().cmp(&other.identity()));
        // The order of files shows nowhere.
        rules.sort_by(|(one, _), (other, _)| one.cmp(other));
        let rules: Vec<Rules> = rules.into_iter().map(|(_, rules)| rules).collect();
        network.kinds = self.kinds.iter().map(|(name, kind)| (*name, directions(kind, &rules))).collect();
        recognised.keep(network);
        Some(())
    }
}

impl NetworkReader<'_> {
    fn policy(
        &self,
        source: SourceId,
        resource: Resource<'_>,
        network: &mut Network,
        recognised: &mut Recognised,
    ) -> Option<((SmolStr, SmolStr), Rules)> {
        network.policies += 1;
        let Recognised { draft, diagnostics, .. } = &mut *recognised;
        if !Checker::new(source, diagnostics).check(resource.document, &shapes::policy()) {
            return None;
        }
        let (namespace, name) = (namespace_of(resource), SmolStr::new(resource.kubernetes_name().0));
        let rules = Rules::read(source, resource, &mut network.mentioned, diagnostics)?;
        let created = resource.created(source, diagnostics);
        let at = NodeRef { source, node: resource.document.number() };
        let [kind, scope, title] = [POLICY, &namespace, &name].map(|text| draft.symbols.intern(text));
        if !recognised.is_new(self.files, (kind, scope, title), at, "namespace") {
            return None;
        }
        let says = PolicyContent::Document;
        recognised.draft.policies.push(Policy { kind, scope, name: title, title, created, at, payload: None, says });
        Some(((namespace, name), rules))
    }
}

/// Whether a document is a policy, or something that policies may be about.
pub(super) fn knows(resource: Resource<'_>) -> bool {
    let is_about = || type_of(resource).is_some() || is_namespace(resource);
    is_policy(resource) || (resource.form == Form::Kubernetes && is_about())
}

/// Whether a document is a policy of Kubernetes itself: others have types of the same name.
fn is_policy(resource: Resource<'_>) -> bool {
    resource.kind.text() == POLICY && matches!(resource.group(), Some("networking.k8s.io" | "extensions"))
}

/// The kinds that say how policies are combined.
fn governing(kinds: &[PolicyKind], symbols: &Symbols) -> Vec<(Sym, DecideKind)> {
    let own = kinds.iter().filter(|kind| symbols.text(kind.governs) == POLICY);
    own.filter_map(|kind| Some((kind.name, kind.decide()?.clone()))).collect()
}

fn directions(kind: &DecideKind, rules: &[Rules]) -> Directions {
    let decide = |own: fn(&Rules) -> &[Rule]| {
        let members = rules.iter().flat_map(own).cloned().map(Member::from).collect();
        let root = Set {
            name: SmolStr::default(),
            algorithm: kind.algorithm,
            default: Some(kind.default),
            target: Target::default(),
            duties: Vec::new(),
            priority: 0.0,
            members,
            at: None,
        };
        Decide::new(root, Strictness::Strict)
    };
    Directions { egress: decide(|rules| &rules.egress), ingress: decide(|rules| &rules.ingress) }
}
