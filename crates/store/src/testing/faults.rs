//! Faults of a disk, at the write that a test names: by design, not by luck.

use std::sync::{Mutex, PoisonError};

use sqlx::{AssertSqlSafe, SqlitePool};

use crate::{Result, StoreError};

/// What a disk does to those who write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no room: the file cannot grow. SQLite finds out by itself, in the midst of a transaction.
    Full,
    /// Nothing can be written. SQLite finds out by itself, when the transaction begins.
    ReadOnly,
    /// It fails, and the transaction with it.
    Failing,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Full, Self::ReadOnly, Self::Failing];
}

/// Which writes of a store fail, and how.
#[derive(Debug, Default)]
pub struct Faults(Mutex<Plan>);

#[derive(Clone, Copy, Debug, Default)]
struct Plan {
    fault: Option<Fault>,
    /// Writes that go well before.
    well: u64,
    /// Writes that fail then.
    badly: u64,
    /// Whether something was planned at all: stores of which nobody wants it are left alone.
    is_made: bool,
}

impl Faults {
    /// So many writes go well, then so many fail, then all go well again.
    pub fn plan(&self, fault: Fault, well: u64, badly: u64) {
        *self.lock() = Plan { fault: Some(fault), well, badly, is_made: true };
    }

    /// Nothing fails any more.
    pub fn heal(&self) {
        let mut plan = self.lock();
        *plan = Plan { is_made: plan.is_made, ..Plan::default() };
    }

    /// Lets the next write suffer what is planned for it.
    pub(crate) async fn strike(&self, writer: &SqlitePool) -> Result<()> {
        if !self.lock().is_made {
            return Ok(());
        }
        let fault = self.next();
        let (pages, only) = match fault {
            Some(Fault::Full) => (1, 0),
            Some(Fault::ReadOnly) => (MOST_PAGES, 1),
            Some(Fault::Failing) => return Err(StoreError::Unreachable("disk I/O error, as planned".to_owned())),
            None => (MOST_PAGES, 0),
        };
        // A limit below what there is means: no more than there is.
        for setting in [format!("PRAGMA max_page_count = {pages}"), format!("PRAGMA query_only = {only}")] {
            let set = sqlx::query(AssertSqlSafe(setting)).execute(writer).await;
            set.map_err(|error| StoreError::Unusable(error.to_string()))?;
        }
        Ok(())
    }

    fn next(&self) -> Option<Fault> {
        let mut plan = self.lock();
        if plan.well > 0 {
            plan.well -= 1;
            return None;
        }
        plan.badly = plan.badly.checked_sub(1)?;
        plan.fault
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As SQLite has it by itself.
const MOST_PAGES: u32 = 0xffff_fffe;
