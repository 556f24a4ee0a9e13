//! What tests decide: policies that stand in an answer, and parts of policies that are true for a request.

use std::collections::BTreeSet;

use upheld_dialects::access::decider::deciders;
use upheld_dialects::comply::questions::{Fared, JudgedRule, KnownRule, judged, rules, switched_off as relations_off};
use upheld_engine::decide::{Clause, Decide, Examined, Readings, Request, Rule, Status, Truth};
use upheld_engine::{KindId, PolicyKind, Snapshot};
use upheld_model::tree::Value;
use upheld_model::{NodeRef, Sym};

use crate::report::{At, Coverage, CoveredClause, CoveredPolicy, Report};

/// Counts what cases decide.
pub(super) struct Counter<'s> {
    snapshot: &'s Snapshot,
    /// By place, so that a place in a file finds its policy.
    policies: Vec<Counted>,
    /// For each policy of each kind that decides requests, in order, its parts.
    clauses: Vec<(KindId, Vec<Vec<CoveredClause>>)>,
    /// For each rule about related objects, whether it holds in some case, and whether it is violated in some.
    rules: Vec<(KnownRule, [CoveredClause; 2])>,
}

struct Counted {
    place: Place,
    end: (usize, usize),
    covered: CoveredPolicy,
}

/// A file, a line and a column.
type Place = (String, usize, usize);

impl<'s> Counter<'s> {
    pub(super) fn new(snapshot: &'s Snapshot) -> Self {
        let off = switched_off(snapshot);
        let mut policies: Vec<Counted> = snapshot
            .policies()
            .iter()
            .filter(|(_, policy)| !off.contains(&policy.at))
            .filter_map(|(_, policy)| {
                let covered = CoveredPolicy {
                    kind: snapshot.text(policy.kind).to_owned(),
                    policy: snapshot.text(policy.title).to_owned(),
                    cases: 0,
                    at: At::of(snapshot.files(), policy.at),
                };
                let file = snapshot.files().get(policy.at.source)?;
                let end = file.tree.position(snapshot.files().value(policy.at)?.span().end);
                Some(Counted { place: place(snapshot, policy.at)?, end, covered })
            })
            .collect();
        policies.sort_by(|one, other| one.place.cmp(&other.place));
        let clauses = deciders(snapshot).map(|(kind, decide)| (kind, parts(snapshot, kind, decide))).collect();
        let mut counter = Self { snapshot, policies, clauses, rules: Vec::new() };
        counter.rules = rules(snapshot).into_iter().map(|rule| counter.ends_of(rule)).collect();
        counter
    }

    /// The two ends of a rule, none of them reached yet.
    fn ends_of(&self, rule: KnownRule) -> (KnownRule, [CoveredClause; 2]) {
        let place = rule.at.and_then(|at| place(self.snapshot, at));
        let listed = place.and_then(|place| self.policies.get(self.policy_at(&place)?));
        let kind = listed.map_or_else(|| self.snapshot.text(rule.kind).to_owned(), |own| own.covered.kind.clone());
        let clauses = ["holds", "violated"].map(|clause| CoveredClause {
            kind: kind.clone(),
            policy: rule.policy.clone(),
            clause,
            index: rule.rule,
            asks: rule.asks.clone(),
            cases: 0,
            at: rule.at.and_then(|at| At::of(self.snapshot.files(), at)),
        });
        (rule, clauses)
    }

    /// Counts rules about related objects that an answer rests on.
    pub(super) fn rules(&mut self, kind: Sym, judged: &BTreeSet<JudgedRule>) {
        let mut places = Vec::new();
        for (rule, [holds, violated]) in self.rules.iter_mut().filter(|(rule, _)| rule.kind == kind) {
            let of = |fared| judged.contains(&JudgedRule { policy: rule.policy.clone(), rule: rule.rule, fared });
            let (held, broken) = (of(Fared::Held), of(Fared::Violated));
            holds.cases += usize::from(held);
            violated.cases += usize::from(broken);
            if held || broken {
                places.extend(rule.at.and_then(|at| place(self.snapshot, at)));
            }
        }
        self.count(places);
    }

    /// Counts a decision.
    pub(super) fn decision(&mut self, kind: KindId, decide: &Decide, request: &Request, decision: &Report) {
        let rules = || decide.rules().iter();
        let decider = decision.policies.first().and_then(|name| rules().find(|rule| rule.name == name.as_str()));
        if let Some(place) = decider.and_then(|rule| place(self.snapshot, rule.at)) {
            self.count([place]);
        }
        let Some((_, counted)) = self.clauses.iter_mut().find(|(known, _)| *known == kind) else { return };
        let mut buffer = Readings::default();
        let asked = decide.asked(request, &mut buffer);
        for (rule, parts) in rules().zip(counted) {
            // In the order in which they were listed.
            let clauses = rule.target.clauses().into_iter();
            let alternatives = clauses.flat_map(|(_, all)| all).map(|alternative| alternative.covers(asked));
            let conditions = rule.conditions.iter().map(|condition| condition.holds(asked));
            for (truth, part) in alternatives.chain(conditions).zip(parts) {
                part.cases += usize::from(truth == Truth::True);
            }
        }
    }

    /// Counts the policies that stand in an answer: candidates that won, or that a field comes from.
    pub(super) fn reports(&mut self, reports: &[Report]) {
        let mut places = Vec::new();
        for report in reports {
            if let Some(detail) = report.relation() {
                let kind =
                    self.rules.iter().map(|(rule, _)| rule.kind).find(|kind| self.is_called(*kind, &report.kind));
                if let Some(kind) = kind {
                    self.rules(kind, &judged(&detail.checks));
                }
                continue;
            }
            let standing = report.candidates.iter().filter(|candidate| candidate.stands());
            let sources = report.fields.iter().flat_map(|field| &field.from);
            let written = standing.map(|candidate| &candidate.at).chain(sources.map(|source| &source.at));
            places.extend(written.flatten().map(place_of));
        }
        self.count(places);
    }

    fn is_called(&self, kind: Sym, name: &str) -> bool {
        self.snapshot.text(kind) == name
    }

    /// A case counts once for a policy, however many parts of it stand.
    fn count(&mut self, places: impl IntoIterator<Item = Place>) {
        let mut found: Vec<usize> = places.into_iter().filter_map(|place| self.policy_at(&place)).collect();
        found.sort_unstable();
        found.dedup();
        for number in found {
            if let Some(policy) = self.policies.get_mut(number) {
                policy.covered.cases += 1;
            }
        }
    }

    /// The policy that a place lies in.
    fn policy_at(&self, place: &Place) -> Option<usize> {
        let number = self.policies.partition_point(|policy| policy.place <= *place).checked_sub(1)?;
        let policy = self.policies.get(number)?;
        (policy.place.0 == place.0 && (place.1, place.2) <= policy.end).then_some(number)
    }

    /// What was counted.
    pub(super) fn finish(self, at_least: Option<u8>) -> Coverage {
        let policies: Vec<CoveredPolicy> = self.policies.into_iter().map(|policy| policy.covered).collect();
        let decided = policies.iter().filter(|policy| policy.cases > 0).count();
        let of = policies.len();
        Coverage {
            decided,
            of,
            percent: (decided * 100).checked_div(of).unwrap_or(100),
            at_least,
            policies,
            clauses: (self.clauses.into_iter().flat_map(|(_, parts)| parts).flatten())
                .chain(self.rules.into_iter().flat_map(|(_, ends)| ends))
                .collect(),
        }
    }
}

/// Policies that are switched off, so that no test could decide them.
fn switched_off(snapshot: &Snapshot) -> BTreeSet<NodeRef> {
    let rules = deciders(snapshot).flat_map(|(_, decide)| decide.rules());
    let requests = rules.filter(|rule| rule.status == Status::Off).map(|rule| rule.at);
    requests.chain(relations_off(snapshot)).collect()
}

/// All parts of the policies of a kind, none of them true yet.
fn parts(snapshot: &Snapshot, kind: KindId, decide: &Decide) -> Vec<Vec<CoveredClause>> {
    let nothing = Request::default();
    let mut buffer = Readings::default();
    let asked = decide.asked(&nothing, &mut buffer);
    let name = snapshot.kind(kind).map_or("", |kind| snapshot.text(kind.governs));
    let of = |rule: &Rule| {
        let told = Examined::alternatives(rule, asked).into_iter().map(|held| {
            let index = held.place.unwrap_or_default();
            CoveredClause {
                kind: name.to_owned(),
                policy: rule.name.to_string(),
                clause: held.clause.word(),
                index,
                asks: held.asks.to_string(),
                cases: 0,
                at: At::of(snapshot.files(), written(snapshot, kind, rule, held.clause, index).unwrap_or(rule.at)),
            }
        });
        told.collect()
    };
    // One that is switched off keeps its place, with nothing to be true.
    decide.rules().iter().map(|rule| if rule.status == Status::Off { Vec::new() } else { of(rule) }).collect()
}

/// What documents of a kind call a clause.
pub(super) fn called(snapshot: &Snapshot, kind: KindId, clause: Clause) -> &str {
    let fields = snapshot.kind(kind).and_then(PolicyKind::decide).map(|decide| &decide.fields.clauses);
    let own = fields.into_iter().flatten().find(|(known, _)| *known == clause);
    own.map_or(clause.word(), |(_, name)| snapshot.text(*name))
}

/// Where a part of a policy was written.
pub(super) fn written(snapshot: &Snapshot, kind: KindId, rule: &Rule, clause: Clause, index: usize) -> Option<NodeRef> {
    let field = called(snapshot, kind, clause);
    let policy = snapshot.files().value(rule.at)?;
    let body = if policy.get(field).is_some() { policy } else { policy.get("spec").unwrap_or(policy) };
    let list: Vec<Value<'_>> = body.get(field).into_iter().flat_map(Value::items).collect();
    // How long a policy is valid counts as its first condition.
    let before = if clause == Clause::Conditions { rule.conditions.len().saturating_sub(list.len()) } else { 0 };
    let value = match index.checked_sub(before) {
        Some(index) => list.get(index).copied(),
        None => body.get("valid"),
    };
    value.map(|value| NodeRef { source: rule.at.source, node: value.number() })
}

fn place(snapshot: &Snapshot, at: NodeRef) -> Option<Place> {
    let place = snapshot.files().locate(at)?;
    Some((place.file.to_owned(), place.line, place.column))
}

fn place_of(at: &At) -> Place {
    (at.file().to_owned(), at.line(), at.column())
}
