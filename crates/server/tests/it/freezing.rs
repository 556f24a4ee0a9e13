//! Nobody freezes the server: S1, S3, S9, S11 and P1 of the second round.

use std::io::{Read, Write};
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::runtime::Builder;
use upheld_server::Config;
use upheld_server::config::{Limits, Security};

use crate::support::{Served, eventually};

fn served(limits: Limits) -> Served {
    Served::start(Config { limits, ..Config::default() })
}

/// A batch of paths that can be read in many ways takes as long as it takes. The only thread that serves answers others meanwhile.
#[test]
fn s1_a_batch_leaves_the_threads_that_serve_as_they_are() {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let limits = Limits { time: Duration::from_mins(2), ..Limits::default() };
    let served = Served::on(runtime, Config { limits, security: Security::open(), ..Config::default() });
    let policy =
        json!({"id": "a", "effect": "permit", "subjects": [], "resources": [{"path": "/a/**"}], "actions": []});
    assert_eq!(served.post("/v1/revisions", &json!({"put": [policy]}).to_string()).status, 201);
    let path = |number: usize| format!("/{}..%2f;x/%5c//%3f{number}", "a/".repeat(100));
    let requests: Vec<Json> = (0..300)
        .map(|number| json!({"subject": {"id": "x"}, "action": {"method": "GET"}, "resource": {"path": path(number)}}))
        .collect();
    let batch = json!({"requests": requests}).to_string();
    let several = json!({"evaluations": [{"subject": {"type": "user", "id": "ann"}, "action": {"name": "read"}, "resource": {"type": "route", "id": path(1)}}]});
    std::thread::scope(|threads| {
        let asked = threads.spawn(|| served.post("/v1/decide:batch", &batch));
        let mut meanwhile = 0;
        while !asked.is_finished() {
            assert_eq!(served.get("/healthz").status, 200);
            meanwhile += usize::from(!asked.is_finished());
        }
        let answer = asked.join().unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text);
        let decisions = answer.json()["decisions"].as_array().unwrap().len();
        assert_eq!(decisions, 300);
        // On a thread that was blocked, there is at most the one that waited, and the one before.
        assert!(meanwhile > 2, "{meanwhile} answers");
    });
    assert_eq!(served.post("/access/v1/evaluations", &several.to_string()).status, 200);
}

/// Deployments, each with a policy of its own.
pub(crate) fn workloads(count: usize) -> String {
    let all = (0..count).flat_map(|number| {
        let labels = json!({"app": format!("a{number}")});
        [
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": format!("a{number}"), "namespace": "shop"},
                "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "a", "image": "a", "ports": [{"containerPort": 80}]}]}}}}),
            json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": format!("a{number}"), "namespace": "shop"},
                "spec": {"podSelector": {"matchLabels": labels}, "policyTypes": ["Ingress"], "ingress": [{"from": [{"podSelector": {}}]}]}}),
        ]
    });
    json!({"put": all.collect::<Vec<_>>()}).to_string()
}

/// A question about everything ends at its bound, and says which. Those of others go on.
#[test]
fn p1_a_question_about_everything_ends_at_its_bound() {
    let served = served(Limits { steps: 10, ..Limits::default() });
    for count in [20, 21] {
        let written = served.post("/v1/revisions", &workloads(count));
        assert_eq!(written.status, 201, "{}", written.text);
    }
    let refused = served.post("/v1/diff", r#"{"before": 1, "after": 2}"#);
    assert_eq!(refused.status, 422, "{}", refused.text);
    assert_eq!(refused.json()["type"], "/problems/too-many-steps");
    assert!(refused.text.contains("more than 10 steps (`--max-steps`)"), "{}", refused.text);
    let small = served.post("/v1/resolve", r#"{"from": "shop/a1", "to": "shop/a2", "port": 80}"#);
    assert_eq!(small.status, 200, "{}", small.text);
}

/// A comparison that takes more than one answer may is answered in parts, and these are the whole.
#[test]
fn p1_a_comparison_of_everything_is_answered_in_parts() {
    let written = |served: &Served| {
        assert_eq!(served.post("/v1/revisions", &workloads(30)).status, 201);
    };
    let counts =
        |answer: &Json| ["compared", "changed", "began", "ended"].map(|name| answer["counts"][name].as_u64().unwrap());
    let whole = {
        let served = served(Limits::default());
        written(&served);
        served.post("/v1/diff", r#"{"before": 0, "after": 1}"#).json()
    };
    assert_eq!((&whole["verdict"], whole.get("next")), (&json!("differs"), None), "{whole}");
    let served = served(Limits { steps: 9_000, ..Limits::default() });
    written(&served);
    let (mut sum, mut from, mut parts) = ([0; 4], 0, 0);
    loop {
        let answer = served.post("/v1/diff", &json!({"before": 0, "after": 1, "from": from}).to_string());
        assert_eq!(answer.status, 200, "{}", answer.text);
        let part = answer.json();
        sum.iter_mut().zip(counts(&part)).for_each(|(sum, count)| *sum += count);
        parts += 1;
        assert_ne!(part["verdict"], "equal");
        let Some(next) = part["next"].as_u64() else { break };
        assert!(next > from, "each part goes further");
        assert!(part["notes"].to_string().contains(&format!("after the first {next} questions")), "{part}");
        from = next;
    }
    assert_eq!(sum, counts(&whole));
    println!("{parts} parts");
    assert!(parts > 1, "{parts}");
}

/// The form of a stranger is small, and only as many are read at once as there are places for strangers.
#[test]
fn s3_forms_of_strangers_are_small_and_few() {
    let served = served_to_strangers(Limits { reading: 8, ..Limits::default() });
    let head = |length: usize| {
        format!(
            "POST /sign-in HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n\r\n"
        )
    };
    let answer = served.raw(head(2 * 1024 * 1024).as_bytes());
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let answer = served.raw(head(65_537).as_bytes());
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    // Of twelve who send one slowly, four are listened to.
    let mut slow: Vec<_> = (0..12).map(|_| served.connect()).collect();
    let mut refused = 0;
    for stream in &mut slow {
        stream.write_all(format!("{}token=", head(60_000)).as_bytes()).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let mut start = [0; 12];
        if stream.read_exact(&mut start).is_ok() {
            assert_eq!(&start, b"HTTP/1.1 503");
            refused += 1;
        }
    }
    assert_eq!(refused, 8);
    drop(slow);
    eventually(|| served.get("/sign-in").status == 200);
}

/// A server on which nobody who does not say who they are may do anything.
fn served_to_strangers(limits: Limits) -> Served {
    Served::guarded(Config { limits, ..Config::default() })
}

/// What a page asks is a part of the page: with one place for readers there still are pages.
#[test]
fn s3_a_page_takes_one_place() {
    let served = served(Limits { reading: 1, ..Limits::default() });
    for page in ["/", "/policies", "/history", "/kinds", "/search?q=a"] {
        // The place of the page before may be free a moment later.
        eventually(|| served.ask("GET", page, &[("accept", "text/html")], "").status == 200);
    }
}

/// A page has one budget, whatever it asks.
#[test]
fn s3_a_page_has_a_budget() {
    let served = served(Limits { steps: 10, ..Limits::default() });
    for count in [20, 21] {
        assert_eq!(served.post("/v1/revisions", &workloads(count)).status, 201);
    }
    let page = served.ask("GET", "/changes?before=1&after=2", &[("accept", "text/html")], "");
    assert!(page.text.contains("more than 10 steps"), "{} {}", page.status, page.text);
}

#[test]
fn s9_the_description_is_written_once() {
    let served = served(Limits::default());
    let first = served.get("/openapi.json");
    assert_eq!((first.status, first.header("content-type")), (200, Some("application/json")));
    assert!(first.json()["paths"]["/v1/decide"].is_object());
    assert_eq!(served.get("/openapi.json").text, first.text);
}

/// Whoever says nothing has a place only until somebody else needs it.
#[test]
fn s11_silent_connections_keep_nobody_out() {
    let served = served(Limits { connections: 8, connections_of_one: 8, ..Limits::default() });
    let silent: Vec<_> = (0..32).map(|_| served.connect()).collect();
    for _ in 0..16 {
        let request = b"GET /v1/kinds HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        let answer = served.raw(request);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    assert_eq!(served.get("/healthz").status, 200);
    drop(silent);
}

#[test]
fn health_has_an_address_of_its_own() {
    let config = Config { health: Some("127.0.0.1:0".parse().unwrap()), ..Config::default() };
    let served = Served::start(config);
    let address = served.running().health().unwrap();
    let asked = |line: &str| {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(format!("{line}\r\nhost: localhost\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(asked("GET /healthz HTTP/1.1").starts_with("HTTP/1.1 200 "));
    assert!(asked("GET /v1/kinds HTTP/1.1").starts_with("HTTP/1.1 404 "));
    drop(served);
    eventually(|| std::net::TcpStream::connect(address).is_err());
}
