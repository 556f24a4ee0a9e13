//! A server in this process, asked over its real address.

use std::path::Path;

use serde_json::Value as Json;
use tokio::runtime::Runtime;
use upheld_server::config::Security;
use upheld_server::{Config, Running, start};

/// A server over a folder, and somebody who asks it.
pub(crate) struct Client {
    runtime: Runtime,
    running: Option<Running>,
    agent: ureq::Agent,
}

impl Client {
    pub(crate) fn of(folder: &Path, semantics: Vec<String>) -> Self {
        let runtime = Runtime::new().unwrap();
        let listen = "127.0.0.1:0".parse().unwrap();
        let security = Security::open();
        let config = Config { listen, watch: vec![folder.to_owned()], semantics, security, ..Config::default() };
        let running = runtime.block_on(start(config)).unwrap();
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Self { runtime, running: Some(running), agent }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> std::net::SocketAddr {
        self.running.as_ref().unwrap().address()
    }

    /// The headers with editions and digest, and the body.
    pub(crate) fn asks(&self, path: &str, body: &Json) -> ([String; 2], Json) {
        let (status, headers, answer) = self.tries(path, body);
        assert!(matches!(status, 200 | 403), "{path}: {status}");
        (headers, answer)
    }

    /// The status, the headers with editions and digest, and the body.
    pub(crate) fn tries(&self, path: &str, body: &Json) -> (u16, [String; 2], Json) {
        let address = self.address();
        // What is not asked with a question is only looked at.
        let method = if body.is_null() { "GET" } else { "POST" };
        let request = ureq::http::Request::builder().method(method).uri(format!("http://{address}{path}"));
        let request = request.header("content-type", "application/json");
        let request = if path.starts_with("/forward-auth") {
            request.header("x-original-uri", "/a").header("x-original-method", "GET")
        } else {
            request
        };
        let request = request.body(if body.is_null() { String::new() } else { body.to_string() }).unwrap();
        let mut response = self.agent.run(request).unwrap();
        let header = |name: &str| response.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        let headers = [header("upheld-semantics"), header("upheld-digest")];
        let status = response.status().as_u16();
        let answer = serde_json::from_str(&response.body_mut().read_to_string().unwrap()).unwrap_or_default();
        (status, headers, answer)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            self.runtime.block_on(running.stop());
        }
    }
}
