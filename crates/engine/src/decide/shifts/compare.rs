//! Both sides in every class of paths below what has changed.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::changed::{ChangedRule, ChangedSet, Changes, SetChange};
use super::diagram::{Diagram, Full, Limits, Operation, Ref};
use super::formula::{And, FALSE, Globs, PathPoint, Reach, TRUE, label, truth};
use super::paths::{PathBounds, Wanted, path_classes};
use super::region::Region;
use super::side::{Answer, Labels, OUTSIDE, Scene, Side};
use super::space::{Open, Space};
use super::{Bound, Bounds, Cause, Certainty, Decision, NotCovered, Shift, Verdict};
use crate::ask::{EntryId, Scratch, ask};
use crate::decide::cells::AtomsBuilder;
use crate::decide::family::{By, Decide, Strictness};
use crate::decide::glob::Glob;
use crate::decide::request::Request;
use crate::decide::rule::{Rule, Target};
use crate::decide::truth::Truth;
use crate::witness::Silent;

/// So many places of patterns for each state, on average.
const PLACES: usize = 24;
/// So many requests are tried for one example.
const MOST_TRIED: usize = 64;

/// Of all requests, or of those that a policy matches, or may match, whatever its effect is.
pub(super) fn compare(before: &Decide, after: &Decide, within: Option<&Rule>, bounds: &Bounds) -> Verdict {
    let not_covered = |what| Verdict::Undecided { bound: Bound::NotCovered(what), found: Vec::new() };
    if [before, after].iter().any(|side| side.strictness() == Strictness::Compat) {
        return not_covered(NotCovered::Compatibility);
    }
    if before.paths() != after.paths() {
        return not_covered(NotCovered::PathReading);
    }
    let changes = Changes::between(before, after);
    if changes.is_empty() {
        return Verdict::Equal { changed: 0, classes: 0 };
    }
    let mut comparison = match Comparison::new(before, after, within, changes, bounds) {
        Ok(comparison) => comparison,
        Err(bound) => return Verdict::Undecided { bound, found: Vec::new() },
    };
    let points = std::mem::take(&mut comparison.points);
    for at in &points {
        if let Err(full) = comparison.class(at) {
            return Verdict::Undecided { bound: full.bound(at, bounds), found: comparison.shifts() };
        }
    }
    let changed = comparison.changes.rules.len() + comparison.changes.sets.len();
    match comparison.shifts() {
        shifts if shifts.is_empty() => Verdict::Equal { changed, classes: points.len() },
        shifts => Verdict::Differs(shifts),
    }
}

struct Comparison<'d> {
    sides: [Side<'d>; 2],
    within: Option<Region<'d>>,
    changes: Changes,
    /// Which policies have changed, by side and place.
    changed: [FxHashMap<EntryId, ChangedRule>; 2],
    space: Space<'d>,
    points: Vec<PathPoint>,
    diagram: Diagram,
    answers: [Labels<Answer>; 2],
    scratch: [Scratch<Decide>; 2],
    /// By cause and deciders, in the order in which they are found.
    found: BTreeMap<usize, Shift>,
    known: FxHashMap<(Cause, Decision, Decision), usize>,
}

impl<'d> Comparison<'d> {
    fn new(
        before: &'d Decide,
        after: &'d Decide,
        within: Option<&'d Rule>,
        changes: Changes,
        bounds: &Bounds,
    ) -> Result<Self, Bound> {
        let reach = reach(before, after, &changes);
        let (mut tests, mut globs) = (AtomsBuilder::default(), Globs::default());
        let sides =
            [before, after].map(|decide| Side::of(decide, reach.entries(decide).into_iter(), &mut tests, &mut globs));
        let wanted = reach.wanted(&mut globs);
        let within = within.map(|rule| Region::of(rule, &mut tests));
        let space = Space::of(tests.finish(after), after, &mut globs);
        let points = points(&globs, wanted.as_deref(), after, bounds)?;
        let mut changed: [FxHashMap<EntryId, ChangedRule>; 2] = Default::default();
        let [own, other] = &mut changed;
        for rule in &changes.rules {
            own.extend(rule.before.map(|entry| (entry, *rule)));
            other.extend(rule.after.map(|entry| (entry, *rule)));
        }
        let diagram = Diagram::new(Limits { nodes: bounds.nodes, steps: bounds.steps });
        let (answers, scratch, found, known) = Default::default();
        Ok(Self { sides, within, changes, changed, space, points, diagram, answers, scratch, found, known })
    }

    fn shifts(self) -> Vec<Shift> {
        self.found.into_values().collect()
    }

    /// Compares both sides for paths of a class.
    fn class(&mut self, at: &PathPoint) -> Result<(), Full> {
        self.diagram.clear();
        let Self { sides: [before, after], within, space, diagram, changed, changes, answers, scratch, .. } = self;
        let scenes = [Scene::new(before, space, at, diagram)?, Scene::new(after, space, at, diagram)?];
        // Only where something that has changed may be about a request can anything differ.
        let mut region = FALSE;
        for (scene, changed) in scenes.iter().zip(&*changed) {
            for live in &scene.live {
                if scene.form(live).is_some_and(|form| changed.contains_key(&form.entry)) {
                    region = diagram.apply(region, live.target, &mut Touches)?;
                }
            }
        }
        for ChangedSet { before: own, after: other, .. } in &changes.sets {
            for (side, set) in [(&*before, own), (&*after, other)] {
                if let Some(set) = set {
                    let target = if *set == 0 { TRUE } else { side.set_target(*set, space, at, diagram)? };
                    region = diagram.apply(region, target, &mut Touches)?;
                }
            }
        }
        if let Some(within) = within {
            let inside = within.holds(may_be, space, at, diagram)?;
            region = diagram.apply(region, inside, &mut And)?;
        }
        if region == FALSE {
            return Ok(());
        }
        let [own, other] = answers;
        let [own_scene, other_scene] = &scenes;
        let one = own_scene.answers(region, |_| true, diagram, own)?;
        let two = other_scene.answers(region, |_| true, diagram, other)?;
        let mut pairs = Pairs { labels: Labels::default(), answers: [own, other] };
        let all = diagram.apply(one, two, &mut pairs)?;
        let pairs = pairs.labels;
        for label in diagram.labels(all) {
            let Some(pair) = pairs.get(label) else { continue };
            let Some(way) = diagram.way(all, label, |part, point| space.cost(part, point)) else { continue };
            let (request, open) = space.request(&way, at);
            let [one, other] = &mut *scratch;
            let (request, certainty) = confirmed(request, &open, space, after.decide, |request| {
                let [was, is] = pair;
                let inside = || within.as_ref().is_none_or(|within| may_be(within.covers(after.decide, request)));
                inside() && answers_so(before.decide, request, was, one) && answers_so(after.decide, request, is, other)
            });
            let mut applying = applying(&scenes, changed, &request);
            if applying.is_empty() {
                // The example may lack what nobody knows how to make so.
                applying.extend(live(&scenes, changed));
            }
            let cause = cause(pair, changed, changes, &applying);
            let Some(cause) = cause else { continue };
            let [before, after] = pair.map(|answer| Decision { outcome: answer.outcome, by: answer.by });
            let shift = Shift { cause, before, after, classes: 1, example: request, certainty };
            let next = self.known.len();
            let place = *self.known.entry((cause, before, after)).or_insert(next);
            match self.found.get_mut(&place) {
                None => {
                    self.found.insert(place, shift);
                }
                Some(known) => {
                    known.classes += 1;
                    if known.certainty != Certainty::Sure && shift.certainty == Certainty::Sure {
                        (known.example, known.certainty) = (shift.example, shift.certainty);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether something counts of which this is known: also if nobody can tell.
fn may_be(truth: Truth) -> bool {
    truth != Truth::False
}

/// The classes of paths that are looked at. A path that is `*` means a whole server, and there may be no path at all.
pub(super) fn points(
    globs: &Globs<'_>,
    wanted: Option<&[u32]>,
    decide: &Decide,
    bounds: &Bounds,
) -> Result<Vec<PathPoint>, Bound> {
    let path_bounds = PathBounds { states: bounds.states, places: bounds.states.saturating_mul(PLACES) };
    let some = wanted.map_or(Wanted::All, Wanted::CoveredBy);
    let classes = path_classes(&globs.tokens(), some, decide.paths(), path_bounds);
    let classes = classes.map_err(|_| Bound::States(bounds.states))?;
    let is_wanted =
        |point: &PathPoint| wanted.is_none_or(|wanted| point.covered_by.iter().any(|glob| wanted.contains(glob)));
    let point = |class: super::paths::PathClass| PathPoint { covered_by: class.covered_by, path: Some(class.example) };
    let mut points: Vec<PathPoint> = classes.into_iter().map(point).filter(is_wanted).collect();
    let covering = (0..).zip(&globs.all).filter(|(_, glob)| glob.matches("*")).map(|(number, _)| number);
    let server = PathPoint { covered_by: covering.collect(), path: Some("*".to_owned()) };
    if is_wanted(&server) && !points.iter().any(|point| point.covered_by == server.covered_by) {
        points.push(server);
    }
    if wanted.is_none() {
        points.push(PathPoint { covered_by: Vec::new(), path: None });
    }
    Ok(points)
}

/// Where something that has changed may be about a request.
fn reach<'d>(before: &'d Decide, after: &'d Decide, changes: &Changes) -> Reach<'d> {
    let rules = |decide: &'d Decide, entry: Option<EntryId>| -> Option<&'d Target> {
        entry.and_then(|entry| decide.rule(entry)).map(|rule| &rule.target)
    };
    let sets = |decide: &'d Decide, set: Option<usize>| -> Option<&'d Target> {
        set.and_then(|set| decide.set(set)).map(|set| &set.target)
    };
    if changes.sets.iter().any(|set| set.before == Some(0) || set.after == Some(0)) {
        return Reach::All;
    }
    let of_rules = changes.rules.iter().flat_map(|rule| [rules(before, rule.before), rules(after, rule.after)]);
    let of_sets = changes.sets.iter().flat_map(|set| [sets(before, set.before), sets(after, set.after)]);
    let mut all: Vec<&'d Glob> = Vec::new();
    for target in of_rules.chain(of_sets).flatten() {
        match Reach::of(target) {
            Reach::All => return Reach::All,
            Reach::Globs(globs) => all.extend(globs),
        }
    }
    Reach::Globs(all)
}

/// Adds where something is about a request, or may be.
struct Touches;

impl Operation for Touches {
    fn labels(&mut self, known: u32, target: u32) -> u32 {
        label((truth(known) == Truth::True || truth(target) != Truth::False).into())
    }

    fn shortcut(&self, known: Ref, target: Ref) -> Option<Ref> {
        (known == TRUE || target == FALSE).then_some(known)
    }
}

/// What both sides say, where it is not the same.
struct Pairs<'l> {
    labels: Labels<[Answer; 2]>,
    answers: [&'l Labels<Answer>; 2],
}

impl Operation for Pairs<'_> {
    fn labels(&mut self, one: u32, other: u32) -> u32 {
        let [own, others] = &self.answers;
        match (own.get(one), others.get(other)) {
            (Some(one), Some(other)) if one.outcome != other.outcome => self.labels.of([one, other]),
            _ => OUTSIDE,
        }
    }

    fn shortcut(&self, one: Ref, other: Ref) -> Option<Ref> {
        let outside = Ref::leaf(OUTSIDE);
        (one == outside || other == outside).then_some(outside)
    }
}

/// Changed policies that may be about some request here.
fn live<'s>(
    scenes: &'s [Scene<'_, '_>; 2],
    changed: &'s [FxHashMap<EntryId, ChangedRule>; 2],
) -> impl Iterator<Item = ChangedRule> {
    scenes.iter().zip(changed).flat_map(|(scene, changed)| {
        let forms = scene.live.iter().filter_map(|live| scene.form(live));
        forms.filter_map(|form| changed.get(&form.entry).copied())
    })
}

/// Changed policies that may be about a request.
fn applying(
    scenes: &[Scene<'_, '_>; 2],
    changed: &[FxHashMap<EntryId, ChangedRule>; 2],
    request: &Request,
) -> Vec<ChangedRule> {
    let mut found = Vec::new();
    for (scene, changed) in scenes.iter().zip(changed) {
        let mut room = crate::decide::path::Readings::default();
        let asked = scene.side.decide.asked(request, &mut room);
        for form in scene.live.iter().filter_map(|live| scene.form(live)) {
            if let Some(rule) = changed.get(&form.entry)
                && form.rule.target.covers(asked) != Truth::False
            {
                found.push(*rule);
            }
        }
    }
    found
}

/// Who decides now or did before, if that is what has changed; else the outermost set, a policy that may apply, or another set.
fn cause(
    [before, after]: [Answer; 2],
    [own, other]: &[FxHashMap<EntryId, ChangedRule>; 2],
    changes: &Changes,
    applying: &[ChangedRule],
) -> Option<Cause> {
    let decider = |answer: Answer, changed: &FxHashMap<EntryId, ChangedRule>| match answer.by {
        By::Policy(entry) => changed.get(&entry).copied(),
        By::Default | By::Algorithm | By::Nobody => None,
    };
    let of_rule = |rule: ChangedRule| match rule {
        ChangedRule { before: Some(before), after: Some(after) } => Some(Cause::Edited(before, after)),
        ChangedRule { before: Some(before), after: None } => Some(Cause::Removed(before)),
        ChangedRule { before: None, after: Some(after) } => Some(Cause::Added(after)),
        ChangedRule { before: None, after: None } => None,
    };
    let of_outermost = changes.sets.iter().find_map(|set| match (set.before, set.what) {
        (Some(0), SetChange::Algorithm) => Some(Cause::Algorithm),
        (Some(0), SetChange::Default) if before.by == By::Default || after.by == By::Default => Some(Cause::Default),
        _ => None,
    });
    let of_set = || changes.sets.iter().map(|set| Cause::Set(set.before, set.after)).next();
    decider(after, other)
        .or_else(|| decider(before, own))
        .and_then(of_rule)
        .or(of_outermost)
        .or_else(|| applying.first().copied().and_then(of_rule))
        .or_else(of_set)
}

/// The request, or one like it of which something is so.
pub(super) fn confirmed(
    request: Request,
    open: &[Open],
    space: &Space<'_>,
    decide: &Decide,
    mut is_so: impl FnMut(&Request) -> bool,
) -> (Request, Certainty) {
    if is_so(&request) {
        return (request, Certainty::Sure);
    }
    let mut tried = 0;
    let mut waiting = vec![request.clone()];
    // What the tests compare with is tried, one after the other and two together.
    for _ in 0..2 {
        let mut next = Vec::new();
        for known in &waiting {
            let is_open = |open: &&Open| space.says(decide, open.test, known) != open.truth;
            for open in open.iter().filter(is_open) {
                for (field, given) in space.suggestions(decide, *open, known) {
                    tried += 1;
                    if tried > MOST_TRIED {
                        break;
                    }
                    let mut changed = known.clone();
                    field.put(&given, &mut changed);
                    if is_so(&changed) {
                        return (changed, Certainty::Sure);
                    }
                    next.push(changed);
                }
            }
        }
        waiting = next;
    }
    let names: Vec<SmolStr> = open.iter().map(|open| space.name(open.test)).collect();
    (request, Certainty::May(names))
}

/// Whether a side, asked for itself, answers so.
pub(super) fn answers_so(decide: &Decide, request: &Request, answer: Answer, scratch: &mut Scratch<Decide>) -> bool {
    let decided = ask(decide, &request, scratch, &mut Silent);
    decided.outcome == answer.outcome && decided.by == answer.by
}
