//! What could be chosen without breaking a policy?

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use upheld_engine::comply::{Class, Finding, ObjectId};
use upheld_engine::words::comply::{because, braces};
use upheld_governance::{Action, Actor, JudgedValue, words};
use upheld_model::{Diagnostic, Fault};

use super::{Organisation, not_found};
use upheld_report::compliance::spaced;
use upheld_report::counted;

/// Objects that could be related to one.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct OfferedObjects {
    /// The first sentence.
    pub answer: String,
    /// The object that they are for.
    #[serde(rename = "for")]
    pub reference: String,
    /// The kind that was asked for.
    pub kind: String,
    /// Those that could be related to it.
    pub candidates: Vec<String>,
    /// All others of the kind.
    pub refused: Vec<RefusedObject>,
}

/// An object that cannot be chosen.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RefusedObject {
    /// Which.
    #[serde(rename = "ref")]
    pub reference: String,
    /// What is against it.
    pub because: String,
}

/// Values that a tag of an object could have.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct OfferedValues {
    /// The first sentence.
    pub answer: String,
    /// The object.
    pub object: String,
    /// The tag.
    pub tag: String,
    /// Values that would be accepted.
    pub values: Vec<String>,
    /// Those of them that would be recorded as a violation.
    pub recorded: Vec<RecordedValue>,
    /// Those of them with which something stays violated that is violated now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<RecordedValue>,
    /// All others.
    pub refused: Vec<RefusedValue>,
}

/// A value with which policies would be violated.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RecordedValue {
    /// Which.
    pub value: String,
    /// Which policies.
    pub policies: Vec<String>,
}

/// A value that cannot be chosen.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RefusedValue {
    /// Which.
    pub value: String,
    /// What is against it.
    pub because: String,
}

impl Organisation<'_> {
    /// Objects of a kind that could be related to one without breaking a policy.
    pub fn candidates(
        &self,
        written: &str,
        kind: &str,
        role: Option<&str>,
        person: Option<&str>,
    ) -> Result<OfferedObjects, Vec<Diagnostic>> {
        let comply = self.comply();
        let role = role.map(|role| self.object(role)).transpose();
        let actor = self.asker(person, Some(Class::EndUser));
        let (object, role, actor) = match (self.object(written), role, actor) {
            (Ok(object), Ok(role), Ok(actor)) => (object, role, actor),
            (object, role, actor) => {
                let problems = [object.err(), role.err(), actor.err()].into_iter().flatten();
                return Err(problems.collect());
            }
        };
        let offered = self.governed.candidates(self.now, &actor, object, kind, role);
        let offered = offered.map_err(|not_there| vec![not_found(comply, &not_there)])?;
        let all = self.governed.kinds_of(kind).unwrap_or_default();
        if !all.iter().any(|kind| self.governed.can_relate(object, *kind)) {
            let message = format!("`{written}` and objects of the kind `{kind}` are not related");
            return Err(vec![Diagnostic::error(Fault::NotFound, message)]);
        }
        let all =
            comply.objects().into_iter().filter(|other| comply.kind_of(*other).is_some_and(|own| all.contains(&own)));
        let all: Vec<ObjectId> = all.filter(|other| *other != object).collect();
        let names: Vec<String> = offered.iter().map(|object| comply.reference(*object).to_string()).collect();
        let reference = comply.reference(object).to_string();
        let kind = kind_word(self, kind);
        let noun = spaced(&kind);
        let counted = |all: usize| counted(all, &noun, &format!("{noun}s"));
        let answer = match (offered.len(), all.len()) {
            (_, 0) => format!("There is no {noun}."),
            (0, all) => format!("None of {} could be related to {reference} without breaking a policy.", counted(all)),
            (some, all) => format!("{some} of {} could be related to {reference}.", counted(all)),
        };
        let refused = all
            .iter()
            .filter(|other| !offered.contains(other))
            .map(|other| against(self, &actor, object, *other, role))
            .collect();
        Ok(OfferedObjects { answer, reference, kind, candidates: names, refused })
    }

    /// Values of a tag that somebody could choose without being refused.
    pub fn values(&self, written: &str, tag: &str, person: Option<&str>) -> Result<OfferedValues, Vec<Diagnostic>> {
        let actor = self.asker(person, Some(Class::EndUser));
        let (object, actor) = match (self.object(written), actor) {
            (Ok(object), Ok(actor)) => (object, actor),
            (object, actor) => {
                let problems: Vec<Diagnostic> = [object.err(), actor.err()].into_iter().flatten().collect();
                return Err(problems);
            }
        };
        let profile = self.comply().profile();
        let judged = self.governed.judged_values(self.now, &actor, object, tag);
        let judged =
            judged.map_err(|refusal| vec![Diagnostic::error(Fault::NotFound, words::refusal(profile, &refusal))])?;
        let reference = self.comply().reference(object).to_string();
        let (mut allowed, mut recorded, mut kept, mut refused) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for JudgedValue { value, decision, kept: stays } in &judged {
            if decision.outcome.is_done() {
                allowed.push(value.to_string());
                for (list, violations) in [(&mut recorded, &decision.violations), (&mut kept, stays)] {
                    let policies = policies(violations);
                    if !policies.is_empty() {
                        list.push(RecordedValue { value: value.to_string(), policies });
                    }
                }
                continue;
            }
            let because = match &decision.refusal {
                Some(refusal) => words::refusal(profile, refusal),
                None => format!("{} by {}", decision.outcome.word(), policies(&decision.violations).join(", ")),
            };
            refused.push(RefusedValue { value: value.to_string(), because });
        }
        let answer = match allowed.as_slice() {
            [] => format!("No value of {tag} would be accepted for {reference}."),
            [one] => format!("Only {one} would be accepted as {tag} of {reference}."),
            several => format!("{} values would be accepted as {tag} of {reference}.", several.len()),
        };
        let answer = match recorded.len() {
            0 => answer,
            1 => format!("{answer} 1 would be recorded as a violation."),
            some => format!("{answer} {some} would be recorded as violations."),
        };
        let answer = match kept.len() {
            0 => answer,
            some => format!("{answer} With {some} of them a violation stays."),
        };
        Ok(OfferedValues { answer, object: reference, tag: tag.to_owned(), values: allowed, recorded, kept, refused })
    }
}

/// The policies of findings, each once and in order.
fn policies(findings: &[Finding]) -> Vec<String> {
    let names: BTreeSet<&str> = findings.iter().map(|own| own.policy.as_str()).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// A kind or subject by its own name, however it was written.
fn kind_word(asked: &Organisation<'_>, written: &str) -> String {
    let profile = asked.comply().profile();
    let subject = || profile.subject(written).map(|subject| profile.subject_name(subject));
    profile.kind(written).map(|kind| profile.kind_name(kind)).or_else(subject).unwrap_or(written).to_owned()
}

/// What is against relating two objects.
fn against(
    asked: &Organisation<'_>,
    actor: &Actor,
    object: ObjectId,
    other: ObjectId,
    role: Option<ObjectId>,
) -> RefusedObject {
    let comply = asked.comply();
    let violations = asked.governed.against(asked.now, object, other, role);
    let told: Vec<String> = violations
        .iter()
        .map(|violation| {
            let why = because(violation);
            let (a, b) = (&violation.a, &violation.b);
            let (own, others) = (braces(&a.values), braces(&b.values));
            format!("{}: {} has {own}, {} has {others}: {why}", violation.policy, a.object, b.object)
        })
        .collect();
    let because = if told.is_empty() { refused(asked, actor, object, other, role) } else { told.join("; ") };
    RefusedObject { reference: comply.reference(other).to_string(), because }
}

/// Why two objects cannot be related, where no policy between them is the reason.
fn refused(
    asked: &Organisation<'_>,
    actor: &Actor,
    object: ObjectId,
    other: ObjectId,
    role: Option<ObjectId>,
) -> String {
    let comply = asked.comply();
    let (a, b) = comply.in_order(object, other);
    let [a, b] = [a, b].map(|end| comply.reference(end));
    let role = role.map(|role| comply.reference(role));
    let decision = asked.governed.would(asked.now, actor, &Action::Link { a, b, role });
    match decision.refusal {
        Some(refusal) => words::refusal(comply.profile(), &refusal),
        None if decision.violations.is_empty() => "takes no new relationships".to_owned(),
        None => {
            let policies: Vec<&str> = decision.violations.iter().map(|own| own.policy.as_str()).collect();
            format!("{} by {}", decision.outcome.word(), policies.join(", "))
        }
    }
}
