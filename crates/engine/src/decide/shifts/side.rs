//! What the policies of one side say of all requests with a path of a class: the votes of policies and sets are tallied and combined as
//! for a single request, label by label.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::diagram::{Diagram, Full, Operation, Ref};
use super::formula::{And, FALSE, Formula, Globs, PathPoint, Reach, TRUE, label, truth};
use super::space::Space;
use crate::ask::EntryId;
use crate::decide::cells::AtomsBuilder;
use crate::decide::family::{By, Decide, Outcome};
use crate::decide::rule::{Rule, Set};
use crate::decide::tally::Tally;
use crate::decide::truth::Truth;
use crate::decide::value::{Algorithm, Combined, Effect, Rank, Unknowns, Value, Vote};
use crate::order::number;

/// The policies of one side that may matter.
#[derive(Debug)]
pub(super) struct Side<'d> {
    pub(super) decide: &'d Decide,
    /// In the order of evaluation.
    pub(super) rules: Vec<RuleForm<'d>>,
    sets: Vec<SetForm<'d>>,
    /// The policies that may be about paths of each pattern, and those that may be about all.
    by_glob: FxHashMap<u32, Vec<u32>>,
    everywhere: Vec<u32>,
}

/// A policy.
#[derive(Debug)]
pub(super) struct RuleForm<'d> {
    pub(super) entry: EntryId,
    pub(super) rule: &'d Rule,
    pub(super) set: usize,
    order: u32,
    pub(super) target: Formula,
    conditions: Formula,
}

/// A set.
#[derive(Debug)]
struct SetForm<'d> {
    set: &'d Set,
    parent: Option<usize>,
    order: u32,
    rank: Rank,
    target: Formula,
}

/// What a request gets, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Answer {
    pub(super) outcome: Outcome,
    pub(super) by: By,
}

/// Things as labels.
#[derive(Debug)]
pub(super) struct Labels<T> {
    pub(super) all: Vec<T>,
    known: FxHashMap<T, u32>,
}

/// The label of requests that are not looked at.
pub(super) const OUTSIDE: u32 = 0;

impl<T> Default for Labels<T> {
    fn default() -> Self {
        Self { all: Vec::new(), known: FxHashMap::default() }
    }
}

impl<T: Copy + Eq + Hash> Labels<T> {
    pub(super) fn of(&mut self, one: T) -> u32 {
        let Self { all, known } = self;
        *known.entry(one).or_insert_with(|| {
            all.push(one);
            number(all.len())
        })
    }

    pub(super) fn get(&self, label: u32) -> Option<T> {
        self.all.get((label as usize).checked_sub(1)?).copied()
    }
}

/// What matters where only one may be about a request: whether a member is, and what it says.
const fn both(target: Truth, applies: Truth) -> u32 {
    label(target) * 3 + label(applies)
}

struct Both;

impl Operation for Both {
    fn labels(&mut self, target: u32, applies: u32) -> u32 {
        both(truth(target), truth(applies))
    }
}

/// Counts the vote of the next member.
struct Count<'l, F> {
    tallies: &'l mut Labels<Tally>,
    algorithm: Algorithm,
    unknowns: Unknowns,
    /// The vote of a label.
    vote: F,
}

impl<F: Fn(u32) -> Option<Vote>> Operation for Count<'_, F> {
    fn labels(&mut self, tally: u32, vote: u32) -> u32 {
        match (self.tallies.get(tally), (self.vote)(vote)) {
            (Some(mut tally), Some(vote)) => {
                tally.add_next(vote, self.algorithm, self.unknowns);
                self.tallies.of(tally)
            }
            _ => tally,
        }
    }

    fn shortcut(&self, tally: Ref, vote: Ref) -> Option<Ref> {
        (tally == Ref::leaf(OUTSIDE) || vote.label().is_some_and(|label| (self.vote)(label).is_none())).then_some(tally)
    }
}

impl<'d> Side<'d> {
    /// Of some policies of a side.
    pub(super) fn of(
        decide: &'d Decide,
        entries: impl Iterator<Item = EntryId>,
        tests: &mut AtomsBuilder<'d>,
        globs: &mut Globs<'d>,
    ) -> Self {
        let sets = decide.sets().enumerate().map(|(number, set)| SetForm {
            set,
            parent: decide.parent_of(number),
            order: decide.order_of_set(number),
            rank: decide.rank_of_set(number).unwrap_or(Rank::of(0.0)),
            target: Formula::of_target(&set.target, tests),
        });
        let sets = sets.collect();
        let mut side = Self { decide, rules: Vec::new(), sets, by_glob: FxHashMap::default(), everywhere: Vec::new() };
        for entry in entries {
            let (Some(rule), Some(set)) = (decide.rule(entry), decide.set_number(entry)) else { continue };
            let own = number(side.rules.len());
            match Reach::of(&rule.target) {
                Reach::All => side.everywhere.push(own),
                Reach::Globs(all) => {
                    for glob in all {
                        side.by_glob.entry(globs.number(glob)).or_default().push(own);
                    }
                }
            }
            let (order, target) = (decide.order_of_rule(entry), Formula::of_target(&rule.target, tests));
            let conditions = Formula::of_conditions(rule, tests);
            side.rules.push(RuleForm { entry, rule, set, order, target, conditions });
        }
        side
    }

    /// The policies that may be about paths of a class, in the order of evaluation.
    pub(super) fn live(&self, at: &PathPoint) -> Vec<u32> {
        let covering = at.covered_by.iter().filter_map(|glob| self.by_glob.get(glob)).flatten();
        let mut live: Vec<u32> = self.everywhere.iter().chain(covering).copied().collect();
        live.sort_unstable();
        live.dedup();
        live
    }

    /// Where a set is about a request.
    pub(super) fn set_target(
        &self,
        set: usize,
        space: &Space<'_>,
        at: &PathPoint,
        diagram: &mut Diagram,
    ) -> Result<Ref, Full> {
        self.sets.get(set).map_or(Ok(TRUE), |form| form.target.holds(space, at, diagram))
    }
}

/// One side in a class of paths.
pub(super) struct Scene<'s, 'd> {
    pub(super) side: &'s Side<'d>,
    pub(super) space: &'s Space<'d>,
    pub(super) at: &'s PathPoint,
    /// Policies by their numbers in the side, in the order of evaluation, with what they say.
    pub(super) live: Vec<Live>,
}

/// A policy in a class of paths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Live {
    pub(super) number: u32,
    pub(super) target: Ref,
    pub(super) applies: Ref,
}

impl<'s, 'd> Scene<'s, 'd> {
    pub(super) fn new(
        side: &'s Side<'d>,
        space: &'s Space<'d>,
        at: &'s PathPoint,
        diagram: &mut Diagram,
    ) -> Result<Self, Full> {
        let mut live = Vec::new();
        for number in side.live(at) {
            let Some(form) = side.rules.get(number as usize) else { continue };
            let target = form.target.holds(space, at, diagram)?;
            if target == FALSE {
                continue;
            }
            let conditions = form.conditions.holds(space, at, diagram)?;
            let applies = diagram.apply(target, conditions, &mut And)?;
            live.push(Live { number, target, applies });
        }
        Ok(Self { side, space, at, live })
    }

    pub(super) fn form(&self, live: &Live) -> Option<&'s RuleForm<'d>> {
        self.side.rules.get(live.number as usize)
    }

    /// What each request of a region gets; the policies that are not wanted are left out.
    pub(super) fn answers(
        &self,
        region: Ref,
        wanted: impl Fn(u32) -> bool,
        diagram: &mut Diagram,
        answers: &mut Labels<Answer>,
    ) -> Result<Ref, Full> {
        let sets = self.side.sets.len();
        let mut members: Vec<Vec<(u32, Member)>> = vec![Vec::new(); sets];
        for live in self.live.iter().filter(|live| wanted(live.number)) {
            if let Some(form) = self.form(live)
                && let Some(own) = members.get_mut(form.set)
            {
                own.push((form.order, Member::Rule(*live)));
            }
        }
        let mut combined: Labels<(Combined, Truth)> = Labels::default();
        let mut root = None;
        for (number, form) in self.side.sets.iter().enumerate().rev() {
            let mut own = members.get_mut(number).map(std::mem::take).unwrap_or_default();
            if own.is_empty() && !self.must_be_asked(form) {
                continue;
            }
            own.sort_by_key(|(order, _)| *order);
            let said = self.set(form, number, &own, region, diagram, &mut combined)?;
            match form.parent.and_then(|parent| members.get_mut(parent)) {
                Some(parent) => parent.push((form.order, Member::Set(number, said))),
                None => root = Some(said),
            }
        }
        let decided = |said: (Combined, Truth)| {
            let decided = self.side.decide.decided(said.0, false);
            Answer { outcome: decided.outcome, by: decided.by }
        };
        diagram.map(root.unwrap_or(Ref::leaf(OUTSIDE)), |said| {
            combined.get(said).map_or(OUTSIDE, |said| answers.of(decided(said)))
        })
    }

    /// Whether a set may say something also when none of its members is about the request.
    fn must_be_asked(&self, form: &SetForm<'_>) -> bool {
        let judge = form.parent.and_then(|parent| self.side.sets.get(parent)).map(|parent| parent.set.algorithm);
        form.parent.is_none()
            || judge == Some(Algorithm::OnlyOneApplicable)
            || form.set.algorithm.always_speaks()
            || form.set.default.is_some()
    }

    fn set(
        &self,
        form: &SetForm<'_>,
        number: usize,
        members: &[(u32, Member)],
        region: Ref,
        diagram: &mut Diagram,
        combined: &mut Labels<(Combined, Truth)>,
    ) -> Result<Ref, Full> {
        let (algorithm, unknowns) = (form.set.algorithm, self.side.decide.unknowns());
        let mut tallies: Labels<Tally> = Labels::default();
        let nothing = tallies.of(Tally::default());
        let mut tally = diagram.map(region, |inside| if truth(inside) == Truth::True { nothing } else { OUTSIDE })?;
        for (_, member) in members {
            tally = match member {
                Member::Rule(live) => {
                    let Some(form) = self.form(live) else { continue };
                    let only_one = algorithm == Algorithm::OnlyOneApplicable;
                    let votes =
                        if only_one { diagram.apply(live.target, live.applies, &mut Both)? } else { live.applies };
                    let vote = |label: u32| rule_vote(form, label, only_one);
                    diagram.apply(tally, votes, &mut Count { tallies: &mut tallies, algorithm, unknowns, vote })?
                }
                Member::Set(inner, said) => {
                    let rank = self.side.sets.get(*inner).map_or(Rank::of(0.0), |inner| inner.rank);
                    let combined = &*combined;
                    let vote = |label: u32| {
                        let (said, target) = combined.get(label)?;
                        Some(Vote { order: 0, rank, target, value: said.value, by: said.by })
                    };
                    diagram.apply(tally, *said, &mut Count { tallies: &mut tallies, algorithm, unknowns, vote })?
                }
            };
        }
        let target = form.target.holds(self.space, self.at, diagram)?;
        // The default of the outermost set is a row of its own.
        let default = form.set.default.filter(|_| number > 0);
        diagram.apply(tally, target, &mut Under { tallies: &tallies, combined, algorithm, unknowns, default })
    }
}

/// Combines what was counted, given whether the set is about the request.
struct Under<'l> {
    tallies: &'l Labels<Tally>,
    combined: &'l mut Labels<(Combined, Truth)>,
    algorithm: Algorithm,
    unknowns: Unknowns,
    default: Option<Effect>,
}
impl Operation for Under<'_> {
    fn labels(&mut self, tally: u32, target: u32) -> u32 {
        let Some(tally) = self.tallies.get(tally) else { return OUTSIDE };
        let combined = tally.combine(self.algorithm, self.unknowns);
        let combined = self.default.map_or(combined, |default| combined.or(default));
        self.combined.of((combined.under(truth(target)), truth(target)))
    }

    fn shortcut(&self, tally: Ref, _: Ref) -> Option<Ref> {
        (tally == Ref::leaf(OUTSIDE)).then_some(tally)
    }
}

/// A member of a set: a policy, or a set by its number with what it says.
#[derive(Clone, Copy)]
enum Member {
    Rule(Live),
    Set(usize, Ref),
}

/// What a policy says where its truth has a label; nothing if it is about something else.
fn rule_vote(form: &RuleForm<'_>, label: u32, only_one: bool) -> Option<Vote> {
    let (target, applies) = if only_one { (truth(label / 3), truth(label % 3)) } else { (Truth::True, truth(label)) };
    if applies == Truth::False && (target == Truth::False || !only_one) {
        return None;
    }
    let rank = Rank::of(form.rule.priority);
    Some(Vote { order: 0, rank, target, value: Value::of(form.rule.effect, applies), by: Some(form.entry) })
}
