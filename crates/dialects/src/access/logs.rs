//! Requests out of logs, a line each: our own decision log, requests of `AuthZEN`, requests as documents have them, and access logs of Envoy
//! or anybody else whose fields are named by a mapping.

use std::str::FromStr;

use smol_str::SmolStr;
use upheld_engine::decide::{Fact, Maybe, Names, Outcome, Request};
use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, Severity, SourceId, Timestamp};
use upheld_syntax::{Format, parse};

use super::facts::fact_of;
use super::host::host_fact;
use super::{Edition, authzen, request};

/// What stands in the decision log for something that nobody may read.
const REDACTED: &str = "\"[redacted]\"";

/// What the default effect is called that decides.
pub const DEFAULT: &str = "(default)";

/// A request that somebody made.
#[derive(Clone, Debug)]
pub struct Logged {
    /// The request, as it came.
    pub request: Request,
    /// What was decided, if the line says so.
    pub decision: Option<LoggedDecision>,
    /// Whether something in it is hidden.
    pub redacted: bool,
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedDecision {
    /// What became of the request.
    pub outcome: Outcome,
    /// The policy that decided, or [`DEFAULT`]; nothing if the line does not say who did.
    pub policy: Option<String>,
}

/// Reads lines of a log.
#[derive(Clone, Debug)]
pub struct LogReader {
    edition: Edition,
    mapping: Vec<Mapped>,
}

/// A part of a request, and the field of a line that has it.
#[derive(Clone, Debug)]
struct Mapped {
    part: Part,
    field: String,
}

/// A part of a request that a field of a line can have.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    SubjectId,
    SubjectType,
    Role,
    Group,
    Claim(String),
    Method,
    Operation,
    Path,
    App,
    Host,
    ResourceType,
    ResourceId,
    Address,
    Time,
    Decision,
    Policy,
}

/// The words for parts; claims have their name after it.
const PARTS: [(&str, Part); 15] = [
    ("subject.id", Part::SubjectId),
    ("subject.type", Part::SubjectType),
    ("subject.role", Part::Role),
    ("subject.group", Part::Group),
    ("action.method", Part::Method),
    ("action.operation", Part::Operation),
    ("resource.path", Part::Path),
    ("resource.app", Part::App),
    ("resource.host", Part::Host),
    ("resource.type", Part::ResourceType),
    ("resource.id", Part::ResourceId),
    ("environment.ip", Part::Address),
    ("environment.time", Part::Time),
    ("decision", Part::Decision),
    ("policy", Part::Policy),
];

/// The fields of Envoy's access log that need no mapping.
const ENVOY: [(Part, &str); 6] = [
    (Part::Method, "method"),
    (Part::Path, "path"),
    (Part::Host, "authority"),
    (Part::Time, "start_time"),
    (Part::Address, "downstream_remote_address"),
    (Part::Decision, "response_code_details"),
];

const CLAIM: &str = "subject.claim.";

impl FromStr for Mapped {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        let wrong = |message: String| {
            let problem = Diagnostic::error(Fault::BadSetting, message);
            problem.help("write `PART=FIELD`, for example `--map subject.id=x_user`")
        };
        let (word, field) = text.split_once('=').ok_or_else(|| wrong(format!("`{text}` maps nothing")))?;
        if field.is_empty() {
            return Err(wrong(format!("`{text}` names no field of the log")));
        }
        let known = PARTS.iter().find(|(known, _)| *known == word).map(|(_, part)| part.clone());
        let claim =
            || word.strip_prefix(CLAIM).filter(|name| !name.is_empty()).map(|name| Part::Claim(name.to_owned()));
        let part = known.or_else(claim).ok_or_else(|| {
            let words = || PARTS.iter().map(|(word, _)| *word);
            let problem = Diagnostic::error(Fault::BadSetting, format!("a request has no part `{word}`"));
            problem.suggest_or(nearest(word, words()).map(|near| format!("--map {near}={field}")), || {
                format!("parts: {}, {CLAIM}NAME", words().collect::<Vec<_>>().join(", "))
            })
        })?;
        Ok(Self { part, field: field.to_owned() })
    }
}

impl LogReader {
    /// For requests of an edition, with `PART=FIELD` for lines that have other fields.
    pub fn new(edition: Edition, mapping: &[String]) -> Result<Self, Diagnostic> {
        let mapping = mapping.iter().map(|text| text.parse()).collect::<Result<Vec<Mapped>, Diagnostic>>()?;
        Ok(Self { edition, mapping })
    }

    /// The request of a line; why there is none, if there is none.
    pub fn read(&self, line: &str) -> Result<Logged, String> {
        let redacted = line.contains(REDACTED);
        // What is hidden is something that nobody knows.
        let text = if redacted { line.replace(REDACTED, "\"?\"") } else { line.to_owned() };
        let (parsed, problems) = parse("log", Format::Json, text, SourceId::new(0));
        if let Some(problem) = problems.iter().find(|problem| problem.severity == Severity::Error) {
            return Err(problem.message.clone());
        }
        let line = parsed.tree.documents().next().filter(|line| line.kind() == Kind::Map);
        let line = line.ok_or_else(|| "it is not a JSON object".to_owned())?;
        let (request, decision) = self.parts(line)?;
        Ok(Logged { request, decision, redacted })
    }

    fn parts(&self, line: Value<'_>) -> Result<(Request, Option<LoggedDecision>), String> {
        let is_map = |value: &Value<'_>| value.kind() == Kind::Map;
        let whole = line.get("request").filter(is_map).unwrap_or(line);
        let is_request =
            ["subject", "action", "resource"].iter().any(|part| whole.get(part).as_ref().is_some_and(is_map));
        if !self.mapping.is_empty() || !is_request {
            return self.mapped(line);
        }
        let mut request = match whole.get("action").and_then(|action| action.get("name")) {
            Some(_) => {
                let document = serde_json::to_value(whole).map_err(|error| error.to_string())?;
                authzen::read(&document).map_err(|bad| bad.to_string())?
            }
            None => {
                let mut found = Diagnostics::default();
                let own = if whole.number() == line.number() {
                    self.own(line, &mut found)
                } else {
                    self.read_asked(whole, &mut found)
                };
                own.ok_or_else(|| first(&found))?
            }
        };
        if request.environment.time == Maybe::Absent {
            request.environment.time = moment(line.get("time"));
        }
        let answer = line.get("decision").or_else(|| line.get("response")?.get("decision"));
        // Our own log leaves out the policy where none decided.
        let default = || line.get("surface").map(|_| DEFAULT.to_owned());
        let policy = line.get("policy").and_then(Value::as_text).map(str::to_owned).or_else(default);
        let decision = answer.and_then(outcome).map(|outcome| LoggedDecision { outcome, policy });
        Ok((request, decision))
    }

    /// A request that is the whole line, perhaps with what was decided beside its parts.
    fn own(&self, line: Value<'_>, found: &mut Diagnostics) -> Option<Request> {
        let (source, edition) = (SourceId::new(0), self.edition);
        let part = |name: &str| line.get(name);
        let before = found.errors();
        let request = Request {
            subject: request::subject(source, part("subject"), edition, found),
            action: request::action(source, part("action"), edition, found),
            resource: request::resource(source, part("resource"), edition, found),
            environment: request::environment(source, part("environment"), edition, found),
        };
        (found.errors() == before).then_some(request)
    }

    fn read_asked(&self, document: Value<'_>, found: &mut Diagnostics) -> Option<Request> {
        request::read_asked(SourceId::new(0), document, self.edition, found)
    }

    /// The request of a line with fields of its own.
    fn mapped(&self, line: Value<'_>) -> Result<(Request, Option<LoggedDecision>), String> {
        let (mut request, mut outcome_, mut policy) = (Request::default(), None, None);
        let usual = ENVOY.iter().filter(|(part, _)| self.mapping.iter().all(|mapped| mapped.part != *part));
        let own = self.mapping.iter().map(|mapped| (&mapped.part, mapped.field.as_str()));
        let mut found = 0;
        for (part, field) in usual.map(|(part, field)| (part, *field)).chain(own) {
            let Some(value) = lookup(line, field).filter(|value| value.kind() != Kind::Null && value.text() != "-")
            else {
                continue;
            };
            found += usize::from(!matches!(part, Part::Decision | Part::Policy | Part::Time));
            let texts = || -> Vec<SmolStr> {
                let items: Vec<&str> = match value.kind() {
                    Kind::List => value.items().map(Value::text).collect(),
                    _ => value.text().split(',').map(str::trim).collect(),
                };
                items.into_iter().filter(|item| !item.is_empty()).map(SmolStr::new).collect()
            };
            let text = || match value.text() {
                request::UNKNOWN => Maybe::Unknown,
                text => Maybe::Is(SmolStr::new(text)),
            };
            let names = || if value.text() == request::UNKNOWN { Names::Unknown } else { Names::of(&texts()) };
            match part {
                Part::SubjectId => request.subject.id = text(),
                Part::SubjectType => request.subject.kind = text(),
                Part::Role => request.subject.roles = names(),
                Part::Group => request.subject.groups = names(),
                Part::Claim(name) => request.subject.claims.set(name, claim(value)),
                Part::Method => request.action.method = text(),
                Part::Operation => request.action.operation = text(),
                Part::Path => request.resource.path = path(value.text())?,
                Part::App => request.resource.app = text(),
                Part::Host => request.resource.facts.set("host", host_fact(value.text())),
                Part::ResourceType => request.resource.kind = text(),
                Part::ResourceId => request.resource.id = text(),
                Part::Address => request.environment.ip = address(value.text()),
                Part::Time => request.environment.time = moment(Some(value)),
                Part::Decision => outcome_ = outcome(value),
                Part::Policy => policy = Some(value.text().to_owned()),
            }
        }
        if found == 0 {
            return Err("it has none of the fields of a request".to_owned());
        }
        Ok((request, outcome_.map(|outcome| LoggedDecision { outcome, policy })))
    }
}

fn claim(value: Value<'_>) -> Fact {
    if value.text() == request::UNKNOWN { Fact::Unknown } else { fact_of(value) }
}

/// A field by its name; dots lead into maps.
fn lookup<'t>(line: Value<'t>, field: &str) -> Option<Value<'t>> {
    line.get(field).or_else(|| {
        let (first, rest) = field.split_once('.')?;
        lookup(line.get(first)?, rest)
    })
}

/// What became of a request: in our words, in those of `AuthZEN`, or as Envoy says why it answered.
fn outcome(value: Value<'_>) -> Option<Outcome> {
    if let Some(permitted) = value.as_bool() {
        return Some(if permitted { Outcome::Permit } else { Outcome::Deny });
    }
    match value.text().to_ascii_lowercase().as_str() {
        "permit" | "allow" | "allowed" | "via_upstream" => Some(Outcome::Permit),
        "deny" | "denied" | "forbidden" => Some(Outcome::Deny),
        "undecided" => Some(Outcome::Undecided),
        word if word.contains("ext_authz_denied") || word.contains("rbac_access_denied") => Some(Outcome::Deny),
        _ => None,
    }
}

/// A path without its query.
fn path(written: &str) -> Result<Maybe<SmolStr>, String> {
    let path = written.split('?').next().unwrap_or_default();
    match path {
        "" if written == request::UNKNOWN => Ok(Maybe::Unknown),
        path if path.contains('#') => Err("the path has a `#`, which not everybody reads alike".to_owned()),
        path => Ok(Maybe::Is(SmolStr::new(path))),
    }
}

/// An address, without the port that logs write after it.
fn address(written: &str) -> Maybe<SmolStr> {
    let with_port = written.parse::<std::net::SocketAddr>().map(|address| address.ip());
    let address = with_port.or_else(|_| written.parse());
    address.map_or(Maybe::Unknown, |address| Maybe::Is(address.to_canonical().to_string().into()))
}

fn moment(value: Option<Value<'_>>) -> Maybe<Timestamp> {
    value.map_or(Maybe::Absent, |value| value.text().parse().map_or(Maybe::Unknown, Maybe::Is))
}

fn first(found: &Diagnostics) -> String {
    found.as_slice().first().map_or_else(String::new, |problem| problem.message.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mapping: &[&str], line: &str) -> Result<Logged, String> {
        let mapping: Vec<String> = mapping.iter().map(|one| (*one).to_owned()).collect();
        LogReader::new(Edition::Strict, &mapping).unwrap().read(line)
    }

    #[test]
    fn our_own_lines_have_a_request_a_moment_and_a_decision() {
        let line = r#"{"time":"2026-03-01T12:00:00Z","id":"1","surface":"http","revision":17,
            "request":{"subject":{"id":"[redacted]","roles":["admin"]},"action":{"method":"GET"},"resource":{"path":"/api/x"}},
            "decision":"permit","policy":"admins","microseconds":2.1,"previous":"9b"}"#;
        let logged = read(&[], line).unwrap();
        assert_eq!((logged.request.subject.id.clone(), logged.redacted), (Maybe::Unknown, true));
        assert_eq!(logged.request.subject.roles, Names::of(&["admin"]));
        assert_eq!(logged.request.environment.time, Maybe::Is("2026-03-01T12:00:00Z".parse().unwrap()));
        let decision = LoggedDecision { outcome: Outcome::Permit, policy: Some("admins".to_owned()) };
        assert_eq!(logged.decision, Some(decision));
    }

    #[test]
    fn requests_of_the_standard_may_stand_alone_or_beside_their_answer() {
        let alone =
            r#"{"subject":{"type":"user","id":"ann"},"action":{"name":"read"},"resource":{"type":"doc","id":"7"}}"#;
        let logged = read(&[], alone).unwrap();
        assert_eq!((logged.request.subject.id, logged.decision), (Maybe::Is("ann".into()), None));
        let answered = format!(r#"{{"request":{alone},"response":{{"decision":false}}}}"#);
        assert_eq!(read(&[], &answered).unwrap().decision.map(|decision| decision.outcome), Some(Outcome::Deny));
    }

    #[test]
    fn an_access_log_needs_a_mapping_only_for_who_asks() {
        let line = r#"{"method":"GET","path":"/a/b?c=d","authority":"Shop.example:443","start_time":"2026-03-01T12:00:00.000Z",
            "downstream_remote_address":"192.0.2.7:51234","response_code":403,"response_code_details":"ext_authz_denied","user":{"name":"ann","roles":"a, b"}}"#;
        let logged = read(&["subject.id=user.name", "subject.role=user.roles"], line).unwrap();
        assert_eq!(logged.request.subject.id, Maybe::Is("ann".into()));
        assert_eq!(logged.request.subject.roles, Names::of(&["a", "b"]));
        assert_eq!(logged.request.resource.path, Maybe::Is("/a/b".into()));
        assert_eq!(logged.request.environment.ip, Maybe::Is("192.0.2.7".into()));
        assert_eq!(logged.request.resource.facts.get("host"), Some(&Fact::Text("shop.example".into())));
        assert_eq!(logged.decision.map(|decision| decision.outcome), Some(Outcome::Deny));
    }

    #[test]
    fn what_is_no_request_is_said() {
        for (line, expected) in [
            ("[]", "it is not a JSON object"),
            ("{}", "it has none of the fields of a request"),
            (r#"{"method":"GET","path":"/a#b"}"#, "the path has a `#`, which not everybody reads alike"),
            (r#"{"subject":{"type":"user"},"action":{"name":"read"}}"#, "subject.id"),
            (r#"{"request":{"subject":{"rolse":["a"]}}}"#, "rolse"),
        ] {
            let problem = read(&[], line).unwrap_err();
            assert!(problem.contains(expected), "{line}: {problem}");
        }
        assert!(read(&[], "{\"a\": ").is_err());
        let wrong = |text: &str| LogReader::new(Edition::Strict, &[text.to_owned()]).unwrap_err().message;
        assert_eq!(wrong("subject.id"), "`subject.id` maps nothing");
        assert_eq!(wrong("subject.name=x"), "a request has no part `subject.name`");
    }
}
