//! Sets of small numbers.

/// A set of numbers below a bound, as bits.
#[derive(Clone, Debug)]
pub(super) struct Bits {
    words: Vec<u64>,
}

const WORD: usize = 64;

impl Bits {
    /// No number.
    pub(super) fn none(bound: usize) -> Self {
        Self { words: vec![0; bound.div_ceil(WORD)] }
    }

    /// All numbers below the bound.
    pub(super) fn all(bound: usize) -> Self {
        let mut words = vec![u64::MAX; bound.div_ceil(WORD)];
        let unused = words.len() * WORD - bound;
        if let Some(last) = words.last_mut() {
            *last >>= unused;
        }
        Self { words }
    }

    pub(super) fn contains(&self, number: usize) -> bool {
        self.words.get(number / WORD).is_some_and(|word| word >> (number % WORD) & 1 == 1)
    }

    pub(super) fn insert(&mut self, number: usize) {
        if let Some(word) = self.words.get_mut(number / WORD) {
            *word |= 1 << (number % WORD);
        }
    }

    pub(super) fn remove(&mut self, number: usize) {
        if let Some(word) = self.words.get_mut(number / WORD) {
            *word &= !(1 << (number % WORD));
        }
    }

    pub(super) fn remove_all(&mut self, others: &Self) {
        self.words.iter_mut().zip(&others.words).for_each(|(word, other)| *word &= !other);
    }

    pub(super) fn keep_only(&mut self, others: &Self) {
        self.words.iter_mut().zip(&others.words).for_each(|(word, other)| *word &= other);
    }

    /// What is in both.
    pub(super) fn and(&self, others: &Self) -> Self {
        Self { words: self.words.iter().zip(&others.words).map(|(word, other)| word & other).collect() }
    }

    /// How many are in both.
    pub(super) fn count_common(&self, others: &Self) -> usize {
        self.words.iter().zip(&others.words).map(|(word, other)| (word & other).count_ones() as usize).sum()
    }

    pub(super) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The numbers, the lowest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(place, word)| {
            let rest = std::iter::successors(Some(*word), |rest| Some(rest & rest.wrapping_sub(1)));
            let bits = rest.take_while(|rest| *rest != 0);
            bits.map(move |rest| place * WORD + rest.trailing_zeros() as usize)
        })
    }

    /// How long a walk over all words is.
    pub(super) fn steps(&self) -> usize {
        self.words.len()
    }
}
