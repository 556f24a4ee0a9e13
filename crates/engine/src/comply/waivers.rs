//! Waivers, found by what they are about.

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use upheld_model::{Sym, Timestamp};

use super::policy::Waiver;

/// All waivers.
#[derive(Clone, Debug, Default)]
pub(super) struct Waivers {
    all: Vec<Waiver>,
    /// The names of all of them.
    names: Vec<Sym>,
    /// By policy and the first object that they name; those that name none are under the empty text.
    about: FxHashMap<SmolStr, FxHashMap<SmolStr, Vec<usize>>>,
    /// The objects that some of them name.
    objects: FxHashSet<SmolStr>,
}

/// What a waiver has to match: references in the order of the policy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Covered<'v> {
    pub(super) policy: &'v str,
    pub(super) a: &'v str,
    pub(super) b: &'v str,
    pub(super) scope: Option<&'v str>,
}

impl Waivers {
    pub(super) fn all(&self) -> &[Waiver] {
        &self.all
    }

    /// Adds one, whose name has this symbol; `false` if there is one of that name.
    pub(super) fn add(&mut self, waiver: Waiver, name: Sym) -> bool {
        if self.names.contains(&name) {
            return false;
        }
        let named = || [&waiver.a, &waiver.b, &waiver.scope].into_iter().flatten();
        let anchor = named().next().cloned().unwrap_or_default();
        self.objects.extend(named().cloned());
        self.about.entry(waiver.policy.clone()).or_default().entry(anchor).or_default().push(self.all.len());
        self.all.push(waiver);
        self.names.push(name);
        true
    }

    /// All but one; `None` if there is none of that name.
    pub(super) fn without(&self, name: &str) -> Option<Self> {
        let mut rest = Self::default();
        for (waiver, symbol) in self.all.iter().zip(&self.names).filter(|(waiver, _)| waiver.id != name) {
            rest.add(waiver.clone(), *symbol);
        }
        (rest.all.len() < self.all.len()).then_some(rest)
    }

    /// The objects that some of them name, as references.
    pub(super) fn objects(&self) -> impl Iterator<Item = &SmolStr> {
        self.objects.iter()
    }

    /// Whether any of them names an object: else they are about whole policies.
    pub(super) fn mention_any(&self) -> bool {
        !self.objects.is_empty()
    }

    /// Whether any of them names this object.
    pub(super) fn mention(&self, object: &str) -> bool {
        self.objects.contains(object)
    }

    /// Whether there is any for a policy.
    pub(super) fn concern(&self, policy: &str) -> bool {
        !self.about.is_empty() && self.about.contains_key(policy)
    }

    /// The name of the first waiver in force that covers a violation, in the order in which they came.
    pub(super) fn covering(&self, covered: Covered<'_>, now: Timestamp) -> Option<Sym> {
        let about = self.about.get(covered.policy)?;
        let anchors = [Some(covered.a), Some(covered.b), covered.scope, Some("")].into_iter().flatten();
        let mut places: Vec<usize> = anchors.filter_map(|anchor| about.get(anchor)).flatten().copied().collect();
        places.sort_unstable();
        let fits = |wanted: &Option<SmolStr>, own: Option<&str>| wanted.as_deref().is_none_or(|w| Some(w) == own);
        let covers = |place: &usize| {
            self.all.get(*place).is_some_and(|waiver| {
                fits(&waiver.a, Some(covered.a))
                    && fits(&waiver.b, Some(covered.b))
                    && fits(&waiver.scope, covered.scope)
                    && waiver.in_force(now)
            })
        };
        places.into_iter().find(covers).and_then(|place| self.names.get(place)).copied()
    }
}
