//! Whether all requests of a region get what they must get: the shifts to a set in which a policy about the region outweighs all others.
//!
//! Inside the region that policy would decide, so what it would change is what the policies say there and must not say; nothing else
//! has to be compared.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::compare::{answers_so, confirmed, points};
use super::diagram::{Diagram, Full, Limits, Ref};
use super::formula::{And, FALSE, Formula, Globs, PathPoint, Reach, label, truth};
use super::side::{Answer, Labels, Scene, Side};
use super::space::Space;
use super::{Bound, Bounds, Certainty, Decision, NotCovered};
use crate::ask::Scratch;
use crate::decide::cells::AtomsBuilder;
use crate::decide::family::{Decide, Outcome, Strictness};
use crate::decide::path::Readings;
use crate::decide::request::Request;
use crate::decide::rule::Rule;
use crate::decide::truth::Truth;

/// What must hold for the requests of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// None gets this. Requests of which nobody can tell whether they are in the region count as in it.
    Never(Outcome),
    /// Each gets this. Only requests that are in the region for certain count.
    Always(Outcome),
}

impl Claim {
    /// Whether an outcome is not what it must be.
    pub fn is_broken_by(self, outcome: Outcome) -> bool {
        match self {
            Self::Never(never) => outcome == never,
            Self::Always(always) => outcome != always,
        }
    }

    /// Whether a request counts, given whether it is in the region.
    pub fn counts(self, inside: Truth) -> bool {
        match self {
            Self::Never(_) => inside != Truth::False,
            Self::Always(_) => inside == Truth::True,
        }
    }
}

/// Whether a claim holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// It does, for every complete request.
    Holds {
        /// So many classes of paths were looked at.
        classes: usize,
    },
    /// It does not; at least one of these is sure.
    Broken(Vec<Breach>),
    /// Nobody knows: a bound was met, or what was found may never happen.
    Undecided {
        /// The bound, if one was met.
        bound: Option<Bound>,
        /// What was found up to then.
        found: Vec<Breach>,
    },
}

/// Requests that get what they must not get, by one decider.
#[derive(Clone, Debug, PartialEq)]
pub struct Breach {
    /// What they get.
    pub decision: Decision,
    /// In so many classes of paths.
    pub classes: u64,
    /// One of them.
    pub example: Request,
    /// Whether the policies have answered it so.
    pub certainty: Certainty,
}

/// Whether requests get what they must. The region is what a policy matches, whatever its effect is.
pub fn held(decide: &Decide, region: &Rule, claim: Claim, bounds: &Bounds) -> Held {
    let undecided = |bound| Held::Undecided { bound: Some(bound), found: Vec::new() };
    if decide.strictness() == Strictness::Compat {
        return undecided(Bound::NotCovered(NotCovered::Compatibility));
    }
    let (mut tests, mut globs) = (AtomsBuilder::default(), Globs::default());
    let reach = Reach::of(&region.target);
    let side = Side::of(decide, reach.entries(decide).into_iter(), &mut tests, &mut globs);
    let wanted = reach.wanted(&mut globs);
    let region = Region::of(region, &mut tests);
    let space = Space::of(tests.finish(decide), decide, &mut globs);
    let points = match points(&globs, wanted.as_deref(), decide, bounds) {
        Ok(points) => points,
        Err(bound) => return undecided(bound),
    };
    let limits = Limits { nodes: bounds.nodes, steps: bounds.steps };
    let (answers, scratch, found, known) = Default::default();
    let mut walk =
        RegionWalk { region, claim, side, space, diagram: Diagram::new(limits), answers, scratch, found, known };
    for at in &points {
        if let Err(full) = walk.class(at) {
            return Held::Undecided { bound: Some(full.bound(at, bounds)), found: walk.breaches() };
        }
    }
    match walk.breaches() {
        breaches if breaches.is_empty() => Held::Holds { classes: points.len() },
        breaches if breaches.iter().any(|breach| breach.certainty == Certainty::Sure) => Held::Broken(breaches),
        found => Held::Undecided { bound: None, found },
    }
}

/// The requests that a policy matches.
pub(super) struct Region<'d> {
    rule: &'d Rule,
    target: Formula,
    besides: Formula,
}

impl<'d> Region<'d> {
    pub(super) fn of(rule: &'d Rule, tests: &mut AtomsBuilder<'d>) -> Self {
        Self { rule, target: Formula::of_target(&rule.target, tests), besides: Formula::of_conditions(rule, tests) }
    }

    /// Which requests of a class count, given for each whether it is inside.
    pub(super) fn holds(
        &self,
        counts: impl Fn(Truth) -> bool,
        space: &Space<'_>,
        at: &PathPoint,
        diagram: &mut Diagram,
    ) -> Result<Ref, Full> {
        let (target, besides) = (self.target.holds(space, at, diagram)?, self.besides.holds(space, at, diagram)?);
        let inside = diagram.apply(target, besides, &mut And)?;
        diagram.map(inside, |one| label(counts(truth(one)).into()))
    }

    /// Whether a request is inside.
    pub(super) fn covers(&self, decide: &Decide, request: &Request) -> Truth {
        let mut room = Readings::default();
        let asked = decide.asked(request, &mut room);
        let besides = &self.rule.conditions;
        besides.iter().fold(self.rule.target.covers(asked), |known, one| known.and(one.holds(asked)))
    }
}

struct RegionWalk<'d> {
    region: Region<'d>,
    claim: Claim,
    side: Side<'d>,
    space: Space<'d>,
    diagram: Diagram,
    answers: Labels<Answer>,
    scratch: Scratch<Decide>,
    /// By decider, in the order in which they are found.
    found: BTreeMap<usize, Breach>,
    known: FxHashMap<Decision, usize>,
}

impl RegionWalk<'_> {
    fn breaches(self) -> Vec<Breach> {
        self.found.into_values().collect()
    }

    fn class(&mut self, at: &PathPoint) -> Result<(), Full> {
        self.diagram.clear();
        let Self { region, claim, side, space, diagram, answers, scratch, .. } = self;
        let inside = region.holds(|inside| claim.counts(inside), space, at, diagram)?;
        if inside == FALSE {
            return Ok(());
        }
        let decide = side.decide;
        let said = Scene::new(side, space, at, diagram)?.answers(inside, |_| true, diagram, answers)?;
        for label in diagram.labels(said) {
            let Some(answer) = answers.get(label).filter(|answer| claim.is_broken_by(answer.outcome)) else { continue };
            let Some(way) = diagram.way(said, label, |part, point| space.cost(part, point)) else { continue };
            let (request, open) = space.request(&way, at);
            let (example, certainty) = confirmed(request, &open, space, decide, |request| {
                claim.counts(region.covers(decide, request)) && answers_so(decide, request, answer, scratch)
            });
            let decision = Decision { outcome: answer.outcome, by: answer.by };
            let next = self.known.len();
            let place = *self.known.entry(decision).or_insert(next);
            match self.found.get_mut(&place) {
                None => drop(self.found.insert(place, Breach { decision, classes: 1, example, certainty })),
                Some(known) => {
                    known.classes += 1;
                    if known.certainty != Certainty::Sure && certainty == Certainty::Sure {
                        (known.example, known.certainty) = (example, certainty);
                    }
                }
            }
        }
        Ok(())
    }
}
