//! What would fix a violation. Every proposal was tried: it removes the violation and adds none.

use smol_str::SmolStr;
use upheld_engine::comply::{Class, Filter, Finding, FindingId, Keys, Link, ObjectId, SideOf, Strategy, Tags};
use upheld_model::Timestamp;

use crate::definition::TagType;
use crate::{Action, Actor, Decision, NewObject, Organisation, Outcome, Trial};

/// A way to fix a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What to change.
    pub edits: Vec<Edit>,
    /// Who can.
    pub by: By,
    /// How many violations it ends, this one included.
    pub ends: usize,
}

/// Who can make a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// Who asks.
    Viewer,
    /// An administrator.
    Administrator,
}

/// A change that fixes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edit {
    /// Other values of a tag.
    Tag {
        /// Of which object.
        object: SmolStr,
        /// Which tag.
        tag: SmolStr,
        /// Values that come.
        add: Vec<SmolStr>,
        /// Values that go.
        remove: Vec<SmolStr>,
    },
    /// A relationship that ends.
    Unlink {
        /// One side.
        a: SmolStr,
        /// The other.
        b: SmolStr,
    },
}

/// The values of a side that are tried; more would not help anybody to choose.
const TRIED: usize = 16;

impl Trial {
    /// Ways to fix a violation, the simplest first: few objects, no administrator, nothing removed.
    pub fn fixes(&mut self, viewer: &Actor, violation: &Finding) -> Vec<Fix> {
        let mut fixes = Vec::new();
        for edits in self.organisation.proposals(violation) {
            if let Some(fix) = self.verified(viewer, violation, edits) {
                fixes.push(fix);
            }
        }
        self.organisation.settle();
        fixes.sort_by_cached_key(|fix| {
            let clears = fix.edits.iter().any(|edit| matches!(edit, Edit::Tag { add, .. } if add.is_empty()));
            (unlinks(fix), fix.edits.len(), fix.by, clears, self.organisation.reach(fix))
        });
        fixes
    }

    /// Ways out of a violation that refuses an action, the simplest first: other values in the action itself, or an edit before
    /// it. Each was tried: the violation is gone then and no other has come; others that refuse the action may be left.
    pub fn ways(&mut self, actor: &Actor, action: &Action, violation: &Finding) -> Vec<Fix> {
        let mut left = self.would(actor, action).violations;
        left.retain(|own| !own.is_same(violation));
        let mut ways = Vec::new();
        for edits in self.organisation.tag_proposals(violation) {
            let [edit] = edits.as_slice() else { continue };
            let by = match with_other_values(action, edit) {
                Some(other) => {
                    let Decision { outcome, violations, .. } = self.would(actor, &other);
                    is_better(outcome, &violations, &left).then_some(By::Viewer)
                }
                None => {
                    let all = [By::Viewer, By::Administrator];
                    all.into_iter().find(|by| self.helps(actor, *by, edit, action, &left))
                }
            };
            if let Some(by) = by {
                ways.push(Fix { edits, by, ends: 1 });
            }
        }
        self.organisation.settle();
        ways.sort_by_cached_key(|fix| (fix.by, self.organisation.reach(fix)));
        ways
    }

    /// Whether an edit is accepted and begins no violation, and an action after it meets no others than those.
    fn helps(&mut self, actor: &Actor, by: By, edit: &Edit, action: &Action, left: &[Finding]) -> bool {
        let editor = self.organisation.actor_for(actor, by);
        let before = self.organisation.before();
        let helps = self.organisation.action_of(edit).is_some_and(|edit| {
            self.organisation.try_out(self.now, &editor, &edit).outcome == Outcome::Allowed && {
                let tried = self.organisation.try_out(self.now, actor, action);
                let Decision { outcome, violations, .. } = self.organisation.decision(tried);
                is_better(outcome, &violations, left)
            }
        });
        self.organisation.roll_back(before);
        helps
    }

    /// Tries edits: as the viewer, then as an administrator.
    fn verified(&mut self, viewer: &Actor, violation: &Finding, edits: Vec<Edit>) -> Option<Fix> {
        for by in [By::Viewer, By::Administrator] {
            let actor = self.organisation.actor_for(viewer, by);
            if let Some(ends) = self.ends_with(&actor, violation, &edits) {
                return Some(Fix { edits, by, ends });
            }
        }
        None
    }

    /// How many violations edits end, if they are accepted, end this one and begin none.
    fn ends_with(&mut self, actor: &Actor, violation: &Finding, edits: &[Edit]) -> Option<usize> {
        let before = self.organisation.before();
        let accepted = edits.iter().all(|edit| {
            self.organisation
                .action_of(edit)
                .is_some_and(|action| self.organisation.try_out(self.now, actor, &action).outcome.is_done())
        });
        let change = self.organisation.comply.changed_since(before.steps);
        let identity = self.organisation.comply.identify(violation);
        let fixed = accepted && change.begun.is_empty() && identity.is_some_and(|own| change.ended.contains(&own));
        let ends = change.ended.iter().filter(|own| !self.organisation.comply.is_waived(**own, self.now)).count();
        self.organisation.roll_back(before);
        fixed.then_some(ends)
    }

    /// Edits that fix as many violations of a scope, or of all, as can be fixed, chosen one by one: those first that end
    /// most. Says also which violations are left.
    pub fn remedy(&mut self, viewer: &Actor, scope: Option<ObjectId>) -> (Vec<Fix>, Vec<Finding>) {
        let before = self.organisation.before();
        let mut chosen: Vec<Fix> = Vec::new();
        loop {
            let open = self.organisation.open(scope, self.now);
            let mut best: Option<Fix> = None;
            for violation in open.iter().take(TRIED * 4) {
                for edits in self.organisation.proposals(violation) {
                    if let Some(fix) = self.verified(viewer, violation, edits) {
                        let rank = |fix: &Fix| (std::cmp::Reverse(fix.ends), unlinks(fix), fix.edits.len(), fix.by);
                        if best.as_ref().is_none_or(|best| rank(&fix) < rank(best)) {
                            best = Some(fix);
                        }
                    }
                }
            }
            let Some(fix) = best else { break };
            let actor = self.organisation.actor_for(viewer, fix.by);
            for edit in &fix.edits {
                if let Some(action) = self.organisation.action_of(edit) {
                    self.organisation.try_out(self.now, &actor, &action);
                }
            }
            chosen.push(fix);
        }
        let left = self.organisation.open(scope, self.now);
        self.organisation.roll_back(before);
        self.organisation.settle();
        (chosen, left)
    }
}

impl Organisation {
    /// How many pairs edits look at: the fewer, the less they can surprise.
    fn reach(&self, fix: &Fix) -> usize {
        let objects = fix.edits.iter().filter_map(|edit| match edit {
            Edit::Tag { object, .. } => self.comply.lookup(object).ok(),
            Edit::Unlink { .. } => None,
        });
        objects.map(|object| self.comply.pairs_of(object).count()).sum()
    }

    fn actor_for(&self, viewer: &Actor, by: By) -> Actor {
        let administrator = self.profile().role_of(Class::Administrator).filter(|_| by == By::Administrator);
        administrator.map_or_else(|| viewer.clone(), |role| Actor::Person { role, scope: None, name: None })
    }

    /// The violations of a scope, or all, that no waiver covers.
    fn open(&self, scope: Option<ObjectId>, now: Timestamp) -> Vec<Finding> {
        let mut open = self.violations(&Filter { scope, ..Filter::default() }, now);
        open.retain(|violation| violation.waiver.is_none());
        open
    }

    /// The action that an edit is.
    pub fn action_of(&self, edit: &Edit) -> Option<Action> {
        Some(match edit {
            Edit::Unlink { a, b } => Action::Unlink { a: a.clone(), b: b.clone(), role: None },
            Edit::Tag { object, tag, add, remove } => {
                let own = self.comply.lookup(object).ok()?;
                let tags = self.comply.tags_of(own);
                let before = tags.iter().find(|(key, _)| key == tag).map(|(_, values)| values.as_slice());
                let kept = before.unwrap_or(&[]).iter().filter(|value| !remove.contains(value));
                let values = kept.chain(add).cloned().collect();
                let tags: Tags = vec![(tag.clone(), values)];
                Action::SetTags { object: object.clone(), tags }
            }
        })
    }

    /// Edits that could fix a violation.
    fn proposals(&self, violation: &Finding) -> Vec<Vec<Edit>> {
        let mut proposals = self.tag_proposals(violation);
        proposals.extend(self.unlinking(violation));
        proposals
    }

    /// Edits of tags that could fix a violation.
    fn tag_proposals(&self, violation: &Finding) -> Vec<Vec<Edit>> {
        let mut proposals: Vec<Vec<Edit>> = Vec::new();
        let (a, b) = (&violation.a, &violation.b);
        match violation.strategy {
            Strategy::Intersection => {
                for (own, other) in [(b, a), (a, b)] {
                    for value in other.values.iter().take(TRIED) {
                        proposals.push(vec![self.add(own, std::slice::from_ref(value))]);
                    }
                }
            }
            Strategy::Subset => {
                let excess: Vec<SmolStr> = b.values.iter().filter(|value| !a.values.contains(value)).cloned().collect();
                if excess.len() < b.values.len() && !excess.is_empty() {
                    proposals.push(vec![remove(&b.object, &b.tag, &excess)]);
                } else {
                    for value in a.values.iter().take(TRIED) {
                        proposals.push(vec![Self::replace(b, value, &excess)]);
                    }
                }
                if !excess.is_empty() {
                    proposals.push(vec![self.add(a, &excess)]);
                }
            }
        }
        for (own, other) in [(b, a), (a, b)] {
            if other.values.is_empty() && !own.values.is_empty() {
                proposals.push(vec![remove(&own.object, &own.tag, &own.values)]);
            }
        }
        proposals
    }

    /// Adds values to a side; where its tag takes one only, they replace the others.
    fn add(&self, side: &SideOf, values: &[SmolStr]) -> Edit {
        let kind = side.object.split_once('/').and_then(|(kind, _)| self.profile().kind(kind));
        let subject = kind.and_then(|kind| self.profile().subject_of(kind));
        let definition = subject.and_then(|subject| self.schema.definition(subject, &side.tag));
        // Where there is no schema, as for labels, one value is what there can be.
        let any =
            subject.and_then(|subject| self.profile().subject_spec(subject)).is_some_and(|own| own.keys == Keys::Any);
        let single = match definition {
            Some(definition) => definition.tag != TagType::MultiSelect,
            None => any && side.values.len() < 2,
        };
        let remove = if single { side.values.clone() } else { Vec::new() };
        Edit::Tag { object: side.object.clone(), tag: side.tag.clone(), add: values.to_vec(), remove }
    }

    /// One value instead of others.
    fn replace(side: &SideOf, value: &SmolStr, instead: &[SmolStr]) -> Edit {
        let (object, tag, remove) = (side.object.clone(), side.tag.clone(), instead.to_vec());
        Edit::Tag { object, tag, add: vec![value.clone()], remove }
    }

    /// Ends what makes the pair.
    fn unlinking(&self, violation: &Finding) -> Option<Vec<Edit>> {
        let FindingId { pair, .. } = self.comply.identify(violation)?;
        let ends = |link: &Link| !self.comply.owns(link) && self.comply.made_by(link).any(|made| made == pair);
        let mut links: Vec<(ObjectId, ObjectId)> = Vec::new();
        for end in [Some(pair.a), Some(pair.b), pair.scope].into_iter().flatten() {
            // What lives in a scope makes pairs with it.
            let inside = self.comply.links_of(end).filter(|(_, link)| link.a == end).map(|(_, link)| link.b);
            for object in std::iter::once(end).chain(inside) {
                let own = self.comply.links_of(object).filter(|(_, link)| ends(link));
                links.extend(own.map(|(_, link)| (link.a, link.b)));
            }
        }
        links.sort_unstable();
        links.dedup();
        // Too many at once are not a simple way out.
        if links.is_empty() || links.len() > 8 {
            return None;
        }
        let edit =
            |(a, b): &(ObjectId, ObjectId)| Edit::Unlink { a: self.comply.reference(*a), b: self.comply.reference(*b) };
        Some(links.iter().map(edit).collect())
    }
}

/// Whether an action is accepted without new violations, or refused because of some of these only.
fn is_better(outcome: Outcome, violations: &[Finding], left: &[Finding]) -> bool {
    match outcome {
        Outcome::Allowed | Outcome::Soft | Outcome::Blocked => {
            violations.iter().all(|own| left.iter().any(|known| known.is_same(own)))
        }
        Outcome::Invalid | Outcome::Forbidden => false,
    }
}

/// The action with other values, if it is the action itself that sets what an edit would change.
fn with_other_values(action: &Action, edit: &Edit) -> Option<Action> {
    let Edit::Tag { object, tag, add, remove } = edit else { return None };
    let changed = |tags: &Tags| {
        let mut tags = tags.clone();
        let place = match tags.iter().position(|(key, _)| key == tag) {
            Some(place) => place,
            None => {
                tags.push((tag.clone(), Vec::new()));
                tags.len() - 1
            }
        };
        if let Some((_, values)) = tags.get_mut(place) {
            values.retain(|value| !remove.contains(value));
            values.extend(add.iter().cloned());
        }
        tags
    };
    match action {
        Action::SetTags { object: own, tags } if own == object && tags.iter().any(|(key, _)| key == tag) => {
            Some(Action::SetTags { object: own.clone(), tags: changed(tags) })
        }
        Action::Create(new) if new.object == *object => {
            let tags = changed(&new.tags);
            Some(Action::Create(NewObject { tags, ..new.clone() }))
        }
        _ => None,
    }
}

fn unlinks(fix: &Fix) -> bool {
    fix.edits.iter().any(|edit| matches!(edit, Edit::Unlink { .. }))
}

fn remove(object: &SmolStr, tag: &SmolStr, values: &[SmolStr]) -> Edit {
    Edit::Tag { object: object.clone(), tag: tag.clone(), add: Vec::new(), remove: values.to_vec() }
}
