//! A server for a test, and a client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use tokio::runtime::Runtime;
use upheld_server::config::{Security, Trust};
use upheld_server::{Config, Running, start};

/// A server that ends with the test.
pub(crate) struct Served {
    runtime: Runtime,
    running: Option<Running>,
    base: String,
    agent: ureq::Agent,
}

/// What it answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn of(mut response: ureq::http::Response<ureq::Body>) -> Self {
        let headers = response.headers().iter();
        let headers = headers.map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into()));
        Self {
            status: response.status().as_u16(),
            headers: headers.collect(),
            text: response.body_mut().read_to_string().unwrap(),
        }
    }

    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Served {
    /// Starts one on a free port of loopback, where everybody may do everything.
    pub(crate) fn start(config: Config) -> Self {
        Self::guarded(Config { security: Security::open(), ..config })
    }

    /// Starts one on a free port of loopback, with rights as configured.
    pub(crate) fn guarded(config: Config) -> Self {
        Self::on(Runtime::new().unwrap(), config)
    }

    /// The same, on threads of its own.
    pub(crate) fn on(runtime: Runtime, config: Config) -> Self {
        let config = Config { listen: "127.0.0.1:0".parse().unwrap(), ..config };
        let running = runtime.block_on(start(config)).unwrap();
        let base = format!("http://{}", running.address());
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Self { runtime, running: Some(running), base, agent }
    }

    /// Where it listens.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The server itself.
    pub(crate) fn running(&self) -> &Running {
        self.running.as_ref().unwrap()
    }

    /// Tells it to read its files again.
    pub(crate) fn reload(&self) {
        self.runtime.block_on(self.running().reload());
    }

    /// Sends bytes, and reads what comes back until the server closes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        String::from_utf8_lossy(&self.raw_bytes(bytes)).into_owned()
    }

    /// The same, as it was sent.
    pub(crate) fn raw_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        answer
    }

    /// A connection that gives up after a while.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.running().address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        self.ask("POST", path, &[("content-type", "application/json")], body)
    }

    /// Whoever says no format of a body means JSON.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let json = [("content-type", "application/json")];
        let is_said = body.is_empty() || headers.iter().any(|(name, _)| *name == "content-type");
        let said = if is_said { &[][..] } else { &json[..] };
        self.ask_bare(method, path, &[headers, said].concat(), body)
    }

    /// Exactly with these headers.
    pub(crate) fn ask_bare(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::of(self.agent.run(request.body(body.to_owned()).unwrap()).unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            self.runtime.block_on(running.stop());
        }
    }
}

/// Where a program is that `cargo xtask test` installs. `None` if it is not there and the tests are told that this is fine.
pub(crate) fn installed(name: &str, usual: &str, is_there: impl FnOnce(&Path) -> bool) -> Option<PathBuf> {
    let (variable, without) =
        (format!("UPHELD_{name}").to_uppercase(), format!("UPHELD_WITHOUT_{name}").to_uppercase());
    let path = std::env::var_os(&variable).map_or_else(|| PathBuf::from(usual), PathBuf::from);
    if is_there(&path) {
        return Some(path);
    }
    assert!(
        std::env::var_os(&without).is_some(),
        "there is no {name} at {}: `cargo xtask test --install` installs it, {variable} names another place, and {without}=1 does without",
        path.display()
    );
    eprintln!("note: there is no {name}, so nothing is tested with it");
    upheld_store::testing::left_out(name);
    None
}

/// Waits for what must come; how long it takes is not judged here.
pub(crate) fn eventually(what: impl Fn() -> bool) {
    let begin = Instant::now();
    while !what() {
        assert!(begin.elapsed() < Duration::from_secs(20), "it never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A server that believes what proxies on this machine pass on, as far as these settings say.
pub(crate) fn behind_proxy(trust: &[&str]) -> Config {
    let mut config = Config::default();
    let settings = trust.iter().chain(&["peer=127.0.0.0/8"]).map(|setting| (*setting).to_owned());
    config.access.trust = Trust::read(&settings.collect::<Vec<_>>()).unwrap();
    config
}
