//! Requests as people and programs write them.

use crate::access::decider::{METHODS, method_of};
use crate::access::{Edition, request};
use smol_str::SmolStr;
use upheld_engine::decide::{Fact, Maybe, Names, Request};
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::{Diagnostic, Diagnostics, Fault, Files, Severity, SourceId};
use upheld_syntax::Format;
use upheld_syntax::parse;

use crate::question::{Refused, Words};

/// How the request of a question is called in diagnostics.
const NAME: &str = "request";

/// The request that a question is about: a document, or parts in words.
pub fn requests(question: &Words, edition: Edition) -> Result<Vec<Request>, Refused> {
    match &question.request {
        Some(document) => read(NAME, Format::Json, document.to_string(), edition),
        None => Ok(vec![from_words(question)?]),
    }
}

/// All requests of a text; `name` is what diagnostics call it.
pub fn read(name: &str, format: Format, text: String, edition: Edition) -> Result<Vec<Request>, Refused> {
    let (parsed, mut problems) = parse(name, format, text, SourceId::new(0));
    let mut found = Diagnostics::default();
    let mut requests = Vec::new();
    for document in parsed.tree.documents() {
        requests.extend(request::read_asked(SourceId::new(0), document, edition, &mut found));
    }
    problems.extend(found);
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        let mut files = Files::default();
        files.push(parsed);
        return Err(Refused { question: Some(files), diagnostics: problems });
    }
    if requests.is_empty() {
        let message = format!("there is no request in `{name}`");
        return Err(Diagnostic::error(Fault::IncompleteQuestion, message).into());
    }
    Ok(requests)
}

/// A request out of its parts in words.
pub fn from_words(question: &Words) -> Result<Request, Refused> {
    let mut words = RequestWords::default();
    words.subject(&question.subject);
    words.action(&question.action);
    words.resource(&question.resource);
    words.environment(&question.env);
    if words.problems.is_empty() { Ok(words.request) } else { Err(words.problems.into()) }
}

/// A request in the making, out of texts as people write them.
#[derive(Debug, Default)]
pub struct RequestWords {
    /// What they come to.
    pub request: Request,
    /// What is wrong with them.
    pub problems: Vec<Diagnostic>,
}

impl RequestWords {
    /// Who wants something.
    pub fn subject(&mut self, given: &[String]) {
        const KEYS: [&str; 5] = ["id", "type", "role", "group", "claim.NAME"];
        for (key, value) in self.pairs("--subject", given) {
            let subject = &mut self.request.subject;
            match key {
                // Nothing at all is known of it.
                None if value == request::UNKNOWN => {
                    subject.id = Maybe::Unknown;
                    (subject.roles, subject.groups) = (Names::Unknown, Names::Unknown);
                }
                None => match named(value) {
                    Some((kind, id)) => (subject.kind, subject.id) = (text(kind), text(id)),
                    None => subject.id = text(value),
                },
                Some("id" | "sub") => subject.id = text(value),
                Some("type") => subject.kind = text(value),
                Some("role" | "roles") => add(&mut subject.roles, value),
                Some("group" | "groups") => add(&mut subject.groups, value),
                Some(key) => match key.strip_prefix("claim.") {
                    Some(name) => subject.claims.set(name, request::written(value)),
                    None => {
                        let message = format!("a subject has no `{key}`");
                        let diagnostic = Diagnostic::error(Fault::IncompleteQuestion, message);
                        let key = key.strip_prefix("claims.").unwrap_or(key);
                        self.problems.push(
                            diagnostic.suggest_or(nearest(key, KEYS).map(|meant| format!("{meant}={value}")), || {
                                format!("for a claim write `--subject claim.{key}={value}`")
                            }),
                        );
                    }
                },
            }
        }
    }

    /// What is to be done.
    pub fn action(&mut self, given: &[String]) {
        for (key, value) in self.pairs("--action", given) {
            let action = &mut self.request.action;
            let method = method_of(value);
            let shouted = value.bytes().all(|byte| byte.is_ascii_uppercase());
            match (key, method) {
                (None, _) if value == request::UNKNOWN => {
                    (action.method, action.operation) = (Maybe::Unknown, Maybe::Unknown);
                }
                (None, Some(method)) if shouted => action.method = text(method),
                // In small letters it may be meant as either.
                (None, Some(method)) => (action.method, action.operation) = (text(method), text(value)),
                (None, None) if shouted => {
                    action.method = text(value);
                    if let Some(meant) = nearest(value, METHODS) {
                        let message = format!("there is no method `{value}`");
                        let help = format!("{} If not, write `--action method={value}`", did_you_mean(meant));
                        self.problems.push(Diagnostic::error(Fault::IncompleteQuestion, message).help(help));
                    }
                }
                (None | Some("operation"), _) => action.operation = text(value),
                (Some("method"), _) => action.method = text(value),
                (Some(key), _) => action.facts.set(key, request::written(value)),
            }
        }
    }

    /// With what.
    pub fn resource(&mut self, given: &[String]) {
        for (key, value) in self.pairs("--resource", given) {
            let resource = &mut self.request.resource;
            match key {
                None if value == request::UNKNOWN => {
                    (resource.path, resource.kind) = (Maybe::Unknown, Maybe::Unknown);
                    (resource.app, resource.id) = (Maybe::Unknown, Maybe::Unknown);
                }
                None if !value.starts_with('/') => match named(value) {
                    Some((kind, id)) => (resource.kind, resource.id) = (text(kind), text(id)),
                    None => {
                        let message = format!("`--resource {value}` is no path: paths begin with `/`");
                        let help = format!(
                            "write `/{value}`, or say what it is: `TYPE/{value}`, `type={value}`, `id={value}`, `path={value}`"
                        );
                        self.problems.push(Diagnostic::error(Fault::IncompleteQuestion, message).help(help));
                    }
                },
                None | Some("path") => resource.path = text(value),
                Some("app") => resource.app = text(value),
                Some("type") => resource.kind = text(value),
                Some("id") => resource.id = text(value),
                Some("owner") => resource.facts.set("owner", Fact::Text(SmolStr::new(value))),
                Some(key) => resource.facts.set(key, request::written(value)),
            }
        }
    }

    /// Under which circumstances.
    pub fn environment(&mut self, given: &[String]) {
        for (key, value) in self.pairs("--env", given) {
            match key {
                Some("ip") => self.request.environment.ip = text(value),
                Some("time") if value == request::UNKNOWN => self.request.environment.time = Maybe::Unknown,
                Some("time") => match value.parse() {
                    Ok(moment) => self.request.environment.time = Maybe::Is(moment),
                    Err(_) => {
                        let message = format!("`{value}` is not a valid timestamp");
                        let help = "for example `--env time=2025-03-01T12:00:00Z`";
                        self.problems.push(Diagnostic::error(Fault::IncompleteQuestion, message).help(help));
                    }
                },
                Some(key) => self.request.environment.facts.set(key, request::written(value)),
                None => {
                    let message = format!("`--env {value}` has no name");
                    let help = "write `--env NAME=VALUE`, for example `--env ip=192.0.2.7`";
                    self.problems.push(Diagnostic::error(Fault::IncompleteQuestion, message).help(help));
                }
            }
        }
    }
}

impl RequestWords {
    /// `role=admin,group=ops` as names and values; a value without a name stands alone. A path may have commas and equal signs.
    fn pairs<'g>(&mut self, flag: &str, given: &'g [String]) -> Vec<(Option<&'g str>, &'g str)> {
        let mut pairs = Vec::new();
        for item in given {
            if item.starts_with('/') {
                pairs.push((None, item.as_str()));
                continue;
            }
            let mut last: Option<&str> = None;
            for piece in item.split(',') {
                let (key, value) = match piece.split_once('=') {
                    Some((key, value)) => (Some(key.trim()), value.trim()),
                    None => (None, piece.trim()),
                };
                if value.is_empty() {
                    let message = format!("`{flag} {item}` has an empty value");
                    let help = "leave it out, or write `?` if it is not known";
                    self.problems.push(Diagnostic::error(Fault::IncompleteQuestion, message).help(help));
                } else if let (None, Some(last)) = (key, last) {
                    let message = format!("`{value}` in `{flag} {item}` has no name");
                    let help = format!("for another {last} write `{last}={value}`");
                    self.problems.push(Diagnostic::error(Fault::IncompleteQuestion, message).help(help));
                } else {
                    pairs.push((key, value));
                }
                last = key.or(last);
            }
        }
        pairs
    }
}

/// The type and the id of a subject or resource, as answers name them: `user/ann`. A path begins with a slash, and so has no type.
fn named(value: &str) -> Option<(&str, &str)> {
    let is_word = |text: &str| text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.'));
    value.split_once('/').filter(|(kind, id)| !kind.is_empty() && is_word(kind) && !id.is_empty())
}

fn text(value: &str) -> Maybe<SmolStr> {
    if value == request::UNKNOWN { Maybe::Unknown } else { Maybe::Is(SmolStr::new(value)) }
}

fn add(names: &mut Names, value: &str) {
    match names {
        _ if value == request::UNKNOWN => *names = Names::at_least(names.known().to_vec()),
        Names::Known(known) | Names::AtLeast(known) => known.push(SmolStr::new(value)),
        Names::Unknown => *names = Names::AtLeast(vec![SmolStr::new(value)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::reach::ReachQuestion;

    fn given(subject: &str, resource: &str) -> Words {
        let of = |text: &str| if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
        Words { subject: of(subject), resource: of(resource), ..Words::default() }
    }

    fn is(text: &str) -> Maybe<SmolStr> {
        Maybe::Is(SmolStr::new(text))
    }

    #[test]
    fn a_subject_with_a_slash_is_a_type_and_an_id() {
        for (written, kind, id) in [
            ("user/eve", is("user"), is("eve")),
            ("user/a/b", is("user"), is("a/b")),
            ("user/?", is("user"), Maybe::Unknown),
            ("user/eve,role=admin", is("user"), is("eve")),
            ("eve", Maybe::Absent, is("eve")),
            ("id=user/eve", Maybe::Absent, is("user/eve")),
            ("type=x,id=user/eve", is("x"), is("user/eve")),
            ("user/", Maybe::Absent, is("user/")),
            ("spiffe://cluster/ns", Maybe::Absent, is("spiffe://cluster/ns")),
            ("eve@x.example/y", Maybe::Absent, is("eve@x.example/y")),
        ] {
            let request = from_words(&given(written, "")).unwrap_or_else(|refused| panic!("{written}: {refused:?}"));
            assert_eq!((&request.subject.kind, &request.subject.id), (&kind, &id), "{written}");
        }
    }

    #[test]
    fn a_resource_with_a_slash_is_a_path_where_it_begins_with_it() {
        let read = |written: &str| from_words(&given("", written)).map(|request| request.resource);
        let document = read("document/7").unwrap();
        assert_eq!((document.kind, document.id, document.path), (is("document"), is("7"), Maybe::Absent));
        let path = read("/document/7").unwrap();
        assert_eq!((path.kind, path.id, path.path), (Maybe::Absent, Maybe::Absent, is("/document/7")));
        assert_eq!(read("id=document/7").unwrap().id, is("document/7"));
        assert!(read("document").is_err());
    }

    #[test]
    fn what_can_be_reached_is_asked_in_the_same_words() {
        for (subject, resource) in
            [("user/eve", ""), ("eve", "document/7"), ("id=user/eve", "/a/b"), ("user/a,role=b", "")]
        {
            let question = ReachQuestion {
                subject: given(subject, "").subject,
                resource: given("", resource).resource,
                ..ReachQuestion::default()
            };
            let request = from_words(&given(subject, resource)).unwrap();
            assert_eq!(question.read().unwrap(), request, "{subject} {resource}");
        }
    }
}
