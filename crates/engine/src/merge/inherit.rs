//! Inheritance along a path: each stanza says whether it stands behind what is more specific or before it, and whether as a
//! whole or field by field.
//!
//! ```text
//! outermost … innermost ──(one by one, from the inside)──▶ layers, best first ──(fold)──▶ value with origins
//!                                                          stanzas that lost as a whole
//! ```
//!
//! Going from the inside keeps overrides in force over any number of levels. Where stanzas meet field by field, a null removes
//! what every worse stanza says, not only the next one: otherwise adding a stanza could bring back what was removed.

use std::sync::Arc;

use upheld_model::config::{Config, Content};

use super::fold::{Layer, Merged, fold};
use super::strategy::Strategy;

/// What a policy says at one place of the path.
#[derive(Clone, Debug)]
pub struct Stanza {
    /// Who says it: the asker's own number.
    pub by: usize,
    /// What it says.
    pub config: Arc<Config>,
    /// How it meets what is inside of it.
    pub stance: Stance,
}

/// How a stanza meets what is inside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stance {
    /// Who wins.
    pub side: Side,
    /// What is won.
    pub extent: Extent,
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

/// What holds on a path.
#[derive(Clone, Debug, Default)]
pub struct Inherited {
    /// The value with its origins; `None` if nobody says anything.
    pub merged: Option<Merged>,
    /// Stanzas that lost as a whole, in the order in which they did.
    pub hidden: Vec<Hidden>,
}

/// A stanza that lost as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Hidden {
    /// Who said it.
    pub by: usize,
    /// What.
    pub value: Arc<Config>,
    /// To whom it lost.
    pub under: Vec<usize>,
}

/// Something that one speaker lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Who lost.
    pub by: usize,
    /// To whom, in ascending order.
    pub under: Vec<usize>,
}

/// Folds stanzas, the outermost (least specific) first.
pub fn inherit(strategy: &Strategy, stanzas: &[Stanza]) -> Inherited {
    let mut best_first: Vec<Layer> = Vec::new();
    let mut hidden = Vec::new();
    for stanza in stanzas.iter().rev() {
        let layer = Layer { by: stanza.by, config: stanza.config.clone() };
        match (stanza.stance.extent, stanza.stance.side) {
            // Whoever says nothing has nothing to win with.
            (Extent::Whole, _) if !speaks(&layer.config) => {}
            (Extent::Whole, Side::Defaults) if best_first.iter().any(|inner| speaks(&inner.config)) => {
                hide(vec![layer], &best_first, &mut hidden);
            }
            (Extent::Whole, _) => {
                let inner = std::mem::replace(&mut best_first, vec![layer]);
                hide(inner, &best_first, &mut hidden);
            }
            // One that is at several places of a path counts where it wins.
            (Extent::Fields, Side::Defaults) if best_first.iter().any(|known| same(known, &layer)) => {}
            (Extent::Fields, Side::Defaults) => best_first.push(layer),
            (Extent::Fields, Side::Overrides) => {
                best_first.retain(|known| !same(known, &layer));
                best_first.insert(0, layer);
            }
        }
    }
    Inherited { merged: fold(strategy, &best_first), hidden }
}

fn speaks(config: &Config) -> bool {
    match &config.content {
        Content::Null => false,
        Content::Map(entries) => !entries.is_empty(),
        _ => true,
    }
}

fn same(a: &Layer, b: &Layer) -> bool {
    a.by == b.by && a.config == b.config
}

/// Stanzas that say nothing cannot lose.
fn hide(losers: Vec<Layer>, winners: &[Layer], hidden: &mut Vec<Hidden>) {
    let under: Vec<usize> = winners.iter().map(|layer| layer.by).collect();
    let losers = losers.into_iter().filter(|layer| speaks(&layer.config));
    hidden.extend(losers.map(|layer| Hidden { by: layer.by, value: layer.config, under: under.clone() }));
}

impl Inherited {
    /// Whose words hold, in ascending order.
    pub fn origins(&self) -> Vec<usize> {
        self.merged.as_ref().map(Merged::contributors).unwrap_or_default()
    }

    /// Who lost something to whom, by loser.
    pub fn losses(&self) -> Vec<Loss> {
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for hidden in &self.hidden {
            pairs.extend(hidden.under.iter().map(|winner| (hidden.by, *winner)));
        }
        if let Some(merged) = &self.merged {
            add_losses(merged, &mut pairs);
        }
        pairs.retain(|(loser, winner)| loser != winner);
        pairs.sort_unstable();
        pairs.dedup();
        let by_loser = pairs.chunk_by(|a, b| a.0 == b.0);
        let loss = |pairs: &[(usize, usize)]| {
            let by = pairs.first()?.0;
            Some(Loss { by, under: pairs.iter().map(|(_, winner)| *winner).collect() })
        };
        by_loser.filter_map(loss).collect()
    }
}

fn add_losses(merged: &Merged, pairs: &mut Vec<(usize, usize)>) {
    let (by, overridden) = match merged {
        Merged::Whole { by, overridden, .. }
        | Merged::Map { by, overridden, .. }
        | Merged::List { by, overridden, .. }
        | Merged::Gone { by, overridden, .. } => (by, overridden),
    };
    pairs.extend(overridden.iter().map(|loser| (loser.by, *by)));
    match merged {
        Merged::Map { fields, .. } => fields.iter().for_each(|(_, field)| add_losses(field, pairs)),
        Merged::List { items, .. } => items.iter().for_each(|item| add_losses(item, pairs)),
        Merged::Whole { .. } | Merged::Gone { .. } => {}
    }
}

#[cfg(test)]
mod tests;
