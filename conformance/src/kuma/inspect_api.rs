//! `v2-inspect-*` and `v3-inspect-*`: requests to the Inspect API, and the bodies of their responses.
//!
//! The first lines of the input are the requests, `#<path> <status> [method=<method>]`; the documents follow.

use anyhow::{Context, bail};
use serde_json::{Map, Value as Json};
use upheld_dialects::kuma::view;
use upheld_engine::Snapshot;
use upheld_loader::Format;
use upheld_model::tree::{Kind, Span, Value};
use upheld_model::{Diagnostic, Fault, SourceId};

use super::layers::durations::counted;
use crate::Adapter;
use crate::case::Case;
use crate::documents;
use crate::outcome::Outcome;
use crate::served::{Server, both};

/// Kuma 2 beside the last edition of policies with sources and destinations, which it still has.
const V2: [&str; 2] = ["kuma/2-cliques", super::FROM_04];
const V3: [&str; 1] = ["kuma/3"];

/// Which adapter reads which family.
pub(super) const ADAPTERS: [(&str, Adapter); 19] = [
    ("v2-inspect-dataplane-policies", |case| run(case, &V2)),
    ("v2-inspect-dataplane-rules", |case| run(case, &V2)),
    ("v2-inspect-inbound-policies", |case| run(case, &V2)),
    ("v2-inspect-layout", |case| run(case, &V2)),
    ("v2-inspect-meshgateway-rules", |case| run(case, &V2)),
    ("v2-inspect-meshservice-dataplanes", |case| run(case, &V2)),
    ("v2-inspect-outbound-policies", |case| run(case, &V2)),
    ("v2-inspect-policy-dataplanes", |case| run(case, &V2)),
    ("v2-inspect-route-policies", |case| run(case, &V2)),
    ("v2-inspect-routes", |case| run(case, &V2)),
    ("v3-inspect-dataplane-policies", |case| run(case, &V3)),
    ("v3-inspect-dataplane-rules", |case| run(case, &V3)),
    ("v3-inspect-inbound-policies", |case| run(case, &V3)),
    ("v3-inspect-layout", |case| run(case, &V3)),
    ("v3-inspect-meshservice-dataplanes", |case| run(case, &V3)),
    ("v3-inspect-outbound-policies", |case| run(case, &V3)),
    ("v3-inspect-policy-dataplanes", |case| run(case, &V3)),
    ("v3-inspect-route-policies", |case| run(case, &V3)),
    ("v3-inspect-routes", |case| run(case, &V3)),
];

fn run(case: &Case, editions: &[&str]) -> anyhow::Result<Outcome> {
    let input = case.file("input.yaml")?;
    let requests: Vec<Request<'_>> =
        input.lines().take_while(|line| line.starts_with('#')).filter_map(Request::of).collect();
    if let Some(other) = requests.iter().find(|request| request.method != "GET") {
        return Ok(Outcome::Skipped(format!("the Inspect API has no method {}", other.method)));
    }
    if requests.is_empty() {
        bail!("the case has no request");
    }
    let (snapshot, documents) = snapshot(documents(&input)?, editions)?;
    let in_library = all(case, &requests, |request| {
        let (status, body) = match view::inspect(&snapshot, request.path) {
            Ok(body) => (200, body),
            Err(problem) => (problem.status(), problem.body()),
        };
        // A library has no address.
        Ok((status, body, String::new()))
    })?;
    Ok(both(in_library, served(case, &requests, &documents, editions)))
}

fn served(case: &Case, requests: &[Request<'_>], documents: &[Json], editions: &[&str]) -> anyhow::Result<Outcome> {
    let server = Server::start(editions)?;
    if !documents.is_empty() {
        server.put(documents)??;
    }
    all(case, requests, |request| {
        let answer = server.get(request.path)?;
        Ok((answer.status, answer.json(), server.base().to_owned()))
    })
}

/// Makes all requests of a case and compares the answers: a status, a body, and the address in it.
fn all(
    case: &Case,
    requests: &[Request<'_>],
    ask: impl Fn(&Request<'_>) -> anyhow::Result<(u16, Json, String)>,
) -> anyhow::Result<Outcome> {
    let mut problems = Vec::new();
    for (number, request) in requests.iter().enumerate() {
        let numbered = format!("_{number:02}.golden.json");
        let golden = if case.has_file(&numbered) { numbered.as_str() } else { "golden.json" };
        let expected: Json = serde_json::from_str(&case.file(golden)?).context("the golden is no JSON")?;
        let (status, body, address) = ask(request)?;
        if status != request.status {
            problems.push(format!("status: expected {}, got {status}: {body}", request.status));
        } else if let Outcome::Failed(lines) =
            Outcome::compare(&counted(&with_address(&expected, &address)), &counted(&body))
        {
            problems.extend(lines);
        }
    }
    Ok(if problems.is_empty() { Outcome::Passed } else { Outcome::Failed(problems) })
}

struct Request<'c> {
    path: &'c str,
    status: u16,
    method: &'c str,
}

impl<'c> Request<'c> {
    /// Of a line; `None` for other comments.
    fn of(line: &'c str) -> Option<Self> {
        let mut words = line.strip_prefix('#').filter(|line| line.starts_with('/'))?.split_whitespace();
        let (path, status) = (words.next()?, words.next()?.parse().ok()?);
        let method = words.next().and_then(|word| word.strip_prefix("method=")).unwrap_or("GET");
        Some(Self { path, status, method })
    }
}

/// The golden with the address of a server in its place.
fn with_address(golden: &Json, address: &str) -> Json {
    match golden {
        Json::String(text) => Json::String(text.replace("http://{{address}}", address).replace("{{address}}", address)),
        Json::Array(items) => items.iter().map(|item| with_address(item, address)).collect(),
        Json::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), with_address(value, address))).collect(),
        other => other.clone(),
    }
}

/// The documents of the input, each read on its own: a block of text at the end of one has no newline there. Of a key that
/// stands twice, the last one counts.
fn documents(input: &str) -> anyhow::Result<Vec<Json>> {
    let mut parts = vec![String::new()];
    for line in input.lines() {
        match parts.last_mut().filter(|_| line.trim_end() != "---") {
            Some(part) => *part += &format!("{line}\n"),
            None => parts.push(String::new()),
        }
    }
    let mut documents = Vec::new();
    for part in parts {
        let (file, problems) = upheld_syntax::parse("case", Format::Yaml, part.trim_end().to_owned(), SourceId::new(0));
        let others: Vec<Diagnostic> =
            problems.into_iter().filter(|problem| problem.fault != Fault::DuplicateKey).collect();
        documents::accept(&others)?;
        for document in file.tree.documents() {
            let mut document = serde_json::to_value(document)?;
            end_without_newline(&mut document);
            documents.push(document);
        }
    }
    documents.retain(|document| !document.is_null());
    Ok(documents)
}

/// Takes the newline from a block of text at the very end, where the text of the document has none.
fn end_without_newline(value: &mut Json) {
    let last = match value {
        Json::String(text) => return text.truncate(text.strip_suffix('\n').map_or(text.len(), str::len)),
        Json::Array(items) => items.last_mut(),
        Json::Object(fields) => fields.values_mut().last(),
        _ => None,
    };
    if let Some(last) = last {
        end_without_newline(last);
    }
}

/// A snapshot of documents, and the documents as they are read: Kuma reads over fields that it does not know; our reader refuses
/// them, so they are left out.
fn snapshot(mut documents: Vec<Json>, editions: &[&str]) -> anyhow::Result<(Snapshot, Vec<Json>)> {
    loop {
        let files = documents::read(&documents)?;
        let recognised = upheld_dialects::recognise(&files, editions);
        let unknown = recognised.diagnostics.as_slice().iter().filter(|problem| problem.fault == Fault::UnknownField);
        let unknown: Vec<Span> = unknown.filter_map(|problem| problem.label.as_ref()).map(|label| label.span).collect();
        if unknown.is_empty() {
            return Ok((documents::snapshot(recognised, files)?, documents));
        }
        let written = files.iter().filter(|(_, file)| file.name == "case").flat_map(|(_, file)| file.tree.documents());
        documents = written.map(|document| without(document, &unknown)).collect();
    }
}

/// A value without the fields whose names stand at some places.
fn without(value: Value<'_>, unknown: &[Span]) -> Json {
    match value.kind() {
        Kind::Map => {
            let known = value.entries().filter(|(key, _)| !unknown.contains(&key.span()));
            let fields = known.map(|(key, value)| (key.text().to_owned(), without(value, unknown)));
            Json::Object(fields.collect::<Map<_, _>>())
        }
        Kind::List => value.items().map(|item| without(item, unknown)).collect(),
        _ => serde_json::to_value(value).unwrap_or_default(),
    }
}
