//! Tokens of end users, verified where proxies ask: over HTTP as nginx and Envoy do, and over gRPC.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, get_current_timestamp};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use upheld_server::Config;
use upheld_server::config::{
    Attributes, ClaimPath, DecisionLog, DecisionLogTo, EndUserJwt, Enforcement, KeysLocation, Security,
};

use crate::auth::issuer::{Issuer, claims, keys_at};
use crate::grpc::{Checked, Checker};
use crate::support::{Answer, Served, behind_proxy};

const POLICIES: &str = "
defaultEffect: deny
excludePaths: [/health]
---
id: admins
effect: permit
subjects: [{role: admin}]
resources: [{path: /admin/**}]
actions: [{method: '*'}]
---
id: sales
effect: permit
subjects: [{claim: {name: department, value: sales}}]
resources: [{path: /sales}]
actions: [{method: '*'}]
---
id: readers
effect: permit
subjects: [{group: 'docs:read'}]
resources: [{path: /docs}]
actions: [{method: '*'}]
---
id: everybody
effect: permit
subjects: []
resources: [{path: /open}]
actions: [{method: '*'}]
---
id: not-the-banned
effect: deny
subjects: [{role: banned}]
resources: [{path: /open}]
actions: [{method: '*'}]
";

const ISSUER: &str = "https://issuer.example";
const ADMIN: (&str, &str) = ("x-identity", r#"{"sub": "root", "roles": ["admin"]}"#);

fn path(text: &str) -> ClaimPath {
    ClaimPath::read(text).unwrap()
}

/// Tokens of Keycloak for one service.
fn keycloak(keys: KeysLocation) -> EndUserJwt {
    let mut jwt = EndUserJwt::new(ISSUER, keys, "shop");
    jwt.claims.roles = vec![path("realm_access.roles"), path("roles")];
    jwt.claims.groups = vec![path("scope")];
    jwt.claims.attributes = Attributes::Named(vec![("department".into(), path("org.dept"))]);
    jwt
}

fn of_shop(changes: &Json) -> Json {
    let mut all = claims(&json!({"aud": "shop", "realm": null, "realm_access": {"roles": ["admin"]}}));
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            all.as_object_mut().unwrap().remove(name);
        } else {
            all[name] = value.clone();
        }
    }
    all
}

/// A server, and an issuer whose tokens count there.
struct Bench {
    folder: TempDir,
    issuer: Issuer,
    served: Served,
    checker: Checker,
}

impl Bench {
    fn new(config: Config, change: impl FnOnce(&mut EndUserJwt)) -> Self {
        let (folder, issuer) = (tempfile::tempdir().unwrap(), Issuer::new("k1"));
        let keys = folder.path().join("keys.json");
        fs::write(&keys, issuer.set()).unwrap();
        let mut jwt = keycloak(KeysLocation::File(keys));
        change(&mut jwt);
        let served = served(config, vec![jwt]);
        let checker = Checker::new(served.base());
        Self { folder, issuer, served, checker }
    }

    fn usual() -> Self {
        Self::new(Config::default(), |_| {})
    }

    fn sign(&self, changes: &Json) -> String {
        self.issuer.sign(&of_shop(changes))
    }

    /// As Envoy asks over HTTP.
    fn envoy(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.served.ask("GET", &format!("/forward-auth{path}"), headers, "")
    }

    /// As nginx asks.
    fn nginx(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let own = [("x-original-uri", path), ("x-original-method", "GET")];
        self.served.ask("GET", "/forward-auth", &[&own, headers].concat(), "")
    }

    fn grpc(&self, path: &str, headers: &[(&str, &str)]) -> Checked {
        self.checker.check_of("127.0.0.1", path, headers, &[])
    }

    /// What becomes of a request with a token, everywhere the same.
    fn status(&self, path: &str, token: &str) -> u16 {
        self.status_with(path, &[("authorization", &format!("Bearer {token}"))])
    }

    fn status_with(&self, path: &str, headers: &[(&str, &str)]) -> u16 {
        let (envoy, nginx, grpc) = (self.envoy(path, headers), self.nginx(path, headers), self.grpc(path, headers));
        let of_grpc = grpc.denied.as_ref().map_or(200, |(status, _)| u16::try_from(*status).unwrap());
        assert_eq!((envoy.status, envoy.status), (nginx.status, of_grpc), "{} {}", envoy.text, grpc.metadata);
        let challenge = grpc.denied.and_then(|(_, headers)| {
            headers.into_iter().find(|(name, _)| name == "www-authenticate").map(|(_, value)| value)
        });
        let expected = (envoy.status == 401).then_some(r#"Bearer error="invalid_token""#);
        for challenge in [challenge.as_deref(), envoy.header("www-authenticate"), nginx.header("www-authenticate")] {
            assert_eq!(challenge, expected);
        }
        if let Some(reason) = envoy.header("x-policy-reason") {
            assert_eq!(Some(reason), grpc.metadata["reason"].as_str());
        }
        envoy.status
    }

    fn reason(&self, token: &str) -> String {
        let answer = self.envoy("/admin/x", &[("authorization", &format!("Bearer {token}"))]);
        assert_eq!(answer.status, 401, "{}", answer.text);
        assert_eq!(
            (answer.json()["error"].as_str(), answer.header("x-policy-decision")),
            (Some("Unauthorized"), Some("deny"))
        );
        answer.json()["reason"].as_str().unwrap().to_owned()
    }
}

fn served(config: Config, jwt: Vec<EndUserJwt>) -> Served {
    // The proxy asks with a token of its own, or from this machine.
    let security = Security { enforcement: Enforcement { jwt }, ..config.security };
    let served = Served::guarded(Config { security, ..config });
    let bootstrap = served.running().bootstrap_token().map(|token| format!("Bearer {token}"));
    let bearer = bootstrap.unwrap_or_else(|| format!("Bearer {}", own("admin")));
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/yaml")];
    let written = served.ask("POST", "/v1/revisions", &headers, POLICIES);
    assert_eq!(written.status, 201, "{}", written.text);
    served
}

fn own(name: &str) -> String {
    format!("upheld_{name}-0123456789abcdef0123456789abcdef")
}

/// A file with a token for each role.
fn tokens(folder: &TempDir, roles: &[&str]) -> PathBuf {
    let path = folder.path().join("tokens.yaml");
    let entry = |role: &&str| {
        format!("- {{name: {role}, roles: [{role}], sha256: '{:x}'}}\n", Sha256::digest(own(role).as_bytes()))
    };
    fs::write(&path, roles.iter().map(entry).collect::<String>()).unwrap();
    path
}

#[test]
fn a_verified_token_says_who_asks_on_every_surface() {
    for config in [Config::default(), behind_proxy(&[])] {
        let bench = Bench::new(config, |_| {});
        let good = bench.sign(&json!({}));
        // The second time it is remembered.
        assert_eq!((bench.status("/admin/x", &good), bench.status("/admin/x", &good)), (200, 200));
        assert_eq!(bench.status("/admin/x", &bench.sign(&json!({"realm_access": {"roles": ["staff"]}}))), 403);
        assert_eq!(bench.status("/admin/x", &bench.sign(&json!({"roles": ["admin"], "realm_access": null}))), 200);
        assert_eq!(bench.status("/sales", &bench.sign(&json!({"org": {"dept": "sales"}}))), 200);
        assert_eq!(bench.status("/sales", &bench.sign(&json!({"org": {"dept": "it"}}))), 403);
        assert_eq!(bench.status("/docs", &bench.sign(&json!({"scope": "openid docs:read"}))), 200);
        assert_eq!(bench.status("/docs", &bench.sign(&json!({"scope": "openid docs:readers"}))), 403);
        // Whoever brings none is anonymous.
        assert_eq!((bench.status_with("/open", &[]), bench.status_with("/admin/x", &[])), (200, 403));
        assert_eq!(bench.status_with("/open", &[("authorization", "Basic YTpi")]), 200);
    }
}

#[test]
fn nothing_is_looked_at_unless_it_is_configured() {
    let served = served(Config::default(), Vec::new());
    let forged = [("authorization", "Bearer a.b.c")];
    assert_eq!(served.ask("GET", "/forward-auth/open", &forged, "").status, 200);
    assert_eq!(served.ask("GET", "/forward-auth/admin/x", &forged, "").status, 403);
}

#[test]
fn forged_tokens_are_refused_with_the_reason_and_never_anonymous() {
    let bench = Bench::usual();
    let now = get_current_timestamp();
    for (changes, reason) in [
        (json!({"aud": "upheld"}), "audience"),
        (json!({"aud": ["a", "b"]}), "audience"),
        (json!({"aud": null}), "required claim"),
        (json!({"iss": "https://other.example"}), "issuer"),
        (json!({"iss": ["https://issuer.example"]}), "not a signed"),
        (json!({"iss": null}), "not a signed"),
        (json!({"exp": now - 3600}), "expired"),
        (json!({"exp": null}), "required claim"),
        (json!({"exp": "tomorrow"}), "required claim"),
        (json!({"nbf": now + 3600}), "not valid yet"),
        (json!({"nbf": "yesterday"}), "required claim"),
        (json!({"sub": null}), "required claim"),
    ] {
        let token = bench.sign(&changes);
        assert_eq!(bench.status("/open", &token), 401, "{changes}");
        let said = bench.reason(&token);
        assert!(said.contains(reason), "{changes}: {said}");
    }
    // Clocks may differ by a minute.
    assert_eq!(bench.status("/admin/x", &bench.sign(&json!({"exp": now - 5, "nbf": now + 5}))), 200);

    let good = of_shop(&json!({}));
    let (stranger, body) = (Issuer::new("k1"), URL_SAFE_NO_PAD.encode(good.to_string()));
    let head = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let named = |kid: &str, algorithm| Header { kid: Some(kid.to_owned()), ..Header::new(algorithm) };
    let of_stranger = |header: Header| stranger.sign_with(&header, &good);
    let public = EncodingKey::from_secret(bench.issuer.public_pem().as_bytes());
    let shared = EncodingKey::from_secret(b"secret");
    let signed = bench.issuer.sign(&good);
    let critical = Header { crit: Some(vec!["b64".to_owned()]), ..named("k1", Algorithm::ES256) };
    let with_key = Header { jwk: serde_json::from_value(stranger.public()).ok(), ..named("k1", Algorithm::ES256) };
    assert!(with_key.jwk.is_some());
    let at_url = Header { jku: Some("http://127.0.0.1:9/keys".to_owned()), ..named("k1", Algorithm::ES256) };
    let payload = good.to_string();
    let text = r#"{"alg": "ES256", "kid": "k1"}"#;
    assert_eq!(bench.status("/admin/x", &bench.issuer.sign_texts(text, &payload)), 200);
    let twice = payload.replacen('{', r#"{"realm_access": {"roles": []}, "#, 1);
    for (token, reason) in [
        (format!("{}.{body}.", head(r#"{"alg":"none","kid":"k1"}"#)), "not a signed"),
        (format!("{}.{body}.", head(r#"{"alg":"NONE"}"#)), "not a signed"),
        (format!("{}.{body}.", head(text)), "signature"),
        (encode(&named("k1", Algorithm::HS256), &good, &public).unwrap(), "no such key"),
        (encode(&named("shared", Algorithm::HS256), &good, &shared).unwrap(), "no such key"),
        (of_stranger(named("k1", Algorithm::ES256)), "signature"),
        (of_stranger(Header::new(Algorithm::ES256)), "signature"),
        (of_stranger(with_key), "signature"),
        (of_stranger(at_url), "signature"),
        (bench.issuer.sign_with(&named("../k1", Algorithm::ES256), &good), "no such key"),
        (bench.issuer.sign_with(&named("", Algorithm::ES256), &good), "no such key"),
        (bench.issuer.sign_with(&critical, &good), "crit"),
        (bench.issuer.sign_texts(text, &twice), "twice"),
        (bench.issuer.sign_texts(r#"{"alg": "ES256", "kid": "k1", "x": 1, "x": 2}"#, &payload), "twice"),
        (bench.issuer.sign_texts(r#"{"alg": "ES256", "alg": "none", "kid": "k1"}"#, &payload), "not a signed"),
        (signed.chars().take(signed.len() - 4).collect(), "not accepted"),
        (signed.rsplit_once('.').unwrap().0.to_owned(), "not a signed"),
        (format!("{signed}.{}", head("{}")), "not a signed"),
        ("nonsense".to_owned(), "not a signed"),
    ] {
        assert_eq!(bench.status("/open", &token), 401, "{token}");
        let said = bench.reason(&token);
        assert!(said.contains(reason), "{token}: {said}");
    }
    assert_eq!(bench.status_with("/open", &[("authorization", "Bearer")]), 401);
    let twice = format!("Bearer {signed}");
    let both = [("authorization", twice.as_str()), ("authorization", twice.as_str())];
    assert_eq!(bench.status_with("/open", &both), 401, "two tokens, even if they are one");
    assert_eq!(bench.grpc("/open", &[("authorization", &format!("{twice},{twice}"))]).denied.unwrap().0, 401);
    assert_eq!(bench.status("/health", "nonsense"), 200, "an excluded path asks nobody who they are");
}

#[test]
fn nothing_of_a_token_that_is_not_verified_is_passed_on() {
    let bench = Bench::new(behind_proxy(&[]), |_| {});
    let forged = Issuer::new("k1").sign(&of_shop(&json!({"sub": "mallory"})));
    for bearer in [format!("Bearer {forged}"), format!("bearer {}", bench.sign(&json!({"sub": "mallory", "aud": "x"})))]
    {
        let headers = [("authorization", bearer.as_str())];
        let (_, token) = bearer.split_once(' ').unwrap();
        for path in ["/open", "/health", "/admin/x"] {
            for answer in [bench.envoy(path, &headers), bench.nginx(path, &headers)] {
                let whole = format!("{:?} {}", answer.headers, answer.text);
                assert!(!whole.contains("mallory") && !whole.contains(token), "{whole}");
            }
            let checked = bench.grpc(path, &headers);
            let whole = format!("{:?} {}", checked.denied, checked.metadata);
            assert!(!whole.contains("mallory") && !whole.contains(token), "{whole}");
        }
    }
}

#[test]
fn a_claim_of_the_wrong_type_is_unknown_and_a_missing_one_is_absent() {
    let bench = Bench::usual();
    // A policy denies those with a role: whose roles are not known might have it.
    assert_eq!(bench.status("/open", &bench.sign(&json!({"realm_access": null}))), 200);
    for wrong in [json!("banned"), json!({"roles": {"banned": true}}), json!({"roles": ["a", 7]}), json!({"roles": 1})]
    {
        let token = bench.sign(&json!({"realm_access": wrong}));
        let answer = bench.envoy("/open", &[("authorization", &format!("Bearer {token}"))]);
        assert_eq!((answer.status, answer.header("x-policy-decision")), (403, Some("undecided")), "{wrong}");
        assert_eq!(bench.status("/open", &token), 403);
    }
    assert_eq!(bench.status("/open", &bench.sign(&json!({"realm_access": {"roles": ["banned"]}}))), 403);
}

#[test]
fn two_who_are_named_are_undecided() {
    let bench = Bench::new(behind_proxy(&[]), |_| {});
    let bearer = format!("Bearer {}", bench.sign(&json!({"realm_access": {"roles": ["staff"]}})));
    let token = ("authorization", bearer.as_str());
    let answer = bench.envoy("/open", &[token, ADMIN]);
    assert_eq!((answer.status, answer.header("x-policy-decision")), (403, Some("undecided")), "{}", answer.text);
    assert_eq!(bench.status_with("/open", &[token, ADMIN]), 403);
    assert_eq!(bench.status_with("/open", &[token, ("x-identity", "{")]), 403, "nobody knows whom that names");
    // Who says nothing names nobody.
    assert_eq!(bench.status_with("/open", &[token, ("x-identity", "null")]), 403, "that is no identity");
    for nobody in ["", "{}"] {
        assert_eq!(bench.status_with("/open", &[token, ("x-identity", nobody)]), 200, "{nobody}");
    }
    assert_eq!(bench.status_with("/admin/x", &[ADMIN]), 200, "without a token the header counts as before");
    let forged = ("authorization", "Bearer a.b.c");
    assert_eq!(bench.status_with("/admin/x", &[forged, ADMIN]), 401);
}

#[test]
fn the_header_of_an_untrusted_peer_is_ignored_beside_a_token() {
    let bench = Bench::usual();
    let bearer = format!("Bearer {}", bench.sign(&json!({"realm_access": {"roles": ["staff"]}})));
    let headers = [("authorization", bearer.as_str()), ADMIN];
    let answer = bench.envoy("/open", &headers);
    assert_eq!((answer.status, answer.header("x-policy-identity")), (200, Some("ignored")));
    assert!(answer.header("x-envoy-auth-headers-to-remove").unwrap().contains("x-identity"));
    assert_eq!(bench.status_with("/admin/x", &headers), 403, "the token counts, not the header");
}

#[test]
fn a_proxy_with_a_token_of_its_own_passes_the_users_in_another_header() {
    let folder = tempfile::tempdir().unwrap();
    let config =
        |file| Config { security: Security { tokens: Some(file), ..Security::default() }, ..Config::default() };
    let file = tokens(&folder, &["asker", "admin"]);
    let bench = Bench::new(config(file), |jwt| "X-Forwarded-Authorization".clone_into(&mut jwt.header));
    let (proxy, user) = (format!("Bearer {}", own("asker")), bench.sign(&json!({})));
    let bearer = format!("Bearer {user}");
    let asked = |headers: &[(&str, &str)]| bench.envoy("/admin/x", headers).status;
    let proxy = ("authorization", proxy.as_str());
    assert_eq!(asked(&[proxy, ("x-forwarded-authorization", &bearer)]), 200);
    assert_eq!(asked(&[proxy, ("x-forwarded-authorization", &user)]), 200, "the token alone");
    assert_eq!(asked(&[proxy, ("x-forwarded-authorization", "")]), 403);
    assert_eq!(asked(&[proxy, ("x-forwarded-authorization", "Bearer a.b.c")]), 401);
    assert_eq!(asked(&[proxy]), 403, "the user is anonymous");
    // A token of an end user lets nobody ask.
    let refused = bench.envoy("/admin/x", &[("x-forwarded-authorization", &bearer)]);
    assert_eq!((refused.status, refused.header("x-policy-decision")), (401, None), "{}", refused.text);
    assert_eq!(bench.served.ask("GET", "/v1/revisions", &[("authorization", &bearer)], "").status, 401);
    // What the proxy calls its own is no token of an end user, where both use one header.
    let shared = Bench::new(config(tokens(&folder, &["asker", "admin"])), |_| {});
    assert_eq!(shared.envoy("/open", &[proxy]).status, 200);
}

#[test]
fn several_issuers_audiences_and_headers_have_their_own_claims() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (Issuer::new("k1"), Issuer::new("k1"));
    let keys = |name: &str, issuer: &Issuer| {
        let path = folder.path().join(name);
        fs::write(&path, issuer.set()).unwrap();
        KeysLocation::File(path)
    };
    let mut partners = EndUserJwt::new("https://partners.example", keys("two.json", &two), "shop");
    partners.header = "x-partner-token".to_owned();
    let mut office = keycloak(keys("one.json", &one));
    office.issuer.audiences = vec!["office".to_owned()];
    office.claims.roles = vec![path("office_roles")];
    let served = served(Config::default(), vec![keycloak(keys("one.json", &one)), office, partners]);
    // What Envoy has verified is read by the claims of its audience.
    let payload = |aud: Json| json!({"iss": ISSUER, "aud": aud, "sub": "ann", "office_roles": "admin"});
    let checker = Checker::new(served.base());
    let checked = |aud: Json| checker.check_of("127.0.0.1", "/admin/x", &[], &[("user", payload(aud))]).is_open;
    assert!(checked(json!("office")) && checked(json!(["x", "office"])));
    assert!(!checked(json!("shop")) && !checked(json!("other")));
    let asked = |headers: &[(&str, &str)]| {
        let answer = served.ask("GET", "/forward-auth/admin/x", headers, "");
        (answer.status, answer.header("x-policy-decision").unwrap().to_owned())
    };
    let status = |headers: &[(&str, &str)]| asked(headers).0;
    let bearer = |token: String| format!("Bearer {token}");
    let shop = bearer(one.sign(&of_shop(&json!({}))));
    let office = bearer(one.sign(&of_shop(&json!({"aud": "office", "office_roles": "admin", "realm_access": null}))));
    let partner = two.sign(&of_shop(&json!({"iss": "https://partners.example", "roles": ["admin"]})));
    assert_eq!(status(&[("authorization", &shop)]), 200);
    assert_eq!(status(&[("authorization", &office)]), 200);
    assert_eq!(status(&[("x-partner-token", &partner)]), 200);
    // The keys of one issuer do not sign for another, and tokens count in their own header only.
    let crossed = bearer(two.sign(&of_shop(&json!({}))));
    assert_eq!(status(&[("authorization", &crossed)]), 401);
    assert_eq!(status(&[("authorization", &bearer(partner.clone()))]), 401);
    assert_eq!(asked(&[("authorization", &shop), ("x-partner-token", &partner)]), (403, "undecided".to_owned()));
}

#[test]
fn keys_change_without_a_restart() {
    let (old, new) = (Issuer::new("old"), Issuer::new("new"));
    let keys = Arc::new(Mutex::new(old.set()));
    let (url, count) = keys_at(Arc::clone(&keys));
    let mut jwt = keycloak(KeysLocation::Url { url, authority: None });
    jwt.issuer.refresh_at_most = Duration::from_hours(1);
    let served = served(Config::default(), vec![jwt]);
    let status = |issuer: &Issuer| {
        let bearer = format!("Bearer {}", issuer.sign(&of_shop(&json!({}))));
        served.ask("GET", "/forward-auth/admin/x", &[("authorization", &bearer)], "").status
    };
    assert_eq!((status(&old), count.load(Ordering::SeqCst)), (200, 1));
    *keys.lock().unwrap() = new.set();
    assert_eq!((status(&new), count.load(Ordering::SeqCst)), (200, 2));
    assert_eq!(status(&old), 401, "the issuer took it back");
    for _ in 0..20 {
        assert_eq!(status(&Issuer::new("junk")), 401);
    }
    assert_eq!(count.load(Ordering::SeqCst), 2, "not every name is worth a look");
    // A key that is taken back and read on a reload counts no more, also for tokens that are remembered.
    assert_eq!(status(&new), 200);
    *keys.lock().unwrap() = Issuer::new("later").set();
    served.reload();
    assert_eq!(status(&new), 401);
}

#[test]
fn without_keys_nothing_is_decided_until_they_can_be_had() {
    let issuer = Issuer::new("k1");
    let keys = Arc::new(Mutex::new("nonsense".to_owned()));
    let (url, _) = keys_at(Arc::clone(&keys));
    let mut jwt = keycloak(KeysLocation::Url { url, authority: None });
    jwt.issuer.refresh_at_most = Duration::ZERO;
    let served = served(Config::default(), vec![jwt]);
    let asked = |path: &str, token: &str| {
        let answer = served.ask("GET", path, &[("authorization", &format!("Bearer {token}"))], "");
        (answer.status, answer.header("x-policy-decision").unwrap().to_owned(), answer.text)
    };
    let good = issuer.sign(&of_shop(&json!({})));
    let (status, word, text) = asked("/forward-auth/open", &good);
    assert_eq!((status, word.as_str()), (403, "undecided"), "{text}");
    assert!(served.get("/forward-auth/open").status == 200, "whoever brings no token needs no keys");
    *keys.lock().unwrap() = issuer.set();
    assert_eq!(asked("/forward-auth/admin/x", &good).0, 200);
    // Keys that were had once stay; whether an unknown one counts by now cannot be known.
    *keys.lock().unwrap() = "nonsense".to_owned();
    let (status, word, _) = asked("/forward-auth/open", &Issuer::new("next").sign(&of_shop(&json!({}))));
    assert_eq!((status, word.as_str()), (403, "undecided"));
    assert_eq!(asked("/forward-auth/admin/x", &good).0, 200);
}

#[test]
fn what_envoy_has_verified_is_read_by_the_same_claims() {
    let bench = Bench::new(behind_proxy(&[]), |_| {});
    let payload = |changes: &Json| of_shop(changes);
    let with = |headers: &[(&str, &str)], payloads: &[(&str, Json)]| {
        let checked = bench.checker.check_of("127.0.0.1", "/admin/x", headers, payloads);
        checked.denied.map_or(200, |(status, _)| status)
    };
    assert_eq!(with(&[], &[("user", payload(&json!({})))]), 200, "realm_access.roles");
    assert_eq!(with(&[], &[("user", payload(&json!({"realm_access": "admin", "roles": ["admin"]})))]), 403);
    // Of another issuer they are read as before: `roles`.
    let other = json!({"iss": "https://other.example"});
    assert_eq!(with(&[], &[("user", payload(&other))]), 403);
    let other = json!({"iss": "https://other.example", "roles": ["admin"]});
    assert_eq!(with(&[], &[("user", payload(&other))]), 200);
    // A token that is verified here counts before that, and one that is not accepted here is refused.
    let staff = format!("Bearer {}", bench.sign(&json!({"realm_access": {"roles": ["staff"]}})));
    assert_eq!(with(&[("authorization", &staff)], &[("user", payload(&json!({})))]), 403);
    assert_eq!(with(&[("authorization", "Bearer a.b.c")], &[("user", payload(&json!({})))]), 401);
}

#[test]
fn policies_do_not_see_the_header_of_the_token() {
    let bench = Bench::usual();
    let policy = r#"{"put": [{"id": "curious", "effect": "permit", "subjects": [], "resources": [{"path": "/curious"}],
        "actions": [],
        "conditions": [{"type": "custom", "expression": "resource.headers.authorization.startsWith('Bearer')"}]}]}"#;
    let admin = format!("Bearer {}", bench.served.running().bootstrap_token().unwrap());
    let headers = [("authorization", admin.as_str()), ("content-type", "application/json")];
    let written = bench.served.ask("POST", "/v1/revisions", &headers, policy);
    assert_eq!(written.status, 201, "{}", written.text);
    assert_eq!(bench.status("/curious", &bench.sign(&json!({}))), 403);
}

#[test]
fn no_token_is_in_the_log_of_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.jsonl");
    let mut config = behind_proxy(&["headers=all"]);
    config.operations.decision_log = Some(DecisionLog::new(DecisionLogTo::File(path.clone())));
    let bench = Bench::new(config, |_| {});
    let good = bench.sign(&json!({"org": {"dept": "sales"}, "email": "ann@example.org"}));
    let forged = Issuer::new("k1").sign(&of_shop(&json!({})));
    assert_eq!((bench.status("/admin/x", &good), bench.status("/admin/x", &forged)), (200, 401));
    let Bench { folder: _keys, served, .. } = bench;
    drop(served);
    let log = fs::read_to_string(&path).unwrap();
    let lines: Vec<Json> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 6, "{log}");
    assert_eq!(lines[0]["request"]["subject"]["id"], "ann");
    assert_eq!(lines[0]["request"]["subject"]["claims"], json!({"department": "sales"}));
    assert!(lines[3]["reason"].as_str().unwrap().contains("signature"), "{log}");
    for token in [good, forged] {
        assert!(token.split('.').all(|part| !log.contains(part)), "{log}");
    }
    assert!(!log.contains("example.org"), "only claims that are named are kept");
}

#[test]
fn settings_that_would_open_a_door_are_refused_at_the_start() {
    let started = |change: fn(&mut EndUserJwt)| {
        let mut jwt = EndUserJwt::new(ISSUER, KeysLocation::File("nothing.json".into()), "shop");
        change(&mut jwt);
        let security = Security { enforcement: Enforcement { jwt: vec![jwt] }, ..Security::default() };
        crate::auth::refusal(Config { security, ..Config::default() })
    };
    assert!(started(|_| {}).contains("nothing.json"));
    assert!(started(|jwt| jwt.issuer.issuers.clear()).contains("`issuers`"));
    assert!(started(|jwt| jwt.issuer.audiences.clear()).contains("audience"));
    assert!(started(|jwt| "X-Identity".clone_into(&mut jwt.header)).contains("identity header"));
    assert!(started(|jwt| "a header".clone_into(&mut jwt.header)).contains("name of a header"));
    let plain = started(|jwt| {
        jwt.issuer.keys = KeysLocation::Url { url: "http://issuer.example/keys".to_owned(), authority: None };
    });
    assert!(plain.contains("https"), "{plain}");
}
