//! Tokens that somebody else issues.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, get_current_timestamp};
use rcgen::KeyPair;
use serde_json::{Value as Json, json};
use upheld_server::Config;
use upheld_server::config::{Jwt, KeysLocation, Security};

use super::{asked, refusal};
use crate::support::Served;

/// Somebody who issues tokens.
pub(crate) struct Issuer {
    kid: &'static str,
    key: KeyPair,
}

impl Issuer {
    pub(crate) fn new(kid: &'static str) -> Self {
        Self { kid, key: KeyPair::generate().unwrap() }
    }

    pub(crate) fn public(&self) -> Json {
        let point = self.key.public_key_raw();
        let (x, y) = point[1..].split_at(32);
        let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
        json!({"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.kid, "x": x, "y": y})
    }

    pub(crate) fn set(&self) -> String {
        // Keys that cannot verify are beside the one that can.
        let odd = json!({"kty": "oct", "k": "c2VjcmV0", "kid": "shared", "alg": "HS256"});
        json!({"keys": [odd, {"kty": "unheard-of"}, self.public()]}).to_string()
    }

    pub(crate) fn sign(&self, claims: &Json) -> String {
        let header = Header { kid: Some(self.kid.to_owned()), ..Header::new(Algorithm::ES256) };
        self.sign_with(&header, claims)
    }

    /// With a head of its own.
    pub(crate) fn sign_with(&self, header: &Header, claims: &Json) -> String {
        let key = EncodingKey::from_ec_pem(self.key.serialize_pem().as_bytes()).unwrap();
        encode(header, claims, &key).unwrap()
    }

    /// Head and payload as they are, with a good signature.
    pub(crate) fn sign_texts(&self, head: &str, payload: &str) -> String {
        let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(head), URL_SAFE_NO_PAD.encode(payload));
        let key = EncodingKey::from_ec_pem(self.key.serialize_pem().as_bytes()).unwrap();
        let signature = jsonwebtoken::crypto::sign(message.as_bytes(), &key, Algorithm::ES256).unwrap();
        format!("{message}.{signature}")
    }

    pub(crate) fn public_pem(&self) -> String {
        self.key.public_key_pem()
    }
}

pub(crate) fn claims(changes: &Json) -> Json {
    let now = get_current_timestamp();
    let mut claims = json!({
        "sub": "ann", "aud": "upheld", "iss": "https://issuer.example", "exp": now + 600, "nbf": now - 10,
        "realm": {"roles": ["viewer"]},
    });
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value.clone();
        }
    }
    claims
}

pub(crate) fn served(keys: KeysLocation) -> Served {
    let jwt = Jwt {
        issuers: vec!["https://issuer.example".to_owned()],
        roles: "realm.roles".to_owned(),
        refresh_at_most: Duration::from_hours(1),
        ..Jwt::new(keys, "upheld")
    };
    Served::guarded(Config { security: Security { jwt: Some(jwt), ..Security::default() }, ..Config::default() })
}

#[test]
fn only_good_tokens_of_the_issuer_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.json");
    let (issuer, stranger) = (Issuer::new("k1"), Issuer::new("k1"));
    fs::write(&path, issuer.set()).unwrap();
    let served = served(KeysLocation::File(path));
    assert_eq!(served.running().bootstrap_token(), None);
    let status = |token: &str| asked(&served, "GET", "/v1/revisions", token, "").status;
    let good = issuer.sign(&claims(&json!({})));
    // The second time it is remembered.
    assert_eq!((status(&good), status(&good)), (200, 200));
    assert_eq!(asked(&served, "PUT", "/v1/documents/AccessPolicy/access/a", &good, "{}").status, 403);
    let now = get_current_timestamp();
    let bad = [
        json!({"aud": "somebody-else"}),
        json!({"aud": null}),
        json!({"iss": "https://other.example"}),
        json!({"iss": null}),
        json!({"exp": now - 3600}),
        json!({"exp": null}),
        json!({"nbf": now + 3600}),
        json!({"sub": null}),
        json!({"sub": ""}),
    ];
    for changes in bad {
        assert_eq!(status(&issuer.sign(&claims(&changes))), 401, "{changes}");
    }
    assert_eq!(status(&issuer.sign(&claims(&json!({"exp": now - 5})))), 200, "clocks differ a little");
    assert_eq!(status(&issuer.sign(&claims(&json!({"aud": ["x", "upheld"]})))), 200);
    assert_eq!(status(&issuer.sign(&claims(&json!({"realm": null})))), 403, "no roles");
    // Roles that cannot be read are not none: rights may deny something to one of them.
    for odd in
        [json!("viewer"), json!({"roles": 7}), json!({"roles": ["viewer", 7]}), json!({"roles": {"viewer": true}})]
    {
        assert_eq!(status(&issuer.sign(&claims(&json!({"realm": odd})))), 401, "{odd}");
    }
    assert_eq!(status(&stranger.sign(&claims(&json!({})))), 401, "another key under the same name");
    // Whoever names extensions that must be understood is not understood, whatever they are.
    for critical in [vec![], vec!["b64".to_owned()], vec!["exp".to_owned()]] {
        let crit = Some(critical.clone());
        let header = Header { kid: Some("k1".to_owned()), crit, ..Header::new(Algorithm::ES256) };
        assert_eq!(status(&issuer.sign_with(&header, &claims(&json!({})))), 401, "{critical:?}");
    }
    // Fields that are there twice are read in two ways.
    let payload = claims(&json!({})).to_string();
    let head = r#"{"alg": "ES256", "kid": "k1"}"#;
    assert_eq!(status(&issuer.sign_texts(head, &payload)), 200);
    let twice = payload.replacen('{', r#"{"realm": {"roles": ["admin"]}, "#, 1);
    assert_eq!(status(&issuer.sign_texts(head, &twice)), 401, "{twice}");
    assert_eq!(status(&issuer.sign_texts(r#"{"alg": "ES256", "kid": "k1", "typ": "a", "typ": "b"}"#, &payload)), 401);
    let mut cut = good;
    cut.truncate(cut.len() - 4);
    assert_eq!(status(&cut), 401, "cut off");
}

#[test]
fn algorithms_that_everybody_can_sign_with_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.json");
    let issuer = Issuer::new("k1");
    fs::write(&path, issuer.set()).unwrap();
    let served = served(KeysLocation::File(path));
    let body = URL_SAFE_NO_PAD.encode(claims(&json!({})).to_string());
    let unsigned = format!("{}.{body}.", URL_SAFE_NO_PAD.encode(r#"{"alg":"none","kid":"k1"}"#));
    let header = |kid: &str| Header { kid: Some(kid.to_owned()), ..Header::new(Algorithm::HS256) };
    let public = issuer.public_pem();
    let confused = encode(&header("k1"), &claims(&json!({})), &EncodingKey::from_secret(public.as_bytes())).unwrap();
    let shared = encode(&header("shared"), &claims(&json!({})), &EncodingKey::from_secret(b"secret")).unwrap();
    for token in [unsigned, confused, shared] {
        assert_eq!(asked(&served, "GET", "/v1/revisions", &token, "").status, 401, "{token}");
    }
}

/// A server that hands out keys, and counts how often.
pub(crate) fn keys_at(keys: Arc<Mutex<String>>) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/keys", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    // Ends with the process.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 4096];
            let asked = stream.read(&mut head).is_ok_and(|length| length > 0);
            assert!(asked);
            counted.fetch_add(1, Ordering::SeqCst);
            let body = keys.lock().unwrap().clone();
            let length = body.len();
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).ok();
        }
    });
    (url, count)
}

#[test]
fn a_new_key_is_fetched_when_a_token_names_it_but_not_for_every_name() {
    let (old, new) = (Issuer::new("old"), Issuer::new("new"));
    let keys = Arc::new(Mutex::new(old.set()));
    let (url, count) = keys_at(Arc::clone(&keys));
    let served = served(KeysLocation::Url { url, authority: None });
    let status = |issuer: &Issuer| asked(&served, "GET", "/v1/revisions", &issuer.sign(&claims(&json!({}))), "").status;
    assert_eq!((status(&old), count.load(Ordering::SeqCst)), (200, 1));
    *keys.lock().unwrap() = new.set();
    assert_eq!((status(&new), count.load(Ordering::SeqCst)), (200, 2));
    assert_eq!(status(&old), 401, "the issuer took it back");
    for _ in 0..20 {
        assert_eq!(status(&Issuer::new("junk")), 401);
    }
    assert_eq!(count.load(Ordering::SeqCst), 2);
    *keys.lock().unwrap() = "nonsense".to_owned();
    served.reload();
    assert_eq!((status(&new), count.load(Ordering::SeqCst)), (200, 3), "the last keys stay");
}

#[test]
fn settings_that_would_open_a_door_are_refused() {
    let started = |jwt: Jwt| {
        refusal(Config { security: Security { jwt: Some(jwt), ..Security::default() }, ..Config::default() })
    };
    let at = |url: &str| KeysLocation::Url { url: url.to_owned(), authority: None };
    assert!(
        started(Jwt { audiences: Vec::new(), ..Jwt::new(at("https://issuer.example/keys"), "x") }).contains("audience")
    );
    for url in ["http://issuer.example/keys", "ftp://issuer.example/keys", "nonsense"] {
        assert!(started(Jwt::new(at(url), "x")).contains("https"), "{url}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.json");
    assert!(started(Jwt::new(KeysLocation::File(path.clone()), "x")).contains("keys.json"));
    fs::write(&path, r#"{"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "shared", "alg": "HS256"}]}"#).unwrap();
    let said = started(Jwt::new(KeysLocation::File(path), "x"));
    assert!(said.contains("no key that can verify") && !said.contains("c2VjcmV0"), "{said}");
}

/// Issuers choose names, and their users sometimes, too: none of them is two lines anywhere.
#[test]
fn s19_a_name_with_an_end_of_a_line_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.json");
    let issuer = Issuer::new("k1");
    fs::write(&path, issuer.set()).unwrap();
    let served = served(KeysLocation::File(path));
    let changes = json!({"sub": "ann\n2026-01-01 INFO token:root did it", "realm": {"roles": ["author"]}});
    let token = issuer.sign(&claims(&changes));
    let policy = r#"{"id": "a", "effect": "permit", "subjects": [], "resources": [], "actions": []}"#;
    let written = asked(&served, "PUT", "/v1/documents/AccessPolicy/access/a", &token, policy);
    assert_eq!(written.status, 201, "{}", written.text);
    let entry = asked(&served, "GET", "/v1/revisions/1", &token, "").json();
    assert_eq!(entry["actor"], "jwt:ann\\n2026-01-01 INFO token:root did it");
}

/// Follows events with a token; the stream once it began.
fn following(served: &Served, token: &str) -> std::net::TcpStream {
    let mut stream = served.connect();
    let head = format!("GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut first = [0; 15];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    stream
}

#[test]
fn s17_streams_end_when_their_token_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.json");
    let issuer = Issuer::new("k1");
    fs::write(&path, issuer.set()).unwrap();
    let jwt =
        Jwt { leeway: Duration::ZERO, roles: "realm.roles".to_owned(), ..Jwt::new(KeysLocation::File(path), "upheld") };
    let security = Security { jwt: Some(jwt), ..Security::default() };
    let served = Served::guarded(Config { security, ..Config::default() });
    let mut short = following(&served, &issuer.sign(&claims(&json!({"exp": get_current_timestamp() + 2}))));
    let long = following(&served, &issuer.sign(&claims(&json!({}))));
    // It would wait for the next event otherwise, until the client gives up.
    let mut rest = String::new();
    short.read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "{rest}");
    long.set_nonblocking(true).unwrap();
    let mut piece = [0; 4096];
    let left = std::iter::from_fn(|| (&long).read(&mut piece).ok()).find(|count| *count == 0);
    assert_eq!(left, None, "the other one goes on");
}

#[test]
fn s17_streams_end_when_the_issuer_takes_its_key_back() {
    let (old, new) = (Issuer::new("old"), Issuer::new("new"));
    let keys = Arc::new(Mutex::new(old.set()));
    let (url, _) = keys_at(Arc::clone(&keys));
    let served = served(KeysLocation::Url { url, authority: None });
    let mut stream = following(&served, &old.sign(&claims(&json!({}))));
    *keys.lock().unwrap() = new.set();
    // A token of the new key makes the server look.
    assert_eq!(asked(&served, "GET", "/v1/revisions", &new.sign(&claims(&json!({}))), "").status, 200);
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "{rest}");
}
