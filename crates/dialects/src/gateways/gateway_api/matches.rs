//! What a rule wants of a request, with the defaults of the Gateway API filled in.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::tree::Value;
use upheld_model::{Config, Content, NodeRef, SourceId};

use super::resources::{children, text};

/// How a path is compared; the order is that of precedence, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathKind {
    /// The whole path.
    Exact,
    /// A regular expression for the whole path.
    RegularExpression,
    /// Whole elements at the start of the path.
    PathPrefix,
}

impl PathKind {
    /// As the Gateway API writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "Exact",
            Self::RegularExpression => "RegularExpression",
            Self::PathPrefix => "PathPrefix",
        }
    }

    fn of(word: &str) -> Self {
        match word {
            "Exact" => Self::Exact,
            "RegularExpression" => Self::RegularExpression,
            _ => Self::PathPrefix,
        }
    }
}

/// What is wanted of a header or a query parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldMatch {
    /// `Exact` or `RegularExpression`.
    pub kind: SmolStr,
    /// Its name.
    pub name: SmolStr,
    /// Its value.
    pub value: SmolStr,
}

impl FieldMatch {
    /// Whether the value is a regular expression.
    pub fn is_regular_expression(&self) -> bool {
        self.kind == PathKind::RegularExpression.word()
    }
}

/// What a rule wants of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// How the path is compared.
    pub path_kind: PathKind,
    /// The path.
    pub path: SmolStr,
    /// The method.
    pub method: Option<SmolStr>,
    /// Headers, all of them wanted.
    pub headers: Vec<FieldMatch>,
    /// Query parameters, all of them wanted.
    pub query: Vec<FieldMatch>,
    /// Where it was written; `None` for defaults.
    pub at: Option<NodeRef>,
}

impl Match {
    /// What a rule without matches wants: anything.
    pub fn everything() -> Self {
        Self {
            path_kind: PathKind::PathPrefix,
            path: SmolStr::new_static("/"),
            method: None,
            headers: Vec::new(),
            query: Vec::new(),
            at: None,
        }
    }

    /// Of a match of an `HTTPRoute`.
    pub fn of_http(source: SourceId, value: Value<'_>) -> Self {
        let path = value.get("path");
        let path_text = |key: &str| path.and_then(|path| text(path, key));
        Self {
            path_kind: PathKind::of(path_text("type").unwrap_or_default()),
            path: SmolStr::new(path_text("value").unwrap_or("/")),
            method: text(value, "method").map(SmolStr::new),
            headers: fields(value, "headers"),
            query: fields(value, "queryParams"),
            at: Some(NodeRef { source, node: value.number() }),
        }
    }

    /// Of a match of a `GRPCRoute`: the path tells service and method.
    pub fn of_grpc(source: SourceId, value: Value<'_>) -> Self {
        let method = value.get("method");
        let part = |key: &str| method.and_then(|method| text(method, key));
        let (service, call) = (part("service"), part("method"));
        let regular = part("type") == Some(PathKind::RegularExpression.word());
        let (path_kind, path) = match (service, call) {
            (None, None) => (PathKind::PathPrefix, "/".to_owned()),
            (Some(service), Some(call)) if !regular => (PathKind::Exact, format!("/{service}/{call}")),
            (service, call) => {
                let path = format!("/{}/{}", service.unwrap_or(".+"), call.unwrap_or(".+"));
                (PathKind::RegularExpression, path)
            }
        };
        Self {
            path_kind,
            path: SmolStr::new(path),
            headers: fields(value, "headers"),
            at: Some(NodeRef { source, node: value.number() }),
            ..Self::everything()
        }
    }

    /// The path as requests are compared with it: a slash at the end of a prefix means nothing.
    pub fn normal_path(&self) -> &str {
        if self.path_kind != PathKind::PathPrefix {
            return &self.path;
        }
        let trimmed = self.path.trim_end_matches('/');
        if trimmed.is_empty() { "/" } else { trimmed }
    }

    /// In the form in which rules write it, defaults filled in.
    pub fn to_config(&self) -> Arc<Config> {
        let mut entries = vec![(
            SmolStr::new_static("path"),
            map([("type", SmolStr::new_static(self.path_kind.word())), ("value", self.path.clone())]),
        )];
        if let Some(method) = &self.method {
            entries.push((SmolStr::new_static("method"), Config::made(Content::Text(method.clone()))));
        }
        for (key, list) in [("headers", &self.headers), ("queryParams", &self.query)] {
            if !list.is_empty() {
                let items = list.iter().map(|field| {
                    let texts = [("type", &field.kind), ("name", &field.name), ("value", &field.value)];
                    map(texts.map(|(key, text)| (key, text.clone())))
                });
                entries.push((SmolStr::new_static(key), Config::made(Content::List(items.collect()))));
            }
        }
        Arc::new(Config { content: Content::Map(entries), at: self.at })
    }
}

fn map<const N: usize>(entries: [(&'static str, SmolStr); N]) -> Arc<Config> {
    let entries = entries.into_iter().map(|(key, text)| (SmolStr::new_static(key), Config::made(Content::Text(text))));
    Config::made(Content::Map(entries.collect()))
}

fn fields(value: Value<'_>, key: &str) -> Vec<FieldMatch> {
    let of = |field: Value<'_>| FieldMatch {
        kind: SmolStr::new(text(field, "type").unwrap_or("Exact")),
        name: SmolStr::new(text(field, "name").unwrap_or_default()),
        value: SmolStr::new(text(field, "value").unwrap_or_default()),
    };
    children(value, key).map(of).collect()
}
