//! How paths spell the types of policies.

use upheld_engine::Snapshot;

use crate::kuma::resources::ResourceType;

/// Policies with sources and destinations, or with selectors.
const OLDER: [(&str, &str); 12] = [
    ("circuit-breakers", "CircuitBreaker"),
    ("fault-injections", "FaultInjection"),
    ("health-checks", "HealthCheck"),
    ("proxytemplates", "ProxyTemplate"),
    ("rate-limits", "RateLimit"),
    ("retries", "Retry"),
    ("timeouts", "Timeout"),
    ("traffic-logs", "TrafficLog"),
    ("traffic-permissions", "TrafficPermission"),
    ("traffic-routes", "TrafficRoute"),
    ("traffic-traces", "TrafficTrace"),
    ("virtual-outbounds", "VirtualOutbound"),
];

/// The type of policies that a path names.
pub(super) fn policy_type<'s>(snapshot: &'s Snapshot, path: &str) -> Option<&'s str> {
    let older = OLDER.iter().find(|(known, _)| *known == path).map(|(_, kind)| *kind);
    older.or_else(|| layered_type(snapshot, path))
}

/// The same with gateways and their routes, which have selectors, too.
pub(super) fn selecting_type<'s>(snapshot: &'s Snapshot, path: &str) -> Option<&'s str> {
    let gateways = [ResourceType::MeshGateway, ResourceType::MeshGatewayRoute].map(ResourceType::name);
    policy_type(snapshot, path).or_else(|| gateways.into_iter().find(|kind| plural(kind) == path))
}

fn layered_type<'s>(snapshot: &'s Snapshot, path: &str) -> Option<&'s str> {
    let layered = snapshot.kinds().iter().filter(|(_, kind)| kind.merge().is_some());
    let mut names = layered.map(|(_, kind)| snapshot.text(kind.governs));
    names.find(|kind| plural(kind) == path)
}

/// The plural of a name, in lower case: `meshtimeouts`, `meshretries`, `meshtlses`.
fn plural(kind: &str) -> String {
    let name = kind.to_lowercase();
    let stem = name.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    if let Some(stem) = stem {
        return format!("{stem}ies");
    }
    let hisses = ["s", "x", "z", "ch", "sh"].iter().any(|ending| name.ends_with(ending));
    if hisses { name + "es" } else { name + "s" }
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn plurals_follow_the_rules_of_english() {
        let examples = [
            ("MeshTimeout", "meshtimeouts"),
            ("MeshRetry", "meshretries"),
            ("MeshTLS", "meshtlses"),
            ("MeshGateway", "meshgateways"),
            ("MeshProxyPatch", "meshproxypatches"),
            ("MeshPassthrough", "meshpassthroughs"),
            ("MeshLoadBalancingStrategy", "meshloadbalancingstrategies"),
        ];
        for (kind, expected) in examples {
            assert_eq!(plural(kind), expected);
        }
    }
}
