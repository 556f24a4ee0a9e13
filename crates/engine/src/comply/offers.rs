//! What could be chosen without breaking a policy.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::facts::{Made, ObjectId, Standing};
use super::joint::Joint;
use super::policy::Level;
use super::profile::{End, Given, Kind, Relation};
use super::refusal::Refusal;
use super::schema::TagType;
use super::{Action, Actor, Comply, Decision, Violation};

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
                .resolve(word)
                .err()
                .unwrap_or(Refusal::UnknownKind { written: SmolStr::new(word), nearest: None })),
        }
    }

    /// As [`Self::candidates`], in no particular order.
    pub fn offered(&self, object: ObjectId, kinds: &[Kind], role: Option<ObjectId>) -> Vec<ObjectId> {
        let mut offered = Vec::new();
        if self.object(object).is_none_or(|own| own.standing != Standing::Live) {
            return offered;
        }
        for kind in kinds {
            let Some(objects) = self.by_kind.get(usize::from(kind.0)) else { continue };
            let Some(first) = objects.first().copied() else { continue };
            let (relation, turned) = match (self.relation(object, first), self.relation(first, object)) {
                (Some(relation), _) => (relation, false),
                (None, Some(relation)) => (relation, true),
                (None, None) => continue,
            };
            let Some(relation) = self.profile.relations.get(usize::from(relation)) else { continue };
            let own_scope = self.scope_of(object);
            let mut pairs: Vec<Judged<'_>> = Vec::new();
            for given in &relation.gives {
                if let Some(joint) = self.joints.get(usize::from(given.pair.0)) {
                    pairs.push(Judged {
                        joint,
                        number: given.pair.0,
                        known: FxHashMap::default(),
                        enforced: self.enforced(joint),
                    });
                }
            }
            for other in objects {
                let lives = self.object(*other).is_some_and(|own| own.standing == Standing::Live);
                if !lives || *other == object || !self.is_live(*other) {
                    continue;
                }
                let (a, b) = if turned { (*other, object) } else { (object, *other) };
                let scope = if turned { self.scope_of(a) } else { own_scope };
                let end = |end: End| match end {
                    End::A => Some(a),
                    End::B => Some(b),
                    End::Role => role,
                    End::Scope => scope,
                };
                let judges = |(given, judged): (&Given, &mut Judged<'_>)| {
                    let (Some(first), Some(second)) = (end(given.a), end(given.b)) else { return true };
                    let scope = scope.unwrap_or(ObjectId::NONE);
                    self.complies(judged, Made { joint: judged.number, a: first, b: second, scope })
                };
                if self.is_exempt(scope) || relation.gives.iter().zip(&mut pairs).all(judges) {
                    offered.push(*other);
                }
            }
        }
        offered
    }

    /// The rules of enforced policies, by plane.
    fn enforced(&self, joint: &Joint) -> Vec<u64> {
        let mut words = vec![0; joint.planes.len()];
        for (plane, bit, rule) in joint.rules() {
            let policy = self.policies.get(rule.policy).and_then(Option::as_ref);
            if policy.is_some_and(|policy| policy.level_at(self.now) == Level::Enforce)
                && let Some(word) = words.get_mut(plane)
            {
                *word |= 1 << bit;
            }
        }
        words
    }

    /// Whether a pair that could be breaks no enforced rule. Two signatures are judged once.
    fn complies(&self, judged: &mut Judged<'_>, made: Made) -> bool {
        let signatures = judged.joint.signatures_of(made.a, made.b);
        let breaks = *judged.known.entry(signatures).or_insert_with(|| {
            judged
                .joint
                .planes
                .iter()
                .zip(&judged.enforced)
                .any(|(plane, enforced)| judged.joint.verdict(plane, made.a, made.b, &self.lists) & enforced != 0)
        });
        !breaks || self.is_excused(judged, made)
    }

    /// Whether every enforced rule that a pair would break is covered by a waiver. That it was broken before is no excuse: what
    /// is offered breaks nothing.
    fn is_excused(&self, judged: &Judged<'_>, made: Made) -> bool {
        if self.waivers.all().is_empty() {
            return false;
        }
        judged.joint.rules().all(|(plane, bit, rule)| {
            let enforced = judged.enforced.get(plane).is_some_and(|word| word >> bit & 1 == 1);
            let word =
                judged.joint.planes.get(plane).map_or(0, |own| judged.joint.verdict(own, made.a, made.b, &self.lists));
            let named = || self.name_pair(judged.joint, rule, made.a, made.b, made.scope.some());
            !enforced || word >> bit & 1 == 0 || named().is_some_and(|violation| violation.waiver.is_some())
        })
    }

    /// The enforced rules that would be against relating two objects, in order.
    pub fn against(&self, one: ObjectId, other: ObjectId, role: Option<ObjectId>) -> Vec<Violation> {
        let (a, b) = self.in_order(one, other);
        let Ok(link) = self.shape_link(a, b, role) else { return Vec::new() };
        let mut against = Vec::new();
        for made in self.made_by(&link) {
            let Some(joint) = self.joints.get(usize::from(made.joint)) else { continue };
            for (plane, bit, rule) in joint.rules() {
                let word = joint.planes.get(plane).map_or(0, |own| joint.verdict(own, made.a, made.b, &self.lists));
                if word >> bit & 1 == 1 {
                    against.extend(self.name_pair(joint, rule, made.a, made.b, made.scope.some()));
                }
            }
        }
        against.retain(|violation| violation.level == Level::Enforce && violation.waiver.is_none());
        against.sort();
        against
    }

    /// Two objects in the order in which they are related; as they are if they cannot be.
    pub fn in_order(&self, one: ObjectId, other: ObjectId) -> (ObjectId, ObjectId) {
        match (self.relation(one, other), self.relation(other, one)) {
            (None, Some(_)) => (other, one),
            _ => (one, other),
        }
    }

    /// Whether an object can be related to objects of a kind.
    pub fn can_relate(&self, object: ObjectId, kind: Kind) -> bool {
        let (Some(own), Some(other)) = (self.subject_of(object), self.profile.subject_of(kind)) else { return false };
        let fits =
            |relation: &Relation| (relation.a, relation.b) == (own, other) || (relation.a, relation.b) == (other, own);
        self.profile.relations.iter().any(fits)
    }

    /// Whether two objects are related.
    pub fn are_related(&self, one: ObjectId, other: ObjectId) -> bool {
        let (a, b) = self.in_order(one, other);
        !self.links_between(a, b, None).is_empty()
    }

    /// Whether policies can be about two objects.
    pub fn can_be_judged(&self, one: ObjectId, other: ObjectId) -> bool {
        let (Some(one), Some(other)) = (self.subject_of(one), self.subject_of(other)) else { return false };
        self.profile.pairs.iter().any(|pair| *pair == (one, other) || *pair == (other, one))
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
        for near in self.object(object).map_or(&[][..], |own| &own.pairs) {
            let Some(joint) = self.joints.get(usize::from(near.joint)) else { continue };
            let Some(pair) = joint.pairs.get(near.place as usize) else { continue };
            for (_, _, rule) in joint.rules() {
                let Some(named) = self.name_pair(joint, rule, pair.a, pair.b, pair.scope.some()) else { continue };
                let own = self.reference(object);
                for (side, other) in [(&named.a, &named.b), (&named.b, &named.a)] {
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

/// What is known of the pairs that one relation would make.
struct Judged<'j> {
    joint: &'j Joint,
    number: u8,
    /// Whether two signatures break an enforced rule.
    known: FxHashMap<(u32, u32), bool>,
    /// The rules that count, by plane.
    enforced: Vec<u64>,
}
