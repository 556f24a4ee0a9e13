//! Requests in no surface's shape, and what was answered; the tests of the command line use them, too.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value as Json, json};
use upheld_dialects::access::host::host_name;

/// Policies over everything that a request of HTTP has; some of them are there at a time.
pub(crate) const POLICIES: [&str; 13] = [
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
    "{kind: PolicySet, id: low-first, algorithm: first-applicable, target: {resources: [{path: '/public/**'}]}, policies: [\
      {id: low, effect: permit, subjects: [{claim: {name: level, operator: lt, value: 6}}], resources: [], actions: [], \
        duties: [{kind: obligation, id: mfa, on: permit}]}, \
      {id: no-more, effect: deny, subjects: [], resources: [], actions: []}]}",
];

/// What is known of some of those who ask, on every surface.
pub(crate) const DIRECTORY: &str = "kind: Directory
subjects:
- {type: user, id: eve, properties: {suspended: true}}
- {type: user, id: bob, properties: {groups: [shop]}}
- {type: user, id: ida, properties: {suspended: true}}
- {type: service, id: ida}
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
pub(crate) struct Asked {
    pub(crate) sub: &'static str,
    pub(crate) roles: Vec<&'static str>,
    pub(crate) groups: Vec<&'static str>,
    pub(crate) claims: Json,
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) host: &'static str,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) ip: &'static str,
}

pub(crate) fn asked() -> impl Strategy<Value = Asked> {
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
pub(crate) struct Said {
    pub(crate) decision: String,
    pub(crate) policy: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) obligations: Vec<String>,
    pub(crate) advice: Vec<String>,
}

pub(crate) fn text(value: &Json) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn ids(duties: &Json) -> Vec<String> {
    duties.as_array().into_iter().flatten().filter_map(|duty| text(&duty["id"])).collect()
}

impl Said {
    pub(crate) fn of(answer: &Json, [decision, policy, reason]: [&str; 3]) -> Self {
        let decision = match &answer[decision] {
            Json::Bool(true) => "permit".to_owned(),
            Json::Bool(false) => "deny".to_owned(),
            word => text(word).unwrap_or_default(),
        };
        let (obligations, advice) = (ids(&answer["obligations"]), ids(&answer["advice"]));
        Self { decision, policy: text(&answer[policy]), reason: text(&answer[reason]), obligations, advice }
    }

    /// Where there are only two words.
    pub(crate) fn closed(self) -> Self {
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

    /// The host stands for the application.
    fn app(&self) -> Option<String> {
        host_name(self.host).known().map(ToString::to_string)
    }

    /// As programs ask.
    pub(crate) fn document(&self) -> Json {
        json!({
            "subject": {"id": self.sub, "roles": self.roles, "groups": self.groups, "claims": self.claims},
            "action": {"method": self.method},
            "resource": {"app": self.app(), "path": self.path, "host": self.host, "headers": self.headers()},
            "environment": {"ip": self.ip},
        })
    }

    /// As the standard has it.
    pub(crate) fn authzen(&self) -> Json {
        let mut properties = self.claims.clone();
        if !self.roles.is_empty() {
            properties["roles"] = json!(self.roles);
        }
        if !self.groups.is_empty() {
            properties["groups"] = json!(self.groups);
        }
        let resource = json!({"app": self.app(), "host": self.host, "headers": self.headers()});
        json!({
            "subject": {"type": "user", "id": self.sub, "properties": properties},
            "action": {"name": self.method.to_lowercase()},
            "resource": {"type": "route", "id": self.path, "properties": resource},
            "context": {"ip": self.ip},
        })
    }
}
