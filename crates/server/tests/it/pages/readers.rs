//! Who looks: nobody sees more on a page than programs get in their name.

use std::fs;

use sha2::{Digest, Sha256};
use tempfile::TempDir;
use upheld_server::Config;
use upheld_server::config::{Anonymous, Security};

use super::html::page;
use super::{PAGES, browse};
use crate::support::{Answer, Served};

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
fn signing_in_keeps_the_token_in_a_cookie_that_only_pages_take() {
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
    let host = served.base().strip_prefix("http://").unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\naccept: text/html\r\norigin: {origin}\r\nconnection: close\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
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
