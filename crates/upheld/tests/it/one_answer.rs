//! The command line gives the one answer of all surfaces: `can --batch` over the requests that the server is asked on all of its own, here of
//! each surface that takes them as JSON.

#[path = "../../../server/tests/it/one_answer/requests.rs"]
mod requests;

use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Value as Json, json};

use self::requests::{Asked, DIRECTORY, POLICIES, Said, asked, text};
use super::served::Client;
use super::support::upheld;

const OURS: [&str; 3] = ["decision", "policy", "reason"];

/// What `can --batch` says of each request, by one run.
fn on_the_command_line(folder: &std::path::Path, requests: &[Json]) -> Vec<Said> {
    let lines: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let questions = tempfile::NamedTempFile::new().expect("a file");
    fs::write(questions.path(), lines).expect("is written");
    let output = upheld(folder).args(["can", "-o", "jsonl", "--batch"]).arg(questions.path()).output().expect("starts");
    let lines = String::from_utf8(output.stdout).expect("text");
    lines.lines().map(|line| Said::of(&serde_json::from_str(line).expect("JSON"), OURS)).collect()
}

fn standard(client: &Client, asked: &Asked) -> Said {
    let (_, answer) = client.asks("/access/v1/evaluation", &asked.authzen());
    let mut context = answer["context"].clone();
    context["decision"] = answer["decision"].clone();
    Said::of(&context, OURS).closed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn the_command_line_gives_the_one_answer(
        policies in subsequence(POLICIES.to_vec(), 1..=POLICIES.len()),
        requests in vec(asked(), 24),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let policies: String = policies.iter().map(|policy| format!("{policy}\n---\n")).collect();
        fs::write(folder.path().join("all.yaml"), format!("{policies}{DIRECTORY}")).expect("is written");
        let client = Client::of(folder.path(), Vec::new());
        let documents: Vec<Json> = requests.iter().map(Asked::document).collect();
        let said = on_the_command_line(folder.path(), &documents);
        let (_, batch) = client.asks("/v1/decide:batch", &json!({"requests": documents}));
        let served: Vec<Said> =
            batch["decisions"].as_array().expect("a list").iter().map(|answer| Said::of(answer, OURS)).collect();
        prop_assert_eq!(&said, &served, "{}", policies);
        for ((asked, document), own) in requests.iter().zip(&documents).zip(&said) {
            let question = json!({"request": document});
            let (_, resolved) = client.asks("/v1/resolve", &question);
            prop_assert_eq!(own, &Said::of(&resolved["result"], OURS), "{:?}", asked);
            let (_, explained) = client.asks("/v1/explain", &question);
            let explained = &explained["answers"][0];
            prop_assert_eq!(Some(own.decision.clone()), text(&explained["verdict"]), "{:?}", asked);
            prop_assert_eq!(own.clone().closed(), standard(&client, asked), "{:?}", asked);
            let (_, original) = client.asks("/authz/api/evaluate", document);
            let original = Said::of(&original, ["effect", "matchedPolicy", "reason"]);
            prop_assert_eq!(own.clone().closed(), original.closed(), "{:?}", asked);
        }
    }
}
