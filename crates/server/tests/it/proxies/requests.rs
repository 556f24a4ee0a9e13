//! Requests as bytes, the same for all proxies.

use std::net::{IpAddr, Ipv4Addr};

use self::Expected::{Denied, DeniedWith, Permitted};
use super::STAFF;

/// What must become of a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expected {
    /// The service sees it once, without what the client pretends.
    Permitted,
    /// The service sees nothing of it, whoever refuses it.
    Denied,
    /// The same, by a policy, and the client hears why.
    DeniedWith(&'static str),
}

/// A request.
pub(super) struct Request {
    pub(super) from: IpAddr,
    is_staff: bool,
    line: &'static str,
    headers: &'static str,
    pub(super) expected: Expected,
}

/// Where authentication in front is.
const FRONT: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Somebody else.
const STRANGER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// Somebody of the staff, as authentication in front says.
const fn staff(line: &'static str, headers: &'static str, expected: Expected) -> Request {
    Request { from: FRONT, is_staff: true, line, headers, expected }
}

/// Somebody whom authentication in front does not know.
const fn anybody(line: &'static str, headers: &'static str, expected: Expected) -> Request {
    Request { from: FRONT, is_staff: false, line, headers, expected }
}

/// Somebody who went around it.
const fn stranger(line: &'static str, headers: &'static str, expected: Expected) -> Request {
    Request { from: STRANGER, is_staff: false, line, headers, expected }
}

impl Request {
    pub(super) fn bytes(&self) -> String {
        let (line, (name, value)) = (self.line, STAFF);
        let identity = if self.is_staff { format!("{name}: {value}\r\n") } else { String::new() };
        format!("{line} HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n{identity}{}\r\n", self.headers)
    }
}

const CLOSED: Expected = DeniedWith("Salaries are for the payroll only");

pub(super) const REQUESTS: &[Request] = &[
    staff("GET /orders/1", "", Permitted),
    staff("GET /orders/1?next=/salaries/7", "", Permitted),
    staff("GET /salaries/7", "", CLOSED),
    staff("GET /salaries/7?a=/orders/1", "", CLOSED),
    anybody("GET /orders/1", "", DeniedWith("No applicable policy")),
    stranger("GET /orders/1", "", Denied),
    // Other methods, and words that name others.
    staff("POST /orders/1", "Content-Length: 0\r\n", Denied),
    staff("DELETE /orders/1", "", Denied),
    staff("PUT /orders/1", "Content-Length: 0\r\nX-HTTP-Method-Override: GET\r\n", Denied),
    staff("PATCH /orders/1", "Content-Length: 0\r\nX-Original-Method: GET\r\n", Denied),
    staff("POST /orders/1", "Content-Length: 0\r\nX-Forwarded-Method: GET\r\n", Denied),
    staff("OPTIONS /orders/1", "", Denied),
    staff("TRACE /orders/1", "", Denied),
    staff("PROPFIND /orders/1", "", Denied),
    staff("CONNECT /orders/1", "", Denied),
    staff("delete /orders/1", "", Denied),
    // Other ways to write a path.
    staff("GET /orders/../salaries/7", "", Denied),
    staff("GET /orders/%2e%2e/salaries/7", "", Denied),
    staff("GET /orders/.%2E/salaries/7", "", Denied),
    staff("GET /orders/..%2fsalaries/7", "", Denied),
    staff("GET /orders/%2e%2e%2fsalaries%2f7", "", Denied),
    staff("GET /orders/%252e%252e/salaries/7", "", Denied),
    staff("GET //salaries/7", "", Denied),
    staff("GET ///salaries//7", "", Denied),
    staff("GET /./salaries/7", "", Denied),
    staff("GET /orders/..;/salaries/7", "", Denied),
    staff("GET /salaries;a=b/7", "", Denied),
    staff("GET /salaries%2f7", "", Denied),
    staff("GET /salaries%2F7", "", Denied),
    staff("GET /%73alaries/7", "", Denied),
    staff("GET /%2573alaries/7", "", Denied),
    staff("GET /salaries\\7", "", Denied),
    staff("GET /orders/..\\salaries\\7", "", Denied),
    staff("GET /orders/..%5csalaries%5c7", "", Denied),
    staff("GET /orders/..%5c..\\salaries/7", "", Denied),
    staff("GET /orders/1/%2e%2e/../salaries/7", "", Denied),
    staff("GET //orders/../salaries/7", "", Denied),
    staff("GET /salaries/7%00", "", Denied),
    staff("GET /salaries/7#/../../orders/1", "", Denied),
    staff("GET /orders/1#/../../../salaries/7", "", Denied),
    staff("GET http://shop.example/salaries/7", "", Denied),
    staff("GET http://shop.example//salaries/7", "", Denied),
    staff("GET salaries/7", "", Denied),
    staff("GET /.upheld/../salaries/7", "", Denied),
    // Headers of proxies, sent by clients.
    staff("GET /salaries/7", "X-Original-URI: /orders/1\r\n", Denied),
    staff("GET /salaries/7", "X-Original-URI: /orders/1\r\nX-Original-Method: GET\r\n", Denied),
    staff("GET /salaries/7", "X-Forwarded-Uri: /orders/1\r\nX-Forwarded-Method: GET\r\n", Denied),
    staff("GET /salaries/7", "X-Original-URI: /orders/1\r\nX-Forwarded-Uri: /orders/1\r\n", Denied),
    staff("GET /salaries/7", "X-Envoy-Original-Path: /orders/1\r\nX-Rewrite-Url: /orders/1\r\n", Denied),
    staff("DELETE /orders/1", "X-Original-URI: /orders/1\r\nX-Original-Method: GET\r\n", Denied),
    stranger("GET /inside/1", "", Denied),
    stranger("GET /inside/1", "X-Forwarded-For: 10.1.2.3\r\n", Denied),
    stranger("GET /inside/1", "X-Forwarded-For: 10.1.2.3\r\nX-Forwarded-For: 10.1.2.3\r\n", Denied),
    stranger("GET /inside/1", "X-Real-IP: 10.1.2.3\r\nForwarded: for=10.1.2.3\r\n", Denied),
    stranger("GET /intranet/1", "X-Forwarded-Host: intranet.example\r\n", Denied),
    anybody("GET /intranet/1", "X-Forwarded-Host: intranet.example\r\n", Denied),
    stranger("GET /intranet/1", "Host: intranet.example\r\n", Denied),
    // Identities that are not believed, or that nobody can tell.
    stranger("GET /orders/1", "X-Identity: {\"sub\": \"ann\", \"roles\": [\"staff\"]}\r\n", Denied),
    stranger("GET /orders/1", "X-Identity:\r\nX-Identity: {\"sub\": \"ann\", \"roles\": [\"staff\"]}\r\n", Denied),
    stranger("GET /orders/1", "X_Identity: {\"sub\": \"ann\", \"roles\": [\"staff\"]}\r\n", Denied),
    staff("GET /orders/1", "X-Identity: {\"sub\": \"eve\"}\r\n", Denied),
    staff("GET /orders/1", "x-identity: {\"sub\": \"ann\", \"roles\": [\"staff\"]}\r\n", Denied),
    anybody("GET /orders/1", "X-Identity: {\"sub\": \"ann\", \"roles\": [\"staff\"]\r\n", Denied),
    // What is said in the name of the server.
    staff("GET /orders/1", "X-Policy-Decision: pretended\r\nX-Policy: pretended\r\n", Permitted),
    staff("GET /orders/1", "X-Policy-Obligations: pretended\r\nX-Policy-Advice: pretended\r\n", Permitted),
    anybody("GET /orders/1", "X-Policy-Decision: permit\r\n", Denied),
    // Two requests in one.
    anybody(
        "POST /orders/1",
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /salaries/7 HTTP/1.1\r\nHost: shop.example\r\n",
        Denied,
    ),
];
