//! Every answer, on every surface, says which edition of the rules gave it and out of which documents.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::served::Client;
use super::support::run;

/// All families in one folder: one list of editions could never be right for all answers.
const DOCUMENTS: &str = "
type: Mesh
name: default
---
type: Dataplane
mesh: default
name: web-1
networking: {address: 10.0.0.1, inbound: [{port: 8080, tags: {kuma.io/service: web}}]}
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
type: MeshTimeout
mesh: default
name: slow
spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 10s}}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: kgateway, listeners: [{name: http, protocol: HTTP, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec: {parentRefs: [{name: edge}], hostnames: [shop.example], rules: [{backendRefs: [{name: cart, port: 80}]}]}
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
---
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
a: {kind: meshCustomer, tag: environment}
b: {kind: meshProject, tag: environment}
";

const ACCESS: &str = "
- id: admins
  effect: permit
  subjects: [{role: admin}]
  resources: [{path: /**}]
  actions: [{method: '*'}]
";

/// The editions of the families, one of each.
struct Editions {
    select: &'static str,
    merge: &'static str,
    hierarchy: &'static str,
    decide: &'static str,
    comply: &'static str,
}

const USUAL: Editions = Editions {
    select: "kuma/0.3",
    merge: "kuma/2",
    hierarchy: "kgateway/2026",
    decide: "access/strict",
    comply: "meshstack/classic",
};

const OTHERS: Editions = Editions {
    select: "kuma/0.4",
    merge: "kuma/3",
    hierarchy: "kgateway/ep-11268",
    decide: "access/compat",
    comply: "meshstack/current",
};

impl Editions {
    fn chosen(&self) -> Vec<String> {
        [self.select, self.merge, self.hierarchy, self.decide, self.comply].map(str::to_owned).to_vec()
    }

    /// Each family: the edition, and the question as words and as a document.
    fn questions(&self) -> Vec<(Vec<&'static str>, &'static str, Json)> {
        let connection = |kind: &str| json!({"from": "web-1", "to": "backend-1", "kind": kind});
        vec![
            (vec![self.select], "--from web-1 --to backend-1 --kind TrafficLog", connection("TrafficLog")),
            (vec![self.merge], "--from web-1 --to backend-1 --kind MeshTimeout", connection("MeshTimeout")),
            (vec![self.merge, self.select], "--from web-1 --to backend-1", json!({"from": "web-1", "to": "backend-1"})),
            (vec![self.hierarchy], "httproute/shop/cart", json!({"what": "httproute/shop/cart"})),
            (
                vec![self.decide],
                "--subject role=admin --action GET --resource /a",
                json!({"subject": "role=admin", "action": "GET", "resource": "/a"}),
            ),
            (vec![self.comply], "project/checkout~workspace/shop", json!({"what": "project/checkout~workspace/shop"})),
        ]
    }
}

fn told(folder: &Path, editions: &Editions, line: &str) -> String {
    let semantics: String = editions.chosen().iter().map(|name| format!(" --semantics {name}")).collect();
    let output = run(folder, &format!("{line} --now 2025-03-01T12:00:00Z{semantics}"));
    String::from_utf8(output.stdout).unwrap()
}

fn parsed(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn every_answer_is_stamped(editions: &Editions) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("all.yaml"), DOCUMENTS).unwrap();
    fs::write(folder.path().join("access.yaml"), ACCESS).unwrap();
    let told = |line: &str| told(folder.path(), editions, line);
    let client = Client::of(folder.path(), editions.chosen());
    // What is not an answer of a policy says which editions are in force; its digest is that of the snapshot.
    let ([in_force, digest], _) = client.asks("/v1/kinds", &Json::Null);
    assert_eq!(in_force, editions.chosen().join(", "));

    for (mut expected, line, question) in editions.questions() {
        let document = parsed(&told(&format!("explain {line} -o json")));
        // Which of several stands first is another matter.
        if document["semantics"][0] != expected[0] {
            expected.reverse();
        }
        assert_eq!((&document["semantics"], &document["snapshot"]), (&json!(expected), &json!(digest)), "{line}");
        let document: Json = serde_saphyr::from_str(&told(&format!("explain {line} -o yaml"))).unwrap();
        assert_eq!((&document["semantics"], &document["snapshot"]), (&json!(expected), &json!(digest)), "{line}");
        let lines = told(&format!("explain {line} -o jsonl"));
        assert!(!lines.is_empty(), "{line}");
        for answer in lines.lines().map(parsed) {
            assert!(expected.iter().any(|edition| answer["semantics"] == *edition), "{line}: {answer}");
            assert_eq!(answer["snapshot"], digest, "{line}");
        }
        let people = told(&format!("explain {line}"));
        assert!(people.ends_with(&format!("\n  Semantics: {}\n", expected.join(", "))), "{line}: {people}");
        let people = told(&format!("explain {line} -o wide"));
        assert!(people.ends_with(&format!("{}\n  Snapshot: {digest}\n", expected.join(", "))), "{line}: {people}");

        let (headers, body) = client.asks("/v1/explain", &question);
        assert_eq!(headers, [expected.join(", "), digest.clone()], "{line}");
        assert_eq!((&body["semantics"], &body["digest"]), (&json!(expected), &json!(digest)), "{line}");
    }

    let pairs = json!({"kind": "TrafficLog", "allPairs": true});
    let document = parsed(&told("explain --all-pairs --kind TrafficLog -o json"));
    assert_eq!((&document["semantics"], &document["snapshot"]), (&json!(editions.select), &json!(digest)));
    assert!(told("explain --all-pairs --kind TrafficLog").ends_with(&format!("\n  Semantics: {}\n", editions.select)));
    let (headers, body) = client.asks("/v1/explain", &pairs);
    assert_eq!(headers, [editions.select.to_owned(), digest.clone()]);
    assert_eq!(body["semantics"], editions.select);

    let (headers, body) =
        client.asks("/v1/resolve", &json!({"from": "web-1", "to": "backend-1", "kind": "TrafficLog"}));
    assert_eq!(headers, [editions.select.to_owned(), digest.clone()]);
    assert_eq!((&body["semantics"], &body["digest"]), (&json!([editions.select]), &json!(digest)));

    let document = parsed(&told("audit -o json"));
    assert_eq!((&document["semantics"], &document["snapshot"]), (&json!(editions.comply), &json!(digest)));
    let (headers, body) = client.asks("/v1/audit", &json!({}));
    assert_eq!(headers, [editions.comply.to_owned(), digest.clone()]);
    assert_eq!((&body["semantics"], &body["digest"]), (&json!(editions.comply), &json!(digest)));

    decisions_are_stamped(folder.path(), editions, &client, &digest);
}

/// The surfaces that only decide.
fn decisions_are_stamped(folder: &Path, editions: &Editions, client: &Client, digest: &str) {
    let request = json!({"subject": {"roles": ["admin"]}, "action": {"method": "GET"}, "resource": {"path": "/a"}});
    fs::write(folder.join("requests.jsonl"), request.to_string()).unwrap();
    let words = "--subject role=admin --action GET --resource /a";
    let lines = [
        format!("can {words} -o json"),
        format!("resolve {words} -o json"),
        "can --batch requests.jsonl -o jsonl".to_owned(),
    ];
    for line in lines {
        let answer = parsed(&told(folder, editions, &line));
        assert_eq!((&answer["semantics"], &answer["snapshot"]), (&json!(editions.decide), &json!(digest)), "{line}");
    }
    let stamp = [editions.decide.to_owned(), digest.to_owned()];
    for (path, body) in [("/v1/decide", request.clone()), ("/v1/decide:batch", json!({"requests": [request]}))] {
        let (headers, body) = client.asks(path, &body);
        assert_eq!(headers, stamp, "{path}");
        assert_eq!((&body["semantics"], &body["digest"]), (&json!([editions.decide]), &json!(digest)), "{path}");
    }
    // Bodies that others define have no room for it.
    let evaluation = json!({
        "subject": {"type": "user", "id": "ann"}, "action": {"name": "GET"}, "resource": {"type": "page", "id": "7"},
    });
    let context = json!({
        "subject": {"id": "ann", "roles": ["admin"], "groups": [], "claims": {}}, "action": {"method": "GET"},
        "resource": {"app": "a", "path": "/a"}, "environment": {"ip": "192.0.2.1", "time": "2026-01-01T10:00:00Z"},
    });
    let others = [
        ("/access/v1/evaluation", &evaluation),
        ("/access/v1/evaluations", &evaluation),
        ("/authz/api/evaluate", &context),
        ("/authz/api/explain", &context),
        ("/forward-auth", &json!({})),
    ];
    for (path, body) in others {
        assert_eq!(client.asks(path, body).0, stamp, "{path}");
    }
}

#[test]
fn every_answer_is_stamped_by_the_kind_that_gave_it() {
    for editions in [USUAL, OTHERS] {
        every_answer_is_stamped(&editions);
    }
}
