//! Pairs that rules cannot tell apart.

use super::Comply;
use super::facts::Pair;
use super::profile::PairKind;

/// What rules can tell of a pair. Pairs that are alike fare alike, whenever one asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Alike {
    kind: PairKind,
    /// The signatures of both sides.
    signatures: (u32, u32),
}

impl Comply {
    /// What rules can tell of a pair; nothing if a waiver names one of its sides, or where they meet.
    pub fn alike(&self, pair: Pair) -> Option<Alike> {
        let table = self.table(pair.kind)?;
        let named = || {
            let objects = [Some(pair.a), Some(pair.b), pair.scope].into_iter().flatten();
            objects.into_iter().any(|object| self.waivers.mention(&self.reference(object)))
        };
        let apart = self.waivers.mention_any() && named();
        (!apart).then(|| Alike { kind: pair.kind, signatures: table.signatures_of(pair.a, pair.b) })
    }
}
