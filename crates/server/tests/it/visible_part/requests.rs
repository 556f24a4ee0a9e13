//! What is asked of both servers: every endpoint and every page, about documents that the caller may see and about others.

use serde_json::{Value as Json, json};

use super::worlds::{Document, Maker, WORKSPACES, World};

/// A request, and the endpoint of the description, or the page of the router, that it is for.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: &'static str,
    /// The path as it is described.
    pub(super) endpoint: &'static str,
    pub(super) path: String,
    pub(super) body: String,
    pub(super) form: Form,
}

/// What is sent and wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    /// Whatever the endpoint has beside JSON.
    Accepting(&'static str),
    Page,
    /// A form of a page.
    Sent,
    /// A stream that never ends, until the last revision was told.
    Stream,
}

impl Request {
    pub(super) fn key(&self) -> String {
        format!("{} {}", self.method, self.endpoint)
    }

    /// Whether it is decided or judged by all documents: then verdicts are those of the whole.
    pub(super) fn is_judged_by_everything(&self) -> bool {
        let writes = ["PUT", "DELETE"].contains(&self.method)
            || (self.method == "POST" && ["/v1/revisions", "/authz/api/policies"].contains(&self.endpoint));
        writes || ["/v1/check", "/v1/admission-review"].contains(&self.endpoint)
    }
}

/// The names that a round of requests is about.
struct Names {
    policy: String,
    proxy: [String; 2],
    route: String,
    log: String,
    network: String,
    project: String,
    other: String,
    zone: String,
    workspace: &'static str,
    document: String,
    deleted: String,
}

fn names(maker: &mut Maker, world: &World) -> Names {
    let all: Vec<&Document> = world.first.iter().chain(&world.second).collect();
    let mut pick = |kinds: &[&str]| -> Document {
        let fitting: Vec<&&Document> = all.iter().filter(|own| kinds.contains(&own.kind())).collect();
        (**maker.numbers.of(&fitting)).clone()
    };
    let mut name = |kind: &str| pick(&[kind]).name().to_owned();
    let policy = name("AccessPolicy");
    let proxy = [name("Dataplane"), name("Dataplane")];
    let (route, log, network) = (name("HTTPRoute"), name("TrafficLog"), name("NetworkPolicy"));
    let (project, other, zone) = (name("project"), name("project"), name("landingZone"));
    let kinds = ["AccessPolicy", "TrafficLog", "project", "Link", "Waiver", "landingZone", "PolicyTests", "MeshPolicy"];
    let (document, deleted) = (pick(&kinds).id.clone(), pick(&["AccessPolicy", "Link", "project"]).id.clone());
    let workspace = maker.numbers.of(&WORKSPACES);
    Names { policy, proxy, route, log, network, project, other, zone, workspace, document, deleted }
}

/// How a name begins, as somebody types it.
fn begin(name: &str) -> String {
    name.chars().take(3).collect()
}

/// Names in an address.
fn address(id: &str) -> String {
    let mut parts = id.splitn(3, '/');
    let (kind, scope, name) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    format!("{kind}/{scope}/{}", name.replace('/', "%2F").replace('~', "%7E"))
}

fn access(id: &str, path: &str) -> Json {
    json!({"id": id, "description": "new", "effect": "permit", "subjects": [{"role": "user"}],
        "resources": [{"path": path}], "actions": [{"method": "GET"}]})
}

/// A round of requests; `records` are documents that the server wrote itself, `last` is the newest revision.
pub(super) fn requests(maker: &mut Maker, world: &World, records: &[String], last: u64) -> Vec<Request> {
    let own = names(maker, world);
    let mut all = reading(&own, records, last);
    all.extend(asking(&own, last));
    all.extend(deciding(maker, &own));
    all.extend(writing(maker, &own));
    all.extend(pages(&own, last));
    all
}

fn request(method: &'static str, endpoint: &'static str, path: impl Into<String>, body: &Json) -> Request {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    Request { method, endpoint, path: path.into(), body, form: Form::Json }
}

fn get(endpoint: &'static str, path: impl Into<String>) -> Request {
    request("GET", endpoint, path, &Json::Null)
}

fn post(endpoint: &'static str, body: &Json) -> Request {
    request("POST", endpoint, endpoint, body)
}

fn reading(own: &Names, records: &[String], last: u64) -> Vec<Request> {
    const DOCUMENT: &str = "/v1/documents/{kind}/{scope}/{name}";
    const OBJECT: &str = "/v1/objects/{kind}/{scope}/{name}";
    let Names { policy, proxy: [web, _], project, workspace, document, .. } = own;
    let mut all = vec![
        get("/healthz", "/healthz"),
        get("/readyz", "/readyz"),
        get("/metrics", "/metrics"),
        get("/openapi.json", "/openapi.json"),
        request("POST", "/v1/reload", "/v1/reload", &Json::Null),
        get("/v1/history", "/v1/history"),
        get("/v1/codes", "/v1/codes?limit=3"),
        get("/v1/codes/{code}", "/v1/codes/UP014"),
        get("/v1/lessons", "/v1/lessons"),
        get("/v1/lessons/{lesson}", "/v1/lessons/select"),
        get("/v1/documents", "/v1/documents?limit=1000"),
        get("/v1/documents", "/v1/documents?limit=3&after=HTTPRoute/shop/a"),
        get(DOCUMENT, format!("/v1/documents/{}", address(document))),
        get(DOCUMENT, format!("/v1/documents/{}?at={}", address(document), last - 1)),
        get(DOCUMENT, format!("/v1/documents/workspace/compliance/{workspace}")),
        get("/v1/snapshot", "/v1/snapshot"),
        get("/v1/snapshot", format!("/v1/snapshot?at={}", last - 1)),
        get("/v1/revisions", "/v1/revisions?limit=1000"),
        get("/v1/revisions", "/v1/revisions?limit=1&after=1"),
        get("/v1/revisions/{revision}", format!("/v1/revisions/{}", last - 1)),
        get("/v1/revisions/{revision}", "/v1/revisions/1"),
        get("/v1/revisions/{revision}", "/v1/revisions/77"),
        Request { form: Form::Stream, ..get("/v1/events", "/v1/events?after=0") },
        get("/v1/policies", "/v1/policies?limit=1000"),
        get("/v1/policies", "/v1/policies?limit=1"),
        get("/v1/policies/{kind}/{scope}/{name}", format!("/v1/policies/AccessPolicy/access/{policy}")),
        get("/v1/objects", "/v1/objects?limit=1000"),
        get(OBJECT, format!("/v1/objects/Dataplane/default/{web}")),
        get(OBJECT, format!("/v1/objects/project/compliance/{project}")),
        get("/v1/objects/{kind}/{scope}/{name}/effective", format!("/v1/objects/Dataplane/default/{web}/effective")),
        get("/v1/contents", "/v1/contents?all=true"),
        get("/v1/search", "/v1/search?q=e&limit=100"),
        get("/v1/search", format!("/v1/search?q={project}")),
        get("/v1/search", format!("/v1/search?q={}", begin(policy))),
        get("/v1/kinds", "/v1/kinds?limit=1"),
        get("/v1/kinds/{name}", "/v1/kinds/TrafficLog"),
        get("/v1/graph", "/v1/graph"),
        Request { form: Form::Accepting("image/svg+xml"), ..get("/v1/graph", "/v1/graph") },
        get("/.well-known/authzen-configuration", "/.well-known/authzen-configuration"),
        get("/authz/api/policies", "/authz/api/policies"),
        get("/authz/api/policies/{id}", format!("/authz/api/policies/{policy}")),
        get("/meshes", "/meshes/default/dataplanes"),
        get("/meshes", format!("/meshes/default/dataplanes/{web}/policies")),
    ];
    all.extend(records.iter().map(|id| get(DOCUMENT, format!("/v1/documents/{}", address(id)))));
    all
}

fn asking(own: &Names, last: u64) -> Vec<Request> {
    let Names { policy, proxy: [web, backend], route, log, network, project, other, zone, workspace, .. } = own;
    let decision = json!({"subject": {"id": "ann", "roles": ["user"]}, "action": {"method": "GET"}, "resource": {"path": "/orders/1"}});
    let audit = |accept| Request { form: Form::Accepting(accept), ..post("/v1/audit", &json!({})) };
    let explain = |body: Json| post("/v1/explain", &body);
    vec![
        explain(json!({"request": decision})),
        explain(json!({"from": web, "to": backend})),
        explain(json!({"what": format!("httproute/shop/{route}")})),
        explain(json!({"what": format!("project/{project}~landingZone/{zone}")})),
        explain(json!({"what": format!("project/{other}~workspace/{workspace}")})),
        explain(json!({"what": format!("{}~landingZone/{zone}", begin(project))})),
        explain(json!({"from": "front", "to": "api", "port": 8080})),
        explain(json!({"allPairs": true, "kind": "TrafficLog"})),
        post("/v1/resolve", &json!({"from": web, "to": backend, "kind": "TrafficLog"})),
        post("/v1/reach", &json!({"action": "GET", "resource": "/orders/1"})),
        post("/v1/audit", &json!({})),
        post("/v1/audit", &json!({"workspace": workspace})),
        post("/v1/audit", &json!({"object": format!("project/{other}")})),
        audit("text/csv"),
        audit("text/html"),
        audit("application/sarif+json"),
        post("/v1/test", &json!({})),
        request("POST", "/v1/test", "/v1/test?since=1", &json!({})),
        post("/v1/can", &json!({"change": ["link", format!("project/{project}~landingZone/{zone}")]})),
        post("/v1/can", &json!({"change": ["tag", format!("project/{other}"), "env=qa"]})),
        post("/v1/candidates", &json!({"object": format!("project/{project}"), "kind": "landingZone"})),
        post("/v1/candidates", &json!({"object": format!("landingZone/{zone}"), "kind": "project"})),
        post("/v1/values", &json!({"object": format!("project/{other}"), "tag": "env"})),
        post(
            "/v1/what-if",
            &json!({"verb": "setTags", "object": format!("project/{project}"), "tags": {"env": ["qa"]}}),
        ),
        post(
            "/v1/what-if",
            &json!({"verb": "setTags", "object": format!("landingZone/{zone}"), "tags": {"env": ["qa"]}}),
        ),
        post("/v1/fix", &json!({})),
        post("/v1/fix", &json!({"what": format!("project/{other}")})),
        post("/v1/waivers", &json!({})),
        post("/v1/lint", &json!({})),
        post("/v1/affected", &json!({"policy": policy})),
        post("/v1/affected", &json!({"policy": log})),
        post("/v1/affected", &json!({"policy": network})),
        post("/v1/why-not", &json!({"policy": policy, "question": {"request": decision}})),
        post("/v1/suppose", &json!({"without": [policy], "question": {"request": decision}, "everywhere": true})),
        post("/v1/survival", &json!({"policy": log})),
        post("/v1/survival", &json!({"policy": network})),
        post("/v1/diff", &json!({})),
        post("/v1/diff", &json!({"before": 1, "after": last})),
        post("/v1/diff", &json!({"before": last - 1})),
        post("/v1/diff", &json!({"recreated": [policy]})),
        post("/v1/prove", &json!({"before": 1})),
    ]
}

/// Questions whose verdicts are of everything: about what no document of the world can be.
fn deciding(maker: &mut Maker, own: &Names) -> Vec<Request> {
    let path = maker.numbers.of(&["/orders/1", "/orders/2", "/files/a", "/none"]);
    let role = maker.numbers.of(&["user", "staff", "nobody"]);
    let decision =
        json!({"subject": {"id": "ann", "roles": [role]}, "action": {"method": "GET"}, "resource": {"path": path}});
    let seed = json!({"subject": {"id": "ann", "roles": [role], "groups": [], "claims": {}}, "action": {"method": "GET"}, "resource": {"path": path}});
    let authzen = json!({"subject": {"type": "user", "id": "ann", "properties": {"roles": [role]}}, "action": {"name": "GET", "properties": {"method": "GET"}},
        "resource": {"type": "route", "id": path}});
    vec![
        post("/v1/decide", &decision),
        post("/v1/decide:batch", &json!({"requests": [decision, decision]})),
        post("/v1/resolve", &json!({"request": decision})),
        post("/access/v1/evaluation", &authzen),
        post("/access/v1/evaluations", &json!({"evaluations": [authzen]})),
        post("/access/v1/search/subject", &authzen),
        post("/access/v1/search/resource", &authzen),
        post("/access/v1/search/action", &authzen),
        post("/authz/api/evaluate", &seed),
        post("/authz/api/explain", &seed),
        get("/forward-auth/{path}", format!("/forward-auth{path}?{}", own.policy)),
    ]
}

fn writing(maker: &mut Maker, own: &Names) -> Vec<Request> {
    const DOCUMENT: &str = "/v1/documents/{kind}/{scope}/{name}";
    let Names { policy, project, zone, workspace, deleted, .. } = own;
    let new = access("newcomer", maker.numbers.of(&["/new", "/x/\\y"]));
    let link = json!({"a": format!("project/{project}"), "b": format!("landingZone/{zone}")});
    let tagged = json!({"ref": format!("project/{project}"), "workspace": workspace, "tags": {"env": ["qa"]}});
    let review = |object: &Json| json!({"request": {"uid": "1", "operation": "CREATE", "object": object}});
    vec![
        request("PUT", DOCUMENT, "/v1/documents/AccessPolicy/access/newcomer?dryRun=true", &new),
        request(
            "PUT",
            DOCUMENT,
            format!("/v1/documents/AccessPolicy/access/{policy}?dryRun=true"),
            &access(policy, "/x"),
        ),
        request("PUT", DOCUMENT, format!("/v1/documents/project/compliance/{project}?dryRun=true"), &tagged),
        request("DELETE", DOCUMENT, format!("/v1/documents/{}?dryRun=true", address(deleted)), &Json::Null),
        request("POST", "/v1/revisions", "/v1/revisions?dryRun=true", &json!({"put": [new], "delete": [deleted]})),
        request("POST", "/v1/revisions", "/v1/revisions?dryRun=true", &json!({"put": [link]})),
        post("/v1/check", &json!({"put": [new]})),
        post("/v1/check", &json!({"delete": [deleted]})),
        post("/v1/check", &json!({"put": [tagged]})),
        post("/v1/admission-review", &review(&new)),
        post("/v1/admission-review", &review(&link)),
        request("POST", "/authz/api/policies", "/authz/api/policies?dryRun=true", &new),
        request("DELETE", "/authz/api/policies/{id}", format!("/authz/api/policies/{policy}?dryRun=true"), &Json::Null),
    ]
}

fn pages(own: &Names, last: u64) -> Vec<Request> {
    let Names { policy, proxy: [web, backend], route, project, other, zone, workspace, log, .. } = own;
    let page = |endpoint: &'static str, path: String| Request { form: Form::Page, ..get(endpoint, path) };
    let plain = |endpoint: &'static str| page(endpoint, endpoint.to_owned());
    let edit = format!("/edit/policy/AccessPolicy/access/{policy}");
    let typed = format!("text=id%3A+{policy}&do=try&base=1");
    vec![
        plain("/"),
        page("/ask", format!("/ask?what={project}")),
        page("/connection", format!("/connection?from={web}&to={backend}")),
        page("/connections", "/connections?kind=TrafficLog".to_owned()),
        page("/layers", format!("/layers?what=dataplane/{web}")),
        page("/explain", format!("/explain?what=project/{project}~landingZone/{zone}")),
        page("/explain", format!("/explain?what=project/{other}")),
        page("/gateway", format!("/gateway?what=httproute/shop/{route}")),
        plain("/gateway/map.svg"),
        page("/access", "/access?subject=role%3Duser&action=GET&resource=/orders/1".to_owned()),
        plain("/compliance"),
        page("/compliance", format!("/compliance?workspace={workspace}")),
        page("/compliance", format!("/compliance?object=project/{other}")),
        plain("/policies"),
        plain("/objects"),
        page("/search", format!("/search?q={}", begin(project))),
        page("/find", format!("/find?kind=AccessPolicy&name={policy}")),
        page("/find", format!("/find?kind=project&name={project}")),
        page("/policy/{kind}/{scope}/{*name}", format!("/policy/AccessPolicy/access/{policy}?if=deleted")),
        page("/policy/{kind}/{scope}/{*name}", format!("/policy/TrafficLog/default/{log}")),
        page("/object/{kind}/{scope}/{*name}", format!("/object/project/compliance/{project}")),
        page("/object/{kind}/{scope}/{*name}", format!("/object/landingZone/compliance/{zone}")),
        page("/edit/{sort}/{kind}/{scope}/{*name}", edit.clone()),
        page("/edit/{sort}/{kind}/{scope}/{*name}", format!("/edit/object/project/compliance/{other}")),
        Request { method: "POST", form: Form::Sent, body: typed, ..page("/edit/{sort}/{kind}/{scope}/{*name}", edit) },
        plain("/kinds"),
        plain("/codes"),
        page("/codes/{code}", "/codes/UP014".to_owned()),
        plain("/learn"),
        page("/learn/{lesson}", "/learn/select".to_owned()),
        plain("/diagnostics"),
        plain("/history"),
        page("/history", format!("/history?from=1&to={last}")),
        plain("/changes"),
        page("/changes", format!("/changes?before=1&after={last}")),
        plain("/findings"),
        plain("/sign-in"),
        plain("/pages/theme"),
    ]
}
