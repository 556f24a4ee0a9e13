//! Connections: from the names of their ends to reports.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value as Json;
use upheld_engine::select::cells::{Cell, Cells};
use upheld_engine::{Granularity, KindId, PolicyKind, Resolve, Snapshot};
use upheld_model::{Diagnostic, Fault, Lookup, Side};

use upheld_report::{Answer, AskedPair, Depth, End, Family, Outcome, Phrase, Report, Skipped, report_pair};

use super::layers::{Layers, MadeUp};
use crate::kuma;
use crate::kuma::control_plane::Stamps;
use crate::kuma::ends::{Connection, Member, connect};
use crate::kuma::identity::SPIFFE_ID;
use crate::kuma::resources::ResourceType;
use crate::kuma::{remarks, successors, unattached};
use crate::question::{Asked, Connection as Words};

/// What holds for a connection or a proxy.
pub(super) fn answer(asked: &Asked<'_>, words: &Words, kind: Option<KindId>) -> Result<Answer, Vec<Diagnostic>> {
    let Asked { snapshot, question, .. } = asked;
    if question.field.is_some() && kind.is_none() {
        let message = "`--field` needs `--kind`: fields of different kinds have nothing in common";
        return Err(vec![Diagnostic::error(Fault::IncompleteQuestion, message)]);
    }
    let Grouped { about, mut groups, incomplete, assumed } = ask(asked, words, kind)?;
    let mut reports = Vec::new();
    for group in &mut groups {
        // What was decided first, alphabetically; what fell to the default last.
        group.reports.sort_by_key(|report| report.outcome == Outcome::Default);
        for mut report in std::mem::take(&mut group.reports) {
            report.about.holds_for.clone_from(&group.pairs);
            reports.push(report);
        }
    }
    successors::tell(&mut reports);
    let layered = reports.iter().any(|report| report.family == Family::Merge);
    let mut notes = assumed;
    notes.extend(Stamps::of(snapshot).assumed().filter(|_| layered));
    let warnings =
        if layered && asked.depth == Depth::All { unattached::warnings(snapshot).to_vec() } else { Vec::new() };
    Ok(Answer { incomplete, notes, warnings, ..Answer::about(about, reports) }.only(question.field.as_deref()))
}

/// Pairs of members with the same answers stand together.
struct Grouped {
    about: String,
    groups: Vec<Group>,
    incomplete: Vec<String>,
    /// What was assumed, for people.
    assumed: Vec<String>,
}

/// Pairs with the same answers.
#[derive(Debug)]
pub(crate) struct Group {
    /// The pairs, as users would write them.
    pub pairs: Vec<String>,
    /// One report for each kind.
    pub reports: Vec<Report>,
}

/// Asks what the user asked.
fn ask(asked: &Asked<'_>, words: &Words, kind: Option<KindId>) -> Result<Grouped, Vec<Diagnostic>> {
    let (snapshot, mesh) = (asked.snapshot, asked.options.mesh.as_deref());
    let mut lookup = snapshot.lookup();
    if let (Some(what), Some(_), Some(_)) = (&words.what, &words.from, &words.to) {
        let message = format!("`{what}`, `--from` and `--to` are three ends of one connection");
        return Err(vec![Diagnostic::error(Fault::IncompleteQuestion, message).help("leave one of them out")]);
    }
    let identity = lookup.symbol(SPIFFE_ID);
    let called = words.destination().map(|called| called_proxy(snapshot, words, called));
    let connection = connect(snapshot, &mut lookup, mesh, words.source(), called.as_deref())?;
    let (kinds, incomplete) = match kind {
        Some(kind) if snapshot.kind(kind).is_some_and(|kind| kind.merge().is_some()) => (Vec::new(), Vec::new()),
        Some(kind) => (vec![complete(snapshot, kind, &connection)?], Vec::new()),
        None => kinds_for(snapshot, &connection),
    };
    let made_up = MadeUp::of(snapshot, &mut lookup, &connection);
    let skipped = &asked.options.skipped;
    let query = Query { snapshot, lookup: &lookup, connection: &connection, depth: asked.depth, skipped };
    let layers = Layers::new(snapshot, &lookup, &connection, kind, identity, &made_up);
    let layers = layers.requesting_this(words.request.as_ref()).with_depth(asked.depth).listing(skipped).groups();
    let mut groups = query.groups(&kinds);
    groups.extend(layers);
    let groups = merge_same_pairs(groups);
    if let Some(problem) = unanswered(snapshot, kind, &connection, &groups) {
        return Err(vec![problem]);
    }
    let ends = connection.source.iter().chain(&connection.destination);
    let mut assumed: Vec<String> = ends.filter_map(|end| end.assumed.clone()).collect();
    assumed.extend(made_up.assumed(snapshot));
    Ok(Grouped { about: between(&connection), groups, incomplete, assumed })
}

/// What stands before the flags is a proxy, if there is one of that name.
fn called_proxy<'q>(snapshot: &Snapshot, words: &'q Words, called: &'q str) -> Cow<'q, str> {
    let name = called.split('#').next().unwrap_or(called);
    let is_proxy = || {
        let (symbols, objects) = (snapshot.symbols(), snapshot.objects());
        let named = symbols.get(name).map(|name| objects.of_name(name, symbols)).unwrap_or_default();
        let mut kinds = named.into_iter().filter_map(|id| Some(snapshot.text(objects.get(id)?.kind)));
        kinds.any(|kind| kind == ResourceType::Dataplane.name())
    };
    if words.to.is_none() && is_proxy() { Cow::Owned(format!("dataplane/{called}")) } else { Cow::Borrowed(called) }
}

fn asked(connection: &Connection, side: Side) -> bool {
    match side {
        Side::Source => connection.source.is_some(),
        Side::Destination => connection.destination.is_some(),
    }
}

/// A kind that was asked for and cannot say anything here; or a destination that needs a proxy.
fn unanswered(
    snapshot: &Snapshot,
    kind: Option<KindId>,
    connection: &Connection,
    groups: &[Group],
) -> Option<Diagnostic> {
    if groups.iter().any(|group| !group.reports.is_empty()) {
        return None;
    }
    let called = connection.destination.as_ref().filter(|end| end.members.iter().any(|member| member.is.is_some()));
    let proxied = connection.source.iter().flat_map(|end| &end.members).any(|member| member.caller().is_some());
    if let Some(called) = called.filter(|_| !proxied) {
        let message = format!("whose calls to {}?", called.label);
        let help = format!("name the proxy that calls: `upheld explain dataplane/web-1 --to {}`", called.label);
        return Some(Diagnostic::error(Fault::IncompleteQuestion, message).help(help));
    }
    let kind = kind.and_then(|kind| snapshot.kind(kind)).filter(|kind| kind.merge().is_some())?;
    let name = snapshot.text(kind.name);
    if snapshot.policies().iter().all(|(_, policy)| policy.kind != kind.governs || policy.scope != connection.mesh) {
        let message = format!("there is no {name} in mesh `{}`", snapshot.text(connection.mesh));
        return Some(Diagnostic::error(Fault::NotFound, message).help("`upheld list policies` shows what was read"));
    }
    let message = format!("{name} has nothing to say about {}", between(connection));
    let help = "it is about proxies, what they call (`--to`) and who calls them (`--from`): `upheld kinds` shows which";
    Some(Diagnostic::error(Fault::IncompleteQuestion, message).help(help))
}

/// A kind that chooses needs every side that it looks at; one that keeps all does not.
fn missing_side(kind: &PolicyKind, connection: &Connection) -> Option<Side> {
    let select = kind.select()?;
    let needs = |side: &Side| select.resolve == Resolve::First && select.side(*side).is_some();
    Side::BOTH.into_iter().find(|side| needs(side) && !asked(connection, *side))
}

fn complete(snapshot: &Snapshot, id: KindId, connection: &Connection) -> Result<KindId, Vec<Diagnostic>> {
    let missing = snapshot.kind(id).and_then(|kind| Some((kind, missing_side(kind, connection)?)));
    let Some((kind, side)) = missing else { return Ok(id) };
    let name = snapshot.text(kind.name);
    let (flag, example) = match side {
        Side::Source => ("--from", "--from web-1"),
        Side::Destination => ("--to", "--to backend-1"),
    };
    let message = format!("{name} depends on the {}, so it needs `{flag}`", side.word());
    let help = format!("for example `upheld explain --kind {name} … {example}`");
    Err(vec![Diagnostic::error(Fault::IncompleteQuestion, message).help(help)])
}

/// All kinds that can be asked and that have a policy in this mesh; and the names of those that need the other end.
fn kinds_for(snapshot: &Snapshot, connection: &Connection) -> (Vec<KindId>, Vec<String>) {
    let (mut kinds, mut incomplete) = (Vec::new(), Vec::new());
    for (id, kind) in snapshot.kinds().iter().filter(|(id, _)| snapshot.select(*id, connection.mesh).is_some()) {
        let looks = Side::BOTH
            .iter()
            .any(|side| kind.select().is_some_and(|select| select.side(*side).is_some()) && asked(connection, *side));
        if missing_side(kind, connection).is_some() {
            incomplete.push(snapshot.text(kind.name).to_owned());
        } else if looks {
            kinds.push(id);
        }
    }
    (kinds, incomplete)
}

fn between(connection: &Connection) -> String {
    let labels = connection.source.iter().chain(&connection.destination).map(|end| end.label.as_str());
    labels.collect::<Vec<_>>().join(" → ")
}

struct Query<'a> {
    snapshot: &'a Snapshot,
    lookup: &'a Lookup<'a>,
    connection: &'a Connection,
    depth: Depth,
    skipped: &'a Skipped,
}

impl Query<'_> {
    /// Explains every pair of members. Pairs that no policy can tell apart are explained once.
    fn groups(&self, kinds: &[KindId]) -> Vec<Group> {
        let mut groups: Vec<(String, Group)> = Vec::new();
        let sources = self.sources();
        // Kinds differ in what they ask a service as; each way is a list of pairs of its own.
        for each in [Granularity::Service, Granularity::Inbound] {
            let of_each: Vec<KindId> = kinds.iter().copied().filter(|kind| self.each(*kind) == each).collect();
            if of_each.is_empty() {
                continue;
            }
            let destinations = self.destinations(each);
            let [from, to] = self.classes(&of_each, &sources, &destinations);
            let mut known: HashMap<Vec<Cell>, (String, Vec<Report>)> = HashMap::new();
            for (destination, to) in destinations.iter().zip(&to) {
                for (source, from) in sources.iter().zip(&from) {
                    let classes = from.iter().zip(to);
                    let cells =
                        classes.map(|(source, destination)| Cell { source: *source, destination: *destination });
                    let (key, reports) = known.entry(cells.collect()).or_insert_with(|| {
                        let reports = self.explain(&of_each, source.as_ref(), destination.as_ref());
                        (same_answer_key(&reports), reports)
                    });
                    let labels = source.iter().chain(destination).map(|member| member.label.clone());
                    let pair = labels.collect::<Vec<_>>().join(" → ");
                    match groups.iter_mut().find(|(known, _)| known == key) {
                        Some((_, group)) => group.pairs.push(pair),
                        None => {
                            let group = Group { pairs: vec![pair], reports: reports.clone() };
                            groups.push((key.clone(), group));
                        }
                    }
                }
            }
        }
        merge_same_pairs(groups.into_iter().map(|(_, group)| group).collect())
    }

    fn explain(&self, kinds: &[KindId], source: Option<&Member>, destination: Option<&Member>) -> Vec<Report> {
        let (snapshot, lookup, mesh) = (self.snapshot, self.lookup, self.connection.mesh);
        let (source, destination) = (source.map(end_of), destination.map(end_of));
        let asked = |kind: &KindId| {
            let summary = kuma::summary::of(snapshot, *kind);
            let (kind, scope, depth, skipped) = (*kind, mesh, self.depth, self.skipped);
            AskedPair { snapshot, lookup, kind, scope, source, destination, depth, skipped, summary }
        };
        let grants =
            |kind: KindId| snapshot.kind(kind).and_then(PolicyKind::select).is_some_and(|one| one.grants.is_some());
        let mut reports = Vec::new();
        for (kind, mut report) in kinds.iter().filter_map(|kind| Some((*kind, report_pair(&asked(kind))?))) {
            let remark = remarks::without_certificates(snapshot, mesh).filter(|_| grants(kind));
            report.notes.extend(remark.map(|one| Phrase::of_fault(one.fault, one.parameters, one.text)));
            reports.push(report);
        }
        reports
    }

    fn sources(&self) -> Vec<Option<Member>> {
        let source = self.connection.source.as_ref();
        source.map_or(vec![None], |end| end.members.iter().cloned().map(Some).collect())
    }

    fn destinations(&self, each: Granularity) -> Vec<Option<Member>> {
        let destination = self.connection.destination.as_ref();
        destination.map_or(vec![None], |end| end.members_for(each).iter().cloned().map(Some).collect())
    }

    fn each(&self, kind: KindId) -> Granularity {
        let destination = self.snapshot.kind(kind).and_then(|kind| kind.select()?.side(Side::Destination));
        destination.map_or(Granularity::Service, |item| item.each)
    }

    /// For each caller, and for each of those called, its class under every kind.
    fn classes(
        &self,
        kinds: &[KindId],
        sources: &[Option<Member>],
        destinations: &[Option<Member>],
    ) -> [Vec<Vec<usize>>; 2] {
        let mut all = [vec![Vec::new(); sources.len()], vec![Vec::new(); destinations.len()]];
        if sources.len() <= 1 && destinations.len() <= 1 {
            // There is nobody to be told apart from.
            return all;
        }
        let [from, to] = &mut all;
        for select in kinds.iter().filter_map(|kind| self.snapshot.select(*kind, self.connection.mesh)) {
            let mut cells = Cells::new(select);
            for (source, classes) in sources.iter().zip(from.iter_mut()) {
                classes.push(cells.add_source(source.as_ref().map(|member| member.parts.as_slice())));
            }
            for (destination, classes) in destinations.iter().zip(to.iter_mut()) {
                classes.push(cells.add_destination(destination.as_ref().map(|member| member.parts.as_slice())));
            }
        }
        all
    }
}

/// Two pairs have the same answer when all that match ended in the same way, by the same numbers. Why others do not match
/// may differ.
pub(crate) fn same_answer_key(reports: &[Report]) -> String {
    let mut key = String::new();
    for report in reports {
        let Report { kind, outcome, verdict, about, .. } = report;
        key.push_str(&format!("{kind}{outcome:?}{verdict:?}{:?};", about.place));
        for candidate in report.candidates.iter().filter(|candidate| candidate.matched()) {
            let numbers: Vec<&Json> = candidate.facts.iter().map(|fact| &fact.value).collect();
            key.push_str(&format!("{}{:?}{numbers:?}{};", candidate.title(), candidate.state, candidate.reason.code));
        }
    }
    key
}

/// Kinds that were asked in different ways stand together where the pairs are the same.
fn merge_same_pairs(groups: Vec<Group>) -> Vec<Group> {
    let mut merged: Vec<Group> = Vec::new();
    for group in groups {
        match merged.iter_mut().find(|known| known.pairs == group.pairs) {
            Some(known) => known.reports.extend(group.reports),
            None => merged.push(group),
        }
    }
    for group in &mut merged {
        // What a kind of layers does not say at one place is no news where it speaks at another.
        let speaking: Vec<String> =
            group.reports.iter().filter(|one| one.speaks()).map(|one| one.kind.clone()).collect();
        // Listeners of a gateway are asked one by one, and each has its answer.
        let of_listener =
            |one: &Report| one.about.place.as_deref().is_some_and(|place| place.starts_with("outbound of"));
        group.reports.retain(|one| {
            one.about.place.is_none() || one.speaks() || of_listener(one) || !speaking.contains(&one.kind)
        });
        group.reports.sort_by(|a, b| a.kind.cmp(&b.kind));
    }
    if merged.len() > 1 {
        merged.retain(|group| !group.reports.is_empty());
    }
    if merged.is_empty() {
        merged.push(Group { pairs: Vec::new(), reports: Vec::new() });
    }
    merged
}

fn end_of(member: &Member) -> End<'_> {
    End { label: &member.label, parts: &member.parts }
}
