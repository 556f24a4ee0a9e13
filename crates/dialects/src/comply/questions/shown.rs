//! An object whose tags must agree with others.

use serde_json::{Map, Value as Json, json};
use smol_str::SmolStr;
use upheld_engine::Snapshot;
use upheld_engine::comply::{Comply, ObjectId};
use upheld_model::Timestamp;

use super::{find, organisations};
use crate::comply::SCOPE;
use crate::identity::Identity;
use upheld_report::At;

/// An object, what it is related to, and how often it violates something.
#[derive(Clone, Debug)]
pub struct ShownObject {
    /// Its kind and id.
    pub reference: String,
    /// Its name, if it has one of its own.
    pub name: Option<String>,
    /// Its tags by key.
    pub tags: Vec<(String, Vec<String>)>,
    /// The objects that it is related to, each with the role, if there is one.
    pub links: Vec<(String, Option<String>)>,
    /// How many violations it has a part in.
    pub violations: usize,
    /// Where it was written.
    pub at: Option<At>,
}

/// An object as it is at a moment, by its reference, by a name that only one has, or by the id that lists have.
pub fn shown(snapshot: &Snapshot, written: &str, now: Timestamp) -> Option<ShownObject> {
    let found = |comply: &Comply| {
        let object = find(comply, written).ok().or_else(|| find(comply, &listed_reference(written)?).ok())?;
        Some(ShownObject::of(snapshot, comply, object))
    };
    organisations(snapshot).find_map(|(_, own)| found(own.at(now).comply()))
}

/// The same, by who it is: nothing else is called so.
pub fn shown_listed(snapshot: &Snapshot, identity: &Identity, now: Timestamp) -> Option<ShownObject> {
    let reference = listed_reference(&identity.to_string())?;
    let found = |comply: &Comply| Some(ShownObject::of(snapshot, comply, comply.lookup(&reference).ok()?));
    organisations(snapshot).find_map(|(_, own)| found(own.at(now).comply()))
}

/// `kind/name` of `kind/compliance/name`.
fn listed_reference(id: &str) -> Option<String> {
    let (kind, rest) = id.split_once('/')?;
    let (scope, name) = rest.split_once('/')?;
    (scope == SCOPE).then(|| format!("{kind}/{name}"))
}

impl ShownObject {
    fn of(snapshot: &Snapshot, comply: &Comply, object: ObjectId) -> Self {
        let linked = comply.links_of(object).map(|(_, link)| {
            let other = if link.a == object { link.b } else { link.a };
            (comply.reference(other).to_string(), link.role.map(|role| comply.reference(role).to_string()))
        });
        let mut links: Vec<(String, Option<String>)> = linked.collect();
        links.sort();
        let texts = |values: &[SmolStr]| values.iter().map(ToString::to_string).collect();
        Self {
            reference: comply.reference(object).to_string(),
            name: comply.described(object).and_then(|own| own.name.as_ref()).map(ToString::to_string),
            tags: comply.tags_of(object).iter().map(|(key, values)| (key.to_string(), texts(values))).collect(),
            links,
            violations: comply.violation_count_of(object),
            at: comply.described(object).and_then(|own| own.at).and_then(|node| At::of(snapshot.files(), node)),
        }
    }

    /// As programs get it.
    pub fn json(&self) -> Json {
        let tags: Map<String, Json> = self.tags.iter().map(|(key, values)| (key.clone(), json!(values))).collect();
        let related: Vec<Json> = self.links.iter().map(|(other, role)| json!({"ref": other, "role": role})).collect();
        json!({
            "ref": self.reference, "name": self.name, "tags": tags, "related": related,
            "violations": self.violations, "at": self.at,
        })
    }
}
