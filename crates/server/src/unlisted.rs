//! A server that does not listen: it is asked without a network, for simulations and long fuzz runs.
//!
//! Not part of the interface.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Collected};
use tower::ServiceExt;

use crate::config::{Config, Limits};
use crate::connection::Connection;
use crate::http;
use crate::limits::Clients;
use crate::serve::{Begun, Opened, StartError};

/// A server without an address of its own.
#[derive(Debug)]
pub struct Unlisted {
    router: Router,
    _begun: Begun,
}

/// What it answers, to the end.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers, and the trailers with them.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// Where requests seem to come from.
const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7);

/// A body that takes longer is a stream of events, which has no end.
const ENDLESS: Duration = Duration::from_secs(1);

impl Unlisted {
    /// Opens the store, reads everything, and is ready to be asked.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        let opened = Opened::open(config).await?;
        let begun = opened.begin(CLIENT).await?;
        Ok(Self { router: http::router(std::sync::Arc::clone(&begun.app)), _begun: begun })
    }

    /// Asks it, as over a connection of this machine.
    pub async fn ask(&self, mut request: Request<Body>) -> Result<Answer, String> {
        let client = Clients::new(&Limits::default()).connect(CLIENT.ip()).ok_or("there is no place")?;
        request.extensions_mut().insert(Connection::new(CLIENT, None, client));
        let Ok(response) = self.router.clone().oneshot(request).await;
        let (parts, body) = response.into_parts();
        let Ok(body) = tokio::time::timeout(ENDLESS, body.collect()).await else {
            return Ok(Answer { status: parts.status, headers: parts.headers, body: Bytes::new() });
        };
        let body: Collected<Bytes> = body.map_err(|error| error.to_string())?;
        let mut headers = parts.headers;
        headers.extend(body.trailers().cloned().unwrap_or_default());
        Ok(Answer { status: parts.status, headers, body: body.to_bytes() })
    }
}
