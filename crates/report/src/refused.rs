//! Questions that cannot be answered, and what is wrong with them.

use serde_json::{Value as Json, json};
use upheld_engine::Snapshot;
use upheld_model::{Diagnostic, Files, Label};

/// Why there is no answer.
#[derive(Debug, Default)]
pub struct Refused {
    /// The text of the question, if that is where the problems lie; else they lie in the files of the snapshot, or nowhere.
    pub question: Option<Files>,
    /// At least one.
    pub diagnostics: Vec<Diagnostic>,
}

impl Refused {
    /// Where the places of the diagnostics are looked up.
    pub fn files<'f>(&'f self, snapshot: &'f Snapshot) -> &'f Files {
        self.question.as_ref().unwrap_or_else(|| snapshot.files())
    }

    /// The diagnostics as programs get them.
    pub fn json(&self, snapshot: &Snapshot) -> Vec<Json> {
        let files = self.files(snapshot);
        self.diagnostics.iter().map(|diagnostic| diagnostic_json(files, diagnostic)).collect()
    }
}

impl From<Diagnostic> for Refused {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::from(vec![diagnostic])
    }
}

impl From<Vec<Diagnostic>> for Refused {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self { question: None, diagnostics }
    }
}

/// A diagnostic as programs get it: code, severity and message, its place if it has one, other places, and what to do next.
pub fn diagnostic_json(files: &Files, diagnostic: &Diagnostic) -> Json {
    let mut told = json!({
        "code": diagnostic.fault.code(), "severity": diagnostic.severity.word(), "message": diagnostic.message,
    });
    let Some(map) = told.as_object_mut() else { return told };
    if let Some(Json::Object(place)) = diagnostic.label.as_ref().and_then(|label| place(files, label)) {
        map.extend(place);
    }
    let related: Vec<Json> = diagnostic.related.iter().filter_map(|label| place(files, label)).collect();
    if !related.is_empty() {
        map.insert("related".to_owned(), json!(related));
    }
    if !diagnostic.help.is_empty() {
        map.insert("help".to_owned(), json!(diagnostic.help));
    }
    told
}

fn place(files: &Files, label: &Label) -> Option<Json> {
    let found = files.locate_span(label.source, label.span)?;
    Some(json!({"file": found.file, "line": found.line, "column": found.column, "here": label.text}))
}

#[cfg(test)]
mod tests {
    use upheld_loader::{Format, Input, load::load};

    use super::*;

    #[test]
    fn a_diagnostic_names_its_place_and_what_to_do() {
        let text = "type: TrafficLog\nname: all\nmesh: default\nsourcs: []\n";
        let Err(broken) = load(vec![Input::text("all.yaml", Format::Yaml, text)], &[]) else { panic!("is read") };
        let told: Vec<Json> =
            broken.diagnostics.as_slice().iter().map(|one| diagnostic_json(&broken.files, one)).collect();
        let unknown = told.iter().find(|one| one["line"] == 4).expect("the misspelt field is told");
        assert_eq!(unknown["severity"], "error");
        assert_eq!(unknown["file"], "all.yaml");
        assert_eq!(unknown["column"], 1);
        assert!(unknown["code"].as_str().is_some_and(|code| code.starts_with("UP")), "{unknown}");
        assert!(unknown["help"].is_array(), "{unknown}");
    }

    #[test]
    fn without_a_place_there_is_only_what_is_wrong() {
        let refused = Refused::from(Diagnostic::error(upheld_model::Fault::NotFound, "nothing is called `x`"));
        let told = diagnostic_json(&Files::default(), &refused.diagnostics[0]);
        assert_eq!(told, json!({"code": "UP901", "severity": "error", "message": "nothing is called `x`"}));
    }
}
