//! Policies and requests in a few words.

use smol_str::SmolStr;
use upheld_engine::decide::{Fact, Matcher, Maybe, PathPattern, Request, Rule, Test, Wildcard};
use upheld_report::request_document;

use crate::access::questions::from_words;
use crate::question::Words;

/// What a policy is about: `role=ops*, GET /admin/health | /admin/health/**`.
pub(super) fn says(rule: &Rule) -> String {
    let clause = |alternatives: &[Matcher]| {
        let each: Vec<String> = alternatives.iter().map(alternative).filter(|text| !text.is_empty()).collect();
        each.join(" | ")
    };
    let subjects = match clause(&rule.target.subjects) {
        text if text.is_empty() => "everybody".to_owned(),
        text => text,
    };
    let rest: Vec<String> = [clause(&rule.target.actions), clause(&rule.target.resources)]
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect();
    let conditions = if rule.conditions.is_empty() { "" } else { ", under conditions" };
    match rest.join(" ") {
        rest if rest.is_empty() => format!("{subjects}{conditions}"),
        rest => format!("{subjects}, {rest}{conditions}"),
    }
}

fn alternative(matcher: &Matcher) -> String {
    matcher.tests.iter().map(test).collect::<Vec<_>>().join(" and ")
}

fn test(test: &Test) -> String {
    let texts = |texts: &[SmolStr]| texts.join("|");
    let wild = |patterns: &[Wildcard]| patterns.iter().map(Wildcard::text).collect::<Vec<_>>().join("|");
    match test {
        Test::Id(ids) => format!("id={}", texts(ids)),
        Test::SubjectType(kinds) | Test::Type(kinds) => format!("type={}", texts(kinds)),
        Test::Role(patterns) => format!("role={}", wild(patterns)),
        Test::Group(groups) => format!("group={}", texts(groups)),
        Test::Fact(test) => test.title().to_string(),
        Test::App(patterns) => format!("app={}", wild(patterns)),
        Test::Path(patterns) => patterns.iter().map(PathPattern::text).collect::<Vec<_>>().join("|"),
        Test::ResourceId(ids) => format!("resource id={}", texts(ids)),
        Test::OwnedBySubject => "own".to_owned(),
        Test::Method(methods) => texts(methods),
        Test::Operation(operations) => format!("operation={}", texts(operations)),
        Test::Not(inner) => format!("not ({})", alternative(inner)),
    }
}

/// A request in words, if they mean the same; else as a document.
pub fn words(request: &Request, kind: Option<&str>) -> Words {
    let (mut words, mut subject) = (Words { kind: kind.map(str::to_owned), ..Words::default() }, Vec::new());
    let one = |key: &str, value: &Maybe<SmolStr>| value.known().map(|value| format!("{key}={value}"));
    subject.extend(one("id", &request.subject.id));
    subject.extend(one("type", &request.subject.kind));
    subject.extend(request.subject.roles.known().iter().map(|role| format!("role={role}")));
    subject.extend(request.subject.groups.known().iter().map(|group| format!("group={group}")));
    subject.extend(request.subject.claims.iter().filter_map(|(name, fact)| match fact {
        Fact::Text(text) => Some(format!("claim.{name}={text}")),
        Fact::Number(number) => Some(format!("claim.{name}={number}")),
        _ => None,
    }));
    words.subject = subject;
    words.action.extend(one("method", &request.action.method).map(shouted));
    words.action.extend(one("operation", &request.action.operation));
    words.resource.extend(request.resource.path.known().map(ToString::to_string));
    words.resource.extend(one("app", &request.resource.app));
    words.resource.extend(one("type", &request.resource.kind));
    words.resource.extend(one("id", &request.resource.id));
    words.env.extend(one("ip", &request.environment.ip));
    words.env.extend(request.environment.time.known().map(|time| format!("time={time}")));
    match from_words(&words) {
        Ok(same) if same == *request => words,
        _ => Words { kind: words.kind, request: Some(request_document(request)), ..Words::default() },
    }
}

/// A method that people know needs no name.
fn shouted(method: String) -> String {
    match method.strip_prefix("method=") {
        Some(known @ ("GET" | "POST" | "PUT" | "DELETE" | "PATCH" | "HEAD" | "OPTIONS")) => known.to_owned(),
        _ => method,
    }
}
