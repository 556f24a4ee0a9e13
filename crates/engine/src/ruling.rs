//! The answer with everything that explains it. Renderers see nothing else.

use upheld_model::{Code, Reason, State};

use crate::ask::{EntryId, Family, Place, Scratch, ask};
use crate::witness::{Everything, Matched, Nearest, Record};

/// An entry that was looked at, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<M> {
    /// Which entry.
    pub entry: EntryId,
    /// Where it sits for the question.
    pub place: Place,
    /// What became of it.
    pub state: State,
    /// What ranking read of it, if it matched.
    pub measure: Option<M>,
    /// How much of it would have to change to match; zero if it matches.
    pub distance: u32,
    /// Why.
    pub reason: Reason,
}

/// An answer and its reasons.
#[derive(Debug)]
pub struct Ruling<F: Family> {
    /// The answer, the same as the silent evaluation gives.
    pub answer: F::Answer,
    /// Candidates: those that count, then the beaten ones by rank, then the others, nearest miss first.
    pub candidates: Vec<Candidate<F::Measure>>,
    /// How many of the others were looked at and are no candidates here.
    pub left_out: usize,
    /// What stands when nothing matches: a row like the others.
    pub default: DefaultRow,
    /// The rung (from zero) that separated the winner from the runner-up, if there was one.
    pub decided: Option<usize>,
    /// Remarks on the answer.
    pub notes: Vec<Reason>,
}

/// What became of the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultRow {
    /// WON if nothing matched, LOST if something did, UNKNOWN if that depends on a missing fact.
    pub state: State,
    /// Why.
    pub reason: Reason,
}

impl<F: Family> Ruling<F> {
    /// Asks and records everything, also why the others do not match.
    pub fn explain(family: &F, question: &F::Question<'_>) -> Self {
        let mut witness = Everything::default();
        let answer = ask(family, question, &mut Scratch::default(), &mut witness);
        Self::new(answer, sorted(witness.0), 0)
    }

    /// The same, with so many of those that do not match: the first ones by a key, which is made of their state and distance.
    /// The others are counted.
    pub fn nearest<K: Ord>(
        family: &F,
        question: &F::Question<'_>,
        most: usize,
        key: impl Fn(State, EntryId, u32) -> K,
    ) -> Self {
        let mut witness = Nearest::new(most, key);
        let answer = ask(family, question, &mut Scratch::default(), &mut witness);
        let (record, left_out) = witness.heard();
        Self::new(answer, record, left_out)
    }

    /// Asks through the index and records those that match.
    pub fn matched(family: &F, question: &F::Question<'_>) -> Self {
        let mut witness = Matched::default();
        let answer = ask(family, question, &mut Scratch::default(), &mut witness);
        Self::new(answer, sorted(witness.0), 0)
    }

    /// Without those that do not match, of which there are so many.
    #[must_use]
    pub fn without_others(mut self, others: usize) -> Self {
        self.candidates.retain(|candidate| candidate.state.matched());
        Self { left_out: others, ..self }
    }

    /// With some of those that do not match, unless they are there already.
    #[must_use]
    pub fn with_others(
        mut self,
        family: &F,
        question: &F::Question<'_>,
        entries: impl IntoIterator<Item = EntryId>,
    ) -> Self {
        let mut witness = Matched::default();
        for entry in entries {
            if self.candidates.iter().all(|known| known.entry != entry) {
                family.check(entry, question, &mut witness, |_, _| {});
            }
        }
        let mut others = sorted(witness.0).candidates;
        self.left_out = self.left_out.saturating_sub(others.len());
        self.candidates.append(&mut others);
        self
    }

    fn new(answer: F::Answer, record: Record<F::Measure>, left_out: usize) -> Self {
        let Record { candidates, decided, notes } = record;
        let any = |states: &[State]| candidates.iter().any(|candidate| states.contains(&candidate.state));
        let (state, code) = if any(&[State::Won, State::Kept, State::Hard, State::Soft, State::Pass]) {
            (State::Lost, Code::DefaultNotReached)
        } else if any(&[State::Unknown]) {
            (State::Unknown, Code::DefaultUnknown)
        } else {
            (State::Won, Code::DefaultStands)
        };
        let default = DefaultRow { state, reason: Reason::new(code, &[]) };
        Self { answer, candidates, left_out, default, decided, notes }
    }

    /// The candidates in one state.
    pub fn in_state(&self, state: State) -> impl Iterator<Item = &Candidate<F::Measure>> {
        self.candidates.iter().filter(move |candidate| candidate.state == state)
    }
}

/// A record with candidates by state and distance.
fn sorted<M>(mut record: Record<M>) -> Record<M> {
    record.candidates.sort_by_key(|candidate| (candidate.state, candidate.distance));
    record
}
