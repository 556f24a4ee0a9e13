//! Tags that something must have to be looked at.

use std::collections::{BTreeMap, BTreeSet};

use upheld_dialects::dialects;
use upheld_engine::Snapshot;
use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Fault, NodeRef, TagSet};

/// Tags by key; one of the values is enough, and `*` is any.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted(BTreeMap<String, Vec<String>>);

impl Wanted {
    /// What was written; nothing wants nothing.
    pub(super) fn read(written: Option<Value<'_>>) -> Self {
        let values = |value: Value<'_>| match value.kind() {
            Kind::List => value.items().map(|item| item.text().to_owned()).collect(),
            _ => vec![value.text().to_owned()],
        };
        let entries = written.into_iter().flat_map(Value::entries);
        Self(entries.map(|(key, value)| (key.text().to_owned(), values(value))).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses a key that nothing has: it is misspelt, and nothing would ever be looked at. A value may come one day.
    pub(super) fn check<'t>(&self, parts: impl Iterator<Item = &'t Tags>) -> Result<(), Diagnostic> {
        let known: BTreeSet<&str> = parts.flat_map(|part| part.0.iter().map(|(key, _)| key.as_str())).collect();
        let unknown = self.0.keys().find(|key| !known.contains(key.as_str()));
        let Some(key) = unknown else { return Ok(()) };
        let problem = Diagnostic::error(Fault::NotFound, format!("nothing that is looked at has the tag `{key}`"));
        Err(problem.suggest_or(nearest(key, known.iter().copied()).map(str::to_owned), || {
            format!("there are: {}", known.into_iter().collect::<Vec<_>>().join(", "))
        }))
    }

    /// Whether one part of something has all of them: tags of two parts are never combined.
    pub(super) fn fits(&self, parts: &[Tags]) -> bool {
        let has = |part: &Tags, key: &String, values: &[String]| {
            let own = part.0.iter().filter(|(known, _)| known == key).flat_map(|(_, values)| values);
            own.into_iter().any(|value| values.iter().any(|wanted| wanted == "*" || wanted == value))
        };
        self.is_empty() || parts.iter().any(|part| self.0.iter().all(|(key, values)| has(part, key, values)))
    }
}

/// The values of each tag of something, or of a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tags(pub(super) Vec<(String, Vec<String>)>);

impl Tags {
    /// As they are known to a snapshot; a value that nobody knows is none.
    pub(super) fn of(snapshot: &Snapshot, sets: &[&TagSet]) -> Self {
        let all = sets.iter().flat_map(|set| set.as_slice());
        let values = |value| Option::into_iter(value).map(|value| snapshot.text(value).to_owned()).collect();
        Self(all.map(|tag| (snapshot.text(tag.key).to_owned(), values(tag.value))).collect())
    }

    /// The values of a tag.
    pub(super) fn values(&self, key: &str) -> Vec<&str> {
        self.0.iter().filter(|(known, _)| known == key).flat_map(|(_, values)| values).map(String::as_str).collect()
    }
}

/// Something that was read, with its tags.
#[derive(Clone, Debug)]
pub(super) struct Tagged {
    pub(super) kind: String,
    pub(super) scope: String,
    pub(super) name: String,
    pub(super) parts: Vec<Tags>,
    pub(super) at: Option<NodeRef>,
}

impl Tagged {
    /// Everything that was read.
    pub(super) fn all(snapshot: &Snapshot) -> Vec<Self> {
        let own = snapshot.objects().iter().map(|(_, object)| {
            let text = |symbol| snapshot.text(symbol).to_owned();
            // What is known of the whole is known of every part.
            let mut parts: Vec<Tags> =
                object.parts.iter().map(|part| Tags::of(snapshot, &[&part.tags, &object.facts])).collect();
            if parts.is_empty() {
                parts.push(Tags::of(snapshot, &[&object.facts]));
            }
            let (kind, scope, name) = (text(object.kind), text(object.scope), text(object.name));
            Self { kind, scope, name, parts, at: Some(object.at) }
        });
        let kept_apart = dialects().flat_map(|dialect| dialect.objects(snapshot)).map(|object| Self {
            kind: object.kind,
            scope: object.scope,
            name: object.name,
            parts: vec![Tags(object.tags)],
            at: object.at,
        });
        own.chain(kept_apart).collect()
    }

    /// The names that questions may call it by: `kind/scope/name`, `scope/name`, or its name.
    pub(super) fn is_called(&self, written: &str) -> bool {
        let whole = written.split_once('#').map_or(written, |(whole, _)| whole);
        let mut words = whole.rsplitn(3, '/');
        let (name, scope, kind) = (words.next(), words.next(), words.next());
        name == Some(&self.name)
            && scope.is_none_or(|scope| scope == self.scope)
            && kind.is_none_or(|kind| self.kind.eq_ignore_ascii_case(kind) || kind == "backend")
    }
}
