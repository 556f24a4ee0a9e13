//! Static tokens: who has which, as far as that may be written down.

use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;
use upheld_loader::Format;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Files, Severity, SourceId};
use upheld_syntax::{json, parse};

use super::caller::{AuthMethod, Caller, names};
use super::error::SecurityError;
use super::secret::Hash;

/// All static tokens.
#[derive(Debug, Default)]
pub(crate) struct Tokens(Vec<Token>);

#[derive(Debug)]
struct Token {
    hash: Hash,
    expires: Option<Timestamp>,
    caller: Caller,
}

/// A token as a file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    #[serde(default)]
    roles: Vec<String>,
    #[serde(default)]
    groups: Vec<String>,
    sha256: String,
    expires: Option<String>,
}

impl Tokens {
    /// One token for everything.
    pub(crate) fn bootstrap(hash: Hash) -> Self {
        Self::default().with_bootstrap(Some(hash))
    }

    /// With one for everything, if there is one.
    pub(crate) fn with_bootstrap(mut self, hash: Option<Hash>) -> Self {
        self.0.extend(hash.map(|hash| {
            let caller = Caller { roles: names(&["admin".to_owned()]), ..Caller::new("bootstrap", AuthMethod::Token) };
            Token { hash, expires: None, caller }
        }));
        self
    }

    /// Those of a file: `{tokens: [{name, roles, groups, sha256, expires}]}`, or only the list.
    pub(crate) fn read(path: &Path) -> Result<Self, SecurityError> {
        let text = std::fs::read_to_string(path).map_err(|error| SecurityError::file(path, &error))?;
        let name = path.display().to_string();
        let format = Format::of_name(&name).unwrap_or_else(|| Format::of_text(&text));
        let (file, problems) = parse(name, format, text, SourceId::new(0));
        let files: Files = [file].into_iter().collect();
        if let Some(problem) = problems.iter().find(|problem| problem.severity == Severity::Error) {
            return Err(SecurityError::file(path, &problem.message));
        }
        let mut tokens = Vec::new();
        for document in files.iter().flat_map(|(_, file)| file.tree.documents()) {
            let list = document.get("tokens").unwrap_or(document);
            let only = document.kind() != Kind::Map || document.entries().count() == 1;
            if list.kind() != Kind::List || !only {
                return Err(SecurityError::file(path, "expected {tokens: [{name, roles, sha256}]} and nothing else"));
            }
            for (index, item) in list.items().enumerate() {
                let at = |problem: &str| SecurityError::file(path, format!("token {}: {problem}", index + 1));
                tokens.push(token(item).map_err(|problem| at(&problem))?);
            }
        }
        Ok(Self(tokens))
    }

    /// Who has one.
    pub(super) fn callers(&self) -> impl Iterator<Item = &Caller> {
        self.0.iter().map(|token| &token.caller)
    }

    /// Whose token it is. Looks at all of them, so that time tells nothing.
    pub(crate) fn find(&self, token: &str, now: Timestamp) -> Option<&Caller> {
        let hash = Hash::of(token);
        let mut found = None;
        for token in &self.0 {
            if bool::from(token.hash.is(&hash)) {
                found = Some(token);
            }
        }
        found.filter(|token| token.expires.is_none_or(|expires| now < expires)).map(|token| &token.caller)
    }
}

fn token(item: Value<'_>) -> Result<Token, String> {
    // The message of serde could repeat what stands there; a token does not belong there, but people err.
    let written: Written = serde_json::from_str(&json::write(item))
        .map_err(|_| "expected name, roles, groups, sha256 and expires, and nothing else".to_owned())?;
    if written.name.trim().is_empty() {
        return Err("the name is empty".to_owned());
    }
    let hash = Hash::read(&written.sha256)
        .ok_or_else(|| format!("`sha256` of `{}` must have 64 hexadecimal digits", written.name))?;
    let expires = written.expires.as_deref().map(str::parse).transpose();
    let expires = expires.map_err(|_| {
        format!("`expires` of `{}` is not a valid timestamp such as 2027-01-01T00:00:00Z", written.name)
    })?;
    let caller = Caller {
        roles: names(&written.roles),
        groups: names(&written.groups),
        until: expires,
        ..Caller::new(&written.name, AuthMethod::Token)
    };
    Ok(Token { hash, expires, caller })
}
