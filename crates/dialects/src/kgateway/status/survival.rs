//! At how many places each field of a policy holds.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_engine::PolicyId;
use upheld_engine::hierarchy::{Effective, Entry};

use super::Tally;
use crate::gateway_api::survey::{Cell, Survey};
use crate::kgateway::fields::said;

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
    /// Counts places at which every scope was folded by itself.
    pub(super) fn count(&mut self, answer: &Effective, places: usize) {
        for place in 0..answer.order.len() {
            let Some(entry) = self.entry(answer, place) else { continue };
            let holds = |field: &str| {
                let joined = answer.scopes.iter().filter_map(|(_, folded)| folded.fields.get(field));
                joined.into_iter().any(|joined| joined.origins.binary_search(&place).is_ok())
            };
            self.survival.add(entry, places, holds);
        }
    }

    /// At how many ways of requests each field holds: what a status hides, because it looks at one scope at a time.
    pub(super) fn survive_on_ways(&mut self) {
        let mut survey = Survey::default();
        self.network.survey_ways(self.kind, &mut survey, |_, _| {});
        let mut reached = Survivals::default();
        for Cell { answer, size } in survey.cells() {
            let policy = |place: &usize| self.entry(answer, *place).map(|entry| entry.policy);
            let speaking = answer.fields.iter().flat_map(|field| field.by.iter().map(|place| (place, &field.name)));
            let mut holding: Vec<(PolicyId, &str)> =
                speaking.filter_map(|(place, name)| Some((policy(place)?, name.as_str()))).collect();
            holding.sort_unstable();
            for (policy, entry) in self.policies(answer) {
                reached.add(entry, *size, |name| holding.binary_search(&(policy, name)).is_ok());
            }
        }
        self.survival.counted.extend(reached.counted);
    }
}
