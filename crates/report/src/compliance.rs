//! What an audit found: who agrees with whom, who does not, and what is excused. All formats are made of this.

mod answers;
mod check;
mod compared;
mod fill;
mod gaps;
mod overview;
mod passing;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
mod since;

pub use answers::{FixPlan, ListedWaivers, Planned, PlannedFlip, PlannedStep, Ruled};
pub use check::{
    Actor, AppliedWaiver, Cause, Check, CheckState, Edit, Fix, Link, NearMiss, Side, Why, fingerprint, fingerprint_of,
    values, word,
};
pub use compared::{Absent, BaselineState, Compared};
pub use fill::{Fixes, MOST_FIXES, Wanted, audit, check_of, fixes_of, standing, standing_since, waiver_lines};
pub use gaps::{Unseen, gaps};
pub use overview::{BySeverity, ByWorkspace, Overview, Violations};
pub use passing::{NothingPassing, Passed, Passing};
pub use since::{Began, Commit};

use serde::{Deserialize, Serialize};

use super::{At, counted};

/// A whole audit. Whoever fills it calls [`Audit::finished`] at the end.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// The first sentence; [`Audit::finished`] makes it.
    pub answer: String,
    /// The edition of the rules.
    pub semantics: String,
    /// The moment of the audit, RFC 3339 in UTC.
    pub now: String,
    /// The digest of what was read.
    pub snapshot: Option<String>,
    /// What the audit was cut to.
    pub filters: Vec<Filter>,
    /// How many pairs of objects were looked at, each once.
    pub pairs: usize,
    /// All policies, also silent ones and those that are off.
    pub policies: Vec<PolicyLine>,
    /// The sums over all policies; [`Audit::finished`] makes them.
    pub summary: Counts,
    /// Violations in numbers; [`Audit::finished`] makes them.
    pub overview: Overview,
    /// Every check that did not pass. Those that passed are told by [`Passing`].
    pub checks: Vec<Check>,
    /// All waivers, also those that cover nothing.
    pub waivers: Vec<WaiverLine>,
    /// Policies that could not be judged.
    pub errors: Vec<Unjudged>,
    /// What could not be looked at.
    pub gaps: Vec<Unseen>,
    /// What became of it since an earlier audit, if there is one to compare with.
    pub baseline: Option<Compared>,
}

/// One thing that an audit was cut to, for example `workspace` and `workspace/shop`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Filter {
    /// What it was cut by.
    pub by: String,
    /// What was left.
    pub value: String,
}

impl Filter {
    /// What people read: `policy env`, and `workspace/shop`, which says itself what it is.
    pub fn sentence(&self) -> String {
        match self.value.split_once('/') {
            Some((kind, _)) if kind == self.by => self.value.clone(),
            _ => format!("{} {}", self.by, self.value),
        }
    }
}

/// How many checks ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Agreed.
    pub passed: usize,
    /// Would be refused.
    pub hard: usize,
    /// Were accepted and need follow-up.
    pub soft: usize,
    /// Are excused.
    pub waived: usize,
    /// How many of those that passed did so because neither side carries the tag.
    pub vacuous: usize,
}

/// A policy, and how its checks ended.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyLine {
    /// Its name.
    pub id: String,
    /// What becomes of violations.
    pub level: Level,
    /// How the values of the two sides must agree.
    pub strategy: String,
    /// One side.
    pub a: Subject,
    /// The other side.
    pub b: Subject,
    /// How many pairs it speaks about.
    pub pairs: usize,
    /// By pair and rule.
    #[serde(flatten)]
    pub counts: Counts,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What its author says to those who violate it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how_to_fix: Option<String>,
    /// How bad a violation is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Where it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

/// One side of a policy: a kind, and its tag in each rule.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// Which objects.
    pub kind: String,
    /// Which of their tags are looked at.
    pub tags: Vec<String>,
}

/// How much a policy may do.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    /// They are refused, where they can be.
    Enforce,
    /// They are accepted with a warning.
    Warn,
    /// They are recorded.
    Audit,
    /// They are not looked for.
    Off,
}

/// How much a violation matters.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// The worst.
    Critical,
    /// Bad.
    High,
    /// In between.
    Medium,
    /// Not so bad.
    Low,
    /// Worth knowing.
    Info,
}

/// A waiver, and what it is good for.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaiverLine {
    /// Its name.
    pub id: String,
    /// The policy that it excuses from.
    pub policy: String,
    /// Whether it is good for something.
    pub state: WaiverState,
    /// How many violations it covers.
    pub covers: usize,
    /// Why it was granted.
    pub reason: String,
    /// Until when it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// Where it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

/// Whether a waiver does anything.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WaiverState {
    /// It covers something.
    Used,
    /// It holds and covers nothing.
    Unused,
    /// It is over.
    Expired,
    /// It begins later.
    Pending,
}

/// A policy that could not be judged, and why.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unjudged {
    /// Its name.
    pub policy: String,
    /// Why not.
    pub message: String,
    /// Where it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

impl Audit {
    /// The audit in the order in which everything is printed, with sums, sentences and fingerprints where there are none yet.
    #[must_use]
    pub fn finished(mut self) -> Self {
        for check in &mut self.checks {
            check.complete();
        }
        self.checks.sort_by(|left, right| left.order().cmp(&right.order()));
        self.policies.sort_by(|left, right| left.id.cmp(&right.id));
        self.waivers.sort_by(|left, right| left.id.cmp(&right.id));
        self.errors.sort_by(|left, right| (&left.policy, &left.message).cmp(&(&right.policy, &right.message)));
        self.overview = Overview::of(&self.checks);
        self.summary = self.policies.iter().fold(Counts::default(), |sum, policy| sum.plus(policy.counts));
        self.answer = self.sentence();
        self
    }

    /// `128 pairs checked against 6 policies: 121 pass, 3 hard, 4 soft.`
    fn sentence(&self) -> String {
        let active = self.policies.iter().filter(|policy| policy.level != Level::Off).count();
        let policies = counted(active, "policy", "policies");
        if self.policies.is_empty() {
            return "There are no policies, so nothing is checked.".to_owned();
        }
        let (one, many) =
            if self.policies.iter().all(PolicyLine::is_about_one) { ("object", "objects") } else { ("pair", "pairs") };
        if self.pairs == 0 {
            return format!("There are no {many} to check against {policies}.");
        }
        let Counts { passed, hard, soft, waived, .. } = self.summary;
        let all = self.summary.all();
        // A pair that several rules speak about counts once for each.
        let checks = if all == self.pairs { String::new() } else { format!(" in {}", counted(all, "check", "checks")) };
        let told: String = [(hard, "hard"), (soft, "soft"), (waived, "waived")]
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!(", {count} {word}"))
            .collect();
        let verb = if passed == 1 { "passes" } else { "pass" };
        format!("{} checked against {policies}{checks}: {passed} {verb}{told}.", counted(self.pairs, one, many))
    }

    /// Checks that did not pass, also those that are waived.
    pub fn violations(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter()
    }

    /// Violations that ended in a state.
    pub fn ended(&self, state: CheckState) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(move |check| check.state == state)
    }

    /// The policy with this id, of a finished audit.
    pub fn policy(&self, id: &str) -> Option<&PolicyLine> {
        let index = self.policies.binary_search_by(|policy| policy.id.as_str().cmp(id)).ok()?;
        self.policies.get(index)
    }

    /// What programs get as JSON and YAML: everything but the checks that passed.
    pub fn document(&self) -> impl Serialize + '_ {
        self.document_of(usize::MAX)
    }

    /// The same with so many violations at the most, the worst of all.
    pub fn document_of(&self, most: usize) -> impl Serialize + '_ {
        Document {
            api_version: "upheld/v1",
            kind: "AuditReport",
            snapshot: self.snapshot.as_deref(),
            answer: &self.answer,
            semantics: &self.semantics,
            now: &self.now,
            filters: &self.filters,
            pairs: self.pairs,
            summary: self.summary,
            overview: &self.overview,
            baseline: self.baseline.as_ref(),
            gaps: &self.gaps,
            policies: &self.policies,
            violations: self.violations().take(most).collect(),
            waivers: &self.waivers,
            errors: &self.errors,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    api_version: &'static str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<&'a str>,
    answer: &'a str,
    semantics: &'a str,
    now: &'a str,
    #[serde(skip_serializing_if = "<[Filter]>::is_empty")]
    filters: &'a [Filter],
    pairs: usize,
    summary: Counts,
    overview: &'a Overview,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<&'a Compared>,
    #[serde(skip_serializing_if = "<[Unseen]>::is_empty")]
    gaps: &'a [Unseen],
    policies: &'a [PolicyLine],
    violations: Vec<&'a Check>,
    waivers: &'a [WaiverLine],
    errors: &'a [Unjudged],
}

impl Counts {
    /// How many checks there are.
    pub fn all(self) -> usize {
        self.passed + self.violations() + self.waived
    }

    /// How many of them failed and are not excused.
    pub fn violations(self) -> usize {
        self.hard + self.soft
    }

    fn plus(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            hard: self.hard + other.hard,
            soft: self.soft + other.soft,
            waived: self.waived + other.waived,
            vacuous: self.vacuous + other.vacuous,
        }
    }
}

impl PolicyLine {
    /// Whether it is about single objects.
    pub fn is_about_one(&self) -> bool {
        self.a.kind == self.b.kind
    }

    /// What it is about.
    pub fn sides(&self) -> impl Iterator<Item = &Subject> {
        [&self.a, &self.b].into_iter().take(if self.is_about_one() { 1 } else { 2 })
    }
}

impl Level {
    /// As policies write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Warn => "warn",
            Self::Audit => "audit",
            Self::Off => "off",
        }
    }
}

impl Level {
    /// Whether it is at least as serious as another one; what is off is not serious at all.
    pub fn reaches(self, least: Self) -> bool {
        let all = [Self::Enforce, Self::Warn, Self::Audit];
        let place = |level: Self| all.iter().position(|known| *known == level);
        place(self).is_some_and(|own| place(least).is_some_and(|least| own <= least))
    }
}

impl Severity {
    /// All of them.
    const ALL: [Self; 5] = [Self::Critical, Self::High, Self::Medium, Self::Low, Self::Info];

    /// By the word that policies write.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|severity| severity.name() == word)
    }

    /// The place in the order of how bad violations are; what nobody says is last.
    pub fn rank(severity: Option<Self>) -> usize {
        Self::ALL.iter().position(|known| Some(*known) == severity).unwrap_or(Self::ALL.len())
    }

    /// As policies write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
            Self::Info => "info",
        }
    }
}

impl WaiverState {
    /// All states, in the order in which they are counted.
    pub const ALL: [Self; 4] = [Self::Used, Self::Unused, Self::Expired, Self::Pending];

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Unused => "unused",
            Self::Expired => "expired",
            Self::Pending => "pending",
        }
    }
}

/// A kind as a word of a sentence: `landingZone` is a `landing zone`.
pub fn spaced(kind: &str) -> String {
    kind.chars().fold(String::new(), |mut words, character| {
        if character.is_uppercase() {
            words.push(' ');
        }
        words.extend(character.to_lowercase());
        words
    })
}
