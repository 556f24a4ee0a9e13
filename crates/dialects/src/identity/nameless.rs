//! Why a document has no identity, and what would give it one.

use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Fault, SourceId};

/// What a document lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nameless {
    /// It does not say what it is.
    NoType,
    /// It is something else than a map.
    NoMap(Kind),
    /// It is a list: each of its items is a document.
    Several,
    /// It says what it is, but not which one.
    Lacks {
        /// What it is.
        kind: String,
        /// What would tell it apart: any of these will do.
        fields: Vec<String>,
    },
}

impl Nameless {
    /// Something that needs any of some fields.
    pub(crate) fn lacks<F: Into<String>>(kind: &str, fields: impl IntoIterator<Item = F>) -> Self {
        Self::Lacks { kind: kind.to_owned(), fields: fields.into_iter().map(Into::into).collect() }
    }

    /// For whoever wrote the document.
    pub fn diagnostic(&self, source: SourceId, document: Value<'_>) -> Diagnostic {
        match self {
            Self::NoType => Diagnostic::error(Fault::UnknownDocument, "this document does not say what it is")
                .at_value(source, document, "no `type` and no `kind` here")
                .help("only objects (`ref: kind/id`), relationships (`a` and `b`) and access policies (`id`, `effect`, …) need none"),
            Self::NoMap(kind) => {
                Diagnostic::error(Fault::UnknownDocument, format!("a document must be a map, not {}", kind.noun()))
                    .at_value(source, document, "expected `type:` or `kind:` with the fields of a resource")
            }
            Self::Several => {
                Diagnostic::error(Fault::UnknownDocument, "a list is stored document by document, each under its own id")
                    .at_value(source, document, "expected one document")
                    .help("send all of them to /v1/revisions")
            }
            Self::Lacks { kind, fields } => {
                let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
                let fields = fields.join(" or ");
                Diagnostic::error(Fault::MissingField, format!("this {kind} has no {fields}, so nothing tells it apart from others"))
                    .at_value(source, document, format!("{fields} is missing here"))
            }
        }
    }
}
