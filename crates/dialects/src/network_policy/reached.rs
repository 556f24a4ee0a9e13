//! Which connections a change can reach: those of pods that are not as they were, and those that a rule may be about which is there
//! on one side only. They are decided on both sides, and those that are decided otherwise are asked about.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::decide::{
    Algorithm, By, Decide, Effect, Member, Outcome, Request, Resource, Rule, Set, Strictness, Subject, Target,
};
use upheld_engine::{Scratch, Silent, Snapshot, ask, work};
use upheld_model::{NodeRef, SourceId};
use upheld_report::ChangedDocument;

use super::ends::{End, find};
use super::network::Network;
use super::questions::{Call, ports, words};
use super::rules::Rules;
use super::workloads::Workload;
use crate::dialect::{Listing, Reached};

/// The connections that are decided otherwise, and how many are not; nothing if one side has no policies, or others kinds.
pub(super) fn reached(snapshots: [&Snapshot; 2], changed: &[ChangedDocument], most: usize) -> Option<Reached> {
    let networks = snapshots.map(Network::of);
    let [Some(was), Some(is)] = networks else {
        // Without policies nothing can be asked.
        return networks.iter().all(Option::is_none).then(Reached::default);
    };
    let kinds = |snapshot: &Snapshot, network: &Network| -> Vec<String> {
        network.kinds.iter().map(|(name, _)| snapshot.text(*name).to_owned()).collect()
    };
    let [before, after] = snapshots;
    let is_about_kinds = changed.iter().any(|document| document.kind == "PolicyKind");
    let are_same = kinds(before, was) == kinds(after, is) && !is_about_kinds;
    are_same.then(|| Walk::of([was, is]).reached(most))
}

/// Two networks with everything that has pods on either side, by title.
struct Walk<'n> {
    networks: [&'n Network; 2],
    ends: Vec<(String, [Option<Side<'n>>; 2])>,
}

/// Something with pods, on a side where it is.
struct Side<'n> {
    workload: &'n Workload,
    /// As whom it is asked about; nobody if it cannot be.
    end: Option<End>,
    /// What policies see of it, at either end.
    seen: Request,
}

/// The namespace of an end, what is decided there, and the name of the policy that decides.
type Ruled = (Option<SmolStr>, &'static str, Option<SmolStr>);

/// Who calls, who is called, and at which port.
type Connection = (usize, usize, u16);

impl<'n> Walk<'n> {
    fn of(networks: [&'n Network; 2]) -> Self {
        let mut ends: BTreeMap<String, [Option<Side<'n>>; 2]> = BTreeMap::new();
        for (number, network) in networks.into_iter().enumerate() {
            for workload in &network.workloads {
                work::step();
                let title = workload.title();
                let end = find(network, &title).ok().and_then(|mut found| found.pop());
                let facts = end.as_ref().map(|end| end.facts(network)).unwrap_or_default();
                let seen = Request {
                    subject: Subject { claims: facts.clone(), ..Subject::default() },
                    resource: Resource { facts, ..Resource::default() },
                    ..Request::default()
                };
                if let Some(side) = ends.entry(title).or_default().get_mut(number) {
                    *side = Some(Side { workload, end, seen });
                }
            }
        }
        Self { networks, ends: ends.into_iter().collect() }
    }

    fn reached(&self, most: usize) -> Reached {
        let ports = self.networks.map(ports);
        let mut reached = Reached { beyond: self.all(&ports), ..Reached::default() };
        let mut alike: BTreeMap<Vec<[Ruled; 2]>, Vec<Connection>> = BTreeMap::new();
        let mut asked = 0;
        for (from, to) in self.pairs() {
            for port in self.ports_of((from, to), &ports) {
                if asked == most {
                    reached.listing = Listing::Cut;
                    break;
                }
                asked += 1;
                let [was, is] = [0, 1].map(|side| self.ruled(side, (from, to), port));
                match (was, is) {
                    (Some(was), Some(is)) if was == is => reached.same += is.len() as u64,
                    (Some(was), Some(is)) => {
                        let key = was.into_iter().zip(is).map(|(was, is)| [was, is]).collect();
                        alike.entry(key).or_default().push((from, to, port));
                    }
                    (was, is) => {
                        reached.ended += was.map_or(0, |was| was.len() as u64);
                        reached.began += is.map_or(0, |is| is.len() as u64);
                    }
                }
            }
        }
        reached.beyond = reached.beyond.saturating_sub(asked as u64);
        let titled =
            |(from, to, port): (usize, usize, u16)| Some(words(&self.ends.get(from)?.0, &self.ends.get(to)?.0, port));
        reached.questions = alike.into_values().map(|alike| alike.into_iter().filter_map(titled).collect()).collect();
        reached
    }

    /// How many questions there are.
    fn all(&self, ports: &[BTreeSet<u16>; 2]) -> u64 {
        let on = |number: usize, ports: &BTreeSet<u16>| {
            let there = self.ends.iter().filter(|(_, sides)| sides.get(number).is_some_and(Option::is_some)).count();
            (there * there.saturating_sub(1) * ports.len()) as u64
        };
        ports.iter().enumerate().map(|(number, ports)| on(number, ports)).max().unwrap_or_default()
    }

    /// The connections that the change can reach.
    fn pairs(&self) -> BTreeSet<(usize, usize)> {
        let all = || 0..self.ends.len();
        let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
        for changed in all().filter(|end| self.is_changed(*end)) {
            work::steps(self.ends.len() as u64);
            pairs.extend(all().flat_map(|other| [(changed, other), (other, changed)]));
        }
        for (side, rule) in self.differing() {
            let Target { subjects, resources, .. } = rule.target.clone();
            let callers = self.fitting(side, Target { subjects, ..Target::default() });
            let called = self.fitting(side, Target { resources, ..Target::default() });
            pairs.extend(callers.iter().flat_map(|from| called.iter().map(|to| (*from, *to))));
        }
        pairs.retain(|(from, to)| from != to);
        pairs
    }

    /// Whether policies see something else of an end, or it is there on one side only.
    fn is_changed(&self, end: usize) -> bool {
        let Some((_, sides)) = self.ends.get(end) else { return false };
        let looks = |(side, network): (&Option<Side<'n>>, &'n Network)| {
            let Side { workload, end, .. } = side.as_ref()?;
            Some((&workload.pod, workload.network, end.is_some(), network.namespace(&workload.pod.namespace)))
        };
        let [was, is] = self.networks;
        let [old, new] = sides;
        looks((old, was)) != looks((new, is))
    }

    /// Rules that one side does not have, each with the side that has it.
    fn differing(&self) -> Vec<(usize, Arc<Rule>)> {
        let [was, is] = self.networks.map(Network::policies);
        let all: BTreeSet<_> = was.keys().chain(is.keys()).collect();
        let mut found = Vec::new();
        for identity in all {
            let [old, new] = [was.get(identity), is.get(identity)];
            if old.zip(new).is_some_and(|(old, new)| Arc::ptr_eq(old, new)) {
                continue;
            }
            let [old, new] = [old, new].map(|policy| policy.map(|policy| &policy.rules));
            for of in [|rules: &Rules| rules.egress.clone(), |rules: &Rules| rules.ingress.clone()] {
                let [old, new] = [old, new].map(|rules| rules.map(of).unwrap_or_default());
                let lacking = |own: &[Arc<Rule>], others: &[Arc<Rule>]| -> Vec<Arc<Rule>> {
                    own.iter().filter(|rule| !others.iter().any(|other| are_alike(rule, other))).cloned().collect()
                };
                found.extend(lacking(&old, &new).into_iter().map(|rule| (0, rule)));
                found.extend(lacking(&new, &old).into_iter().map(|rule| (1, rule)));
            }
        }
        found
    }

    /// The ends on a side that are perhaps those of a target.
    fn fitting(&self, side: usize, target: Target) -> Vec<usize> {
        let is_for_all = target.subjects.is_empty() && target.resources.is_empty();
        let rule = Rule::new(SmolStr::default(), Effect::Permit, target, NodeRef { source: SourceId::FIRST, node: 0 });
        let decide = Decide::new(set_of(rule), Strictness::Strict);
        let fits = |seen: &Request| {
            is_for_all || ask(&decide, &seen, &mut Scratch::default(), &mut Silent).outcome != Outcome::Deny
        };
        let on_side = |(number, (_, sides)): (usize, &(String, [Option<Side<'n>>; 2]))| {
            let seen = &sides.get(side)?.as_ref()?.seen;
            fits(seen).then_some(number)
        };
        self.ends.iter().enumerate().filter_map(on_side).collect()
    }

    /// The ports on which a connection is asked about: those of each side that has both ends.
    fn ports_of(&self, (from, to): (usize, usize), ports: &[BTreeSet<u16>; 2]) -> BTreeSet<u16> {
        let is_there = |end: usize, side: usize| self.side(end, side).is_some();
        let sides = ports.iter().enumerate().filter(|(side, _)| is_there(from, *side) && is_there(to, *side));
        sides.flat_map(|(_, ports)| ports).copied().collect()
    }

    /// What is decided on a side at each end under each kind; nothing if that cannot be asked there.
    fn ruled(&self, side: usize, (from, to): (usize, usize), port: u16) -> Option<Vec<Ruled>> {
        let network = *self.networks.get(side)?;
        let end = |end: usize| self.side(end, side)?.end.as_ref();
        let call = Call::on(end(from)?, end(to)?, port);
        let request = call.request(network);
        let mut all = Vec::new();
        for (_, directions) in &network.kinds {
            for (direction, end, _) in call.decisions() {
                let decide = directions.of(direction);
                let decided = ask(decide, &&request, &mut Scratch::default(), &mut Silent);
                let decider = match decided.by {
                    By::Policy(entry) => decide.rule(entry).map(|rule| rule.name.clone()),
                    By::Default | By::Algorithm | By::Nobody => None,
                };
                all.push((end.pod().map(|pod| pod.namespace.clone()), decided.outcome.word(), decider));
            }
        }
        Some(all)
    }

    fn side(&self, end: usize, side: usize) -> Option<&Side<'n>> {
        self.ends.get(end)?.1.get(side)?.as_ref()
    }
}

/// Whether two rules decide alike, and are called alike.
fn are_alike(one: &Rule, other: &Rule) -> bool {
    let parts = |rule: &Rule| (rule.name.clone(), rule.effect);
    let (of_one, of_other) = (&one.target, &other.target);
    parts(one) == parts(other)
        && of_one.subjects == of_other.subjects
        && of_one.resources == of_other.resources
        && of_one.actions == of_other.actions
}

fn set_of(rule: Rule) -> Set {
    Set {
        name: SmolStr::default(),
        algorithm: Algorithm::PermitOverrides,
        default: Some(Effect::Deny),
        target: Target::default(),
        duties: Vec::new(),
        priority: 0.0,
        members: vec![Member::from(rule)],
        at: None,
    }
}
