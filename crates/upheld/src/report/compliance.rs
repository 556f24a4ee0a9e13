//! What an audit found: who agrees with whom, who does not, and what is excused. All formats are made of this.

mod answers;
mod check;
mod fill;
#[cfg(test)]
pub(crate) mod sample;

pub(crate) use answers::{Planned, PlannedFlip, PlannedStep, Relation, Remedy, Ruled, begun, mended_refused, refused};
#[cfg(test)]
pub(crate) use check::{Actor, Edit, Link, Why, fingerprint};
pub(crate) use check::{Cause, Check, CheckState, Excuse, Fix, NearMiss, Side, values, word};
pub(crate) use fill::{Fixes, MENDED, Passes, Wanted, audit, held_against, mended, violated, waiver_lines};

use serde::Serialize;

use super::At;

/// A whole audit. Whoever fills it calls [`Audit::finished`] at the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Audit {
    /// The first sentence; [`Audit::finished`] makes it.
    pub(crate) answer: String,
    pub(crate) semantics: String,
    /// The moment of the audit, RFC 3339 in UTC.
    pub(crate) now: String,
    /// The digest of what was read.
    pub(crate) snapshot: Option<String>,
    /// What the audit was cut to.
    pub(crate) filters: Vec<Filter>,
    /// How many pairs of objects were looked at, each once.
    pub(crate) pairs: usize,
    /// All policies, also silent ones and those that are off.
    pub(crate) policies: Vec<PolicyLine>,
    /// The sums over all policies; [`Audit::finished`] makes them.
    pub(crate) summary: Counts,
    /// Every check of a pair by a rule. Those that passed are there only for formats that list them.
    pub(crate) checks: Vec<Check>,
    pub(crate) waivers: Vec<WaiverLine>,
    /// Policies that could not be judged.
    pub(crate) errors: Vec<Unjudged>,
}

/// One thing that an audit was cut to, for example `workspace` and `workspace/shop`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Filter {
    pub(crate) by: String,
    pub(crate) value: String,
}

impl Filter {
    /// What people read: `policy env`, and `workspace/shop`, which says itself what it is.
    pub(crate) fn told(&self) -> String {
        match self.value.split_once('/') {
            Some((kind, _)) if kind == self.by => self.value.clone(),
            _ => format!("{} {}", self.by, self.value),
        }
    }
}

/// How many checks ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) hard: usize,
    pub(crate) soft: usize,
    pub(crate) waived: usize,
    /// How many of those that passed did so because neither side carries the tag.
    pub(crate) vacuous: usize,
}

/// A policy, and how its checks ended.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PolicyLine {
    pub(crate) id: String,
    pub(crate) level: Level,
    pub(crate) strategy: String,
    pub(crate) a: Subject,
    pub(crate) b: Subject,
    /// How many pairs it speaks about.
    pub(crate) pairs: usize,
    /// By pair and rule.
    #[serde(flatten)]
    pub(crate) counts: Counts,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) how_to_fix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) severity: Option<Severity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<At>,
}

/// One side of a policy: a kind, and its tag in each rule.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Subject {
    pub(crate) kind: String,
    pub(crate) tags: Vec<String>,
}

/// How much a policy may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Level {
    Enforce,
    Warn,
    Audit,
    Off,
}

/// How much a violation matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Severity {
    Critical,
    High,
    Medium,
    Low,
    Info,
}

/// A waiver, and what it is good for.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WaiverLine {
    pub(crate) id: String,
    pub(crate) policy: String,
    pub(crate) state: WaiverState,
    /// How many violations it covers.
    pub(crate) covers: usize,
    pub(crate) reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<At>,
}

/// Whether a waiver does anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum WaiverState {
    /// It covers something.
    Used,
    /// It holds and covers nothing.
    Unused,
    Expired,
    /// It begins later.
    Pending,
}

/// A policy that could not be judged, and why.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Unjudged {
    pub(crate) policy: String,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<At>,
}

impl Audit {
    /// The audit in the order in which everything is printed, with sums, sentences and fingerprints where there are none yet.
    pub(crate) fn finished(mut self) -> Self {
        for check in &mut self.checks {
            check.complete();
        }
        self.checks.sort_by(|left, right| left.order().cmp(&right.order()));
        self.policies.sort_by(|left, right| left.id.cmp(&right.id));
        self.waivers.sort_by(|left, right| left.id.cmp(&right.id));
        self.errors.sort_by(|left, right| (&left.policy, &left.message).cmp(&(&right.policy, &right.message)));
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
        if self.pairs == 0 {
            return format!("There are no pairs to check against {policies}.");
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
        format!("{} checked against {policies}{checks}: {passed} {verb}{told}.", counted(self.pairs, "pair", "pairs"))
    }

    /// Checks that did not pass, also those that are waived.
    pub(crate) fn violations(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.state != CheckState::Pass)
    }

    /// Violations that ended in a state.
    pub(crate) fn ended(&self, state: CheckState) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(move |check| check.state == state)
    }

    /// The policy with this id, of a finished audit.
    pub(crate) fn policy(&self, id: &str) -> Option<&PolicyLine> {
        let index = self.policies.binary_search_by(|policy| policy.id.as_str().cmp(id)).ok()?;
        self.policies.get(index)
    }

    /// What programs get as JSON and YAML: everything but the checks that passed.
    pub(crate) fn document(&self) -> impl Serialize + '_ {
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
            policies: &self.policies,
            violations: self.violations().collect(),
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
    policies: &'a [PolicyLine],
    violations: Vec<&'a Check>,
    waivers: &'a [WaiverLine],
    errors: &'a [Unjudged],
}

impl Counts {
    /// How many checks there are.
    pub(crate) fn all(self) -> usize {
        self.passed + self.violations() + self.waived
    }

    /// How many of them failed and are not excused.
    pub(crate) fn violations(self) -> usize {
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

impl Level {
    /// As policies write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Warn => "warn",
            Self::Audit => "audit",
            Self::Off => "off",
        }
    }
}

impl Severity {
    /// All of them.
    const ALL: [Self; 5] = [Self::Critical, Self::High, Self::Medium, Self::Low, Self::Info];

    /// By the word that policies write.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|severity| severity.name() == word)
    }

    /// As policies write it.
    pub(crate) fn name(self) -> &'static str {
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
    pub(crate) const ALL: [Self; 4] = [Self::Used, Self::Unused, Self::Expired, Self::Pending];

    /// As it is printed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Unused => "unused",
            Self::Expired => "expired",
            Self::Pending => "pending",
        }
    }
}

/// A kind as a word of a sentence: `landingZone` is a `landing zone`.
pub(crate) fn spaced(kind: &str) -> String {
    kind.chars().fold(String::new(), |mut words, character| {
        if character.is_uppercase() {
            words.push(' ');
        }
        words.extend(character.to_lowercase());
        words
    })
}

/// `1 pair`, `2 pairs`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
