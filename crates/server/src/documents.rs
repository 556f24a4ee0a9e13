//! Documents as they come in and go out.

use std::sync::Arc;

use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use serde::de::DeserializeOwned;
use upheld_dialects::{Identities, Identity};
use upheld_loader::Format;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Fault, Files, Severity, SourceId};
use upheld_store::{BadKey, Key};
use upheld_syntax::{json, parse};

use crate::problem::Problem;

/// A document with the name that a store knows it by.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// Who it is.
    pub(crate) key: Key,
    /// What it says, as JSON.
    pub(crate) text: Arc<str>,
}

/// The format of a body, as its sender says. A write must say what it is: a web page can make a browser send a body, but not one that says that it
/// is JSON.
pub(crate) fn format(headers: &HeaderMap) -> Result<Format, Problem> {
    if headers.get(CONTENT_ENCODING).is_some_and(|packed| packed != "identity") {
        return Err(unsupported("packed bodies are not supported here: send it without `Content-Encoding`".to_owned()));
    }
    let Some(given) = headers.get(CONTENT_TYPE) else {
        let detail =
            "the body says no Content-Type: expected application/json, application/yaml or application/x-ndjson";
        return Err(unsupported(detail.to_owned()));
    };
    if given == "application/json" {
        return Ok(Format::Json);
    }
    let given = given.to_str().unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/json" => Ok(Format::Json),
        "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => Ok(Format::Yaml),
        "application/jsonl" | "application/x-ndjson" => Ok(Format::JsonLines),
        _ => Err(unsupported(format!(
            "`{essence}` is not supported here: expected application/json, application/yaml or application/x-ndjson"
        ))),
    }
}

fn unsupported(detail: String) -> Problem {
    Problem::new(axum::http::StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", detail)
}

/// As [`format()`], for questions, which change nothing: what `curl -d` says when nobody tells it better is taken for JSON. A write
/// must say what it is, so that no web page can make a browser write.
pub(crate) fn format_of_question(headers: &HeaderMap) -> Result<Format, Problem> {
    let form = |value: &HeaderValue| value.as_bytes().starts_with(b"application/x-www-form-urlencoded");
    let plain = headers.get(CONTENT_TYPE).is_none_or(form) && !headers.contains_key(CONTENT_ENCODING);
    if plain { Ok(Format::Json) } else { format(headers) }
}

/// A body of JSON in a shape of its own. A key that is there twice could be understood in two ways, and is refused as in all other bodies.
pub(crate) fn shaped<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, Problem> {
    Body::read(bytes, Format::Json)?;
    serde_json::from_slice(bytes).map_err(|error| Problem::bad_request(format!("this is not {what}: {error}")))
}

/// A body that was read.
#[derive(Debug)]
pub(crate) struct Body {
    files: Files,
}

impl Body {
    /// Reads a body; everything that is wrong with it is said at once.
    pub(crate) fn read(bytes: &[u8], format: Format) -> Result<Self, Problem> {
        let text = std::str::from_utf8(bytes).map_err(|_| Problem::bad_request("the body is not UTF-8 text"))?;
        let (file, problems) = parse(BODY, format, text.to_owned(), SourceId::new(0));
        let files: Files = [file].into_iter().collect();
        if problems.iter().any(|problem| problem.severity == Severity::Error) {
            let problem =
                Problem::new(axum::http::StatusCode::BAD_REQUEST, "unreadable-body", "the body cannot be read");
            return Err(problem.with_diagnostics(&files, &problems));
        }
        Ok(Self { files })
    }

    /// Where places in it are looked up.
    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    /// Its documents, those inside lists too.
    pub(crate) fn documents(&self) -> Vec<Value<'_>> {
        let mut documents = Vec::new();
        for (_, file) in self.files.iter() {
            file.tree.documents().for_each(|document| flatten(document, &mut documents));
        }
        documents
    }

    /// The only document.
    pub(crate) fn only(&self) -> Result<Value<'_>, Problem> {
        let mut all = self.files.iter().flat_map(|(_, file)| file.tree.documents());
        match (all.next(), all.next()) {
            (Some(document), None) => Ok(document),
            (None, _) => Err(Problem::bad_request("the body is empty")),
            (Some(_), Some(_)) => Err(Problem::bad_request("the body has several documents where one is expected")),
        }
    }

    /// A document with its name.
    pub(crate) fn named(&self, identities: &Identities<'_>, document: Value<'_>) -> Result<Named, Problem> {
        let source = SourceId::new(0);
        let diagnostic = match identities.identity(document) {
            Ok(identity) => match key(&identity) {
                Ok(key) => return Ok(Named { key, text: json::write(document).into() }),
                Err(bad) => {
                    let rule = "only names may have slashes, and none may have control characters or be a dot segment";
                    Diagnostic::error(Fault::WrongValue, bad.to_string()).at_value(source, document, "here").help(rule)
                }
            },
            Err(nameless) => nameless.diagnostic(source, document),
        };
        let detail = diagnostic.message.clone();
        let problem = Problem::new(axum::http::StatusCode::UNPROCESSABLE_ENTITY, "invalid-documents", detail);
        Err(problem.with_diagnostics(&self.files, &[diagnostic]))
    }
}

/// What a store knows a document by.
pub(crate) fn key(identity: &Identity) -> Result<Key, BadKey> {
    Key::new(&identity.kind, &identity.scope, &identity.name)
}

/// How messages call a body.
const BODY: &str = "body";

/// A document, or those of a list.
pub(crate) fn flatten<'f>(document: Value<'f>, documents: &mut Vec<Value<'f>>) {
    let items = document.get("items").filter(|items| items.kind() == Kind::List && document.get("spec").is_none());
    match document.kind() {
        Kind::Null => {}
        Kind::List => document.items().for_each(|item| flatten(item, documents)),
        Kind::Map if items.is_some() => {
            items.into_iter().flat_map(Value::items).for_each(|item| flatten(item, documents));
        }
        _ => documents.push(document),
    }
}
