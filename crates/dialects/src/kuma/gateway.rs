//! What built-in gateways choose differently: one policy for a route that leads to several services.
//!
//! Policies are chosen for each destination alone, but some of them (retries, timeouts) can be set only once for the
//! whole route. In go the destinations with their policies, out comes the policy of the route.

use upheld_engine::{PolicyId, Snapshot};
use upheld_model::{Policy, Selector, Sym, Want};

use super::SERVICE_TAGS;

/// One destination of a gateway's route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Its service.
    pub service: Option<Sym>,
    /// The policy that was chosen for it.
    pub policy: Option<PolicyId>,
}

/// The policy for a whole route. No service of several is the most specific one, so a policy for all services comes
/// first; without one all policies are equal. Then the oldest counts, and of two of one age the first.
pub fn policy_of_route(snapshot: &Snapshot, destinations: &[Destination]) -> Option<PolicyId> {
    let mut seen: Vec<PolicyId> = Vec::new();
    let (mut for_all, mut for_one) = (Vec::new(), Vec::new());
    for destination in destinations {
        let Some((id, policy)) = destination.policy.and_then(|id| Some((id, snapshot.policy(id)?))) else { continue };
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        for want in wanted_services(snapshot, policy) {
            match want {
                Want::Any => for_all.push((policy.created, id)),
                Want::Exactly(service) if Some(service) == destination.service => for_one.push((policy.created, id)),
                Want::Exactly(_) => {}
            }
        }
    }
    let candidates = if for_all.is_empty() { for_one } else { for_all };
    candidates.into_iter().min_by_key(|(created, _)| *created).map(|(_, id)| id)
}

/// What the destination selectors of a policy want of the service.
fn wanted_services(snapshot: &Snapshot, policy: &Policy) -> impl Iterator<Item = Want> {
    let symbol = |text: &str| snapshot.symbols().get(text);
    let destinations = symbol("destinations");
    let service_tags = SERVICE_TAGS.map(symbol);
    let selectors = destinations.map_or(&[][..], |field| policy.selectors(field));
    let wants = selectors.iter().flat_map(Selector::wants);
    wants.filter(move |(key, _)| service_tags.contains(&Some(*key))).map(|(_, want)| *want)
}

#[cfg(test)]
mod tests;
