//! What could be chosen without breaking a policy.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_model::State;

use super::facts::{ObjectId, Pair, Standing};
use super::family::Question;
use super::finding::Finding;
use super::profile::{Effect, Kind, PairKind, Relation};
use super::refusal::Refusal;
use super::schema::TagType;
use super::{Action, Actor, Comply, Decision};
use crate::ask::{Scratch, ask};
use crate::ruling::Ruling;
use crate::witness::Silent;

impl Comply {
    /// Live, enabled objects of a kind or subject whose relationship to an object would break no enforced policy, in the
    /// order of their references. What a waiver covers breaks nothing.
    pub fn candidates(&self, object: ObjectId, wanted: &str, role: Option<ObjectId>) -> Result<Vec<ObjectId>, Refusal> {
        let mut offered = self.offered(object, &self.kinds_of(wanted)?, role);
        self.sort_objects(&mut offered);
        Ok(offered)
    }

    /// The kinds that a word means: a kind, or all kinds of a subject.
    pub fn kinds_of(&self, word: &str) -> Result<Vec<Kind>, Refusal> {
        if let Some(kind) = self.profile.kind(word) {
            return Ok(vec![kind]);
        }
        match self.profile.subject(word) {
            Some(subject) => {
                let kinds = self.profile.kinds.iter().enumerate().filter(|(_, kind)| kind.subject == subject);
                Ok(kinds.filter_map(|(place, _)| u8::try_from(place).ok()).map(Kind).collect())
            }
            None => Err(self
                .lookup(word)
                .err()
                .unwrap_or(Refusal::UnknownKind { written: SmolStr::new(word), nearest: None })),
        }
    }

    /// As [`Self::candidates`], in no particular order. Objects whose tags no rule can tell apart are asked about once.
    pub fn offered(&self, object: ObjectId, kinds: &[Kind], role: Option<ObjectId>) -> Vec<ObjectId> {
        let mut offered = Vec::new();
        if self.described(object).is_none_or(|own| own.standing != Standing::Live) {
            return offered;
        }
        let mut offers = Offers { comply: self, scratch: Scratch::default(), known: FxHashMap::default() };
        for kind in kinds {
            let like = self.objects_of(*kind).find_map(|other| {
                let (a, b) = self.in_order(object, other);
                // What qualifies relationships of other kinds says nothing about these.
                self.relationship(a, b, role).or_else(|| self.relationship(a, b, None))
            });
            let Some(like) = like else { continue };
            for other in self.objects_of(*kind) {
                let lives = self.described(other).is_some_and(|own| own.standing == Standing::Live);
                if !lives || other == object || !self.is_live(other) {
                    continue;
                }
                let link = if like.a == object { like.between(object, other) } else { like.between(other, object) };
                if self.made_by(&link).all(|pair| offers.complies(pair)) {
                    offered.push(other);
                }
            }
        }
        offered
    }

    /// The enforced rules that would be against relating two objects, in order.
    pub fn against(&self, one: ObjectId, other: ObjectId, role: Option<ObjectId>) -> Vec<Finding> {
        let (a, b) = self.in_order(one, other);
        let Some(link) = self.relationship(a, b, role) else { return Vec::new() };
        let (mut against, mut scratch) = (Vec::new(), Scratch::default());
        for pair in self.made_by(&link) {
            self.violated_by(&self.enforced(pair), &mut scratch, |state, hit| {
                if state == State::Hard {
                    against.extend(self.named(pair, hit.entry, &hit.measure, state, self.now));
                }
            });
        }
        against.sort();
        against
    }

    /// What is offered breaks nothing, whoever takes it, and that it was broken before is no excuse.
    fn enforced(&self, pair: Pair) -> Question<'static> {
        Question { pair, now: self.now, effect: Effect::Block, accepted: &[] }
    }

    /// Whether an object can be related to objects of a kind.
    pub fn can_relate(&self, object: ObjectId, kind: Kind) -> bool {
        let (Some(own), Some(other)) = (self.subject_of(object), self.profile.subject_of(kind)) else { return false };
        let fits =
            |relation: &Relation| (relation.a, relation.b) == (own, other) || (relation.a, relation.b) == (other, own);
        self.profile.relations.iter().any(fits)
    }

    /// The values of a tag that an actor could give an object, each alone, without being refused.
    pub fn allowed_values(&mut self, actor: &Actor, object: ObjectId, tag: &str) -> Result<Vec<SmolStr>, Refusal> {
        let judged = self.judged_values(actor, object, tag)?.into_iter();
        Ok(judged.filter(|(_, decision)| decision.outcome.is_done()).map(|(value, _)| value).collect())
    }

    /// Every value that a tag of an object could have, each alone, with what would become of it: options, or `true` and
    /// `false`, or else what the other sides of its pairs carry.
    pub fn judged_values(
        &mut self,
        actor: &Actor,
        object: ObjectId,
        tag: &str,
    ) -> Result<Vec<(SmolStr, Decision)>, Refusal> {
        let Some(subject) = self.subject_of(object) else { return Ok(Vec::new()) };
        let choices = match self.check_key(subject, tag)? {
            Some(definition) if !definition.options.is_empty() => definition.options.clone(),
            Some(definition) if definition.tag == TagType::Boolean => {
                vec![SmolStr::new_static("true"), SmolStr::new_static("false")]
            }
            _ => self.values_around(object, tag),
        };
        let reference = self.reference(object);
        let judge = |value: SmolStr| {
            let tags = vec![(SmolStr::new(tag), vec![value.clone()])];
            let decision = self.would(actor, &Action::SetTags { object: reference.clone(), tags });
            (value, decision)
        };
        Ok(choices.into_iter().map(judge).collect())
    }

    /// What rules about a tag of an object find on the other sides, in order.
    fn values_around(&self, object: ObjectId, tag: &str) -> Vec<SmolStr> {
        let mut values = Vec::new();
        for pair in self.pairs_of(object) {
            let question = self.question(pair, self.now);
            for held in self.findings_of(&question, &Ruling::matched(self, &question)) {
                let own = self.reference(object);
                for (side, other) in [(&held.a, &held.b), (&held.b, &held.a)] {
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

/// Pairs that could be, asked about one after the other.
struct Offers<'c> {
    comply: &'c Comply,
    scratch: Scratch<Comply>,
    /// Whether two signatures break nothing that is enforced.
    known: FxHashMap<(PairKind, u32, u32), bool>,
}

impl Offers<'_> {
    /// Whether a pair that could be breaks no enforced rule.
    fn complies(&mut self, pair: Pair) -> bool {
        let Self { comply, scratch, known } = self;
        let mut ask = || ask(*comply, &comply.enforced(pair), scratch, &mut Silent).hard == 0;
        // Waivers tell pairs apart that rules do not.
        if !comply.waivers().is_empty() {
            return ask();
        }
        let Some(table) = comply.table(pair.kind) else { return true };
        let (a, b) = table.signatures_of(pair.a, pair.b);
        *known.entry((pair.kind, a, b)).or_insert_with(ask)
    }
}
