//! What is wrong, with its places.

use std::fmt;

use serde_json::Value as Json;
use upheld_answers::{Refused, diagnostic_json};
use upheld_engine::Snapshot;
use upheld_loader::load::Broken;
use upheld_model::{Diagnostic, Files};

/// What is wrong with documents or with a question: all of it at once, each with its place and what to do next.
///
/// Printed, it is a line for each, as compilers do it:
///
/// ```
/// let problems = upheld::Policies::from_text("{type: Mesh, nam: default}").unwrap_err();
/// let text = "text:1:14: error UP010: this document has no field `nam`\n  help: did you mean `name`?";
/// assert_eq!(problems.to_string(), text);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Problems {
    files: Files,
    diagnostics: Vec<Diagnostic>,
}

impl Problems {
    pub(crate) fn new(files: &Files, diagnostics: Vec<Diagnostic>) -> Self {
        Self { files: files.clone(), diagnostics }
    }

    /// A refusal, with the texts that its places are in.
    pub(crate) fn refused(refused: Refused, snapshot: &Snapshot) -> Self {
        Self { files: refused.files(snapshot).clone(), diagnostics: refused.diagnostics }
    }

    /// These, too, which are at no place.
    pub(crate) fn and(mut self, more: Vec<Diagnostic>) -> Self {
        self.diagnostics.extend(more);
        self
    }

    /// One by one.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The texts that their places are in.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// As the command line and the server write them: code, severity, message, place and help of each.
    pub fn json(&self) -> Vec<Json> {
        self.diagnostics.iter().map(|diagnostic| diagnostic_json(&self.files, diagnostic)).collect()
    }
}

impl From<Diagnostic> for Problems {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { files: Files::default(), diagnostics: vec![diagnostic] }
    }
}

impl From<Box<Broken>> for Problems {
    fn from(broken: Box<Broken>) -> Self {
        let Broken { files, diagnostics } = *broken;
        Self { files, diagnostics: diagnostics.into_iter().collect() }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, diagnostic) in self.diagnostics.iter().enumerate() {
            if position > 0 {
                writeln!(f)?;
            }
            let label = diagnostic.label.as_ref();
            if let Some(at) = label.and_then(|label| self.files.locate_span(label.source, label.span)) {
                write!(f, "{}:{}:{}: ", at.file, at.line, at.column)?;
            }
            let Diagnostic { severity, fault, message, help, .. } = diagnostic;
            write!(f, "{} {}: {message}", severity.word(), fault.code())?;
            for help in help {
                write!(f, "\n  help: {help}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
