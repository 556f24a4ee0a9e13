//! Who is known, and what they may see.

use std::fs;

use super::*;
use crate::config::{Config, GivenSecret, StoreLocation};

async fn auth(security: Security) -> Auth {
    Auth::open(&Config { security, ..Config::default() }).await.unwrap().0
}

/// What somebody may do who asks from an address.
fn access(auth: &Auth, caller: &Caller, ip: Maybe<SmolStr>) -> Access {
    let request =
        decide::Request { subject: caller.subject(), environment: environment(ip), ..decide::Request::default() };
    Access::new(Some(auth.rights.load_full()), request)
}

fn here() -> Maybe<SmolStr> {
    Maybe::Is("127.0.0.1".into())
}

fn touched(key: &str) -> Touched<'_> {
    let mut parts = key.splitn(3, '/');
    let mut next = || parts.next().unwrap();
    Touched { kind: next(), scope: next(), name: next() }
}

async fn with_rights(text: &str) -> Auth {
    let folder = tempfile::tempdir().unwrap();
    let rights = folder.path().join("rights.yaml");
    fs::write(&rights, text).unwrap();
    auth(Security { rights: Some(rights), ..Security::default() }).await
}

/// S17: a token that is revoked after its request was let in, and before its stream begins, ends the stream, too.
#[tokio::test]
async fn whoever_was_let_in_before_a_reload_is_not_current() {
    let auth = auth(Security::default()).await;
    let nothing = HeaderMap::new();
    let identified = || auth.identify(&nothing, None, Headers::Own);
    let before = identified().await.unwrap();
    assert!(auth.is_current(&before));
    assert_eq!(auth.reload().await.len(), 0);
    assert!(!auth.is_current(&before));
    assert!(auth.is_current(&identified().await.unwrap()));
}

#[tokio::test]
async fn explanations_are_cut_to_what_rights_let_one_see() {
    let text = "
defaultEffect: deny
policies:
- id: team
  effect: permit
  subjects: [{group: logs}]
  resources: [{type: policy, app: default, path: '/TrafficLog/**'}]
  actions: [{operation: see}]
";
    let auth = with_rights(text).await;
    let caller = Caller { groups: caller::names(&["logs".to_owned()]), ..Caller::new("ann", AuthMethod::Token) };
    let team = access(&auth, &caller, here());
    let visible = |key| team.may_see(Sort::Policy, touched(key));
    assert!(visible("TrafficLog/default/all"));
    assert!(visible("TrafficLog/default/with space/../and slash"));
    assert!(!visible("TrafficLog/other/all"));
    assert!(!visible("TrafficTrace/default/all"));
    assert!(!visible("../default/TrafficLog"));
    assert!(!team.may_see(Sort::Object, touched("TrafficLog/default/all")));
    assert!(!team.may_all(Operation::See) && !team.may(Operation::Read, touched("TrafficLog/default/all")));
    assert!(!access(&auth, &Caller::anonymous(), here()).may_see(Sort::Policy, touched("TrafficLog/default/all")));
}

/// S1: what is decided is the document, not one of the ways to write an address that ends at it.
#[tokio::test]
async fn a_right_to_some_documents_is_none_to_others() {
    let text = "
defaultEffect: deny
policies:
- id: payments
  effect: permit
  subjects: []
  resources: [{path: /v1/documents/AccessPolicy/access/payments-*}]
  actions: [{operation: [read, write]}]
";
    let auth = with_rights(text).await;
    let team = access(&auth, &Caller::anonymous(), here());
    for operation in [Operation::Read, Operation::Write] {
        let may = |key| team.may(operation, touched(key));
        assert!(may("AccessPolicy/access/payments-1") && may("AccessPolicy/access/payments-"));
        for other in [
            "AccessPolicy/access/orders-1",
            "AccessPolicy/other/payments-1",
            "AccessManifest/access/payments-1",
            "AccessManifest/access/a/../../../AccessPolicy/access/payments-1",
            "AccessManifest/access/a%2F..%2F..%2F..%2FAccessPolicy%2Faccess%2Fpayments-1",
            "AccessPolicy/access/x/../payments-1",
            "AccessPolicy/access/payments-1/../x",
            "accesspolicy/access/payments-1",
        ] {
            assert!(!may(other), "{other}");
        }
        assert!(!team.may_all(operation));
    }
    assert!(!team.may(Operation::See, touched("AccessPolicy/access/payments-1")));
}

/// S10: rights that name every type permit whatever there may be, and so does each right to one of them for its own.
#[tokio::test]
async fn a_right_to_every_type_is_a_right_to_whatever_there_may_be() {
    let rights = |types: &str| {
        format!(
            "defaultEffect: deny\npolicies:\n- {{id: a, effect: permit, subjects: [], resources: [{{type: {types}}}], actions: [{{operation: see}}]}}\n"
        )
    };
    for (types, policies, objects) in
        [("[policy, object]", true, true), ("policy", true, false), ("object", false, true), ("document", false, false)]
    {
        let auth = with_rights(&rights(types)).await;
        let team = access(&auth, &Caller::anonymous(), here());
        assert_eq!((team.may_see_all(Sort::Policy), team.may_see_all(Sort::Object)), (policies, objects), "{types}");
        assert_eq!(team.may_all(Operation::See), policies && objects, "{types}");
    }
    let auth = auth(Security::default()).await;
    let asker = Caller { roles: caller::names(&["asker".to_owned()]), ..Caller::new("edge", AuthMethod::Token) };
    assert!(access(&auth, &asker, here()).may_all(Operation::See));
}

#[tokio::test]
async fn the_built_in_rights_let_this_machine_see_everything() {
    let auth = auth(Security::default()).await;
    let sees = |ip| access(&auth, &Caller::anonymous(), ip).may_see(Sort::Policy, touched("TrafficLog/default/all"));
    assert!(sees(here()) && access(&auth, &Caller::anonymous(), here()).may_all(Operation::See));
    assert!(!sees(Maybe::Is("192.0.2.7".into())) && !sees(Maybe::Unknown));
}

#[tokio::test]
async fn secrets_do_not_show_themselves() {
    let config = Config { store: StoreLocation::Postgres("postgres://u:hunter2@db/x".to_owned()), ..Config::default() };
    let problem = Auth::open(&config).await.unwrap_err();
    let (auth, made) = Auth::open(&Config::default()).await.unwrap();
    let token = auth.keep(made.unwrap()).unwrap().unwrap();
    let secret = &token;
    let shown = format!("{config:?} {problem} {problem:?} {auth:?} {secret:?}");
    assert!(!shown.contains("hunter2") && !shown.contains(token.reveal()) && !shown.contains(&token.hash().write()));
}

#[tokio::test]
async fn secrets_that_are_given_do_not_show_themselves() {
    let text = |text: &str| Some(GivenSecret::Text(text.to_owned()));
    let (bootstrap_token, session_key) =
        ("upheld_hunter2-0123456789abcdef0123456789", "hunter2-0123456789abcdef0123456789");
    let security =
        Security { bootstrap_token: text(bootstrap_token), session_key: text(session_key), ..Security::default() };
    let store = StoreLocation::Postgres("postgres://u:hunter2@db/x".to_owned());
    let config = Config { store, security, ..Config::default() };
    let (auth, made) = Auth::open(&config).await.unwrap();
    assert!(made.is_none());
    let caller = auth.tokens.load().find(bootstrap_token, machine::now()).cloned().unwrap();
    assert_eq!(caller.roles.as_ref(), ["admin"]);
    let shown = format!("{config:?} {auth:?} {caller:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    for wrong in ["hunter2", "upheld_hunter2", "upheld_hunter2 0123456789abcdef0123456789"] {
        let security = Security { bootstrap_token: text(wrong), ..Security::default() };
        let problem = Auth::open(&Config { security, ..Config::default() }).await.unwrap_err().to_string();
        assert!(problem.contains("at least 32") && !problem.contains("hunter2"), "{problem}");
    }
}
