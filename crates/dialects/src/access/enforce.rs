//! What an enforcement point does with a request of HTTP: let it go on, or answer it.

use serde_json::{Map, Value as Json, json};
use smol_str::SmolStr;
use upheld_engine::Scratch;
use upheld_engine::decide::{
    Action, Environment, Fact, Facts, Maybe, Outcome, Path, Readings, Request, Resource, Strictness, Subject,
};
use upheld_model::Timestamp;
use upheld_report::{Decision, Duty};

use super::Edition;
use super::decider::{CompleteRequest, Decider};
pub use super::identity::{Identity, Said, Unproven, Unreadable};

/// A request of HTTP as an enforcement point sees it. What it cannot see is not known.
#[derive(Debug)]
pub struct HttpRequest {
    /// The method.
    pub method: String,
    /// The path, without the query, as it was sent.
    pub path: String,
    /// The host that the client asked for.
    pub host: Maybe<SmolStr>,
    /// The application that it is for.
    pub app: Maybe<SmolStr>,
    /// The identity that an authentication in front has put there.
    pub identity: Identity,
    /// The headers of the client, by their names in lower case.
    pub headers: Facts,
    /// The address of the client.
    pub address: Maybe<SmolStr>,
    /// `X-Forwarded-For`, whole: the original believes it.
    pub forwarded_for: Option<String>,
    /// `X-Real-IP`: the original believes it.
    pub real_ip: Option<String>,
    /// The moment.
    pub time: Maybe<Timestamp>,
}

/// What becomes of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Enforced {
    /// It goes on.
    Continue(Why),
    /// It is answered with 403 and this body.
    Forbidden(Json),
    /// It is answered with 401 and this body: what it brings does not prove who asks.
    Unauthorized(Json),
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

/// What a request comes to before policies are asked.
#[derive(Clone, Debug)]
pub enum Arriving {
    /// It goes on; nobody is asked.
    GoesOn(Why),
    /// Nothing can be asked about it, and this is why.
    Undecided(String),
    /// It brings a token that is not accepted, and this is why.
    Refused(&'static str),
    /// This is asked.
    Asks(Box<CompleteRequest>),
}

/// What becomes of a request, with what else can be told about it.
#[derive(Clone, Debug)]
pub struct Judged<'e> {
    /// What becomes of it.
    pub enforced: Enforced,
    /// What the policies say, if they were asked.
    pub decision: Option<Decision<'e>>,
    /// What they were asked.
    pub request: Option<CompleteRequest>,
}

/// The policies that an enforcement point asks, and what it can do.
#[derive(Clone, Copy, Debug)]
pub struct EnforcementPoint<'e> {
    /// Who decides.
    pub decider: Decider<'e>,
    /// The obligations that it can do; with any other one, a permit does not open.
    pub understood: &'e [SmolStr],
}

impl<'e> EnforcementPoint<'e> {
    /// Decides a request.
    pub fn enforce(&self, http: &HttpRequest) -> Enforced {
        self.judge(http, None).enforced
    }

    /// Decides a request, and says what led there.
    pub fn judge(&self, http: &HttpRequest, now: Option<Timestamp>) -> Judged<'e> {
        let (decision, request) = match self.arrives(http, now) {
            Arriving::GoesOn(why) => return Judged::unasked(why),
            Arriving::Undecided(reason) => (Decision::undecided(reason), None),
            Arriving::Refused(reason) => {
                let body = json!({"error": "Unauthorized", "reason": reason});
                let decision = Some(Decision::refused(reason));
                return Judged { enforced: Enforced::Unauthorized(body), decision, request: None };
            }
            Arriving::Asks(request) => {
                let decision = self.decider.decision(&request, &mut Scratch::default());
                (decision, Some(*request))
            }
        };
        Judged { enforced: self.enforced(&decision), decision: Some(decision), request }
    }

    /// What policies are asked about a request, if they are.
    pub fn arrives(&self, http: &HttpRequest, now: Option<Timestamp>) -> Arriving {
        let Decider { decide, edition, .. } = self.decider;
        if self.is_excluded(http) {
            return Arriving::GoesOn(Why::Excluded);
        }
        match &http.identity {
            Identity::Unproven(Unproven::Refused(reason)) => return Arriving::Refused(reason),
            Identity::Unproven(Unproven::Undecided(reason)) => return Arriving::Undecided((*reason).to_owned()),
            _ => {}
        }
        // What JavaScript takes for nothing is not an identity either.
        if edition == Edition::Compat && !http.identity.is_somebody() && decide.rules().is_empty() {
            return Arriving::GoesOn(Why::NoPolicies);
        }
        match self.request(http, now) {
            Ok(request) => Arriving::Asks(Box::new(request)),
            Err(unreadable) => Arriving::Undecided(format!("undecided: {unreadable}")),
        }
    }

    fn enforced(&self, decision: &Decision<'_>) -> Enforced {
        match decision.outcome {
            Outcome::Permit => match self.not_understood(&decision.obligations) {
                None => Enforced::Continue(Why::Permitted),
                Some(duty) => {
                    let reason = format!("the obligation {duty} is not understood here");
                    Enforced::Forbidden(json!({"error": "Forbidden", "reason": reason}))
                }
            },
            Outcome::Foreign if self.decider.edition == Edition::Compat => Enforced::Continue(Why::Foreign),
            Outcome::Deny | Outcome::Undecided | Outcome::Foreign => {
                let mut body = Map::new();
                body.insert("error".to_owned(), json!("Forbidden"));
                let parts = [("reason", decision.reason.as_deref()), ("policy", decision.policy)];
                for (name, value) in parts.into_iter().filter_map(|(name, value)| Some((name, value?))) {
                    body.insert(name.to_owned(), json!(value));
                }
                Enforced::Forbidden(Json::Object(body))
            }
        }
    }

    /// An obligation that comes with a permit and that nobody here can do.
    pub fn not_understood<'d>(&self, obligations: &'d [Duty]) -> Option<&'d str> {
        let strange = |duty: &&Duty| !self.understood.iter().any(|known| *known == duty.id);
        obligations.iter().find(strange).map(|duty| duty.id.as_str())
    }

    fn is_excluded(&self, http: &HttpRequest) -> bool {
        // A path that nobody can read is never excluded, and one that can be read in several ways only if all are.
        let given = Request {
            resource: Resource { path: Maybe::Is(SmolStr::new(&http.path)), ..Resource::default() },
            ..Request::default()
        };
        let Decider { decide, manifest, .. } = self.decider;
        let (mut room, pathname) = (Readings::default(), pathname(&http.path));
        let path = match decide.strictness() {
            Strictness::Compat => Path::Is(pathname.as_str()),
            Strictness::Strict => decide.asked(&given, &mut room).path,
        };
        let is_method = decide.strictness() == Strictness::Compat || method(http).known().is_some();
        let covers = |path: &str| {
            let mut excludes = manifest.excludes.iter().filter(|exclude| is_method || exclude.methods.is_empty());
            excludes.any(|exclude| exclude.covers(&http.method, path))
        };
        match path {
            Path::Is(path) => covers(path),
            Path::Several(readings) => readings.iter().all(|reading| covers(reading)),
            Path::Absent | Path::Unknown => false,
        }
    }

    /// The request that the policies are asked about, unless the caller cannot be read.
    fn request(&self, http: &HttpRequest, now: Option<Timestamp>) -> Result<CompleteRequest, Unreadable> {
        let request = match self.decider.edition {
            Edition::Strict => strict(http, http.identity.subject(Edition::Strict)?),
            Edition::Compat => as_the_original(http, http.identity.subject(Edition::Compat)?),
        };
        Ok(self.decider.complete(request, now))
    }
}

fn strict(http: &HttpRequest, subject: Subject) -> Request {
    let mut facts = Facts::default();
    match &http.host {
        Maybe::Is(host) => facts.set("host", Fact::Text(host.clone())),
        Maybe::Absent => {}
        Maybe::Unknown => facts.set("host", Fact::Unknown),
    }
    facts.set("headers", Fact::Map(http.headers.clone()));
    Request {
        subject,
        action: Action { method: method(http), ..Action::default() },
        resource: Resource {
            app: http.app.clone(),
            path: Maybe::Is(SmolStr::new(&http.path)),
            facts,
            ..Resource::default()
        },
        environment: Environment { ip: http.address.clone(), time: http.time, facts: user_agent(http) },
    }
}

/// Methods are written in capitals. `delete` is DELETE to some services and no method to others, so nobody knows what it does.
fn method(http: &HttpRequest) -> Maybe<SmolStr> {
    let is_lower = http.method.bytes().any(|byte| byte.is_ascii_lowercase());
    if is_lower { Maybe::Unknown } else { Maybe::Is(SmolStr::new(&http.method)) }
}

/// Headers are what clients say of themselves; the original believes them.
fn as_the_original(http: &HttpRequest, subject: Subject) -> Request {
    let address = http.forwarded_for.as_deref().or(http.real_ip.as_deref()).unwrap_or("unknown");
    Request {
        subject,
        action: Action { method: Maybe::Is(SmolStr::new(&http.method)), ..Action::default() },
        resource: Resource {
            app: Maybe::Is(http.app.known().cloned().unwrap_or_default()),
            path: Maybe::Is(pathname(&http.path).into()),
            ..Resource::default()
        },
        environment: Environment { ip: Maybe::Is(address.into()), time: http.time, facts: user_agent(http) },
    }
}

fn user_agent(http: &HttpRequest) -> Facts {
    let agent = http.headers.get("user-agent").cloned();
    agent.map(|agent| (SmolStr::new_static("userAgent"), agent)).into_iter().collect()
}

impl Judged<'_> {
    /// Nobody was asked.
    fn unasked(why: Why) -> Self {
        Self { enforced: Enforced::Continue(why), decision: None, request: None }
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
