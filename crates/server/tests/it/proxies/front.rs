//! Proxies with the configurations of the examples, on ports of their own.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::parts::{Ended, agent, send, until};
use crate::support::installed;

pub(super) const ENVOY_GRPC: &str = include_str!("../../../../../examples/envoy/envoy.yaml");
pub(super) const ENVOY_HTTP: &str = include_str!("../../../../../examples/envoy/envoy-http.yaml");
const NGINX: &str = include_str!("../../../../../examples/nginx/nginx.conf");
const CADDY: &str = include_str!("../../../../../examples/caddy/Caddyfile");
pub(super) const TRAEFIK: &str = include_str!("../../../../../examples/traefik/dynamic.yaml");

/// Where `cargo xtask test` puts programs.
const TARGET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target");

fn program(name: &str, place: &str) -> Option<PathBuf> {
    installed(name, &format!("{TARGET}/{place}"), Path::is_file)
}

/// A proxy that ends with the test.
pub(crate) struct Front {
    pub(crate) address: SocketAddr,
    _ends: (Ended, TempDir),
}

impl Front {
    /// Envoy, which asks over gRPC. `None` if there is no Envoy.
    pub(crate) fn envoy_grpc(server: SocketAddr, service: SocketAddr) -> Option<Self> {
        Self::envoy(ENVOY_GRPC, server, service)
    }

    /// Envoy, which asks over HTTP.
    pub(crate) fn envoy_http(server: SocketAddr, service: SocketAddr) -> Option<Self> {
        Self::envoy(ENVOY_HTTP, server, service)
    }

    fn envoy(example: &str, server: SocketAddr, service: SocketAddr) -> Option<Self> {
        let port = |address: SocketAddr| format!("port_value: {}", address.port());
        let configuration = example
            .replace("port_value: 10000", "port_value: 0")
            .replace("port_value: 8181", &port(server))
            .replace("port_value: 8080", &port(service))
            // The machine may be busy; whether Envoy waits is not what is tested.
            .replace("timeout: 0.5s", "timeout: 20s");
        Fronts::envoy(&configuration, &["front".to_owned()]).map(Self::only)
    }

    /// nginx. `None` if there is none.
    pub(crate) fn nginx(server: SocketAddr, service: SocketAddr) -> Option<Self> {
        Fronts::nginx(1, |addresses| example_of(NGINX, addresses, server, service)).map(Self::only)
    }

    /// Caddy. `None` if there is none.
    pub(crate) fn caddy(server: SocketAddr, service: SocketAddr) -> Option<Self> {
        Fronts::caddy(1, |addresses| example_of(CADDY, addresses, server, service)).map(Self::only)
    }

    /// Traefik. `None` if there is none.
    pub(crate) fn traefik(server: SocketAddr, service: SocketAddr) -> Option<Self> {
        // An authentication between the two believes this machine alone.
        let authenticated = "routers:
    authenticated:
      rule: PathPrefix(`/`) && ClientIP(`127.0.0.1`)
      middlewares: [authentication, upheld]
      service: service";
        let removes_others = "middlewares:
    authentication:
      headers:
        customRequestHeaders: {X-Original-URI: '', X-Original-Method: ''}";
        let example =
            TRAEFIK.replace("routers:", authenticated).replace("  middlewares:\n", &format!("  {removes_others}\n"));
        Fronts::traefik(&example_of(&example, &[], server, service), &[]).map(Self::only)
    }

    fn only(fronts: Fronts) -> Self {
        let Fronts { addresses, ends } = fronts;
        Self { address: addresses.into_iter().next().expect("an address"), _ends: ends }
    }
}

/// An example on ports of its own.
pub(super) fn example_of(example: &str, addresses: &[SocketAddr], server: SocketAddr, service: SocketAddr) -> String {
    let listens = addresses.first().map_or_else(|| ":10000".to_owned(), |address| format!(":{}", address.port()));
    example
        .replace(":10000", &listens)
        .replace("127.0.0.1:8181", &server.to_string())
        .replace("127.0.0.1:8080", &service.to_string())
        .replace("_timeout 1s", "_timeout 20s")
}

/// One proxy with several configurations, each at an address of its own.
pub(super) struct Fronts {
    pub(super) addresses: Vec<SocketAddr>,
    ends: (Ended, TempDir),
}

impl Fronts {
    /// Envoy with listeners of these names. `None` if there is no Envoy.
    pub(super) fn envoy(configuration: &str, names: &[String]) -> Option<Self> {
        let binary = program("Envoy", "envoy/envoy/_bin/envoy")?;
        let folder = TempDir::new().unwrap();
        let (file, admin) = (folder.path().join("envoy.yaml"), folder.path().join("admin"));
        let own = "admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}\n";
        std::fs::write(&file, format!("{own}{configuration}")).unwrap();
        let mut command = Command::new(binary);
        command.arg("-c").arg(&file).arg("--admin-address-path").arg(&admin);
        command.args(["--use-dynamic-base-id", "--concurrency", "1", "--log-level", "error"]);
        let process = Ended::start(command.stdin(Stdio::null()).stdout(Stdio::null()));
        let admin = until("Envoy", || std::fs::read_to_string(&admin).ok().filter(|text| !text.is_empty()));
        let addresses = until("Envoy's listeners", || {
            let mut answer = agent().get(format!("http://{}/listeners", admin.trim())).call().ok()?;
            let text = answer.body_mut().read_to_string().ok()?;
            let of = |name: &String| {
                text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix("::"))?.trim().parse().ok()
            };
            names.iter().map(of).collect()
        });
        Some(Self { addresses, ends: (process, folder) })
    }

    /// nginx. `None` if there is none.
    pub(super) fn nginx(count: usize, configure: impl Fn(&[SocketAddr]) -> String) -> Option<Self> {
        let binary = program("nginx", "nginx/usr/sbin/nginx")?;
        Some(Self::on_free_ports(count, configure, |file, folder| {
            let mut command = Command::new(&binary);
            command.arg("-p").arg(folder).arg("-c").arg(file);
            // One process, which ends when it is killed.
            command.args(["-e", "stderr", "-g", "daemon off; master_process off;"]);
            command
        }))
    }

    /// Caddy. `None` if there is none.
    pub(super) fn caddy(count: usize, configure: impl Fn(&[SocketAddr]) -> String) -> Option<Self> {
        let binary = program("Caddy", "caddy/usr/bin/caddy")?;
        Some(Self::on_free_ports(count, configure, |file, folder| {
            let mut command = Command::new(&binary);
            command.args(["run", "--adapter", "caddyfile", "--config"]).arg(file);
            // It keeps what it remembers in the folders of its user.
            command.env("HOME", folder).env("XDG_CONFIG_HOME", folder).env("XDG_DATA_HOME", folder);
            command.stderr(Stdio::null());
            command
        }))
    }

    /// Traefik with this dynamic configuration, and options of its own. `None` if there is none.
    pub(super) fn traefik(configuration: &str, options: &[&str]) -> Option<Self> {
        let binary = program("Traefik", "traefik/bin/traefik")?;
        let dynamic = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
        std::fs::write(dynamic.path(), configuration).unwrap();
        let listens = |addresses: &[SocketAddr]| format!("--entryPoints.front.address={}", addresses[0]);
        let fronts = Self::on_free_ports(1, listens, |file, _| {
            let mut command = Command::new(&binary);
            command.arg(std::fs::read_to_string(file).unwrap());
            command.arg(format!("--providers.file.filename={}", dynamic.path().display()));
            command.args(["--providers.file.watch=false", "--log.level=FATAL"]);
            command.args(["--global.checkNewVersion=false", "--global.sendAnonymousUsage=false"]).args(options);
            command
        });
        // It listens before it knows its routes. Every policy of the tests denies this request.
        let probe = b"GET / HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n";
        let address = fronts.addresses[0];
        until("the routes of Traefik", || {
            let answer = send(Ipv4Addr::LOCALHOST.into(), address, probe);
            (!answer.is_empty() && !answer.starts_with("HTTP/1.1 404")).then_some(())
        });
        Some(fronts)
    }

    /// For those who do not tell on which port they listen: somebody else may be faster on a port that was free.
    fn on_free_ports(
        count: usize,
        configure: impl Fn(&[SocketAddr]) -> String,
        command: impl Fn(&Path, &Path) -> Command,
    ) -> Self {
        for _ in 0..5 {
            let folder = TempDir::new().unwrap();
            let held: Vec<TcpListener> =
                (0..count).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()).collect();
            let addresses: Vec<SocketAddr> = held.iter().map(|port| port.local_addr().unwrap()).collect();
            drop(held);
            let file = folder.path().join("configuration");
            std::fs::write(&file, configure(&addresses)).unwrap();
            let mut process = Ended::start(command(&file, folder.path()).stdin(Stdio::null()).stdout(Stdio::null()));
            let listens = until("the proxy", || {
                let is_there = |address: &SocketAddr| TcpStream::connect(address).is_ok();
                if process.is_over() { Some(false) } else { addresses.iter().all(is_there).then_some(true) }
            });
            if listens {
                return Self { addresses, ends: (process, folder) };
            }
        }
        panic!("the proxy does not start");
    }
}
