//! Answers about one change, about a plan of changes, and about what would fix violations.

use serde::Serialize;
use upheld_engine::comply::{Finding, Profile};
use upheld_governance::{self as governance, Organisation, Outcome};
use upheld_model::Files;

use super::check::{Check, Edit, Fix};
use super::fill::{fixes_of, standing};
use crate::counted;

/// What becomes of a change.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ruled {
    /// The first sentence.
    pub answer: String,
    /// What would become of the change, in a word.
    pub outcome: &'static str,
    /// The edition of the rules.
    pub semantics: String,
    /// What refuses it, or what it leaves violated.
    pub violations: Vec<Check>,
}

impl Ruled {
    /// With the sentence that all of it comes to.
    pub fn new(outcome: Outcome, refusal: Option<String>, mut violations: Vec<Check>, profile: &Profile) -> Self {
        violations.iter_mut().for_each(Check::complete);
        let mut names: Vec<&str> = violations.iter().map(|check| check.policy.as_str()).collect();
        names.dedup();
        let by = names.join(", ");
        let why = refusal.unwrap_or_default();
        let answer = match outcome {
            Outcome::Allowed => "ALLOWED: it violates nothing new.".to_owned(),
            Outcome::Soft => format!("ALLOWED, and recorded as a violation of {by}."),
            Outcome::Blocked => format!("BLOCKED by {by}."),
            Outcome::Forbidden => format!("FORBIDDEN: {}", sentence(why)),
            Outcome::Invalid => format!("INVALID: {}", sentence(why)),
        };
        Self { answer, outcome: outcome.word(), semantics: profile.name.to_string(), violations }
    }
}

/// With a full stop, unless it ends with a question.
fn sentence(text: String) -> String {
    if text.ends_with('?') { text } else { text + "." }
}

/// What changes would do.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Planned {
    /// The first sentence.
    pub answer: String,
    /// What the plan is called; another state or other changes have another.
    pub id: String,
    /// The digest of the state that it rests on.
    pub based_on: String,
    /// What becomes of each change.
    #[serde(rename = "changes")]
    pub steps: Vec<PlannedStep>,
    /// Violations that begin.
    pub added: Vec<Check>,
    /// Violations that end.
    pub removed: Vec<Check>,
    /// Violations that are excused from then on.
    pub waived: Vec<Check>,
    /// Violations that are excused no longer.
    pub unwaived: Vec<Check>,
    /// How many stay.
    pub kept: usize,
    /// Pairs that could be related before and not after, or the other way round.
    pub flipped: Vec<PlannedFlip>,
}

/// What becomes of one change.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedStep {
    /// The change.
    pub what: String,
    /// What becomes of it, in a word.
    pub outcome: &'static str,
    /// Why it is refused, if no policy is the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// What it violates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Check>,
}

/// A pair that could be related before and not after, or the other way round.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedFlip {
    /// One object.
    pub a: String,
    /// The other object.
    pub b: String,
    /// Whether they can be related after.
    pub then: &'static str,
}

impl Planned {
    /// With the sentence that all of it comes to.
    #[must_use]
    pub fn finished(mut self) -> Self {
        let lists = [&mut self.added, &mut self.removed, &mut self.waived, &mut self.unwaived];
        lists.into_iter().flatten().for_each(Check::complete);
        self.steps.iter_mut().flat_map(|step| &mut step.violations).for_each(Check::complete);
        let refused = self.steps.iter().filter(|step| !matches!(step.outcome, "allowed" | "soft")).count();
        let changes = counted(self.steps.len(), "change", "changes");
        let first = match refused {
            0 => format!("{changes} accepted"),
            refused => format!("{changes}, {refused} refused"),
        };
        let added = counted(self.added.len(), "violation", "violations");
        let waived = match (self.waived.len(), self.unwaived.len()) {
            (0, 0) => String::new(),
            (waived, 0) => format!("; {waived} waived then"),
            (0, unwaived) => format!("; {unwaived} counted again"),
            (waived, unwaived) => format!("; {waived} waived then, {unwaived} counted again"),
        };
        self.answer = format!("{first}: {added} added, {} removed, {} kept{waived}.", self.removed.len(), self.kept);
        self
    }
}

/// Edits that would fix violations.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FixPlan {
    /// The first sentence.
    pub answer: String,
    /// A plan: few edits that fix as much as possible, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<PlannedFix>,
    /// Violations with every way to fix each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Check>,
    /// Violations that no edit fixes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Check>,
}

/// One edit of a plan.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedFix {
    #[serde(flatten)]
    pub fix: Fix,
    /// How many violations it ends.
    pub ends: usize,
}

impl FixPlan {
    /// Every way for each violation.
    pub fn ways(mut checks: Vec<Check>) -> Self {
        checks.iter_mut().for_each(Check::complete);
        let hopeless = checks.iter().filter(|check| check.fixes.is_empty()).count();
        let all = counted(checks.len(), "violation", "violations");
        let answer = match (checks.len(), hopeless) {
            (0, _) => "Nothing is violated here.".to_owned(),
            (1, 0) => format!("{all}, which can be fixed."),
            (_, 0) => format!("{all}, each can be fixed."),
            (_, hopeless) => format!("{all}, {hopeless} without a simple fix."),
        };
        Self { answer, edits: Vec::new(), violations: checks, left: Vec::new() }
    }

    /// A plan that fixes as much as possible.
    pub fn plan(organisation: &Organisation, files: &Files, fixes: &[governance::Fix], left: &[Finding]) -> Self {
        let mut edits = Vec::new();
        for fix in fixes {
            let reported = fixes_of(std::slice::from_ref(fix));
            edits.extend(reported.into_iter().map(|reported| PlannedFix { fix: reported, ends: fix.ends }));
        }
        let mut left: Vec<Check> = left.iter().map(|own| standing(organisation, files, own)).collect();
        left.iter_mut().for_each(Check::complete);
        let ends: usize = edits.iter().map(|planned| planned.ends).sum();
        let some = counted(edits.len(), "edit", "edits");
        let fixed = counted(ends, "violation", "violations");
        let answer = match (edits.len(), left.len()) {
            (0, 0) => "Nothing is violated.".to_owned(),
            (0, left) => format!("No simple edit fixes {}.", counted(left, "violation", "violations")),
            (_, 0) if ends == 1 => format!("{some} would fix the only violation."),
            (_, 0) => format!("{some} would fix all {fixed}."),
            (_, left) => format!("{some} would fix {fixed}; {left} would be left."),
        };
        Self { answer, edits, violations: Vec::new(), left }
    }

    /// The objects that a plan touches, or those that violate something, in order.
    pub fn objects(&self) -> Vec<&str> {
        let edits = self.edits.iter().flat_map(|planned| &planned.fix.edits).flat_map(|edit| match edit {
            Edit::Tag { object, .. } => vec![object.as_str()],
            Edit::Unlink { unlink } => vec![unlink.a.as_str(), unlink.b.as_str()],
        });
        let sides = self.violations.iter().flat_map(|check| [&check.a, &check.b]);
        let mut objects: Vec<&str> = edits.chain(sides.map(|side| side.reference.as_str())).collect();
        objects.sort_unstable();
        objects.dedup();
        objects
    }

    /// Whether there was nothing to fix.
    pub fn is_clean(&self) -> bool {
        self.edits.is_empty() && self.violations.is_empty() && self.left.is_empty()
    }
}
