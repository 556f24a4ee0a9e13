//! What a document may look like: one description that checks documents, locates every mistake, and prints as JSON Schema.

mod format;
mod path;
mod rule;
mod schema;

use std::sync::Arc;

use upheld_model::nearest::{is_slip, nearest};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId};

pub use self::format::Format;
pub use self::path::Path;
use self::rule::Fields;
pub use self::rule::{Demand, Rule};

/// The shape of a value.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Anything; not ours to read.
    Opaque,
    /// Text; numbers and booleans must be quoted.
    Text,
    /// Text that is not empty.
    Name,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Bool,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// A list of values of one shape.
    List(Box<Shape>),
    /// A map with any keys and values of one shape.
    MapOf(Box<Shape>),
    /// A map with these keys and no others.
    Object(Vec<Field>),
    /// Any of these; the kind of value tells which.
    Either(Vec<Shape>),
    /// One of these texts, as data says.
    OneOf(Vec<String>),
    /// A whole number between these two.
    Between(i64, i64),
    /// Text of a named format.
    Formatted(Format),
    /// A map with these keys, and others that are not known here: a newer version may have them.
    Open(Vec<Field>),
    /// A value with rules besides its shape.
    Ruled(Box<Shape>, Vec<Rule>),
    /// A shape that others have, too.
    Shared(Arc<Shape>),
}

/// One key of an object.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What its value looks like.
    pub shape: Shape,
    /// Whether it must be there.
    pub need: Need,
    /// One line for people.
    pub about: &'static str,
}

/// Whether a field must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It must.
    Required,
    /// It must, unless another field says it.
    Unless(&'static str),
    /// It may be left out.
    Optional,
}

impl Need {
    /// Whether it must be there in a map that does not have it.
    fn is_missed(self, map: Value<'_>) -> bool {
        match self {
            Self::Required => true,
            Self::Unless(other) => map.get(other).is_none_or(|other| other.text().is_empty()),
            Self::Optional => false,
        }
    }
}

impl Field {
    /// What to do about it that it is not there.
    fn missing(&self) -> String {
        if self.about.is_empty() {
            format!("add `{}:`, {}", self.name, self.shape.noun())
        } else {
            format!("add `{}:`, {}", self.name, self.about)
        }
    }
}

/// A field that must be there.
pub fn required(name: impl Into<String>, shape: Shape, about: &'static str) -> Field {
    Field { name: name.into(), shape, need: Need::Required, about }
}

/// A field that may be left out.
pub fn optional(name: impl Into<String>, shape: Shape, about: &'static str) -> Field {
    Field { name: name.into(), shape, need: Need::Optional, about }
}

/// A list of values of one shape.
pub fn list(shape: Shape) -> Shape {
    Shape::List(Box::new(shape))
}

/// A map with any keys and values of one shape.
pub fn map_of(shape: Shape) -> Shape {
    Shape::MapOf(Box::new(shape))
}

/// Compares documents with shapes and reports every difference.
#[derive(Debug)]
pub struct Checker<'c> {
    source: SourceId,
    found: &'c mut Diagnostics,
    /// What is checked, where that is not a whole document.
    whole: Option<String>,
    /// The way to the value at hand; words are made of it only when something is wrong.
    path: Vec<Step<'c>>,
    placeholders: Placeholders<'c>,
}

/// What is done about texts with `${NAME}` where something else is expected.
#[derive(Debug)]
enum Placeholders<'c> {
    /// They are wrong, as any other text.
    Wrong,
    /// Nobody knows what will be there, so that they are left out.
    LeftOut(Vec<Value<'c>>),
}

#[derive(Clone, Copy, Debug)]
enum Step<'c> {
    Key(&'c str),
    Item(usize),
    Path(&'c Path),
}

impl<'c> Checker<'c> {
    /// For documents of one file.
    pub fn new(source: SourceId, found: &'c mut Diagnostics) -> Self {
        Self { source, found, whole: None, path: Vec::new(), placeholders: Placeholders::Wrong }
    }

    /// Says nothing against texts with `${NAME}`: something else will be in their place.
    #[must_use]
    pub fn before_substitution(self) -> Self {
        Self { placeholders: Placeholders::LeftOut(Vec::new()), ..self }
    }

    /// Texts that were not checked, because nobody knows what will be in their place.
    pub fn left_out(self) -> Vec<Value<'c>> {
        match self.placeholders {
            Placeholders::Wrong => Vec::new(),
            Placeholders::LeftOut(values) => values,
        }
    }

    /// Whether nobody knows yet what a value will be.
    fn leaves_out(&mut self, value: Value<'c>, shape: &Shape) -> bool {
        let Placeholders::LeftOut(values) = &mut self.placeholders else { return false };
        let is_left_out = shape.is_narrower_than_text()
            && value.kind() == Kind::Text
            && crate::document::placeholder(value.text()).is_some();
        if is_left_out {
            values.push(value);
        }
        is_left_out
    }

    /// For a part of a document that has a name of its own.
    #[must_use]
    pub fn of(self, whole: impl Into<String>) -> Self {
        Self { whole: Some(whole.into()), ..self }
    }

    /// For a part of a document that stands under a key.
    #[must_use]
    pub fn under(mut self, key: &'c str) -> Self {
        self.path.push(Step::Key(key));
        self
    }

    /// Checks a value; whether it is right in every respect.
    pub fn check(&mut self, value: Value<'c>, shape: &'c Shape) -> bool {
        if self.leaves_out(value, shape) {
            return true;
        }
        match shape {
            Shape::Opaque => true,
            Shape::Object(fields) | Shape::Open(fields) => {
                let open = matches!(shape, Shape::Open(_));
                self.expect(value, shape) && self.check_fields(value, fields, open)
            }
            Shape::List(item) => {
                self.expect(value, shape)
                    && value.items().enumerate().fold(true, |right, (index, value)| {
                        self.within(Step::Item(index), |checker| checker.check(value, item)) && right
                    })
            }
            Shape::MapOf(item) => {
                self.expect(value, shape)
                    && value.entries().fold(true, |right, (key, value)| {
                        self.within(Step::Key(key.text()), |checker| checker.check(value, item)) && right
                    })
            }
            Shape::Choice(choices) => {
                self.expect(value, shape) && (choices.contains(&value.text()) || self.wrong_choice(value, choices))
            }
            Shape::OneOf(choices) => {
                let known = || choices.iter().any(|choice| choice == value.text());
                self.expect(value, shape) && (known() || self.wrong_choice(value, choices))
            }
            Shape::Between(least, most) => {
                let fits = || value.as_integer().is_some_and(|number| (*least..=*most).contains(&number));
                self.expect(value, shape) && (fits() || self.out_of_range(value, *least, *most))
            }
            Shape::Formatted(format) => {
                self.expect(value, shape) && (format.fits(value.text()) || self.wrong_format(value, *format))
            }
            Shape::Ruled(inner, rules) => {
                let right = self.check(value, inner);
                let fields = if right { Fields::Right } else { Fields::Wrong };
                let obey = |right, rule| self.obey(value, rule, fields) && right;
                fits(value.kind(), inner) && rules.iter().fold(right, obey)
            }
            Shape::Shared(inner) => self.check(value, inner),
            Shape::Either(shapes) => match shapes.iter().find(|shape| fits(value.kind(), shape)) {
                Some(shape) => self.check(value, shape),
                None => self.expect(value, shape),
            },
            Shape::Name => self.expect(value, shape) && (!value.text().is_empty() || self.empty_name(value)),
            Shape::Text | Shape::Integer | Shape::Number | Shape::Bool => self.expect(value, shape),
        }
    }

    fn check_fields(&mut self, value: Value<'c>, fields: &'c [Field], open: bool) -> bool {
        let mut right = true;
        // A field under a wrong name is one mistake, not two.
        let mut meant: Vec<&str> = Vec::new();
        let mut present = 0;
        for (key, value) in value.entries() {
            match fields.iter().find(|field| field.name == key.text()) {
                // A field that is there but empty counts as left out.
                Some(field) if value.kind() == Kind::Null && field.need == Need::Optional => {}
                Some(field) => {
                    present += usize::from(field.need != Need::Optional);
                    right &= self.within(Step::Key(&field.name), |checker| checker.check(value, &field.shape));
                }
                None if open && !fields.iter().any(|field| is_slip(key.text(), &field.name)) => {}
                None => {
                    right = false;
                    meant.extend(self.unknown_field(key, value, fields));
                }
            }
        }
        // Keys stand once, so counting is enough to know that nothing is missing.
        if present == fields.iter().filter(|field| field.need != Need::Optional).count() {
            return right;
        }
        let missing = |field: &&Field| {
            let name = field.name.as_str();
            field.need.is_missed(value) && value.get(name).is_none() && !meant.contains(&name)
        };
        for field in fields.iter().filter(missing) {
            right = false;
            let here = self.here("the document");
            let span = value.entries().next().map_or(value.span(), |(key, _)| key.span());
            self.found.push(
                Diagnostic::error(Fault::MissingField, format!("{here} has no `{}`", field.name))
                    .at(self.source, span, format!("`{}` is missing here", field.name))
                    .help(field.missing()),
            );
        }
        right
    }

    /// Reports it, and says which field was probably meant.
    fn unknown_field<'f>(&mut self, key: Value<'_>, value: Value<'_>, fields: &'f [Field]) -> Option<&'f str> {
        let written = key.text();
        let names = fields.iter().map(|field| field.name.as_str());
        let message = format!("{} has no field `{written}`", self.here("this document"));
        let meant = nearest(written, names);
        let diagnostic = Diagnostic::error(Fault::UnknownField, message).at_value(self.source, key, "unknown field");
        let mut diagnostic = diagnostic.suggest_or(meant, || {
            let names: Vec<_> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
            format!("fields here: {}", names.join(", "))
        });
        if value.kind() == Kind::Null && written.contains(':') {
            diagnostic = diagnostic.help("is a space missing after the colon?");
        }
        self.found.push(diagnostic);
        meant
    }

    fn empty_name(&mut self, value: Value<'_>) -> bool {
        let message = format!("{} must not be empty", self.here("this value"));
        self.found.push(Diagnostic::error(Fault::WrongValue, message).at_value(self.source, value, "expected a name"));
        false
    }

    fn out_of_range(&mut self, value: Value<'_>, least: i64, most: i64) -> bool {
        let expected = Shape::Between(least, most).noun();
        let message = format!("{} must be {expected}, not {}", self.here("this value"), value.text());
        let label = format!("expected {expected}");
        self.found.push(Diagnostic::error(Fault::WrongValue, message).at_value(self.source, value, label));
        false
    }

    fn wrong_format(&mut self, value: Value<'_>, format: Format) -> bool {
        let message = format!("{} must be {}, not `{}`", self.here("this value"), format.noun(), value.text());
        let label = format!("expected {}", format.noun());
        self.found.push(Diagnostic::error(Fault::WrongValue, message).at_value(self.source, value, label));
        false
    }

    fn wrong_choice<S: AsRef<str>>(&mut self, value: Value<'_>, choices: &[S]) -> bool {
        let names: Vec<_> = choices.iter().map(|choice| format!("`{}`", choice.as_ref())).collect();
        let message = format!("{} cannot be `{}`", self.here("this value"), value.text());
        let diagnostic = Diagnostic::error(Fault::WrongValue, message).at_value(
            self.source,
            value,
            format!("expected {}", names.join(" or ")),
        );
        self.found.push(diagnostic.suggest(nearest(value.text(), choices.iter().map(AsRef::as_ref))));
        false
    }

    /// Whether the value is of the kind that the shape needs.
    fn expect(&mut self, value: Value<'_>, shape: &Shape) -> bool {
        if fits(value.kind(), shape) {
            return true;
        }
        let (expected, found) = (shape.noun(), value.kind().noun());
        let message = format!("{} must be {expected}, not {found}", self.here("this document"));
        let mut diagnostic =
            Diagnostic::error(Fault::WrongType, message).at_value(self.source, value, format!("expected {expected}"));
        let scalar = matches!(value.kind(), Kind::Bool | Kind::Integer | Kind::Float);
        if scalar && shape.is_text() {
            diagnostic = diagnostic.help(format!("put it in quotes: \"{}\"", value.text()));
        }
        if matches!(shape, Shape::List(_)) && value.kind() == Kind::Map {
            diagnostic = diagnostic.help("begin each item with a dash: `- `");
        }
        self.found.push(diagnostic);
        false
    }

    fn within<T>(&mut self, step: Step<'c>, act: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = act(self);
        self.path.pop();
        result
    }

    /// Checks a value that stands at a path inside the one at hand.
    fn check_at(&mut self, path: &'c Path, value: Value<'c>, shape: &'c Shape) -> bool {
        self.within(Step::Path(path), |checker| checker.check(value, shape))
    }

    fn here(&self, whole: &str) -> String {
        if self.path.is_empty() {
            return self.whole.as_deref().unwrap_or(whole).to_owned();
        }
        let mut path = String::new();
        for step in &self.path {
            match step {
                Step::Item(index) => path.push_str(&format!("[{index}]")),
                Step::Path(inner) if path.is_empty() => path.push_str(&inner.to_string()),
                Step::Path(inner) => path.push_str(&format!(".{inner}")),
                Step::Key(key) if key.contains(['.', '/', '[']) => path.push_str(&format!("[\"{key}\"]")),
                Step::Key(key) if path.is_empty() => path.push_str(key),
                Step::Key(key) => path.push_str(&format!(".{key}")),
            }
        }
        format!("`{path}`")
    }
}

fn fits(kind: Kind, shape: &Shape) -> bool {
    match shape {
        Shape::Opaque => true,
        Shape::Text | Shape::Name | Shape::Choice(_) | Shape::OneOf(_) | Shape::Formatted(_) => kind == Kind::Text,
        Shape::Integer | Shape::Between(..) => kind == Kind::Integer,
        Shape::Number => matches!(kind, Kind::Integer | Kind::Float),
        Shape::Bool => kind == Kind::Bool,
        Shape::List(_) => kind == Kind::List,
        Shape::MapOf(_) | Shape::Object(_) | Shape::Open(_) => kind == Kind::Map,
        Shape::Either(shapes) => shapes.iter().any(|shape| fits(kind, shape)),
        Shape::Ruled(inner, _) => fits(kind, inner),
        Shape::Shared(inner) => fits(kind, inner),
    }
}

impl Shape {
    /// Whether it is of single values, and not of any text.
    fn is_narrower_than_text(&self) -> bool {
        match self {
            Self::Choice(_)
            | Self::OneOf(_)
            | Self::Formatted(_)
            | Self::Integer
            | Self::Between(..)
            | Self::Number
            | Self::Bool => true,
            Self::Either(shapes) => shapes.iter().any(Self::is_narrower_than_text),
            Self::Ruled(inner, _) => inner.is_narrower_than_text(),
            Self::Shared(inner) => inner.is_narrower_than_text(),
            Self::Opaque
            | Self::Text
            | Self::Name
            | Self::List(_)
            | Self::MapOf(_)
            | Self::Object(_)
            | Self::Open(_) => false,
        }
    }

    fn is_text(&self) -> bool {
        match self {
            Self::Text | Self::Name | Self::Choice(_) | Self::OneOf(_) | Self::Formatted(_) => true,
            Self::Shared(inner) => inner.is_text(),
            Self::Ruled(inner, _) => inner.is_text(),
            _ => false,
        }
    }

    fn noun(&self) -> String {
        match self {
            Self::Opaque => "anything".to_owned(),
            Self::Text | Self::Name | Self::Choice(_) | Self::OneOf(_) => "text".to_owned(),
            Self::Integer => "a whole number".to_owned(),
            Self::Between(least, i64::MAX) => format!("a whole number from {least}"),
            Self::Between(least, most) => format!("a whole number from {least} to {most}"),
            Self::Number => "a number".to_owned(),
            Self::Bool => "`true` or `false`".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::MapOf(_) | Self::Object(_) | Self::Open(_) => "a map".to_owned(),
            Self::Either(shapes) => shapes.iter().map(Self::noun).collect::<Vec<_>>().join(" or "),
            Self::Formatted(format) => format.noun(),
            Self::Ruled(inner, _) => inner.noun(),
            Self::Shared(inner) => inner.noun(),
        }
    }
}
