//! What all documents come to together. A clone shares nearly everything; a document that comes or goes costs what it says.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::decide::{Decide, Member, Rule, RuleChange, Set, Strictness, Target};
use upheld_engine::{DecideKind, Snapshot};
use upheld_model::{NodeRef, Runs, Shards, Sym, TextShards};

use super::rules::{Mentioned, Rules};
use super::workloads::{Labels, Workload, agreed};
use crate::dialect::ListedObject;
use crate::identity::Identity;

/// What all documents come to.
#[derive(Clone, Debug, Default)]
pub(super) struct Network {
    /// The policies of every kind that governs them, by its name.
    pub(super) kinds: Vec<(Sym, Directions)>,
    /// Everything with pods, by type, namespace and name.
    pub(super) workloads: Runs<Workload>,
    /// Types and namespaces of workloads, by their names.
    by_name: TextShards<SmolStr, Arc<[(&'static str, SmolStr)]>>,
    /// Namespaces that somebody described.
    namespaces: TextShards<SmolStr, Described>,
    /// What policies look at.
    pub(super) mentioned: Mentions,
    /// By namespace and name.
    policies: TextShards<(SmolStr, SmolStr), Arc<ReadPolicy>>,
    /// The places of rules in the order of evaluation, by where they are written.
    places: Shards<NodeRef, RulePlace>,
    /// Whether rules of several policies are written once: then no place tells the policy.
    is_entangled: bool,
}

/// The namespace and the name of a policy, and the number of a rule.
type RulePlace = (SmolStr, SmolStr, usize);

/// A namespace.
#[derive(Clone, Debug)]
struct Described {
    labels: Labels,
    /// How many documents describe it.
    times: usize,
}

/// A policy as it was read.
#[derive(Debug)]
pub(super) struct ReadPolicy {
    /// Where it was written.
    pub(super) at: NodeRef,
    /// Its rules.
    pub(super) rules: Rules,
    /// What they look at.
    pub(super) mentioned: Mentioned,
}

/// What policies look at, each with how many policies do so.
#[derive(Clone, Debug, Default)]
pub(super) struct Mentions {
    /// Labels of pods.
    pub(super) labels: BTreeMap<SmolStr, usize>,
    /// Labels of namespaces.
    pub(super) namespace_labels: BTreeMap<SmolStr, usize>,
    /// Ports; both ends of ranges.
    pub(super) ports: BTreeMap<u16, usize>,
    /// Names of ports.
    pub(super) port_names: BTreeMap<SmolStr, usize>,
}

/// The rules of one kind, by direction: both must agree to a connection.
#[derive(Clone, Debug)]
pub(super) struct Directions {
    /// What may leave a pod.
    pub(super) egress: Decide,
    /// What may come to one.
    pub(super) ingress: Decide,
}

impl Network {
    /// That of a snapshot, if there is any policy.
    pub(super) fn of(snapshot: &Snapshot) -> Option<&Self> {
        snapshot.companion::<Self>().filter(|network| network.has_policies())
    }

    /// Whether there is any policy.
    pub(super) fn has_policies(&self) -> bool {
        !self.policies.is_empty()
    }

    /// The labels of a namespace, if somebody described it.
    pub(super) fn namespace(&self, name: &str) -> Option<&Labels> {
        self.namespaces.get(name).map(|described| &described.labels)
    }

    /// All policies by namespace and name.
    pub(super) fn policies(&self) -> BTreeMap<&(SmolStr, SmolStr), &Arc<ReadPolicy>> {
        self.policies.sorted().into_iter().collect()
    }

    /// The workloads of a name, in one namespace or all, of one type or all: by type, namespace and name.
    pub(super) fn named(&self, kind: Option<&str>, namespace: Option<&str>, name: &str) -> Vec<&Workload> {
        let known = self.by_name.get(name).map_or(&[][..], |known| known);
        let fits = |(of_kind, of_namespace): &&(&'static str, SmolStr)| {
            kind.is_none_or(|kind| kind == *of_kind) && namespace.is_none_or(|namespace| namespace == of_namespace)
        };
        known.iter().filter(fits).flat_map(|(kind, namespace)| self.at((kind, namespace, name))).collect()
    }

    /// The workloads of an identity: two if it is written twice.
    fn at<'n>(&'n self, identity: (&str, &str, &str)) -> impl Iterator<Item = &'n Workload> {
        let first = self.workloads.partition_point(|known| known.identity() < identity);
        let beyond = self.workloads.partition_point(|known| known.identity() <= identity);
        (first..beyond).filter_map(|place| self.workloads.get(place))
    }

    /// Everything with pods, as it is listed.
    pub(super) fn listed(&self) -> Vec<ListedObject> {
        self.workloads.iter().map(Workload::listed).collect()
    }

    /// One of them by its identity.
    pub(super) fn listed_one(&self, identity: &Identity) -> Option<ListedObject> {
        self.at((&identity.kind, &identity.scope, &identity.name)).next().map(Workload::listed)
    }

    /// All that was read, workloads in the order of their documents.
    pub(super) fn of_all(
        mut workloads: Vec<Workload>,
        namespaces: Vec<(SmolStr, Labels)>,
        mut policies: Vec<((SmolStr, SmolStr), ReadPolicy)>,
        kinds: &[(Sym, DecideKind)],
    ) -> Self {
        let mut network = Self::default();
        workloads.sort_by(|one, other| one.identity().cmp(&other.identity()));
        for workload in &workloads {
            network.name(workload);
        }
        network.workloads = workloads.into_iter().collect();
        for (name, labels) in namespaces {
            network.describe(name, labels);
        }
        // The order of files shows nowhere.
        policies.sort_by(|(one, _), (other, _)| one.cmp(other));
        let rules: Vec<&Rules> = policies.iter().map(|(_, policy)| &policy.rules).collect();
        network.kinds = kinds.iter().map(|(name, kind)| (*name, Directions::of_all(kind, &rules))).collect();
        for (identity, policy) in policies {
            network.enter(identity, Arc::new(policy));
        }
        network
    }

    fn name(&mut self, workload: &Workload) {
        let (kind, namespace) = (workload.kind.name, workload.pod.namespace.clone());
        let known = self.by_name.get(&workload.name).map_or(&[][..], |known| known);
        if let Err(place) = known.binary_search(&(kind, namespace.clone())) {
            let mut known = known.to_vec();
            known.insert(place, (kind, namespace));
            self.by_name.insert(workload.name.clone(), known.into());
        }
    }

    fn describe(&mut self, name: SmolStr, labels: Labels) {
        match self.namespaces.get_mut(&name) {
            Some(known) => {
                agreed(&mut known.labels, labels);
                known.times += 1;
            }
            None => drop(self.namespaces.insert(name, Described { labels, times: 1 })),
        }
    }

    /// Enters a policy whose rules are there already.
    fn enter(&mut self, identity: (SmolStr, SmolStr), policy: Arc<ReadPolicy>) {
        for (number, rule) in policy.rules.numbered() {
            let place = (identity.0.clone(), identity.1.clone(), number);
            let known = self.places.insert(rule.at, place.clone());
            self.is_entangled |= known.is_some_and(|known| known != place);
        }
        self.mentioned.add(&policy.mentioned);
        self.policies.insert(identity, policy);
    }

    /// Adds a workload. Nothing if there is one of its identity: what two come to depends on all documents.
    pub(super) fn add_workload(&mut self, workload: Workload) -> Option<()> {
        let place = self.workloads.partition_point(|known| known.identity() < workload.identity());
        let is_known = self.workloads.get(place).is_some_and(|known| known.identity() == workload.identity());
        self.name(&workload);
        self.workloads.insert(place, Arc::new(workload));
        (!is_known).then_some(())
    }

    /// Takes a workload away. Nothing if it is not the only one of its identity.
    pub(super) fn remove_workload(&mut self, workload: &Workload) -> Option<()> {
        let place = self.workloads.partition_point(|known| known.identity() < workload.identity());
        let removed = self.workloads.remove(place).filter(|removed| removed.at == workload.at)?;
        if self.at(removed.identity()).next().is_some() {
            return None;
        }
        let known = self.by_name.get(&removed.name)?.iter();
        let others: Vec<_> = known
            .filter(|(kind, namespace)| (*kind, namespace) != (removed.kind.name, &removed.pod.namespace))
            .cloned()
            .collect();
        match others.as_slice() {
            [] => drop(self.by_name.remove(&removed.name)),
            others => drop(self.by_name.insert(removed.name.clone(), others.into())),
        }
        Some(())
    }

    /// Adds a namespace. Nothing if somebody described it already.
    pub(super) fn add_namespace(&mut self, name: SmolStr, labels: Labels) -> Option<()> {
        let is_known = self.namespaces.insert(name, Described { labels, times: 1 }).is_some();
        (!is_known).then_some(())
    }

    /// Takes a namespace away. Nothing if others described it as well.
    pub(super) fn remove_namespace(&mut self, name: &str) -> Option<()> {
        self.namespaces.remove(name).filter(|described| described.times == 1).map(drop)
    }

    /// Takes policies away by their namespaces and names. Nothing if one was not written there.
    pub(super) fn remove_policies(&mut self, policies: &[((SmolStr, SmolStr), NodeRef)]) -> Option<()> {
        let gone = policies.iter().map(|(identity, at)| self.policies.remove(identity).filter(|one| one.at == *at));
        let gone: Vec<Arc<ReadPolicy>> = gone.collect::<Option<_>>()?;
        self.change(&gone.iter().map(|policy| &policy.rules), RuleChange::Removed)?;
        for policy in gone {
            self.mentioned.take(&policy.mentioned);
            for (_, rule) in policy.rules.numbered() {
                self.places.remove(&rule.at);
            }
        }
        Some(())
    }

    /// Adds policies. Nothing if one is there already, or if two share what they say.
    pub(super) fn add_policies(&mut self, came: Vec<((SmolStr, SmolStr), ReadPolicy)>) -> Option<()> {
        let came: Vec<_> = came.into_iter().map(|(identity, policy)| (identity, Arc::new(policy))).collect();
        for (identity, policy) in &came {
            if self.policies.get(identity).is_some() {
                return None;
            }
            self.enter(identity.clone(), Arc::clone(policy));
        }
        self.change(&came.iter().map(|(_, policy)| &policy.rules), RuleChange::Added)
    }

    fn change<'r>(
        &mut self,
        rules: &(impl Iterator<Item = &'r Rules> + Clone),
        change: fn(Arc<Rule>) -> RuleChange,
    ) -> Option<()> {
        if self.is_entangled {
            return None;
        }
        let changes = |own: fn(&Rules) -> &[Arc<Rule>]| -> Vec<RuleChange> {
            rules.clone().flat_map(own).cloned().map(change).collect()
        };
        let (egress, ingress) = (changes(|rules| &rules.egress), changes(|rules| &rules.ingress));
        let place = |at: NodeRef| self.places.get(&at).cloned();
        for (_, directions) in &mut self.kinds {
            directions.egress = directions.egress.with_changes(&egress, place)?;
            directions.ingress = directions.ingress.with_changes(&ingress, place)?;
        }
        Some(())
    }
}

impl Mentions {
    fn add(&mut self, mentioned: &Mentioned) {
        more(&mut self.labels, &mentioned.labels);
        more(&mut self.namespace_labels, &mentioned.namespace_labels);
        more(&mut self.ports, &mentioned.ports);
        more(&mut self.port_names, &mentioned.port_names);
    }

    fn take(&mut self, mentioned: &Mentioned) {
        fewer(&mut self.labels, &mentioned.labels);
        fewer(&mut self.namespace_labels, &mentioned.namespace_labels);
        fewer(&mut self.ports, &mentioned.ports);
        fewer(&mut self.port_names, &mentioned.port_names);
    }
}

fn more<'m, T: Clone + Ord + 'm>(counts: &mut BTreeMap<T, usize>, mentioned: impl IntoIterator<Item = &'m T>) {
    for one in mentioned {
        *counts.entry(one.clone()).or_default() += 1;
    }
}

fn fewer<'m, T: Ord + 'm>(counts: &mut BTreeMap<T, usize>, mentioned: impl IntoIterator<Item = &'m T>) {
    for one in mentioned {
        let Some(count) = counts.get_mut(one) else { continue };
        *count -= 1;
        if *count == 0 {
            counts.remove(one);
        }
    }
}

impl Directions {
    fn of_all(kind: &DecideKind, rules: &[&Rules]) -> Self {
        let decide = |own: fn(&Rules) -> &[Arc<Rule>]| {
            let root = Set {
                name: SmolStr::default(),
                algorithm: kind.algorithm,
                default: Some(kind.default),
                target: Target::default(),
                duties: Vec::new(),
                priority: 0.0,
                members: rules.iter().flat_map(|rules| own(rules)).cloned().map(Member::Rule).collect(),
                at: None,
            };
            Decide::new(root, Strictness::Strict)
        };
        Self { egress: decide(|rules| &rules.egress), ingress: decide(|rules| &rules.ingress) }
    }
}
