//! What is said of routes at their parents, as conditions of the Gateway API.

use std::collections::BTreeMap;

use upheld_engine::ObjectId;

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
        let Ok(route) = self.routes.binary_search_by_key(&step.route, |report| report.route) else { return };
        let parents = self.routes.get_mut(route).into_iter().flat_map(|report| &mut report.parents);
        for report in parents.filter(|report| report.parent == step.parent) {
            add(&mut report.conditions, &replaced(step.matched, why));
        }
    }
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
