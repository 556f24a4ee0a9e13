//! Every finding, with a configuration that has it and one that has not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::config::{
    Clients, EndUserJwt, GivenSecret, Jwt, KeysLocation, Limits, Need, Operations, Security, Tls, Trust,
};

fn codes(config: &Config) -> Vec<&'static str> {
    let found = examine(config);
    assert!(found.is_sorted_by_key(|finding| finding.weight), "{found:?}");
    assert!(found.iter().all(|finding| !finding.what.is_empty() && !finding.fix.is_empty()));
    found.into_iter().map(|finding| finding.code).collect()
}

/// A file that only its owner may read.
fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Everything that can be said right, on another address.
fn sound(folder: &TempDir) -> Config {
    let token =
        format!("tokens: [{{name: a, roles: [admin], sha256: '{}', expires: 2199-01-01T00:00:00Z}}]", "0".repeat(64));
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let tls = Tls {
        certificate: file(folder, "server.pem", &made.cert.pem()),
        key: file(folder, "server.key", &made.signing_key.serialize_pem()),
        clients: None,
    };
    let tokens = file(folder, "tokens.yaml", &token);
    let data = folder.path().join("data");
    fs::create_dir_all(&data).unwrap();
    chmod(&data, 0o700);
    let log = crate::config::DecisionLog::new(DecisionLogTo::File(folder.path().join("decisions.jsonl")));
    Config {
        listen: "0.0.0.0:8181".parse().unwrap(),
        store: StoreLocation::Folder(data),
        watch: vec![file(folder, "policies.yaml", "")],
        limits: Limits { rate: Some(100), ..Limits::default() },
        security: Security { tokens: Some(tokens), tls: Some(tls), ..Security::default() },
        operations: Operations { decision_log: Some(log), ..Operations::default() },
        ..Config::default()
    }
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(examine(&sound(&folder)), []);
}

#[test]
fn a_server_by_itself_is_told_what_is_good_to_know() {
    assert_eq!(codes(&Config::default()), ["anonymous-here", "ephemeral", "no-decision-log"]);
}

#[test]
fn who_can_reach_it_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = sound(&folder);
    config.security.tls = None;
    config.limits.rate = None;
    config.security.anonymous = Some(Anonymous::Read);
    config.access.trust = Trust { peers: vec!["0.0.0.0/0".parse().unwrap()], ..Trust::default() };
    assert_eq!(codes(&config), ["plain-text", "trusts-everybody", "no-rate", "anonymous"]);
    let proxied = Config { public_url: Some("https://policies.example".to_owned()), ..Config::default() };
    assert!(codes(&proxied).contains(&"anonymous-behind-proxy"));
    let database = |url: &str| Config { store: StoreLocation::Postgres(url.to_owned()), ..Config::default() };
    assert!(codes(&database("postgres://u:p@db.example/x")).contains(&"database-unverified"));
    assert!(!codes(&database("postgres://u:p@db.example/x?sslmode=verify-full")).contains(&"database-unverified"));
    assert!(!codes(&database("postgres://u:p@localhost:5432/x")).contains(&"database-unverified"));
    let shared = |security: Security| {
        let store = StoreLocation::Postgres("postgres://u:p@localhost:5432/x".to_owned());
        let found = examine(&Config { store, security, ..Config::default() });
        let found = found.into_iter().filter(|finding| ["broken", "sessions-of-one"].contains(&finding.code));
        found.map(|finding| finding.what).collect::<Vec<_>>().join(" ")
    };
    assert!(shared(Security::default()).contains("UPHELD_BOOTSTRAP_TOKEN"));
    let text = |text: &str| Some(GivenSecret::Text(text.to_owned()));
    let token = || text("upheld_0123456789abcdef0123456789abcdef");
    assert_eq!(shared(Security { bootstrap_token: token(), ..Security::default() }), "");
    assert!(shared(Security { bootstrap_token: text("upheld_short"), ..Security::default() }).contains("at least 32"));
    let tokens = || Some(folder.path().join("tokens.yaml"));
    assert!(shared(Security { tokens: tokens(), ..Security::default() }).contains("a session"));
    let session_key = text("0123456789abcdef0123456789abcdef");
    assert_eq!(shared(Security { tokens: tokens(), session_key, ..Security::default() }), "");
    let traces = |url: &str| {
        let operations = Operations { otlp: Some(url.to_owned()), ..Operations::default() };
        codes(&Config { operations, ..Config::default() }).contains(&"traces-in-plain-text")
    };
    assert!(traces("http://collector.example:4317"));
    assert!(!traces("https://collector.example:4317") && !traces("http://127.0.0.1:4317"));
}

#[test]
fn files_that_are_open_to_others_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let config = sound(&folder);
    let log = folder.path().join("decisions.jsonl");
    fs::write(&log, "").unwrap();
    for (path, mode, code) in [
        (folder.path().join("data"), 0o755, "store-readable"),
        (folder.path().join("server.key"), 0o640, "key-readable"),
        (folder.path().join("tokens.yaml"), 0o662, "tokens-writable"),
        (folder.path().join("policies.yaml"), 0o666, "policies-writable"),
        (log.clone(), 0o644, "decisions-readable"),
    ] {
        chmod(&log, 0o600);
        chmod(&path, mode);
        let found = examine(&config);
        assert_eq!(found.iter().map(|finding| finding.code).collect::<Vec<_>>(), [code], "{}", path.display());
        // The fix is one.
        let fix = found[0].fix.strip_prefix("chmod ").unwrap().split(' ').next().unwrap();
        chmod(&path, u32::from_str_radix(fix, 8).unwrap());
        assert_eq!(examine(&config), []);
    }
    let gone = Config { watch: vec![folder.path().join("nothing")], ..sound(&folder) };
    assert_eq!(codes(&gone), ["nothing-to-watch"]);
}

#[test]
fn tokens_rights_and_certificates_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = sound(&folder);
    let all = "{defaultEffect: deny, policies: [{id: all, effect: permit, subjects: [], resources: [], actions: []}]}";
    config.security.rights = Some(file(&folder, "rights.yaml", all));
    let found = examine(&config);
    assert_eq!((found.len(), found[0].code), (1, "open-to-everybody"));
    assert!(found[0].what.ends_with("ask, read, write, administer"), "{found:?}");
    config.security.anonymous = Some(Anonymous::None);
    assert_eq!(examine(&config), [], "the setting is the ceiling");
    config.security.rights = Some(file(&folder, "rights.yaml", "policies: [{"));
    assert_eq!(codes(&config), ["broken"]);

    let mut config = sound(&folder);
    let token = |expires: &str| format!("[{{name: a, sha256: '{}'{expires}}}]", "0".repeat(64));
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24);
    for (text, code) in [
        (token(""), "token-without-end"),
        (token(", expires: 2020-01-01T00:00:00Z"), "token-ends"),
        (token(&format!(", expires: {soon}")), "token-ends"),
        ("nonsense".to_owned(), "broken"),
    ] {
        config.security.tokens = Some(file(&folder, "tokens.yaml", &text));
        assert_eq!(codes(&config), [code], "{text}");
    }

    let mut config = sound(&folder);
    let authority = folder.path().join("server.pem");
    let clients = Clients { authority, revoked: Vec::new(), need: Need::Optional, known: Vec::new() };
    if let Some(tls) = &mut config.security.tls {
        tls.clients = Some(clients);
    }
    config.security.jwt = Some(Jwt::new(KeysLocation::File(folder.path().join("keys.json")), "upheld"));
    assert_eq!(codes(&config), ["broken", "no-revocation", "any-issuer"]);
}

#[test]
fn issuers_of_end_users_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let keys = r#"{"keys": [{"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#;
    let good = file(&folder, "keys.json", keys);
    let with = |change: fn(&mut EndUserJwt)| {
        let mut jwt = EndUserJwt::new("https://sso.example/realms/shop", KeysLocation::File(good.clone()), "shop");
        change(&mut jwt);
        let mut config = sound(&folder);
        config.security.enforcement.jwt = vec![jwt];
        examine(&config)
    };
    let at = |found: Vec<Finding>| found.into_iter().map(|one| (one.code, one.weight)).collect::<Vec<_>>();
    assert_eq!(at(with(|_| {})), []);
    // Nothing listens on this port.
    let away =
        with(|jwt| jwt.issuer.keys = KeysLocation::Url { url: "http://127.0.0.1:1/keys".to_owned(), authority: None });
    assert!(away[0].what.contains("no token of https://sso.example/realms/shop is accepted"), "{away:?}");
    assert_eq!(at(away), [("keys-unreachable", Weight::Bad)]);
    let plain =
        with(|jwt| jwt.issuer.keys = KeysLocation::Url { url: "http://sso.example/keys".to_owned(), authority: None });
    assert!(plain[0].what.contains("by https only"), "{plain:?}");
    assert_eq!(at(plain), [("broken", Weight::Bad)]);
    for change in [
        (|jwt: &mut EndUserJwt| jwt.issuer.keys = KeysLocation::File("nothing.json".into())) as fn(&mut EndUserJwt),
        |jwt| jwt.issuer.audiences.clear(),
        |jwt| jwt.issuer.issuers.clear(),
        |jwt| "x-identity".clone_into(&mut jwt.header),
    ] {
        assert_eq!(at(with(change)), [("broken", Weight::Bad)]);
    }
    for issuer in ["sso.example", "http://sso.example/realms/shop", " https://sso.example"] {
        let mut jwt = EndUserJwt::new(issuer, KeysLocation::File(good.clone()), "shop");
        jwt.header = "x-token".to_owned();
        let mut config = sound(&folder);
        config.security.enforcement.jwt = vec![jwt];
        assert_eq!(at(examine(&config)), [("issuer-without-https", Weight::Risky)], "{issuer}");
    }
}

#[test]
fn a_list_of_revoked_certificates_that_ended_or_ends_soon_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut parameters = rcgen::CertificateParams::default();
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    parameters.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign, rcgen::KeyUsagePurpose::CrlSign];
    let key = rcgen::KeyPair::generate().unwrap();
    let authority = file(&folder, "clients.pem", &parameters.self_signed(&key).unwrap().pem());
    let issuer = rcgen::Issuer::new(parameters, key);
    let list = |until: jiff::civil::Date| {
        let part = |number: i8| u8::try_from(number).unwrap();
        let list = rcgen::CertificateRevocationListParams {
            this_update: rcgen::date_time_ymd(2024, 1, 1),
            next_update: rcgen::date_time_ymd(until.year().into(), part(until.month()), part(until.day())),
            crl_number: rcgen::SerialNumber::from(1_u64),
            issuing_distribution_point: None,
            revoked_certs: Vec::new(),
            key_identifier_method: rcgen::KeyIdMethod::Sha256,
        };
        list.signed_by(&issuer).unwrap().pem().unwrap()
    };
    let today = jiff::Zoned::now().date();
    let far = today.saturating_add(jiff::Span::new().years(1));
    let soon = today.saturating_add(jiff::Span::new().days(7));
    let past = jiff::civil::date(2024, 6, 1);
    for (lists, expected) in [
        (list(far), None),
        (list(soon), Some((Weight::Risky, "is valid until"))),
        (list(past), Some((Weight::Bad, "is not valid any more"))),
        (list(far) + &list(past), Some((Weight::Bad, "is not valid any more"))),
        // After 2049 moments are written with four digits of the year.
        (list(jiff::civil::date(2060, 1, 1)), None),
    ] {
        let revoked = vec![file(&folder, "clients.crl", &lists)];
        let clients = Clients { authority: authority.clone(), revoked, need: Need::Optional, known: Vec::new() };
        let mut config = sound(&folder);
        if let Some(tls) = &mut config.security.tls {
            tls.clients = Some(clients);
        }
        let found = examine(&config);
        let told: Vec<_> = found.iter().map(|one| (one.code, one.weight)).collect();
        let wanted: Vec<_> = expected.iter().map(|(weight, _)| ("revocations-end", *weight)).collect();
        assert_eq!(told, wanted, "{found:?}");
        let words = expected.map_or("", |(_, words)| words);
        assert!(found.iter().all(|one| one.what.contains(words)), "{found:?}");
    }
}
