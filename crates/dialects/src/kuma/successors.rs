//! Kinds that took the place of older ones about the same matter.
//!
//! While a control plane knows both, the newer kind is applied over the older one: at an inbound or an outbound that a policy of
//! the newer kind speaks about, the older one has no effect. Since `kuma/3` the older ones are gone.

use upheld_report::{Outcome, Remark, Report};

/// The older kind, and the one that took its place.
const SUCCESSORS: [(&str, &str); 10] = [
    ("CircuitBreaker", "MeshCircuitBreaker"),
    ("FaultInjection", "MeshFaultInjection"),
    ("HealthCheck", "MeshHealthCheck"),
    ("ProxyTemplate", "MeshProxyPatch"),
    ("RateLimit", "MeshRateLimit"),
    ("Retry", "MeshRetry"),
    ("Timeout", "MeshTimeout"),
    ("TrafficLog", "MeshAccessLog"),
    ("TrafficPermission", "MeshTrafficPermission"),
    ("TrafficTrace", "MeshTrace"),
];

/// The edition that has no older kinds any more.
const WITHOUT_OLDER: &str = "kuma/3";

/// Says of reports about one thing which of two kinds counts where both speak.
pub(super) fn tell(reports: &mut [Report]) {
    for (older, newer) in SUCCESSORS {
        let speaks = |kind: &str| {
            let mut own = reports.iter().filter(|report| report.kind == kind);
            own.any(|report| report.outcome != Outcome::Default && !report.policies.is_empty())
        };
        let (older_speaks, newer_speaks) = (speaks(older), speaks(newer));
        let (kind, by) = (older.to_owned(), newer.to_owned());
        let gone =
            reports.iter().find(|report| report.kind == newer && report.semantics.as_deref() == Some(WITHOUT_OLDER));
        let (about, remark) = match (gone, older_speaks, newer_speaks) {
            (Some(_), true, _) => (older, Remark::KindIsGone { kind, by, edition: WITHOUT_OLDER.to_owned() }),
            (None, true, true) => (older, Remark::Superseded { kind, by }),
            (None, true, false) => (newer, Remark::NotYetSuperseded { kind, by }),
            (_, false, _) => continue,
        };
        for report in reports.iter_mut().filter(|report| report.kind == about) {
            report.notes.push(remark.clone().into());
        }
    }
}
