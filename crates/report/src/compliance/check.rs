//! One pair of objects, held against one rule of a policy.

use std::borrow::Cow;
use std::fmt::Write;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use upheld_governance::{Harm, words};
use upheld_model::State;

use super::{At, BaselineState, Level, Severity};

/// A pair of objects and a rule, and how that ended.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// A fingerprint that stays as long as policy, rule, objects and workspace do; see [`fingerprint`].
    pub id: String,
    /// Where it belongs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The policy.
    pub policy: String,
    /// The number of the rule in its policy, from zero.
    pub rule: usize,
    /// One side.
    pub a: Side,
    /// The affected side, where a policy has a direction.
    pub b: Side,
    /// How the values must agree.
    pub strategy: String,
    /// What becomes of violations.
    pub level: Level,
    /// How bad a violation is, as the policy says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// How it ended.
    pub state: CheckState,
    /// Whether it passed only because neither side carries the tag.
    pub vacuous: bool,
    /// Why, in a code.
    pub reason: Why,
    /// All of it in one line.
    pub message: String,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<String>,
    /// Who brought it about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// What excuses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiver: Option<AppliedWaiver>,
    /// Values that nearly agree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near_miss: Vec<NearMiss>,
    /// The hint of the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how_to_fix: Option<String>,
    /// fixes for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<Fix>,
    /// Whether it was there before, where an earlier audit is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_state: Option<BaselineState>,
    /// Why there is none, if somebody looked or should have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_fix: Option<Why>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckState {
    /// The sides agree.
    Pass,
    /// It does not hold, and is accepted.
    Soft,
    /// It does not hold, and the change that leads to it would be refused.
    Hard,
    /// It does not hold, and a waiver excuses it.
    Waived,
}

/// One object of a pair.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Side {
    /// `kind/id`.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The kind of the object.
    pub kind: String,
    /// What the house calls the kind.
    pub title: String,
    /// Its name.
    pub name: String,
    /// The tag that is looked at.
    pub tag: String,
    /// The values of the tag.
    pub values: Vec<String>,
    /// Where the object was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

/// Why something is as it is.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// For example `comply.disjoint`.
    pub code: Cow<'static, str>,
    /// For example `nothing in common`.
    pub text: String,
}

/// The change that made a pair disagree.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// What was done.
    pub action: String,
    /// By whom.
    pub actor: String,
    /// What was changed, as `kind/id`.
    pub object: String,
    /// When.
    pub at: String,
    /// For example `landingZone/lz-1 moved dev → prod on 2026-02-03 by an administrator`.
    pub text: String,
}

/// The waiver that excuses a violation.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppliedWaiver {
    /// The waiver.
    pub id: String,
    /// Why it was granted.
    pub reason: String,
    /// Until when it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// Which sort of reason it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Where it was discussed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
    /// Who granted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
}

/// Values that are nearly equal.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NearMiss {
    /// On one side.
    pub a_value: String,
    /// On the other side.
    pub b_value: String,
    /// What they differ by, for example `case`.
    pub kind: String,
}

/// A change that ends a violation.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fix {
    /// For example `set environment of project/shop to dev`.
    pub text: String,
    /// What is to be done.
    pub edits: Vec<Edit>,
    /// Who may do it.
    pub by: Actor,
    /// What it does to others, in words that allow it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub harms: Vec<Cow<'static, str>>,
}

/// Who can do it.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Actor {
    /// Whoever asks.
    Viewer,
    /// Only somebody with more rights.
    Administrator,
}

/// One step of a fix.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Edit {
    /// Values of a tag change.
    Tag {
        /// Of which object.
        object: String,
        /// Which tag.
        tag: String,
        /// Values that it gets.
        add: Vec<String>,
        /// Values that it loses.
        remove: Vec<String>,
    },
    /// A relationship ends.
    Unlink {
        /// Which two.
        unlink: Link,
    },
}

/// Two objects that have to do with each other.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Link {
    /// One object.
    pub a: String,
    /// The other object.
    pub b: String,
}

impl Check {
    /// What all formats are sorted by: the worst first.
    pub fn order(&self) -> (usize, Option<&str>, &str, usize, &str, &str) {
        let severity = Severity::rank(self.severity);
        (severity, self.workspace.as_deref(), &self.policy, self.rule, &self.a.reference, &self.b.reference)
    }

    /// With what follows from the rest.
    #[must_use]
    pub fn completed(mut self) -> Self {
        self.complete();
        self
    }

    /// Makes what is not there yet and follows from the rest.
    pub(crate) fn complete(&mut self) {
        if self.id.is_empty() {
            let workspace = self.workspace.as_deref();
            self.id = fingerprint(&self.policy, self.rule, &self.a.reference, &self.b.reference, workspace);
        }
        if self.message.is_empty() {
            self.message = self.sentence();
        }
    }

    fn sentence(&self) -> String {
        let reason = &self.reason.text;
        if self.is_about_one() {
            return format!("{} {:?} {reason}{}", word(&self.a.title), self.a.name, end(reason));
        }
        let sides = format!("{}; {}: {reason}.", self.a.sentence(), self.b.sentence());
        if self.state == CheckState::Pass { sides } else { format!("{sides} {}", self.wanted()) }
    }

    /// What the rule asks for, in words.
    fn wanted(&self) -> String {
        match self.strategy.as_str() {
            "subset" => {
                let (authoritative, affected) = (word(&self.a.title), word(&self.b.title));
                format!("Every value of the {affected} must be one of the {authoritative}'s, and there must be one.")
            }
            _ => "At least one value must be common.".to_owned(),
        }
    }

    /// Whether it is about a single object, held against what its policy names.
    pub fn is_about_one(&self) -> bool {
        self.a.reference == self.b.reference
    }

    /// The objects that it is about.
    pub fn sides(&self) -> impl Iterator<Item = &Side> {
        [&self.a, &self.b].into_iter().take(if self.is_about_one() { 1 } else { 2 })
    }

    /// Whether the workspace needs to be named beside the two sides.
    pub fn workspace_beside(&self) -> Option<&str> {
        self.workspace.as_deref().filter(|workspace| *workspace != self.a.reference && *workspace != self.b.reference)
    }
}

impl CheckState {
    /// What a rule ended in; what does not count is waived.
    pub(super) fn of(state: State) -> Self {
        match state {
            State::Hard => Self::Hard,
            State::Soft => Self::Soft,
            State::Off => Self::Waived,
            _ => Self::Pass,
        }
    }

    /// Whether it did not pass, excused or not.
    pub fn is_violation(self) -> bool {
        self != Self::Pass
    }

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Soft => "soft",
            Self::Hard => "hard",
            Self::Waived => "waived",
        }
    }
}

impl Side {
    /// `project "shop": environment = prod`.
    fn sentence(&self) -> String {
        let values = if self.values.is_empty() { "(none)".to_owned() } else { values(&self.values) };
        format!("{} {:?}: {} = {values}", word(&self.title), self.name, word(&self.tag))
    }

    /// The name after the slash of the reference.
    pub fn id(&self) -> &str {
        self.reference.split_once('/').map_or(self.reference.as_str(), |(_, id)| id)
    }
}

impl Check {
    /// What would fix it, or why nothing would, in one line; nothing where nobody looked.
    pub fn fix_line(&self) -> Option<String> {
        let told: Vec<String> = self.fixes.iter().map(Fix::sentence).collect();
        if told.is_empty() { self.no_fix_line() } else { Some(format!("fix: {}", told.join("; or "))) }
    }

    /// Why nothing would fix it, if that is so.
    pub fn no_fix_line(&self) -> Option<String> {
        self.no_fix.as_ref().map(|why| format!("no fix was found: {}", why.text))
    }
}

impl Fix {
    /// The text, and whether somebody else has to do it.
    pub fn sentence(&self) -> String {
        let needs = (self.by == Actor::Administrator).then_some("needs an administrator");
        let harms = self.harms.iter().filter_map(|word| Harm::of(word)).map(words::harm);
        let notes: Vec<&str> = harms.chain(needs).collect();
        if notes.is_empty() { self.text.clone() } else { format!("{} ({})", self.text, notes.join(", ")) }
    }
}

impl AppliedWaiver {
    /// `waiver w-1 until 2026-06-01T00:00:00Z: legacy (mitigated, OPS-7, approved by ana)`.
    pub fn sentence(&self) -> String {
        let until = self.expires.as_ref().map(|expires| format!(" until {expires}")).unwrap_or_default();
        let approved = self.approved_by.as_ref().map(|by| format!("approved by {by}"));
        let details: Vec<String> =
            [self.category.clone(), self.ticket.clone(), approved].into_iter().flatten().collect();
        let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
        format!("waiver {}{until}: {}{details}", self.id, self.reason)
    }
}

impl NearMiss {
    /// `"Prod" and "prod" differ by case`.
    pub fn sentence(&self) -> String {
        format!("{:?} and {:?} differ by {}", self.a_value, self.b_value, self.kind)
    }
}

/// A stop, unless the sentence ends already.
fn end(sentence: &str) -> &'static str {
    if sentence.ends_with('?') { "" } else { "." }
}

/// Values in a line: `dev, test, "prod "`.
pub fn values(values: &[String]) -> String {
    values.iter().map(|value| word(value)).collect::<Vec<_>>().join(", ")
}

/// Text that can stand among other words; in quotes if its ends would not be seen.
pub fn word(text: &str) -> String {
    // What cannot be seen is written with an escape in quotes.
    let quoted = format!("{text:?}");
    let is_plain = quoted.trim_matches('"') == text && text.trim() == text && !text.contains(['{', '}', ',', ';']);
    if is_plain && !text.is_empty() { text.to_owned() } else { quoted }
}

/// The fingerprint of a check: the same in every run, whatever the values are.
pub fn fingerprint(policy: &str, rule: usize, a: &str, b: &str, workspace: Option<&str>) -> String {
    let rule = rule.to_string();
    // No workspace is not a workspace without a name.
    fingerprint_of('v', [policy, &rule, a, b].into_iter().chain(workspace))
}

/// A short fingerprint of some texts, after a letter, so that nobody takes it for a number.
pub fn fingerprint_of<'t>(first: char, parts: impl Iterator<Item = &'t str>) -> String {
    let mut written = String::with_capacity(128);
    for part in parts {
        // Lengths keep `ab` and `c` apart from `a` and `bc`. Writing into a string does not fail.
        write!(written, "{}:{part}", part.len()).ok();
    }
    let digest = Sha256::digest(written.as_bytes());
    // There can be millions of them.
    let mut text = String::with_capacity(21);
    text.push(first);
    for byte in digest.iter().take(10) {
        text.extend([byte >> 4, byte & 15].map(|half| char::from_digit(u32::from(half), 16).unwrap_or_default()));
    }
    text
}
