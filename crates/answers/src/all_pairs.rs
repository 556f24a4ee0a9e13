//! Every proxy and every service of a mesh, and how often each policy counts.

mod cells;
mod document;
mod layered;
mod of_one;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::{Value as Json, json};
use upheld_dialects::dialect::{Ends, SomePairs};
use upheld_dialects::dialects;
use upheld_dialects::question::find_kind;
use upheld_engine::partition::CellRows;
use upheld_engine::select::cells::Cells;
use upheld_engine::select::matrix::{Matrix, RowScratch};
use upheld_engine::{
    EntryId, Granted, Grants, Granularity, KindId, Partition, PolicyId, PolicyKind, Resolve, Scratch, Select, Silent,
    Snapshot, ask, work,
};
use upheld_model::{Diagnostic, Side, Sym};

pub use self::cells::{Cell, PairCells};
pub(crate) use self::layered::layered;
pub(crate) use self::of_one::{ends_of_policy, tally_of};
use crate::progress::Progress;
use upheld_report::At;
use upheld_report::counted;
use upheld_report::stamp::edition;

/// All pairs of some meshes under one kind of policy.
#[derive(Debug)]
pub struct AllPairs<'s> {
    snapshot: &'s Snapshot,
    kind: Option<&'s PolicyKind>,
    /// One for each mesh.
    pub meshes: Vec<Pairs>,
}

/// Who stands for each pair of one mesh.
#[derive(Debug)]
pub struct Pairs {
    mesh: Sym,
    proxies: Vec<Sym>,
    destinations: Vec<String>,
    /// The class of each proxy.
    source_of: Vec<usize>,
    /// The class of each destination.
    destination_of: Vec<usize>,
    /// Who stands, by class of proxies and class of destinations.
    rows: Vec<Row>,
    resolve: Resolve,
    /// Whether the kind says who may.
    grants: bool,
    /// Under a kind of layers: the cells of all classes, and what they come to.
    cells: CellRows,
    layered: Vec<Standing>,
}

/// Who stands for each class of destinations, for one class of callers.
#[derive(Debug)]
enum Row {
    /// At most one; nothing else to say.
    One(Vec<Option<PolicyId>>),
    /// At most one, and whether it grants the connection.
    Granting(Vec<(Option<PolicyId>, bool)>),
    /// All that count.
    All(Vec<Vec<PolicyId>>),
    /// That of its number among the cells of layers.
    Layered(usize),
}

/// Who stands for one pair.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Standing {
    /// The policies that count, best first; none where the default stands.
    pub policies: Vec<PolicyId>,
    /// Whether the connection may be made, if the kind says so.
    pub granted: Option<bool>,
}

/// How often a policy counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    resolve_all: bool,
    /// For so many pairs of caller and called.
    pub pairs: usize,
    /// For so many callers.
    pub proxies: usize,
    /// For so many called.
    pub destinations: usize,
    /// Of so many pairs.
    pub of: usize,
}

/// Computes all pairs of a mesh for a kind: asks one pair of each cell.
pub(crate) fn tally(snapshot: &Snapshot, kind: KindId, mesh: Sym, progress: &dyn Progress) -> Pairs {
    layered(snapshot, kind, mesh, &SomePairs::default())
        .unwrap_or_else(|| tally_ends(snapshot, kind, mesh, &ends_of(snapshot, kind, mesh), progress))
}

/// All that call and can be called, as a kind that selects looks at them.
pub(crate) fn ends_of(snapshot: &Snapshot, kind: KindId, mesh: Sym) -> Arc<Ends> {
    let choices = snapshot.kind(kind).and_then(PolicyKind::select);
    let each = choices.and_then(|select| select.side(Side::Destination)).map_or(Granularity::Service, |item| item.each);
    let ends = dialects().find_map(|dialect| dialect.ends(snapshot, mesh, each));
    ends.unwrap_or_default()
}

/// As [`tally`], for some ends.
pub(crate) fn tally_ends(snapshot: &Snapshot, kind: KindId, mesh: Sym, ends: &Ends, progress: &dyn Progress) -> Pairs {
    let choices = snapshot.kind(kind).and_then(PolicyKind::select);
    let Ends { callers, called, .. } = ends;
    let mut pairs = Pairs {
        mesh,
        proxies: callers.iter().map(|(name, _)| *name).collect(),
        destinations: called.iter().map(|(label, _)| label.clone()).collect(),
        source_of: vec![0; callers.len()],
        destination_of: vec![0; called.len()],
        rows: vec![Row::One(vec![None])],
        resolve: choices.map_or(Resolve::First, |select| select.resolve),
        grants: choices.is_some_and(|select| select.grants.is_some()),
        cells: CellRows::default(),
        layered: Vec::new(),
    };
    let Some(select) = snapshot.select(kind, mesh) else { return pairs };
    let mut cells = Cells::new(select);
    pairs.source_of = callers.iter().map(|(_, parts)| cells.add_source(Some(parts))).collect();
    pairs.destination_of = called.iter().map(|(_, parts)| cells.add_destination(Some(parts))).collect();
    let row_length = cells.destinations().len() as u64;
    progress.expect(cells.sources().len() as u64 * row_length);
    let matrix = Matrix::new(select, cells.destinations().filter_map(|class| cells.destination(class)));
    let work = work::here();
    let rows = cells.sources().into_par_iter().map_init(RowScratch::default, |scratch, source| {
        let row = work.during(|| {
            work::steps(row_length);
            row(select, &matrix, &cells, source, scratch)
        });
        progress.done(row_length);
        row
    });
    pairs.rows = rows.collect();
    pairs
}

fn row(select: &Select, matrix: &Matrix<'_>, cells: &Cells<'_>, source: usize, scratch: &mut RowScratch) -> Row {
    let policy = |entry: Option<EntryId>| select.entry(entry?).map(|entry| entry.policy);
    let questions = cells.row(source).map(|cell| cells.representative(cell));
    match (select.kind().resolve, select.kind().grants) {
        (Resolve::First, Some(Grants::Field(_))) => {
            let mut room = Scratch::default();
            let answers = questions.map(|question| ask(select, &question, &mut room, &mut Silent));
            Row::Granting(answers.map(|answer| (policy(answer.winner), answer.granted == Granted::Yes)).collect())
        }
        (Resolve::First, _) => {
            let mut row = Vec::with_capacity(cells.destinations().len());
            matrix.row(cells.source(source).unwrap_or_default(), scratch, |winner| row.push(policy(winner)));
            Row::One(row)
        }
        (Resolve::All, _) => {
            let mut room = Scratch::default();
            let standing = questions.map(|question| {
                // A policy of which several entries stand counts once.
                let mut seen = HashSet::new();
                let entries = select.standing(&question, &mut room).into_iter().map(|entry| entry.policy);
                entries.filter(|policy| seen.insert(*policy)).collect()
            });
            Row::All(standing.collect())
        }
    }
}

impl Pairs {
    /// Every pair: who calls, who is called, who stands.
    pub fn each(&self) -> impl Iterator<Item = (Sym, &str, Standing)> {
        self.proxies.iter().zip(&self.source_of).flat_map(move |(proxy, source)| {
            let row = self.rows.get(*source);
            let destinations = self.destinations.iter().zip(&self.destination_of);
            destinations.filter_map(move |(name, to)| Some((*proxy, name.as_str(), self.standing(row?, *to))))
        })
    }

    fn standing(&self, row: &Row, to: usize) -> Standing {
        self.granting(self.at(row, to))
    }

    fn at(&self, row: &Row, to: usize) -> Standing {
        let granted = match row {
            Row::Granting(row) => Some(row.get(to).is_some_and(|(_, granted)| *granted)),
            Row::Layered(row) => self.layered_at(*row, to).and_then(|standing| standing.granted),
            Row::One(_) | Row::All(_) => None,
        };
        Standing { policies: self.policies(row, to).to_vec(), granted }
    }

    /// What a cell of layers comes to.
    fn layered_at(&self, row: usize, to: usize) -> Option<&Standing> {
        self.layered.get(self.cells.cell(row, to)? as usize)
    }

    /// The policies that count.
    fn policies<'r>(&'r self, row: &'r Row, to: usize) -> &'r [PolicyId] {
        let policies = match row {
            Row::One(row) => row.get(to).map(Option::as_slice),
            Row::Granting(row) => row.get(to).map(|(policy, _)| policy.as_slice()),
            Row::All(row) => row.get(to).map(Vec::as_slice),
            Row::Layered(row) => self.layered_at(*row, to).map(|standing| standing.policies.as_slice()),
        };
        policies.unwrap_or_default()
    }

    fn granting(&self, mut standing: Standing) -> Standing {
        if self.grants {
            // Who is matched may; nobody may by default.
            standing.granted = standing.granted.or(Some(!standing.policies.is_empty()));
        }
        standing
    }

    /// Who calls, each with its class.
    pub(crate) fn callers(&self) -> impl Iterator<Item = (Sym, usize)> {
        self.proxies.iter().copied().zip(self.source_of.iter().copied())
    }

    /// Who is called, each with its class.
    pub(crate) fn called(&self) -> impl Iterator<Item = (&str, usize)> {
        self.destinations.iter().map(String::as_str).zip(self.destination_of.iter().copied())
    }

    /// Who stands in each cell, as somebody numbers them, by class of callers and class of those called.
    fn standings(&self, number: &mut impl FnMut(Standing) -> u32) -> Vec<Vec<u32>> {
        let classes = self.destination_of.iter().max().map_or(0, |last| last + 1);
        // By the number of the winner, after that of nobody.
        let mut winners: Vec<Option<u32>> = Vec::new();
        let mut numbered = |row: &Row| match row {
            // There may be millions of these, and few winners.
            Row::One(row) => {
                let mut winner = |policy: &Option<PolicyId>| {
                    let place = policy.map_or(0, |policy| policy.index() + 1);
                    if winners.len() <= place {
                        winners.resize(place + 1, None);
                    }
                    let standing = || Standing { policies: policy.iter().copied().collect(), granted: None };
                    let known = winners.get_mut(place);
                    known.map_or(u32::MAX, |known| *known.get_or_insert_with(|| number(self.granting(standing()))))
                };
                row.iter().map(&mut winner).collect()
            }
            _ => (0..classes).map(|to| number(self.standing(row, to))).collect(),
        };
        self.rows.iter().map(&mut numbered).collect()
    }

    /// The cell of each pair by number, and who stands there: pairs of one number have one answer. Who stands alone has one answer everywhere;
    /// layers of the same policies may have several.
    pub(crate) fn numbered(&self) -> (Vec<Vec<u32>>, Vec<Standing>) {
        if !self.layered.is_empty() {
            return (self.cells.each(), self.layered.clone());
        }
        self.by_standing()
    }

    /// The same, with one number for all who have the same standing.
    fn by_standing(&self) -> (Vec<Vec<u32>>, Vec<Standing>) {
        let (mut standings, mut known) = (Vec::new(), HashMap::new());
        let cells = self.standings(&mut |standing| {
            *known.entry(standing).or_insert_with_key(|standing: &Standing| {
                standings.push(standing.clone());
                u32::try_from(standings.len() - 1).unwrap_or(u32::MAX)
            })
        });
        (cells, standings)
    }

    /// The mesh.
    pub fn mesh(&self) -> Sym {
        self.mesh
    }

    /// How many proxies call.
    pub fn proxies(&self) -> usize {
        self.proxies.len()
    }

    /// How many destinations are called.
    pub fn destinations(&self) -> usize {
        self.destinations.len()
    }

    /// How many pairs there are.
    pub fn count(&self) -> usize {
        self.proxies.len() * self.destinations.len()
    }

    /// How often each policy counts; the default is under `None`.
    pub fn tallies(&self) -> BTreeMap<Option<PolicyId>, Tally> {
        let [sources, destinations] = [&self.source_of, &self.destination_of].map(|classes| sizes(classes));
        let mut tallies: BTreeMap<Option<PolicyId>, (Tally, BTreeSet<usize>)> = BTreeMap::new();
        for (row, callers) in self.rows.iter().zip(sources) {
            let mut in_row: BTreeSet<Option<PolicyId>> = BTreeSet::new();
            for (class, called) in destinations.iter().enumerate() {
                let policies = self.policies(row, class);
                let default = policies.is_empty().then_some(None);
                for policy in policies.iter().copied().map(Some).chain(default) {
                    let (tally, reached) = tallies.entry(policy).or_default();
                    tally.pairs += callers * called;
                    if in_row.insert(policy) {
                        tally.proxies += callers;
                    }
                    if reached.insert(class) {
                        tally.destinations += called;
                    }
                }
            }
        }
        let finish = |tally: Tally| Tally {
            pairs: tally.pairs,
            proxies: tally.proxies,
            destinations: tally.destinations,
            ..self.none()
        };
        tallies.into_iter().map(|(policy, (tally, _))| (policy, finish(tally))).collect()
    }

    /// Of a policy that counts nowhere.
    pub(crate) fn none(&self) -> Tally {
        Tally { of: self.count(), resolve_all: self.resolve == Resolve::All, ..Tally::default() }
    }
}

/// How many members each class has.
fn sizes(class_of: &[usize]) -> Vec<usize> {
    let mut sizes = vec![0; class_of.iter().max().map_or(0, |last| last + 1)];
    for class in class_of {
        if let Some(size) = sizes.get_mut(*class) {
            *size += 1;
        }
    }
    sizes
}

impl Tally {
    /// `TrafficLog: wins for 12 of 40 pairs of caller and called (3 proxies, 4 destinations)`.
    pub fn sentence(&self, kind: &str) -> String {
        let verb = if self.resolve_all { "applies to" } else { "wins for" };
        let proxies = counted(self.proxies, "proxy", "proxies");
        let destinations = counted(self.destinations, "destination", "destinations");
        format!("{kind}: {verb} {} of {} pairs of caller and called ({proxies}, {destinations})", self.pairs, self.of)
    }

    /// `12 of 40 pairs`.
    pub fn short(&self) -> String {
        format!("{} of {} pairs", self.pairs, self.of)
    }

    /// For programs.
    pub fn json(&self) -> Json {
        json!({"pairs": self.pairs, "of": self.of, "proxies": self.proxies, "destinations": self.destinations})
    }
}

/// A scope of connections by its name.
pub(crate) fn find_scope(snapshot: &Snapshot, name: &str) -> Option<Result<Sym, Diagnostic>> {
    dialects().find_map(|dialect| dialect.find_scope(snapshot, name))
}

impl<'s> AllPairs<'s> {
    pub(crate) fn new(
        snapshot: &'s Snapshot,
        mesh: Option<&str>,
        kind: &str,
        progress: &dyn Progress,
    ) -> Result<Self, Diagnostic> {
        let kind = find_kind(snapshot, kind)?;
        let wanted = mesh.and_then(|name| find_scope(snapshot, name)).transpose()?;
        let all = || dialects().flat_map(|dialect| dialect.scopes(snapshot)).collect();
        let chosen: Vec<Sym> = wanted.map_or_else(all, |mesh| vec![mesh]);
        let meshes = chosen.iter().map(|mesh| tally(snapshot, kind, *mesh, progress)).collect();
        Ok(Self { snapshot, kind: snapshot.kind(kind), meshes })
    }

    /// The edition of its rules.
    pub fn edition(&self) -> Option<&'s str> {
        self.kind.and_then(|kind| edition(self.snapshot, kind))
    }

    /// The kind of policy.
    pub fn kind_name(&self) -> &'s str {
        self.kind.map_or("", |kind| self.snapshot.text(kind.name))
    }

    /// What stands where no policy does.
    pub fn default_name(&self) -> &'s str {
        self.kind.map_or("(default)", |kind| self.snapshot.text(kind.default_name))
    }

    /// A policy by its name.
    pub fn name(&self, policy: PolicyId) -> &'s str {
        self.snapshot.policy(policy).map_or("", |policy| self.snapshot.text(policy.name))
    }

    /// Who stands, by name.
    pub fn names(&self, standing: &Standing) -> Vec<&'s str> {
        if standing.policies.is_empty() {
            return vec![self.default_name()];
        }
        standing.policies.iter().map(|policy| self.name(*policy)).collect()
    }

    /// Where a policy was written.
    pub fn at(&self, policy: Option<PolicyId>) -> Option<At> {
        At::of(self.snapshot.files(), self.snapshot.policy(policy?)?.at)
    }
}
