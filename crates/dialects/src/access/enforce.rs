//! What an enforcement point does with a request of HTTP: let it go on, or answer it.

use serde_json::{Map, Value as Json, json};
use smol_str::SmolStr;
use upheld_engine::decide::{
    Action, Binding, Decide, Decided, Duty, Environment, Facts, Manner, Maybe, Names, Outcome, Request, Resource,
    Subject,
};
use upheld_engine::{Scratch, Silent, ask};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Files, Timestamp};

use super::compat::is_truthy;
use super::facts::facts_of;
use super::manifest::Manifest;
use super::{Edition, view};

/// A request of HTTP as an enforcement point sees it.
#[derive(Clone, Copy, Debug)]
pub struct HttpRequest<'h> {
    /// The method.
    pub method: &'h str,
    /// The path, without the query.
    pub path: &'h str,
    /// The application that it is for, if that is known.
    pub app: Option<&'h str>,
    /// The identity that an authentication in front has put there, as it was parsed.
    pub identity: Identity<'h>,
    /// `X-Forwarded-For`, whole.
    pub forwarded_for: Option<&'h str>,
    /// `X-Real-IP`.
    pub real_ip: Option<&'h str>,
    /// The address of the peer, where that is known.
    pub peer: Option<&'h str>,
    /// The moment.
    pub now: Timestamp,
    /// `User-Agent`.
    pub user_agent: Option<&'h str>,
}

/// Who asks, as the identity header says.
#[derive(Clone, Copy, Debug)]
pub enum Identity<'h> {
    /// There is none.
    Absent,
    /// There is one that cannot be read.
    Unreadable,
    /// This one.
    Known(Value<'h>),
}

/// What becomes of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Enforced {
    /// It goes on.
    Continue(Why),
    /// It is answered with 403 and this body.
    Forbidden(Json),
}

/// Why a request goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its path is excluded.
    Excluded,
    /// The original lets everybody in while it has no policies.
    NoPolicies,
    /// It is permitted.
    Permitted,
    /// A policy says a word that no algorithm knows; the original takes it for a permit.
    Foreign,
}

/// What becomes of a request, with what else can be told about it.
#[derive(Clone, Debug)]
pub struct Judged<'e> {
    /// What becomes of it.
    pub enforced: Enforced,
    /// What the policies say, if they were asked.
    pub decided: Option<Decided>,
    /// What must and may be done along with it.
    pub duties: Vec<&'e Duty>,
}

/// The policies and settings that an enforcement point asks.
#[derive(Clone, Copy, Debug)]
pub struct EnforcementPoint<'e> {
    /// Where the documents are, for reasons.
    pub files: &'e Files,
    /// The policies.
    pub decide: &'e Decide,
    /// The settings.
    pub manifest: &'e Manifest,
    /// How the policies were read.
    pub edition: Edition,
    /// The obligations that it can do; with any other one, a permit does not open.
    pub understood: &'e [SmolStr],
}

impl<'e> EnforcementPoint<'e> {
    /// Decides a request.
    pub fn enforce(&self, http: &HttpRequest<'_>) -> Enforced {
        self.judge(http).enforced
    }

    /// Decides a request, and says what led there.
    pub fn judge(&self, http: &HttpRequest<'_>) -> Judged<'e> {
        if self.is_excluded(http) {
            return Judged::unasked(Why::Excluded);
        }
        // What JavaScript takes for nothing is no identity either.
        let nobody = !matches!(http.identity, Identity::Known(identity) if is_truthy(identity));
        if self.edition == Edition::Compat && nobody && self.decide.rules().is_empty() {
            return Judged::unasked(Why::NoPolicies);
        }
        let request = self.request(http);
        let mut scratch = Scratch::default();
        let decided = ask(self.decide, &&request, &mut scratch, &mut Silent);
        let duties: Vec<&'e Duty> =
            self.decide.duties(&request, scratch.hits()).into_iter().map(|(duty, _)| duty).collect();
        let enforced = self.enforced(&decided, &duties);
        Judged { enforced, decided: Some(decided), duties }
    }

    fn enforced(&self, decided: &Decided, duties: &[&Duty]) -> Enforced {
        match decided.outcome {
            Outcome::Permit => match self.not_understood(duties) {
                None => Enforced::Continue(Why::Permitted),
                Some(duty) => {
                    let reason = format!("the obligation {duty} is not understood here");
                    Enforced::Forbidden(json!({"error": "Forbidden", "reason": reason}))
                }
            },
            Outcome::Foreign if self.edition == Edition::Compat => Enforced::Continue(Why::Foreign),
            Outcome::Deny | Outcome::Undecided | Outcome::Foreign => {
                let answer = view::decision(self.files, self.decide, decided, self.edition);
                let mut body = Map::new();
                body.insert("error".to_owned(), json!("Forbidden"));
                for (own, other) in [("reason", "reason"), ("policy", "matchedPolicy")] {
                    if let Some(value) = answer.get(other) {
                        body.insert(own.to_owned(), value.clone());
                    }
                }
                Enforced::Forbidden(Json::Object(body))
            }
        }
    }

    /// An obligation that comes with a permit and that nobody here can do.
    fn not_understood<'d>(&self, duties: &[&'d Duty]) -> Option<&'d SmolStr> {
        let mut binding = duties.iter().filter(|duty| duty.binding == Binding::Obligation);
        binding.find(|duty| !self.understood.contains(&duty.id)).map(|duty| &duty.id)
    }

    fn is_excluded(&self, http: &HttpRequest<'_>) -> bool {
        // A path without a normal form is never excluded.
        let given = Request {
            resource: Resource { path: Maybe::Is(SmolStr::new(http.path)), ..Resource::default() },
            ..Request::default()
        };
        let (mut buffer, pathname) = (String::new(), pathname(http.path));
        let path = match self.manner() {
            Manner::Original => Maybe::Is(pathname.as_str()),
            Manner::Sound => self.decide.asked(&given, &mut buffer).path,
        };
        let Maybe::Is(path) = path else { return false };
        self.manifest.excludes.iter().any(|exclude| exclude.covers(http.method, path))
    }

    fn manner(&self) -> Manner {
        match self.edition {
            Edition::Strict => Manner::Sound,
            Edition::Compat => Manner::Original,
        }
    }

    /// The request that the policies are asked about.
    pub fn request(&self, http: &HttpRequest<'_>) -> Request {
        let identity = match http.identity {
            Identity::Known(identity) if identity.kind() == Kind::Map => Some(identity),
            _ => None,
        };
        let get = |field: &str| identity.and_then(|identity| identity.get(field));
        let names = |field: &str| match get(field).filter(|names| names.kind() != Kind::Null) {
            None => Names::default(),
            Some(names) if names.kind() == Kind::List => {
                Names::Known(names.items().filter_map(Value::as_text).map(SmolStr::new).collect())
            }
            // The original fails on it, and nobody knows what is meant.
            Some(_) => Names::Unknown,
        };
        let id = match get("sub").filter(|sub| is_truthy(*sub)) {
            None => Maybe::Is(SmolStr::new_static(ANONYMOUS)),
            // Somebody, but nobody that a policy can name.
            Some(sub) => sub.as_text().map(SmolStr::new).into(),
        };
        let address = match self.edition {
            Edition::Compat => Some(http.forwarded_for.or(http.real_ip).unwrap_or("unknown")),
            // Headers are what clients say of themselves; whoever trusts them puts the address into the peer.
            Edition::Strict => http.peer,
        };
        let mut facts = Facts::default();
        if let Some(agent) = http.user_agent {
            facts.set("userAgent", upheld_engine::decide::Fact::Text(SmolStr::new(agent)));
        }
        Request {
            subject: Subject {
                kind: Maybe::Absent,
                id,
                roles: names("roles"),
                groups: names("groups"),
                claims: get("claims").filter(|claims| claims.kind() == Kind::Map).map_or_else(Facts::default, facts_of),
            },
            action: Action { method: Maybe::Is(SmolStr::new(http.method)), ..Action::default() },
            resource: Resource {
                app: Maybe::Is(SmolStr::new(http.app.unwrap_or_default())),
                path: Maybe::Is(match self.edition {
                    Edition::Strict => SmolStr::new(http.path),
                    Edition::Compat => pathname(http.path).into(),
                }),
                ..Resource::default()
            },
            environment: Environment { ip: address.map(SmolStr::new).into(), time: Maybe::Is(http.now), facts },
        }
    }
}

impl Judged<'_> {
    /// Nobody was asked.
    fn unasked(why: Why) -> Self {
        Self { enforced: Enforced::Continue(why), decided: None, duties: Vec::new() }
    }
}

/// The path of a URL as browsers and servers of JavaScript see it: dot segments are gone, also escaped ones, and what cannot
/// stand in a URL is escaped.
fn pathname(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let mut segments: Vec<&str> = Vec::new();
    let mut given = path.split(['/', '\\']).peekable();
    // What stands before the first slash.
    given.next();
    while let Some(segment) = given.next() {
        let last = given.peek().is_none();
        let dots = segment.to_ascii_lowercase().replace("%2e", ".");
        match dots.as_str() {
            "." | ".." => {
                if dots == ".." {
                    segments.pop();
                }
                if last {
                    segments.push("");
                }
            }
            _ => segments.push(segment),
        }
    }
    let mut name = String::new();
    for segment in segments {
        name.push('/');
        for character in segment.chars() {
            if character.is_control() || !character.is_ascii() || " \"<>`{}^".contains(character) {
                let mut bytes = [0; 4];
                name.extend(character.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
            } else {
                name.push(character);
            }
        }
    }
    if name.is_empty() { "/".to_owned() } else { name }
}

/// The id of those who do not say who they are.
pub const ANONYMOUS: &str = "anonymous";
