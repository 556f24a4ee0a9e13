//! Whether two objects may be related, without touching anything: what gateways ask all the time.

use upheld_model::State;

use super::super::family::Question;
use super::super::policy::Level;
use super::super::profile::{Effect, Trigger};
use super::super::{Actor, Comply, Decision, Finding, ObjectId, Outcome, Preexisting};
use super::{Asked, Refused};
use crate::ask::Scratch;

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
        let (mut blocking, mut new, mut scratch) = (Vec::new(), Vec::new(), Scratch::default());
        for pair in self.made_by(&link) {
            let Some((first, second)) = self.profile.pairs.get(usize::from(pair.kind.0)) else { continue };
            // A pair that another relationship makes already violates what it violates.
            let is_new = !self.is_made(pair);
            let effect = if is_new || self.settings.preexisting == Preexisting::Blocks {
                self.profile.effect(Trigger::Link, *first, *second, class)
            } else {
                Effect::Record
            };
            let question = Question { pair, now: self.now, effect, accepted: &[] };
            self.violated_by(&question, &mut scratch, |state, hit| {
                let named = || self.named(pair, hit.entry, &hit.measure, state, self.now);
                match state {
                    State::Hard => blocking.extend(named()),
                    State::Soft if is_new => new.extend(named()),
                    _ => {}
                }
            });
        }
        if !blocking.is_empty() {
            blocking.sort();
            return Some(decided(Outcome::Blocked, blocking));
        }
        new.sort();
        let tells = |violation: &Finding| matches!(violation.level, Level::Enforce | Level::Warn);
        let outcome = if new.iter().any(tells) { Outcome::Soft } else { Outcome::Allowed };
        Some(decided(outcome, new))
    }
}
