//! What would fix a violation. Every proposal was tried: it is accepted, ends the violation and begins none.
//!
//! ```text
//! a violation ──▶ values that one side could have      propose (alone: of single objects), harm
//!             ──▶ tried as the change that they are    search (with more tags of that object, where others are in the way)
//! all of them ──▶ few edits that end most of them      remedy
//! ```

mod alone;
mod harm;
mod propose;
mod remedy;
mod search;

use smol_str::SmolStr;
use upheld_engine::comply::{Class, Finding, ObjectId, Tags};

pub use self::harm::Harm;
pub use self::remedy::Remedy;
use crate::{Action, Actor, NewObject, Organisation, Refusal, Trial};

/// Who looks for fixes, and what these may cost.
#[derive(Clone, Debug)]
pub struct Seeker {
    /// Who asks.
    pub viewer: Actor,
    /// What fixes may do although somebody could be harmed by it.
    pub allowed: Vec<Harm>,
    /// Where violations count; everywhere when left out.
    pub scopes: Option<Vec<ObjectId>>,
}

impl Seeker {
    /// Somebody who wants no harm done.
    pub fn new(viewer: Actor) -> Self {
        Self { viewer, allowed: Vec::new(), scopes: None }
    }

    fn takes(&self, harms: &[Harm]) -> bool {
        harms.iter().all(|harm| self.allowed.contains(harm))
    }
}

/// What would fix a violation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fixes {
    /// The ways, the simplest first.
    pub ways: Vec<Fix>,
    /// If there is none, what is in the way of those that come to mind.
    pub obstacles: Vec<Obstacle>,
}

/// A way to fix a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What to change, all at once.
    pub edits: Vec<Edit>,
    /// Who can.
    pub by: By,
    /// How many violations it ends that no waiver covers, this one included.
    pub ends: usize,
    /// What it does to others.
    pub harms: Vec<Harm>,
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

/// Why an edit that comes to mind is no fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It would fix it, and harms others.
    Harms {
        /// The edits.
        edits: Vec<Edit>,
        /// By what.
        harms: Vec<Harm>,
        /// Who could.
        by: By,
    },
    /// Policies are against it.
    Policies {
        /// The edits.
        edits: Vec<Edit>,
        /// Their names.
        policies: Vec<SmolStr>,
    },
    /// It makes no sense, or nobody may.
    Refused {
        /// The edits.
        edits: Vec<Edit>,
        /// Why.
        refusal: Refusal,
    },
    /// It is the same as with another object.
    Like {
        /// Which.
        object: SmolStr,
    },
    /// No value comes to mind that would end it.
    NoValue,
    /// Nobody looked.
    NotSought,
}

impl Obstacle {
    /// Its code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Harms { .. } => "fix.harms",
            Self::Policies { .. } => "fix.policies",
            Self::Refused { .. } => "fix.refused",
            Self::Like { .. } => "fix.like",
            Self::NoValue => "fix.no-value",
            Self::NotSought => "fix.not-sought",
        }
    }
}

impl Trial {
    /// Ways to fix a violation, the simplest first: those that spell a value right, few edits, no administrator, nothing removed.
    pub fn fixes(&mut self, seeker: &Seeker, violation: &Finding) -> Fixes {
        let fixes = self.ways_out(seeker, violation, None);
        self.organisation.settle();
        fixes
    }

    /// Ways out of a violation that refuses an action, the simplest first: other values in the action itself, or an edit before it. Each was
    /// tried as that change: it is accepted then, and begins nothing that the action would not begin anyway.
    pub fn ways(&mut self, seeker: &Seeker, action: &Action, violation: &Finding) -> Fixes {
        let fixes = self.ways_out(seeker, violation, Some(action));
        self.organisation.settle();
        fixes
    }
}

impl Organisation {
    /// Who makes an edit: the one who asks, or an administrator.
    pub fn actor_for(&self, viewer: &Actor, by: By) -> Actor {
        let administrator = self.profile().role_of(Class::Administrator).filter(|_| by == By::Administrator);
        administrator.map_or_else(|| viewer.clone(), |role| Actor::Person { role, scope: None, name: None })
    }

    /// The actions that edits are: all tags of an object change at once.
    pub fn actions_of(&self, edits: &[Edit]) -> Vec<Action> {
        let mut actions: Vec<Action> = Vec::new();
        for edit in edits {
            match edit {
                Edit::Unlink { a, b } => actions.push(Action::Unlink { a: a.clone(), b: b.clone(), role: None }),
                Edit::Tag { object, tag, .. } => {
                    let values = edit.applied(&self.values_before(object, tag));
                    let own = actions.iter_mut().find_map(|action| match action {
                        Action::SetTags { object: known, tags } if known == object => Some(tags),
                        _ => None,
                    });
                    match own {
                        Some(tags) => tags.push((tag.clone(), values)),
                        None => {
                            let tags: Tags = vec![(tag.clone(), values)];
                            actions.push(Action::SetTags { object: object.clone(), tags });
                        }
                    }
                }
            }
        }
        actions
    }

    /// The action with what edits change, if it is the action itself that says all of that.
    pub fn asked_with(&self, action: &Action, edits: &[Edit]) -> Option<Action> {
        with_edits(action, edits)
    }

    fn values_before(&self, object: &str, tag: &str) -> Vec<SmolStr> {
        let object = self.comply.lookup(object).ok();
        object.map_or_else(Vec::new, |object| self.comply.texts(self.comply.values_of(object, tag)))
    }
}

impl Edit {
    /// The values of a tag after an edit of it.
    pub fn applied(&self, before: &[SmolStr]) -> Vec<SmolStr> {
        let Self::Tag { add, remove, .. } = self else { return before.to_vec() };
        let kept = before.iter().filter(|value| !remove.contains(value) && !add.contains(value));
        kept.chain(add).cloned().collect()
    }
}

/// The action with what edits change, if it is the action itself that says all of that.
fn with_edits(action: &Action, edits: &[Edit]) -> Option<Action> {
    let own = match action {
        Action::SetTags { object, .. } => object,
        Action::Create(new) => &new.object,
        _ => return None,
    };
    let is_own = |edit: &Edit| matches!(edit, Edit::Tag { object, .. } if object == own);
    if !edits.iter().all(is_own) {
        return None;
    }
    let changed = |tags: &Tags| {
        let mut tags = tags.clone();
        for edit in edits {
            let Edit::Tag { tag, .. } = edit else { continue };
            let place = tags.iter().position(|(key, _)| key == tag);
            let before = place.and_then(|place| tags.get(place)).map(|(_, values)| values.clone());
            let values = edit.applied(&before.unwrap_or_default());
            match place.and_then(|place| tags.get_mut(place)) {
                Some((_, own)) => *own = values,
                None => tags.push((tag.clone(), values)),
            }
        }
        tags
    };
    match action {
        Action::SetTags { object, tags } => Some(Action::SetTags { object: object.clone(), tags: changed(tags) }),
        Action::Create(new) => Some(Action::Create(NewObject { tags: changed(&new.tags), ..new.clone() })),
        _ => None,
    }
}
