//! What commands cost beyond reading files, each in a process of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::cost::Cost;
use crate::worlds::System;

/// Commands that have no figure here, with the reason.
const NOT_RUN: &[(&str, &str)] = &[
    ("bisect", "asks at each commit what `resolve` asks"),
    ("completion", "reads no documents"),
    ("config", "reads no documents"),
    ("demo", "built-in documents"),
    ("doctor", "looks at a configuration or a server, not at documents"),
    ("export", "a whole store"),
    ("health", "asks a server that requests measure"),
    ("help", "reads no documents"),
    ("import", "a whole store"),
    ("init", "writes settings"),
    ("learn", "built-in documents"),
    ("man", "reads no documents"),
    ("open", "a server, which requests measure"),
    ("schema", "reads no documents"),
    ("serve", "a server, which requests measure"),
    ("verify", "a whole store"),
    ("version", "reads no documents"),
];

/// What every world is asked.
const EVERYWHERE: [&str; 7] =
    ["list", "kinds", "list policies", "codes UP014", "lint", "diff before after", "prove before after"];

fn question(system: System) -> &'static [&'static str] {
    match system {
        System::Access => &["--subject role=r00002 --action GET --resource /api/p00008/x"],
        System::Compliance => &["project/p00000-7~landingZone/l00000"],
        System::EnvoyGateway | System::Kgateway => &["HTTPRoute/r00007", "--host h00007.example.com --path /v"],
        System::KumaTags => &["--from d00007 --to d00008", "--from d00007 --to d00008 --kind TrafficLog"],
        System::KumaTargets => &["dataplane/d00007", "dataplane/d00007 --to meshservice/ms00008 --kind MeshTimeout"],
        System::Network => &["--from d00008 --to d00007 --port 80"],
    }
}

fn own(system: System) -> &'static [&'static str] {
    match system {
        System::Access => &[
            "can --subject role=r00002 --action GET --resource /api/p00008/x",
            "reach --subject user/u00002",
            "replay requests.jsonl",
        ],
        System::Compliance => &[
            "can link project/p00000-7~landingZone/l00001",
            "audit",
            "audit --workspace w00000",
            "candidates project/p00000-7 --kind landingZone",
            "values project/p00000-7 env",
            "what-if changes.yaml",
            "fix project/p00000-7",
            "waivers",
        ],
        System::EnvoyGateway | System::Kgateway => &["graph", "status"],
        System::KumaTags => &["inspect /meshes/default/dataplanes/d00007/policies", "test"],
        System::KumaTargets => &["inspect /meshes/default/dataplanes/d00007/_rules"],
        System::Network => &[],
    }
}

/// The cases of a system: words of the command line, which are their names, too.
fn cases(system: System) -> Vec<String> {
    let policy = system.policy();
    let mut all: Vec<String> = EVERYWHERE.map(ToOwned::to_owned).into();
    all.extend([format!("show {policy}"), format!("affected {policy}")]);
    for question in question(system) {
        all.extend(["explain", "resolve"].map(|command| format!("{command} {question}")));
        all.push(format!("why-not {policy} {question}"));
    }
    let asked = question(system).first().copied().unwrap_or_default();
    all.push(format!("blame {asked}"));
    all.extend(own(system).iter().map(|case| (*case).to_owned()));
    all
}

/// A name that begins with the command alone, as there are laws for it.
fn named(case: &str) -> String {
    let (command, rest) = case.split_once(' ').unwrap_or((case, ""));
    if rest.is_empty() { format!("upheld {command}") } else { format!("upheld {command} ({rest})") }
}

fn write(folder: &Path, system: System, size: usize) {
    let files = |more: Option<(&str, serde_json::Value)>| {
        let mut documents = system.documents(size);
        if let Some((_, edited)) = more {
            let name = |document: &serde_json::Value| {
                let named = ["/metadata/name", "/name", "/id", "/ref"].iter().find_map(|path| document.pointer(path));
                (document.get("kind").or(document.get("type")).cloned(), named.cloned())
            };
            let wanted = name(&edited);
            let place = documents.iter().position(|document| name(document) == wanted).unwrap();
            documents[place] = edited;
        }
        // As in repositories: files of a few documents each, so that an edit is one of a small file.
        let file = |documents: &[serde_json::Value]| {
            documents.iter().map(|document| format!("{document}\n")).collect::<String>()
        };
        documents.chunks(10).map(file).collect::<Vec<_>>()
    };
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for (folder, more) in [("world", None), ("before", None), ("after", Some(system.edit(1)))] {
        for (number, file) in files(more).iter().enumerate() {
            write(&format!("{folder}/{number:05}.jsonl"), file);
        }
    }
    let request = "{\"subject\": {\"id\": \"u00002\", \"roles\": [\"r00002\"]}, \"action\": {\"method\": \"GET\"}, \"resource\": {\"path\": \"/api/p00008/x\"}}\n";
    write("requests.jsonl", request);
    write("changes.yaml", "- {verb: setTags, object: landingZone/l00000, tags: {env: [prod]}}\n");
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=ann", "-c", "user.email=ann@shop.example"];
        let mut git = Command::new("git");
        git.args(identity).args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(git.status().unwrap().success(), "git {arguments:?}");
    };
    git(&["init"]);
    git(&["add", "world"]);
    git(&["commit", "-m", "first"]);
}

/// What every command costs in a world of this size.
pub(crate) fn costs(system: System, size: usize, of: &str, refused: &mut Vec<String>) -> BTreeMap<String, Cost> {
    let folder = tempfile::tempdir().unwrap();
    let wanted: Vec<String> = cases(system).into_iter().filter(|case| named(case).contains(of)).collect();
    if wanted.is_empty() {
        return BTreeMap::new();
    }
    write(folder.path(), system, size);
    let mut run = |case: &str| {
        let file = folder.path().join("cost");
        let mut command = Command::new(env!("CARGO_BIN_EXE_upheld"));
        command.args(case.split(' ')).current_dir(folder.path()).stdin(Stdio::null());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        // Two threads share lists in ways that differ from run to run.
        command.env("UPHELD_COST", &file).env("RAYON_NUM_THREADS", "1").env("NO_COLOR", "1");
        if !case.contains("before after") {
            command.args(["-f", "world"]);
        }
        let output = command.output().unwrap();
        let is_answered = output.status.code().is_some_and(|code| [0, 1, 3].contains(&code));
        if !is_answered {
            refused.push(format!("upheld {case}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let figures = fs::read_to_string(&file).unwrap_or_default();
        let mut figures = figures.split_whitespace().map(|figure| figure.parse().unwrap());
        let mut next = || figures.next().unwrap_or_default();
        // What a process keeps ends with it.
        let (kept, bytes) = (0, output.stdout.len() as u64);
        Cost { allocations: next(), kept, steps: next(), documents: next(), bytes, time: 0 }
    };
    wanted.iter().map(|case| (named(case), run(case))).collect()
}

/// The commands that the program has.
pub(crate) fn all() -> Vec<String> {
    let help = Command::new(env!("CARGO_BIN_EXE_upheld")).arg("-h").output().unwrap().stdout;
    let help = String::from_utf8(help).unwrap();
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.lines().take_while(|line| !line.is_empty());
    let names = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    names.filter(|name| !NOT_RUN.iter().any(|(known, _)| known == name)).map(|name| format!("upheld {name}")).collect()
}
