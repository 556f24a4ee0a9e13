//! Every `$ upheld …` in the documentation is run, and must print what stands below it.
//!
//! Pages under `docs/start`, and the one about analysis, are walk-throughs: each begins in an empty folder, and a block of YAML whose first line is the name of a
//! file (`# shop.yaml`) is that file.
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
        let place = Place::of(&path);
        let (fresh, count) = replay(&text, &place);
        commands += count;
        assert!(
            count >= 3 || matches!(place, Place::Root),
            "{}: a walk-through has commands, and {count} are run",
            path.display()
        );
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

/// Where the commands of a document are run.
enum Place {
    /// At the root of the project.
    Root,
    /// In a folder of its own, with the files of the page.
    Own(tempfile::TempDir),
}

impl Place {
    fn of(document: &Path) -> Self {
        let own = document.starts_with(root().join("docs/start")) || document.ends_with("docs/analysis.md");
        if own { Self::Own(tempfile::tempdir().expect("a temporary folder")) } else { Self::Root }
    }

    /// Writes a block of YAML that has a name.
    fn write(&self, block: &[&str]) {
        let extension =
            |name: &str| Path::new(name).extension().map(|extension| extension.to_string_lossy().into_owned());
        let Some((first, rest)) = block.split_first() else { return };
        let (Self::Own(folder), Some(name)) = (self, first.strip_prefix("# ")) else { return };
        // Logs have no comments.
        let lines = match extension(name).as_deref() {
            Some("yaml") => block,
            Some("jsonl") => rest,
            _ => return,
        };
        std::fs::write(folder.path().join(name), lines.join("\n") + "\n").expect("writable");
    }

    fn output_of(&self, command: &str) -> String {
        let arguments = command.trim_start_matches("$ ").strip_prefix("upheld ");
        let arguments = arguments.unwrap_or_else(|| panic!("not a command of ours: {command}"));
        let output = match self {
            Self::Root => run(&root(), arguments),
            Self::Own(folder) => run(folder.path(), arguments),
        };
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).replace("\r\n", "\n");
        text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
    }
}

/// The document with fresh output in every console block, and how many commands were run.
fn replay(text: &str, place: &Place) -> (String, usize) {
    let mut fresh = String::new();
    let mut commands = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        fresh.push_str(line);
        fresh.push('\n');
        if !matches!(line, "```console" | "```yaml") {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if line == "```yaml" {
            place.write(&block);
            for line in &block {
                fresh.extend([line, "\n"]);
            }
        }
        for (index, command) in
            block.iter().filter(|_| line == "```console").filter(|line| line.starts_with("$ ")).enumerate()
        {
            commands += 1;
            if index > 0 {
                fresh.push('\n');
            }
            fresh.push_str(command);
            fresh.push('\n');
            fresh.push_str(&place.output_of(command));
        }
        fresh.push_str("```\n");
    }
    (fresh, commands)
}

fn difference(old: &str, new: &str) -> String {
    let changed = old.lines().zip(new.lines()).find(|(old, new)| old != new);
    changed.map_or("the lengths differ".to_owned(), |(old, new)| format!("  documented: {old}\n  printed:    {new}"))
}
