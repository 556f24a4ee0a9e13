//! What all handlers share.

use std::sync::Arc;

use tokio::sync::watch;
use upheld_store::Store;

use crate::auth::{Auth, SecurityError};
use crate::config::Config;
use crate::folders::Folders;
use crate::freshness::Freshness;
use crate::http::Glance;
use crate::limits::Gate;
use crate::live::Live;
use crate::parts::Parts;
use crate::telemetry::{Decisions, Metrics, Reloaded, ServerState, Sizes};
use crate::tls::Tls;
use crate::writer::Writer;

/// One server.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) live: Arc<Live>,
    pub(crate) freshness: Freshness,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) writer: Writer,
    pub(crate) folders: Arc<Folders>,
    pub(crate) auth: Auth,
    pub(crate) parts: Parts,
    pub(crate) gate: Gate,
    pub(crate) glance: Glance,
    pub(crate) tls: Option<Tls>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) decisions: Decisions,
    /// Told when the server is to end: what has no end of its own ends then.
    pub(crate) ending: watch::Sender<bool>,
}

impl App {
    /// Reads all files again: those with documents, tokens, rights, keys and certificates. What is wrong with the latter comes back, too.
    pub(crate) async fn reload(&self) -> (Reloaded, Vec<SecurityError>) {
        // Connections with a certificate end when the others are read, and whoever comes back shows theirs to the new ones.
        let certificates = self.tls.as_ref().and_then(|tls| tls.reload().err());
        let mut broken = self.auth.reload().await;
        broken.extend(certificates);
        (self.reload_documents().await, broken)
    }

    /// Reads the watched files again.
    pub(crate) async fn reload_documents(&self) -> Reloaded {
        let result = self.writer.reload().await;
        self.metrics.reloaded(result);
        result
    }

    /// All numbers, as Prometheus reads them.
    pub(crate) fn numbers(&self, sizes: Sizes) -> String {
        let (view, problem) = (self.live.view(), self.folders.problem());
        let head = *self.store.follow().borrow();
        let staleness = self.freshness.staleness();
        let (held, problem) = (self.gate.clients.held(), problem.as_deref());
        self.metrics.text(&ServerState { view: &view, head, staleness, held, problem, sizes })
    }
}

/// As handlers get it.
pub(crate) type Shared = Arc<App>;
