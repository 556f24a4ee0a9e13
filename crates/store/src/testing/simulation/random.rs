//! Numbers that look random and are the same for the same seed.

use std::time::Duration;

/// Where the next number comes from.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Seeds beside each other give numbers that have nothing to do with each other.
    pub fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ 0x9e37_79b9_7f4a_7c15)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From zero up to, and without, a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % limit).unwrap_or_default()
    }

    /// One time in so many.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// From one to another number of milliseconds.
    pub fn milliseconds(&mut self, from: u64, to: u64) -> Duration {
        let more = usize::try_from(to.saturating_sub(from)).unwrap_or_default();
        Duration::from_millis(from.saturating_add(self.below(more.saturating_add(1)) as u64))
    }

    /// How long something takes that is short as a rule, and long now and then.
    pub fn pause(&mut self) -> Duration {
        match self.below(16) {
            0 => self.milliseconds(20, 400),
            1..=7 => self.milliseconds(1, 4),
            _ => Duration::ZERO,
        }
    }

    /// One of several.
    pub fn of_all<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }
}
