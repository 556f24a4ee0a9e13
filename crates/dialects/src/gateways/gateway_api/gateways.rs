//! The gateways of a snapshot: what is known of all of them together lives in the snapshot, is made once and shared.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use upheld_engine::{Hierarchy, ObjectId, PolicyId, PolicyKind, Snapshot};
use upheld_model::{Diagnostic, Label, Object, SourceId, Span};

use super::assumed::AssumedRoots;
use super::controller::System;
use super::grants::Grants;
use super::settings::ControllerSettings;
use super::topology::Topology;
use crate::document::Resource;
use crate::gateways::kgateway::references::References;
use crate::gateways::unattached::Unattached;

/// What a snapshot keeps of its gateways.
#[derive(Debug)]
pub struct Gateways {
    /// What leads where.
    pub topology: Arc<Topology>,
    /// Which references into other namespaces are granted.
    pub grants: Arc<Grants>,
    /// What the controller was started with.
    pub settings: ControllerSettings,
    /// Kinds of editions that are not in force.
    pub other_editions: Vec<PolicyKind>,
    /// What is wrong with policies, as far as somebody asked: that may take a look at many documents.
    problems: RwLock<FxHashMap<(PolicyId, Absent), Problems>>,
    /// The systems that are meant by what was read, once somebody asked.
    pub(super) meant: OnceLock<Vec<System>>,
    /// Routes whose gateways were not read, once somebody asked.
    pub(super) assumed: OnceLock<AssumedRoots>,
    /// Policies that have no effect, once somebody asked.
    pub(in crate::gateways) unattached: OnceLock<Unattached>,
}

/// What it means that an object was not read, where nothing of its type was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Absent {
    /// There is none: everything was read.
    Missing,
    /// It is elsewhere: files rarely have every secret.
    Assumed,
}

/// What is wrong with a policy.
pub type Problems = Arc<[String]>;

impl Gateways {
    /// Looks through all gateways and routes of a snapshot.
    pub fn of(snapshot: &Snapshot, settings: ControllerSettings, other_editions: Vec<PolicyKind>) -> Self {
        let (topology, grants) = Topology::build(snapshot, &settings.topology);
        let (topology, grants) = (Arc::new(topology), Arc::new(grants));
        Self::with(topology, grants, settings, other_editions)
    }

    fn with(
        topology: Arc<Topology>,
        grants: Arc<Grants>,
        settings: ControllerSettings,
        other_editions: Vec<PolicyKind>,
    ) -> Self {
        let (problems, meant) = (RwLock::default(), OnceLock::new());
        let (assumed, unattached) = (OnceLock::new(), OnceLock::new());
        Self { topology, grants, settings, other_editions, problems, meant, assumed, unattached }
    }

    /// Those of the next snapshot, in which some files are not as they were. Nothing if these are about something else.
    pub fn after(&self, before: &Snapshot, next: &Snapshot, changed: &BTreeSet<SourceId>) -> Option<Self> {
        let (settings, other_editions) = (self.settings.clone(), self.other_editions.clone());
        let Some(topology) = self.topology.after([before, next], changed, &settings.topology, &self.grants) else {
            return Some(Self::of(next, settings, other_editions));
        };
        let concerns = |snapshot: &Snapshot, source: &SourceId| {
            let mut policies = snapshot.policies().of_source(*source);
            snapshot.objects().of_source(*source).next().is_some()
                || policies.any(|(_, policy)| policy.attachments().is_some())
        };
        let concerned = changed.iter().any(|source| concerns(before, source) || concerns(next, source));
        // What is wrong with policies may depend on anything that gateways have to do with.
        (concerned || !Arc::ptr_eq(&topology, &self.topology))
            .then(|| Self::with(topology, Arc::clone(&self.grants), settings, other_editions))
    }

    /// What is wrong with a policy; `look` is asked once for each.
    pub(crate) fn problems(&self, policy: (PolicyId, Absent), look: impl FnOnce() -> Problems) -> Problems {
        let known = self.problems.read().unwrap_or_else(PoisonError::into_inner).get(&policy).cloned();
        known.unwrap_or_else(|| {
            let found = look();
            self.problems.write().unwrap_or_else(PoisonError::into_inner).insert(policy, found.clone());
            found
        })
    }
}

/// The gateways of a snapshot, to be asked.
#[derive(Clone, Copy, Debug)]
pub struct Network<'s> {
    /// Everything there is.
    pub snapshot: &'s Snapshot,
    /// What is known of its gateways.
    pub gateways: &'s Gateways,
    /// What it means that something was not read.
    pub absent: Absent,
}

impl<'s> Network<'s> {
    /// The gateways that a snapshot keeps; `None` for a snapshot that was made without them.
    pub fn of(snapshot: &'s Snapshot) -> Option<Self> {
        snapshot.companion::<Gateways>().map(|gateways| Self { snapshot, gateways, absent: Absent::Missing })
    }

    /// The same, where what was not read may be elsewhere or not.
    #[must_use]
    pub fn taking(self, absent: Absent) -> Self {
        Self { absent, ..self }
    }

    /// Whether objects of a type are taken to exist: none was read.
    pub fn assumes(self, kind: &str) -> bool {
        self.absent == Absent::Assumed && !self.snapshot.objects().has_kind(kind, self.snapshot.symbols())
    }

    /// What leads where.
    pub fn topology(self) -> &'s Topology {
        &self.gateways.topology
    }

    /// Objects by name, as far as somebody may refer to them.
    pub fn references(self) -> References<'s> {
        References { network: self }
    }

    /// An object.
    pub fn object(self, object: ObjectId) -> Option<&'s Object> {
        self.snapshot.objects().get(object)
    }

    /// The document of an object.
    pub fn resource(self, object: ObjectId) -> Option<Resource<'s>> {
        Resource::of(self.snapshot.files().value(self.object(object)?.at)?)
    }

    /// `Kind namespace/name`.
    pub fn title(self, object: ObjectId) -> String {
        let text = |symbol| self.snapshot.text(symbol);
        self.object(object).map_or_else(String::new, |object| {
            format!("{} {}/{}", text(object.kind), text(object.scope), text(object.name))
        })
    }

    /// The kinds whose policies are attached to gateways and what is below them, by name.
    pub fn kinds(self) -> impl Iterator<Item = GatewayKind<'s>> {
        let kinds = self.snapshot.kinds().iter();
        kinds.filter_map(move |(id, kind)| Some(GatewayKind { kind, policies: self.snapshot.hierarchy(id)? }))
    }

    /// The kind of a name.
    pub fn kind(self, name: &str) -> Option<GatewayKind<'s>> {
        self.kinds().find(|known| self.snapshot.text(known.kind.name).eq_ignore_ascii_case(name))
    }

    /// What is odd about the gateways.
    pub fn warnings(self) -> Vec<Diagnostic> {
        self.gateways.topology.warnings()
    }

    /// The same, as far as it stands in the documents of some objects, or leaves something out of every answer.
    pub(crate) fn warnings_about(self, objects: &BTreeSet<ObjectId>) -> Vec<Diagnostic> {
        let at = |object: &ObjectId| self.object(*object).map(|object| object.at);
        let spans: Vec<(SourceId, Span)> = objects
            .iter()
            .filter_map(at)
            .filter_map(|at| Some((at.source, self.snapshot.files().value(at)?.span())))
            .collect();
        let is_within = |label: &Label| {
            let within = |(source, span): &(SourceId, Span)| {
                *source == label.source && (span.start..=span.end).contains(&label.span.start)
            };
            spans.iter().any(within)
        };
        self.gateways.topology.warnings_about(objects, |warning| warning.label.as_ref().is_some_and(is_within))
    }
}

/// A kind of policy that is attached to gateways and what is below them, with its policies.
#[derive(Clone, Copy, Debug)]
pub struct GatewayKind<'s> {
    /// The kind.
    pub kind: &'s PolicyKind,
    /// The policies.
    pub policies: &'s Hierarchy,
}
