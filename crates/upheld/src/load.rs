//! From settings to a snapshot.

use std::path::Path;

use upheld_engine::Companions;
use upheld_loader::load::{Broken, Choices, Loaded};
use upheld_loader::{Input, discover, discover_at};
use upheld_model::{Diagnostic, Files};

use crate::config::{FILE, Settings};
use crate::demo;
use crate::render::diagnostics;

/// Reads everything that the settings name. Problems are printed; `None` if nothing can be answered.
pub(crate) fn snapshot(settings: &Settings, revision: Option<&str>) -> Option<Loaded> {
    told(try_snapshot(settings, revision))
}

/// As [`snapshot`], without a file that holds the question and no policies, and without printing warnings.
pub(crate) fn snapshot_beside(settings: &Settings, revision: Option<&str>, question: Option<&str>) -> Option<Loaded> {
    read(settings, revision, question).map_err(|broken| print_broken(&broken)).ok()
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
    read(settings, revision, None)
}

fn read(settings: &Settings, revision: Option<&str>, question: Option<&str>) -> Result<Loaded, Box<Broken>> {
    let (mut inputs, mut problems) = inputs(settings, revision);
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
    match choices.load(inputs) {
        Ok(loaded) if problems.is_empty() => Ok(loaded),
        Ok(Loaded { warnings, .. }) => {
            let mut diagnostics = warnings;
            diagnostics.extend(problems);
            Err(Box::new(Broken { files: Files::default(), diagnostics }))
        }
        Err(mut broken) => {
            broken.diagnostics.extend(problems);
            Err(broken)
        }
    }
}

fn inputs(settings: &Settings, revision: Option<&str>) -> (Vec<Input>, Vec<Diagnostic>) {
    if let Some(remote) = &settings.remote {
        return (remote.inputs().collect(), Vec::new());
    }
    let (builtin, named): (Vec<&String>, Vec<&String>) =
        settings.files.value.iter().partition(|path| path.as_str() == demo::NAME);
    let (mut inputs, problems) = match (named.is_empty(), revision) {
        (true, _) => (Vec::new(), Vec::new()),
        (false, None) => discover(&named),
        (false, Some(revision)) => discover_at(revision, &named),
    };
    // Settings are not documents; a folder that has both is the usual case.
    inputs.retain(|input| named.iter().any(|path| path.as_str() == input.name()) || !is_settings(input.name()));
    if !builtin.is_empty() {
        inputs.extend(demo::inputs());
    }
    (inputs, problems)
}

fn is_settings(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|file| file == FILE)
}
