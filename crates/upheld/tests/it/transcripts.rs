//! Every `$ upheld …` in the documentation is run, and must print what stands below it.
//!
//! `UPDATE_TRANSCRIPTS=1 cargo test -p upheld transcripts` writes what was printed into the documents.

use std::path::{Path, PathBuf};

use crate::support::{root, run};

#[test]
fn transcripts_in_the_documentation_are_real() {
    let update = std::env::var_os("UPDATE_TRANSCRIPTS").is_some();
    let mut commands = 0;
    let mut wrong = Vec::new();
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("documents are readable");
        let (fresh, count) = replay(&text);
        commands += count;
        if fresh != text {
            if update {
                std::fs::write(&path, &fresh).expect("documents are writable");
            } else {
                wrong.push(format!("{}:\n{}", path.display(), difference(&text, &fresh)));
            }
        }
    }
    assert!(commands >= 10, "only {commands} commands found: are the documents where they should be?");
    assert!(wrong.is_empty(), "run with UPDATE_TRANSCRIPTS=1 if this is meant\n{}", wrong.join("\n"));
}

fn documents() -> Vec<PathBuf> {
    let mut documents = vec![root().join("README.md")];
    for folder in ["docs", "examples"] {
        collect(&root().join(folder), &mut documents);
    }
    documents.sort();
    documents
}

fn collect(folder: &Path, documents: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, documents);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            documents.push(path);
        }
    }
}

/// The document with fresh output in every console block, and how many commands were run.
fn replay(text: &str) -> (String, usize) {
    let mut fresh = String::new();
    let mut commands = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        fresh.push_str(line);
        fresh.push('\n');
        if line != "```console" {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        for (index, command) in block.iter().filter(|line| line.starts_with("$ ")).enumerate() {
            commands += 1;
            if index > 0 {
                fresh.push('\n');
            }
            fresh.push_str(command);
            fresh.push('\n');
            fresh.push_str(&output_of(command));
        }
        fresh.push_str("```\n");
    }
    (fresh, commands)
}

fn output_of(command: &str) -> String {
    let arguments = command.trim_start_matches("$ ");
    let arguments = arguments.strip_prefix("cargo run --release -- ").or_else(|| arguments.strip_prefix("upheld "));
    let output = run(&root(), arguments.unwrap_or_else(|| panic!("not a command of ours: {command}")));
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).replace("\r\n", "\n");
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn difference(old: &str, new: &str) -> String {
    let changed = old.lines().zip(new.lines()).find(|(old, new)| old != new);
    changed.map_or("the lengths differ".to_owned(), |(old, new)| format!("  documented: {old}\n  printed:    {new}"))
}
