//! Gateways, routes, and the policies of two controllers.

use super::{HINT, messages, mistakes, read};

const GATEWAY: &str =
    "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: gw, namespace: infra}\n";
const ROUTE: &str =
    "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: infra}\n";
const TRAFFIC: &str =
    "apiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: p, namespace: infra}\n";

fn of(kind: &str, version: &str, spec: &str) -> Vec<String> {
    messages(&format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\nspec: {spec}\n"))
}

fn route(spec: &str) -> Vec<String> {
    messages(&format!("{ROUTE}spec: {spec}\n"))
}

#[test]
fn misspelt_fields_of_gateways_routes_and_policies_are_errors_all_at_once() {
    let text = format!(
        "{GATEWAY}spec:
  gatewayClassName: kgateway
  listners: []
  listeners:
  - {{name: http, protocol: HTTP, port: 80, hostnme: x.example, allowedRoutes: {{namespace: {{from: All}}}}}}
---
{ROUTE}spec:
  parentRefs: [{{name: gw, sectionname: http}}]
  hostname: [a.example]
  rules:
  - name: one
    match: [{{path: {{type: PathPrefix, value: /one}}}}]
    matches: [{{path: {{type: PathPrefx, value: /two}}}}]
    timeout: {{request: 1s}}
    timeouts: {{requests: 1s}}
    backendRefs: [{{name: svc, prt: 80, port: 80}}]
---
{TRAFFIC}spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r, sectionname: one}}]
  cors: {{allowOrigin: ['https://x']}}
  retry: {{attempt: 3}}
"
    );
    let told = read(&text).unwrap_err();
    assert_eq!(told.iter().filter(|line| line.ends_with(HINT)).count(), 1, "the way out is said once");
    assert_eq!(
        mistakes(&text),
        [
            "6:3 `spec` has no field `listners`; did you mean `listeners`?",
            "8:44 `spec.listeners[0]` has no field `hostnme`; did you mean `hostname`?",
            "8:80 `spec.listeners[0].allowedRoutes` has no field `namespace`; did you mean `namespaces`?",
            "14:27 `spec.parentRefs[0]` has no field `sectionname`; did you mean `sectionName`?",
            "15:3 `spec` has no field `hostname`; did you mean `hostnames`?",
            "18:5 `spec.rules[0]` has no field `match`; did you mean `matches`?",
            "19:29 `spec.rules[0].matches[0].path.type` cannot be `PathPrefx`; did you mean `PathPrefix`?",
            "20:5 `spec.rules[0]` has no field `timeout`; did you mean `timeouts`?",
            "21:16 `spec.rules[0].timeouts` has no field `requests`; did you mean `request`?",
            "22:31 `spec.rules[0].backendRefs[0]` has no field `prt`; did you mean `port`?",
            "28:77 `spec.targetRefs[0]` has no field `sectionname`; did you mean `sectionName`?",
            "29:10 `spec.cors` has no field `allowOrigin`; did you mean `allowOrigins`?",
            "30:11 `spec.retry` has no field `attempt`; did you mean `attempts`?",
        ]
    );
}

#[test]
fn listeners_that_no_gateway_can_have_are_errors() {
    let listeners =
        |listeners: &str| messages(&format!("{GATEWAY}spec: {{gatewayClassName: x, listeners: [{listeners}]}}\n"));
    assert_eq!(listeners("{name: a, protocol: HTTP, port: 80}, {name: b, protocol: HTTP, port: 81}"), [""; 0]);
    assert_eq!(
        listeners("{name: a, protocol: HTTP, port: 80}, {name: b, protocol: HTTP, port: 80}"),
        ["two items of `spec.listeners` have the same `port`, `protocol`, `hostname`; change or remove one of them"]
    );
    assert_eq!(
        listeners("{name: 'bad>', protocol: HTTP, port: 80}"),
        ["`spec.listeners[0].name` must be a name in lower case, such as `https`, not `bad>`"]
    );
    assert_eq!(
        listeners("{name: a, protocol: HTTP, port: 80000}"),
        ["`spec.listeners[0].port` must be a whole number from 1 to 65535, not 80000"]
    );
    assert_eq!(
        listeners("{name: a, protocol: TCP, port: 80, hostname: a.example}"),
        [
            "`spec.listeners[0]` cannot have `hostname`, because `protocol` is `TCP`; remove `hostname`, or change the other field"
        ]
    );
    assert_eq!(
        listeners("{name: a, protocol: HTTP, port: 80, tls: {certificateRefs: [{name: c}]}}"),
        [
            "`spec.listeners[0]` cannot have `tls`, because `protocol` is `HTTP`; remove `tls`, or change the other field"
        ]
    );
    assert_eq!(
        listeners("{name: a, protocol: HTTPS, port: 443, tls: {mode: Passthrough}}"),
        ["`spec.listeners[0].tls.mode` cannot be `Passthrough`; because `protocol` is `HTTPS`"]
    );
    assert_eq!(
        listeners("{name: a, protocol: HTTPS, port: 443, tls: {}}"),
        ["`spec.listeners[0].tls` needs `certificateRefs` or `options`, because `mode` is left out"]
    );
    let wrong =
        messages(&format!("{GATEWAY}spec: {{gatewayClassName: x, addresses: [{{value: foo.com}}], listeners: []}}\n"));
    assert_eq!(
        wrong,
        [
            "`spec.addresses[0].value` must be an IP address such as `10.0.0.1`, not `foo.com`; because `type` is left out"
        ]
    );
}

#[test]
fn what_rules_of_routes_cannot_have_together_is_an_error() {
    let rule = |rule: &str| route(&format!("{{rules: [{{{rule}}}]}}"));
    assert_eq!(
        rule("backendRefs: [{name: a, port: 80}], filters: [{type: URLRewrite, urlRewrite: {hostname: a.example}}]"),
        [""; 0]
    );
    assert_eq!(
        rule("backendRefs: [{name: a}]"),
        ["`spec.rules[0].backendRefs[0]` needs `port`, because `group` is left out and `kind` is left out"]
    );
    assert_eq!(
        rule(
            "filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}], backendRefs: [{name: a, port: 80}]"
        ),
        [
            "`spec.rules[0]` cannot have `backendRefs[]`, because `filters[].type` is `RequestRedirect`; remove `backendRefs[]`, or change the other field"
        ]
    );
    assert_eq!(
        rule("filters: [{type: URLRewrite, requestRedirect: {scheme: https}}]"),
        [
            "`spec.rules[0].filters[0]` has `type: URLRewrite`, so it needs `urlRewrite`",
            "`spec.rules[0].filters[0]` has `requestRedirect`, but its `type` is `URLRewrite`; write `type: RequestRedirect`, or remove `requestRedirect`",
        ]
    );
    let add = "{type: RequestHeaderModifier, requestHeaderModifier: {add: [{name: a, value: b}]}}";
    assert_eq!(
        rule(&format!("filters: [{add}, {add}]")),
        ["`spec.rules[0]` has `filters[].requestHeaderModifier` more than once; put all of it into one of them"]
    );
    assert_eq!(
        rule("matches: [{headers: [{name: a, value: b}, {name: a, value: c}]}]"),
        ["two items of `spec.rules[0].matches[0].headers` have the same `name`; change or remove one of them"]
    );
    assert_eq!(
        rule("matches: [{path: {type: Exact, value: no-slash}}]"),
        [
            "`spec.rules[0].matches[0].path.value` must be a path such as `/cart`, without `//`, `/./`, `/../`, `%2F`, `?` or `#`, not `no-slash`; because `type` is `Exact`"
        ]
    );
    assert_eq!(rule("matches: [{path: {type: RegularExpression, value: '[a-z]+'}}]"), [""; 0]);
    assert_eq!(
        rule("timeouts: {request: 1s, backendRequest: 2s}"),
        ["`spec.rules[0].timeouts` has a `backendRequest` longer than its `request`"]
    );
    assert_eq!(rule("timeouts: {request: 0s, backendRequest: 2s}"), [""; 0], "zero turns the limit off");
    assert_eq!(route("{hostnames: ['http://a']}").len(), 1);
    assert_eq!(rule("matches: [{method: FETCH}]").len(), 1);
    assert_eq!(rule("filters: [{type: RequestHeaderModifier, requestHeaderModifier: {remove: [foo, foo]}}]").len(), 1);
}

#[test]
fn other_kinds_of_the_gateway_api_are_known() {
    let stable = "gateway.networking.k8s.io/v1";
    let grant = |spec: &str| of("ReferenceGrant", "gateway.networking.k8s.io/v1beta1", spec);
    assert_eq!(grant("{from: [{group: a, kind: HTTPRoute, namespace: b}], to: [{group: '', kind: Service}]}"), [""; 0]);
    assert_eq!(
        grant("{from: [{group: a, kind: HTTPRoute}], to: [{group: '', kind: Service}]}"),
        ["`spec.from[0]` has no `namespace`; add `namespace:`, a name in lower case without dots, such as `shop`"]
    );
    assert_eq!(grant("{to: [{group: '', kind: Service}]}").len(), 1);
    let method = |method: &str| of("GRPCRoute", stable, &format!("{{rules: [{{matches: [{{method: {method}}}]}}]}}"));
    assert_eq!(method("{service: shop.v1.Cart, method: Add}"), [""; 0]);
    assert_eq!(method("{service: 'a/b'}").len(), 1);
    assert_eq!(method("{}"), ["`spec.rules[0].matches[0].method` needs `service` or `method`"]);
    let backend = "{backendRefs: [{name: a, port: 80}]}";
    assert_eq!(of("TLSRoute", stable, &format!("{{rules: [{backend}]}}")).len(), 1, "host names are needed");
    assert_eq!(of("TLSRoute", "gateway.networking.k8s.io/v1alpha2", &format!("{{rules: [{backend}]}}")), [""; 0]);
    assert_eq!(of("TCPRoute", "gateway.networking.k8s.io/v1alpha2", &format!("{{rules: [{backend}]}}")), [""; 0]);
    assert_eq!(of("UDPRoute", "gateway.networking.k8s.io/v1alpha2", "{rule: []}").len(), 1);
    let set = "{parentRef: {name: gw}, listeners: [{name: a, protocol: HTTP, port: 80}]}";
    assert_eq!(of("ListenerSet", stable, set), [""; 0]);
    assert_eq!(
        of("XListenerSet", "gateway.networking.x-k8s.io/v1alpha1", &set.replace("name: gw", "nme: gw")).len(),
        1
    );
    let trust = |validation: &str| {
        let target = "targetRefs: [{group: '', kind: Service, name: a}]";
        of("BackendTLSPolicy", stable, &format!("{{{target}, validation: {{hostname: a.example, {validation}}}}}"))
    };
    assert_eq!(trust("wellKnownCACertificates: System"), [""; 0]);
    let both = "caCertificateRefs: [{group: '', kind: ConfigMap, name: c}], wellKnownCACertificates: System";
    assert_eq!(trust(both).len(), 1);
    assert_eq!(
        of("BackendTLSPolicy", "gateway.networking.k8s.io/v1alpha1", "{tls: {}}"),
        [""; 0],
        "not known, so open"
    );
    assert_eq!(of("GatewayClass", stable, "{controllerName: no-slash}").len(), 1);
}

#[test]
fn policies_of_kgateway_are_checked() {
    let target = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}]";
    let policy = |rest: &str| messages(&format!("{TRAFFIC}spec: {{{target}, {rest}}}\n"));
    for right in [
        "timeouts: {request: 10s}, retry: {attempts: 3, retryOn: [5xx], perTryTimeout: 1s}",
        "cors: {allowOrigins: ['https://x'], maxAge: 60}, csrf: {percentageEnabled: 100}",
        "rateLimit: {local: {tokenBucket: {maxTokens: 5, fillInterval: 30s}}}",
        "extAuth: {extensionRef: {name: e}}, transformation: {request: {set: [{name: a, value: b}]}}",
        "buffer: {maxRequestSize: 64Ki}, autoHostRewrite: true, somethingNew: {a: b}",
    ] {
        assert_eq!(policy(right), [""; 0], "{right}");
    }
    assert_eq!(policy("timeouts: {request: ten}").len(), 1);
    assert_eq!(
        policy("timeouts: {request: 1s}, retry: {retryOn: [5xx], perTryTimeout: 2s}"),
        ["`spec` has a `retry.perTryTimeout` longer than its `timeouts.request`"]
    );
    assert_eq!(policy("extAuth: {}"), ["`spec.extAuth` needs `extensionRef` or `disable`"]);
    assert_eq!(policy("rateLimit: {local: {tokenBucket: {maxTokens: 0, fillInterval: 30s}}}").len(), 1);
    assert_eq!(policy("extauth: {extensionRef: {name: e}}").len(), 1);
    let gateway = "{targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: r}], autoHostRewrite: true}";
    assert_eq!(of("TrafficPolicy", "gateway.kgateway.dev/v1alpha1", gateway).len(), 1);
    let kind = |kind: &str, spec: &str| of(kind, "gateway.kgateway.dev/v1alpha1", spec);
    assert_eq!(kind("DirectResponse", "{status: 404, body: gone}"), [""; 0]);
    assert_eq!(kind("DirectResponse", "{status: 42, body: a, bodyFormat: {text: b}, headers: []}").len(), 3);
    assert_eq!(kind("Backend", "{type: Static, static: {hosts: [{host: a, port: 80}]}}"), [""; 0]);
    assert_eq!(kind("Backend", "{type: Static}"), ["`spec` needs `static`, because `type` is `Static`"]);
    assert_eq!(
        kind("BackendConfigPolicy", "{connectTimeout: 5s, http1ProtocolOptions: {}, http2ProtocolOptions: {}}").len(),
        1
    );
    assert_eq!(kind("HTTPListenerPolicy", "{useRemoteAddress: yes please}").len(), 1);
    assert_eq!(kind("ListenerPolicy", "{perPort: [{port: 80, listener: {}}, {port: 80, listener: {}}]}").len(), 1);
    let grpc = "grpcService: {backendRef: {name: a, port: 80}}";
    assert_eq!(kind("GatewayExtension", &format!("{{type: ExtAuth, extAuth: {{{grpc}}}}}")), [""; 0]);
    assert_eq!(kind("GatewayExtension", &format!("{{type: RateLimit, extAuth: {{{grpc}}}}}")).len(), 1);
}

#[test]
fn policies_of_envoy_gateway_are_checked() {
    let kind = |kind: &str, spec: &str| of(kind, "gateway.envoyproxy.io/v1alpha1", spec);
    let target = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}]";
    let traffic = |rest: &str| kind("BackendTrafficPolicy", &format!("{{{target}, {rest}}}"));
    assert_eq!(traffic("timeout: {http: {requestTimeout: 1s}}, retry: {numRetries: 2}, somethingNew: 1"), [""; 0]);
    assert_eq!(
        traffic("timeout: {http: {requestTimout: 1s}}"),
        ["`spec.timeout.http` has no field `requestTimout`; did you mean `requestTimeout`?"]
    );
    assert_eq!(traffic("loadBalancer: {type: ConsistentHash}").len(), 1);
    assert_eq!(traffic("rateLimit: {type: Local, local: {rules: [{limit: {requests: 5, unit: Fortnight}}]}}").len(), 1);
    assert_eq!(kind("SecurityPolicy", &format!("{{{target}, extAuth: {{grpc: {{}}, http: {{}}}}}}")).len(), 1);
    assert_eq!(kind("SecurityPolicy", "{cors: {allowOrigins: ['*']}}").len(), 1, "it needs a target");
    assert_eq!(kind("ClientTrafficPolicy", &format!("{{{target}, tls: {{minVersion: '1.4'}}}}")).len(), 1);
    assert_eq!(kind("EnvoyExtensionPolicy", &format!("{{{target}, lua: [{{type: Inline}}]}}")).len(), 1);
}

#[test]
fn how_backends_are_trusted_is_checked_in_the_shape_of_each_version() {
    let version =
        |version: &str, spec: &str| of("BackendTLSPolicy", &format!("gateway.networking.k8s.io/{version}"), spec);
    let ca = "[{group: '', kind: ConfigMap, name: ca}]";
    let target = "{group: '', kind: Service, name: s}";
    let first = format!("{{targetRef: {target}, tls: {{caCertRefs: {ca}, hostname: s.example}}}}");
    let later = format!("{{targetRefs: [{target}], validation: {{caCertificateRefs: {ca}, hostname: s.example}}}}");
    assert_eq!(version("v1alpha2", &first), [""; 0]);
    for later_version in ["v1alpha3", "v1"] {
        assert_eq!(version(later_version, &later), [""; 0], "{later_version}");
        assert!(!version(later_version, &first).is_empty(), "{later_version}");
    }
    assert_eq!(version("v1alpha2", &first.replace("hostname", "hostnme")).len(), 1);
    assert!(!version("v1alpha2", &later).is_empty());
}

#[test]
fn a_field_that_only_some_releases_have_is_no_mistake() {
    let target = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}]";
    let basic = |rest: &str| messages(&format!("{TRAFFIC}spec: {{{target}, basicAuth: {{{rest}}}}}\n"));
    assert_eq!(basic("users: ['a:{SHA}b'], forwardUsernameHeader: x-user"), [""; 0]);
    assert_eq!(basic("forwardUsernameHeader: x-user"), ["`spec.basicAuth` needs `users` or `secretRef` or `disable`"]);
    assert_eq!(basic("user: ['a:{SHA}b'], disable: {}").len(), 1, "a slip of the pen");
}
