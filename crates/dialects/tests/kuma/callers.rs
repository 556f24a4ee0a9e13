//! Asking with a caller equals looking it up in the listing: for every kind, edition and form of caller.
//!
//! The lookup here is written anew, from the listing alone: rules for what comes in, and cells of clients.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Map, Value as Json};
use upheld_dialects::kuma::ends::proxies;
use upheld_dialects::kuma::inbound_match::specificity;
use upheld_dialects::kuma::rules::{Rules, kinds};
use upheld_engine::Snapshot;
use upheld_model::Config;
use upheld_report::{Report, Verdict};

use super::asked::{loaded, reports, words};

/// Kinds about what comes in, with two fields that a policy may set, and whether a rule may name callers.
const KINDS: [(&str, [&str; 2], bool); 6] = [
    ("MeshTimeout", ["idleTimeout", "connectionTimeout"], true),
    ("MeshRateLimit", ["local.http.requestRate.num", "local.tcp.connectionRate.num"], true),
    ("MeshAccessLog", ["backends", "backends"], true),
    ("MeshCircuitBreaker", ["connectionLimits.maxConnections", "connectionLimits.maxRetries"], false),
    ("MeshTLS", ["mode", "tlsCiphers"], false),
    ("MeshFaultInjection", ["http", "http"], true),
];
const PERMISSION: &str = "MeshTrafficPermission";

const MESH: &str = "type: Mesh
name: default
mtls: {enabledBackend: c, backends: [{name: c, type: builtin}]}
---
type: Dataplane
name: back-1
labels: {app: back}
networking: {address: 10.0.0.1, inbound: [{port: 80, name: http, tags: {kuma.io/service: back}}, {port: 81, tags: {kuma.io/service: admin}}]}
";

/// What a caller has: values of tags, and who it proves to be.
#[derive(Clone, Debug, Default)]
struct Caller {
    written: String,
    tags: BTreeMap<String, BTreeSet<String>>,
    identities: BTreeSet<String>,
}

impl Caller {
    fn of_tags(tags: &[(&str, &str)]) -> Self {
        let mut caller = Self::default();
        for (key, value) in tags {
            caller.tags.entry((*key).to_owned()).or_default().insert((*value).to_owned());
        }
        let services = caller.tags.get("kuma.io/service").cloned().unwrap_or_default();
        caller.identities = services.iter().map(|service| format!("spiffe://default/{service}")).collect();
        caller
    }
}

/// A policy in the making: which kind, whom it is attached to, its items.
#[derive(Clone, Debug)]
struct Policy {
    kind: usize,
    attached: usize,
    items: Vec<Item>,
}

#[derive(Clone, Debug)]
struct Item {
    whom: usize,
    field: usize,
    value: u8,
    allow: bool,
}

fn policy() -> impl Strategy<Value = Policy> {
    let item = (0..6_usize, 0..2_usize, 1..4_u8, any::<bool>());
    let item = item.prop_map(|(whom, field, value, allow)| Item { whom, field, value, allow });
    let items = proptest::collection::vec(item, 1..4);
    (0..=KINDS.len(), 0..3_usize, items).prop_map(|(kind, attached, items)| Policy { kind, attached, items })
}

/// A proxy that calls: tags of one or two inbounds, or none.
fn inbounds() -> impl Strategy<Value = Vec<(String, Option<String>)>> {
    let service = prop_oneof![Just("web"), Just("shop"), Just("other")].prop_map(str::to_owned);
    let version = proptest::option::of(prop_oneof![Just("v1"), Just("v2")].prop_map(str::to_owned));
    proptest::collection::vec((service, version), 0..3)
}

/// How what comes in is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    From,
    Rules,
}

impl Policy {
    fn text(&self, number: usize, form: Form) -> String {
        let (kind, ..) = KINDS.get(self.kind).copied().unwrap_or((PERMISSION, ["", ""], false));
        let top = ["{kind: Mesh}", "{kind: Dataplane, labels: {app: back}}", "{kind: Dataplane, sectionName: http}"];
        let items: Vec<String> = self.items.iter().map(|item| self.item(item, form)).collect();
        let field = if form == Form::From { "from" } else { "rules" };
        let items = items.join("\n  - ");
        format!("type: {kind}\nname: p{number}\nspec:\n  targetRef: {}\n  {field}:\n  - {items}\n", top[self.attached])
    }

    fn item(&self, item: &Item, form: Form) -> String {
        let identity = ["spiffe://default/web", "spiffe://default/shop", "spiffe://default/"];
        let identity = |whom: usize| {
            let how = if whom % 3 == 2 { "Prefix" } else { "Exact" };
            format!("{{spiffeID: {{type: {how}, value: \"{}\"}}}}", identity[whom % 3])
        };
        let from = [
            "{kind: Mesh}",
            "{kind: MeshService, name: web}",
            "{kind: MeshSubset, tags: {version: v1}}",
            "{kind: MeshSubset, tags: {version: v2}}",
            "{kind: MeshServiceSubset, name: shop, tags: {version: v1}}",
            "{kind: MeshService, name: shop}",
        ];
        match (KINDS.get(self.kind), form) {
            (None, Form::From) => {
                let action = if item.allow { "Allow" } else { "Deny" };
                format!("{{targetRef: {}, default: {{action: {action}}}}}", from[item.whom])
            }
            (None, Form::Rules) => {
                let list = if item.allow { "allow" } else { "deny" };
                format!("{{default: {{{list}: [{}]}}}}", identity(item.whom))
            }
            (Some((kind, fields, by_caller)), form) => {
                let value = payload(kind, fields[item.field], item.value);
                // Rules for all callers have no other form, so the older one says the same of the whole mesh.
                let whom = if *kind == "MeshFaultInjection" { item.whom } else { 0 };
                match form {
                    Form::From => format!("{{targetRef: {}, default: {value}}}", from[whom]),
                    Form::Rules if *by_caller && item.whom < 3 => {
                        format!("{{matches: [{}], default: {value}}}", identity(item.whom))
                    }
                    Form::Rules => format!("{{default: {value}}}"),
                }
            }
        }
    }
}

fn payload(kind: &str, field: &str, value: u8) -> String {
    match (kind, field) {
        ("MeshTimeout", field) => format!("{{{field}: {value}s}}"),
        ("MeshRateLimit", "local.http.requestRate.num") => {
            format!("{{local: {{http: {{requestRate: {{num: {value}, interval: 1s}}}}}}}}")
        }
        ("MeshRateLimit", _) => format!("{{local: {{tcp: {{connectionRate: {{num: {value}, interval: 1s}}}}}}}}"),
        ("MeshAccessLog", _) => format!("{{backends: [{{type: File, file: {{path: /log-{value}}}}}]}}"),
        ("MeshCircuitBreaker", field) => {
            format!("{{connectionLimits: {{{}: {value}}}}}", field.rsplit('.').next().unwrap_or_default())
        }
        ("MeshTLS", "mode") => format!("{{mode: {}}}", if value == 1 { "Strict" } else { "Permissive" }),
        ("MeshTLS", _) => "{tlsCiphers: [ECDHE-RSA-AES256-GCM-SHA384]}".to_owned(),
        _ => format!("{{http: [{{abort: {{httpStatus: 50{value}, percentage: 50}}}}]}}"),
    }
}

/// All callers that are asked for: a proxy by name, and tags and identities that nobody needs to have.
fn callers(inbounds: &[(String, Option<String>)]) -> Vec<Caller> {
    let mut tags = Vec::new();
    for (service, version) in inbounds {
        tags.push(("kuma.io/service", service.as_str()));
        tags.extend(version.as_deref().map(|version| ("version", version)));
    }
    let by_name = Caller { written: "caller-1".to_owned(), ..Caller::of_tags(&tags) };
    let made_up = |tags: &[(&str, &str)]| {
        let written = tags.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",");
        Caller { written, ..Caller::of_tags(tags) }
    };
    let by_identity = |id: &str| Caller {
        written: format!("spiffeID={id}"),
        tags: BTreeMap::new(),
        identities: BTreeSet::from([id.to_owned()]),
    };
    vec![
        by_name,
        made_up(&[("kuma.io/service", "web")]),
        made_up(&[("kuma.io/service", "shop"), ("version", "v1")]),
        by_identity("spiffe://default/web"),
        by_identity("spiffe://elsewhere/web"),
    ]
}

fn world(policies: &[Policy], form: Form, inbounds: &[(String, Option<String>)]) -> String {
    let mut text = MESH.to_owned();
    let inbounds: Vec<String> = inbounds
        .iter()
        .enumerate()
        .map(|(number, (service, version))| {
            let version = version.as_ref().map(|version| format!(", version: {version}")).unwrap_or_default();
            format!("{{port: {}, tags: {{kuma.io/service: {service}{version}}}}}", 80 + number)
        })
        .collect();
    let inbounds = inbounds.join(", ");
    text.push_str(&format!(
        "---\ntype: Dataplane\nname: caller-1\nnetworking: {{address: 10.0.0.2, inbound: [{inbounds}]}}\n"
    ));
    for (number, policy) in policies.iter().enumerate() {
        text.push_str(&format!("---\n{}", policy.text(number, form)));
    }
    text
}

/// A part of the listing of one kind.
struct Listing<'s> {
    snapshot: &'s Snapshot,
    rules: Rules<'s>,
    slots: Vec<u32>,
}

impl Listing<'_> {
    /// What rules for what comes in come to: those for a caller, the least specific first, each over the ones before.
    fn inbound(&self, caller: &Caller) -> Vec<Json> {
        let mut listed = self.rules.inbound_rules(&self.slots);
        listed.retain(|rule| rule.callers.as_deref().is_none_or(|callers| is_about(callers, caller)));
        listed.sort_by_key(|rule| Reverse(specificity(rule.callers.as_deref())));
        listed.iter().map(|rule| json(&self.rules.merge.entry(rule.entry).expect("an entry").config)).collect()
    }

    /// What the cells of clients that a caller is in come to.
    fn cells(&self, caller: &Caller) -> Vec<Json> {
        let listed = self.rules.client_rules(&self.slots).expect("few cells");
        let own = listed.iter().filter(|rule| {
            rule.subset.tags.iter().all(|tag| {
                let has = caller.tags.get(tag.key.as_str()).is_some_and(|values| values.contains(tag.value.as_str()));
                has != tag.not
            })
        });
        own.map(|rule| json(&rule.conf)).collect()
    }

    fn kind(&self) -> &str {
        self.snapshot.text(self.rules.kind.name)
    }
}

fn is_about(callers: &Config, caller: &Caller) -> bool {
    let text = |name: &str| callers.get("spiffeID").and_then(|id| id.get(name)?.as_text().map(str::to_owned));
    let (how, value) = (text("type").unwrap_or_default(), text("value").unwrap_or_default());
    caller.identities.iter().any(|id| if how == "Prefix" { id.starts_with(&value) } else { *id == value })
}

fn json(config: &Config) -> Json {
    serde_json::to_value(config).expect("JSON")
}

/// One over the other: maps are merged, everything else is replaced.
fn over(below: Json, above: Json) -> Json {
    match (below, above) {
        (Json::Object(mut below), Json::Object(above)) => {
            for (key, value) in above {
                let known = below.remove(&key).unwrap_or_else(|| Json::Object(Map::new()));
                below.insert(key, over(known, value));
            }
            Json::Object(below)
        }
        (_, above) => above,
    }
}

/// As text, whatever the order of fields.
fn sorted(value: &Json) -> String {
    match value {
        Json::Object(fields) => {
            let fields: BTreeMap<&String, String> = fields.iter().map(|(key, value)| (key, sorted(value))).collect();
            format!("{fields:?}")
        }
        other => other.to_string(),
    }
}

/// Whether lists of callers allow one: a deny counts before any allow.
fn by_lists(rules: &[Json], caller: &Caller) -> bool {
    let listed = |name: &str| {
        let items = rules.iter().flat_map(|rule| rule.get(name).and_then(Json::as_array).into_iter().flatten());
        items.into_iter().any(|item| {
            let text = |name: &str| item.pointer(&format!("/spiffeID/{name}")).and_then(Json::as_str).unwrap_or("");
            let fits = |id: &String| match text("type") {
                "Prefix" => id.starts_with(text("value")),
                _ => id == text("value"),
            };
            caller.identities.iter().any(fits)
        })
    };
    !listed("deny") && listed("allow")
}

/// The reports of a question that speak; all of them if none does.
fn speaking(mut reports: Vec<Report>) -> Vec<Report> {
    let speaks = reports.iter().any(Report::speaks);
    reports.retain(|report| report.speaks() == speaks);
    reports
}

fn check(listing: &Listing<'_>, form: Form, caller: &Caller, section: &str) -> Result<(), TestCaseError> {
    let to = format!("back-1#{section}");
    let words = words(None, Some(&caller.written), Some(&to), Some(listing.kind()));
    let asked = reports(listing.snapshot, &words);
    let about_inbound =
        |report: &Report| report.about.place.as_deref().is_some_and(|place| place.starts_with("inbound"));
    let asked = speaking(asked.into_iter().filter(about_inbound).collect());
    prop_assert!(!asked.is_empty(), "{words:?} has no answer");
    if listing.kind() == PERMISSION {
        prop_assert_eq!(asked.len(), 1, "one answer for {:?}: {:#?}", words, asked);
        let allowed = match form {
            Form::From => listing.cells(caller).iter().any(|cell| cell["action"] == "Allow"),
            Form::Rules => by_lists(&listing.inbound(caller), caller),
        };
        let verdict = asked.first().map(|report| report.verdict);
        prop_assert_eq!(verdict == Some(Verdict::Permit), allowed, "{:?}: {:?}", words, verdict);
        return Ok(());
    }
    let mut expected: Vec<Json> = match form {
        Form::From if listing.kind() == "MeshFaultInjection" => listing.cells(caller),
        _ => listing.inbound(caller).into_iter().reduce(over).into_iter().collect(),
    };
    if expected.is_empty() {
        expected.push(Json::Null);
    }
    let texts = |values: Vec<Json>| values.iter().map(sorted).collect::<BTreeSet<String>>();
    let results = asked.iter().map(|report| report.result.clone()).collect();
    prop_assert_eq!(texts(results), texts(expected), "{:?}", words);
    Ok(())
}

fn holds(
    policies: &[Policy],
    form: Form,
    inbounds: &[(String, Option<String>)],
    edition: &str,
) -> Result<(), TestCaseError> {
    let loaded = loaded(&world(policies, form, inbounds), &[edition]);
    let snapshot = &loaded.snapshot;
    let mesh = snapshot.symbols().get("default").expect("the mesh");
    let (_, back) = proxies(snapshot).find(|(_, proxy)| snapshot.text(proxy.name) == "back-1").expect("a proxy");
    for rules in kinds(snapshot, mesh) {
        for (part, section) in [(0, "http"), (1, "81")] {
            let matched = rules.matched(back);
            let slots = matched.iter().filter(|one| one.has(part)).map(|one| one.slot).collect();
            let listing = Listing { snapshot, rules, slots };
            for caller in callers(inbounds) {
                check(&listing, form, &caller, section)?;
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn asking_with_a_caller_is_looking_it_up_in_the_listing(
        policies in proptest::collection::vec(policy(), 1..6), form in prop_oneof![Just(Form::From), Just(Form::Rules)],
        inbounds in inbounds(),
    ) {
        holds(&policies, form, &inbounds, "kuma/2")?;
        if form == Form::Rules {
            holds(&policies, form, &inbounds, "kuma/3")?;
        }
    }
}

#[test]
fn rules_and_older_statements_of_one_kind_are_one_order() {
    let text = format!(
        "{MESH}---
type: MeshTimeout
name: a-rules
spec: {{rules: [{{default: {{idleTimeout: 10s}}}}]}}
---
type: MeshTimeout
name: z-from
spec: {{from: [{{targetRef: {{kind: Mesh}}, default: {{idleTimeout: 20s}}}}]}}
"
    );
    let loaded = loaded(&text, &["kuma/2"]);
    for from in ["kuma.io/service=web", "spiffeID=spiffe://default/web", "back-1"] {
        let answers = reports(&loaded.snapshot, &words(None, Some(from), Some("back-1#http"), Some("MeshTimeout")));
        let answers = speaking(answers);
        let [answer] = answers.as_slice() else { panic!("{answers:#?}") };
        assert_eq!(answer.result["idleTimeout"], "10s", "{from}");
        assert_eq!(answer.policies, ["a-rules"], "{from}");
    }
}

#[test]
fn a_caller_with_several_inbounds_has_one_identity_and_gets_one_answer() {
    let text = "type: Mesh
name: default
mtls: {enabledBackend: c, backends: [{name: c, type: builtin}]}
---
type: Dataplane
name: caller
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}, {port: 81, tags: {kuma.io/service: web-admin}}]}
---
type: Dataplane
name: back
networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: backend}}]}
---
type: MeshTrafficPermission
name: deny-all
spec: {from: [{targetRef: {kind: Mesh}, default: {action: Deny}}]}
---
type: MeshTrafficPermission
name: allow-web
spec: {from: [{targetRef: {kind: MeshService, name: web}, default: {action: Allow}}]}
";
    let loaded = loaded(text, &["kuma/2"]);
    for from in ["caller", "service/web", "service/web-admin"] {
        let answers = reports(&loaded.snapshot, &words(None, Some(from), Some("back"), Some(PERMISSION)));
        let [answer] = answers.as_slice() else { panic!("{from}: {answers:#?}") };
        assert_eq!(answer.verdict, Verdict::Permit, "{from}");
        assert_eq!(answer.policies, ["allow-web"], "{from}");
    }
}

#[test]
fn a_statement_about_everybody_is_about_a_caller_without_inbounds() {
    let text = format!(
        "{MESH}---
type: Dataplane
name: job
networking: {{address: 10.0.0.3}}
---
type: MeshTrafficPermission
name: all
spec: {{from: [{{targetRef: {{kind: Mesh}}, default: {{action: Allow}}}}]}}
"
    );
    let loaded = loaded(&text, &["kuma/2"]);
    let answers = reports(&loaded.snapshot, &words(None, Some("job"), Some("back-1#http"), Some(PERMISSION)));
    let [answer] = answers.as_slice() else { panic!("{answers:#?}") };
    assert_eq!(answer.verdict, Verdict::Permit);
}

#[test]
fn the_identity_of_a_proxy_comes_from_the_resource_that_selects_it() {
    let text = "type: Mesh
name: default
---
type: MeshIdentity
name: by-workload
spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: \"{{ .Mesh }}.example\", path: \"/ns/{{ .Namespace }}/w/{{ .Workload }}\"}}
---
type: Dataplane
name: caller
labels: {k8s.kuma.io/namespace: shop, kuma.io/workload: web}
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
type: Dataplane
name: back
networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: backend}}]}
---
type: MeshTrafficPermission
name: web-only
spec: {rules: [{default: {allow: [{spiffeID: {type: Exact, value: spiffe://default.example/ns/shop/w/web}}]}}]}
";
    for edition in ["kuma/2", "kuma/3"] {
        let loaded = loaded(text, &[edition]);
        let verdict = |from: &str| {
            let answers = reports(&loaded.snapshot, &words(None, Some(from), Some("back"), Some(PERMISSION)));
            let [answer] = answers.as_slice() else { panic!("{from}: {answers:#?}") };
            answer.verdict
        };
        assert_eq!(verdict("caller"), Verdict::Permit, "{edition}");
        assert_eq!(verdict("back"), Verdict::Undecided, "{edition}: it has no workload");
        assert_eq!(verdict("kuma.io/service=web"), Verdict::Undecided, "{edition}: tags do not say who it is");
    }
}
