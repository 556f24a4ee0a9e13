//! Requests that wait in a proxy: what it tells about them, and whom it is believed.
//!
//! - [`trust`]: who is believed, and what
//! - [`forward`]: nginx, Traefik, Caddy, and Envoy's HTTP service, in headers
//! - [`envoy`]: Envoy's gRPC service, in attributes

pub mod envoy;
pub mod forward;
pub mod trust;

pub use self::envoy::Attributes;
pub use self::forward::{Forwarded, Protocol};
pub use self::trust::{Headers, HeadersGiven, Trust};
