//! What others wrote and what we ship passes: examples, and corpora where they are.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use upheld_loader::load::Choices;
use upheld_loader::{Format, Input, discover};
use upheld_model::SourceId;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_example_passes() {
    let mut seen = 0;
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let folder = entry.unwrap().path();
        let (inputs, problems) = discover(&[&folder]);
        if !problems.is_empty() {
            continue;
        }
        let inputs: Vec<_> = inputs.into_iter().filter(|input| !input.name().ends_with("upheld.yaml")).collect();
        let told = match Choices::default().load(inputs) {
            Ok(_) => Vec::new(),
            Err(broken) => broken.diagnostics.into_iter().map(|problem| (problem.message, problem.help)).collect(),
        };
        let of_schemas: Vec<_> =
            told.iter().filter(|(_, help)| help.iter().any(|help| help.contains("--schemas off"))).collect();
        assert!(of_schemas.is_empty(), "{}: {of_schemas:?}", folder.display());
        seen += 1;
    }
    assert!(seen > 10, "there are examples");
}

/// Documents of corpora that an API server would refuse, by folder and message: the tests that they come from do not ask one.
const REFUSED: [(&str, &str); 4] = [
    ("unresolved-ref", "`spec.rules[2].backendRefs[0]` has no `name`"),
    ("per-listener-mtls", "`spec.tls` has no field `mode`"),
    ("jwt-cross-namespace", "`spec` has no field `allowedRoutes`"),
    ("extauth-cross-namespace", "`spec` has no field `allowedRoutes`"),
];

/// Documents of other projects, wherever they stand in a file.
fn manifests(value: &Json, found: &mut Vec<String>) {
    match value {
        Json::Object(fields) => {
            let text = |name: &str| fields.get(name).is_some_and(Json::is_string);
            let named = text("name") || fields.get("metadata").is_some_and(Json::is_object);
            if (text("kind") && text("apiVersion") || text("type"))
                && named
                && fields.get("spec").is_some_and(Json::is_object)
            {
                found.push(value.to_string());
            } else {
                fields.values().for_each(|field| manifests(field, found));
            }
        }
        Json::Array(items) => items.iter().for_each(|item| manifests(item, found)),
        _ => {}
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
}

#[test]
fn documents_of_other_projects_pass() {
    let mut paths = Vec::new();
    for corpus in ["kgateway", "gateway-api/envoy-gateway/attachment", "kuma"] {
        files(&root().join("../shared/corpora").join(corpus), &mut paths);
    }
    if paths.is_empty() {
        println!("there are no corpora beside this project: nothing to check");
        return;
    }
    let mut told = Vec::new();
    let mut seen = 0;
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let (file, _) = upheld_syntax::parse("corpus", Format::Yaml, text, SourceId::new(0));
        let mut lines = Vec::new();
        for document in file.tree.documents() {
            manifests(&serde_json::to_value(document).unwrap(), &mut lines);
        }
        lines.sort_unstable();
        lines.dedup();
        seen += lines.len();
        let messages = |choices: Choices| -> Vec<String> {
            let loaded = choices.load(vec![Input::text("corpus", Format::JsonLines, lines.join("\n"))]);
            let found = loaded.err().map(|broken| broken.diagnostics).unwrap_or_default();
            found.into_iter().map(|problem| problem.message).collect()
        };
        let all = messages(Choices::default());
        if all.is_empty() {
            continue;
        }
        let others = messages(Choices::default().without_schemas());
        let own = all.into_iter().filter(|message| !others.contains(message));
        let name = path.display().to_string();
        let known = |message: &String| REFUSED.iter().any(|(part, known)| name.contains(part) && message == known);
        told.extend(own.filter(|message| !known(message)).map(|message| format!("{name}: {message}")));
    }
    assert!(seen > 500, "documents are found: {seen}");
    assert_eq!(told, [""; 0], "{seen} documents");
}
