//! What fixes come to in the documents that the objects were read from.
//!
//! A few bytes change and nothing else. Each changed text is read again and held against the one before: if anything differs but what was to
//! change, the file is left to whoever knows it.

mod ended;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use smol_str::SmolStr;
use upheld_engine::comply::{Defaults, ObjectId};
use upheld_governance::{Edit, Fix};
use upheld_model::tree::Value;
use upheld_model::{Diagnostics, NodeRef, SourceId};
use upheld_report::At;
use upheld_syntax::edit::{Edited, FileEdit, Replacement, applied, remaining};
use upheld_syntax::{Format, parse};

use self::ended::{Ended, Related};
use super::Organisation;
use crate::comply::mapping::{Mapped, Mapping};

/// What fixes come to in documents.
#[derive(Clone, Debug, Default)]
pub struct FileEdits {
    /// The files that change.
    pub files: Vec<FileEdit>,
    /// What has to be changed by hand.
    pub by_hand: Vec<ByHand>,
}

/// What has to be changed by hand.
#[derive(Clone, Debug)]
pub struct ByHand {
    /// What.
    pub text: String,
    /// Where, as far as it is known.
    pub at: Option<At>,
    /// Why.
    pub why: &'static str,
}

const NO_DOCUMENT: &str = "no document describes it";
const NOT_SIMPLE: &str = "it is written in a way that only somebody who knows the file should change";
const CHANGED_SINCE: &str = "its document is not what holds: changes came since";
const NO_RELATIONSHIP: &str = "no document says only that they are related";

/// Other values of some tags of an object.
type TagChanges = BTreeMap<SmolStr, Vec<SmolStr>>;

/// A change of the tags of an object in its document.
struct Change<'c> {
    object: &'c SmolStr,
    tags: &'c TagChanges,
    at: NodeRef,
    replacements: Vec<Replacement>,
}

impl Organisation<'_> {
    /// What fixes come to in the documents that were read.
    pub fn file_edits(&self, fixes: &[Fix]) -> FileEdits {
        let mut edits = FileEdits::default();
        let mut objects: BTreeMap<SmolStr, TagChanges> = BTreeMap::new();
        let mut unlinked: BTreeSet<Related> = BTreeSet::new();
        for edit in fixes.iter().flat_map(|fix| &fix.edits) {
            match edit {
                Edit::Tag { object, tag, .. } => {
                    let tags = objects.entry(object.clone()).or_default();
                    let before = tags.get(tag).cloned().unwrap_or_else(|| self.current(object, tag));
                    tags.insert(tag.clone(), edit.applied(&before));
                }
                Edit::Unlink { a, b } => drop(unlinked.insert((a.clone(), b.clone()))),
            }
        }
        let mapping = self.mapping();
        let mut by_file: BTreeMap<SourceId, Vec<Change<'_>>> = BTreeMap::new();
        for (object, tags) in &objects {
            match self.change_of(object, tags, mapping.as_ref()) {
                Ok(change) => by_file.entry(change.at.source).or_default().push(change),
                Err(why) => edits.by_hand.push(self.by_hand(object, tags, why)),
            }
        }
        let (mut ended_in, not_ended) = self.ended(unlinked);
        edits.by_hand.extend(not_ended);
        let sources: BTreeSet<SourceId> = by_file.keys().chain(ended_in.keys()).copied().collect();
        for source in sources {
            let changes = by_file.remove(&source).unwrap_or_default();
            let ended = ended_in.remove(&source).unwrap_or_default();
            match self.file_edit(source, &changes, &ended) {
                Some(file) => edits.files.push(file),
                None => {
                    let by_hand = changes.iter().map(|change| self.by_hand(change.object, change.tags, NOT_SIMPLE));
                    edits.by_hand.extend(by_hand);
                    edits.by_hand.extend(ended.iter().map(|own| self.not_ended(&own.pair, NOT_SIMPLE)));
                }
            }
        }
        edits
    }

    fn current(&self, object: &str, tag: &str) -> Vec<SmolStr> {
        let comply = self.comply();
        comply.lookup(object).map_or_else(|_| Vec::new(), |object| comply.texts(comply.values_of(object, tag)))
    }

    fn place_of(&self, object: &str) -> Option<At> {
        let object = self.comply().lookup(object).ok()?;
        At::of(self.snapshot.files(), self.comply().described(object)?.at?)
    }

    fn by_hand(&self, object: &SmolStr, tags: &TagChanges, why: &'static str) -> ByHand {
        let told = tags.iter().map(|(tag, values)| match values.as_slice() {
            [] => format!("remove {tag} of {object}"),
            values => format!("set {tag} of {object} to {}", values.join(", ")),
        });
        ByHand { text: told.collect::<Vec<_>>().join(" and "), at: self.place_of(object), why }
    }

    /// Where documents of other systems have what we look for.
    fn mapping(&self) -> Option<Mapping> {
        let (_, kind) = self.snapshot.kinds().iter().find(|(_, kind)| kind.name == self.kind)?;
        let document = self.snapshot.files().value(kind.at)?;
        let profile = self.comply().profile();
        // What is wrong with it was said when the kind was read.
        Some(Mapping::read(kind.at.source, document, profile, &mut Diagnostics::default()))
    }

    fn change_of<'c>(
        &self,
        object: &'c SmolStr,
        tags: &'c TagChanges,
        mapping: Option<&Mapping>,
    ) -> Result<Change<'c>, &'static str> {
        let (comply, files) = (self.comply(), self.snapshot.files());
        let id = comply.lookup(object).map_err(|_| NO_DOCUMENT)?;
        let at = comply.described(id).and_then(|own| own.at).ok_or(NO_DOCUMENT)?;
        let (file, written) = files.get(at.source).zip(files.value(at)).ok_or(NO_DOCUMENT)?;
        let edited = Edited { text: file.tree.text(), format: Format::of_file(file) };
        let own = self.tags_in(id, written, mapping);
        let mut replacements = Vec::new();
        for (tag, values) in tags {
            let written_values = own.and_then(|own| own.get(tag)).map_or_else(Vec::new, texts);
            let values = self.values_to_write(id, tag, values, &written_values)?;
            let values: Vec<&str> = values.iter().map(SmolStr::as_str).collect();
            let set = match own {
                Some(own) => edited.set(own, tag, &values),
                // A second tag would be a second map.
                None if tags.len() == 1 && mapped(mapping, written).is_none() => {
                    edited.set_within(written, "tags", tag, &values)
                }
                None => None,
            };
            replacements.extend(set.ok_or(NOT_SIMPLE)?);
        }
        Ok(Change { object, tags, at, replacements })
    }

    /// The values to write so that an object has these: those that it gets by default need not be written.
    fn values_to_write(
        &self,
        object: ObjectId,
        tag: &str,
        wanted: &[SmolStr],
        written: &[SmolStr],
    ) -> Result<Vec<SmolStr>, &'static str> {
        let comply = self.comply();
        let current = comply.texts(comply.values_of(object, tag));
        let spec = comply.kind_of(object).and_then(|kind| comply.profile().kind_spec(kind));
        let gets = spec.is_some_and(|spec| spec.defaults == Defaults::Given);
        let defaults = self.governed.schema().defaults();
        let is_default =
            |value: &SmolStr| gets && defaults.iter().any(|(key, values)| key == tag && values.contains(value));
        let is_given = |value: &SmolStr| is_default(value) && !written.contains(value);
        let holds = written.iter().all(|value| current.contains(value))
            && current.iter().all(|value| written.contains(value) || is_given(value));
        if !holds {
            return Err(CHANGED_SINCE);
        }
        Ok(wanted.iter().filter(|value| !is_given(value)).cloned().collect())
    }

    /// The map of tags of an object in its document.
    fn tags_in<'v>(&self, object: ObjectId, written: Value<'v>, mapping: Option<&Mapping>) -> Option<Value<'v>> {
        match mapped(mapping, written) {
            Some(maps) => maps.iter().find_map(|map| match map {
                Mapped::Object(map) if Some(map.kind) == self.comply().kind_of(object) => map.tags.one(written),
                _ => None,
            }),
            None => written.get("tags"),
        }
    }

    fn file_edit(&self, source: SourceId, changes: &[Change<'_>], ended: &[Ended]) -> Option<FileEdit> {
        let file = self.snapshot.files().get(source)?;
        let before = file.tree.text();
        let mut replacements: Vec<Replacement> = changes.iter().flat_map(|own| own.replacements.clone()).collect();
        replacements.extend(ended::replacements(file, ended)?);
        replacements.sort();
        // Where two objects share their tags, one of them cannot change alone.
        let owners = |own: &Replacement| {
            changes.iter().filter(|change| change.replacements.iter().any(|other| other.span == own.span)).count()
        };
        if replacements.iter().any(|own| owners(own) > 1) {
            return None;
        }
        let after = applied(before, &replacements)?;
        let (read, problems) = parse(file.name.as_str(), Format::of_file(file), after.clone(), source);
        if !problems.is_empty() {
            return None;
        }
        let expected = remaining(file.tree.documents(), &ended::numbers(ended))?;
        let found = remaining(read.tree.documents(), &BTreeSet::new())?;
        if found.len() != expected.len() {
            return None;
        }
        // All values of tags that were to change, and nothing but them, are different.
        let mut differences = Vec::new();
        for (one, other) in expected.iter().zip(&found) {
            differ(one, other, &mut differences);
        }
        let expected = changes.iter().map(|change| change.tags.len()).sum::<usize>();
        let is_meant = |key: &String| changes.iter().any(|own| own.tags.keys().any(|tag| tag == key) || key == "tags");
        (differences.len() == expected && differences.iter().all(is_meant)).then(|| FileEdit {
            name: file.name.clone(),
            before: before.to_owned(),
            after,
            replacements,
        })
    }
}

/// What the documents of another system are about; nothing for our own.
fn mapped<'m>(mapping: Option<&'m Mapping>, written: Value<'_>) -> Option<&'m [Mapped]> {
    let word = written.get("kind").or_else(|| written.get("type"))?;
    mapping?.of(word.text())
}

fn texts(value: Value<'_>) -> Vec<SmolStr> {
    let alone = (value.items().next().is_none() && !value.text().is_empty()).then_some(value);
    alone.into_iter().chain(value.items()).map(|item| SmolStr::new(item.text())).collect()
}

/// The keys under which two values differ, one for each entry of a map that does.
fn differ(one: &Json, other: &Json, keys: &mut Vec<String>) {
    differ_under("", one, other, keys);
}

fn differ_under(key: &str, one: &Json, other: &Json, keys: &mut Vec<String>) {
    match (one, other) {
        (Json::Object(one), Json::Object(other)) => {
            let both = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
            for key in both {
                let [one, other] = [one, other].map(|map| map.get(key).unwrap_or(&Json::Null));
                differ_under(key, one, other, keys);
            }
        }
        (Json::Array(one), Json::Array(other))
            if one.len() == other.len() && one.iter().chain(other).all(|item| item.is_object() || item.is_array()) =>
        {
            for (one, other) in one.iter().zip(other) {
                differ_under(key, one, other, keys);
            }
        }
        (one, other) if one != other => keys.push(key.to_owned()),
        _ => {}
    }
}
