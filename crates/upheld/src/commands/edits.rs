//! Edits of files: made, or printed as a diff.

use std::path::{Path, PathBuf};
use std::{fs, io};

use upheld_answers::patch::{FileEdit, unified};
use upheld_model::{Diagnostic, Fault};

use crate::render::print_exactly;
use crate::report::counted;

/// What becomes of edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edits {
    /// The files change.
    Made,
    /// They are printed as a diff.
    Printed,
}

impl Edits {
    /// Makes or prints them; nothing is touched if a file does not say any more what was read.
    pub(super) fn apply(self, files: &[FileEdit]) -> Result<(), Vec<Diagnostic>> {
        let unreadable: Vec<Diagnostic> = files.iter().filter_map(|file| current(file).err()).collect();
        if !unreadable.is_empty() {
            return Err(unreadable);
        }
        for file in files {
            match self {
                Self::Printed => print_exactly(&unified(file, &called(&file.name))),
                Self::Made => write(file).map_err(|problem| vec![problem])?,
            }
        }
        Ok(())
    }
}

/// `2 files changed: a.yaml, b.yaml.`
pub(super) fn sentence(files: &[FileEdit]) -> String {
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    match names.as_slice() {
        [] => "No file was changed.".to_owned(),
        names => format!("{} changed: {}.", counted(names.len(), "file", "files"), names.join(", ")),
    }
}

/// Why there are no files to edit on a server.
pub(super) fn no_files(options: &str) -> Diagnostic {
    Diagnostic::error(Fault::BadSetting, "a server has no files that could be edited")
        .help(format!("leave out {options}, or name files with -f"))
}

fn write(file: &FileEdit) -> Result<(), Diagnostic> {
    let after = format!("{}{}", current(file)?, file.after);
    // A file of which nothing is left is not left behind.
    let written = if after.is_empty() { fs::remove_file(&file.name) } else { write_whole(&file.name, &after) };
    written.map_err(|error| {
        let message = format!("cannot write `{}`: {error}", file.name);
        Diagnostic::error(Fault::Unreadable, message)
    })
}

/// Writes a file as a whole: whoever is interrupted leaves what was there before. Links stay links, and rights what they are.
pub(super) fn write_whole(name: &str, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(name).unwrap_or_else(|_| PathBuf::from(name));
    let known = fs::metadata(&target).ok();
    // Pipes and devices have nothing beside them.
    let (Some(own), true) = (target.file_name(), known.as_ref().is_none_or(fs::Metadata::is_file)) else {
        return fs::write(&target, text);
    };
    let part = target.with_file_name(format!(".{}.{}.part", own.to_string_lossy(), std::process::id()));
    let rights = |known: &fs::Metadata| fs::set_permissions(&part, known.permissions());
    let written = fs::write(&part, text)
        .and_then(|()| known.as_ref().map_or(Ok(()), rights))
        .and_then(|()| fs::rename(&part, &target));
    written.or_else(|error| {
        drop(fs::remove_file(&part));
        // A file may be open to writing where its folder is not.
        if error.kind() == io::ErrorKind::PermissionDenied { fs::write(&target, text) } else { Err(error) }
    })
}

/// The mark before the text of a file that still says what was read.
fn current(file: &FileEdit) -> Result<&'static str, Diagnostic> {
    const MARK: &str = "\u{feff}";
    let text = fs::read_to_string(&file.name).unwrap_or_default();
    match text.strip_prefix(MARK) {
        Some(text) if text == file.before => Ok(MARK),
        None if text == file.before => Ok(""),
        _ => {
            let message = format!("`{}` is no file that says what was read", file.name);
            Err(Diagnostic::error(Fault::Moved, message).help("edits are made in files only: name them with -f"))
        }
    }
}

/// How a file is called from here, where a patch is applied.
fn called(name: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let name = Path::new(name);
    let own = name.strip_prefix(&here).or_else(|_| name.strip_prefix(".")).unwrap_or(name);
    own.to_string_lossy().into_owned()
}
