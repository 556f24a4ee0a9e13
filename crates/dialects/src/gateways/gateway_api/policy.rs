//! A policy with its stanzas, and what a profile makes of it.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::{EmptyValue, LayerDefaults};
use upheld_model::{AttachedLayer, Config, Content, LayerContent, LayerMerge, MergeAction, Timestamp};

/// A policy that is attached somewhere.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Its kind; kinds never meet.
    pub kind: SmolStr,
    /// Its namespace; empty if it has none.
    pub namespace: SmolStr,
    /// Its name.
    pub name: SmolStr,
    /// When it was created; unknown counts as before everything.
    pub created: Option<Timestamp>,
    /// What it says.
    pub says: Vec<Statement>,
}

/// One stanza: `defaults`, `overrides`, or what stands in neither.
#[derive(Clone, Debug)]
pub struct Statement {
    /// On which side; `None` leaves it to the profile.
    pub side: Option<Side>,
    /// As a whole or by field; `None` leaves it to the profile.
    pub extent: Option<Extent>,
    /// What it says.
    pub config: Arc<Config>,
}

/// Who wins: the stanza, or what is inside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What is inside.
    Defaults,
    /// The stanza.
    Overrides,
}

/// What is won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Everything: the loser says nothing.
    Whole,
    /// Each field by itself, as far down as the strategy says.
    Fields,
}

impl Statement {
    /// What stands in no stanza.
    pub const fn bare(config: Arc<Config>) -> Self {
        Self { side: None, extent: None, config }
    }

    /// A stanza that leaves open how it meets others.
    pub const fn on(side: Side, config: Arc<Config>) -> Self {
        Self { side: Some(side), extent: None, config }
    }

    /// The layer that it is, given what holds where it says nothing.
    pub(crate) fn layer(&self, unsaid: LayerDefaults) -> AttachedLayer {
        let act = match (self.side, self.extent) {
            (None, None) => unsaid.bare,
            (Some(Side::Defaults), None) => unsaid.defaults,
            (Some(Side::Overrides), None) => unsaid.overrides,
            (side, Some(extent)) => {
                let bare_overrides = matches!(unsaid.bare, MergeAction::Take | MergeAction::TakeOver);
                let overrides = side.map_or(bare_overrides, |side| side == Side::Overrides);
                match (overrides, extent) {
                    (false, Extent::Whole) => MergeAction::Keep,
                    (false, Extent::Fields) => MergeAction::KeepOver,
                    (true, Extent::Whole) => MergeAction::Take,
                    (true, Extent::Fields) => MergeAction::TakeOver,
                }
            }
        };
        let gives_way = matches!(act, MergeAction::Keep | MergeAction::KeepOver);
        let config = if gives_way { counting(unsaid.empty, &self.config) } else { self.config.clone() };
        AttachedLayer {
            says: LayerContent::Whole { config, merged: None },
            meets: Some(LayerMerge { act, strategy: 0 }),
        }
    }
}

/// A configuration without what does not count.
pub(crate) fn counting(empty: EmptyValue, config: &Arc<Config>) -> Arc<Config> {
    match empty {
        EmptyValue::IsNothing => without_empty(config),
        EmptyValue::Counts => config.clone(),
    }
}

fn without_empty(config: &Arc<Config>) -> Arc<Config> {
    let Content::Map(entries) = &config.content else { return config.clone() };
    let kept = entries.iter().filter(|(_, value)| !is_empty(value));
    let kept = kept.map(|(key, value)| (key.clone(), without_empty(value))).collect();
    Arc::new(Config { content: Content::Map(kept), at: config.at })
}

/// `false` is a value that somebody chose.
fn is_empty(value: &Config) -> bool {
    match &value.content {
        Content::Null => true,
        Content::Bool(_) => false,
        Content::Number(text) => text.parse() == Ok(0.0),
        Content::Text(text) => text.is_empty(),
        Content::List(items) => items.is_empty(),
        Content::Map(entries) => entries.is_empty(),
    }
}
