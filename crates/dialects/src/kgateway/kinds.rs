//! The kinds of policies, and the semantics to choose from.

use crate::gateway_api::claim::{GATEWAY, KGATEWAY};
use crate::gateway_api::field_rules;

/// What a policy is about: its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
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

impl Subject {
    /// All of them, by name.
    pub const ALL: [Self; 6] = [
        Self::BackendConfig,
        Self::BackendTls,
        Self::DirectResponse,
        Self::HttpListener,
        Self::Listener,
        Self::Traffic,
    ];

    /// The one of a name.
    pub fn of(kind: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|subject| subject.kind() == kind)
    }

    /// The name of the kind.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::BackendConfig => "BackendConfigPolicy",
            Self::BackendTls => "BackendTLSPolicy",
            Self::DirectResponse => "DirectResponse",
            Self::HttpListener => "HTTPListenerPolicy",
            Self::Listener => "ListenerPolicy",
            Self::Traffic => "TrafficPolicy",
        }
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

    /// Whether it is about backends, and not about gateways or routes.
    pub const fn is_about_backends(self) -> bool {
        matches!(self, Self::BackendConfig | Self::BackendTls)
    }
}

/// Which rules hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Semantics {
    /// EP-11268 to the letter: age, then name; a policy of a listener goes before that of its Gateway on every protocol; only
    /// `TrafficPolicy` and built-in policies merge, and a lower policy of another kind never overwrites a higher one;
    /// Prefer-Parent and Prefer-Child hold for every field.
    Ep11268,
    /// What kgateway does in 2026.
    #[default]
    Current,
}

impl Semantics {
    /// By name.
    pub const ALL: [(&str, Self); 2] = [("kgateway/2026", Self::Current), ("kgateway/ep-11268", Self::Ep11268)];

    /// The one of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, semantics)| *semantics)
    }

    pub(super) const fn of_fields(self) -> field_rules::Semantics {
        match self {
            Self::Current => field_rules::Semantics::Code2026,
            Self::Ep11268 => field_rules::Semantics::Ep11268,
        }
    }

    /// How users call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Current => "kgateway/2026",
            Self::Ep11268 => "kgateway/ep-11268",
        }
    }
}
