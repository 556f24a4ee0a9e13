//! Policies, users and requests to decide about. The same size gives the same ones in every run.
//!
//! Services grow with the number of policies, ten policies for each, and only two policies are about all services. So
//! about 60 % of the requests match one to five policies, however many policies there are.

use std::collections::BTreeMap;
use std::rc::Rc;

use smol_str::SmolStr;
use upheld_engine::decide::{self, Fact, Maybe, Names};

use crate::workload::random::Random;

const METHODS: [&str; 4] = ["GET", "POST", "PUT", "DELETE"];
const SECTIONS: [&str; 3] = ["invoices", "orders", "reports"];
const LEAVES: [&str; 3] = ["lines", "notes", "status"];

const USERS: usize = 2_000;
const ROLES: usize = 8;
const GROUPS: usize = 15;
const DEPARTMENTS: usize = 6;
const REGIONS: usize = 4;
const ITEMS: usize = 20;

/// Policies about one service.
const POLICIES_OF_SERVICE: usize = 10;

/// So many of a hundred requests are made to match a policy; a few others match by chance.
const MADE_TO_MATCH: usize = 46;

/// One policy: what somebody would write.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    pub(crate) id: String,
    pub(crate) effect: Effect,
    /// One of them has to hold; none means everybody.
    pub(crate) subjects: Vec<SubjectTest>,
    /// `*` is exactly one whole segment, `**` one or more.
    pub(crate) pattern: String,
    /// None means any.
    pub(crate) methods: Vec<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Effect {
    Permit,
    Deny,
}

/// What a policy wants of a user.
#[derive(Clone, Debug)]
pub(crate) enum SubjectTest {
    Role(String),
    Group(String),
    Id(String),
    Claim(String, String),
}

/// Somebody who asks.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) id: String,
    pub(crate) roles: Vec<String>,
    pub(crate) groups: Vec<String>,
    pub(crate) claims: Vec<(String, String)>,
}

/// May this user do that there?
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) user: Rc<User>,
    pub(crate) method: String,
    pub(crate) path: String,
    /// The same in our own words: texts, with nothing looked up.
    pub(crate) own: decide::Request,
}

impl Request {
    pub(crate) fn new(user: Rc<User>, method: String, path: String) -> Self {
        let claims = user.claims.iter().map(|(name, value)| (SmolStr::new(name), Fact::Text(SmolStr::new(value))));
        let subject = decide::Subject {
            id: Maybe::Is(SmolStr::new(&user.id)),
            roles: Names::of(&user.roles),
            groups: Names::of(&user.groups),
            claims: claims.collect(),
            ..decide::Subject::default()
        };
        let action = decide::Action { method: Maybe::Is(SmolStr::new(&method)), ..decide::Action::default() };
        let resource = decide::Resource { path: Maybe::Is(SmolStr::new(&path)), ..decide::Resource::default() };
        let own = decide::Request { subject, action, resource, ..decide::Request::default() };
        Self { user, method, path, own }
    }
}

/// Everything that one comparison is about.
#[derive(Debug)]
pub(crate) struct Workload {
    pub(crate) policies: Vec<Policy>,
    #[cfg(feature = "peers")]
    pub(crate) users: Vec<Rc<User>>,
    pub(crate) requests: Vec<Request>,
}

impl Workload {
    pub(crate) fn new(policies: usize, requests: usize) -> Self {
        let mut random = Random::new(60);
        let users: Vec<Rc<User>> = (0..USERS).map(|number| Rc::new(user(number, &mut random))).collect();
        let services = policies.div_ceil(POLICIES_OF_SERVICE);
        let policies: Vec<Policy> = (0..policies).map(|number| policy(number, services, &mut random)).collect();
        let mut by_key: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, user) in users.iter().enumerate() {
            for key in user.keys() {
                by_key.entry(key).or_default().push(number);
            }
        }
        let mut asking = Asking { policies: &policies, users: &users, by_key, services, random };
        let requests = (0..requests).filter_map(|_| asking.request()).collect();
        Self {
            policies,
            #[cfg(feature = "peers")]
            users,
            requests,
        }
    }
}

impl Policy {
    /// The segments of the pattern.
    pub(crate) fn segments(&self) -> impl Iterator<Item = &str> {
        segments(&self.pattern)
    }

    /// The subjects in one string each; `*` for everybody.
    pub(crate) fn subject_keys(&self) -> Vec<String> {
        if self.subjects.is_empty() {
            return vec![EVERYBODY.to_owned()];
        }
        self.subjects.iter().map(SubjectTest::key).collect()
    }

    /// The methods in one string each; all of them where any will do.
    pub(crate) fn all_methods(&self) -> Vec<&str> {
        if self.methods.is_empty() { METHODS.to_vec() } else { self.methods.iter().map(String::as_str).collect() }
    }
}

/// The subject that every user is.
const EVERYBODY: &str = "*";

impl SubjectTest {
    /// `role:admin`, `claim:region=north`
    fn key(&self) -> String {
        match self {
            Self::Role(name) => format!("role:{name}"),
            Self::Group(name) => format!("group:{name}"),
            Self::Id(name) => format!("id:{name}"),
            Self::Claim(name, value) => format!("claim:{name}={value}"),
        }
    }
}

impl User {
    /// Everything that a subject can want of this user, each in one string.
    pub(crate) fn keys(&self) -> impl Iterator<Item = String> {
        let roles = self.roles.iter().map(|name| format!("role:{name}"));
        let groups = self.groups.iter().map(|name| format!("group:{name}"));
        let claims = self.claims.iter().map(|(name, value)| format!("claim:{name}={value}"));
        roles.chain(groups).chain(claims).chain([format!("id:{}", self.id), EVERYBODY.to_owned()])
    }
}

/// The segments of a path or pattern, which starts with a slash.
pub(crate) fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('/').unwrap_or(path).split('/')
}

fn user(number: usize, random: &mut Random) -> User {
    let mut roles: Vec<String> = (0..=random.below(3)).map(|_| role(random)).collect();
    if random.one_in(100) {
        roles.push("root".to_owned());
    }
    roles.sort_unstable();
    roles.dedup();
    let mut groups: Vec<String> = (0..=random.below(3)).map(|_| group(random)).collect();
    groups.sort_unstable();
    groups.dedup();
    let claims = vec![department(random), region(random)];
    User { id: format!("user-{number}"), roles, groups, claims }
}

fn policy(number: usize, services: usize, random: &mut Random) -> Policy {
    let id = format!("policy-{number}");
    let role = |name: &str| vec![SubjectTest::Role(name.to_owned())];
    match number {
        0 => {
            let (subjects, pattern) = (role("root"), "/**".to_owned());
            Policy { id, effect: Effect::Permit, subjects, pattern, methods: Vec::new() }
        }
        50 => {
            let (subjects, pattern) = (role("role-0"), "/api/*/reports/**".to_owned());
            Policy { id, effect: Effect::Deny, subjects, pattern, methods: vec!["DELETE".to_owned()] }
        }
        _ => {
            let effect = if random.one_in(5) { Effect::Deny } else { Effect::Permit };
            let subjects = if random.one_in(50) { 0 } else { 1 + random.below(3) };
            let subjects = (0..subjects).map(|_| subject(random)).collect();
            let pattern = pattern(&service(number % services), random);
            Policy { id, effect, subjects, pattern, methods: methods(random) }
        }
    }
}

fn pattern(service: &str, random: &mut Random) -> String {
    let (section, item, leaf) = (section(random), item(random), leaf(random));
    match random.below(20) {
        0..4 => format!("/api/{service}/{section}/{item}"),
        4..8 => format!("/api/{service}/{section}/*"),
        8..11 => format!("/api/{service}/{section}/*/{leaf}"),
        11..16 => format!("/api/{service}/{section}/**"),
        16 => format!("/api/{service}/*/*/{leaf}"),
        17 => format!("/api/{service}/**/{leaf}"),
        18 => format!("/api/{service}/*/{item}/**"),
        _ => format!("/api/{service}/**"),
    }
}

fn methods(random: &mut Random) -> Vec<String> {
    let methods: &[&str] = match random.below(20) {
        0..5 => &[],
        5..10 => &["GET"],
        10..12 => &["POST"],
        12 => &["PUT"],
        13 => &["DELETE"],
        14..17 => &["GET", "POST"],
        _ => &["PUT", "DELETE"],
    };
    methods.iter().map(|&method| method.to_owned()).collect()
}

fn subject(random: &mut Random) -> SubjectTest {
    match random.below(20) {
        0..9 => SubjectTest::Role(role(random)),
        9..15 => SubjectTest::Group(group(random)),
        15..17 => SubjectTest::Id(format!("user-{}", random.below(USERS))),
        _ => {
            let (name, value) = if random.one_in(2) { department(random) } else { region(random) };
            SubjectTest::Claim(name, value)
        }
    }
}

fn service(number: usize) -> String {
    format!("service-{number}")
}

fn role(random: &mut Random) -> String {
    format!("role-{}", random.below(ROLES))
}

fn group(random: &mut Random) -> String {
    format!("group-{}", random.below(GROUPS))
}

fn department(random: &mut Random) -> (String, String) {
    ("department".to_owned(), format!("department-{}", random.below(DEPARTMENTS)))
}

fn region(random: &mut Random) -> (String, String) {
    ("region".to_owned(), format!("region-{}", random.below(REGIONS)))
}

fn item(random: &mut Random) -> String {
    format!("item-{}", random.below(ITEMS))
}

fn section(random: &mut Random) -> &'static str {
    one_of(&SECTIONS, random)
}

fn leaf(random: &mut Random) -> &'static str {
    one_of(&LEAVES, random)
}

fn one_of(names: &[&'static str], random: &mut Random) -> &'static str {
    names.get(random.below(names.len())).copied().unwrap_or_default()
}

/// What requests are made from.
#[derive(Debug)]
struct Asking<'w> {
    policies: &'w [Policy],
    users: &'w [Rc<User>],
    /// Who has a role, a group, a claim or an id.
    by_key: BTreeMap<String, Vec<usize>>,
    services: usize,
    random: Random,
}

impl Asking<'_> {
    fn request(&mut self) -> Option<Request> {
        if self.random.below(100) < MADE_TO_MATCH { self.matching() } else { self.any() }
    }

    /// A request that at least one policy matches.
    fn matching(&mut self) -> Option<Request> {
        let policy = self.policies.get(self.random.below(self.policies.len()))?;
        let keys = policy.subject_keys();
        let members = keys.get(self.random.below(keys.len())).and_then(|key| self.by_key.get(key))?;
        let user = self.users.get(*members.get(self.random.below(members.len()))?)?;
        let methods = policy.all_methods();
        let method = (*methods.get(self.random.below(methods.len()))?).to_owned();
        let mut path = String::new();
        for segment in policy.segments() {
            let count = if segment == "**" { 1 + self.random.below(3) } else { 1 };
            for _ in 0..count {
                path.push('/');
                path.push_str(&match segment {
                    "*" | "**" => item(&mut self.random),
                    literal => literal.to_owned(),
                });
            }
        }
        Some(Request::new(Rc::clone(user), method, path))
    }

    /// A request about something that exists, of anybody.
    fn any(&mut self) -> Option<Request> {
        let user = Rc::clone(self.users.get(self.random.below(self.users.len()))?);
        let method = one_of(&METHODS, &mut self.random).to_owned();
        let service = service(self.random.below(self.services));
        let (section, item, leaf) = (section(&mut self.random), item(&mut self.random), leaf(&mut self.random));
        let path = match self.random.below(4) {
            0 => format!("/api/{service}/{section}"),
            1 | 2 => format!("/api/{service}/{section}/{item}"),
            _ => format!("/api/{service}/{section}/{item}/{leaf}"),
        };
        Some(Request::new(user, method, path))
    }
}
