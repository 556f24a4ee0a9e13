//! Worlds and requests that look random and are the same in every run.

use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Map, Value as Json, json};

use super::expressions::TESTS;
use super::worlds::{Ask, Check, HeaderForm, Http, Passed, Trusting, World};

/// Numbers that look random.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        // Neighbouring seeds must not begin alike.
        let mut numbers = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            numbers.below(2);
        }
        numbers
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % (limit.max(1) as u64)).unwrap()
    }

    /// Whether something comes about that does so in so many of a hundred cases.
    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub(crate) fn of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    fn some<T: Clone>(&mut self, list: &[T], most: usize) -> Vec<T> {
        let count = 1 + self.below(most);
        let mut chosen: Vec<T> = Vec::new();
        let start = self.below(list.len());
        for step in 0..count.min(list.len()) {
            chosen.push(list[(start + step) % list.len()].clone());
        }
        chosen
    }
}

const ALGORITHMS: [&str; 10] = [
    "deny-overrides",
    "permit-overrides",
    "first-applicable",
    "priority-deny-overrides",
    "deny-unless-permit",
    "permit-unless-deny",
    "unanimous",
    "only-one-applicable",
    "ordered-deny-overrides",
    "ordered-permit-overrides",
];
const PATTERNS: [&str; 16] = [
    "/public/**",
    "/admin/**",
    "/admin",
    "/**",
    "*",
    "/api/*",
    "/api/?",
    "/docs/*/edit",
    "/public/*.html",
    "/",
    "/public/x",
    "/api/**",
    "/docs/**",
    "/a*/x",
    "/**/edit",
    "/we\\?ird",
];
const ROLES: [&str; 5] = ["admin", "user", "auditor", "clerk", "editor"];
const WANTED_ROLES: [&str; 7] = ["admin", "user", "auditor", "clerk", "editor", "a*", "*"];
const GROUPS: [&str; 3] = ["staff", "shop", "night"];
const IDS: [&str; 5] = ["ann", "bob", "eve", "sam", "anonymous"];
const TYPES: [&str; 2] = ["user", "service"];
pub(super) const HOSTS: [&str; 6] =
    ["a.example", "b.example", "A.Example", "b.example:8080", "a.example.", "[2001:DB8:0::1]:80"];
const WANTED_HOSTS: [&str; 3] = ["a.example", "b.example", "2001:db8::1"];
const METHODS: [&str; 6] = ["GET", "GET", "POST", "DELETE", "PUT", "HEAD"];
const OPERATIONS: [&str; 3] = ["read", "write", "archive"];
const OBLIGATIONS: [&str; 3] = ["mfa", "log", "mask"];
pub(super) const ADDRESSES: [&str; 6] =
    ["192.0.2.7", "198.51.100.7", "10.0.0.7", "2001:db8::7", "::ffff:192.0.2.7", "203.0.113.9"];
const NETWORKS: [&str; 5] = ["192.0.2.0/24", "198.51.100.0/24", "10.0.0.0/8", "2001:db8::/32", "192.0.2.7"];
pub(super) const TIERS: [&str; 3] = ["free", "gold", "5"];
const TIMES: [&str; 6] = [
    "2024-03-01T12:00:00Z",
    "2024-03-02T23:30:00Z",
    "2024-03-03T04:30:00Z",
    "2024-02-29T18:00:00Z",
    "2025-07-06T00:10:00Z",
    "2024-12-31T08:59:59Z",
];

/// Whether policies may tell the times of a day apart: then requests must say theirs.
#[derive(Clone, Copy, PartialEq)]
enum Clock {
    Told,
    Any,
}

pub(super) struct Maker {
    pub(super) numbers: Numbers,
    clock: Clock,
    named: usize,
}

impl Maker {
    pub(crate) fn new(seed: u64) -> Self {
        let mut numbers = Numbers::new(seed);
        let clock = if numbers.percent(20) { Clock::Told } else { Clock::Any };
        Self { numbers, clock, named: 0 }
    }

    /// One whose policies do not tell the times of today apart.
    pub(super) fn plain(seed: u64) -> Self {
        Self { clock: Clock::Any, ..Self::new(seed) }
    }

    fn one_or_more(&mut self, list: &[&str]) -> Json {
        if self.numbers.percent(75) { json!(self.numbers.of(list)) } else { json!(self.numbers.some(list, 2)) }
    }

    fn name(&mut self, prefix: &str) -> String {
        self.named += 1;
        format!("{prefix}{}", self.named)
    }

    pub(super) fn world(&mut self) -> World {
        let numbers = &mut self.numbers;
        let mut manifest = json!({"combiningAlgorithm": numbers.of(&ALGORITHMS)});
        if numbers.percent(60) {
            manifest["defaultEffect"] = json!(if numbers.percent(35) { "permit" } else { "deny" });
        }
        if numbers.percent(40) {
            manifest["excludePaths"] = numbers.of(&[
                json!(["/health"]),
                json!(["/health", {"path": "/public/**", "methods": ["GET"]}]),
                json!([{"path": "/public/x"}, "/docs/*"]),
            ]);
        }
        if numbers.percent(25) {
            manifest["pathReading"] = json!(numbers.of(&["every", "rfc3986", "decoded"]));
        }
        let count = 1 + self.numbers.below(6);
        let policies = (0..count).map(|_| if self.numbers.percent(25) { self.set(1) } else { self.policy() }).collect();
        let directory = self.numbers.percent(50).then(|| self.directory());
        World { manifest, policies, directory, trust: self.trust() }
    }

    fn trust(&mut self) -> Trusting {
        let numbers = &mut self.numbers;
        let peers =
            numbers.of(&[Some("127.0.0.0/8"), Some("127.0.0.0/8"), Some("127.0.0.1"), Some("10.0.0.0/8"), None]);
        Trusting {
            peers,
            hops: numbers.of(&[None, Some(0), Some(1), Some(1), Some(2)]),
            identity_header: numbers.of(&["x-identity", "x-identity", "x-who"]),
            app_header: numbers.of(&[None, None, Some("x-app")]),
            host_header: numbers.of(&[None, Some("x-forwarded-host"), Some("x-forwarded-host"), Some("host")]),
            headers: numbers.of(&[Passed::All, Passed::Some]),
            fulfils: numbers.of(&[vec![], vec!["mfa"], vec!["mfa", "log"]]),
        }
    }

    fn set(&mut self, depth: usize) -> Json {
        let mut set = json!({"id": self.name("set-"), "algorithm": self.numbers.of(&ALGORITHMS)});
        if depth == 1 {
            set["kind"] = json!("PolicySet");
        }
        let count = 1 + self.numbers.below(4);
        let policies: Vec<Json> = (0..count).map(|_| self.policy()).collect();
        set["policies"] = json!(policies);
        if depth < 4 && self.numbers.percent(35) {
            let count = 1 + self.numbers.below(2);
            set["sets"] = (0..count).map(|_| self.set(depth + 1)).collect();
        }
        if self.numbers.percent(40) {
            let mut target = Map::new();
            for (name, alternatives) in self.target() {
                if self.numbers.percent(50) {
                    target.insert(name.to_owned(), alternatives);
                }
            }
            set["target"] = target.into();
        }
        if self.numbers.percent(25) {
            set["default"] = json!(self.numbers.of(&["permit", "deny"]));
        }
        self.rank(&mut set);
        self.duties(&mut set);
        set
    }

    fn rank(&mut self, node: &mut Json) {
        if self.numbers.percent(60) {
            node["priority"] = json!(self.numbers.below(4));
        }
    }

    fn duties(&mut self, node: &mut Json) {
        if self.numbers.percent(12) {
            let duty = json!({
                "kind": self.numbers.of(&["obligation", "obligation", "advice"]),
                "id": self.numbers.of(&OBLIGATIONS),
                "on": self.numbers.of(&["permit", "permit", "deny"]),
            });
            node["duties"] = json!([duty]);
        }
    }

    fn target(&mut self) -> [(&'static str, Json); 3] {
        [
            ("subjects", self.alternatives(45, Self::subject)),
            ("resources", self.alternatives(25, Self::resource)),
            ("actions", self.alternatives(55, Self::action)),
        ]
    }

    /// A list of alternatives; it is empty in so many of a hundred cases.
    fn alternatives(&mut self, empty: usize, one: fn(&mut Self) -> Map<String, Json>) -> Json {
        if self.numbers.percent(empty) {
            return json!([]);
        }
        let count = if self.numbers.percent(75) { 1 } else { 2 };
        (0..count).map(|_| Json::from(self.alternative(one))).collect()
    }

    fn alternative(&mut self, one: fn(&mut Self) -> Map<String, Json>) -> Map<String, Json> {
        let mut fields = one(self);
        if self.numbers.percent(25) {
            fields.extend(one(self));
        }
        if self.numbers.percent(12) {
            let mut denied = one(self);
            if self.numbers.percent(20) {
                denied.extend(one(self));
            }
            fields = if self.numbers.percent(50) { Map::new() } else { fields };
            fields.insert("not".to_owned(), denied.into());
        }
        fields
    }

    fn policy(&mut self) -> Json {
        let effect = if self.numbers.percent(60) { "permit" } else { "deny" };
        let mut policy = json!({"id": self.name("policy-"), "effect": effect});
        for (name, alternatives) in self.target() {
            policy[name] = alternatives;
        }
        if self.numbers.percent(18) {
            policy["conditions"] = json!([self.condition()]);
        }
        if self.numbers.percent(4) {
            policy["enabled"] = json!(self.numbers.percent(50));
        }
        if self.numbers.percent(6) {
            policy["valid"] = self.long_times();
        }
        self.rank(&mut policy);
        self.duties(&mut policy);
        policy
    }

    fn long_times(&mut self) -> Json {
        let of_now = [
            json!({"from": "2000-01-01T00:00:00Z"}),
            json!({"until": "2100-01-01T00:00:00Z"}),
            json!({"until": "2001-01-01T00:00:00Z"}),
            json!({"from": "2000-01-01T00:00:00Z", "until": "2100-01-01T00:00:00Z"}),
        ];
        match self.clock {
            Clock::Any => self.numbers.of(&of_now),
            Clock::Told => json!({"from": "2024-03-01T00:00:00Z", "until": "2024-12-31T00:00:00Z"}),
        }
    }

    fn condition(&mut self) -> Json {
        match self.numbers.below(3) {
            0 => {
                let mut condition = json!({"type": "ip"});
                match self.numbers.below(4) {
                    0 => condition["cidr"] = json!(self.numbers.of(&NETWORKS)),
                    1 => condition["allowlist"] = json!(self.numbers.some(&NETWORKS, 2)),
                    2 => condition["blocklist"] = json!(self.numbers.some(&NETWORKS, 2)),
                    _ => {
                        condition["allowlist"] = json!(["192.0.2.0/24", "198.51.100.0/24"]);
                        condition["blocklist"] = json!(["192.0.2.7"]);
                    }
                }
                condition
            }
            1 if self.clock == Clock::Told => {
                let mut condition = self.numbers.of(&[
                    json!({"type": "time", "after": "09:00", "before": "18:00"}),
                    json!({"type": "time", "after": "22:00", "before": "06:00"}),
                    json!({"type": "time", "after": "12:00:00"}),
                    json!({"type": "time", "before": "08:59:59"}),
                    json!({"type": "time", "dayOfWeek": [5, 6]}),
                    json!({"type": "time", "after": "22:00", "before": "06:00", "dayOfWeek": [6]}),
                    json!({"type": "time", "after": "09:00", "before": "18:00", "dayOfWeek": [1, 2, 3, 4, 5]}),
                ]);
                if self.numbers.percent(30) {
                    condition["timezone"] = json!(self.numbers.of(&["Asia/Tokyo", "UTC"]));
                }
                condition
            }
            1 => {
                let mut condition = self.long_times();
                condition["type"] = json!("time");
                condition
            }
            _ => {
                let (one, other) = (self.numbers.of(&TESTS), self.numbers.of(&TESTS));
                let expression = match self.numbers.below(5) {
                    0 => format!("{one} && {other}"),
                    1 => format!("{one} || {other}"),
                    2 => format!("!({one})"),
                    _ => one.to_owned(),
                };
                json!({"type": "custom", "expression": expression})
            }
        }
    }

    fn subject(&mut self) -> Map<String, Json> {
        let (name, value) = match self.numbers.below(10) {
            0 | 1 => ("role", self.one_or_more(&WANTED_ROLES)),
            2 | 3 => ("group", self.one_or_more(&GROUPS)),
            4 => ("id", self.one_or_more(&IDS)),
            5 => ("type", self.one_or_more(&TYPES)),
            _ => ("claim", self.claim()),
        };
        Map::from_iter([(name.to_owned(), value)])
    }

    fn claim(&mut self) -> Json {
        let mut claim = self.numbers.of(&[
            json!({"name": "level", "operator": "gte", "value": 5}),
            json!({"name": "level", "operator": "lt", "value": 3}),
            json!({"name": "level", "operator": "gt", "value": 9_007_199_254_740_992_u64}),
            json!({"name": "level", "operator": "lte", "value": 4.5}),
            json!({"name": "level", "value": 5}),
            json!({"name": "level", "operator": "neq", "value": 5}),
            json!({"name": "level", "operator": "nin", "value": [1, 5]}),
            json!({"name": "level", "operator": "exists"}),
            json!({"name": "level", "operator": "absent"}),
            json!({"name": "team", "operator": "in", "value": ["red", "blue"]}),
            json!({"name": "team", "value": "red"}),
            json!({"name": "team", "operator": "startsWith", "value": "re"}),
            json!({"name": "team", "operator": "endsWith", "value": "ue"}),
            json!({"name": "team", "operator": "regex", "value": "^(red|blue)$"}),
            json!({"name": "team", "operator": "contains", "value": "e"}),
            json!({"name": "tags", "operator": "contains", "value": "x"}),
            json!({"name": "tags", "operator": "containsAny", "value": ["x", "y"]}),
            json!({"name": "address.country", "value": "CH"}),
            json!({"name": "\"a.b\".c", "value": 1}),
            json!({"name": "suspended", "value": true}),
            json!({"name": "suspended", "operator": "neq", "value": true}),
            json!({"name": "from", "operator": "cidr", "value": "10.0.0.0/8"}),
            json!({"name": "from", "operator": "cidr", "value": ["192.0.2.0/24", "10.0.0.0/8"]}),
        ]);
        let can_be_absent = matches!(claim.get("operator").and_then(Json::as_str), Some("neq" | "nin"));
        if can_be_absent && self.numbers.percent(40) {
            claim["absent"] = json!(true);
        }
        claim
    }

    fn resource(&mut self) -> Map<String, Json> {
        let (name, value) = match self.numbers.below(14) {
            0..=6 => ("path", self.one_or_more(&PATTERNS)),
            7 => ("host", self.one_or_more(&WANTED_HOSTS)),
            8 => ("app", self.one_or_more(&["a.example", "shop", "*.example", "b.example"])),
            9 | 10 => ("header", self.header()),
            11 => ("type", self.one_or_more(&["document", "route"])),
            12 => ("owner", json!("self")),
            _ => {
                let property = self.numbers.of(&[
                    json!({"name": "state", "value": "draft"}),
                    json!({"name": "state", "operator": "neq", "value": "draft"}),
                    json!({"name": "state", "operator": "exists"}),
                    json!({"name": "size", "operator": "gt", "value": 10}),
                ]);
                ("property", property)
            }
        };
        Map::from_iter([(name.to_owned(), value)])
    }

    fn header(&mut self) -> Json {
        self.numbers.of(&[
            json!({"name": "x-tier", "value": "free"}),
            json!({"name": "X-Tier", "operator": "neq", "value": "free"}),
            json!({"name": "x-tier", "operator": "neq", "value": "gold", "absent": true}),
            json!({"name": "x-tier", "operator": "in", "value": ["free", "gold"]}),
            json!({"name": "x-tier", "operator": "regex", "value": "[0-9]"}),
            json!({"name": "x-debug", "operator": "exists"}),
            json!({"name": "x-debug", "operator": "absent"}),
            json!({"name": "X-Debug", "operator": "startsWith", "value": "o"}),
        ])
    }

    fn action(&mut self) -> Map<String, Json> {
        let (name, value) = match self.numbers.below(8) {
            0..=4 => ("method", self.one_or_more(&["GET", "POST", "DELETE", "*", "get", "HEAD"])),
            5 | 6 => ("operation", self.one_or_more(&OPERATIONS)),
            _ => ("property", json!({"name": "risk", "value": "low"})),
        };
        Map::from_iter([(name.to_owned(), value)])
    }

    fn directory(&mut self) -> Json {
        let subjects: Vec<Json> =
            [("user", "ann"), ("user", "bob"), ("service", "bob"), ("user", "eve"), ("service", "sam")]
                .into_iter()
                .filter_map(|(kind, id)| {
                    let properties = self.properties();
                    self.numbers.percent(60).then(|| json!({"type": kind, "id": id, "properties": properties}))
                })
                .collect();
        let resources = json!([
            {"type": "document", "id": "7", "properties": {"owner": self.numbers.of(&IDS), "state": "draft"}},
            {"type": "document", "id": "8", "properties": {"ownerId": "bob", "size": 11}},
            {"type": "route", "id": "/public/x", "properties": {"state": "live"}},
        ]);
        let mut directory = json!({"kind": "Directory", "subjects": subjects, "resources": resources});
        if self.numbers.percent(50) {
            directory["actions"] = json!([{"name": "read", "properties": {"risk": "low"}}, {"name": "write"}]);
        }
        if self.numbers.percent(60) {
            directory["roles"] =
                json!([{"name": "editor", "contains": ["user"]}, {"name": "admin", "contains": ["editor"]}]);
        }
        if self.numbers.percent(60) {
            directory["groups"] = json!([{"name": "shop", "groups": ["staff"], "roles": ["clerk"]}, {"name": "staff"}]);
        }
        directory
    }

    fn properties(&mut self) -> Json {
        let mut properties = json!({});
        if self.numbers.percent(40) {
            properties["roles"] = json!(self.numbers.some(&ROLES, 2));
        }
        if self.numbers.percent(40) {
            properties["groups"] = json!(self.numbers.some(&GROUPS, 2));
        }
        for (name, value) in self.claims() {
            properties[name] = value;
        }
        properties
    }

    fn claims(&mut self) -> Map<String, Json> {
        let mut claims = Map::new();
        let numbers = &mut self.numbers;
        if numbers.percent(50) {
            let level = numbers.of(&[
                json!(5),
                json!(1),
                json!(3),
                json!(4.5),
                json!("5"),
                json!(null),
                json!(9_007_199_254_740_992_u64),
                json!(9_007_199_254_740_993_u64),
                json!(5.0),
                json!([5]),
            ]);
            claims.insert("level".to_owned(), level);
        }
        if numbers.percent(50) {
            claims.insert(
                "team".to_owned(),
                numbers.of(&[json!("red"), json!("blue"), json!("green"), json!(7), json!(null), json!("?")]),
            );
        }
        if numbers.percent(30) {
            claims.insert(
                "tags".to_owned(),
                numbers.of(&[json!(["x"]), json!(["z", "y"]), json!([]), json!("xyz"), json!([5])]),
            );
        }
        if numbers.percent(20) {
            claims.insert("suspended".to_owned(), numbers.of(&[json!(true), json!(false), json!("true")]));
        }
        if numbers.percent(20) {
            claims.insert(
                "address".to_owned(),
                numbers.of(&[json!({"country": "CH"}), json!({"country": null}), json!({}), json!("CH")]),
            );
        }
        if numbers.percent(5) {
            claims.insert("address.country".to_owned(), numbers.of(&[json!("CH"), json!("DE")]));
        }
        if numbers.percent(10) {
            claims.insert("a.b".to_owned(), json!({"c": numbers.below(2)}));
        }
        if numbers.percent(20) {
            claims.insert(
                "from".to_owned(),
                numbers.of(&[json!("10.1.2.3"), json!("192.0.2.9"), json!("junk"), json!("203.0.113.9")]),
            );
        }
        claims
    }

    /// A path, often with tricks in it.
    pub(super) fn path(&mut self) -> String {
        let numbers = &mut self.numbers;
        let mut path = numbers
            .of(&[
                "/public/x",
                "/public/a.html",
                "/admin",
                "/admin/x",
                "/api/users",
                "/api/1",
                "/docs/7/edit",
                "/",
                "/health",
                "/public",
                "/docs/7",
                "/a/b/x",
                "/admin/",
                "/Admin/x",
                "/we?ird",
                "/apple/x",
                "/public/edit",
            ])
            .to_owned();
        if numbers.percent(65) {
            return if numbers.percent(15) { path + "?q=/../admin" } else { path };
        }
        let tricks = if numbers.percent(70) { 1 } else { 2 };
        for _ in 0..tricks {
            let slashes: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
            let at = if slashes.is_empty() { 0 } else { numbers.of(&slashes) };
            // What begins with no slash is no path; one of those is among the last.
            let (before, after) = if at == 0 { ("/p", path.as_str()) } else { path.split_at(at) };
            let rest = after.strip_prefix('/').unwrap_or(after);
            path = match numbers.below(20) {
                0 => format!("{before}/..{after}"),
                1 => format!("{before}/%2e%2e{after}"),
                2 => format!("{before}/.{after}"),
                3 => format!("{before}%2F{rest}"),
                4 => format!("{before}%2f..%2f{rest}"),
                5 => format!("{before}/..;x{after}"),
                6 => format!("{before}\\{rest}"),
                7 => format!("{before}%5c{rest}"),
                8 => format!("{before}/{after}"),
                9 => format!("{before};p=1{after}"),
                10 => path.replace('a', "%61"),
                11 => path.replace('a', "%2561"),
                12 => format!("{before}/%252e%252e{after}"),
                13 => format!("{path}%00"),
                14 => format!("{path}%zz"),
                15 => format!("{path}%3Fx"),
                16 => format!("{path}%23"),
                17 => format!("{before}/..\\{rest}"),
                18 => format!("{path}/100%25"),
                _ => numbers
                    .of(&[
                        "//admin",
                        "//x/admin",
                        "admin",
                        "/p%09ublic/x",
                        "/%ff",
                        "/public//x",
                        "/%2e/admin",
                        "/public/.;/../admin",
                        "/x#y",
                        "/public;x/..;y/admin",
                        "http://a/admin",
                    ])
                    .to_owned(),
            };
        }
        path
    }

    /// A request, on a random surface.
    pub(super) fn ask(&mut self, world: &World) -> Ask {
        let limit = if self.clock == Clock::Told { 40 } else { 100 };
        match self.numbers.below(limit) {
            0..=19 => Ask::Check(self.check(world)),
            20..=32 => Ask::Decide(self.decide()),
            33..=39 => Ask::Evaluation(self.evaluation()),
            _ => Ask::Forward(self.forward(world)),
        }
    }

    fn roles(&mut self) -> Json {
        let numbers = &mut self.numbers;
        if numbers.percent(20) { json!([]) } else { json!(numbers.some(&ROLES, 2)) }
    }

    fn groups(&mut self) -> Json {
        let numbers = &mut self.numbers;
        if numbers.percent(20) { json!([]) } else { json!(numbers.some(&GROUPS, 2)) }
    }

    /// What the header says of who asks.
    pub(super) fn identity(&mut self) -> String {
        let mut fields = json!({});
        if self.numbers.percent(92) {
            fields["sub"] = json!(self.numbers.of(&IDS));
        }
        if self.numbers.percent(30) {
            fields["type"] = json!(self.numbers.of(&TYPES));
        }
        if self.numbers.percent(60) {
            fields["roles"] = self.roles();
        }
        if self.numbers.percent(50) {
            fields["groups"] = self.groups();
        }
        if self.numbers.percent(60) {
            fields["claims"] = self.claims().into();
        }
        if self.numbers.percent(93) {
            return fields.to_string();
        }
        match self.numbers.below(12) {
            0 => fields["sub"] = json!(7),
            1 => fields["Roles"] = json!(["admin"]),
            2 => fields["email"] = json!("a@b"),
            3 => fields["roles"] = json!("admin"),
            4 => fields["roles"] = json!(null),
            5 => fields["claims"] = json!([]),
            6 => fields["sub"] = json!(null),
            7 => fields["groups"] = json!(["staff", 7]),
            8 => return fields.to_string().replacen('{', r#"{"sub":"bob","sub":"eve","#, 1).replace(",}", "}"),
            9 => return self.numbers.of(&["{", "[]", "\"ann\"", "ann", "", "null", "{} {}"]).to_owned(),
            10 => return r#"{"sub":"ann","claims":{"level":18446744073709551616}}"#.to_owned(),
            _ => return r#"{"sub":"ann","claims":{"level":5,"level":1}}"#.to_owned(),
        }
        fields.to_string()
    }

    fn method(&mut self) -> String {
        let numbers = &mut self.numbers;
        if numbers.percent(92) {
            numbers.of(&METHODS).to_owned()
        } else {
            numbers.of(&["get", "Delete", "PURGE"]).to_owned()
        }
    }

    /// Headers of the client, and those about who and where it is.
    fn headers(&mut self, world: &World) -> Vec<(String, String)> {
        let mut headers: Vec<(String, String)> = Vec::new();
        let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
        if self.numbers.percent(80) {
            add(world.trust.identity_header, self.identity());
            if self.numbers.percent(3) {
                add("X-Identity", self.identity());
            }
        }
        if self.numbers.percent(50) {
            let name = self.numbers.of(&["x-tier", "X-Tier", "X-TIER"]);
            add(name, self.numbers.of(&TIERS).to_owned());
            if self.numbers.percent(10) {
                add("x-tier", self.numbers.of(&TIERS).to_owned());
            }
        }
        if self.numbers.percent(40) {
            add("x-debug", self.numbers.of(&["on", "off", ""]).to_owned());
        }
        if self.numbers.percent(75) {
            let one = self.numbers.of(&ADDRESSES).to_owned();
            let value = match self.numbers.below(8) {
                0 => format!("{one}, {}", self.numbers.of(&ADDRESSES)),
                1 => format!("{},{one}", self.numbers.of(&ADDRESSES)),
                2 => self
                    .numbers
                    .of(&["", ",", "junk", "192.0.2.7,", "192.0.2.7,,10.0.0.7", "junk, 192.0.2.7", "192.0.2.7, junk"])
                    .to_owned(),
                _ => one,
            };
            add("x-forwarded-for", value);
            if self.numbers.percent(8) {
                add("X-Forwarded-For", self.numbers.of(&ADDRESSES).to_owned());
            }
        }
        if self.numbers.percent(15) {
            add("x-app", self.numbers.of(&["shop", "a.example", "Shop"]).to_owned());
        }
        headers
    }

    fn forward(&mut self, world: &World) -> Http {
        let (path, method) = (self.path(), self.method());
        let mut headers = self.headers(world);
        let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
        let (mut target, mut own) = ("/forward-auth".to_owned(), "GET".to_owned());
        match self.numbers.below(10) {
            // nginx
            0..=3 => {
                add("X-Original-URI", &path);
                add("X-Original-Method", &method);
            }
            // Traefik, Caddy
            4..=6 => {
                add("X-Forwarded-Uri", &path);
                add("X-Forwarded-Method", &method);
            }
            // Envoy
            _ => {
                // The target of a request ends at a `#`: whoever reads HTTP leaves out the rest, and Envoy refuses it before.
                let path = path.split('#').next().unwrap_or_default();
                target = format!("/forward-auth{}{path}", if path.starts_with('/') { "" } else { "/" });
                own.clone_from(&method);
            }
        }
        if self.numbers.percent(70) {
            let name = self.numbers.of(&["x-forwarded-host", "X-Forwarded-Host"]);
            add(name, self.numbers.of(&HOSTS));
        }
        add("host", self.numbers.of(&HOSTS));
        if self.numbers.percent(10) {
            let other = if self.numbers.percent(50) {
                path.clone()
            } else {
                self.numbers.of(&["/public/x", "/health"]).to_owned()
            };
            match self.numbers.below(8) {
                0 => add("X-Original-URI", &other),
                1 => add("x-forwarded-uri", &other),
                2 => add("X-Original-Method", self.numbers.of(&["GET", &method])),
                3 => add("X-Forwarded-Method", self.numbers.of(&["GET", &method])),
                4 => {
                    target =
                        self.numbers.of(&["/forward-auth/", "/forward-auth/public/x", "/forward-auth/x?y"]).to_owned();
                }
                5 => headers.retain(|(name, _)| !name.to_lowercase().ends_with("-method")),
                6 => headers.retain(|(name, _)| !name.to_lowercase().ends_with("-uri")),
                _ => {
                    add("X-Forwarded-Uri", &other);
                    add("X-Forwarded-Method", &method);
                }
            }
        }
        let from = IpAddr::from(Ipv4Addr::new(127, 0, 0, if self.numbers.percent(85) { 1 } else { 2 }));
        Http { from, method: own, target, headers }
    }

    fn check(&mut self, world: &World) -> Check {
        let source = self.numbers.of(&["127.0.0.1", "127.0.0.1", "10.0.0.7", "192.0.2.7", "2001:db8::7", ""]);
        let mut context: Vec<(&'static str, String)> = Vec::new();
        if self.numbers.percent(25) {
            context.push(("app", self.numbers.of(&["shop", "a.example"]).to_owned()));
        }
        if self.numbers.percent(60) {
            context.push(("obligations", self.numbers.of(&["mfa", "mfa, log", "log,mask", ""]).to_owned()));
        }
        if self.numbers.percent(25) {
            context.push(("headers", "some".to_owned()));
        }
        let token = self.numbers.percent(20).then(|| {
            let mut token = self.claims();
            token.retain(|_, value| !value.is_null());
            // Numbers of tokens have no more than a double has.
            token.retain(|_, value| value.as_f64().is_none_or(|number| number < 1e15));
            token.insert("sub".to_owned(), json!(self.numbers.of(&IDS)));
            if self.numbers.percent(60) {
                token.insert("roles".to_owned(), self.roles());
            }
            if self.numbers.percent(40) {
                token.insert("groups".to_owned(), self.groups());
            }
            Json::from(token)
        });
        Check {
            source: (!source.is_empty()).then(|| source.to_owned()),
            principal: self.numbers.of(&["", "", "sam"]).to_owned(),
            destination: self.numbers.of(&["", "", "shop"]).to_owned(),
            method: self.method(),
            path: self.path(),
            host: self.numbers.of(&HOSTS).to_owned(),
            headers: self.headers(world),
            form: self.numbers.of(&[HeaderForm::Raw, HeaderForm::Joined]),
            context,
            token,
            time: self.numbers.of(&TIMES),
        }
    }

    fn headers_of_a_document(&mut self) -> Json {
        let mut headers = json!({});
        if self.numbers.percent(60) {
            headers[self.numbers.of(&["x-tier", "X-Tier"])] =
                if self.numbers.percent(15) { json!(["free", "gold"]) } else { json!(self.numbers.of(&TIERS)) };
        }
        if self.numbers.percent(30) {
            headers["x-debug"] = json!("on");
        }
        headers
    }

    /// Properties of a resource.
    fn resource_of(&mut self) -> Map<String, Json> {
        let mut fields = Map::new();
        let mut add = |name: &str, value: Json| fields.insert(name.to_owned(), value);
        if self.numbers.percent(50) {
            add("host", json!(self.numbers.of(&HOSTS)));
        }
        if self.numbers.percent(40) {
            add("app", json!(self.numbers.of(&["shop", "a.example"])));
        }
        if self.numbers.percent(40) {
            add("headers", self.headers_of_a_document());
        }
        if self.numbers.percent(30) {
            add("state", self.numbers.of(&[json!("draft"), json!("live"), json!(null)]));
        }
        if self.numbers.percent(30) {
            add("owner", self.numbers.of(&[json!("ann"), json!("bob"), json!(""), json!(null)]));
        }
        if self.numbers.percent(10) {
            add("ownerId", json!("bob"));
        }
        if self.numbers.percent(15) {
            add("size", self.numbers.of(&[json!(11), json!(9), json!("11")]));
        }
        fields
    }

    pub(super) fn decide(&mut self) -> Json {
        let (mut subject, mut action, mut environment) = (json!({}), json!({}), json!({}));
        if self.numbers.percent(85) {
            subject["id"] = json!(self.numbers.of(&IDS));
        }
        if self.numbers.percent(40) {
            subject["type"] = json!(self.numbers.of(&TYPES));
        }
        if self.numbers.percent(60) {
            subject["roles"] = if self.numbers.percent(5) { json!(null) } else { self.roles() };
        }
        if self.numbers.percent(50) {
            subject["groups"] = self.groups();
        }
        if self.numbers.percent(60) {
            subject["claims"] = self.claims().into();
        }
        if self.numbers.percent(85) {
            action["method"] = json!(self.method());
        }
        if self.numbers.percent(30) {
            action["operation"] = json!(self.numbers.of(&OPERATIONS));
        }
        if self.numbers.percent(15) {
            action["risk"] = json!(self.numbers.of(&["low", "high"]));
        }
        let mut resource = Json::from(self.resource_of());
        match self.numbers.below(10) {
            0 => {}
            1 => {
                resource["type"] = json!("route");
                resource["id"] = json!(self.path());
            }
            2 => {
                resource["type"] = json!("document");
                resource["id"] = json!(self.numbers.of(&["7", "8", "9"]));
            }
            _ => resource["path"] = json!(self.path()),
        }
        if self.numbers.percent(70) {
            environment["ip"] = json!(self.numbers.of(&ADDRESSES));
        }
        // A policy may tell times apart.
        environment["time"] = json!(self.numbers.of(&TIMES));
        json!({"subject": subject, "action": action, "resource": resource, "environment": environment})
    }

    fn evaluation(&mut self) -> Json {
        let mut properties = Json::from(self.claims());
        if self.numbers.percent(60) {
            properties["roles"] = self.roles();
        }
        if self.numbers.percent(50) {
            properties["groups"] = self.groups();
        }
        let resource = match self.numbers.below(3) {
            0 => json!({"type": "document", "id": self.numbers.of(&["7", "8", "9"])}),
            _ => json!({"type": "route", "id": self.path()}),
        };
        let mut resource = resource;
        resource["properties"] = self.resource_of().into();
        let mut context = json!({"time": self.numbers.of(&TIMES)});
        if self.numbers.percent(70) {
            context["ip"] = json!(self.numbers.of(&ADDRESSES));
        }
        let mut action = json!({"name": self.numbers.of(&["GET", "get", "DELETE", "read", "write"])});
        if self.numbers.percent(15) {
            action["properties"] = json!({"risk": "low"});
        }
        json!({
            "subject": {"type": self.numbers.of(&TYPES), "id": self.numbers.of(&IDS), "properties": properties},
            "action": action,
            "resource": resource,
            "context": context,
        })
    }
}
