//! Questions in words, as users ask them.

use upheld_dialects::question::{Asked, Options, Question, Refused, Words};
use upheld_engine::Snapshot;
use upheld_loader::load::{Choices, Loaded};
use upheld_loader::{Format, Input};
use upheld_report::{Answer, Depth, Report};

/// Loads a text.
#[track_caller]
pub(crate) fn loaded(text: &str, semantics: &[&str]) -> Loaded {
    let loaded = Choices::of_semantics(semantics).load(vec![Input::text("world.yaml", Format::Yaml, text)]);
    loaded.unwrap_or_else(|broken| panic!("{:#?}", broken.diagnostics))
}

/// What a question says: `what`, `--from`, `--to`, `--kind`.
pub(crate) fn words(what: Option<&str>, from: Option<&str>, to: Option<&str>, kind: Option<&str>) -> Words {
    let text = |text: Option<&str>| text.map(str::to_owned);
    Words { what: text(what), from: text(from), to: text(to), kind: text(kind), ..Words::default() }
}

pub(crate) fn ask(snapshot: &Snapshot, words: &Words) -> Result<Answer, Refused> {
    let options = Options::at("2026-01-01T00:00:00Z".parse().expect("a time"));
    let question = Question::parse(words, &options)?;
    Asked { snapshot, question: &question, options: &options, depth: Depth::All }.answer()
}

/// The reports of an answer.
#[track_caller]
pub(crate) fn reports(snapshot: &Snapshot, words: &Words) -> Vec<Report> {
    ask(snapshot, words).unwrap_or_else(|refused| panic!("{words:?}: {refused:#?}")).reports
}

/// All messages of warnings.
pub(crate) fn warned(loaded: &Loaded) -> Vec<String> {
    loaded
        .warnings
        .as_slice()
        .iter()
        .map(|warning| format!("{} ({})", warning.message, warning.help.join("; ")))
        .collect()
}
