//! How far work is that may take long.

/// Who is told how far the work is.
pub trait Progress: Sync {
    /// So many more things will be looked at.
    fn expect(&self, things: u64);
    /// So many more were.
    fn done(&self, things: u64);
}

/// Nobody is.
impl Progress for () {
    fn expect(&self, _: u64) {}
    fn done(&self, _: u64) {}
}
