//! Choices out of bytes.

/// Bytes that choices are read from. When they are used up every choice is the first one, so everything comes to an end.
#[derive(Debug)]
pub struct Bytes<'b> {
    left: &'b [u8],
    /// How many names were given out.
    named: usize,
}

impl<'b> Bytes<'b> {
    /// Reads from the first byte on.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { left: bytes, named: 0 }
    }

    /// A number below a limit of at most 256.
    pub fn below(&mut self, limit: usize) -> usize {
        let Some((first, rest)) = self.left.split_first() else { return 0 };
        self.left = rest;
        usize::from(*first) % limit.max(1)
    }

    /// Whether something rare is chosen.
    pub fn one_in(&mut self, many: usize) -> bool {
        self.below(many) + 1 == many
    }

    /// One of several.
    pub(super) fn pick<T: Copy + Default>(&mut self, all: &[T]) -> T {
        all.get(self.below(all.len())).copied().unwrap_or_default()
    }

    /// At least one, at most so many.
    pub(super) fn some<T>(&mut self, most: usize, one: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..=self.below(most)).map(|_| one(self)).collect()
    }

    /// None or up to so many.
    pub(super) fn any<T>(&mut self, most: usize, one: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| one(self)).collect()
    }

    /// A number that was not given out before.
    pub(super) fn new_number(&mut self) -> usize {
        self.named += 1;
        self.named
    }

    /// How many numbers were given out.
    pub(super) fn given_out(&self) -> usize {
        self.named
    }
}
