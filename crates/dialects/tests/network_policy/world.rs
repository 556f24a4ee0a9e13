//! Documents and a connection in, words out.

use serde_json::{Value as Json, json};
use upheld_dialects::question::{Asked, Options, Question, Words};
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::{Severity, Timestamp};
use upheld_report::{Answer, Depth, Refused, Report};

/// What a text in YAML comes to.
pub(crate) fn read(text: &str) -> Loaded {
    try_read(text).unwrap_or_else(|problems| panic!("{}", problems.join("\n")))
}

/// The same, or everything that is wrong with it.
pub(crate) fn try_read(text: &str) -> Result<Loaded, Vec<String>> {
    load(vec![Input::text("documents.yaml", Format::Yaml, text)], &[]).map_err(|broken| {
        let errors = broken.diagnostics.as_slice().iter().filter(|problem| problem.severity == Severity::Error);
        let told = errors.map(|problem| {
            assert!(problem.label.is_some(), "`{}` says not where", problem.message);
            [std::slice::from_ref(&problem.message), problem.help.as_slice()].concat().join("; ")
        });
        told.collect()
    })
}

/// The answer to a question in words.
pub(crate) fn ask(loaded: &Loaded, words: &Json) -> Result<Answer, Refused> {
    let options = Options::at(Timestamp(0));
    let words: Words = serde_json::from_value(words.clone()).unwrap();
    let question = Question::parse(&words, &options)?;
    Asked { snapshot: &loaded.snapshot, question: &question, options: &options, depth: Depth::All }.answer()
}

/// The reports of an answer.
pub(crate) fn reports(loaded: &Loaded, words: &Json) -> Vec<Report> {
    ask(loaded, words).unwrap_or_else(|refused| panic!("{words}: {:?}", refused.diagnostics)).reports
}

/// Why there is no answer.
pub(crate) fn refused(loaded: &Loaded, words: &Json) -> String {
    let refused = ask(loaded, words).expect_err("no answer");
    let told = refused
        .diagnostics
        .iter()
        .map(|problem| [std::slice::from_ref(&problem.message), problem.help.as_slice()].concat().join("; "));
    told.collect::<Vec<_>>().join("\n")
}

/// What both ends come to together.
pub(crate) fn verdict(reports: &[Report]) -> &'static str {
    let words: Vec<&str> = reports.iter().map(|report| report.verdict.word()).collect();
    assert!(!words.is_empty());
    if words.contains(&"deny") {
        return "deny";
    }
    if words.contains(&"undecided") { "undecided" } else { "permit" }
}

/// `egress of …: permit by …`, one for each report.
pub(crate) fn said(reports: &[Report]) -> Vec<String> {
    let line = |report: &Report| {
        let place = report.about.place.as_deref().unwrap_or_default();
        format!("{place}: {} by {}", report.verdict.word(), report.standing().join(", "))
    };
    reports.iter().map(line).collect()
}

/// May one call the other on a port?
pub(crate) fn may(loaded: &Loaded, from: &str, to: &str, port: u16) -> &'static str {
    verdict(&reports(loaded, &json!({"from": from, "to": to, "port": port})))
}

/// A pod of namespace `a` or another, with labels.
pub(crate) fn pod(name: &str, namespace: &str, labels: &str) -> String {
    format!(
        "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: {namespace}, labels: {{{labels}}}}}}}\n"
    )
}

/// A namespace with labels.
pub(crate) fn namespace(name: &str, labels: &str) -> String {
    format!("---\n{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}, labels: {{{labels}}}}}}}\n")
}

/// A policy in namespace `a`.
pub(crate) fn policy(name: &str, spec: &str) -> String {
    let head = "apiVersion: networking.k8s.io/v1, kind: NetworkPolicy";
    format!("---\n{{{head}, metadata: {{name: {name}, namespace: a}}, spec: {{{spec}}}}}\n")
}

/// Two pods in `a`, one in `b`, both namespaces described, and policies.
pub(crate) fn world(specs: &[&str]) -> Loaded {
    let mut text = [
        pod("web", "a", "app: web, tier: front"),
        pod("db", "a", "app: db"),
        pod("far", "b", "app: web"),
        namespace("a", "team: one"),
        namespace("b", "team: two"),
    ]
    .concat();
    for (number, spec) in specs.iter().enumerate() {
        text.push_str(&policy(&format!("p{number}"), spec));
    }
    read(&text)
}
