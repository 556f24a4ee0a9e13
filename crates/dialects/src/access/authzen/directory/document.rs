//! Directories as documents: `kind: Directory` with `subjects`, `resources` and `actions`.

use std::collections::BTreeMap;
use std::fmt;

use smol_str::SmolStr;
use upheld_engine::decide::Facts;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId};

use super::{BadAlternatives, Directory, GroupMembership, KnownAction, MOST_VARIANTS};
use crate::access::facts::{fact_of, facts_of};
use crate::shape::{Checker, Shape, list, map_of, optional, required};

/// The value of `kind:` of a directory.
pub const DIRECTORY: &str = "Directory";

/// What a directory looks like.
pub fn shape() -> Shape {
    let properties = || map_of(Shape::Opaque);
    let entity = || {
        Shape::Object(vec![
            required("type", Shape::Name, "the type of entity"),
            required("id", Shape::Name, "its id, unique among those of its type"),
            optional("properties", properties(), "its properties"),
        ])
    };
    let action = Shape::Object(vec![
        required("name", Shape::Name, "its name"),
        optional("properties", properties(), "its properties; a list holds the possible values"),
    ]);
    let names = || list(Shape::Name);
    let role = Shape::Object(vec![
        required("name", Shape::Name, "its name"),
        optional("contains", names(), "roles that whoever has it has as well"),
    ]);
    let group = Shape::Object(vec![
        required("name", Shape::Name, "its name"),
        optional("groups", names(), "groups that its members are in as well"),
        optional("roles", names(), "roles that its members have"),
    ]);
    Shape::Object(vec![
        required("kind", Shape::Choice(&[DIRECTORY]), "marks the document"),
        optional("subjects", list(entity()), "the possible subjects"),
        optional("resources", list(entity()), "the possible resources"),
        optional("actions", list(action), "the possible actions"),
        optional("roles", list(role), "roles that contain others"),
        optional("groups", list(group), "groups that are in others, or have roles"),
    ])
}

impl Directory {
    /// Adds what a document lists; every mistake is reported. A document that looks otherwise adds nothing.
    pub fn read(&mut self, source: SourceId, document: Value<'_>, found: &mut Diagnostics) {
        if !Checker::new(source, found).check(document, &shape()) {
            return;
        }
        let items = |field: &str| document.get(field).into_iter().flat_map(Value::items);
        let mut reading = Reading { source, found, seen: BTreeMap::new() };
        for item in items("subjects") {
            let (kind, id) = (text(item, "type"), text(item, "id"));
            if reading.is_new(self, item, Entry::Subject(kind, id)) {
                self.insert_subject(kind, id, properties(item));
            }
        }
        for item in items("resources") {
            let (kind, id) = (text(item, "type"), text(item, "id"));
            if reading.is_new(self, item, Entry::Resource(kind, id)) {
                self.insert_resource(kind, id, properties(item));
            }
        }
        for item in items("actions") {
            let name = text(item, "name");
            if reading.is_new(self, item, Entry::Action(name))
                && let Some(action) = reading.action(item)
            {
                self.insert_action(name, action);
            }
        }
        let names = |item: Value<'_>, field: &str| -> Vec<SmolStr> {
            item.get(field).into_iter().flat_map(Value::items).map(|name| SmolStr::new(name.text())).collect()
        };
        for item in items("roles") {
            let name = text(item, "name");
            if reading.is_new(self, item, Entry::Role(name)) {
                self.insert_role(name, names(item, "contains"));
            }
        }
        for item in items("groups") {
            let name = text(item, "name");
            if reading.is_new(self, item, Entry::Group(name)) {
                let (groups, roles) = (names(item, "groups"), names(item, "roles"));
                self.insert_group(name, GroupMembership { groups, roles });
            }
        }
    }

    fn has(&self, entry: Entry<'_>) -> bool {
        match entry {
            Entry::Subject(kind, id) => self.subject(kind, id).is_some(),
            Entry::Resource(kind, id) => self.resource(kind, id).is_some(),
            Entry::Action(name) => self.action(name).is_some(),
            Entry::Role(name) => self.has_role(name),
            Entry::Group(name) => self.has_group(name),
        }
    }
}

/// What a directory lists once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Entry<'t> {
    Subject(&'t str, &'t str),
    Resource(&'t str, &'t str),
    Action(&'t str),
    Role(&'t str),
    Group(&'t str),
}

impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Subject(kind, id) => write!(f, "the subject `{id}` of type `{kind}`"),
            Self::Resource(kind, id) => write!(f, "the resource `{id}` of type `{kind}`"),
            Self::Action(name) => write!(f, "the action `{name}`"),
            Self::Role(name) => write!(f, "the role `{name}`"),
            Self::Group(name) => write!(f, "the group `{name}`"),
        }
    }
}

struct Reading<'t, 'f> {
    source: SourceId,
    found: &'f mut Diagnostics,
    /// Where this document lists what.
    seen: BTreeMap<Entry<'t>, Value<'t>>,
}

impl<'t> Reading<'t, '_> {
    fn is_new(&mut self, directory: &Directory, item: Value<'t>, entry: Entry<'t>) -> bool {
        let first = self.seen.get(&entry).copied();
        if first.is_none() && !directory.has(entry) {
            self.seen.insert(entry, item);
            return true;
        }
        let diagnostic = Diagnostic::error(Fault::DefinedTwice, format!("{entry} is listed twice"))
            .at_value(self.source, name(item), "second time")
            .help("keep one of them");
        self.found.push(match first {
            Some(first) => diagnostic.related(self.source, name(first).span(), "first time"),
            // It is in another document.
            None => diagnostic,
        });
        false
    }

    fn action(&mut self, item: Value<'_>) -> Option<KnownAction> {
        let values = |value: Value<'_>| match value.kind() {
            Kind::List => value.items().map(fact_of).collect(),
            _ => vec![fact_of(value)],
        };
        let given = item.get("properties").into_iter().flat_map(Value::entries);
        let alternatives = given.map(|(key, value)| (SmolStr::new(key.text()), values(value))).collect();
        let (fault, message, expected) = match KnownAction::new(alternatives) {
            Ok(action) => return Some(action),
            Err(BadAlternatives::NoValue(property)) => {
                let message = format!("the property `{property}` has no possible value");
                (Fault::WrongValue, message, "expected a value, or a list with at least one")
            }
            Err(BadAlternatives::TooMany) => {
                let message = format!("the values of this action can be combined in more than {MOST_VARIANTS} ways");
                (Fault::Limit, message, "too many alternatives")
            }
        };
        let place = item.get("properties").unwrap_or(item);
        self.found.push(Diagnostic::error(fault, message).at_value(self.source, place, expected));
        None
    }
}

/// What an item is called, to point at it.
fn name(item: Value<'_>) -> Value<'_> {
    item.get("id").or_else(|| item.get("name")).unwrap_or(item)
}

fn text<'t>(item: Value<'t>, field: &str) -> &'t str {
    item.get(field).map_or("", Value::text)
}

fn properties(item: Value<'_>) -> Facts {
    item.get("properties").map_or_else(Facts::default, facts_of)
}
