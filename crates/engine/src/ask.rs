//! The pipeline that all families share: match, rank, resolve, with a witness beside it.

use upheld_model::Id;

use crate::witness::Witness;
use crate::work;

/// One statement of one policy, the thing that matches and ranks. Each family keeps its own.
#[derive(Clone, Copy, Debug)]
pub enum AnyEntry {}

/// Which entry of a family.
pub type EntryId = Id<AnyEntry>;

/// Where an entry sits for a question. Most families have one place; a label selector may hit a route and its parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place(pub u32);

/// An entry that matched, at one place of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit<M> {
    /// Which entry.
    pub entry: EntryId,
    /// Where it sits.
    pub place: Place,
    /// Whether all facts are known; an uncertain hit may turn out not to match.
    pub certain: bool,
    /// What ranking reads of this match.
    pub measure: M,
}

impl<M> Hit<M> {
    /// A fit at a place.
    pub fn new(entry: EntryId, place: Place, fit: Fit<M>) -> Self {
        match fit {
            Fit::Yes(measure) => Self { entry, place, certain: true, measure },
            Fit::Unknown(measure) => Self { entry, place, certain: false, measure },
        }
    }
}

/// How an entry fits a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit<M> {
    /// It matches.
    Yes(M),
    /// It matches if a missing fact is as it wants.
    Unknown(M),
}

/// A family of policies: the semantics of matching and resolving, with no file format in sight.
pub trait Family {
    /// What is asked.
    type Question<'q>;
    /// What ranking reads of a match.
    type Measure: Copy;
    /// The answer: ids, no lifetimes.
    type Answer;
    /// Room to work in, reused between questions.
    type Scratch: Default;

    /// All entries.
    fn entries(&self) -> impl Iterator<Item = EntryId>;

    /// All hits through the index, unordered, each place once. A witness that does not record may be spared the hits
    /// that cannot change the answer.
    fn find<W: Witness<Self::Measure>>(
        &self,
        question: &Self::Question<'_>,
        scratch: &mut Self::Scratch,
        hits: &mut Vec<Hit<Self::Measure>>,
    );

    /// One entry without the index: the same truth, and it tells the witness why not. Calls `sit` for each place.
    fn check<W: Witness<Self::Measure>>(
        &self,
        entry: EntryId,
        question: &Self::Question<'_>,
        witness: &mut W,
        sit: impl FnMut(Place, Fit<Self::Measure>),
    );

    /// All entries without the index, one after the other. Families that have to read a question before they can check override it.
    fn sweep<W: Witness<Self::Measure>>(
        &self,
        question: &Self::Question<'_>,
        witness: &mut W,
        mut sit: impl FnMut(EntryId, Place, Fit<Self::Measure>),
    ) {
        for entry in self.entries() {
            self.check(entry, question, witness, |place, fit| sit(entry, place, fit));
        }
    }

    /// What the question itself brings along, under ids after those of all entries: it is ranked and folded with what matches.
    #[inline]
    fn own(&self, question: &Self::Question<'_>, sit: impl FnMut(EntryId, Place, Fit<Self::Measure>)) {
        let _ = (question, sit);
    }

    /// Ranks the hits and folds them into the answer; tells the witness what became of each.
    fn resolve<W: Witness<Self::Measure>>(
        &self,
        question: &Self::Question<'_>,
        scratch: &mut Self::Scratch,
        hits: &mut Vec<Hit<Self::Measure>>,
        witness: &mut W,
    ) -> Self::Answer;
}

/// Room for one asker. Not shared between threads; keeps its memory between questions.
#[derive(Debug)]
pub struct Scratch<F: Family> {
    own: F::Scratch,
    hits: Vec<Hit<F::Measure>>,
}

impl<F: Family> Default for Scratch<F> {
    fn default() -> Self {
        Self { own: F::Scratch::default(), hits: Vec::new() }
    }
}

impl<F: Family> Scratch<F> {
    /// The hits of the last question; families say in their answer which of them count.
    pub fn hits(&self) -> &[Hit<F::Measure>] {
        &self.hits
    }
}

/// Answers a question. With [`crate::Silent`] this is the hot path; a recording witness gets the whole story of the
/// same evaluation.
pub fn ask<F: Family, W: Witness<F::Measure>>(
    family: &F,
    question: &F::Question<'_>,
    scratch: &mut Scratch<F>,
    witness: &mut W,
) -> F::Answer {
    gather(family, question, scratch, witness);
    settle(family, question, scratch, witness)
}

/// The first half of [`ask`]: everything that matches, in [`Scratch::hits`].
pub fn gather<F: Family, W: Witness<F::Measure>>(
    family: &F,
    question: &F::Question<'_>,
    scratch: &mut Scratch<F>,
    witness: &mut W,
) {
    work::step();
    let Scratch { own, hits } = scratch;
    hits.clear();
    if W::SWEEPS {
        family.sweep(question, witness, |entry, place, fit| hits.push(Hit::new(entry, place, fit)));
    } else {
        family.find::<W>(question, own, hits);
    }
    family.own(question, |entry, place, fit| hits.push(Hit::new(entry, place, fit)));
}

/// The second half of [`ask`]: what becomes of that which was gathered for the same question.
pub fn settle<F: Family, W: Witness<F::Measure>>(
    family: &F,
    question: &F::Question<'_>,
    scratch: &mut Scratch<F>,
    witness: &mut W,
) -> F::Answer {
    let Scratch { own, hits } = scratch;
    family.resolve(question, own, hits, witness)
}
