//! What explaining costs: work for what is shown, and not for each policy that does not match. A program of its own, because it counts all
//! allocations.

use mockalloc::Mockalloc;
use serde_json::json;
use std::alloc::System;
use upheld::report::{Report, Skipped};
use upheld::{Policies, Problems, Question, Timestamp};

#[global_allocator]
static ALLOCATOR: Mockalloc<System> = Mockalloc(System);

/// A world of so many policies, and a question that one of them is about.
struct World {
    name: &'static str,
    documents: fn(usize) -> String,
    question: fn() -> Result<Question, Problems>,
}

const WORLDS: [World; 6] = [
    World {
        name: "decide",
        documents: access,
        question: || {
            Question::from_json(json!({"subject": "role=role-7", "action": "GET", "resource": "/api/7/orders"}))
        },
    },
    World {
        name: "decide, by default",
        documents: access,
        question: || {
            Question::from_json(json!({"subject": "role=role-7", "action": "GET", "resource": "/api/8/orders"}))
        },
    },
    World {
        name: "network policies",
        documents: network,
        question: || Question::from_json(json!({"from": "shop/app-7", "to": "shop/app-8", "port": 80})),
    },
    World {
        name: "select",
        documents: traffic_logs,
        question: || {
            Question::from_json(json!({"from": "kuma.io/service=s7", "to": "kuma.io/service=s8", "kind": "TrafficLog"}))
        },
    },
    World {
        name: "select, by default",
        documents: traffic_logs,
        question: || {
            Question::from_json(json!({"from": "kuma.io/service=s7", "to": "kuma.io/service=x", "kind": "TrafficLog"}))
        },
    },
    World {
        name: "merge",
        documents: timeouts,
        question: || Question::from_json(json!({"what": "dataplane/web-7", "to": "backend", "kind": "MeshTimeout"})),
    },
];

fn access(count: usize) -> String {
    let policy = |number: usize| {
        format!(
            "- {{id: p{number}, effect: permit, subjects: [{{role: role-{number}}}], resources: [{{path: '/api/{number}/**'}}], actions: [{{method: GET}}], conditions: [{{type: ip, allowlist: [10.0.0.0/8]}}]}}\n"
        )
    };
    "policies:\n".to_owned() + &(0..count).map(policy).collect::<String>()
}

fn network(count: usize) -> String {
    let policy = |number: usize| {
        format!(
            "{{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {{namespace: shop, name: p{number}}}, spec: {{podSelector: {{matchLabels: {{app: app-{number}}}}}, policyTypes: [Ingress], ingress: [{{from: [{{podSelector: {{matchLabels: {{app: app-{}}}}}}}], ports: [{{port: 80}}]}}]}}}}\n---\n",
            number + 1
        )
    };
    let pod = |number: usize| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{namespace: shop, name: app-{number}, labels: {{app: app-{number}}}}}, spec: {{containers: []}}}}\n---\n"
        )
    };
    (0..count).map(policy).chain((5..10).map(pod)).collect()
}

fn traffic_logs(count: usize) -> String {
    let policy = |number: usize| {
        format!(
            "{{type: TrafficLog, mesh: default, name: p{number}, sources: [{{match: {{kuma.io/service: s{number}}}}}], destinations: [{{match: {{kuma.io/service: s{}}}}}], conf: {{backend: x}}}}\n---\n",
            number + 1
        )
    };
    "{type: Mesh, name: default}\n---\n".to_owned() + &(0..count).map(policy).collect::<String>()
}

fn timeouts(count: usize) -> String {
    let proxy = |name: &str, service: &str| {
        format!(
            "{{type: Dataplane, mesh: default, name: {name}, labels: {{app: {name}}}, networking: {{address: 10.0.0.7, inbound: [{{port: 80, tags: {{kuma.io/service: {service}}}}}]}}}}\n---\n"
        )
    };
    let policy = |number: usize| {
        let name = format!("web-{number}");
        let policy = format!(
            "{{type: MeshTimeout, mesh: default, name: p{number}, spec: {{targetRef: {{kind: Dataplane, labels: {{app: {name}}}}}, to: [{{targetRef: {{kind: Mesh}}, default: {{connectionTimeout: {number}s}}}}]}}}}\n---\n"
        );
        policy + &proxy(&name, "web")
    };
    "{type: Mesh, name: default}\n---\n".to_owned()
        + &proxy("backend-1", "backend")
        + &(0..count).map(policy).collect::<String>()
}

/// What an explanation took, its length as a document, and its reports.
struct Explained {
    allocations: u64,
    bytes: u64,
    length: usize,
    reports: Vec<Report>,
}

fn explained(world: &World, count: usize, skipped: &Skipped) -> Result<Explained, Problems> {
    let policies = Policies::from_text((world.documents)(count))?.listing(skipped.clone()).at(Timestamp(0));
    let question = (world.question)()?;
    // The first makes room for all others.
    let reports = policies.explain(&question)?.reports;
    let mut length = policies.document(&question)?.to_string().len();
    let info = mockalloc::record_allocs(|| {
        length = policies.document(&question).map_or(0, |document| document.to_string().len());
    });
    Ok(Explained { allocations: info.num_allocs(), bytes: info.mem_allocated(), length, reports })
}

#[test]
fn p8_an_explanation_costs_what_it_shows_and_not_what_there_is() -> Result<(), Problems> {
    let mut grown: Vec<String> = Vec::new();
    for world in &WORLDS {
        for skipped in [Skipped::default(), Skipped::AtMost(0)] {
            // There are more than 64 policies, the number of those that changes of a request are looked for in.
            let (few, many) = (explained(world, 100, &skipped)?, explained(world, 1_000, &skipped)?);
            let has_grown = |few: u64, many: u64| many * 2 > few * 3;
            let told = format!(
                "{} {skipped:?}: {} → {} allocations of {} → {} bytes, {} → {} bytes of answer",
                world.name, few.allocations, many.allocations, few.bytes, many.bytes, few.length, many.length
            );
            println!("{told}");
            if has_grown(few.allocations, many.allocations) || has_grown(few.length as u64, many.length as u64) {
                grown.push(told);
            }
        }
    }
    assert!(grown.is_empty(), "{grown:#?}");
    Ok(())
}

#[test]
fn p8_the_usual_answer_is_the_beginning_of_the_one_that_lists_all() -> Result<(), Problems> {
    for world in &WORLDS {
        let all = explained(world, 60, &Skipped::All)?.reports;
        let any = all.iter().map(|report| report.candidates.len()).max();
        assert!(any > Some(50), "{}: all are listed: {any:?}", world.name);
        for most in [0, 1, 2, 20, 59, 100] {
            let few = explained(world, 60, &Skipped::AtMost(most))?.reports;
            for (few, all) in few.iter().zip(&all) {
                let told = format!("{} {most}: {}", world.name, few.headline.text);
                assert_eq!(few.headline, all.headline, "{told}");
                let cut = all.clone().with_skipped(&Skipped::AtMost(most));
                assert_eq!((&few.candidates, few.left_out), (&cut.candidates, cut.left_out), "{told}");
                assert_eq!(
                    serde_json::to_value(few).expect("JSON"),
                    serde_json::to_value(&cut).expect("JSON"),
                    "{told}"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn p8_all_of_few_are_listed_as_they_are_without_a_count() -> Result<(), Problems> {
    for world in &WORLDS {
        let (usual, all) = (explained(world, 9, &Skipped::default())?, explained(world, 9, &Skipped::All)?);
        assert_eq!(usual.length, all.length, "{}", world.name);
        assert!(all.reports.iter().all(|report| report.left_out == 0), "{}", world.name);
    }
    Ok(())
}
