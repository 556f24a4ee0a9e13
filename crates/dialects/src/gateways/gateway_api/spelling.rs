//! Fields of gateways, routes and traffic policies that nobody reads: a misspelt one changes what is served, so it is told.
//! Everything that has another meaning is left to the controllers, so these are warnings.

use upheld_model::{Diagnostics, Severity, SourceId};

use crate::document::Resource;
use crate::shape::{Checker, Field, Shape, list, optional};

/// Tells fields that a document of these types does not have.
pub(crate) fn check(source: SourceId, resource: Resource<'_>, found: &mut Diagnostics) {
    let fields = match resource.kind.text() {
        "Gateway" => gateway(),
        "HTTPRoute" => http_route(),
        "TrafficPolicy" => traffic_policy(),
        _ => return,
    };
    let Some(spec) = resource.spec() else { return };
    let mut problems = Diagnostics::default();
    Checker::new(source, &mut problems).check(spec, &Shape::Object(fields));
    found.extend(problems.into_iter().map(|mut problem| {
        problem.severity = Severity::Warning;
        problem
    }));
}

fn opaque(names: &[&str]) -> Vec<Field> {
    names.iter().map(|name| optional(*name, Shape::Opaque, "")).collect()
}

fn with(names: &[&str], more: Vec<Field>) -> Vec<Field> {
    opaque(names).into_iter().chain(more).collect()
}

fn gateway() -> Vec<Field> {
    let listener = opaque(&["name", "hostname", "port", "protocol", "tls", "allowedRoutes"]);
    let names =
        ["gatewayClassName", "addresses", "infrastructure", "backendTLS", "tls", "allowedListeners", "defaultScope"];
    with(&names, vec![optional("listeners", list(Shape::Object(listener)), "where it listens")])
}

fn http_route() -> Vec<Field> {
    let path = Shape::Object(vec![
        optional("type", Shape::Choice(&["Exact", "PathPrefix", "RegularExpression"]), "how the value is compared"),
        optional("value", Shape::Text, "the path"),
    ]);
    let matching = with(&["headers", "queryParams", "method"], vec![optional("path", path, "the path of a request")]);
    let timeouts = opaque(&["request", "backendRequest"]);
    let rule = with(
        &["name", "filters", "backendRefs", "retry", "sessionPersistence"],
        vec![
            optional("matches", list(Shape::Object(matching)), "the requests that it takes"),
            optional("timeouts", Shape::Object(timeouts), "how long requests may take"),
        ],
    );
    with(
        &["parentRefs", "hostnames", "useDefaultGateways"],
        vec![optional("rules", list(Shape::Object(rule)), "what happens to requests")],
    )
}

fn traffic_policy() -> Vec<Field> {
    opaque(&[
        "targetRefs",
        "targetSelectors",
        "acl",
        "apiKeyAuth",
        "autoHostRewrite",
        "basicAuth",
        "buffer",
        "compression",
        "cors",
        "csrf",
        "extAuth",
        "extProc",
        "faultInjection",
        "headerModifiers",
        "internalRedirect",
        "jwtAuth",
        "oauth2",
        "rateLimit",
        "rbac",
        "requestMirror",
        "retry",
        "statPrefix",
        "timeouts",
        "tracing",
        "transformation",
        "urlRewrite",
    ])
}
