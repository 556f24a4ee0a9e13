//! What is asked of a server, for each system: every operation of its description and every page of its router.

use serde_json::{Value as Json, json};

use crate::worlds::System;

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The endpoint as the description or the router names it, with what is special about this request.
    pub(crate) case: String,
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) accept: &'static str,
    pub(crate) body: String,
}

const JSON: &str = "application/json";
const HTML: &str = "text/html";

fn get(endpoint: &str, path: impl Into<String>) -> Request {
    Request { case: format!("GET {endpoint}"), method: "GET", path: path.into(), accept: JSON, body: String::new() }
}

fn post(endpoint: &str, body: &Json) -> Request {
    let case = format!("POST {endpoint}");
    Request { case, method: "POST", path: endpoint.to_owned(), accept: JSON, body: body.to_string() }
}

fn page(endpoint: &str, path: impl Into<String>) -> Request {
    Request { case: format!("page {endpoint}"), accept: HTML, ..get(endpoint, path) }
}

fn plain(endpoint: &str) -> Request {
    page(endpoint, endpoint)
}

impl Request {
    /// The same endpoint in another way.
    fn in_case(mut self, of: &str) -> Self {
        self.case = format!("{} ({of})", self.case);
        self
    }

    fn to(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }
}

/// Questions whose answers keep their size, with a word for each.
fn questions(system: System) -> Vec<(&'static str, Json)> {
    match system {
        System::Access => {
            vec![("decision", json!({"subject": "role=r00002", "action": "GET", "resource": "/api/p00008/x"}))]
        }
        System::Compliance => vec![("pair", json!({"what": "project/p00000-7~landingZone/l00000"}))],
        System::EnvoyGateway | System::Kgateway => vec![
            ("route", json!({"what": "HTTPRoute/r00007"})),
            ("request", json!({"host": "h00007.example.com", "path": "/v"})),
        ],
        System::KumaTags => vec![
            ("connection", json!({"from": "d00007", "to": "d00008"})),
            ("kind", json!({"from": "d00007", "to": "d00008", "kind": "TrafficLog"})),
        ],
        System::KumaTargets => vec![
            ("proxy", json!({"what": "dataplane/d00007"})),
            ("kind", json!({"what": "dataplane/d00007", "to": "meshservice/ms00008", "kind": "MeshTimeout"})),
        ],
        System::Network => vec![("connection", json!({"from": "d00008", "to": "d00007", "port": 80}))],
    }
}

/// All that is asked.
pub(crate) fn requests(system: System) -> Vec<Request> {
    let mut all = everywhere(system);
    all.extend(asking(system));
    match system {
        System::Access => all.extend(decisions()),
        System::Compliance => all.extend(relations()),
        System::EnvoyGateway | System::Kgateway => all.extend(gateways()),
        System::KumaTags => all.extend(tags()),
        System::KumaTargets => all.extend(targets()),
        System::Network => all.push(page("/connection", "/connection?from=d00008&to=d00007&port=80")),
    }
    all.extend(pages(system));
    all.extend(writes(system));
    all
}

fn everywhere(system: System) -> Vec<Request> {
    let policy = system.policy();
    let mut all = vec![
        get("/healthz", "/healthz"),
        get("/readyz", "/readyz"),
        get("/metrics", "/metrics"),
        get("/openapi.json", "/openapi.json"),
        get("/v1/codes", "/v1/codes?limit=3"),
        get("/v1/codes/{code}", "/v1/codes/UP014"),
        get("/v1/lessons", "/v1/lessons"),
        get("/v1/lessons/{lesson}", "/v1/lessons/select?step=3"),
        get("/v1/documents", "/v1/documents?limit=10"),
        get("/v1/documents/{kind}/{scope}/{name}", format!("/v1/documents/{policy}")),
        get("/v1/snapshot", "/v1/snapshot"),
        get("/v1/revisions", "/v1/revisions"),
        get("/v1/revisions/{revision}", "/v1/revisions/9"),
        get("/v1/history", "/v1/history"),
        get("/v1/policies", "/v1/policies?limit=10"),
        get("/v1/policies/{kind}/{scope}/{name}", format!("/v1/policies/{policy}")),
        get("/v1/objects", "/v1/objects?limit=10"),
        get("/v1/contents", "/v1/contents"),
        get("/v1/search", "/v1/search?q=00007&limit=5"),
        get("/v1/kinds", "/v1/kinds?limit=10"),
        get("/v1/kinds/{name}", "/v1/kinds/TrafficLog"),
        get("/.well-known/authzen-configuration", "/.well-known/authzen-configuration"),
        post("/v1/lint", &json!({})),
        post("/v1/reload", &Json::Null),
    ];
    if let Some(object) = system.object() {
        all.push(get("/v1/objects/{kind}/{scope}/{name}", format!("/v1/objects/{object}")));
        if system != System::Compliance {
            let effective = "/v1/objects/{kind}/{scope}/{name}/effective";
            all.push(get(effective, format!("/v1/objects/{object}/effective")));
        }
    }
    all
}

fn asking(system: System) -> Vec<Request> {
    let policy = system.policy();
    let mut all = vec![
        post("/v1/diff", &json!({"before": 8, "after": 9})),
        post("/v1/prove", &json!({"before": 8, "after": 9})),
        post("/v1/affected", &json!({"policy": policy})),
        post("/v1/survival", &json!({"policy": policy})),
    ];
    for (word, question) in questions(system) {
        all.extend([
            post("/v1/explain", &question).in_case(word),
            post("/v1/explain", &question).to("/v1/explain?skipped=5").in_case(&format!("{word}, 5 skipped")),
            post("/v1/explain", &question).to("/v1/explain?at=8").in_case(&format!("{word}, earlier")),
            post("/v1/resolve", &question).in_case(word),
            post("/v1/why-not", &json!({"policy": policy, "question": question})).in_case(word),
            post("/v1/suppose", &json!({"without": [policy], "question": question})).in_case(word),
        ]);
    }
    all
}

fn decisions() -> Vec<Request> {
    let decision = json!({"subject": {"id": "u00002", "roles": ["r00002"]}, "action": {"method": "GET"}, "resource": {"path": "/api/p00008/x"}});
    let seed = json!({"subject": {"id": "u00002", "roles": ["r00002"], "groups": [], "claims": {}}, "resource": {"app": "a", "path": "/api/p00008/x"},
        "action": {"method": "GET"}, "environment": {"ip": "10.0.0.1"}});
    let (subject, action, resource) =
        (json!({"type": "user", "id": "u00002"}), json!({"name": "GET"}), json!({"type": "page", "id": "x00008"}));
    let all = json!({"subject": subject, "action": action, "resource": resource});
    vec![
        post("/v1/test", &json!({})),
        post("/v1/decide", &decision),
        post("/v1/decide:batch", &json!({"requests": vec![&decision; 10]})),
        post("/v1/reach", &json!({"subject": "user/u00002", "action": "GET"})).to("/v1/reach?limit=10"),
        post("/access/v1/evaluation", &all),
        post("/access/v1/evaluations", &json!({"evaluations": [all]})),
        post("/access/v1/search/action", &json!({"subject": subject, "resource": resource})),
        post(
            "/access/v1/search/resource",
            &json!({"subject": subject, "action": action, "resource": {"type": "page"}}),
        ),
        post(
            "/access/v1/search/subject",
            &json!({"subject": {"type": "user"}, "action": action, "resource": resource}),
        ),
        post("/authz/api/evaluate", &seed),
        post("/authz/api/explain", &seed),
        get("/authz/api/policies", "/authz/api/policies?limit=10"),
        get("/authz/api/policies/{id}", "/authz/api/policies/p00008"),
        page("/access", "/access?subject=role%3Dr00002&action=GET&resource=/api/p00008/x"),
    ]
}

fn relations() -> Vec<Request> {
    let link = json!({"a": "project/p00000-7", "b": "landingZone/l00001"});
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "1", "operation": "CREATE",
        "userInfo": {"username": "mia", "groups": ["workspaceManager@workspace/w00000"]}, "object": link}});
    vec![
        post("/v1/audit", &json!({})),
        post("/v1/audit", &json!({"workspace": "w00000"})).in_case("workspace"),
        post("/v1/audit", &json!({"object": "project/p00000-7"})).in_case("object"),
        post("/v1/can", &json!({"change": ["link", "project/p00000-7~landingZone/l00001"]})),
        post("/v1/candidates", &json!({"object": "project/p00000-7", "kind": "landingZone"})),
        post("/v1/values", &json!({"object": "project/p00000-7", "tag": "env"})),
        post("/v1/what-if", &json!({"verb": "setTags", "object": "landingZone/l00000", "tags": {"env": ["prod"]}})),
        post("/v1/fix", &json!({"workspace": "w00000"})).in_case("workspace"),
        post("/v1/fix", &json!({"what": "project/p00000-7"})).in_case("object"),
        post("/v1/waivers", &json!({"expiring": 30})),
        post("/v1/check", &json!({"put": [link]})),
        post("/v1/admission-review", &review),
        page("/compliance", "/compliance?workspace=w00000").in_case("workspace"),
        page("/compliance", "/compliance?object=project/p00000-7").in_case("object"),
        plain("/compliance"),
        page("/explain", "/explain?what=project/p00000-7~landingZone/l00000"),
    ]
}

fn gateways() -> Vec<Request> {
    vec![
        get("/v1/graph", "/v1/graph"),
        page("/gateway", "/gateway?host=h00007.example.com&path=/v").in_case("request"),
        page("/gateway", "/gateway?what=httproute/r00007").in_case("route"),
        plain("/gateway"),
        plain("/gateway/map.svg"),
    ]
}

/// A path of Kuma's inspection API, as the description has it, and what is in its place here.
fn native(path: &str, names: &[&str]) -> Request {
    let mut asked = path.replace("{mesh}", "default");
    for name in names {
        let Some((before, rest)) = asked.split_once('{') else { break };
        let (_, after) = rest.split_once('}').unwrap_or_default();
        asked = format!("{before}{name}{after}");
    }
    get(path, asked)
}

fn tags() -> Vec<Request> {
    vec![
        post("/v1/test", &json!({})),
        native("/meshes/{mesh}/dataplanes/{name}/policies", &["d00007"]).in_case("tags"),
        native("/meshes/{mesh}/{policies}/{name}/dataplanes", &["traffic-logs", "p00007"]),
        native("/meshes/{mesh}/dataplanes/{name}/_rules", &["d00007"]).in_case("tags"),
        post("/v1/explain", &json!({"allPairs": true, "kind": "TrafficLog"})).in_case("all pairs"),
        page("/connection", "/connection?from=d00007&to=d00008"),
        page("/connection", "/connection?from=d00007&to=d00008&kind=TrafficLog").in_case("kind"),
        page("/connections", "/connections?kind=TrafficLog"),
    ]
}

fn targets() -> Vec<Request> {
    const PROXY: &str = "/meshes/{mesh}/dataplanes/{name}";
    let of_proxy = |view: &str| native(&format!("{PROXY}/{view}"), &["d00007"]);
    let mut all: Vec<Request> = ["_rules", "_policies", "_layout", "rules", "policies"].map(of_proxy).into();
    let service = "kri_msvc_default___ms00008_http";
    all.extend([
        native(&format!("{PROXY}/_outbounds/{{kri}}/_policies"), &["d00007", service]),
        native(&format!("{PROXY}/_outbounds/{{kri}}/_routes"), &["d00007", service]),
        native("/meshes/{mesh}/meshservices/{name}/_dataplanes", &["ms00008"]),
        native("/meshes/{mesh}/meshservices/{name}/_resources/dataplanes", &["ms00008"]),
        native("/meshes/{mesh}/{policies}/{name}/_resources/dataplanes", &["meshtimeouts", "m00007"]),
        page("/explain", "/explain?what=dataplane/d00007"),
        page("/layers", "/layers?what=dataplane/d00007"),
        page("/connections", "/connections?kind=MeshTimeout"),
    ]);
    all
}

fn pages(system: System) -> Vec<Request> {
    const POLICY: &str = "/policy/{kind}/{scope}/{*name}";
    const EDIT: &str = "/edit/{sort}/{kind}/{scope}/{*name}";
    let policy = system.policy();
    let (kind, rest) = policy.split_once('/').unwrap_or_default();
    let name = rest.rsplit('/').next().unwrap_or_default();
    let mut all = vec![
        plain("/"),
        page("/ask", "/ask?q=00007"),
        plain("/policies"),
        plain("/objects"),
        page("/search", "/search?q=00007"),
        page("/find", format!("/find?kind={kind}&name={name}")),
        page(POLICY, format!("/policy/{policy}")),
        page(POLICY, format!("/policy/{policy}?if=deleted")).in_case("if deleted"),
        page(EDIT, format!("/edit/policy/{policy}")),
        plain("/kinds"),
        plain("/codes"),
        page("/codes/{code}", "/codes/UP014"),
        plain("/learn"),
        page("/learn/{lesson}", "/learn/select?step=3"),
        plain("/diagnostics"),
        plain("/history"),
        plain("/changes"),
        page("/changes", "/changes?before=8&after=9").in_case("of a revision"),
        plain("/findings"),
        plain("/sign-in"),
        plain("/pages/theme"),
    ];
    if let Some(object) = system.object() {
        all.push(page("/object/{kind}/{scope}/{*name}", format!("/object/{object}")));
        all.push(page(EDIT, format!("/edit/object/{object}")).in_case("object"));
    }
    all
}

/// One document written; each time it says something else.
fn writes(system: System) -> Vec<Request> {
    const DOCUMENT: &str = "/v1/documents/{kind}/{scope}/{name}";
    let write = |time: usize, query: &str, case: &str| {
        let (id, document) = system.edit(time);
        let case = format!("PUT {DOCUMENT}{case}");
        Request {
            case,
            method: "PUT",
            path: format!("/v1/documents/{id}{query}"),
            accept: JSON,
            body: document.to_string(),
        }
    };
    let revision = |time: usize| post("/v1/revisions", &json!({"put": [system.edit(time).1]}));
    // Each is measured by a document that says something else than the one before.
    vec![
        write(0, "?dryRun=true", " (dry run)"),
        write(0, "", ""),
        write(1, "", ""),
        write(0, "", ""),
        revision(1),
        revision(0),
        revision(1),
    ]
}
