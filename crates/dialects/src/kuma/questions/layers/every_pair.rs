//! Every caller and everything that is called, in cells: pairs that no policy can tell apart are asked once.
//!
//! What is asked about a pair has two halves. What the caller does when it calls depends on the class of the caller and on what
//! policies name of the called one; what the called one does depends on its class and on what policies see of the caller. A
//! class of callers is a class under both halves, and so is a class of those called.

use std::collections::HashMap;
use std::hash::Hash;

use rayon::prelude::*;
use upheld_engine::merge::{About, Abouts, CallerFact, Classes, Subject, chain};
use upheld_engine::partition::CellTable;
use upheld_engine::{Granularity, PolicyId, work};
use upheld_report::{Weighed, each_once};

use super::callers::{Caller, KnownFact, LookedAt, Named};
use super::leaving::Passing;
use super::{Layers, Lists, Member};
use crate::dialect::{LayeredCells, LayeredStanding};
use crate::kuma::permission::Fit;

/// What policies see of the facts of somebody who calls an inbound: their classes, and what lists say of them.
type SeenFacts = (Vec<usize>, Vec<Fit>);

/// The same with its tags, for each kind.
type SeenClient = (SeenFacts, Vec<LookedAt>);

/// What policies name of somebody who is called: the classes of the targets that lead to it, and of its service.
type SeenCalled = (Vec<usize>, Option<usize>);

/// Where calls come in: at an inbound, by its class and part, or at a zone egress for one of those called.
#[derive(PartialEq, Eq, Hash)]
enum Entrance {
    Inbound(usize, u32),
    Egress(usize),
}

/// The classes of somebody under both halves; nothing for those whom nobody asks at.
type Halves = (usize, Option<usize>);

/// Ends in classes, each with its first member.
struct Ends<'m, K> {
    classes: CellTable<K, &'m Member>,
    of_each: Vec<usize>,
}

impl<'m, K: Eq + Hash + Copy> Ends<'m, K> {
    fn of(ends: impl Iterator<Item = (K, &'m Member)>) -> (Self, Vec<K>) {
        let (mut all, mut keys) = (Self { classes: CellTable::default(), of_each: Vec::new() }, Vec::new());
        for (key, member) in ends {
            let class = all.classes.add(key, member);
            if class == keys.len() {
                keys.push(key);
            }
            all.of_each.push(class);
        }
        (all, keys)
    }
}

impl Layers<'_> {
    /// What all pairs of members come to.
    pub(in super::super) fn cells(&self) -> LayeredCells {
        let source = self.connection.source.as_ref();
        let sources = source.map_or(&[][..], |end| end.members_for(Granularity::Service));
        let destination = self.connection.destination.as_ref();
        let called = destination.map_or(&[][..], |end| end.members_for(Granularity::Inbound));
        let callers = if sources.is_empty() { Vec::new() } else { self.callers(sources) };

        let mut subjects = Classes::new(self.merges());
        let mut abouts = Abouts::new(self.merges());
        let mut clients: CellTable<SeenClient, usize> = CellTable::default();
        let passing: Vec<Option<Passing>> = called.iter().map(|member| self.passing(member)).collect();
        let mut named: Vec<Named> = self.rules.iter().map(Named::anywhere).collect();
        named.extend(passing.iter().flatten().flat_map(|passing| self.named_at(passing)));
        let seen = self.seen_clients(&callers, &named, &mut abouts);
        let mut calling = |member: &Member| self.proxy(member).map(|proxy| subjects.add(Subject::of(proxy), proxy));
        let from = sources
            .iter()
            .zip(seen)
            .enumerate()
            .filter_map(|(number, (member, seen))| Some(((calling(member)?, clients.add(seen, number)), member)));
        let (from, from_keys) = Ends::of(from);

        let mut named: CellTable<SeenCalled, usize> = CellTable::default();
        let mut entrances: CellTable<Entrance, usize> = CellTable::default();
        let to = called.iter().zip(&passing).enumerate().map(|(number, (member, passing))| {
            let inbound = self.inbound(member).map(|(object, part)| {
                let class = subjects.add(Subject::of(object), object);
                entrances.add(Entrance::Inbound(class, part), number)
            });
            let egress = || passing.as_ref().map(|_| entrances.add(Entrance::Egress(number), number));
            let inbound = inbound.or_else(egress);
            ((named.add(self.seen_called(member, &mut abouts), number), inbound), member)
        });
        let (to, to_keys) = Ends::of(to);

        let caller_of = |class: usize| subjects.first(class).copied();
        let outgoing_of = |class: usize| {
            let source = from_keys.iter().position(|(known, _)| *known == class);
            let source = source.and_then(|place| from.classes.first(place)).copied().zip(caller_of(class));
            let Some((source, proxy)) = source else { return Vec::new() };
            let first = |class| named.first(class).and_then(|number| called.get(*number));
            let answer = |member: &Member| Half::of(&self.calling(proxy, source, member));
            named.cells().filter_map(first).map(answer).collect()
        };
        let incoming_of = |class: usize| -> Vec<Half> {
            let first = |class| clients.first(class).and_then(|number| callers.get(*number));
            let all = clients.cells().filter_map(first);
            let number = entrances.first(class).copied().unwrap_or(usize::MAX);
            let Some(member) = called.get(number) else { return Vec::new() };
            match (self.inbound(member), passing.get(number)) {
                (Some((object, part)), _) => {
                    let named: Vec<Named> = self.rules.iter().map(|rules| Named::of(rules, object, part)).collect();
                    let answer = |caller: &Caller<'_>| self.called(object, part, &caller.seen(&named), &member.label);
                    all.map(|caller| Half::of(&answer(caller))).collect()
                }
                (None, Some(Some(passing))) => {
                    all.map(|caller| Half::of(&self.leaving(passing, caller, member))).collect()
                }
                (None, _) => Vec::new(),
            }
        };
        let work = work::here();
        let outgoing = (0..subjects.len()).into_par_iter().map(|class| work.during(|| outgoing_of(class)));
        let outgoing: Vec<Vec<Half>> = outgoing.collect();
        let incoming = entrances.cells().into_par_iter().map(|class| work.during(|| incoming_of(class)));
        let incoming: Vec<Vec<Half>> = incoming.collect();

        let cell = |(subject, client): &(usize, usize), (named, inbound): &Halves| {
            let outgoing = outgoing.get(*subject).and_then(|row| row.get(*named));
            let incoming = inbound.and_then(|inbound| incoming.get(inbound)?.get(*client));
            together([outgoing, incoming])
        };
        let rows = from_keys.iter().map(|from| to_keys.iter().map(|to| cell(from, to)).collect()).collect();
        let name = |member: &Member| self.proxy(member).map(|proxy| proxy.name);
        let callers = sources.iter().filter_map(name).zip(from.of_each).collect();
        let called = called.iter().map(|member| member.label.clone()).zip(to.of_each).collect();
        LayeredCells { callers, called, rows }
    }

    /// What policies see of each caller. Many have the same facts, which are looked at once.
    fn seen_clients(&self, callers: &[Caller<'_>], named: &[Named], abouts: &mut Abouts) -> Vec<SeenClient> {
        let lists: Vec<Lists> = self.rules.iter().map(Lists::of).collect();
        let mut known: HashMap<[&[KnownFact]; 2], SeenFacts> = HashMap::new();
        let seen = callers.iter().map(|caller| {
            let facts = known.entry(caller.facts()).or_insert_with(|| {
                let [enforced, facts] = caller.facts().map(|facts| -> Vec<CallerFact<'_>> {
                    facts.iter().map(|(key, text)| (*key, text.as_deref())).collect()
                });
                let classes = [&enforced, &facts].map(|caller| abouts.classify(About::Inbound { part: 0, caller }));
                let listed = lists.iter().flat_map(|lists| lists.seen(&enforced, self.lookup)).collect();
                (classes.to_vec(), listed)
            });
            let tags = named.iter().map(|named| caller.looked_at(named)).collect();
            (facts.clone(), tags)
        });
        seen.collect()
    }

    /// What policies name of somebody who is called.
    fn seen_called(&self, called: &Member, abouts: &mut Abouts) -> SeenCalled {
        let mut targets = Vec::new();
        for target in self.targets_of(called) {
            for rules in &self.rules {
                let chain = chain(target, &rules.surroundings());
                targets.push(abouts.classify(About::Targets(&chain)));
            }
        }
        let service = self.service_of(called);
        (targets, service.map(|tags| abouts.classify(About::Service(&tags))))
    }
}

/// What one half comes to.
#[derive(Debug, Default)]
struct Half {
    policies: Vec<PolicyId>,
    /// Whether the caller may, as those say who speak.
    spoken: Vec<Option<bool>>,
    /// Whether the caller may where nobody speaks.
    unspoken: Option<bool>,
}

impl Half {
    fn of(answers: &[Weighed]) -> Self {
        let mut half = Self::default();
        for Weighed { policies, verdict, .. } in answers.iter().filter(|answer| answer.speaks()) {
            half.policies = each_once(half.policies.iter().chain(policies).copied());
            half.spoken.push(verdict.granted());
        }
        half.unspoken = answers.iter().find_map(|answer| answer.verdict.granted());
        half
    }
}

/// What both halves come to. What nobody says in one of them is no news where somebody speaks in the other.
fn together(halves: [Option<&Half>; 2]) -> LayeredStanding {
    let halves = || halves.iter().copied().flatten();
    let mut spoken = halves().flat_map(|half| &half.spoken).peekable();
    let granted = match spoken.peek() {
        Some(_) => spoken.find_map(|granted| *granted),
        None => halves().find_map(|half| half.unspoken),
    };
    LayeredStanding { policies: each_once(halves().flat_map(|half| &half.policies).copied()), granted }
}
