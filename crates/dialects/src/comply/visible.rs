//! Which documents somebody may know of whose roles hold in some scopes only: those that name no object of another scope.
//!
//! What an object document or a relationship names is what its reader finds in it; of all other documents every reference counts.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::Snapshot;
use upheld_engine::comply::{Class, Comply, Draft, Holds, Kind, ObjectId, Partners, Profile};
use upheld_governance::Actor;
use upheld_model::tree::{Kind as ValueKind, Value};
use upheld_model::{Diagnostics, SourceId, Sym, Timestamp};

use super::accepted::ACCEPTED;
use super::claim::{Claim, claim};
use super::documented::{COLLECTION, Collector, NOTES, OfKind, Organisations};
use super::objects::Objects;
use super::questions::{class_of_role, counting, own_scopes, proved};
use super::reader::Reader;
use super::shapes::Whole;
use super::tagged::Schema;
use super::{LINK, SCOPE};
use crate::dialect::Visibility;
use crate::identity::Identity;
use crate::recognise::{is_builtin, is_tests};

/// Whether roles hold in some scopes only: known without a look at what there is.
pub(super) fn limits(snapshot: &Snapshot, roles: &[SmolStr]) -> bool {
    let is_limited = |profile: &Profile| {
        let own = counting(profile, roles);
        !own.is_empty() && own.into_iter().all(|role| is_in_a_scope(profile, role))
    };
    snapshot.complies().any(|(_, comply)| is_limited(comply.profile()))
}

/// Whether a role is that of an end-user in a scope.
fn is_in_a_scope(profile: &Profile, role: &str) -> bool {
    role.split_once('@').is_some_and(|(word, _)| class_of_role(profile, word) == Some(Class::EndUser))
}

/// What somebody with these roles may know of; nothing if they may know everything.
pub(super) fn visibility<'s>(
    snapshot: &'s Snapshot,
    roles: &[SmolStr],
    now: Timestamp,
) -> Option<Box<dyn Visibility + 's>> {
    let all = snapshot.companion::<Organisations>()?;
    let bounds: Vec<Bounds> = all.iter().filter_map(|(kind, own)| Bounds::of(kind, &own.at(now), roles)).collect();
    if bounds.is_empty() {
        return None;
    }
    let files = snapshot.files();
    let collector = Collector::new(files, snapshot.kinds().as_slice(), snapshot.symbols(), |at| is_builtin(files, at));
    Some(Box::new(Visible { collector, bounds }))
}

/// What somebody may know of an organisation.
#[derive(Debug)]
struct Bounds {
    /// The kind of its policies.
    kind: Sym,
    comply: Arc<Comply>,
    /// Where their roles hold.
    own: Vec<ObjectId>,
    /// The scopes of which they may see violations.
    violations: Vec<SmolStr>,
}

impl Bounds {
    fn of(kind: Sym, organisation: &upheld_governance::Organisation, roles: &[SmolStr]) -> Option<Self> {
        let comply = Arc::clone(organisation.comply());
        let own = own_scopes(&comply, roles)?;
        let actor = Actor::of(proved(&comply, roles))?;
        let seen = organisation.visibility(&actor).ok().flatten().unwrap_or_default();
        let violations = seen.into_iter().map(|scope| comply.reference(scope)).collect();
        Some(Self { kind, comply, own, violations })
    }

    /// Whether they may know of an object. `owner` is what a document says that it lives in.
    fn shows(&self, reference: &str, owner: Option<&str>) -> bool {
        let comply = &self.comply;
        if owner.is_some_and(|owner| !self.shows(owner, None)) {
            return false;
        }
        match comply.lookup(reference) {
            Ok(object) => match comply.scope_of(object) {
                Some(scope) => self.own.contains(&scope),
                // What could live in a scope and lives in none that is known is hidden.
                None => !comply.kind_of(object).is_some_and(|kind| self.is_owned(kind)),
            },
            Err(_) => {
                let kind = reference.split_once('/').and_then(|(word, _)| comply.profile().kind(word));
                let lives = kind.is_some_and(|kind| self.is_owned(kind) || comply.profile().scope == Some(kind));
                !lives || owner.is_some()
            }
        }
    }

    /// Whether objects of a kind live in others.
    fn is_owned(&self, kind: Kind) -> bool {
        let profile = self.comply.profile();
        let subject = profile.subject_of(kind);
        profile.relations.iter().any(|own| own.holds == Holds::Owned && Some(own.b) == subject)
    }
}

/// Documents held against the scopes of somebody.
#[derive(Debug)]
struct Visible<'s> {
    collector: Collector<'s>,
    bounds: Vec<Bounds>,
}

impl Visibility for Visible<'_> {
    fn shows(&self, document: Value<'_>) -> bool {
        // Tests of policies ask about objects, too.
        if is_tests(document) {
            return self.bounds.iter().all(|bounds| {
                let mut named = Vec::new();
                referred(bounds.comply.profile(), document, &mut named);
                named.iter().all(|own| bounds.shows(&own.reference, None))
            });
        }
        self.collector.homes_of(document).into_iter().all(|home| self.shows_in(home, document))
    }

    fn shows_gone(&self, identity: &Identity) -> bool {
        let Identity { kind, scope, name } = identity;
        if scope != SCOPE {
            return !NOTES.contains(&kind.as_str());
        }
        self.bounds.iter().all(|bounds| {
            let profile = bounds.comply.profile();
            if profile.kind(kind).is_some() {
                return bounds.shows(&format!("{kind}/{name}"), None);
            }
            if kind == LINK {
                // An escaped name is that of no object that is known.
                return name.split('~').all(|end| bounds.shows(end, None));
            }
            !NOTES.contains(&kind.as_str()) && !self.collector.is_mapped(kind)
        })
    }
}

impl Visible<'_> {
    fn shows_in(&self, home: &OfKind<'_>, document: Value<'_>) -> bool {
        let Some(bounds) = self.bounds.iter().find(|own| own.kind == home.name()) else { return true };
        let named = named_in(home, document);
        named.iter().all(|own| bounds.shows(&own.reference, own.owner.as_deref()))
            && (!is_of(document, ACCEPTED) || sees_violations(bounds, document))
    }
}

/// Whether all violations on record are in scopes whose violations somebody may see.
fn sees_violations(bounds: &Bounds, record: Value<'_>) -> bool {
    let mut found = record.get("violations").into_iter().flat_map(Value::items);
    found.all(|own| {
        own.get("workspace").is_some_and(|scope| bounds.violations.iter().any(|known| known == scope.text()))
    })
}

fn is_of(document: Value<'_>, kind: &str) -> bool {
    document.get("kind").is_some_and(|own| own.text() == kind)
}

/// An object that a document names.
#[derive(Debug)]
struct NamedObject {
    reference: SmolStr,
    /// What it lives in, as far as the document says so.
    owner: Option<SmolStr>,
}

fn named_in(home: &OfKind<'_>, document: Value<'_>) -> Vec<NamedObject> {
    let mut named = Vec::new();
    let items = |field: &str| document.get(field).into_iter().flat_map(Value::items);
    if is_of(document, COLLECTION) {
        items("objects").for_each(|item| read_from(home, item, &mut named));
        let others = ["relationships", "policies", "waivers"].into_iter().flat_map(items);
        others.for_each(|item| referred(home.profile(), item, &mut named));
        return named;
    }
    let word = document.get("type").or_else(|| document.get("kind")).map(Value::text);
    let describes = |word: &str| home.profile().kind(word).is_some() || home.mapping().of(word).is_some();
    match (claim(document), word) {
        (Some(Claim::Object), _) => read_from(home, document, &mut named),
        (None, Some(word)) if describes(word) => read_from(home, document, &mut named),
        _ => referred(home.profile(), document, &mut named),
    }
    named
}

/// What readers find in a document that describes or relates objects.
fn read_from(home: &OfKind<'_>, document: Value<'_>, named: &mut Vec<NamedObject>) {
    let (schema, mut found) = (Schema::default(), Diagnostics::default());
    let mut draft = Draft::new(Arc::clone(home.profile()), Partners::Judged);
    let mut reader = Reader::new(SourceId::new(0), home.profile(), &mut found);
    let mut objects = Objects::new(home.profile(), &schema, home.mapping());
    let word = document.get("kind").or_else(|| document.get("type")).map_or("", Value::text);
    // A type in our own form is no document of another system.
    let is_ours = document.get("type").is_some() && home.profile().kind(word).is_some();
    match home.mapping().of(word).filter(|_| !is_ours) {
        Some(maps) => objects.mapped(&mut reader, &mut draft, document, maps),
        None => {
            let whole = if document.get("ref").is_some() { Whole::Item } else { Whole::Document };
            objects.read(&mut reader, &mut draft, document, whole);
        }
    }
    let read = draft.so_far();
    named.extend(read.all_objects().map(|object| NamedObject {
        reference: read.reference(object),
        owner: read.owner_of(object).map(|owner| read.reference(owner)),
    }));
}

/// Every reference to an object that stands somewhere, and every scope that a field of that name has.
fn referred(profile: &Profile, value: Value<'_>, named: &mut Vec<NamedObject>) {
    let scope = profile.scope;
    match value.kind() {
        ValueKind::List => value.items().for_each(|item| referred(profile, item, named)),
        ValueKind::Map => {
            for (key, field) in value.entries() {
                let is_scope = key.text() == "workspace" || (scope.is_some() && profile.kind(key.text()) == scope);
                if ["tags", "description", "reason"].contains(&key.text()) {
                    continue;
                }
                match scope.filter(|_| is_scope) {
                    Some(scope) => each_text(field, &mut |text| {
                        let id = text.split_once('/').filter(|(word, _)| profile.kind(word) == Some(scope));
                        let id = id.map_or(text, |(_, id)| id);
                        named.push(NamedObject { reference: profile.reference(scope, id), owner: None });
                    }),
                    None => referred(profile, field, named),
                }
            }
        }
        _ => {
            let known = value.text().split_once('/').and_then(|(word, id)| Some((profile.kind(word)?, id)));
            if let Some((kind, id)) = known.filter(|(_, id)| !id.is_empty()) {
                named.push(NamedObject { reference: profile.reference(kind, id), owner: None });
            }
        }
    }
}

fn each_text(value: Value<'_>, tell: &mut impl FnMut(&str)) {
    match value.kind() {
        ValueKind::List => value.items().for_each(|item| each_text(item, tell)),
        ValueKind::Map => value.entries().for_each(|(_, field)| each_text(field, tell)),
        _ if value.text().is_empty() => {}
        _ => tell(value.text()),
    }
}
