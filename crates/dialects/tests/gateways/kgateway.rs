//! Rules of attachment, order and errors that no example of the documents shows.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_dialects::gateways::gateway_api::places::Asked;
use upheld_dialects::gateways::gateway_api::scopes::ROUTE;
use upheld_dialects::gateways::gateway_api::settings::ReferenceGrants;
use upheld_dialects::gateways::gateway_api::{ControllerSettings, Network, Settings as TopologySettings};
use upheld_dialects::gateways::kgateway::{PolicyMerge, PolicyStatus, PolicyType, Settings, problems};
use upheld_engine::Snapshot;
use upheld_engine::hierarchy::Effective;
use upheld_engine::hierarchy::fields::SameLevel;
use upheld_loader::load::Choices;
use upheld_loader::{Format, Input};
use upheld_model::{Config, LayerContent};

const WORLD: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gateway}
spec: {gatewayClassName: kgateway, listeners: [{name: http, protocol: HTTP, port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: service}
spec: {ports: [{name: web, port: 80}, {name: admin, port: 81}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: route, labels: {app: shop}}
spec:
  parentRefs: [{name: gateway}]
  rules: [{name: rule, backendRefs: [{name: service, port: 80}]}]
---
";

const BY_NAME: &str = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: route}]";
const BY_RULE: &str =
    "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: route, sectionName: rule}]";
const BY_LABEL: &str =
    "targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {app: shop}}]";
const BY_NOTHING: &str = "targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {}}]";

fn policy(kind: &str, metadata: &str, spec: &str) -> String {
    let group = if kind == "BackendTLSPolicy" { "gateway.networking.k8s.io" } else { "gateway.kgateway.dev" };
    format!("apiVersion: {group}/v1alpha1\nkind: {kind}\nmetadata: {{{metadata}}}\nspec: {{{spec}}}\n---\n")
}

fn traffic(metadata: &str, spec: &str) -> String {
    policy("TrafficPolicy", metadata, spec)
}

fn load(documents: &str, controller: &ControllerSettings) -> Snapshot {
    let text = format!("{WORLD}{documents}");
    // Documents are as short as their cases allow.
    let choices = Choices::default().with(controller.clone()).without_schemas();
    choices.load(vec![Input::text("test", Format::Yaml, text)]).unwrap().snapshot
}

fn with(policies: Settings) -> ControllerSettings {
    ControllerSettings { policies, ..ControllerSettings::default() }
}

fn usual() -> ControllerSettings {
    ControllerSettings::default()
}

fn names(asked: &Asked<'_>, answer: &Effective, places: &[usize]) -> Vec<String> {
    let entry = |place: &usize| asked.kind().policies.entry(answer.order[*place].entry).unwrap();
    places.iter().map(|place| asked.network().snapshot.text(entry(place).name).to_owned()).collect()
}

/// The question about the route, under a kind.
fn route<'s>(snapshot: &'s Snapshot, kind: &str) -> Asked<'s> {
    let network = Network::of(snapshot).unwrap();
    let (_, way) = network.topology().ways().next().unwrap();
    network.under(network.kind(kind).unwrap()).route(&way.chain)
}

/// The policies of the route, the best first.
fn attached(documents: &str, settings: &ControllerSettings) -> Vec<String> {
    let snapshot = load(documents, settings);
    let asked = route(&snapshot, "TrafficPolicy");
    let answer = asked.effective();
    names(&asked, &answer, &(0..answer.order.len()).collect::<Vec<_>>())
}

fn errors(documents: &str, settings: &ControllerSettings) -> Vec<String> {
    errors_of(PolicyType::Traffic, documents, settings)
}

fn errors_of(kind: PolicyType, documents: &str, settings: &ControllerSettings) -> Vec<String> {
    let snapshot = load(documents, settings);
    let network = Network::of(&snapshot).unwrap();
    let all = network.ranked(network.kind(kind.name()).unwrap());
    problems(network, kind, all[0]).to_vec()
}

/// What the status of the only policy says of whether it is accepted.
fn accepted(documents: &str) -> String {
    let snapshot = load(documents, &usual());
    let statuses = Network::of(&snapshot).unwrap().kgateway_statuses();
    let conditions = &statuses[0].ancestors[0].conditions;
    let accepted = conditions.iter().find(|condition| condition.name == "Accepted").unwrap();
    format!("{}: {}", accepted.reason, accepted.message)
}

#[test]
fn a_policy_that_matches_by_name_and_by_label_counts_once() {
    let acl = "acl: {defaultAction: deny, rules: [{action: allow, cidrs: [10.0.0.0/8]}]}";
    let documents = traffic("name: twice", &format!("{BY_NAME}, {BY_LABEL}, {acl}"));
    assert_eq!(attached(&documents, &usual()), ["twice"]);
    let snapshot = load(&documents, &usual());
    let answer = route(&snapshot, "TrafficPolicy").effective();
    let value = &answer.in_scope(ROUTE).unwrap().get("httpACL").unwrap().value;
    assert_eq!(value.get("rules").unwrap().items().len(), 1);
}

#[test]
fn a_selector_without_labels_selects_nothing() {
    assert!(attached(&traffic("name: all", &format!("{BY_NOTHING}, cors: {{}}")), &usual()).is_empty());
}

#[test]
fn only_labels_reach_other_namespaces_and_only_from_the_global_one() {
    let documents = traffic("name: label, namespace: system", &format!("{BY_LABEL}, cors: {{}}"))
        + &traffic("name: name, namespace: system", &format!("{BY_NAME}, cors: {{}}"));
    assert!(attached(&documents, &usual()).is_empty());
    let global = with(Settings { global_namespace: Some("system".to_owned()), ..Settings::default() });
    assert_eq!(attached(&documents, &global), ["label"]);
}

#[test]
fn identities_are_compared_as_one_text_with_the_section() {
    let both = |targets| {
        traffic("name: a", &format!("{targets}, cors: {{}}")) + &traffic("name: a-b", &format!("{targets}, cors: {{}}"))
    };
    assert_eq!(attached(&both(BY_NAME), &usual()), ["a", "a-b"]);
    // `a-b/rule` is before `a/rule`.
    assert_eq!(attached(&both(BY_RULE), &usual()), ["a-b", "a"]);
}

#[test]
fn a_weight_that_is_no_number_breaks_its_policy() {
    let weighted = |weight: &str| {
        let annotation = format!("name: p, annotations: {{kgateway.dev/policy-weight: '{weight}'}}");
        errors(&traffic(&annotation, BY_NAME), &usual()).len()
    };
    assert_eq!([weighted("7"), weighted("-2147483648"), weighted("2147483648"), weighted("much")], [0, 0, 1, 1]);
}

#[test]
fn extensions_of_other_namespaces_need_a_grant_in_strict_mode() {
    let extension = "apiVersion: gateway.kgateway.dev/v1alpha1\nkind: GatewayExtension\n\
                     metadata: {name: e, namespace: other}\nspec: {jwt: {providers: []}}\n---\n";
    let grant = "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: other}\nspec:\n  \
                 from: [{group: gateway.kgateway.dev, kind: TrafficPolicy, namespace: default}]\n  \
                 to: [{group: gateway.kgateway.dev, kind: GatewayExtension}]\n---\n";
    let user = traffic("name: p", &format!("{BY_NAME}, jwtAuth: {{extensionRef: {{name: e, namespace: other}}}}"));
    let topology = TopologySettings { reference_grants: ReferenceGrants::Strict, ..TopologySettings::default() };
    let strict = ControllerSettings { topology, ..usual() };
    let documents = format!("{extension}{user}");
    assert!(errors(&documents, &usual()).is_empty());
    assert_eq!(errors(&documents, &strict), ["jwt: missing reference grant"]);
    assert!(errors(&format!("{documents}{grant}"), &strict).is_empty());
}

#[test]
fn a_policy_for_a_port_stands_alone() {
    let trust = |name: &str, section: &str| {
        let target = format!("targetRefs: [{{group: '', kind: Service, name: service{section}}}]");
        policy("BackendTLSPolicy", name, &format!("{target}, validation: {{hostname: h}}"))
    };
    let documents = trust("name: whole", "") + &trust("name: port", ", sectionName: web");
    let snapshot = load(&documents, &usual());
    let network = Network::of(&snapshot).unwrap();
    let service = snapshot.object_named("Service", "default", "service").unwrap();
    let holding = |port| {
        let asked = network.backend(network.kind("BackendTLSPolicy").unwrap(), service, Some(port));
        let answer = asked.effective();
        names(&asked, &answer, &answer.field("tls", None).unwrap().by)
    };
    assert_eq!([holding("web"), holding("admin")], [["port"], ["whole"]]);
}

#[test]
fn the_setting_is_read_leniently() {
    let of = |text| PolicyMerge::parse(text);
    let acl = |same_level| PolicyMerge::Fields(vec![("httpACL".into(), same_level)]);
    assert_eq!(of(""), PolicyMerge::default());
    assert_eq!(of("{}"), PolicyMerge::default());
    assert_eq!(of(r#"{"trafficPolicy":{"acl":"DeepMerge"}}"#), acl(SameLevel::Combine));
    assert_eq!(of(r#"{"trafficPolicy":{"acl":"Whatever"}}"#), acl(SameLevel::First));
    assert_eq!(of("{"), PolicyMerge::Unreadable);
}

#[test]
fn an_unreadable_setting_silences_traffic_policies() {
    let settings = with(Settings { policy_merge: PolicyMerge::Unreadable, ..Settings::default() });
    let snapshot = load(&traffic("name: p", &format!("{BY_NAME}, cors: {{}}")), &settings);
    assert!(route(&snapshot, "TrafficPolicy").effective().fields.is_empty());
}

#[test]
fn the_order_of_documents_never_shows() {
    let one =
        |name: &str, field: &str| traffic(&format!("name: {name}"), &format!("{BY_NAME}, cors: {{}}, {field}: {{}}"));
    let all = [one("a", "csrf"), one("b", "buffer"), one("c", "csrf")];
    let said = |documents: &str| {
        let snapshot = load(documents, &usual());
        let statuses = Network::of(&snapshot).unwrap().kgateway_statuses();
        let row = |status: &PolicyStatus| (status.ancestors[0].conditions.clone(), status.survival.clone());
        statuses.iter().map(row).collect::<Vec<_>>()
    };
    let [a, b, c] = &all;
    assert_eq!(said(&format!("{a}{b}{c}")), said(&format!("{c}{b}{a}")));
}

#[test]
fn a_status_names_the_secret_that_may_not_be_used() {
    let headers = "headerModifiers: {request: {set: [{name: x, secretRef: {name: keys, namespace: vault}}]}}";
    let keys = "apiKeyAuth: {secretRef: {name: keys, namespace: vault}}";
    let users = "basicAuth: {secretRef: {name: keys, namespace: vault}}";
    for field in [headers, keys, users] {
        let said = accepted(&traffic("name: p", &format!("{BY_NAME}, {field}")));
        assert!(said.starts_with("Invalid: "), "{said}");
        assert!(said.ends_with("secret vault/keys: missing reference grant"), "{said}");
    }
}

#[test]
fn a_status_names_addresses_that_are_not_ranges() {
    let said = |ranges: &str| {
        let acl = format!("acl: {{defaultAction: deny, rules: [{{action: allow, cidrs: [{ranges}]}}]}}");
        accepted(&traffic("name: p", &format!("{BY_NAME}, {acl}")))
    };
    assert_eq!(
        said("10.0.0.0/8, 172.18.0.0/12, 10.1.2.300, 10.0.0.0/33, 10.1.2.3, '::1'"),
        "Invalid: acl: invalid CIDR(s): 172.18.0.0/12 (did you mean 172.16.0.0/12?), 10.1.2.300, 10.0.0.0/33"
    );
    let listener = |ranges: &str| {
        let target = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gateway}]";
        let http = format!("default: {{httpSettings: {{useRemoteAddress: false, xffTrustedCIDRs: [{ranges}]}}}}");
        let documents = policy("ListenerPolicy", "name: l", &format!("{target}, {http}"));
        errors_of(PolicyType::Listener, &documents, &usual())
    };
    assert!(listener("10.0.0.0/8, 172.18.0.0/12").is_empty());
    assert_eq!(listener("10.0.0.0, trusted"), ["xffTrustedCIDRs: invalid CIDR(s): 10.0.0.0, trusted"]);
}

#[test]
fn whether_an_address_is_appended_is_spelt_as_the_controller_does() {
    let fields = |settings: &str| {
        let target = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gateway}]";
        let http = format!("default: {{httpSettings: {{{settings}}}}}");
        let snapshot = load(&policy("ListenerPolicy", "name: l", &format!("{target}, {http}")), &usual());
        let network = Network::of(&snapshot).unwrap();
        let entry = network.ranked(network.kind("ListenerPolicy").unwrap())[0];
        let said = entry.says().unwrap();
        let LayerContent::Fields(fields) = &said.says else { panic!("no fields: {said:?}") };
        let field = |(name, value): &(SmolStr, Arc<Config>)| {
            let parts: Vec<&str> = value.entries().iter().map(|(key, _)| key.as_str()).collect();
            format!("{} {parts:?}", name.trim_start_matches("default.httpSettings."))
        };
        fields.iter().map(field).collect::<Vec<_>>()
    };
    assert_eq!(fields("skipXFFAppend: true"), ["skipXffAppend []"]);
    assert_eq!(
        fields("useRemoteAddress: false, xffNumTrustedHops: 2, skipXFFAppend: false"),
        ["useRemoteAddress []", "skipXffAppend []", r#"xffConfig ["xffNumTrustedHops", "skipXFFAppend"]"#]
    );
}
