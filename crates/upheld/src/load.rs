//! From settings to a snapshot.

use std::collections::BTreeMap;
use std::path::Path;

use upheld_engine::Companions;
use upheld_loader::load::{Broken, Choices, Loaded};
use upheld_loader::render::render;
use upheld_loader::{Discovered, Exclude, LeftAside, discover_at_without, discover_without};
use upheld_model::{Diagnostic, Fault};

use crate::config::{FILE, Packages, Reading, Settings};
use crate::render::diagnostics;
use crate::{cost, demo};

/// Reads everything that the settings name. Problems are printed; `None` if nothing can be answered.
pub(crate) fn snapshot(settings: &Settings, revision: Option<&str>) -> Option<Loaded> {
    told(try_snapshot(settings, revision))
}

/// As [`snapshot`], without a file that holds the question and no policies, and without printing warnings.
pub(crate) fn snapshot_beside(settings: &Settings, revision: Option<&str>, question: Option<&str>) -> Option<Loaded> {
    cost::reading(|| read(settings, revision, question)).map_err(|broken| print_broken(&broken)).ok()
}

fn told(read: Result<Loaded, Box<Broken>>) -> Option<Loaded> {
    match read {
        Ok(loaded) => {
            print_warnings(&loaded);
            Some(loaded)
        }
        Err(broken) => {
            print_broken(&broken);
            None
        }
    }
}

fn print_broken(broken: &Broken) {
    diagnostics::print(&broken.files, broken.diagnostics.as_slice());
}

/// Prints what is odd, but no error.
pub(crate) fn print_warnings(loaded: &Loaded) {
    if !loaded.warnings.as_slice().is_empty() {
        diagnostics::print(loaded.snapshot.files(), loaded.warnings.as_slice());
    }
}

/// As [`snapshot`], without printing.
pub(crate) fn try_snapshot(settings: &Settings, revision: Option<&str>) -> Result<Loaded, Box<Broken>> {
    cost::reading(|| read(settings, revision, None))
}

fn read(settings: &Settings, revision: Option<&str>, question: Option<&str>) -> Result<Loaded, Box<Broken>> {
    let Discovered { mut inputs, mut problems, aside } = discovered(settings, revision);
    if let Some(question) = question.and_then(|file| Path::new(file).canonicalize().ok()) {
        inputs.retain(|input| Path::new(input.name()).canonicalize().ok().as_ref() != Some(&question));
    }
    if settings.files.origin == "default" {
        for problem in &mut problems {
            problem.help.push("name your files with -f, or see how it looks on built-in data: upheld demo".to_owned());
        }
    }
    let systems = settings.companions().unwrap_or_else(|wrong| {
        problems.extend(wrong);
        Companions::default()
    });
    let choices = Choices { semantics: settings.semantics.value.clone(), settings: systems };
    let loaded = choices.load(inputs).map(|loaded| loaded.leaving_aside(aside.clone()));
    if settings.reading == Reading::Strict {
        let set_aside = loaded.as_ref().map(|loaded| loaded.set_aside.by_type.clone()).unwrap_or_default();
        problems.extend(not_read(&aside, &set_aside));
    }
    match loaded {
        Ok(loaded) if problems.is_empty() => Ok(loaded),
        Ok(Loaded { warnings, snapshot, .. }) => {
            let mut diagnostics = warnings;
            diagnostics.extend(problems);
            Err(Box::new(Broken { files: snapshot.files().clone(), diagnostics }))
        }
        Err(mut broken) => {
            broken.diagnostics.extend(problems);
            Err(broken)
        }
    }
}

/// What would be left aside, as errors.
fn not_read<'a>(
    aside: &'a LeftAside,
    set_aside: &'a BTreeMap<String, usize>,
) -> impl Iterator<Item = Diagnostic> + use<'a> {
    let files = aside.by_reason.iter().filter(|(why, _)| !why.is_chosen()).flat_map(|(why, names)| {
        names.iter().map(move |name| {
            let message = format!("`{name}` is not read: it is {} {}", article(why.word()), why.word());
            Diagnostic::error(Fault::Unreadable, message).help(format!("leave it out: `--exclude {name}`"))
        })
    });
    let types = set_aside.iter().map(|(name, count)| {
        let (noun, are) = if *count == 1 { ("document", "is") } else { ("documents", "are") };
        let message = format!("{count} {noun} {are} left aside: {name}");
        Diagnostic::error(Fault::UnknownDocument, message)
            .help("leave the files out with `--exclude`, or read without `--strict`")
    });
    files.chain(types)
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

fn discovered(settings: &Settings, revision: Option<&str>) -> Discovered {
    if let Some(remote) = &settings.remote {
        return Discovered { inputs: remote.inputs().collect(), ..Discovered::default() };
    }
    let (builtin, named): (Vec<&String>, Vec<&String>) =
        settings.files.value.iter().partition(|path| path.as_str() == demo::NAME);
    let patterns = settings.exclude.value.iter().map(|(folder, pattern)| (folder.as_path(), pattern.as_str()));
    let (exclude, wrong) = match Exclude::new(patterns) {
        Ok(exclude) => (exclude, Vec::new()),
        Err(wrong) => (Exclude::default(), wrong),
    };
    let mut found = match (named.is_empty(), revision) {
        (true, _) => Discovered::default(),
        (false, None) => discover_without(Path::new(""), &named, &exclude),
        (false, Some(revision)) => discover_at_without(Path::new("."), revision, &named, &exclude),
    };
    found.problems.extend(wrong);
    // Settings are not documents; a folder that has both is the usual case.
    found.inputs.retain(|input| named.iter().any(|path| path.as_str() == input.name()) || !is_settings(input.name()));
    found = match (settings.packages, revision) {
        (Packages::AsTheyAre, _) => found,
        (Packages::Rendered, None) => render(found),
        (Packages::Rendered, Some(revision)) => {
            let message = format!("`--render` renders files as they are now, not those of revision `{revision}`");
            found.problems.push(Diagnostic::error(Fault::BadSetting, message).help("check the revision out first"));
            found
        }
    };
    if !builtin.is_empty() {
        found.inputs.extend(demo::inputs());
    }
    found
}

/// Whether a file has settings of this program.
pub(crate) fn is_settings(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|file| file == FILE)
}
