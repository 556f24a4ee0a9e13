//! What SQLite's errors mean for those who ask.

use crate::StoreError;

/// Result codes that pass: busy, locked, out of memory, an error of the disk, a full disk.
const PASSING: [u32; 5] = [5, 6, 7, 10, 13];

pub(super) fn failure(error: &sqlx::Error) -> StoreError {
    let text = error.to_string();
    match error {
        sqlx::Error::Database(database) => {
            // The lowest byte is the class of an extended result code.
            let code = database.code().and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff);
            let passes = code.is_some_and(|code| PASSING.contains(&code));
            if passes { StoreError::Unreachable(text) } else { StoreError::Unusable(text) }
        }
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => {
            StoreError::Unreachable(text)
        }
        _ => StoreError::Unusable(text),
    }
}
