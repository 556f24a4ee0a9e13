//! How many of all known requests are permitted.

use serde::{Deserialize, Serialize};

use super::{Phrase, counted, phrase};

/// What is said about who may reach what.
#[expect(missing_docs, reason = "fields of sentences are named for what stands in their place")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", content = "parameters", rename_all_fields = "camelCase")]
pub enum Reaching {
    /// How many requests are permitted.
    #[serde(rename = "reach.counted")]
    Counted { permitted: usize, decided: usize, undecided: usize, is_part: bool },
    /// The directory lists nothing to ask about.
    #[serde(rename = "reach.nothing")]
    Nothing { sought: Vec<String> },
}

impl Reaching {
    /// In words.
    pub fn text(&self) -> String {
        match self {
            Self::Counted { permitted, decided, undecided, is_part } => {
                let these = if *is_part { "these " } else { "" };
                let requests = counted(*decided, "request", "requests");
                let are = |count: usize| if count == 1 { "is" } else { "are" };
                let undecided = match undecided {
                    0 => String::new(),
                    count => format!(", {count} {} undecided", are(*count)),
                };
                format!("{permitted} of {these}{requests} {} permitted{undecided}.", are(*permitted))
            }
            Self::Nothing { sought } => format!("The directory lists no such {}.", sought.join(" and ")),
        }
    }
}

impl From<Reaching> for Phrase {
    fn from(reaching: Reaching) -> Self {
        phrase(&reaching, reaching.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_sentences_and_made_again_of_their_parameters() {
        let counted =
            |permitted, decided, undecided, is_part| Reaching::Counted { permitted, decided, undecided, is_part };
        for (reaching, text) in [
            (counted(1, 1, 0, false), "1 of 1 request is permitted."),
            (counted(3, 8, 1, false), "3 of 8 requests are permitted, 1 is undecided."),
            (counted(0, 100, 2, true), "0 of these 100 requests are permitted, 2 are undecided."),
            (
                Reaching::Nothing { sought: vec!["subject".into(), "action".into()] },
                "The directory lists no such subject and action.",
            ),
        ] {
            let phrase = Phrase::from(reaching);
            assert_eq!(phrase.text, text);
            assert_eq!(phrase.again().as_deref(), Some(text));
        }
    }
}
