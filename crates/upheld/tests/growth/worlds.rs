//! Worlds of each family that grow while the answers to the same questions keep their size.

use serde_json::{Value as Json, json};

/// A family of policies in one of the formats that people have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    Access,
    Compliance,
    EnvoyGateway,
    Kgateway,
    KumaTags,
    KumaTargets,
    Network,
}

impl System {
    pub(crate) const ALL: [Self; 7] = [
        Self::Access,
        Self::Compliance,
        Self::EnvoyGateway,
        Self::Kgateway,
        Self::KumaTags,
        Self::KumaTargets,
        Self::Network,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Compliance => "compliance",
            Self::EnvoyGateway => "envoy-gateway",
            Self::Kgateway => "kgateway",
            Self::KumaTags => "kuma-tags",
            Self::KumaTargets => "kuma-targets",
            Self::Network => "network",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|system| system.name() == name)
    }

    /// How many policies a small world and a large one have: what is slow to read or to judge has fewer.
    pub(crate) fn sizes(self) -> [usize; 2] {
        match self {
            Self::Access | Self::Compliance | Self::KumaTags => [100, 1000],
            Self::KumaTargets => [60, 600],
            Self::EnvoyGateway | Self::Kgateway | Self::Network => [50, 500],
        }
    }

    /// A world of about so many policies, and as many objects.
    pub(crate) fn documents(self, size: usize) -> Vec<Json> {
        // Nothing that is asked about is missing in the smallest.
        let size = size.max(20);
        match self {
            Self::Access => access(size),
            Self::Compliance => compliance(size),
            Self::EnvoyGateway | Self::Kgateway => gateway(self, size),
            Self::KumaTags => kuma_tags(size),
            Self::KumaTargets => kuma_targets(size),
            Self::Network => network(size),
        }
    }

    /// The policy that cases are about, at an address.
    pub(crate) fn policy(self) -> &'static str {
        match self {
            Self::Access => "AccessPolicy/access/p00008",
            Self::Compliance => "MeshPolicy/compliance/env",
            Self::EnvoyGateway => "BackendTrafficPolicy/team/t00007",
            Self::Kgateway => "TrafficPolicy/team/t00007",
            Self::KumaTags => "TrafficLog/default/p00007",
            Self::KumaTargets => "MeshTimeout/default/m00007",
            Self::Network => "NetworkPolicy/n00000/p00007",
        }
    }

    /// The object that cases are about, at an address.
    pub(crate) fn object(self) -> Option<&'static str> {
        Some(match self {
            Self::Access => return None,
            Self::Compliance => "project/compliance/p00000-7",
            Self::EnvoyGateway | Self::Kgateway => "HTTPRoute/team/r00007",
            Self::KumaTags | Self::KumaTargets => "Dataplane/default/d00007",
            Self::Network => "Deployment/n00000/d00007",
        })
    }

    /// A document of the world as somebody edits it, with its address: each time it says something else.
    pub(crate) fn edit(self, time: usize) -> (&'static str, Json) {
        let value = time % 2;
        match self {
            Self::Access => (self.policy(), access_policy(8, ["GET", "PUT"].get(value).copied().unwrap_or_default())),
            Self::Compliance => {
                let tags = if value == 0 { json!(["dev"]) } else { json!(["dev", "qa"]) };
                (
                    "project/compliance/p00000-6",
                    json!({"ref": "project/p00000-6", "workspace": "w00000", "tags": {"env": tags}}),
                )
            }
            Self::EnvoyGateway | Self::Kgateway => {
                (self.policy(), gateway_policy(self, "t00007", "HTTPRoute", "r00007", 5 + value))
            }
            Self::KumaTags => (self.policy(), tag_policy("TrafficLog", 7, &json!({"backend": format!("b{value}")}))),
            Self::KumaTargets => (self.policy(), target_policy(7, 4 + value)),
            Self::Network => (self.policy(), network_policy(7, 81 + value)),
        }
    }
}

/// As many permit as deny: of each effect only the nearest are looked at for what would change a decision, and a small world has them.
fn access_policy(number: usize, method: &str) -> Json {
    json!({"id": format!("p{number:05}"), "effect": if number.is_multiple_of(2) { "permit" } else { "deny" },
        "subjects": [{"role": format!("r{:05}", number / 3)}],
        "resources": [{"path": format!("/api/p{number:05}/**")}],
        "actions": [{"method": method}, {"method": "POST"}]})
}

fn access(size: usize) -> Vec<Json> {
    let mut all: Vec<Json> = (0..size).map(|number| access_policy(number, "GET")).collect();
    let subjects: Vec<Json> = (0..size / 3)
        .map(|number| json!({"type": "user", "id": format!("u{number:05}"), "properties": {"roles": [format!("r{number:05}")]}}))
        .collect();
    let resources: Vec<Json> = (0..size / 3)
        .map(|number| json!({"type": "page", "id": format!("x{number:05}"), "properties": {"path": format!("/api/p{number:05}/x")}}))
        .collect();
    all.push(json!({"kind": "PolicyTests", "cases": [{"name": "one", "expect": "permit",
        "request": {"subject": "role=r00002", "action": "GET", "resource": "/api/p00008/x"}}]}));
    all.push(json!({"kind": "Directory", "subjects": subjects, "resources": resources,
        "actions": [{"name": "GET", "properties": {"method": "GET"}}]}));
    all
}

fn compliance(size: usize) -> Vec<Json> {
    let rule = |name: &str, a: &str, b: &str| json!({"type": "MeshPolicy", "name": name, "a": {"kind": a, "tag": "env"}, "b": {"kind": b, "tag": "env"}});
    let mut all = vec![
        rule("env", "project", "landingZone"),
        rule("env-of-workspaces", "workspace", "project"),
        rule("env-of-people", "project", "principal"),
    ];
    for number in 0..size / 10 {
        all.push(json!({"ref": format!("workspace/w{number:05}"), "tags": {"env": ["dev", "qa"]}}));
        all.push(json!({"ref": format!("landingZone/l{number:05}"), "tags": {"env": ["dev"]}}));
        all.push(json!({"ref": format!("user/u{number:05}"), "tags": {"env": ["dev", "qa", "prod"]}}));
        for part in 0..10 {
            let env = if part == 7 { "prod" } else { "dev" };
            let project = format!("project/p{number:05}-{part}");
            all.push(json!({"ref": project, "workspace": format!("w{number:05}"), "tags": {"env": [env]}}));
            all.push(json!({"a": project, "b": format!("landingZone/l{number:05}")}));
            all.push(json!({"a": project, "b": format!("user/u{number:05}")}));
        }
    }
    all
}

fn gateway_policy(system: System, name: &str, kind: &str, target: &str, seconds: usize) -> Json {
    let target = json!([{"group": "gateway.networking.k8s.io", "kind": kind, "name": target}]);
    let metadata = json!({"name": name, "namespace": "team"});
    if system == System::Kgateway {
        let request = format!("{seconds}s");
        let spec = if kind == "Gateway" {
            json!({"targetRefs": target, "timeouts": {"request": request}, "retry": {"attempts": 2, "retryOn": ["5xx"]}})
        } else {
            json!({"targetRefs": target, "timeouts": {"request": request}})
        };
        return json!({"apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "TrafficPolicy", "metadata": metadata, "spec": spec});
    }
    let spec = if kind == "Gateway" {
        json!({"targetRefs": target, "retry": {"numRetries": seconds}})
    } else {
        json!({"targetRefs": target, "retry": {"numRetries": seconds}, "mergeType": "StrategicMerge"})
    };
    json!({"apiVersion": "gateway.envoyproxy.io/v1alpha1", "kind": "BackendTrafficPolicy", "metadata": metadata, "spec": spec})
}

fn gateway(system: System, size: usize) -> Vec<Json> {
    const API: &str = "gateway.networking.k8s.io/v1";
    let (class, controller) = match system {
        System::Kgateway => ("kgateway", "kgateway.dev/kgateway"),
        _ => ("eg", "gateway.envoyproxy.io/gatewayclass-controller"),
    };
    let mut all = vec![
        json!({"apiVersion": API, "kind": "GatewayClass", "metadata": {"name": class}, "spec": {"controllerName": controller}}),
        json!({"apiVersion": API, "kind": "Gateway", "metadata": {"name": "edge", "namespace": "team"},
            "spec": {"gatewayClassName": class, "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}}),
        gateway_policy(system, "all", "Gateway", "edge", 3),
    ];
    for number in 0..size {
        let route = format!("r{number:05}");
        let service = format!("s{number:05}");
        all.push(json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": service, "namespace": "team"}, "spec": {"ports": [{"port": 80}]}}));
        all.push(json!({"apiVersion": API, "kind": "HTTPRoute", "metadata": {"name": route, "namespace": "team"},
            "spec": {"parentRefs": [{"name": "edge"}], "hostnames": [format!("h{number:05}.example.com")],
                "rules": [{"matches": [{"path": {"type": "PathPrefix", "value": "/v"}}], "backendRefs": [{"name": service, "port": 80}]}]}}));
        all.push(gateway_policy(system, &format!("t{number:05}"), "HTTPRoute", &route, 5));
    }
    all
}

fn tag_policy(kind: &str, number: usize, conf: &Json) -> Json {
    let service = |number: usize| json!([{"match": {"kuma.io/service": format!("s{number:05}")}}]);
    json!({"type": kind, "name": format!("p{number:05}"), "mesh": "default", "sources": service(number), "destinations": service(number + 1), "conf": conf})
}

fn kuma_tags(size: usize) -> Vec<Json> {
    let mut all = vec![json!({"type": "Mesh", "name": "default"})];
    all.extend((0..size).map(|number| {
        json!({"type": "Dataplane", "name": format!("d{number:05}"), "mesh": "default", "networking": {"address": "10.0.0.1",
            "inbound": [{"port": 80, "tags": {"kuma.io/service": format!("s{number:05}"), "team": format!("t{:05}", number / 10)}}]}})
    }));
    all.push(json!({"kind": "PolicyTests", "cases": [{"name": "one", "expect": {"policies": ["p00007"]},
        "explain": {"kind": "TrafficLog", "from": "d00007", "to": "d00008"}}]}));
    let any = json!([{"match": {"kuma.io/service": "*"}}]);
    for (kind, conf) in [("TrafficLog", json!({"backend": "b"})), ("Retry", json!({"http": {"numRetries": 5}}))] {
        all.push(
            json!({"type": kind, "name": "all", "mesh": "default", "sources": any, "destinations": any, "conf": conf}),
        );
        all.extend((0..size / 2).map(|number| tag_policy(kind, number, &conf)));
    }
    all
}

fn target_policy(number: usize, seconds: usize) -> Json {
    json!({"type": "MeshTimeout", "name": format!("m{number:05}"), "mesh": "default", "spec": {
        "targetRef": {"kind": "Dataplane", "labels": {"app": format!("a{number:05}")}},
        "to": [{"targetRef": {"kind": "MeshService", "name": format!("ms{:05}", number + 1)},
            "default": {"idleTimeout": "1s", "http": {"requestTimeout": format!("{seconds}s")}}}]}})
}

fn kuma_targets(size: usize) -> Vec<Json> {
    let mut all = vec![
        json!({"type": "Mesh", "name": "default", "meshServices": {"mode": "Exclusive"}}),
        json!({"type": "MeshTimeout", "name": "all", "mesh": "default", "spec": {"targetRef": {"kind": "Mesh"},
            "to": [{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "1h"}}]}}),
    ];
    for number in 0..size {
        let app = json!({"app": format!("a{number:05}")});
        all.push(json!({"type": "Dataplane", "name": format!("d{number:05}"), "mesh": "default", "labels": app, "networking": {"address": "10.0.0.1",
            "inbound": [{"port": 80, "name": "http", "tags": {"kuma.io/service": format!("s{number:05}"), "kuma.io/protocol": "http"}}]}}));
        all.push(
            json!({"type": "MeshService", "name": format!("ms{number:05}"), "mesh": "default", "labels": app, "spec": {
            "selector": {"dataplaneTags": {"kuma.io/service": format!("s{number:05}")}},
            "ports": [{"port": 80, "name": "http", "targetPort": 80, "appProtocol": "http"}]}}),
        );
        all.push(target_policy(number, 3));
    }
    all
}

fn network_policy(number: usize, port: usize) -> Json {
    let caller = if number % 10 < 9 { number + 1 } else { number - 9 };
    json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": {"name": format!("p{number:05}"), "namespace": format!("n{:05}", number / 10)},
        "spec": {"podSelector": {"matchLabels": {"app": format!("a{number:05}")}}, "policyTypes": ["Ingress"],
            "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": format!("a{caller:05}")}}}], "ports": [{"port": port}]}]}})
}

fn network(size: usize) -> Vec<Json> {
    let namespace = |number: usize| format!("n{number:05}");
    let mut all: Vec<Json> = (0..size.div_ceil(10))
        .map(|number| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace(number), "labels": {"kubernetes.io/metadata.name": namespace(number)}}}))
        .collect();
    for number in 0..size {
        let app = json!({"app": format!("a{number:05}")});
        all.push(json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": format!("d{number:05}"), "namespace": namespace(number / 10)},
            "spec": {"selector": {"matchLabels": app}, "template": {"metadata": {"labels": app},
                "spec": {"containers": [{"name": "c", "image": "x", "ports": [{"containerPort": 80, "name": "http"}]}]}}}}));
        all.push(network_policy(number, 80));
    }
    all
}
