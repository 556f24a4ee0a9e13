//! What is said of routes at their parents, as conditions of the Gateway API.

use std::collections::BTreeMap;

use upheld_engine::{ObjectId, Snapshot};

use super::topology::{Condition, Outcome, Parent, ParentReport, Place, RouteReport, Topology};

/// The condition that says whether all rules of a route do what they say.
pub const PROGRAMMED: &str = "kgateway.dev/Programmed";
/// The reason of [`PROGRAMMED`] where a rule answers with an error instead.
pub const RULE_REPLACED: &str = "RouteRuleReplaced";
/// The reason of [`PROGRAMMED`] where a rule cannot match and is left out.
pub const RULE_DROPPED: &str = "RouteRuleDropped";

/// How many mistakes one message names.
const MESSAGE_LIMIT: usize = 32;

/// What is wrong: a reason and words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// What is wrong with a route at one parent; nothing at first.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pub(super) accepted: Vec<Mark>,
    pub(super) resolved: Vec<Mark>,
    pub(super) programmed: Vec<Mark>,
}

/// What is said of a route at a parent.
type Said<'r> = (&'r (ObjectId, Parent), &'r Marks);

/// Everything that is said of routes.
#[derive(Debug, Default)]
pub(super) struct Reports {
    by_route: BTreeMap<(ObjectId, Parent), Marks>,
}

impl Reports {
    /// What is said of a route at a parent. To ask is to say that the parent knows the route.
    pub(super) fn at(&mut self, route: ObjectId, parent: &Parent) -> &mut Marks {
        self.by_route.entry((route, parent.clone())).or_default()
    }

    /// The routes that something is said of, each once.
    pub(super) fn routes(&self) -> Vec<ObjectId> {
        let mut routes: Vec<ObjectId> = self.by_route.keys().map(|(route, _)| *route).collect();
        routes.dedup();
        routes
    }

    /// Everything.
    pub(super) fn all(&self) -> impl Iterator<Item = Said<'_>> {
        self.by_route.iter()
    }

    /// What is said of one route.
    pub(super) fn about(&self, route: ObjectId) -> impl Iterator<Item = Said<'_>> {
        let first = (route, Parent { object: ObjectId::new(0), section: None });
        self.by_route.range(first..).take_while(move |((known, _), _)| *known == route)
    }

    /// Adds what others say.
    pub(super) fn add<'r>(&mut self, said: impl Iterator<Item = Said<'r>>) {
        for ((route, parent), marks) in said {
            let Marks { accepted, resolved, programmed } = self.at(*route, parent);
            let lists = [(accepted, &marks.accepted), (resolved, &marks.resolved), (programmed, &marks.programmed)];
            for (own, others) in lists {
                for Mark { reason, message } in others {
                    note(own, reason, message.clone());
                }
            }
        }
    }

    /// As conditions, by route.
    pub(super) fn finish(self) -> Vec<RouteReport> {
        let mut reports: Vec<RouteReport> = Vec::new();
        for ((route, parent), marks) in self.by_route {
            let conditions = vec![
                condition("Accepted", "Accepted", &marks.accepted),
                condition("ResolvedRefs", "ResolvedRefs", &marks.resolved),
                condition(PROGRAMMED, "Programmed", &marks.programmed),
            ];
            let report = ParentReport { parent, conditions };
            match reports.last_mut() {
                Some(last) if last.route == route => last.parents.push(report),
                _ => reports.push(RouteReport { route, parents: vec![report] }),
            }
        }
        reports
    }
}

/// Notes something, once.
pub(super) fn note(marks: &mut Vec<Mark>, reason: &'static str, message: String) {
    let mark = Mark { reason, message };
    if marks.len() < MESSAGE_LIMIT && !marks.contains(&mark) {
        marks.push(mark);
    }
}

fn condition(name: &str, good: &str, marks: &[Mark]) -> Condition {
    let messages: Vec<&str> = marks.iter().map(|mark| mark.message.as_str()).collect();
    Condition {
        name: name.to_owned(),
        status: marks.is_empty(),
        // One condition has one reason: as in the controller, that of what was found last.
        reason: marks.last().map_or(good, |mark| mark.reason).to_owned(),
        message: messages.join("; "),
    }
}

/// How the message of a rule that answers with an error begins.
pub(super) fn replaced(matched: usize, why: &str) -> String {
    format!("Replaced Rule ({matched}): {why}")
}

impl Topology {
    /// Lets a way answer with an error because of something that the topology does not know, for example a broken policy,
    /// and says so in the status of its route.
    pub fn replace(&mut self, place: Place, why: &str) {
        let Some(way) = self.way_mut(place) else { return };
        way.outcome = Outcome::Replaced(why.to_owned());
        let Some(step) = way.chain.last().cloned() else { return };
        self.replaced.entry((step.route, step.parent)).or_default().push(replaced(step.matched, why));
    }

    /// What became of every route at its parents, all of them by type, namespace and name.
    pub fn reports(&self, snapshot: &Snapshot) -> Vec<RouteReport> {
        let mut reports = Reports::default();
        for entry in self.entries_by_name() {
            reports.add(entry.reports.all());
        }
        let mut finished = self.finished(snapshot, reports);
        finished.sort_by_key(|report| identity(snapshot, report.route));
        finished
    }

    /// What became of a route, by all that lead to it.
    pub fn report(&self, snapshot: &Snapshot, route: ObjectId) -> Option<RouteReport> {
        let mut reports = Reports::default();
        for entry in self.leading_to(route) {
            reports.add(entry.reports.about(route));
        }
        self.finished(snapshot, reports).pop()
    }

    fn finished(&self, snapshot: &Snapshot, reports: Reports) -> Vec<RouteReport> {
        let mut finished = reports.finish();
        for RouteReport { route, parents } in &mut finished {
            // Ids say nothing about the order.
            parents.sort_by(|one, other| {
                let key = |report: &ParentReport| identity(snapshot, report.parent.object);
                key(one).cmp(&key(other)).then_with(|| one.parent.section.cmp(&other.parent.section))
            });
            for ParentReport { parent, conditions } in parents.iter_mut().filter(|_| !self.replaced.is_empty()) {
                for message in self.replaced.get(&(*route, parent.clone())).into_iter().flatten() {
                    add(conditions, message);
                }
            }
        }
        finished
    }
}

/// Type, namespace and name.
fn identity(snapshot: &Snapshot, object: ObjectId) -> Option<[&str; 3]> {
    let object = snapshot.objects().get(object)?;
    Some([object.kind, object.scope, object.name].map(|symbol| snapshot.text(symbol)))
}

fn add(conditions: &mut [Condition], message: &str) {
    for condition in conditions.iter_mut().filter(|condition| condition.name == PROGRAMMED) {
        if condition.status {
            condition.status = false;
            RULE_REPLACED.clone_into(&mut condition.reason);
            message.clone_into(&mut condition.message);
        } else if !condition.message.contains(message) {
            condition.message = format!("{}; {message}", condition.message);
        }
    }
}
