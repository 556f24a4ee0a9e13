//! The product, asked as proxies and programs ask it: bytes over a connection.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value as Json;
use smol_str::SmolStr;
use tempfile::TempDir;
use tokio::net::TcpSocket;
use tokio::runtime::Runtime;
use tonic::transport::{Channel, Endpoint};
use upheld_server::Config;
use upheld_server::config::Trust;

use super::envoy;
use super::model::Word;
use super::worlds::{Ask, Check, Http, World};
use crate::grpc::proto::envoy::service::auth::v3::CheckRequest;
use crate::grpc::proto::envoy::service::auth::v3::authorization_client::AuthorizationClient;
use crate::support::Served;

/// What the product made of a request, and what it says about it.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) word: Word,
    pub(super) reason: String,
}

/// A server of one world, with clients.
pub(super) struct Product {
    // A server waits for its connections when it ends, so these end first.
    connections: BTreeMap<IpAddr, TcpStream>,
    channel: Channel,
    _served: Served,
    address: SocketAddr,
    _folder: TempDir,
}

/// What clients do on. It has a thread of its own: connections are closed behind their back.
pub(super) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

pub(super) fn documents(world: &World) -> String {
    let all = [&world.manifest].into_iter().chain(&world.policies).chain(&world.directory);
    all.map(Json::to_string).collect::<Vec<_>>().join("\n---\n")
}

impl Product {
    pub(super) fn start(world: &World, runtime: &Runtime) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file: PathBuf = folder.path().join("world.yaml");
        std::fs::write(&file, documents(world)).unwrap();
        let mut config = Config { watch: vec![file], ..Config::default() };
        config.access.trust = Trust::read(&world.trust.settings()).unwrap();
        config.access.fulfilled = world.trust.fulfils.iter().copied().map(SmolStr::new_static).collect();
        // Denials are what is asked for.
        config.limits.refusals = u32::MAX;
        let served = Served::start(config);
        let address = served.running().address();
        let endpoint = Endpoint::from_shared(served.base().to_owned()).unwrap().timeout(Duration::from_secs(20));
        let channel = runtime.block_on(async { endpoint.connect_lazy() });
        Self { _served: served, address, _folder: folder, connections: BTreeMap::new(), channel }
    }

    pub(super) fn ask(&mut self, ask: &Ask, runtime: &Runtime) -> Said {
        match ask {
            Ask::Forward(http) => self.forward(http, runtime),
            Ask::Check(check) => self.check(check, runtime),
            Ask::Decide(body) => self.program("/v1/decide", body, runtime),
            Ask::Evaluation(body) => self.program("/access/v1/evaluation", body, runtime),
        }
    }

    fn program(&mut self, target: &str, body: &Json, runtime: &Runtime) -> Said {
        let headers = vec![
            ("host".to_owned(), "localhost".to_owned()),
            ("content-type".to_owned(), "application/json".to_owned()),
        ];
        let from = IpAddr::from([127, 0, 0, 1]);
        let http = Http { from, method: "POST".to_owned(), target: target.to_owned(), headers };
        let answer = self.exchange(&http, &body.to_string(), runtime);
        assert_eq!(answer.status, 200, "{target} {body}: {}", answer.body);
        let body: Json = serde_json::from_str(&answer.body).unwrap();
        let word = match &body["decision"] {
            Json::Bool(true) => "permit",
            Json::Bool(false) => body["context"]["decision"].as_str().unwrap_or("deny"),
            word => word.as_str().unwrap_or_default(),
        };
        Said { word: word_of(word), reason: body.to_string() }
    }

    fn forward(&mut self, http: &Http, runtime: &Runtime) -> Said {
        let answer = self.exchange(http, "", runtime);
        let decision = answer.header("x-policy-decision").unwrap_or_default().to_owned();
        let reason = answer.header("x-policy-reason").map_or_else(|| answer.body.clone(), str::to_owned);
        let word = match (answer.status, decision.as_str()) {
            (200, "excluded") => Word::Excluded,
            (200, "permit") => Word::Permit,
            (200, other) => panic!("opened by `{other}`: {http:?}"),
            (403, "") | (400, _) => Word::Refused,
            (403, word) => word_of(word),
            (status, _) => panic!("status {status} for {http:?}: {}", answer.body),
        };
        Said { word, reason }
    }

    fn check(&self, check: &Check, runtime: &Runtime) -> Said {
        let asked = CheckRequest { attributes: Some(envoy::attributes(check)) };
        let mut client = AuthorizationClient::new(self.channel.clone());
        let response = runtime.block_on(client.check(asked)).unwrap().into_inner();
        let is_open = response.status.as_ref().unwrap().code == 0;
        let metadata = response.dynamic_metadata.map(crate::grpc::json_of).unwrap_or_default();
        let word = match (is_open, metadata["decision"].as_str().unwrap_or_default()) {
            (true, "permit") => Word::Permit,
            (true, "excluded") => Word::Excluded,
            (true, other) => panic!("opened by `{other}`: {check:?}"),
            (false, word) => word_of(word),
        };
        Said { word, reason: metadata.to_string() }
    }

    fn exchange(&mut self, http: &Http, body: &str, runtime: &Runtime) -> Answer {
        let mut bytes = format!("{} {} HTTP/1.1\r\n", http.method, http.target);
        for (name, value) in &http.headers {
            bytes.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            bytes.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        bytes.push_str("\r\n");
        bytes.push_str(body);
        let kept = self.connections.remove(&http.from);
        let is_kept = kept.is_some();
        let stream = kept.unwrap_or_else(|| self.connect(http.from, runtime));
        match answered(stream, bytes.as_bytes(), &http.method) {
            Ok((answer, kept)) => {
                if let Some(kept) = kept {
                    self.connections.insert(http.from, kept);
                }
                answer
            }
            // It was closed meanwhile.
            Err(_) if is_kept => {
                let stream = self.connect(http.from, runtime);
                answered(stream, bytes.as_bytes(), &http.method).unwrap().0
            }
            Err(error) => panic!("{error} for {bytes}"),
        }
    }

    fn connect(&self, from: IpAddr, runtime: &Runtime) -> TcpStream {
        let stream = runtime.block_on(async {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind(SocketAddr::new(from, 0)).unwrap();
            socket.connect(self.address).await.unwrap().into_std().unwrap()
        });
        stream.set_nonblocking(false).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }
}

fn word_of(word: &str) -> Word {
    match word {
        "permit" => Word::Permit,
        "deny" => Word::Deny,
        "undecided" => Word::Undecided,
        "foreign" | "" => Word::Refused,
        other => panic!("`{other}` is no decision"),
    }
}

struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Sends a request, and reads the answer. The connection, if it can be used again.
fn answered(mut stream: TcpStream, bytes: &[u8], method: &str) -> std::io::Result<(Answer, Option<TcpStream>)> {
    stream.write_all(bytes)?;
    let (mut read, mut part) = (Vec::new(), [0; 8192]);
    let end = loop {
        if let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        match stream.read(&mut part)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            count => read.extend_from_slice(&part[..count]),
        }
    };
    let head = String::from_utf8_lossy(&read[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok()).unwrap();
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers: Vec<_> = headers.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect();
    let mut answer = Answer { status, headers, body: String::new() };
    let length: usize = match answer.header("content-length") {
        Some(length) if method != "HEAD" => length.parse().unwrap(),
        _ => 0,
    };
    assert!(answer.header("transfer-encoding").is_none(), "answers have a length: {head}");
    while read.len() < end + 4 + length {
        match stream.read(&mut part)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            count => read.extend_from_slice(&part[..count]),
        }
    }
    answer.body = String::from_utf8_lossy(&read[end + 4..]).into_owned();
    let is_closed = answer.header("connection") == Some("close");
    Ok((answer, (!is_closed).then_some(stream)))
}
