//! The types of policies that kgateway knows, and how their documents are read.

use crate::gateways::gateway_api::claim::{GATEWAY, KGATEWAY};

/// A type of policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PolicyType {
    /// `BackendConfigPolicy`: how backends are called.
    BackendConfig,
    /// `BackendTLSPolicy` of the Gateway API: how backends are trusted.
    BackendTls,
    /// `DirectResponse`: an answer instead of a backend.
    DirectResponse,
    /// `HTTPListenerPolicy`, which `ListenerPolicy` has replaced.
    HttpListener,
    /// `ListenerPolicy`: how gateways listen.
    Listener,
    /// `TrafficPolicy`: what happens to requests.
    Traffic,
}

impl PolicyType {
    /// All of them, by name.
    pub const ALL: [Self; 6] = [
        Self::BackendConfig,
        Self::BackendTls,
        Self::DirectResponse,
        Self::HttpListener,
        Self::Listener,
        Self::Traffic,
    ];

    /// The one whose documents are read in a way, by the word that kinds have for it.
    pub fn read_as(reader: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.reader() == reader)
    }

    /// The word for how its documents are read.
    pub const fn reader(self) -> &'static str {
        match self {
            Self::BackendConfig => "kgateway-backend",
            Self::BackendTls => "backend-tls",
            Self::DirectResponse => "kgateway-direct-response",
            Self::HttpListener => "kgateway-http-listener",
            Self::Listener => "kgateway-listener",
            Self::Traffic => "kgateway-traffic",
        }
    }

    /// The name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BackendConfig => "BackendConfigPolicy",
            Self::BackendTls => "BackendTLSPolicy",
            Self::DirectResponse => "DirectResponse",
            Self::HttpListener => "HTTPListenerPolicy",
            Self::Listener => "ListenerPolicy",
            Self::Traffic => "TrafficPolicy",
        }
    }

    /// Whether it is about connections, which all plain listeners of a port share.
    pub const fn is_about_connections(self) -> bool {
        matches!(self, Self::HttpListener | Self::Listener)
    }

    /// The API group.
    pub const fn group(self) -> &'static str {
        match self {
            Self::BackendTls => GATEWAY,
            Self::BackendConfig | Self::DirectResponse | Self::HttpListener | Self::Listener | Self::Traffic => {
                KGATEWAY
            }
        }
    }
}
