//! Answers about one change, about a plan of changes, and about what would fix violations.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use upheld_engine::comply::{Finding, Profile};
use upheld_governance::{self as governance, Obstacle, Organisation, Outcome};
use upheld_model::Files;

use super::check::{Actor, Check, CheckState, Edit, Fix};
use super::fill::{fixes_of, standing_since};
use super::{Filter, WaiverLine};
use crate::counted;

/// What becomes of a change.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ruled {
    /// The first sentence.
    pub answer: String,
    /// What would become of the change, in a word.
    pub outcome: Cow<'static, str>,
    /// The edition of the rules.
    pub semantics: String,
    /// What refuses it, or what it leaves violated.
    pub violations: Vec<Check>,
    /// What is violated already where nothing would change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<Check>,
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
        let (outcome, semantics) = (outcome.word().into(), profile.name.to_string());
        Self { answer, outcome, semantics, violations, standing: Vec::new() }
    }

    /// With what is violated already: the two are related, and nothing would change.
    #[must_use]
    pub fn already(mut self, mut standing: Vec<Check>) -> Self {
        standing.iter_mut().for_each(Check::complete);
        let (waived, open): (Vec<&Check>, Vec<&Check>) =
            standing.iter().partition(|check| check.state == CheckState::Waived);
        let names = |checks: &[&Check]| {
            let mut names: Vec<&str> = checks.iter().map(|check| check.policy.as_str()).collect();
            names.dedup();
            names.join(", ")
        };
        let told = match (open.is_empty(), waived.is_empty()) {
            (true, true) => None,
            (true, false) => Some(format!("they violate {} already, and a waiver covers it", names(&waived))),
            (false, _) => Some(format!("they violate {} already, and that stays", names(&open))),
        };
        if let Some(told) = told.filter(|_| self.outcome == Outcome::Allowed.word()) {
            self.answer = format!("ALLOWED: the two are related, so nothing changes; {told}.");
            self.standing = standing;
        }
        self
    }
}

/// With a full stop, unless it ends with a question.
fn sentence(text: String) -> String {
    if text.ends_with('?') { text } else { text + "." }
}

/// What changes would do.
#[derive(Clone, Debug, Deserialize, Serialize)]
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
    /// Violations that are taken more seriously from then on.
    pub raised: Vec<Check>,
    /// Violations that are taken less seriously from then on.
    pub lowered: Vec<Check>,
    /// How many stay.
    pub kept: usize,
    /// Pairs that could be related before and not after, or the other way round.
    pub flipped: Vec<PlannedFlip>,
}

/// What becomes of one change.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedStep {
    /// The change.
    pub what: String,
    /// What becomes of it, in a word.
    pub outcome: Cow<'static, str>,
    /// Why it is refused, if no policy is the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// What it violates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Check>,
}

/// A pair that could be related before and not after, or the other way round.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PlannedFlip {
    /// One object.
    pub a: String,
    /// The other object.
    pub b: String,
    /// Whether they can be related after.
    pub then: Cow<'static, str>,
}

impl Planned {
    /// With the sentence that all of it comes to.
    #[must_use]
    pub fn finished(mut self) -> Self {
        let lists = [&mut self.added, &mut self.removed, &mut self.waived, &mut self.unwaived];
        let levels = [&mut self.raised, &mut self.lowered];
        lists.into_iter().chain(levels).flatten().for_each(Check::complete);
        self.steps.iter_mut().flat_map(|step| &mut step.violations).for_each(Check::complete);
        let refused = self.steps.iter().filter(|step| !matches!(&*step.outcome, "allowed" | "soft")).count();
        let changes = counted(self.steps.len(), "change", "changes");
        let first = match refused {
            0 => format!("{changes} accepted"),
            refused => format!("{changes}, {refused} refused"),
        };
        let added = counted(self.added.len(), "violation", "violations");
        let notes = [
            (self.waived.len(), "waived then"),
            (self.unwaived.len(), "counted again"),
            (self.raised.len(), "taken more seriously"),
            (self.lowered.len(), "taken less seriously"),
        ];
        let notes = notes.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        let notes = notes.collect::<Vec<_>>().join(", ");
        let notes = if notes.is_empty() { notes } else { format!("; {notes}") };
        self.answer = format!("{first}: {added} added, {} removed, {} kept{notes}.", self.removed.len(), self.kept);
        self
    }
}

/// Waivers that were asked for.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedWaivers {
    /// By name.
    pub waivers: Vec<WaiverLine>,
    /// How many there are in all.
    pub all: usize,
}

/// Edits that would fix violations.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FixPlan {
    /// The first sentence.
    pub answer: String,
    /// A plan: few edits that fix as much as possible, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<PlannedFix>,
    /// Violations with every way to fix each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Check>,
    /// Violations that no edit fixes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Check>,
    /// What it was cut to, because the role of who asks may see no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_to: Option<String>,
}

/// One edit of a plan.
#[derive(Clone, Debug, Deserialize, Serialize)]
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
        Self { answer, edits: Vec::new(), violations: checks, left: Vec::new(), cut_to: None }
    }

    /// A plan that fixes as much as possible.
    pub fn plan(
        organisation: &Organisation,
        files: &Files,
        fixes: &[governance::Fix],
        left: &[(Finding, Vec<Obstacle>)],
    ) -> Self {
        let mut edits = Vec::new();
        for fix in fixes {
            let reported = fixes_of(std::slice::from_ref(fix));
            edits.extend(reported.into_iter().map(|reported| PlannedFix { fix: reported, ends: fix.ends }));
        }
        let (comply, history) = (organisation.comply(), organisation.history());
        let unfixed = |(own, obstacles): &(Finding, Vec<Obstacle>)| {
            let mut check = standing_since(comply, files, own, &history);
            let ways = governance::Fixes { ways: Vec::new(), obstacles: obstacles.clone() };
            check.fixed_by(comply.profile(), &ways);
            check.complete();
            check
        };
        let left: Vec<Check> = left.iter().map(unfixed).collect();
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
        let others = edits.iter().filter(|planned| planned.fix.by == Actor::Administrator).count();
        let answer = match (others, edits.len()) {
            (0, _) => answer,
            (1, 1) => format!("{answer} It needs an administrator."),
            (all, edits) if all == edits => format!("{answer} All of them need an administrator."),
            (1, _) => format!("{answer} 1 of them needs an administrator."),
            (some, _) => format!("{answer} {some} of them need an administrator."),
        };
        Self { answer, edits, violations: Vec::new(), left, cut_to: None }
    }

    /// Of what somebody may see.
    #[must_use]
    pub fn within(mut self, cut: Option<Filter>) -> Self {
        if let Some(Filter { value, .. }) = cut {
            self.answer = format!("{} Only {value} was looked at, which is what this role may see.", self.answer);
            self.cut_to = Some(value);
        }
        self
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
