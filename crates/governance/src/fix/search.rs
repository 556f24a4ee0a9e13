//! Trying what comes to mind, and more of it where something is in the way.

use std::collections::BTreeSet;

use smol_str::SmolStr;
use upheld_engine::comply::{Finding, FindingId, FindingName, ObjectId};
use upheld_model::State;

use super::propose::{End, Nature, Proposal};
use super::{By, Edit, Fix, Fixes, Obstacle, Seeker, with_edits};
use crate::act::Attempt;
use crate::{Action, Actor, Organisation, Outcome, Refusal, Trial};

/// How many edits are tried for one violation where the simple ones are not enough.
const MOST_TRIES: usize = 48;
/// How many tags of one object are changed together.
const MOST_TAGS: usize = 4;
/// How many choices are followed where something is in the way of another.
const MOST_BRANCHES: usize = 6;
/// How many reasons are told where nothing was found.
const MOST_OBSTACLES: usize = 3;

/// What came of trying edits.
enum Tried {
    /// They are accepted, end the violation and begin none; this is how many they end.
    Mends(usize),
    /// These refuse it.
    Blocked(Vec<Finding>),
    /// These begin with it, or the violation stays.
    Leaves(Vec<Finding>),
    /// It makes no sense, or the actor may not.
    Refused(Outcome, Refusal),
}

impl Tried {
    /// Whether somebody with more rights could do better.
    fn depends_on_who(&self) -> bool {
        matches!(self, Self::Blocked(_) | Self::Refused(Outcome::Forbidden, _))
    }

    fn in_the_way(&self) -> &[Finding] {
        match self {
            Self::Blocked(findings) | Self::Leaves(findings) => findings,
            Self::Mends(_) | Self::Refused(..) => &[],
        }
    }
}

/// What is to be reached.
pub(super) struct Goal<'g> {
    pub(super) seeker: &'g Seeker,
    pub(super) violation: &'g Finding,
    /// Which rule and pair it is, if they are there already.
    id: Option<FindingId>,
    /// What was asked for and refused, with what it would begin anyway.
    asked: Option<(&'g Action, BTreeSet<FindingName>)>,
}

/// A way to end what makes a pair.
type Unlinking = fn(&Organisation, FindingId) -> Option<Vec<Edit>>;

/// A fix with what it is ordered by.
pub(super) struct Found {
    pub(super) fix: Fix,
    nature: Nature,
    grants: bool,
}

/// What was tried and was not enough.
struct Missed {
    proposal: Proposal,
    tried: Tried,
    /// Which row of proposals it is of.
    row: (End, usize),
}

/// What other tags come to.
struct ByTags {
    found: Vec<Found>,
    missed: Vec<Missed>,
    /// What would harm, and was not tried.
    harmful: Vec<Proposal>,
}

impl Trial {
    /// By other tags, or by ending what makes the pair.
    pub(super) fn ways_out(&mut self, seeker: &Seeker, violation: &Finding, asked: Option<&Action>) -> Fixes {
        let goal = self.goal(seeker, violation, asked);
        let ByTags { mut found, missed, harmful } = self.by_tags(&goal);
        if asked.is_none() {
            found.extend(self.parted(&goal));
        }
        let obstacles = if found.is_empty() { self.obstacles(&goal, &missed, harmful) } else { Vec::new() };
        Fixes { ways: found.into_iter().map(|own| own.fix).collect(), obstacles }
    }

    /// The first of the ways by other tags.
    pub(super) fn first_by_tags(&mut self, goal: &Goal<'_>) -> Option<Fix> {
        self.by_tags(goal).found.into_iter().next().map(|own| own.fix)
    }

    /// What is in the way of other tags, where they are no way out.
    pub(super) fn in_the_way_of_tags(&mut self, goal: &Goal<'_>) -> Vec<Obstacle> {
        let ByTags { missed, harmful, .. } = self.by_tags(goal);
        self.obstacles(goal, &missed, harmful)
    }

    /// Other tags of one side, the simplest first.
    fn by_tags(&mut self, goal: &Goal<'_>) -> ByTags {
        let (mut found, missed, harmful) = self.simple(goal);
        if found.is_empty() {
            found.extend(self.combined(goal, &missed));
        }
        let organisation = &self.organisation;
        found.sort_by_cached_key(|own| {
            let Found { fix, nature, grants } = own;
            (*nature != Nature::Respelled, fix.edits.len(), *grants, fix.by, *nature, organisation.reach(fix))
        });
        ByTags { found, missed, harmful }
    }

    pub(super) fn goal<'g>(
        &mut self,
        seeker: &'g Seeker,
        violation: &'g Finding,
        asked: Option<&'g Action>,
    ) -> Goal<'g> {
        let asked = asked.map(|action| {
            let mut begun = self.begun_anyway(&seeker.viewer, action);
            begun.remove(&violation.name());
            (action, begun)
        });
        Goal { seeker, violation, id: self.organisation.comply.identify(violation), asked }
    }

    /// All that an action would begin if policies refused nothing.
    fn begun_anyway(&mut self, actor: &Actor, action: &Action) -> BTreeSet<FindingName> {
        let organisation = &mut self.organisation;
        let before = organisation.before();
        let mut begun = BTreeSet::new();
        if organisation.try_out_recording(self.now, actor, action).outcome.is_done() {
            let change = organisation.comply.changed_since(before.steps);
            begun.extend(self.named(&change.begun).iter().map(Finding::name));
        }
        self.organisation.roll_back(before);
        begun
    }

    fn named(&self, ids: &[FindingId]) -> Vec<Finding> {
        let comply = &self.organisation.comply;
        let mut named: Vec<Finding> = ids.iter().filter_map(|id| comply.name(*id, State::Soft, self.now)).collect();
        named.sort();
        named
    }

    /// What one tag of one side would do; what would harm is not tried yet.
    fn simple(&mut self, goal: &Goal<'_>) -> (Vec<Found>, Vec<Missed>, Vec<Proposal>) {
        let (mut found, mut missed, mut harmful) = (Vec::new(), Vec::new(), Vec::new());
        for end in self.organisation.ends(goal.violation) {
            for (number, row) in self.organisation.proposals(goal.violation, end, None).into_iter().enumerate() {
                let known = found.len();
                for proposal in row {
                    if !goal.seeker.takes(&proposal.harms) {
                        harmful.push(proposal);
                        continue;
                    }
                    match self.tried(goal, &proposal.edits()) {
                        (by, Tried::Mends(ends)) => found.push(self.found(goal, &proposal, by, ends)),
                        (_, tried) => missed.push(Missed { proposal, tried, row: (end, number) }),
                    }
                }
                if found.len() > known {
                    break;
                }
            }
        }
        (found, missed, harmful)
    }

    fn found(&self, goal: &Goal<'_>, proposal: &Proposal, by: By, ends: usize) -> Found {
        let grants = End::with(goal.violation, &proposal.object)
            .is_some_and(|end| self.organisation.grants(goal.violation, end));
        let fix = Fix { edits: proposal.edits(), by, ends, harms: proposal.harms.clone() };
        Found { fix, nature: proposal.nature, grants }
    }

    /// What was not enough, with more tags of the same object.
    fn combined(&mut self, goal: &Goal<'_>, missed: &[Missed]) -> Vec<Found> {
        let (mut found, mut tries, mut row) = (Vec::new(), MOST_TRIES, None);
        for start in missed {
            // A later row is only worth a look where none of the rows before is any good.
            if row.is_some_and(|row| row != start.row) {
                break;
            }
            let way = self.completed(goal, &start.proposal, start.tried.in_the_way(), MOST_TAGS, &mut tries);
            if let Some((proposal, by, ends)) = way {
                row = Some(start.row);
                found.push(self.found(goal, &proposal, by, ends));
            }
        }
        found
    }

    /// A proposal with what it takes to get everything out of its way, if that is a matter of the same object.
    fn completed(
        &mut self,
        goal: &Goal<'_>,
        so_far: &Proposal,
        in_the_way: &[Finding],
        depth: usize,
        tries: &mut usize,
    ) -> Option<(Proposal, By, usize)> {
        let is_own = |finding: &&Finding| End::with(finding, &so_far.object).is_some();
        if depth == 0 || !in_the_way.iter().all(|finding| is_own(&finding)) {
            return None;
        }
        let next = in_the_way.first()?;
        let end = End::with(next, &so_far.object)?;
        let rows = self.organisation.proposals(next, end, Some(so_far));
        for proposal in rows.into_iter().flatten().take(MOST_BRANCHES) {
            if *tries == 0 || !goal.seeker.takes(&proposal.harms) || proposal == *so_far {
                continue;
            }
            *tries -= 1;
            match self.tried(goal, &proposal.edits()) {
                (by, Tried::Mends(ends)) => return Some((proposal, by, ends)),
                (_, tried) => {
                    let more = self.completed(goal, &proposal, tried.in_the_way(), depth - 1, tries);
                    if more.is_some() {
                        return more;
                    }
                }
            }
        }
        None
    }

    /// Ending what makes the pair.
    pub(super) fn parted(&mut self, goal: &Goal<'_>) -> Option<Found> {
        let id = goal.id?;
        let all: [Unlinking; 2] = [Organisation::unlinking, Organisation::unlinking_all];
        for unlinking in all {
            let Some(edits) = unlinking(&self.organisation, id) else { continue };
            if let (by, Tried::Mends(ends)) = self.tried(goal, &edits) {
                let fix = Fix { edits, by, ends, harms: Vec::new() };
                return Some(Found { fix, nature: Nature::Removed, grants: false });
            }
        }
        None
    }

    /// Why nothing was found: what would do and harms, then what was tried.
    fn obstacles(&mut self, goal: &Goal<'_>, missed: &[Missed], harmful: Vec<Proposal>) -> Vec<Obstacle> {
        let mut obstacles = Vec::new();
        for proposal in harmful.into_iter().take(MOST_BRANCHES) {
            let edits = proposal.edits();
            if let (by, Tried::Mends(_)) = self.tried(goal, &edits) {
                obstacles.push(Obstacle::Harms { edits, harms: proposal.harms, by });
                break;
            }
        }
        for Missed { proposal, tried, .. } in missed {
            let edits = proposal.edits();
            obstacles.push(match tried {
                Tried::Refused(_, refusal) => Obstacle::Refused { edits, refusal: refusal.clone() },
                _ => Obstacle::Policies { edits, policies: policies(tried.in_the_way()) },
            });
        }
        obstacles.truncate(MOST_OBSTACLES);
        if obstacles.is_empty() {
            obstacles.push(Obstacle::NoValue);
        }
        obstacles
    }

    /// Tries edits: as who asks, then as an administrator, if that could help.
    pub(super) fn tried_edits(&mut self, goal: &Goal<'_>, edits: &[Edit]) -> Option<(By, usize)> {
        match self.tried(goal, edits) {
            (by, Tried::Mends(ends)) => Some((by, ends)),
            _ => None,
        }
    }

    fn tried(&mut self, goal: &Goal<'_>, edits: &[Edit]) -> (By, Tried) {
        let own = self.tried_by(goal, By::Viewer, edits);
        let administrator = self.organisation.actor_for(&goal.seeker.viewer, By::Administrator);
        if !own.depends_on_who() || administrator == goal.seeker.viewer {
            return (By::Viewer, own);
        }
        match self.tried_by(goal, By::Administrator, edits) {
            // Nobody may; what who asks is told says more.
            Tried::Refused(..) => (By::Viewer, own),
            theirs => (By::Administrator, theirs),
        }
    }

    fn tried_by(&mut self, goal: &Goal<'_>, by: By, edits: &[Edit]) -> Tried {
        let before = self.organisation.before();
        let tried = match &goal.asked {
            None => self.mended(goal, by, edits),
            Some((action, anyway)) => self.admitted(goal, by, edits, action, anyway),
        };
        self.organisation.roll_back(before);
        tried
    }

    /// Makes edits of a state that violates.
    fn mended(&mut self, goal: &Goal<'_>, by: By, edits: &[Edit]) -> Tried {
        let start = self.organisation.comply.mark();
        if let Err(refused) = self.edited(goal, by, edits) {
            return refused;
        }
        let change = self.organisation.comply.changed_since(start);
        let ends_it = goal.id.is_some_and(|own| change.ended.contains(&own));
        if !change.begun.is_empty() {
            return Tried::Leaves(self.named(&change.begun));
        }
        if !ends_it {
            return Tried::Leaves(self.named(goal.id.as_slice()));
        }
        let comply = &self.organisation.comply;
        let counts = |own: &&FindingId| {
            let counts_there = |scopes: &Vec<ObjectId>| own.pair.scope.is_some_and(|scope| scopes.contains(&scope));
            goal.seeker.scopes.as_ref().is_none_or(counts_there) && !comply.is_waived(**own, self.now)
        };
        Tried::Mends(change.ended.iter().filter(counts).count())
    }

    /// Makes the change that was asked for, with other values in it or after edits.
    fn admitted(
        &mut self,
        goal: &Goal<'_>,
        by: By,
        edits: &[Edit],
        action: &Action,
        anyway: &BTreeSet<FindingName>,
    ) -> Tried {
        let start = self.organisation.comply.mark();
        let other = with_edits(action, edits);
        if other.is_none() {
            if let Err(refused) = self.edited(goal, by, edits) {
                return refused;
            }
            let begun = self.organisation.comply.changed_since(start).begun;
            if !begun.is_empty() {
                return Tried::Leaves(self.named(&begun));
            }
        } else if by == By::Administrator {
            // What was asked for stays the change of who asked.
            return Tried::Refused(Outcome::Forbidden, Refusal::Nobody);
        }
        let action = other.as_ref().unwrap_or(action);
        if let Err(refused) = done(self.organisation.try_out(self.now, &goal.seeker.viewer, action)) {
            return refused;
        }
        let begun = self.named(&self.organisation.comply.changed_since(start).begun);
        let left: Vec<Finding> = begun.into_iter().filter(|own| !anyway.contains(&own.name())).collect();
        if left.is_empty() { Tried::Mends(1) } else { Tried::Leaves(left) }
    }

    fn edited(&mut self, goal: &Goal<'_>, by: By, edits: &[Edit]) -> Result<(), Tried> {
        let actor = self.organisation.actor_for(&goal.seeker.viewer, by);
        for action in self.organisation.actions_of(edits) {
            done(self.organisation.try_out(self.now, &actor, &action))?;
        }
        Ok(())
    }
}

fn done(attempt: Attempt) -> Result<(), Tried> {
    let Attempt { outcome, blocking, refusal, .. } = attempt;
    match (outcome, refusal) {
        (Outcome::Allowed | Outcome::Soft, _) => Ok(()),
        (outcome, Some(refusal)) => Err(Tried::Refused(outcome, refusal)),
        (_, None) => Err(Tried::Blocked(blocking)),
    }
}

/// The policies of findings, in order.
fn policies(findings: &[Finding]) -> Vec<SmolStr> {
    let mut names: Vec<SmolStr> = findings.iter().map(|own| own.policy.clone()).collect();
    names.sort();
    names.dedup();
    names
}

impl Organisation {
    /// The sides of a finding, that first which does not grant.
    pub(super) fn ends(&self, finding: &Finding) -> [End; 2] {
        if finding.strategy.is_alone() {
            return [End::A, End::B];
        }
        if self.grants(finding, End::B) && !self.grants(finding, End::A) { [End::A, End::B] } else { [End::B, End::A] }
    }

    /// How many pairs edits look at: the fewer, the less they can surprise.
    fn reach(&self, fix: &Fix) -> usize {
        let objects = fix.edits.iter().filter_map(|edit| match edit {
            Edit::Tag { object, .. } => self.comply.lookup(object).ok(),
            Edit::Unlink { .. } => None,
        });
        objects.map(|object| self.comply.pair_count_of(object)).sum()
    }

    /// Ends the relationship of the two of a pair.
    fn unlinking(&self, FindingId { pair, .. }: FindingId) -> Option<Vec<Edit>> {
        let (a, b) = self.comply.in_order(pair.a, pair.b);
        let mut links = self.comply.links_between(a, b).filter(|(_, link)| !self.comply.owns(link));
        let related = links.next().is_some();
        related.then(|| vec![Edit::Unlink { a: self.comply.reference(a), b: self.comply.reference(b) }])
    }

    /// Ends all that makes a pair, of whomever.
    fn unlinking_all(&self, FindingId { pair, .. }: FindingId) -> Option<Vec<Edit>> {
        let makers = self.comply.makers_of(pair).into_iter().filter(|link| !self.comply.owns(link));
        let mut links: Vec<(ObjectId, ObjectId)> = makers.map(|link| (link.a, link.b)).collect();
        links.sort_unstable();
        links.dedup();
        // Too many at once are not a simple way out; one alone was tried already.
        if links.len() < 2 || links.len() > 8 {
            let only = links.first().filter(|_| links.len() == 1)?;
            return (self.comply.in_order(pair.a, pair.b) != *only).then(|| vec![self.unlink_edit(*only)]);
        }
        Some(links.into_iter().map(|link| self.unlink_edit(link)).collect())
    }

    fn unlink_edit(&self, (a, b): (ObjectId, ObjectId)) -> Edit {
        Edit::Unlink { a: self.comply.reference(a), b: self.comply.reference(b) }
    }
}
