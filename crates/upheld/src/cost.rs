//! What a run costs beyond reading its files, in figures that are the same on every machine: tests of growth take them from builds with
//! debug assertions. Other builds count nothing.

#[cfg(debug_assertions)]
mod counted {
    use std::alloc::System;
    use std::sync::atomic::{AtomicU64, Ordering};

    use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
    use upheld_engine::work;

    #[global_allocator]
    static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

    /// What reading cost.
    static READING: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

    /// Allocations, steps of the engine and documents so far.
    pub(super) fn so_far() -> [u64; 3] {
        let stats = ALLOCATOR.stats();
        let allocations = (stats.allocations + stats.reallocations) as u64;
        [allocations, work::total(), upheld_syntax::documents_read()]
    }

    pub(super) fn leave_out(before: [u64; 3]) {
        for ((sum, now), before) in READING.iter().zip(so_far()).zip(before) {
            sum.fetch_add(now - before, Ordering::Relaxed);
        }
    }

    pub(super) fn beyond_reading() -> String {
        let parts = so_far().into_iter().zip(&READING);
        parts.map(|(now, reading)| format!("{} ", now - reading.load(Ordering::Relaxed))).collect()
    }
}

/// Reads files; this is not part of the cost.
pub(crate) fn reading<T>(read: impl FnOnce() -> T) -> T {
    #[cfg(debug_assertions)]
    let before = counted::so_far();
    let files = read();
    #[cfg(debug_assertions)]
    counted::leave_out(before);
    files
}

/// Writes the cost to the file that a variable names.
pub(crate) fn keep() {
    #[cfg(debug_assertions)]
    if let Some(file) = std::env::var_os("UPHELD_COST") {
        // A test that reads the file says that it is missing.
        std::fs::write(file, counted::beyond_reading()).ok();
    }
}
