//! `explain --all-pairs`: every proxy and every service of a mesh, and how often each policy counts.

use std::collections::BTreeMap;

use anstyle::Style;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use serde_json::{Value as Json, json};
use upheld_dialects::ends::{Service, caller_parts, meshes, proxies, services};
use upheld_engine::select::matrix::{Classes, Matrix, RowScratch};
use upheld_engine::{EntryId, KindId, Partition, PolicyId, Question as Connection, Resolve, Scratch, Select, Snapshot};
use upheld_model::{Diagnostic, Fault, Sym, TagSet};

use super::question::find_kind;
use super::{Session, refuse};
use crate::cli::{Format, Question};
use crate::exit::Exit;
use crate::render::print_plain;
use crate::render::style::{ANSWER, paint};
use crate::render::table::{Align, Table, wrap};

pub(super) fn run(session: &Session<'_>, question: &Question) -> Exit {
    let Some(loaded) = session.load() else { return Exit::Failed };
    let snapshot = &loaded.snapshot;
    let kind = match find_kind(snapshot, question.kind.as_deref().unwrap_or_default()) {
        Ok(kind) => kind,
        Err(problem) => return refuse(&[problem]),
    };
    let wanted = session.settings.mesh.value.as_deref();
    let chosen: Vec<Sym> = meshes(snapshot)
        .into_iter()
        .filter(|mesh| wanted.is_none_or(|wanted| snapshot.text(*mesh) == wanted))
        .collect();
    if let (Some(wanted), []) = (wanted, chosen.as_slice()) {
        return refuse(&[Diagnostic::error(Fault::NotFound, format!("there is no mesh `{wanted}`"))
            .help("`upheld list meshes` shows all of them")]);
    }
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
    services: Vec<Service>,
    /// The class of each proxy.
    class_of: Vec<usize>,
    /// For each class, who stands for each service.
    rows: Vec<Vec<Standing>>,
    resolve: Resolve,
}

/// The policies that stand for a pair; mostly one or none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Standing(Vec<PolicyId>);

/// How often a policy counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    resolve_all: bool,
    pub(super) pairs: usize,
    proxies: usize,
    services: usize,
    of: usize,
}

/// Computes all pairs of a mesh for a kind. Proxies that no policy can tell apart are answered once.
pub(super) fn tally(snapshot: &Snapshot, kind: KindId, mesh: Sym, bar: &ProgressBar) -> Pairs {
    let callers: Vec<(Sym, Vec<TagSet>)> = proxies(snapshot)
        .filter(|(_, proxy)| proxy.scope == mesh)
        .map(|(_, proxy)| (proxy.name, caller_parts(proxy)))
        .collect();
    let services: Vec<Service> = services(snapshot).into_iter().filter(|service| service.mesh == mesh).collect();
    let destinations: Vec<Vec<TagSet>> =
        services.iter().map(|service| vec![TagSet::new([(service.tag, Some(service.name))])]).collect();
    let resolve = snapshot.kind(kind).map_or(Resolve::First, |kind| kind.select.resolve);
    let mut pairs = Pairs {
        mesh,
        proxies: callers.iter().map(|(name, _)| *name).collect(),
        services,
        class_of: Vec::new(),
        rows: Vec::new(),
        resolve,
    };
    let Some(select) = snapshot.select(kind, mesh) else {
        pairs.class_of = vec![0; callers.len()];
        pairs.rows = vec![vec![Standing::default(); destinations.len()]];
        return pairs;
    };
    let mut classes = Classes::new(select);
    pairs.class_of = callers.iter().map(|(_, parts)| classes.classify(parts)).collect();
    let row_length = destinations.len() as u64;
    bar.inc_length(classes.cells().len() as u64 * row_length);
    let matrix = Matrix::new(select, destinations.iter().map(Vec::as_slice));
    pairs.rows = (classes.cells().par_iter())
        .map_init(RowScratch::default, |scratch, source| {
            let row = match resolve {
                Resolve::First => first_row(select, &matrix, source, scratch, destinations.len()),
                Resolve::All => all_row(select, source, &destinations),
            };
            bar.inc(row_length);
            row
        })
        .collect();
    pairs
}

fn first_row(
    select: &Select,
    matrix: &Matrix<'_>,
    source: &[TagSet],
    scratch: &mut RowScratch,
    len: usize,
) -> Vec<Standing> {
    let mut row = Vec::with_capacity(len);
    matrix.row(source, scratch, |winner| row.push(Standing(policy(select, winner).into_iter().collect())));
    row
}

fn all_row(select: &Select, source: &[TagSet], destinations: &[Vec<TagSet>]) -> Vec<Standing> {
    let mut scratch = Scratch::default();
    let mut row = Vec::with_capacity(destinations.len());
    for destination in destinations {
        let question = Connection { source: Some(source), destination: Some(destination) };
        let standing = select.standing(&question, &mut scratch);
        let mut policies: Vec<PolicyId> = standing.into_iter().map(|entry| entry.policy).collect();
        policies.dedup();
        row.push(Standing(policies));
    }
    row
}

fn policy(select: &Select, entry: Option<EntryId>) -> Option<PolicyId> {
    select.entry(entry?).map(|entry| entry.policy)
}

impl Pairs {
    fn each(&self) -> impl Iterator<Item = (Sym, Service, &Standing)> {
        self.proxies.iter().zip(&self.class_of).flat_map(move |(proxy, class)| {
            let row = self.rows.get(*class).map_or(&[][..], Vec::as_slice);
            self.services.iter().zip(row).map(move |(service, standing)| (*proxy, *service, standing))
        })
    }

    fn count(&self) -> usize {
        self.proxies.len() * self.services.len()
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
        for (row, members) in self.rows.iter().zip(&members) {
            let mut in_row: BTreeMap<Option<PolicyId>, usize> = BTreeMap::new();
            for (column, Standing(policies)) in row.iter().enumerate() {
                let standing = policies.iter().copied().map(Some);
                let default = policies.is_empty().then_some(None);
                for policy in standing.chain(default) {
                    *in_row.entry(policy).or_default() += 1;
                    let (_, services) =
                        tallies.entry(policy).or_insert_with(|| (Tally::default(), vec![false; row.len()]));
                    if let (Some(seen), true) = (services.get_mut(column), *members > 0) {
                        *seen = true;
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
        let finish = |(mut tally, services): (Tally, Vec<bool>)| {
            tally.services = services.into_iter().filter(|seen| *seen).count();
            tally.of = self.count();
            tally.resolve_all = self.resolve == Resolve::All;
            tally
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
    /// `TrafficLog: wins for 12 of 40 pairs of proxy and service (3 proxies, 4 services)`.
    pub(super) fn sentence(&self, kind: &str) -> String {
        let verb = if self.resolve_all { "applies to" } else { "wins for" };
        let Self { pairs, of, proxies, services, .. } = self;
        let proxies = plural(*proxies, "proxy", "proxies");
        let services = plural(*services, "service", "services");
        format!("{kind}: {verb} {pairs} of {of} pairs of proxy and service ({proxies}, {services})")
    }

    /// `12 of 40 pairs`.
    pub(super) fn short(&self) -> String {
        format!("{} of {} pairs", self.pairs, self.of)
    }

    /// For programs.
    pub(super) fn json(&self) -> Json {
        json!({"pairs": self.pairs, "of": self.of, "proxies": self.proxies, "services": self.services})
    }
}

fn plural(count: usize, one: &str, several: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {several}") }
}

fn print(session: &Session<'_>, snapshot: &Snapshot, kind: KindId, tables: &[Pairs]) {
    let screen = &session.screen;
    let described = snapshot.kind(kind);
    let default = described.map_or("(default)", |kind| snapshot.text(kind.default_name));
    let name = |policy: PolicyId| snapshot.policy(policy).map_or("", |policy| snapshot.text(policy.name));
    let names = |Standing(policies): &Standing| -> Vec<&str> {
        if policies.is_empty() { vec![default] } else { policies.iter().map(|policy| name(*policy)).collect() }
    };
    match screen.format {
        Format::Jsonl => {
            for table in tables {
                let mesh = snapshot.text(table.mesh);
                let mut lines = String::new();
                for (proxy, service, standing) in table.each() {
                    let line = json!({
                        "mesh": mesh, "from": snapshot.text(proxy), "to": snapshot.text(service.name), "policies": names(standing),
                    });
                    lines.push_str(&line.to_string());
                    lines.push('\n');
                    if lines.len() > 1 << 16 {
                        print_plain(&std::mem::take(&mut lines));
                    }
                }
                print_plain(&lines);
            }
        }
        Format::Wide => {
            let mut rows = Table::new(&[
                ("MESH", Align::Left),
                ("FROM", Align::Left),
                ("TO", Align::Left),
                ("POLICY", Align::Left),
            ]);
            for table in tables {
                for (proxy, service, standing) in table.each() {
                    let texts = [table.mesh, proxy, service.name].map(|symbol| snapshot.text(symbol).to_owned());
                    rows.row(Style::new(), texts.into_iter().chain([names(standing).join(", ")]));
                }
            }
            screen.print(&rows.render(screen.width, 1));
        }
        Format::Name => {
            let mut found: Vec<PolicyId> =
                tables.iter().flat_map(Pairs::tallies).filter_map(|(policy, _)| policy).collect();
            found.sort_unstable();
            found.dedup();
            let kind = described.map_or("", |kind| snapshot.text(kind.name));
            print_plain(&found.iter().map(|policy| format!("{kind}/{}\n", name(*policy))).collect::<String>());
        }
        Format::Json | Format::Yaml => {
            let meshes: Vec<Json> = tables.iter().map(|table| summary_json(snapshot, table, default)).collect();
            screen.print_data(&json!({"apiVersion": "upheld/v1", "kind": "AllPairs", "snapshot": snapshot.digest(), "meshes": meshes}));
        }
        Format::Table => {
            let kind = described.map_or("", |kind| snapshot.text(kind.name));
            for table in tables {
                screen.print(&summary_text(snapshot, table, kind, default, screen.width));
            }
        }
    }
}

fn summary_json(snapshot: &Snapshot, table: &Pairs, default: &str) -> Json {
    let policies: Vec<Json> = (table.tallies().iter())
        .map(|(policy, tally)| {
            let name =
                policy.and_then(|policy| snapshot.policy(policy)).map_or(default, |policy| snapshot.text(policy.name));
            json!({"policy": name, "pairs": tally.pairs, "proxies": tally.proxies, "services": tally.services})
        })
        .collect();
    json!({
        "mesh": snapshot.text(table.mesh), "proxies": table.proxies.len(), "services": table.services.len(),
        "classes": table.rows.len(), "pairs": table.count(), "policies": policies,
    })
}

fn summary_text(snapshot: &Snapshot, table: &Pairs, kind: &str, default: &str, width: Option<usize>) -> String {
    let answer = format!(
        "{} pairs of {} proxies and {} services in mesh {}: who decides {kind}.",
        table.count(),
        table.proxies.len(),
        table.services.len(),
        snapshot.text(table.mesh)
    );
    let mut rows = Table::new(&[
        ("POLICY", Align::Left),
        ("PAIRS", Align::Right),
        ("PROXIES", Align::Right),
        ("SERVICES", Align::Right),
        ("AT", Align::Left),
    ]);
    let mut tallies: Vec<_> = table.tallies().into_iter().collect();
    tallies.sort_by_key(|(policy, tally)| (policy.is_none(), std::cmp::Reverse(tally.pairs)));
    for (policy, tally) in tallies {
        let policy = policy.and_then(|policy| snapshot.policy(policy));
        let at = policy.and_then(|policy| crate::report::At::of(snapshot.files(), policy.at));
        let name = policy.map_or(default, |policy| snapshot.text(policy.name));
        let numbers = [tally.pairs, tally.proxies, tally.services].map(|number| number.to_string());
        rows.row(
            Style::new(),
            [name.to_owned()].into_iter().chain(numbers).chain([at.map(|at| at.to_string()).unwrap_or_default()]),
        );
    }
    format!(
        "{}\n\n{}\n  Every pair: -o wide or -o jsonl\n",
        paint(ANSWER, &wrap(&answer, width)),
        rows.render(width, 1)
    )
}
