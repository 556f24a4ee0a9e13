//! Several servers on one database, and a database that goes away and comes back.

use std::time::{Duration, Instant};

use upheld_server::Config;
use upheld_server::config::StoreLocation;
use upheld_store::testing::Database;

use crate::support::{Served, eventually};

const REQUEST: &str = r#"{"subject": {"roles": ["dev"]}, "action": {"method": "GET"}, "resource": {"path": "/api/x"}}"#;

fn policy(id: &str, role: &str) -> String {
    format!(
        "id: {id}\neffect: permit\nsubjects: [{{role: {role}}}]\nresources: [{{path: /api/**}}]\nactions: [{{method: GET}}]\n"
    )
}

fn on(database: &Database) -> Served {
    Served::start(Config { store: StoreLocation::Postgres(database.url()), ..Config::default() })
}

fn write(served: &Served, policy: &str) -> u16 {
    served.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], policy).status
}

fn decision(served: &Served) -> String {
    served.post("/v1/decide", REQUEST).json()["decision"].as_str().unwrap().to_owned()
}

#[test]
fn what_one_server_writes_the_other_answers() {
    let Some(database) = Database::start() else { return };
    let (one, other) = (on(&database), on(&database));
    assert_eq!(decision(&other), "deny");
    assert_eq!(write(&one, &policy("readers", "dev")), 201);
    // Whoever cannot wait says which revision they need.
    assert_eq!(other.post("/v1/decide?minRevision=1", REQUEST).json()["decision"], "permit");
    eventually(|| decision(&other) == "permit");
    // Both write: nobody's write is lost, and both know all of them.
    for round in 0..5 {
        assert_eq!(write(&one, &policy(&format!("one-{round}"), "x")), 201);
        assert_eq!(write(&other, &policy(&format!("other-{round}"), "y")), 201);
    }
    let digest = |served: &Served| served.get("/readyz").json()["digest"].clone();
    eventually(|| digest(&one) == digest(&other));
    assert_eq!(one.get("/v1/documents").json()["items"].as_array().unwrap().len(), 11);
}

#[test]
fn a_database_that_is_away_stops_writes_and_no_reads() {
    let Some(mut database) = Database::start() else { return };
    let (one, other) = (on(&database), on(&database));
    assert_eq!(write(&one, &policy("readers", "dev")), 201);
    eventually(|| decision(&other) == "permit");
    database.stop().unwrap();
    let begin = Instant::now();
    let refused = one.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], &policy("late", "x"));
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "{}", refused.text);
    assert!(begin.elapsed() < Duration::from_secs(30), "a write must not hang");
    for served in [&one, &other] {
        let answer = served.post("/v1/decide", REQUEST);
        assert_eq!(answer.json()["decision"], "permit");
        assert_eq!(answer.header("upheld-revision"), Some("1"));
        let ready = served.get("/readyz").json();
        assert_eq!((&ready["status"], &ready["store"]["reachable"]), (&"degraded".into(), &false.into()));
        assert!(ready["snapshotAgeSeconds"].is_number());
    }
    database.start_again().unwrap();
    eventually(|| write(&one, &policy("back", "x")) == 201);
    eventually(|| other.get("/v1/documents/AccessPolicy/access/back").status == 200);
    eventually(|| other.get("/readyz").json()["status"] == "ready");
}

/// A backup from before the last writes is played in, and another server goes on from there: whoever knows another past says so, writes nothing, and
/// follows the database once it is started again.
#[test]
fn s4_twenty_histories_that_were_cut_short_never_make_two_servers_disagree_unnoticed() {
    let Some(database) = Database::start() else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for round in 0..20_u64 {
        let url = runtime.block_on(database.fresh()).unwrap();
        let start = || Served::start(Config { store: StoreLocation::Postgres(url.clone()), ..Config::default() });
        let old = start();
        let written = 3 + round % 5;
        for number in 0..written {
            assert_eq!(write(&old, &policy(&format!("p{number}"), "dev")), 201);
        }
        let back = 1 + round % (written - 1);
        runtime.block_on(Database::put_back(&url, back)).unwrap();
        let new = start();
        // As many writes as were lost, fewer, or more.
        for number in 0..round % (written - back + 2) {
            assert_eq!(write(&new, &policy(&format!("q{round}-{number}"), "ops")), 201);
        }
        let state = |served: &Served| {
            let ready = served.get("/readyz");
            (ready.status, ready.json()["revision"].clone(), ready.json()["digest"].clone())
        };
        assert_eq!(state(&new).0, 200);
        let refused = old.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], &policy("late", "dev"));
        let (ready, revision, digest) = state(&old);
        assert_eq!((refused.status, ready), (503, 503), "round {round}: {}", refused.text);
        assert!(refused.text.contains("restart this server"), "{}", refused.text);
        assert_ne!((revision, digest), (state(&new).1, state(&new).2));
        drop(old);
        let again = start();
        assert_eq!(state(&again), state(&new));
    }
}
