//! Who may connect, and who may do what.

/// Everything about trust.
#[derive(Clone, Debug, Default)]
pub struct Security {}
