//! What operators see of a server.

/// Logs, traces and the log of decisions.
#[derive(Clone, Debug, Default)]
pub struct Operations {}
