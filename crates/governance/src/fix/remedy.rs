//! Few edits that end many violations.
//!
//! It goes from object to object, those first that do not grant: what ends most of the violations of one is chosen, and the next one finds it
//! done. Objects that no rule can tell apart, and that meet the same others, are a class: what helped the first of them is what the others try,
//! and where nothing helped, nobody looks again.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_engine::comply::{Filter, Finding, FindingId, Kind, PairKey};
use upheld_model::Timestamp;

use super::propose::{End, Nature, Proposal};
use super::search::Goal;
use super::{Edit, Fix, Obstacle, Seeker};
use crate::{Organisation, Trial};

/// The values that are tried for one object before more tags are.
const MOST_CHOICES: usize = 12;

/// What would end violations.
#[derive(Clone, Debug, Default)]
pub struct Remedy {
    /// The edits, in order: each was tried after those before it.
    pub fixes: Vec<Fix>,
    /// What would be left, with what is in the way.
    pub left: Vec<(Finding, Vec<Obstacle>)>,
}

/// What is known of objects that no rule can tell apart and that meet the same others.
#[derive(Clone, Debug)]
enum Known {
    /// These values of these tags helped.
    Helps(Vec<(SmolStr, Vec<SmolStr>, Vec<SmolStr>)>),
    /// Nothing did, and this is the first of them.
    Hopeless(SmolStr),
}

/// What an object counts as, and the pairs it is in, in cells.
type ClassKey = (Option<Kind>, Vec<PairKey>);

/// Violations of one rule with the same values: its policy and number, and the values of both sides.
type Alike<'f> = (&'f SmolStr, usize, &'f [SmolStr], &'f [SmolStr]);

/// A violation that is open.
struct Open {
    finding: Finding,
    id: FindingId,
}

/// Violations around one object that no tags end.
struct Rest {
    group: Vec<Open>,
    /// The first object for which that was found, if it is another one of the same class.
    like: Option<SmolStr>,
}

impl Trial {
    /// Edits that end as many of these violations as can be ended. `tell` hears how many were looked at, and of how many.
    pub fn remedy(&self, seeker: &Seeker, wanted: &[Finding], tell: &mut dyn FnMut(usize, usize)) -> Remedy {
        // What is chosen stands for the next one, so this needs a copy of its own.
        let trial = Self { organisation: self.organisation.clone(), now: self.now };
        let identify = |finding: &Finding| trial.organisation.comply.identify(finding);
        let open = wanted.iter().filter_map(|own| Some(Open { finding: own.clone(), id: identify(own)? })).collect();
        Planning { trial, seeker, classes: FxHashMap::default(), remedy: Remedy::default() }.planned(open, tell)
    }
}

struct Planning<'p> {
    trial: Trial,
    seeker: &'p Seeker,
    classes: FxHashMap<ClassKey, Known>,
    remedy: Remedy,
}

impl Planning<'_> {
    fn planned(mut self, open: Vec<Open>, tell: &mut dyn FnMut(usize, usize)) -> Remedy {
        let all = open.len();
        self.respell(&open);
        let mut seen = 0;
        let mut rest: Vec<Rest> = Vec::new();
        for group in self.by_object(open) {
            tell(seen, all);
            seen += group.len();
            rest.extend(self.mend_object(group));
        }
        for rest in rest {
            self.part(rest);
        }
        tell(all, all);
        self.remedy.left.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.remedy
    }

    /// Ends relationships where nothing else helped; what cannot be ended either is left.
    fn part(&mut self, Rest { group, like }: Rest) {
        let mut known = like.map(|object| vec![Obstacle::Like { object }]);
        for own in group {
            if !self.is_open(own.id) {
                continue;
            }
            let goal = self.trial.goal(self.seeker, &own.finding, None);
            if let Some(found) = self.trial.parted(&goal) {
                self.take(found.fix);
                continue;
            }
            let obstacles = known.get_or_insert_with(|| self.trial.in_the_way_of_tags(&goal)).clone();
            self.remedy.left.push((own.finding, obstacles));
        }
    }

    fn is_open(&self, id: FindingId) -> bool {
        self.trial.organisation.comply.is_violated(id)
    }

    /// Makes a fix: the next ones are tried on top of it.
    fn take(&mut self, fix: Fix) {
        let organisation = &mut self.trial.organisation;
        let actor = organisation.actor_for(&self.seeker.viewer, fix.by);
        for action in organisation.actions_of(&fix.edits) {
            organisation.try_out(self.trial.now, &actor, &action);
        }
        organisation.settle();
        self.remedy.fixes.push(fix);
    }

    /// What is spelled otherwise by one object may be the trouble of many others: such an edit is tried once, whoever it helps.
    fn respell(&mut self, open: &[Open]) {
        let mut by_edit: FxHashMap<Vec<Edit>, Vec<usize>> = FxHashMap::default();
        let mut known: FxHashMap<Alike<'_>, bool> = FxHashMap::default();
        let organisation = &self.trial.organisation;
        for (place, Open { finding, .. }) in open.iter().enumerate() {
            let class = (&finding.policy, finding.rule, finding.a.values.as_slice(), finding.b.values.as_slice());
            let respells = |proposal: &Proposal| proposal.nature == Nature::Respelled;
            let proposals = || {
                let ends = organisation.ends(finding).into_iter();
                ends.flat_map(|end| organisation.proposals(finding, end, None)).flatten().filter(respells)
            };
            if !*known.entry(class).or_insert_with(|| proposals().next().is_some()) {
                continue;
            }
            for proposal in proposals() {
                by_edit.entry(proposal.edits()).or_default().push(place);
            }
        }
        let mut edits: Vec<(Vec<Edit>, Vec<usize>)> = by_edit.into_iter().collect();
        edits.sort_by(|(one, places), (other, others)| (others.len(), places, one).cmp(&(places.len(), others, other)));
        for (edits, places) in edits {
            let first = places.into_iter().filter_map(|place| open.get(place)).find(|own| self.is_open(own.id));
            let Some(Open { finding, .. }) = first else { continue };
            let goal = self.trial.goal(self.seeker, finding, None);
            if let Some((by, ends)) = self.trial.tried_edits(&goal, &edits) {
                self.take(Fix { edits, by, ends, harms: Vec::new() });
            }
        }
    }

    /// Violations by the object that would change, in the order in which they come first.
    fn by_object(&self, open: Vec<Open>) -> Vec<Vec<Open>> {
        let (mut groups, mut places): (Vec<Vec<Open>>, FxHashMap<SmolStr, usize>) = (Vec::new(), FxHashMap::default());
        for own in open {
            let [end, _] = self.trial.organisation.ends(&own.finding);
            let place = *places.entry(end.of(&own.finding).object.clone()).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.push(own),
                None => groups.push(vec![own]),
            }
        }
        groups
    }

    /// Ends what can be ended by tags around one object; says what is left.
    fn mend_object(&mut self, mut group: Vec<Open>) -> Option<Rest> {
        loop {
            group.retain(|own| self.is_open(own.id));
            let Open { finding, .. } = group.first()?;
            let [end, _] = self.trial.organisation.ends(finding);
            let object = end.of(finding).object.clone();
            let class = self.trial.organisation.class_of(&object);
            if let Some(Known::Hopeless(like)) = class.as_ref().and_then(|class| self.classes.get(class)) {
                let like = Some(like.clone());
                return Some(Rest { group, like });
            }
            let known = class.as_ref().and_then(|class| self.classes.get(class)).cloned();
            match self.best(&group, &object, known) {
                Some(fix) => {
                    if let Some(class) = class {
                        self.classes.insert(class, Known::Helps(helping(&fix, &object)));
                    }
                    self.take(fix);
                }
                None => {
                    if let Some(class) = class {
                        self.classes.insert(class, Known::Hopeless(object));
                    }
                    return Some(Rest { group, like: None });
                }
            }
        }
    }

    /// The way that ends most of the violations around an object.
    fn best(&mut self, group: &[Open], object: &SmolStr, known: Option<Known>) -> Option<Fix> {
        let Open { finding, .. } = group.first()?;
        if let Some(Known::Helps(tags)) = known {
            let edit = |(tag, add, remove): (SmolStr, Vec<SmolStr>, Vec<SmolStr>)| Edit::Tag {
                object: object.clone(),
                tag,
                add,
                remove,
            };
            let edits: Vec<Edit> = tags.into_iter().map(edit).collect();
            let goal = self.trial.goal(self.seeker, finding, None);
            if !edits.is_empty()
                && let Some((by, ends)) = self.trial.tried_edits(&goal, &edits)
            {
                return Some(Fix { edits, by, ends, harms: Vec::new() });
            }
        }
        let mut best: Option<Fix> = None;
        let mut tries = MOST_CHOICES;
        for Open { finding, .. } in group {
            let goal = self.trial.goal(self.seeker, finding, None);
            for proposal in self.choices(&goal, object) {
                if tries == 0 || best.as_ref().is_some_and(|best| best.ends >= group.len()) {
                    break;
                }
                tries -= 1;
                let edits = proposal.edits();
                let Some((by, ends)) = self.trial.tried_edits(&goal, &edits) else { continue };
                let fix = Fix { edits, by, ends, harms: proposal.harms };
                let rank = |fix: &Fix| (std::cmp::Reverse(fix.ends), fix.by);
                if best.as_ref().is_none_or(|best| rank(&fix) < rank(best)) {
                    best = Some(fix);
                }
            }
        }
        if best.is_some() {
            return best;
        }
        // Ending relationships is the last resort, when all else was done.
        let goal = self.trial.goal(self.seeker, finding, None);
        self.trial.first_by_tags(&goal)
    }

    fn choices(&self, goal: &Goal<'_>, object: &SmolStr) -> Vec<Proposal> {
        let organisation = &self.trial.organisation;
        let Some(end) = End::with(goal.violation, object) else { return Vec::new() };
        let rows = organisation.proposals(goal.violation, end, None);
        rows.into_iter().flatten().filter(|own| self.seeker.takes(&own.harms)).collect()
    }
}

/// What a fix changes, if it is about one object only.
fn helping(fix: &Fix, own: &SmolStr) -> Vec<(SmolStr, Vec<SmolStr>, Vec<SmolStr>)> {
    let mut tags = Vec::new();
    for edit in &fix.edits {
        match edit {
            Edit::Tag { object, tag, add, remove } if object == own && fix.harms.is_empty() => {
                tags.push((tag.clone(), add.clone(), remove.clone()));
            }
            _ => return Vec::new(),
        }
    }
    tags
}

impl Organisation {
    /// What no rule can tell an object apart by, together with whom it meets; nothing where a waiver could.
    fn class_of(&self, object: &str) -> Option<ClassKey> {
        let own = self.comply.lookup(object).ok()?;
        let mut met: Vec<PairKey> =
            self.comply.pairs_of(own).map(|pair| self.comply.pair_key(pair)).collect::<Option<_>>()?;
        met.sort_unstable();
        met.dedup();
        Some((self.comply.kind_of(own), met))
    }

    /// The violations within a filter that no waiver covers, in order.
    pub fn open_violations(&self, filter: &Filter, now: Timestamp) -> Vec<Finding> {
        let mut open = self.violations(filter, now);
        open.retain(|violation| violation.waiver.is_none());
        open
    }
}
