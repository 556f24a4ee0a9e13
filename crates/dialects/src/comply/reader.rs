//! What readers of all documents need: where they are, by which rules they read, and where to complain.

use smol_str::{SmolStr, format_smolstr};
use upheld_engine::comply::{Kind, Partner, Profile, Subject};
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Diagnostics, Fault, NodeRef, SourceId, Timestamp};

use super::kind::or_nearest;

/// Reads the documents of one file.
#[derive(Debug)]
pub(super) struct Reader<'r> {
    pub(super) source: SourceId,
    pub(super) profile: &'r Profile,
    pub(super) found: &'r mut Diagnostics,
}

impl<'r> Reader<'r> {
    pub(super) fn new(source: SourceId, profile: &'r Profile, found: &'r mut Diagnostics) -> Self {
        Self { source, profile, found }
    }

    /// Where a value stands.
    pub(super) fn place(&self, value: Value<'_>) -> NodeRef {
        NodeRef { source: self.source, node: value.number() }
    }

    /// Reports a mistake and what to do about it.
    pub(super) fn wrong(&mut self, fault: Fault, at: Value<'_>, message: String, label: &str, help: &str) {
        let diagnostic = Diagnostic::error(fault, message).at_value(self.source, at, label);
        self.found.push(if help.is_empty() { diagnostic } else { diagnostic.help(help) });
    }

    /// A kind of objects by any of its names.
    pub(super) fn kind(&mut self, word: &str, at: Value<'_>) -> Option<Kind> {
        let kind = self.profile.kind(word);
        if kind.is_none() {
            let names = self.profile.kinds.iter().map(|kind| kind.name.as_str());
            let (message, help) = (format!("there is no kind of object `{word}`"), or_nearest(word, names));
            self.wrong(Fault::BadReference, at, message, "unknown kind", &help);
        }
        kind
    }

    /// A subject by any of its names. A kind that is not a subject of its own is refused, with the reason.
    pub(super) fn subject(&mut self, word: Value<'_>) -> Option<Subject> {
        let known = self.profile.subject(word.text());
        if known.is_some() {
            return known;
        }
        let group = self.profile.kind(word.text()).and_then(|kind| self.profile.subject_of(kind));
        if let Some(group) = group {
            let title = title(self.profile, group);
            let message = format!("no policy can be about `{}` alone: only about {title}", word.text());
            let help = format!(
                "all of them can be related to the same objects, so a rule for some would not cover the others; write `{}`",
                self.profile.subject_name(group)
            );
            self.wrong(Fault::NotRelated, word, message, "no subject of its own", &help);
        } else {
            let names = self.profile.subjects.iter().map(|subject| subject.name.as_str());
            let (message, help) = (format!("there is no subject `{}`", word.text()), or_nearest(word.text(), names));
            self.wrong(Fault::BadReference, word, message, "unknown subject", &help);
        }
        None
    }

    /// `kind/id`, with what each part is.
    pub(super) fn reference<'v>(&mut self, value: Value<'v>) -> Option<(Kind, &'v str)> {
        match value.text().split_once('/') {
            Some((word, id)) if !id.is_empty() => self.kind(word, value).map(|kind| (kind, id)),
            _ => {
                let message = format!("`{}` is not a valid reference", value.text());
                self.wrong(
                    Fault::BadReference,
                    value,
                    message,
                    "expected `kind/id`",
                    "for example `project/shop-prod`",
                );
                None
            }
        }
    }

    /// As [`Self::reference`], where the kind is known and may be left out.
    pub(super) fn reference_to<'v>(&mut self, expected: Kind, value: Value<'v>) -> Option<&'v str> {
        let text = value.text();
        match text.split_once('/') {
            Some((word, id)) if self.profile.kind(word) == Some(expected) => Some(id),
            _ if text.is_empty() => {
                self.wrong(Fault::BadReference, value, "a name must not be empty".to_owned(), "expected an id", "");
                None
            }
            _ => Some(text),
        }
    }

    /// What pays for an object, if that is written; the kind may be left out.
    pub(super) fn payer<'v>(&mut self, written: Value<'v>) -> Option<(Value<'v>, Kind, &'v str)> {
        let value = written.get("paymentMethod").filter(|value| !value.text().is_empty())?;
        let word = value.text().split_once('/').map(|(word, _)| word);
        let (kind, id) = match (word.and_then(|word| self.profile.kind(word)), self.profile.kind("paymentMethod")) {
            (None, Some(kind)) => (kind, value.text()),
            _ => self.reference(value)?,
        };
        Some((value, kind, id))
    }

    /// The reference of an object, by the neutral name of its kind.
    pub(super) fn told(&self, kind: Kind, id: &str) -> SmolStr {
        format_smolstr!("{}/{id}", self.profile.kind_name(kind))
    }

    /// A moment, if one is written.
    pub(super) fn moment(&mut self, item: Value<'_>, field: &str) -> Option<Timestamp> {
        let value = item.get(field).filter(|value| !value.text().is_empty())?;
        let moment = value.text().parse().ok();
        if moment.is_none() {
            let message = format!("`{field}` is not a valid timestamp: `{}`", value.text());
            self.wrong(Fault::WrongValue, value, message, "expected a timestamp such as 2026-02-03T12:00:00Z", "");
        }
        moment
    }
}

/// What the house calls a subject.
pub(super) fn title(profile: &Profile, subject: Subject) -> &str {
    profile.subject_spec(subject).map_or("", |spec| spec.title.as_deref().unwrap_or(&spec.name))
}

/// A text, if one is written.
pub(super) fn text(item: Value<'_>, field: &str) -> Option<SmolStr> {
    item.get(field).map(Value::text).filter(|text| !text.is_empty()).map(SmolStr::new)
}

/// Whether an object is the provider's own.
pub(super) fn partner(written: Value<'_>) -> Partner {
    if written.get("class").map(Value::text) == Some("partner") { Partner::Yes } else { Partner::No }
}

/// Whether a field says yes; tables have no other truth than the word.
pub(super) fn is_true(value: Value<'_>) -> bool {
    value.text().eq_ignore_ascii_case("true")
}
