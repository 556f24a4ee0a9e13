//! Texts as small numbers.

use std::sync::Arc;

use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;
use smol_str::SmolStr;

/// An interned text. Comparing two is comparing numbers; order means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sym(u32);

impl Sym {
    /// Before all others, for ranges.
    pub const MIN: Self = Self(0);
    /// After all others, for ranges.
    pub const MAX: Self = Self(u32::MAX);
}

/// All texts of a snapshot. Questions only look up: a text that nobody wrote equals nothing. A clone shares all but the few texts
/// that came last.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    settled: Arc<Texts>,
    /// Numbered after those that are settled.
    recent: Texts,
}

/// Texts with their numbers. Whoever writes documents chooses them, so they are hashed with a key that nobody knows.
type Texts = IndexSet<SmolStr, DefaultHashBuilder>;

/// So many texts are not worth copying all the others.
const FEW: usize = 64;

impl Symbols {
    /// The symbol of a text, made if it is new.
    pub fn intern(&mut self, text: &str) -> Sym {
        if let Some(known) = self.get(text) {
            return known;
        }
        let index = self.len();
        match Arc::get_mut(&mut self.settled).filter(|_| self.recent.is_empty()) {
            Some(own) => drop(own.insert(SmolStr::new(text))),
            None => {
                self.recent.insert(SmolStr::new(text));
                self.settle();
            }
        }
        Sym(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The symbol of a text, if anybody wrote it.
    pub fn get(&self, text: &str) -> Option<Sym> {
        let recent = || Some(self.settled.len() + self.recent.get_index_of(text)?);
        let index = self.settled.get_index_of(text).or_else(recent)?;
        u32::try_from(index).ok().map(Sym)
    }

    /// The text of a symbol.
    pub fn text(&self, symbol: Sym) -> &str {
        let index = symbol.0 as usize;
        let found = match index.checked_sub(self.settled.len()) {
            None => self.settled.get_index(index),
            Some(index) => self.recent.get_index(index),
        };
        found.map_or("", SmolStr::as_str)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.settled.len() + self.recent.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many texts a clone has to copy.
    pub fn recent(&self) -> usize {
        self.recent.len()
    }

    /// Settles texts when they have become many: so rarely that each is copied a few times in all.
    fn settle(&mut self) {
        if self.recent.len() > FEW + self.settled.len() / 16 {
            Arc::make_mut(&mut self.settled).extend(self.recent.drain(..));
        }
    }
}

/// Symbols of a snapshot and of one question: texts that nobody wrote in the snapshot get symbols of their own, which
/// equal nothing there but can still be shown.
#[derive(Clone, Debug)]
pub struct Lookup<'s> {
    base: &'s Symbols,
    extra: Vec<SmolStr>,
}

impl<'s> Lookup<'s> {
    /// Over the symbols of a snapshot.
    pub fn new(base: &'s Symbols) -> Self {
        Self { base, extra: Vec::new() }
    }

    /// The symbol of a text, also if only this question uses it.
    pub fn symbol(&mut self, text: &str) -> Sym {
        if let Some(symbol) = self.base.get(text) {
            return symbol;
        }
        let index = self.extra.iter().position(|extra| extra == text).unwrap_or_else(|| {
            self.extra.push(SmolStr::new(text));
            self.extra.len() - 1
        });
        Sym(u32::try_from(self.base.len() + index).unwrap_or(u32::MAX))
    }

    /// The text of a symbol of either.
    pub fn text(&self, symbol: Sym) -> &str {
        match (symbol.0 as usize).checked_sub(self.base.len()) {
            Some(index) => self.extra.get(index).map_or("", SmolStr::as_str),
            None => self.base.text(symbol),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn symbols_are_numbered_as_they_come_and_clones_do_not_see_others(
            texts in prop::collection::vec((0..400_u32, prop::bool::weighted(0.05)), 0..900),
        ) {
            let (mut symbols, mut known) = (Symbols::default(), Vec::<String>::new());
            let mut clones = Vec::new();
            for (number, cloned) in texts {
                if cloned {
                    clones.push((symbols.clone(), known.clone()));
                }
                let text = number.to_string();
                if !known.contains(&text) {
                    known.push(text.clone());
                }
                let place = known.iter().position(|known| *known == text).unwrap();
                prop_assert_eq!(symbols.intern(&text).0 as usize, place);
            }
            clones.push((symbols, known));
            for (symbols, known) in clones {
                prop_assert_eq!(symbols.len(), known.len());
                for (place, text) in (0..).zip(&known) {
                    prop_assert_eq!(symbols.get(text), Some(Sym(place)));
                    prop_assert_eq!(symbols.text(Sym(place)), text);
                }
                prop_assert_eq!(symbols.text(Sym(u32::try_from(known.len()).unwrap())), "");
            }
        }
    }
}
