//! Changes that somebody writes past. They happened after the objects were written down; whoever writes an object, a relationship or a policy
//! later says how it is now, so what was noted as having happened to it before is taken off the notes.

use std::collections::HashSet;

use serde_json::{Map, Value as Json, json};
use upheld_engine::Snapshot;
use upheld_model::SourceId;
use upheld_model::tree::Value;
use upheld_syntax::json::{read, write};

use super::identity::{definition, id, link, object};
use super::{COLLECTION, Collector, OfKind, Organisations, WAIVER};
use crate::comply::changes::CHANGES;
use crate::comply::definitions::defined;
use crate::comply::{LINK, SCOPE};
use crate::dialect::{RecordChange, WrittenDocument};
use crate::identity::{Identify, Identity, Named, Whose, named, text};
use crate::recognise::is_builtin;

/// What becomes of notes of changes when documents are written.
pub(in crate::comply) fn superseded(before: &Snapshot, written: &[WrittenDocument<'_>]) -> Vec<RecordChange> {
    let Some(organisations) = before.companion::<Organisations>() else { return Vec::new() };
    let notes: Vec<_> = organisations.iter().flat_map(|(_, own)| own.changes.iter().copied()).collect();
    if notes.is_empty() {
        return Vec::new();
    }
    let (files, kinds) = (before.files(), before.kinds().as_slice());
    let collector = Collector::new(files, kinds, before.symbols(), |at| is_builtin(files, at));
    let Touched { written, gone } = collector.touched(written);
    let mut records = Vec::new();
    for note in notes.into_iter().filter_map(|at| files.value(at)) {
        let Whose::Own(Ok(identity)) = collector.identity(note) else { continue };
        let Some(home) = collector.home(note, |_| true).and_then(|home| collector.kinds.get(home)) else { continue };
        // Who writes the notes themselves says what happened.
        if written.contains(&identity) {
            continue;
        }
        let is_past = |change: Value<'_>| {
            let about = about(home, change);
            about.iter().any(|thing| written.contains(thing)) || ends(home, change).iter().any(|end| gone.contains(end))
        };
        records.extend(without(note, is_past));
    }
    records
}

/// What documents that are written are, and those that are gone.
struct Touched {
    /// All of them, with what is inside of collections.
    written: HashSet<Identity>,
    gone: HashSet<Identity>,
}

impl Collector<'_> {
    fn touched(&self, documents: &[WrittenDocument<'_>]) -> Touched {
        let mut touched = Touched { written: HashSet::new(), gone: HashSet::new() };
        for &WrittenDocument { identity, text } in documents {
            touched.written.insert(identity.clone());
            // Without its role, a change of the relationship is about it, too.
            if let [a, b, _] = identity.name.split('~').collect::<Vec<_>>()[..]
                && identity.kind == LINK
            {
                touched.written.insert(Identity::new(LINK, SCOPE, format!("{a}~{b}")));
            }
            match text {
                None => drop(touched.gone.insert(identity.clone())),
                Some(text) if identity.kind == COLLECTION => {
                    let (tree, _) = read(SourceId::new(0), text.to_owned());
                    let inside = tree.documents().flat_map(|document| self.inside(document)).collect::<Vec<_>>();
                    touched.written.extend(inside);
                }
                Some(_) => {}
            }
        }
        touched
    }

    /// What a collection is about.
    fn inside(&self, collection: Value<'_>) -> Vec<Identity> {
        let Some(home) = self.home(collection, |_| true).and_then(|home| self.kinds.get(home)) else {
            return Vec::new();
        };
        let all = |field: &str, identity: &dyn Fn(Value<'_>) -> Named| {
            let items = collection.get(field).into_iter().flat_map(Value::items);
            items.filter_map(|item| identity(item).ok()).collect::<Vec<_>>()
        };
        [
            all("objects", &|item| object(home, text(item, "ref").unwrap_or_default())),
            all("relationships", &|item| link(&home.profile, item)),
            all("policies", &|item| named(&home.typed, SCOPE, id(item, &home.typed)?)),
            all("tagDefinitions", &|item| definition(home, defined(item), item)),
            all("waivers", &|item| named(WAIVER, home.scope(), id(item, WAIVER)?)),
        ]
        .concat()
    }
}

/// What a change is about: what stands in a document of its own as soon as somebody writes it.
fn about(home: &OfKind<'_>, change: Value<'_>) -> Option<Identity> {
    let field = |name: &str| change.get(name);
    // By its name, or as a whole.
    let name = |value: Value<'_>| {
        value.as_text().or_else(|| text(value, "id")).or_else(|| text(value, "name")).map(str::to_owned)
    };
    let found = match field("verb")?.text() {
        "deleteObject" | "setTags" => object(home, field("object")?.text()),
        "link" | "unlink" => link(&home.profile, change),
        "createPolicy" | "updatePolicy" | "deletePolicy" => named(&home.typed, SCOPE, &name(field("policy")?)?),
        "createTagDefinition" | "updateTagDefinition" | "deleteTagDefinition" => {
            definition(home, defined(field("definition")?), field("definition")?)
        }
        "grantWaiver" | "revokeWaiver" => named(WAIVER, home.scope(), &name(field("waiver")?)?),
        // Defaults are added to what objects have at that moment, and time passes.
        "setUserDefaultTags" | "advance" => return None,
        _ => object(home, text(field("object")?, "ref")?),
    };
    found.ok()
}

/// The objects that must be there for a change to happen.
fn ends(home: &OfKind<'_>, change: Value<'_>) -> Vec<Identity> {
    let is_link = matches!(change.get("verb").map(Value::text), Some("link" | "unlink"));
    let sides = ["a", "b"].into_iter().filter(|_| is_link).filter_map(|side| text(change, side));
    sides.filter_map(|side| object(home, side).ok()).collect()
}

/// Notes without the changes that are past; nothing if there are none of them.
fn without(note: Value<'_>, is_past: impl Fn(Value<'_>) -> bool) -> Option<RecordChange> {
    let Json::Object(mut document) = serde_json::from_str(&write(note)).ok()? else { return None };
    let mut left = Vec::new();
    let mut dropped = 0_usize;
    for change in note.get("changes").into_iter().flat_map(Value::items) {
        let Json::Object(written) = serde_json::from_str(&write(change)).ok()? else { return None };
        if is_past(change) {
            dropped += 1;
            left.extend(links_of_creation(&written));
        } else {
            left.push(Json::Object(written));
        }
    }
    if dropped == 0 {
        return None;
    }
    let whole = Json::Object(document.clone());
    if left.is_empty() {
        return Some(RecordChange::Gone(whole));
    }
    document.insert(CHANGES.to_lowercase(), Json::Array(left));
    Some(RecordChange::Put(Json::Object(document)))
}

/// What a new object was related to from the beginning, as changes of their own: that is not written where the object is.
fn links_of_creation(change: &Map<String, Json>) -> Vec<Json> {
    let Some(reference) = change.get("object").and_then(|object| object.get("ref")) else { return Vec::new() };
    let lists = ["landingZones", "principals", "links"].into_iter().filter_map(|list| change.get(list));
    let others = lists.filter_map(Json::as_array).flatten();
    let related = others.filter_map(|other| {
        let to = if other.is_string() { Some(other) } else { other.get("ref").or_else(|| other.get("to")) };
        let mut link = json!({"verb": "link", "a": reference, "b": to?});
        let kept = ["at", "by"].into_iter().filter_map(|field| Some((field, change.get(field)?)));
        for (field, value) in kept.chain(other.get("role").map(|role| ("role", role))) {
            link.as_object_mut()?.insert(field.to_owned(), value.clone());
        }
        Some(link)
    });
    related.collect()
}
