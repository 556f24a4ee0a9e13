//! Every caller and everything that is called, in cells: pairs that no policy can tell apart are asked once.
//!
//! What is asked about a pair has two halves. What the caller does when it calls depends on the class of the caller and on what the policies
//! that *it* has name of the called one; what the called one does depends on its class and on what the policies that *it* has see of the
//! caller. So each class is asked about as many sorts of others as its own few policies tell apart, and not about all that some policy
//! somewhere tells apart. A cell is what both halves come to.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use upheld_engine::merge::{
    About, Abouts, AdmitScratch, CallerFact, Classes, Entry, ResolvedReach, Subject, Target, chain,
};
use upheld_engine::partition::{CellRows, CellTable};
use upheld_engine::{Granularity, PolicyId, work};
use upheld_model::{Facet, Object, Sym, TagSet};
use upheld_report::{Weighed, each_once};

use super::callers::{Caller, KnownFact, LookedAt, Named};
use super::leaving::Passing;
use super::{INCOMING, Layers, Lists, Member, OUTGOING};
use crate::dialect::{LayeredCells, LayeredStanding};
use crate::kuma::permission::Fit;

/// What policies see of the facts of somebody who calls an inbound: their classes, and what lists say of them.
type SeenFacts = (Vec<usize>, Vec<Fit>);

/// The same with its tags, for each kind. Facts that were looked at once have a number.
type SeenClient = (usize, Vec<LookedAt>);

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

/// Ends in classes.
struct Ends {
    keys: Vec<(usize, usize)>,
    of_each: Vec<usize>,
}

impl Ends {
    /// `NOWHERE` stands for no class.
    fn of(ends: impl Iterator<Item = Halves>) -> Self {
        let mut classes: CellTable<(usize, usize), ()> = CellTable::default();
        let mut all = Self { keys: Vec::new(), of_each: Vec::new() };
        for (first, second) in ends {
            let key = (first, second.unwrap_or(NOWHERE));
            let class = classes.add(key, ());
            if class == all.keys.len() {
                all.keys.push(key);
            }
            all.of_each.push(class);
        }
        all
    }
}

const NOWHERE: usize = usize::MAX;

/// What a class of callers does when it calls: the cells of those who are called, and what each cell comes to.
#[derive(Default)]
struct Outgoing {
    /// By the sort of those who are called.
    usual: Vec<Option<usize>>,
    /// Classes that are told apart from all others of their sort.
    others: BTreeMap<usize, usize>,
    halves: Vec<Half>,
}

/// What a class of those who are called does: for each class of callers its cell, and what each cell comes to.
#[derive(Default)]
struct Incoming {
    cells: Vec<usize>,
    halves: Vec<Half>,
}

impl Layers<'_> {
    /// What all pairs of members come to.
    pub(in super::super) fn cells(&self) -> LayeredCells {
        let source = self.connection.source.as_ref();
        let sources = source.map_or(&[][..], |end| end.members_for(Granularity::Service));
        let destination = self.connection.destination.as_ref();
        let called = destination.map_or(&[][..], |end| end.members_for(Granularity::Inbound));
        let callers = if sources.is_empty() { Vec::new() } else { self.callers(sources) };

        let mut subjects = Classes::about(self.merges(), &OUTGOING);
        let passing: Vec<Option<Passing>> = called.iter().map(|member| self.passing(member)).collect();
        let mut named: Vec<Named> = self.rules.iter().map(Named::anywhere).collect();
        named.extend(passing.iter().flatten().flat_map(|passing| self.named_at(passing)));
        let clients = Clients::of(self, &callers, &named);
        let from = sources.iter().zip(&clients.of_each).enumerate().filter_map(|(number, (member, client))| {
            let proxy = self.proxy(member)?;
            Some((subjects.add(Subject::of(proxy), number), Some(*client)))
        });
        let from = Ends::of(from);

        let mut places: Classes<()> = Classes::about(self.merges(), &INCOMING);
        let mut entrances: CellTable<Entrance, usize> = CellTable::default();
        let destinations = Destinations::of(self, called);
        let to = called.iter().zip(&passing).enumerate().map(|(number, (member, passing))| {
            let inbound = self.inbound(member).map(|(object, part)| {
                let class = places.add(Subject::of(object), ());
                entrances.add(Entrance::Inbound(class, part), number)
            });
            let egress = || passing.as_ref().map(|_| entrances.add(Entrance::Egress(number), number));
            (destinations.of_each.get(number).copied().unwrap_or(NOWHERE), inbound.or_else(egress))
        });
        let to = Ends::of(to);

        let outgoing_of = |class: usize| {
            let source = subjects.first(class).and_then(|number| sources.get(*number));
            source.map(|source| self.outgoing(source, called, &destinations)).unwrap_or_default()
        };
        let incoming_of = |class: usize| {
            let number = entrances.first(class).copied().unwrap_or(usize::MAX);
            let member = called.get(number).zip(passing.get(number));
            member.map(|(member, passing)| self.incoming_row(member, passing.as_ref(), &clients)).unwrap_or_default()
        };
        let work = work::here();
        let outgoing = (0..subjects.len()).into_par_iter().map(|class| work.during(|| outgoing_of(class)));
        let outgoing: Vec<Outgoing> = outgoing.collect();
        let incoming = entrances.cells().into_par_iter().map(|class| work.during(|| incoming_of(class)));
        let incoming: Vec<Incoming> = incoming.collect();

        let (rows, cells) = together_all(&from, &to, &destinations, (&outgoing, &incoming));
        let name = |member: &Member| self.proxy(member).map(|proxy| proxy.name);
        let callers = sources.iter().filter_map(name).zip(from.of_each).collect();
        let called = called.iter().map(|member| member.label.clone()).zip(to.of_each).collect();
        LayeredCells { callers, called, rows, cells }
    }

    /// What a caller does, for all that it could call.
    fn outgoing(&self, source: &Member, called: &[Member], destinations: &Destinations) -> Outgoing {
        let Some(proxy) = self.proxy(source) else { return Outgoing::default() };
        let entries = self.entries_for(proxy, &OUTGOING);
        let mut abouts = Abouts::of_entries(entries.iter().copied());
        let touched = destinations.named_by(&entries);
        work::steps((destinations.of_sort.len() + touched.len()) as u64);
        let mut table: CellTable<Seen, usize> = CellTable::default();
        let destination = |number: &usize| Some((*number, destinations.all.get(*number)?));
        let usual = destinations.of_sort.iter().enumerate().map(|(sort, members)| {
            let (_, first) = members.iter().find(|number| !touched.contains(number)).and_then(destination)?;
            Some(table.add(Seen::Unnamed(sort), first.first))
        });
        let usual = usual.collect();
        let others = touched.iter().filter_map(destination).map(|(number, destination)| {
            (number, table.add(Seen::Named(destination.seen(&mut abouts)), destination.first))
        });
        let others = others.collect();
        let first = |cell: usize| table.first(cell).and_then(|number| called.get(*number));
        let halves = table.cells().map(|cell| first(cell).map(|to| Half::of(&self.calling(proxy, source, to))));
        Outgoing { usual, others, halves: halves.map(Option::unwrap_or_default).collect() }
    }

    /// What somebody does who is called, for all who could call.
    fn incoming_row(&self, member: &Member, passing: Option<&Passing>, clients: &Clients<'_, '_>) -> Incoming {
        work::steps(clients.all.len() as u64);
        let mut table: CellTable<Option<SeenClient>, usize> = CellTable::default();
        let halves = |table: &CellTable<Option<SeenClient>, usize>, half: &dyn Fn(&Caller<'_>) -> Half| {
            let first = |cell: usize| table.first(cell).and_then(|number| clients.all.get(*number));
            table.cells().map(|cell| first(cell).map(|(caller, _)| half(caller)).unwrap_or_default()).collect()
        };
        match (self.inbound(member), passing) {
            (Some((object, part)), _) => {
                let named: Vec<Named> = self.rules.iter().map(|rules| Named::of(rules, object, part)).collect();
                let entries = self.entries_for(object, &INCOMING);
                let mut seen = (!entries.is_empty()).then(|| FactsSeen::of(self, &entries));
                let cells = clients.all.iter().enumerate().map(|(number, (caller, facts))| {
                    // Where no policy speaks about callers, all are alike.
                    let key = seen.as_mut().map(|seen| {
                        let tags = named.iter().map(|named| caller.looked_at(named)).collect();
                        (seen.class(self, clients, *facts), tags)
                    });
                    table.add(key, number)
                });
                let cells = cells.collect();
                let half =
                    |caller: &Caller<'_>| Half::of(&self.called(object, part, &caller.seen(&named), &member.label));
                Incoming { cells, halves: halves(&table, &half) }
            }
            (None, Some(passing)) => {
                let cells =
                    (0..clients.all.len()).map(|number| table.add(Some((number, Vec::new())), number)).collect();
                let half = |caller: &Caller<'_>| Half::of(&self.leaving(passing, caller, member));
                Incoming { cells, halves: halves(&table, &half) }
            }
            (None, None) => Incoming::default(),
        }
    }

    /// What the policies of somebody say about some facets.
    fn entries_for(&self, object: &Object, facets: &[Facet]) -> Vec<&Entry> {
        let mut scratch = AdmitScratch::default();
        let mut all = Vec::new();
        for merge in self.merges() {
            for facet in facets {
                let own = merge.entries_for(Subject::of(object), *facet, &mut scratch);
                all.extend(own.into_iter().filter_map(|id| merge.entry(id)));
            }
        }
        all
    }
}

/// How somebody who calls sees somebody who is called.
#[derive(PartialEq, Eq, Hash)]
enum Seen {
    /// A policy that it has names it.
    Named(SeenCalled),
    /// None does, and it is of this sort.
    Unnamed(usize),
}

/// All that can be called, in classes that no policy anywhere tells apart.
struct Destinations {
    all: Vec<Destination>,
    /// The class of each.
    of_each: Vec<usize>,
    /// The sort of each class, and the classes of each sort: so many resources lead to them, and they may be services. Who names none of them
    /// in particular sees no more of them.
    sorts: Vec<usize>,
    of_sort: Vec<Vec<usize>>,
    /// Classes by what names them: a target that leads to them, or their service. What surrounds all of them names none in particular.
    by_target: FxHashMap<Target, Vec<usize>>,
    by_tag: FxHashMap<(Sym, Sym), Vec<usize>>,
}

/// A class of those that can be called.
struct Destination {
    /// The number of the first.
    first: usize,
    /// What leads to it, each with all that concerns it.
    targets: Vec<Vec<Target>>,
    service: Option<TagSet>,
}

impl Destination {
    /// What some policies name of it.
    fn seen(&self, abouts: &mut Abouts) -> SeenCalled {
        let targets = self.targets.iter().map(|chain| abouts.classify(About::Targets(chain))).collect();
        (targets, self.service.as_ref().map(|tags| abouts.classify(About::Service(tags))))
    }
}

impl Destinations {
    fn of(layers: &Layers<'_>, called: &[Member]) -> Self {
        let mut abouts = Abouts::new(layers.merges());
        let mut table: CellTable<SeenCalled, ()> = CellTable::default();
        let (mut all, mut of_each) = (Vec::new(), Vec::new());
        let (mut sorts, mut of_sort) = (Vec::new(), Vec::<Vec<usize>>::new());
        let mut known_sorts: CellTable<(usize, bool), ()> = CellTable::default();
        let (mut by_target, mut by_tag) =
            (FxHashMap::<_, Vec<usize>>::default(), FxHashMap::<_, Vec<usize>>::default());
        let surroundings = layers.rules.first().map(super::Rules::surroundings);
        let around = |target: Target| surroundings.as_ref().and_then(|around| around(target));
        for (first, member) in called.iter().enumerate() {
            let targets = layers.targets_of(member).into_iter().map(|target| chain(target, &around)).collect();
            let destination = Destination { first, targets, service: layers.service_of(member) };
            let class = table.add(destination.seen(&mut abouts), ());
            of_each.push(class);
            if class < all.len() {
                continue;
            }
            let sort = known_sorts.add((destination.targets.len(), destination.service.is_some()), ());
            of_sort.resize(known_sorts.len(), Vec::new());
            if let Some(members) = of_sort.get_mut(sort) {
                members.push(class);
            }
            sorts.push(sort);
            for target in destination.targets.iter().flatten().filter(|target| around(**target) != Some(**target)) {
                by_target.entry(*target).or_default().push(class);
            }
            for tag in destination.service.iter().flat_map(TagSet::as_slice) {
                let Some(value) = tag.value else { continue };
                by_tag.entry((tag.key, value)).or_default().push(class);
            }
            all.push(destination);
        }
        Self { all, of_each, sorts, of_sort, by_target, by_tag }
    }

    /// Those that some entries name.
    fn named_by(&self, entries: &[&Entry]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for entry in entries {
            match &entry.reach {
                ResolvedReach::Objects(_, targets) => {
                    found.extend(targets.iter().filter_map(|target| self.by_target.get(target)).flatten());
                }
                ResolvedReach::Tags(wants) => {
                    found.extend(wants.iter().filter_map(|want| self.by_tag.get(want)).flatten());
                }
                ResolvedReach::Everything | ResolvedReach::Callers(_) => {}
            }
        }
        found
    }
}

/// All who call, in classes that no policy anywhere tells apart.
struct Clients<'c, 'm> {
    /// The first of each, with the number of its facts.
    all: Vec<(&'c Caller<'m>, usize)>,
    /// The class of each.
    of_each: Vec<usize>,
    /// Facts besides tags, as kinds see them that permit and as others do. Many have the same, which are looked at once.
    facts: Vec<[&'c [KnownFact]; 2]>,
}

impl<'c, 'm> Clients<'c, 'm> {
    fn of(layers: &Layers<'_>, callers: &'c [Caller<'m>], named: &[Named]) -> Self {
        let mut seen = FactsSeen::new(Abouts::new(layers.merges()), layers.rules.iter().map(Lists::of).collect());
        let mut clients = Self { all: Vec::new(), of_each: Vec::new(), facts: Vec::new() };
        let mut known: FxHashMap<[&[KnownFact]; 2], usize> = FxHashMap::default();
        let mut table: CellTable<SeenClient, ()> = CellTable::default();
        for caller in callers {
            let facts = *known.entry(caller.facts()).or_insert_with(|| {
                clients.facts.push(caller.facts());
                clients.facts.len() - 1
            });
            let tags = named.iter().map(|named| caller.looked_at(named)).collect();
            let class = table.add((seen.class(layers, &clients, facts), tags), ());
            if class == clients.all.len() {
                clients.all.push((caller, facts));
            }
            clients.of_each.push(class);
        }
        clients
    }
}

/// What some policies see of facts.
struct FactsSeen {
    abouts: Abouts,
    lists: Vec<Lists>,
    classes: CellTable<SeenFacts, ()>,
    /// By the number of the facts.
    known: FxHashMap<usize, usize>,
}

impl FactsSeen {
    fn new(abouts: Abouts, lists: Vec<Lists>) -> Self {
        Self { abouts, lists, classes: CellTable::default(), known: FxHashMap::default() }
    }

    /// What these entries see.
    fn of(layers: &Layers<'_>, entries: &[&Entry]) -> Self {
        let granting = layers.rules.iter().filter(|rules| super::permission::grants(rules));
        let lists = granting.map(|_| Lists::among(entries.iter().copied())).collect();
        Self::new(Abouts::of_entries(entries.iter().copied()), lists)
    }

    fn class(&mut self, layers: &Layers<'_>, clients: &Clients<'_, '_>, facts: usize) -> usize {
        if let Some(class) = self.known.get(&facts) {
            return *class;
        }
        let Some(both) = clients.facts.get(facts) else { return NOWHERE };
        let [enforced, plain] = both
            .map(|facts| -> Vec<CallerFact<'_>> { facts.iter().map(|(key, text)| (*key, text.as_deref())).collect() });
        let classes = [&enforced, &plain].map(|caller| self.abouts.classify(About::Inbound { part: 0, caller }));
        let listed = self.lists.iter().flat_map(|lists| lists.seen(&enforced, layers.lookup)).collect();
        let seen = (classes.to_vec(), listed);
        let class = self.classes.add(seen, ());
        self.known.insert(facts, class);
        class
    }
}

/// Both halves of all pairs: cells by class of callers, then by class of those called, and what each cell comes to.
fn together_all(
    from: &Ends,
    to: &Ends,
    destinations: &Destinations,
    (outgoing, incoming): (&[Outgoing], &[Incoming]),
) -> (CellRows, Vec<LayeredStanding>) {
    let (out_starts, out_halves) = numbered(outgoing.iter().map(|row| row.halves.as_slice()));
    let (in_starts, in_halves) = numbered(incoming.iter().map(|row| row.halves.as_slice()));
    // Those who are called and are of one sort for all who call, where none of them is named.
    let mut columns: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    let mut sorts: CellTable<(Option<usize>, usize), (Option<usize>, usize)> = CellTable::default();
    let sort_of = to.keys.iter().enumerate().map(|(column, (named, entrance))| {
        columns.entry(*named).or_default().push(column);
        let sort = (destinations.sorts.get(*named).copied(), *entrance);
        sorts.add(sort, sort)
    });
    let sort_of = sort_of.collect();
    let mut known: FxHashMap<(Option<usize>, Option<usize>), u32> = FxHashMap::default();
    let mut cells = Vec::new();
    let mut rows = CellRows::new(sort_of);
    for (subject, client) in &from.keys {
        let out = |cell: usize| Some(out_starts.get(*subject)? + cell);
        let comes = |entrance: usize| Some(in_starts.get(entrance)? + incoming.get(entrance)?.cells.get(*client)?);
        let row = outgoing.get(*subject);
        let usual = |sort: usize| {
            let (sort, entrance) = sorts.first(sort).copied().unwrap_or((None, NOWHERE));
            (row.and_then(|row| out(row.usual.get(sort?).copied().flatten()?)), comes(entrance))
        };
        let apart = row.iter().flat_map(|row| &row.others).flat_map(|(named, cell)| {
            let columns = columns.get(named).into_iter().flatten();
            columns.filter_map(|column| Some((*column, (out(*cell), comes(to.keys.get(*column)?.1)))))
        });
        rows.add(usual, apart.collect(), |(out, comes)| {
            *known.entry((out, comes)).or_insert_with(|| {
                let out = out.and_then(|out| out_halves.get(out));
                let comes = comes.and_then(|comes| in_halves.get(comes));
                cells.push(together([out.copied(), comes.copied()]));
                u32::try_from(cells.len() - 1).unwrap_or(u32::MAX)
            })
        });
    }
    (rows, cells)
}

/// Halves of all rows, and the number of the first of each row.
fn numbered<'h>(rows: impl Iterator<Item = &'h [Half]>) -> (Vec<usize>, Vec<&'h Half>) {
    let mut all: Vec<&Half> = Vec::new();
    let start = |halves: &'h [Half]| {
        all.extend(halves);
        all.len() - halves.len()
    };
    (rows.map(start).collect(), all)
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
