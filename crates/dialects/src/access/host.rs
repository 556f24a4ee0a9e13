//! Hosts in the one form in which they are compared, whoever wrote them: requests and policies alike.
//!
//! | written | compared as |
//! |---|---|
//! | `Admin.Example.com` | `admin.example.com` |
//! | `admin.example.com.`, and in requests `admin.example.com:8443` | `admin.example.com` |
//! | `bücher.example` | `xn--bcher-kva.example` |
//! | `[2001:DB8::1]`, `2001:db8:0::1` | `2001:db8::1` |
//! | `::ffff:192.0.2.7` | `192.0.2.7` |
//! | `https://admin.example.com`, `*.example.com`, `127.1`, `a..b` | no host |

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use smol_str::SmolStr;
use upheld_engine::decide::{Fact, Maybe};

/// The longest name of a host.
const MAX_LENGTH: usize = 253;

/// The host that a request names, without its port; unknown where the text is no host.
pub fn host_name(written: &str) -> Maybe<SmolStr> {
    canonical(written).map_or(Maybe::Unknown, |(host, _)| Maybe::Is(host))
}

/// The same as a fact of a request.
pub(super) fn host_fact(written: &str) -> Fact {
    canonical(written).map_or(Fact::Unknown, |(host, _)| Fact::Text(host))
}

/// Why a policy that names a host never meets it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoHost {
    /// As a clause: `the host …`.
    pub(super) because: &'static str,
    /// The host that was probably meant, or another way to say it.
    pub(super) help: String,
}

/// The host that a policy names. Its port would be ignored, because requests lose theirs.
pub(super) fn host_of_policy(written: &str) -> Result<SmolStr, NoHost> {
    let text = written.trim();
    let meant = |rest: &str| canonical(rest).map(|(host, _)| format!("did you mean `{host}`?"));
    let exact = || "hosts are compared as a whole: name each host".to_owned();
    let no_host = |because, help: Option<String>| Err(NoHost { because, help: help.unwrap_or_else(exact) });
    if let Some((_, rest)) = text.split_once("://") {
        return no_host("begins with a scheme, which hosts do not have", meant(until_path(rest)));
    }
    if text.contains('/') {
        return no_host("has a path, which hosts do not have", meant(until_path(text)));
    }
    if text.contains('*') {
        let (host, _) = text.strip_prefix("*.").and_then(canonical).unzip();
        let other = host.map(|host| {
            format!("name each host, or write `property: {{name: host, operator: endsWith, value: .{host}}}`")
        });
        return no_host("has a star, and hosts are compared as they are", other);
    }
    match canonical(text) {
        Some((host, Port::None)) => Ok(host),
        Some((host, Port::Some)) => {
            no_host("has a port, and requests are compared without theirs", Some(format!("did you mean `{host}`?")))
        }
        None => no_host("is neither a name nor an address", None),
    }
}

fn until_path(text: &str) -> &str {
    let authority = text.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

/// Whether a port was written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Port {
    None,
    Some,
}

/// A host in its one form, and whether there was a port.
fn canonical(written: &str) -> Option<(SmolStr, Port)> {
    let text = written.trim();
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some((of_address(address), Port::None));
    }
    if let Some(rest) = text.strip_prefix('[') {
        let (address, after) = rest.split_once(']')?;
        let address = address.parse().ok().filter(IpAddr::is_ipv6)?;
        let port = if after.is_empty() { Port::None } else { port(after.strip_prefix(':')?)? };
        return Some((of_address(address), port));
    }
    let (name, port) = match text.split_once(':') {
        Some((name, digits)) => (name, port(digits)?),
        None => (text, Port::None),
    };
    Some((of_name(name)?, port))
}

fn port(digits: &str) -> Option<Port> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(Port::Some)
}

/// IPv4 addresses that are written as IPv6 count as IPv4, as everywhere.
fn of_address(address: IpAddr) -> SmolStr {
    SmolStr::from(address.to_canonical().to_string())
}

fn of_name(written: &str) -> Option<SmolStr> {
    let ascii: Cow<'_, str> = if is_plain(written) { written.into() } else { to_ascii(written)? };
    let name = ascii.strip_suffix('.').unwrap_or(&ascii);
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(is_of_name);
    if name.len() > MAX_LENGTH || !name.split('.').all(is_label) {
        return None;
    }
    // Some readers take `127.1` and `0x7f.1` for addresses, others for names.
    let last = name.rsplit('.').next().unwrap_or_default();
    let hexadecimal = last.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if hexadecimal || last.bytes().all(|byte| byte.is_ascii_digit()) {
        return name.parse().ok().map(|address: Ipv4Addr| of_address(address.into()));
    }
    Some(SmolStr::new(name))
}

/// Which part of a host a text is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostPart {
    /// Its beginning.
    Start,
    /// Its end.
    End,
    /// Any part.
    Inside,
}

/// A part of a host in the form that hosts have; nothing if no host has such a part.
///
/// Punycode changes labels as wholes, so a label with other letters must be whole.
pub(super) fn host_part(written: &str, part: HostPart) -> Option<SmolStr> {
    let has_empty_label = match part {
        HostPart::Start => written.starts_with('.'),
        HostPart::End => written.ends_with('.'),
        HostPart::Inside => false,
    };
    if has_empty_label || written.contains("..") {
        return None;
    }
    if written.is_ascii() {
        let text = written.to_ascii_lowercase();
        let is_of_name = text.bytes().all(|byte| is_of_name(byte) || byte == b'.');
        let is_of_address = text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':');
        return (is_of_name || is_of_address).then(|| text.into());
    }
    let labels: Vec<&str> = written.split('.').collect();
    let last = labels.len() - 1;
    let whole = |(place, label): (usize, &&str)| {
        let is_cut = place == 0 && part != HostPart::Start || place == last && part != HostPart::End;
        match label.is_ascii() {
            true => host_part(label, HostPart::Inside),
            false if is_cut => None,
            false => to_ascii(label).map(SmolStr::from),
        }
    };
    let labels: Vec<SmolStr> = labels.iter().enumerate().map(whole).collect::<Option<_>>()?;
    Some(labels.join(".").into())
}

/// Whether a name is in its one form already, which most are.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| is_of_name(byte) || byte == b'.') && !name.contains("xn--")
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_'
}

/// As programs ask for it: in small letters, and in Punycode if it has other letters than those of English.
fn to_ascii(name: &str) -> Option<Cow<'_, str>> {
    Uts46::new().to_ascii(name.as_bytes(), AsciiDenyList::URL, Hyphens::Allow, DnsLength::Ignore).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(written: &str) -> Option<String> {
        match host_name(written) {
            Maybe::Is(host) => Some(host.to_string()),
            Maybe::Absent | Maybe::Unknown => None,
        }
    }

    #[test]
    fn one_host_has_one_form_however_it_is_written() {
        for (written, host) in [
            ("B.Example.:80", "b.example"),
            ("admin.example.com:8443", "admin.example.com"),
            ("my_service", "my_service"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("BÜCHER.example:443", "xn--bcher-kva.example"),
            ("XN--bcher-kva.example", "xn--bcher-kva.example"),
            ("ｅxample。com", "example.com"),
            ("::1", "::1"),
            ("[::1]", "::1"),
            ("[2001:DB8:0::1]:8443", "2001:db8::1"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("192.0.2.7:80", "192.0.2.7"),
            ("192.0.2.7.", "192.0.2.7"),
        ] {
            assert_eq!(of(written).as_deref(), Some(host), "{written}");
            assert_eq!(of(host).as_deref(), Some(host), "{host} is in its form already");
        }
    }

    #[test]
    fn parts_of_hosts_have_the_form_of_hosts() {
        use HostPart::{End, Inside, Start};
        for (part, written, form) in [
            (End, ".Example.com", ".example.com"),
            (End, ".bücher.example", ".xn--bcher-kva.example"),
            (End, "example", "example"),
            (Start, "admin.", "admin."),
            (Start, "192.168.", "192.168."),
            (Start, "Bücher.ex", "xn--bcher-kva.ex"),
            (Start, "2001:DB8:", "2001:db8:"),
            (Inside, ".bücher.", ".xn--bcher-kva."),
            (Inside, "-test.", "-test."),
            (Inside, "", ""),
        ] {
            assert_eq!(host_part(written, part).as_deref(), Some(form), "{part:?} {written}");
        }
        for (part, written) in [
            (Start, ".example"),
            (Start, "https://admin"),
            (Start, "büch"),
            (End, "example."),
            (End, "example.com:8443"),
            (End, "ücher.example"),
            (Inside, "ü"),
            (Inside, "*."),
            (Inside, "a..b"),
            (Inside, "a/b"),
            (Inside, "a b"),
        ] {
            assert_eq!(host_part(written, part), None, "{part:?} {written}");
        }
    }

    #[test]
    fn a_text_that_is_no_host_is_an_unknown_one() {
        let none = [
            "",
            ".",
            "a..b",
            ".a",
            "https://a",
            "a/b",
            "a@b",
            "*.a",
            "a b",
            "127.1",
            "0x7f.0.0.1",
            "01.2.3.4",
            "a:b",
            "a:1:2",
            "[::1",
            "[::1]x",
            "[a]",
            "fe80::1%eth0",
            "a%2eb",
            "xn--a",
            "a\u{0}",
            "^a$",
        ];
        for written in none {
            assert_eq!(of(written), None, "{written:?}");
        }
        assert_eq!(of(&"a.".repeat(200)), None);
    }

    #[test]
    fn a_host_that_no_request_has_is_repaired() {
        for (written, help) in [
            ("admin.example.com:8443", "did you mean `admin.example.com`?"),
            ("https://Admin.example.com", "did you mean `admin.example.com`?"),
            ("https://me@admin.example.com:8443/a?b", "did you mean `admin.example.com`?"),
            ("admin.example.com/login", "did you mean `admin.example.com`?"),
            (
                "*.internal.example",
                "name each host, or write `property: {name: host, operator: endsWith, value: .internal.example}`",
            ),
            ("admin*", "hosts are compared as a whole: name each host"),
            ("^admin$", "hosts are compared as a whole: name each host"),
        ] {
            assert_eq!(host_of_policy(written).unwrap_err().help, help, "{written}");
        }
        assert_eq!(host_of_policy("Bücher.example.").unwrap(), "xn--bcher-kva.example");
        assert_eq!(host_of_policy("[::1]").unwrap(), "::1");
    }
}
