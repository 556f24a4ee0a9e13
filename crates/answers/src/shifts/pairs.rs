//! Connections: both worlds in cells, cell against cell.
//!
//! Ends that are in one class before and in one class after are walked together, so that counts are exact and cost what classes
//! do. Where the same unchanged policies stand on both sides, the answer is the same; everything else is asked on both sides.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

use rustc_hash::FxHashMap;
use upheld_dialects::dialects;
use upheld_engine::{KindId, PolicyId, PolicyKind, Snapshot, work};
use upheld_model::{Object, Side as End, Sym};
use upheld_report::{Depth, Shift, ShiftCounts, Shifts, Size};

use super::causes::Causes;
use super::local::Local;
use super::{Answers, Asked, Compared, Gathered, Owners, not_compared};
use crate::all_pairs::{Pairs, Standing, ends_of, tally};
use crate::owners::of_object;
use crate::progress::Progress;
use crate::{Options, Words, World};

impl Compared<'_, '_> {
    /// What is otherwise for connections, of all kinds that have policies about them.
    pub(super) fn pairs(&self, progress: &dyn Progress) -> Shifts {
        let mut all = Shifts::default();
        let (was, is) = (self.before.snapshot(), self.after.snapshot());
        let kinds: BTreeSet<&str> = kinds(was).chain(kinds(is)).map(|(name, _)| name).collect();
        let meshes: BTreeSet<&str> = scopes(was).chain(scopes(is)).map(|(name, _)| name).collect();
        let wanted = self.after.options().mesh.as_deref();
        let is_meant = |kind: &str| self.among.and_then(|among| among.kind).is_none_or(|only| only == kind);
        let is_concerned = |kind: &str| {
            // What is proved is counted, also where nothing can have changed.
            self.among.is_some() || !self.same_rules() || concerns(self.causes, [was, is], kind)
        };
        for kind in kinds.into_iter().filter(|kind| is_meant(kind) && is_concerned(kind)) {
            let mut own = Shifts::default();
            for mesh in meshes.iter().filter(|mesh| wanted.is_none_or(|wanted| wanted == **mesh)) {
                own = own.with(self.pairs_of(kind, mesh, progress));
            }
            // Where somebody chose connections, there may be others.
            let is_read = self.among.is_some() && meshes.iter().any(|mesh| has_ends(is, kind, mesh));
            if own.counts == ShiftCounts::default() && !is_read && self.rewritten(kind) {
                own = own.with(not_compared(kind.to_owned(), "nothing was read that it could apply to"));
            }
            all = all.with(own);
        }
        all
    }

    /// Whether policies of a kind are not the same, or not read by the same rules.
    fn rewritten(&self, kind: &str) -> bool {
        let snapshots = [self.before.snapshot(), self.after.snapshot()];
        let own = snapshots.into_iter().flat_map(kinds).find(|(name, _)| *name == kind);
        !self.same_rules() || own.is_some_and(|(_, governs)| self.causes.has_kind(governs))
    }

    /// Whether both worlds are asked by one edition of the rules.
    fn same_rules(&self) -> bool {
        self.before.options().semantics == self.after.options().semantics
    }

    fn pairs_of(&self, kind: &str, mesh: &str, progress: &dyn Progress) -> Shifts {
        let snapshots = [self.before.snapshot(), self.after.snapshot()];
        let is_local = self.same_rules() && self.among.is_none();
        let local = if is_local { Local::of(snapshots, self.causes, kind, mesh) } else { None };
        let mut walked = Walked::default();
        match local {
            Some(local) => {
                walked.counts.compared = local.all;
                for sides in local.parts(progress) {
                    self.between_sides(kind, mesh, &sides, Counted::Elsewhere, &mut walked);
                }
            }
            None => {
                let sides = snapshots.map(|snapshot| Side::of(snapshot, kind, mesh, progress));
                self.between_sides(kind, mesh, &sides, Counted::Here, &mut walked);
            }
        }
        let Walked { counts, gathered, owners, refused } = walked;
        let all = Shifts { counts, shifts: gathered.shifts(), owners, ..Shifts::default() };
        if refused > 0 {
            let because = format!("{kind} has no answer for one of their ends");
            return all.with(not_compared(Size::Connections(refused).text(), because));
        }
        all
    }

    /// What is otherwise between two sides.
    fn between_sides(&self, kind: &str, mesh: &str, [was, is]: &[Side<'_>; 2], counted: Counted, walked: &mut Walked) {
        // Under other rules the same policy may come to something else.
        let same = if self.same_rules() { Side::alike(was, is) } else { [Vec::new(), Vec::new()] };
        let [was_same, is_same] = &same;
        let is_same = |old: u32, new: u32| {
            let old = was_same.get(old as usize).copied().flatten();
            old.is_some() && old == is_same.get(new as usize).copied().flatten()
        };
        let is_chosen = |end: End| move |name: &str| self.among.is_none_or(|among| (among.fits)(mesh, end, name));
        let callers = Joint::of(was.pairs.callers(), is.pairs.callers(), is_chosen(End::Source));
        let called = Joint::of(was.pairs.called(), is.pairs.called(), is_chosen(End::Destination));
        let compared = callers.both * called.both;
        walked.counts += match counted {
            Counted::Elsewhere => ShiftCounts::default(),
            Counted::Here => ShiftCounts {
                compared,
                // Two things of one name are one, so that there may be more on both sides than on one.
                began: (callers.after * called.after).saturating_sub(compared),
                ended: (callers.before * called.before).saturating_sub(compared),
                ..ShiftCounts::default()
            },
        };
        let mut cells: BTreeMap<(u32, u32), Connections<'_>> = BTreeMap::new();
        // There may be millions of cells, so lists and not maps are walked.
        let columns: Vec<(&(usize, usize), &Vec<&str>)> = called.classes.iter().collect();
        for (row, ((was_row, is_row), from)) in callers.classes.iter().enumerate() {
            let (was_row, is_row) = (was.row(*was_row), is.row(*is_row));
            work::steps(columns.len() as u64);
            for ((was_column, is_column), to) in &columns {
                let (old, new) = (standing_at(was_row, *was_column), standing_at(is_row, *is_column));
                if is_same(old, new) {
                    continue;
                }
                cells.entry((old, new)).or_insert_with(|| Connections::first(from, to)).add(row, from, to, self.owners);
            }
        }
        let [before, after] =
            [self.before, self.after].map(|world| Options { mesh: Some(mesh.to_owned()), ..world.options().clone() });
        let here = Compared {
            before: &World::new(self.before.snapshot(), &before),
            after: &World::new(self.after.snapshot(), &after),
            causes: self.causes,
            owners: self.owners,
            among: None,
            walk: self.walk,
            from: 0,
        };
        let owned = self.owned(mesh, &callers);
        let Walked { counts, gathered, owners, refused } = walked;
        for Connections { count, from, to, rows } in cells.into_values() {
            let words = Words {
                kind: Some(kind.to_owned()),
                from: Some(from.to_owned()),
                to: Some(to.to_owned()),
                ..Words::default()
            };
            let Some(shifts) = here.asked(&words, Size::Connections(count)) else {
                *refused += count;
                continue;
            };
            if !shifts.is_empty() {
                counts.changed += count;
                for (row, called) in rows {
                    for (owner, proxies) in owned.get(row).into_iter().flatten() {
                        *owners.entry(owner.clone()).or_default() += proxies * called;
                    }
                }
            }
            for shift in shifts {
                gathered.add(shift);
            }
        }
    }

    /// How many callers of each class are whose, if that is counted.
    fn owned(&self, mesh: &str, callers: &Joint<'_>) -> Vec<BTreeMap<Option<String>, u64>> {
        if self.owners == Owners::NotCounted {
            return Vec::new();
        }
        let snapshot = self.after.snapshot();
        let here = snapshot.objects().iter().filter(|(_, object)| snapshot.text(object.scope) == mesh);
        let by_name: FxHashMap<&str, &Object> = here.map(|(_, object)| (snapshot.text(object.name), object)).collect();
        let of_class = |names: &Vec<&str>| {
            let mut all: BTreeMap<Option<String>, u64> = BTreeMap::new();
            for name in names {
                let owner = by_name.get(name).and_then(|object| of_object(snapshot, object));
                *all.entry(owner).or_default() += 1;
            }
            all
        };
        callers.classes.values().map(of_class).collect()
    }

    /// What is otherwise in the answers to a question; nothing if one side refuses to answer.
    pub(super) fn asked(&self, words: &Words, size: Size) -> Option<Vec<Shift>> {
        let answer = |world: &World<'_>| {
            let question = world.question(words).ok()?;
            let kind = words.kind.as_deref().unwrap_or_default();
            // Who does not match makes no difference.
            match world.answer_to(&question, Depth::Answer) {
                Ok(answer) => Some(answer.reports),
                // A kind without policies has nothing to say, and questions about it may be refused.
                Err(_) if kinds(world.snapshot()).all(|(known, _)| known != kind) => Some(Vec::new()),
                Err(_) => None,
            }
        };
        let (before, after) = (answer(self.before)?, answer(self.after)?);
        Some(self.otherwise(&Answers { words, asked: Asked::Same, before: &before, after: &after }, size))
    }
}

/// What was found so far under one kind in one mesh.
#[derive(Default)]
struct Walked {
    counts: ShiftCounts,
    gathered: Gathered,
    owners: BTreeMap<Option<String>, u64>,
    /// Connections that one side has no answer for.
    refused: u64,
}

/// Where the connections are counted that are compared.
#[derive(Clone, Copy)]
enum Counted {
    /// With those that are looked at: these are all.
    Here,
    /// For all of them together.
    Elsewhere,
}

/// Connections that are asked about once.
struct Connections<'n> {
    count: u64,
    /// One of those who call.
    from: &'n str,
    /// One of those called.
    to: &'n str,
    /// How many each class of callers calls, where it is counted whose they are.
    rows: Vec<(usize, u64)>,
}

impl<'n> Connections<'n> {
    fn first(from: &[&'n str], to: &[&'n str]) -> Self {
        let [from, to] = [from, to].map(|names| names.first().copied().unwrap_or_default());
        Self { count: 0, from, to, rows: Vec::new() }
    }

    fn add(&mut self, row: usize, from: &[&str], to: &[&str], owners: Owners) {
        self.count += (from.len() * to.len()) as u64;
        if owners == Owners::Counted {
            match self.rows.last_mut().filter(|(last, _)| *last == row) {
                Some((_, called)) => *called += to.len() as u64,
                None => self.rows.push((row, to.len() as u64)),
            }
        }
    }
}

/// Whether changes can concern a kind: its own policies, or something that is no policy of another kind.
fn concerns(causes: &Causes<'_>, snapshots: [&Snapshot; 2], kind: &str) -> bool {
    let governed = |name: &str| {
        let mut all = snapshots.into_iter().flat_map(|snapshot| {
            let kinds = snapshot.kinds().iter().filter(|(_, kind)| kind.hierarchy().is_none());
            kinds.map(|(_, kind)| (snapshot.text(kind.name), snapshot.text(kind.governs)))
        });
        all.any(|(own, governs)| governs == name && own != kind) && !is_object(snapshots, name)
    };
    let own = snapshots.into_iter().flat_map(kinds).find(|(name, _)| *name == kind).map(|(_, governs)| governs);
    own.is_some_and(|own| causes.has_kind(own)) || causes.kinds().any(|name| !governed(name))
}

/// Whether documents of a type are objects: others may refer to them, also where they are policies.
pub(super) fn is_object(snapshots: [&Snapshot; 2], name: &str) -> bool {
    snapshots.into_iter().any(|snapshot| snapshot.objects().has_kind(name, snapshot.symbols()))
}

/// Kinds of policies about connections that have any, and the type of their documents.
pub(crate) fn kinds(snapshot: &Snapshot) -> impl Iterator<Item = (&str, &str)> {
    let has_policies = |kind: &PolicyKind| snapshot.policies().iter().any(|(_, policy)| policy.kind == kind.governs);
    let all = snapshot.kinds().iter().filter(move |(_, kind)| is_about_connections(kind) && has_policies(kind));
    all.map(|(_, kind)| (snapshot.text(kind.name), snapshot.text(kind.governs)))
}

/// Whether policies of a kind are about connections.
pub(crate) fn is_about_connections(kind: &PolicyKind) -> bool {
    kind.select().is_some() || kind.merge().is_some()
}

/// The meshes that connections stay within.
pub(crate) fn scopes(snapshot: &Snapshot) -> impl Iterator<Item = (&str, Sym)> {
    dialects().flat_map(|dialect| dialect.scopes(snapshot)).map(|scope| (snapshot.text(scope), scope))
}

/// All pairs of one world, by number of who stands.
pub(super) struct Side<'s> {
    snapshot: &'s Snapshot,
    pairs: Named<'s>,
    /// Who stands in each cell, by class of callers and class of those called.
    cells: Vec<Vec<u32>>,
    standings: Vec<Standing>,
}

/// Pairs with the names of their ends.
struct Named<'s> {
    snapshot: &'s Snapshot,
    pairs: Option<Pairs>,
}

impl<'s> Named<'s> {
    fn callers(&self) -> Vec<(&'s str, usize)> {
        let all = self.pairs.iter().flat_map(Pairs::callers);
        all.map(|(name, class)| (self.snapshot.text(name), class)).collect()
    }

    fn called(&self) -> Vec<(&str, usize)> {
        self.pairs.iter().flat_map(Pairs::called).collect()
    }
}

impl<'s> Side<'s> {
    fn of(snapshot: &'s Snapshot, kind: &str, mesh: &str, progress: &dyn Progress) -> Self {
        let found = found(snapshot, kind, mesh);
        Self::numbered(snapshot, found.map(|(kind, mesh)| tally(snapshot, kind, mesh, progress)))
    }

    pub(super) fn numbered(snapshot: &'s Snapshot, pairs: Option<Pairs>) -> Self {
        let (cells, standings) = pairs.as_ref().map(Pairs::numbered).unwrap_or_default();
        Self { snapshot, pairs: Named { snapshot, pairs }, cells, standings }
    }

    /// Who stands for a class of callers, by class of those called.
    fn row(&self, row: usize) -> &[u32] {
        self.cells.get(row).map_or(&[], |row| row)
    }

    /// For each cell of either side a number that cells share where the same policies stand that say the same.
    fn alike(was: &Self, is: &Self) -> [Vec<Option<u32>>; 2] {
        let mut known: FxHashMap<(Vec<Unchanged<'_>>, Option<bool>), u32> = FxHashMap::default();
        [was, is].map(|side| {
            let mut said: FxHashMap<PolicyId, Unchanged<'_>> = FxHashMap::default();
            let mut number = |standing: &Standing| {
                let mut says = |policy: &PolicyId| {
                    if let Some(known) = said.get(policy) {
                        return Some(*known);
                    }
                    let unchanged = Unchanged::of(side.snapshot, *policy)?;
                    said.insert(*policy, unchanged);
                    Some(unchanged)
                };
                let policies = standing.policies.iter().map(&mut says).collect::<Option<Vec<_>>>()?;
                let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
                Some(*known.entry((policies, standing.granted)).or_insert(next))
            };
            side.standings.iter().map(&mut number).collect()
        })
    }
}

fn standing_at(row: &[u32], column: usize) -> u32 {
    row.get(column).copied().unwrap_or(u32::MAX)
}

/// A policy as it is called, with the fingerprint of its document.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Unchanged<'s> {
    name: &'s str,
    says: upheld_engine::digest::Fingerprint,
}

impl<'s> Unchanged<'s> {
    fn of(snapshot: &'s Snapshot, policy: PolicyId) -> Option<Self> {
        let policy = snapshot.policy(policy)?;
        let says = upheld_engine::snapshot::of_document(snapshot.files().value(policy.at)?);
        Some(Self { name: snapshot.text(policy.name), says })
    }
}

/// Whether something was read that policies of a kind can apply to.
fn has_ends(snapshot: &Snapshot, kind: &str, mesh: &str) -> bool {
    found(snapshot, kind, mesh).is_some_and(|(kind, mesh)| !ends_of(snapshot, kind, mesh).callers.is_empty())
}

pub(super) fn found(snapshot: &Snapshot, kind: &str, mesh: &str) -> Option<(KindId, Sym)> {
    let kind = snapshot.kinds().iter().find(|(_, known)| snapshot.text(known.name) == kind).map(|(id, _)| id)?;
    let (_, mesh) = scopes(snapshot).find(|(name, _)| *name == mesh)?;
    Some((kind, mesh))
}

/// Ends that are there before and after, by their two classes.
struct Joint<'n> {
    classes: BTreeMap<(usize, usize), Vec<&'n str>>,
    /// How many there are on each side, and on both.
    before: u64,
    after: u64,
    both: u64,
}

impl<'n> Joint<'n> {
    fn of(before: Vec<(&'n str, usize)>, after: Vec<(&'n str, usize)>, is_chosen: impl Fn(&str) -> bool) -> Self {
        let [before, after] =
            [before, after].map(|all| all.into_iter().filter(|(name, _)| is_chosen(name)).collect::<Vec<_>>());
        let [before_count, after_count] = [&before, &after].map(|all| all.len() as u64);
        let was: FxHashMap<&str, usize> = before.into_iter().collect();
        let mut joint = Self { classes: BTreeMap::new(), before: before_count, after: after_count, both: 0 };
        for (name, is) in after {
            if let Some(was) = was.get(name) {
                joint.classes.entry((*was, is)).or_default().push(name);
                joint.both += 1;
            }
        }
        joint
    }
}
