//! Whom to believe what a proxy passes on. Without any settings nobody is: an address, a host and an application are not known then, and
//! whoever asks is anonymous.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZero;

use ipnet::IpNet;
use smol_str::SmolStr;
use upheld_engine::decide::{Fact, Facts, Maybe};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use crate::access::decider::headers_of;
use crate::access::host::host_name;
use crate::access::identity::{Identity, Unreadable};

/// Whom to believe what.
#[derive(Clone, Debug)]
pub struct Trust {
    /// Networks of those who are believed: proxies that remove or overwrite what clients say of themselves.
    pub peers: Vec<IpNet>,
    /// How many proxies in front add to `X-Forwarded-For`; unless somebody says so, the address is not known.
    pub hops: Option<usize>,
    /// The header in which they name the caller, as JSON.
    pub identity_header: String,
    /// The header in which they name the application.
    pub app_header: Option<String>,
    /// The header in which they name the host that the client asked for.
    pub host_header: Option<String>,
    /// Whether they pass on all headers of the client.
    pub headers: HeadersGiven,
}

impl Default for Trust {
    fn default() -> Self {
        Self {
            peers: Vec::new(),
            hops: None,
            identity_header: "x-identity".to_owned(),
            app_header: None,
            host_header: None,
            headers: HeadersGiven::Some,
        }
    }
}

/// The names of what can be said about whom to believe.
const NAMES: [&str; 6] = ["peer", "hops", "identity-header", "app-header", "host-header", "headers"];

impl Trust {
    /// Of settings as people write them: `peer=10.0.0.0/8`, `hops=1`, `identity-header=x-identity`, `app-header=x-app`,
    /// `host-header=x-forwarded-host`, `headers=all`. Of what is said twice, the last counts; peers are added up.
    pub fn read(settings: &[String]) -> Result<Self, Diagnostic> {
        let mut trust = Self::default();
        for setting in settings {
            let Some((name, value)) = setting.split_once('=').map(|(name, value)| (name.trim(), value.trim())) else {
                let message = format!("`{setting}` does not say whom to trust with what");
                return Err(wrong(message, "expected for example `peer=10.0.0.0/8` or `hops=1`"));
            };
            let header = || Some(value.to_ascii_lowercase()).filter(|header| !header.is_empty());
            match name {
                "peer" => trust.peers.push(network(value)?),
                "hops" => {
                    let hops =
                        value.parse().map_err(|_| wrong(format!("`{value}` is no number of proxies"), "hops=1"))?;
                    trust.hops = Some(hops);
                }
                "identity-header" => trust.identity_header = header().unwrap_or(trust.identity_header),
                "app-header" => trust.app_header = header(),
                "host-header" => trust.host_header = header(),
                "headers" => {
                    trust.headers = match value {
                        "all" => HeadersGiven::All,
                        "some" => HeadersGiven::Some,
                        _ => return Err(wrong(format!("`headers={value}` is not known"), "headers=all, headers=some")),
                    }
                }
                _ => {
                    let problem = wrong(format!("there is no `{name}` to trust"), "");
                    return Err(problem.suggest_or(nearest(name, NAMES), || format!("there are: {}", NAMES.join(", "))));
                }
            }
        }
        Ok(trust)
    }

    /// In words, one for each thing that is believed or not.
    pub fn lines(&self) -> Vec<String> {
        if self.peers.is_empty() {
            return vec![
                "nobody: callers behind proxies are anonymous, their address, host and app unknown".to_owned(),
            ];
        }
        let peers: Vec<String> = self.peers.iter().map(ToString::to_string).collect();
        let hops =
            self.hops.map_or("the address is unknown".to_owned(), |hops| format!("{hops} hops of X-Forwarded-For"));
        let named = |what: &str, header: &Option<String>| match header {
            Some(header) => format!("{what} from {header}"),
            None => format!("the {what} is unknown"),
        };
        let headers = match self.headers {
            HeadersGiven::All => "all headers are passed on",
            HeadersGiven::Some => "other headers may be missing",
        };
        vec![
            peers.join(", "),
            format!(
                "identity from {}, {}, {}",
                self.identity_header,
                named("app", &self.app_header),
                named("host", &self.host_header)
            ),
            format!("{hops}, {headers}"),
        ]
    }
}

fn network(value: &str) -> Result<IpNet, Diagnostic> {
    let address = || value.parse::<IpAddr>().ok().map(|address| IpNet::from(address.to_canonical()));
    let network = value.parse::<IpNet>().ok().or_else(address);
    network.ok_or_else(|| wrong(format!("`{value}` is no network"), "expected for example `peer=10.0.0.0/8`"))
}

fn wrong(message: String, help: &str) -> Diagnostic {
    let problem = Diagnostic::error(Fault::BadSetting, message);
    if help.is_empty() { problem } else { problem.help(help) }
}

/// Which headers of the client a proxy passes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadersGiven {
    /// Some: of those that are not there, nobody knows whether the client sent them.
    #[default]
    Some,
    /// All.
    All,
}

/// Headers of a request, each with a name in lower case; several may have the same.
#[derive(Clone, Debug, Default)]
pub struct Headers(Vec<(SmolStr, Option<String>)>);

impl Headers {
    /// Adds a header; one that is no text has no value that could be compared.
    pub fn add(&mut self, name: &str, value: &[u8]) {
        self.0.push((name.to_ascii_lowercase().into(), std::str::from_utf8(value).ok().map(str::to_owned)));
    }

    /// The value of a header that is there once; an error if it is there twice, or is no text.
    pub fn one(&self, name: &str) -> Result<Option<&str>, Twice> {
        let mut own = self.0.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        match (own.next(), own.next()) {
            (None, _) => Ok(None),
            (Some((_, Some(value))), None) => Ok(Some(value)),
            _ => Err(Twice),
        }
    }

    /// Whether there is such a header.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    /// All values of a header, as one list.
    pub fn joined(&self, name: &str) -> Option<String> {
        let own = self.0.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let all: Vec<&str> = own.filter_map(|(_, value)| value.as_deref()).collect();
        (!all.is_empty()).then(|| all.join(","))
    }

    /// The address that trusted proxies tell. `hops` says how many there are, the peer first; each has told whom it heard the request
    /// from, at the end of `X-Forwarded-For`. A request that did not come through all of them has no address that is known: its header
    /// is too short, or its last entries are the client's own.
    fn told(&self, hops: NonZero<usize>) -> Option<IpAddr> {
        let own = self.0.iter().filter(|(known, _)| known == "x-forwarded-for");
        // A value that is not text may have any number of entries, so none can be counted.
        let values: Option<Vec<&str>> = own.map(|(_, value)| value.as_deref()).collect();
        let values = values?;
        let told: Vec<&str> = values.iter().rev().flat_map(|value| value.rsplit(',')).take(hops.get()).collect();
        // Each of them tells one. Where one does not, the others are not those that they seem to be.
        let told: Option<Vec<IpAddr>> = told.into_iter().map(|told| named_by(told.trim())).collect();
        told?.get(hops.get() - 1).copied()
    }

    /// As facts of a request.
    pub fn facts(&self, given: HeadersGiven) -> Facts {
        let fact = |value: &Option<String>| value.as_deref().map_or(Fact::Unknown, |text| Fact::Text(text.into()));
        let facts: Facts = self.0.iter().map(|(name, value)| (name.clone(), fact(value))).collect();
        headers_of(&match given {
            HeadersGiven::All => facts,
            HeadersGiven::Some => facts.and_others_unknown(),
        })
    }
}

/// A header is there twice, or is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Twice;

impl Trust {
    /// Whether somebody is believed.
    pub fn believes(&self, peer: Option<IpAddr>) -> bool {
        peer.is_some_and(|peer| self.peers.iter().any(|network| network.contains(&peer.to_canonical())))
    }

    /// Which headers of the client a peer passes on. The setting speaks of proxies that are believed.
    pub fn headers_given(&self, peer: Option<IpAddr>) -> HeadersGiven {
        if self.believes(peer) { self.headers } else { HeadersGiven::Some }
    }

    /// Who asks, as the header says.
    pub fn identity(&self, headers: &Headers, peer: Option<IpAddr>) -> Identity {
        match headers.one(&self.identity_header) {
            Ok(None | Some("")) => Identity::Absent,
            _ if !self.believes(peer) => Identity::Ignored,
            Ok(Some(text)) => Identity::read(text),
            // Nobody knows which of two is meant.
            Err(Twice) => Identity::Unreadable(Unreadable::Twice),
        }
    }

    /// The host that the client asked for.
    pub fn host(&self, headers: &Headers, peer: Option<IpAddr>) -> Maybe<SmolStr> {
        match named(self.host_header.as_deref().filter(|_| self.believes(peer)), headers) {
            Maybe::Is(written) => host_name(written),
            Maybe::Absent | Maybe::Unknown => Maybe::Unknown,
        }
    }

    /// The application; the host stands for it where nobody names one.
    pub fn app(&self, headers: &Headers, peer: Option<IpAddr>) -> Maybe<SmolStr> {
        match self.app_header.as_deref().filter(|_| self.believes(peer)) {
            Some(header) => named(Some(header), headers).map(SmolStr::new),
            None => self.host(headers, peer),
        }
    }

    /// The address of the client of a proxy that asks by itself. Only proxies that are believed tell it; the one who asks is never the
    /// client, so its own address stands for none.
    pub fn address(&self, headers: &Headers, peer: Option<IpAddr>) -> Maybe<SmolStr> {
        match self.hops.filter(|_| self.believes(peer)).and_then(NonZero::new) {
            Some(hops) => headers.told(hops).map_or(Maybe::Unknown, named_address),
            None => Maybe::Unknown,
        }
    }

    /// The address of a client where the proxy says who connects to it: that one, or, if it is believed, the one that it tells of.
    pub fn address_behind(&self, headers: &Headers, peer: Option<IpAddr>) -> Maybe<SmolStr> {
        match self.hops.filter(|_| self.believes(peer)).and_then(NonZero::new) {
            Some(_) => self.address(headers, peer),
            None => peer.map_or(Maybe::Unknown, named_address),
        }
    }
}

/// An address as proxies write it, perhaps with a port.
fn named_by(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse().ok().map(|address: SocketAddr| address.ip());
    text.trim_start_matches('[').trim_end_matches(']').parse().ok().or_else(with_port)
}

fn named_address(address: IpAddr) -> Maybe<SmolStr> {
    Maybe::Is(address.to_canonical().to_string().into())
}

fn named<'h>(header: Option<&str>, headers: &'h Headers) -> Maybe<&'h str> {
    match header.map(|header| headers.one(header)) {
        Some(Ok(Some(text))) if !text.is_empty() => Maybe::Is(text),
        _ => Maybe::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(told: &[&[u8]], hops: usize, expected: Option<&str>) {
        let mut headers = Headers::default();
        for told in told {
            headers.add("X-Forwarded-For", told);
        }
        let trust = Trust { peers: vec!["10.0.0.9/32".parse().unwrap()], hops: Some(hops), ..Trust::default() };
        let expected = expected.map_or(Maybe::Unknown, |address| Maybe::Is(address.into()));
        assert_eq!(trust.address(&headers, "10.0.0.9".parse().ok()), expected, "{told:?} {hops}");
    }

    #[test]
    fn only_trusted_proxies_tell_addresses() {
        let told: &[&[u8]] = &[b"6.6.6.6, 192.0.2.7,::ffff:10.0.0.8"];
        check(told, 1, Some("10.0.0.8"));
        check(told, 2, Some("192.0.2.7"));
        check(&[b"6.6.6.6", b"192.0.2.7, 10.0.0.8"], 3, Some("6.6.6.6"));
        check(&[b"192.0.2.7:4711"], 1, Some("192.0.2.7"));
        check(&[b"[2001:db8::7]:4711"], 1, Some("2001:db8::7"));
    }

    #[test]
    fn where_hops_do_not_add_up_the_address_is_unknown() {
        check(&[b"192.0.2.7"], 0, None);
        check(&[b"6.6.6.6, 192.0.2.7,10.0.0.8"], 4, None);
        check(&[], 1, None);
        for told in ["", ",", "8.8.8.8,", "unknown", "_hidden"] {
            check(&[told.as_bytes()], 1, None);
        }
        for told in ["8.8.8.8,", "8.8.8.8, unknown", ",", ", 10.0.0.8"] {
            check(&[told.as_bytes()], 2, None);
        }
        check(&[b"8.8.8.8", b""], 1, None);
        check(&[b"10.0.0.1", b"\xff, 192.0.2.7"], 1, None);
        check(&[b"10.0.0.1", b"\xff, 192.0.2.7"], 2, None);
    }

    #[test]
    fn where_the_proxy_says_who_connects_only_hops_that_are_told_replace_it() {
        let mut headers = Headers::default();
        headers.add("x-forwarded-for", b"192.0.2.7");
        let trust = |hops| Trust { peers: vec!["10.0.0.9/32".parse().unwrap()], hops, ..Trust::default() };
        let behind = |hops, peer: &str| match trust(hops).address_behind(&headers, peer.parse().ok()) {
            Maybe::Is(address) => address.to_string(),
            other => format!("{other:?}"),
        };
        assert_eq!(behind(None, "10.0.0.9"), "10.0.0.9");
        assert_eq!(behind(Some(0), "10.0.0.9"), "10.0.0.9");
        assert_eq!(behind(Some(1), "10.0.0.9"), "192.0.2.7");
        assert_eq!(behind(Some(2), "10.0.0.9"), "Unknown");
        assert_eq!(behind(Some(2), "::ffff:6.6.6.6"), "6.6.6.6");
        assert_eq!(behind(Some(1), "no address"), "Unknown");
    }

    #[test]
    fn nobody_is_believed_unless_somebody_says_so() {
        let peer: Option<IpAddr> = "127.0.0.1".parse().ok();
        let mut headers = Headers::default();
        for (name, value) in
            [("X-Identity", "{}"), ("X-App", "shop"), ("X-Forwarded-Host", "a"), ("X-Forwarded-For", "8.8.8.8")]
        {
            headers.add(name, value.as_bytes());
        }
        let nobody = Trust::default();
        assert!(matches!(nobody.identity(&headers, peer), Identity::Ignored));
        assert_eq!(nobody.app(&headers, peer), Maybe::Unknown);
        assert_eq!(nobody.address(&headers, peer), Maybe::Unknown);
        let proxy = Trust {
            peers: vec!["127.0.0.0/8".parse().unwrap()],
            hops: Some(1),
            host_header: Some("x-forwarded-host".to_owned()),
            ..Trust::default()
        };
        assert!(matches!(proxy.identity(&headers, peer), Identity::Known(_)));
        assert_eq!(proxy.app(&headers, peer), Maybe::Is("a".into()));
        assert_eq!(proxy.address(&headers, peer), Maybe::Is("8.8.8.8".into()));
        let stranger: Option<IpAddr> = "192.0.2.1".parse().ok();
        assert!(matches!(proxy.identity(&headers, stranger), Identity::Ignored));
        assert_eq!(proxy.app(&headers, stranger), Maybe::Unknown);
        assert_eq!(proxy.address(&headers, stranger), Maybe::Unknown);
        assert_eq!(proxy.address_behind(&headers, stranger), Maybe::Is("192.0.2.1".into()));
    }

    #[test]
    fn a_header_that_is_there_twice_is_not_known() {
        let mut headers = Headers::default();
        headers.add("x-tier", b"free");
        headers.add("X-Tier", b"gold");
        headers.add("x-one", b"1");
        let facts = headers.facts(HeadersGiven::All);
        assert_eq!(facts.get("x-tier"), Some(&Fact::Unknown));
        assert_eq!(facts.get("x-one"), Some(&Fact::Text("1".into())));
        assert_eq!(facts.get("x-other"), None);
        assert_eq!(headers.facts(HeadersGiven::Some).get("x-other"), Some(&Fact::Unknown));
    }
}
