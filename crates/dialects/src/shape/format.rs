//! Formats of texts that have a name.

use std::net::IpAddr;
use std::sync::LazyLock;

use regex::Regex;

/// A named format of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format(usize);

/// The name in schemas, what messages call it, and the texts that have it.
const FORMATS: [(&str, &str, &str); 20] = [
    (
        "duration",
        "a duration such as `10s`",
        r"^[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*$",
    ),
    ("short-duration", "a duration such as `10s` (digits with h, m, s or ms)", r"^([0-9]{1,5}(h|m|s|ms)){1,4}$"),
    (
        "quantity",
        "a quantity such as `64Ki`",
        r"^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(([KMGTPE]i)|[numkMGTPE]|([eE][-+]?[0-9]+))?$",
    ),
    ("decimal", "a decimal number such as `0.5`", r"^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$"),
    (
        "hostname",
        "a host name such as `shop.example.com` or `*.example.com`",
        r"^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    ),
    (
        "precise-hostname",
        "a host name without a wildcard, such as `shop.example.com`",
        r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    ),
    ("header-name", "the name of a header, such as `x-version`", r"^[A-Za-z0-9!#$%&'*+\-.^_\x60|~]+$"),
    (
        "section-name",
        "a name in lower case, such as `https`",
        r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    ),
    ("label-name", "a name in lower case without dots, such as `shop`", r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"),
    (
        "group",
        "an API group such as `apps`, or nothing for the core group",
        r"^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    ),
    ("kind", "a kind such as `Service`", r"^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$"),
    (
        PATH,
        "a path such as `/cart`, without `//`, `/./`, `/../`, `%2F`, `?` or `#`",
        r"^/(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})*$",
    ),
    (
        "controller-name",
        "a domain and a path, such as `example.com/controller`",
        r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$",
    ),
    (ADDRESS, "an IP address such as `10.0.0.1`", r"^[0-9a-fA-F.:]+$"),
    ("line", "text without line breaks", r"^[^\r\n]*$"),
    ("rooted-path", "a path that begins with `/`", r"^/"),
    ("bandwidth", "a bandwidth such as `10kbps`", r"^[0-9]+(\.[0-9]+)?\s?[kMG]?bps$"),
    (
        "retry-condition",
        "a reason to retry such as `5xx`, `GatewayError`, `HttpMethodGet` or a status code",
        r"^(5xx|5XX|GatewayError|Reset|Retriable4xx|ConnectFailure|EnvoyRatelimited|RefusedStream|Http3PostConnectFailure|HttpMethod(Connect|Delete|Get|Head|Options|Patch|Post|Put|Trace)|[1-5][0-9]{2})$",
    ),
    (
        "grpc-service",
        "a gRPC service such as `shop.v1.Cart`",
        r"^\.?[A-Za-z_][A-Za-z_0-9]*(\.[A-Za-z_][A-Za-z_0-9]*)*$",
    ),
    ("grpc-method", "a gRPC method such as `AddItem`", r"^[A-Za-z_][A-Za-z_0-9]*$"),
];

const PATH: &str = "absolute-path";
const ADDRESS: &str = "ip-address";

/// Whether no proxy would make another path of it; patterns cannot say what must not be there.
fn is_plain_path(path: &str) -> bool {
    let odd = ["//", "/./", "/../", "%2f", "%2F"];
    !odd.iter().any(|part| path.contains(part)) && !path.ends_with("/.") && !path.ends_with("/..")
}

static PATTERNS: LazyLock<Vec<Option<Regex>>> =
    LazyLock::new(|| FORMATS.iter().map(|(.., pattern)| Regex::new(pattern).ok()).collect());

impl Format {
    /// The format of a name.
    pub fn named(name: &str) -> Option<Self> {
        FORMATS.iter().position(|(known, ..)| *known == name).map(Self)
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FORMATS.iter().map(|(name, ..)| *name)
    }

    /// Whether a text has it.
    pub fn fits(self, text: &str) -> bool {
        let matches = PATTERNS.get(self.0).and_then(Option::as_ref).is_none_or(|pattern| pattern.is_match(text));
        matches
            && match self.name() {
                PATH => is_plain_path(text),
                ADDRESS => text.parse::<IpAddr>().is_ok(),
                _ => true,
            }
    }

    fn name(self) -> &'static str {
        FORMATS.get(self.0).map_or("", |(name, ..)| name)
    }

    pub(super) fn noun(self) -> String {
        FORMATS.get(self.0).map_or_else(String::new, |(_, noun, _)| (*noun).to_owned())
    }

    pub(super) fn pattern(self) -> &'static str {
        FORMATS.get(self.0).map_or("", |(.., pattern)| pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(format: &str, text: &str) -> bool {
        Format::named(format).unwrap().fits(text)
    }

    #[test]
    fn every_format_has_a_pattern_that_can_be_read() {
        assert!(PATTERNS.iter().all(Option::is_some));
    }

    #[test]
    fn formats_tell_right_from_wrong() {
        for text in ["10s", "1h30m", "0", "1.5s", "0s", "500ms", "-1s"] {
            assert!(fits("duration", text), "{text}");
        }
        for text in ["10", "ten seconds", "10 s", "", "5d"] {
            assert!(!fits("duration", text), "{text}");
        }
        assert!(fits("short-duration", "1h30m") && !fits("short-duration", "1.5s") && !fits("short-duration", "0"));
        assert!(fits("hostname", "*.example.com") && !fits("hostname", "*") && !fits("hostname", "A.example"));
        assert!(!fits("precise-hostname", "*.example.com") && fits("precise-hostname", "example.com"));
        for text in ["/", "/cart", "/a/b/", "/a.b", "/v1/%7Euser"] {
            assert!(fits("absolute-path", text), "{text}");
        }
        for text in ["cart", "", "/a?b", "/a#b", "//a", "/a/../b", "/a/.", "/a%2Fb"] {
            assert!(!fits("absolute-path", text), "{text}");
        }
        assert!(fits("quantity", "64Ki") && fits("quantity", "0.5") && !fits("quantity", "64KB"));
    }
}
