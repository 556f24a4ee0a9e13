//! All rules of one proxy, as an inspection endpoint lists them.

use std::hint::black_box;
use std::time::Duration;

use upheld_dialects::kuma::rules::Rules;
use upheld_engine::merge::audience::parts_of;
use upheld_engine::merge::{AdmitScratch, Admitted, Subject};
use upheld_model::Role;

/// What was listed. The rules themselves are given up again: those of ten thousand proxies would not fit into memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    /// Policies that match.
    pub(super) matching: usize,
    /// Resources with a rule.
    pub(super) resources: usize,
    /// Cells of services and clients.
    pub(super) cells: usize,
    /// Layers of all rules for resources, to tell answers apart.
    pub(super) layers: usize,
}

/// Lists everything, with policies found through the index.
pub(super) fn all_rules(rules: &[Rules<'_>], proxy: Subject<'_>, scratch: &mut AdmitScratch) -> Result<Listed, String> {
    let mut listed = Listed::default();
    for rules in rules {
        let matched = rules.matched_with(proxy, scratch);
        list(rules, proxy, &matched, &mut listed)?;
    }
    Ok(listed)
}

/// Lists everything for each of some proxies; with how many alternatives of policies were looked at.
pub(super) fn list_each(subjects: &[Subject<'_>], rules: &[Rules<'_>]) -> Result<(Vec<Listed>, u64), String> {
    let mut scratch = AdmitScratch::default();
    let listed: Result<Vec<Listed>, String> =
        subjects.iter().map(|subject| all_rules(rules, *subject, &mut scratch)).collect();
    Ok((listed?, scratch.looked_at))
}

/// Lists everything, with every policy held against the proxy: no index, no classes.
pub(super) fn all_rules_naively(rules: &[Rules<'_>], proxy: Subject<'_>) -> Result<Listed, String> {
    let mut listed = Listed::default();
    for rules in rules {
        let matched = matched_naively(rules, proxy);
        list(rules, proxy, &matched, &mut listed)?;
    }
    Ok(listed)
}

/// The policies that match, the lowest priority first, found by holding every one against the proxy.
pub(super) fn matched_naively(rules: &Rules<'_>, proxy: Subject<'_>) -> Vec<Admitted> {
    let audiences = rules.merge.audiences();
    let mut matched: Vec<Admitted> = Vec::new();
    for (slot, _) in rules.merge.policies() {
        let parts = audiences.of(slot).iter().filter_map(|audience| parts_of(audience, proxy).ok());
        let mut parts: Vec<u32> = parts.flatten().collect();
        parts.sort_unstable();
        parts.dedup();
        if !parts.is_empty() {
            matched.push(Admitted { slot, parts });
        }
    }
    let mut slots: Vec<u32> = matched.iter().map(|admitted| admitted.slot).collect();
    rules.merge.rank_policies(&mut slots);
    let place = |slot: u32| slots.iter().rev().position(|known| *known == slot);
    matched.sort_by_cached_key(|admitted| place(admitted.slot));
    matched
}

/// Everything that the policies of one kind come to, given those that match from the lowest priority.
fn list(rules: &Rules<'_>, proxy: Subject<'_>, matched: &[Admitted], listed: &mut Listed) -> Result<(), String> {
    let too_many = |error| format!("a listing is too long: {error:?}");
    let slots: Vec<u32> = matched.iter().map(|admitted| admitted.slot).collect();
    listed.matching += slots.len();
    black_box(rules.proxy_rule(&slots));
    let resources = rules.resource_rules(&slots);
    listed.resources += resources.len();
    listed.layers += resources.iter().map(|(_, rule)| rule.entries.len()).sum::<usize>();
    let services = rules.service_rules(&slots).map_err(too_many)?;
    listed.cells += black_box(services).len();
    for (part, _) in (0_u32..).zip(proxy.parts).filter(|(_, part)| part.role == Role::Inbound) {
        let here: Vec<u32> = matched.iter().filter(|one| one.has(part)).map(|one| one.slot).collect();
        let clients = rules.client_rules(&here).map_err(too_many)?;
        listed.cells += black_box(clients).len();
        black_box(rules.inbound_rules(&here));
    }
    Ok(())
}

/// The share of one.
pub(super) fn each(all: Duration, count: usize) -> Duration {
    all / u32::try_from(count.max(1)).unwrap_or(u32::MAX)
}
