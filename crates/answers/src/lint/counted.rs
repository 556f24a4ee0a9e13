//! What is counted over everything that was read: fields that survive nowhere, rules that nobody keeps.

use upheld_dialects::Identity;
use upheld_dialects::dialect::Finding;
use upheld_model::{Diagnostic, Fault};
use upheld_report::{At, PolicyStatus};

use super::at_document;
use crate::World;
use crate::compliance::AuditQuestion;

pub(super) fn findings(world: &World<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = world.statuses().iter().flat_map(|status| dead_fields(world, status)).collect();
    found.extend(relations(world));
    found
}

/// Of so many places, a field that holds at a tenth or less holds almost nowhere.
const MANY: usize = 10;

/// Fields of a policy that others override at every place that it reaches, or at almost every one.
fn dead_fields(world: &World<'_>, status: &PolicyStatus) -> Vec<Finding> {
    let snapshot = world.snapshot();
    let identity = Identity::new(&status.policy.kind, &status.policy.namespace, &status.policy.name);
    let policy = snapshot.policy_named(&identity.kind, &identity.scope, &identity.name);
    let Some(at) = policy.and_then(|policy| snapshot.policy(policy)).map(|policy| policy.at) else { return Vec::new() };
    let dead = status.fields.iter().filter(|field| field.of > 0 && field.survives == 0);
    let partly = status
        .fields
        .iter()
        .filter(|field| field.survives > 0 && field.of >= MANY && field.survives * MANY <= field.of);
    let partly = partly.map(|field| {
        let overridden = field.of - field.survives;
        let message = format!(
            "`{}` of {} counts almost nowhere: others override it at {overridden} of {} places that it reaches",
            field.field, identity.name, field.of
        );
        let finding = Diagnostic::note(Fault::PartlyDead, message).help("is it still meant for all that it reaches?");
        Finding::from(at_document(snapshot, finding, at, "overridden almost everywhere")).about(field.field.as_str())
    });
    let dead = dead.map(|field| {
        let (name, places) = (&identity.name, field.of);
        let places = if places == 1 { "the one place".to_owned() } else { format!("all {places} places") };
        let message =
            format!("`{}` of {name} counts nowhere: others override it at {places} that it reaches", field.field);
        let finding =
            Diagnostic::warning(Fault::DeadField, message).help("remove it there, or from those that go before");
        Finding::from(at_document(snapshot, finding, at, "overridden everywhere")).about(field.field.as_str())
    });
    dead.chain(partly).collect()
}

/// Policies about related objects that everybody violates, or that hold for want of tags.
fn relations(world: &World<'_>) -> Vec<Finding> {
    let question = AuditQuestion { no_fixes: true, ..AuditQuestion::default() };
    let snapshot = world.snapshot();
    let kinds = snapshot.complies().filter_map(|(kind, _)| snapshot.kind(kind)).map(|kind| snapshot.text(kind.name));
    let mut found = Vec::new();
    for kind in kinds {
        let question = AuditQuestion { policies: Some(kind.to_owned()), ..question.clone() };
        let Ok(audited) = world.audit(&question) else { continue };
        for policy in &audited.audit.policies {
            let violated = policy.counts.hard + policy.counts.soft;
            let place = |finding: Diagnostic| {
                Finding::from(located(world, finding, policy.at.as_ref())).about(policy.id.as_str())
            };
            if violated > 0 && policy.counts.passed == 0 && policy.counts.waived == 0 && policy.pairs > 1 {
                let message = format!("{}: all {} pairs that it is about violate it", policy.id, policy.pairs);
                let help = "are these the tags that people use? `upheld audit` shows what they have";
                found.push(place(Diagnostic::warning(Fault::AlwaysViolated, message).help(help)));
            }
            if policy.counts.vacuous > 0 {
                let message = format!(
                    "{}: {} of {} checks pass only because neither side has the tag",
                    policy.id,
                    policy.counts.vacuous,
                    policy.counts.passed + violated + policy.counts.waived,
                );
                found.push(place(Diagnostic::note(Fault::VacuousPass, message)));
            }
        }
    }
    found
}

/// A finding at a place that a report names.
fn located(world: &World<'_>, finding: Diagnostic, at: Option<&At>) -> Diagnostic {
    let Some(at) = at else { return finding };
    let files = world.snapshot().files();
    let Some((source, file)) = files.iter().find(|(_, file)| file.name == at.file()) else { return finding };
    let holds = |document: &upheld_model::Value<'_>| {
        let span = document.span();
        let lines = file.tree.position(span.start).0..=file.tree.position(span.end).0;
        lines.contains(&at.line())
    };
    match file.tree.documents().find(holds) {
        Some(document) => finding.at(source, super::named(document), ""),
        None => finding,
    }
}
