//! How schemas are written, and the shapes that they come to.
//!
//! ```yaml
//! types:                                   # what several kinds share; defined before it is used
//!   Reference: {kind!: kind, name!: name}
//! kinds:
//!   Example:                               # the fields of `spec`
//!     target!: Reference                   # `!` must be there
//!     mode: one of Fast Safe               # one of these words
//!     weight: integer 0..100               # a whole number
//!     size: integer or quantity            # any of several
//!     labels: {'*': text}                  # a map with any keys
//!     rules: [{name: text}, 1..16, unique name]
//!     (with): Reference                    # the fields of a type, too
//!     (open): true                         # other fields may be there, too
//!     (rules):                             # what holds among the fields
//!     - {at-most-one: [weight, size]}
//! ```
//!
//! Words: `any`, `text`, `name` (text that is not empty), `integer`, `number`, `bool`, `map`, `list`, the names of formats
//! ([`Format`]) and of `types`.

use std::collections::BTreeMap;
use std::sync::Arc;

use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId};

use crate::shape::{Demand, Field, Format, Need, Path, Rule, Shape};

/// The key of an object under which its rules stand.
const RULES: &str = "(rules)";

/// The key of an object that may have other fields, too: a newer version may have them. Slips of the pen are reported all the same.
const OPEN: &str = "(open)";

/// The key of an object that has the fields of a type, too.
const WITH: &str = "(with)";

/// The key of a map that has any keys.
const ANY_KEY: &str = "*";

/// Words that mean a shape.
const WORDS: [&str; 8] = ["any", "bool", "integer", "list", "map", "name", "number", "text"];

/// The kinds of rules.
const RULE_WORDS: [&str; 7] = ["at-least-one", "at-most-one", "exactly-one", "not-longer", "once", "union", "when"];

/// Reads shapes; every mistake is reported.
#[derive(Debug)]
pub(crate) struct Writing<'d> {
    source: SourceId,
    types: BTreeMap<String, Arc<Shape>>,
    found: &'d mut Diagnostics,
}

impl<'d> Writing<'d> {
    pub(crate) fn new(source: SourceId, found: &'d mut Diagnostics) -> Self {
        Self { source, types: BTreeMap::new(), found }
    }

    /// Remembers a shape under a name.
    pub(crate) fn define(&mut self, name: &str, value: Value<'_>) {
        let shape = self.shape(value);
        self.types.insert(name.to_owned(), Arc::new(shape));
    }

    /// The shape that a value describes.
    pub(crate) fn shape(&mut self, value: Value<'_>) -> Shape {
        match value.kind() {
            Kind::Text => self.words(value, value.text()),
            Kind::List => self.list(value),
            Kind::Map => self.object(value),
            _ => self.wrong(value, "a shape is a word, a list with the shape of its items, or a map of fields", None),
        }
    }

    fn words(&mut self, value: Value<'_>, words: &str) -> Shape {
        if words.contains(" or ") {
            return Shape::Either(words.split(" or ").map(|words| self.words(value, words.trim())).collect());
        }
        if let Some(choices) = words.strip_prefix("one of ") {
            return Shape::OneOf(choices.split_whitespace().map(str::to_owned).collect());
        }
        if let Some(range) = words.strip_prefix("integer ") {
            return match bounds(range) {
                Some((least, most)) => Shape::Between(least, most),
                None => self.wrong(value, "a range is written `0..100` or `1..`", None),
            };
        }
        match words {
            "any" => Shape::Opaque,
            "text" => Shape::Text,
            "name" => Shape::Name,
            "integer" => Shape::Integer,
            "number" => Shape::Number,
            "bool" => Shape::Bool,
            "map" => Shape::MapOf(Box::new(Shape::Opaque)),
            "list" => Shape::List(Box::new(Shape::Opaque)),
            _ => match (Format::named(words), self.types.get(words)) {
                (Some(format), _) => Shape::Formatted(format),
                (None, Some(known)) => Shape::Shared(Arc::clone(known)),
                (None, None) => {
                    let known = WORDS.into_iter().chain(Format::names()).map(str::to_owned);
                    let known: Vec<String> = known.chain(self.types.keys().cloned()).collect();
                    let meant = nearest(words, known.iter().map(String::as_str)).map(str::to_owned);
                    self.wrong(value, &format!("there is no shape `{words}`"), meant)
                }
            },
        }
    }

    fn list(&mut self, value: Value<'_>) -> Shape {
        let mut items = value.items();
        let Some(item) = items.next() else { return Shape::List(Box::new(Shape::Opaque)) };
        let shape = Shape::List(Box::new(self.shape(item)));
        let mut rules = Vec::new();
        for limit in items {
            if let Some(keys) = limit.text().strip_prefix("unique") {
                rules.push(Rule::Unique(keys.split_whitespace().map(Path::new).collect()));
            } else if let Some((least, most)) = bounds(limit.text()) {
                let size = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
                rules.push(Rule::Length(size(least), size(most)));
            } else {
                self.wrong(limit, "a list is written `[SHAPE, 1..16, unique FIELD]`", None);
            }
        }
        if rules.is_empty() { shape } else { Shape::Ruled(Box::new(shape), rules) }
    }

    fn object(&mut self, value: Value<'_>) -> Shape {
        let (mut fields, mut rules) = (Vec::new(), Vec::new());
        let mut open = value.get(OPEN).is_some();
        for (key, value) in value.entries() {
            match key.text() {
                ANY_KEY => return Shape::MapOf(Box::new(self.shape(value))),
                OPEN => {}
                WITH => match self.types.get(value.text()).map(AsRef::as_ref) {
                    Some(shape @ (Shape::Object(known) | Shape::Open(known))) => {
                        open |= matches!(shape, Shape::Open(_));
                        fields.extend(known.iter().cloned());
                    }
                    _ => drop(self.wrong(value, &format!("there is no type `{}` with fields", value.text()), None)),
                },
                RULES => rules.extend(value.items().filter_map(|rule| self.rule(rule))),
                written => {
                    let (name, need) = match written.strip_suffix('!') {
                        Some(name) => (name, Need::Required),
                        None => (written, Need::Optional),
                    };
                    fields.push(Field { name: name.to_owned(), shape: self.shape(value), need, about: "" });
                }
            }
        }
        let shape = if open { Shape::Open(fields) } else { Shape::Object(fields) };
        if rules.is_empty() { shape } else { Shape::Ruled(Box::new(shape), rules) }
    }

    fn rule(&mut self, rule: Value<'_>) -> Option<Rule> {
        let paths = |name: &str| -> Option<Vec<Path>> {
            rule.get(name).map(|value| names(value).iter().map(|name| Path::new(name)).collect())
        };
        if let Some(paths) = paths("exactly-one") {
            return Some(Rule::Count(paths, 1, 1));
        }
        if let Some(paths) = paths("at-most-one") {
            return Some(Rule::Count(paths, 0, 1));
        }
        if let Some(paths) = paths("at-least-one") {
            return Some(Rule::Count(paths, 1, usize::MAX));
        }
        if let Some(paths) = paths("once") {
            return Some(Rule::Once(paths));
        }
        if let Some([short, long]) = paths("not-longer").as_deref() {
            return Some(Rule::NotLonger(short.clone(), long.clone()));
        }
        if let Some(tag) = rule.get("union") {
            let members = rule.get("members").into_iter().flat_map(Value::entries);
            let members = members.map(|(name, field)| (name.text().to_owned(), field.text().to_owned()));
            return Some(Rule::Union(tag.text().to_owned(), members.collect()));
        }
        if let Some(when) = rule.get("when") {
            let wanted = |value: Value<'_>| (value.kind() != Kind::Null).then(|| value.text().to_owned());
            let conditions = when.entries().map(|(path, value)| {
                let values =
                    if value.kind() == Kind::List { value.items().map(wanted).collect() } else { vec![wanted(value)] };
                (Path::new(path.text()), values)
            });
            let conditions = conditions.collect();
            let mut demands: Vec<Demand> = Vec::new();
            demands.extend(rule.get("needs").into_iter().flat_map(names).map(|name| Demand::Needs(Path::new(&name))));
            demands
                .extend(rule.get("forbids").into_iter().flat_map(names).map(|name| Demand::Forbids(Path::new(&name))));
            let one = rule.get("needs-one").map(|value| names(value).iter().map(|name| Path::new(name)).collect());
            demands.extend(one.map(Demand::NeedsOne));
            for (path, shape) in rule.get("is").into_iter().flat_map(Value::entries) {
                demands.push(Demand::Is(Path::new(path.text()), self.shape(shape)));
            }
            return Some(Rule::When(conditions, demands));
        }
        let written = rule.entries().next().map_or("", |(key, _)| key.text());
        let meant = nearest(written, RULE_WORDS).map(str::to_owned);
        self.wrong(rule, &format!("there is no rule `{written}`"), meant);
        None
    }

    fn wrong(&mut self, value: Value<'_>, message: &str, meant: Option<String>) -> Shape {
        let diagnostic = Diagnostic::error(Fault::BrokenKind, message).at_value(self.source, value, "in this schema");
        self.found.push(diagnostic.suggest(meant));
        Shape::Opaque
    }
}

fn names(value: Value<'_>) -> Vec<String> {
    match value.as_text() {
        Some(one) => vec![one.to_owned()],
        None => value.items().map(|item| item.text().to_owned()).collect(),
    }
}

/// `1..16`, `1..`
fn bounds(written: &str) -> Option<(i64, i64)> {
    let (least, most) = written.split_once("..")?;
    Some((least.parse().ok()?, if most.is_empty() { i64::MAX } else { most.parse().ok()? }))
}
