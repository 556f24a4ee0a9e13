//! Rules of Envoy Gateway on small worlds.

use upheld_dialects::gateways::gateway_api::Network;
use upheld_dialects::gateways::gateway_api::topology::Step;
use upheld_engine::Snapshot;
use upheld_engine::hierarchy::Entry;
use upheld_loader::load::Choices;
use upheld_loader::{Format, Input};
use upheld_model::config::Content;

/// A gateway `web` with the plain listeners `one` and `two`, a listener set `more` with `one`, and routes: `both` at the
/// gateway, `set` at the set. Both have the rules `first` and `second`.
const WORLD: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web}
spec:
  gatewayClassName: envoy
  allowedListeners: {namespaces: {from: Same}}
  listeners:
  - {name: one, protocol: HTTP, port: 80}
  - {name: two, protocol: HTTP, port: 81}
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more}
spec:
  parentRef: {name: web}
  listeners:
  - {name: one, protocol: HTTP, port: 82}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: both, labels: {team: a}}
spec: {parentRefs: [{name: web}], rules: [{name: first}, {name: second}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: set}
spec: {parentRefs: [{kind: ListenerSet, name: more}], rules: [{name: first}, {name: second}]}
";

/// A policy for traffic with the rest of its spec in flow style. Policies are as old as their names say.
fn policy(name: &str, target: &str, rest: &str) -> String {
    format!(
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {{name: {name}}}\nspec: {{targetRefs: [{{group: gateway.networking.k8s.io, {target}}}], {rest}}}"
    )
}

fn snapshot(policies: &[String]) -> Snapshot {
    let documents: Vec<&str> = std::iter::once(WORLD).chain(policies.iter().map(String::as_str)).collect();
    // Documents are as short as their cases allow.
    let choices = Choices::default().without_schemas();
    choices.load(vec![Input::text("world.yaml", Format::Yaml, documents.join("\n---\n"))]).unwrap().snapshot
}

fn name(snapshot: &Snapshot, entry: &Entry) -> String {
    snapshot.text(entry.name).to_owned()
}

/// One line for each rule at each listener: the policies that its fields come from.
fn holders(policies: &[String]) -> Vec<String> {
    let snapshot = snapshot(policies);
    let network = Network::of(&snapshot).unwrap();
    let kind = network.kind("BackendTrafficPolicy").unwrap();
    let mut lines = Vec::new();
    for found in network.topology().attached() {
        let gateway = network.topology().gateways.get(found.gateway).unwrap();
        for rule in 0..2 {
            let step = Step { route: found.route, rule, matched: 0, parent: found.parent.clone() };
            let asked = network.under(kind).route(&[step]).behind(gateway, &gateway.listeners[found.listener]);
            let answer = asked.effective();
            let entries =
                answer.contributors().into_iter().filter_map(|place| kind.policies.entry(answer.order[place].entry));
            let mut names: Vec<String> = entries.map(|entry| name(&snapshot, entry)).collect();
            names.sort();
            if !names.is_empty() {
                lines.push(format!("{}.{rule}: {}", found.listener, names.join(" ")));
            }
        }
    }
    lines
}

/// One line for each condition.
fn conditions(policies: &[String]) -> Vec<String> {
    let snapshot = snapshot(policies);
    let mut lines = Vec::new();
    for status in Network::of(&snapshot).unwrap().envoy_statuses() {
        let name = snapshot.text(snapshot.policy(status.policy).unwrap().name);
        for ancestor in status.ancestors {
            let section = ancestor.ancestor.section.unwrap_or_default();
            let said = ancestor.conditions.iter().map(|condition| format!("{}={}", condition.name, condition.reason));
            lines.push(format!("{name}#{section}: {}", said.collect::<Vec<_>>().join(" ")));
        }
    }
    lines
}

const TIMEOUT: &str = "timeout: {tcp: {connectTimeout: 1s}}";
const UPGRADE: &str = "httpUpgrade: [{type: websocket}]";

#[test]
fn the_more_specific_policy_stands_alone() {
    let policies = [
        policy("gateway", "kind: Gateway, name: web", TIMEOUT),
        policy("listener", "kind: Gateway, name: web, sectionName: one", TIMEOUT),
        policy("route", "kind: HTTPRoute, name: both", UPGRADE),
        policy("rule", "kind: HTTPRoute, name: both, sectionName: second", UPGRADE),
    ];
    assert_eq!(holders(&policies[..1]), ["0.0", "0.1", "1.0", "1.1", "2.0", "2.1"].map(|at| format!("{at}: gateway")));
    // The listener of the set has the same name as that of the gateway, and none of its policies.
    assert_eq!(
        holders(&policies),
        ["0.0: route", "0.1: rule", "1.0: route", "1.1: rule", "2.0: gateway", "2.1: gateway"]
    );
}

#[test]
fn merging_takes_the_nearest_policy_of_each_listener() {
    let policies = [
        policy("gateway", "kind: Gateway, name: web", TIMEOUT),
        policy("listener", "kind: Gateway, name: web, sectionName: one", TIMEOUT),
        policy("route", "kind: HTTPRoute, name: both", "retry: {numRetries: 1}"),
        policy("rule", "kind: HTTPRoute, name: both, sectionName: second", &format!("mergeType: JSONMerge, {UPGRADE}")),
    ];
    // Not with that of the route.
    assert_eq!(
        holders(&policies)[..4],
        ["0.0: route", "0.1: listener rule", "1.0: route", "1.1: gateway rule"].map(str::to_owned)
    );
    assert_eq!(
        conditions(&policies),
        [
            "gateway#: Accepted=Accepted Merged=Merged Overridden=Overridden",
            "listener#one: Accepted=Accepted Merged=Merged",
            "route#: Accepted=Accepted Overridden=Overridden",
            "rule#: Accepted=Accepted",
            "rule#one: Merged=Merged",
            "rule#two: Merged=Merged",
        ]
    );
}

#[test]
fn the_second_on_a_target_is_refused() {
    let policies = [
        policy("a", "kind: Gateway, name: web", TIMEOUT),
        policy("b", "kind: Gateway, name: web", TIMEOUT),
        policy("c", "kind: Gateway, name: web, sectionName: three", TIMEOUT),
        policy("d", "kind: Gateway, name: other", TIMEOUT),
    ];
    let expected = ["a#: Accepted=Accepted", "b#: Accepted=Conflicted", "c#three: Accepted=TargetNotFound"];
    assert_eq!(conditions(&policies), expected);
}

#[test]
fn global_limits_of_both_policies_stay() {
    let limits = "rateLimit: {global: {rules: [{limit: {requests: 1, unit: Hour}}]}}";
    let both = |how: &str| {
        let child = format!("mergeType: {how}, {limits}");
        holders(&[
            policy("gateway", "kind: Gateway, name: web", limits),
            policy("route", "kind: HTTPRoute, name: both", &child),
        ])
    };
    assert_eq!(both("StrategicMerge")[0], "0.0: gateway route");
    assert_eq!(both("JSONMerge")[0], "0.0: route");
}

#[test]
fn each_global_limit_keeps_the_policy_that_wrote_it() {
    let rule = |requests: u8| format!("{{limit: {{requests: {requests}, unit: Hour}}}}");
    let limits = |rules: &[u8]| {
        let rules: Vec<String> = rules.iter().copied().map(rule).collect();
        format!("rateLimit: {{type: Global, global: {{rules: [{}]}}}}", rules.join(", "))
    };
    let owners = |gateway: &str, route: &str| {
        let snapshot = snapshot(&[
            policy("gateway", "kind: Gateway, name: web", gateway),
            policy("route", "kind: HTTPRoute, name: both", route),
        ]);
        let network = Network::of(&snapshot).unwrap();
        let kind = network.kind("BackendTrafficPolicy").unwrap();
        let (_, way) = network.topology().ways().next().unwrap();
        let gateway = network.topology().gateways.get(0).unwrap();
        let answer = network.under(kind).route(&way.chain).behind(gateway, &gateway.listeners[0]).effective();
        let by = |place: usize| name(&snapshot, kind.policies.entry(answer.order[place].entry).unwrap());
        let leaves = answer.merged.as_ref().unwrap().leaves();
        let mut owners = Vec::new();
        for leaf in leaves.iter().filter(|leaf| leaf.path.starts_with("rateLimit.global.rules")) {
            let value = leaf.value.unwrap();
            // Rules that meet nothing are one value.
            let items = value.items().iter().map(|rule| rule.get("limit").unwrap().get("requests").unwrap());
            let amounts = items.chain(leaf.path.ends_with(".requests").then_some(value));
            owners.extend(amounts.map(|amount| match &amount.content {
                Content::Number(number) => format!("{} {number}", by(leaf.by)),
                other => panic!("not a number: {other:?}"),
            }));
        }
        owners
    };
    for how in ["StrategicMerge", "JSONMerge"] {
        let merging = |rest: &str| format!("mergeType: {how}, {rest}");
        assert_eq!(owners(&limits(&[1, 2]), &merging(TIMEOUT)), ["gateway 1", "gateway 2"]);
        assert_eq!(owners(TIMEOUT, &merging(&limits(&[3, 4]))), ["route 3", "route 4"]);
        let both = owners(&limits(&[1, 2]), &merging(&limits(&[3])));
        let replaced = how == "JSONMerge";
        assert_eq!(both, if replaced { vec!["route 3"] } else { vec!["route 3", "gateway 1", "gateway 2"] });
        // Equal limits of two policies stay two limits.
        let equal = owners(&limits(&[1]), &merging(&limits(&[1])));
        assert_eq!(equal, if replaced { vec!["route 1"] } else { vec!["route 1", "gateway 1"] });
    }
}

#[test]
fn labels_select_targets() {
    let selecting = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {name: a}\nspec: {targetSelectors: [{kind: HTTPRoute, matchLabels: {team: a}}]}";
    assert_eq!(holders(&[selecting.to_owned()]), ["0.0: a", "0.1: a", "1.0: a", "1.1: a"]);
}

#[test]
fn many_ancestors_are_cut_short() {
    let gateways: Vec<String> = (10..30)
        .map(|number| {
            format!(
                "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: web-{number}}}\nspec: {{gatewayClassName: envoy, listeners: []}}"
            )
        })
        .collect();
    let targets: Vec<String> = (10..30).map(|number| format!("{{kind: Gateway, name: web-{number}}}")).collect();
    let wide = format!(
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {{name: wide}}\nspec: {{targetRefs: [{}]}}",
        targets.join(", ")
    );
    let lines = conditions(&[gateways, vec![wide]].concat());
    assert_eq!(lines.len(), 16);
    assert_eq!(lines[15], "wide#: Accepted=Accepted Aggregated=Aggregated");
}

#[test]
fn plain_listeners_of_a_port_are_received_alike() {
    let documents = [
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: shared}\nspec: {gatewayClassName: envoy, listeners: [{name: a, protocol: HTTP, port: 80, hostname: a.test}, {name: b, protocol: HTTP, port: 80, hostname: b.test}]}",
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: ClientTrafficPolicy\nmetadata: {name: a}\nspec: {targetRefs: [{kind: Gateway, name: shared, sectionName: a}]}",
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: ClientTrafficPolicy\nmetadata: {name: b}\nspec: {targetRef: {kind: Gateway, name: shared}}",
    ];
    assert_eq!(
        conditions(&documents.map(str::to_owned)),
        ["a#a: Accepted=Invalid", "b#: Overridden=Overridden Accepted=Accepted Warning=DeprecatedField"]
    );
}

#[test]
fn namespace_and_name_are_compared_one_after_the_other() {
    let policy = |namespace: &str, created: &str| {
        format!(
            "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {{name: x, namespace: {namespace}, creationTimestamp: {created}}}\nspec: {{}}"
        )
    };
    let (early, late) = ("2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z");
    let snapshot = snapshot(&[policy("a-b", late), policy("a", late), policy("z", early)]);
    let network = Network::of(&snapshot).unwrap();
    let order = network.ranked(network.kind("SecurityPolicy").unwrap());
    let namespaces: Vec<&str> = order.iter().map(|entry| snapshot.text(entry.namespace)).collect();
    // As one text, `a-b/x` would come before `a/x`.
    assert_eq!(namespaces, ["z", "a", "a-b"]);
}
