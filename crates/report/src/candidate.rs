//! Policies that were looked at, and what stands when none of them applies.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use upheld_engine::ladder::Column;
use upheld_engine::{PolicyKind, Rung, Snapshot};
use upheld_model::State;

use super::{At, Field, Phrase, is_zero};

/// A policy that was looked at.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// What became of it.
    #[serde(serialize_with = "word")]
    pub state: State,
    /// Its name, as answers call it.
    pub policy: String,
    /// Where it lives: its mesh or namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Which part of it, for policies of several parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<usize>,
    /// What it was matched and ranked by: the columns of a table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// How many parts would have to be otherwise before it applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
    /// Why it ended so.
    pub reason: Phrase,
    /// Where it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
    /// Its own configuration, for questions about one field.
    #[serde(skip)]
    pub fields: Vec<Field>,
}

impl Candidate {
    /// Whether it matches, as far as is known.
    pub fn matched(&self) -> bool {
        self.state.matched()
    }

    /// Whether the result comes from it.
    pub fn stands(&self) -> bool {
        matches!(self.state, State::Won | State::Kept)
    }

    /// Its name with the number of its part.
    pub fn title(&self) -> String {
        self.item.map_or_else(|| self.policy.clone(), |item| format!("{}[{item}]", self.policy))
    }
}

/// Something that a candidate was matched or ranked by.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// What it is: `tags`, `effect`, `subjects`; for a clause, what the documents of its kind call it.
    pub name: Cow<'static, str>,
    /// Its value: a number, or what the policy wants.
    pub value: Json,
    /// Whether what is wanted is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<Holds>,
    /// Its place in the list of the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// How many alternatives there are besides the one that fits best.
    #[serde(skip_serializing_if = "is_zero")]
    pub others: usize,
    /// What does not fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub misses: Vec<Phrase>,
}

impl Fact {
    /// A value that is neither true nor false.
    pub fn plain(name: &'static str, value: impl Into<Json>) -> Self {
        Self { name: name.into(), value: value.into(), holds: None, index: None, others: 0, misses: Vec::new() }
    }
}

/// Whether something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Holds {
    /// True.
    Yes,
    /// Not true.
    No,
    /// A fact is missing.
    Unknown,
}

/// The rung that separated the winner from the runner-up.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct DecidingRung {
    /// From one.
    pub number: usize,
    /// How many rungs the ladder has.
    pub of: usize,
    /// What it compares.
    pub name: String,
    /// The same as a code.
    pub code: &'static str,
    /// Whether renaming a policy would flip it.
    pub arbitrary: bool,
}

impl DecidingRung {
    /// One of the rungs of a ladder, counted from zero, in the words of its family.
    pub(crate) fn of<C: Column>(rungs: &[Rung<C>], number: usize, name: impl Fn(Rung<C>) -> String) -> Option<Self> {
        let rung = *rungs.get(number)?;
        let (code, arbitrary) = (rung.code().text(), rung.arbitrary());
        Some(Self { number: number + 1, of: rungs.len(), name: name(rung), code, arbitrary })
    }
}

/// What stands when no policy applies.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct DefaultRow {
    /// What became of it.
    #[serde(serialize_with = "word")]
    pub state: State,
    /// What it is called.
    pub name: String,
    /// What it means.
    pub means: String,
    /// Why it stands or does not.
    pub reason: Phrase,
    /// The settings that say so, if any do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

impl DefaultRow {
    /// What the document of a kind says about its default.
    pub(crate) fn of_kind(snapshot: &Snapshot, kind: &PolicyKind, state: State, reason: Phrase) -> Self {
        let [name, means] = [kind.default_name, kind.default_means].map(|symbol| snapshot.text(symbol).to_owned());
        Self { state, name, means, reason, at: None }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
fn word<S: Serializer>(state: &State, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state.word())
}
