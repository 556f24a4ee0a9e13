//! The documents of a case as a snapshot, and how goldens write the resources in it.

use std::collections::BTreeMap;

use anyhow::Context;
use serde_json::{Map, Value as Json, json};
use upheld_dialects::document::{DEFAULT_MESH, Resource};
use upheld_dialects::kuma::edition::Edition;
use upheld_dialects::kuma::meta::{Meta, label};
use upheld_dialects::kuma::rules::Rules;
use upheld_dialects::kuma::subsets::TooManyCells;
use upheld_engine::{EntryId, Snapshot};
use upheld_model::{NodeRef, Object, Policy};

use super::super::world::World;
use super::deployment::{Block, Deployed};
use crate::outcome::Outcome;

/// The time of resources whose time does not matter.
pub(super) const NO_TIME: &str = "0001-01-01T00:00:00Z";

/// Everything that a case is about.
pub(super) struct Scene {
    world: World,
    /// The mesh of the first document of each type.
    meshes: BTreeMap<String, String>,
    cast: BTreeMap<(String, String), Character>,
}

/// What of a document was changed before it was read.
#[derive(Clone, Default)]
struct Character {
    /// The meta that was rebuilt.
    deployed: Option<Deployed>,
    /// The name that another document of the type has as well: cases may do what a control plane would refuse.
    shared_name: Option<String>,
    /// Whether a label had to say the name since.
    labelled: bool,
}

/// Documents whose metas may be rebuilt before they are read.
#[derive(Default)]
pub(super) struct Cast {
    documents: Vec<Json>,
    /// By type and name.
    characters: BTreeMap<(String, String), Character>,
}

impl Cast {
    /// Adds documents as they are.
    pub(super) fn add(&mut self, documents: impl IntoIterator<Item = Json>) {
        for document in documents {
            self.push(document, Character::default());
        }
    }

    /// Adds a document with another meta, and says its new name. A mesh keeps its own.
    pub(super) fn deploy(&mut self, document: &Json, blocks: &[Block]) -> String {
        if text(document, "type") == MESH {
            return self.push(document.clone(), Character::default());
        }
        let deployed = Deployed::of(document, blocks);
        self.push(deployed.document(document), Character { deployed: Some(deployed), ..Character::default() })
    }

    fn push(&mut self, mut document: Json, mut character: Character) -> String {
        let (kind, original) = (text(&document, "type").to_owned(), text(&document, "name").to_owned());
        let mesh = text(&document, "mesh").to_owned();
        let taken = |name: &str| {
            let same = |known: &&Json| {
                text(known, "type") == kind && text(known, "mesh") == mesh && text(known, "name") == name
            };
            self.documents.iter().any(|known| same(&known))
        };
        let mut name = original.clone();
        if kind != MESH && taken(&name) {
            let mut others = (2..=self.documents.len() + 2).map(|number| format!("{original}~{number}"));
            name = others.find(|name| !taken(name)).unwrap_or(name);
        }
        if name != original {
            let shared_name = original.clone();
            if let Some(fields) = document.as_object_mut() {
                fields.insert("name".to_owned(), json!(name));
                let labels = fields.entry("labels").or_insert_with(|| json!({}));
                if let Some(labels) = labels.as_object_mut().filter(|labels| !labels.contains_key(label::DISPLAY_NAME))
                {
                    labels.insert(label::DISPLAY_NAME.to_owned(), json!(shared_name));
                    character.labelled = true;
                }
            }
            character.shared_name = Some(shared_name);
        }
        self.documents.push(document);
        self.characters.insert((kind, name.clone()), character);
        name
    }

    /// Reads the documents.
    pub(super) fn read(self, edition: Edition) -> anyhow::Result<Scene> {
        let mut meshes = BTreeMap::new();
        for document in &self.documents {
            let mesh = document.get("mesh").and_then(Json::as_str).unwrap_or(DEFAULT_MESH);
            meshes.entry(text(document, "type").to_owned()).or_insert_with(|| mesh.to_owned());
        }
        // Questions name the mesh themselves.
        let world = World::new(edition.name(), DEFAULT_MESH, &self.documents)?;
        Ok(Scene { world, meshes, cast: self.characters })
    }
}

/// The type that is not a part of a mesh.
const MESH: &str = "Mesh";

/// A field that is text.
pub(super) fn text<'j>(document: &'j Json, field: &str) -> &'j str {
    document.get(field).and_then(Json::as_str).unwrap_or_default()
}

/// The policy of an entry, and the number of the entry.
pub(super) fn origin<'s>(rules: &Rules<'s>, entry: EntryId) -> anyhow::Result<(&'s Policy, u32)> {
    let entry = rules.merge.entry(entry).context("there is no such entry")?;
    Ok((rules.policy(entry.slot).context("an entry has no policy")?, entry.item))
}

/// A listing that was refused.
pub(super) fn refused(refused: TooManyCells) -> anyhow::Error {
    anyhow::anyhow!("{} cells are too many", refused.cells)
}

/// Compares goldens, whatever the form of durations.
pub(super) fn compare(expected: &Json, actual: &Json) -> Outcome {
    Outcome::compare(&super::durations::counted(expected), &super::durations::counted(actual))
}

impl Scene {
    /// Everything there is.
    pub(super) fn snapshot(&self) -> &Snapshot {
        &self.world.snapshot
    }

    /// The proxy of the case.
    pub(super) fn proxy(&self) -> anyhow::Result<&Object> {
        self.world.dataplane().map(|(object, _)| object)
    }

    /// The policies of a type; `None` if there are none. The original gets lists that were filtered before, so the mesh is
    /// that of the policies, whatever that of the proxy.
    pub(super) fn rules(&self, kind: &str) -> anyhow::Result<Option<Rules<'_>>> {
        let (id, _) = self.world.kind(kind)?;
        let mesh = self.meshes.get(kind).and_then(|mesh| self.snapshot().symbols().get(mesh));
        Ok(mesh.and_then(|mesh| Rules::of(self.snapshot(), id, mesh)))
    }

    /// The policies whose names are wanted, in the order of the documents.
    pub(super) fn slots(&self, rules: &Rules<'_>, wanted: impl Fn(&str) -> bool) -> Vec<u32> {
        let name = |slot: u32| rules.policy(slot).map(|policy| self.snapshot().text(policy.name));
        rules.in_document_order().into_iter().filter(|slot| name(*slot).is_some_and(&wanted)).collect()
    }

    /// A resource of a document.
    pub(super) fn resource(&self, at: NodeRef) -> anyhow::Result<Resource<'_>> {
        self.snapshot().files().value(at).and_then(Resource::of).context("something has no document")
    }

    /// The meta of a resource, as goldens write it.
    pub(super) fn meta(&self, at: NodeRef) -> anyhow::Result<Json> {
        let meta = Meta::of(self.resource(at)?);
        let character = self.character(&meta);
        match character.and_then(|character| character.deployed.as_ref()) {
            Some(deployed) => Ok(deployed.shown()),
            None => self.rest_meta(at),
        }
    }

    /// The meta of a resource, as the REST API writes it.
    pub(super) fn rest_meta(&self, at: NodeRef) -> anyhow::Result<Json> {
        let mut meta = Meta::of(self.resource(at)?);
        if let Some(character) = self.character(&meta).cloned() {
            meta.labels.retain(|(key, _)| !(character.labelled && *key == label::DISPLAY_NAME));
            if let Some(name) = character.shared_name {
                meta.name = name.into();
            }
        }
        let mut shown = Map::new();
        shown.insert("creationTime".to_owned(), json!(NO_TIME));
        shown.insert("modificationTime".to_owned(), json!(NO_TIME));
        shown.insert("kri".to_owned(), json!(meta.kri().to_string()));
        if meta.kind != MESH {
            shown.insert("mesh".to_owned(), json!(meta.mesh));
        }
        shown.insert("name".to_owned(), json!(meta.name));
        shown.insert("type".to_owned(), json!(meta.kind));
        if !meta.labels.is_empty() {
            let labels: Map<String, Json> =
                meta.labels.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
            shown.insert("labels".to_owned(), Json::Object(labels));
        }
        Ok(Json::Object(shown))
    }

    /// The name and mesh by which goldens know a resource.
    pub(super) fn known_by(&self, at: NodeRef) -> anyhow::Result<(String, String)> {
        let meta = Meta::of(self.resource(at)?);
        let shared = self.character(&meta).and_then(|character| character.shared_name.clone());
        Ok((meta.mesh.to_owned(), shared.unwrap_or_else(|| meta.name.into_owned())))
    }

    fn character(&self, meta: &Meta<'_>) -> Option<&Character> {
        self.cast.get(&(meta.kind.to_owned(), meta.name.to_string()))
    }
}
