//! What a proxy tells about a request, looked up.

use std::borrow::Cow;
use std::net::IpAddr;

use prost_types::Struct;
use upheld_model::Timestamp;

use super::proto::envoy::config::core::v3::address::Address;
use super::proto::envoy::service::auth::v3::attribute_context::{HttpRequest, Peer};
use super::proto::envoy::service::auth::v3::{AttributeContext, CheckRequest};
use crate::http::decide::now;

/// A request of HTTP, as a proxy tells of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attributes<'c> {
    context: &'c AttributeContext,
    http: &'c HttpRequest,
}

impl<'c> Attributes<'c> {
    /// Of a question, if it is about a request of HTTP.
    pub(super) fn of(check: &'c CheckRequest) -> Option<Self> {
        let context = check.attributes.as_ref()?;
        let http = context.request.as_ref()?.http.as_ref()?;
        Some(Self { context, http })
    }

    pub(super) fn method(self) -> &'c str {
        &self.http.method
    }

    /// The path as it was sent, without the query.
    pub(super) fn path(self) -> &'c str {
        self.http.path.split(['?', '#']).next().unwrap_or_default()
    }

    /// A header by its lower-case name; several of one name are joined, as proxies do.
    pub(super) fn header(self, name: &str) -> Option<Cow<'c, str>> {
        if let Some(value) = self.http.headers.get(name) {
            return Some(Cow::Borrowed(value));
        }
        let all = self.http.header_map.iter().flat_map(|map| &map.headers);
        let values = all.filter(|header| header.key.eq_ignore_ascii_case(name)).map(|header| {
            if header.raw_value.is_empty() {
                Cow::Borrowed(header.value.as_str())
            } else {
                String::from_utf8_lossy(&header.raw_value)
            }
        });
        values.reduce(|before, next| Cow::Owned(format!("{before},{next}")))
    }

    /// What the configuration of the route says.
    pub(super) fn extension(self, name: &str) -> Option<&'c str> {
        self.context.context_extensions.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// What a filter knows about the request.
    pub(super) fn metadata(self, filter: &str) -> Option<&'c Struct> {
        self.context.metadata_context.as_ref()?.filter_metadata.get(filter)
    }

    /// Whose certificate the peer of the proxy has shown.
    pub(super) fn principal(self) -> Option<&'c str> {
        self.source().map(|source| source.principal.as_str()).filter(|principal| !principal.is_empty())
    }

    /// The address of the peer of the proxy.
    pub(super) fn peer(self) -> Option<IpAddr> {
        match self.source()?.address.as_ref()?.address.as_ref()? {
            Address::SocketAddress(socket) => socket.address.parse().ok().map(|address: IpAddr| address.to_canonical()),
            Address::Pipe(_) => None,
        }
    }

    fn source(self) -> Option<&'c Peer> {
        self.context.source.as_ref()
    }

    /// The application: as the route says, or the proxy, or else the host. Clients write hosts in many ways; all of
    /// them are one here.
    pub(super) fn app(self) -> Cow<'c, str> {
        let service = || self.context.destination.as_ref().map(|destination| destination.service.as_str());
        if let Some(app) = self.extension("app").or_else(|| service().filter(|service| !service.is_empty())) {
            return Cow::Borrowed(app);
        }
        let host = self.http.host.as_str();
        let host = match host.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => host,
        };
        Cow::Owned(host.trim_end_matches('.').to_ascii_lowercase())
    }

    /// When it came. `None` if the proxy says a time that there is not.
    pub(super) fn time(self) -> Option<Timestamp> {
        let Some(time) = self.context.request.as_ref().and_then(|request| request.time) else { return Some(now()) };
        let nanoseconds = time.seconds.checked_mul(1_000_000_000)?.checked_add(i64::from(time.nanos))?;
        Some(Timestamp(nanoseconds))
    }
}
