//! Requests as documents have them.

use smol_str::SmolStr;
use upheld_engine::decide::{
    Action, Environment, Fact, FactOf, Facts, Maybe, Names, Number, Request, Resource, Subject,
};
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId, Timestamp};

use upheld_report::OTHERS;

use super::Edition;
use super::facts::fact_of;

/// What stands for a value that nobody knows.
pub const UNKNOWN: &str = "?";

/// What the original has for a text that is left out: the word that JavaScript has for nothing.
pub(super) const UNDEFINED: &str = "undefined";

/// Reads a request: `subject {id, roles, groups, claims}`, `resource {app, path, type, id, …}`, `action {method, operation}`,
/// `environment {ip, time, …}`. What is left out is absent. Every mistake is reported.
pub fn read(source: SourceId, document: Value<'_>, edition: Edition, found: &mut Diagnostics) -> Option<Request> {
    whole(Reading { source, edition, marks: Marks::Text, found }, document)
}

/// As [`read`], for people who ask: a bare `?` is something that nobody knows. Callers must not be able to say so.
pub fn read_asked(source: SourceId, document: Value<'_>, edition: Edition, found: &mut Diagnostics) -> Option<Request> {
    whole(Reading { source, edition, marks: Marks::Unknown, found }, document)
}

fn whole(mut reading: Reading<'_>, document: Value<'_>) -> Option<Request> {
    let before = reading.found.errors();
    if document.kind() != Kind::Map {
        reading.wrong(document, "a request must be a map with `subject`, `action` and `resource`");
        return None;
    }
    let parts = Fields::of(Some(document), ["subject", "action", "resource", "environment"]);
    let [subject, action, resource, environment] = parts.known;
    // At the top nothing else has a place.
    reading.refuse(&parts, "a request", |key| nearest(key, parts.names).map_or(Stray::Unknown, Stray::Typo));
    let subject = reading.subject(subject);
    let action = reading.action(action);
    let resource = reading.resource(resource);
    let environment = reading.environment(environment);
    (reading.found.errors() == before).then_some(Request { subject, action, resource, environment })
}

/// Reads who asks.
pub fn subject(source: SourceId, part: Option<Value<'_>>, edition: Edition, found: &mut Diagnostics) -> Subject {
    Reading { source, edition, marks: Marks::Unknown, found }.subject(part)
}

/// Reads what is to be done.
pub fn action(source: SourceId, part: Option<Value<'_>>, edition: Edition, found: &mut Diagnostics) -> Action {
    Reading { source, edition, marks: Marks::Unknown, found }.action(part)
}

/// Reads with what.
pub fn resource(source: SourceId, part: Option<Value<'_>>, edition: Edition, found: &mut Diagnostics) -> Resource {
    Reading { source, edition, marks: Marks::Unknown, found }.resource(part)
}

/// Reads under which circumstances.
pub fn environment(
    source: SourceId,
    part: Option<Value<'_>>,
    edition: Edition,
    found: &mut Diagnostics,
) -> Environment {
    Reading { source, edition, marks: Marks::Unknown, found }.environment(part)
}

/// What a bare question mark means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marks {
    /// Nobody knows.
    Unknown,
    /// Itself.
    Text,
}

struct Reading<'f> {
    source: SourceId,
    edition: Edition,
    marks: Marks,
    found: &'f mut Diagnostics,
}

/// The fields of a map, each looked at once: those with a name that is known, and all others.
struct Fields<'t, const N: usize> {
    names: [&'static str; N],
    known: [Option<Value<'t>>; N],
    others: Vec<(Value<'t>, Value<'t>)>,
}

impl<'t, const N: usize> Fields<'t, N> {
    /// Of a map, if there is one. What is null is as good as not there.
    fn of(map: Option<Value<'t>>, names: [&'static str; N]) -> Self {
        let mut fields = Self { names, known: [None; N], others: Vec::new() };
        for (key, value) in map.into_iter().flat_map(Value::entries) {
            let name = key.text();
            match names.iter().zip(&mut fields.known).find(|(known, _)| **known == name) {
                Some((_, place)) if place.is_none() && value.kind() != Kind::Null => *place = Some(value),
                Some(_) => {}
                None => fields.others.push((key, value)),
            }
        }
        fields
    }
}

impl Reading<'_> {
    fn wrong(&mut self, value: Value<'_>, message: &str) {
        self.found.push(Diagnostic::error(Fault::WrongType, message).at_value(self.source, value, "here"));
    }

    /// Reports fields that have no place, with what was probably meant.
    fn refuse<const N: usize>(&mut self, fields: &Fields<'_, N>, what: &str, stray: impl Fn(&str) -> Stray) {
        if self.edition != Edition::Strict {
            return;
        }
        for (key, _) in &fields.others {
            let help = match stray(key.text()) {
                Stray::Property => continue,
                Stray::Typo(meant) => did_you_mean(meant),
                Stray::Unknown => format!("fields here: {}", fields.names.join(", ")),
            };
            let message = format!("{what} has no field `{}`", key.text());
            let diagnostic = Diagnostic::error(Fault::UnknownField, message);
            self.found.push(diagnostic.at_value(self.source, *key, "unknown field").help(help));
        }
    }

    fn map<'t>(&mut self, part: Option<Value<'t>>, name: &str) -> Option<Value<'t>> {
        let part = part?;
        if part.kind() != Kind::Map {
            self.wrong(part, &format!("`{name}` must be a map"));
            return None;
        }
        Some(part)
    }

    fn subject(&mut self, part: Option<Value<'_>>) -> Subject {
        let part = self.map(part, "subject");
        let fields = Fields::of(part, ["type", "id", "roles", "groups", "claims"]);
        // What else is there may mean something to a policy; a typo must not.
        self.refuse(&fields, "`subject`", |key| nearest(key, fields.names).map_or(Stray::Property, Stray::Typo));
        let [kind, id, roles, groups, claims] = fields.known;
        let mut claims = match claims {
            Some(claims) if claims.kind() == Kind::Map => self.facts(claims.entries()),
            Some(claims) => {
                self.wrong(claims, "`claims` must be a map");
                Facts::default()
            }
            None => Facts::default(),
        };
        // What else is said of a subject counts as a claim, where the claims do not say otherwise.
        if self.edition == Edition::Strict {
            let others = self.others(&fields);
            if claims.are_all_listed() {
                claims.add_missing(others);
            }
        }
        let id = self.text(id, "id");
        Subject {
            kind: self.text(kind, "type"),
            id: self.unless_missing(part, id),
            roles: self.names(roles, "roles"),
            groups: self.names(groups, "groups"),
            claims,
        }
    }

    fn action(&mut self, part: Option<Value<'_>>) -> Action {
        let part = self.map(part, "action");
        let fields = Fields::of(part, ACTION_FIELDS);
        self.refuse(&fields, "`action`", |key| typo(key, &ACTION_FIELDS));
        let [method, operation] = fields.known;
        let method = match (self.text(method, "method"), self.edition) {
            // The original fails on a request without a method.
            (Maybe::Absent, Edition::Compat) => Maybe::Unknown,
            (method, _) => method,
        };
        let operation = self.text(operation, "operation");
        Action { method, operation: self.unless_missing(part, operation), facts: self.others(&fields) }
    }

    fn resource(&mut self, part: Option<Value<'_>>) -> Resource {
        let part = self.map(part, "resource");
        let fields = Fields::of(part, ["app", "path", "type", "id"]);
        self.refuse(&fields, "`resource`", |key| typo(key, &RESOURCE_FIELDS));
        let [app, path, kind, id] = fields.known;
        let facts = self.others(&fields);
        let mut text = |value: Option<Value<'_>>, name: &str| match (self.text(value, name), self.edition, part) {
            (Maybe::Absent, Edition::Compat, Some(_)) if name != "type" => Maybe::Is(SmolStr::new_static(UNDEFINED)),
            (value, ..) => self.unless_missing(part, value),
        };
        let (app, path, kind) = (text(app, "app"), text(path, "path"), text(kind, "type"));
        Resource { app, path, kind, id: self.text(id, "id"), facts }
    }

    fn environment(&mut self, part: Option<Value<'_>>) -> Environment {
        let part = self.map(part, "environment");
        let fields = Fields::of(part, ["ip", "time"]);
        self.refuse(&fields, "`environment`", |key| typo(key, &fields.names));
        let [ip, moment] = fields.known;
        let time = match self.text(moment, "time") {
            Maybe::Is(text) => match text.parse::<Timestamp>() {
                Ok(moment) => Maybe::Is(moment),
                Err(_) => {
                    if let Some(value) = moment {
                        let message = format!("`{text}` is not a valid timestamp");
                        let expected = "expected for example `2025-03-01T12:00:00Z`";
                        let diagnostic = Diagnostic::error(Fault::WrongValue, message);
                        self.found.push(diagnostic.at_value(self.source, value, expected));
                    }
                    Maybe::Unknown
                }
            },
            Maybe::Absent => Maybe::Absent,
            Maybe::Unknown => Maybe::Unknown,
        };
        let ip = match (self.text(ip, "ip"), self.edition, part) {
            (Maybe::Absent, Edition::Compat, Some(_)) => Maybe::Is(SmolStr::new_static(UNDEFINED)),
            (ip, ..) => ip,
        };
        Environment { ip, time, facts: self.others(&fields) }
    }

    /// The original fails on a request without one of its parts.
    fn unless_missing(&self, part: Option<Value<'_>>, value: Maybe<SmolStr>) -> Maybe<SmolStr> {
        if part.is_none() && self.edition == Edition::Compat { Maybe::Unknown } else { value }
    }

    fn text(&mut self, value: Option<Value<'_>>, name: &str) -> Maybe<SmolStr> {
        match value {
            None => Maybe::Absent,
            Some(value) if self.is_unknown(value) => Maybe::Unknown,
            Some(value) if value.kind() == Kind::Text => Maybe::Is(SmolStr::new(value.text())),
            Some(value) => {
                self.wrong(value, &format!("`{name}` must be text"));
                Maybe::Unknown
            }
        }
    }

    fn names(&mut self, value: Option<Value<'_>>, name: &str) -> Names {
        match value {
            // The original fails on a subject without lists.
            None if self.edition == Edition::Compat => Names::Unknown,
            None => Names::default(),
            Some(value) if self.is_unknown(value) => Names::Unknown,
            Some(value) if value.kind() == Kind::List => {
                let (mut names, mut are_all) = (Vec::new(), true);
                for item in value.items() {
                    match item.as_text() {
                        Some(_) if self.is_unknown(item) => are_all = false,
                        Some(text) => names.push(SmolStr::new(text)),
                        None => self.wrong(item, &format!("`{name}` must be a list of texts")),
                    }
                }
                if are_all { Names::Known(names) } else { Names::at_least(names) }
            }
            Some(value) => {
                self.wrong(value, &format!("`{name}` must be a list of texts"));
                Names::Unknown
            }
        }
    }
}

impl Reading<'_> {
    fn is_unknown(&self, value: Value<'_>) -> bool {
        self.marks == Marks::Unknown && value.as_text() == Some(UNKNOWN)
    }

    fn others<const N: usize>(&self, fields: &Fields<'_, N>) -> Facts {
        self.facts(fields.others.iter().copied())
    }

    fn facts<'t>(&self, entries: impl Iterator<Item = (Value<'t>, Value<'t>)>) -> Facts {
        let all: Vec<(Value<'t>, Value<'t>)> = entries.collect();
        let is_others = |(key, value): &(Value<'t>, Value<'t>)| key.text() == OTHERS && self.is_unknown(*value);
        let own = all.iter().filter(|entry| !is_others(entry));
        let facts: Facts = own.map(|(key, value)| (SmolStr::new(key.text()), self.fact(*value))).collect();
        if all.iter().any(is_others) { facts.and_others_unknown() } else { facts }
    }

    fn fact(&self, value: Value<'_>) -> Fact {
        match value.kind() {
            _ if self.is_unknown(value) => Fact::Unknown,
            // Of a list with an unknown item, nothing is certain.
            Kind::List if value.items().any(|item| self.is_unknown(item)) => Fact::Unknown,
            Kind::Map => Fact::Map(self.facts(value.entries())),
            _ => fact_of(value),
        }
    }
}

/// The fields of actions that have a meaning of their own.
const ACTION_FIELDS: [&str; 2] = ["method", "operation"];

/// The fields of resources that have a meaning of their own.
const RESOURCE_FIELDS: [&str; 8] = ["app", "path", "type", "id", "host", "headers", "owner", "ownerId"];

/// The known property that a property of some part of a request nearly is: requests with such a field are refused.
pub(super) fn misspelt(property: &str, of: FactOf) -> Option<&'static str> {
    let known: &[&'static str] = match of {
        FactOf::Action => &ACTION_FIELDS,
        FactOf::Resource => &RESOURCE_FIELDS,
        FactOf::Subject | FactOf::Environment => &[],
    };
    match typo(property, known) {
        Stray::Typo(meant) => Some(meant),
        Stray::Property | Stray::Unknown => None,
    }
}

/// What a field is that is none of those that are known.
enum Stray {
    /// A property of the application's own.
    Property,
    /// This one, misspelt.
    Typo(&'static str),
    /// Nothing.
    Unknown,
}

/// Beside the fields that are known, applications have properties of their own; what is nearly one of these is none.
fn typo(key: &str, known: &[&'static str]) -> Stray {
    let is_known = known.contains(&key);
    let meant = known.iter().copied().find(|name| !is_known && is_typo(key, name));
    meant.map_or(Stray::Property, Stray::Typo)
}

/// Whether a field is meant to be another one: it differs in case, or in one letter of a long name.
fn is_typo(key: &str, name: &str) -> bool {
    const LONG: usize = 4;
    key != name
        && (key.eq_ignore_ascii_case(name)
            || name.len() >= LONG && key.len() >= LONG && nearest(key, [name]).is_some() && is_one_off(key, name))
}

/// Whether one letter was added, left out or mistaken, or two were swapped.
fn is_one_off(key: &str, name: &str) -> bool {
    let (key, name): (Vec<char>, Vec<char>) =
        (key.to_lowercase().chars().collect(), name.to_lowercase().chars().collect());
    let same_start = key.iter().zip(&name).take_while(|(a, b)| a == b).count();
    let (rest, wanted) = (key.get(same_start..).unwrap_or_default(), name.get(same_start..).unwrap_or_default());
    let after = |list: &[char], skip: usize| list.get(skip..).unwrap_or_default().to_vec();
    let swapped = matches!((rest, wanted), ([a, b, ..], [c, d, ..]) if a == d && b == c);
    after(rest, 1) == after(wanted, 1)
        || after(rest, 1) == wanted
        || after(wanted, 1) == rest
        || swapped && after(rest, 2) == after(wanted, 2)
}

/// A fact as people write it: `true`, `5` and `null` are what they look like, everything else is text.
pub fn written(text: &str) -> Fact {
    match text {
        UNKNOWN => Fact::Unknown,
        "true" => Fact::Bool(true),
        "false" => Fact::Bool(false),
        "null" => Fact::Null,
        text => match Number::parse(text) {
            Some(number) if text.bytes().any(|byte| byte.is_ascii_digit()) => {
                if number.is_exact() {
                    Fact::Number(number)
                } else {
                    Fact::Unknown
                }
            }
            _ => Fact::Text(SmolStr::new(text.trim_matches('"'))),
        },
    }
}
