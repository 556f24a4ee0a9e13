//! Whether documents may be written: what they change is judged as what their writer does.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::Snapshot;
use upheld_engine::comply::{Class, Comply, Finding, FindingName};
use upheld_governance::{Action, Actor, Admission, Blocked, Draft, Organisation, Outcome, Recorded, Seeker, words};
use upheld_model::{Sym, Timestamp};
use upheld_report::compliance::{Check, Ruled, check_of};

use super::accepted::{Accepted, AcceptedRecords};
use super::questions::{actor_of_class, proved};
use super::{Documented, Organisations};
use crate::dialect::{Admitted, DocumentWriter, RecordChange, WriteTime};

/// What becomes of a write that leads from one snapshot to another; nothing if no organisation changes.
pub(super) fn admit(
    before: &Snapshot,
    after: &Snapshot,
    writer: DocumentWriter<'_>,
    time: WriteTime,
) -> Option<Admitted> {
    let mut admitted: Option<Admitted> = None;
    for (kind, policies) in kinds(before, after) {
        let (was, is) = (of_kind(before, kind), of_kind(after, kind));
        let Some(known) = is.or(was) else { continue };
        let (profile, settings) = (known.organisation.comply().profile(), known.organisation.settings());
        let nothing = (was.is_none() || is.is_none()).then(|| Draft::new(Arc::clone(profile), settings).build());
        let (Some(one), Some(other)) = (
            was.map(Documented::organisation).or(nothing.as_ref()),
            is.map(Documented::organisation).or(nothing.as_ref()),
        ) else {
            continue;
        };
        let records = if same_records(was, is) { Records::Kept } else { Records::Written };
        if one.is_same(other) && records == Records::Kept {
            continue;
        }
        // Whoever brings an organisation here says how it is; what violates then violates from the start.
        if was.is_none() && one.may_found(&actors(one.comply(), writer)) {
            continue;
        }
        let judged = judge(Judging { one, other, was, after, policies, time, records }, writer);
        admitted = Some(match admitted {
            // The first refusal is the answer.
            Some(known) if !known.outcome.is_done() => known,
            Some(known) if judged.outcome.is_done() => together(known, judged),
            _ => judged,
        });
    }
    admitted
}

/// Whether somebody writes records by hand: that is as if they had let the violations through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Records {
    Kept,
    Written,
}

fn same_records(one: Option<&Documented>, other: Option<&Documented>) -> bool {
    let nothing = AcceptedRecords::default();
    let [one, other] = [one, other].map(|own| own.map_or(&nothing, Documented::accepted));
    one.is_same(other)
}

/// The kinds of policies of two snapshots, each with the type of its policies.
fn kinds<'s>(before: &'s Snapshot, after: &'s Snapshot) -> Vec<(&'s str, &'s str)> {
    let mut all: Vec<(&str, &str)> = Vec::new();
    for snapshot in [before, after] {
        for (_, kind) in snapshot.kinds().iter().filter(|(_, kind)| kind.comply().is_some()) {
            let names = (snapshot.text(kind.name), snapshot.text(kind.governs));
            if !all.contains(&names) {
                all.push(names);
            }
        }
    }
    all
}

fn of_kind<'s>(snapshot: &'s Snapshot, kind: &str) -> Option<&'s Documented> {
    let is_meant = |(name, _): &(Sym, &Documented)| snapshot.text(*name) == kind;
    snapshot.companion::<Organisations>()?.iter().find(is_meant).map(|(_, documented)| documented)
}

#[derive(Clone, Copy)]
struct Judging<'j> {
    one: &'j Organisation,
    other: &'j Organisation,
    was: Option<&'j Documented>,
    after: &'j Snapshot,
    /// The type of the policies.
    policies: &'j str,
    time: WriteTime,
    records: Records,
}

fn judge(judging: Judging<'_>, writer: DocumentWriter<'_>) -> Admitted {
    let Judging { one, other, was, after, policies, time, records } = judging;
    let writers = actors(one.comply(), writer);
    let admission = match records {
        Records::Written => one.may_record(&writers).unwrap_or_else(|| one.admission(other, time.now, &writers)),
        Records::Kept => one.admission(other, time.now, &writers),
    };
    let profile = other.comply().profile();
    let checks = checks(&admission, one, other.comply(), after, time.now);
    let refusal = admission.refusal.as_ref().map(|refusal| {
        let why = words::refusal(profile, refusal);
        match admission.actions.last() {
            Some((_, action)) => format!("{}: {why}", words::action(action)),
            None => why,
        }
    });
    let mut records = Vec::new();
    if admission.outcome.is_done() {
        let ended: Vec<FindingName> = admission.ended.iter().map(Finding::name).collect();
        for known in was.into_iter().flat_map(|was| was.accepted().about(&ended)) {
            let Some(rest) = known.without(&ended) else { continue };
            let document = rest.document();
            records.push(if rest.findings.is_empty() {
                RecordChange::Gone(document)
            } else {
                RecordChange::Put(document)
            });
        }
        let begun = admission.begun.iter().flat_map(by_scope).enumerate();
        records.extend(begun.map(|(number, recorded)| {
            RecordChange::Put(Accepted::of(&recorded, policies, time.revision, number + 1).document())
        }));
    }
    Admitted { outcome: admission.outcome, ruled: Ruled::new(admission.outcome, refusal, checks, profile), records }
}

/// What refuses a write, with what would help; or what it leaves violated.
fn checks(admission: &Admission, one: &Organisation, comply: &Comply, after: &Snapshot, now: Timestamp) -> Vec<Check> {
    let mut checks: Vec<Check> = admission.new.iter().map(|finding| check_of(comply, after.files(), finding)).collect();
    let mut trial = one.trial(now);
    for Blocked { actor, action, violations } in &admission.blocked {
        // What else is written may be needed for it; then nothing can be tried with it alone.
        let (alone, seeker) = (is_blocked_alone(one, now, actor, action), Seeker::new(actor.clone()));
        for violation in violations {
            let mut check = check_of(comply, after.files(), violation);
            if alone {
                check.fixed_by(comply.profile(), &trial.ways(&seeker, action, violation));
            }
            checks.push(check);
        }
    }
    checks
}

fn is_blocked_alone(organisation: &Organisation, now: Timestamp, actor: &Actor, action: &Action) -> bool {
    organisation.would(now, actor, action).outcome == Outcome::Blocked
}

/// Who somebody is here, the strongest role first. Whoever has no role of this kind writes as an end-user.
fn actors(comply: &Comply, writer: DocumentWriter<'_>) -> Vec<Actor> {
    let named = |actor: Actor| match actor {
        Actor::Person { role, scope, .. } => Actor::Person { role, scope, name: Some(SmolStr::new(writer.name)) },
        other @ (Actor::System | Actor::Several(_)) => other,
    };
    let mut actors: Vec<Actor> = proved(comply, writer.roles).into_iter().map(named).collect();
    if actors.is_empty() {
        actors.push(named(actor_of_class(comply, Class::EndUser)));
    }
    actors
}

/// One record for each scope: whoever may know of one scope only reads what was let through there.
fn by_scope(recorded: &Recorded) -> Vec<Recorded> {
    let mut by_scope: BTreeMap<Option<SmolStr>, Vec<Finding>> = BTreeMap::new();
    for finding in &recorded.findings {
        by_scope.entry(finding.scope.clone()).or_default().push(finding.clone());
    }
    by_scope.into_values().map(|findings| Recorded { cause: recorded.cause.clone(), findings }).collect()
}

/// Two that were let through.
fn together(one: Admitted, other: Admitted) -> Admitted {
    let softer = if one.outcome == Outcome::Soft { one.outcome } else { other.outcome };
    let ruled = Ruled {
        answer: if softer == one.outcome { one.ruled.answer } else { other.ruled.answer },
        outcome: softer.word().into(),
        semantics: format!("{}, {}", one.ruled.semantics, other.ruled.semantics),
        violations: one.ruled.violations.into_iter().chain(other.ruled.violations).collect(),
        standing: Vec::new(),
    };
    Admitted { outcome: softer, ruled, records: one.records.into_iter().chain(other.records).collect() }
}
