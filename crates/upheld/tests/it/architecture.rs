//! Rules of the house that can be checked: which room may know which, and where words of policy systems may stand.

use std::fs;
use std::path::{Path, PathBuf};

/// Every room with those that it may know, the nearest to the data first.
const ROOMS: [(&str, &[&str]); 9] = [
    ("model", &[]),
    ("engine", &["model"]),
    ("governance", &["engine", "model"]),
    ("dialects", &["engine", "governance", "model"]),
    ("input", &["dialects", "engine", "model"]),
    ("answers", &["dialects", "engine", "governance", "input", "model"]),
    ("store", &["model"]),
    ("server", &["answers", "dialects", "engine", "input", "model", "store"]),
    ("upheld", &["answers", "dialects", "engine", "governance", "input", "model", "server", "store"]),
];

/// Rooms that know the semantics of families, and no policy system.
const NEUTRAL: [&str; 4] = ["model", "engine", "governance", "store"];

/// Names of policy systems and of types that only one of them has.
const SYSTEMS: [&str; 12] = [
    "kuma",
    "kgateway",
    "envoy",
    "istio",
    "meshstack",
    "authzen",
    "kubernetes",
    "dataplane",
    "httproute",
    "trafficpolicy",
    "meshtimeout",
    "backendtlspolicy",
];

#[test]
fn every_room_knows_those_that_it_may_and_no_others() {
    for (room, allowed) in ROOMS {
        let manifest = fs::read_to_string(folder(room).join("Cargo.toml")).unwrap();
        let (_, dependencies) = manifest.split_once("[dependencies]").unwrap();
        let dependencies = dependencies.split("\n[").next().unwrap();
        let known = dependencies.lines().filter_map(|line| line.strip_prefix("upheld-"));
        let known: Vec<&str> = known.map(|line| line.split(['.', ' ', '=']).next().unwrap()).collect();
        assert_eq!(known, allowed, "dependencies of `{room}`");
    }
    let mut rooms: Vec<String> = fs::read_dir(folder(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| folder(name).join("Cargo.toml").exists())
        .collect();
    rooms.sort();
    let mut told = ROOMS.map(|(room, _)| room);
    told.sort_unstable();
    assert_eq!(rooms, told, "every crate is a room");
}

#[test]
fn rooms_of_families_name_no_policy_system() {
    let mut found = Vec::new();
    for path in NEUTRAL.iter().flat_map(|room| sources(&folder(room).join("src"))) {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            let words = line.split(|character: char| !character.is_alphanumeric()).map(str::to_lowercase);
            let named = words.filter(|word| SYSTEMS.contains(&word.as_str()));
            found.extend(named.map(|word| format!("{}:{number}: {word}", path.display())));
        }
    }
    assert_eq!(found, [""; 0]);
}

fn folder(room: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(room)
}

/// All Rust files below a folder but tests, which may tell of the world.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|name| name == "tests");
        if path.is_dir() && !is_test {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
            found.push(path);
        }
    }
    found.sort();
    found
}
