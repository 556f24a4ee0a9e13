//! Objects: in our own forms, and in documents of other systems.

use std::borrow::Cow;

use smol_str::SmolStr;
use upheld_engine::comply::{Described, Draft, Holds, Kind, ObjectId, ObjectState, Partner, Profile};
use upheld_model::tree::{Kind as ValueKind, Value};
use upheld_model::{Fault, NodeRef};

use super::links::relate;
use super::mapping::{IdMap, LinkMap, Mapped, Mapping, ObjectMap, Paths};
use super::reader::{Reader, is_true, partner};
use super::shapes::{self, Whole};
use super::tagged::Schema;
use crate::shape::{Checker, Shape};

/// Reads objects into a draft.
#[derive(Debug)]
pub(super) struct Objects<'s> {
    schema: &'s Schema,
    mapping: &'s Mapping,
    item: Shape,
    document: Shape,
    /// Objects that are described twice: where, and where first.
    pub(super) twice: Vec<(ObjectId, NodeRef, Option<NodeRef>)>,
}

impl<'s> Objects<'s> {
    pub(super) fn new(profile: &Profile, schema: &'s Schema, mapping: &'s Mapping) -> Self {
        let shape = |whole| shapes::object(profile, whole);
        let (item, document) = (shape(Whole::Item), shape(Whole::Document));
        Self { schema, mapping, item, document, twice: Vec::new() }
    }

    /// `{ref, ...}`, or a document with its type and name.
    pub(super) fn read(&mut self, reader: &mut Reader<'_>, draft: &mut Draft, written: Value<'_>, whole: Whole) {
        let shape = if whole == Whole::Item { &self.item } else { &self.document };
        let fits = Checker::new(reader.source, reader.found).of("this object").check(written, shape);
        let name = written.get("name").map(Value::text).filter(|name| !name.is_empty());
        let (own, name) = match whole {
            Whole::Item => (written.get("ref").and_then(|own| reader.reference(own)), name),
            Whole::Document => {
                let word = written.get("type").or_else(|| written.get("kind"));
                let kind = word.and_then(|word| reader.kind(word.text(), word));
                (kind.zip(name), None)
            }
        };
        let Some((kind, id)) = own else { return };
        if !fits {
            // It is there all the same: what is related to it is not to blame.
            let at = Some(reader.place(written));
            self.describe(reader, draft, (kind, id), Described { at, ..Described::default() }, written);
            return;
        }
        let flag = |field: &str| written.get(field).is_some_and(is_true);
        let described = Described {
            name: name.map(SmolStr::new),
            standing: standing(flag("deleted"), flag("disabled")),
            partner: partner(written),
            paid_by: paid_by(reader, draft, written),
            at: Some(reader.place(written)),
        };
        let object = self.describe(reader, draft, (kind, id), described, written);
        if let Some(tags) = written.get("tags") {
            self.tags(reader, draft, (kind, object), tags);
        }
        let Some(object) = object else { return };
        live_in_scope(reader, draft, (kind, object), written);
        for link in written.get("links").into_iter().flat_map(Value::items) {
            let Some(to) = link.get("to") else { continue };
            let Some((other, id)) = reader.reference(to) else { continue };
            let at = Some(reader.place(to));
            let other = (other, draft.refer(other, id, at));
            relate(reader, draft, (kind, object), other, link.get("role"), link);
        }
    }

    /// Says what an object is. Of one that was described before nothing else counts.
    fn describe(
        &mut self,
        reader: &Reader<'_>,
        draft: &mut Draft,
        (kind, id): (Kind, &str),
        described: Described,
        written: Value<'_>,
    ) -> Option<ObjectId> {
        let at = reader.place(written);
        let object = draft.refer(kind, id, Some(at));
        if let Err(first) = draft.describe(object, described) {
            self.twice.push((object, at, first));
            return None;
        }
        Some(object)
    }

    /// Checks tags, and gives them to an object, unless it has those of its first description.
    fn tags(
        &self,
        reader: &mut Reader<'_>,
        draft: &mut Draft,
        (kind, object): (Kind, Option<ObjectId>),
        tags: Value<'_>,
    ) {
        let Some(subject) = reader.profile.subject_of(kind) else { return };
        if tags.kind() != ValueKind::Map {
            reader.tags(tags);
            return;
        }
        for (key, value) in tags.entries() {
            let values = reader.values(value);
            self.schema.check(reader, subject, (key, value), &values);
            if let Some(object) = object {
                draft.tag(object, key.text(), values.iter().map(SmolStr::as_str));
            }
        }
    }

    /// A document of another system.
    pub(super) fn mapped(&mut self, reader: &mut Reader<'_>, draft: &mut Draft, written: Value<'_>, maps: &[Mapped]) {
        for map in maps {
            match map {
                Mapped::Object(map) => self.mapped_object(reader, draft, written, map),
                Mapped::Link(map) => self.mapped_link(reader, draft, written, map),
            }
        }
    }

    fn mapped_object(&mut self, reader: &mut Reader<'_>, draft: &mut Draft, written: Value<'_>, map: &ObjectMap) {
        let Some(id) = ids(&map.id, written).into_iter().next() else {
            missing(reader, written, &map.id.id);
            return;
        };
        let place = reader.place(written);
        let paid_by = map.paid_by.as_ref().and_then(|(kind, paths)| {
            let value = paths.one(written).filter(|value| !value.text().is_empty())?;
            Some(draft.refer(*kind, value.text(), Some(NodeRef { node: value.number(), ..place })))
        });
        let name = map.name.one(written).map(Value::text).filter(|name| !name.is_empty() && *name != id);
        let described = Described {
            name: name.map(SmolStr::new),
            standing: standing(is_there(&map.deleted, written), map.disabled.one(written).is_some_and(is_true)),
            partner: Partner::No,
            paid_by,
            at: Some(place),
        };
        let object = self.describe(reader, draft, (map.kind, &id), described, written);
        if let Some(tags) = map.tags.one(written) {
            self.tags(reader, draft, (map.kind, object), tags);
        }
        let Some(object) = object else { return };
        for link in &map.links {
            for value in link.id.id.all(written) {
                let id = joined(one_id(&link.id.within, written), value.text());
                let at = Some(reader.place(value));
                let other = (link.kind, draft.refer(link.kind, &id, at));
                let role = link.role.as_ref().and_then(|(_, paths)| paths.one(written));
                self.imply(draft, link.role.as_ref().map(|(kind, _)| *kind), role, place);
                relate(reader, draft, (map.kind, object), other, role, value);
            }
        }
    }

    fn mapped_link(&mut self, reader: &mut Reader<'_>, draft: &mut Draft, written: Value<'_>, map: &LinkMap) {
        if is_there(&map.deleted, written) {
            return;
        }
        // A tenant without a landing zone is none of our business: relationships need both sides.
        let (firsts, seconds) = (ids(&map.a.1, written), ids(&map.b.1, written));
        let place = reader.place(written);
        let role = map.role.as_ref().and_then(|(_, paths)| paths.one(written));
        self.imply(draft, map.role.as_ref().map(|(kind, _)| *kind), role, place);
        for first in &firsts {
            for second in &seconds {
                let a = (map.a.0, draft.refer(map.a.0, first, Some(place)));
                let b = (map.b.0, draft.refer(map.b.0, second, Some(place)));
                relate(reader, draft, a, b, role, written);
            }
        }
    }

    /// What no document can describe is there when one mentions it.
    fn imply(&self, draft: &mut Draft, kind: Option<Kind>, role: Option<Value<'_>>, place: NodeRef) {
        if let (Some(kind), Some(role)) = (kind, role)
            && !self.mapping.describes(kind)
        {
            let at = NodeRef { node: role.number(), ..place };
            let object = draft.refer(kind, role.text(), Some(at));
            draft.imply(object);
        }
    }
}

fn paid_by(reader: &mut Reader<'_>, draft: &mut Draft, written: Value<'_>) -> Option<ObjectId> {
    let (value, kind, id) = reader.payer(written)?;
    let at = Some(reader.place(value));
    Some(draft.refer(kind, id, at))
}

/// Only what lives in a scope is related to it by this field: a group only comes from there.
fn live_in_scope(reader: &mut Reader<'_>, draft: &mut Draft, object: (Kind, ObjectId), written: Value<'_>) {
    let Some(scope) = reader.profile.scope else { return };
    let fields = ["workspace", reader.profile.kind_name(scope)];
    let Some(value) = fields.iter().find_map(|field| written.get(field)) else { return };
    let Some(id) = reader.reference_to(scope, value) else { return };
    let at = Some(reader.place(value));
    let owner = draft.refer(scope, id, at);
    let (a, b) = (reader.profile.subject_of(scope), reader.profile.subject_of(object.0));
    let mut relations = reader.profile.relations.iter();
    if relations.any(|own| own.holds == Holds::Owned && Some(own.a) == a && Some(own.b) == b) {
        draft.link(owner, object.1, None, at);
    }
}

fn standing(deleted: bool, disabled: bool) -> ObjectState {
    match (deleted, disabled) {
        (true, _) => ObjectState::Deleted,
        (false, true) => ObjectState::Disabled,
        (false, false) => ObjectState::Live,
    }
}

/// Whether a document says that something is over: by a moment, or by the word.
fn is_there(paths: &Paths, written: Value<'_>) -> bool {
    paths.one(written).is_some_and(|value| !value.text().is_empty() && !value.text().eq_ignore_ascii_case("false"))
}

fn one_id<'v>(paths: &Paths, written: Value<'v>) -> Option<&'v str> {
    paths.one(written).map(Value::text).filter(|id| !id.is_empty())
}

/// The ids that a document has there.
pub(super) fn ids<'v>(map: &IdMap, written: Value<'v>) -> Vec<Cow<'v, str>> {
    let within = one_id(&map.within, written);
    let all = map.id.all(written).into_iter().map(Value::text).filter(|id| !id.is_empty());
    all.map(|id| joined(within, id)).collect()
}

fn joined<'v>(within: Option<&'v str>, id: &'v str) -> Cow<'v, str> {
    match within {
        Some(within) => Cow::Owned(format!("{within}/{id}")),
        None => Cow::Borrowed(id),
    }
}

fn missing(reader: &mut Reader<'_>, written: Value<'_>, paths: &Paths) {
    let kind = written.get("kind").or_else(|| written.get("type"));
    let message = format!("this {} has no {}", kind.map_or("document", Value::text), paths.told());
    reader.wrong(Fault::MissingField, kind.unwrap_or(written), message, "no id", "");
}
