//! What Helm and Kustomize make of charts and folders: their own programs do it, and what they print is read in place of the files.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use upheld_dialects::recognise::{is_kustomization_file, kustomized_paths};
use upheld_model::{Diagnostic, Fault, SourceId};
use upheld_syntax::{Format, parse};

use crate::aside::Why;
use crate::discover::Discovered;
use crate::foreign::{charts, is_in, outermost};
use crate::read::{Content, Input};

/// Renders all charts and all folders that say how with Kustomize, of which no other is made.
#[must_use]
pub fn render(mut discovered: Discovered) -> Discovered {
    let folders = Folders::of(&discovered.inputs);
    for (folder, path) in &folders.charts {
        let covered = |name: &str| is_in(name, folder);
        rendered(&mut discovered, Tool::Helm, (folder, path), covered);
    }
    for folder in folders.roots() {
        let Some(path) = folders.kustomizations.get(folder).map(|known| &known.path) else { continue };
        let covered = folders.covered(folder);
        rendered(&mut discovered, Tool::Kustomize, (folder, path), |name| covered.contains(name));
    }
    discovered.inputs.sort_by(|a, b| a.name().cmp(b.name()));
    discovered
}

/// Puts what a program prints in the place of the files that it is made of.
fn rendered(discovered: &mut Discovered, tool: Tool, (folder, path): (&str, &Path), covered: impl Fn(&str) -> bool) {
    match tool.run(folder, path) {
        Ok(text) => {
            let (gone, kept) =
                std::mem::take(&mut discovered.inputs).into_iter().partition(|input| covered(input.name()));
            discovered.inputs = kept;
            for input in gone {
                discovered.aside.add(Why::Rendered, input.name());
            }
            discovered.inputs.push(Input::text(format!("{folder}/({})", tool.words()), Format::Yaml, text));
        }
        Err(problem) => discovered.problems.push(problem),
    }
}

/// A program that renders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Helm.
    Helm,
    /// Kustomize.
    Kustomize,
}

impl Tool {
    fn program(self) -> &'static str {
        match self {
            Self::Helm => "helm",
            Self::Kustomize => "kustomize",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Helm => "helm template",
            Self::Kustomize => "kustomize build",
        }
    }

    /// The command that renders a folder, as one pastes it.
    pub fn command(self, folder: &str) -> String {
        format!("{} {folder}", self.words())
    }

    fn run(self, folder: &str, path: &Path) -> Result<String, Diagnostic> {
        let verb = self.words().split(' ').next_back().unwrap_or_default();
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let wrong = |message: String| Diagnostic::error(Fault::Unreadable, message);
        let output = Command::new(self.program()).arg(verb).arg(path).output().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                wrong(format!("`{folder}` cannot be rendered: there is no `{}` on the PATH", self.program()))
                    .help(format!("install it, or render where it is: `{} | upheld … -f -`", self.command(folder)))
                    .help(format!("or leave it out: `--exclude {folder}`"))
            }
            _ => wrong(format!("`{folder}` cannot be rendered: {error}")),
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).take(5).collect();
        Err(wrong(format!("`{}` failed: {}", self.command(folder), said.join("; ")))
            .help(format!("leave it out: `--exclude {folder}`")))
    }
}

/// What can be rendered.
#[derive(Debug, Default)]
struct Folders {
    charts: BTreeMap<String, PathBuf>,
    kustomizations: BTreeMap<String, Kustomized>,
}

#[derive(Debug)]
struct Kustomized {
    path: PathBuf,
    file: String,
    /// Files and folders that it names.
    names: Vec<String>,
}

impl Folders {
    fn of(inputs: &[Input]) -> Self {
        let names = charts(inputs.iter().map(Input::name));
        let mut found = Self::default();
        for input in inputs {
            let Content::File(path) = input.content() else { continue };
            let folder = input.name().rsplit_once('/').map_or(".", |(folder, _)| folder);
            let on_disk = path.parent().map(Path::to_path_buf).unwrap_or_default();
            if input.name().ends_with("Chart.yaml") && names.contains(folder) {
                if outermost(&names, folder) == folder && !is_library(path) {
                    found.charts.insert(folder.to_owned(), on_disk);
                }
            } else if is_kustomization_file(input.name())
                && let Ok(text) = std::fs::read_to_string(path)
            {
                let (parsed, _) = parse(input.name(), Format::Yaml, text, SourceId::FIRST);
                let own = if folder == "." { "" } else { folder };
                let names = parsed.tree.documents().flat_map(|document| kustomized_paths(document, own)).collect();
                let file = input.name().to_owned();
                found.kustomizations.insert(folder.to_owned(), Kustomized { path: on_disk, file, names });
            }
        }
        let Self { charts, kustomizations } = &mut found;
        kustomizations.retain(|folder, _| !charts.keys().any(|chart| folder == chart || is_in(folder, chart)));
        found
    }

    /// Folders that no other is made of.
    fn roots(&self) -> impl Iterator<Item = &String> {
        let named: BTreeSet<&str> =
            self.kustomizations.values().flat_map(|one| &one.names).map(String::as_str).collect();
        self.kustomizations.keys().filter(move |folder| !named.contains(folder.as_str()))
    }

    /// The files that a folder is made of.
    fn covered(&self, root: &str) -> BTreeSet<String> {
        let mut covered = BTreeSet::new();
        let mut waiting = vec![root.to_owned()];
        let mut seen = BTreeSet::new();
        while let Some(folder) = waiting.pop() {
            let Some(known) = self.kustomizations.get(&folder).filter(|_| seen.insert(folder.clone())) else {
                continue;
            };
            covered.insert(known.file.clone());
            covered.extend(known.names.iter().cloned());
            waiting.extend(known.names.iter().cloned());
        }
        covered
    }
}

/// Whether a chart is there to be used by others only.
fn is_library(chart: &Path) -> bool {
    let text = std::fs::read_to_string(chart).unwrap_or_default();
    text.lines().any(|line| line.split_whitespace().eq(["type:", "library"]))
}
