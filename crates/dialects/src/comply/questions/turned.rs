//! What violates now, in numbers, and what began and ended to violate between two snapshots: for those who watch.

use std::collections::BTreeMap;

use serde::Serialize;
use smol_str::SmolStr;
use upheld_engine::Snapshot;
use upheld_engine::comply::{Complied, Finding, FindingName};
use upheld_model::{State, Sym, Timestamp};
use upheld_report::compliance::{Check, CheckState, Level, Severity, check_of, standing};

use super::audit::{AuditQuestion, Narrowed, narrowed};
use super::{Organisation, Organisations};

/// How many violations of a policy there are.
#[derive(Clone, Debug, Default)]
pub struct ViolationCounts {
    /// Its name.
    pub policy: String,
    /// What becomes of violations.
    pub level: &'static str,
    /// How bad they are; `none` if it does not say.
    pub severity: &'static str,
    /// By state, those without any too: a line that vanishes would leave an old number standing.
    pub by_state: [(&'static str, usize); 3],
}

/// The next moment after this one at which something is judged otherwise by the clock alone.
pub fn next_turn(snapshot: &Snapshot, now: Timestamp) -> Option<Timestamp> {
    snapshot.complies().filter_map(|(_, comply)| comply.next_turn(now)).min()
}

/// How many violations there are of every policy, at a moment.
pub fn violation_counts(snapshot: &Snapshot, now: Timestamp) -> Vec<ViolationCounts> {
    let mut all = Vec::new();
    for (_, documented) in snapshot.companion::<Organisations>().into_iter().flat_map(Organisations::iter) {
        let organisation = &documented.organisation;
        let counts = organisation.violations_by_policy(now);
        all.extend(organisation.comply().policies().into_iter().map(|policy| {
            let Complied { hard, soft, waived } = counts.get(&policy.id).copied().unwrap_or_default();
            let severity = policy.severity.as_deref().and_then(Severity::of);
            ViolationCounts {
                policy: policy.id.to_string(),
                level: policy.level_at(now).word(),
                severity: severity.map_or("none", Severity::name),
                by_state: [
                    (CheckState::Hard.name(), hard),
                    (CheckState::Soft.name(), soft),
                    (CheckState::Waived.name(), waived),
                ],
            }
        }));
    }
    all
}

/// What began and ended to violate in one workspace.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Turned {
    /// Which one; nothing for what belongs to none.
    pub workspace: Option<String>,
    /// What violates now and did not.
    pub opened: Vec<TurnedViolation>,
    /// What violated and does not any more, or is excused.
    pub closed: Vec<TurnedViolation>,
}

/// A violation that began or ended.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnedViolation {
    /// Its fingerprint.
    pub id: String,
    /// The policy.
    pub policy: String,
    /// What becomes of violations.
    pub level: Level,
    /// How bad it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// How it ends now; `pass` if it does not violate any more, or is not there.
    pub state: CheckState,
    /// All of it in one line.
    pub message: String,
    /// Who brought it about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

impl TurnedViolation {
    fn of(check: Check, state: CheckState) -> Self {
        let Check { id, policy, level, severity, message, cause, .. } = check.completed();
        Self { id, policy, level, severity, state, message, cause: cause.map(|cause| cause.text) }
    }
}

/// A snapshot, as it is judged at a moment.
#[derive(Clone, Copy, Debug)]
pub struct AtMoment<'s> {
    /// The snapshot.
    pub snapshot: &'s Snapshot,
    /// The moment.
    pub moment: Timestamp,
}

/// What began and ended to violate between two snapshots, or in one because time passed, by workspace, as far as somebody with these roles
/// may see it.
pub fn turned(before: AtMoment<'_>, after: AtMoment<'_>, roles: &[SmolStr]) -> Vec<Turned> {
    let kinds = |snapshot: &Snapshot| -> Vec<Sym> {
        let all = snapshot.companion::<Organisations>().into_iter().flat_map(Organisations::iter);
        all.map(|(kind, _)| kind).collect()
    };
    let mut by_workspace: BTreeMap<Option<SmolStr>, Turned> = BTreeMap::new();
    let named = |snapshot: &Snapshot| kinds(snapshot).into_iter().map(|kind| snapshot.text(kind).to_owned()).collect();
    let mut names: Vec<String> = named(after.snapshot);
    let others: Vec<String> = named(before.snapshot);
    names.extend(others);
    names.sort_unstable();
    names.dedup();
    for name in names {
        let [was, is] = [before, after].map(|own| Organisation::of(own.snapshot, Some(&name), own.moment).ok());
        let passes =
            |own: &Organisation<'_>| own.comply().next_turn(before.moment).is_some_and(|at| at <= after.moment);
        // What the two share need not be looked at, unless time passed that judges it otherwise.
        let (was_found, is_found) = match (&was, &is) {
            (Some(was), Some(is)) if passes(was) || passes(is) => (open(was, None, roles), open(is, None, roles)),
            (Some(was), Some(is)) if was.governed.is_same(&is.governed) => continue,
            (Some(was), Some(is)) => (open(was, Some(is), roles), open(is, Some(was), roles)),
            (was, is) => {
                let all = |own: &Option<Organisation<'_>>| own.as_ref().map(|own| open(own, None, roles));
                (all(was).unwrap_or_default(), all(is).unwrap_or_default())
            }
        };
        for (found, own) in is_found.iter().filter(|(found, _)| !was_found.contains_key(*found)) {
            let Some(is) = &is else { continue };
            let check = standing(&is.governed, is.snapshot.files(), own);
            let state = check.state;
            let turned = by_workspace.entry(found.scope.clone()).or_default();
            turned.opened.push(TurnedViolation::of(check, state));
        }
        for (found, own) in was_found.iter().filter(|(found, _)| !is_found.contains_key(*found)) {
            let Some(was) = &was else { continue };
            let waived = is.as_ref().is_some_and(|is| is.is_waived(found));
            let check = check_of(was.comply(), was.snapshot.files(), own);
            let state = if waived { CheckState::Waived } else { CheckState::Pass };
            by_workspace.entry(found.scope.clone()).or_default().closed.push(TurnedViolation::of(check, state));
        }
    }
    let told = by_workspace.into_iter();
    told.map(|(workspace, turned)| Turned { workspace: workspace.map(Into::into), ..turned }).collect()
}

/// What violates and is not excused, as far as somebody may see it; only what may not do so in another organisation, if one is given.
fn open(
    organisation: &Organisation<'_>,
    unlike: Option<&Organisation<'_>>,
    roles: &[SmolStr],
) -> BTreeMap<FindingName, Finding> {
    let Ok(organisation) = organisation.clone().asked_by(roles, None) else { return BTreeMap::new() };
    let Ok(Narrowed { filter, .. }) = narrowed(&organisation, &AuditQuestion::default()) else {
        return BTreeMap::new();
    };
    let (governed, now) = (&organisation.governed, organisation.now);
    let found = match unlike {
        Some(other) => governed.violations_unlike(&other.governed, &filter, now),
        None => governed.violations(&filter, now),
    };
    let open = found.into_iter().filter(|found| found.state != State::Off);
    open.map(|found| (found.name(), found)).collect()
}

impl Organisation<'_> {
    fn is_waived(&self, name: &FindingName) -> bool {
        let comply = self.comply();
        let Some(id) = comply.find_named(name) else { return false };
        comply.rules_violated(id.pair).contains(&id.entry) && comply.is_waived(id, self.now)
    }
}
