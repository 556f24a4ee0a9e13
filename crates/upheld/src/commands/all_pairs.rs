//! `explain --all-pairs`: every proxy and every service of a mesh, and how often each policy counts.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use anstyle::Style;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use serde_json::{Value as Json, json};
use upheld_dialects::kuma::ends::{Member, caller_parts, destinations, find_mesh, meshes, proxies};
use upheld_engine::select::matrix::{Classes, Matrix, RowScratch};
use upheld_engine::{
    Each, EntryId, Granted, Grants, KindId, Partition, PolicyId, PolicyKind, Question as Connection, Resolve, Scratch,
    Select, Silent, Snapshot, ask,
};
use upheld_model::{Diagnostic, Fault, Side, Sym, TagSet};

use super::question::find_kind;
use super::{Session, refuse};
use crate::cli::{Format, Question};
use crate::exit::Exit;
use crate::render::print_plain;
use crate::render::style::{ANSWER, paint};
use crate::render::table::{Align, Table, wrap};
use crate::report::At;

pub(super) fn run(session: &Session<'_>, question: &Question) -> Exit {
    let Some(loaded) = session.load() else { return Exit::Failed };
    let snapshot = &loaded.snapshot;
    let kind = match find_kind(snapshot, question.kind.as_deref().unwrap_or_default()) {
        Ok(kind) => kind,
        Err(problem) => return refuse(&[problem]),
    };
    if snapshot.kind(kind).is_some_and(|kind| kind.merge().is_some()) {
        let message = "policies of this kind are layers, so no pair has a single winner";
        let help = "ask for a proxy: `upheld explain dataplane/web-1`, or for all its rules: `upheld inspect /meshes/default/dataplanes/web-1/_rules`";
        return refuse(&[Diagnostic::error(Fault::IncompleteQuestion, message).help(help)]);
    }
    let wanted = session.settings.mesh.value.as_deref().map(|name| find_mesh(snapshot, name)).transpose();
    let chosen = match wanted {
        Ok(wanted) => wanted.map_or_else(|| meshes(snapshot), |mesh| vec![mesh]),
        Err(problem) => return refuse(&[problem]),
    };
    let bar = progress();
    let tables: Vec<Pairs> = chosen.iter().map(|mesh| tally(snapshot, kind, *mesh, &bar)).collect();
    bar.finish_and_clear();
    print(session, snapshot, kind, &tables);
    Exit::Yes
}

/// A bar on terminals; it hides itself elsewhere.
fn progress() -> ProgressBar {
    let bar = ProgressBar::new(0);
    match ProgressStyle::with_template("{wide_bar} {human_pos} of {human_len} pairs, {eta}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Who stands for each pair of one mesh.
pub(super) struct Pairs {
    mesh: Sym,
    proxies: Vec<Sym>,
    destinations: Vec<String>,
    /// The class of each proxy.
    class_of: Vec<usize>,
    /// Who stands, for each class.
    rows: Vec<Row>,
    resolve: Resolve,
    /// Whether the kind says who may.
    grants: bool,
}

/// Who stands for each destination of one class of callers.
enum Row {
    /// At most one; nothing else to say.
    One(Vec<Option<PolicyId>>),
    /// At most one, and whether it grants the connection.
    Granting(Vec<(Option<PolicyId>, bool)>),
    /// All that count.
    All(Vec<Vec<PolicyId>>),
}

/// Who stands for one pair.
struct Cell {
    policies: Vec<PolicyId>,
    granted: Option<bool>,
}

impl Row {
    fn cell(&self, column: usize) -> Cell {
        match self {
            Self::One(row) => {
                Cell { policies: row.get(column).copied().flatten().into_iter().collect(), granted: None }
            }
            Self::Granting(row) => {
                let (policy, granted) = row.get(column).copied().unwrap_or((None, false));
                Cell { policies: policy.into_iter().collect(), granted: Some(granted) }
            }
            Self::All(row) => Cell { policies: row.get(column).cloned().unwrap_or_default(), granted: None },
        }
    }
}

/// How often a policy counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    resolve_all: bool,
    pub(super) pairs: usize,
    proxies: usize,
    destinations: usize,
    of: usize,
}

/// Computes all pairs of a mesh for a kind. Proxies that no policy can tell apart are answered once.
pub(super) fn tally(snapshot: &Snapshot, kind: KindId, mesh: Sym, bar: &ProgressBar) -> Pairs {
    let callers: Vec<(Sym, Vec<TagSet>)> = proxies(snapshot)
        .filter(|(_, proxy)| proxy.scope == mesh)
        .map(|(_, proxy)| (proxy.name, caller_parts(proxy)))
        .collect();
    let choices = snapshot.kind(kind).and_then(PolicyKind::select);
    let each = choices.and_then(|select| select.side(Side::Destination)).map_or(Each::Service, |item| item.each);
    let called = destinations(snapshot, mesh, each);
    let mut pairs = Pairs {
        mesh,
        proxies: callers.iter().map(|(name, _)| *name).collect(),
        destinations: called.iter().map(|member| member.label.clone()).collect(),
        class_of: vec![0; callers.len()],
        rows: vec![Row::One(vec![None; called.len()])],
        resolve: choices.map_or(Resolve::First, |select| select.resolve),
        grants: choices.is_some_and(|select| select.grants.is_some()),
    };
    let Some(select) = snapshot.select(kind, mesh) else { return pairs };
    let mut classes = Classes::new(select);
    pairs.class_of = callers.iter().map(|(_, parts)| classes.classify(parts)).collect();
    let row_length = called.len() as u64;
    bar.inc_length(classes.cells().len() as u64 * row_length);
    let matrix = Matrix::new(select, called.iter().map(|member| member.parts.as_slice()));
    let rows = classes.cells().par_iter().map_init(RowScratch::default, |scratch, source| {
        let row = row(select, &matrix, source, &called, scratch);
        bar.inc(row_length);
        row
    });
    pairs.rows = rows.collect();
    pairs
}

fn row(select: &Select, matrix: &Matrix<'_>, source: &[TagSet], called: &[Member], scratch: &mut RowScratch) -> Row {
    let policy = |entry: Option<EntryId>| select.entry(entry?).map(|entry| entry.policy);
    let questions = called.iter().map(|member| Connection { source: Some(source), destination: Some(&member.parts) });
    match (select.kind().resolve, select.kind().grants) {
        (Resolve::First, Some(Grants::Field(_))) => {
            let mut room = Scratch::default();
            let answers = questions.map(|question| ask(select, &question, &mut room, &mut Silent));
            Row::Granting(answers.map(|answer| (policy(answer.winner), answer.granted == Granted::Yes)).collect())
        }
        (Resolve::First, _) => {
            let mut row = Vec::with_capacity(called.len());
            matrix.row(source, scratch, |winner| row.push(policy(winner)));
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
    fn each(&self) -> impl Iterator<Item = (Sym, &str, Cell)> {
        self.proxies.iter().zip(&self.class_of).flat_map(move |(proxy, class)| {
            let row = self.rows.get(*class);
            let destinations = self.destinations.iter().enumerate();
            destinations.filter_map(move |(column, name)| {
                let mut cell = row?.cell(column);
                if self.grants {
                    // Who is matched may; nobody may by default.
                    cell.granted = cell.granted.or(Some(!cell.policies.is_empty()));
                }
                Some((*proxy, name.as_str(), cell))
            })
        })
    }

    fn count(&self) -> usize {
        self.proxies.len() * self.destinations.len()
    }

    /// How often each policy counts; the default is under `None`.
    pub(super) fn tallies(&self) -> BTreeMap<Option<PolicyId>, Tally> {
        let mut members = vec![0_usize; self.rows.len()];
        for class in &self.class_of {
            if let Some(members) = members.get_mut(*class) {
                *members += 1;
            }
        }
        let mut tallies: BTreeMap<Option<PolicyId>, (Tally, Vec<bool>)> = BTreeMap::new();
        for (row, members) in self.rows.iter().zip(members).filter(|(_, members)| *members > 0) {
            let mut in_row: BTreeMap<Option<PolicyId>, usize> = BTreeMap::new();
            for column in 0..self.destinations.len() {
                let Cell { policies, .. } = row.cell(column);
                let default = policies.is_empty().then_some(None);
                for policy in policies.into_iter().map(Some).chain(default) {
                    *in_row.entry(policy).or_default() += 1;
                    let blank = || (Tally::default(), vec![false; self.destinations.len()]);
                    let (_, reached) = tallies.entry(policy).or_insert_with(blank);
                    if let Some(reached) = reached.get_mut(column) {
                        *reached = true;
                    }
                }
            }
            for (policy, count) in in_row {
                if let Some((tally, _)) = tallies.get_mut(&policy) {
                    tally.pairs += count * members;
                    tally.proxies += members;
                }
            }
        }
        let finish = |(tally, reached): (Tally, Vec<bool>)| {
            let destinations = reached.into_iter().filter(|reached| *reached).count();
            Tally { pairs: tally.pairs, proxies: tally.proxies, destinations, ..self.none() }
        };
        tallies.into_iter().map(|(policy, found)| (policy, finish(found))).collect()
    }

    /// How often one policy counts.
    pub(super) fn of(&self, policy: PolicyId) -> Tally {
        self.tallies().get(&Some(policy)).copied().unwrap_or_else(|| self.none())
    }

    /// Of a policy that counts nowhere.
    pub(super) fn none(&self) -> Tally {
        Tally { of: self.count(), resolve_all: self.resolve == Resolve::All, ..Tally::default() }
    }
}

impl Tally {
    /// `TrafficLog: wins for 12 of 40 pairs of caller and called (3 proxies, 4 destinations)`.
    pub(super) fn sentence(&self, kind: &str) -> String {
        let verb = if self.resolve_all { "applies to" } else { "wins for" };
        let proxies = plural(self.proxies, "proxy", "proxies");
        let destinations = plural(self.destinations, "destination", "destinations");
        format!("{kind}: {verb} {} of {} pairs of caller and called ({proxies}, {destinations})", self.pairs, self.of)
    }

    /// `12 of 40 pairs`.
    pub(super) fn short(&self) -> String {
        format!("{} of {} pairs", self.pairs, self.of)
    }

    /// For programs.
    pub(super) fn json(&self) -> Json {
        json!({"pairs": self.pairs, "of": self.of, "proxies": self.proxies, "destinations": self.destinations})
    }
}

fn plural(count: usize, one: &str, several: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {several}") }
}

fn print(session: &Session<'_>, snapshot: &Snapshot, kind: KindId, tables: &[Pairs]) {
    let screen = &session.screen;
    let teller = Teller { snapshot, kind: snapshot.kind(kind) };
    match screen.format {
        Format::Jsonl => tables.iter().for_each(|table| teller.print_lines(table)),
        Format::Wide => {
            let columns = [("MESH", Align::Left), ("FROM", Align::Left), ("TO", Align::Left), ("POLICY", Align::Left)];
            let mut rows = Table::new(&columns);
            for table in tables {
                for (proxy, to, cell) in table.each() {
                    let refused = cell.granted == Some(false) && !cell.policies.is_empty();
                    let denied = if refused { " (does not grant it)" } else { "" };
                    let policies = teller.names(&cell).join(", ") + denied;
                    let [mesh, proxy] = [table.mesh, proxy].map(|symbol| snapshot.text(symbol).to_owned());
                    rows.row(Style::new(), [mesh, proxy, to.to_owned(), policies]);
                }
            }
            screen.print(&rows.render(screen.width, 1));
        }
        Format::Name => {
            let found: BTreeSet<PolicyId> =
                tables.iter().flat_map(Pairs::tallies).filter_map(|(policy, _)| policy).collect();
            let names = found.into_iter().map(|policy| format!("{}/{}\n", teller.kind_name(), teller.name(policy)));
            print_plain(&names.collect::<String>());
        }
        Format::Json | Format::Yaml => {
            let meshes: Vec<Json> = tables.iter().map(|table| teller.summary_json(table)).collect();
            screen.print_data(&json!({
                "apiVersion": "upheld/v1", "kind": "AllPairs", "policyKind": teller.kind_name(),
                "semantics": teller.kind.and_then(|kind| kind.semantics).map(|semantics| snapshot.text(semantics)),
                "snapshot": snapshot.digest(), "meshes": meshes,
            }));
        }
        Format::Table => {
            for table in tables {
                screen.print(&teller.summary_text(table, screen.width));
            }
        }
    }
}

struct Teller<'s> {
    snapshot: &'s Snapshot,
    kind: Option<&'s PolicyKind>,
}

impl<'s> Teller<'s> {
    fn kind_name(&self) -> &'s str {
        self.kind.map_or("", |kind| self.snapshot.text(kind.name))
    }

    fn default_name(&self) -> &'s str {
        self.kind.map_or("(default)", |kind| self.snapshot.text(kind.default_name))
    }

    fn name(&self, policy: PolicyId) -> &'s str {
        self.snapshot.policy(policy).map_or("", |policy| self.snapshot.text(policy.name))
    }

    fn names(&self, cell: &Cell) -> Vec<&'s str> {
        if cell.policies.is_empty() {
            return vec![self.default_name()];
        }
        cell.policies.iter().map(|policy| self.name(*policy)).collect()
    }

    fn at(&self, policy: Option<PolicyId>) -> Option<At> {
        At::of(self.snapshot.files(), self.snapshot.policy(policy?)?.at)
    }

    /// Every pair, a line each.
    fn print_lines(&self, table: &Pairs) {
        let mesh = self.snapshot.text(table.mesh);
        let mut lines = String::new();
        for (proxy, to, cell) in table.each() {
            let mut line =
                json!({"mesh": mesh, "from": self.snapshot.text(proxy), "to": to, "policies": self.names(&cell)});
            if let (Some(granted), Some(line)) = (cell.granted, line.as_object_mut()) {
                line.insert("granted".to_owned(), json!(granted));
            }
            lines.push_str(&line.to_string());
            lines.push('\n');
            if lines.len() > 1 << 16 {
                print_plain(&std::mem::take(&mut lines));
            }
        }
        print_plain(&lines);
    }

    fn summary_json(&self, table: &Pairs) -> Json {
        let policies: Vec<Json> = (table.tallies().iter())
            .map(|(policy, tally)| {
                let name = policy.map_or(self.default_name(), |policy| self.name(policy));
                json!({
                    "policy": name, "pairs": tally.pairs, "proxies": tally.proxies,
                    "destinations": tally.destinations, "at": self.at(*policy),
                })
            })
            .collect();
        json!({
            "mesh": self.snapshot.text(table.mesh), "proxies": table.proxies.len(),
            "destinations": table.destinations.len(), "classes": table.rows.len(), "pairs": table.count(),
            "policies": policies,
        })
    }

    fn summary_text(&self, table: &Pairs, width: Option<usize>) -> String {
        let pairs = plural(table.count(), "pair", "pairs");
        let proxies = plural(table.proxies.len(), "proxy", "proxies");
        let destinations = plural(table.destinations.len(), "destination", "destinations");
        let (mesh, kind) = (self.snapshot.text(table.mesh), self.kind_name());
        let answer = format!("{pairs} of {proxies} and {destinations} in mesh {mesh}: who decides {kind}.");
        let mut rows = Table::new(&[
            ("POLICY", Align::Left),
            ("PAIRS", Align::Right),
            ("PROXIES", Align::Right),
            ("DESTINATIONS", Align::Right),
            ("AT", Align::Left),
        ]);
        let mut tallies: Vec<_> = table.tallies().into_iter().collect();
        tallies.sort_by_key(|(policy, tally)| (policy.is_none(), std::cmp::Reverse(tally.pairs)));
        for (policy, tally) in tallies {
            let name = policy.map_or(self.default_name(), |policy| self.name(policy));
            let numbers = [tally.pairs, tally.proxies, tally.destinations].map(|number| number.to_string());
            let at = self.at(policy).map(|at| at.to_string()).unwrap_or_default();
            rows.row(Style::new(), [name.to_owned()].into_iter().chain(numbers).chain([at]));
        }
        let rows = rows.render(width, 1);
        format!("{}\n\n{rows}\n  Every pair: -o wide or -o jsonl\n", paint(ANSWER, &wrap(&answer, width)))
    }
}
