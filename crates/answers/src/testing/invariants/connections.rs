//! Connections: every pair in its cell, each cell asked once.

use std::collections::BTreeMap;

use upheld_dialects::dialect::Listing;
use upheld_dialects::dialects;
use upheld_dialects::question::find_kind;
use upheld_engine::{Granularity, KindId, Snapshot};
use upheld_model::{Diagnostic, Fault, Sym, TagSet};
use upheld_report::{Holding, Proof, Refused, Report, Size, Verdict};

use super::condition::Condition;
use super::places::{Breaches, MOST, Said, said};
use super::tags::{Tagged, Tags, Wanted};
use crate::all_pairs::{Standing, tally};
use crate::shifts::{is_about_connections, kinds_of_connections, scopes};
use crate::world::World;
use crate::{Options, Words};

/// What must become of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Connect {
    /// None is granted.
    Never,
    /// Each is granted.
    Always,
}

impl Connect {
    /// What policies do that do otherwise.
    fn verb(self) -> &'static str {
        match self {
            Self::Never => "permits",
            Self::Always => "denies",
        }
    }
}

/// Whether a word means connections.
pub(super) fn is_meant(word: &str) -> bool {
    ["connection", "proxy"].iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// The callers and the called ones that are looked at.
type Ends<'w> = [&'w Wanted; 2];

/// Whether connections are granted as they must be.
pub(super) fn granted(
    world: &World<'_>,
    connect: Connect,
    kind: Option<&str>,
    ends: Ends<'_>,
) -> Result<Proof, Refused> {
    let kinds = kinds(world.snapshot(), kind)?;
    let mut walk = Walk::new(world, ends)?;
    for kind in kinds {
        walk.cells(kind, |walk, cell| {
            let Some(granted) = cell.standing.granted else { return };
            walk.looked_at += cell.count;
            let broken = granted == (connect == Connect::Never);
            // Who stands is known already; what is shown was asked all the same.
            if broken && walk.breaches.knows(&cell.names, cell.count) {
                return;
            }
            if broken
                && !walk.asked(&cell, |report| {
                    is_broken(report.verdict, connect).then(|| Said::of_all(report, connect.verb()))
                })
            {
                walk.refused += cell.count;
            }
        });
    }
    walk.questions(kind, |walk, report, words| {
        let Some(granted) = report.verdict.granted() else { return };
        walk.looked_at += 1;
        if granted == (connect == Connect::Never) {
            walk.breaches.add(Said::of_all(report, connect.verb()), report, words, None, Size::Connections(1));
        }
    });
    if !walk.grants {
        let message = match kind {
            Some(kind) => format!("{kind} does not say who may call whom"),
            None => "no kind of policy says who may call whom".to_owned(),
        };
        let help = "`upheld kinds` lists those that grant connections; there must be policies of one of them";
        return Err(Diagnostic::error(Fault::NotFound, message).help(help).into());
    }
    Ok(walk.proof())
}

fn is_broken(verdict: Verdict, connect: Connect) -> bool {
    verdict.granted() == Some(connect == Connect::Never)
}

/// Whether fields of all connections are as they must be, under a kind of policy.
pub(super) fn every(world: &World<'_>, kind: &str, ends: Ends<'_>, holds: &[Condition]) -> Result<Proof, Refused> {
    about_connections(world.snapshot(), kind)?;
    let kind = find_kind(world.snapshot(), kind)?;
    let mut walk = Walk::new(world, ends)?;
    walk.cells(kind, |walk, cell| {
        walk.looked_at += cell.count;
        if !walk.asked(&cell, |report| said(report, holds)) {
            walk.refused += cell.count;
        }
    });
    Ok(walk.proof())
}

/// The name of a kind that must be about connections, however it was written.
pub(super) fn about_connections<'s>(snapshot: &'s Snapshot, written: &str) -> Result<&'s str, Diagnostic> {
    let kind = snapshot.kind(find_kind(snapshot, written)?).filter(|kind| is_about_connections(kind));
    kind.map(|kind| snapshot.text(kind.name)).ok_or_else(|| {
        let problem = Diagnostic::error(Fault::IncompleteQuestion, format!("{written} is not about connections"));
        problem.help("requests are looked at by `never: permit`, routes and gateways by `every: route`")
    })
}

/// The kinds that are looked at: the one that is named, or all that have policies about connections.
fn kinds(snapshot: &Snapshot, named: Option<&str>) -> Result<Vec<KindId>, Diagnostic> {
    match named {
        Some(name) => Ok(vec![find_kind(snapshot, name)?]),
        None => Ok(kinds_of_connections(snapshot).filter_map(|(name, _)| find_kind(snapshot, name).ok()).collect()),
    }
}

/// Connections with one answer.
struct Cell<'c> {
    kind: &'c str,
    mesh: &'c str,
    from: &'c str,
    to: &'c str,
    count: u64,
    standing: &'c Standing,
    names: Vec<String>,
}

struct Walk<'w, 's> {
    world: &'w World<'s>,
    ends: Ends<'w>,
    looked_at: u64,
    /// Whether something says who may call whom.
    grants: bool,
    /// Connections that one kind has no answer for.
    refused: u64,
    /// Whether there are more than can be asked.
    cut: Listing,
    breaches: Breaches,
}

impl<'w, 's> Walk<'w, 's> {
    fn new(world: &'w World<'s>, ends: Ends<'w>) -> Result<Self, Diagnostic> {
        let tagged = Tagged::all(world.snapshot());
        for wanted in ends {
            wanted.check(tagged.iter().flat_map(|one| &one.parts))?;
        }
        let (looked_at, refused, cut, breaches) = (0, 0, Listing::Whole, Breaches::default());
        Ok(Self { world, ends, looked_at, grants: false, refused, cut, breaches })
    }

    fn proof(self) -> Proof {
        let refused =
            (self.refused > 0).then(|| format!("there is no answer for {}", Size::Connections(self.refused).text()));
        let cut = (self.cut == Listing::Cut).then(|| format!("there are more than {MOST} sorts of connections"));
        let holds = match self.looked_at {
            0 => Holding::Nothing { many: "connections".to_owned() },
            count => Holding::EverythingRead { count, one: "connection".to_owned(), many: "connections".to_owned() },
        };
        Proof::bounded(self.breaches.all(), cut.or(refused), holds)
    }

    /// All connections of a kind, those with one answer together.
    fn cells(&mut self, kind: KindId, mut visit: impl FnMut(&mut Self, Cell<'_>)) {
        let snapshot = self.world.snapshot();
        let Some(name) = snapshot.kind(kind).map(|kind| snapshot.text(kind.name)) else { return };
        let wanted = self.world.options().mesh.as_deref();
        for (mesh, scope) in scopes(snapshot).filter(|(mesh, _)| wanted.is_none_or(|wanted| wanted == *mesh)) {
            let pairs = tally(snapshot, kind, scope, &());
            let tags = TagsOfEnds::of(snapshot, scope);
            let [from, to] = self.ends;
            let callers = pairs.callers().map(|(caller, class)| (snapshot.text(caller), class));
            let callers = classes(callers, |name| from.fits(tags.of_caller(name)));
            let called = classes(pairs.called(), |name| to.fits(tags.of_called(name)));
            let (numbered, standings) = pairs.numbered();
            self.grants |= standings.iter().any(|standing| standing.granted.is_some());
            let mut cells: BTreeMap<u32, (&str, &str, u64)> = BTreeMap::new();
            for (row, (from, callers)) in &callers {
                for (column, (to, called)) in &called {
                    let number = numbered.get(*row).and_then(|row| row.get(*column)).copied().unwrap_or(u32::MAX);
                    cells.entry(number).or_insert((from, to, 0)).2 += callers * called;
                }
            }
            if cells.len() > MOST {
                self.cut = Listing::Cut;
            }
            for (number, (from, to, count)) in cells.into_iter().take(MOST) {
                let Some(standing) = standings.get(number as usize) else { continue };
                let names = names(snapshot, kind, standing);
                visit(self, Cell { kind: name, mesh, from, to, count, standing, names });
            }
        }
    }

    /// Asks about a cell, and adds what speaks against it; false if there is no answer.
    fn asked(&mut self, cell: &Cell<'_>, says: impl Fn(&Report) -> Option<Said>) -> bool {
        let options = Options { mesh: Some(cell.mesh.to_owned()), ..self.world.options().clone() };
        let world = World::new(self.world.snapshot(), &options);
        let words = Words {
            kind: Some(cell.kind.to_owned()),
            from: Some(cell.from.to_owned()),
            to: Some(cell.to.to_owned()),
            ..Words::default()
        };
        let Ok(answer) = world.question(&words).and_then(|question| world.answer(&question)) else { return false };
        for report in &answer.reports {
            if let Some(said) = says(report) {
                self.breaches.add(said, report, &words, Some(cell.mesh), Size::Connections(cell.count));
            }
        }
        true
    }

    /// Connections that dialects list one by one: pods that call each other.
    fn questions(&mut self, kind: Option<&str>, mut visit: impl FnMut(&mut Self, &Report, &Words)) {
        let snapshot = self.world.snapshot();
        let tagged = Tagged::all(snapshot);
        let fits = |wanted: &Wanted, written: &str| {
            wanted.is_empty() || tagged.iter().any(|one| one.is_called(written) && wanted.fits(&one.parts))
        };
        for dialect in dialects() {
            let (questions, listing) = dialect.questions(snapshot, MOST);
            let ends = self.ends;
            self.grants |= questions.iter().any(|words| words.from.is_some());
            let wanted = questions.into_iter().filter(|words| match (&words.from, &words.to) {
                (Some(from), Some(to)) => fits(ends[0], from) && fits(ends[1], to),
                _ => false,
            });
            for words in wanted {
                if listing == Listing::Cut {
                    self.cut = Listing::Cut;
                }
                let words = Words { kind: kind.map(str::to_owned), ..words };
                let answer = self.world.question(&words).and_then(|question| self.world.answer(&question));
                for report in answer.iter().flat_map(|answer| &answer.reports) {
                    visit(self, report, &words);
                }
            }
        }
    }
}

/// The policies that stand, as reports call them.
fn names(snapshot: &Snapshot, kind: KindId, standing: &Standing) -> Vec<String> {
    if standing.policies.is_empty() {
        return snapshot.kind(kind).map(|kind| snapshot.text(kind.default_name).to_owned()).into_iter().collect();
    }
    let name = |policy| snapshot.policy(policy).map(|policy| snapshot.text(policy.name).to_owned());
    standing.policies.iter().filter_map(|policy| name(*policy)).collect()
}

/// Ends that are looked at, by their class: the first of them, and how many they are.
fn classes<'n>(
    ends: impl Iterator<Item = (&'n str, usize)>,
    fits: impl Fn(&str) -> bool,
) -> BTreeMap<usize, (&'n str, u64)> {
    let mut classes = BTreeMap::new();
    for (name, class) in ends.filter(|(name, _)| fits(name)) {
        classes.entry(class).or_insert((name, 0)).1 += 1;
    }
    classes
}

/// The tags of the parts of everybody who calls and is called in a mesh.
pub(super) struct TagsOfEnds {
    callers: BTreeMap<String, Vec<Tags>>,
    called: BTreeMap<String, Vec<Tags>>,
}

impl TagsOfEnds {
    pub(super) fn of(snapshot: &Snapshot, scope: Sym) -> Self {
        let tags = |parts: &[TagSet]| parts.iter().map(|part| Tags::of(snapshot, &[part])).collect::<Vec<_>>();
        let (mut callers, mut called) = (BTreeMap::new(), BTreeMap::new());
        // Kinds differ in what they look at: services, or the inbounds behind them.
        for each in [Granularity::Service, Granularity::Inbound] {
            let ends = dialects().find_map(|dialect| dialect.ends(snapshot, scope, each));
            if let Some(ends) = ends {
                callers.extend(ends.callers.iter().map(|(name, parts)| (snapshot.text(*name).to_owned(), tags(parts))));
                called.extend(ends.called.iter().map(|(label, parts)| (label.clone(), tags(parts))));
            }
        }
        Self { callers, called }
    }

    pub(super) fn of_caller(&self, name: &str) -> &[Tags] {
        self.callers.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn of_called(&self, name: &str) -> &[Tags] {
        self.called.get(name).map_or(&[], Vec::as_slice)
    }
}
