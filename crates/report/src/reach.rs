//! Which of all known requests are permitted.

use serde::Serialize;
use serde_json::{Map, Value as Json};
use upheld_engine::Snapshot;

use crate::stamp::Stamp;
use crate::{Closest, Duty, Phrase};

/// Requests with something in common, each with what it gets.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reach {
    /// The sentence that answers.
    pub headline: Phrase,
    /// The kind of policy that decided.
    pub policy_kind: String,
    /// The parts of the requests that were looked for in the directory: `subject`, `resource`, `action`.
    pub sought: Vec<&'static str>,
    /// How many requests got what.
    pub counts: ReachCounts,
    /// The requests that are permitted or undecided, and the others if they were asked for.
    pub items: Vec<ReachedRow>,
    /// Where to go on, if this is not all.
    pub next: Option<String>,
    /// The edition of the rules.
    #[serde(skip)]
    pub semantics: Option<String>,
}

/// How many requests got what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReachCounts {
    /// All that were asked.
    pub decided: usize,
    /// Those that are permitted.
    pub permitted: usize,
    /// Those that are denied.
    pub denied: usize,
    /// Those that nobody can decide.
    pub undecided: usize,
}

/// A request, and what it gets. What the question names is not repeated.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReachedRow {
    /// Who was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<ReachedEntity>,
    /// What was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<ReachedEntity>,
    /// Which action was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<ReachedAction>,
    /// `permit`, `deny`, `undecided` or, in the compatibility edition, `foreign`; only `permit` opens.
    pub decision: &'static str,
    /// The policy that decided; the default has no name.
    pub policy: Option<String>,
    /// What the policy says about itself, or why there is no decision.
    pub reason: Option<String>,
    /// For what is undecided, what it depends on first: a policy or set, with what is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Closest>,
    /// For what is undecided, all policies of which nobody knows whether they apply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// What must be done along with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub obligations: Vec<Duty>,
    /// What may be done along with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Duty>,
    /// The request, to ask it again.
    pub request: Json,
}

/// A subject or a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReachedEntity {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its id.
    pub id: String,
}

/// An action.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReachedAction {
    /// Its name.
    pub name: String,
    /// Which of the values that its properties can have.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub properties: Map<String, Json>,
}

impl Reach {
    /// The whole document.
    pub fn document(&self, snapshot: &Snapshot) -> Json {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Document<'a> {
            api_version: &'static str,
            kind: &'static str,
            #[serde(flatten)]
            stamp: Stamp,
            #[serde(flatten)]
            reach: &'a Reach,
        }
        let stamp = Stamp::new(snapshot, self.semantics.as_deref());
        let document = Document { api_version: "upheld/v2", kind: "Reach", stamp, reach: self };
        serde_json::to_value(document).unwrap_or_default()
    }
}

impl ReachedEntity {
    /// In a word: `user/ann`.
    pub fn word(&self) -> String {
        format!("{}/{}", self.kind, self.id)
    }
}

impl ReachedAction {
    /// In words: `archive method=POST`.
    pub fn words(&self) -> String {
        let value = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let properties = self.properties.iter().map(|(name, own)| format!(" {name}={}", value(own)));
        format!("{}{}", self.name, properties.collect::<String>())
    }
}
