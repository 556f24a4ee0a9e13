//! Whether two objects may be related, without touching anything: what gateways ask all the time.

use upheld_engine::Scratch;
use upheld_engine::comply::{Effect, Finding, Link, ObjectId, Question, Trigger};
use upheld_model::{State, Timestamp};

use super::{Asked, Refused};
use crate::{Actor, Decision, Organisation, Outcome, Preexisting};

impl Organisation {
    /// What [`Self::act`] would answer to relating two objects; nothing where more would change than the pairs between them,
    /// which has to be tried out: the second would get default tags, or live in the first.
    pub fn admit(&self, now: Timestamp, actor: &Actor, a: &str, b: &str, role: Option<&str>) -> Option<Decision> {
        let (acting, asked) = asked_in_turn(actor, |role_of| self.asked_link(role_of, a, b, role));
        self.admitted(now, acting, asked)
    }

    /// As [`Self::admit`], for whoever knows the objects already.
    pub fn admit_objects(
        &self,
        now: Timestamp,
        actor: &Actor,
        a: ObjectId,
        b: ObjectId,
        role: Option<ObjectId>,
    ) -> Option<Decision> {
        let (acting, asked) = asked_in_turn(actor, |role_of| self.asked_objects(role_of, a, b, role));
        self.admitted(now, acting, asked)
    }

    /// Whether a new relationship changes more than the pairs between two objects.
    pub(crate) fn changes_more(&self, link: &Link) -> bool {
        let joins_scope = self.comply.kind_of(link.a) == self.profile().scope;
        joins_scope && !self.schema.missing_defaults(&self.comply, link.b).is_empty() || self.comply.owns(link)
    }

    fn admitted(&self, now: Timestamp, actor: &Actor, asked: Result<Asked, Refused>) -> Option<Decision> {
        let decided =
            |outcome, violations| Decision { outcome, violations, refusal: None, tags: None, version: self.version };
        let link = match asked {
            Ok(Asked { link, is_new: true }) => link,
            Ok(Asked { is_new: false, .. }) => return Some(decided(Outcome::Allowed, Vec::new())),
            Err(Refused { outcome, refusal }) => {
                return Some(Decision { refusal: Some(refusal), ..decided(outcome, Vec::new()) });
            }
        };
        if self.changes_more(&link) {
            return None;
        }
        let (comply, profile) = (&*self.comply, self.profile());
        let class = self.class(actor);
        let (mut blocking, mut new, mut scratch) = (Vec::new(), Vec::new(), Scratch::default());
        for pair in comply.made_by(&link) {
            let Some((first, second)) = profile.sides(pair.kind) else { continue };
            // A pair that another relationship makes already violates what it violates.
            let is_new = !comply.is_made(pair);
            let effect = if is_new || self.settings.preexisting == Preexisting::Blocks {
                profile.effect(Trigger::Link, first, second, class)
            } else {
                Effect::Record
            };
            comply.violated_by(&Question { pair, now, effect, accepted: &[] }, &mut scratch, |state, hit| {
                let named = || comply.named(pair, hit.entry, &hit.measure, state, now);
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
        let outcome =
            if new.iter().any(|own: &Finding| own.level.is_told()) { Outcome::Soft } else { Outcome::Allowed };
        Some(decided(outcome, new))
    }
}

/// What the first role may ask for that may, and which it is; the last refusal if none may.
fn asked_in_turn(actor: &Actor, ask: impl Fn(&Actor) -> Result<Asked, Refused>) -> (&Actor, Result<Asked, Refused>) {
    let mut last = (actor, Err(Refused::nobody()));
    for role in actor.roles() {
        let asked = ask(role);
        let goes_on = matches!(&asked, Err(refused) if refused.outcome == Outcome::Forbidden);
        last = (role, asked);
        if !goes_on {
            break;
        }
    }
    last
}
