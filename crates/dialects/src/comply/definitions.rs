//! Tag definitions: which tags objects may carry, and which values.

use smol_str::SmolStr;
use upheld_engine::comply::{Profile, Subject};
use upheld_governance::words::bad_definition;
use upheld_governance::{
    BadDefinition, Definition, Immutable, Mandatory, Pattern, Protects, Redefinition, Restricted, TagSchema, TagType,
};
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Fault};

use super::kind::or_nearest;
use super::reader::Reader;
use super::shapes::{self, Whole};
use crate::shape::Checker;

impl Reader<'_> {
    /// A definition: of a list, or a document of its own.
    pub(super) fn definition(&mut self, written: Value<'_>, whole: Whole) -> Option<Definition> {
        if !Checker::new(self.source, self.found).of("this definition").check(written, &shapes::definition(whole)) {
            return None;
        }
        let subject = self.defined_subject(written)?;
        let tag = self.tag_type(written.get("type")?)?;
        let mut list = |field: &str| written.get(field).map(|values| self.values(values)).unwrap_or_default();
        let (options, withdrawn, default) = (list("options"), list("withdrawn"), list("default"));
        let definition = Definition {
            subject,
            key: key(written),
            tag,
            options,
            withdrawn,
            regex: self.regex(written.get("regex"))?,
            default,
            mandatory: flag(written, "mandatory").map(mandatory).unwrap_or_default(),
            restricted: flag(written, "restricted").map(restricted).unwrap_or_default(),
            immutable: flag(written, "immutable").map(immutable).unwrap_or_default(),
            protects: flag(written, "protects").map(protects).unwrap_or_default(),
            at: Some(self.place(written)),
        };
        Some(canonical(definition))
    }

    /// A definition as meshStack's object API writes it.
    pub(super) fn manifest_definition(&mut self, written: Value<'_>) -> Option<Definition> {
        if !Checker::new(self.source, self.found).check(written, &shapes::manifest_definition()) {
            return None;
        }
        let spec = written.get("spec")?;
        let subject = self.subject_or_kind(spec.get("targetKind")?)?;
        let mut types = spec.get("valueType")?.entries();
        let (Some((word, own)), None) = (types.next(), types.next()) else {
            let at = spec.get("valueType")?;
            self.wrong(Fault::WrongValue, at, "a tag has one type".to_owned(), "expected one entry", "");
            return None;
        };
        let tag = self.tag_type(word)?;
        let mut list = |field: &str| own.get(field).map(|values| self.values(values)).unwrap_or_default();
        let (options, default) = (list("options"), list("defaultValue"));
        let definition = Definition {
            subject,
            key: key(spec),
            tag,
            options,
            withdrawn: Vec::new(),
            regex: self.regex(own.get("validationRegex"))?,
            default,
            mandatory: flag(spec, "mandatory").map(mandatory).unwrap_or_default(),
            restricted: flag(spec, "restricted").map(restricted).unwrap_or_default(),
            immutable: flag(spec, "immutable").map(immutable).unwrap_or_default(),
            protects: Protects::default(),
            at: Some(self.place(written)),
        };
        Some(canonical(definition))
    }

    /// The parts of a definition that change.
    pub(super) fn redefinition(&mut self, written: Value<'_>) -> Option<Redefinition> {
        let subject = self.defined_subject(written)?;
        let tag = match written.get("type") {
            Some(word) => Some(self.tag_type(word)?),
            None => None,
        };
        let mut list = |field: &str| written.get(field).map(|values| self.values(values));
        let (options, default) = (list("options"), list("default"));
        Some(Redefinition {
            subject,
            key: key(written),
            tag,
            options,
            regex: self.regex(written.get("regex"))?,
            default,
            mandatory: flag(written, "mandatory").map(mandatory),
            restricted: flag(written, "restricted").map(restricted),
            immutable: flag(written, "immutable").map(immutable),
        })
    }

    /// Whose tag it is: `kind`, or `of` in a document whose `kind` says something else.
    pub(super) fn defined_subject(&mut self, written: Value<'_>) -> Option<Subject> {
        let word = defined(written);
        if word.is_none() {
            let message = "this definition does not say which objects have the tag".to_owned();
            let at = written.entries().next().map_or(written, |(key, _)| key);
            self.wrong(Fault::MissingField, at, message, "of which objects?", "add `of: project` or the like");
        }
        self.subject_or_kind(word?)
    }

    /// Tags of users are tags of all principals: a definition may name either.
    fn subject_or_kind(&mut self, word: Value<'_>) -> Option<Subject> {
        let subject = subject_or_kind(self.profile, word.text());
        if subject.is_none() {
            let names = self.profile.subjects.iter().map(|subject| subject.name.as_str());
            let (message, help) = (format!("there is no subject `{}`", word.text()), or_nearest(word.text(), names));
            self.wrong(Fault::BadReference, word, message, "unknown subject", &help);
        }
        subject
    }

    fn tag_type(&mut self, word: Value<'_>) -> Option<TagType> {
        let tag = TagType::of(word.text());
        if tag.is_none() {
            let help = or_nearest(word.text(), TagType::ALL.iter().map(|tag| tag.word()));
            let message = format!("there is no type of tags `{}`", word.text());
            self.wrong(Fault::WrongValue, word, message, "unknown type", &help);
        }
        tag
    }

    /// The pattern, where one is written; nothing if that was wrong.
    #[expect(clippy::option_option, reason = "no pattern is not a wrong one")]
    fn regex(&mut self, written: Option<Value<'_>>) -> Option<Option<Pattern>> {
        let Some(written) = written.filter(|written| !written.text().is_empty()) else { return Some(None) };
        if let Ok(regex) = Pattern::new(written.text()) {
            return Some(Some(regex));
        }
        let message = format!("`{}` is not a valid pattern", written.text());
        self.wrong(Fault::WrongValue, written, message, "not a regular expression", "");
        None
    }

    /// Whether a definition makes sense beside the others; why not, if it does not.
    pub(super) fn checked_definition(
        &self,
        known: &TagSchema,
        definition: &Definition,
        written: Value<'_>,
    ) -> Result<(), Diagnostic> {
        let Err(bad) = known.check(definition) else { return Ok(()) };
        let spec = written.get("spec").unwrap_or(written);
        let field = match &bad {
            BadDefinition::Key | BadDefinition::Alike(_) | BadDefinition::Twice => "key",
            BadDefinition::NoOptions | BadDefinition::Type => "type",
            BadDefinition::Regex => "regex",
            BadDefinition::Default(_) => "default",
        };
        let fault = if bad == BadDefinition::Twice { Fault::DefinedTwice } else { Fault::WrongValue };
        let message = format!("the tag definition `{}` {}", definition.key, bad_definition(&bad));
        let at = spec.get(field).unwrap_or(written);
        Err(Diagnostic::error(fault, message).at_value(self.source, at, "here"))
    }
}

/// The word for the objects whose tag is defined.
pub(super) fn defined(written: Value<'_>) -> Option<Value<'_>> {
    let kind = written.get("kind").filter(|kind| kind.text() != super::documented::DEFINITION);
    written.get("of").or(kind)
}

/// A subject by its name, or by that of a kind that counts as it.
pub(super) fn subject_or_kind(profile: &Profile, word: &str) -> Option<Subject> {
    profile.subject(word).or_else(|| profile.kind(word).and_then(|kind| profile.subject_of(kind)))
}

fn key(written: Value<'_>) -> SmolStr {
    SmolStr::new(written.get("key").map_or("", Value::text))
}

fn flag(written: Value<'_>, field: &str) -> Option<bool> {
    written.get(field).and_then(Value::as_bool)
}

fn mandatory(yes: bool) -> Mandatory {
    if yes { Mandatory::Yes } else { Mandatory::No }
}

fn restricted(yes: bool) -> Restricted {
    if yes { Restricted::Yes } else { Restricted::No }
}

fn protects(yes: bool) -> Protects {
    if yes { Protects::Yes } else { Protects::No }
}

fn immutable(yes: bool) -> Immutable {
    if yes { Immutable::Yes } else { Immutable::No }
}

/// Numbers in their shortest form.
fn canonical(mut definition: Definition) -> Definition {
    definition.default = definition.default.iter().map(|value| definition.canonical(value)).collect();
    definition
}
