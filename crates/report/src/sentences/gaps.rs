//! What an audit could not look at, so that nothing that it found proves nothing.

use serde::{Deserialize, Serialize};
use upheld_model::nearest::did_you_mean;

use super::{Phrase, counted, phrase};

/// What was not looked at.
#[expect(missing_docs, reason = "fields of sentences are named for what stands in their place")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", content = "parameters", rename_all_fields = "camelCase")]
pub enum Gap {
    /// There are policies and objects, and no pair that a policy is about.
    #[serde(rename = "audit.no-pairs")]
    NoPairs { policies: usize },
    /// No object has the tag that a policy is about.
    #[serde(rename = "audit.unknown-tag")]
    UnknownTag { policy: String, kind: String, tag: String, nearest: Option<String> },
    /// Something lies there and was not read.
    #[serde(rename = "audit.not-read")]
    NotRead { message: String },
}

impl Gap {
    /// In words.
    pub fn text(&self) -> String {
        match self {
            Self::NoPairs { policies } => {
                format!("no pair of objects is there that {} could be about", counted(*policies, "policy", "policies"))
            }
            Self::UnknownTag { policy, kind, tag, nearest } => {
                let meant = nearest.as_ref().map(|near| format!("; {}", did_you_mean(near))).unwrap_or_default();
                format!("{policy} is about the tag `{tag}`, which no {kind} has and nobody defines{meant}")
            }
            Self::NotRead { message } => message.clone(),
        }
    }
}

impl From<Gap> for Phrase {
    fn from(gap: Gap) -> Self {
        phrase(&gap, gap.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_sentences_and_made_again_of_their_parameters() {
        let unknown = |nearest: Option<&str>| Gap::UnknownTag {
            policy: "env".to_owned(),
            kind: "project".to_owned(),
            tag: "enviroment".to_owned(),
            nearest: nearest.map(str::to_owned),
        };
        for (gap, text) in [
            (Gap::NoPairs { policies: 11 }, "no pair of objects is there that 11 policies could be about"),
            (unknown(None), "env is about the tag `enviroment`, which no project has and nobody defines"),
            (
                unknown(Some("environment")),
                "env is about the tag `enviroment`, which no project has and nobody defines; did you mean `environment`?",
            ),
            (Gap::NotRead { message: "the table is not read".to_owned() }, "the table is not read"),
        ] {
            let phrase = Phrase::from(gap);
            assert_eq!(phrase.text, text);
            assert_eq!(phrase.again().as_deref(), Some(text));
        }
    }
}
