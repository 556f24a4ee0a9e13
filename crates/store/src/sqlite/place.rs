//! The files that a store has open. Another one under their name is another store: nothing is written any more then.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The database and its log, as they were when the store was opened.
#[derive(Debug)]
pub(super) struct Place {
    files: Vec<(PathBuf, FileId)>,
    database: PathBuf,
    /// When the database was last written, as far as it was looked at since.
    seen: Mutex<Option<SystemTime>>,
}

/// What stays the same about a file, whatever is written into it: its device and number.
type FileId = (u64, u64);

impl Place {
    /// Remembers which files these are.
    pub(super) fn of(database: &Path, log: &Path) -> io::Result<Self> {
        let files = [database, log].map(|file| Ok((file.to_owned(), id(file)?))).into_iter();
        let (files, database) = (files.collect::<io::Result<_>>()?, database.to_owned());
        let seen = Mutex::new(fs::metadata(&database)?.modified().ok());
        Ok(Self { files, database, seen })
    }

    /// When the database was written, if it was since it was looked at. SQLite does so when it moves a part of the log into it, and so
    /// does whoever copies over it.
    pub(super) fn written(&self) -> Option<SystemTime> {
        let now = fs::metadata(&self.database).ok()?.modified().ok();
        now.filter(|_| now != *self.seen())
    }

    /// Whether the database is the one that was opened, and was not written since it was looked at.
    pub(super) fn is_database_untouched(&self) -> bool {
        let known = self.files.first().map(|(_, known)| *known);
        known.is_some() && known == id(&self.database).ok() && self.written().is_none()
    }

    /// It was looked at, as it was at that moment.
    pub(super) fn looked(&self, at: SystemTime) {
        *self.seen() = Some(at);
    }

    fn seen(&self) -> MutexGuard<'_, Option<SystemTime>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of the first that is another file now, or gone.
    pub(super) fn replaced(&self) -> Option<&Path> {
        let replaced = self.files.iter().find(|(file, known)| id(file).ok() != Some(*known));
        replaced.map(|(file, _)| file.file_name().map_or(file.as_path(), Path::new))
    }
}

#[cfg(unix)]
fn id(file: &Path) -> io::Result<FileId> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(file).map(|file| (file.dev(), file.ino()))
}

/// Elsewhere a file that is open cannot be replaced.
#[cfg(not(unix))]
fn id(file: &Path) -> io::Result<FileId> {
    fs::metadata(file).map(|_| (0, 0))
}
