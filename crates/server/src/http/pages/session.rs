//! Who reads: signing in and out with a token, and the choice of light or dark. A session is kept in a cookie that no script reads and that
//! only these pages take; endpoints never look at it, so no page of others can use it.

use std::time::Duration;

use axum::Form;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use serde::Deserialize;
use upheld_pages::{Address, sign_in as asked};
use upheld_store::machine;

use super::visit::{Said, Site, THEME, Visit, Wish, cookie as request_cookie};
use crate::auth::{NoSession, Session, Sessions};
use crate::config::Config;
use crate::problem::Problem;

/// Where pages hear of news.
pub(super) const EVENTS: &str = "/pages/events";

/// Where one says who one is.
pub(super) async fn form(visit: Visit) -> Response {
    visit.plain(StatusCode::OK, &asked(local(visit.value("next")), None))
}

/// Whether somebody says at a path who they are, or who they are no more.
pub(in super::super) fn is_about_sessions(path: &str) -> bool {
    matches!(path, "/sign-in" | "/sign-out")
}

/// The session that a browser keeps, if it is not too old.
pub(in super::super) fn session_of(config: &Config, sessions: &Sessions, headers: &HeaderMap) -> Option<Session> {
    sessions.open_sealed(request_cookie(headers, cookie_name(config))?, machine::now())
}

/// What a form sends that changes something.
pub(super) struct Sent<T> {
    pub(super) visit: Visit,
    pub(super) said: T,
}

impl<T: for<'de> Deserialize<'de>> FromRequest<Site> for Sent<T> {
    type Rejection = Response;

    /// Only forms of our own pages are read: a browser says of which page a form is.
    async fn from_request(request: Request, site: &Site) -> Result<Self, Response> {
        /// No form of ours is larger, and nobody takes longer to send one.
        const LARGEST: usize = 2 * 1024 * 1024;
        const LONGEST: Duration = Duration::from_secs(10);
        let (mut parts, body) = request.into_parts();
        let Ok(visit) = Visit::from_request_parts(&mut parts, site).await;
        if !is_ours(&visit) {
            let detail = "this form is not of a page of this server";
            return Err(visit.refused(upheld_pages::Section::Ask, Said::problem(StatusCode::FORBIDDEN, detail)));
        }
        let read = tokio::time::timeout(LONGEST, to_bytes(body, LARGEST)).await;
        let unread = || Problem::bad_request("the form cannot be read").into_response();
        let bytes = read.map_err(|_| unread())?.map_err(|_| unread())?;
        let form = Request::from_parts(parts, Body::from(bytes));
        let Form(said) = Form::from_request(form, site).await.map_err(|_| unread())?;
        Ok(Self { visit, said })
    }
}

/// Whether a request that changes something comes from a page of this server.
fn is_ours(visit: &Visit) -> bool {
    let get = |name: &str| visit.headers.get(name).and_then(|value| value.to_str().ok());
    let host = visit.uri.authority().map(axum::http::uri::Authority::as_str).or(get("host")).unwrap_or_default();
    let public = visit.app().config.public_url.as_deref().map(|url| url.trim_end_matches('/'));
    let by_origin = get("origin").is_some_and(|origin| {
        let named = origin.split_once("://").map(|(_, named)| named);
        named.is_some_and(|named| named.eq_ignore_ascii_case(host)) || public == Some(origin)
    });
    by_origin && get("sec-fetch-site").is_none_or(|site| site == "same-origin")
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SignIn {
    token: String,
    next: String,
}

/// Begins a session of a token that is accepted.
pub(super) async fn sign_in(Sent { mut visit, said: SignIn { token, next } }: Sent<SignIn>) -> Response {
    let token = token.trim();
    let next = local(&next).to_owned();
    // Nothing that means something in a cookie is in a token.
    let plain =
        !token.is_empty() && token.chars().all(|letter| letter.is_ascii_alphanumeric() || "-._~+/=".contains(letter));
    let bearer = HeaderValue::from_str(&format!("Bearer {token}")).ok().filter(|_| plain);
    let Some(bearer) = bearer else {
        return visit.plain(StatusCode::UNAUTHORIZED, &asked(&next, Some("This is not a token.")));
    };
    // Whoever signs in anew leaves the session before.
    let before = visit.session.take();
    visit.headers.remove(header::COOKIE);
    visit.headers.insert(header::AUTHORIZATION, bearer);
    if let Err(said) = visit.get(Address::of("/v1/kinds").with("limit", "1")).await
        && said.status == StatusCode::UNAUTHORIZED
    {
        let detail = said
            .json
            .get("detail")
            .and_then(serde_json::Value::as_str)
            .unwrap_or("the token is not known here")
            .to_owned();
        visit.headers.remove(header::AUTHORIZATION);
        return visit.plain(StatusCode::UNAUTHORIZED, &asked(&next, Some(&detail)));
    }
    let (sessions, now) = (visit.app().auth.sessions(), machine::now());
    match Session::begin(token, now).and_then(|session| Ok((sessions.sealed(&session)?, session))) {
        Ok((sealed, session)) => {
            if let Some(before) = before {
                sessions.end(&before, visit.app().store.as_ref(), now).await;
            }
            leads(&next, &session_cookie(&visit.app().config, &sealed, session.left(now)))
        }
        Err(NoSession::TooLong) => {
            let detail =
                "This token is too long: no browser keeps a session of it. Sign in with one that has fewer claims.";
            visit.plain(StatusCode::BAD_REQUEST, &asked(&next, Some(detail)))
        }
        Err(NoSession::Unsealed) => {
            let detail = "No session can begin just now.";
            visit.plain(StatusCode::INTERNAL_SERVER_ERROR, &asked(&next, Some(detail)))
        }
    }
}

/// Ends the session: whoever has a copy of its cookie cannot use it any more.
pub(super) async fn sign_out(Sent { visit, said: () }: Sent<()>) -> Response {
    let app = visit.app();
    if let Some(session) = &visit.session {
        app.auth.sessions().end(session, app.store.as_ref(), machine::now()).await;
    }
    leads("/", &session_cookie(&app.config, "", Duration::ZERO))
}

/// Finds the session of a request, and notes that it is used: its cookie then says so.
pub(super) async fn keep(State(site): State<Site>, mut request: Request, next: Next) -> Response {
    let (app, now) = (site.app, machine::now());
    let sessions = app.auth.sessions();
    let Some(session) = session_of(&app.config, sessions, request.headers()) else { return next.run(request).await };
    if !sessions.is_open(&session, app.store.as_ref()).await {
        return next.run(request).await;
    }
    // News come without anybody asking for them.
    let used = session.used(now).filter(|_| request.uri().path() != EVENTS);
    request.extensions_mut().insert(session);
    let mut response = next.run(request).await;
    if let Some(used) = used.filter(|_| !response.headers().contains_key(header::SET_COOKIE))
        && let Ok(sealed) = sessions.sealed(&used)
        && let Ok(cookie) = HeaderValue::from_str(&session_cookie(&app.config, &sealed, used.left(now)))
    {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Light or dark, for a year.
pub(super) async fn theme(visit: Visit) -> Response {
    let theme = if visit.value("theme") == "dark" { "dark" } else { "light" };
    leads(local(visit.value("next")), &cookie(&visit.app().config, THEME, theme, "SameSite=Strict; Max-Age=31536000"))
}

/// News, as whoever looks may hear it.
pub(super) async fn events(visit: Visit) -> Response {
    // A page that was away for long is told of the last revision, and not of all that it missed.
    let last = visit.app().live.view().revision().0.saturating_sub(1);
    let after = visit.value("after").parse::<u64>().map_or(String::new(), |after| after.max(last).to_string());
    let address = Address::of("/v1/events").with("only", "revision,files").with("after", &after);
    let response = visit.pass_on(Wish { accept: "text/event-stream", ..Wish::default() }, &address).await;
    let Some(session) = visit.session.clone() else { return response };
    // They end with the session.
    let app = visit.app().clone();
    let end = async move { app.auth.sessions().until_end(&session, app.store.as_ref(), machine::now()).await };
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(end))))
}

/// The cookie that has the session. Over an encrypted connection browsers see to it that no other host and no plain page can set it.
fn cookie_name(config: &Config) -> &'static str {
    if is_encrypted(config) { "__Host-upheld-session" } else { "upheld-session" }
}

fn session_cookie(config: &Config, session: &str, left: Duration) -> String {
    let rest = format!("HttpOnly; SameSite=Strict; Max-Age={}", left.as_secs());
    cookie(config, cookie_name(config), session, &rest)
}

fn is_encrypted(config: &Config) -> bool {
    config.security.tls.is_some() || config.public_url.as_deref().is_some_and(|url| url.starts_with("https:"))
}

fn cookie(config: &Config, name: &str, value: &str, rest: &str) -> String {
    let secure = if is_encrypted(config) { "; Secure" } else { "" };
    format!("{name}={value}; Path=/; {rest}{secure}")
}

fn leads(next: &str, cookie: &str) -> Response {
    let value = |text: &str| HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, value(next)), (header::SET_COOKIE, value(cookie))]).into_response()
}

/// A page of ours; whatever could lead elsewhere leads to the first.
fn local(next: &str) -> &str {
    let plain = next.starts_with('/')
        && !next.starts_with("//")
        && !next.contains('\\')
        && !next.contains(|letter: char| letter.is_control());
    if plain { next } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_led_elsewhere() {
        assert_eq!(local("/access?subject=a#b"), "/access?subject=a#b");
        for elsewhere in
            ["https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil", "", "/a\r\nb", "javascript:x"]
        {
            assert_eq!(local(elsewhere), "/", "{elsewhere}");
        }
    }
}
