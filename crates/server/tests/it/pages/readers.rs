//! Who looks: nobody sees more on a page than programs get in their name.

use std::fs;
use std::io::{Read, Write};
use std::sync::Arc;

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use upheld_server::Config;
use upheld_server::config::{Anonymous, GivenSecret, KeysLocation, Security, StoreLocation};
use upheld_store::{Memory, Store};

use super::html::page;
use super::{PAGES, browse};
use crate::auth::issuer::{self, Issuer};
use crate::support::{Answer, Served, eventually};

pub(super) const TOKEN: &str = "upheld_known-0123456789abcdef0123456789abcdef";
pub(super) const HTML: (&str, &str) = ("accept", "text/html");

pub(super) fn with_tokens(folder: &TempDir, anonymous: Option<Anonymous>) -> Served {
    let path = folder.path().join("tokens.yaml");
    let hash = Sha256::digest(TOKEN.as_bytes());
    fs::write(&path, format!("tokens: [{{name: known, roles: [admin], sha256: '{hash:x}'}}]")).unwrap();
    let security = Security { tokens: Some(path), anonymous, ..Security::default() };
    Served::guarded(Config { security, ..Config::default() })
}

/// A form, as a browser sends it from a page of a host.
fn send(served: &Served, path: &str, origin: &str, body: &str) -> Answer {
    let kind = ("content-type", "application/x-www-form-urlencoded");
    served.ask("POST", path, &[HTML, kind, ("origin", origin)], body)
}

fn cookie(answer: &Answer) -> String {
    answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}

/// What all of them ask, and what only some have.
fn addresses() -> impl Iterator<Item = &'static str> {
    let others = [
        "/compliance",
        "/access?action=GET",
        "/explain?what=a~b",
        "/policy/AccessPolicy/access/a",
        "/object/Dataplane/default/a",
        "/find?name=a",
        "/connections?kind=TrafficLog",
        "/gateway/map.svg",
        "/history?from=0&to=1",
    ];
    PAGES.into_iter().chain(others)
}

#[test]
fn strangers_see_no_page_but_the_one_to_sign_in() {
    let folder = tempfile::tempdir().unwrap();
    let served = with_tokens(&folder, None);
    for path in addresses() {
        let answer = browse(&served, path);
        assert_eq!(answer.status, 401, "{path}: {}", answer.text);
        if !path.contains("map.svg") {
            let root = page(&answer.text);
            assert!(root.text().contains("--anonymous none"), "{path}");
            assert!(root.named("a").iter().any(|link| link.get("href").unwrap().starts_with("/sign-in")), "{path}");
        }
        let rebound = served.ask("GET", path, &[HTML, ("host", "evil.example")], "");
        assert!([401, 421].contains(&rebound.status), "{path}: {}", rebound.status);
    }
    assert_eq!(browse(&served, "/sign-in").status, 200);
    assert_eq!(served.ask("GET", "/pages/events", &[], "").status, 401);
}

#[test]
fn pages_are_not_shown_under_names_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let served = with_tokens(&folder, Some(Anonymous::Read));
    for path in addresses() {
        let answer = served.ask("GET", path, &[HTML, ("host", "evil.example")], "");
        assert_eq!(answer.status, 421, "{path}");
        let answer = served.ask("GET", path, &[HTML, ("origin", "http://evil.example")], "");
        assert_eq!(answer.status, 403, "{path}");
    }
}

#[test]
fn signing_in_begins_a_session_in_a_cookie_that_only_pages_take() {
    let folder = tempfile::tempdir().unwrap();
    let served = with_tokens(&folder, None);
    let here = served.base().to_owned();
    let wrong = send(&served, "/sign-in", &here, "token=upheld_wrong&next=%2Fpolicies");
    assert_eq!(wrong.status, 401, "{}", wrong.text);
    assert!(page(&wrong.text).text().contains("the token is not known here"));
    assert_eq!(
        page(&wrong.text).with("name", "next")[0].get("value"),
        Some("/policies"),
        "the way goes on after a typo"
    );
    let agent_follows_nothing = send_plain(&served, "/sign-in", &here, &format!("token={TOKEN}&next=%2Fpolicies"));
    assert_eq!(agent_follows_nothing.status, 303);
    assert_eq!(agent_follows_nothing.header("location"), Some("/policies"));
    let set = agent_follows_nothing.header("set-cookie").unwrap();
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict") && set.contains("Path=/"), "{set}");
    let own = cookie(&agent_follows_nothing);
    let known = served.ask("GET", "/policies", &[HTML, ("cookie", &own)], "");
    assert_eq!(known.status, 200, "{}", known.text);
    assert!(page(&known.text).text().contains("Sign out"));
    // Endpoints do not look at it: no page of others can use it there.
    assert_eq!(served.ask("GET", "/v1/policies", &[("cookie", &own)], "").status, 401);
    let out = send_plain(&served, "/sign-out", &here, "");
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
}

/// S11: the cookie held the raw token.
#[test]
fn s11_a_session_has_no_token_in_it_and_ends_with_its_token() {
    let folder = tempfile::tempdir().unwrap();
    let served = with_tokens(&folder, None);
    let answer = send_plain(&served, "/sign-in", served.base(), &format!("token={TOKEN}"));
    let set = answer.header("set-cookie").unwrap();
    assert!(set.starts_with("upheld-session=") && set.contains("; Max-Age=1800"), "{set}");
    assert!(!set.contains("upheld_") && !set.contains("0123456789abcdef"), "{set}");
    let own = cookie(&answer);
    let page = |cookie: &str| served.ask("GET", "/policies", &[HTML, ("cookie", cookie)], "").status;
    assert_eq!(page(&own), 200);
    // The cookie is no token, and a token is no cookie.
    let session = own.split_once('=').unwrap().1.to_owned();
    let bearer = format!("Bearer {session}");
    assert_eq!(served.ask("GET", "/v1/policies", &[("authorization", &bearer)], "").status, 401);
    for other in [format!("upheld-session={TOKEN}"), format!("upheld-token={TOKEN}"), format!("{own}AA")] {
        assert_eq!(page(&other), 401, "{other}");
    }
    // What the file of tokens does not have any more ends at once.
    fs::write(folder.path().join("tokens.yaml"), "tokens: []").unwrap();
    served.reload();
    assert_eq!(page(&own), 401);
}

/// S11: a copy of a cookie is of no use once its owner signed out: not on this server, not on another one of the same store, and not for a stream
/// that is open.
#[test]
fn s11_signing_out_ends_a_session_wherever_its_cookie_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.yaml");
    let hash = Sha256::digest(TOKEN.as_bytes());
    fs::write(&path, format!("tokens: [{{name: known, roles: [admin], sha256: '{hash:x}'}}]")).unwrap();
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let start = || {
        let session_key = Some(GivenSecret::Text("0123456789abcdef0123456789abcdef".to_owned()));
        let security = Security { tokens: Some(path.clone()), session_key, ..Security::default() };
        Served::guarded(Config { security, store: StoreLocation::Given(Arc::clone(&store)), ..Config::default() })
    };
    let (one, other) = (start(), start());
    let signed_in = || cookie(&send_plain(&one, "/sign-in", one.base(), &format!("token={TOKEN}")));
    let page = |served: &Served, own: &str| served.ask("GET", "/policies", &[HTML, ("cookie", own)], "").status;
    let (own, another) = (signed_in(), signed_in());
    assert_eq!((page(&one, &own), page(&one, &another)), (200, 200));
    let mut stream = one.connect();
    let request = format!(
        "GET /pages/events HTTP/1.1\r\nhost: {}\r\ncookie: {own}\r\nconnection: close\r\n\r\n",
        one.base().strip_prefix("http://").unwrap()
    );
    stream.write_all(request.as_bytes()).unwrap();
    eventually(|| {
        one.ask("GET", "/metrics", &[("authorization", &format!("Bearer {TOKEN}"))], "")
            .text
            .contains("upheld_event_streams 1")
    });
    let signed_out = send_signed_in(&one, "/sign-out", one.base(), &own, "");
    assert!(signed_out.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!((page(&one, &own), page(&one, &another)), (401, 200), "it, and no other one");
    assert_eq!((page(&other, &own), page(&other, &another)), (401, 200), "another server knows");
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.starts_with("HTTP/1.1 200"), "{rest}");
    // Signing in anew ends the session before.
    send_signed_in(&one, "/sign-in", one.base(), &another, &format!("token={TOKEN}"));
    assert_eq!(page(&one, &another), 401);
}

/// S11: tokens of an issuer are held against its keys at each request, too.
#[test]
fn s11_a_session_of_a_token_of_an_issuer_ends_with_the_keys_of_that_issuer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.json");
    let issuer = Issuer::new("k1");
    fs::write(&path, issuer.set()).unwrap();
    let served = issuer::served(KeysLocation::File(path.clone()));
    let sign_in = |claims: &Json| {
        let token = issuer.sign(&issuer::claims(claims));
        send_plain(&served, "/sign-in", served.base(), &format!("token={token}"))
    };
    let answer = sign_in(&json!({}));
    let own = cookie(&answer);
    let page = || served.ask("GET", "/policies", &[HTML, ("cookie", &own)], "").status;
    assert_eq!((answer.status, page()), (303, 200));
    let long = sign_in(&json!({"groups": vec!["x".repeat(100); 40]}));
    assert_eq!((long.status, long.header("set-cookie")), (400, None));
    assert!(super::html::page(&long.text).text().contains("too long"), "{}", long.text);
    fs::write(&path, Issuer::new("k2").set()).unwrap();
    served.reload();
    assert_eq!(page(), 401);
}

/// S11: whoever encrypts keeps other hosts and plain pages from setting the cookie.
#[test]
fn s11_the_cookie_of_an_encrypted_server_belongs_to_its_host() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.yaml");
    let hash = Sha256::digest(TOKEN.as_bytes());
    fs::write(&path, format!("tokens: [{{name: known, roles: [admin], sha256: '{hash:x}'}}]")).unwrap();
    let security = Security { tokens: Some(path), ..Security::default() };
    let public_url = Some("https://policies.example".to_owned());
    let served = Served::guarded(Config { security, public_url, ..Config::default() });
    let answer = send_plain(&served, "/sign-in", "https://policies.example", &format!("token={TOKEN}"));
    let set = answer.header("set-cookie").unwrap();
    assert!(set.starts_with("__Host-upheld-session="), "{set}");
    assert!(set.ends_with("; Secure") && set.contains("; Path=/;") && !set.contains("Domain"), "{set}");
    let (host, own) = (("host", "policies.example"), cookie(&answer));
    assert_eq!(served.ask("GET", "/policies", &[HTML, host, ("cookie", &own)], "").status, 200);
    let plain = own.strip_prefix("__Host-").unwrap();
    assert_eq!(served.ask("GET", "/policies", &[HTML, host, ("cookie", plain)], "").status, 401);
}

/// S4: servers with the same key share sessions, and others do not.
#[test]
fn s4_a_session_holds_on_every_server_with_the_same_key() {
    let folder = tempfile::tempdir().unwrap();
    let start = |key: Option<GivenSecret>, token: Option<GivenSecret>| {
        let path = folder.path().join("tokens.yaml");
        let hash = Sha256::digest(TOKEN.as_bytes());
        fs::write(&path, format!("tokens: [{{name: known, roles: [admin], sha256: '{hash:x}'}}]")).unwrap();
        let (tokens, session_key) = (Some(path), key);
        let security = Security { tokens, session_key, bootstrap_token: token, ..Security::default() };
        Served::guarded(Config { security, ..Config::default() })
    };
    let text = |text: &str| Some(GivenSecret::Text(text.to_owned()));
    let key = || text("0123456789abcdef0123456789abcdef");
    let token = || text("upheld_bootstrap-0123456789abcdef0123456789");
    let holds = |one: &Served, other: &Served| {
        let own = cookie(&send_plain(one, "/sign-in", one.base(), &format!("token={TOKEN}")));
        other.ask("GET", "/policies", &[HTML, ("cookie", &own)], "").status == 200
    };
    assert!(holds(&start(key(), None), &start(key(), token())));
    assert!(holds(&start(None, token()), &start(None, token())));
    assert!(!holds(&start(None, None), &start(None, None)), "keys that nobody gave");
    assert!(!holds(&start(key(), None), &start(None, token())));
    // The token that is given counts beside those of the file.
    let served = start(None, token());
    let given = [("authorization", "Bearer upheld_bootstrap-0123456789abcdef0123456789")];
    let known = format!("Bearer {TOKEN}");
    for _ in 0..2 {
        assert_eq!(served.ask("GET", "/metrics", &given, "").status, 200);
        assert_eq!(served.ask("GET", "/metrics", &[("authorization", &known)], "").status, 200);
        served.reload();
    }
}

#[test]
fn forms_of_other_pages_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let served = with_tokens(&folder, None);
    let body = format!("token={TOKEN}");
    for origin in ["http://evil.example", "null", "http://localhost:1", ""] {
        for path in ["/sign-in", "/sign-out"] {
            let answer = send_plain(&served, path, origin, &body);
            assert_eq!((answer.status, answer.header("set-cookie")), (403, None), "{path} {origin}");
        }
    }
    let here = served.base().to_owned();
    let cross = [
        HTML,
        ("origin", here.as_str()),
        ("sec-fetch-site", "cross-site"),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    assert_eq!(served.ask("POST", "/sign-in", &cross, &body).status, 403);
    let elsewhere = send_plain(&served, "/sign-in", &here, &format!("{body}&next=https%3A%2F%2Fevil.example"));
    assert_eq!(elsewhere.header("location"), Some("/"));
    let injected = send_plain(&served, "/sign-in", &here, "token=a%3B%20Domain%3Devil.example");
    assert_eq!((injected.status, injected.header("set-cookie")), (401, None));
}

/// As [`send`], and where it leads to is not followed.
pub(super) fn send_plain(served: &Served, path: &str, origin: &str, body: &str) -> Answer {
    send_signed_in(served, path, origin, "upheld-theme=light", body)
}

/// As [`send_plain`], with a cookie.
fn send_signed_in(served: &Served, path: &str, origin: &str, cookie: &str, body: &str) -> Answer {
    let host = served.base().strip_prefix("http://").unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\naccept: text/html\r\norigin: {origin}\r\nconnection: close\r\n\
         cookie: {cookie}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let raw = served.raw(head.as_bytes());
    let (head, text) = raw.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers =
        lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    Answer { status, headers: headers.collect(), text: text.to_owned() }
}
