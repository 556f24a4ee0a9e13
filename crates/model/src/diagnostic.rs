//! What is wrong with an input: one value, rendered elsewhere.

use crate::source::{NodeRef, SourceId};
use crate::tree::{Span, Value};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably not meant.
    Warning,
    /// The document cannot be used.
    Error,
}

impl Severity {
    /// The word that users see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A marked place with a few words beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The file.
    pub source: SourceId,
    /// The bytes to underline.
    pub span: Span,
    /// What to say there; may be empty.
    pub text: String,
}

/// One problem: a stable code, a headline that stands alone, places, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code.
    pub fault: Fault,
    /// How bad it is.
    pub severity: Severity,
    /// Lower-case, no full stop, what users wrote in backticks.
    pub message: String,
    /// Where, if it is about a place in a text.
    pub label: Option<Label>,
    /// Other places that matter.
    pub related: Vec<Label>,
    /// What to do next.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// An error with this headline.
    pub fn error(fault: Fault, message: impl Into<String>) -> Self {
        Self::new(fault, Severity::Error, message)
    }

    /// A warning with this headline.
    pub fn warning(fault: Fault, message: impl Into<String>) -> Self {
        Self::new(fault, Severity::Warning, message)
    }

    fn new(fault: Fault, severity: Severity, message: impl Into<String>) -> Self {
        Self { fault, severity, message: message.into(), label: None, related: Vec::new(), help: Vec::new() }
    }

    /// Says where.
    #[must_use]
    pub fn at(self, source: SourceId, span: Span, text: impl Into<String>) -> Self {
        Self { label: Some(Label { source, span, text: text.into() }), ..self }
    }

    /// Says where, by a value.
    #[must_use]
    pub fn at_value(self, source: SourceId, value: Value<'_>, text: impl Into<String>) -> Self {
        self.at(source, value.span(), text)
    }

    /// Adds another place.
    #[must_use]
    pub fn related(mut self, source: SourceId, span: Span, text: impl Into<String>) -> Self {
        self.related.push(Label { source, span, text: text.into() });
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }
}

/// Problems in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    found: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Adds many.
    pub fn extend(&mut self, more: impl IntoIterator<Item = Diagnostic>) {
        self.found.extend(more);
    }

    /// All of them.
    pub fn as_slice(&self) -> &[Diagnostic] {
        &self.found
    }

    /// How many errors there are.
    pub fn errors(&self) -> usize {
        self.found.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
    }

    /// Sorts by file and place, so that readers walk through their files once.
    pub fn sort(&mut self) {
        self.found.sort_by(|a, b| {
            let place = |d: &Diagnostic| d.label.as_ref().map(|label| (label.source, label.span));
            place(a).cmp(&place(b)).then_with(|| a.fault.cmp(&b.fault)).then_with(|| a.message.cmp(&b.message))
        });
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.into_iter()
    }
}

/// Everything that can be wrong with an input. The numbers are stable: a code is never used for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The text is not YAML or JSON.
    Syntax,
    /// A key stands twice in one map.
    DuplicateKey,
    /// The file is not UTF-8.
    NotUtf8,
    /// A limit was passed: size, depth, alias expansion.
    Limit,
    /// A file or folder cannot be read.
    Unreadable,
    /// A bare `yes`, `no`, `on` or `off`.
    AmbiguousBoolean,
    /// A YAML tag that means nothing here.
    UnknownTag,
    /// A field that the document type does not have.
    UnknownField,
    /// A field that must be there is not.
    MissingField,
    /// A value of the wrong type.
    WrongType,
    /// A value outside what is allowed.
    WrongValue,
    /// A document that no dialect knows.
    UnknownDocument,
    /// Two documents with one identity.
    DefinedTwice,
    /// A `PolicyKind` that cannot work.
    BrokenKind,
    /// Wildcards beat exact values, because the number of tags is compared first.
    WildcardsOutrank,
    /// The winner was chosen by the last, arbitrary rung.
    ArbitraryTie,
    /// A name that nothing has.
    NotFound,
    /// A name that several things have.
    Ambiguous,
    /// A question that lacks something.
    IncompleteQuestion,
    /// A setting that does not exist or cannot have this value.
    BadSetting,
}

impl Fault {
    /// All codes in order.
    pub const ALL: [Self; 20] = [
        Self::Syntax,
        Self::DuplicateKey,
        Self::NotUtf8,
        Self::Limit,
        Self::Unreadable,
        Self::AmbiguousBoolean,
        Self::UnknownTag,
        Self::UnknownField,
        Self::MissingField,
        Self::WrongType,
        Self::WrongValue,
        Self::UnknownDocument,
        Self::DefinedTwice,
        Self::BrokenKind,
        Self::WildcardsOutrank,
        Self::ArbitraryTie,
        Self::NotFound,
        Self::Ambiguous,
        Self::IncompleteQuestion,
        Self::BadSetting,
    ];

    /// The code that users search for and suppress by.
    pub fn code(self) -> &'static str {
        match self {
            Self::Syntax => "UP001",
            Self::DuplicateKey => "UP002",
            Self::NotUtf8 => "UP003",
            Self::Limit => "UP004",
            Self::Unreadable => "UP005",
            Self::AmbiguousBoolean => "UP006",
            Self::UnknownTag => "UP007",
            Self::UnknownField => "UP010",
            Self::MissingField => "UP011",
            Self::WrongType => "UP012",
            Self::WrongValue => "UP013",
            Self::UnknownDocument => "UP014",
            Self::DefinedTwice => "UP015",
            Self::BrokenKind => "UP016",
            Self::WildcardsOutrank => "UP107",
            Self::ArbitraryTie => "UP201",
            Self::NotFound => "UP901",
            Self::Ambiguous => "UP902",
            Self::IncompleteQuestion => "UP903",
            Self::BadSetting => "UP904",
        }
    }
}

/// A [`Diagnostic`] about one value of one file needs both; this pair is passed around while reading.
pub type Spot<'t> = (SourceId, Value<'t>);

/// The reference that belongs to a spot.
pub fn node_ref((source, value): Spot<'_>) -> NodeRef {
    NodeRef { source, node: value.number() }
}
