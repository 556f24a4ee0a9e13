//! The words for values that are well written YAML and yet cannot be used.

use upheld_model::{Diagnostic, Fault, SourceId, Span};

use crate::quote;

/// A list or a map as a key, which may come from a template.
pub(super) fn complex_key(source: SourceId, span: Span, is_template: bool) -> Diagnostic {
    let problem = Diagnostic::error(Fault::Syntax, "a list or a map cannot be a key").at(source, span, "");
    problem.help(if is_template { TEMPLATE } else { "put the key in quotes if it is meant as text" })
}

/// What to do about text that a template engine was to replace.
pub(super) const TEMPLATE: &str = "`{{ … }}` looks like a template: render it first, for example with `helm template`";

/// A bare `yes`, `no`, `on` or `off`.
pub(super) fn ambiguous_boolean(source: SourceId, span: Span, written: &str) -> Diagnostic {
    let meant =
        if written.eq_ignore_ascii_case("yes") || written.eq_ignore_ascii_case("on") { "true" } else { "false" };
    Diagnostic::warning(Fault::AmbiguousBoolean, format!("`{written}` is text in YAML 1.2 and a boolean in YAML 1.1"))
        .at(source, span, "read as text")
        .help(format!("write `\"{written}\"` for the text, or `{meant}` for the boolean"))
}

/// A tag that is none of the seven of the core schema.
pub(super) fn unknown_tag(source: SourceId, span: Span, tag: &str) -> Diagnostic {
    Diagnostic::error(Fault::UnknownTag, format!("tag `{}` is not valid here", quote::short(tag)))
        .at(source, span, "")
        .help("remove it, or use one of `!!str`, `!!int`, `!!float`, `!!bool`, `!!null`, `!!map`, `!!seq`")
}

/// A tag of the core schema on a value that it does not fit.
pub(super) fn wrong_tag(source: SourceId, span: Span, tag: &str, value: &str) -> Diagnostic {
    Diagnostic::error(Fault::WrongType, format!("tag `{tag}` does not fit {value}"))
        .at(source, span, "")
        .help("remove the tag or correct the value")
}

/// Something else than a map after `<<`.
pub(super) fn merged_value(source: SourceId, span: Span) -> Diagnostic {
    Diagnostic::error(Fault::WrongType, "`<<` takes a map or a list of maps").at(source, span, "this is not a map")
}
