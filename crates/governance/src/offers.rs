//! What could be chosen without breaking a policy.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_engine::comply::{
    Comply, Effect, Finding, Kind, Level, Link, NotFound, ObjectId, ObjectState, Pair, PairKey, Question, Relation,
    Selectors,
};
use upheld_engine::{Ruling, Scratch, Silent, ask};
use upheld_model::{State, Timestamp};

use crate::act::Asked;
use crate::definition::TagType;
use crate::{Action, Actor, Decision, Organisation, Refusal, Trial};

impl Organisation {
    /// Live objects of a kind or subject that an actor could relate to an object without breaking an enforced policy, in the
    /// order of their references. What a waiver covers breaks nothing.
    pub fn candidates(
        &self,
        now: Timestamp,
        actor: &Actor,
        object: ObjectId,
        wanted: &str,
        role: Option<ObjectId>,
    ) -> Result<Vec<ObjectId>, NotFound> {
        let mut offered = self.offered(now, actor, object, &self.kinds_of(wanted)?, role);
        self.comply.sort_objects(&mut offered);
        Ok(offered)
    }

    /// The kinds that a word means: a kind, or all kinds of a subject.
    pub fn kinds_of(&self, word: &str) -> Result<Vec<Kind>, NotFound> {
        if let Some(kind) = self.profile().kind(word) {
            return Ok(vec![kind]);
        }
        if let Some(subject) = self.profile().subject(word) {
            return Ok(self.profile().kinds_of_subject(subject).collect());
        }
        let unknown = || NotFound::Kind { written: SmolStr::new(word), nearest: None };
        Err(self.comply.lookup(word).err().unwrap_or_else(unknown))
    }

    /// As [`Self::candidates`], in no particular order. Pairs that rules cannot tell apart are asked about once.
    pub fn offered(
        &self,
        now: Timestamp,
        actor: &Actor,
        object: ObjectId,
        kinds: &[Kind],
        role: Option<ObjectId>,
    ) -> Vec<ObjectId> {
        let (comply, mut offered) = (&*self.comply, Vec::new());
        if comply.described(object).is_none_or(|own| own.standing != ObjectState::Live) {
            return offered;
        }
        let home = comply.home_scope(object);
        let mut offers = Offers { comply, now, scratch: Scratch::default(), known: FxHashMap::default() };
        let mut trial = None;
        for other in kinds.iter().flat_map(|kind| comply.objects_of(*kind)) {
            let lives = comply.described(other).is_some_and(|own| own.standing == ObjectState::Live);
            if !lives || other == object || !comply.is_live(other) {
                continue;
            }
            let (a, b) = comply.in_order(object, other);
            let Ok(asked) = self.asked_objects(actor, a, b, role) else { continue };
            // More would change than the pairs between the two: that has to be tried out.
            if asked.is_new && self.changes_more(&asked.link) {
                let trial = trial.get_or_insert_with(|| self.trial(now));
                let decision = trial.would(actor, &self.link_action(&asked.link));
                // What others violate, and counts in another scope from then on, is not about the two.
                let ends = [object, other].map(|end| comply.reference(end));
                let is_between = |own: &Finding| ends.contains(&own.a.object) && ends.contains(&own.b.object);
                let breaks = decision.violations.iter().any(|own| own.level == Level::Enforce && is_between(own));
                if decision.outcome.is_done() && !breaks {
                    offered.push(other);
                }
                continue;
            }
            let residence = if a == object { home.filter(|_| comply.is_live(b)) } else { comply.home_scope(a) };
            // Where one of them takes no part, there is no pair.
            if residence.is_none_or(|home| comply.made_in(&asked.link, home).all(|pair| offers.complies(pair))) {
                offered.push(other);
            }
        }
        offered
    }

    fn link_action(&self, link: &Link) -> Action {
        let role = link.role.map(|role| self.comply.reference(role));
        Action::Link { a: self.comply.reference(link.a), b: self.comply.reference(link.b), role }
    }

    /// The enforced rules that would be against relating two objects, in order.
    pub fn against(&self, now: Timestamp, one: ObjectId, other: ObjectId, role: Option<ObjectId>) -> Vec<Finding> {
        let comply = &*self.comply;
        let (a, b) = comply.in_order(one, other);
        let Some(link) = comply.relationship(a, b, role) else { return Vec::new() };
        if self.moves_matter(&link) && comply.owner_of(link.b).is_none() {
            return self.trial(now).against(link);
        }
        against(comply, comply.made_by(&link), now)
    }

    /// Whether a relationship brings its second side under other policies: then it has to be tried out.
    fn moves_matter(&self, link: &Link) -> bool {
        let profile = self.profile();
        self.comply.owns(link) && (profile.has_single_objects() || profile.selectors == Selectors::Taken)
    }

    /// What violates already between two objects that somebody wants to relate and that are related, in order.
    pub fn standing_between(&self, now: Timestamp, action: &Action) -> Vec<Finding> {
        let Action::Link { a, b, role } = action else { return Vec::new() };
        let Ok(Asked { link, is_new: false }) = self.asked_link(&Actor::System, a, b, role.as_deref()) else {
            return Vec::new();
        };
        self.standing(now, self.comply.made_by(&link))
    }

    /// What pairs violate, in order.
    fn standing(&self, now: Timestamp, pairs: impl Iterator<Item = Pair>) -> Vec<Finding> {
        let (comply, history) = (&*self.comply, self.history());
        let (mut standing, mut scratch) = (Vec::new(), Scratch::default());
        for pair in pairs {
            let accepted = history.accepted(pair);
            let question = Question { accepted: &accepted, ..comply.question(pair, now) };
            comply.violated_by(&question, &mut scratch, |state, hit| {
                standing.extend(comply.named(pair, hit.entry, &hit.measure, state, now));
            });
        }
        standing.sort();
        standing
    }

    /// Whether an object can be related to objects of a kind.
    pub fn can_relate(&self, object: ObjectId, kind: Kind) -> bool {
        let sides = (self.comply.subject_of(object), self.profile().subject_of(kind));
        let (Some(own), Some(other)) = sides else { return false };
        let fits =
            |relation: &Relation| (relation.a, relation.b) == (own, other) || (relation.a, relation.b) == (other, own);
        self.profile().relations.iter().any(fits)
    }

    /// The values of a tag that an actor could give an object, each alone, without being refused.
    pub fn allowed_values(
        &self,
        now: Timestamp,
        actor: &Actor,
        object: ObjectId,
        tag: &str,
    ) -> Result<Vec<SmolStr>, Refusal> {
        let judged = self.judged_values(now, actor, object, tag)?.into_iter();
        Ok(judged.filter(|judged| judged.decision.outcome.is_done()).map(|judged| judged.value).collect())
    }

    /// Every value that a tag of an object could have, each alone, with what would become of it: options, or `true` and
    /// `false`, or else what the other sides of its pairs carry.
    pub fn judged_values(
        &self,
        now: Timestamp,
        actor: &Actor,
        object: ObjectId,
        tag: &str,
    ) -> Result<Vec<JudgedValue>, Refusal> {
        let Some(subject) = self.comply.subject_of(object) else { return Ok(Vec::new()) };
        let choices = match self.schema.check_key(self.profile(), subject, tag)? {
            Some(definition) if !definition.options.is_empty() => definition.options.clone(),
            Some(definition) if definition.tag == TagType::Boolean => {
                vec![SmolStr::new_static("true"), SmolStr::new_static("false")]
            }
            _ => self.values_around(now, object, tag),
        };
        let mut trial: Trial = self.trial(now);
        let reference = self.comply.reference(object);
        let judge = |value: SmolStr| {
            let tags = vec![(SmolStr::new(tag), vec![value.clone()])];
            let (decision, kept) = trial.would_tag(actor, &Action::SetTags { object: reference.clone(), tags }, object);
            JudgedValue { value, decision, kept }
        };
        Ok(choices.into_iter().map(judge).collect())
    }

    /// What rules about a tag of an object find on the other sides, in order.
    fn values_around(&self, now: Timestamp, object: ObjectId, tag: &str) -> Vec<SmolStr> {
        let (comply, mut values) = (&*self.comply, Vec::new());
        let own = comply.reference(object);
        for pair in comply.pairs_of(object) {
            let question = comply.question(pair, now);
            for held in comply.findings_of(&question, &Ruling::matched(comply, &question)) {
                // Of a single object the other side is what its policy allows.
                let ways = if pair.a == pair.b { 1 } else { 2 };
                for (side, other) in [(&held.a, &held.b), (&held.b, &held.a)].into_iter().take(ways) {
                    if side.object == own && side.tag == tag {
                        values.extend(other.values.iter().cloned());
                    }
                }
            }
        }
        values.sort();
        values.dedup();
        values
    }
}

/// A value that a tag could have.
#[derive(Clone, Debug)]
pub struct JudgedValue {
    /// Which.
    pub value: SmolStr,
    /// What would become of it.
    pub decision: Decision,
    /// What the object violates already and would go on to.
    pub kept: Vec<Finding>,
}

impl Trial {
    /// What would become of other tags of an object, and what it violates already and would go on to.
    fn would_tag(&mut self, actor: &Actor, action: &Action, object: ObjectId) -> (Decision, Vec<Finding>) {
        let Self { organisation, now } = self;
        let before = organisation.before();
        let tried = organisation.try_out(*now, actor, action);
        let decision = organisation.decision(tried);
        let mut kept = Vec::new();
        if decision.outcome.is_done() {
            kept = organisation.standing(*now, organisation.comply.pairs_of(object));
            let is_new = |own: &Finding| decision.violations.iter().any(|new| new.is_same(own));
            kept.retain(|own| own.waiver.is_none() && !is_new(own));
        }
        organisation.roll_back(before);
        organisation.settle();
        (decision, kept)
    }

    /// The enforced rules that are against a relationship by which its second side comes to live in the first, in order.
    fn against(&mut self, link: Link) -> Vec<Finding> {
        let Self { organisation, now } = self;
        let before = organisation.before();
        organisation.steps().relate(link);
        let comply = &*organisation.comply;
        let found = against(comply, comply.made_by(&link).chain(comply.alone(link.b)), *now);
        organisation.roll_back(before);
        organisation.settle();
        found
    }
}

/// The enforced rules that are against pairs, in order.
fn against(comply: &Comply, pairs: impl Iterator<Item = Pair>, now: Timestamp) -> Vec<Finding> {
    let (mut against, mut scratch) = (Vec::new(), Scratch::default());
    for pair in pairs {
        comply.violated_by(&enforced(pair, now), &mut scratch, |state, hit| {
            if state == State::Hard {
                against.extend(comply.named(pair, hit.entry, &hit.measure, state, now));
            }
        });
    }
    against.sort();
    against
}

/// What is offered breaks nothing, whoever takes it, and that it was broken before is not an excuse.
fn enforced(pair: Pair, now: Timestamp) -> Question<'static> {
    Question { pair, now, effect: Effect::Block, accepted: &[] }
}

/// Pairs that could be, asked about one after the other.
struct Offers<'c> {
    comply: &'c Comply,
    now: Timestamp,
    scratch: Scratch<Comply>,
    /// Whether pairs that are alike break nothing that is enforced.
    known: FxHashMap<PairKey, bool>,
}

impl Offers<'_> {
    /// Whether a pair that could be breaks no enforced rule.
    fn complies(&mut self, pair: Pair) -> bool {
        let Self { comply, now, scratch, known } = self;
        let mut ask = || ask(*comply, &enforced(pair, *now), scratch, &mut Silent).hard == 0;
        match comply.pair_key(pair) {
            Some(pair_key) => *known.entry(pair_key).or_insert_with(ask),
            None => ask(),
        }
    }
}
