//! Rules of the house that can be checked: which room may know which, and where words of policy systems may stand.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every room with those that it may know, the nearest to the data first.
const ROOMS: [(&str, &[&str]); 12] = [
    ("model", &[]),
    ("syntax", &["model"]),
    ("engine", &["model"]),
    ("governance", &["engine", "model"]),
    ("report", &["engine", "governance", "model"]),
    ("pages", &["report"]),
    ("dialects", &["engine", "governance", "model", "report", "syntax"]),
    ("loader", &["dialects", "engine", "model", "syntax"]),
    ("answers", &["dialects", "engine", "governance", "loader", "model", "report", "syntax"]),
    ("store", &["model"]),
    (
        "server",
        &["answers", "dialects", "engine", "governance", "loader", "model", "pages", "report", "store", "syntax"],
    ),
    (
        "upheld",
        &["answers", "dialects", "engine", "governance", "loader", "model", "pages", "server", "store", "syntax"],
    ),
];

/// Rooms that know the semantics of families, and no policy system.
const NEUTRAL: [&str; 7] = ["model", "syntax", "engine", "governance", "report", "pages", "store"];

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

/// What only the command line and the server need.
const HEAVY: [&str; 18] = [
    "anstream",
    "aws-lc-rs",
    "axum",
    "clap",
    "clap_complete",
    "clap_mangen",
    "hyper",
    "indicatif",
    "jsonwebtoken",
    "notify",
    "opentelemetry",
    "rustls",
    "sqlx",
    "terminal_size",
    "tokio",
    "tonic",
    "tracing",
    "ureq",
];

#[test]
fn every_room_knows_those_that_it_may_and_no_others() {
    for (room, allowed) in ROOMS {
        let dependencies = dependencies(&folder(room), Wanted::All);
        let known: Vec<&str> = dependencies.iter().filter_map(|name| name.strip_prefix("upheld-")).collect();
        let mut known = known;
        known.sort_unstable();
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
fn whoever_embeds_the_library_needs_nothing_else() {
    let embed = folder("upheld").join("../../examples/embed");
    assert_eq!(dependencies(&embed, Wanted::All), ["upheld"]);
    let embed = fs::read_to_string(embed.join("Cargo.toml")).unwrap();
    let workspace = fs::read_to_string(folder("upheld").join("../../Cargo.toml")).unwrap();
    let without = "upheld = { path = \"crates/upheld\", default-features = false }";
    assert!(embed.contains("upheld.workspace = true") && workspace.contains(without), "features are off");
}

#[test]
fn the_library_is_made_without_what_the_command_line_and_the_server_need() {
    let (mut rooms, mut others) = (BTreeSet::new(), BTreeSet::new());
    let mut open = vec!["upheld".to_owned()];
    while let Some(room) = open.pop() {
        if rooms.insert(room.clone()) {
            for name in dependencies(&folder(&room), Wanted::Always) {
                match name.strip_prefix("upheld-") {
                    Some(room) => open.push(room.to_owned()),
                    None => drop(others.insert(name)),
                }
            }
        }
    }
    assert!(rooms.contains("answers") && others.contains("serde_json"), "manifests are read");
    assert!(!rooms.contains("server") && !rooms.contains("store"), "{rooms:?}");
    let heavy: Vec<&String> = others.iter().filter(|name| HEAVY.contains(&name.as_str())).collect();
    assert_eq!(heavy, [""; 0]);
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

/// Policy systems, as code could name them, with the folder of their dialect.
const DIALECTS: [(&str, &[&str]); 5] = [
    ("kuma", &["kuma"]),
    ("gateways", &["kgateway", "envoy_gateway", "envoy-gateway", "gateway_api", "gateway.networking.k8s.io"]),
    ("comply", &["meshstack", "meshpolicy"]),
    ("access", &["authzen"]),
    ("network_policy", &["networkpolicy", "network_policy", "network-policy"]),
];

/// Files that name a system of a dialect all the same, and why.
const NAMED_ELSEWHERE: [(&str, &str); 10] = [
    ("dialects/src/lib.rs", "the list of dialects"),
    ("dialects/src/dialect.rs", "the registry"),
    ("dialects/src/document.rs", "the label of the form in which users write policies of their own kinds"),
    ("answers/src/codes", "examples of every code, as users meet them"),
    ("upheld/src/cli.rs", "examples in help texts"),
    ("upheld/src/config.rs", "what `upheld init` writes"),
    ("server/src/fuzzing.rs", "documents to begin with"),
    ("server/src/http.rs", "mounts the endpoints of the Authorization API"),
    ("server/src/http/authzen.rs", "the endpoints of the Authorization API"),
    ("server/src/telemetry", "tells these endpoints apart from others in figures"),
];

#[test]
fn a_system_is_named_in_the_folder_of_its_dialect_alone() {
    let (mut found, mut needed) = (Vec::new(), [false; NAMED_ELSEWHERE.len()]);
    let rooms = ROOMS.iter().flat_map(|(room, _)| sources(&folder(room).join("src")));
    for path in rooms {
        let shown = path.display().to_string().replace('\\', "/");
        let (_, place) = shown.rsplit_once("/../").unwrap();
        let own = |dialect: &str| {
            let root = format!("dialects/src/{dialect}");
            place.starts_with(&format!("{root}/")) || place == format!("{root}.rs")
        };
        let text = fs::read_to_string(&path).unwrap();
        // Comments may tell of the world.
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim_start().starts_with("//"));
        for (number, line) in lines {
            let line = line.to_lowercase();
            let foreign = || DIALECTS.iter().filter(|(dialect, _)| !own(dialect));
            // What dialects share is not in the folder of one of them.
            let is_inside = DIALECTS.iter().any(|(dialect, _)| own(dialect));
            let used = foreign().find(|(dialect, _)| is_inside && line.contains(&format!("crate::{dialect}")));
            found.extend(used.map(|(dialect, _)| format!("{place}:{number}: uses {dialect}")));
            let Some(word) = foreign().flat_map(|(_, words)| *words).find(|word| line.contains(*word)) else {
                continue;
            };
            match NAMED_ELSEWHERE.iter().position(|(excepted, _)| place.starts_with(excepted)) {
                Some(exception) => needed[exception] = true,
                None => found.push(format!("{place}:{number}: {word}")),
            }
        }
    }
    assert_eq!(found, [""; 0]);
    let idle: Vec<&str> =
        NAMED_ELSEWHERE.iter().zip(needed).filter(|(_, needed)| !needed).map(|((place, _), _)| *place).collect();
    assert_eq!(idle, [""; 0], "exceptions that nobody needs");
}

/// How long a file may be that people read.
const MOST_LINES: usize = 500;

#[test]
fn files_are_short() {
    let rooms = ROOMS.iter().flat_map(|(room, _)| sources(&folder(room).join("src")));
    let long: Vec<String> = rooms
        .filter_map(|path| {
            let lines = fs::read_to_string(&path).unwrap().lines().count();
            (lines > MOST_LINES).then(|| format!("{}: {lines} lines", path.display()))
        })
        .collect();
    assert_eq!(long, [""; 0]);
}

#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    All,
    /// Those that no feature brings.
    Always,
}

/// The names of what a crate depends on.
fn dependencies(folder: &Path, wanted: Wanted) -> Vec<String> {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let (_, dependencies) = manifest.split_once("\n[dependencies]\n").unwrap();
    let lines = dependencies.split("\n[").next().unwrap().lines();
    let lines = lines.filter(|line| wanted == Wanted::All || !line.contains("optional = true"));
    let names = lines.filter_map(|line| line.split(['.', ' ', '=']).next().filter(|name| !name.is_empty()));
    names.map(str::to_owned).collect()
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

/// How text leaves a program.
const WAYS_OUT: [&str; 7] = ["print!(", "println!(", "eprint!(", "eprintln!(", "::stdout()", "::stderr()", ".print()"];

#[test]
fn text_leaves_the_command_line_through_one_file_that_shows_what_is_not_ours() {
    let source = folder("upheld").join("src");
    let mut found = Vec::new();
    for path in sources(&source) {
        let text = fs::read_to_string(&path).unwrap();
        let place = path.strip_prefix(&source).unwrap().display().to_string();
        let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        // Whether there is a terminal is asked of the same streams.
        let ways =
            code.filter(|(_, line)| !line.contains("is_terminal") && WAYS_OUT.iter().any(|way| line.contains(way)));
        found.extend(ways.filter(|_| place != "render.rs").map(|(number, _)| format!("{place}:{}", number + 1)));
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn every_path_that_the_architecture_names_is_there() {
    let root = folder("").join("..");
    for page in ["ARCHITECTURE.md", "DESIGN.md"] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let named = text.split('`').skip(1).step_by(2);
        for path in named.filter(|word| word.starts_with("crates/") && !word.contains('*')) {
            assert!(root.join(path).exists(), "{page} names {path}");
        }
    }
}

#[test]
fn no_question_walks_through_more_than_fifteen_files() {
    let text = fs::read_to_string(folder("").join("../ARCHITECTURE.md")).unwrap();
    let (_, walk) = text.split_once("## The walk of a question").unwrap();
    let walk = walk.split("\n## ").next().unwrap();
    let files = |row: &str| row.matches("`crates/").count();
    let rows: Vec<&str> = walk.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let shared: usize = rows.iter().filter(|row| row.starts_with("| all ")).map(|row| files(row)).sum();
    for row in rows.iter().filter(|row| !row.starts_with("| all ")) {
        assert!(shared + files(row) <= 15, "{row}");
    }
    assert_eq!(rows.len(), 7, "five families, and what they share");
}
