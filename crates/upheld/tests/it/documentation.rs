//! The documentation as a book: every page is in it, every link leads somewhere, and files to copy run.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{example, git, root, run, shown};

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// Pages of the book and the pages that stand at the root.
fn all_pages() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "DESIGN.md"]
        .map(|name| root().join(name))
        .into_iter()
        .collect();
    pages(&root().join("docs"), &mut found);
    found
}

/// What stands in round brackets behind square ones.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link)
}

/// The anchors of a page, as sites make them of headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    let anchor = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for page in all_pages() {
        let text = fs::read_to_string(&page).expect("readable");
        for link in links(&text).filter(|link| !link.contains("://") && !link.contains(' ')) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { page.clone() } else { page.with_file_name("").join(path) };
            let has_anchor =
                || anchor.is_empty() || fs::read_to_string(&target).is_ok_and(|text| anchors(&text).contains(anchor));
            if !target.exists() || !has_anchor() {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_page_is_in_the_book_once() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).expect("readable");
    let mut listed: Vec<PathBuf> = links(&summary).map(|link| docs.join(link)).collect();
    let mut found = Vec::new();
    pages(&docs, &mut found);
    found.retain(|page| !page.ends_with("SUMMARY.md"));
    listed.sort();
    found.sort();
    assert_eq!(listed, found);
}

#[test]
fn the_versions_page_names_every_edition() {
    let page = fs::read_to_string(root().join("docs/versions.md")).expect("readable");
    let version = shown(&run(&root(), "version"));
    let editions = version.lines().find_map(|line| line.strip_prefix("semantics: ")).expect("editions");
    for edition in editions.split(", ") {
        assert!(page.contains(&format!("`{edition}`")), "{edition}");
    }
}

/// What readers had to read twice.
const UNCLEAR: [&str; 14] = [
    "which one stands",
    "would mend",
    "is not a guess",
    "that applies says otherwise",
    "without evidence",
    "has the say over",
    "that very text",
    "any run of characters",
    "is it well?",
    "who is not in the list has a name",
    "makes nobody of its sender",
    "do not travel",
    "cannot be done here",
    "what was asked is answered",
];

/// Comments are for those who change the program, and so are tests. But descriptions of endpoints and flags are made of comments, and of
/// packages, of manifests; a sentence may go on in the next line.
#[test]
fn nothing_that_is_shown_has_to_be_read_twice() {
    let mut shown: Vec<PathBuf> = all_pages();
    for folder in ["crates", "examples"] {
        sources(&root().join(folder), &mut shown);
    }
    let mut found = Vec::new();
    for path in shown {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let is_told = |line: &&str| !line.trim_start().starts_with("//") || line.trim_start().starts_with("///");
        let words: Vec<&str> = text.lines().filter(is_told).flat_map(str::split_whitespace).collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !matches!(*word, "///" | "\\" | "#")).collect();
        let text = words.join(" ").to_lowercase();
        found.extend(UNCLEAR.iter().filter(|phrase| text.contains(**phrase)).map(|phrase| (path.clone(), *phrase)));
    }
    assert!(found.is_empty(), "{found:?}");
}

/// What is printed at length for each command, too.
#[test]
fn no_help_has_to_be_read_twice() {
    let help = |line: &str| shown(&run(&root(), line)).split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let all = shown(&run(&root(), "--help"));
    let listed = all.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> =
        listed.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 30, "{commands:?}");
    for command in commands {
        let told = help(&format!("help {command}"));
        assert!(told.starts_with("exit 0"), "{command}: {told}");
        let found: Vec<_> = UNCLEAR.iter().filter(|phrase| told.contains(**phrase)).collect();
        assert!(found.is_empty(), "{command}: {found:?}");
    }
}

/// What a stranger looks for, in the order in which it is looked for: their own files before what is shown of others'.
#[test]
fn n12_the_readme_is_short_and_everything_is_found_from_it() {
    let readme = fs::read_to_string(root().join("README.md")).expect("readable");
    let place = |what: &str| readme.find(what).unwrap_or_else(|| panic!("{what} is missing"));
    let order = [
        "cargo demo",
        "cargo install",
        "## On your own files",
        "```console",
        "## As a server",
        "## As a library",
        "## Where next",
    ];
    let places: Vec<usize> = order.iter().map(|what| place(what)).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(readme.lines().count() <= 180, "{} lines", readme.lines().count());
    let next: BTreeSet<&str> = links(&readme).collect();
    for page in ["comparison", "troubleshooting", "versions", "ci", "library", "testing"] {
        assert!(next.contains(format!("docs/{page}.md").as_str()), "{page}");
    }
    for page in fs::read_dir(root().join("docs/start")).expect("readable").flatten() {
        let name = page.file_name().into_string().expect("text");
        assert!(next.contains(format!("docs/start/{name}").as_str()), "{name}");
    }
    let comparison = fs::read_to_string(root().join("docs/comparison.md")).expect("readable");
    for other in ["kumactl", "gwctl", "egctl", "OPA", "Cerbos", "Cedar", "Kyverno"] {
        assert!(comparison.contains(other), "{other}");
    }
}

/// What messages are made of, and what they come to.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is = |extension: &str| path.extension().is_some_and(|own| own == extension);
        if path.is_dir() {
            sources(&path, found);
        } else if (is("rs") && path.components().any(|part| part.as_os_str() == "src"))
            || ["snap", "toml", "md", "yaml", "service", "js"].into_iter().any(is)
        {
            found.push(path);
        }
    }
}

/// Whatever a pipeline file runs works on our own examples; what it says of them is not judged here.
#[test]
fn files_for_pipelines_run() {
    let mut commands = 0;
    let folder = example("compliance");
    git(folder.path(), &["init", "--quiet"]);
    for message in ["Before", "After"] {
        fs::write(folder.path().join("notes.txt"), message).expect("is writable");
        git(folder.path(), &["add", "--all"]);
        git(folder.path(), &["commit", "--quiet", "--message", message]);
    }
    for file in ["github-workflow.yaml", "pre-commit-config.yaml"] {
        let text = fs::read_to_string(root().join("examples/ci").join(file)).expect("readable");
        for line in text.lines() {
            let Some((_, command)) = line.split_once(": upheld ").filter(|(key, _)| key.trim_start() != "name") else {
                continue;
            };
            let command = command.split(" >").next().unwrap_or_default();
            let output = run(folder.path(), command);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{command}: {}", shown(&output));
            commands += 1;
        }
    }
    assert_eq!(commands, 6);
}
