//! Laws: asking where a change can reach finds what asking everywhere finds, and what a policy has a say in.

mod cost;

use proptest::prelude::*;
use proptest::sample::select;
use upheld_dialects::{changed, dialects};

use upheld_loader::load::{Choices, Loaded};
use upheld_loader::{Format, Input};
use upheld_report::Shifts;

use super::super::tests::options;
use super::super::{Causes, Compared, Owners, Walk};
use crate::{Words, World};

fn read(documents: &[String]) -> Loaded {
    let inputs = documents.iter().enumerate();
    let inputs = inputs.map(|(number, text)| Input::text(format!("{number}.yaml"), Format::Yaml, text.clone()));
    // What is compared need not be what a cluster would take.
    let choices = Choices::of_semantics(&[]).without_schemas();
    choices.load(inputs.collect()).unwrap_or_else(|broken| panic!("{:?} {documents:#?}", broken.diagnostics))
}

/// What is otherwise at places.
fn walked(before: &Loaded, after: &Loaded, walk: Walk) -> Shifts {
    let (options, changed) = (options(), changed(&before.snapshot, &after.snapshot));
    let [before, after] = [before, after].map(|loaded| World::new(&loaded.snapshot, &options));
    let causes = Causes::of(&changed);
    let compared = Compared {
        before: &before,
        after: &after,
        causes: &causes,
        owners: Owners::Counted,
        among: None,
        walk,
        from: 0,
    };
    compared.places()
}

/// Asking where the change can reach finds what asking everywhere finds.
fn finds_the_same(before: &[String], after: &[String]) -> Result<(), TestCaseError> {
    let [was, is] = [before, after].map(read);
    let [whole, reached] = [Walk::Whole, Walk::Reached].map(|walk| walked(&was, &is, walk));
    let found = |shifts: &Shifts| serde_json::to_value(&shifts.shifts).expect("is JSON");
    prop_assert_eq!(found(&reached), found(&whole), "{:#?} {:#?}", before, after);
    let counts = |shifts: &Shifts| (shifts.counts.changed, shifts.counts.began, shifts.counts.ended);
    prop_assert_eq!(counts(&reached), counts(&whole));
    prop_assert_eq!(reached.owners, whole.owners);
    prop_assert!(reached.counts.compared <= whole.counts.compared);
    Ok(())
}

/// A document that is there before, after, or both, perhaps not the same.
type Versions = (Option<String>, Option<String>);

fn versions(one: impl Strategy<Value = String> + Clone) -> impl Strategy<Value = Versions> {
    (one.clone(), one, 0..14_u8).prop_map(|(first, second, fate)| match fate {
        0 => (Some(first), None),
        1 => (None, Some(first)),
        2 => (Some(first), Some(second)),
        3 | 4 => (None, None),
        _ => (Some(first.clone()), Some(first)),
    })
}

fn sides(all: Vec<Versions>) -> [Vec<String>; 2] {
    let (before, after): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    [before, after].map(|side| side.into_iter().flatten().collect())
}

const GATEWAY_API: &str = "apiVersion: gateway.networking.k8s.io/v1\n";
const KGATEWAY: &str = "apiVersion: gateway.kgateway.dev/v1alpha1\n";
const ENVOY: &str = "apiVersion: gateway.envoyproxy.io/v1alpha1\n";

fn gateway(name: &'static str, class: &'static str) -> impl Strategy<Value = String> + Clone {
    let hosts = select(&["", ", hostname: '*.example.com'"][..]);
    hosts.prop_map(move |host| {
        format!(
            "{GATEWAY_API}kind: Gateway\nmetadata: {{name: {name}, namespace: a, labels: {{tier: x}}}}\nspec:\n  gatewayClassName: \
             {class}\n  allowedListeners: {{namespaces: {{from: All}}}}\n  listeners:\n  - {{name: http, port: 80, protocol: HTTP{host}, \
             allowedRoutes: {{namespaces: {{from: All}}}}}}\n  - {{name: other, port: 8080, protocol: HTTP}}\n"
        )
    })
}

fn class(name: &'static str, controller: &'static str) -> String {
    format!("{GATEWAY_API}kind: GatewayClass\nmetadata: {{name: {name}}}\nspec: {{controllerName: {controller}}}\n")
}

fn listener_set() -> impl Strategy<Value = String> + Clone {
    select(&["edge", "nowhere"][..]).prop_map(|parent| {
        format!(
            "{GATEWAY_API}kind: ListenerSet\nmetadata: {{name: set, namespace: a}}\nspec:\n  parentRef: {{name: {parent}}}\n  \
             listeners: [{{name: more, port: 81, protocol: HTTP}}]\n"
        )
    })
}

const PARENTS: [&str; 7] = [
    "parentRefs: [{name: edge, namespace: a}], ",
    "parentRefs: [{name: edge, namespace: a, sectionName: http}], ",
    "parentRefs: [{name: eg, namespace: a}], ",
    "parentRefs: [{name: set, namespace: a, kind: ListenerSet}], ",
    "parentRefs: [{name: nowhere, namespace: a}], ",
    "parentRefs: [{name: edge, namespace: a}, {name: eg, namespace: a}], ",
    "",
];
const BACKENDS: [&str; 6] = [
    "backendRefs: [{name: s0, port: 80}]",
    "backendRefs: [{name: s1, port: 80}, {name: s0, port: 80}]",
    "backendRefs: [{name: s0, namespace: b, port: 80}]",
    "backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r2}]",
    "backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: '*', namespace: b}]",
    "backendRefs: [{group: delegation.kgateway.dev, kind: label, name: blue, namespace: '*'}]",
];
const FILTERS: [&str; 4] = [
    "",
    "",
    "filters: [{type: ExtensionRef, extensionRef: {group: gateway.kgateway.dev, kind: TrafficPolicy, name: p0}}], ",
    "filters: [{type: ExtensionRef, extensionRef: {group: gateway.kgateway.dev, kind: DirectResponse, name: d0}}], ",
];

fn route(number: usize) -> impl Strategy<Value = String> + Clone {
    let namespace = if number < 3 { "a" } else { "b" };
    let label = select(&["", "delegation.kgateway.dev/label: blue", "tier: x"][..]);
    let host = select(&["", "hostnames: [a.example.com], ", "hostnames: [b.example.com, c.test], "][..]);
    let path = select(&["/", "/x", "/x/y"][..]);
    let says = select(&["", "timeouts: {request: 9s}, "][..]);
    let parts = (label, select(&PARENTS[..]), host, path, says, select(&FILTERS[..]), select(&BACKENDS[..]));
    parts.prop_map(move |(label, parents, host, path, says, filters, backends)| {
        format!(
            "{GATEWAY_API}kind: HTTPRoute\nmetadata: {{name: r{number}, namespace: {namespace}, labels: {{{label}}}}}\nspec: {{{parents}{host}rules: \
             [{{name: main, matches: [{{path: {{type: PathPrefix, value: {path}}}}}], {says}{filters}{backends}}}]}}\n"
        )
    })
}

fn service(name: &'static str, namespace: &'static str) -> impl Strategy<Value = String> + Clone {
    select(&[80, 81][..]).prop_map(move |port| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: {namespace}, labels: {{tier: x}}}}\nspec: {{ports: [{{name: web, \
             port: {port}}}]}}\n"
        )
    })
}

const TARGETS: [&str; 8] = [
    "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}], ",
    "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge, sectionName: http}], ",
    "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: eg}], ",
    "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r0}], ",
    "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r1, sectionName: main}], ",
    "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r2}, {group: gateway.networking.k8s.io, kind: ListenerSet, name: set}], ",
    "targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {tier: x}}], ",
    "",
];

fn traffic_policy(number: usize) -> impl Strategy<Value = String> + Clone {
    let says = select(
        &[
            "timeouts: {request: 1s}",
            "timeouts: {request: 2s}, retry: {attempts: 2}",
            "rbac: {policy: {matchExpressions: ['true']}}",
            "extAuth: {extensionRef: {name: ext}}",
        ][..],
    );
    (select(&TARGETS[..]), says).prop_map(move |(target, says)| {
        format!(
            "{KGATEWAY}kind: TrafficPolicy\nmetadata: {{name: p{number}, namespace: a}}\nspec: {{{target}{says}}}\n"
        )
    })
}

fn other_policy(number: usize) -> impl Strategy<Value = String> + Clone {
    let kinds = select(
        &[
            (ENVOY, "BackendTrafficPolicy", "timeout: {tcp: {connectTimeout: 1s}}", 7),
            (ENVOY, "BackendTrafficPolicy", "mergeType: StrategicMerge, retry: {numRetries: 2}", 7),
            (ENVOY, "ClientTrafficPolicy", "timeout: {http: {requestReceivedTimeout: 3s}}", 3),
            (KGATEWAY, "HTTPListenerPolicy", "xffNumTrustedHops: 2", 3),
        ][..],
    );
    (kinds, 0..8_usize).prop_map(move |((group, kind, says, most), target)| {
        let target = TARGETS[target % most];
        format!("{group}kind: {kind}\nmetadata: {{name: o{number}, namespace: a}}\nspec: {{{target}{says}}}\n")
    })
}

fn of_service() -> impl Strategy<Value = String> + Clone {
    let kinds = select(
        &[
            "apiVersion: gateway.kgateway.dev/v1alpha1\nkind: BackendConfigPolicy\nSPECconnectTimeout: 3s}\n",
            "apiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nSPECvalidation: {hostname: x, wellKnownCACertificates: System}}\n",
        ][..],
    );
    (kinds, select(&["s0", "s1"][..])).prop_map(|(kind, service)| {
        let spec = format!(
            "metadata: {{name: b, namespace: a}}\nspec: {{targetRefs: [{{group: '', kind: Service, name: {service}}}], "
        );
        kind.replace("SPEC", &spec)
    })
}

fn gateway_worlds() -> impl Strategy<Value = [Vec<String>; 2]> {
    let extension = format!(
        "{KGATEWAY}kind: GatewayExtension\nmetadata: {{name: ext, namespace: a}}\nspec: {{type: ExtAuth, extAuth: {{grpcService: {{backendRef: \
         {{name: s1, port: 80}}}}}}}}\n"
    );
    let answer =
        format!("{KGATEWAY}kind: DirectResponse\nmetadata: {{name: d0, namespace: a}}\nspec: {{status: 410}}\n");
    let grant = "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: b}\nspec: {from: [{group: \
                 gateway.networking.k8s.io, kind: HTTPRoute, namespace: a}], to: [{group: '', kind: Service}]}\n";
    let gateways = (versions(gateway("edge", "kgateway")), versions(gateway("eg", "envoy")), versions(listener_set()));
    let routes = (0..5).map(|number| versions(route(number))).collect::<Vec<_>>();
    let services = (versions(service("s0", "a")), versions(service("s1", "a")), versions(service("s0", "b")));
    let traffic = (0..4).map(|number| versions(traffic_policy(number))).collect::<Vec<_>>();
    let others = (0..3).map(|number| versions(other_policy(number))).collect::<Vec<_>>();
    let fixed = (versions(Just(extension)), versions(Just(answer)), versions(Just(grant.to_owned())));
    let all = (gateways, routes, services, traffic, others, versions(of_service()), fixed);
    all.prop_map(|(gateways, routes, services, traffic, others, of_service, fixed)| {
        let classes = [
            class("kgateway", "kgateway.dev/kgateway"),
            class("envoy", "gateway.envoyproxy.io/gatewayclass-controller"),
        ];
        let mut all: Vec<Versions> = classes.into_iter().map(|class| (Some(class.clone()), Some(class))).collect();
        all.extend([gateways.0, gateways.1, gateways.2, services.0, services.1, services.2, of_service]);
        all.extend([fixed.0, fixed.1, fixed.2]);
        all.extend(routes.into_iter().chain(traffic).chain(others));
        sides(all)
    })
}

fn workload(name: &'static str, namespace: &'static str) -> impl Strategy<Value = String> + Clone {
    let labels = select(&["app: x", "app: y, tier: a", "tier: b"][..]);
    let ports = select(&["", "ports: [{containerPort: 80, name: web}]", "ports: [{containerPort: 81}]"][..]);
    let network = select(&["", "", "", "hostNetwork: true, "][..]);
    (labels, ports, network).prop_map(move |(labels, ports, network)| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {{selector: {{matchLabels: {{{labels}}}}}, \
             template: {{metadata: {{labels: {{{labels}}}}}, spec: {{{network}containers: [{{name: c, image: x, {ports}}}]}}}}}}\n"
        )
    })
}

fn namespace(name: &'static str) -> impl Strategy<Value = String> + Clone {
    select(&["team: one", "team: two"][..]).prop_map(move |labels| {
        format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, labels: {{{labels}}}}}\n")
    })
}

fn network_policy(number: usize) -> impl Strategy<Value = String> + Clone {
    let pods = select(&["{}", "{matchLabels: {app: x}}", "{matchLabels: {tier: a}}"][..]);
    let peers = select(
        &[
            "",
            "PEERS: [{podSelector: {matchLabels: {app: y}}}]",
            "PEERS: [{namespaceSelector: {matchLabels: {team: one}}}]",
            "PEERS: [{namespaceSelector: {matchExpressions: [{key: team, operator: DoesNotExist}]}, podSelector: {}}, {podSelector: {}}]",
            "PEERS: [{ipBlock: {cidr: 10.0.0.0/8}}]",
        ][..],
    );
    let ports = select(&["", "ports: [{port: 80}]", "ports: [{port: web}]", "ports: [{port: 80, endPort: 90}]"][..]);
    let types = select(&["[Ingress]", "[Egress]", "[Ingress, Egress]"][..]);
    (select(&["a", "b"][..]), pods, peers, ports, types).prop_map(move |(namespace, pods, peers, ports, types)| {
        let rule = |word: &str| format!("[{{{}, {ports}}}]", peers.replace("PEERS", word)).replace("{, ", "{");
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {{name: p{number}, namespace: {namespace}}}\nspec: {{podSelector: \
             {pods}, policyTypes: {types}, ingress: {}, egress: {}}}\n",
            rule("from"),
            rule("to")
        )
    })
}

fn network_worlds() -> impl Strategy<Value = [Vec<String>; 2]> {
    let workloads = [("w0", "a"), ("w1", "a"), ("w2", "b"), ("w3", "b"), ("w0", "b")];
    let workloads: Vec<_> =
        workloads.into_iter().map(|(name, namespace)| versions(workload(name, namespace))).collect();
    let namespaces: Vec<_> = ["a", "b"].into_iter().map(|name| versions(namespace(name))).collect();
    let policies: Vec<_> = (0..4).map(|number| versions(network_policy(number))).collect();
    (workloads, namespaces, policies).prop_map(|(workloads, namespaces, policies)| {
        sides(workloads.into_iter().chain(namespaces).chain(policies).collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn p2_what_a_change_of_network_policies_can_reach_is_all_that_changes([before, after] in network_worlds()) {
        finds_the_same(&before, &after)?;
    }

    /// Where a policy has no say, no report has it among those that matched.
    #[test]
    fn p3_a_policy_of_gateways_has_a_say_where_it_is_asked_about([documents, _] in gateway_worlds()) {
        let (loaded, options) = (read(&documents), options());
        let (snapshot, world) = (&loaded.snapshot, World::new(&loaded.snapshot, &options));
        let asked: Vec<Words> = dialects().flat_map(|dialect| dialect.questions(snapshot, usize::MAX - 1).0).collect();
        for (id, policy) in snapshot.policies().iter() {
            let about: Vec<Words> = dialects().flat_map(|one| one.questions_about(snapshot, id, usize::MAX - 1).0).collect();
            let [scope, name] = [policy.scope, policy.name].map(|part| snapshot.text(part));
            for words in asked.iter().filter(|words| !about.contains(words)) {
                let answer = world.question(words).and_then(|question| world.answer(&question)).unwrap_or_default();
                let mut candidates = answer.reports.iter().flat_map(|report| {
                    let of_kind = report.kind == snapshot.text(policy.kind);
                    report.candidates.iter().filter(move |_| of_kind)
                });
                let is_own = |called: &str| called == format!("{scope}/{name}") || called == name;
                prop_assert!(!candidates.any(|one| one.matched() && is_own(&one.policy)), "{:?} {}", words, name);
            }
        }
    }
}
