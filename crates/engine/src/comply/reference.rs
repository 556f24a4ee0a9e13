//! The naive twin of the family: references and values are texts, every relationship is looked at, every policy is held
//! against every pair. Obviously right, and slow.
//!
//! It shares no code with the engine, and knows the two editions by heart where the engine reads them from a profile. Tests
//! compare the two; benches print the ratio.

pub mod editions;
mod facts;
#[cfg(any(test, feature = "random"))]
pub mod random;

use std::collections::{BTreeMap, BTreeSet};

use upheld_model::{State, Timestamp};

use super::policy::{Level, Strategy};

/// Which pairs there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NaiveEdition {
    /// Four pairs, whose sides may change places.
    Classic,
    /// Eight pairs, the first side with the say.
    Current,
    /// The same, and objects by themselves; policies may be cut to some objects.
    Scoped,
}

/// Everything that an audit looks at.
#[derive(Clone, Debug)]
pub struct NaiveOrganisation {
    /// Which pairs there are.
    pub edition: NaiveEdition,
    /// When.
    pub now: Timestamp,
    /// Scopes that are left alone with all that lives in them.
    pub exempt: BTreeSet<String>,
    /// Live objects by reference, `kind/id`, with the values of their tags in order.
    pub objects: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// Relationships.
    pub links: BTreeSet<NaiveLink>,
    /// Policies.
    pub policies: Vec<NaivePolicy>,
    /// Waivers in the order in which they came.
    pub waivers: Vec<NaiveWaiver>,
}

/// A relationship.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NaiveLink {
    /// One side.
    pub a: String,
    /// The other.
    pub b: String,
    /// What qualifies it.
    pub role: Option<String>,
}

/// A policy.
#[derive(Clone, Debug)]
pub struct NaivePolicy {
    /// Its name.
    pub id: String,
    /// What the first side is.
    pub a: String,
    /// What the second side is.
    pub b: String,
    /// Tags of the first side held against tags of the second.
    pub rules: Vec<(String, String)>,
    /// What must hold.
    pub strategy: Strategy,
    /// The values that those of single objects are held against.
    pub values: Vec<String>,
    /// What both sides are cut to.
    pub only: [NaiveSelection; 2],
    /// How seriously it is taken.
    pub level: Level,
    /// Until then it only warns where it would refuse.
    pub enforce_from: Option<Timestamp>,
}

/// Which objects count: some, or all where nothing is said, but for others.
#[derive(Clone, Debug)]
pub struct NaiveSelection {
    /// Those of which one has to fit.
    pub among: Vec<NaiveSelector>,
    /// Those of which none may.
    pub except: Vec<NaiveSelector>,
}

/// Fits objects; what is left out fits everything.
#[derive(Clone, Debug)]
pub struct NaiveSelector {
    /// Tags with values of which one must be there.
    pub tags: Vec<(String, Vec<String>)>,
    /// References of objects.
    pub objects: Vec<String>,
    /// References of what they live in.
    pub scopes: Vec<String>,
}

/// A waiver; what is left out fits everything.
#[derive(Clone, Debug)]
pub struct NaiveWaiver {
    /// Its name.
    pub id: String,
    /// Of which policy.
    pub policy: String,
    /// The first side.
    pub a: Option<String>,
    /// The second side.
    pub b: Option<String>,
    /// The scope.
    pub scope: Option<String>,
    /// Why.
    pub reason: String,
    /// From when.
    pub not_before: Option<Timestamp>,
    /// Until when.
    pub expires: Option<Timestamp>,
}

/// A rule that does not hold, ordered as people read them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NaiveViolation {
    /// Where.
    pub scope: Option<String>,
    /// The policy.
    pub policy: String,
    /// The rule, from 0.
    pub rule: usize,
    /// The first side of the policy.
    pub a: String,
    /// Its values in order.
    pub a_values: Vec<String>,
    /// The second side.
    pub b: String,
    /// Its values in order.
    pub b_values: Vec<String>,
    /// How seriously the policy is taken now.
    pub level: Level,
    /// What becomes of it: relating two objects is refused in both editions when an end-user does it.
    pub state: State,
    /// The first waiver in force that covers it.
    pub waiver: Option<String>,
}

/// Two objects that policies look at, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NaivePair {
    /// The side that comes first in the edition.
    pub a: String,
    /// The other.
    pub b: String,
    /// Where.
    pub scope: Option<String>,
}

/// Whether values comply: both sides without any do, one side without any never does. Single objects are held against the values of
/// their policy.
pub fn holds(strategy: Strategy, a: &[String], b: &[String]) -> bool {
    let all_named = a.iter().all(|value| b.contains(value));
    match strategy {
        Strategy::Present => return !a.is_empty(),
        Strategy::Among => return all_named,
        Strategy::PresentAmong => return all_named && !a.is_empty(),
        Strategy::Intersection | Strategy::Subset => {}
    }
    match (a.is_empty(), b.is_empty()) {
        (true, true) => true,
        (true, false) | (false, true) => false,
        (false, false) => match strategy {
            Strategy::Subset => b.iter().all(|value| a.contains(value)),
            _ => a.iter().any(|value| b.contains(value)),
        },
    }
}

/// What an object counts as in policies.
fn subject(reference: &str) -> &str {
    match reference.split_once('/').map_or(reference, |(kind, _)| kind) {
        "user" | "group" => "principal",
        kind => kind,
    }
}

/// What policies can be about by itself.
const SINGLE: [&str; 4] = ["workspace", "project", "landingZone", "principal"];

impl NaiveOrganisation {
    /// Every violation, waived ones too, in order.
    pub fn violations(&self) -> Vec<NaiveViolation> {
        let mut found = Vec::new();
        for pair in self.pairs() {
            for policy in self.policies.iter().filter(|policy| policy.level != Level::Off) {
                let pair_subjects = (subject(&pair.a), subject(&pair.b));
                if pair_subjects == (&policy.a, &policy.b) {
                    self.hold(policy, &pair.a, &pair.b, pair.scope.as_deref(), &mut found);
                } else if self.edition == NaiveEdition::Classic && pair_subjects == (&policy.b, &policy.a) {
                    self.hold(policy, &pair.b, &pair.a, pair.scope.as_deref(), &mut found);
                }
            }
        }
        found.sort();
        found
    }

    /// The pairs that relationships make, each once for its scope.
    pub fn pairs(&self) -> BTreeSet<NaivePair> {
        let mut pairs = BTreeSet::new();
        for link in &self.links {
            let scope = self.scope_of(&link.a);
            if !self.objects.contains_key(&link.a)
                || !self.objects.contains_key(&link.b)
                || scope.is_some_and(|scope| self.exempt.contains(scope))
            {
                continue;
            }
            let mut add = |a: &str| {
                let (a, b, scope) = (a.to_owned(), link.b.clone(), scope.map(str::to_owned));
                pairs.insert(NaivePair { a, b, scope });
            };
            add(&link.a);
            if self.edition == NaiveEdition::Classic {
                continue;
            }
            if let Some(role) = link.role.as_ref().filter(|role| self.objects.contains_key(*role)) {
                add(role);
            }
            // What a project uses, its workspace uses.
            let offered = matches!(subject(&link.b), "landingZone" | "buildingBlockDefinition");
            if let Some(scope) = scope.filter(|_| offered && subject(&link.a) == "project") {
                add(scope);
            }
        }
        if self.edition == NaiveEdition::Scoped {
            let lives = |object: &&String| self.scope_of(object).is_none_or(|scope| !self.exempt.contains(scope));
            for object in self.objects.keys().filter(|object| SINGLE.contains(&subject(object))).filter(lives) {
                let scope = self.scope_of(object).map(str::to_owned);
                pairs.insert(NaivePair { a: object.clone(), b: object.clone(), scope });
            }
        }
        pairs
    }

    /// Whether a policy counts for an object of a side.
    fn counts(&self, only: &NaiveSelection, object: &str) -> bool {
        let NaiveSelection { among, except } = only;
        let fits = |selector: &NaiveSelector| self.fits(selector, object);
        (among.is_empty() || among.iter().any(fits)) && !except.iter().any(fits)
    }

    fn fits(&self, selector: &NaiveSelector, object: &str) -> bool {
        let NaiveSelector { tags, objects, scopes } = selector;
        let names = |all: &[String], own: Option<&str>| {
            all.is_empty() || own.is_some_and(|own| all.iter().any(|wanted| wanted == own))
        };
        let tagged =
            |(tag, wanted): &(String, Vec<String>)| self.values(object, tag).iter().any(|value| wanted.contains(value));
        tags.iter().all(tagged) && names(objects, Some(object)) && names(scopes, self.scope_of(object))
    }

    /// A workspace is its own scope, a project lives in one.
    fn scope_of<'o>(&'o self, object: &'o str) -> Option<&'o str> {
        match subject(object) {
            "workspace" => Some(object),
            "project" => {
                let owner = self.links.iter().find(|link| subject(&link.a) == "workspace" && link.b == object);
                owner.map(|link| link.a.as_str())
            }
            _ => None,
        }
    }

    fn hold(&self, policy: &NaivePolicy, a: &str, b: &str, scope: Option<&str>, found: &mut Vec<NaiveViolation>) {
        let [first, second] = &policy.only;
        if !self.counts(first, a) || !self.counts(second, b) {
            return;
        }
        for (rule, (a_tag, b_tag)) in policy.rules.iter().enumerate() {
            let a_values = self.values(a, a_tag);
            let b_values = if a == b { policy.values.clone() } else { self.values(b, b_tag) };
            if holds(policy.strategy, &a_values, &b_values) {
                continue;
            }
            let waiver = self.waivers.iter().find(|waiver| self.covers(waiver, &policy.id, a, b, scope));
            let waits = policy.enforce_from.is_some_and(|from| self.now < from);
            let level = if waits && policy.level == Level::Enforce { Level::Warn } else { policy.level };
            let state = match (waiver, level) {
                (Some(_), _) => State::Off,
                (None, Level::Enforce) => State::Hard,
                (None, _) => State::Soft,
            };
            found.push(NaiveViolation {
                scope: scope.map(str::to_owned),
                policy: policy.id.clone(),
                rule,
                a: a.to_owned(),
                a_values,
                b: b.to_owned(),
                b_values,
                level,
                state,
                waiver: waiver.map(|waiver| waiver.id.clone()),
            });
        }
    }

    fn values(&self, object: &str, tag: &str) -> Vec<String> {
        self.objects.get(object).and_then(|tags| tags.get(tag)).cloned().unwrap_or_default()
    }

    fn covers(&self, waiver: &NaiveWaiver, policy: &str, a: &str, b: &str, scope: Option<&str>) -> bool {
        let wants = |wanted: &Option<String>, own: Option<&str>| match wanted {
            Some(wanted) => own == Some(wanted.as_str()),
            None => true,
        };
        let begun = waiver.not_before.is_none_or(|from| self.now >= from);
        let ended = waiver.expires.is_some_and(|until| self.now >= until);
        waiver.policy == policy
            && !waiver.reason.trim().is_empty()
            && begun
            && !ended
            && wants(&waiver.a, Some(a))
            && wants(&waiver.b, Some(b))
            && wants(&waiver.scope, scope)
    }
}
