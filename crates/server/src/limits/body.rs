//! Bodies: whole, small enough, and soon enough, before anybody works on them.

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use axum::http::request::Parts;
use bytes::BytesMut;
use http_body_util::BodyExt;

use super::clients::{Held, Whose};
use super::within;
use crate::app::Shared;
use crate::auth::{Endpoint, Form};
use crate::connection::Connection;
use crate::problem::Problem;

/// The body of a request of somebody, read up to so many bytes.
pub(crate) async fn whole_body(
    app: &Shared,
    parts: &Parts,
    body: Body,
    endpoint: Endpoint,
    (whose, most): (Whose, usize),
) -> Result<(Body, Option<Held>), Problem> {
    // Messages of gRPC have limits of their own, and may come one by one for as long as they like.
    if endpoint.form == Form::Grpc || body.is_end_stream() {
        return Ok((body, None));
    }
    let limits = &app.config.limits;
    let held = room(parts, &body, most, whose)?;
    let whole = within(parts.extensions.get(), limits.body_time, read(body, most)).await;
    whole.map_or_else(
        || {
            let detail = format!("the body did not come within {} s", limits.body_time.as_secs_f32());
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "slow-body", detail))
        },
        |read| read.map(|read| (Body::from(read), held)),
    )
}

/// Bytes that need no room of their own.
const SMALL: u64 = 64 * 1024;

/// Room for a body that is large, or may become so; what is too large is refused elsewhere.
fn room(parts: &Parts, body: &Body, most: usize, whose: Whose) -> Result<Option<Held>, Problem> {
    let announced = body.size_hint().upper().unwrap_or(u64::MAX).min(u64::try_from(most).unwrap_or(u64::MAX));
    let Some(connection) = parts.extensions.get::<Connection>().filter(|_| announced > SMALL) else { return Ok(None) };
    let held = connection.client().bytes(whose, usize::try_from(announced).unwrap_or(most));
    let detail = "too many large bodies are on their way; try again in a moment";
    held.map(Some).ok_or_else(|| Problem::unavailable(detail))
}

async fn read(mut body: Body, most: usize) -> Result<Bytes, Problem> {
    let too_large = || {
        let detail =
            format!("a body has at most {most} bytes: send it in parts, or let the server take more (`--max-body`)");
        Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", detail))
    };
    // Who says that it is too large need not send it.
    if body.size_hint().lower() > u64::try_from(most).unwrap_or(u64::MAX) {
        return too_large();
    }
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::bad_request("the body ended early"))?;
        let Ok(data) = frame.into_data() else { continue };
        if first.len() + whole.len() + data.len() > most {
            return too_large();
        }
        // Most bodies come in one piece, which is not copied. Many small pieces must not take more than they are.
        if first.is_empty() && whole.is_empty() {
            first = data;
        } else {
            whole.extend_from_slice(&std::mem::take(&mut first));
            whole.extend_from_slice(&data);
        }
    }
    Ok(if whole.is_empty() { first } else { whole.freeze() })
}
