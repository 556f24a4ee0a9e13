//! What kustomizations say about the files beside them: which of these change others and are nothing themselves, and which
//! namespace documents get that name none.

use std::collections::{BTreeMap, BTreeSet};

use upheld_engine::Snapshot;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Files, NodeRef};

use crate::document::Resource;

/// How the files are called.
const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// What their API versions begin with, where they say one.
const GROUP: &str = "kustomize.config.k8s.io/";

/// Fields that change what is applied, besides the namespace.
const CHANGES: [&str; 17] = [
    "commonAnnotations",
    "commonLabels",
    "components",
    "configMapGenerator",
    "generators",
    "helmCharts",
    "images",
    "labels",
    "namePrefix",
    "nameSuffix",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "replacements",
    "replicas",
    "secretGenerator",
    "transformers",
];

/// All kustomizations that were read.
#[derive(Clone, Debug, Default)]
pub struct Kustomizations {
    /// Files that are no documents of their own.
    parts: BTreeSet<String>,
    /// Namespaces by folder.
    namespaces: BTreeMap<String, Given>,
    /// Folders in which files are changed before they are applied.
    changing: BTreeSet<String>,
    /// Those that say something of this.
    at: Vec<NodeRef>,
}

/// A namespace that a kustomization gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The namespace.
    pub namespace: String,
    /// The file that says so.
    pub by: String,
}

impl Kustomizations {
    /// None.
    pub(crate) fn none() -> &'static Self {
        static NONE: Kustomizations = Kustomizations {
            parts: BTreeSet::new(),
            namespaces: BTreeMap::new(),
            changing: BTreeSet::new(),
            at: Vec::new(),
        };
        &NONE
    }

    /// Those of a snapshot.
    pub fn in_snapshot(snapshot: &Snapshot) -> &Self {
        snapshot.companion().unwrap_or_else(|| Self::none())
    }

    /// Whether a file is one, by its name.
    pub(super) fn is_one(file: &str) -> bool {
        is_kustomization_file(file)
    }

    /// Those of some files.
    pub(super) fn of(files: &Files) -> Self {
        let mut found = Self::default();
        for (source, file) in files.iter().filter(|(_, file)| Self::is_one(&file.name)) {
            let folder = split(&file.name).0;
            for document in file.tree.documents().filter(is_kustomization) {
                let parts: BTreeSet<String> = parts(document).map(|path| joined(folder, path)).collect();
                let namespace = document.get("namespace").filter(|value| value.kind() == Kind::Text);
                let namespace = namespace.map(Value::text).filter(|namespace| !namespace.is_empty());
                if !parts.is_empty() || namespace.is_some() {
                    found.at.push(NodeRef { source, node: document.number() });
                }
                if CHANGES.iter().any(|field| document.get(field).is_some()) {
                    found.changing.insert(if folder.is_empty() { ".".to_owned() } else { folder.to_owned() });
                }
                found.parts.extend(parts);
                found.namespaces.extend(namespace.map(|namespace| {
                    (folder.to_owned(), Given { namespace: namespace.to_owned(), by: file.name.clone() })
                }));
            }
        }
        found
    }

    /// Folders in which files are changed before they are applied: what lies there is not what a cluster gets.
    pub fn changing(&self) -> impl Iterator<Item = &str> {
        self.changing.iter().map(String::as_str)
    }

    /// Whether a file is a part of something else, and has no documents of its own.
    pub(super) fn is_part(&self, file: &str) -> bool {
        !self.parts.is_empty() && self.parts.contains(&joined("", file))
    }

    /// Where the kustomizations stand that say something about other files.
    pub(crate) fn documents(&self) -> &[NodeRef] {
        &self.at
    }

    /// The namespace of documents of a file that name none.
    pub(crate) fn given(&self, file: &str) -> Option<&Given> {
        self.namespaces.get(split(file).0)
    }
}

/// The resource that a document of a snapshot is, in the namespace that it gets where it names none.
pub(crate) fn resource_at(snapshot: &Snapshot, at: NodeRef) -> Option<Resource<'_>> {
    let file = snapshot.files().get(at.source)?;
    let given = Kustomizations::in_snapshot(snapshot).given(&file.name).map(|given| given.namespace.as_str());
    Some(Resource::of(snapshot.files().value(at)?)?.given(given))
}

/// Who gives a namespace to some documents of a snapshot, each once: those that name none and could be in one.
pub(crate) fn given_to(snapshot: &Snapshot, documents: impl FnOnce() -> BTreeSet<NodeRef>) -> Vec<&Given> {
    let kustomizations = Kustomizations::in_snapshot(snapshot);
    if kustomizations.namespaces.is_empty() {
        return Vec::new();
    }
    let mut all: Vec<&Given> = Vec::new();
    for at in documents() {
        let takes =
            |resource: &Resource<'_>| resource.named_namespace().is_none() && resource.kubernetes_namespace().is_some();
        let Some(file) = resource_at(snapshot, at).filter(takes).and_then(|_| snapshot.files().get(at.source)) else {
            continue;
        };
        all.extend(kustomizations.given(&file.name).filter(|given| !all.contains(given)));
    }
    all
}

/// Whether a file says with Kustomize how others are changed, by its name.
pub fn is_kustomization_file(file: &str) -> bool {
    NAMES.contains(&split(file).1)
}

/// The files and folders that a kustomization in a folder is made of.
pub fn kustomized_paths(kustomization: Value<'_>, folder: &str) -> Vec<String> {
    let lists = ["resources", "bases", "components"].into_iter().filter_map(|field| kustomization.get(field));
    let named = lists.flat_map(Value::items).map(Value::text).chain(parts(kustomization));
    named.map(|path| joined(folder, path)).map(|path| if path.is_empty() { ".".to_owned() } else { path }).collect()
}

fn is_kustomization(document: &Value<'_>) -> bool {
    let version = document.get("apiVersion").map_or(GROUP, Value::text);
    document.kind() == Kind::Map && version.starts_with(GROUP)
}

/// The files that a kustomization puts into others.
fn parts(kustomization: Value<'_>) -> impl Iterator<Item = &str> {
    let items = move |field: &str| kustomization.get(field).into_iter().flat_map(Value::items);
    let named = ["patches", "patchesJson6902", "replacements"].into_iter().flat_map(items);
    let named = named.filter_map(|item| item.get("path"));
    let listed = ["patchesStrategicMerge", "configurations"].into_iter().flat_map(items);
    let generators = ["configMapGenerator", "secretGenerator"].into_iter().flat_map(items);
    let generated = generators.flat_map(|one| ["files", "envs"].into_iter().filter_map(move |field| one.get(field)));
    // A patch that is written in the list has several lines; a file may have a key before it.
    let generated = generated.flat_map(Value::items).map(|file| file.text().rsplit('=').next().unwrap_or_default());
    named.chain(listed).map(Value::text).chain(generated).filter(|path| !path.is_empty() && !path.contains('\n'))
}

/// Folder and name of a file.
pub(super) fn split(file: &str) -> (&str, &str) {
    file.rsplit_once('/').unwrap_or(("", file))
}

/// A path from a folder, without dots.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." && parts.last().is_some_and(|last| *last != "..") {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_followed_from_the_folder_of_a_kustomization() {
        assert_eq!(joined("apps/web", "patch.yaml"), "apps/web/patch.yaml");
        assert_eq!(joined("./apps/web", "../base/./patch.yaml"), "apps/base/patch.yaml");
        assert_eq!(joined("", "../x.yaml"), "../x.yaml");
        assert_eq!(joined("../a", "../../b"), "../../b");
    }

    #[test]
    fn only_files_of_that_name_are_kustomizations() {
        assert!(Kustomizations::is_one("a/kustomization.yaml") && Kustomizations::is_one("kustomization.yml"));
        assert!(!Kustomizations::is_one("a/ks.yaml") && !Kustomizations::is_one("a/my-kustomization.yaml"));
    }
}
