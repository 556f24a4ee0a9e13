//! Which changes of policies tests notice.

use serde::Serialize;
use serde_json::Value as Json;
use upheld_engine::decide::{Binding, Clause, Mutation};

use super::{At, Mutated, Phrase, counted};

/// Policies were changed one clause at a time, and tests asked again.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MutationReport {
    /// How many changes some test notices.
    pub noticed: usize,
    /// How many changes there are.
    pub of: usize,
    /// How many tests were asked: those that ask the policies and passed.
    pub tests: usize,
    /// The same in a sentence.
    pub headline: Phrase,
    /// Changes that no test notices, policy by policy.
    pub survivors: Vec<Survivor>,
    /// A test that would notice one of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested: Option<SuggestedTest>,
}

/// A change of a policy that no test notices.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Survivor {
    /// The kind of the policy.
    pub kind: String,
    /// Its name, or that of a set; `(default)` is the default effect.
    pub policy: String,
    /// What is otherwise.
    pub change: Phrase,
    /// Where it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

/// A test that would notice a change.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SuggestedTest {
    /// What it could be called.
    pub name: String,
    /// What it asks.
    pub request: Json,
    /// What the policies say as they are.
    pub expect: Json,
}

impl MutationReport {
    /// Of the changes that nobody noticed.
    pub fn new(noticed: usize, tests: usize, survivors: Vec<Survivor>, suggested: Option<SuggestedTest>) -> Self {
        let of = noticed + survivors.len();
        Self { noticed, of, tests, headline: Mutated::Noticed { noticed, of, tests }.into(), survivors, suggested }
    }

    /// The changes that no test notices, policy by policy.
    pub fn by_policy(&self) -> impl Iterator<Item = &[Survivor]> {
        self.survivors.chunk_by(|one, other| (&one.kind, &one.policy) == (&other.kind, &other.policy))
    }

    /// What can be done about changes that no test notices.
    pub fn hint(&self) -> &'static str {
        match self.suggested {
            Some(_) => "This test would notice one of them. Add it if what it expects is right:",
            None => "To notice a change, add a test whose request is decided otherwise with it.",
        }
    }
}

/// What is wrong with a change that survives.
pub const UNNOTICED: &str = "no test notices this change";

impl Survivor {
    /// What is changed of whom, as the name of a check.
    pub fn name(&self) -> String {
        format!("{}: {}", self.policy, self.change.text)
    }
}

/// If a policy could as well be taken away, that says it all: its first change, and how many others there are.
pub fn untested(survivors: &[Survivor]) -> Option<(&Survivor, String)> {
    let removed = survivors.iter().find(|survivor| survivor.change.code == REMOVED)?;
    let text = &removed.change.text;
    let others = match survivors.len() - 1 {
        0 => return Some((removed, text.clone())),
        others => counted(others, "other change", "other changes"),
    };
    Some((removed, format!("{text}, and {others} of it")))
}

/// The code of a policy that is taken away.
const REMOVED: &str = "mutation.removed";

impl SuggestedTest {
    /// As it is written into a document with tests.
    pub fn case(&self) -> String {
        let Self { name, request, expect } = self;
        format!("- name: {}\n  request: {}\n  expect: {}\n", Json::from(name.as_str()), flow(request), flow(expect))
    }
}

/// What is otherwise, in words; `called` is what the kind of the policy calls its clauses.
pub fn mutated(mutation: &Mutation, called: impl Fn(Clause) -> String) -> Mutated {
    match mutation {
        Mutation::Effect { was, becomes } => {
            Mutated::Effect { was: was.word().to_owned(), becomes: becomes.word().to_owned() }
        }
        Mutation::Removed => Mutated::Removed,
        Mutation::Alternative { clause, asks } => {
            Mutated::Alternative { clause: called(*clause), asks: asks.to_string() }
        }
        Mutation::Everything { clause, asks } => {
            Mutated::Everything { clause: called(*clause), asks: asks.to_string() }
        }
        Mutation::Test { clause, was, becomes } => {
            Mutated::Test { clause: called(*clause), was: was.to_string(), becomes: becomes.to_string() }
        }
        Mutation::Values { field, was, becomes } => {
            Mutated::Values { field: field.to_string(), was: was.to_string(), becomes: becomes.to_string() }
        }
        Mutation::Condition { asks } => Mutated::Condition { asks: asks.to_string() },
        Mutation::Duty { binding, id } => {
            let binding = match binding {
                Binding::Obligation => "obligation",
                Binding::Advice => "advice",
            };
            Mutated::Duty { binding: binding.to_owned(), id: id.to_string() }
        }
        Mutation::Priority { was } => Mutated::Priority { was: *was },
        Mutation::Default { was, becomes } => {
            Mutated::Default { was: was.word().to_owned(), becomes: becomes.word().to_owned() }
        }
        Mutation::Target { asks } => Mutated::Target { asks: asks.to_string() },
    }
}

/// A value in one line of YAML.
fn flow(value: &Json) -> String {
    match value {
        Json::Object(map) => {
            let entries = map.iter().map(|(key, value)| format!("{}: {}", plain(key), flow(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Json::String(text) => plain(text),
        other => other.to_string(),
    }
}

/// A text, in quotes wherever it could be taken for something else.
fn plain(text: &str) -> String {
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let begins = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/');
    let harmless = |character: char| character.is_ascii_alphanumeric() || "_/.-".contains(character);
    if begins && text.chars().all(harmless) && !words.contains(&text.to_ascii_lowercase().as_str()) {
        text.to_owned()
    } else {
        Json::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_sentence_is_made_of_its_code_and_parameters() {
        let text = || "a".to_owned();
        let all = [
            (Mutated::Effect { was: "permit".into(), becomes: "deny".into() }, "effect deny instead of permit"),
            (Mutated::Removed, "without the policy"),
            (Mutated::Alternative { clause: "subjects".into(), asks: text() }, "subjects without a"),
            (Mutated::Everything { clause: "subjects".into(), asks: text() }, "any subjects instead of a"),
            (
                Mutated::Test { clause: "subjects".into(), was: "a b".into(), becomes: text() },
                "subjects a instead of a b",
            ),
            (
                Mutated::Values { field: "path".into(), was: "/a/*".into(), becomes: "/a/**".into() },
                "path /a/** instead of /a/*",
            ),
            (Mutated::Condition { asks: "time 22:00-06:00".into() }, "without the condition time 22:00-06:00"),
            (Mutated::Duty { binding: "obligation".into(), id: text() }, "without the obligation a"),
            (Mutated::Priority { was: 90.0 }, "priority 0 instead of 90"),
            (
                Mutated::Default { was: "deny".into(), becomes: "permit".into() },
                "default effect permit instead of deny",
            ),
            (Mutated::Target { asks: text() }, "without the target a"),
            (Mutated::Noticed { noticed: 37, of: 41, tests: 24 }, "37 of 41 changes are noticed by 24 tests."),
            (Mutated::Noticed { noticed: 1, of: 1, tests: 1 }, "1 of 1 change is noticed by 1 test."),
            (Mutated::Noticed { noticed: 0, of: 0, tests: 3 }, "There are no access policies to change."),
            (
                Mutated::Noticed { noticed: 0, of: 3, tests: 0 },
                "No test that passes asks access policies, so 3 changes would not be noticed.",
            ),
        ];
        for (sentence, expected) in all {
            let phrase = Phrase::from(sentence);
            assert_eq!(phrase.text, expected);
            assert!(phrase.code.starts_with("mutation."), "{}", phrase.code);
            assert_eq!(phrase.again().as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_policy_that_could_be_taken_away_is_told_in_one_line() {
        let survivor = |change: Mutated| Survivor {
            kind: "AccessPolicy".into(),
            policy: "p".into(),
            change: change.into(),
            at: None,
        };
        let priority = || survivor(Mutated::Priority { was: 1.0 });
        assert!(untested(&[priority()]).is_none());
        let text = |all: &[Survivor]| untested(all).expect("could be taken away").1;
        assert_eq!(text(&[survivor(Mutated::Removed)]), "without the policy");
        assert_eq!(text(&[priority(), survivor(Mutated::Removed)]), "without the policy, and 1 other change of it");
    }

    #[test]
    fn a_suggested_test_is_yaml() {
        let test = SuggestedTest {
            name: "p: any \"subjects\"".into(),
            request: json!({"subject": {"roles": ["a", "on"], "claims": {"x": 1}}, "resource": {"path": "/a b"}}),
            expect: json!({"decision": "deny", "policy": "(default)"}),
        };
        assert_eq!(
            test.case(),
            "- name: \"p: any \\\"subjects\\\"\"\n  \
             request: {subject: {roles: [a, \"on\"], claims: {x: 1}}, resource: {path: \"/a b\"}}\n  \
             expect: {decision: deny, policy: \"(default)\"}\n"
        );
    }
}
