//! The law of rights: whoever may see only a part of all documents is answered as by a server that holds only that part.
//!
//! Two servers with the same rights: one has everything, the other has only what the viewer may see. Every endpoint is asked of both, and
//! the answers must be the same, errors and headers included. Only numbers of revisions are shared by everybody: they count writes.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use upheld_server::Config;
use upheld_server::config::Security;

use crate::support::{Answer, Served};

/// Viewers may use every endpoint, and touch whatever is not called `secret-…`.
const RIGHTS: &str = "
combiningAlgorithm: deny-overrides
defaultEffect: deny
policies:
- {id: admins, effect: permit, subjects: [{role: admin}], resources: [], actions: []}
- id: viewers
  effect: permit
  subjects: [{role: viewer}]
  resources: []
  actions: []
- id: hidden
  effect: deny
  subjects: [{role: viewer}]
  resources: [{type: document, path: /v1/documents/*/*/secret-*}, {type: [policy, object], path: /*/secret-*}]
  actions: []
";

fn token(role: &str) -> String {
    format!("upheld_{role}-0123456789abcdef0123456789abcdef")
}

fn served(folder: &TempDir) -> Served {
    let tokens = ["admin", "viewer"].map(|role| {
        format!("- {{name: {role}-token, roles: [{role}], sha256: '{:x}'}}\n", Sha256::digest(token(role).as_bytes()))
    });
    let (rights, listed) = (folder.path().join("rights.yaml"), folder.path().join("tokens.yaml"));
    fs::write(&rights, RIGHTS).unwrap();
    fs::write(&listed, format!("tokens:\n{}", tokens.concat())).unwrap();
    let security = Security { tokens: Some(listed), rights: Some(rights), ..Security::default() };
    Served::guarded(Config { security, ..Config::default() })
}

fn asked(served: &Served, role: &str, method: &str, path: &str, body: &str) -> Answer {
    let bearer = format!("Bearer {}", token(role));
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json"), ("x-request-id", "law")];
    served.ask(method, path, &headers, body)
}

fn access(id: &str, effect: &str, path: &str) -> Json {
    json!({"id": id, "description": format!("{id} says so"), "effect": effect, "subjects": [{"role": "user"}],
        "resources": [{"path": path}], "actions": [{"method": "GET"}]})
}

fn dataplane(name: &str, service: &str) -> Json {
    json!({"type": "Dataplane", "mesh": "default", "name": name, "networking": {"address": "10.0.0.1",
        "inbound": [{"port": 80, "tags": {"kuma.io/service": service}}], "outbound": [{"port": 81, "tags": {"kuma.io/service": "backend"}}]}})
}

fn traffic_log(name: &str, backend: &str, destination: &str) -> Json {
    json!({"type": "TrafficLog", "mesh": "default", "name": name, "sources": [{"match": {"kuma.io/service": "*"}}],
        "destinations": [{"match": {"kuma.io/service": destination}}], "conf": {"backend": backend}})
}

fn gateway(name: &str) -> Json {
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": name, "namespace": "shop"},
        "spec": {"gatewayClassName": "kgateway", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}})
}

fn route(name: &str, gateway: &str) -> Json {
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": name, "namespace": "shop"},
        "spec": {"parentRefs": [{"name": gateway}], "rules": [{"backendRefs": [{"name": "cart", "port": 80}]}]}})
}

fn tests(name: &str) -> Json {
    json!({"kind": "PolicyTests", "name": name, "invariants": [{"name": format!("{name} stays"), "unchanged": {}}], "cases": [{"name": format!("{name} case"),
        "request": {"subject": {"roles": ["user"]}, "action": {"method": "GET"}, "resource": {"path": "/orders/1"}}, "expect": "permit"}]})
}

/// What everybody may see.
fn open() -> Vec<Json> {
    vec![
        access("open-orders", "permit", "/orders/**"),
        access("open-deny", "deny", "/orders/closed"),
        json!({"type": "Mesh", "name": "default"}),
        dataplane("web-1", "web"),
        dataplane("backend-1", "backend"),
        traffic_log("open-log", "file", "*"),
        gateway("front"),
        route("cart", "front"),
        tests("open-tests"),
        json!({"ref": "workspace/shop", "tags": {"env": ["dev"]}}),
        json!({"ref": "project/web", "workspace": "shop", "tags": {"env": ["dev"]}}),
        json!({"ref": "landingZone/cheap", "tags": {"env": ["dev"]}}),
        json!({"a": "project/web", "b": "landingZone/cheap"}),
        json!({"type": "MeshPolicy", "name": "open-env", "a": {"kind": "project", "tag": "env"}, "b": {"kind": "landingZone", "tag": "env"}}),
    ]
}

/// What viewers may not.
fn hidden() -> Vec<Json> {
    vec![
        access("secret-deny", "deny", "/orders/vault"),
        access("secret-unused", "permit", "/nowhere"),
        dataplane("secret-web", "web"),
        traffic_log("secret-log", "vault", "hidden"),
        gateway("secret-front"),
        route("secret-route", "front"),
        tests("secret-tests"),
        json!({"ref": "landingZone/secret-zone", "tags": {"env": ["prod"]}}),
        json!({"type": "MeshPolicy", "name": "secret-env", "a": {"kind": "workspace", "tag": "env"}, "b": {"kind": "project", "tag": "env"}}),
    ]
}

fn put(served: &Served, documents: &[Json]) {
    let batch = json!({"put": documents}).to_string();
    let written = asked(served, "admin", "POST", "/v1/revisions", &batch);
    assert_eq!(written.status, 201, "{}", written.text);
}

/// Every endpoint: the method, the path as it is described, the path as it is asked, and the body.
fn requests() -> Vec<(&'static str, &'static str, &'static str, String)> {
    let decision = json!({"subject": {"id": "ann", "roles": ["user"]}, "action": {"method": "GET"}, "resource": {"path": "/orders/1"}});
    let seed = json!({"subject": {"id": "ann", "roles": ["user"], "groups": [], "claims": {}}, "action": {"method": "GET"}, "resource": {"path": "/orders/1"}});
    let authzen = json!({"subject": {"type": "user", "id": "ann", "properties": {"roles": ["user"]}}, "action": {"name": "GET", "properties": {"method": "GET"}},
        "resource": {"type": "route", "id": "/orders/1"}});
    let several = json!({"evaluations": [authzen]});
    let new = access("open-new", "permit", "/new");
    let document = "/v1/documents/{kind}/{scope}/{name}";
    let nothing = String::new;
    let text = |value: &Json| value.to_string();
    vec![
        ("GET", "/healthz", "/healthz", nothing()),
        ("GET", "/readyz", "/readyz", nothing()),
        ("GET", "/metrics", "/metrics", nothing()),
        ("POST", "/v1/reload", "/v1/reload", nothing()),
        ("GET", "/v1/history", "/v1/history", nothing()),
        ("GET", "/v1/codes", "/v1/codes", nothing()),
        ("GET", "/v1/codes/{code}", "/v1/codes/UP014", nothing()),
        ("GET", "/v1/lessons", "/v1/lessons", nothing()),
        ("GET", "/v1/lessons/{lesson}", "/v1/lessons/select", nothing()),
        ("GET", "/v1/documents", "/v1/documents", nothing()),
        ("GET", "/v1/documents", "/v1/documents?limit=2", nothing()),
        ("GET", "/v1/documents", "/v1/documents?limit=3&after=HTTPRoute/shop/cart", nothing()),
        ("GET", document, "/v1/documents/AccessPolicy/access/open-orders", nothing()),
        ("GET", document, "/v1/documents/AccessPolicy/access/secret-deny", nothing()),
        ("GET", document, "/v1/documents/AccessPolicy/access/x%2F..%2Fsecret-deny", nothing()),
        ("PUT", document, "/v1/documents/AccessPolicy/access/open-new?dryRun=true", text(&new)),
        (
            "PUT",
            document,
            "/v1/documents/AccessPolicy/access/secret-deny?dryRun=true",
            text(&access("secret-deny", "permit", "/x")),
        ),
        (
            "PUT",
            document,
            "/v1/documents/AccessPolicy/access/secret-none?dryRun=true",
            text(&access("secret-none", "permit", "/x")),
        ),
        ("DELETE", document, "/v1/documents/AccessPolicy/access/open-deny?dryRun=true", nothing()),
        ("DELETE", document, "/v1/documents/AccessPolicy/access/secret-deny?dryRun=true", nothing()),
        ("GET", "/v1/snapshot", "/v1/snapshot", nothing()),
        ("GET", "/v1/revisions", "/v1/revisions", nothing()),
        ("POST", "/v1/revisions", "/v1/revisions?dryRun=true", text(&json!({"put": [new]}))),
        (
            "POST",
            "/v1/revisions",
            "/v1/revisions?dryRun=true",
            text(&json!({"put": [new], "delete": ["AccessPolicy/access/secret-deny"]})),
        ),
        (
            "POST",
            "/v1/revisions",
            "/v1/revisions?dryRun=true",
            text(&json!({"put": [access("open-x", "permit", "/x/\\y")]})),
        ),
        ("GET", "/v1/revisions/{revision}", "/v1/revisions/1", nothing()),
        ("GET", "/v1/revisions/{revision}", "/v1/revisions/77", nothing()),
        ("GET", "/v1/policies", "/v1/policies", nothing()),
        ("GET", "/v1/policies", "/v1/policies?limit=1", nothing()),
        ("GET", "/v1/policies", "/v1/policies?kind=TrafficLog", nothing()),
        ("GET", "/v1/policies/{kind}/{scope}/{name}", "/v1/policies/AccessPolicy/access/open-orders", nothing()),
        ("GET", "/v1/policies/{kind}/{scope}/{name}", "/v1/policies/AccessPolicy/access/secret-deny", nothing()),
        ("GET", "/v1/objects", "/v1/objects", nothing()),
        ("GET", "/v1/contents", "/v1/contents", nothing()),
        ("GET", "/v1/contents", "/v1/contents?all=true", nothing()),
        ("GET", "/v1/search", "/v1/search?q=e", nothing()),
        ("GET", "/v1/search", "/v1/search?q=secret", nothing()),
        ("GET", "/v1/objects/{kind}/{scope}/{name}", "/v1/objects/Dataplane/default/web-1", nothing()),
        ("GET", "/v1/objects/{kind}/{scope}/{name}", "/v1/objects/Dataplane/default/secret-web", nothing()),
        (
            "GET",
            "/v1/objects/{kind}/{scope}/{name}/effective",
            "/v1/objects/Dataplane/default/web-1/effective",
            nothing(),
        ),
        (
            "GET",
            "/v1/objects/{kind}/{scope}/{name}/effective",
            "/v1/objects/Dataplane/default/secret-web/effective",
            nothing(),
        ),
        ("GET", "/v1/kinds", "/v1/kinds?limit=1000", nothing()),
        ("GET", "/v1/kinds/{name}", "/v1/kinds/TrafficLog", nothing()),
        ("POST", "/v1/decide", "/v1/decide", text(&decision)),
        ("POST", "/v1/decide:batch", "/v1/decide:batch", text(&json!({"requests": [decision, decision]}))),
        ("POST", "/v1/explain", "/v1/explain", text(&json!({"request": decision}))),
        ("POST", "/v1/explain", "/v1/explain", text(&json!({"from": "web-1", "to": "backend-1"}))),
        ("POST", "/v1/explain", "/v1/explain", text(&json!({"from": "secret-web", "to": "backend-1"}))),
        ("POST", "/v1/explain", "/v1/explain", text(&json!({"what": "httproute/shop/cart"}))),
        ("POST", "/v1/explain", "/v1/explain", text(&json!({"what": "httproute/shop/secret-route"}))),
        ("POST", "/v1/resolve", "/v1/resolve", text(&json!({"request": decision}))),
        (
            "POST",
            "/v1/resolve",
            "/v1/resolve",
            text(&json!({"from": "web-1", "to": "backend-1", "kind": "TrafficLog"})),
        ),
        ("POST", "/v1/reach", "/v1/reach", text(&json!({"action": "GET", "resource": "/orders/1"}))),
        ("POST", "/v1/audit", "/v1/audit", "{}".to_owned()),
        ("POST", "/v1/test", "/v1/test", "{}".to_owned()),
        ("POST", "/v1/test", "/v1/test?since=1", "{}".to_owned()),
        ("GET", "/v1/graph", "/v1/graph", nothing()),
        ("POST", "/v1/can", "/v1/can", text(&json!({"change": ["unlink", "project/web~landingZone/cheap"]}))),
        ("POST", "/v1/candidates", "/v1/candidates", text(&json!({"object": "project/web", "kind": "landingZone"}))),
        ("POST", "/v1/values", "/v1/values", text(&json!({"object": "project/web", "tag": "env"}))),
        (
            "POST",
            "/v1/what-if",
            "/v1/what-if",
            text(&json!({"verb": "setTags", "object": "project/web", "tags": {"env": ["dev"]}})),
        ),
        ("POST", "/v1/fix", "/v1/fix", "{}".to_owned()),
        ("POST", "/v1/waivers", "/v1/waivers", "{}".to_owned()),
        ("POST", "/v1/lint", "/v1/lint", "{}".to_owned()),
        ("POST", "/v1/affected", "/v1/affected", text(&json!({"policy": "open-orders"}))),
        ("POST", "/v1/affected", "/v1/affected", text(&json!({"policy": "secret-deny"}))),
        (
            "POST",
            "/v1/why-not",
            "/v1/why-not",
            text(&json!({"policy": "open-orders", "question": {"request": decision}})),
        ),
        (
            "POST",
            "/v1/suppose",
            "/v1/suppose",
            text(&json!({"without": ["open-orders"], "question": {"request": decision}, "everywhere": true})),
        ),
        ("POST", "/v1/suppose", "/v1/suppose", text(&json!({"without": ["secret-deny"]}))),
        ("POST", "/v1/survival", "/v1/survival", text(&json!({"policy": "open-orders"}))),
        ("POST", "/v1/survival", "/v1/survival", text(&json!({"policy": "secret-deny"}))),
        ("POST", "/v1/diff", "/v1/diff", "{}".to_owned()),
        ("POST", "/v1/prove", "/v1/prove", "{}".to_owned()),
        ("POST", "/v1/check", "/v1/check", text(&json!({"put": [new]}))),
        ("POST", "/v1/check", "/v1/check", text(&json!({"delete": ["AccessPolicy/access/secret-deny"]}))),
        ("POST", "/v1/check", "/v1/check", text(&json!({"delete": ["AccessPolicy/access/secret-none"]}))),
        (
            "POST",
            "/v1/admission-review",
            "/v1/admission-review",
            text(&json!({"request": {"uid": "1", "operation": "CREATE", "object": new}})),
        ),
        ("POST", "/access/v1/evaluation", "/access/v1/evaluation", text(&authzen)),
        ("POST", "/access/v1/evaluations", "/access/v1/evaluations", text(&several)),
        ("POST", "/access/v1/search/subject", "/access/v1/search/subject", text(&authzen)),
        ("POST", "/access/v1/search/resource", "/access/v1/search/resource", text(&authzen)),
        ("POST", "/access/v1/search/action", "/access/v1/search/action", text(&authzen)),
        ("GET", "/.well-known/authzen-configuration", "/.well-known/authzen-configuration", nothing()),
        ("GET", "/authz/api/policies", "/authz/api/policies", nothing()),
        ("GET", "/authz/api/policies", "/authz/api/policies?offset=1&limit=1", nothing()),
        ("POST", "/authz/api/policies", "/authz/api/policies?dryRun=true", text(&new)),
        (
            "POST",
            "/authz/api/policies",
            "/authz/api/policies?dryRun=true",
            text(&access("secret-deny", "permit", "/x")),
        ),
        ("GET", "/authz/api/policies/{id}", "/authz/api/policies/open-orders", nothing()),
        ("GET", "/authz/api/policies/{id}", "/authz/api/policies/secret-deny", nothing()),
        ("DELETE", "/authz/api/policies/{id}", "/authz/api/policies/secret-deny?dryRun=true", nothing()),
        ("DELETE", "/authz/api/policies/{id}", "/authz/api/policies/open-deny?dryRun=true", nothing()),
        ("POST", "/authz/api/evaluate", "/authz/api/evaluate", text(&seed)),
        ("POST", "/authz/api/explain", "/authz/api/explain", text(&seed)),
        ("GET", "/forward-auth/{path}", "/forward-auth/orders/1", nothing()),
        ("GET", "/meshes", "/meshes/default/dataplanes/web-1/policies", nothing()),
        ("GET", "/meshes", "/meshes/default/dataplanes/secret-web/policies", nothing()),
    ]
}

/// Whether digests must be the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Digests {
    Compared,
    OfEverything,
}

/// An answer without what no two servers have in common: numbers of revisions, times, addresses. Fingerprints of everything that decides
/// are of everything.
pub(crate) fn comparable(answer: &Answer, base: &str, digests: Digests) -> (u16, Vec<(String, String)>, String) {
    let kept = [
        "content-type",
        "upheld-digest",
        "upheld-semantics",
        "etag",
        "allow",
        "x-policy-decision",
        "x-policy",
        "x-policy-reason",
    ];
    let kept = |name: &str| {
        kept.contains(&name) && !(digests == Digests::OfEverything && name == "upheld-digest") && name != "etag"
    };
    let headers = answer.headers.iter().filter(|(name, _)| kept(name)).cloned().collect();
    let text = match serde_json::from_str::<Json>(&answer.text) {
        Ok(mut json) => {
            plain(&mut json, digests);
            json.to_string()
        }
        Err(_) => answer.text.lines().filter(|line| !is_number(line)).collect::<Vec<_>>().join("\n"),
    };
    (answer.status, headers, text.replace(base, "(here)"))
}

/// A line of the metrics: traffic and clocks are of the server, not of documents.
fn is_number(line: &str) -> bool {
    let sizes = ["upheld_snapshot_policies", "upheld_snapshot_objects", "upheld_snapshot_documents"];
    let is_metric = line.starts_with("upheld_") || line.starts_with("process_");
    is_metric && !sizes.iter().any(|name| line.starts_with(name))
}

fn plain(json: &mut Json, digests: Digests) {
    const COUNTED: [&str; 10] = [
        "revision",
        "changed",
        "last",
        "oldest",
        "time",
        "startTimeUtc",
        "endTimeUtc",
        "snapshotAgeSeconds",
        "plan",
        "now",
    ];
    match json {
        Json::Array(items) => items.iter_mut().for_each(|item| plain(item, digests)),
        Json::Object(fields) => {
            fields.retain(|name, value| {
                let is_everything = digests == Digests::OfEverything && name == "digest";
                let is_revision = name == "next" && value.is_u64();
                !(COUNTED.contains(&name.as_str()) || is_everything || is_revision)
            });
            fields.values_mut().for_each(|field| plain(field, digests));
        }
        _ => {}
    }
}

/// Where two texts begin to differ.
pub(crate) fn difference(one: &str, other: &str) -> String {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let around = |text: &str| text.chars().skip(same.saturating_sub(80)).take(240).collect::<String>();
    format!("  whole: {}\n  part:  {}", around(one), around(other))
}

#[test]
fn a_part_is_answered_as_by_a_server_that_holds_only_that_part() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, part) = (served(&folder), served(&folder));
    put(&whole, &open());
    put(&part, &open());
    put(&whole, &hidden());
    let (mixed, seen) = (access("secret-late", "permit", "/late"), access("open-late", "permit", "/late"));
    put(&whole, &[mixed, seen.clone()]);
    put(&part, &[seen]);
    let mut differing = Vec::new();
    for (method, _, path, body) in requests() {
        // Decisions are made by everything, and say of which everything.
        let deciding = ["/v1/decide", "/access/v1", "/forward-auth", "/authz/api/e", "/v1/reach"];
        let digests = if deciding.iter().any(|prefix| path.starts_with(prefix)) {
            Digests::OfEverything
        } else {
            Digests::Compared
        };
        let [of_whole, of_part] = [&whole, &part].map(|served| asked(served, "viewer", method, path, &body));
        let (one, other) = (comparable(&of_whole, whole.base(), digests), comparable(&of_part, part.base(), digests));
        if one != other {
            differing
                .push(format!("{method} {path} {body}\n{}", difference(&format!("{one:?}"), &format!("{other:?}"))));
        }
        let echoed = path.contains("secret") || body.contains("secret");
        let headers = format!("{:?}", of_whole.headers);
        if !echoed && (of_whole.text + &headers).contains("secret") {
            differing.push(format!("{method} {path} {body} names what is hidden"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    // The admin sees that there is something to hide.
    assert!(asked(&whole, "admin", "GET", "/v1/documents", "").text.contains("secret-deny"));
}

/// Pages, and what there is of numbers on them that count writes.
#[test]
fn pages_show_a_part_as_a_server_does_that_holds_only_that_part() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, part) = (served(&folder), served(&folder));
    put(&whole, &open());
    put(&part, &open());
    put(&whole, &hidden());
    let page = |served: &Served, path: &str| {
        let bearer = format!("Bearer {}", token("viewer"));
        let answer = served.ask("GET", path, &[("authorization", bearer.as_str()), ("accept", "text/html")], "");
        // Who looks at the log sees how many entries there are, which is everybody's.
        let text = answer.text.replace(served.base(), "(here)");
        let (before, pill) = text.split_once("id=\"pill\"").unwrap_or((&text, ""));
        (answer.status, format!("{before}{}", pill.split_once("</a>").map_or(pill, |(_, after)| after)))
    };
    for path in [
        "/policies",
        "/objects",
        "/kinds",
        "/search?q=e",
        "/search?q=deny",
        "/compliance",
        "/gateway",
        "/connection?from=web-1&to=backend-1",
        "/connection?from=secret-web&to=backend-1",
        "/gateway?what=httproute/shop/cart",
        "/gateway/map.svg",
        "/access?subject=role%3Duser&action=GET&resource=/orders/1",
        "/explain?what=project/web~landingZone/cheap",
        "/policy/AccessPolicy/access/open-orders",
        "/policy/AccessPolicy/access/secret-deny",
        "/object/Dataplane/default/secret-web",
        "/find?kind=AccessPolicy&name=secret-deny",
        "/diagnostics",
    ] {
        let (of_whole, of_part) = (page(&whole, path), page(&part, path));
        assert_eq!(of_whole.0, of_part.0, "{path}");
        // Requests are decided at a moment of their own.
        assert!(of_whole.1 == of_part.1, "{path}\n{}", difference(&of_whole.1, &of_part.1));
        assert!(path.contains("secret") || !of_whole.1.contains("secret"), "{path} names what is hidden");
    }
    let seen = asked(&whole, "admin", "GET", "/policies", "");
    assert!(seen.text.contains("secret-deny"), "the admin sees that there is something to hide");
    for path in ["/", "/history", "/history?from=0&to=2"] {
        assert!(!page(&whole, path).1.contains("secret"), "{path}");
    }
}

#[test]
fn every_endpoint_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let description = asked(&served(&folder), "admin", "GET", "/openapi.json", "").json();
    let asked: BTreeSet<(String, String)> =
        requests().into_iter().map(|(method, template, ..)| (method.to_lowercase(), template.to_owned())).collect();
    for (path, item) in description["paths"].as_object().unwrap() {
        for method in
            item.as_object().unwrap().keys().filter(|name| ["get", "put", "post", "delete"].contains(&name.as_str()))
        {
            // Events never end, and have a test of their own; all of Kuma's paths are one handler.
            let elsewhere = path == "/v1/events" || path.starts_with("/meshes") || path.starts_with("/forward-auth");
            assert!(elsewhere || asked.contains(&(method.clone(), path.clone())), "{method} {path} is not asked");
        }
    }
}

#[test]
fn what_hidden_policies_decide_is_told_without_them() {
    let folder = tempfile::tempdir().unwrap();
    let whole = served(&folder);
    put(&whole, &open());
    put(&whole, &hidden());
    let request = json!({"subject": {"id": "ann", "roles": ["user"], "groups": [], "claims": {}}, "action": {"method": "GET"}, "resource": {"path": "/orders/vault"}});
    let authzen = json!({"subject": {"type": "user", "id": "ann", "properties": {"roles": ["user"]}}, "action": {"name": "GET", "properties": {"method": "GET"}},
        "resource": {"type": "route", "id": "/orders/vault"}});
    let cases = [
        ("/v1/decide", request.clone(), "/decision", json!("deny")),
        ("/v1/decide:batch", json!({"requests": [request]}), "/decisions/0/decision", json!("deny")),
        ("/v1/resolve", json!({"request": request}), "/result/decision", json!("deny")),
        ("/v1/explain", json!({"request": request}), "/answers/0/verdict", json!("deny")),
        ("/authz/api/evaluate", request.clone(), "/effect", json!("deny")),
        ("/authz/api/explain", request.clone(), "/decision/effect", json!("deny")),
        ("/access/v1/evaluation", authzen.clone(), "/decision", json!(false)),
        ("/access/v1/evaluations", json!({"evaluations": [authzen]}), "/evaluations/0/decision", json!(false)),
    ];
    for (path, body, pointer, expected) in cases {
        let body = body.to_string();
        let (known, told) = (asked(&whole, "admin", "POST", path, &body), asked(&whole, "viewer", "POST", path, &body));
        for answer in [&known, &told] {
            assert_eq!(answer.json().pointer(pointer), Some(&expected), "{path}: {}", answer.text);
        }
        assert!(known.text.contains("secret-deny"), "{path}: {}", known.text);
        assert!(!told.text.contains("secret") && !told.text.contains("redacted\":1"), "{path}: {}", told.text);
    }
}

/// Where the default decides although policies may apply, it is not told which, unless the caller may see all of them.
#[test]
fn hidden_policies_that_may_apply_are_not_named_where_the_default_decides() {
    let folder = tempfile::tempdir().unwrap();
    let whole = served(&folder);
    let grown = json!({"id": "secret-grown", "effect": "deny", "subjects": [{"claim": {"name": "age", "operator": "gte", "value": 18}}],
        "resources": [], "actions": []});
    put(&whole, &[grown]);
    let request = json!({"subject": {"id": "ann", "roles": ["user"], "groups": [], "claims": {}}, "action": {"method": "GET"}, "resource": {"path": "/x"}});
    let authzen = json!({"subject": {"type": "user", "id": "ann"}, "action": {"name": "GET", "properties": {"method": "GET"}}, "resource": {"type": "route", "id": "/x"}});
    let reach = json!({"subject": "id=ann", "action": "GET", "resource": "/x", "denied": true});
    for (path, body) in [
        ("/v1/decide", request.clone()),
        ("/v1/decide:batch", json!({"requests": [request]})),
        ("/v1/resolve", json!({"request": request})),
        ("/v1/explain", json!({"request": request})),
        ("/v1/reach", reach),
        ("/authz/api/evaluate", request.clone()),
        ("/authz/api/explain", request.clone()),
        ("/access/v1/evaluation", authzen.clone()),
        ("/access/v1/evaluations", json!({"evaluations": [authzen]})),
        ("/forward-auth/x", json!("")),
    ] {
        let told = |role: &str| asked(&whole, role, "POST", path, &body.to_string());
        let (known, cut) = (told("admin"), told("viewer"));
        if path != "/v1/reach" {
            assert!(known.text.contains("secret-grown"), "{path}: {}", known.text);
        }
        assert!(!cut.text.contains("secret"), "{path}: {}", cut.text);
        assert!(!format!("{:?}", cut.headers).contains("secret"), "{path}: {:?}", cut.headers);
    }
    // With a permit beside it nobody can tell; a proxy hears no more than others.
    put(
        &whole,
        &[
            access("open-all", "permit", "/**"),
            json!({"id": "secret-grown", "effect": "deny", "subjects": [{"claim": {"name": "age", "operator": "gte", "value": 18}}], "resources": [], "actions": []}),
        ],
    );
    let headers = |role: &str| format!("Bearer {}", token(role));
    for role in ["viewer", "admin"] {
        let waiting = whole.ask(
            "GET",
            "/forward-auth/x",
            &[("authorization", &headers(role)), ("x-identity", r#"{"roles": ["user"]}"#)],
            "",
        );
        assert_eq!(waiting.text.contains("secret-grown"), role == "admin", "{}", waiting.text);
    }
}

/// S10: the built-in role that gateways have names who decides, and so why nothing could be decided.
#[test]
fn an_asker_is_told_why_a_request_is_undecided() {
    let folder = tempfile::tempdir().unwrap();
    let listed = folder.path().join("tokens.yaml");
    let tokens = ["admin", "asker"].map(|role| {
        format!("- {{name: {role}-token, roles: [{role}], sha256: '{:x}'}}\n", Sha256::digest(token(role).as_bytes()))
    });
    fs::write(&listed, format!("tokens:\n{}", tokens.concat())).unwrap();
    let security = Security { tokens: Some(listed), ..Security::default() };
    let served = Served::guarded(Config { security, ..Config::default() });
    let adults = json!({"id": "adults", "effect": "permit", "subjects": [{"claim": {"name": "age", "operator": "gte", "value": 18}}],
        "resources": [], "actions": []});
    let put = asked(&served, "admin", "PUT", "/v1/documents/AccessPolicy/access/adults", &adults.to_string());
    assert_eq!(put.status, 201, "{}", put.text);
    let request = json!({"subject": {"id": "ann", "roles": [], "groups": [], "claims": {}}, "action": {"method": "GET"}, "resource": {"path": "/x"}});
    let authzen = json!({"subject": {"type": "user", "id": "ann"}, "action": {"name": "GET"}, "resource": {"type": "route", "id": "/x"}});
    for (path, body) in [
        ("/v1/decide", request.clone()),
        ("/v1/decide:batch", json!({"requests": [request]})),
        ("/authz/api/evaluate", request.clone()),
        ("/access/v1/evaluation", authzen.clone()),
        ("/access/v1/evaluations", json!({"evaluations": [authzen]})),
        ("/forward-auth/x", json!("")),
    ] {
        let answer = asked(&served, "asker", "POST", path, &body.to_string());
        assert!(answer.text.contains("adults"), "{path}: {} {}", answer.status, answer.text);
    }
}

/// S1: neither a trick with the address nor a batch reaches a document that is not the writer's.
#[test]
fn a_right_to_write_some_documents_reaches_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let whole = served(&folder);
    put(&whole, &hidden());
    let before = asked(&whole, "admin", "GET", "/v1/snapshot", "").text;
    let policy = access("secret-deny", "permit", "/**").to_string();
    let tricks = [
        "/v1/documents/AccessPolicy/access/secret-deny",
        "/v1/documents/AccessPolicy/access/x%2F..%2Fsecret-deny",
        "/v1/documents/AccessManifest/access/a%2F..%2F..%2F..%2FAccessPolicy%2Faccess%2Fsecret-deny",
        "/v1/documents/AccessPolicy/access/%73ecret-deny",
        "/v1/documents/AccessPolicy/access/./secret-deny",
        "/v1/documents/AccessPolicy/access//secret-deny",
    ];
    for path in tricks {
        for (method, body) in [("PUT", policy.as_str()), ("DELETE", "")] {
            let refused = asked(&whole, "viewer", method, path, body);
            assert!((400..500).contains(&refused.status), "{method} {path}: {} {}", refused.status, refused.text);
        }
    }
    for batch in [
        json!({"put": [access("open-a", "permit", "/a"), access("secret-deny", "permit", "/**")]}),
        json!({"delete": ["AccessPolicy/access/secret-deny"]}),
        json!({"put": [access("secret-new", "permit", "/a")]}),
    ] {
        let refused = asked(&whole, "viewer", "POST", "/v1/revisions", &batch.to_string());
        assert_eq!(refused.status, 403, "{}", refused.text);
        assert!(refused.text.contains("secret-") && refused.text.contains("`write`"), "{}", refused.text);
    }
    assert_eq!(asked(&whole, "viewer", "POST", "/authz/api/policies", &policy).status, 403);
    assert_eq!(asked(&whole, "viewer", "DELETE", "/authz/api/policies/secret-deny", "").status, 403);
    assert_eq!(asked(&whole, "admin", "GET", "/v1/snapshot", "").text, before);
    assert_eq!(
        asked(
            &whole,
            "viewer",
            "POST",
            "/v1/revisions",
            &json!({"put": [access("open-a", "permit", "/a")]}).to_string()
        )
        .status,
        201
    );
}

#[test]
fn events_tell_of_what_one_may_read() {
    let folder = tempfile::tempdir().unwrap();
    let whole = served(&folder);
    put(&whole, &open());
    put(&whole, &hidden());
    put(&whole, &[access("secret-late", "permit", "/late"), access("open-late", "permit", "/late")]);
    let mut stream = whole.connect();
    let head = format!(
        "GET /v1/events?after=0 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n",
        token("viewer")
    );
    stream.write_all(head.as_bytes()).unwrap();
    let (mut read, mut room) = (String::new(), [0; 4096]);
    while !read.contains("open-late") {
        let count = stream.read(&mut room).unwrap();
        assert!(count > 0, "{read}");
        read.push_str(&String::from_utf8_lossy(&room[..count]));
    }
    assert!(read.contains("id: 1\n") && read.contains("id: 3\n") && !read.contains("id: 2\n"), "{read}");
    assert!(!read.contains("secret") && !read.to_lowercase().contains("digest"), "{read}");
}

/// What numbers tell is how the server does, and how many documents there are only to those who may read them all.
/// A record of what was let through names policies: whoever may not read one of them does not read the record.
#[test]
fn records_of_violations_are_for_those_who_may_read_the_policies_that_they_name() {
    let folder = TempDir::new().unwrap();
    let served = served(&folder);
    let policy = |name: &str| json!({"type": "MeshPolicy", "name": name, "a": {"kind": "workspace", "tag": name}, "b": {"kind": "project", "tag": name}, "enforcement": "warn"});
    put(
        &served,
        &[
            json!({"ref": "workspace/w", "tags": {"secret-env": ["dev"], "unit": ["x"]}}),
            policy("unit"),
            policy("secret-env"),
        ],
    );
    put(&served, &[json!({"ref": "project/one", "workspace": "w", "tags": {"secret-env": ["dev"], "unit": ["y"]}})]);
    put(&served, &[json!({"ref": "project/two", "workspace": "w", "tags": {"secret-env": ["qa"], "unit": ["y"]}})]);
    let records = |role: &str| {
        let listed = asked(&served, role, "GET", "/v1/documents?limit=100", "").json();
        let ids = listed["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned());
        ids.filter(|id| id.starts_with("AcceptedViolations/")).collect::<Vec<_>>()
    };
    let all = records("admin");
    assert_eq!((all.len(), records("viewer").len()), (2, 1), "{all:?}");
    let hidden: Vec<String> = all.into_iter().filter(|id| !records("viewer").contains(id)).collect();
    for path in
        [format!("/v1/documents/{}", hidden[0]), "/v1/snapshot".to_owned(), "/v1/revisions?limit=100".to_owned()]
    {
        let text = |role: &str| asked(&served, role, "GET", &path, "").text;
        assert!(text("admin").contains("\"policy\":\"secret-env\"") || text("admin").contains("secret-env"), "{path}");
        assert!(!text("viewer").contains("\"policy\":\"secret-env\""), "{path}: {}", text("viewer"));
        assert!(!text("viewer").contains("\\\"policy\\\":\\\"secret-env\\\""), "{path}: {}", text("viewer"));
    }
}

#[test]
fn metrics_count_no_documents_for_those_who_may_not_read_them() {
    let folder = tempfile::tempdir().unwrap();
    let whole = served(&folder);
    put(&whole, &hidden());
    let told = |role| asked(&whole, role, "GET", "/metrics", "").text.contains("upheld_snapshot_documents");
    assert!(told("admin") && !told("viewer"));
    assert!(asked(&whole, "viewer", "GET", "/metrics", "").text.contains("upheld_snapshot_revision"));
}
