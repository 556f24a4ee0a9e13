//! What PostgreSQL's errors mean for those who ask. None of them names the URL, and so none the password.

use sqlx::migrate::MigrateError;

use crate::StoreError;
use crate::log::SchemaError;

/// Classes of errors that pass: connection, rolled back by a conflict, resources, locks, taken down by an operator or by a time
/// limit, system.
const PASSING: [&str; 6] = ["08", "40", "53", "55", "57", "58"];

/// The database follows another and cannot be written; a transaction that took too long was ended.
const ALSO_PASSING: [&str; 2] = ["25006", "25P03"];

pub(super) fn failure(error: &sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::Database(database) => {
            let code = database.code().unwrap_or_default();
            let passes = PASSING.iter().any(|class| code.starts_with(class)) || ALSO_PASSING.contains(&&*code);
            let text = database.message().to_owned();
            if passes { StoreError::Unreachable(text) } else { StoreError::Unusable(text) }
        }
        sqlx::Error::PoolTimedOut => StoreError::Unreachable("no connection within two seconds".to_owned()),
        sqlx::Error::Io(error) => StoreError::Unreachable(error.to_string()),
        sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => {
            StoreError::Unreachable(error.to_string())
        }
        sqlx::Error::Configuration(_) => bad_url(),
        _ => StoreError::Unusable(error.to_string()),
    }
}

/// Says nothing of what is in it.
pub(super) fn bad_url() -> StoreError {
    let expected = "expected postgres://USER:PASSWORD@HOST:PORT/DATABASE";
    StoreError::Unusable(format!("the URL of the database cannot be read: {expected}"))
}

/// While the schema is brought up to date, the connection can be lost as well.
pub(super) fn of_schema(error: &SchemaError) -> StoreError {
    match error {
        SchemaError::Failed {
            error: MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _), ..
        } => match failure(cause) {
            passing @ StoreError::Unreachable(_) => passing,
            _ => StoreError::Unusable(error.to_string()),
        },
        _ => StoreError::Unusable(error.to_string()),
    }
}
