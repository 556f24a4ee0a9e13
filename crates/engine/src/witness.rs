//! Who is told what happens during an evaluation.

use upheld_model::{Reason, State};

use crate::ask::{EntryId, Hit, Place};
use crate::ruling::Candidate;
use crate::shortlist::Shortlist;

/// Told about every step; the compiler removes the calls for [`Silent`].
pub trait Witness<M> {
    /// Wants states and reasons.
    const RECORDS: bool;
    /// Wants those that do not match, too, so the index is not used.
    const SWEEPS: bool;

    /// A hit ended in a state.
    fn state(&mut self, hit: &Hit<M>, state: State, why: impl FnOnce() -> Reason);

    /// An entry does not match; `distance` says how much of it would have to change.
    fn miss(&mut self, entry: EntryId, distance: u32, why: impl FnOnce() -> Reason);

    /// An entry does not count now.
    fn off(&mut self, entry: EntryId, why: impl FnOnce() -> Reason);

    /// The rung (from zero) that separated the winner from the runner-up.
    fn decided(&mut self, rung: usize);

    /// Something else worth saying about the answer.
    fn note(&mut self, why: impl FnOnce() -> Reason);
}

/// Records nothing: the hot path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl<M> Witness<M> for Silent {
    const RECORDS: bool = false;
    const SWEEPS: bool = false;

    fn state(&mut self, _: &Hit<M>, _: State, _: impl FnOnce() -> Reason) {}
    fn miss(&mut self, _: EntryId, _: u32, _: impl FnOnce() -> Reason) {}
    fn off(&mut self, _: EntryId, _: impl FnOnce() -> Reason) {}
    fn decided(&mut self, _: usize) {}
    fn note(&mut self, _: impl FnOnce() -> Reason) {}
}

/// What a recording witness has heard.
#[derive(Debug)]
pub struct Record<M> {
    /// What became of each entry.
    pub candidates: Vec<Candidate<M>>,
    /// The rung that decided.
    pub decided: Option<usize>,
    /// Remarks on the answer.
    pub notes: Vec<Reason>,
}

impl<M> Default for Record<M> {
    fn default() -> Self {
        Self { candidates: Vec::new(), decided: None, notes: Vec::new() }
    }
}

macro_rules! recording {
    ($(#[$doc:meta])* $name:ident, sweeps: $sweeps:literal) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<M>(pub Record<M>);

        impl<M> Default for $name<M> {
            fn default() -> Self {
                Self(Record::default())
            }
        }

        impl<M: Copy> Witness<M> for $name<M> {
            const RECORDS: bool = true;
            const SWEEPS: bool = $sweeps;

            fn state(&mut self, hit: &Hit<M>, state: State, why: impl FnOnce() -> Reason) {
                let (entry, place, measure) = (hit.entry, hit.place, Some(hit.measure));
                self.0.candidates.push(Candidate { entry, place, state, measure, distance: 0, reason: why() });
            }

            fn miss(&mut self, entry: EntryId, distance: u32, why: impl FnOnce() -> Reason) {
                let (place, state, reason) = (Place::default(), State::Skip, why());
                self.0.candidates.push(Candidate { entry, place, state, measure: None, distance, reason });
            }

            fn off(&mut self, entry: EntryId, why: impl FnOnce() -> Reason) {
                let (place, state, reason) = (Place::default(), State::Off, why());
                self.0.candidates.push(Candidate { entry, place, state, measure: None, distance: 0, reason });
            }

            fn decided(&mut self, rung: usize) {
                self.0.decided = Some(rung);
            }

            fn note(&mut self, why: impl FnOnce() -> Reason) {
                self.0.notes.push(why());
            }
        }
    };
}

recording! {
    /// Records those that match, through the index: for servers.
    Matched, sweeps: false
}
recording! {
    /// Records everything, also why the others do not match: for `explain`.
    Everything, sweeps: true
}

/// Records what [`Everything`] does, but of those that do not match or do not count only the first few by a key; the others are
/// counted, and no reason is made for them.
#[derive(Debug)]
pub struct Nearest<M, K, F> {
    record: Record<M>,
    others: Shortlist<(State, K), Candidate<M>>,
    key: F,
}

impl<M, K: Ord, F: Fn(State, EntryId, u32) -> K> Nearest<M, K, F> {
    /// So many at most. The key is made of the state, the entry and its distance.
    pub fn new(most: usize, key: F) -> Self {
        Self { record: Record::default(), others: Shortlist::of(most), key }
    }

    /// What was heard, and how many others there are.
    pub fn heard(self) -> (Record<M>, usize) {
        let (mut record, left_out) = (self.record, self.others.left_out());
        record.candidates.sort_by_key(|candidate| candidate.state);
        record.candidates.extend(self.others.into_items());
        (record, left_out)
    }

    fn hear(
        &mut self,
        (entry, place, measure): (EntryId, Place, Option<M>),
        state: State,
        distance: u32,
        why: impl FnOnce() -> Reason,
    ) {
        let candidate = || Candidate { entry, place, state, measure, distance, reason: why() };
        if state.matched() {
            self.record.candidates.push(candidate());
        } else {
            self.others.offer((state, (self.key)(state, entry, distance)), candidate);
        }
    }
}

impl<M: Copy, K: Ord, F: Fn(State, EntryId, u32) -> K> Witness<M> for Nearest<M, K, F> {
    const RECORDS: bool = true;
    const SWEEPS: bool = true;

    fn state(&mut self, hit: &Hit<M>, state: State, why: impl FnOnce() -> Reason) {
        self.hear((hit.entry, hit.place, Some(hit.measure)), state, 0, why);
    }

    fn miss(&mut self, entry: EntryId, distance: u32, why: impl FnOnce() -> Reason) {
        self.hear((entry, Place::default(), None), State::Skip, distance, why);
    }

    fn off(&mut self, entry: EntryId, why: impl FnOnce() -> Reason) {
        self.hear((entry, Place::default(), None), State::Off, 0, why);
    }

    fn decided(&mut self, rung: usize) {
        self.record.decided = Some(rung);
    }

    fn note(&mut self, why: impl FnOnce() -> Reason) {
        self.record.notes.push(why());
    }
}
