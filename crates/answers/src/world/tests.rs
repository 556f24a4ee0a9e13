//! Every question, on a few documents.

mod costs;

use serde_json::{Value as Json, from_value, json};
use upheld_governance::Outcome;
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostic, Fault, Timestamp};

use super::*;
use crate::all_pairs::Cell;
use crate::compliance::{ChangeRequest, Changes, WaiverQuestion};
use crate::formats::audit::{Beside, Format as Text};
use crate::report::TestState;

const MESH: &str = "
type: Mesh
name: default
---
type: Dataplane
mesh: default
name: web-1
networking: {address: 10.0.0.1, inbound: [{port: 8080, tags: {kuma.io/service: web, cloud: aws}}]}
---
type: Dataplane
mesh: default
name: backend-1
networking: {address: 10.0.0.2, inbound: [{port: 8080, tags: {kuma.io/service: backend}}]}
---
type: TrafficLog
mesh: default
name: all
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {backend: logstash}
---
type: TrafficLog
mesh: default
name: web
sources: [{match: {kuma.io/service: web, cloud: aws}}]
destinations: [{match: {kuma.io/service: backend}}]
conf: {backend: splunk}
";

const GATEWAYS: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: kgateway
  listeners: [{name: http, protocol: HTTP, port: 80}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec:
  parentRefs: [{name: edge}]
  hostnames: [shop.example]
  rules: [{backendRefs: [{name: cart, port: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: slow, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}]
  timeouts: {request: 10s}
";

const ACCESS: &str = "
- id: admins
  effect: permit
  subjects: [{role: admin}]
  resources: [{path: /**}]
  actions: [{method: '*'}]
";

const TESTS: &str = "
kind: PolicyTests
cases:
- {name: admins may, request: {subject: role=admin, action: GET, resource: /a}, expect: permit}
- {name: guests may, request: {subject: role=guest, action: GET, resource: /a}, expect: permit}
";

const ORGANISATION: &str = "
kind: Compliance
objects:
- {ref: customer/shop, tags: {environment: [dev, qa]}}
- {ref: project/checkout, workspace: shop, tags: {environment: prod}}
tagDefinitions:
- {kind: workspace, key: environment, type: multiSelect, options: [dev, qa, prod]}
- {kind: project, key: environment, type: multiSelect, options: [dev, qa, prod]}
---
type: MeshPolicy
name: environments
a: {kind: meshProject, tag: environment}
b: {kind: meshCustomer, tag: environment}
";

fn loaded(texts: &[&str]) -> Loaded {
    let text = texts.join("\n---\n");
    load(vec![Input::text("documents.yaml", Format::Yaml, text)], &[]).expect("is read")
}

/// Asks once.
fn asked<T>(texts: &[&str], ask: impl FnOnce(&World<'_>) -> T) -> T {
    let (loaded, options) = (loaded(texts), Options::at(Timestamp(0)));
    ask(&World::new(&loaded.snapshot, &options))
}

fn explained(texts: &[&str], question: Json) -> Result<Json, Refused> {
    let words: Words = from_value(question).expect("are words");
    asked(texts, |world| world.explain(&world.question(&words)?))
}

fn resolved(texts: &[&str], question: Json) -> Result<Json, Refused> {
    let words: Words = from_value(question).expect("are words");
    asked(texts, |world| world.resolve(&world.question(&words)?)?.result().map(|(result, _)| result))
}

fn fault(refused: &Refused) -> Fault {
    let first: Option<&Diagnostic> = refused.diagnostics.first();
    first.expect("at least one").fault
}

#[test]
fn a_connection_is_explained() {
    let question = json!({"from": "web-1", "to": "backend-1", "kind": "TrafficLog"});
    let answer = explained(&[MESH], question).expect("is answered");
    assert_eq!(answer["apiVersion"], "upheld/v2");
    assert_eq!(answer["kind"], "Explanation");
    assert_eq!(answer["answers"][0]["policies"], json!(["web"]));
    assert_eq!(answer["answers"][0]["about"]["for"], json!(["web-1 → backend-1"]));
}

#[test]
fn an_unknown_end_and_an_incomplete_question_are_refused() {
    let refused = explained(&[MESH], json!({"from": "web-9", "to": "backend-1"})).expect_err("is refused");
    assert_eq!(fault(&refused), Fault::NotFound);
    let refused = explained(&[MESH], json!({"from": "web-1", "field": "backend"})).expect_err("is refused");
    assert_eq!(fault(&refused), Fault::IncompleteQuestion);
    let refused = explained(&[MESH], json!({"allPairs": true})).expect_err("is refused");
    assert_eq!(fault(&refused), Fault::IncompleteQuestion);
}

#[test]
fn all_pairs_are_counted() {
    let answer = explained(&[MESH], json!({"allPairs": true, "kind": "TrafficLog"})).expect("is answered");
    assert_eq!(answer["kind"], "AllPairs");
    assert_eq!(answer["meshes"][0]["pairs"], 4);
}

#[test]
fn cells_have_every_pair_once_with_its_answer() {
    let twin = MESH.replace("name: web-1", "name: web-2").replace("name: backend-1", "name: job-1");
    let layers = "
type: MeshTimeout
name: calls
spec: {targetRef: {kind: MeshSubset, tags: {cloud: aws}}, to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}
";
    let twin = twin.split("---\n").filter(|text| text.contains("Dataplane")).collect::<Vec<_>>().join("---\n");
    let loaded = loaded(&[MESH, &twin, layers]);
    let options = Options::at("2026-01-01T00:00:00Z".parse().expect("a time"));
    for kind in ["TrafficLog", "MeshTimeout"] {
        let all = World::new(&loaded.snapshot, &options).all_pairs(kind, &()).expect("is answered");
        let [pairs] = all.meshes.as_slice() else { panic!("one mesh") };
        let cells: Vec<Cell<'_>> = pairs.cells().each().collect();
        assert_eq!(cells.len(), pairs.cells().count(), "{kind}");
        assert_eq!(cells.iter().map(|cell| cell.proxies * cell.destinations).sum::<usize>(), pairs.count(), "{kind}");
        assert!(cells.len() < pairs.count(), "{kind}: web-1 and web-2 are alike");
        for cell in &cells {
            let own = pairs.each().find(|(from, to, _)| (*from, *to) == (cell.from, cell.to)).expect("a pair");
            assert_eq!(own.2, cell.standing, "{kind}");
            let alike = pairs.each().filter(|(.., standing)| *standing == cell.standing).count();
            assert!(alike >= cell.proxies * cell.destinations, "{kind}");
        }
    }
}

#[test]
fn a_connection_resolves_to_its_configuration_or_a_field_of_it() {
    let question = json!({"from": "web-1", "to": "backend-1", "kind": "TrafficLog"});
    assert_eq!(resolved(&[MESH], question.clone()).expect("is answered"), json!({"backend": "splunk"}));
    let mut field = question;
    field["field"] = json!("backend");
    assert_eq!(resolved(&[MESH], field.clone()).expect("is answered"), json!("splunk"));
    field["field"] = json!("bakend");
    let refused = resolved(&[MESH], field).expect_err("is not set");
    assert_eq!(fault(&refused), Fault::NotFound);
    assert!(refused.diagnostics[0].message.contains("did you mean `backend`"), "{refused:?}");
}

#[test]
fn a_route_and_a_request_to_a_gateway_are_explained() {
    for question in [json!({"what": "httproute/shop/cart"}), json!({"host": "shop.example", "path": "/a"})] {
        let answer = explained(&[GATEWAYS], question).expect("is answered");
        assert_eq!(answer["kind"], "Explanation");
        let fields = answer["answers"][0]["fields"].as_array().expect("has fields");
        assert!(fields.iter().any(|field| field["value"] == "10s"), "{answer:#}");
    }
    let refused = explained(&[GATEWAYS], json!({"host": "other.example"})).expect_err("no route takes it");
    assert_eq!(fault(&refused), Fault::NotFound);
}

#[test]
fn a_request_is_decided_from_words_and_from_a_document() {
    let words = json!({"subject": "role=admin", "action": "GET", "resource": "/a"});
    let document = json!({"request": {
        "subject": {"id": "alice", "roles": ["guest"]}, "action": {"method": "GET"}, "resource": {"path": "/a"},
    }});
    assert_eq!(explained(&[ACCESS], words.clone()).expect("is answered")["answers"][0]["verdict"], "permit");
    assert_eq!(explained(&[ACCESS], document.clone()).expect("is answered")["answers"][0]["verdict"], "deny");
    assert_eq!(resolved(&[ACCESS], words).expect("is answered")["policy"], "admins");
    assert_eq!(resolved(&[ACCESS], document).expect("is answered")["decision"], "deny");
}

#[test]
fn a_mistake_in_a_request_is_located_in_the_request() {
    let (loaded, options) = (loaded(&[ACCESS]), Options::at(Timestamp(0)));
    let words: Words = from_value(json!({"request": {"subject": {"rolse": ["guest"]}}})).expect("are words");
    let refused = World::new(&loaded.snapshot, &options).question(&words).expect_err("is refused");
    let told = refused.json(&loaded.snapshot);
    assert_eq!(told[0]["file"], "request", "{told:?}");
    assert_eq!(told[0]["line"], 1, "{told:?}");
}

#[test]
fn two_objects_are_held_against_each_other() {
    let answer = explained(&[ORGANISATION], json!({"what": "project/checkout~customer/shop"})).expect("is answered");
    assert_eq!(answer["answers"][0]["detail"]["related"], true, "{answer:#}");
    assert_eq!(answer["answers"][0]["detail"]["checks"][0]["policy"], "environments");
    let refused = explained(&[ORGANISATION], json!({"what": "project/chekout~customer/shop"})).expect_err("is refused");
    assert_eq!(fault(&refused), Fault::NotFound);
}

#[test]
fn an_audit_finds_who_violates_in_every_format() {
    let question = AuditQuestion { policy: Some("environments".to_owned()), ..AuditQuestion::default() };
    let audited = asked(&[ORGANISATION], |world| world.audit(&question)).expect("is answered");
    assert_eq!(audited.audit.violations().count(), 1);
    let sarif: Json = serde_json::from_str(&Text::Sarif.text(&audited.audit, &Beside::default())).expect("JSON");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "environments");
    let unknown = AuditQuestion { workspace: Some("nowhere".to_owned()), ..AuditQuestion::default() };
    let refused = asked(&[ORGANISATION], |world| world.audit(&unknown)).expect_err("is refused");
    assert_eq!(fault(&refused), Fault::NotFound);
    let refused = asked(&[ACCESS], |world| world.audit(&question)).expect_err("has no objects");
    assert_eq!(fault(&refused), Fault::NotFound);
}

#[test]
fn violations_can_be_fixed() {
    let question = FixQuestion { what: Some("project/checkout".to_owned()), ..FixQuestion::default() };
    let fix_plan = asked(&[ORGANISATION], |world| world.fix(&question)).expect("is answered");
    assert!(!fix_plan.is_clean());
    assert!(fix_plan.objects().iter().any(|object| object.contains("checkout")));
}

#[test]
fn changes_are_tried_and_nothing_is_changed() {
    asked(&[ORGANISATION], |world| {
        let organisation = world.organisation(None).expect("is there");
        let tag = |value: &str| ChangeRequest {
            change: ["tag", "project/checkout", value].map(str::to_owned).to_vec(),
            ..ChangeRequest::default()
        };
        let (_, outcome) = organisation.would(&tag("environment=dev")).expect("is answered");
        assert_eq!(outcome, Outcome::Allowed);
        let (ruled, outcome) = organisation.would(&tag("environment=prod,qa")).expect("is answered");
        assert!(outcome.is_done(), "{ruled:?}");
        assert_eq!(organisation.values("checkout", "environment", None).expect("is answered").values, ["dev", "qa"]);
        let changes = |text: &str| Changes {
            name: "changes.yaml",
            format: Format::Yaml,
            text: text.to_owned(),
            person: None,
            plan: None,
        };
        let text = "{verb: setTags, object: project/checkout, tags: {environment: [qa]}}";
        let plan = organisation.what_if(&changes(text)).expect("is answered");
        assert!(plan.clean);
        assert_eq!(plan.plan.removed.len(), 1);
        let moved = Changes { plan: Some("0123"), ..changes(text) };
        assert_eq!(fault(&organisation.what_if(&moved).expect_err("is refused")), Fault::Moved);
        let broken =
            organisation.what_if(&changes("{verb: setTgas, object: project/checkout}")).expect_err("is refused");
        assert_eq!(broken.json(world.snapshot())[0]["file"], "changes.yaml");
        assert_eq!(organisation.waivers(&WaiverQuestion::default()).all, 0);
        assert_eq!(organisation.audit(&AuditQuestion::default()).expect("is answered").audit.violations().count(), 1);
        assert!(
            organisation
                .candidates("project/checkout", "landingZone", None, None)
                .expect("is answered")
                .candidates
                .is_empty()
        );
    });
}

#[test]
fn tests_beside_policies_are_run() {
    let report = asked(&[ACCESS, TESTS], |world| world.test(&TestQuestion::default(), &())).expect("is answered");
    assert_eq!((report.summary.passed, report.summary.failed), (1, 1));
    assert_eq!(report.document("x")["kind"], "TestReport");
    let only = TestQuestion { only: Some("admins*".to_owned()), ..TestQuestion::default() };
    let report = asked(&[ACCESS, TESTS], |world| world.test(&only, &())).expect("is answered");
    assert_eq!(report.cases.iter().map(|case| case.state).collect::<Vec<_>>(), [TestState::Passed]);
    let refused = asked(&[ACCESS], |world| world.test(&only, &())).expect_err("there are none");
    assert_eq!(fault(&refused), Fault::NotFound);
}

#[test]
fn mistakes_in_tests_are_located_in_the_snapshot() {
    let broken = "kind: PolicyTests\ncases: [{name: a, request: {subject: role=a}, expect: prmit}]";
    let (loaded, options) = (loaded(&[ACCESS, broken]), Options::at(Timestamp(0)));
    let refused = World::new(&loaded.snapshot, &options).test(&TestQuestion::default(), &()).expect_err("is refused");
    assert_eq!(refused.json(&loaded.snapshot)[0]["file"], "documents.yaml");
}

#[test]
fn what_was_read_is_listed_with_ids() {
    asked(&[MESH, ACCESS, ORGANISATION], |world| {
        let ids = |rows: Vec<Row>| rows.iter().map(Row::id).collect::<Vec<_>>();
        let logs = ids(world.policies(Some("trafficlog")).expect("are listed"));
        assert_eq!(logs, ["TrafficLog/default/all", "TrafficLog/default/web"]);
        assert!(ids(world.policies(None).expect("are listed")).len() > 3);
        let objects = ids(world.objects(None).expect("are listed"));
        assert!(objects.contains(&"Dataplane/default/web-1".to_owned()), "{objects:?}");
        assert!(objects.contains(&"project/compliance/checkout".to_owned()), "{objects:?}");
        assert_eq!(fault(&world.policies(Some("TrafficLgo")).expect_err("is refused")), Fault::NotFound);
    });
}

#[test]
fn one_thing_is_shown() {
    asked(&[MESH, ORGANISATION], |world| {
        let shown = world.show("TrafficLog/default/web").expect("is there");
        assert_eq!(shown.identity(), "TrafficLog/default/web");
        assert_eq!(shown.json(world.snapshot())["document"]["conf"]["backend"], "splunk");
        assert_eq!(fault(&world.show("wbe").expect_err("is not there")), Fault::NotFound);
        assert_eq!(world.show_related("project/checkout").expect("is there").violations, 1);
        assert_eq!(world.show_related("project/compliance/checkout").expect("is there").reference, "project/checkout");
        let listed = world.show_listed(&Identity::new("project", "compliance", "checkout")).expect("is there");
        assert_eq!((&listed["owner"], &listed["violations"]), (&"workspace/shop".into(), &1.into()));
        assert!(world.show_listed(&Identity::new("project", "default", "checkout")).is_none());
    });
}

#[test]
fn kinds_are_documents_and_lines() {
    asked(&[MESH], |world| {
        assert_eq!(world.kinds().len(), world.kind_lines().len());
        assert_eq!(world.kind_document("trafficlog").expect("is there")["name"], "TrafficLog");
        assert_eq!(fault(&world.kind("TrafficLgo").expect_err("is not there")), Fault::NotFound);
    });
}

#[test]
fn gateways_are_drawn_and_have_a_status() {
    asked(&[GATEWAYS], |world| {
        let drawn = world.graph().expect("is drawn");
        assert!(drawn.json()["nodes"].as_array().is_some_and(|nodes| nodes.len() > 2));
        assert!(drawn.dot().starts_with("digraph") && drawn.svg().contains("<svg"));
        assert!(drawn.mermaid().contains("slow"));
        let statuses = world.statuses();
        assert_eq!(statuses[0].ancestors.len(), 1);
    });
    let refused = asked(&[MESH], |world| world.graph().map(|_| ())).expect_err("there is nothing to draw");
    assert_eq!(fault(&refused), Fault::NotFound);
}

const ARRIVALS: &str = r#"
kind: PolicyTests
cases:
- name: nobody is believed unless somebody says so
  arrives: {forwardAuth: {headers: {x-original-uri: /api/users, x-original-method: GET, x-identity: '{"sub": "a", "roles": ["reader"]}'}}}
  expect: deny
- name: a trusted proxy says who asks
  arrives: {forwardAuth: {headers: {x-original-uri: /api/users, x-original-method: GET, x-identity: '{"sub": "a", "roles": ["reader"]}'}}}
  trust: [peer=127.0.0.1]
  expect: {decision: permit, policy: readers}
- name: an identity that is there twice
  arrives: {forwardAuth: {headers: {x-original-uri: /api/users, x-original-method: GET, x-identity: ['{}', '{}']}}}
  trust: [peer=127.0.0.1]
  expect: undecided
- name: without a method
  arrives: {forwardAuth: {headers: {x-original-uri: /api/users}}}
  expect: undecided
- name: excluded
  arrives: {forwardAuth: {path: /health}}
  expect: excluded
- name: a verified token
  arrives: {envoy: {path: /api/users, tokens: {issuer: {sub: a, roles: [reader]}}}}
  expect: permit
- name: an obligation that nobody fulfils
  arrives: {envoy: {path: /duty}}
  expect: {decision: deny, obligations: [mfa]}
- name: an obligation that the route fulfils
  arrives: {envoy: {path: /duty, extensions: {obligations: mfa}}}
  expect: permit
- name: a program
  arrives: {authzen: {subject: {type: user, id: a, properties: {role: reader}}, action: {name: get}, resource: {type: route, id: /api/users}}}
  expect: permit
"#;

const GUARDED: &str = "
excludePaths: [/health]
policies:
- {id: readers, effect: permit, subjects: [{role: reader}], resources: [{path: /api/**}], actions: [{method: GET}]}
- {id: duty, effect: permit, subjects: [], resources: [{path: /duty}], actions: [], duties: [{kind: obligation, id: mfa, on: permit}]}
";

#[test]
fn tests_of_requests_as_they_arrive() {
    let report = asked(&[GUARDED, ARRIVALS], |world| world.test(&TestQuestion::default(), &())).expect("is answered");
    let failed: Vec<_> = report.cases.iter().filter(|case| case.state != crate::report::TestState::Passed).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(report.cases.len(), 9);
}

/// Names are those of the snapshot that is asked, whoever asked another one before.
#[test]
fn an_object_that_changes_is_found_by_what_it_offers_now() {
    let proxy = |service: &str| {
        format!(
            "type: Dataplane\nmesh: default\nname: web-1\nnetworking: {{address: 127.0.0.1, inbound: [{{port: 80, tags: {{kuma.io/service: {service}}}}}]}}\n"
        )
    };
    let log = "type: TrafficLog\nmesh: default\nname: all\nsources: [{match: {kuma.io/service: '*'}}]\n\
               destinations: [{match: {kuma.io/service: '*'}}]\nconf: {backend: a}\n";
    let options = Options::at(Timestamp(0));
    let finds = |loaded: &Loaded, service: &str| {
        let world = World::new(&loaded.snapshot, &options);
        let [kind, from, to] = ["TrafficLog", "web-1", service].map(|word| Some(word.to_owned()));
        let words = Words { kind, from, to, ..Words::default() };
        world.question(&words).and_then(|question| world.answer(&question)).is_ok()
    };
    let change = |loaded: &Loaded, name: &str, text: &str| {
        let described = loaded.snapshot.objects().iter().map(|(_, object)| (object.name, object.at));
        let described = described.chain(loaded.snapshot.policies().iter().map(|(_, policy)| (policy.name, policy.at)));
        let at = described.into_iter().find(|(own, _)| loaded.snapshot.text(*own) == name).expect("is there").1;
        loaded.rewritten(at, text).expect("can be rewritten").expect("is valid")
    };
    // Whether somebody asked before a change makes no difference to either side.
    for asked_before in [true, false] {
        let before = loaded(&["type: Mesh\nname: default\n", &proxy("web"), log]);
        if asked_before {
            assert!(finds(&before, "web"));
        }
        let after = change(&before, "web-1", &proxy("shop"));
        assert!(finds(&after, "shop") && !finds(&after, "web"));
        assert!(finds(&before, "web") && !finds(&before, "shop"));
        let logged = change(&after, "all", &log.replace("backend: a", "backend: b"));
        assert!(finds(&logged, "shop") && !finds(&logged, "web"));
    }
}
