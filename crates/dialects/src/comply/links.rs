//! Relationships. There can be a million of them in a file, so nothing is made for a line but its place.

use rustc_hash::FxHashMap;
use upheld_engine::comply::{Draft, Kind, ObjectId, Profile, Relation};
use upheld_model::Fault;
use upheld_model::tree::Value;

use super::mapping::related;
use super::reader::Reader;
use super::shapes;
use crate::shape::{Checker, Shape};

/// Reads relationships into a draft.
#[derive(Debug)]
pub(super) struct Links<'t> {
    shape: Shape,
    /// References that were met already: looking one up is what a line costs.
    known: FxHashMap<&'t str, (Kind, ObjectId)>,
}

impl<'t> Links<'t> {
    pub(super) fn new() -> Self {
        Self { shape: shapes::link(), known: FxHashMap::default() }
    }

    /// `{a, b, role?}`, in either order.
    pub(super) fn read(&mut self, reader: &mut Reader<'_>, draft: &mut Draft, written: Value<'t>) {
        let (mut a, mut b, mut role, mut plain) = (None, None, None, true);
        for (key, value) in written.entries() {
            let place = match key.text() {
                "a" => &mut a,
                "b" => &mut b,
                "role" => &mut role,
                _ => {
                    plain = false;
                    continue;
                }
            };
            plain &= value.as_text().is_some();
            *place = Some(value);
        }
        let (Some(first), Some(second), true) = (a, b, plain) else {
            Checker::new(reader.source, reader.found).of("this relationship").check(written, &self.shape);
            return;
        };
        let role = role.filter(|role| !role.text().is_empty());
        let (a, b) = (self.side(reader, draft, first), self.side(reader, draft, second));
        if let (Some(a), Some(b)) = (a, b) {
            relate(reader, draft, a, b, role, written);
        }
    }

    fn side(&mut self, reader: &mut Reader<'_>, draft: &mut Draft, value: Value<'t>) -> Option<(Kind, ObjectId)> {
        if let Some((kind, object)) = self.known.get(value.text()).copied() {
            draft.mention(object);
            return Some((kind, object));
        }
        let (kind, id) = reader.reference(value)?;
        let object = draft.refer(kind, id, Some(reader.place(value)));
        self.known.insert(value.text(), (kind, object));
        Some((kind, object))
    }
}

/// Two sides in the order in which the profile relates them.
pub(super) fn in_order<T: Copy>(profile: &Profile, one: (Kind, T), other: (Kind, T)) -> Option<(&Relation, T, T)> {
    let straight = related(profile, one.0, other.0).map(|relation| (relation, one.1, other.1));
    straight.or_else(|| related(profile, other.0, one.0).map(|relation| (relation, other.1, one.1)))
}

/// Relates two objects in the order that makes sense; says so if none does.
pub(super) fn relate(
    reader: &mut Reader<'_>,
    draft: &mut Draft,
    one: (Kind, ObjectId),
    other: (Kind, ObjectId),
    role: Option<Value<'_>>,
    written: Value<'_>,
) {
    let at = Some(reader.place(written));
    // Reading a role needs to know what it qualifies; most lines have none.
    let Some(role) = role else {
        if !draft.link(one.1, other.1, None, at) && !draft.link(other.1, one.1, None, at) {
            not_related(reader, one.0, other.0, one.1 == other.1, written);
        }
        return;
    };
    let profile = reader.profile;
    let Some((relation, a, b)) = in_order(profile, one, other) else {
        not_related(reader, one.0, other.0, one.1 == other.1, written);
        return;
    };
    let Some(kind) = relation.role else {
        let (one, other) = (profile.kind_name(one.0), profile.kind_name(other.0));
        let message = format!("a relationship of `{one}` and `{other}` has no role");
        reader.wrong(Fault::NotRelated, role, message, "remove this", "");
        return;
    };
    let word = role.text().split_once('/').map(|(word, _)| word);
    if word.is_some_and(|word| profile.kind(word).is_some_and(|own| own != kind)) {
        let message = format!("`{}` is not of kind `{}`", role.text(), profile.kind_name(kind));
        let help = format!("a role is written `{}/ID`", profile.kind_name(kind));
        reader.wrong(Fault::NotRelated, role, message, "another kind", &help);
        return;
    }
    if let Some(id) = reader.reference_to(kind, role) {
        let place = Some(reader.place(role));
        let role = draft.refer(kind, id, place);
        if !draft.link(a, b, Some(role), at) {
            not_related(reader, one.0, other.0, a == b, written);
        }
    }
}

fn not_related(reader: &mut Reader<'_>, one: Kind, other: Kind, same: bool, written: Value<'_>) {
    let profile = reader.profile;
    let (first, second) = (profile.kind_name(one), profile.kind_name(other));
    if same {
        let message = format!("a {first} cannot be related to itself");
        reader.wrong(Fault::NotRelated, written, message, "the same on both sides", "");
        return;
    }
    let message = format!("`{first}` and `{second}` are not related in `{}`", profile.name);
    let help = format!("`{first}` can be related to: {}", partners(profile, one).join(", "));
    reader.wrong(Fault::NotRelated, written, message, "not possible", &help);
}

/// Whom objects of a kind can be related to.
fn partners(profile: &Profile, kind: Kind) -> Vec<&str> {
    let own = profile.subject_of(kind);
    let others = profile.relations.iter().filter_map(|relation| match own {
        own if own == Some(relation.a) => Some(relation.b),
        own if own == Some(relation.b) => Some(relation.a),
        _ => None,
    });
    others.map(|other| profile.subject_name(other)).collect()
}
