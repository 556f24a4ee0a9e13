//! Since which commit something violates, where the files are in git.

use std::collections::BTreeMap;

use upheld_model::Timestamp;

use super::Audit;
use super::check::{Cause, Check};

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its number, as people write it.
    pub id: String,
    /// Who wrote it.
    pub author: String,
    /// When.
    pub at: Timestamp,
    /// The first line of its message.
    pub subject: String,
}

/// When a violation began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Began {
    /// With this commit.
    With(Commit),
    /// Before this one, which is the oldest that was looked at.
    Before(Commit),
    /// With what is not committed yet.
    Uncommitted,
}

impl Audit {
    /// Says of violations, by id, since when they are there.
    pub fn tell_since(&mut self, began: &BTreeMap<String, Began>) {
        for check in &mut self.checks {
            if let Some(began) = began.get(&check.id) {
                check.began(began);
            }
        }
    }
}

impl Check {
    fn began(&mut self, began: &Began) {
        self.first_seen = match began {
            Began::With(commit) => Some(commit.at.to_string()),
            Began::Before(_) | Began::Uncommitted => None,
        };
        self.cause = Some(match began {
            Began::With(commit) => commit.cause(&sentence("commit", commit)),
            Began::Before(commit) => commit.cause(&sentence("before commit", commit)),
            Began::Uncommitted => Cause {
                action: "uncommitted".to_owned(),
                actor: String::new(),
                object: String::new(),
                at: String::new(),
                text: "not committed yet".to_owned(),
            },
        });
    }
}

impl Commit {
    fn cause(&self, text: &str) -> Cause {
        Cause {
            action: "commit".to_owned(),
            actor: self.author.clone(),
            object: self.id.clone(),
            at: self.at.to_string(),
            text: text.to_owned(),
        }
    }
}

fn sentence(word: &str, commit: &Commit) -> String {
    let Commit { id, author, at, subject } = commit;
    let at = at.to_string();
    let day = at.split('T').next().unwrap_or(&at);
    format!("{word} {id} \"{subject}\" by {author} on {day}")
}
