//! Requests as bytes, the same for all configurations.

use std::net::{IpAddr, Ipv4Addr};

use self::Sort::{Denied, Forged, Permitted};

/// What the policies say of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// It may go on.
    Permitted,
    /// It may not, or nobody can tell.
    Denied,
    /// The same, and the client says what only proxies may say.
    Forged,
}

/// A request.
pub(super) struct Request {
    pub(super) sort: Sort,
    pub(super) from: IpAddr,
    pub(super) line: &'static str,
    headers: &'static str,
}

/// An address that policies permit.
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// One that they deny.
const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

const fn here(sort: Sort, line: &'static str, headers: &'static str) -> Request {
    Request { sort, from: HERE, line, headers }
}

const fn elsewhere(sort: Sort, line: &'static str, headers: &'static str) -> Request {
    Request { sort, from: ELSEWHERE, line, headers }
}

impl Request {
    pub(super) fn bytes(&self) -> String {
        let host = if self.headers.contains("Host: ") { "" } else { "Host: shop.example\r\n" };
        format!("{} HTTP/1.1\r\n{host}Connection: close\r\n{}\r\n", self.line, self.headers)
    }
}

pub(super) const REQUESTS: &[Request] = &[
    here(Permitted, "GET /orders/1", ""),
    here(Permitted, "GET /orders/1?next=/salaries/7", ""),
    here(Permitted, "GET /address/1", ""),
    here(Permitted, "GET /host/1", ""),
    here(Permitted, "GET /header/1", ""),
    here(Permitted, "GET /header/2", "X-Evil: 0\r\n"),
    // By path, however it is written.
    here(Denied, "GET /salaries/7", ""),
    here(Denied, "POST /salaries/7", "Content-Length: 0\r\n"),
    here(Denied, "GET /salaries/7?a=/orders/1", ""),
    here(Denied, "GET /", ""),
    here(Denied, "GET /?x", ""),
    here(Denied, "GET /policies", ""),
    here(Denied, "GET /healthz", ""),
    here(Denied, "GET /v1/documents", ""),
    here(Denied, "GET /orders/../salaries/7", ""),
    here(Denied, "GET /orders/%2e%2e/salaries/7", ""),
    here(Denied, "GET /orders/..%2fsalaries/7", ""),
    here(Denied, "GET /orders/%252e%252e/salaries/7", ""),
    here(Denied, "GET //salaries/7", ""),
    here(Denied, "GET ///salaries//7", ""),
    here(Denied, "GET /orders/..;/salaries/7", ""),
    here(Denied, "GET /salaries;a=b/7", ""),
    here(Denied, "GET /salaries%2F7", ""),
    here(Denied, "GET /%73alaries/7", ""),
    here(Denied, "GET /salaries\\7", ""),
    here(Denied, "GET /orders/..\\salaries\\7", ""),
    here(Denied, "GET /orders/..%5csalaries%5c7", ""),
    here(Denied, "GET /salaries/7#/../../orders/1", ""),
    here(Denied, "GET /orders/1#/../../../salaries/7", ""),
    here(Denied, "GET http://shop.example/salaries/7", ""),
    here(Denied, "GET salaries/7", ""),
    here(Denied, "GET /forward-auth/../salaries/7", ""),
    // By method.
    here(Denied, "DELETE /orders/1", ""),
    here(Denied, "DELETE /", ""),
    here(Denied, "delete /orders/1", ""),
    // By host, header and address.
    here(Denied, "GET /host/1", "Host: intranet.example\r\n"),
    here(Denied, "GET /host/1", "Host: INTRANET.example.:8080\r\n"),
    here(Denied, "GET http://intranet.example/host/1", ""),
    here(Denied, "GET /header/1", "X-Evil: 1\r\n"),
    here(Denied, "GET /header/1", "x-evil:1\r\n"),
    elsewhere(Denied, "GET /address/1", ""),
    // What only proxies may say.
    here(Forged, "GET /salaries/7", "X-Original-URI: /orders/1\r\n"),
    here(Forged, "GET /salaries/7", "X-Original-URI: /orders/1\r\nX-Original-Method: GET\r\n"),
    here(Forged, "GET /salaries/7", "X-Forwarded-Uri: /orders/1\r\nX-Forwarded-Method: GET\r\n"),
    here(Forged, "GET /salaries/7", "X-Envoy-Original-Path: /orders/1\r\nX-Rewrite-Url: /orders/1\r\n"),
    here(Forged, "DELETE /orders/1", "X-Original-Method: GET\r\n"),
    here(Forged, "DELETE /orders/1", "X-Forwarded-Method: GET\r\n"),
    here(Forged, "DELETE /orders/1", "X-Original-URI: /orders/1\r\nX-Original-Method: GET\r\n"),
    here(Forged, "DELETE /orders/1", "X-Forwarded-Uri: /orders/1\r\nX-Forwarded-Method: GET\r\n"),
    here(Forged, "GET /host/1", "Host: intranet.example\r\nX-Forwarded-Host: shop.example\r\n"),
    elsewhere(Forged, "GET /address/1", "X-Forwarded-For: 127.0.0.1\r\n"),
    elsewhere(Forged, "GET /address/1", "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-For: 127.0.0.1\r\n"),
    elsewhere(Forged, "GET /address/1", "X-Forwarded-For: 127.0.0.1,\r\n"),
    elsewhere(Forged, "GET /address/1", "X-Real-IP: 127.0.0.1\r\nForwarded: for=127.0.0.1\r\n"),
];
