//! What a state becomes when some of what was said of it is said no more, and something else is. It takes as long as what
//! changes, not as all that was said.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_model::{Pages, Sym, ValuesId};

use super::draft::Draft;
use super::facts::{Described, Link, LinkId, ObjectId, ObjectState};
use super::value_lists::NO_VALUES;
use super::waivers::Waivers;
use super::{Comply, Partners, Tags, Waiver};

/// How often everything was said: what is said twice is still said when one of the two is taken back.
#[derive(Clone, Debug, Default)]
pub struct Mentions {
    pub(super) objects: Pages<Count, 1024>,
    /// How often relationships were said besides the first time.
    pub(super) repeated: Arc<FxHashMap<Link, u32>>,
}

/// How often something was said of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) mentioned: u32,
    pub(super) described: u32,
    /// How often it was mentioned in a way that makes it be there.
    pub(super) implied: u32,
}

impl Count {
    pub(super) fn is_there(self) -> bool {
        self.described > 0 || self.implied > 0
    }

    /// Whether it is described once, or not needed.
    fn is_sound(self) -> bool {
        self.described <= 1 && (self.is_there() || self.mentioned == 0)
    }

    fn with(self, other: Self) -> Self {
        let Self { mentioned, described, implied } = other;
        Self {
            mentioned: self.mentioned + mentioned,
            described: self.described + described,
            implied: self.implied + implied,
        }
    }

    fn without(self, other: Self) -> Option<Self> {
        let Self { mentioned, described, implied } = other;
        Some(Self {
            mentioned: self.mentioned.checked_sub(mentioned)?,
            described: self.described.checked_sub(described)?,
            implied: self.implied.checked_sub(implied)?,
        })
    }
}

impl Mentions {
    fn count(&self, object: ObjectId) -> Count {
        self.objects.get(object.index()).copied().unwrap_or_default()
    }

    fn set(&mut self, object: ObjectId, count: Count) {
        self.objects.put(object.index(), count, Count::default);
    }

    /// How often a relationship that is there was said.
    fn times(&self, link: &Link) -> u32 {
        1 + self.repeated.get(link).copied().unwrap_or(0)
    }

    fn set_times(&mut self, link: Link, times: u32) {
        if times > 1 {
            Arc::make_mut(&mut self.repeated).insert(link, times - 1);
        } else if self.repeated.contains_key(&link) {
            Arc::make_mut(&mut self.repeated).remove(&link);
        }
    }
}

/// What becomes of relationships.
#[derive(Default)]
struct Links {
    ended: Vec<LinkId>,
    begun: Vec<Link>,
}

impl Comply {
    /// What this becomes if what `gone` says is said no more, and what `came` says is. Nothing if something is wrong then,
    /// or if it takes a look at everything that was said: whoever builds it anew finds out.
    pub fn revised(&self, mentions: &Mentions, gone: &Draft, came: &Draft) -> Option<(Self, Mentions)> {
        let (mut next, before) = (self.clone(), mentions);
        let mut mentions = mentions.clone();
        let from = next.known_of(gone)?;
        for ((_, _, count), object) in gone.mentioned().zip(&from) {
            mentions.set(*object, mentions.count(*object).without(count)?);
        }
        let to = next.those_of(came)?;
        for ((_, _, count), object) in came.mentioned().zip(&to) {
            mentions.set(*object, mentions.count(*object).with(count));
        }
        let touched: BTreeSet<ObjectId> = from.iter().chain(&to).copied().collect();
        for object in &touched {
            let (was, is) = (before.count(*object), mentions.count(*object));
            // What it is by itself, without a description, is for all who imply it to say.
            let loses = was.described > is.described && is.is_there();
            if !is.is_sound() || loses {
                return None;
            }
        }
        let Links { ended, begun } = next.net_links(&mut mentions, (gone, &from), (came, &to))?;
        for link in ended {
            next.unlink(link);
        }
        if gone.mentioned().any(|(_, own, count)| count.described > 0 && own.described.standing == ObjectState::Deleted)
        {
            return None;
        }
        let gone_for_good: Vec<ObjectId> =
            touched.iter().copied().filter(|object| !mentions.count(*object).is_there()).collect();
        for object in &gone_for_good {
            next.delete(*object);
        }
        for ((own, _, count), object) in came.mentioned().zip(&to) {
            if count.described > 0 || !before.count(*object).is_there() {
                next.rewrite(*object, came, own, &to)?;
            }
        }
        let (owning, others): (Vec<Link>, Vec<Link>) = begun.into_iter().partition(|link| next.owns(link));
        for link in owning.into_iter().chain(others) {
            next.relate_soundly(link)?;
        }
        let dropped = next.revise_policies(gone, came)?;
        next.revise_waivers(gone, came)?;
        let is_named = |object: &ObjectId| {
            let reference = next.reference(*object);
            next.waivers.mention(&reference) || next.each_policy().any(|policy| policy.names(&reference))
        };
        if gone_for_good.iter().any(is_named) || dropped.iter().any(|policy| next.waivers.concern(policy)) {
            return None;
        }
        next.settle();
        Some((next, mentions))
    }

    /// The objects that a draft mentions, by their numbers there; nothing if one was never heard of.
    fn known_of(&self, draft: &Draft) -> Option<Vec<ObjectId>> {
        draft.mentioned().map(|(_, object, _)| self.called(object.kind, &object.id)).collect()
    }

    /// The same; those that are described and not known are created.
    fn those_of(&mut self, draft: &Draft) -> Option<Vec<ObjectId>> {
        let mut objects = Vec::new();
        for (_, own, count) in draft.mentioned() {
            let known = self.called(own.kind, &own.id);
            objects.push(match known {
                Some(known) => known,
                None if count.is_there() => self.create(own.kind, &own.id, Described::default()),
                None => return None,
            });
        }
        Some(objects)
    }

    /// What ends and what begins, if each relationship is said less often and more often.
    fn net_links(
        &self,
        mentions: &mut Mentions,
        (gone, from): (&Draft, &[ObjectId]),
        (came, to): (&Draft, &[ObjectId]),
    ) -> Option<Links> {
        let mut said: Vec<(Link, u32, u32)> = Vec::new();
        for link in gone.related() {
            said.push((translated(link, from)?, 1, 0));
        }
        for link in came.related() {
            said.push((translated(link, to)?, 0, 1));
        }
        said.sort_unstable();
        let mut links = Links::default();
        for equal in said.chunk_by(|one, other| one.0 == other.0) {
            let Some((link, ..)) = equal.first().copied() else { continue };
            let (less, more) = equal.iter().fold((0, 0), |(less, more), (_, gone, came)| (less + gone, more + came));
            let known = self.links_between(link.a, link.b).find(|(_, own)| own.role == link.role).map(|(id, _)| id);
            let times = known.map_or(0, |_| mentions.times(&link));
            // What was said and is not there counts for nothing, because of one of its ends.
            let after = times.checked_sub(less)? + more;
            mentions.set_times(link, after);
            match known {
                Some(known) if after == 0 => links.ended.push(known),
                None if after > 0 => links.begun.push(link),
                _ => {}
            }
        }
        Some(links)
    }

    /// Says of an object what a draft says.
    fn rewrite(&mut self, object: ObjectId, draft: &Draft, own: ObjectId, known: &[ObjectId]) -> Option<()> {
        let said = draft.so_far().get(own)?;
        let paid_by = match said.described.paid_by {
            Some(payer) => Some(*known.get(payer.index())?),
            None => None,
        };
        let described = Described { paid_by, ..said.described.clone() };
        let before = self.get(object)?;
        let moves = before.described.partner != described.partner && self.partners == Partners::Exempt;
        if described.standing == ObjectState::Deleted || (moves && !self.near_links(object).is_empty()) {
            return None;
        }
        let old: Vec<Sym> = before.tags.iter().map(|(key, _)| *key).collect();
        let tags: Tags = draft.so_far().tags_of(own);
        let mut tags: Vec<(Sym, ValuesId)> =
            tags.iter().map(|(key, values)| (self.key(key), self.values(values))).collect();
        for key in old {
            if !tags.iter().any(|(known, _)| *known == key) {
                tags.push((key, NO_VALUES));
            }
        }
        self.describe(object, described);
        self.retag(object, &tags);
        Some(())
    }

    /// Relates two objects, if both take part and nobody lives in two others or in itself then.
    fn relate_soundly(&mut self, link: Link) -> Option<()> {
        let lives_twice = self.owns(&link) && (self.owner_of(link.b).is_some() || self.lives_in(link.a, link.b));
        if lives_twice || !link.ends().all(|end| self.is_live(end)) {
            return None;
        }
        self.relate(link);
        Some(())
    }

    /// Returns the names of those that are there no more.
    fn revise_policies(&mut self, gone: &Draft, came: &Draft) -> Option<Vec<SmolStr>> {
        let (before, after) = (gone.so_far(), came.so_far());
        if before.policies().iter().any(|policy| self.policy(&policy.id).is_none()) {
            return None;
        }
        for policy in after.policies.sorted() {
            if before.policy(&policy.id).is_none() && self.policy(&policy.id).is_some() {
                return None;
            }
            if !policy.named().all(|reference| self.lookup(reference).is_ok()) {
                return None;
            }
            self.put_policy(&policy.id, Some(Arc::clone(policy)));
        }
        let names = before.policies().into_iter().map(|policy| policy.id.clone());
        let dropped: Vec<SmolStr> = names.filter(|name| after.policy(name).is_none()).collect();
        for name in &dropped {
            self.put_policy(name, None);
        }
        Some(dropped)
    }

    fn revise_waivers(&mut self, gone: &Draft, came: &Draft) -> Option<()> {
        let (before, after) = (gone.so_far().waivers(), came.so_far().waivers());
        if before.is_empty() && after.is_empty() {
            return Some(());
        }
        let is_gone = |waiver: &Waiver| before.iter().any(|gone| gone.id == waiver.id);
        let rest: Vec<Waiver> = self.waivers().iter().filter(|waiver| !is_gone(waiver)).cloned().collect();
        if rest.len() + before.len() != self.waivers().len() {
            return None;
        }
        for waiver in after {
            let sides = [&waiver.a, &waiver.b, &waiver.scope].into_iter().flatten();
            self.policy(&waiver.policy)?;
            if !sides.into_iter().all(|side| self.lookup(side).is_ok()) {
                return None;
            }
        }
        let mut all: Vec<Waiver> = rest.into_iter().chain(after.iter().cloned()).collect();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        let mut waivers = Waivers::default();
        for waiver in all {
            let name = self.key(&waiver.id);
            waivers.add(waiver, name).then_some(())?;
        }
        self.put_waivers(waivers);
        Some(())
    }
}

/// A relationship of a draft, between the objects that are known.
fn translated(link: Link, known: &[ObjectId]) -> Option<Link> {
    let object = |own: ObjectId| known.get(own.index()).copied();
    let role = match link.role {
        Some(role) => Some(object(role)?),
        None => None,
    };
    Some(Link { role, ..link.between(object(link.a)?, object(link.b)?) })
}
