//! Who is known, and what they may see.

use std::fs;

use serde_json::json;

use super::redaction::redact;
use super::*;
use crate::config::Config;

async fn auth(security: Security) -> Auth {
    Auth::open(&Config { security, ..Config::default() }).await.unwrap().0
}

fn here() -> Peer {
    Peer::new("127.0.0.1".parse().unwrap())
}

#[tokio::test]
async fn explanations_are_cut_to_what_rights_let_one_see() {
    let folder = tempfile::tempdir().unwrap();
    let rights = folder.path().join("rights.yaml");
    let text = "
defaultEffect: deny
policies:
- id: team
  effect: permit
  subjects: [{group: logs}]
  resources: [{type: policy, app: default, path: '/TrafficLog/**'}]
  actions: [{operation: see}]
";
    fs::write(&rights, text).unwrap();
    let auth = auth(Security { rights: Some(rights), ..Security::default() }).await;
    let caller = Caller { groups: caller::names(&["logs".to_owned()]), ..Caller::new("ann", AuthMethod::Token) };
    let visible = auth.visibility(&caller, Some(&here()));
    assert!(visible("TrafficLog", "default", "all"));
    assert!(visible("TrafficLog", "default", "with space/../and slash"));
    assert!(!visible("TrafficLog", "other", "all"));
    assert!(!visible("TrafficTrace", "default", "all"));
    assert!(!visible("..", "default", "TrafficLog"));
    let mut answer =
        json!({"kind": "TrafficTrace", "mesh": "default", "candidates": [{"state": "wins", "policy": "a"}]});
    assert_eq!(redact(&mut answer, &visible), 1);
    assert_eq!(answer["redacted"], 1);
    assert!(!auth.visibility(&Caller::anonymous(), Some(&here()))("TrafficLog", "default", "all"));
}

#[tokio::test]
async fn the_built_in_rights_let_this_machine_see_everything() {
    let auth = auth(Security::default()).await;
    assert!(auth.visibility(&Caller::anonymous(), Some(&here()))("TrafficLog", "default", "all"));
    let elsewhere = Peer::new("192.0.2.7".parse().unwrap());
    assert!(!auth.visibility(&Caller::anonymous(), Some(&elsewhere))("TrafficLog", "default", "all"));
    assert!(!auth.visibility(&Caller::anonymous(), None)("TrafficLog", "default", "all"));
}

#[tokio::test]
async fn secrets_do_not_show_themselves() {
    let config = Config { store: StoreLocation::Postgres("postgres://u:hunter2@db/x".to_owned()), ..Config::default() };
    let (auth, secret) = Auth::open(&config).await.unwrap();
    let token = secret.clone().unwrap();
    let shown = format!("{config:?} {auth:?} {secret:?}");
    assert!(!shown.contains("hunter2") && !shown.contains(token.reveal()) && !shown.contains(&token.hash().write()));
}
