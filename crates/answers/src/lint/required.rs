//! What only those want who ask for it: that policies of a kind reach everything, and that every policy says whose it is.

use std::collections::BTreeMap;

use upheld_dialects::dialect::Finding;
use upheld_dialects::dialects;
use upheld_dialects::question::find_kind;
use upheld_engine::PolicyKind;
use upheld_model::{Diagnostic, Fault, NodeRef};
use upheld_report::{Refused, Verdict, counted};

use super::{LintWanted, at_document};
use crate::owners::says_whose;
use crate::shown::shown;
use crate::{Words, World};

/// So many questions of one system are asked.
const MOST: usize = 10_000;

pub(super) fn findings(world: &World<'_>, wanted: &LintWanted) -> Result<Vec<Finding>, Refused> {
    let mut found = Vec::new();
    for kind in &wanted.require {
        found.extend(uncovered(world, kind)?);
    }
    if wanted.require_owner {
        found.extend(without_owner(world));
    }
    Ok(found)
}

/// Objects for which no policy of a kind says anything, somewhere.
struct Gaps {
    kind: String,
    all: BTreeMap<NodeRef, Gap>,
}

/// Whether some policy holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Covered {
    Yes,
    No,
}

impl Covered {
    fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// Where policies of a kind say nothing about an object.
#[derive(Default)]
struct Gap {
    name: String,
    of: usize,
    uncovered: usize,
    example: String,
}

fn uncovered(world: &World<'_>, kind: &str) -> Result<Vec<Finding>, Refused> {
    let snapshot = world.snapshot();
    let id = find_kind(snapshot, kind)?;
    let Some(known) = snapshot.kind(id) else { return Ok(Vec::new()) };
    let name = snapshot.text(known.name).to_owned();
    let mut gaps = Gaps { kind: name.clone(), all: BTreeMap::new() };
    if is_about_connections(known) {
        gaps.connections(world)?;
    } else if known.hierarchy().is_some() {
        gaps.places(world);
    } else {
        let message = format!("policies of the kind `{name}` reach requests or pairs of objects, not single objects");
        let known =
            snapshot.kinds().iter().filter(|(_, kind)| is_about_connections(kind) || kind.hierarchy().is_some());
        let example = known.map(|(_, kind)| snapshot.text(kind.name)).min().unwrap_or_default();
        return Err(Diagnostic::error(Fault::BadSetting, message)
            .help(format!("name a kind about connections, routes or gateways, such as {example}"))
            .into());
    }
    Ok(gaps.findings(world))
}

fn is_about_connections(kind: &PolicyKind) -> bool {
    kind.select().is_some() || kind.merge().is_some()
}

impl Gaps {
    /// What each proxy calls, under policies of the kind.
    fn connections(&mut self, world: &World<'_>) -> Result<(), Refused> {
        let snapshot = world.snapshot();
        let pairs = world.all_pairs(&self.kind, &())?;
        for mesh in &pairs.meshes {
            let objects = snapshot.objects().iter().filter(|(_, object)| object.scope == mesh.mesh());
            let places: BTreeMap<_, NodeRef> = objects.map(|(_, object)| (object.name, object.at)).collect();
            for (from, to, standing) in mesh.each() {
                let Some(at) = places.get(&from) else { continue };
                let name = snapshot.text(from);
                self.add(*at, name, Covered::of(!standing.policies.is_empty()), || format!("{name} → {to}"));
            }
        }
        Ok(())
    }

    /// Routes, gateways and backends.
    fn places(&mut self, world: &World<'_>) {
        let snapshot = world.snapshot();
        for words in dialects().flat_map(|dialect| dialect.questions(snapshot, MOST).0) {
            let Some(what) = words.what.clone() else { continue };
            let words = Words { kind: Some(self.kind.clone()), ..words };
            let Ok(answer) = world.question(&words).and_then(|question| world.answer(&question)) else { continue };
            let object = what.split('#').next().unwrap_or(&what);
            let Ok(object) = shown(snapshot, object, world.options().mesh.as_deref()) else { continue };
            for report in answer.reports {
                if report.kind == self.kind {
                    self.add(object.node, &object.name, Covered::of(report.verdict != Verdict::Unset), || {
                        report.about.what.clone()
                    });
                }
            }
        }
    }

    fn add(&mut self, at: NodeRef, name: &str, covered: Covered, example: impl FnOnce() -> String) {
        let gap = self.all.entry(at).or_insert_with(|| Gap { name: name.to_owned(), ..Gap::default() });
        gap.of += 1;
        if covered == Covered::No {
            gap.uncovered += 1;
            if gap.example.is_empty() {
                gap.example = example();
            }
        }
    }

    fn findings(&self, world: &World<'_>) -> Vec<Finding> {
        let kind = &self.kind;
        let open = self.all.iter().filter(|(_, gap)| gap.uncovered > 0);
        let told = open.map(|(at, gap)| {
            let Gap { name, of, uncovered, example } = gap;
            let where_ = match (*uncovered, *of) {
                (1, 1) => "here".to_owned(),
                (some, all) if some == all => format!("at any of {}", counted(all, "place", "places")),
                (some, all) => format!("at {some} of {}", counted(all, "place", "places")),
            };
            let message = format!("no {kind} holds for {name} {where_}");
            let problem = Diagnostic::warning(Fault::Uncovered, message).help(format!("for example: {example}"));
            let problem = at_document(world.snapshot(), problem, *at, "nothing reaches it");
            Finding::from(problem).about(format!("{kind} {name}"))
        });
        told.collect()
    }
}

fn without_owner(world: &World<'_>) -> Vec<Finding> {
    let snapshot = world.snapshot();
    let unowned = snapshot.policies().iter().filter(|(_, policy)| {
        let document = snapshot.files().value(policy.at);
        document.is_some_and(|document| !says_whose(document))
    });
    let told = unowned.map(|(_, policy)| {
        let name = snapshot.text(policy.name);
        let message = format!("nobody says whose {name} is, or what it is for");
        let problem = Diagnostic::note(Fault::NoOwner, message)
            .help("a label, an annotation or a field such as `owner`, `team` or `description` says it");
        Finding::from(at_document(snapshot, problem, policy.at, "no owner")).about(name)
    });
    told.collect()
}
