//! Texts as small numbers.

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

/// All texts of a snapshot. Questions only look up: a text that nobody wrote equals nothing.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    texts: IndexSet<SmolStr, DefaultHashBuilder>,
}

impl Symbols {
    /// The symbol of a text, made if it is new.
    pub fn intern(&mut self, text: &str) -> Sym {
        let index = match self.texts.get_index_of(text) {
            Some(index) => index,
            None => self.texts.insert_full(SmolStr::new(text)).0,
        };
        Sym(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The symbol of a text, if anybody wrote it.
    pub fn get(&self, text: &str) -> Option<Sym> {
        self.texts.get_index_of(text).and_then(|index| u32::try_from(index).ok()).map(Sym)
    }

    /// The text of a symbol.
    pub fn text(&self, symbol: Sym) -> &str {
        self.texts.get_index(symbol.0 as usize).map_or("", SmolStr::as_str)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
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
