//! What the program is made of, as `cargo metadata` tells it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value as Json;

use super::Outcome;

/// All packages whose code is in the program, by their id.
#[derive(Debug)]
pub(super) struct Packages {
    /// The program itself.
    pub(super) root: String,
    /// Each package, the program among them.
    pub(super) all: BTreeMap<String, Package>,
    /// Where cargo builds.
    pub(super) target_folder: PathBuf,
}

/// One package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// The licence, as its authors write it.
    pub(super) licence: Option<String>,
    /// A file with the licence, if it has another name than usual.
    pub(super) licence_file: Option<PathBuf>,
    /// Where its sources are.
    pub(super) folder: PathBuf,
    /// Whether it comes from elsewhere.
    pub(super) foreign: bool,
    /// What it needs, by id.
    pub(super) needs: BTreeSet<String>,
}

impl Package {
    /// The name that all inventories know it by.
    pub(super) fn url(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }
}

impl Packages {
    /// Reads what `cargo metadata` printed, and keeps what goes into the program of that name: what only tests or build scripts
    /// need does not.
    pub(super) fn read(metadata: &str, program: &str) -> Outcome<Self> {
        let metadata: Json = serde_json::from_str(metadata).map_err(|error| format!("cargo metadata: {error}"))?;
        let known: BTreeMap<&str, &Json> =
            items(at(&metadata, "/packages")).filter_map(|package| Some((package["id"].as_str()?, package))).collect();
        let nodes: BTreeMap<&str, &Json> =
            items(at(&metadata, "/resolve/nodes")).filter_map(|node| Some((node["id"].as_str()?, node))).collect();
        let root = known
            .iter()
            .find(|(_, package)| package["name"] == program && package["source"].is_null())
            .map(|(id, _)| *id)
            .ok_or_else(|| format!("there is no package `{program}`"))?;
        let mut all = BTreeMap::new();
        let mut waiting = vec![root];
        while let Some(id) = waiting.pop() {
            if all.contains_key(id) {
                continue;
            }
            let package = known.get(id).ok_or_else(|| format!("nothing is known of `{id}`"))?;
            let needed: Vec<&str> = nodes.get(id).map(|node| shipped(node)).unwrap_or_default();
            all.insert(id.to_owned(), package_of(package, &needed)?);
            waiting.extend(needed);
        }
        let target_folder = at(&metadata, "/target_directory").as_str().unwrap_or("target").into();
        Ok(Self { root: root.to_owned(), all, target_folder })
    }

    /// The version of the program.
    pub(super) fn version(&self) -> &str {
        self.all.get(&self.root).map_or("0", |package| &package.version)
    }

    /// In the order in which people look for them.
    pub(super) fn by_name(&self) -> Vec<(&String, &Package)> {
        let mut sorted: Vec<_> = self.all.iter().collect();
        sorted.sort_by(|(_, left), (_, right)| (&left.name, &left.version).cmp(&(&right.name, &right.version)));
        sorted
    }
}

fn package_of(package: &Json, needed: &[&str]) -> Outcome<Package> {
    let text = |field: &str| package[field].as_str().map(str::to_owned);
    let name = text("name").ok_or("a package without a name")?;
    let folder = text("manifest_path").map(PathBuf::from).and_then(|path| path.parent().map(PathBuf::from));
    Ok(Package {
        version: text("version").ok_or_else(|| format!("`{name}` has no version"))?,
        licence: text("license"),
        licence_file: text("license_file").map(PathBuf::from),
        folder: folder.ok_or_else(|| format!("`{name}` is nowhere"))?,
        foreign: !package["source"].is_null(),
        needs: needed.iter().map(|id| (*id).to_owned()).collect(),
        name,
    })
}

/// What a package needs in the program: neither for its tests nor for its build.
fn shipped(node: &Json) -> Vec<&str> {
    let normal = |dependency: &&Json| items(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null());
    items(&node["deps"]).filter(normal).filter_map(|dependency| dependency["pkg"].as_str()).collect()
}

/// What is at a path; nothing, where there is nothing.
fn at<'j>(document: &'j Json, path: &str) -> &'j Json {
    document.pointer(path).unwrap_or(&Json::Null)
}

fn items(list: &Json) -> impl Iterator<Item = &Json> {
    list.as_array().into_iter().flatten()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;
    use std::path::Path;

    /// A program with a part of its own, something foreign, something for tests, and something for builds.
    pub(in crate::dist) fn sample(folder: &Path) -> Packages {
        let package = |name: &str, version: &str, licence: Option<&str>, foreign: bool| {
            let manifest = folder.join(name).join("Cargo.toml");
            let source = foreign.then_some("registry+somewhere");
            json!({"id": format!("{name}#{version}"), "name": name, "version": version, "license": licence,
                "license_file": null, "manifest_path": manifest, "source": source})
        };
        let needs = |id: &str, kind: Option<&str>| json!({"pkg": id, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "target_directory": "/somewhere/target",
            "packages": [
                package("upheld", "1.2.3", Some("Apache-2.0"), false),
                package("upheld-model", "1.2.3", Some("Apache-2.0"), false),
                package("smol", "0.1.0", Some("MIT OR Apache-2.0"), true),
                package("old", "0.0.1", Some("MIT/Apache-2.0"), true),
                package("checker", "9.0.0", Some("MIT"), true),
                package("builder", "9.0.0", Some("MIT"), true),
            ],
            "resolve": {"nodes": [
                {"id": "upheld#1.2.3", "deps": [needs("upheld-model#1.2.3", None), needs("checker#9.0.0", Some("dev"))]},
                {"id": "upheld-model#1.2.3", "deps": [needs("smol#0.1.0", None), needs("builder#9.0.0", Some("build"))]},
                {"id": "smol#0.1.0", "deps": [needs("old#0.0.1", None)]},
                {"id": "old#0.0.1", "deps": []},
            ]},
        });
        Packages::read(&metadata.to_string(), "upheld").unwrap()
    }

    #[test]
    fn what_is_shipped_counts_and_nothing_else() {
        let packages = sample(Path::new("/src"));
        let names: Vec<&str> = packages.by_name().iter().map(|(_, package)| package.name.as_str()).collect();
        assert_eq!(names, ["old", "smol", "upheld", "upheld-model"]);
        assert_eq!(packages.version(), "1.2.3");
        assert_eq!(packages.all["smol#0.1.0"].url(), "pkg:cargo/smol@0.1.0");
        assert!(!packages.all["upheld-model#1.2.3"].foreign && packages.all["old#0.0.1"].foreign);
    }

    #[test]
    fn a_program_that_is_not_there_is_told() {
        assert!(Packages::read(r#"{"packages": []}"#, "upheld").unwrap_err().contains("upheld"));
        assert!(Packages::read("no JSON", "upheld").is_err());
    }
}
