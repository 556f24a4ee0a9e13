//! What relates objects, and the pairs that come of it.

use rustc_hash::FxHashSet;

use super::Comply;
use super::facts::{Link, LinkId, ObjectId, ObjectState, Pair};
use super::profile::{End, Holds, Order, PairKind, Relation};

/// Where an object that takes part lives.
#[derive(Clone, Copy, Debug)]
pub struct HomeScope {
    scope: Option<ObjectId>,
}

impl Comply {
    /// How many live relationships there are.
    pub fn link_count(&self) -> usize {
        self.links.iter().flatten().count()
    }

    /// How many places there are for objects and relationships, free ones included.
    pub fn room(&self) -> usize {
        self.objects.len() + self.links.len()
    }

    /// A relationship.
    pub fn link(&self, link: LinkId) -> Option<&Link> {
        self.links.get(link.0 as usize)?.as_ref()
    }

    /// The relationships of an object.
    pub fn links_of(&self, object: ObjectId) -> impl Iterator<Item = (LinkId, &Link)> {
        self.near_links(object).iter().filter_map(|near| Some((near.link, self.link(near.link)?)))
    }

    /// The pairs of an object.
    pub fn pairs_of(&self, object: ObjectId) -> impl Iterator<Item = Pair> {
        self.near_pairs(object).iter().filter_map(|near| self.pair_at(near.slot()))
    }

    /// How many pairs an object is in.
    pub fn pair_count_of(&self, object: ObjectId) -> usize {
        self.near_pairs(object).len()
    }

    /// A relationship of two objects, if there can be one.
    pub fn relationship(&self, a: ObjectId, b: ObjectId, role: Option<ObjectId>) -> Option<Link> {
        let relation = self.relation(a, b).filter(|_| a != b)?;
        let spec = self.profile.relations.get(usize::from(relation))?;
        let fits = role.is_none_or(|role| spec.role.is_some() && self.kind_of(role) == spec.role);
        fits.then_some(Link { a, b, role, relation })
    }

    /// The relation between two kinds of objects, if there is one.
    pub(super) fn relation(&self, a: ObjectId, b: ObjectId) -> Option<u8> {
        let (a, b) = (self.subject_of(a)?, self.subject_of(b)?);
        let place = self.profile.relations.iter().position(|relation| relation.a == a && relation.b == b);
        place.and_then(|place| u8::try_from(place).ok())
    }

    /// What the profile says of relationships like this one.
    pub fn relation_of(&self, link: &Link) -> Option<&Relation> {
        self.profile.relations.get(usize::from(link.relation))
    }

    /// Whether a relationship says where its second side lives.
    pub fn owns(&self, link: &Link) -> bool {
        self.relation_of(link).is_some_and(|relation| relation.holds == Holds::Owned)
    }

    /// The pair of an object with itself, if it takes part and policies can be about it alone.
    pub fn alone(&self, object: ObjectId) -> Option<Pair> {
        let kind = self.profile.alone(self.subject_of(object)?)?;
        let HomeScope { scope } = self.home_scope(object)?;
        (!self.is_exempt(scope)).then_some(Pair { kind, a: object, b: object, scope })
    }

    /// The pairs that a relationship makes, or would make.
    pub fn made_by(&self, link: &Link) -> impl Iterator<Item = Pair> + use<'_> {
        let link = *link;
        let home = self.home_scope(link.a).filter(|_| self.is_live(link.b));
        home.into_iter().flat_map(move |home| self.made_in(&link, home))
    }

    /// The relationships that make a pair. Each of them names a side that is no scope, and its first side lives in the scope of the pair:
    /// it is looked for where there are fewest.
    pub fn makers_of(&self, pair: Pair) -> Vec<Link> {
        let named = pair.ends().filter(|end| Some(*end) != pair.scope).map(|end| self.near_links(end));
        let Some(fewest) = named.min_by_key(|near| near.len()) else { return Vec::new() };
        let makes = |link: &&Link| self.made_by(link).any(|made| made == pair);
        let residents = |scope: ObjectId| {
            let all = self.residents(scope).into_iter();
            all.flat_map(|own| self.links_of(own).filter(move |(_, link)| link.a == own)).map(|(_, link)| link)
        };
        match pair.scope.filter(|scope| self.near_links(*scope).len() < fewest.len()) {
            Some(scope) => residents(scope).filter(makes).copied().collect(),
            None => fewest.iter().filter_map(|near| self.link(near.link)).filter(makes).copied().collect(),
        }
    }

    /// Everybody who lives in a scope, at any depth, itself included.
    pub(super) fn residents(&self, scope: ObjectId) -> Vec<ObjectId> {
        let (mut found, mut seen) = (vec![scope], FxHashSet::from_iter([scope]));
        let mut next = 0;
        while let Some(resident) = found.get(next).copied() {
            let own = self.links_of(resident).filter(|(_, link)| link.a == resident && self.owns(link));
            found.extend(own.map(|(_, link)| link.b).filter(|inside| seen.insert(*inside)));
            next += 1;
        }
        found
    }

    /// The pairs that a relationship makes, or would make, given where its first side lives, and that its second takes part.
    pub fn made_in(&self, link: &Link, home: HomeScope) -> impl Iterator<Item = Pair> + use<'_> {
        let (Link { a, b, role, .. }, HomeScope { scope }) = (*link, home);
        let relation = self.relation_of(link).filter(|_| !self.is_exempt(scope));
        let given = relation.map_or(&[][..], |relation| &relation.gives);
        given.iter().filter_map(move |given| {
            let end = |end: End| match end {
                End::A => Some(a),
                End::B => Some(b),
                End::Role => role.filter(|role| self.is_live(*role)),
                End::Scope => scope,
            };
            Some(Pair { kind: given.pair, a: end(given.a)?, b: end(given.b)?, scope })
        })
    }

    /// The scope of an object that takes part, if it lives in one; nothing for those that take none.
    pub fn home_scope(&self, object: ObjectId) -> Option<HomeScope> {
        let mut home = HomeScope { scope: None };
        for (id, own) in self.chain(object) {
            if own.described.standing == ObjectState::Deleted {
                return None;
            }
            if home.scope.is_none() && Some(own.kind) == self.profile.scope {
                home.scope = Some(id);
            }
        }
        Some(home)
    }

    /// The relationships between two objects, whatever qualifies them.
    pub fn links_between(&self, a: ObjectId, b: ObjectId) -> impl Iterator<Item = (LinkId, &Link)> {
        let (first, second) = (self.near_links(a), self.near_links(b));
        let (fewer, other) = if first.len() <= second.len() { (first, b) } else { (second, a) };
        let near = fewer.iter().filter(move |near| near.other == other);
        near.filter_map(|near| Some((near.link, self.link(near.link)?)))
            .filter(move |(_, link)| (link.a, link.b) == (a, b))
    }

    /// Two objects in the order in which they are related; as they are if they cannot be.
    pub fn in_order(&self, one: ObjectId, other: ObjectId) -> (ObjectId, ObjectId) {
        match (self.relation(one, other), self.relation(other, one)) {
            (None, Some(_)) => (other, one),
            _ => (one, other),
        }
    }

    /// Whether two objects are related.
    pub fn are_related(&self, one: ObjectId, other: ObjectId) -> bool {
        let (a, b) = self.in_order(one, other);
        self.links_between(a, b).next().is_some()
    }

    /// The pairs of subjects that policies can be about and that fit two objects, in either order; of an object with itself,
    /// that one.
    pub fn pairs_between(&self, one: ObjectId, other: ObjectId) -> Vec<Pair> {
        if one == other {
            let kind = self.subject_of(one).and_then(|subject| self.profile.alone(subject));
            return kind.into_iter().flat_map(|kind| self.meetings(kind, one, one)).collect();
        }
        let (Some(first), Some(second)) = (self.subject_of(one), self.subject_of(other)) else { return Vec::new() };
        let mut pairs = Vec::new();
        for (kind, sides) in (0..).map(PairKind).zip(&self.profile.pairs).filter(|(_, (a, b))| a != b) {
            let ways = [(first, second, one, other), (second, first, other, one)];
            let turns = if first == second && self.profile.order == Order::Either { 1 } else { 2 };
            for (_, _, a, b) in ways.into_iter().take(turns).filter(|(first, second, ..)| *sides == (*first, *second)) {
                pairs.extend(self.meetings(kind, a, b));
            }
        }
        pairs
    }

    /// Where two objects meet; where they would, if they are not related.
    fn meetings(&self, kind: PairKind, a: ObjectId, b: ObjectId) -> Vec<Pair> {
        let made: Vec<Pair> = self.pairs_of(a).filter(|pair| (pair.kind, pair.a, pair.b) == (kind, a, b)).collect();
        if made.is_empty() {
            vec![Pair { kind, a, b, scope: self.scope_of(a).or_else(|| self.scope_of(b)) }]
        } else {
            made
        }
    }
}
