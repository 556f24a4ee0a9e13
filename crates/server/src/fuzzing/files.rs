//! Any bytes as files of administrators, histories and logs.

use std::path::PathBuf;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer};
use upheld_dialects::access::Edition;
use upheld_dialects::access::logs::LogReader;

use crate::auth::Certificate;
use crate::config::{Config, Jwt, KeysLocation, Security};
use crate::doctor::examine;

/// A file of this process alone.
pub(super) fn kept(name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
    let thread = format!("{:?}", std::thread::current().id());
    let folder = std::env::temp_dir().join(format!("upheld-fuzzing-{}-{thread}", std::process::id()));
    let path = folder.join(name);
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, bytes));
    written.map(|()| path).map_err(|error| error.to_string())
}

/// The first byte says which file it is: settings, tokens, rights or keys.
pub(super) fn security(bytes: &[u8]) -> Result<(), String> {
    let Some((which, bytes)) = bytes.split_first() else { return Ok(()) };
    let none = Security::default();
    let security = match which % 4 {
        0 => serde_json::from_slice(bytes).unwrap_or(none),
        1 => Security { tokens: Some(kept("tokens.yaml", bytes)?), ..none },
        2 => Security { rights: Some(kept("rights.yaml", bytes)?), ..none },
        _ => Security { jwt: Some(Jwt::new(KeysLocation::File(kept("keys.json", bytes)?), "upheld")), ..none },
    };
    // Keys at an address would be fetched.
    let fetched = |keys: &KeysLocation| matches!(keys, KeysLocation::Url { .. });
    if security.jwt.iter().any(|jwt| fetched(&jwt.keys))
        || security.enforcement.jwt.iter().any(|users| fetched(&users.issuer.keys))
    {
        return Ok(());
    }
    examine(&Config { security, ..Config::default() });
    Ok(())
}

/// As certificates and lists of revoked ones, with and without the lines around them.
pub(super) fn certificate(bytes: &[u8]) {
    let certificates = CertificateDer::pem_slice_iter(bytes).flatten().map(|der| der.to_vec());
    let lists = CertificateRevocationListDer::pem_slice_iter(bytes).flatten().map(|der| der.to_vec());
    for der in certificates.chain(lists).chain([bytes.to_vec()]) {
        let _ = (Certificate::read(&der), Certificate::valid_until(&der), Certificate::revocations_until(&der));
    }
}

/// As the history of a store.
pub(super) fn history(bytes: &[u8]) {
    // Damage is said, whatever it is.
    let _ = upheld_store::check_export(bytes, None);
}

/// As lines of logs: of a server, of Envoy, and of others with a mapping.
pub(super) fn log_line(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let mapping =
        ["subject.id=user", "subject.role=user.roles", "resource.path=url", "decision=status"].map(str::to_owned);
    for mapping in [&[][..], &mapping] {
        for edition in [Edition::Strict, Edition::Compat] {
            let reader = LogReader::new(edition, mapping).map_err(|problem| problem.message)?;
            for line in text.lines() {
                let _ = reader.read(line);
            }
        }
    }
    Ok(())
}
