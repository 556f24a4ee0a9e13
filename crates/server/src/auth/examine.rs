//! What is unsafe about who is known and what they may do.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer};
use upheld_engine::decide::{self, Action, Maybe, Resource};
use upheld_store::machine;

use super::bootstrap::{self, Bootstrap};
use super::caller::Caller;
use super::certificate::Certificate;
use super::endpoint::Operation;
use super::error::SecurityError;
use super::jwt::keys;
use super::rights::{Rights, Verdict};
use super::tokens::Tokens;
use super::{environment, sessions, word};
use crate::config::{Anonymous, Config, GivenSecret, Issuer, KeysLocation, StoreLocation};
use crate::doctor::{Finding, Weight, open_to_others};
use crate::tls::Tls;

/// What ends sooner than this should be renewed.
const SOON: Duration = Duration::from_hours(14 * 24);

/// Looks at tokens, rights, keys and certificates.
pub(crate) fn examine(config: &Config) -> Vec<Finding> {
    let mut found = Vec::new();
    tokens(config, &mut found);
    secrets(config, &mut found);
    rights(config, &mut found);
    certificates(config, &mut found);
    issuers(config, &mut found);
    found
}

fn broken(error: &SecurityError) -> Finding {
    Finding::new("broken", Weight::Bad, format!("{error}: the server would not start"), "correct the file")
}

/// When something ends, if that is soon or past.
fn ends(what: &str, until: Timestamp, code: &'static str, found: &mut Vec<Finding>) {
    let left = until.duration_since(machine::now());
    let fix = "renew it, and tell the server to read it again (SIGHUP)";
    if left.is_negative() {
        found.push(Finding::new(code, Weight::Bad, format!("{what} is not valid any more, since {until}"), fix));
    } else if Duration::try_from(left).is_ok_and(|left| left < SOON) {
        found.push(Finding::new(code, Weight::Risky, format!("{what} is valid until {until}, which is soon"), fix));
    }
}

fn tokens(config: &Config, found: &mut Vec<Finding>) {
    let Some(path) = &config.security.tokens else { return };
    open_to_others(path, "tokens-writable", 0o022, "the hashes of tokens", found);
    match Tokens::read(path) {
        Err(error) => found.push(broken(&error)),
        Ok(tokens) => {
            for caller in tokens.callers() {
                let name = format!("the token of `{}`", caller.name);
                match caller.until {
                    Some(until) => ends(&name, until, "token-ends", found),
                    None => {
                        let what = format!("{name} is valid for ever");
                        found.push(Finding::new(
                            "token-without-end",
                            Weight::Note,
                            what,
                            "give it `expires` in the file of tokens",
                        ));
                    }
                }
            }
        }
    }
}

/// Secrets that all servers of a store share.
fn secrets(config: &Config, found: &mut Vec<Finding>) {
    let security = &config.security;
    let named = [(&security.bootstrap_token, "the bootstrap token"), (&security.session_key, "the key of sessions")];
    for (secret, what) in named {
        if let Some(GivenSecret::File(path)) = secret {
            open_to_others(path, "secret-readable", 0o077, what, found);
        }
    }
    let token = security.bootstrap_token.as_ref().map(bootstrap::given).transpose().map(drop);
    let key = security.session_key.as_ref().map(sessions::given).transpose().map(drop);
    found.extend([token, key].iter().filter_map(|read| read.as_ref().err()).map(broken));
    if !matches!(config.store, StoreLocation::Postgres(_)) {
        return;
    }
    if security.bootstrap_token.is_none() && security.needs_bootstrap() {
        found.extend(Bootstrap::of_store(&config.store).err().as_ref().map(broken));
    } else if security.bootstrap_token.is_none() && security.session_key.is_none() {
        let what = "a session of the pages holds on the server only where it began";
        let fix = "give all servers of the database the same `sessionKey`";
        found.push(Finding::new("sessions-of-one", Weight::Note, what, fix));
    }
}

/// What strangers of another machine may do is asked of the rights themselves.
fn rights(config: &Config, found: &mut Vec<Finding>) {
    let Some(path) = &config.security.rights else { return };
    open_to_others(path, "rights-writable", 0o022, "who may do what", found);
    let rights = match Rights::open(Some(path)) {
        Ok(rights) => rights,
        Err(error) => return found.push(broken(&error)),
    };
    let operations: &[Operation] = match config.anonymous() {
        Anonymous::None => &[],
        Anonymous::Decide => &[Operation::Ask],
        Anonymous::Read => &[Operation::Ask, Operation::Read],
        Anonymous::Rights => &[Operation::Ask, Operation::Read, Operation::Write, Operation::Administer],
    };
    let may = |operation: &&Operation| {
        let (sort, path) = match operation {
            Operation::Ask => ("decision", "/v1/decide"),
            Operation::Administer => ("server", "/v1/reload"),
            _ => ("document", "/v1/documents/AccessPolicy/access/a"),
        };
        let request = decide::Request {
            subject: Caller::anonymous().subject(),
            action: Action { method: word("POST"), operation: word(operation.word()), ..Action::default() },
            resource: Resource { path: word(path), kind: word(sort), ..Resource::default() },
            // An address that is nobody's.
            environment: environment(Maybe::Is("203.0.113.1".into())),
        };
        rights.decide(&request) == Verdict::Permitted
    };
    let all: Vec<&str> = operations.iter().filter(may).map(|operation| operation.word()).collect();
    if !all.is_empty() {
        let what = format!(
            "the rights in {} let everybody of every machine do this without a token: {}",
            path.display(),
            all.join(", ")
        );
        let fix = "name callers in `subjects`, or addresses in `conditions`; or `--anonymous none`";
        found.push(Finding::new("open-to-everybody", Weight::Bad, what, fix));
    }
}

fn certificates(config: &Config, found: &mut Vec<Finding>) {
    let Some(tls) = &config.security.tls else { return };
    open_to_others(&tls.key, "key-readable", 0o077, "the private key", found);
    if let Err(error) = Tls::open(tls.clone()) {
        return found.push(broken(&error));
    }
    let mut ends_at = |path: &Path, what: &str| {
        let first = CertificateDer::pem_file_iter(path).ok().and_then(|mut all| all.next()?.ok());
        if let Some(until) = first.and_then(|der| Certificate::valid_until(&der)) {
            ends(&format!("{what} in {}", path.display()), until, "certificate-ends", found);
        }
    };
    ends_at(&tls.certificate, "the certificate of the server");
    let Some(clients) = &tls.clients else { return };
    ends_at(&clients.authority, "the certificate of the authority for clients");
    if clients.revoked.is_empty() {
        let what = "certificates of clients cannot be revoked: there is no list";
        let fix = "`revoked: [FILE]` beside `authority`, or certificates that are valid for hours only";
        found.push(Finding::new("no-revocation", Weight::Risky, what, fix));
    }
    for path in &clients.revoked {
        let lists = CertificateRevocationListDer::pem_file_iter(path).into_iter().flatten().flatten();
        // Of several lists in a file the one that ends first is the one that lets nobody in.
        if let Some(until) = lists.filter_map(|list| Certificate::revocations_until(&list)).min() {
            let what = format!("the list of revoked certificates in {}", path.display());
            ends(&what, until, "revocations-end", found);
        }
    }
}

/// Whose tokens count: those of callers, and those of end users where proxies ask.
fn issuers(config: &Config, found: &mut Vec<Finding>) {
    if let Some(jwt) = &config.security.jwt {
        let issuer = jwt.issuer();
        if issuer.issuers.is_empty() {
            let what = "tokens of any issuer count that has one of the keys";
            found.push(Finding::new("any-issuer", Weight::Risky, what, "`issuers: [URL]` beside `audiences`"));
        }
        keys_of(&issuer, found);
    }
    for users in &config.security.enforcement.jwt {
        match users.check(&config.access.trust.identity_header) {
            Err(error) => found.push(broken(&error)),
            Ok(_) => keys_of(&users.issuer, found),
        }
        let plain = users.issuer.issuers.iter().filter(|issuer| !is_exact(issuer));
        for issuer in plain {
            let what =
                format!("`{issuer}` in `issuers` is no URL with https: tokens must have exactly this text as `iss`");
            let fix = "write `iss` as the issuer does, in its `.well-known/openid-configuration`";
            found.push(Finding::new("issuer-without-https", Weight::Risky, what, fix));
        }
    }
}

/// Whether an issuer is written as `OpenID` Connect has it.
fn is_exact(issuer: &str) -> bool {
    let uri: Option<axum::http::Uri> = issuer.parse().ok();
    uri.is_some_and(|uri| uri.scheme_str() == Some("https") && uri.host().is_some_and(|host| !host.is_empty()))
}

/// Whether the keys of an issuer are there: files and servers are asked as the server would.
fn keys_of(issuer: &Issuer, found: &mut Vec<Finding>) {
    if let Err(error) = issuer.check() {
        return found.push(broken(&error));
    }
    match (&issuer.keys, keys::read(issuer)) {
        (KeysLocation::File(path), read) => {
            open_to_others(path, "keys-writable", 0o022, "the keys of the issuer", found);
            if let Err(error) = read {
                found.push(broken(&error));
            }
        }
        (KeysLocation::Url { .. }, Err(error)) => {
            let what = format!("{error}: no token of {} is accepted", issuer.issuers.join(", "));
            let fix = "correct `keys`, name its `authority` if it has one of its own, or let this machine reach it";
            found.push(Finding::new("keys-unreachable", Weight::Bad, what, fix));
        }
        (KeysLocation::Url { .. }, Ok(_)) => {}
    }
}
