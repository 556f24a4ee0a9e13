//! Pages for people. A page is made of what a program gets to the same question: handlers here ask the endpoints of this server in the
//! name of whoever looks, by the same way in, and never anything else. So who may see what is decided in one place.
//!
//! ```text
//! address ──▶ words ──▶ POST /v1/explain (as the reader) ──▶ JSON ──▶ upheld_pages ──▶ HTML
//! ```

mod browse;
mod edit;
mod history;
mod inspect;
pub(super) mod session;
mod visit;

use axum::Router;
use axum::extract::{Path, State};
use axum::handler::Handler;
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use upheld_pages::{FOLDER, asset};

use self::visit::Site;
use crate::app::Shared;

/// All pages, over the endpoints that they ask.
pub(super) fn router(app: Shared, api: Router) -> Router {
    let site = Site { app, api };
    let page = |path: &str, shown: MethodRouter<Site>| (path.to_owned(), shown);
    let pages = [
        page("/", read(browse::home, &site)),
        page("/ask", read(inspect::ask, &site)),
        page("/connection", read(inspect::connection, &site)),
        page("/connections", read(inspect::connections, &site)),
        page("/layers", read(inspect::any, &site)),
        page("/explain", read(inspect::any, &site)),
        page("/gateway", read(inspect::gateway, &site)),
        page("/gateway/map.svg", read(inspect::map, &site)),
        page("/access", read(inspect::access, &site)),
        page("/compliance", read(inspect::compliance, &site)),
        page("/policies", read(browse::policies, &site)),
        page("/objects", read(browse::objects, &site)),
        page("/search", read(browse::search, &site)),
        page("/find", read(browse::find, &site)),
        page("/policy/{kind}/{scope}/{*name}", read(browse::policy, &site)),
        page("/object/{kind}/{scope}/{*name}", read(browse::object, &site)),
        page("/edit/{sort}/{kind}/{scope}/{*name}", read(edit::form, &site).merge(post(edit::sent))),
        page("/kinds", read(browse::kinds, &site)),
        page("/codes", read(browse::codes, &site)),
        page("/codes/{code}", read(browse::code, &site)),
        page("/learn", read(browse::lessons, &site)),
        page("/learn/{lesson}", read(browse::lesson, &site)),
        page("/diagnostics", read(browse::diagnostics, &site)),
        page("/history", read(history::history, &site)),
        page("/changes", read(history::changes, &site)),
        page("/findings", read(browse::findings, &site)),
        page("/sign-in", read(session::form, &site).merge(post(session::sign_in))),
        page("/sign-out", post(session::sign_out)),
        page("/pages/theme", get(session::theme)),
        page(session::EVENTS, get(session::events)),
    ];
    let pages = pages.into_iter().fold(Router::new(), |router, (path, shown)| router.route(&path, shown));
    let pages = pages.layer(from_fn_with_state(site.clone(), session::keep));
    pages.route(&format!("{FOLDER}/{{name}}"), get(file)).with_state(site)
}

/// A page that is read. Whoever comes to its address in another way is answered as before there were pages.
fn read<H: Handler<T, Site>, T: 'static>(handler: H, site: &Site) -> MethodRouter<Site> {
    get(handler).fallback_service(site.api.clone())
}

/// The style sheet, the script and the icon. Their names change with them, so they never do.
async fn file(State(_): State<Site>, Path(name): Path<String>) -> Response {
    match asset(&name) {
        Some(found) => {
            let headers = [
                (header::CONTENT_TYPE, found.media_type),
                (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
                (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            ];
            (headers, found.text).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
