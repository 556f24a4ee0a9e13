//! The family: policies and sets in evaluation order, with their index.

mod change;
mod differing;
mod duties;
mod measure;
mod members;
mod near;
mod numbering;
mod order;
mod reading;
mod replace;
mod suppose;
mod tell;

use std::sync::Arc;

use upheld_model::Pages;

pub use self::change::RuleChange;
pub use self::measure::Measure;
pub use self::members::{Rules, RulesIter};
use self::numbering::Numbering;
use self::order::Order;
pub use self::reading::MOST_DOUBTS;
use self::reading::{ReadIn, is_too_doubtful};
pub use self::suppose::{Doubtful, Speaking, SpeaksBy};
use super::examine::Examined;
use super::index::{self, Index};
use super::load::Load;
use super::path::{PathReading, Readings};
use super::request::{NormalizedRequest, Path, Request};
use super::rule::{Rule, Set};
use super::tally::Tally;
use super::truth::Truth;
use super::value::{Algorithm, Combined, Effect, PossibleEffect, Rank, Unknowns, Value, Vote};
use crate::ask::{EntryId, Family, Fit, Hit, Place};
use crate::digest::Encoder;
use crate::witness::Witness;
use crate::work;

/// Policies that decide requests. An entry is a policy, numbered in the order of evaluation.
#[derive(Clone, Debug)]
pub struct Decide {
    /// By slot: a policy stays in its slot as long as it is there, and the index knows it by that.
    policies: Pages<Policy>,
    order: Order,
    /// Without their members; parents first, the root is the first.
    sets: Arc<Vec<Set>>,
    /// What is known of each set besides.
    nodes: Vec<Node>,
    index: Arc<Index>,
    strictness: Strictness,
    unknowns: Unknowns,
    paths: PathReading,
    /// Whether anything is to be done along with some decision.
    duties: bool,
    /// How many policies came and went since all was built.
    changes: usize,
    /// What all of them cost.
    load: Load,
    /// The longest text that is held against patterns.
    longest: usize,
}

/// A policy in its slot.
#[derive(Clone, Debug)]
struct Policy {
    /// Nothing if it is gone.
    rule: Option<Arc<Rule>>,
    head: Head,
}

/// How requests are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Paths in every way in which they are read; what cannot be told of one policy does not touch the others.
    Strict,
    /// As the original system does: paths as they are given, and the first thing that cannot be known ends it all.
    Compat,
}

/// What resolving reads of a policy.
#[derive(Clone, Copy, Debug)]
struct Head {
    set: u32,
    rank: Rank,
    effect: Effect,
    conditions: Conditions,
}

/// Whether a policy has conditions; most have none, and their documents need not be touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conditions {
    None,
    Some,
}

/// Where a set stands.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: Option<u32>,
    /// The place of the first policy that is evaluated after its beginning.
    start: u32,
    rank: Rank,
}

/// What a request gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided {
    /// What the policies say together, before any default.
    pub value: Value,
    /// What becomes of the request.
    pub outcome: Outcome,
    /// Who decided.
    pub by: By,
    /// Whether some policy is about the request, whatever its conditions say.
    pub about: bool,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It goes on.
    Permit,
    /// It is stopped.
    Deny,
    /// Nobody can tell; enforcement stops it.
    Undecided,
    /// A policy says a word that no algorithm knows; only the compatibility edition has it.
    Foreign,
}

impl Outcome {
    /// The word that users see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Permit => "permit",
            Self::Deny => "deny",
            Self::Undecided => "undecided",
            Self::Foreign => "foreign",
        }
    }
}

/// Who decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum By {
    /// A policy.
    Policy(EntryId),
    /// The default effect, because no policy says anything.
    Default,
    /// The algorithm itself, which speaks also when nobody else does.
    Algorithm,
    /// Nobody: what a policy says is not known, or policies clash.
    Nobody,
}

/// What one asker needs while it asks, reused between requests.
#[derive(Debug, Default)]
pub struct DecideScratch {
    found: index::Scratch,
    path: Readings,
    /// Of the path of the request that was looked up last.
    read: ReadIn,
    tallies: Vec<Tally>,
    /// What each set says.
    said: Vec<Combined>,
    /// Whether each set is about the request.
    targets: Vec<Truth>,
    /// Policies that may be about the request, for one reading of its path or another.
    some: Vec<u32>,
}

impl Decide {
    /// Numbers everything in the order of evaluation (priority, then position) and builds the index.
    pub fn new(root: Set, strictness: Strictness) -> Self {
        let Numbering { policies, sets, nodes } = Numbering::of(root);
        Self::build(policies, Arc::new(sets), nodes, strictness)
    }

    /// For policies in the order of evaluation.
    fn build(policies: Vec<Policy>, sets: Arc<Vec<Set>>, nodes: Vec<Node>, strictness: Strictness) -> Self {
        let order = Order::of(policies.len());
        let policies: Pages<Policy> = policies.into_iter().collect();
        let index = Arc::new(Index::new(in_slots(&policies)));
        let duties = in_slots(&policies).any(|(_, rule)| !rule.duties.is_empty())
            || sets.iter().any(|set| !set.duties.is_empty());
        let load = in_slots(&policies).fold(Load::default(), |load, (_, rule)| load.plus(Load::of(rule)));
        let (paths, unknowns) = (PathReading::Every, Unknowns::Union);
        let (changes, longest) = (0, load.longest_text());
        Self { policies, order, sets, nodes, index, strictness, unknowns, paths, duties, changes, load, longest }
    }

    /// Which policy comes before which: whoever is named as the one that decided depends on it.
    pub(crate) fn encode_order(&self, encoder: &mut Encoder) {
        encoder.list(self.rules().iter(), |encoder, rule| encoder.text(&rule.name));
    }

    /// The index, built once more: for measuring.
    #[cfg(feature = "reference")]
    pub fn index_again(&self) -> impl Sized + use<> {
        Index::new(in_slots(&self.policies))
    }

    /// Every part of a policy held against a request.
    pub fn examine(&self, entry: EntryId, request: &Request) -> Option<Examined> {
        let mut room = Readings::default();
        let asked = self.asked(request, &mut room);
        self.rule(entry).map(|rule| Examined::of(rule, asked))
    }
}

impl Family for Decide {
    type Question<'q> = &'q Request;
    type Measure = Measure;
    type Answer = Decided;
    type Scratch = DecideScratch;

    fn entries(&self) -> impl Iterator<Item = EntryId> {
        (0..self.order.len()).map(EntryId::new)
    }

    fn find<W: Witness<Measure>>(
        &self,
        question: &Self::Question<'_>,
        scratch: &mut DecideScratch,
        hits: &mut Vec<Hit<Measure>>,
    ) {
        let DecideScratch { found, path, read, some, .. } = scratch;
        let asked = self.asked(question, path);
        *read = ReadIn::of(asked.path);
        let mut has_conditions = false;
        let mut sit = |slot: u32, target: Truth| {
            let head = self.policies.get(slot as usize).map(|policy| policy.head.conditions);
            has_conditions |= head != Some(Conditions::None);
            let entry = EntryId::new(self.order.place(slot) as usize);
            let measure = Measure { target, conditions: Truth::True, steps: 0 };
            hits.push(Hit { entry, place: Place::default(), certain: target == Truth::True, measure });
        };
        if *read == ReadIn::One {
            self.index.find(asked, |slot| self.in_slot(slot), found, sit);
        } else {
            let most = if W::RECORDS { usize::MAX } else { MOST_DOUBTS };
            self.look_in_doubt(asked, most, found, some, &mut sit);
        }
        once_each(hits);
        if has_conditions {
            self.hold_conditions(asked, hits);
        }
    }

    fn check<W: Witness<Measure>>(
        &self,
        entry: EntryId,
        question: &Self::Question<'_>,
        witness: &mut W,
        mut sit: impl FnMut(Place, Fit<Measure>),
    ) {
        let mut room = Readings::default();
        let asked = self.asked(question, &mut room);
        self.hold(entry, asked, witness, &mut sit);
    }

    fn sweep<W: Witness<Measure>>(
        &self,
        question: &Self::Question<'_>,
        witness: &mut W,
        mut sit: impl FnMut(EntryId, Place, Fit<Measure>),
    ) {
        // The path is read once, and not for each policy.
        let mut room = Readings::default();
        let asked = self.asked(question, &mut room);
        for entry in self.entries() {
            work::step();
            self.hold(entry, asked, witness, &mut |place, fit| sit(entry, place, fit));
        }
    }

    fn resolve<W: Witness<Measure>>(
        &self,
        question: &Self::Question<'_>,
        scratch: &mut DecideScratch,
        hits: &mut Vec<Hit<Measure>>,
        witness: &mut W,
    ) -> Decided {
        // What sweeps has looked nothing up.
        let read = if W::SWEEPS { ReadIn::of(self.asked(question, &mut scratch.path).path) } else { scratch.read };
        // Most requests match nothing in one flat set: then there is nothing to count.
        let nothing = hits.is_empty() && self.sets.len() == 1 && !self.algorithm().always_speaks();
        let (root, about) = if nothing {
            scratch.said.clear();
            (Combined::NOTHING, false)
        } else {
            let mut room = std::mem::take(&mut scratch.path);
            // Policies were held against the request before; only targets of sets look at its path.
            let has_targets = self.sets.iter().any(|set| !set.target.is_everything());
            let asked = if has_targets {
                self.asked(question, &mut room)
            } else {
                NormalizedRequest { request: question, path: Path::Absent, longest: self.longest }
            };
            let folded = self.fold(asked, scratch, hits, self.algorithm());
            scratch.path = room;
            folded
        };
        let is_too_doubtful = read == ReadIn::None && is_too_doubtful(hits);
        let decided = if is_too_doubtful || self.ends_in_error(question) || self.takes_too_much(hits) {
            let value = Value::Unknown(PossibleEffect::Either);
            let about = about || is_too_doubtful;
            Decided { value, outcome: Outcome::Undecided, by: By::Nobody, about }
        } else {
            self.decided(root, about)
        };
        let decided = self.in_every_reading(question, read, decided, hits, &mut scratch.path);
        if W::RECORDS {
            self.tell(question, &decided, scratch, hits, witness);
        }
        decided
    }
}

impl Decide {
    /// Whether nothing can be told of a request as a whole: the original would fail on it.
    fn ends_in_error(&self, request: &Request) -> bool {
        match self.strictness {
            Strictness::Strict => false,
            Strictness::Compat => self.failing(request).is_some(),
        }
    }

    /// What would be decided if only these policies matched, and the outermost set were combined in this way.
    pub fn decide_among(&self, request: &Request, hits: &[Hit<Measure>], outermost: Algorithm) -> Decided {
        let mut room = Readings::default();
        let asked = self.asked(request, &mut room);
        let (root, about) = self.fold(asked, &mut DecideScratch::default(), hits, outermost);
        self.decided(root, about)
    }

    fn fold(
        &self,
        asked: NormalizedRequest<'_>,
        scratch: &mut DecideScratch,
        hits: &[Hit<Measure>],
        outermost: Algorithm,
    ) -> (Combined, bool) {
        self.fold_with(
            asked,
            scratch,
            hits,
            outermost,
            |_| None,
            |_, tally, algorithm| tally.combine(algorithm, self.unknowns),
        )
    }

    /// Tallies the votes set by set, inner ones first; of some sets it is known whether they are about the request.
    #[inline]
    fn fold_with(
        &self,
        asked: NormalizedRequest<'_>,
        scratch: &mut DecideScratch,
        hits: &[Hit<Measure>],
        outermost: Algorithm,
        known: impl Fn(usize) -> Option<Truth>,
        combine: impl Fn(usize, &Tally, Algorithm) -> Combined,
    ) -> (Combined, bool) {
        let DecideScratch { tallies, said, targets, .. } = scratch;
        tallies.clear();
        tallies.resize(self.sets.len(), Tally::default());
        said.clear();
        said.resize(self.sets.len(), Combined::NOTHING);
        targets.clear();
        targets.resize(self.sets.len(), Truth::True);
        for hit in hits {
            let Some(Head { set, rank, effect, .. }) = self.head(hit.entry) else { continue };
            let Measure { target, .. } = hit.measure;
            let value = Value::of(*effect, hit.measure.applies());
            if let Some(tally) = tallies.get_mut(*set as usize) {
                let order = self.order_of_rule(hit.entry);
                tally.add(Vote { order, rank: *rank, target, value, by: Some(hit.entry) });
            }
        }
        let mut root = Combined::NOTHING;
        let mut about = false;
        for (number, (set, node)) in self.sets.iter().zip(&self.nodes).enumerate().rev() {
            let Some((parents, [tally, ..])) = tallies.split_at_mut_checked(number) else { continue };
            let algorithm = if number == 0 { outermost } else { set.algorithm };
            if !tally.is_about() && !self.must_be_asked(set, node.parent, outermost) {
                continue;
            }
            let target = match known(number) {
                Some(target) => target,
                None if set.target.is_everything() => Truth::True,
                None => set.target.covers(asked),
            };
            let combined = match (combine(number, tally, algorithm), set.default) {
                // The default of the outermost set is a row of its own.
                (combined, Some(default)) if number > 0 => combined.or(default),
                (combined, _) => combined,
            };
            let combined = combined.under(target);
            if let (Some(said), Some(targeted)) = (said.get_mut(number), targets.get_mut(number)) {
                (*said, *targeted) = (combined, target);
            }
            match node.parent.and_then(|parent| parents.get_mut(parent as usize)) {
                Some(parent) => parent.add(Vote {
                    order: self.order_of_set(number),
                    rank: node.rank,
                    target,
                    value: combined.value,
                    by: combined.by,
                }),
                None => {
                    root = combined;
                    about = tally.is_about();
                }
            }
        }
        (root, about)
    }

    /// Whether a set may say something also when none of its members is about the request.
    fn must_be_asked(&self, set: &Set, parent: Option<u32>, outermost: Algorithm) -> bool {
        let judge = match parent {
            None => return true,
            Some(0) => Some(outermost),
            Some(parent) => self.sets.get(parent as usize).map(|set| set.algorithm),
        };
        // There it counts who is about the request.
        judge == Some(Algorithm::OnlyOneApplicable) || set.algorithm.always_speaks() || set.default.is_some()
    }

    /// What a request gets if the outermost set says this.
    pub(super) fn decided(&self, root: Combined, about: bool) -> Decided {
        let default = self.default_effect();
        // What may be nothing may be the default. Either way it may be the same.
        let by_default = match (root.value, self.unknowns) {
            (Value::NotApplicable, _) => true,
            (Value::Unknown(_), Unknowns::Union) => root.value.or(default) == default.into(),
            _ => false,
        };
        let by = if by_default { By::Default } else { root.by.map_or(By::Algorithm, By::Policy) };
        let value = if by_default { default.into() } else { root.value };
        let (outcome, by) = match value {
            Value::Permit => (Outcome::Permit, by),
            Value::Deny => (Outcome::Deny, by),
            Value::Foreign => (Outcome::Foreign, by),
            Value::Unknown(_) | Value::NotApplicable => (Outcome::Undecided, By::Nobody),
        };
        Decided { value: root.value, outcome, by, about }
    }
}

/// Policies with their slots.
fn in_slots(policies: &Pages<Policy>) -> impl Iterator<Item = (u32, &Rule)> + Clone {
    policies.iter().zip(0..).filter_map(|(policy, slot)| Some((slot, policy.rule.as_deref()?)))
}

/// Of several ways in which a policy fits, the best counts.
fn once_each(hits: &mut Vec<Hit<Measure>>) {
    if hits.len() < 2 {
        return;
    }
    let doubt = |hit: &Hit<Measure>| u8::from(hit.measure.target != Truth::True);
    hits.sort_unstable_by_key(|hit| (hit.entry, doubt(hit)));
    hits.dedup_by_key(|hit| hit.entry);
}

impl Decided {
    /// The effects that were possible, for an undecided answer.
    pub fn could(&self) -> Option<PossibleEffect> {
        self.value.could().filter(|_| self.outcome == Outcome::Undecided)
    }
}
