//! One answer on every surface: whoever asks about a request, in whichever shape, gets the same decision, policy, reason and duties. And no
//! surface lets through what another one denies or cannot decide.

mod requests;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Value as Json, json};
use upheld_dialects::access::decider::{Decider, WhichKind};
use upheld_dialects::access::{Edition, request};
use upheld_engine::Scratch;
use upheld_loader::load::load;
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostics, SourceId};

use self::requests::{Asked, DIRECTORY, POLICIES, Said, asked, text};
use crate::grpc::{Checked, Checker};
use crate::support::{Served, behind_proxy};

/// Who asks, as proxies say it.
fn identity(asked: &Asked) -> String {
    json!({"sub": asked.sub, "roles": asked.roles, "groups": asked.groups, "claims": asked.claims}).to_string()
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
        let request = request::read(SourceId::new(0), read, Edition::Strict, &mut found).unwrap();
        let request = decider.complete(request, None);
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
        let identity = identity(asked);
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
        let identity = identity(asked);
        let mut headers = vec![("x-identity", identity.as_str()), ("x-forwarded-for", asked.ip)];
        headers.extend(&asked.headers);
        let Checked { metadata, is_open, .. } =
            self.checker.check(asked.method, &asked.path, asked.host, &headers, "mfa");
        let said = Said::of(&metadata, ["decision", "policy", "reason"]);
        assert_eq!(is_open, said.decision == "permit", "{metadata}");
        said
    }
}

const EVERYBODY: &str = "{id: everybody, effect: permit, subjects: [], resources: [], actions: []}";
const SUSPENDED: &str =
    "{id: no-suspended, effect: deny, subjects: [{claim: {name: suspended, value: true}}], resources: [], actions: []}";
const RISKY: &str = "{kind: PolicySet, id: exports, algorithm: first-applicable, policies: [\
    {id: low-risk, effect: permit, priority: 10, subjects: [{claim: {name: level, operator: lt, value: 5}}], resources: [], actions: []}, \
    {id: no-exports, effect: deny, subjects: [], resources: [], actions: []}]}";
const ADULTS: &str = "{kind: PolicySet, id: adults-first, algorithm: first-applicable, policies: [\
    {id: adults, effect: permit, priority: 2, subjects: [{claim: {name: level, operator: gte, value: 18}}], resources: [], actions: []}, \
    {id: staff, effect: permit, priority: 1, subjects: [{role: reader}], resources: [], actions: []}]}";
const MINORS: &str = "{id: minors, effect: deny, subjects: [{claim: {name: level, operator: lt, value: 18}}], resources: [], actions: []}";

/// What a request of a subject with these claims gets everywhere; where there are only two words, undecided is deny.
#[track_caller]
fn everywhere(policies: &[&str], sub: &'static str, claims: &Json, expected: &str) {
    let surfaces = Surfaces::new(policies);
    let asked = Asked {
        sub,
        roles: vec!["reader"],
        groups: Vec::new(),
        claims: claims.clone(),
        method: "GET",
        path: "/exports/x".to_owned(),
        host: "a.example",
        headers: Vec::new(),
        ip: "192.0.2.7",
    };
    for (surface, said) in surfaces.ask(&asked) {
        let has_two_words = matches!(surface, "AuthZEN" | "/authz/api/evaluate" | "gRPC");
        let closed = expected == "undecided" && said.decision == "deny" && has_two_words;
        assert!(said.decision == expected || closed, "{surface} {claims}: {said:?}, and not {expected}");
    }
}

#[test]
fn a50_an_unknown_fact_hides_no_deny_behind_it() {
    for (claims, expected) in [
        (json!({}), "undecided"),
        (json!({"level": "high"}), "undecided"),
        (json!({"level": null}), "undecided"),
        (json!({"level": 9}), "deny"),
        (json!({"level": 3}), "permit"),
    ] {
        everywhere(&[EVERYBODY, RISKY], "ann", &claims, expected);
    }
}

#[test]
fn a57_what_every_value_leads_to_is_decided() {
    everywhere(&[ADULTS], "ann", &json!({}), "permit");
    everywhere(&[MINORS], "ann", &json!({}), "deny");
    everywhere(&[MINORS, EVERYBODY], "ann", &json!({}), "undecided");
}

#[test]
fn a56_null_is_left_out_and_two_types_of_one_id_are_unknown() {
    everywhere(&[EVERYBODY, SUSPENDED], "eve", &json!({"suspended": null}), "deny");
    everywhere(&[EVERYBODY, SUSPENDED], "ann", &json!({"suspended": null}), "permit");
    everywhere(&[EVERYBODY, SUSPENDED], "ida", &json!({}), "undecided");
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
