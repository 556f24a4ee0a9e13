//! Kuma's Inspect API: every `GET` below `/meshes/`, with Kuma's own bodies.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use serde_json::{Value as Json_, json};
use upheld_dialects::kuma::view;

use super::asked::Asked;
use crate::app::Shared;

pub(super) fn router() -> Router<Shared> {
    Router::new().route("/meshes", any(inspect)).route("/meshes/{*path}", any(inspect))
}

/// The endpoints in the words of `OpenAPI`. Paths are Kuma's; how they begin is all that the router knows of them.
pub(super) fn description() -> Json_ {
    let operation = |(path, words): (&str, &str)| {
        let names = path.split(['{', '}']).skip(1).step_by(2);
        let parameters = names.map(
            |name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}}),
        );
        let operation = json!({
            "tags": ["Kuma"],
            "summary": words,
            "parameters": parameters.collect::<Vec<_>>(),
            "responses": {
                "200": {"description": "As Kuma answers.", "content": {"application/json": {"schema": {"type": "object"}}}},
                "404": {"description": "There is no such mesh, proxy, policy or place."},
            },
        });
        (path.to_owned(), json!({"get": operation}))
    };
    json!({"paths": view::ENDPOINTS.into_iter().map(operation).collect::<serde_json::Map<_, _>>()})
}

async fn inspect(State(app): State<Shared>, Asked(view): Asked, method: Method, uri: Uri) -> Response {
    if !matches!(method, Method::GET | Method::HEAD) {
        let mut response = error(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed", "the Inspect API is read-only");
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    let path = uri.path_and_query().map_or_else(String::new, ToString::to_string);
    // An answer may be about all proxies of a mesh.
    let asked = Arc::clone(&view);
    let inspected = tokio::task::spawn_blocking(move || view::inspect(asked.inspected(), &path)).await;
    match inspected {
        Ok(Ok(mut body)) => {
            with_address(&mut body, &app.config.base_url());
            Json(body).into_response()
        }
        Ok(Err(problem)) => (status(problem.status()), Json(problem.body())).into_response(),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error", "Internal Server Error"),
    }
}

/// The next page is named with the server that has it.
fn with_address(body: &mut Json_, base: &str) {
    if let Some(Json_::String(next)) = body.get_mut("next") {
        next.insert_str(0, base);
    }
}

fn status(number: u16) -> StatusCode {
    StatusCode::from_u16(number).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn error(status: StatusCode, title: &str, detail: &str) -> Response {
    let body = json!({
        "type": "/std-errors", "status": status.as_u16(), "title": title, "detail": detail, "details": detail,
    });
    (status, Json(body)).into_response()
}
