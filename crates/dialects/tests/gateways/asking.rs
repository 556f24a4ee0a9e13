//! Asks as a command line asks.

use serde_json::{Value as Json, from_value, json};
use upheld_dialects::dialects;
use upheld_dialects::question::{Asked, Options, Question, Refused, Words};
use upheld_loader::load::{Choices, Loaded};
use upheld_loader::{Format, Input};
use upheld_model::Timestamp;
use upheld_report::{Answer, Depth, Report};

pub(crate) const CURRENT: &str = "kgateway/2026";
pub(crate) const PROPOSED: &str = "kgateway/ep-11268";

/// Reads documents under an edition. They are as short as their cases allow.
pub(crate) fn read(edition: &str, text: &str) -> Loaded {
    let choices = Choices::of_semantics(&[edition]).without_schemas();
    choices.load(vec![Input::text("documents.yaml", Format::Yaml, text)]).expect("is read")
}

/// The answer to a question, or why there is none.
pub(crate) fn answer(edition: &str, text: &str, question: Json) -> Result<Answer, Refused> {
    let loaded = read(edition, text);
    let options = Options { semantics: vec![edition.to_owned()], ..Options::at(Timestamp(0)) };
    let words: Words = from_value(question).expect("are words");
    let question = &Question::parse(&words, &options)?;
    Asked { snapshot: &loaded.snapshot, question, options: &options, depth: Depth::All }.answer()
}

/// All reports about something, under the usual edition.
pub(crate) fn reports(text: &str, what: &str) -> Vec<Report> {
    answer(CURRENT, text, json!({"what": what})).expect("is answered").reports
}

/// The only report of a kind about something.
pub(crate) fn report(edition: &str, text: &str, what: &str, kind: &str) -> Report {
    let answer = answer(edition, text, json!({"what": what, "kind": kind})).expect("is answered");
    let [report] = <[Report; 1]>::try_from(answer.reports).expect("one report");
    report
}

/// The value of a field, and the first policy that it comes from.
pub(crate) fn held(report: &Report, field: &str) -> Option<(Json, String)> {
    let found = report.fields.iter().find(|one| one.path == field && one.value.is_some())?;
    Some((found.value.clone()?, found.from.first()?.policy.clone()))
}

/// What a policy says to a field in vain, and why.
pub(crate) fn overridden<'r>(report: &'r Report, field: &str, policy: &str) -> Option<(&'r Json, &'r str)> {
    let found = report.fields.iter().find(|one| one.path == field)?;
    let over = found.over.iter().find(|over| over.policy == policy)?;
    Some((&over.value, &over.reason.text))
}

/// The texts of notes with a code.
pub(crate) fn notes<'r>(report: &'r Report, code: &str) -> Vec<&'r str> {
    report.notes.iter().filter(|note| note.code == code).map(|note| note.text.as_str()).collect()
}

/// What is refused, with all that is said about it.
pub(crate) fn refusal(text: &str, question: Json) -> String {
    let refused = answer(CURRENT, text, question).expect_err("is refused");
    let told = refused.diagnostics.iter().map(|one| format!("{}; {}", one.message, one.help.join("; ")));
    told.collect::<Vec<_>>().join("\n")
}

/// What is wrong with policies, whatever is asked.
pub(crate) fn findings(loaded: &Loaded) -> Vec<String> {
    let found = dialects().flat_map(|dialect| dialect.findings(&loaded.snapshot));
    found.map(|finding| finding.problem.message).collect()
}
