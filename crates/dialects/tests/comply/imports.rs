//! Exports of other systems as they are: pages of a web API, and tables that spreadsheets write.

use upheld_dialects::comply::Organisations;
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::{Fault, Timestamp};

/// After everything that is written here.
const NOW: Timestamp = Timestamp(1_800_000_000_000_000_000);

fn read(texts: &[(&str, &str)]) -> Result<Loaded, Vec<String>> {
    let inputs = texts.iter().map(|(name, text)| {
        let format = Format::of_name(name).expect("a known format");
        Input::text(*name, format, *text)
    });
    load(inputs.collect(), &[]).map_err(|broken| {
        broken.diagnostics.as_slice().iter().map(|one| format!("{} {}", one.fault.code(), one.message)).collect()
    })
}

fn loaded(texts: &[(&str, &str)]) -> Loaded {
    read(texts).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn violations(loaded: &Loaded) -> Vec<String> {
    let all = loaded.snapshot.companion::<Organisations>().expect("an organisation");
    let (_, documented) = all.iter().next().expect("an organisation");
    let found = documented.organisation.comply().violations(NOW);
    found.iter().map(|one| format!("{}: {} ~ {}", one.policy, one.a.object, one.b.object)).collect()
}

fn warnings(loaded: &Loaded) -> Vec<(Fault, String)> {
    loaded.warnings.as_slice().iter().map(|one| (one.fault, one.message.clone())).collect()
}

const POLICY: &str = "
type: MeshPolicy
name: env
a: {kind: meshProject, tag: environment}
b: {kind: meshCustomer, tag: environment}
";

const WORKSPACES: &str = r#"{
  "_embedded": {"meshWorkspaces": [
    {"apiVersion": "v1", "kind": "meshWorkspace", "metadata": {"name": "shop"}, "spec": {"displayName": "Shop", "tags": {"environment": ["dev"]}},
     "_links": {"self": {"href": "https://federation.example/api/meshobjects/meshworkspaces/shop"}}}
  ]},
  "_links": {"self": {"href": "https://federation.example/api/meshobjects/meshworkspaces?page=0&size=50"}},
  "page": {"size": 50, "totalElements": 1, "totalPages": 1, "number": 0}
}"#;

/// A page of projects, each with its environment.
fn projects(number: usize, of: usize, projects: &[(&str, &str)]) -> String {
    let items = projects.iter().map(|(name, environment)| {
        format!(
            r#"{{"apiVersion": "v1", "kind": "meshProject", "metadata": {{"name": "{name}", "ownedByWorkspace": "shop"}},
                "spec": {{"displayName": "{name}", "tags": {{"environment": ["{environment}"]}}}}}}"#
        )
    });
    format!(
        r#"{{"_embedded": {{"meshProjects": [{}]}},
            "_links": {{"self": {{"href": "https://federation.example/api/meshobjects/meshprojects?page={number}&size=1"}}}},
            "page": {{"size": 1, "totalElements": {of}, "totalPages": {of}, "number": {number}}}}}"#,
        items.collect::<Vec<_>>().join(",")
    )
}

#[test]
fn pages_of_a_web_api_are_read_as_the_documents_in_them() {
    let (first, second) = (projects(0, 2, &[("a", "dev")]), projects(1, 2, &[("b", "prod")]));
    let both =
        [("policy.yaml", POLICY), ("w.json", WORKSPACES), ("p0.json", first.as_str()), ("p1.json", second.as_str())];
    let loaded = loaded(&both);
    assert_eq!(warnings(&loaded), []);
    assert_eq!(violations(&loaded), ["env: project/shop/b ~ workspace/shop"]);
    assert!(loaded.set_aside.by_type.is_empty(), "{:?}", loaded.set_aside);
}

#[test]
fn pages_may_be_lines_of_one_file() {
    let line = |text: &str| text.replace('\n', " ");
    let lines = [WORKSPACES, &projects(0, 2, &[("a", "dev")]), &projects(1, 2, &[("b", "prod")])].map(line).join("\n");
    let loaded = loaded(&[("policy.yaml", POLICY), ("all.jsonl", &lines)]);
    assert_eq!(violations(&loaded), ["env: project/shop/b ~ workspace/shop"]);
}

#[test]
fn a_page_that_is_missing_is_told() {
    let second = projects(1, 4, &[("b", "dev")]);
    let loaded = loaded(&[("policy.yaml", POLICY), ("w.json", WORKSPACES), ("p1.json", &second)]);
    let message = "pages 0, 2, 3 of the 4 pages of `meshProjects` were not read".to_owned();
    assert_eq!(warnings(&loaded), [(Fault::NotRead, message)]);
    let many = projects(0, 1_000_000_000_000, &[("b", "dev")]);
    let loaded = self::loaded(&[("policy.yaml", POLICY), ("w.json", WORKSPACES), ("p1.json", &many)]);
    let message = "pages 1, 2, 3, 4, 5, … of the 1000000000000 pages of `meshProjects` were not read".to_owned();
    assert_eq!(warnings(&loaded), [(Fault::NotRead, message)]);
}

#[test]
fn pages_of_lists_with_other_addresses_do_not_complete_each_other() {
    let one = projects(0, 2, &[("a", "dev")]);
    let other = projects(1, 2, &[("b", "dev")]).replace("?page", "?workspace=other&page");
    let loaded = loaded(&[("policy.yaml", POLICY), ("w.json", WORKSPACES), ("a.json", &one), ("b.json", &other)]);
    assert_eq!(warnings(&loaded).len(), 2);
}

#[test]
fn pages_that_cannot_be_read_are_mistakes() {
    for (text, expected) in [
        (r#"{"_embedded": []}"#, "UP012 `_embedded` must be a map of lists, not a list"),
        (
            r#"{"_embedded": {"meshProjects": "none"}}"#,
            "UP012 `_embedded.meshProjects` must be a list of documents, not text",
        ),
        (r#"{"_embedded": {"meshProjects": ["x"]}}"#, "UP014 a document must be a map, not text"),
        (
            r#"{"_embedded": {"meshProjects": []}, "page": {"number": "first", "totalPages": 1}}"#,
            "UP012 `page.number` must be a number of pages, not text",
        ),
        (
            r#"{"_embedded": {"meshProjects": []}, "page": {"number": 0, "totalPages": -1}}"#,
            "UP012 `page.totalPages` must be a number of pages, not a number",
        ),
    ] {
        assert_eq!(read(&[("a.json", text)]).err().unwrap_or_default(), [expected], "{text}");
    }
    let twice = projects(0, 1, &[("a", "dev")]);
    let problems = read(&[("w.json", WORKSPACES), ("a.json", &twice), ("b.json", &twice)]).err().unwrap_or_default();
    assert!(problems.iter().any(|problem| problem.contains("project/shop/a")), "{problems:?}");
}

#[test]
fn tables_of_spreadsheets_are_read_like_others() {
    let definitions = "
kind: TagDefinition
of: project
key: budget
type: number
---
kind: TagDefinition
of: workspace
key: budget
type: number
---
type: MeshPolicy
name: budget
a: {kind: project, tag: budget}
b: {kind: workspace, tag: budget}
";
    let objects = "\u{feff}ref;workspace;tags.budget;;\r\nworkspace/shop;;1,5;;\r\nproject/a;shop;1,50;;\r\nproject/b;shop;2,5;;\r\n;;;;\r\n";
    let loaded = loaded(&[("policies.yaml", definitions), ("objects.csv", objects)]);
    assert_eq!(warnings(&loaded), []);
    assert_eq!(violations(&loaded), ["budget: project/b ~ workspace/shop"]);
    let wrong = objects.replace("2,5", "2,5,6");
    let problems = read(&[("policies.yaml", definitions), ("objects.csv", &wrong)]).err().unwrap_or_default();
    assert!(problems.iter().any(|problem| problem.contains("2,5,6")), "{problems:?}");
}
