//! Security as a file has it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use upheld_loader::Format;
use upheld_model::{Files, Severity, SourceId};
use upheld_syntax::{json, parse};

use super::{GivenSecret, KeysLocation, Security};
use crate::auth::SecurityError;

impl Security {
    /// Reads a file, YAML or JSON. Paths in it begin where the file is.
    pub fn read(path: &Path) -> Result<Self, SecurityError> {
        let text = std::fs::read_to_string(path).map_err(|error| SecurityError::file(path, &error))?;
        let name = path.display().to_string();
        let format = Format::of_name(&name).unwrap_or_else(|| Format::of_text(&text));
        let (file, problems) = parse(name, format, text, SourceId::new(0));
        if let Some(problem) = problems.iter().find(|problem| problem.severity == Severity::Error) {
            return Err(SecurityError::file(path, &problem.message));
        }
        let files: Files = [file].into_iter().collect();
        let mut documents = files.iter().flat_map(|(_, file)| file.tree.documents());
        let (Some(document), None) = (documents.next(), documents.next()) else {
            return Err(SecurityError::file(path, "expected one document"));
        };
        let read: Self =
            serde_json::from_str(&json::write(document)).map_err(|error| SecurityError::file(path, problem(&error)))?;
        Ok(read.below(path.parent().unwrap_or(Path::new(""))))
    }

    /// With all paths below a folder; whole ones stay.
    fn below(mut self, folder: &Path) -> Self {
        let move_ = |path: &mut PathBuf| *path = folder.join(&*path);
        self.tokens.iter_mut().chain(&mut self.rights).for_each(move_);
        for secret in self.bootstrap_token.iter_mut().chain(&mut self.session_key) {
            if let GivenSecret::File(path) = secret {
                move_(path);
            }
        }
        if let Some(tls) = &mut self.tls {
            move_(&mut tls.certificate);
            move_(&mut tls.key);
            if let Some(clients) = &mut tls.clients {
                move_(&mut clients.authority);
                clients.revoked.iter_mut().for_each(move_);
            }
        }
        let own = self.jwt.iter_mut().map(|jwt| &mut jwt.keys);
        for keys in own.chain(self.enforcement.jwt.iter_mut().map(|jwt| &mut jwt.issuer.keys)) {
            match keys {
                KeysLocation::File(path) => move_(path),
                KeysLocation::Url { authority, .. } => authority.iter_mut().for_each(move_),
            }
        }
        self
    }
}

/// The message without the place, which is one in a text that nobody sees.
fn problem(error: &serde_json::Error) -> String {
    let whole = error.to_string();
    whole.split(" at line ").next().unwrap_or_default().to_owned()
}

pub(super) fn roles() -> String {
    "roles".to_owned()
}

pub(super) fn groups() -> String {
    "groups".to_owned()
}

pub(super) fn leeway() -> Duration {
    Duration::from_mins(1)
}

pub(super) fn refresh() -> Duration {
    Duration::from_mins(5)
}

pub(super) fn refresh_at_most() -> Duration {
    Duration::from_secs(30)
}

/// Seconds, as a number.
pub(super) mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer};

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_secs)
    }
}

/// Where keys are, as a file says it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Keys {
    file: Option<PathBuf>,
    url: Option<String>,
    authority: Option<PathBuf>,
}

impl TryFrom<Keys> for KeysLocation {
    type Error = &'static str;

    fn try_from(keys: Keys) -> Result<Self, Self::Error> {
        match keys {
            Keys { file: Some(file), url: None, authority: None } => Ok(Self::File(file)),
            Keys { file: None, url: Some(url), authority } => Ok(Self::Url { url, authority }),
            _ => Err("`keys` must have `file`, or `url` with `authority` beside it if it has one of its own"),
        }
    }
}

#[cfg(test)]
mod tests {
    use upheld_dialects::access::token_claims::{Attributes, ClaimPath, TokenClaims};

    use super::super::{Anonymous, Clients, Known, Need, Tls};
    use super::*;

    fn read(text: &str) -> Result<Security, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("security.yaml");
        std::fs::write(&path, text).unwrap();
        Security::read(&path).map_err(|error| error.to_string().replace(&folder.path().display().to_string(), ""))
    }

    #[test]
    fn everything_can_be_said() {
        let text = "
tokens: /etc/upheld/tokens.yaml
bootstrapToken: /etc/upheld/bootstrap
sessionKey: /etc/upheld/session
rights: /etc/upheld/rights.yaml
tls:
  certificate: /etc/upheld/server.pem
  key: /etc/upheld/server.key
  clients: {authority: /etc/upheld/clients.pem, revoked: [/etc/upheld/clients.crl], need: optional, known: [{name: ci, roles: [author]}]}
jwt:
  keys: {url: 'https://issuer.example/keys'}
  audiences: [upheld]
  roles: realm_access.roles
  leeway: 5
anonymous: decide
hosts: [policies.internal]
enforcement:
  jwt:
  - keys: {file: /etc/upheld/sso.json}
    issuers: ['https://sso.example/realms/shop']
    audiences: [shop]
    header: X-Forwarded-Authorization
    claims:
      id: [preferred_username, sub]
      type: typ
      roles: [realm_access.roles, resource_access.shop.roles]
      attributes: {department: dept}
";
        let security = read(text).unwrap();
        assert_eq!(security.tokens.as_deref(), Some(Path::new("/etc/upheld/tokens.yaml")));
        let file = |path: &str| Some(GivenSecret::File(path.into()));
        assert_eq!(security.bootstrap_token, file("/etc/upheld/bootstrap"));
        assert_eq!(security.session_key, file("/etc/upheld/session"));
        let known = Known { name: "ci".to_owned(), roles: vec!["author".to_owned()], groups: Vec::new() };
        let clients = Clients {
            authority: "/etc/upheld/clients.pem".into(),
            revoked: vec!["/etc/upheld/clients.crl".into()],
            need: Need::Optional,
            known: vec![known],
        };
        let tls = Tls {
            certificate: "/etc/upheld/server.pem".into(),
            key: "/etc/upheld/server.key".into(),
            clients: Some(clients),
        };
        assert_eq!(security.tls, Some(tls));
        assert_eq!(security.anonymous, Some(Anonymous::Decide));
        assert_eq!(security.hosts, ["policies.internal"]);
        let path = |text: &str| ClaimPath::read(text).unwrap();
        let [users] = security.enforcement.jwt.as_slice() else { panic!("one issuer") };
        let claims = TokenClaims {
            id: vec![path("preferred_username"), path("sub")],
            kind: Some(path("typ")),
            roles: vec![path("realm_access.roles"), path("resource_access.shop.roles")],
            groups: vec![path("groups")],
            attributes: Attributes::Named(vec![("department".into(), path("dept"))]),
        };
        assert_eq!((&users.claims, users.header.as_str()), (&claims, "X-Forwarded-Authorization"));
        assert_eq!(users.issuer.issuers, ["https://sso.example/realms/shop"]);
        let jwt = security.jwt.unwrap();
        assert_eq!(jwt.keys, KeysLocation::Url { url: "https://issuer.example/keys".to_owned(), authority: None });
        assert_eq!((jwt.leeway, jwt.refresh), (Duration::from_secs(5), Duration::from_mins(5)));
    }

    #[test]
    fn paths_begin_where_the_file_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("security.yaml");
        std::fs::write(
            &path,
            "{tokens: tokens.yaml, bootstrapToken: secrets/token, jwt: {keys: {file: keys.json}, audiences: [a]},
            enforcement: {jwt: [{keys: {file: users.json}, audiences: [a], issuers: [b]}]}}",
        )
        .unwrap();
        let security = Security::read(&path).unwrap();
        assert_eq!(security.tokens, Some(folder.path().join("tokens.yaml")));
        assert_eq!(security.bootstrap_token, Some(GivenSecret::File(folder.path().join("secrets/token"))));
        assert_eq!(security.jwt.unwrap().keys, KeysLocation::File(folder.path().join("keys.json")));
        let users = folder.path().join("users.json");
        assert_eq!(security.enforcement.jwt[0].issuer.keys, KeysLocation::File(users));
    }

    /// What docs/proxies.md shows.
    #[test]
    fn the_example_for_keycloak_is_read() {
        let page = include_str!("../../../../../docs/proxies.md");
        let example = page.split("```").find(|block| block.starts_with("yaml\nenforcement:")).unwrap();
        let security = read(example.trim_start_matches("yaml")).unwrap();
        let [users] = security.enforcement.jwt.as_slice() else { panic!("one issuer") };
        assert_eq!(users.claims.roles.first().map(ClaimPath::as_str), Some("realm_access.roles"));
        assert!(!security.authenticates(), "end users are no callers");
    }

    #[test]
    fn mistakes_are_said() {
        let said = |text: &str| read(text).unwrap_err();
        assert!(said("token: x").contains("unknown field `token`"));
        assert!(said("admission: everybody").contains("unknown field `admission`"));
        assert!(said("jwt: {audiences: [a], keys: {file: a, url: b}}").contains("`keys` must have"));
        assert!(said("jwt: {keys: {file: a}}").contains("missing field `audiences`"));
        assert!(said("tls: {certificate: a, key: b, clients: {authority: c, need: maybe}}").contains("maybe"));
        let users = |text: &str| said(&format!("enforcement: {{jwt: [{text}]}}"));
        assert!(users("{keys: {file: a}, audiences: [a]}").contains("missing field `issuers`"));
        let whole = |more: &str| users(&format!("{{keys: {{file: a}}, audiences: [a], issuers: [b], {more}}}"));
        assert!(whole("role: roles").contains("unknown field `role`, expected one of `keys`"));
        assert!(whole("claims: {role: roles}").contains("unknown field `role`, expected one of `id`"));
        assert!(whole("claims: {roles: 7}").contains("a list of names"));
        assert!(whole("claims: {type: ''}").contains("the name of a claim is empty"));
        assert!(said("a: [").contains("security.yaml"));
        assert!(said("").contains("expected one document"));
    }
}
