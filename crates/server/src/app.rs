//! What all handlers share.

use std::sync::Arc;

use upheld_store::Store;

use crate::auth::Auth;
use crate::config::Config;
use crate::folders::Folders;
use crate::limits::Gate;
use crate::live::Live;
use crate::tls::Tls;
use crate::writer::Writer;

/// One server.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) live: Arc<Live>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) writer: Writer,
    pub(crate) folders: Arc<Folders>,
    pub(crate) auth: Auth,
    pub(crate) gate: Gate,
    pub(crate) tls: Option<Tls>,
}

impl App {
    /// Reads all files again: those with documents, tokens, rights, keys and certificates.
    pub(crate) async fn reload(&self) {
        self.auth.reload().await;
        if let Some(tls) = &self.tls {
            tls.reload();
        }
        self.writer.reload().await;
    }
}

/// As handlers get it.
pub(crate) type Shared = Arc<App>;
