//! Tags: `!!str 5` is text. In goes a tag with its value, out comes the kind that the tag says.

use std::borrow::Cow;

use granit_parser::Tag;
use upheld_model::{Fault, Kind, Span};

use super::{Reader, narrow, problems, scalar};

/// A tag on a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tagged {
    /// What it says, if it is one of the core schema.
    kind: Option<Kind>,
    /// Where it stands.
    span: Span,
}

impl Tagged {
    pub(super) fn of(tag: Option<Cow<'_, Tag>>, at: &granit_parser::Span) -> Option<Self> {
        let kind = match tag?.core_suffix() {
            Some("str") => Some(Kind::Text),
            Some("null") => Some(Kind::Null),
            Some("bool") => Some(Kind::Bool),
            Some("int") => Some(Kind::Integer),
            Some("float") => Some(Kind::Float),
            Some("seq") => Some(Kind::List),
            Some("map") => Some(Kind::Map),
            _ => None,
        };
        Some(Self { kind, span: at.tag_span().as_ref().map_or_else(|| narrow(at), narrow) })
    }
}

impl Reader<'_> {
    /// The kind of a scalar with a tag.
    pub(super) fn tagged_kind(&mut self, tag: Tagged, text: &str, plain: bool) -> Kind {
        let untagged = if plain { scalar::kind(text) } else { Kind::Text };
        let Some(kind) = tag.kind else {
            self.unknown_tag(tag);
            return untagged;
        };
        let fits = match kind {
            Kind::Text => true,
            Kind::Null => scalar::is_null(text),
            Kind::Bool => scalar::is_boolean(text),
            Kind::Integer => scalar::is_integer(text),
            Kind::Float => scalar::is_float(text) || scalar::is_integer(text),
            Kind::List | Kind::Map => false,
        };
        if fits {
            return kind;
        }
        self.wrong_tag(tag, &format!("`{}`", crate::quote::short(text)));
        untagged
    }

    /// Checks the tag of a list or map.
    pub(super) fn check_tag(&mut self, tag: Tagged, kind: Kind) {
        match tag.kind {
            None => self.unknown_tag(tag),
            Some(said) if said != kind => self.wrong_tag(tag, kind.noun()),
            Some(_) => {}
        }
    }

    fn unknown_tag(&mut self, tag: Tagged) {
        let written = self.written_tag(tag);
        self.found.add(Fault::UnknownTag, |source| problems::unknown_tag(source, tag.span, written));
    }

    fn wrong_tag(&mut self, tag: Tagged, value: &str) {
        let written = self.written_tag(tag);
        self.found.add(Fault::WrongType, |source| problems::wrong_tag(source, tag.span, written, value));
    }
}

impl<'t> Reader<'t> {
    fn written_tag(&self, tag: Tagged) -> &'t str {
        self.text.get(tag.span.start as usize..tag.span.end as usize).unwrap_or_default()
    }
}
