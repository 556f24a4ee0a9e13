//! Reads policies, and what they are about where there are any.

use smol_str::SmolStr;
use upheld_engine::{DecideKind, PolicyKind, work};
use upheld_model::{Files, NodeRef, Policy, PolicyContent, SourceId, Sym, Symbols};

use super::POLICY;
use super::network::{Network, ReadPolicy};
use super::rules::{Mentioned, Rules};
use super::shapes;
use super::workloads::{Labels, Workload, is_namespace, namespace_labels, namespace_of, type_of};
use crate::dialect::{Document, Known, Opening, Reader, Side, Taken};
use crate::document::{Form, Resource};
use crate::recognise::Recognised;
use crate::shape::Checker;

/// Takes documents, and reads them when all are there.
pub(super) struct NetworkReader<'f> {
    files: &'f Files,
    kinds: Vec<(Sym, DecideKind)>,
    /// Whether there is any policy: only then pods and namespaces matter.
    wanted: Wanted,
    came: Vec<(SourceId, Resource<'f>)>,
    gone: Vec<(SourceId, Resource<'f>)>,
    /// What is known and still holds but for what comes and goes; nothing where all documents are read.
    before: Option<&'f Network>,
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
        let (any, before, change) = match known {
            Known::Unchanged(before, _) => {
                let before = Network::of(before.snapshot);
                (before.is_some(), before, Change::None)
            }
            Known::Nothing | Known::Reusable(_) => (documents.typed().any(is_policy), None, Change::AllAreRead),
        };
        let wanted = if any { Wanted::Everything } else { Wanted::PoliciesOnly };
        let (came, gone) = (Vec::new(), Vec::new());
        Self { files, kinds: governing(kinds, symbols), wanted, came, gone, before, change }
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
        match side {
            Side::Came => self.came.push((document.source, resource)),
            Side::Gone => self.gone.push((document.source, resource)),
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
            Change::Some => {
                let network = self.after(self.before?, recognised)?;
                recognised.keep(network);
                return Some(());
            }
        }
        let Read { workloads, namespaces, policies } = self.read(recognised);
        recognised.keep(Network::of_all(workloads, namespaces, policies, &self.kinds));
        Some(())
    }
}

/// What documents say that came.
#[derive(Default)]
struct Read {
    workloads: Vec<Workload>,
    namespaces: Vec<(SmolStr, Labels)>,
    policies: Vec<((SmolStr, SmolStr), ReadPolicy)>,
}

impl NetworkReader<'_> {
    /// Reads what came.
    fn read(&mut self, recognised: &mut Recognised) -> Read {
        let mut read = Read::default();
        for (source, resource) in std::mem::take(&mut self.came) {
            work::step();
            match What::of(source, resource) {
                What::Policy(at) => read.policies.extend(self.policy(at, resource, recognised)),
                What::Workload(workload) => read.workloads.push(workload),
                What::Namespace(name, labels) => read.namespaces.push((name, labels)),
            }
        }
        read
    }

    /// What is known, after some documents are gone and others came. Nothing if it takes all of them to know what these mean.
    fn after(&mut self, before: &Network, recognised: &mut Recognised) -> Option<Network> {
        let mut network = before.clone();
        let mut policies = Vec::new();
        for (source, resource) in &self.gone {
            work::step();
            match What::of(*source, *resource) {
                What::Policy(at) => policies.push((identity(*resource), at)),
                What::Workload(workload) => network.remove_workload(&workload)?,
                What::Namespace(name, _) => network.remove_namespace(&name)?,
            }
        }
        network.remove_policies(&policies)?;
        let read = self.read(recognised);
        for workload in read.workloads {
            network.add_workload(workload)?;
        }
        for (name, labels) in read.namespaces {
            network.add_namespace(name, labels)?;
        }
        network.add_policies(read.policies)?;
        // Without policies, pods are nobody's.
        network.has_policies().then_some(network)
    }

    fn policy(
        &self,
        at: NodeRef,
        resource: Resource<'_>,
        recognised: &mut Recognised,
    ) -> Option<((SmolStr, SmolStr), ReadPolicy)> {
        let Recognised { draft, diagnostics, .. } = &mut *recognised;
        if !Checker::new(at.source, diagnostics).check(resource.document, &shapes::policy()) {
            return None;
        }
        let (namespace, name) = identity(resource);
        let mut mentioned = Mentioned::default();
        let rules = Rules::read(at.source, resource, &mut mentioned, diagnostics)?;
        let created = resource.created(at.source, diagnostics);
        let [kind, scope, title] = [POLICY, &namespace, &name].map(|text| draft.symbols.intern(text));
        if !recognised.is_new(self.files, (kind, scope, title), at, "namespace") {
            return None;
        }
        let says = PolicyContent::Document;
        recognised.draft.policies.push(Policy { kind, scope, name: title, title, created, at, payload: None, says });
        Some(((namespace, name), ReadPolicy { at, rules, mentioned }))
    }
}

/// What a document is.
enum What {
    Policy(NodeRef),
    Workload(Workload),
    Namespace(SmolStr, Labels),
}

impl What {
    fn of(source: SourceId, resource: Resource<'_>) -> Self {
        let at = NodeRef { source, node: resource.document.number() };
        if is_policy(resource) {
            return Self::Policy(at);
        }
        match type_of(resource) {
            Some(kind) => Self::Workload(Workload::read(resource, kind, at)),
            None => {
                let (name, labels) = namespace_labels(resource);
                Self::Namespace(name, labels)
            }
        }
    }
}

/// The namespace and the name of a policy.
fn identity(resource: Resource<'_>) -> (SmolStr, SmolStr) {
    (namespace_of(resource), SmolStr::new(resource.kubernetes_name().0))
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
