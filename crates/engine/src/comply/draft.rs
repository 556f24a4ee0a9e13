//! An organisation as it is read: objects may be mentioned before they are described, and nothing is judged yet.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_model::{NodeRef, Pages, Sym, Symbols};

use super::facts::{
    Described, Link, LinkId, NeighbourLink, NeighbourPair, Neighbours, Object, ObjectId, ObjectState, Pair, Slot,
};
use super::pairs::{PairRow, PairTable};
use super::profile::{Kind, Profile, Subject};
use super::revision::{Count, Mentions};
use super::steps::Retired;
use super::{Comply, Partners, Policy, Waiver};

/// What is being read.
#[derive(Debug)]
pub struct Draft {
    comply: Comply,
    /// By object.
    mentions: Vec<Mention>,
    links: Vec<(Link, Option<NodeRef>)>,
    values: Vec<Sym>,
}

#[derive(Clone, Copy, Debug)]
struct Mention {
    described: Said,
    first: Option<NodeRef>,
    mentioned: u32,
    implied: u32,
}

impl Mention {
    fn count(self) -> Count {
        let Self { described, first: _, mentioned, implied } = self;
        Count { mentioned, described: u32::from(described != Said::Nowhere), implied }
    }
}

/// What relates an object, while it is being collected.
type Unshared = (Vec<NeighbourLink>, Vec<NeighbourPair>);

/// Whether and where somebody said what an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Nowhere,
    At(Option<NodeRef>),
}

/// What is wrong with a draft, as far as objects and relationships go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Somebody refers to an object that nobody describes.
    Missing {
        /// Which.
        object: ObjectId,
        /// Where it is mentioned first.
        at: Option<NodeRef>,
    },
    /// An object lives in two others.
    TwoOwners {
        /// Which.
        object: ObjectId,
        /// One.
        first: ObjectId,
        /// The other.
        second: ObjectId,
        /// Where the second is named.
        at: Option<NodeRef>,
    },
    /// An object lives in itself, by way of others.
    Cycle {
        /// Who lives in the next one; the last in the first.
        through: Vec<ObjectId>,
        /// Where the first is said to live in the second.
        at: Option<NodeRef>,
    },
}

impl Draft {
    /// An empty one.
    pub fn new(profile: Arc<Profile>, partners: Partners) -> Self {
        let table = |(a, b): &(Subject, Subject)| if a == b { PairTable::alone() } else { PairTable::new() };
        let tables = profile.pairs.iter().map(table).collect();
        let mut symbols = Symbols::default();
        for subject in &profile.subjects {
            symbols.intern(&subject.name);
        }
        let comply = Comply {
            profile,
            partners,
            symbols: Arc::new(symbols),
            lists: Arc::default(),
            objects: Pages::default(),
            near: Pages::default(),
            names: Arc::default(),
            by_kind: Vec::new(),
            links: Pages::default(),
            tables,
            violating: Pages::default(),
            policies: Arc::default(),
            waivers: Arc::default(),
            journal: Vec::new(),
            touched: Vec::new(),
            freed: Vec::new(),
            free_links: Pages::default(),
            freed_links: Vec::new(),
            retired: Retired::None,
        };
        Self { comply, mentions: Vec::new(), links: Vec::new(), values: Vec::new() }
    }

    /// What was read so far.
    pub fn so_far(&self) -> &Comply {
        &self.comply
    }

    /// The rules of the game.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.comply.profile
    }

    /// An object by its kind and id; `at` is where it is mentioned.
    pub fn refer(&mut self, kind: Kind, id: &str, at: Option<NodeRef>) -> ObjectId {
        if let Some(known) = self.comply.called(kind, id) {
            self.mention(known);
            return known;
        }
        let object = ObjectId::new(self.comply.objects.len());
        self.comply.add_object(Object::new(kind, SmolStr::new(id)));
        self.mentions.push(Mention { described: Said::Nowhere, first: at, mentioned: 1, implied: 0 });
        object
    }

    /// An object that is known already is mentioned once more.
    pub fn mention(&mut self, object: ObjectId) {
        if let Some(mention) = self.mentions.get_mut(object.index()) {
            mention.mentioned += 1;
        }
    }

    /// Says that an object is there because it is mentioned: nothing describes objects of its kind.
    pub fn imply(&mut self, object: ObjectId) {
        if let Some(mention) = self.mentions.get_mut(object.index()) {
            mention.implied += 1;
        }
    }

    /// Says what an object is; the second time, where it was said first.
    pub fn describe(&mut self, object: ObjectId, described: Described) -> Result<(), Option<NodeRef>> {
        if let Some(mention) = self.mentions.get_mut(object.index()) {
            match mention.described {
                Said::At(first) => return Err(first),
                Said::Nowhere => mention.described = Said::At(described.at),
            }
        }
        if let Some(own) = self.comply.objects.get_mut(object.index()) {
            own.described = described;
        }
        Ok(())
    }

    /// Gives an object a tag. Duplicate values count once; without values it is as if nothing was said.
    pub fn tag<'v>(&mut self, object: ObjectId, key: &str, values: impl IntoIterator<Item = &'v str>) {
        let comply = &mut self.comply;
        self.values.clear();
        for value in values {
            let value = comply.key(value);
            if !self.values.contains(&value) {
                self.values.push(value);
            }
        }
        if self.values.is_empty() {
            return;
        }
        let (key, list) = (comply.key(key), Arc::make_mut(&mut comply.lists).intern(&self.values));
        comply.write_tag(object, key, list);
    }

    /// Relates two objects; `false` if objects of their kinds are not related in this way.
    pub fn link(&mut self, a: ObjectId, b: ObjectId, role: Option<ObjectId>, at: Option<NodeRef>) -> bool {
        let Some(link) = self.comply.relationship(a, b, role) else { return false };
        self.links.push((link, at));
        true
    }

    /// Where relationships of two objects were written, whatever qualifies them.
    pub fn written_between(&self, one: &str, other: &str) -> Vec<Option<NodeRef>> {
        let (Ok(one), Ok(other)) = (self.comply.lookup(one), self.comply.lookup(other)) else { return Vec::new() };
        let is_meant = |link: &Link| (link.a, link.b) == (one, other) || (link.b, link.a) == (one, other);
        self.links.iter().filter(|(link, _)| is_meant(link)).map(|(_, at)| *at).collect()
    }

    /// Adds a policy as it is; `false` if there is one of that name, or none can be about its pair.
    pub fn policy(&mut self, policy: Policy) -> bool {
        if self.comply.policy(&policy.id).is_some() || self.comply.profile.pair(policy.a, policy.b).is_none() {
            return false;
        }
        let name = policy.id.clone();
        let Comply { policies, profile, .. } = &mut self.comply;
        Arc::make_mut(policies).put(&name, Some(Arc::new(policy)), profile);
        true
    }

    /// Adds a waiver as it is; `false` if there is one of that name.
    pub fn waiver(&mut self, waiver: Waiver) -> bool {
        let name = self.comply.key(&waiver.id);
        Arc::make_mut(&mut self.comply.waivers).add(waiver, name)
    }

    /// What is wrong with objects and relationships; all of it.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (index, mention) in self.mentions.iter().enumerate() {
            if !mention.count().is_there() {
                problems.push(Problem::Missing { object: ObjectId::new(index), at: mention.first });
            }
        }
        let mut owners: Vec<Option<(ObjectId, Option<NodeRef>)>> = vec![None; self.comply.objects.len()];
        for (link, at) in &self.links {
            let Some(owner) = owners.get_mut(link.b.index()).filter(|_| self.comply.owns(link)) else { continue };
            match *owner {
                Some((first, _)) if first != link.a => {
                    problems.push(Problem::TwoOwners { object: link.b, first, second: link.a, at: *at });
                }
                _ => *owner = Some((link.a, *at)),
            }
        }
        cycles(&owners, &mut problems);
        problems
    }

    /// Judges everything. Relationships with somebody whom nobody described count for nothing.
    pub fn build(self) -> Comply {
        self.build_with_mentions().0
    }

    /// As [`Self::build`], with how often everything was said: who knows that can say less, or more, later.
    pub fn build_with_mentions(self) -> (Comply, Mentions) {
        let Self { mut comply, mentions, links, .. } = self;
        let objects: Pages<Count, 1024> = mentions.iter().map(|mention| mention.count()).collect();
        for (index, _) in objects.iter().enumerate().filter(|(_, count)| !count.is_there()) {
            if let Some(object) = comply.objects.get_mut(index) {
                object.described.standing = ObjectState::Deleted;
            }
        }
        let mut near = vec![(Vec::new(), Vec::new()); comply.objects.len()];
        let repeated = comply.place_links(links.into_iter().map(|(link, _)| link).collect(), &mut near);
        comply.place_pairs(&mut near);
        let shared = |(links, pairs)| Neighbours { links: Arc::new(links), pairs: Arc::new(pairs) };
        comply.near = near.into_iter().map(shared).collect();
        let names: Vec<SmolStr> = comply.policies().into_iter().map(|policy| policy.id.clone()).collect();
        for name in names {
            comply.compile(&name);
        }
        for kind in comply.pair_kinds() {
            comply.sign_again(kind);
        }
        comply.sweep_all();
        comply.journal.clear();
        comply.touched.clear();
        (comply, Mentions { objects, repeated: Arc::new(repeated) })
    }

    /// Every object that is mentioned, with its kind and id and how often.
    pub(super) fn mentioned(&self) -> impl Iterator<Item = (ObjectId, &Object, Count)> {
        let all = self.comply.objects.iter().zip(&self.mentions).enumerate();
        all.map(|(index, (object, mention))| (ObjectId::new(index), object, mention.count()))
    }

    /// Every relationship, as often as it was said.
    pub(super) fn related(&self) -> impl Iterator<Item = Link> {
        self.links.iter().map(|(link, _)| *link)
    }
}

impl Comply {
    /// Puts all relationships in their places, each once; returns which were said how often besides.
    fn place_links(&mut self, mut links: Vec<Link>, near: &mut [Unshared]) -> FxHashMap<Link, u32> {
        let order = |link: &Link| (link.relation, link.a, link.b, link.role);
        links.sort_unstable_by_key(order);
        for link in &links {
            if self.owns(link)
                && let Some(object) = self.objects.get_mut(link.b.index())
            {
                object.owner = Some(link.a);
            }
        }
        // A relationship outlives what qualified it.
        let mut unqualified = 0;
        for link in &mut links {
            let role = link.role.filter(|role| self.is_live(*role));
            unqualified += usize::from(role != link.role);
            link.role = role;
        }
        if unqualified > 0 {
            links.sort_unstable_by_key(order);
        }
        links.retain(|link| self.is_live(link.a) && self.is_live(link.b));
        let several = links.chunk_by(|one, other| one == other).filter(|equal| equal.len() > 1);
        let besides = |equal: &[Link]| Some((*equal.first()?, u32::try_from(equal.len() - 1).unwrap_or(u32::MAX)));
        let repeated = several.filter_map(besides).collect();
        links.dedup();
        // Most objects have few: room for more than that is most of what they would take.
        let mut counts = vec![0_u32; near.len()];
        for end in links.iter().flat_map(Link::ends) {
            counts.get_mut(end.index()).into_iter().for_each(|count| *count += 1);
        }
        for ((links, _), count) in near.iter_mut().zip(counts) {
            links.reserve_exact(count as usize);
        }
        for (place, link) in links.iter().enumerate() {
            let place = LinkId(u32::try_from(place).unwrap_or(u32::MAX));
            for (end, seen) in link.seen(place) {
                if let Some((links, _)) = near.get_mut(end.index()) {
                    links.push(seen);
                }
            }
        }
        self.links = links.into_iter().map(Some).collect();
        repeated
    }

    fn place_pairs(&mut self, near: &mut [Unshared]) {
        let mut made: Vec<Pair> = Vec::with_capacity(self.links.len());
        for link in self.links.iter().flatten() {
            made.extend(self.made_by(link));
        }
        if self.profile.has_single_objects() {
            made.extend(self.all_objects().filter_map(|object| self.alone(object)));
        }
        made.sort_unstable();
        let mut counts = vec![0_u32; near.len()];
        for equal in made.chunk_by(|one, other| one == other) {
            for end in equal.first().into_iter().flat_map(Pair::ends) {
                counts.get_mut(end.index()).into_iter().for_each(|count| *count += 1);
            }
        }
        for ((_, pairs), count) in near.iter_mut().zip(counts) {
            pairs.reserve_exact(count as usize);
        }
        for equal in made.chunk_by(|one, other| one == other) {
            let Some(Pair { kind, a, b, scope }) = equal.first().copied() else { continue };
            let count = u32::try_from(equal.len()).unwrap_or(u32::MAX);
            let Some(own) = self.tables.get_mut(usize::from(kind.0)) else { continue };
            let place = own.place(PairRow { a, b, scope, count });
            for (end, seen) in NeighbourPair::sides(Slot { table: kind, place }, a, b) {
                if let Some((_, pairs)) = near.get_mut(end.index()) {
                    pairs.push(seen);
                }
            }
        }
    }
}

/// Walks from every object upwards, each once.
fn cycles(owners: &[Option<(ObjectId, Option<NodeRef>)>], problems: &mut Vec<Problem>) {
    let owner = |object: ObjectId| owners.get(object.index()).copied().flatten();
    let mut walked = vec![0_usize; owners.len()];
    for start in 0..owners.len() {
        let mut at = ObjectId::new(start);
        loop {
            match walked.get_mut(at.index()) {
                Some(mark) if *mark == 0 => *mark = start + 1,
                // Met on this very walk: from here on it goes round.
                Some(mark) if *mark == start + 1 => {
                    let round = std::iter::successors(Some(at), |at| owner(*at).map(|(owner, _)| owner));
                    let mut through: Vec<ObjectId> = Vec::new();
                    for object in round {
                        if through.contains(&object) {
                            break;
                        }
                        through.push(object);
                    }
                    let place = owner(at).and_then(|(_, place)| place);
                    problems.push(Problem::Cycle { through, at: place });
                    break;
                }
                _ => break,
            }
            match owner(at) {
                Some((owner, _)) => at = owner,
                None => break,
            }
        }
    }
}
