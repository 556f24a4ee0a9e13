//! `-w`: run again on every change of the files.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use notify::{RecursiveMode, Watcher};
use upheld_loader::Format;
use upheld_model::{Diagnostic, Fault, Files};

use crate::commands::say;
use crate::config::project_file;
use crate::exit::Exit;
use crate::render::clear_screen;
use crate::render::diagnostics;

/// Editors write in several steps; what comes within this time is one change.
const QUIET: Duration = Duration::from_millis(100);

/// Runs a round now and after every change, until the user stops it. Settings may change, and with them the files.
pub(crate) fn run(files: impl Fn() -> Vec<String>, round: impl Fn() -> Exit) -> Exit {
    let (tell, changes) = channel();
    let named: Vec<PathBuf> = files().iter().map(PathBuf::from).collect();
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let read = |event: &notify::Event| event.paths.iter().any(|path| is_read(path, &named));
        if event.is_ok_and(|event| !event.kind.is_access() && read(&event)) {
            // Nobody listens only when the program is about to end.
            let _ = tell.send(());
        }
    });
    let Ok(mut watcher) = watcher else { return problem("this system cannot watch files") };
    let mut watched = BTreeSet::new();
    let terminal = std::io::stdout().is_terminal();
    loop {
        // Watched before they are read, so that no change is missed.
        for (folder, depth) in folders(&files()) {
            let mode = match depth {
                Depth::Flat => RecursiveMode::NonRecursive,
                Depth::Deep => RecursiveMode::Recursive,
            };
            if watched.insert((folder.clone(), depth))
                && let Err(error) = watcher.watch(&folder, mode)
            {
                return problem(&format!("cannot watch {}: {error}", folder.display()));
            }
        }
        if watched.is_empty() {
            return problem("there are no files to watch");
        }
        if terminal {
            clear_screen();
        }
        let last = round();
        if terminal {
            say("Watching; stop with Ctrl-C.");
        }
        if !wait(&changes) {
            return last;
        }
    }
}

/// Whether a change of a file can change an answer; the answer itself may be written next to the files.
fn is_read(path: &Path, named: &[PathBuf]) -> bool {
    let known = path.file_name().is_some_and(|name| Format::of_name(&name.to_string_lossy()).is_some());
    known || named.iter().any(|named| named.file_name() == path.file_name())
}

/// Waits for a change and lets the ones that follow at once pass; `false` if none can come any more.
fn wait(changes: &Receiver<()>) -> bool {
    if changes.recv().is_err() {
        return false;
    }
    while changes.recv_timeout(QUIET).is_ok() {}
    true
}

/// What to watch: folders as a whole; for a file its folder, since editors and config maps replace files.
fn folders(files: &[String]) -> BTreeSet<(PathBuf, Depth)> {
    let mut folders = BTreeSet::new();
    let settings = std::env::current_dir().ok().and_then(|current| project_file(&current));
    folders.extend(settings.and_then(|file| Some((file.parent()?.to_path_buf(), Depth::Flat))));
    for file in files.iter().filter(|file| *file != "-" && !file.starts_with("builtin:")) {
        let path = Path::new(file);
        if path.is_dir() {
            folders.insert((path.to_path_buf(), Depth::Deep));
        } else {
            let mut folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
            // A glob is watched from its last folder without a wildcard.
            while folder.to_string_lossy().contains(['*', '?', '[', '{']) && folder.pop() {}
            let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
            let glob = file.contains(['*', '?', '[', '{']);
            folders.insert((folder, if glob { Depth::Deep } else { Depth::Flat }));
        }
    }
    folders
}

/// Whether folders below count, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Depth {
    Flat,
    Deep,
}

fn problem(text: &str) -> Exit {
    diagnostics::print(&Files::default(), &[Diagnostic::error(Fault::Unreadable, text)]);
    Exit::Failed
}
