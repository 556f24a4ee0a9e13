//! The folder of a store, and a lock on it for the moment in which its file is made or brought up to date.

use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

/// The name of the lock's file, which stays.
const FILE: &str = "upheld.lock";

const EVERY: Duration = Duration::from_millis(10);

/// Makes the folder, readable for its owner only.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Makes the file of the log, readable and writable for its owner only; SQLite gives the files beside it the same rights. One that is
/// there stays as it is.
pub(super) fn make_file(file: &Path) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(file) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Waits until no other process has the lock. It is given back with the file, also by processes that die.
pub(super) async fn exclusive(folder: &Path, patience: Duration) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(folder.join(FILE))?;
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if waited < patience => {
                tokio::time::sleep(EVERY).await;
                waited += EVERY;
            }
            Err(error) => return Err(error.into()),
        }
    }
}
