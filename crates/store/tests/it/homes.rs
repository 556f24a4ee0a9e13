//! Where stores come from: the same tests for each kind.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;
use upheld_store::testing::Database;
use upheld_store::{Memory, Postgres, Sqlite, Store};

/// A kind of store.
#[derive(Debug)]
pub(crate) enum Home {
    Memory,
    Sqlite(TempDir, AtomicU32),
    Postgres(Database),
}

/// How the same store is opened once more.
#[derive(Debug)]
pub(crate) enum Address {
    Folder(PathBuf),
    Url(String),
}

impl Home {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap(), AtomicU32::new(0))
    }

    /// None where PostgreSQL is missing, and may be.
    pub(crate) fn postgres() -> Option<Self> {
        Database::start().map(Self::Postgres)
    }

    /// A store without revisions.
    pub(crate) async fn empty(&self) -> Box<dyn Store> {
        match self.address().await {
            Some(address) => address.open().await,
            None => Box::new(Memory::new()),
        }
    }

    /// A place for a store, where a store can be opened twice.
    pub(crate) async fn address(&self) -> Option<Address> {
        match self {
            Self::Memory => None,
            Self::Sqlite(folder, number) => {
                let number = number.fetch_add(1, Ordering::Relaxed).to_string();
                Some(Address::Folder(folder.path().join(number)))
            }
            Self::Postgres(database) => Some(Address::Url(database.fresh().await.unwrap())),
        }
    }
}

impl Address {
    pub(crate) async fn open(&self) -> Box<dyn Store> {
        match self {
            Self::Folder(folder) => Box::new(Sqlite::open(folder).await.unwrap()),
            Self::Url(url) => Box::new(Postgres::connect(url).await.unwrap()),
        }
    }
}
