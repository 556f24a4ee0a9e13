//! Random small worlds of all systems, and callers who may see a part of them. What each document names is known here, not asked of the product.

use serde_json::{Value as Json, json};

use crate::enforcement_model::random::Numbers;

/// A document of a world.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// `KIND/SCOPE/NAME`.
    pub(super) id: String,
    pub(super) json: Json,
    /// The workspaces that it names, or whose objects it names.
    pub(super) workspaces: Vec<&'static str>,
}

impl Document {
    pub(super) fn kind(&self) -> &str {
        self.id.split('/').next().unwrap()
    }

    pub(super) fn name(&self) -> &str {
        self.id.splitn(3, '/').nth(2).unwrap()
    }
}

/// What is written, in this order: everything, then what changes, and what goes.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) first: Vec<Document>,
    pub(super) second: Vec<Document>,
    /// Which of them go in the end.
    pub(super) gone: Vec<Document>,
    /// What happens to the organisation in between: tags that administrators move.
    pub(super) moved: Vec<Document>,
    pub(super) callers: Vec<Caller>,
}

/// The workspaces, each with a project.
pub(super) const WORKSPACES: [&str; 3] = ["wsa", "wsb", "wsc"];

/// Somebody who may see a part.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    /// The roles of their token.
    pub(super) roles: Vec<String>,
    /// What rights keep from them.
    pub(super) kept: Vec<Pattern>,
    /// Where their roles hold; everywhere if that is nowhere said.
    pub(super) own: Option<Vec<&'static str>>,
    /// Where they may see violations, if roles say so.
    pub(super) violations: Vec<&'static str>,
}

/// What a right is about.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    Kind(String),
    Name(String, String),
    Scope(String),
}

impl Pattern {
    fn fits(&self, id: &str) -> bool {
        let mut parts = id.splitn(3, '/');
        let (kind, scope, name) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        match self {
            Self::Kind(own) => own == kind,
            Self::Name(own, called) => own == kind && called == name,
            Self::Scope(own) => own == scope,
        }
    }

    /// As resources of a right: for reading, and for being named in answers.
    pub(super) fn resources(&self) -> Vec<Json> {
        match self {
            Self::Kind(kind) => vec![
                json!({"type": "document", "path": format!("/v1/documents/{kind}/**")}),
                json!({"type": ["policy", "object"], "path": format!("/{kind}/**")}),
            ],
            Self::Name(kind, name) => vec![
                json!({"type": "document", "path": format!("/v1/documents/{kind}/*/{name}")}),
                json!({"type": ["policy", "object"], "path": format!("/{kind}/{name}")}),
            ],
            Self::Scope(scope) => vec![json!({"type": ["document", "policy", "object"], "app": scope})],
        }
    }
}

impl Caller {
    /// Whether they may see a document.
    pub(super) fn sees(&self, document: &Document) -> bool {
        self.may(&document.id)
            && self.own.as_ref().is_none_or(|own| document.workspaces.iter().all(|named| own.contains(named)))
    }

    pub(super) fn may(&self, id: &str) -> bool {
        !self.kept.iter().any(|pattern| pattern.fits(id))
    }

    /// Whether they may see a record of violations, which the server wrote.
    pub(super) fn sees_record(&self, id: &str, record: &Json) -> bool {
        let violations = record["violations"].as_array().unwrap();
        let word = |value: &Json| value.as_str().unwrap().to_owned();
        let policies_seen = violations
            .iter()
            .all(|own| self.may(&format!("{}/compliance/{}", word(&record["policyKind"]), word(&own["policy"]))));
        let is_own = |own: &Json| {
            let scope = own["workspace"].as_str().and_then(|scope| scope.strip_prefix("workspace/"));
            self.own.is_none() || scope.is_some_and(|scope| self.violations.contains(&scope))
        };
        self.may(id) && policies_seen && violations.iter().all(is_own)
    }
}

/// Makes worlds.
pub(super) struct Maker {
    pub(super) numbers: Numbers,
    named: usize,
}

impl Maker {
    pub(super) fn new(seed: u64) -> Self {
        Self { numbers: Numbers::new(seed), named: 0 }
    }

    /// A name that nothing else has, so that it tells whose document it is.
    fn name(&mut self, word: &str) -> String {
        self.named += 1;
        let letters = ["qua", "vex", "jup", "zif", "kow", "lyr"];
        format!("{}{}{}", self.numbers.of(&letters), self.named, word)
    }

    pub(super) fn world(&mut self) -> World {
        let mut first = vec![document("Mesh/default/default", json!({"type": "Mesh", "name": "default"}))];
        first.extend(self.access());
        first.extend(self.kuma());
        first.extend(self.gateways());
        first.extend(self.network());
        let (organisation, moved) = self.organisation();
        first.extend(organisation);
        first.extend(self.tests());
        let mut second = self.access();
        second.extend(self.kuma());
        let goes = |document: &&Document| {
            ["AccessPolicy", "TrafficLog", "HTTPRoute", "NetworkPolicy", "Dataplane"].contains(&document.kind())
        };
        let candidates: Vec<Document> = first.iter().filter(goes).cloned().collect();
        let gone = candidates.into_iter().filter(|_| self.numbers.percent(15)).collect();
        let all: Vec<Document> = first.iter().chain(&second).cloned().collect();
        let callers = vec![self.limited_by_rights(&all), self.limited_by_roles(), self.limited_by_both(&all)];
        World { first, second, gone, moved, callers }
    }

    fn access(&mut self) -> Vec<Document> {
        let paths = ["/orders/**", "/orders/1", "/**", "/admin/**", "/files/*"];
        (0..2 + self.numbers.below(3))
            .map(|_| {
                let name = self.name("pol");
                let (effect, path) = (self.numbers.of(&["permit", "deny"]), self.numbers.of(&paths));
                let mut policy = json!({"id": name, "description": format!("{name} says so"), "effect": effect,
                    "subjects": [{"role": self.numbers.of(&["user", "staff"])}], "resources": [{"path": path}],
                    "actions": [{"method": self.numbers.of(&["GET", "POST"])}]});
                if self.numbers.percent(20) {
                    policy["conditions"] =
                        json!([{"type": "attribute", "attribute": "level", "operator": "gte", "value": 3}]);
                    policy.as_object_mut().unwrap().remove("conditions");
                    policy["subjects"] = json!([{"claim": {"name": "level", "operator": "gte", "value": 3}}]);
                }
                document(&format!("AccessPolicy/access/{name}"), policy)
            })
            .collect()
    }

    fn kuma(&mut self) -> Vec<Document> {
        let services = ["web", "backend", "cart"];
        let mut all = Vec::new();
        for _ in 0..=self.numbers.below(2) {
            let (name, service) = (self.name("dp"), self.numbers.of(&services));
            all.push(document(
                &format!("Dataplane/default/{name}"),
                json!({"type": "Dataplane", "mesh": "default", "name": name, "networking": {"address": "10.0.0.1",
                    "inbound": [{"port": 80, "tags": {"kuma.io/service": service}}],
                    "outbound": [{"port": 81, "tags": {"kuma.io/service": "backend"}}]}}),
            ));
        }
        for _ in 0..=self.numbers.below(3) {
            let (name, to) = (self.name("log"), self.numbers.of(&["*", "backend", "web"]));
            all.push(document(
                &format!("TrafficLog/default/{name}"),
                json!({"type": "TrafficLog", "mesh": "default", "name": name,
                    "sources": [{"match": {"kuma.io/service": "*"}}],
                    "destinations": [{"match": {"kuma.io/service": to}}], "conf": {"backend": format!("b{}", self.named)}}),
            ));
        }
        all
    }

    fn gateways(&mut self) -> Vec<Document> {
        let gateway = self.name("gw");
        let mut all = vec![document(
            &format!("Gateway/shop/{gateway}"),
            json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
                "metadata": {"name": gateway, "namespace": "shop"},
                "spec": {"gatewayClassName": "kgateway", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}}),
        )];
        for _ in 0..=self.numbers.below(2) {
            let name = self.name("route");
            all.push(document(
                &format!("HTTPRoute/shop/{name}"),
                json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
                    "metadata": {"name": name, "namespace": "shop"},
                    "spec": {"parentRefs": [{"name": gateway}], "rules": [{"backendRefs": [{"name": "cart", "port": 80}]}]}}),
            ));
        }
        all
    }

    fn network(&mut self) -> Vec<Document> {
        let mut all = vec![document(
            "Namespace/default/shop",
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "shop"}}}),
        )];
        for app in ["front", "api"] {
            all.push(document(
                &format!("Deployment/shop/{app}"),
                json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": app, "namespace": "shop"},
                    "spec": {"selector": {"matchLabels": {"app": app}},
                    "template": {"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": app, "ports": [{"containerPort": 8080}]}]}}}}),
            ));
        }
        for _ in 0..=self.numbers.below(2) {
            let (name, app) = (self.name("np"), self.numbers.of(&["front", "api"]));
            all.push(document(
                &format!("NetworkPolicy/shop/{name}"),
                json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
                    "metadata": {"name": name, "namespace": "shop"},
                    "spec": {"podSelector": {"matchLabels": {"app": app}},
                    "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "front"}}}], "ports": [{"port": 8080}]}]}}),
            ));
        }
        all
    }

    /// Workspaces with projects, what they share, and what an administrator moves later.
    fn organisation(&mut self) -> (Vec<Document>, Vec<Document>) {
        let values = ["dev", "qa", "prod"];
        let mut all = Vec::new();
        let zones = [self.name("lz"), self.name("lz")];
        for workspace in WORKSPACES {
            let env = self.numbers.of(&values);
            all.push(Document {
                id: format!("workspace/compliance/{workspace}"),
                json: json!({"ref": format!("workspace/{workspace}"), "tags": {"env": ["dev", env]}}),
                workspaces: vec![workspace],
            });
            for _ in 0..=self.numbers.below(2) {
                let (project, env) = (self.name("prj"), self.numbers.of(&values));
                all.push(Document {
                    id: format!("project/compliance/{project}"),
                    json: json!({"ref": format!("project/{project}"), "workspace": workspace, "tags": {"env": [env]}}),
                    workspaces: vec![workspace],
                });
                for zone in &zones {
                    if self.numbers.percent(70) {
                        all.push(Document {
                            id: format!("Link/compliance/project/{project}~landingZone/{zone}"),
                            json: json!({"a": format!("project/{project}"), "b": format!("landingZone/{zone}")}),
                            workspaces: vec![workspace],
                        });
                    }
                }
            }
            all.extend(self.others_in(workspace, &zones[0]));
            if self.numbers.percent(50) {
                let name = self.name("waiver");
                all.push(Document {
                    id: format!("Waiver/compliance/{name}"),
                    json: json!({"kind": "Waiver", "id": name, "policy": "zone-env",
                        "match": {"workspace": format!("workspace/{workspace}")}, "reason": format!("{name} needs time"),
                        "expiresAt": "2031-01-01T00:00:00Z"}),
                    workspaces: vec![workspace],
                });
            }
        }
        let mut moved = Vec::new();
        for zone in &zones {
            let tagged = |env: &str| json!({"ref": format!("landingZone/{zone}"), "tags": {"env": [env]}});
            let id = format!("landingZone/compliance/{zone}");
            all.push(document(&id, tagged(self.numbers.of(&values))));
            if self.numbers.percent(60) {
                moved.push(document(&id, tagged(self.numbers.of(&values))));
            }
        }
        let policy = |name: &str, a: &str, b: &str| {
            document(
                &format!("MeshPolicy/compliance/{name}"),
                json!({"type": "MeshPolicy", "name": name, "a": {"kind": a, "tag": "env"}, "b": {"kind": b, "tag": "env"}}),
            )
        };
        all.push(policy("zone-env", "project", "landingZone"));
        all.push(policy("space-env", "workspace", "project"));
        (all, moved)
    }

    /// Documents of other shapes that name a workspace: manifests of another system, collections, notes about the past, people and tests.
    fn others_in(&mut self, workspace: &'static str, zone: &str) -> Vec<Document> {
        let [manifest, collected, person, past, tests] =
            ["mnf", "col", "usr", "past", "test"].map(|word| self.name(word));
        let env = self.numbers.of(&["dev", "qa", "prod"]);
        let own = |id: String, json: Json| Document { id, json, workspaces: vec![workspace] };
        let mut all = vec![
            document(
                &format!("user/compliance/{person}"),
                json!({"ref": format!("user/{person}"), "tags": {"env": [env]}}),
            ),
            own(
                format!("Link/compliance/workspace/{workspace}~user/{person}"),
                json!({"a": format!("workspace/{workspace}"), "b": format!("user/{person}")}),
            ),
        ];
        if self.numbers.percent(50) {
            all.push(own(
                format!("project/compliance/{workspace}/{manifest}"),
                json!({"apiVersion": "api.meshcloud.io/v1", "kind": "meshProject",
                    "metadata": {"name": manifest, "ownedByWorkspace": workspace},
                    "spec": {"displayName": manifest, "tags": {"env": [env]}}}),
            ));
        }
        if self.numbers.percent(50) {
            all.push(own(
                format!("Compliance/compliance/{collected}"),
                json!({"kind": "Compliance", "name": collected,
                    "objects": [{"ref": format!("project/{collected}"), "workspace": workspace, "tags": {"env": [env]}}],
                    "relationships": [{"a": format!("project/{collected}"), "b": format!("landingZone/{zone}")},
                        {"a": format!("project/{collected}"), "b": format!("user/{person}")}]}),
            ));
            if self.numbers.percent(50) {
                all.push(own(
                    format!("Changes/compliance/{past}"),
                    json!({"kind": "Changes", "name": past, "changes": [{"verb": "setTags", "at": "2026-02-01T00:00:00Z",
                        "by": "admin", "object": format!("project/{collected}"), "tags": {"env": ["qa"]}}]}),
                ));
            }
            if self.numbers.percent(50) {
                all.push(own(
                    format!("PolicyTests/access/{tests}"),
                    json!({"kind": "PolicyTests", "name": tests, "cases": [{"name": format!("{tests} case"),
                        "change": ["unlink", format!("project/{collected}~landingZone/{zone}")], "expect": "allowed"}]}),
                ));
            }
        }
        all
    }

    fn tests(&mut self) -> Vec<Document> {
        let name = self.name("tests");
        let tests = json!({"kind": "PolicyTests", "name": name, "invariants": [{"name": format!("{name} stays"), "unchanged": {}}],
            "cases": [{"name": format!("{name} case"), "request": {"subject": {"roles": ["user"]}, "action": {"method": "GET"},
                "resource": {"path": "/orders/1"}}, "expect": "permit"}]});
        vec![document(&format!("PolicyTests/access/{name}"), tests)]
    }

    fn limited_by_rights(&mut self, all: &[Document]) -> Caller {
        Caller { roles: Vec::new(), kept: self.patterns(all), own: None, violations: Vec::new() }
    }

    fn limited_by_roles(&mut self) -> Caller {
        let roles = ["workspaceManager", "workspaceOwner", "workspaceMember"];
        let mut caller = Caller { roles: Vec::new(), kept: Vec::new(), own: Some(Vec::new()), violations: Vec::new() };
        for _ in 0..=self.numbers.below(2) {
            let (role, workspace) = (self.numbers.of(&roles), self.numbers.of(&WORKSPACES));
            caller.roles.push(format!("{role}@workspace/{workspace}"));
            caller.own.as_mut().unwrap().push(workspace);
            if role != "workspaceMember" {
                caller.violations.push(workspace);
            }
        }
        caller
    }

    fn limited_by_both(&mut self, all: &[Document]) -> Caller {
        Caller { kept: self.patterns(all), ..self.limited_by_roles() }
    }

    /// What rights keep: single documents, kinds, and what is in a scope. What is left can be read without it.
    fn patterns(&mut self, all: &[Document]) -> Vec<Pattern> {
        let single = ["AccessPolicy", "TrafficLog", "Dataplane", "HTTPRoute", "NetworkPolicy"];
        let mut patterns = Vec::new();
        for document in all {
            if single.contains(&document.kind()) && self.numbers.percent(35) {
                patterns.push(Pattern::Name(document.kind().to_owned(), document.name().to_owned()));
            }
        }
        for kind in ["TrafficLog", "PolicyTests", "AcceptedViolations", "Waiver", "Link", "NetworkPolicy"] {
            if self.numbers.percent(15) {
                patterns.push(Pattern::Kind(kind.to_owned()));
            }
        }
        if self.numbers.percent(15) {
            patterns.push(Pattern::Name("MeshPolicy".to_owned(), "space-env".to_owned()));
        }
        if self.numbers.percent(15) {
            patterns.push(Pattern::Scope("shop".to_owned()));
        }
        if patterns.is_empty() {
            patterns.push(Pattern::Kind("PolicyTests".to_owned()));
        }
        patterns
    }
}

fn document(id: &str, json: Json) -> Document {
    Document { id: id.to_owned(), json, workspaces: Vec::new() }
}
