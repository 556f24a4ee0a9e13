//! Whole configurations: each says as a whole, or field by field, whether it stands before or behind what is there.
//!
//! ```text
//! best … worst ──(one by one)──▶ layers that count, best first ──(fold)──▶ value with origins
//!                                layers that lost as a whole
//! ```
//!
//! Going from the nearest to the widest keeps overrides in force over any number of levels. Where layers meet field by field, a
//! null removes what every worse layer says, not only the next one: otherwise adding a layer could bring back what was removed.

use std::sync::Arc;

use smallvec::smallvec;
use upheld_model::config::{Config, Content};
use upheld_model::{LayerMerge, MergeAction};

use super::answer::{Exception, Field, Lost};
use crate::ask::EntryId;
use crate::merge::{Layer, Merged, Strategy, fold};

/// How whole configurations meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeRules {
    /// Within a scope.
    pub within: WholeJoin,
    /// Between scopes, where these are told apart.
    pub across: Option<WholeJoin>,
    /// How those meet of which both count; layers name one by its place.
    pub strategies: Vec<Strategy>,
}

/// Who says how two meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WholeJoin {
    /// Nobody: the better one stays, as a whole.
    #[default]
    Keep,
    /// The one that was there.
    AsTheBetterSays,
    /// The one that comes.
    AsTheNextSays,
}

/// One configuration.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub(super) by: usize,
    pub(super) entry: EntryId,
    pub(super) config: Arc<Config>,
    /// As it counts where it is merged with another.
    pub(super) merged: Option<Arc<Config>>,
    pub(super) meets: Option<LayerMerge>,
}

/// What came of some configurations.
#[derive(Clone, Debug, Default)]
pub(super) struct Stack {
    /// Those that count, the best first.
    best_first: Vec<Whole>,
    hidden: Vec<Lost>,
    strategy: u8,
}

impl Stack {
    /// Folds configurations of one scope, in the order of folding.
    pub(super) fn within(join: WholeJoin, wholes: impl IntoIterator<Item = Whole>) -> Self {
        let mut stack = Self::default();
        for whole in wholes {
            let next = Self { best_first: vec![whole], ..Self::default() };
            stack.add(join, next);
        }
        stack
    }

    /// Folds something worse into it.
    pub(super) fn add(&mut self, join: WholeJoin, next: Self) {
        let first = |stack: &Self| stack.best_first.first().and_then(|whole| whole.meets);
        let meets = match join {
            WholeJoin::Keep => None,
            WholeJoin::AsTheBetterSays => first(self),
            WholeJoin::AsTheNextSays => first(&next),
        };
        let LayerMerge { act, strategy } = meets.unwrap_or(LayerMerge { act: MergeAction::Keep, strategy: 0 });
        self.hidden.extend(next.hidden);
        let next = next.best_first;
        // Where layers choose, whoever says nothing has nothing to win with; elsewhere it counts that somebody is there.
        let counts = |whole: &Whole| join != WholeJoin::AsTheNextSays || whole.speaks();
        match act {
            MergeAction::Keep | MergeAction::Take if !next.iter().any(counts) => {}
            MergeAction::Keep if self.best_first.iter().any(counts) => self.hide(next),
            MergeAction::Keep | MergeAction::Take => {
                let before = std::mem::replace(&mut self.best_first, next);
                self.hide(before);
            }
            // One that is at several places counts where it wins.
            MergeAction::KeepOver => {
                let new =
                    next.into_iter().filter(|whole| !self.best_first.iter().any(|known| known.entry == whole.entry));
                let new: Vec<Whole> = new.collect();
                self.best_first.extend(new);
                self.strategy = strategy;
            }
            MergeAction::TakeOver => {
                self.best_first.retain(|known| !next.iter().any(|whole| whole.entry == known.entry));
                self.best_first.splice(..0, next);
                self.strategy = strategy;
            }
        }
    }

    /// Those that say nothing cannot lose, and nobody loses to himself.
    fn hide(&mut self, losers: Vec<Whole>) {
        let speaking = self.best_first.iter().find(|whole| whole.speaks());
        let Some(winner) = speaking.or_else(|| self.best_first.first()) else { return };
        let (to, entry) = (winner.by, winner.entry);
        let losers = losers.into_iter().filter(|whole| whole.speaks() && whole.entry != entry);
        self.hidden.extend(losers.map(|whole| Lost {
            by: whole.by,
            value: whole.config,
            to,
            exception: Exception::None,
        }));
    }

    /// What holds, under what lies over all of it, and who lost as a whole.
    pub(super) fn finish(self, over: Vec<Whole>, strategies: &[Strategy]) -> (Option<Merged>, Vec<Lost>) {
        let Self { best_first, hidden, strategy } = self;
        let alone = matches!(best_first.as_slice(), [_]);
        let layer = |whole: Whole| {
            let config = if alone { whole.config } else { whole.merged.unwrap_or(whole.config) };
            Layer { by: whole.by, config }
        };
        let layers: Vec<Layer> = over.into_iter().chain(best_first).map(layer).collect();
        let patch = Strategy::patch();
        let strategy = strategies.get(usize::from(strategy)).unwrap_or(&patch);
        (fold(strategy, &layers), hidden)
    }
}

impl Whole {
    fn speaks(&self) -> bool {
        match &self.config.content {
            Content::Null => false,
            Content::Map(entries) => !entries.is_empty(),
            _ => true,
        }
    }
}

/// The leaves of a configuration as fields.
pub(super) fn fields(merged: Option<&Merged>) -> Vec<Field> {
    let leaves = merged.into_iter().flat_map(Merged::leaves);
    let field = |leaf: crate::merge::Leaf<'_>| {
        let lost = leaf.overridden.iter().map(|over| Lost {
            by: over.by,
            value: over.value.clone(),
            to: leaf.by,
            exception: Exception::None,
        });
        Field {
            name: leaf.path.into(),
            part: None,
            value: leaf.value.cloned(),
            by: smallvec![leaf.by],
            lost: lost.collect(),
        }
    };
    leaves.map(field).collect()
}
