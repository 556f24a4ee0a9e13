//! Questions of proxies that come to another address than theirs. An answer of 200 lets a request go on, and pages and endpoints answer 200 to
//! much; so a proxy that asks at the wrong address would let everybody in.

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use super::forward;
use crate::problem::Problem;

/// Headers in which proxies say which request waits. No proxy sets them in requests of its clients by itself.
const WAITING: [&str; 4] = ["x-original-uri", "x-original-method", "x-forwarded-uri", "x-forwarded-method"];

/// The refusal of a question that belongs to `/forward-auth`, if this is one.
pub(super) fn refusal(headers: &HeaderMap) -> Option<Response> {
    let named = WAITING.into_iter().find(|name| headers.contains_key(*name));
    let detail = match named {
        Some(named) => format!(
            "the header {named} asks about another request, and such questions are answered at /forward-auth only. Let the proxy ask \
             there; if it only passes on your own request, let it remove {named}"
        ),
        None if is_from_envoy(headers) => {
            "Envoy asks about another request, and such questions are answered at /forward-auth only. Set `path_prefix: /forward-auth` in \
             `http_service`"
                .to_owned()
        }
        None => return None,
    };
    tracing::warn!(problem = detail, "a proxy asks at another address than /forward-auth");
    let mut refusal = Problem::new(StatusCode::FORBIDDEN, "misdirected-question", detail.as_str()).into_response();
    forward::say_undecided(&detail, refusal.headers_mut());
    Some(refusal)
}

/// Whether Envoy's external authorization asks. Requests that Envoy makes by itself say that they are internal, and have no scheme of a
/// client. Requests of clients have one, and its health checks say neither.
fn is_from_envoy(headers: &HeaderMap) -> bool {
    let has = |name: &str| headers.contains_key(name);
    has("x-envoy-internal") && has("x-envoy-expected-rq-timeout-ms") && !has("x-forwarded-proto")
}
