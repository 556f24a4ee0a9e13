//! Any bytes as requests over HTTP and gRPC.

use std::cell::OnceCell;

use axum::http::request::Builder;
use axum::http::{HeaderName, HeaderValue, Request};

use super::files::kept;
use super::targets::with_server;
use super::{ENDPOINTS, GRPC, Target};
use crate::config::{Config, Jwt, KeysLocation, Security};

/// How a request may begin; what would write says that it is only a try.
const METHODS: [&str; 6] = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE"];

/// The first byte says to which endpoint the others go.
pub(super) fn body(bytes: &[u8]) -> Result<(), String> {
    with_server(|target| target.check(bytes).map(drop))
}

/// As the message of a proxy.
pub(super) fn check_request(bytes: &[u8]) -> Result<(), String> {
    let place =
        ENDPOINTS.iter().position(|endpoint| endpoint.content == GRPC).and_then(|place| u8::try_from(place).ok());
    let place = place.ok_or("no endpoint takes gRPC")?;
    with_server(|target| target.check(&[&[place], bytes].concat()).map(drop))
}

/// As a request: a byte for the method, a line with the address, lines with headers, an empty line, the body.
pub(super) fn http(bytes: &[u8]) -> Result<(), String> {
    let Some((method, rest)) = bytes.split_first() else { return Ok(()) };
    let Some(method) = METHODS.get(usize::from(*method) % METHODS.len()) else { return Ok(()) };
    let (head, body) = halves(rest, b"\n\n");
    let (address, headers) = halves(head, b"\n");
    let Ok(address) = std::str::from_utf8(address) else { return Ok(()) };
    let separator = if address.contains('?') { '&' } else { '?' };
    let request = Request::builder().method(*method).uri(format!("{address}{separator}dryRun=true"));
    with_server(|target| target.check_request(with_headers(request, headers), body.to_vec()))
}

/// As the headers of a request that a proxy asks about.
pub(super) fn forward_auth(bytes: &[u8]) -> Result<(), String> {
    with_server(|target| target.check_request(with_headers(Request::get("/forward-auth"), bytes), Vec::new()))
}

thread_local! {
    static GUARDED: OnceCell<Result<Target, String>> = const { OnceCell::new() };
}

/// As the token of a caller, where tokens of an issuer count.
pub(super) fn web_token(bytes: &[u8]) -> Result<(), String> {
    let Ok(value) = HeaderValue::from_bytes(&[b"Bearer ", bytes].concat()) else { return Ok(()) };
    let start = || {
        let keys = KeysLocation::File(kept("keys.json", KEYS)?);
        let security = Security { jwt: Some(Jwt::new(keys, "upheld")), ..Security::default() };
        Target::start_with(Config { security, ..Config::default() })
    };
    GUARDED.with(|server| match server.get_or_init(start) {
        Ok(target) => target.check_request(Request::get("/v1/status").header("authorization", value), Vec::new()),
        Err(error) => Err(error.clone()),
    })
}

/// Public keys of an issuer that exists nowhere else.
const KEYS: &[u8] = include_bytes!("keys.json");

fn with_headers(request: Builder, lines: &[u8]) -> Builder {
    lines.split(|byte| *byte == b'\n').fold(request, |request, line| {
        let (name, value) = halves(line, b":");
        match (HeaderName::from_bytes(name), HeaderValue::from_bytes(value.trim_ascii())) {
            (Ok(name), Ok(value)) => request.header(name, value),
            _ => request,
        }
    })
}

/// What is before and behind a mark; nothing is behind it if it is not there.
fn halves<'b>(bytes: &'b [u8], mark: &[u8]) -> (&'b [u8], &'b [u8]) {
    let at = bytes.windows(mark.len()).position(|window| window == mark);
    let parts = at.and_then(|at| Some((bytes.get(..at)?, bytes.get(at + mark.len()..)?)));
    parts.unwrap_or((bytes, &[]))
}
