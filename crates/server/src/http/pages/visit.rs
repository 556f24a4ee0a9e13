//! Somebody who looks at a page: what they ask for, and the endpoints asked in their name.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value as Json, json};
use tower::ServiceExt;
use upheld_pages::{Address, Around, Health, Medium, Page, Reader, Section, problem};

use super::super::stamp::Told;
use super::session;
use crate::app::Shared;
use crate::auth::Secret;
use crate::connection::Connection;

/// What all pages share.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) app: Shared,
    /// The endpoints, with the way in before them.
    pub(super) api: Router,
}

/// The cookie that has their choice of light or dark.
pub(super) const THEME: &str = "upheld-theme";

/// The mesh in which names are looked for, and the editions of the rules: chosen beside the question.
pub(super) const MESH: &str = "mesh";
pub(super) const SEMANTICS: &str = "semantics";

/// What pages may load and do: their own files, and nothing that stands in them.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; \
                      img-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Headers of a reader that are not about what a page asks in their name.
const OWN: [HeaderName; 11] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::COOKIE,
    header::IF_MATCH,
    header::IF_NONE_MATCH,
    header::RANGE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// A request for a page.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    site: Site,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    connection: Option<Connection>,
    /// The token of whoever signed in.
    token: Option<Secret>,
    /// The query, in its order.
    pub(super) query: Vec<(String, String)>,
    /// What is wrong with files, as far as they may know.
    broken: Vec<Json>,
}

impl FromRequestParts<Site> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, Infallible> {
        let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let mut visit = Self {
            site: site.clone(),
            uri: parts.uri.clone(),
            headers: parts.headers.clone(),
            connection: parts.extensions.get::<Connection>().cloned(),
            token: None,
            query: query.map(|Query(pairs)| pairs).unwrap_or_default(),
            broken: Vec::new(),
        };
        visit.token = session::token(&visit.app().config, visit.app().auth.sessions(), &visit.headers);
        if visit.app().folders.problem().is_some()
            && let Ok(ready) = visit.get(Address::of("/readyz")).await
        {
            visit.broken = ready.list("diagnostics").to_vec();
        }
        Ok(visit)
    }
}

/// What is wanted of an endpoint.
#[derive(Debug)]
pub(super) struct Wish {
    pub(super) method: Method,
    pub(super) body: Body,
    pub(super) content_type: &'static str,
    pub(super) accept: &'static str,
    /// What must be so, or nothing happens.
    pub(super) condition: Option<(HeaderName, HeaderValue)>,
}

impl Default for Wish {
    fn default() -> Self {
        let json = "application/json";
        Self { method: Method::GET, body: Body::empty(), content_type: json, accept: json, condition: None }
    }
}

/// What an endpoint said.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) status: StatusCode,
    headers: HeaderMap,
    bytes: Bytes,
    /// As JSON; null where it is none.
    pub(super) json: Json,
}

impl Said {
    /// As it was said, for programs.
    pub(super) fn unchanged(self) -> Response {
        let mut response = (self.status, self.bytes).into_response();
        *response.headers_mut() = self.headers;
        for name in [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION] {
            response.headers_mut().remove(name);
        }
        response
    }

    /// A list that it has.
    pub(super) fn list(&self, name: &str) -> &[Json] {
        self.json.get(name).and_then(Json::as_array).map_or(&[], Vec::as_slice)
    }

    fn header(&self, name: &str) -> Option<String> {
        self.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    }

    /// A problem that no endpoint said.
    pub(super) fn problem(status: StatusCode, detail: &str) -> Self {
        let title = status.canonical_reason().unwrap_or_default();
        let json = json!({"title": title, "status": status.as_u16(), "detail": detail});
        let headers =
            HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"))]);
        Self { status, headers, bytes: Bytes::from(json.to_string()), json }
    }
}

impl Visit {
    pub(super) fn app(&self) -> &Shared {
        &self.site.app
    }

    /// The first value of a name in the query.
    pub(super) fn value(&self, name: &str) -> &str {
        self.query.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.trim())
    }

    /// Whether a program asks: it names formats and not ours, or says so in the address.
    pub(super) fn wants_data(&self) -> bool {
        match self.value("format") {
            "json" => true,
            _ => !self.accepts_html() && self.accept() != "" && !self.accept().contains("*/*"),
        }
    }

    /// Whether a browser asks.
    pub(super) fn accepts_html(&self) -> bool {
        self.accept().contains("text/html")
    }

    fn accept(&self) -> &str {
        self.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// All values of a name in the query.
    pub(super) fn values(&self, name: &str) -> Vec<String> {
        let own = self.query.iter().filter(|(known, value)| known == name && !value.trim().is_empty());
        own.map(|(_, value)| value.trim().to_owned()).collect()
    }

    /// The words of the question: all of the query that is not about the page.
    pub(super) fn words(&self) -> Json {
        words(&self.query)
    }

    /// The words of a question with where and by which editions it is asked, as addresses and commands have them.
    pub(super) fn asked(&self, words: &Json) -> Json {
        let mut asked = words.clone();
        let chosen = [MESH, SEMANTICS].map(|name| (name, self.value(name)));
        if let Some(fields) = asked.as_object_mut() {
            let chosen = chosen.into_iter().filter(|(_, value)| !value.is_empty());
            fields.extend(chosen.map(|(name, value)| (name.to_owned(), json!(value))));
        }
        asked
    }

    /// The words of another question, as an address has them.
    pub(super) fn words_of(query: &str) -> Json {
        words(&pairs(query))
    }

    /// The address of an endpoint, asked where and by which editions another address asks.
    pub(super) fn chosen_as(query: &str, endpoint: &str) -> Address {
        let chosen = pairs(query).into_iter().filter(|(name, _)| [MESH, SEMANTICS].contains(&name.as_str()));
        chosen.fold(Address::of(endpoint), |address, (name, value)| address.with(&name, &value))
    }

    /// Reads something of an endpoint, as the reader.
    pub(super) async fn get(&self, address: Address) -> Result<Said, Said> {
        self.ask(Wish::default(), address).await
    }

    /// Asks an endpoint something, as the reader.
    pub(super) async fn post(&self, address: Address, body: &Json) -> Result<Said, Said> {
        let body = Body::from(body.to_string());
        self.ask(Wish { method: Method::POST, body, ..Wish::default() }, address).await
    }

    /// What an endpoint says; whatever is no success is the error.
    pub(super) async fn ask(&self, wish: Wish, address: Address) -> Result<Said, Said> {
        /// No answer of ours is larger, but for pictures of the world.
        const LARGEST: usize = 256 * 1024 * 1024;
        let address = ["at", SEMANTICS].iter().fold(address, |address, name| address.with(name, self.value(name)));
        let response = self.pass_on(wish, &address).await;
        let (mut parts, body) = response.into_parts();
        let Ok(bytes) = to_bytes(body, LARGEST).await else {
            return Err(Said::problem(StatusCode::INTERNAL_SERVER_ERROR, "the answer was not finished"));
        };
        let told = parts.extensions.remove::<Told>().and_then(|Told(told)| Arc::try_unwrap(told).ok());
        let json = told.unwrap_or_else(|| serde_json::from_slice(&bytes).unwrap_or_default());
        let said = Said { status: parts.status, headers: parts.headers, bytes, json };
        if said.status.is_success() { Ok(said) } else { Err(said) }
    }

    /// The answer of an endpoint as it comes, however long that takes.
    pub(super) async fn pass_on(&self, wish: Wish, address: &Address) -> Response {
        let Wish { method, body, content_type, accept, condition } = wish;
        let mut request = Request::new(body);
        *request.method_mut() = method;
        let Ok(uri) = address.to_string().parse::<Uri>() else {
            return Said::problem(StatusCode::BAD_REQUEST, "this is no address").unchanged();
        };
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.extend(
            self.headers
                .iter()
                .filter(|(name, _)| !OWN.contains(name))
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        headers.extend(condition);
        // The name that a reader calls this server by says whether they mean it.
        if let Some(authority) = self.uri.authority()
            && let Ok(host) = HeaderValue::from_str(authority.as_str())
        {
            headers.insert(header::HOST, host);
        }
        if let Some(token) = self.token.as_ref().filter(|_| !self.headers.contains_key(header::AUTHORIZATION))
            && let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {}", token.reveal()))
        {
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        if let Some(connection) = &self.connection {
            request.extensions_mut().insert(connection.clone());
        }
        let Ok(response) = self.site.api.clone().oneshot(request).await;
        response
    }

    /// The request as it came, to the endpoints: for those who are no browsers.
    pub(super) async fn as_before(&self) -> Response {
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        if let Some(connection) = &self.connection {
            request.extensions_mut().insert(connection.clone());
        }
        let Ok(response) = self.site.api.clone().oneshot(request).await;
        response
    }

    fn cookie(&self, name: &str) -> Option<&str> {
        session::cookie_of(&self.headers, name)
    }

    /// A page that says what an endpoint said; programs get that itself.
    pub(super) fn shows(&self, page: &Page, said: Said, command: Option<String>) -> Response {
        if self.wants_data() {
            return said.unchanged();
        }
        let around = Around {
            command,
            json: Some(self.with("format", "json")),
            revision: said.header("upheld-revision"),
            digest: said.header("upheld-digest"),
            semantics: said.header("upheld-semantics"),
            ..self.around()
        };
        html(StatusCode::OK, page, &around)
    }

    /// A problem as a page.
    pub(super) fn refused(&self, section: Section, said: Said) -> Response {
        let page = problem(section, &said.json, &self.address());
        self.refuses(&page, said)
    }

    /// A page that says why there is no answer; programs get that itself.
    pub(super) fn refuses(&self, page: &Page, said: Said) -> Response {
        if self.wants_data() {
            return said.unchanged();
        }
        let mut response = html(said.status, page, &self.around());
        for name in [header::RETRY_AFTER, header::WWW_AUTHENTICATE] {
            if let Some(value) = said.headers.get(&name) {
                response.headers_mut().insert(name, value.clone());
            }
        }
        response
    }

    /// A page that no endpoint was asked for.
    pub(super) fn plain(&self, status: StatusCode, page: &Page) -> Response {
        html(status, page, &self.around())
    }

    fn around(&self) -> Around {
        Around {
            medium: Medium::Served,
            address: self.address(),
            health: if self.app().folders.problem().is_some() { Health::LastGood } else { Health::Current },
            broken: self.broken.clone(),
            reader: if self.token.is_some() { Reader::SignedIn } else { Reader::Anonymous },
            theme: self.cookie(THEME).filter(|theme| ["light", "dark"].contains(theme)).map(str::to_owned),
            ..Around::default()
        }
    }

    /// The address of the page, as this server knows it.
    pub(super) fn address(&self) -> String {
        self.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string)
    }

    fn with(&self, name: &str, value: &str) -> String {
        let mark = if self.uri.query().is_some() { '&' } else { '?' };
        format!("{}{mark}{name}={value}", self.address())
    }

    /// How commands name this server.
    pub(super) fn server(&self) -> String {
        let config = &self.app().config;
        config.public_url.clone().unwrap_or_else(|| config.own_url())
    }
}

fn pairs(query: &str) -> Vec<(String, String)> {
    let uri = format!("/?{query}").parse::<Uri>().unwrap_or_default();
    Query::try_from_uri(&uri).map(|Query(pairs)| pairs).unwrap_or_default()
}

/// What of a query is a question.
fn words(query: &[(String, String)]) -> Json {
    const PAGE: [&str; 8] = ["at", "minRevision", SEMANTICS, MESH, "format", "without", "was", "everywhere"];
    const LISTS: [&str; 5] = ["header", "subject", "action", "resource", "env"];
    let mut words = Map::new();
    let said = query.iter().map(|(name, value)| (name, value.trim()));
    for (name, value) in said.filter(|(name, value)| !value.is_empty() && !PAGE.contains(&name.as_str())) {
        let value = match name.as_str() {
            "port" => value.parse::<u16>().map_or_else(|_| json!(value), |port| json!(port)),
            "allPairs" => json!(value == "true"),
            "request" => serde_json::from_str(value).unwrap_or_else(|_| json!(value)),
            _ => json!(value),
        };
        match words.get_mut(name) {
            Some(Json::Array(all)) => all.push(value),
            // A word that is said twice is refused by whoever reads it.
            Some(known) => *known = json!([known.take(), value]),
            None if LISTS.contains(&name.as_str()) => drop(words.insert(name.clone(), json!([value]))),
            None => drop(words.insert(name.clone(), value)),
        }
    }
    Json::Object(words)
}

/// A page, with what guards it.
fn html(status: StatusCode, page: &Page, around: &Around) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // The question is in the address, and is nobody else's business.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "private, no-cache"),
        (header::VARY, "accept, cookie"),
    ];
    (status, headers, page.document(around)).into_response()
}

/// Leads on to another page.
pub(super) fn to(address: &Address) -> Response {
    let value = HeaderValue::from_str(&address.to_string()).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, value)]).into_response()
}
