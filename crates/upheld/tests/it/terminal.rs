//! Names, tags, messages, files and arguments that would steer a terminal or forge a line, through every command and every format.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::support::{folder, git, upheld};

/// A title, colours, a cleared screen, directions of writing, a control character of one byte, and lines that nobody wrote.
const HOSTILE: &str = "\u{1b}]0;pwned\u{7}\u{1b}[31mRED\u{1b}[2J\u{7f}\u{202e}\u{2066}\u{200f}\u{61c}\u{9b}31m\r\nFORGED\u{2028}FORGED\u{2029}z";

/// What a run that shows names of documents has in its output, whatever the format makes of the rest.
const SHOWN: &str = "pwned";

/// Documents of all families; `@` stands for what is hostile.
const WORLD: &str = include_str!("terminal/world.yaml");

/// The same as an escape that JSON and YAML have.
fn escaped() -> String {
    let text = Json::from(HOSTILE).to_string();
    text.trim_matches('"')
        .chars()
        .map(
            |one| {
                if one.is_ascii_graphic() || one == ' ' {
                    one.to_string()
                } else {
                    format!("\\u{:04x}", u32::from(one))
                }
            },
        )
        .collect()
}

/// Whether documents have a name in what a line prints as a table.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shows {
    Names,
    Nothing,
}

use Shows::{Names, Nothing};

/// Every command with lines that show much; `@` stands for what is hostile. A command without a line fails the test.
const LINES: [(&str, Shows, &str); 63] = [
    ("explain", Names, "-f world.yaml --kind TrafficLog --from web@ --to service/back@"),
    ("explain", Nothing, "-f world.yaml --kind TrafficLog --from web@ --to back@"),
    ("explain", Names, "-f world.yaml --from web@ --to service/back@ --verbose"),
    ("explain", Names, "-f world.yaml dataplane/web@"),
    ("explain", Names, "-f world.yaml dataplane/web@ --kind MeshAccessLog --field backends"),
    ("explain", Names, "-f world.yaml httproute/shop@/cart@"),
    ("explain", Names, "-f world.yaml --host shop.example --path /a"),
    ("explain", Names, "-f world.yaml --subject role=reader@ --action GET --resource /docs/1"),
    ("explain", Names, "-f world.yaml project/checkout@~workspace/shop@"),
    ("explain", Names, "-f world.yaml --from pods@/front@ --to pods@/front@ --port 5432"),
    ("explain", Names, "-f world.yaml --kind TrafficLog --all-pairs"),
    ("explain", Names, "-f world.yaml --kind TrafficLog --from web@ --to service/back@ --without log@"),
    ("explain", Nothing, "-f missing@ --from web@"),
    ("can", Nothing, "-f world.yaml --subject role=reader@ --action GET --resource /docs/1"),
    ("can", Nothing, "-f world.yaml --batch requests.jsonl"),
    ("can", Names, "-f world.yaml tag project/checkout@ environment=dev@ --as user"),
    ("can", Nothing, "-f world.yaml link project/checkout@~workspace/lost@ --as user@"),
    ("reach", Names, "-f world.yaml --subject user/ann@ --verbose"),
    ("audit", Names, "-f world.yaml --verbose"),
    ("audit", Names, "-f world.yaml --history"),
    ("candidates", Names, "-f world.yaml workspace/shop@ --kind project --verbose"),
    ("values", Names, "-f world.yaml project/checkout@ environment"),
    ("what-if", Names, "-f world.yaml changes.yaml"),
    ("fix", Names, "-f world.yaml"),
    ("waivers", Names, "-f world.yaml"),
    ("lint", Names, "-f world.yaml --verbose"),
    ("lint", Nothing, "-f world.yaml --log log.jsonl"),
    ("diff", Names, "world.yaml after.yaml"),
    ("diff", Nothing, "world.yaml missing@"),
    ("prove", Names, "world.yaml after.yaml"),
    ("affected", Names, "-f world.yaml log@"),
    ("replay", Names, "log.jsonl -f world.yaml --against after.yaml"),
    ("why-not", Names, "-f world.yaml never@ --from web@ --to service/back@"),
    ("blame", Names, "-f world.yaml --kind TrafficLog --from web@ --to service/back@"),
    ("bisect", Names, "-f world.yaml --good HEAD~1 --bad HEAD --kind TrafficLog --from web@ --to service/back@"),
    ("test", Names, "-f world.yaml --verbose"),
    ("test", Names, "-f world.yaml --mutate"),
    ("resolve", Names, "-f world.yaml --kind TrafficLog --from web@ --to service/back@"),
    ("resolve", Names, "-f world.yaml --kind TrafficLog --from web@ --to service/back@ --field backend"),
    ("resolve", Nothing, "-f world.yaml --subject role=reader@ --action GET --resource /docs/1"),
    ("inspect", Names, "-f world.yaml /meshes/default/dataplanes/web@/_rules"),
    ("inspect", Nothing, "-f world.yaml /meshes/default/dataplanes/lost@/_rules"),
    ("graph", Names, "-f world.yaml"),
    ("status", Names, "-f world.yaml"),
    ("list", Names, "-f world.yaml"),
    ("list", Names, "-f files"),
    ("list", Nothing, "-f broken.yaml"),
    ("show", Names, "-f world.yaml log@"),
    ("show", Names, "-f world.yaml slow@ --fields"),
    ("show", Names, "-f world.yaml project/checkout@"),
    ("show", Nothing, "-f world.yaml los@"),
    ("kinds", Nothing, "-f world.yaml"),
    ("codes", Nothing, "UP9@"),
    ("learn", Nothing, "lesson@"),
    ("schema", Nothing, "-f world.yaml Thing@"),
    ("serve", Nothing, "--security missing@"),
    ("open", Nothing, "-f world.yaml /explain@ --print --server nowhere@"),
    ("doctor", Nothing, "--security missing@"),
    ("export", Nothing, "--data missing@"),
    ("import", Nothing, "--data missing@"),
    ("verify", Nothing, "missing@"),
    ("health", Nothing, "http://127.0.0.1:1/missing@"),
    ("init", Nothing, "missing@"),
];

/// Commands that say what this program is, whatever the documents are.
const OF_ITSELF: [&str; 6] = ["demo", "config", "completion", "man", "version", "help"];

/// Formats in which a line of a document may be a line: markup says where a text ends.
const MARKUP: [&str; 2] = ["html", "svg"];

fn world() -> TempDir {
    let own = |text: &str| text.replace('@', &escaped());
    let request = |path: &str| json!({"subject": {"roles": [format!("reader{HOSTILE}")]}, "action": {"method": "GET"}, "resource": {"path": path}});
    let decided = json!({"id": "1", "request": request("/docs/closed"), "decision": "permit", "policy": HOSTILE});
    let folder = folder(&[
        ("world.yaml", &own(WORLD)),
        (
            "after.yaml",
            &own(&WORLD
                .replace("backend: \"file", "backend: \"elsewhere")
                .replace("request: 7s", "request: 8s")
                .replace("priority: 1", "priority: 3")),
        ),
        ("broken.yaml", &own("type: TrafficLog\nname: \"log@\"\nmesh: default\n\"sources@\": 1\nconf: \"@\"\n")),
        (
            "changes.yaml",
            &own(
                "kind: Changes\nchanges:\n- {verb: setTags, object: \"project/checkout@\", tags: {environment: [dev]}}\n",
            ),
        ),
        ("requests.jsonl", &format!("{}\n{}\n", request("/docs/1"), json!({HOSTILE: 1}))),
        ("log.jsonl", &format!("{decided}\n{{\"{HOSTILE}\n")),
    ]);
    let files = folder.path().join("files");
    fs::create_dir(&files).expect("writable");
    // A name of a file ends no path, but may have all else.
    fs::write(files.join(format!("a{HOSTILE}.yaml")), own(WORLD)).expect("writable");
    fs::write(files.join(format!("b{HOSTILE}.toml")), "").expect("writable");
    git(folder.path(), &["init", "--quiet"]);
    for (backend, message) in [("file", "first"), ("moved", "second")] {
        let text = own(&WORLD.replace("backend: \"file", &format!("backend: \"{backend}")));
        fs::write(folder.path().join("world.yaml"), text).expect("writable");
        git(folder.path(), &["add", "world.yaml"]);
        let author = format!("--author=A{} <a@shop.example>", HOSTILE.replace(['\r', '\n'], ""));
        git(folder.path(), &["commit", "--quiet", &author, "--message", &format!("{message} {HOSTILE}")]);
    }
    folder
}

fn run(folder: &Path, command: &str, line: &str, more: &[&str]) -> Output {
    let words = line.split(' ').map(|word| word.replace('@', HOSTILE));
    upheld(folder).arg(command).args(words).args(more).output().expect("the program starts")
}

/// What help lists as commands, and as formats of one.
fn listed(folder: &Path, command: &str) -> Vec<String> {
    let help = upheld(folder).args([command, "--help"]).output().expect("the program starts");
    let help = String::from_utf8(help.stdout).expect("help is text");
    let (_, formats) = help.split_once("Formats of --output: ").unwrap_or_else(|| panic!("{command} --help: {help}"));
    formats.split([',', ' ', '\n']).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn commands(folder: &Path) -> BTreeSet<String> {
    let help = upheld(folder).arg("--help").output().expect("the program starts");
    let help = String::from_utf8(help.stdout).expect("help is text");
    let (_, commands) = help.split_once("Commands:\n").expect("help lists commands");
    let lines = commands.lines().take_while(|line| !line.is_empty());
    lines
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// What is wrong with a text that a terminal or a log gets.
fn wrong_with(text: &[u8], format: &str) -> Option<String> {
    let Ok(text) = std::str::from_utf8(text) else { return Some("it is no text".to_owned()) };
    let steers = |one: char| {
        one.is_control() && one != '\n'
            || matches!(one, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if let Some(found) = text.chars().find(|one| steers(*one)) {
        let line = text.lines().find(|line| line.contains(found)).unwrap_or_default();
        return Some(format!("{found:?} in {line:?}"));
    }
    let forged = text.lines().find(|line| line.trim_start().starts_with("FORGED"));
    forged.filter(|_| !MARKUP.contains(&format)).map(|line| format!("a line of its own: {line}"))
}

#[test]
fn no_document_steers_a_terminal_or_forges_a_line() {
    let world = world();
    let folder = world.path();
    let known: BTreeSet<String> = LINES.iter().map(|(name, ..)| *name).chain(OF_ITSELF).map(str::to_owned).collect();
    assert_eq!(commands(folder), known, "every command of the help has a line here, and every line a command");
    let mut runs: Vec<(&str, Shows, &str, String)> = Vec::new();
    let mut before: Option<(&str, Vec<String>)> = None;
    for (command, shows, line) in LINES {
        let formats = match &before {
            Some((name, formats)) if *name == command => formats.clone(),
            _ => listed(folder, command),
        };
        // A patch is what is in the files; where it goes to a terminal, the writer escapes, which has a test of its own.
        runs.extend(
            formats.iter().filter(|format| *format != "patch").map(|format| (command, shows, line, format.clone())),
        );
        before = Some((command, formats));
    }
    let next = AtomicUsize::new(0);
    let wrong: Vec<String> = thread::scope(|scope| {
        let work = || {
            let mut wrong = Vec::new();
            while let Some((command, shows, line, format)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let output = run(folder, command, line, &["-o", format]);
                let mut tell = |what: String| wrong.push(format!("upheld {command} {line} -o {format}: {what}"));
                for text in [&output.stdout, &output.stderr] {
                    wrong_with(text, format).into_iter().for_each(&mut tell);
                }
                let shown = String::from_utf8_lossy(&output.stdout).contains(SHOWN);
                if format == "table" && *shows == Names && !shown {
                    tell(format!("shows nothing of the documents: {}", String::from_utf8_lossy(&output.stderr)));
                }
                if format == "json" && *shows == Names && output.status.code() != Some(2) {
                    let parsed = serde_json::from_slice::<Json>(&output.stdout);
                    parsed.err().into_iter().for_each(|error| tell(format!("is no JSON: {error}")));
                }
            }
            wrong
        };
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("the runs end")).collect()
    });
    assert!(wrong.is_empty(), "{} of {} runs:\n{}", wrong.len(), runs.len(), wrong.join("\n"));
}

/// A text without colours.
fn plain(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |plain, piece| {
        let rest = piece.trim_start_matches(|one: char| one.is_ascii_digit() || one == ';');
        plain + rest.strip_prefix('m').unwrap_or("\u{1b}[")
    })
}

#[test]
fn with_colours_on_there_are_our_styles_and_no_others() {
    let world = world();
    for (command, line) in [
        ("explain", "-f world.yaml --from web@ --to service/back@"),
        ("audit", "-f world.yaml"),
        ("lint", "-f world.yaml"),
        ("list", "-f broken.yaml"),
        ("diff", "world.yaml after.yaml"),
        ("show", "-f world.yaml log@"),
        ("explain", "--kind@"),
    ] {
        let output = run(world.path(), command, line, &["--color", "always"]);
        for text in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(text);
            assert_eq!(wrong_with(plain(&text).as_bytes(), "table"), None, "upheld {command} {line}");
            // A stranger's colour would be gone with ours.
            assert!(
                !text.contains("\u{1b}[31mRED") && !text.contains("\u{1b}]0;"),
                "upheld {command} {line}: {text:?}"
            );
        }
    }
}

#[test]
fn programs_get_what_documents_say() {
    let world = world();
    let name = format!("log{HOSTILE}");
    let read: fn(&str) -> Json = |text| serde_json::from_str(text).expect("JSON");
    let read_yaml: fn(&str) -> Json = |text| serde_saphyr::from_str(text).expect("YAML");
    for (format, read) in [("json", read), ("yaml", read_yaml)] {
        let output = run(world.path(), "show", "-f world.yaml log@", &["-o", format]);
        let document = read(&String::from_utf8(output.stdout).expect("text"));
        assert_eq!(document["document"]["name"], name, "{format}: {document}");
    }
    let patch = run(world.path(), "lint", "-f world.yaml --fix", &["-o", "patch"]);
    fs::write(world.path().join("a.patch"), &patch.stdout).expect("writable");
    git(world.path(), &["apply", "a.patch"]);
}
