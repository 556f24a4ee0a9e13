//! `health`: whether a server lives, or is ready, for probes. An image needs no other program for them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use upheld_server::config::{DEFAULT_PORT, Security};
use ureq::tls::TlsConfig;

use super::say;
use crate::cli::Health;
use crate::exit::Exit;
use crate::remote::Server;
use crate::render::print_text;
use crate::render::text::text;

pub(super) fn run(wanted: &Health, server: Option<&str>) -> Exit {
    match ask(wanted, server) {
        Ok(told) => {
            print_text(&text!("{}\n", told.trim()));
            Exit::Yes
        }
        Err(problem) => {
            say(&problem);
            Exit::No
        }
    }
}

/// What a healthy server says; why it is not is the error.
fn ask(wanted: &Health, server: Option<&str>) -> Result<String, String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let named = wanted.url.as_deref().or(server).map(str::to_owned);
    let probed = || variable("UPHELD_HEALTH").filter(|_| !wanted.ready).map(|address| probe(&address));
    let url = named.map(Ok).or_else(probed).unwrap_or_else(|| own(&variable))?;
    let server = Server { url, token: None, authority: variable("UPHELD_SERVER_CA"), at: None };
    let base = server.base();
    let agent = server
        .agent()
        .map_err(|problem| problem.diagnostics.into_iter().map(|found| found.message).collect::<String>())?;
    let usual = agent.config();
    // The name in the certificate of a server is not the address of this machine, and nothing that is sent is a secret.
    let tls = if is_here(&base) {
        TlsConfig::builder().disable_verification(true).build()
    } else {
        usual.tls_config().clone()
    };
    let path = if wanted.ready { "/readyz" } else { "/healthz" };
    let address = format!("{base}{path}");
    let asked = agent
        .get(&address)
        .config()
        .timeout_global(Some(wanted.timeout.unsigned_abs()))
        .proxy(None)
        .max_redirects(0)
        .tls_config(tls);
    let mut response = asked.build().call().map_err(|error| format!("{address}: {error}"))?;
    let told = response.body_mut().with_config().limit(MOST).read_to_string().unwrap_or_default();
    match response.status() {
        status if status.is_success() => Ok(told),
        status => Err(format!("{address} answers {}: {}", status.as_u16(), told.trim())),
    }
}

/// No server says more of its health.
const MOST: u64 = 1 << 20;

/// The server of this machine, as the variables say that its `serve` got.
fn own(variable: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let listen = variable("UPHELD_LISTEN").map_or_else(
        || Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT))),
        |text| text.parse::<SocketAddr>().map_err(|_| format!("UPHELD_LISTEN: `{text}` is no address with a port")),
    )?;
    let security = variable("UPHELD_SECURITY").map(|file| Security::read(Path::new(&file))).transpose();
    let encrypts = security.map_err(|error| error.to_string())?.is_some_and(|security| security.tls.is_some());
    let scheme = if encrypts { "https" } else { "http" };
    Ok(format!("{scheme}://{}", reached(listen)))
}

/// Where the server of this machine says that it lives, and nothing else.
fn probe(address: &str) -> Result<String, String> {
    let address = address.parse().map_err(|_| format!("UPHELD_HEALTH: `{address}` is no address with a port"))?;
    Ok(format!("http://{}", reached(address)))
}

/// How this machine reaches an address where one of its programs listens.
fn reached(listen: SocketAddr) -> SocketAddr {
    let address: IpAddr = match listen.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        address => address,
    };
    SocketAddr::from((address, listen.port()))
}

/// Whether an address is of this machine.
fn is_here(base: &str) -> bool {
    let host = base.split_once("://").map_or(base, |(_, rest)| rest).split('/').next().unwrap_or_default();
    host == "localhost"
        || host.starts_with("localhost:")
        || host.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_loopback())
        || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_of_this_machine_is_where_it_listens() {
        let folder = tempfile::tempdir().unwrap();
        let security = folder.path().join("security.yaml");
        std::fs::write(&security, "{tls: {certificate: a, key: b}}").unwrap();
        let file = security.display().to_string();
        let own = |variables: &[(&str, &str)]| {
            own(&|name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(own(&[]).unwrap(), "http://127.0.0.1:8181");
        assert_eq!(own(&[("UPHELD_LISTEN", "0.0.0.0:9000")]).unwrap(), "http://127.0.0.1:9000");
        assert_eq!(own(&[("UPHELD_LISTEN", "[::]:9000")]).unwrap(), "http://[::1]:9000");
        assert_eq!(own(&[("UPHELD_LISTEN", "10.0.0.7:9000")]).unwrap(), "http://10.0.0.7:9000");
        assert_eq!(own(&[("UPHELD_SECURITY", file.as_str())]).unwrap(), "https://127.0.0.1:8181");
        assert_eq!(probe("0.0.0.0:9001").unwrap(), "http://127.0.0.1:9001");
        assert!(probe("9001").unwrap_err().contains("UPHELD_HEALTH"));
        assert!(own(&[("UPHELD_LISTEN", "9000")]).unwrap_err().contains("UPHELD_LISTEN"));
    }

    #[test]
    fn only_addresses_of_this_machine_are_not_verified() {
        for here in
            ["https://127.0.0.1:8181", "https://localhost", "http://localhost:1", "https://[::1]:8181", "https://[::1]"]
        {
            assert!(is_here(here), "{here}");
        }
        for elsewhere in
            ["https://localhost.example", "https://10.0.0.7:8181", "https://127.0.0.1.example:1", "https://a/127.0.0.1"]
        {
            assert!(!is_here(elsewhere), "{elsewhere}");
        }
    }
}
