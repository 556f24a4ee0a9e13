//! What can be said of one set of policies without any request: policies that can never match or decide, or that could go, and policies
//! that clash. One pass over all classes of paths; a policy is done with as soon as a class shows that it matters.
//!
//! That a policy never matches, never decides or changes nothing is a proof, as in the root of this module. Whatever clashes is shown
//! by a request.

use rustc_hash::FxHashSet;

use super::compare::points;
use super::diagram::{Diagram, Full, Limits, Operation, Ref};
use super::formula::{And, FALSE, Globs, PathPoint, TRUE, label, truth};
use super::side::{Answer, Labels, Live, OUTSIDE, Scene, Side};
use super::space::Space;
use super::{Bound, Bounds, NotCovered};
use crate::ask::{EntryId, Scratch, ask};
use crate::decide::cells::AtomsBuilder;
use crate::decide::family::{By, Decide, Strictness};
use crate::decide::path::Readings;
use crate::decide::request::Request;
use crate::decide::rule::{Rule, Status};
use crate::decide::truth::Truth;
use crate::decide::value::{Algorithm, Effect, Rank};
use crate::witness::Silent;

/// What is to be said of policies.
#[derive(Clone, Debug, PartialEq)]
pub struct Linted {
    /// By policy, in the order of evaluation.
    pub findings: Vec<Finding>,
    /// Why there may be more, or fewer: nothing is said then of policies of which not all is known.
    pub bound: Option<Bound>,
    /// So many classes of paths were looked at.
    pub classes: usize,
}

/// Something that is to be said of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Which policy; nothing if it is about the default.
    pub policy: Option<EntryId>,
    /// What.
    pub problem: Problem,
    /// The others that it is about, each with a request where both meet, if there is one that was tried.
    pub others: Vec<Other>,
}

/// Another policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    /// Which.
    pub policy: EntryId,
    /// A request that both match.
    pub example: Option<Request>,
}

/// What can be wrong with a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Problem {
    /// No request can match it.
    Impossible,
    /// It never decides: one policy matches all that it matches, and comes first.
    Shadowed,
    /// It never decides: several policies together match all that it matches.
    Covered,
    /// It never decides: wherever it matches, policies with the other effect outweigh it.
    Outweighed,
    /// It decides, but without it everything is decided alike.
    Redundant,
    /// The same, and wherever it decides, the default would.
    SameAsDefault,
    /// A policy with the other effect matches some of what it matches.
    Conflict,
    /// The same, and only the order of the store says which of both comes first.
    Tie,
    /// Some policy says something of every request, so the default never counts.
    UnreachableDefault,
}

/// So many others are named in a finding about clashes.
const MOST_CLASHES: usize = 16;

/// Looks at all policies of a set.
pub fn lint(decide: &Decide, bounds: &Bounds) -> Linted {
    let ended = |bound| Linted { findings: Vec::new(), bound: Some(bound), classes: 0 };
    if decide.strictness() == Strictness::Compat {
        return ended(Bound::NotCovered(NotCovered::Compatibility));
    }
    let (mut tests, mut globs) = (AtomsBuilder::default(), Globs::default());
    let is_on = |entry: &EntryId| decide.rule(*entry).is_some_and(|rule| rule.status == Status::On);
    let entries = (0..decide.rules().len()).map(EntryId::new).filter(is_on);
    let side = Side::of(decide, entries, &mut tests, &mut globs);
    let space = Space::of(tests.finish(decide), decide, &mut globs);
    let points = match points(&globs, None, decide, bounds) {
        Ok(points) => points,
        Err(bound) => return ended(bound),
    };
    let limits = Limits { nodes: bounds.nodes, steps: bounds.steps };
    let known = vec![Known::default(); side.rules.len()];
    let mut walk = LintWalk {
        side: &side,
        space: &space,
        diagram: Diagram::new(limits),
        known,
        answers: Labels::default(),
        default_counts: false,
        compared: FxHashSet::default(),
    };
    for at in &points {
        if let Err(full) = walk.class(at) {
            return ended(full.bound(at, bounds));
        }
    }
    Linted { findings: walk.findings(), bound: None, classes: points.len() }
}

/// What is known of a policy so far.
#[derive(Clone, Debug, Default)]
struct Known {
    /// Whether some request matches it, or may.
    matches: bool,
    /// Whether it decides some request.
    decides: bool,
    /// Whether some request would be decided otherwise without it.
    matters: bool,
    /// Who decides where it does, if it is not there.
    heirs: Heirs,
    /// Who decides where it matches.
    deciders: Vec<Other>,
    /// Those that match all that it matches, so far.
    around: Option<Vec<EntryId>>,
    /// Policies with the other effect that match some of the same.
    clashes: Vec<(Other, Rank)>,
}

/// Who decides in the place of a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Heirs {
    /// Nobody but the default.
    #[default]
    Default,
    /// Another policy, somewhere.
    Policies,
}

struct LintWalk<'l, 'd> {
    side: &'l Side<'d>,
    space: &'l Space<'d>,
    diagram: Diagram,
    /// By number in the side.
    known: Vec<Known>,
    answers: Labels<Answer>,
    default_counts: bool,
    /// Pairs that are known to clash.
    compared: FxHashSet<(u32, u32)>,
}

impl LintWalk<'_, '_> {
    fn class(&mut self, at: &PathPoint) -> Result<(), Full> {
        self.diagram.clear();
        let scene = Scene::new(self.side, self.space, at, &mut self.diagram)?;
        let is_done = |known: &Known| known.matches && known.decides && known.matters;
        let open: Vec<Live> = scene
            .live
            .iter()
            .filter(|live| self.known.get(live.number as usize).is_some_and(|known| !is_done(known)))
            .copied()
            .collect();
        if !open.is_empty() || !self.default_counts {
            let answers = scene.answers(TRUE, |_| true, &mut self.diagram, &mut self.answers)?;
            self.decides(&scene, answers);
            for live in open {
                self.policy(&scene, &live, answers)?;
            }
        }
        self.clashes(&scene)
    }

    fn decides(&mut self, scene: &Scene<'_, '_>, answers: Ref) {
        for label in self.diagram.labels(answers) {
            match self.answers.get(label).map(|answer| answer.by) {
                Some(By::Policy(entry)) => {
                    let number =
                        scene.live.iter().find(|live| scene.form(live).is_some_and(|form| form.entry == entry));
                    if let Some(known) = number.and_then(|live| self.known.get_mut(live.number as usize)) {
                        known.decides = true;
                    }
                }
                Some(By::Default) => self.default_counts = true,
                Some(By::Algorithm | By::Nobody) | None => {}
            }
        }
    }

    /// Finds out more about a policy that was not seen to matter.
    fn policy(&mut self, scene: &Scene<'_, '_>, live: &Live, answers: Ref) -> Result<(), Full> {
        let Some(known) = self.known.get_mut(live.number as usize) else { return Ok(()) };
        known.matches |= live.applies != FALSE;
        if !known.matters {
            let region = self.diagram.apply(FALSE, live.target, &mut Touches)?;
            let with = self.diagram.apply(region, answers, &mut Inside)?;
            let others = |number: u32| number != live.number;
            let without = scene.answers(region, others, &mut self.diagram, &mut self.answers)?;
            let differs = self.diagram.apply(with, without, &mut Differs(&self.answers))?;
            if differs != FALSE {
                known.matters = true;
                return Ok(());
            }
            if let Some(form) = scene.form(live) {
                let mut own = Own { answers: &self.answers, policy: form.entry };
                let heirs = self.diagram.apply(with, without, &mut own)?;
                let by_policy = |label: u32| self.answers.get(label).is_some_and(|answer| answer.by != By::Default);
                if self.diagram.labels(heirs).into_iter().any(by_policy) {
                    known.heirs = Heirs::Policies;
                }
            }
        }
        if known.decides || live.applies == FALSE {
            return Ok(());
        }
        let inside = self.diagram.apply(live.applies, answers, &mut Inside)?;
        for label in self.diagram.labels(inside) {
            let Some(answer @ Answer { by: By::Policy(entry), .. }) = self.answers.get(label) else { continue };
            if known.deciders.iter().all(|other| other.policy != entry) {
                let way = self.diagram.way(inside, label, |part, point| self.space.cost(part, point));
                let request = way.map(|way| self.space.request(&way, scene.at).0);
                let decide = scene.side.decide;
                let is_so = |request: &Request| {
                    let decided = ask(decide, &request, &mut Scratch::default(), &mut Silent);
                    (decided.outcome, decided.by) == (answer.outcome, answer.by)
                };
                known.deciders.push(Other { policy: entry, example: request.filter(is_so) });
            }
        }
        let candidates = known.around.take();
        let mut around = Vec::new();
        for other in &scene.live {
            let Some(form) = scene.form(other).filter(|_| other.number != live.number) else { continue };
            let is_candidate = match &candidates {
                Some(candidates) => candidates.contains(&form.entry),
                None => known.deciders.iter().any(|decider| decider.policy == form.entry),
            };
            if is_candidate && self.diagram.apply(live.applies, other.applies, &mut Beyond)? == FALSE {
                around.push(form.entry);
            }
        }
        known.around = Some(around);
        Ok(())
    }

    /// Policies of one set with opposite effects that match the same request.
    fn clashes(&mut self, scene: &Scene<'_, '_>) -> Result<(), Full> {
        let effect = |live: &&Live, wanted: Effect| scene.form(live).is_some_and(|form| form.rule.effect == wanted);
        for permit in scene.live.iter().filter(|live| effect(live, Effect::Permit)) {
            for deny in scene.live.iter().filter(|live| effect(live, Effect::Deny)) {
                let (Some(own), Some(other)) = (scene.form(permit), scene.form(deny)) else { continue };
                let pair = (permit.number, deny.number);
                let many = |known: &Known| known.clashes.len() >= MOST_CLASHES;
                if own.set != other.set
                    || self.compared.contains(&pair)
                    || self.known.get(permit.number as usize).is_none_or(many)
                {
                    continue;
                }
                let both = self.diagram.apply(permit.applies, deny.applies, &mut And)?;
                let Some(way) = self.diagram.way(both, label(Truth::True), |part, point| self.space.cost(part, point))
                else {
                    continue;
                };
                let (request, _) = self.space.request(&way, scene.at);
                let mut room = Readings::default();
                let asked = scene.side.decide.asked(&request, &mut room);
                let applies = |rule: &Rule| {
                    let target = rule.target.covers(asked);
                    rule.conditions.iter().fold(target, |truth, condition| truth.and(condition.holds(asked)))
                };
                if applies(own.rule) == Truth::True && applies(other.rule) == Truth::True {
                    self.compared.insert(pair);
                    if let Some(known) = self.known.get_mut(permit.number as usize) {
                        let rank = Rank::of(other.rule.priority);
                        known.clashes.push((Other { policy: other.entry, example: Some(request) }, rank));
                    }
                }
            }
        }
        Ok(())
    }

    fn findings(self) -> Vec<Finding> {
        let mut all = Vec::new();
        let decide = self.side.decide;
        for (form, known) in self.side.rules.iter().zip(self.known) {
            let mut find = |problem, mut others: Vec<Other>| {
                others.sort_by_key(|other| other.policy);
                all.push(Finding { policy: Some(form.entry), problem, others });
            };
            let algorithm = decide.set(form.set).map_or(Algorithm::default(), |set| set.algorithm);
            let is_opposite =
                |other: &Other| decide.rule(other.policy).is_some_and(|rule| rule.effect != form.rule.effect);
            if !known.matches {
                find(Problem::Impossible, Vec::new());
            } else if !known.matters && known.decides {
                let problem = match known.heirs {
                    Heirs::Default => Problem::SameAsDefault,
                    Heirs::Policies => Problem::Redundant,
                };
                find(problem, Vec::new());
            } else if !known.matters && !known.deciders.is_empty() {
                let around = known.around.as_deref().unwrap_or_default().first();
                let is_around = |other: &&Other| Some(&other.policy) == around;
                match known.deciders.iter().find(is_around).cloned() {
                    _ if algorithm != Algorithm::FirstApplicable && known.deciders.iter().all(is_opposite) => {
                        find(Problem::Outweighed, known.deciders);
                    }
                    Some(one) => find(Problem::Shadowed, vec![one]),
                    None => find(Problem::Covered, known.deciders),
                }
            }
            let own = Rank::of(form.rule.priority);
            let (ties, conflicts): (Vec<_>, Vec<_>) = known
                .clashes
                .into_iter()
                .partition(|(_, rank)| algorithm == Algorithm::FirstApplicable && *rank == own);
            for (problem, others) in [(Problem::Tie, ties), (Problem::Conflict, conflicts)] {
                if !others.is_empty() {
                    find(problem, others.into_iter().map(|(other, _)| other).collect());
                }
            }
        }
        if !self.default_counts {
            all.push(Finding { policy: None, problem: Problem::UnreachableDefault, others: Vec::new() });
        }
        all
    }
}

/// Adds where a policy is about a request, or may be.
struct Touches;

impl Operation for Touches {
    fn labels(&mut self, known: u32, target: u32) -> u32 {
        label((truth(known) == Truth::True || truth(target) != Truth::False).into())
    }
}

/// What is said where something is true.
struct Inside;

impl Operation for Inside {
    fn labels(&mut self, region: u32, said: u32) -> u32 {
        if truth(region) == Truth::True { said } else { OUTSIDE }
    }

    fn shortcut(&self, region: Ref, said: Ref) -> Option<Ref> {
        match region {
            TRUE => Some(said),
            FALSE => Some(Ref::leaf(OUTSIDE)),
            _ => None,
        }
    }
}

/// What is said without a policy, where it decides.
struct Own<'l> {
    answers: &'l Labels<Answer>,
    policy: EntryId,
}

impl Operation for Own<'_> {
    fn labels(&mut self, with: u32, without: u32) -> u32 {
        let decides = self.answers.get(with).is_some_and(|answer| answer.by == By::Policy(self.policy));
        if decides { without } else { OUTSIDE }
    }
}

/// Where one is not false, and the other is not true.
struct Beyond;

impl Operation for Beyond {
    fn labels(&mut self, one: u32, other: u32) -> u32 {
        label((truth(one) != Truth::False && truth(other) != Truth::True).into())
    }

    fn shortcut(&self, one: Ref, other: Ref) -> Option<Ref> {
        (one == FALSE || other == TRUE).then_some(FALSE)
    }
}

/// Where requests get something else.
struct Differs<'l>(&'l Labels<Answer>);

impl Operation for Differs<'_> {
    fn labels(&mut self, one: u32, other: u32) -> u32 {
        let outcome = |label: u32| self.0.get(label).map(|answer| answer.outcome);
        label((outcome(one) != outcome(other)).into())
    }

    fn shortcut(&self, one: Ref, other: Ref) -> Option<Ref> {
        (one == other).then_some(FALSE)
    }
}
