//! A stand-in for Traefik, which no package of the tests has: it reads the configuration of the example, and does to requests what the
//! documentation of Traefik says that its middlewares do. That Traefik does so is not tested here.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use serde_json::{Map, Value as Json};
use upheld_loader::Format;
use upheld_model::SourceId;

use super::parts::agent;

pub(super) const EXAMPLE: &str = include_str!("../../../../../examples/traefik/dynamic.yaml");

type Headers = Vec<(String, String)>;

/// What the example says.
#[derive(Clone, Debug)]
pub(super) struct Configuration(pub(super) Json);

impl Configuration {
    pub(super) fn read() -> Self {
        Self::of(EXAMPLE)
    }

    fn of(text: &str) -> Self {
        let (file, problems) = upheld_syntax::parse("dynamic.yaml", Format::Yaml, text.to_owned(), SourceId::new(0));
        assert!(problems.is_empty(), "{problems:?}");
        Self(serde_json::to_value(file.tree.documents().next().unwrap()).unwrap())
    }

    /// The middlewares of the router, in their order, with their names.
    pub(super) fn middlewares(&self) -> Vec<(String, &Map<String, Json>)> {
        let http = &self.0["http"];
        let names = http["routers"]["service"]["middlewares"].as_array().unwrap();
        let named = |name: &Json| {
            let name = name.as_str().unwrap();
            (name.to_owned(), http["middlewares"][name].as_object().unwrap_or_else(|| panic!("there is no {name}")))
        };
        names.iter().map(named).collect()
    }

    /// The headers that are removed before anybody is asked.
    pub(super) fn removed(&self) -> Vec<String> {
        let custom = |(_, middleware): (_, &Map<String, Json>)| {
            middleware.get("headers")?.get("customRequestHeaders")?.as_object().cloned()
        };
        let all = self.middlewares().into_iter().filter_map(custom).flatten();
        all.filter(|(_, value)| *value == "").map(|(name, _)| name.to_lowercase()).collect()
    }

    /// What is asked before a request goes on.
    pub(super) fn asks(&self) -> &Map<String, Json> {
        let mut all = self.middlewares().into_iter().filter_map(|(_, middleware)| middleware.get("forwardAuth"));
        all.next().and_then(Json::as_object).expect("forwardAuth")
    }

    /// The headers of the answer that go to the service.
    pub(super) fn copied(&self) -> Vec<String> {
        let names = self.asks()["authResponseHeaders"].as_array().unwrap();
        names.iter().map(|name| name.as_str().unwrap().to_lowercase()).collect()
    }
}

/// Starts it on a port of its own; its threads end with the tests.
pub(super) fn start(text: &str, server: SocketAddr, service: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let configuration = Configuration::of(text);
    let asks = configuration.asks()["address"].as_str().unwrap().replace("127.0.0.1:8181", &server.to_string());
    let (removed, copied) = (configuration.removed(), configuration.copied());
    let proxy = Arc::new(Proxy { asks, removed, copied, service, agent: agent() });
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let proxy = Arc::clone(&proxy);
            std::thread::spawn(move || proxy.serve(stream).ok());
        }
    });
    address
}

struct Proxy {
    asks: String,
    removed: Vec<String>,
    copied: Vec<String>,
    service: SocketAddr,
    agent: ureq::Agent,
}

/// What ends at a proxy.
const HOP_BY_HOP: [&str; 7] =
    ["connection", "keep-alive", "te", "trailers", "transfer-encoding", "upgrade", "content-length"];

impl Proxy {
    fn serve(&self, mut client: TcpStream) -> std::io::Result<()> {
        let from = client.peer_addr()?.ip();
        let Some((method, target, headers)) = head(&mut client) else {
            return client.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        };
        let answer = self.answer(from, &method, &target, headers)?;
        client.write_all(&answer)
    }

    fn answer(&self, from: IpAddr, method: &str, target: &str, mut headers: Headers) -> std::io::Result<Vec<u8>> {
        let is = |name: &str, header: &(String, String)| header.0.eq_ignore_ascii_case(name);
        let authenticated: Headers = headers.iter().filter(|header| is("x-identity", header)).cloned().collect();
        headers.retain(|(name, _)| !self.removed.contains(&name.to_lowercase()));
        // What authenticates, between the two: here it believes this machine alone.
        if from == IpAddr::V4(Ipv4Addr::LOCALHOST) {
            headers.extend(authenticated);
        }
        let host = headers.iter().find(|header| is("host", header)).map(|(_, host)| host.clone()).unwrap_or_default();

        let mut asked = headers.clone();
        asked.retain(|(name, _)| {
            let name = name.to_lowercase();
            name != "host" && !HOP_BY_HOP.contains(&name.as_str()) && !name.starts_with("x-forwarded-")
        });
        let from = from.to_string();
        let said = [("method", method), ("proto", "http"), ("host", &host), ("uri", target), ("for", &from)];
        asked.extend(said.map(|(name, value)| (format!("x-forwarded-{name}"), value.to_owned())));
        let mut question = self.agent.get(&self.asks);
        for (name, value) in &asked {
            question = question.header(name, value);
        }
        let Ok(mut judged) = question.call() else {
            return Ok(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec());
        };
        let text = |value: &ureq::http::HeaderValue| value.to_str().unwrap().to_owned();
        if !judged.status().is_success() {
            let mut answer = format!("HTTP/1.1 {}\r\nConnection: close\r\n", judged.status());
            for (name, value) in judged.headers().iter().filter(|(name, _)| !HOP_BY_HOP.contains(&name.as_str())) {
                answer.push_str(&format!("{name}: {}\r\n", text(value)));
            }
            let body = judged.body_mut().read_to_string().unwrap_or_default();
            return Ok(format!("{answer}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes());
        }
        headers.retain(|(name, _)| {
            let name = name.to_lowercase();
            !self.copied.contains(&name) && !HOP_BY_HOP.contains(&name.as_str())
        });
        let copied = self.copied.iter().filter_map(|name| Some((name.clone(), text(judged.headers().get(name)?))));
        headers.extend(copied.collect::<Headers>());

        let mut service = TcpStream::connect(self.service)?;
        let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        service.write_all(format!("{method} {target} HTTP/1.1\r\nConnection: close\r\n{lines}\r\n").as_bytes())?;
        let mut answer = Vec::new();
        service.read_to_end(&mut answer)?;
        Ok(answer)
    }
}

/// Method, path and headers of a request, as Go reads them: a fragment is part of the path, and two hosts are refused.
fn head(client: &mut TcpStream) -> Option<(String, String, Headers)> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let mut next = [0];
        client.read_exact(&mut next).ok()?;
        bytes.extend(next);
    }
    let text = String::from_utf8(bytes).ok()?;
    let mut lines = text.trim_end().split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let (host, path) = match target.strip_prefix("http://") {
        Some(rest) => rest.split_at_checked(rest.find('/')?).map(|(host, path)| (Some(host), path))?,
        None => (None, target),
    };
    let headers =
        lines.map(|line| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned())));
    let mut headers: Headers = headers.collect::<Option<_>>()?;
    let hosts = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host")).count();
    // The host of the target goes before the header.
    if let (Some(host), Some((_, value))) =
        (host, headers.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case("host")))
    {
        host.clone_into(value);
    }
    (path.starts_with('/') && hosts == 1).then(|| (method.to_owned(), path.replace('#', "%23"), headers))
}
