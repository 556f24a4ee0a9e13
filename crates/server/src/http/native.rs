//! The APIs of original systems, as dialects declare them: every `GET` below their prefix, with their own bodies.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use serde_json::{Value as Json_, json};
use upheld_dialects::dialect::{Endpoint, Native};
use upheld_dialects::natives;

use super::asked::{Asked, Visible};
use crate::app::Shared;
use crate::limits::heavy;

/// One of these APIs, for its handlers.
#[derive(Clone, Copy)]
struct Asks(&'static dyn Native);

pub(super) fn router() -> Router<Shared> {
    natives().fold(Router::new(), |router, native| {
        let prefix = native.prefix();
        let own = Router::new().route(prefix, any(get)).route(&format!("{prefix}/{{*path}}"), any(get));
        router.merge(own.layer(Extension(Asks(native))))
    })
}

/// The endpoints in the words of `OpenAPI`. How paths begin is all that the router knows of them.
pub(super) fn description() -> Json_ {
    let operations = natives().flat_map(|native| native.endpoints().iter().map(move |one| operation(native, one)));
    json!({"paths": operations.collect::<serde_json::Map<_, _>>()})
}

fn operation(native: &dyn Native, Endpoint { path, summary }: &Endpoint) -> (String, Json_) {
    let names = path.split(['{', '}']).skip(1).step_by(2);
    let parameters = names.map(
        |name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}}),
    );
    let answered = format!("As {} answers.", native.system());
    let operation = json!({
        "tags": [native.system()],
        "summary": summary,
        "parameters": parameters.collect::<Vec<_>>(),
        "responses": {
            "200": {"description": answered, "content": {"application/json": {"schema": {"type": "object"}}}},
            "404": {"description": "There is no such thing."},
        },
    });
    ((*path).to_owned(), json!({"get": operation}))
}

async fn get(
    State(app): State<Shared>,
    Extension(Asks(native)): Extension<Asks>,
    Visible(view): Visible,
    method: Method,
    uri: Uri,
) -> Response {
    if !matches!(method, Method::GET | Method::HEAD) {
        let mut response = problem(native, StatusCode::METHOD_NOT_ALLOWED, "this API is read-only");
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    let path = uri.path_and_query().map_or_else(String::new, ToString::to_string);
    // An answer may be about everything that there is.
    let asked = Arc::clone(&view);
    let answered = heavy(move || native.get(asked.inspected(native), &path)).await;
    match answered {
        Ok(Ok(mut body)) => {
            with_address(&mut body, &app.config.base_url());
            (Extension(Asked(view)), Json(body)).into_response()
        }
        Ok(Err(problem)) => {
            let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, Json(problem.body)).into_response()
        }
        Err(_) => problem(native, StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error"),
    }
}

/// The next page is named with the server that has it.
fn with_address(body: &mut Json_, base: &str) {
    if let Some(Json_::String(next)) = body.get_mut("next") {
        next.insert_str(0, base);
    }
}

fn problem(native: &dyn Native, status: StatusCode, detail: &str) -> Response {
    let title = status.canonical_reason().unwrap_or_default();
    (status, Json(native.problem(status.as_u16(), title, detail))).into_response()
}
