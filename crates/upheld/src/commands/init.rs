//! `init`: an `upheld.yaml` for this folder.

use std::path::Path;

use upheld_loader::discover;
use upheld_model::Files;

use super::{refuse, say};
use crate::config::{FILE, starter};
use crate::exit::Exit;
use crate::render::diagnostics;

pub(super) fn run(paths: &[String]) -> Exit {
    let path = Path::new(FILE);
    if path.exists() {
        say(&format!("{FILE} is here already; nothing was changed. `upheld config --show-origin` shows what it sets."));
        return Exit::No;
    }
    let paths = if paths.is_empty() { vec![".".to_owned()] } else { paths.to_vec() };
    let (inputs, problems) = discover(&paths);
    // An empty folder may be filled later; a path that is wrong is wrong now.
    let wrong: Vec<_> = problems.into_iter().filter(|_| paths != ["."]).collect();
    if !wrong.is_empty() {
        diagnostics::print(&Files::default(), &wrong);
        return Exit::Failed;
    }
    if let Err(error) = std::fs::write(path, starter(&paths)) {
        return refuse(&[upheld_model::Diagnostic::error(
            upheld_model::Fault::Unreadable,
            format!("cannot write {FILE}: {error}"),
        )]);
    }
    let noun = if inputs.len() == 1 { "file" } else { "files" };
    say(&format!("Wrote {FILE}, which names {} ({} {noun} now). Next: upheld list", paths.join(", "), inputs.len()));
    Exit::Yes
}
