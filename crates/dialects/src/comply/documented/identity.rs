//! Who documents of related objects are: by the same kinds, words and paths by which they are read.

use upheld_engine::comply::{Kind, Profile};
use upheld_model::tree::{Kind as ValueKind, Value};

use super::{COLLECTION, Claim, Collector, DEFINITION, OfKind, Own, WAIVER, What, claim};
use crate::comply::accepted::ACCEPTED;
use crate::comply::changes::CHANGES;
use crate::comply::definitions::subject_or_kind;
use crate::comply::links::in_order;
use crate::comply::mapping::{LinkMap, Mapped, ObjectMap, Paths};
use crate::comply::objects::ids;
use crate::comply::{LINK, SCOPE};
use crate::document::Header;
use crate::identity::{Identify, Named, Nameless, Whose, named, text};

impl Identify for Collector<'_> {
    fn identity(&self, document: Value<'_>) -> Whose {
        if document.kind() != ValueKind::Map {
            return Whose::Others;
        }
        let Some(claim) = claim(document) else { return self.identity_of_typed(document) };
        let homes = self.homes(document, claim);
        let Some(home) = homes.first().and_then(|home| self.kinds.get(*home)) else { return Whose::Others };
        Whose::Own(match claim {
            Claim::Object => object(home, document.get("ref").map_or("", Value::text)),
            Claim::Link => link(&home.profile, document),
        })
    }
}

impl Collector<'_> {
    fn identity_of_typed(&self, document: Value<'_>) -> Whose {
        let of = |home: usize, identity: &dyn Fn(&OfKind<'_>) -> Named| match self.kinds.get(home) {
            Some(home) => Whose::Own(identity(home)),
            None => Whose::Others,
        };
        match self.what(Header::of(document)) {
            What::Nothing => Whose::Others,
            What::Policy(home) => of(home, &|home| {
                let id = id(document, &home.typed)?;
                named(&home.typed, SCOPE, id)
            }),
            What::Object(home, word) => of(home, &|home| {
                let name = text(document, "name").ok_or_else(|| Nameless::lacks(word, ["name"]))?;
                named(kind_name(&home.profile, word), SCOPE, name)
            }),
            What::Definition(home, subject) => of(home, &|home| definition(home, subject, document)),
            What::Own(home, own) => of(home, &|home| {
                let (kind, id) = match own {
                    Own::Waiver => (WAIVER, id(document, WAIVER)?),
                    Own::Collection => (COLLECTION, a_name(document, COLLECTION)?),
                    Own::Changes => (CHANGES, a_name(document, CHANGES)?),
                    Own::Accepted => (ACCEPTED, a_name(document, ACCEPTED)?),
                };
                named(kind, home.scope(), id)
            }),
            What::Mapped(homes, word) => self.mapped(&homes, word, document),
        }
    }

    /// A document of another system: the object that it describes, else the relationship.
    fn mapped(&self, homes: &[usize], word: &str, document: Value<'_>) -> Whose {
        let homes = || homes.iter().filter_map(|home| self.kinds.get(*home));
        let maps =
            || homes().flat_map(|home| home.mapping.of(word).unwrap_or_default().iter().map(move |map| (home, map)));
        let described = maps().find_map(|(home, map)| match map {
            Mapped::Object(map) => Some(described(home, map, word, document)),
            Mapped::Link(_) => None,
        });
        let related = || {
            maps().find_map(|(_, map)| match map {
                Mapped::Link(map) => related(map, word, document),
                Mapped::Object(_) => None,
            })
        };
        described.or_else(related).map_or(Whose::Others, Whose::Shared)
    }
}

impl OfKind<'_> {
    /// What is about one kind of policies alone is in it; the built-in ones share theirs.
    pub(super) fn scope(&self) -> &str {
        if self.builtin { SCOPE } else { &self.typed }
    }
}

/// `id`, or `name` in documents of their own.
pub(super) fn id<'t>(document: Value<'t>, kind: &str) -> Result<&'t str, Nameless> {
    text(document, "id").or_else(|| text(document, "name")).ok_or_else(|| Nameless::lacks(kind, ["id", "name"]))
}

/// What needs a name in a store alone, since there can be several.
fn a_name<'t>(document: Value<'t>, kind: &str) -> Result<&'t str, Nameless> {
    text(document, "name").ok_or_else(|| Nameless::lacks(kind, ["name"]))
}

/// The neutral name of a kind of objects; the word itself if nobody knows it.
fn kind_name<'w>(profile: &'w Profile, word: &'w str) -> &'w str {
    profile.kind(word).map_or(word, |kind| profile.kind_name(kind))
}

pub(super) fn object(home: &OfKind<'_>, reference: &str) -> Named {
    match reference.split_once('/') {
        Some((word, id)) if !id.is_empty() => named(kind_name(&home.profile, word), SCOPE, id),
        _ => Err(Nameless::lacks("object", ["ref: kind/id"])),
    }
}

/// One definition for a subject and a key, whoever writes it.
pub(super) fn definition(home: &OfKind<'_>, subject: Option<Value<'_>>, document: Value<'_>) -> Named {
    let of = subject.map(Value::text).filter(|word| !word.is_empty());
    let key = text(document, "key").or_else(|| text(document.get("spec")?, "key"));
    let is_manifest = document.get("spec").is_some();
    let word = of.ok_or_else(|| Nameless::lacks(DEFINITION, [if is_manifest { "spec.targetKind" } else { "of" }]))?;
    let key = key.ok_or_else(|| Nameless::lacks(DEFINITION, [if is_manifest { "spec.key" } else { "key" }]))?;
    let profile = &home.profile;
    let subject = subject_or_kind(profile, word).map_or(word, |subject| profile.subject_name(subject));
    // A key has no slash in it, so the last one is where it begins.
    named(DEFINITION, home.scope(), &format!("{subject}/{key}"))
}

/// The two sides in the order of the relationship, then the role.
pub(super) fn link(profile: &Profile, document: Value<'_>) -> Named {
    let part = |field: &str| text(document, field).ok_or_else(|| Nameless::lacks(LINK, [field]));
    let (one, other, role) = (part("a")?, part("b")?, text(document, "role"));
    let side = |reference: &'_ str| -> Option<(Kind, String)> {
        let (word, id) = reference.split_once('/')?;
        let kind = profile.kind(word)?;
        Some((kind, profile.reference(kind, id).into()))
    };
    let known = side(one).zip(side(other));
    let related = known.as_ref().and_then(|((a, one), (b, other))| {
        let (relation, a, b) = in_order(profile, (*a, one), (*b, other))?;
        Some((relation, a.clone(), b.clone()))
    });
    let name = match related {
        Some((relation, a, b)) => {
            let role = role.map(|role| match (role.split_once('/'), relation.role) {
                // The kind of a role may be left out.
                (Some((word, id)), Some(kind)) if profile.kind(word) == Some(kind) => {
                    profile.reference(kind, id).into()
                }
                (_, Some(kind)) => profile.reference(kind, role).into(),
                (_, None) => role.to_owned(),
            });
            joined([a, b].into_iter().chain(role))
        }
        // What cannot be related is refused by whoever reads it.
        None => joined([one, other].into_iter().chain(role).map(str::to_owned)),
    };
    named(LINK, SCOPE, &name)
}

fn described(home: &OfKind<'_>, map: &ObjectMap, word: &str, document: Value<'_>) -> Named {
    match ids(&map.id, document).first() {
        Some(id) => named(home.profile.kind_name(map.kind), SCOPE, id),
        None => Err(lacks(word, &map.id.id)),
    }
}

/// A document that relates objects: the first side, and what tells documents of it apart. `None` for documents of systems with
/// names of their own.
fn related(map: &LinkMap, word: &str, document: Value<'_>) -> Option<Named> {
    let kind = map.kept_as.as_deref().unwrap_or(word);
    let Some(first) = ids(&map.a.1, document).into_iter().next() else { return Some(Err(lacks(word, &map.a.1.id))) };
    let values = |paths: &Paths| -> Option<String> {
        let mut all: Vec<&str> = paths.all(document).into_iter().map(Value::text).filter(|id| !id.is_empty()).collect();
        all.sort_unstable();
        all.dedup();
        let all: Vec<String> = all.into_iter().map(|value| escaped(value, &['%', '~', ','])).collect();
        (!all.is_empty()).then(|| all.join(","))
    };
    let first = escaped(&first, &['%', '~', ',']);
    if let Some(row) = map.unique.iter().find_map(|row| row.iter().map(values).collect::<Option<Vec<String>>>()) {
        let parts: Vec<String> = std::iter::once(first).chain(row).collect();
        return Some(named(kind, SCOPE, &parts.join("~")));
    }
    if let Some(row) = map.unique.last() {
        let missing = row.iter().find(|paths| values(paths).is_none());
        return missing.map(|paths| Err(lacks(word, paths)));
    }
    if document.at_path(&["metadata", "name"]).is_some_and(|name| !name.text().is_empty()) {
        return None;
    }
    let second = ids(&map.b.1, document);
    if second.is_empty() {
        return Some(Err(lacks(word, &map.b.1.id)));
    }
    let mut second: Vec<String> = second.iter().map(|id| escaped(id, &['%', '~', ','])).collect();
    second.sort_unstable();
    let role = map.role.as_ref().and_then(|(_, paths)| values(paths));
    let parts: Vec<String> = [first, second.join(",")].into_iter().chain(role).collect();
    Some(named(kind, SCOPE, &parts.join("~")))
}

fn lacks(word: &str, paths: &Paths) -> Nameless {
    Nameless::lacks(word, paths.texts())
}

/// Parts with `~` between them, from which all can be read back.
fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.map(|part| escaped(&part, &['%', '~'])).collect::<Vec<_>>().join("~")
}

/// A text in which some characters are written as in addresses, since they have a meaning here.
fn escaped(text: &str, special: &[char]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if special.contains(&letter) {
            escaped.push_str(&format!("%{:02X}", u32::from(letter)));
        } else {
            escaped.push(letter);
        }
    }
    escaped
}
