//! One answer on every surface: whoever asks about a request, in whichever shape, gets the same decision, policy, reason and duties. And no
//! surface lets through what another one denies or cannot decide.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value as Json, json};
use upheld_dialects::access::decider::{Decider, WhichKind};
use upheld_dialects::access::mapping::host_name;
use upheld_dialects::access::{Edition, request};
use upheld_engine::Scratch;
use upheld_loader::load::load;
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostics, SourceId};

use crate::grpc::{Checked, Checker};
use crate::support::{Served, behind_proxy};

/// Policies over everything that a request of HTTP has; some of them are there at a time.
const POLICIES: [&str; 12] = [
    "{id: readers, effect: permit, description: Readers may, subjects: [{role: reader}], resources: [{path: /public/**}], \
      actions: [{method: GET}]}",
    "{id: everybody, effect: permit, subjects: [], resources: [{path: '/**'}], actions: []}",
    "{id: no-admin, effect: deny, description: Nobody goes there, subjects: [], resources: [{path: '/admin/**'}], actions: []}",
    "{id: no-free, effect: deny, subjects: [], resources: [{header: {name: x-tier, value: free}}], actions: []}",
    "{id: no-debug, effect: deny, subjects: [], resources: [{header: {name: X-Debug, operator: exists}}], actions: []}",
    "{id: no-host, effect: deny, subjects: [], resources: [{host: b.example}], actions: []}",
    "{id: one-app, effect: permit, subjects: [{group: staff}], resources: [{app: a.example}], actions: [], \
      duties: [{kind: obligation, id: mfa, on: permit, properties: {level: 2}}, {kind: advice, id: log, on: permit}]}",
    "{id: no-strangers, effect: deny, subjects: [], resources: [], actions: [], conditions: [{type: ip, blocklist: [198.51.100.0/24]}]}",
    "{id: no-removal, effect: deny, subjects: [], resources: [], actions: [{method: DELETE}]}",
    "{id: levels, effect: permit, subjects: [{claim: {name: level, operator: gte, value: 9007199254740993}}], resources: [], actions: []}",
    "{id: no-suspended, effect: deny, description: Suspended, subjects: [{claim: {name: suspended, value: true}}], resources: [], \
      actions: []}",
    "{id: no-drafts, effect: deny, subjects: [{claim: {name: level, operator: neq, value: 5, absent: true}}], \
      resources: [{path: /drafts}], actions: []}",
];

/// What is known of some of those who ask, on every surface.
const DIRECTORY: &str = "kind: Directory
subjects:
- {type: user, id: eve, properties: {suspended: true}}
- {type: user, id: bob, properties: {groups: [shop]}}
roles:
- {name: editor, contains: [reader]}
groups:
- {name: shop, groups: [staff]}
";

const SEGMENTS: [&str; 18] = [
    "public",
    "admin",
    "drafts",
    "x",
    "",
    ".",
    "..",
    "%2e%2e",
    "..;x",
    "%61dmin",
    "a%2F..",
    "..%5cadmin",
    "..\\admin",
    "%2561dmin",
    "%252e%252e",
    "%zz",
    "100%25",
    "b;c",
];

/// A request, in no surface's shape.
#[derive(Clone, Debug)]
struct Asked {
    sub: &'static str,
    roles: Vec<&'static str>,
    groups: Vec<&'static str>,
    claims: Json,
    method: &'static str,
    path: String,
    host: &'static str,
    headers: Vec<(&'static str, &'static str)>,
    ip: &'static str,
}

fn asked() -> impl Strategy<Value = Asked> {
    let claims = prop_oneof![
        Just(json!({})),
        Just(json!({"level": 5})),
        Just(json!({"level": null})),
        Just(json!({"level": 9_007_199_254_740_992_u64})),
        Just(json!({"level": 9_007_199_254_740_993_u64})),
    ];
    let who = (
        select(&["ann", "bob", "eve"][..]),
        subsequence(vec!["reader", "editor"], 0..=2),
        option::weighted(0.3, Just("staff")),
        claims,
    );
    let path = vec(select(&SEGMENTS[..]), 1..4).prop_map(|segments| format!("/{}", segments.join("/")));
    let header = select(&[("x-tier", "free"), ("X-Tier", "gold"), ("x-debug", "1"), ("x-other", "y")][..]);
    let what = (
        select(&["GET", "DELETE", "PUT"][..]),
        path,
        select(&["a.example", "A.Example.:8080", "b.example", "B.EXAMPLE"][..]),
        vec(header, 0..3),
        select(&["192.0.2.7", "198.51.100.7"][..]),
    );
    (who, what).prop_map(|((sub, roles, group, claims), (method, path, host, headers, ip))| {
        let groups = group.into_iter().collect();
        Asked { sub, roles, groups, claims, method, path, host, headers, ip }
    })
}

/// What was answered, in no surface's shape. What is undecided is a denial where a surface has no word for it.
#[derive(Clone, Debug, PartialEq)]
struct Said {
    decision: String,
    policy: Option<String>,
    reason: Option<String>,
    obligations: Vec<String>,
    advice: Vec<String>,
}

fn text(value: &Json) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn ids(duties: &Json) -> Vec<String> {
    duties.as_array().into_iter().flatten().filter_map(|duty| text(&duty["id"])).collect()
}

impl Said {
    fn of(answer: &Json, [decision, policy, reason]: [&str; 3]) -> Self {
        let decision = match &answer[decision] {
            Json::Bool(true) => "permit".to_owned(),
            Json::Bool(false) => "deny".to_owned(),
            word => text(word).unwrap_or_default(),
        };
        let (obligations, advice) = (ids(&answer["obligations"]), ids(&answer["advice"]));
        Self { decision, policy: text(&answer[policy]), reason: text(&answer[reason]), obligations, advice }
    }

    /// Where there are only two words.
    fn closed(self) -> Self {
        let decision = if self.decision == "permit" { "permit" } else { "deny" };
        Self { decision: decision.to_owned(), ..self }
    }
}

impl Asked {
    fn headers(&self) -> Json {
        let mut headers = json!({});
        for (name, value) in &self.headers {
            let name = name.to_lowercase();
            match headers.get_mut(&name) {
                None => headers[&name] = json!(value),
                Some(before) => *before = json!([before.clone(), value]),
            }
        }
        headers
    }

    /// As programs ask.
    fn document(&self) -> Json {
        json!({
            "subject": {"id": self.sub, "roles": self.roles, "groups": self.groups, "claims": self.claims},
            "action": {"method": self.method},
            "resource": {"app": host_name(self.host).as_str(), "path": self.path, "host": self.host, "headers": self.headers()},
            "environment": {"ip": self.ip},
        })
    }

    /// As the standard has it.
    fn authzen(&self) -> Json {
        let mut properties = self.claims.clone();
        if !self.roles.is_empty() {
            properties["roles"] = json!(self.roles);
        }
        if !self.groups.is_empty() {
            properties["groups"] = json!(self.groups);
        }
        let resource = json!({"app": host_name(self.host).as_str(), "host": self.host, "headers": self.headers()});
        json!({
            "subject": {"type": "user", "id": self.sub, "properties": properties},
            "action": {"name": self.method.to_lowercase()},
            "resource": {"type": "route", "id": self.path, "properties": resource},
            "context": {"ip": self.ip},
        })
    }

    fn identity(&self) -> String {
        json!({"sub": self.sub, "roles": self.roles, "groups": self.groups, "claims": self.claims}).to_string()
    }
}

struct Surfaces {
    served: Served,
    checker: Checker,
    documents: String,
}

impl Surfaces {
    fn new(policies: &[&str]) -> Self {
        let mut config = behind_proxy(&["hops=1", "host-header=x-forwarded-host", "headers=all"]);
        config.access.fulfilled = vec!["mfa".into()];
        let served = Served::start(config);
        let policies: String = policies.iter().map(|policy| format!("{policy}\n---\n")).collect();
        let documents = format!("{policies}{DIRECTORY}");
        let written = served.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], &documents);
        assert_eq!(written.status, 201, "{}", written.text);
        let checker = Checker::new(served.base());
        Self { served, checker, documents }
    }

    /// What every surface says.
    fn ask(&self, asked: &Asked) -> Vec<(&'static str, Said)> {
        let post = |path: &str, body: &Json| {
            let answer = self.served.post(path, &body.to_string());
            assert_eq!(answer.status, 200, "{path} {body}: {}", answer.text);
            answer.json()
        };
        let document = asked.document();
        let ours = ["decision", "policy", "reason"];
        let batch = post("/v1/decide:batch", &json!({"requests": [document]}));
        let question = json!({"request": document});
        let explained = &post("/v1/explain", &question)["answers"][0];
        let mut detail = explained["detail"].clone();
        (detail["decision"], detail["policy"]) = (explained["verdict"].clone(), explained["policies"][0].clone());
        let standard = post("/access/v1/evaluation", &asked.authzen());
        let mut context = standard["context"].clone();
        context["decision"] = standard["decision"].clone();
        vec![
            ("library", self.library(&document)),
            ("/v1/decide", Said::of(&post("/v1/decide", &document), ours)),
            ("/v1/decide:batch", Said::of(&batch["decisions"][0], ours)),
            ("/v1/explain", Said::of(&detail, ours)),
            ("/v1/resolve", Said::of(&post("/v1/resolve", &question)["result"], ours)),
            ("AuthZEN", Said::of(&context, ours).closed()),
            (
                "/authz/api/evaluate",
                Said::of(&post("/authz/api/evaluate", &document), ["effect", "matchedPolicy", "reason"]).closed(),
            ),
            ("/forward-auth", self.forwarded(asked)),
            ("gRPC", self.checked(asked).closed()),
        ]
    }

    fn library(&self, document: &Json) -> Said {
        let loaded = load(vec![Input::text("all.yaml", Format::Yaml, self.documents.clone())], &[]).unwrap();
        let decider = Decider::of(&loaded.snapshot, WhichKind::Only, Edition::Strict).unwrap();
        let (file, _) = upheld_syntax::parse("request", Format::Json, document.to_string(), SourceId::new(0));
        let read = file.tree.documents().next().unwrap();
        let mut found = Diagnostics::default();
        let mut request = request::read(SourceId::new(0), read, Edition::Strict, &mut found).unwrap();
        decider.complete(&mut request, None);
        let decision = decider.decision(&request, &mut Scratch::default());
        Said {
            decision: decision.outcome.word().to_owned(),
            policy: decision.policy.map(str::to_owned),
            reason: decision.reason.as_deref().map(str::to_owned),
            obligations: decision.obligations.iter().map(|duty| duty.id.clone()).collect(),
            advice: decision.advice.iter().map(|duty| duty.id.clone()).collect(),
        }
    }

    /// As nginx asks.
    fn forwarded(&self, asked: &Asked) -> Said {
        let identity = asked.identity();
        let mut headers = vec![
            ("x-identity", identity.as_str()),
            ("x-original-uri", &asked.path),
            ("x-original-method", asked.method),
            ("x-forwarded-host", asked.host),
            ("x-forwarded-for", asked.ip),
        ];
        headers.extend(&asked.headers);
        let answer = self.served.ask("GET", "/forward-auth", &headers, "");
        let named = |name: &str| answer.header(name).map(str::to_owned);
        let list = |name: &str| {
            named(name).map_or_else(Vec::new, |list| list.split(", ").map(str::to_owned).collect::<Vec<_>>())
        };
        let decision = named("x-policy-decision").unwrap_or_default();
        assert_eq!(answer.status == 200, decision == "permit", "{}", answer.text);
        // Bodies have reasons as they are, headers as headers can carry them.
        let reason = if answer.status == 200 { named("x-policy-reason") } else { text(&answer.json()["reason"]) };
        let (obligations, advice) = (list("x-policy-obligations"), list("x-policy-advice"));
        Said { decision, policy: named("x-policy"), reason, obligations, advice }
    }

    fn checked(&self, asked: &Asked) -> Said {
        let identity = asked.identity();
        let mut headers = vec![("x-identity", identity.as_str()), ("x-forwarded-for", asked.ip)];
        headers.extend(&asked.headers);
        let Checked { metadata, is_open } = self.checker.check(asked.method, &asked.path, asked.host, &headers, "mfa");
        let said = Said::of(&metadata, ["decision", "policy", "reason"]);
        assert_eq!(is_open, said.decision == "permit", "{metadata}");
        said
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_surface_gives_one_answer(
        policies in subsequence(POLICIES.to_vec(), 1..=POLICIES.len()),
        requests in vec(asked(), 12),
    ) {
        let surfaces = Surfaces::new(&policies);
        for asked in &requests {
            let said = surfaces.ask(asked);
            let (_, expected) = &said[0];
            for (surface, own) in &said {
                let has_two_words = matches!(*surface, "AuthZEN" | "/authz/api/evaluate" | "gRPC");
                let expected = if has_two_words { expected.clone().closed() } else { expected.clone() };
                prop_assert_eq!(own, &expected, "{} {:#?}\n{}", surface, asked, surfaces.documents);
            }
        }
    }
}
