//! Every sentence of a report that is not the reason of a single policy: headlines, how ranking went, remarks. Each is a code
//! with parameters, and its words are made of these alone.

pub(crate) mod access;
pub(crate) mod changes;
mod gaps;
mod holding;
mod mutation;
mod ranking;
mod reaching;
mod remarks;
mod shifting;
pub(crate) mod undecided;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

pub use self::access::{Could, Doubt, Preference, Rivalry};
pub use self::gaps::Gap;
pub use self::holding::Holding;
pub use self::mutation::Mutated;
pub use self::reaching::Reaching;
pub use self::remarks::Remark;
pub(crate) use self::shifting::INVARIANT_NOTE;
pub use self::shifting::Shifting;
use super::Phrase;

/// What a report says as a whole.
#[expect(missing_docs, reason = "fields of sentences are named for what stands in their place")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", content = "parameters", rename_all_fields = "camelCase")]
pub enum Sentence {
    /// One policy was chosen.
    #[serde(rename = "headline.chosen")]
    Chosen { kind: String, about: String, policy: String, because: Phrase, grants: Grants },
    /// Every policy that matches applies.
    #[serde(rename = "headline.all-apply")]
    AllApply { kind: String, about: String, policies: Vec<String>, grants: Grants },
    /// The result is made of the fields of several policies.
    #[serde(rename = "headline.merged")]
    Merged { kind: String, about: String, policies: Vec<String>, grants: Grants },
    /// No policy matches.
    #[serde(rename = "headline.none-matches")]
    NoneMatches {
        kind: String,
        about: String,
        means: Option<String>,
        policies: usize,
        closest: Option<Closest>,
        grants: Grants,
    },
    /// A rule of a route takes a request.
    #[serde(rename = "headline.taken-by-rule")]
    TakenByRule { about: String, request: String, rule: usize, route: String, backends: Vec<String> },
    /// No rule of a route takes a request.
    #[serde(rename = "headline.taken-by-no-rule")]
    TakenByNoRule { about: String, request: String, rules: usize, means: String },
    /// A missing fact could change the answer.
    #[serde(rename = "headline.undecided")]
    Undecided { kind: String, about: String, policy: Option<String>, because: Option<Phrase> },
    /// The answer depends on an identity that was not given.
    #[serde(rename = "headline.by-identity")]
    ByIdentity { kind: String, about: String },
    /// There are more answers than are listed.
    #[serde(rename = "headline.too-many")]
    TooMany { kind: String, limit: usize },

    /// Policies set fields of something.
    #[serde(rename = "headline.effective")]
    Effective {
        kind: String,
        about: String,
        policies: Vec<String>,
        fields: usize,
        overridden: usize,
        /// How many fields rest on the order of names alone.
        #[serde(default, skip_serializing_if = "is_none")]
        tied: usize,
    },
    /// No policy sets anything; the rules of a route may do so themselves.
    #[serde(rename = "headline.no-policy")]
    NoPolicy { kinds: Vec<String>, about: String, fields: usize },
    /// The one policy that would apply is refused.
    #[serde(rename = "headline.refused")]
    Refused { kind: String, about: String },
    /// Requests are answered with an error.
    #[serde(rename = "headline.broken")]
    Broken { about: String, problems: Vec<String> },

    /// A policy permits or denies a request.
    #[serde(rename = "headline.decided")]
    Decided {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<String>,
        decision: String,
        policy: String,
        rivalry: Option<Rivalry>,
    },
    /// The default effect permits or denies it.
    #[serde(rename = "headline.by-default")]
    ByDefault {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<String>,
        decision: String,
        policies: usize,
        closest: Option<Closest>,
        fits: usize,
        clauses: usize,
        /// Policies that may apply; the default says the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        uncertain: Vec<String>,
    },
    /// The combining algorithm permits or denies it by itself.
    #[serde(rename = "headline.by-algorithm")]
    ByAlgorithm {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<String>,
        decision: String,
        algorithm: String,
        /// The set whose algorithm it is, if it is not the outermost one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        set: Option<String>,
    },
    /// The default of a set inside permits or denies it.
    #[serde(rename = "headline.by-set-default")]
    BySetDefault {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<String>,
        decision: String,
        set: String,
    },
    /// Nobody can tell whether it is permitted.
    #[serde(rename = "headline.doubtful")]
    Doubtful {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<String>,
        could: Could,
        doubt: Doubt,
    },

    /// No rule is about two objects.
    #[serde(rename = "headline.no-rule")]
    NoRule { a: String, b: String, related: bool },
    /// Two objects comply with every rule about them.
    #[serde(rename = "headline.complies")]
    Complies { a: String, b: String, rules: usize, related: bool },
    /// They violate rules, and every violation is waived.
    #[serde(rename = "headline.waived")]
    Waived {
        a: String,
        b: String,
        policies: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        waivers: Vec<String>,
        related: bool,
    },
    /// They violate rules.
    #[serde(rename = "headline.violates")]
    Violates { a: String, b: String, policies: Vec<String>, because: Option<Phrase>, related: bool },

    /// A rung separated the winner from the runner-up.
    #[serde(rename = "ranking.rung")]
    Rung { number: usize, of: usize, name: String, arbitrary: bool, not_needed: Option<String> },
    /// A missing fact keeps ranking from an end.
    #[serde(rename = "ranking.undecided")]
    RankingUndecided,
    /// Nothing is ranked: all that match apply.
    #[serde(rename = "ranking.all-apply")]
    RankingAllApply,
    /// There was nothing to rank.
    #[serde(rename = "ranking.only-one")]
    RankingOnlyOne,
    /// Layers were ordered, and folded field by field.
    #[serde(rename = "ranking.layers")]
    RankingLayers { rungs: Vec<String> },
    /// A profile says how policies meet.
    #[serde(rename = "ranking.profile")]
    RankingProfile { profile: String },
    /// One policy counts as a whole at each target.
    #[serde(rename = "ranking.wholes")]
    RankingWholes { merges: bool },
    /// Field by field, the first policy wins.
    #[serde(rename = "ranking.fields")]
    RankingFields,
    /// Levels meet in these ways.
    #[serde(rename = "ranking.levels")]
    RankingLevels { joins: Vec<String> },
}

/// What an answer means for a caller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Grants {
    /// It is not about permissions.
    #[default]
    NotAsked,
    /// The connection is allowed.
    Allowed,
    /// The connection is refused.
    Refused,
    /// It would be refused if identities were checked.
    NotEnforced,
    /// The policy was chosen, and does not grant the connection.
    NotGranted(Phrase),
    /// The policy was chosen, and grants the connection.
    Granted,
}

/// The policy that nearly applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Closest {
    /// Its name.
    pub policy: String,
    /// Why it does not apply.
    pub because: Phrase,
}

impl From<Sentence> for Phrase {
    fn from(sentence: Sentence) -> Self {
        phrase(&sentence, sentence.text())
    }
}

/// A sentence that is written down as a code with parameters.
fn phrase(sentence: &impl Serialize, text: String) -> Phrase {
    let (mut code, mut parameters) = (String::new(), Map::new());
    if let Ok(Json::Object(mut fields)) = serde_json::to_value(sentence) {
        if let Some(Json::String(own)) = fields.remove("code") {
            code = own;
        }
        if let Some(Json::Object(own)) = fields.remove("parameters") {
            parameters = own;
        }
    }
    Phrase { code: code.into(), parameters, text }
}

/// How many policies a headline names.
const NAMED: usize = 3;

impl Sentence {
    /// In words.
    pub fn text(&self) -> String {
        match self {
            Self::Chosen { kind, about, policy, because, grants } => {
                let decides = format!("{}{policy} decides {kind} for {about}: {}.", grants.gist(about), because.text);
                match grants {
                    Grants::Granted => format!("{decides} It grants the connection."),
                    Grants::NotGranted(why) => format!("{decides} It does not grant the connection: {}.", why.text),
                    _ => decides,
                }
            }
            Self::AllApply { kind, about, policies, grants } => {
                let names = policies.join(", ");
                match (grants, policies.len()) {
                    (Grants::NotAsked, 1) => format!("1 {kind} policy applies to {about}: {names}."),
                    (Grants::NotAsked, count) => {
                        format!("All {count} {kind} policies that match {about} apply: {names}.")
                    }
                    (_, 1) => format!("{about} is allowed by 1 {kind}: {names}."),
                    (_, count) => format!("{about} is allowed by {count} {kind} policies: {names}."),
                }
            }
            Self::Merged { kind, about, policies, grants } => {
                let from = match policies.as_slice() {
                    [only] => only.clone(),
                    several => format!("{} policies: {}", several.len(), several.join(", ")),
                };
                format!("{}{kind} for {about} comes from {from}.", grants.gist(about))
            }
            Self::NoneMatches { kind, about, means, policies, closest, grants } => {
                let means = means.as_ref().map(|means| format!(": {means}")).unwrap_or_default();
                let none = format!("{}No {kind} policy matches {about}{means}.", grants.gist(about));
                match (closest, policies) {
                    (_, 0) => format!("{none} There is none here."),
                    (None, 1) => format!("{none} 1 looked at."),
                    (None, count) => format!("{none} {count} looked at."),
                    (Some(Closest { policy, because }), count) => {
                        format!("{none} {count} looked at; closest is {policy} ({}).", because.text)
                    }
                }
            }
            Self::TakenByRule { about, request, rule, route, backends } => {
                let backends = backends.join(", ");
                format!("{request} for {about} goes to {backends}: rule {rule} of {route} takes it.")
            }
            Self::TakenByNoRule { about, request, rules, means } => {
                let rules = super::counted(*rules, "rule", "rules");
                format!("No rule of a route takes {request} for {about}: {means}. {rules} looked at.")
            }
            Self::Undecided { kind, about, policy, because } => {
                let because = because.as_ref().map(|because| because.text.as_str());
                match (policy, because) {
                    (Some(policy), Some(because)) => {
                        format!("{kind} for {about} is undecided: {policy} could change it ({because}).")
                    }
                    (Some(policy), None) => format!("{kind} for {about} is undecided: {policy} could change it."),
                    (None, Some(because)) => format!("{kind} for {about} is undecided: {because}."),
                    (None, None) => format!("{kind} for {about} is undecided."),
                }
            }
            Self::ByIdentity { kind, about } => format!(
                "{kind} for {about} is undecided: it depends on the identity of the caller; ask with `--from spiffe://…`."
            ),
            Self::TooMany { kind, limit } => format!(
                "{kind}: there are more groups of clients than the {limit} that are listed; ask for one with --from."
            ),
            Self::Effective { kind, about, policies, fields, overridden, tied } => {
                let many = policies.len() > NAMED;
                let from = if many { format!("{} policies", policies.len()) } else { policies.join(", ") };
                let (set, lost) = (counted(*fields, "field", "fields"), counted(*overridden, "value", "values"));
                let tied = match tied {
                    0 => String::new(),
                    1 => "; 1 rests on the order of names alone".to_owned(),
                    tied => format!("; {tied} rest on the order of names alone"),
                };
                format!("{kind} of {about} comes from {from}; {set} set, {lost} overridden{tied}.")
            }
            Self::NoPolicy { kinds, about, fields } => {
                let none = match kinds.as_slice() {
                    [kind] => format!("No {kind} applies to {about}"),
                    _ => format!("No policy applies to {about}"),
                };
                let own = counted(*fields, "field", "fields");
                let own =
                    if *fields == 0 { String::new() } else { format!("; the rules of the route set {own} themselves") };
                let looked =
                    if kinds.len() > 1 { format!(" Looked for: {}.", kinds.join(", ")) } else { String::new() };
                format!("{none}{own}.{looked}")
            }
            Self::Refused { kind, about } => format!("No {kind} holds for {about}: the one that would is refused."),
            Self::Broken { about, problems } => match problems.as_slice() {
                [] => format!("{about} answers with an error."),
                [problem] => format!("{about} answers with an error: {problem}."),
                [first, rest @ ..] => {
                    let more = counted(rest.len(), "more mistake", "more mistakes");
                    format!("{about} answers with an error: {first}; and {more}.")
                }
            },
            Self::Decided { .. }
            | Self::ByDefault { .. }
            | Self::ByAlgorithm { .. }
            | Self::BySetDefault { .. }
            | Self::Doubtful { .. } => access::text(self),
            Self::NoRule { a, b, related } => not_related(format!("No policy is about {}.", both(a, b)), *related),
            Self::Complies { a, b, rules, related } => {
                let rules = match rules {
                    1 => "the one rule".to_owned(),
                    2 => "both rules".to_owned(),
                    rules => format!("all {rules} rules"),
                };
                let text = if a == b {
                    format!("{a} complies with {rules} about it.")
                } else {
                    format!("{a} and {b} comply with {rules} about them.")
                };
                not_related(text, *related)
            }
            Self::Waived { a, b, policies, waivers, related } => {
                let is = if policies.len() == 1 { "is" } else { "are" };
                let by = if waivers.is_empty() { String::new() } else { format!(" by {}", waivers.join(", ")) };
                let (both, violate) = (both(a, b), violate(a, b));
                not_related(format!("{both} {violate} {}, which {is} waived{by}.", policies.join(", ")), *related)
            }
            Self::Violates { a, b, policies, because, related } => {
                let (both, violate) = (both(a, b), violate(a, b));
                let text = match (policies.as_slice(), because) {
                    ([one], Some(because)) if because.text.ends_with('?') => {
                        format!("{both} {violate} {one}: {}", because.text)
                    }
                    ([one], Some(because)) => format!("{both} {violate} {one}: {}.", because.text),
                    ([one], None) => format!("{both} {violate} {one}."),
                    (several, _) => format!("{both} {violate} {} rules: {}.", several.len(), several.join(", ")),
                };
                not_related(text, *related)
            }
            Self::Rung { .. }
            | Self::RankingUndecided
            | Self::RankingAllApply
            | Self::RankingOnlyOne
            | Self::RankingLayers { .. }
            | Self::RankingProfile { .. }
            | Self::RankingWholes { .. }
            | Self::RankingFields
            | Self::RankingLevels { .. } => ranking::text(self),
        }
    }
}

impl Grants {
    /// What it means for the caller, before the sentence about policies.
    fn gist(&self, about: &str) -> String {
        match self {
            Self::Allowed => format!("{about} is allowed. "),
            Self::Refused => format!("{about} is refused. "),
            Self::NotEnforced => {
                format!("{about} would be refused, but nothing enforces it. ")
            }
            Self::NotAsked | Self::Granted | Self::NotGranted(_) => String::new(),
        }
    }
}

/// Two objects, or the one that it is about.
fn both(a: &str, b: &str) -> String {
    if a == b { a.to_owned() } else { format!("{a} and {b}") }
}

fn violate(a: &str, b: &str) -> &'static str {
    if a == b { "violates" } else { "violate" }
}

fn not_related(text: String, related: bool) -> String {
    if related { text } else { format!("{text} They are not related.") }
}

/// A number with its noun: `1 pair`, `2 pairs`.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
fn is_none(number: &usize) -> bool {
    *number == 0
}

/// A port that nobody has, and those that there are.
pub(crate) fn missing_port(kind: &str, port: &str, ports: &[String]) -> String {
    format!("refers to the port {port} of a {kind}, which has the ports {}", ports.join(", "))
}

/// What a policy is about instead: by name, the first few of them.
pub(crate) fn other_targets(kind: &str, names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => format!("is about {kind} {shown}"),
        more => format!("is about {kind} {shown} and {more} more"),
    }
}
