//! Where the documents of other systems have what we look for, as the kind says it.

mod path;

use rustc_hash::FxHashMap;
use upheld_engine::comply::{Kind, Profile, Relation};
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId};

pub use self::path::Paths;
use super::kind::or_nearest;

/// The documents that a kind reads, by their `kind` or `type`.
#[derive(Debug, Default)]
pub struct Mapping {
    documents: FxHashMap<String, Vec<Mapped>>,
    /// The kinds of objects that some document describes.
    described: Vec<Kind>,
}

/// What a document is about. It can be about several things.
#[derive(Debug)]
pub enum Mapped {
    /// An object.
    Object(ObjectMap),
    /// A relationship, or several of one object.
    Link(LinkMap),
}

/// Where a document has an object.
#[derive(Debug)]
pub struct ObjectMap {
    /// Of which kind.
    pub kind: Kind,
    /// Its id.
    pub id: IdMap,
    /// How people call it.
    pub name: Paths,
    /// Its tags.
    pub tags: Paths,
    /// What is there when it is gone.
    pub deleted: Paths,
    /// What is true when it takes no new relationships.
    pub disabled: Paths,
    /// What pays for it.
    pub paid_by: Option<(Kind, Paths)>,
    /// What it is related to.
    pub links: Vec<OtherMap>,
}

/// Where a document has an id, and what stands before it.
#[derive(Debug)]
pub struct IdMap {
    /// The id itself.
    pub id: Paths,
    /// What it is unique within; empty if it is unique everywhere.
    pub within: Paths,
}

/// Where a document has the other side of a relationship.
#[derive(Debug)]
pub struct OtherMap {
    /// Of which kind.
    pub kind: Kind,
    /// Its id.
    pub id: IdMap,
    /// What qualifies it.
    pub role: Option<(Kind, Paths)>,
}

/// Where a document has a relationship.
#[derive(Debug)]
pub struct LinkMap {
    /// The first side.
    pub a: (Kind, IdMap),
    /// The second side.
    pub b: (Kind, IdMap),
    /// What qualifies it.
    pub role: Option<(Kind, Paths)>,
    /// What is there when it is over.
    pub deleted: Paths,
    /// What tells documents of one first side apart: the first row of which all is there.
    pub unique: Vec<Vec<Paths>>,
    /// The type under which it is kept, where it goes by several.
    pub kept_as: Option<String>,
}

impl Mapping {
    /// Of a `PolicyKind` document whose profile is known; every mistake is reported.
    pub fn read(source: SourceId, document: Value<'_>, profile: &Profile, found: &mut Diagnostics) -> Self {
        let mut reading = Reading { source, profile, found };
        let mut mapping = Self::default();
        for object in items(document, "objects") {
            let Some(kind) = object.get("name").and_then(|name| profile.kind(name.text())) else { continue };
            for written in items(object, "documents") {
                mapping.described.push(kind);
                if let Some(map) = reading.object(kind, written) {
                    mapping.add(written, Mapped::Object(map));
                }
            }
        }
        for relationship in items(document, "relationships") {
            for written in items(relationship, "documents") {
                if let Some(map) = reading.link(relationship, written) {
                    mapping.add(written, Mapped::Link(map));
                }
            }
        }
        mapping
    }

    fn add(&mut self, written: Value<'_>, map: Mapped) {
        let kind = written.get("kind").map_or("", Value::text);
        self.documents.entry(kind.to_owned()).or_default().push(map);
    }

    /// Whether documents are kept under a type, whatever they are called.
    pub(super) fn keeps_as(&self, kind: &str) -> bool {
        let kept = |map: &Mapped| matches!(map, Mapped::Link(map) if map.kept_as.as_deref() == Some(kind));
        self.documents.values().flatten().any(kept)
    }

    /// What documents of a `kind` or `type` are about.
    pub fn of(&self, kind: &str) -> Option<&[Mapped]> {
        self.documents.get(kind).map(Vec::as_slice)
    }

    /// Whether some document can describe objects of a kind. What none can is there when one mentions it.
    pub fn describes(&self, kind: Kind) -> bool {
        self.described.contains(&kind)
    }

    /// The words in `kind` or `type` that are known.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.documents.keys().map(String::as_str)
    }
}

struct Reading<'r> {
    source: SourceId,
    profile: &'r Profile,
    found: &'r mut Diagnostics,
}

impl Reading<'_> {
    fn paths(&mut self, item: Value<'_>, field: &str) -> Paths {
        item.get(field).map(|written| self.checked(written)).unwrap_or_default()
    }

    fn checked(&mut self, written: Value<'_>) -> Paths {
        let (paths, bad) = Paths::read(written);
        if let Some(bad) = bad {
            let message = format!("`{}` is not a valid path", bad.text());
            let help = "a path is names with dots between them; `[]` after a name stands for every item of a list";
            let diagnostic = Diagnostic::error(Fault::BrokenKind, message).at_value(self.source, bad, "invalid path");
            self.found.push(diagnostic.help(help));
        }
        paths
    }

    fn kind(&mut self, word: Value<'_>) -> Option<Kind> {
        let kind = self.profile.kind(word.text());
        if kind.is_none() {
            let message = format!("there is no kind of object `{}`", word.text());
            let help = or_nearest(word.text(), self.profile.kinds.iter().map(|kind| kind.name.as_str()));
            let diagnostic = Diagnostic::error(Fault::BrokenKind, message).at_value(self.source, word, "unknown");
            self.found.push(diagnostic.help(help));
        }
        kind
    }

    fn object(&mut self, kind: Kind, written: Value<'_>) -> Option<ObjectMap> {
        let links: Vec<Value<'_>> = written.get("links").into_iter().flat_map(Value::items).collect();
        let links = links.into_iter().filter_map(|link| self.other(kind, link)).collect();
        let paid_by = match written.get("paidBy") {
            Some(paid_by) => Some((self.kind(paid_by.get("to")?)?, self.paths(paid_by, "field"))),
            None => None,
        };
        Some(ObjectMap {
            kind,
            id: IdMap { id: self.paths(written, "id"), within: self.paths(written, "within") },
            name: self.paths(written, "name"),
            tags: self.paths(written, "tags"),
            deleted: self.paths(written, "deleted"),
            disabled: self.paths(written, "disabled"),
            paid_by,
            links,
        })
    }

    fn other(&mut self, own: Kind, link: Value<'_>) -> Option<OtherMap> {
        let to = link.get("to")?;
        let kind = self.kind(to)?;
        let related = related(self.profile, own, kind).or_else(|| related(self.profile, kind, own));
        let Some(relation) = related else {
            self.not_related(to, own, kind);
            return None;
        };
        let role = self.role(relation.role, link)?;
        Some(OtherMap { kind, id: IdMap { id: self.paths(link, "field"), within: self.paths(link, "within") }, role })
    }

    fn not_related(&mut self, at: Value<'_>, a: Kind, b: Kind) {
        let (a, b) = (self.profile.kind_name(a), self.profile.kind_name(b));
        let message = format!("`{a}` and `{b}` are not related");
        let diagnostic = Diagnostic::error(Fault::BrokenKind, message).at_value(self.source, at, "not related");
        self.found.push(diagnostic.help("add them to `relationships`"));
    }

    /// The role, where one is written; nothing if that was wrong.
    #[expect(clippy::option_option, reason = "no role is not a wrong one")]
    fn role(&mut self, qualifies: Option<Kind>, written: Value<'_>) -> Option<Option<(Kind, Paths)>> {
        let Some(word) = written.get("role") else { return Some(None) };
        let Some(kind) = qualifies else {
            let message = "this relationship has no role";
            let diagnostic = Diagnostic::error(Fault::BrokenKind, message).at_value(self.source, word, "no role");
            self.found.push(diagnostic.help("say which objects it is: `role: ...` of the relationship"));
            return None;
        };
        Some(Some((kind, self.paths(written, "role"))))
    }

    fn link(&mut self, relationship: Value<'_>, written: Value<'_>) -> Option<LinkMap> {
        let a = self.side(relationship, written, "a", "aKind", "aWithin")?;
        let b = self.side(relationship, written, "b", "bKind", "bWithin")?;
        let relation = related(self.profile, a.0, b.0)?;
        let role = self.role(relation.role, written)?;
        let kept_as = written.get("as").map(|word| word.text().to_owned());
        Some(LinkMap { a, b, role, deleted: self.paths(written, "deleted"), unique: self.unique(written), kept_as })
    }

    fn unique(&mut self, written: Value<'_>) -> Vec<Vec<Paths>> {
        let rows = items(written, "unique");
        rows.map(|row| row.items().map(|part| self.checked(part)).collect()).collect()
    }

    fn side(
        &mut self,
        relationship: Value<'_>,
        written: Value<'_>,
        side: &str,
        kind: &str,
        within: &str,
    ) -> Option<(Kind, IdMap)> {
        let subject = relationship.get(side)?;
        let word = written.get(kind).unwrap_or(subject);
        // A subject of several kinds does not say which one a document means.
        if written.get(kind).is_none() && self.profile.kind(word.text()).is_none() {
            let message = format!("`{}` can be several kinds of objects", word.text());
            let at = written.get(side).unwrap_or(written);
            let diagnostic = Diagnostic::error(Fault::BrokenKind, message).at_value(self.source, at, "of which kind?");
            self.found.push(diagnostic.help(format!("say which one these documents mean: `{kind}: ...`")));
            return None;
        }
        let own = self.kind(word)?;
        if self.profile.subject_of(own) != self.profile.subject(subject.text()) {
            let message = format!("`{}` does not count as `{}`", word.text(), subject.text());
            let diagnostic =
                Diagnostic::error(Fault::BrokenKind, message).at_value(self.source, word, "another subject");
            self.found.push(diagnostic);
            return None;
        }
        Some((own, IdMap { id: self.paths(written, side), within: self.paths(written, within) }))
    }
}

/// How two kinds are related, in this order.
pub(crate) fn related(profile: &Profile, a: Kind, b: Kind) -> Option<&Relation> {
    let (a, b) = (profile.subject_of(a)?, profile.subject_of(b)?);
    profile.relations.iter().find(|relation| relation.a == a && relation.b == b)
}

fn items<'v>(value: Value<'v>, field: &str) -> impl Iterator<Item = Value<'v>> {
    value.get(field).into_iter().flat_map(Value::items)
}
