//! All pairs of a mesh through the engine, as `explain --all-pairs` does it, on one thread.

use std::time::Duration;

use upheld_dialects::Recognised;
use upheld_dialects::kuma::ends::{caller_parts, proxies};
use upheld_engine::select::cells::Cells;
use upheld_engine::select::matrix::{Matrix, RowScratch};
use upheld_engine::select::reference::Tags;
use upheld_engine::{EntryId, Indexed, PolicyKind, Snapshot};
use upheld_loader::Format;
use upheld_model::{Draft, Files, TagSet};

use super::model;
use crate::measure::{Clock, median};
use crate::workload::{Mesh, documents};

/// A mesh in the model, where the work of the engine begins.
#[derive(Debug)]
pub(super) struct Engine {
    draft: Draft,
    kinds: Vec<PolicyKind>,
    destinations: Vec<[TagSet; 1]>,
}

/// Who stands for each pair, and what it cost.
#[derive(Debug)]
pub(super) struct Answers {
    snapshot: Snapshot,
    /// For each proxy, the winner for each service.
    winners: Vec<Option<EntryId>>,
    services: usize,
    /// Proxies that no policy can tell apart are one.
    pub(super) classes: usize,
    prepare: Duration,
    solve: Duration,
}

/// What it cost to answer all pairs, round after round.
#[derive(Debug, Default)]
pub(super) struct Costs {
    prepare: Vec<Duration>,
    solve: Vec<Duration>,
}

/// The medians.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// Compiling the policies, classifying the proxies, looking up the services.
    pub(super) prepare: Duration,
    /// Answering each class and writing the answers of all pairs.
    pub(super) solve: Duration,
}

impl Costs {
    pub(super) fn add(&mut self, answers: &Answers) {
        self.prepare.push(answers.prepare);
        self.solve.push(answers.solve);
    }

    pub(super) fn medians(self) -> Cost {
        Cost { prepare: median(self.prepare), solve: median(self.solve) }
    }
}

impl Cost {
    pub(super) fn whole(self) -> Duration {
        self.prepare + self.solve
    }
}

impl Engine {
    /// Reads the documents of a mesh.
    pub(super) fn load(mesh: &Mesh) -> Result<Self, String> {
        let texts = [documents::json_lines(&mesh.policies), documents::json_proxies(&mesh.proxies)];
        let (_, recognised) = model::read(texts.map(|text| (Format::JsonLines, text)).into())?;
        let Recognised { draft, kinds, .. } = recognised;
        let destinations = mesh.services.iter().map(|service| [tag_set(service, &draft)]).collect();
        Ok(Self { draft, kinds, destinations })
    }

    /// Answers all pairs.
    pub(super) fn answer(&self) -> Result<Answers, String> {
        let Draft { symbols, objects, policies } = &self.draft;
        let draft = Draft { symbols: symbols.clone(), objects: objects.clone(), policies: policies.clone() };
        let kinds = self.kinds.clone();
        let services = self.destinations.len();

        let clock = Clock::start();
        let snapshot = Snapshot::build(draft, kinds, Indexed::default(), Files::default().into())
            .map_err(|_| "too many policies")?;
        let (kind, scope) = model::subject(&snapshot)?;
        let select = snapshot.select(kind, scope).ok_or("no policies")?;
        let callers: Vec<Vec<TagSet>> = proxies(&snapshot).map(|(_, proxy)| caller_parts(proxy)).collect();
        let mut cells = Cells::new(select);
        let source_of: Vec<usize> = callers.iter().map(|parts| cells.add_source(Some(parts))).collect();
        let destination_of: Vec<usize> =
            self.destinations.iter().map(|parts| cells.add_destination(Some(parts))).collect();
        let matrix = Matrix::new(select, cells.destinations().filter_map(|class| cells.destination(class)));
        let prepare = clock.elapsed();

        let clock = Clock::start();
        let mut scratch = RowScratch::default();
        let (classes, length) = (cells.sources().len(), cells.destinations().len());
        let mut rows = Vec::with_capacity(classes * length);
        for source in cells.sources().filter_map(|class| cells.source(class)) {
            matrix.row(source, &mut scratch, |winner| rows.push(winner));
        }
        let mut winners = Vec::with_capacity(callers.len() * services);
        for source in source_of {
            let row = rows.get(source * length..(source + 1) * length).unwrap_or_default();
            winners.extend(destination_of.iter().map(|destination| row.get(*destination).copied().flatten()));
        }
        let solve = clock.elapsed();

        Ok(Answers { snapshot, winners, services, classes, prepare, solve })
    }
}

impl Answers {
    /// The name of the policy that stands for a proxy and a service.
    pub(super) fn winner(&self, (proxy, service): (usize, usize)) -> Option<&str> {
        let winner = self.winners.get(proxy * self.services + service).copied().flatten()?;
        let (kind, scope) = model::subject(&self.snapshot).ok()?;
        let entry = self.snapshot.select(kind, scope)?.entry(winner)?;
        self.snapshot.policy(entry.policy).map(|policy| self.snapshot.text(policy.name))
    }
}

/// Tags of the workload in the symbols of the draft; services have no others than their proxies.
fn tag_set(tags: &Tags, draft: &Draft) -> TagSet {
    let symbol = |text: &str| draft.symbols.get(text);
    TagSet::new(tags.iter().filter_map(|(tag, value)| Some((symbol(tag)?, Some(symbol(value)?)))))
}
