//! At how many places each field of a policy holds.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_engine::PolicyId;
use upheld_engine::hierarchy::Entry;

use super::{Part, Tally};
use crate::gateways::gateway_api::survey::Cell;
use crate::gateways::kgateway::fields::said;

/// At how many places a field of a policy holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survival {
    /// The field.
    pub field: SmolStr,
    /// At how many places the policy is attached: matches, hosts, route configurations, backends.
    pub targets: usize,
    /// At how many of them the field is a part of the result.
    pub survives: usize,
}

/// Counts by policy.
#[derive(Debug, Default)]
pub(super) struct Survivals {
    counted: FxHashMap<PolicyId, Vec<Survival>>,
}

impl Survivals {
    /// Counts places at which an entry is attached.
    fn add(&mut self, entry: &Entry, places: usize, mut holds: impl FnMut(&str) -> bool) {
        let counts = self.counted.entry(entry.policy).or_default();
        for (field, _) in said(entry) {
            let survives = if holds(field) { places } else { 0 };
            match counts.iter_mut().find(|known| known.field == *field) {
                Some(known) => {
                    known.targets += places;
                    known.survives += survives;
                }
                None => counts.push(Survival { field: field.clone(), targets: places, survives }),
            }
        }
    }

    /// The counts of a policy, by field.
    pub(super) fn of(&self, policy: PolicyId) -> Vec<Survival> {
        let mut counts = self.counted.get(&policy).cloned().unwrap_or_default();
        counts.sort_unstable_by(|one, other| one.field.cmp(&other.field));
        counts
    }
}

impl Tally<'_> {
    /// Counts places at which scopes were folded by themselves.
    pub(super) fn count(&mut self, part: &Part<'_>, places: usize) {
        for place in part.places.clone() {
            let Some(entry) = self.entry(part.answer, place) else { continue };
            let holds = |field: &str| {
                let joined = part.scopes.iter().filter_map(|own| own.folded.get(field));
                joined.into_iter().any(|joined| joined.origins.binary_search(&place).is_ok())
            };
            self.survival.add(entry, places, holds);
        }
    }

    /// At how many ways of requests each field holds: what a status hides, because it looks at one scope at a time.
    pub(super) fn survive_on_ways(&mut self, ways: &[Cell]) {
        let mut reached = Survivals::default();
        for Cell { answer, size } in ways {
            let policy = |place: &usize| self.entry(answer, *place).map(|entry| entry.policy);
            let speaking = answer.fields.iter().flat_map(|field| field.by.iter().map(|place| (place, &field.name)));
            let mut holding: Vec<(PolicyId, &str)> =
                speaking.filter_map(|(place, name)| Some((policy(place)?, name.as_str()))).collect();
            holding.sort_unstable();
            for (policy, entry) in self.policies(&Part::whole(answer)) {
                reached.add(entry, *size, |name| holding.binary_search(&(policy, name)).is_ok());
            }
        }
        self.survival.counted.extend(reached.counted);
    }
}
