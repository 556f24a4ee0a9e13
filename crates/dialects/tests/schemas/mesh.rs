//! Policies of a service mesh, in both forms.

use super::mistakes;

fn policy(kind: &str, spec: &str) -> Vec<String> {
    let universal = mistakes(&format!("type: {kind}\nname: p\nmesh: default\nspec: {spec}\n"));
    let kubernetes = mistakes(&format!(
        "apiVersion: kuma.io/v1alpha1\nkind: {kind}\nmetadata: {{name: p, namespace: kuma-system}}\nspec: {spec}\n"
    ));
    assert_eq!(universal, kubernetes, "both forms have the same fields");
    universal
}

fn to(kind: &str, default: &str) -> Vec<String> {
    policy(kind, &format!("{{to: [{{targetRef: {{kind: Mesh}}, default: {default}}}]}}"))
}

fn from(kind: &str, default: &str) -> Vec<String> {
    policy(kind, &format!("{{from: [{{targetRef: {{kind: Mesh}}, default: {default}}}]}}"))
}

#[test]
fn payloads_of_every_kind_are_accepted_as_their_system_accepts_them() {
    let right: [(&str, &str); 12] = [
        ("MeshTimeout", "{idleTimeout: 1h, http: {requestTimeout: 0s, maxStreamDuration: 1m30s}}"),
        ("MeshRetry", "{http: {numRetries: 3, retryOn: [5xx, HttpMethodGet, '503'], backOff: {baseInterval: 1.5s}}}"),
        ("MeshRateLimit", "{local: {http: {requestRate: {num: 5, interval: 10s}, onRateLimit: {status: 429}}}}"),
        (
            "MeshCircuitBreaker",
            "{connectionLimits: {maxConnections: 2}, outlierDetection: {detectors: {totalFailures: {consecutive: 3}}, healthyPanicThreshold: '50.5'}}",
        ),
        ("MeshHealthCheck", "{interval: 10s, healthyThreshold: 1, http: {path: /health, expectedStatuses: [200]}}"),
        (
            "MeshAccessLog",
            "{backends: [{type: File, file: {path: /tmp/a.log, format: {type: Plain, plain: '%START_TIME%'}}}]}",
        ),
        (
            "MeshFaultInjection",
            "{http: [{abort: {httpStatus: 500, percentage: '2.5'}, responseBandwidth: {limit: 50Mbps, percentage: 10}}]}",
        ),
        (
            "MeshLoadBalancingStrategy",
            "{loadBalancer: {type: RingHash, ringHash: {hashPolicies: [{type: Header, header: {name: x}}]}}}",
        ),
        ("MeshRetry", "{grpc: {retryOn: [Unavailable]}, tcp: {maxConnectAttempt: 3}}"),
        ("MeshTimeout", "{connectionTimeout: 10s}"),
        ("MeshAccessLog", "{backends: []}"),
        ("MeshLoadBalancingStrategy", "{localityAwareness: {crossZone: {failover: [{to: {type: Only, zones: [a]}}]}}}"),
    ];
    for (kind, default) in right {
        assert_eq!(to(kind, default), [""; 0], "{kind} {default}");
    }
    assert_eq!(from("MeshTrafficPermission", "{action: Allow}"), [""; 0]);
    assert_eq!(from("MeshTLS", "{mode: Strict, tlsVersion: {min: TLS12}}"), [""; 0]);
    assert_eq!(
        policy(
            "MeshTrace",
            "{default: {backends: [{type: Zipkin, zipkin: {url: 'http://a'}}], tags: [{name: t, literal: x}]}}"
        ),
        [""; 0]
    );
    assert_eq!(policy("MeshMetric", "{default: {backends: [{type: Prometheus, prometheus: {port: 5670}}]}}"), [""; 0]);
    assert_eq!(
        policy(
            "MeshPassthrough",
            "{default: {passthroughMode: Matched, appendMatch: [{type: Domain, value: a.example}]}}"
        ),
        [""; 0]
    );
    assert_eq!(
        policy("MeshProxyPatch", "{default: {appendModifications: [{cluster: {operation: Add, value: 'name: a'}}]}}"),
        [""; 0]
    );
    let rule = "{matches: [{path: {type: PathPrefix, value: /}}], default: {backendRefs: [{kind: MeshService, name: a, weight: 1}]}}";
    let target = "targetRef: {kind: MeshService, name: a}";
    assert_eq!(policy("MeshHTTPRoute", &format!("{{to: [{{{target}, rules: [{rule}]}}]}}")), [""; 0]);
    assert_eq!(
        policy(
            "MeshTCPRoute",
            &format!("{{to: [{{{target}, rules: [{{default: {{backendRefs: [{{kind: MeshService, name: b}}]}}}}]}}]}}")
        ),
        [""; 0]
    );
}

#[test]
fn misspelt_fields_inside_payloads_are_errors_with_place_and_suggestion() {
    assert_eq!(
        to("MeshTimeout", "{idleTimout: 1s, http: {requestTimeout: 5, streamIdleTimeout: soon}}"),
        [
            "4:49 `spec.to[0].default` has no field `idleTimout`; did you mean `idleTimeout`?",
            "4:88 `spec.to[0].default.http.requestTimeout` must be a duration such as `10s`, not a number; put it in quotes: \"5\"",
            "4:110 `spec.to[0].default.http.streamIdleTimeout` must be a duration such as `10s`, not `soon`",
        ]
    );
    assert_eq!(
        from("MeshTrafficPermission", "{action: ALLOW}"),
        ["4:59 `spec.from[0].default.action` cannot be `ALLOW`; did you mean `Allow`?"]
    );
    assert_eq!(
        to("MeshRetry", "{http: {numRetrys: 3}}"),
        ["4:56 `spec.to[0].default.http` has no field `numRetrys`; did you mean `numRetries`?"]
    );
    assert_eq!(policy("MeshTrace", "{default: {backends: [{type: Zipkin}]}}").len(), 1);
    let rule = "{matches: [{path: {type: Prefix, value: /}}], default: {}}";
    assert_eq!(
        policy("MeshHTTPRoute", &format!("{{to: [{{targetRef: {{kind: MeshService, nme: a}}, rules: [{rule}]}}]}}"))
            .len(),
        2
    );
}

#[test]
fn what_the_control_plane_refuses_beyond_shape_is_an_error() {
    for (kind, default) in [
        ("MeshTimeout", "{http: {}}"),
        ("MeshRetry", "{http: {backOff: {}}}"),
        ("MeshRetry", "{http: {retryOn: [sometimes]}}"),
        ("MeshRateLimit", "{local: {http: {requestRate: {num: 0, interval: 1s}}}}"),
        ("MeshRateLimit", "{local: {}}"),
        ("MeshCircuitBreaker", "{connectionLimits: {maxConnections: 0}}"),
        ("MeshHealthCheck", "{interval: 10s}"),
        ("MeshHealthCheck", "{http: {expectedStatuses: [99]}}"),
        ("MeshAccessLog", "{backends: [{type: Tcp, file: {path: /tmp/a}}]}"),
        ("MeshFaultInjection", "{http: [{delay: {value: 1s, percentage: 101}}]}"),
        ("MeshLoadBalancingStrategy", "{localityAwareness: {crossZone: {failover: [{to: {type: Any, zones: [a]}}]}}}"),
        ("MeshLoadBalancingStrategy", "{loadBalancer: {type: Fastest}}"),
    ] {
        assert_eq!(to(kind, default).len(), 1, "{kind} {default}: {:?}", to(kind, default));
    }
    assert_eq!(to("MeshHealthCheck", "{interval: 10s}"), ["4:49 `spec.to[0].default` needs `http` or `tcp` or `grpc`"]);
}

#[test]
fn kinds_of_older_editions_stay_open() {
    let old = "type: Retry\nname: r\nmesh: default\nsources: [{match: {kuma.io/service: '*'}}]\ndestinations: [{match: {kuma.io/service: b}}]\nconf: {http: {numRetrys: 3}}\n";
    assert_eq!(mistakes(old), [""; 0]);
}
