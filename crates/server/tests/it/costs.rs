//! What one policy or one request may cost: S2 and S20.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use upheld_server::Config;

use crate::support::Served;

fn policy(id: &str, subjects: Json, resources: Json, actions: Json) -> String {
    let mut policy = json!({"id": id, "effect": "permit"});
    for (clause, alternatives) in [("subjects", subjects), ("resources", resources), ("actions", actions)] {
        policy[clause] = alternatives;
    }
    policy.to_string()
}

fn put(served: &Served, id: &str, body: &str) -> (u16, String) {
    let headers = [("content-type", "application/json")];
    let answer = served.ask("PUT", &format!("/v1/documents/AccessPolicy/access/{id}"), &headers, body);
    (answer.status, answer.text)
}

fn list(field: &str, prefix: &str, count: usize) -> Json {
    (0..count).map(|number| json!({field: format!("{prefix}{number}")})).collect()
}

/// Neither is it tried: a rehearsal costs as much as the write would.
#[test]
fn s2_what_would_freeze_the_server_is_refused_at_once_also_as_a_rehearsal() {
    let served = Served::start(Config::default());
    let claim = |pattern: String| json!({"claim": {"name": "note", "operator": "regex", "value": pattern}});
    let patterns: Json = (0..8_000).map(|number| claim(format!("[ab]{{{}}}c", 800 + number % 100))).collect();
    let freezing = [
        policy("many", list("id", "s", 300), list("path", "/p", 300), list("operation", "o", 300)),
        policy("many", list("id", "s", 800), list("path", "/p", 800), list("operation", "o", 800)),
        policy("many", patterns, json!([]), json!([])),
    ];
    for body in &freezing {
        for query in ["?dryRun=true", ""] {
            let begun = Instant::now();
            let (status, text) = put(&served, &format!("many{query}"), body);
            assert_eq!(status, 422, "{text}");
            assert!(text.contains("at most"), "{text}");
            assert!(begun.elapsed() < Duration::from_secs(10), "{:?}: {query} {} bytes", begun.elapsed(), body.len());
        }
    }
    assert_eq!(served.get("/v1/revisions").json()["last"], 0);
    assert_eq!(served.get("/healthz").status, 200);
}

/// The dearest that is allowed: texts as long as the patterns let them be, several at once. Whether the server lives is told meanwhile.
#[test]
fn s2_the_dearest_decisions_leave_health_as_it_is() {
    let served = Served::start(Config::default());
    for id in ["a", "b", "c"] {
        let slow = json!([{"claim": {"name": "note", "operator": "regex", "value": "[ab]*a[ab]{900}[c-z]"}}]);
        assert_eq!(put(&served, id, &policy(id, slow, json!([]), json!([]))).0, 201);
    }
    let decided = |length: usize| {
        let request = json!({"subject": {"id": "x", "claims": {"note": "ab".repeat(length / 2)}}, "action": {"method": "GET"}, "resource": {"path": "/x"}});
        served.post("/v1/decide", &request.to_string()).json()["decision"].as_str().unwrap().to_owned()
    };
    // The longest that is decided, by halves.
    let (mut decides, mut does_not) = (0, 900_000);
    while does_not - decides > 2_000 {
        let middle = usize::midpoint(decides, does_not) / 2 * 2;
        *(if decided(middle) == "undecided" { &mut does_not } else { &mut decides }) = middle;
    }
    assert!(decides > 1_000, "{decides}");
    std::thread::scope(|threads| {
        let asking: Vec<_> = (0..3).map(|_| threads.spawn(|| decided(decides))).collect();
        while asking.iter().any(|one| !one.is_finished()) {
            let begun = Instant::now();
            assert_eq!(served.get("/healthz").status, 200);
            assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        }
        for one in asking {
            assert_eq!(one.join().unwrap(), "deny");
        }
    });
}

/// 300 subjects, 300 paths and 300 operations: the write is refused, and names the bound with its figure.
#[test]
fn a_policy_with_too_many_alternatives_is_refused() {
    let served = Served::start(Config::default());
    let (status, text) = put(
        &served,
        "many",
        &policy("many", list("id", "s", 300), list("path", "/p", 300), list("operation", "o", 300)),
    );
    assert_eq!(status, 422, "{text}");
    assert!(text.contains("27000000 combinations") && text.contains("at most 100000"), "{text}");
    // The same in lists of one alternative.
    let values = |prefix: &str| (0..300).map(|number| format!("{prefix}{number}")).collect::<Vec<_>>();
    let listed = policy(
        "many",
        json!([{"id": values("s")}]),
        json!([{"path": values("/p")}]),
        json!([{"operation": values("o")}]),
    );
    assert_eq!(put(&served, "many", &listed).0, 422);
    assert_eq!(served.get("/v1/revisions").json()["last"], 0);
    // Fewer are taken, and decide.
    let fewer = policy("many", list("id", "s", 40), list("path", "/p", 40), list("operation", "o", 40));
    let (status, text) = put(&served, "many", &fewer);
    assert_eq!(status, 201, "{text}");
    let request =
        json!({"subject": {"id": "s39"}, "action": {"operation": "o0"}, "resource": {"path": "/p7"}}).to_string();
    assert_eq!(served.post("/v1/decide", &request).json()["decision"], "permit");
}

/// Regular expressions that are each small enough are too large together.
#[test]
fn patterns_are_bounded_together() {
    let served = Served::start(Config::default());
    let claim = |pattern: String| json!({"claim": {"name": "note", "operator": "regex", "value": pattern}});
    let many: Json = (0..400).map(|number| claim(format!("[ab]{{{}}}c", 800 + number % 100))).collect();
    let (status, text) = put(&served, "many", &policy("many", many, json!([]), json!([])));
    assert_eq!(status, 422, "{text}");
    assert!(text.contains("states") && text.contains("at most 262144"), "{text}");
    // Also one by one: whoever comes last is refused.
    let one: Json = (0..100).map(|number| claim(format!("[ab]{{{}}}c", 800 + number))).collect();
    let mut refused = 0;
    for id in ["a", "b", "c", "d"] {
        let (status, text) = put(&served, id, &policy(id, one.clone(), json!([]), json!([])));
        assert!(status == 201 || status == 422, "{text}");
        refused += usize::from(status == 422);
    }
    assert!(refused > 0 && refused < 4, "{refused} of 4");
}

/// Three policies that no automaton tells quickly, and a claim of 0.9 MB: undecided at once, and it says why.
#[test]
fn a_claim_that_is_too_long_for_the_patterns_is_undecided() {
    let served = Served::start(Config::default());
    for id in ["a", "b", "c"] {
        let slow = json!([{"claim": {"name": "note", "operator": "regex", "value": "[ab]*a[ab]{900}[c-z]"}}]);
        let (status, text) = put(&served, id, &policy(id, slow, json!([]), json!([])));
        assert_eq!(status, 201, "{text}");
    }
    let request = |length: usize| json!({"subject": {"id": "x", "claims": {"note": "ab".repeat(length / 2)}}, "action": {"method": "GET"}, "resource": {"path": "/x"}});
    let long = served.post("/v1/decide", &request(900_000).to_string()).json();
    assert_eq!(long["decision"], "undecided", "{long}");
    assert_eq!(served.post("/v1/decide", &request(1_000).to_string()).json()["decision"], "deny");
    let told = served.post("/v1/explain", &json!({"request": request(900_000)}).to_string()).text;
    assert!(told.contains("a text of 900000 bytes"), "{}", told.chars().take(2000).collect::<String>());
}

/// S20: pages of a list are what they were, and each begins where the one before ended.
#[test]
fn pages_together_are_the_list() {
    let served = Served::start(Config::default());
    let policies: Vec<Json> = (0..250)
        .map(|number| json!({"id": format!("p{number:03}"), "effect": "permit", "subjects": [], "resources": [], "actions": []}))
        .collect();
    let written = served.post("/v1/revisions", &json!({"put": policies}).to_string());
    assert_eq!(written.status, 201, "{}", written.text);
    for endpoint in ["documents", "policies"] {
        let (mut ids, mut after) = (Vec::new(), String::new());
        loop {
            let page = served.get(&format!("/v1/{endpoint}?limit=70&after={after}")).json();
            ids.extend(page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()));
            match page["next"].as_str() {
                Some(next) => next.clone_into(&mut after),
                None => break,
            }
        }
        let expected: Vec<String> = (0..250).map(|number| format!("AccessPolicy/access/p{number:03}")).collect();
        assert_eq!(ids, expected, "{endpoint}");
    }
}
