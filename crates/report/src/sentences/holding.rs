//! What invariants come to.

use serde::{Deserialize, Serialize};

use super::{Phrase, counted, phrase};
use crate::{Breach, Certainty};

/// Something that is to be said about an invariant.
#[expect(missing_docs, reason = "fields of sentences are named for what stands in their place")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", content = "parameters", rename_all_fields = "camelCase")]
pub enum Holding {
    /// It holds for all requests that there could be.
    #[serde(rename = "invariant.every-request")]
    EveryRequest { classes: usize },
    /// All requests that there could be are decided as before.
    #[serde(rename = "invariant.as-before")]
    AsBefore { classes: usize },
    /// It holds for everything that was read.
    #[serde(rename = "invariant.everything-read")]
    EverythingRead { count: u64, one: String, many: String },
    /// There is nothing that it is about.
    #[serde(rename = "invariant.nothing")]
    Nothing { many: String },
    /// It does not hold.
    #[serde(rename = "invariant.broken")]
    Broken { policies: Vec<String>, says: String, size: String, example: String, command: String, others: usize },
    /// A bound was met.
    #[serde(rename = "invariant.bound")]
    Bound { bound: String },
    /// It may not hold.
    #[serde(rename = "invariant.may-be-broken")]
    May { policies: Vec<String>, says: String, example: String, unless: Vec<String> },
}

impl Holding {
    pub(crate) fn broken(breach: &Breach, others: usize) -> Self {
        Self::Broken {
            policies: breach.policies.clone(),
            says: breach.says.clone(),
            size: breach.size.text(),
            example: breach.example.what.clone(),
            command: breach.example.command.clone(),
            others,
        }
    }

    pub(crate) fn may(breach: &Breach) -> Self {
        let unless = match &breach.certainty {
            Certainty::Sure => Vec::new(),
            Certainty::May { unless } => unless.clone(),
        };
        let (policies, says) = (breach.policies.clone(), breach.says.clone());
        Self::May { policies, says, example: breach.example.what.clone(), unless }
    }

    /// In words.
    pub fn text(&self) -> String {
        match self {
            Self::EveryRequest { classes } => {
                format!(
                    "It holds for every possible request ({}).",
                    counted(*classes, "kind of path", "kinds of paths")
                )
            }
            Self::AsBefore { classes: 0 } => "No policy changed that decides such a request.".to_owned(),
            Self::AsBefore { classes } => {
                format!(
                    "Every possible request is decided as before ({}).",
                    counted(*classes, "kind of path", "kinds of paths")
                )
            }
            Self::EverythingRead { count: 1, one, .. } => format!("It holds for the 1 {one} that there is."),
            Self::EverythingRead { count, many, .. } => format!("It holds for all {count} {many}."),
            Self::Nothing { many } => format!("It holds, because there are no such {many}."),
            Self::Broken { policies, says, size, example, command, others } => {
                let others = match others {
                    0 => String::new(),
                    1 => " There is 1 more.".to_owned(),
                    others => format!(" There are {others} more."),
                };
                let size = if size.starts_with("1 ") { String::new() } else { format!(" ({size})") };
                format!("{} {example}{size}: {command}.{others}", sayer(policies, says))
            }
            Self::Bound { bound } => format!("Nobody can tell whether it holds: {bound}."),
            Self::May { policies, says, example, unless } => {
                let unless: Vec<String> = unless.iter().map(|one| format!("`{one}`")).collect();
                let fits = if unless.is_empty() { "such a request".to_owned() } else { unless.join(" and ") };
                format!("{} {example}, if {fits} can be so; no request was found that shows it.", sayer(policies, says))
            }
        }
    }
}

/// `user-read permits`, or what an object has.
fn sayer(policies: &[String], says: &str) -> String {
    if policies.is_empty() { says.to_owned() } else { format!("{} {says}", policies.join(" and ")) }
}

impl From<Holding> for Phrase {
    fn from(holding: Holding) -> Self {
        phrase(&holding, holding.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invariants_are_sentences_and_made_again_of_their_parameters() {
        let broken = |policies: &[&str], says: &str, size: &str, others| Holding::Broken {
            policies: policies.iter().map(|name| (*name).to_owned()).collect(),
            says: says.to_owned(),
            size: size.to_owned(),
            example: "GET /admin".to_owned(),
            command: "upheld explain --resource /admin".to_owned(),
            others,
        };
        for (sentence, text) in [
            (Holding::EveryRequest { classes: 3 }, "It holds for every possible request (3 kinds of paths)."),
            (Holding::AsBefore { classes: 1 }, "Every possible request is decided as before (1 kind of path)."),
            (Holding::AsBefore { classes: 0 }, "No policy changed that decides such a request."),
            (
                Holding::EverythingRead { count: 4, one: "connection".into(), many: "connections".into() },
                "It holds for all 4 connections.",
            ),
            (
                broken(&["user-read"], "permits", "1 kind of request", 0),
                "user-read permits GET /admin: upheld explain --resource /admin.",
            ),
            (
                broken(&["a", "b"], "permit", "2 kinds of requests", 1),
                "a and b permit GET /admin (2 kinds of requests): upheld explain --resource /admin. There is 1 more.",
            ),
            (
                Holding::Bound { bound: "it takes more than 10 steps".into() },
                "Nobody can tell whether it holds: it takes more than 10 steps.",
            ),
        ] {
            let phrase = Phrase::from(sentence);
            assert_eq!(phrase.text, text);
            assert_eq!(phrase.again().as_deref(), Some(text));
        }
    }
}
