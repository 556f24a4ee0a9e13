//! Whether two objects may be related, without touching anything: what gateways ask all the time.

use super::super::facts::Made;
use super::super::joint::RuleSlot;
use super::super::listing::bits;
use super::super::policy::Level;
use super::super::profile::{Deed, Effect};
use super::super::{Actor, Comply, Decision, ObjectId, Outcome, Preexisting, Violation};
use super::{Asked, Refused};

impl Comply {
    /// What [`Self::act`] would answer to relating two objects; nothing where more would change than the pairs between them,
    /// which has to be tried out: the second would get default tags, or live in the first.
    pub fn admit(&self, actor: &Actor, a: &str, b: &str, role: Option<&str>) -> Option<Decision> {
        self.admitted(actor, self.asked_link(actor, a, b, role))
    }

    /// As [`Self::admit`], for whoever knows the objects already.
    pub fn admit_objects(&self, actor: &Actor, a: ObjectId, b: ObjectId, role: Option<ObjectId>) -> Option<Decision> {
        self.admitted(actor, self.asked_objects(actor, a, b, role))
    }

    fn admitted(&self, actor: &Actor, asked: Result<Asked, Refused>) -> Option<Decision> {
        let decided =
            |outcome, violations| Decision { outcome, violations, refusal: None, tags: None, version: self.version };
        let link = match asked {
            Ok(Asked { link, is_new: true }) => link,
            Ok(Asked { is_new: false, .. }) => return Some(decided(Outcome::Allowed, Vec::new())),
            Err(Refused { outcome, refusal }) => {
                return Some(Decision { refusal: Some(refusal), ..decided(outcome, Vec::new()) });
            }
        };
        let gets_defaults = self.kind_of(link.a) == self.profile.scope && !self.with_defaults(link.b).is_empty();
        if gets_defaults || self.owns(&link) {
            return None;
        }
        let class = self.class(actor);
        let (mut blocking, mut new) = (Vec::new(), Vec::new());
        for made in self.made_by(&link) {
            let Some((first, second)) = self.profile.pairs.get(usize::from(made.joint)) else { continue };
            // A pair that another relationship makes already violates what it violates.
            let is_new = self.slot_of(made).is_none();
            let blocks = self.profile.effect(Deed::Link, *first, *second, class) == Effect::Block
                && (is_new || self.settings.preexisting == Preexisting::Blocks);
            self.each_violated(made, |violation| {
                if blocks && violation.level == Level::Enforce {
                    blocking.push(violation);
                } else if is_new {
                    new.push(violation);
                }
            });
        }
        if !blocking.is_empty() {
            blocking.sort();
            return Some(decided(Outcome::Blocked, blocking));
        }
        new.sort();
        let tells = |violation: &Violation| matches!(violation.level, Level::Enforce | Level::Warn);
        let outcome = if new.iter().any(tells) { Outcome::Soft } else { Outcome::Allowed };
        Some(decided(outcome, new))
    }

    /// Every rule that a pair violates or would violate, and that no waiver covers.
    fn each_violated(&self, made: Made, mut tell: impl FnMut(Violation)) {
        let Some(joint) = self.joints.get(usize::from(made.joint)) else { return };
        for plane in &joint.planes {
            let word = joint.verdict(plane, made.a, made.b, &self.lists);
            let rules = bits(word).filter_map(|bit| plane.rule(bit));
            let name = |rule: &RuleSlot| self.name_pair(joint, rule, made.a, made.b, made.scope.some());
            rules.filter_map(name).filter(|violation| violation.waiver.is_none()).for_each(&mut tell);
        }
    }
}
