//! One pair of objects, held against one rule of a policy.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{At, Level};

/// A pair of objects and a rule, and how that ended.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Check {
    /// A fingerprint that stays as long as policy, rule, objects and workspace do; see [`fingerprint`].
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) workspace: Option<String>,
    pub(crate) policy: String,
    /// The number of the rule in its policy, from zero.
    pub(crate) rule: usize,
    pub(crate) a: Side,
    /// The affected side, where a policy has a direction.
    pub(crate) b: Side,
    pub(crate) strategy: String,
    pub(crate) level: Level,
    pub(crate) state: CheckState,
    /// Whether it passed only because neither side carries the tag.
    pub(crate) vacuous: bool,
    pub(crate) reason: Why,
    /// All of it in one line.
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_seen: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cause: Option<Cause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waiver: Option<Excuse>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) near_miss: Vec<NearMiss>,
    /// The hint of the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) how_to_fix: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fixes: Vec<Fix>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum CheckState {
    Pass,
    /// It does not hold, and is accepted.
    Soft,
    /// It does not hold, and the change that leads to it would be refused.
    Hard,
    /// It does not hold, and a waiver excuses it.
    Waived,
}

/// One object of a pair.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Side {
    /// `kind/id`.
    #[serde(rename = "ref")]
    pub(crate) reference: String,
    pub(crate) kind: String,
    /// What the house calls the kind.
    pub(crate) title: String,
    pub(crate) name: String,
    pub(crate) tag: String,
    pub(crate) values: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<At>,
}

/// Why a check ended so.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Why {
    /// For example `comply.disjoint`.
    pub(crate) code: &'static str,
    /// For example `nothing in common`.
    pub(crate) text: String,
}

/// The change that made a pair disagree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cause {
    pub(crate) action: String,
    pub(crate) actor: String,
    /// What was changed, as `kind/id`.
    pub(crate) object: String,
    pub(crate) at: String,
    /// For example `landingZone/lz-1 moved dev → prod on 2026-02-03 by an administrator`.
    pub(crate) text: String,
}

/// The waiver that excuses a violation.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Excuse {
    pub(crate) id: String,
    pub(crate) reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) category: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ticket: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approved_by: Option<String>,
}

/// Values that are nearly equal.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NearMiss {
    pub(crate) a_value: String,
    pub(crate) b_value: String,
    /// What they differ by, for example `case`.
    pub(crate) kind: String,
}

/// A change that ends a violation.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Fix {
    /// For example `set environment of project/shop to dev`.
    pub(crate) text: String,
    pub(crate) edits: Vec<Edit>,
    pub(crate) by: Actor,
}

/// Who can do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Actor {
    Viewer,
    Administrator,
}

/// One step of a fix.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Edit {
    /// Values of a tag change.
    Tag { object: String, tag: String, add: Vec<String>, remove: Vec<String> },
    /// A relationship ends.
    Unlink { unlink: Link },
}

/// Two objects that have to do with each other.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Link {
    pub(crate) a: String,
    pub(crate) b: String,
}

impl Check {
    /// What all formats are sorted by.
    pub(super) fn order(&self) -> (Option<&str>, &str, usize, &str, &str) {
        (self.workspace.as_deref(), &self.policy, self.rule, &self.a.reference, &self.b.reference)
    }

    /// Makes what is not there yet and follows from the rest.
    pub(super) fn complete(&mut self) {
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

    /// Whether the workspace needs to be named beside the two sides.
    pub(crate) fn workspace_beside(&self) -> Option<&str> {
        self.workspace.as_deref().filter(|workspace| *workspace != self.a.reference && *workspace != self.b.reference)
    }
}

impl CheckState {
    /// As it is printed.
    pub(crate) fn name(self) -> &'static str {
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
    pub(crate) fn id(&self) -> &str {
        self.reference.split_once('/').map_or(self.reference.as_str(), |(_, id)| id)
    }
}

impl Fix {
    /// The text, and whether somebody else has to do it.
    pub(crate) fn told(&self) -> String {
        match self.by {
            Actor::Viewer => self.text.clone(),
            Actor::Administrator => format!("{} (needs an administrator)", self.text),
        }
    }
}

impl Excuse {
    /// `waiver w-1 until 2026-06-01T00:00:00Z: legacy (mitigated, OPS-7, approved by ana)`.
    pub(crate) fn told(&self) -> String {
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
    pub(crate) fn told(&self) -> String {
        format!("{:?} and {:?} differ by {}", self.a_value, self.b_value, self.kind)
    }
}

/// Values in a line: `dev, test, "prod "`.
pub(crate) fn values(values: &[String]) -> String {
    values.iter().map(|value| word(value)).collect::<Vec<_>>().join(", ")
}

/// Text that can stand among other words; in quotes if its ends would not be seen.
pub(crate) fn word(text: &str) -> String {
    // What cannot be seen is written with an escape in quotes.
    let quoted = format!("{text:?}");
    let is_plain = quoted.trim_matches('"') == text && text.trim() == text && !text.contains(['{', '}', ',', ';']);
    if is_plain && !text.is_empty() { text.to_owned() } else { quoted }
}

/// The fingerprint of a check: the same in every run, whatever the values are.
pub(crate) fn fingerprint(policy: &str, rule: usize, a: &str, b: &str, workspace: Option<&str>) -> String {
    let mut digest = Sha256::new();
    let rule = rule.to_string();
    // Lengths keep `ab` and `c` apart from `a` and `bc`; no workspace is not a workspace without a name.
    for part in [policy, &rule, a, b].into_iter().chain(workspace) {
        digest.update(format!("{}:", part.len()));
        digest.update(part);
    }
    // A letter comes first, so that nobody takes it for a number.
    digest.finalize().iter().take(10).fold("v".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}
