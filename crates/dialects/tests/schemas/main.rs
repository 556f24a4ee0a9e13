//! What is known of the fields of documents: right and wrong payloads of every system, every mistake with its place.

mod corpora;
mod gateways;
mod kinds;
mod mesh;
mod setting;

use upheld_loader::load::{Choices, Loaded};
use upheld_loader::{Format, Input};
use upheld_model::Severity;

/// Reads a text; mistakes as `line:column message; help; help`, in the order of the text.
pub(crate) fn read_under(choices: Choices, text: &str) -> Result<Loaded, Vec<String>> {
    choices.load(vec![Input::text("test.yaml", Format::Yaml, text)]).map_err(|broken| {
        let errors = broken.diagnostics.as_slice().iter().filter(|problem| problem.severity == Severity::Error);
        let lines = errors.map(|problem| {
            let label = problem.label.as_ref();
            let place = label.and_then(|label| broken.files.locate_span(label.source, label.span));
            let (line, column) = place.map_or((0, 0), |place| (place.line, place.column));
            let help = problem.help.iter().map(|help| format!("; {help}")).collect::<String>();
            format!("{line}:{column} {}{help}", problem.message)
        });
        lines.collect()
    })
}

pub(crate) fn read(text: &str) -> Result<Loaded, Vec<String>> {
    read_under(Choices::default(), text)
}

/// The mistakes of a text, without the hint that stands once in all of them.
pub(crate) fn mistakes(text: &str) -> Vec<String> {
    let told = read(text).err().unwrap_or_default();
    told.into_iter().map(|line| line.replace(HINT, "")).collect()
}

/// The same without places, for what is about words.
pub(crate) fn messages(text: &str) -> Vec<String> {
    let words = |line: &String| line.split_once(' ').map_or_else(String::new, |(_, words)| words.to_owned());
    mistakes(text).iter().map(words).collect()
}

/// How to go on with another version of the kinds.
pub(crate) const HINT: &str = "; for another version of these kinds, turn such checks off: `--schemas off`";
