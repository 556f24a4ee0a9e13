//! What the framework takes by itself.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// About as long as a decision.
const ANSWER: &str = r#"{"decision":"permit","policy":"policy-1234","apiVersion":"upheld/v1","revision":1,"digest":"0123456789012345678901234567890123456789012345678901234567890123","semantics":["kuma/0.3","kuma/2"]}"#;

/// Serves a handler that reads the body and answers the same each time.
pub(super) fn serve(runtime: &Runtime) -> Result<SocketAddr, String> {
    let handler = |body: Bytes| async move {
        std::hint::black_box(body);
        ([(CONTENT_TYPE, "application/json")], ANSWER)
    };
    let router = Router::new().fallback(handler);
    let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0))).map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    runtime.spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}
