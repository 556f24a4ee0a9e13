//! Versions of the schema. A version that was released is never altered: what changes is one more file.

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migrate, MigrateError, Migration, MigrationType, Migrator};

/// All versions, oldest first.
const VERSIONS: &[(i64, &str)] =
    &[(1, include_str!("schema-1.sql")), (2, include_str!("schema-2.sql")), (3, include_str!("schema-3.sql"))];

/// Where the migrator notes what it did.
const TABLE: &str = "upheld_schema";

/// Why a schema cannot be brought up to date.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SchemaError {
    #[error("its schema has version {found}, and this program supports versions up to {known}: use a newer program")]
    Newer { found: i64, known: i64 },
    #[error("its schema cannot be brought to version {known}: {error}")]
    Failed { known: i64, error: MigrateError },
}

/// Brings the schema up to date, under the migrator's lock where the database has one.
pub(crate) async fn migrate(connection: &mut impl Migrate) -> Result<(), SchemaError> {
    let migrations = VERSIONS.iter().map(|(version, statements)| {
        Migration::new(*version, "log".into(), MigrationType::Simple, statements.into_sql_str(), false)
    });
    let known = VERSIONS.last().map_or(0, |(version, _)| *version);
    let mut migrator = Migrator::with_migrations(migrations.collect());
    migrator.dangerous_set_table_name(TABLE);
    let failed = |error| SchemaError::Failed { known, error };
    match migrator.run_direct(None, connection, false).await {
        Err(MigrateError::VersionMissing(_)) => {
            let applied = connection.list_applied_migrations(TABLE).await.map_err(failed)?;
            let found = applied.iter().map(|migration| migration.version).max().unwrap_or_default();
            Err(SchemaError::Newer { found, known })
        }
        done => done.map_err(failed),
    }
}
