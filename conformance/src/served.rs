//! A server of its own for a case: what passes in the library must pass over HTTP as well.

use std::sync::OnceLock;

use anyhow::{Context, bail};
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;
use upheld_server::config::{Admission, Trust};
use upheld_server::{Config, Running, start};

use crate::outcome::Outcome;

/// A server with an empty store that ends with its case.
pub(crate) struct Server {
    running: Option<Running>,
    base: String,
}

/// What it answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) text: String,
}

/// Documents that a server does not take, and why.
#[derive(Debug)]
pub(crate) struct NotTaken(String);

impl Answer {
    /// The body; text that is not JSON is itself.
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.text).unwrap_or_else(|_| Json::String(self.text.clone()))
    }

    /// A header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

const JSON: (&str, &str) = ("content-type", "application/json");

/// Cases are of any size.
const LARGEST: usize = 64 << 20;

impl Server {
    /// Starts one with some editions in force.
    pub(crate) fn start(semantics: &[&str]) -> anyhow::Result<Self> {
        let semantics = semantics.iter().map(|name| (*name).to_owned()).collect();
        Self::with(Config { semantics, ..Config::default() })
    }

    /// Starts one that believes what proxies on this machine pass on.
    pub(crate) fn behind_proxy(semantics: &[&str]) -> anyhow::Result<Self> {
        let semantics = semantics.iter().map(|name| (*name).to_owned()).collect();
        let mut config = Config { semantics, ..Config::default() };
        let trusted = ["peer=127.0.0.0/8", "app-header=x-app"].map(str::to_owned);
        config.access.trust = Trust::read(&trusted).map_err(|problem| anyhow::anyhow!(problem.message))?;
        Self::with(config)
    }

    /// Starts one with settings.
    pub(crate) fn with(config: Config) -> anyhow::Result<Self> {
        let mut config = Config { listen: ([127, 0, 0, 1], 0).into(), ..config };
        config.limits.body = LARGEST;
        config.limits.batch = usize::MAX;
        // Cases ask and write as if nobody stood at the door.
        config.security.admission = Admission::Everybody;
        let running = runtime()?.block_on(start(config)).context("the server does not start")?;
        let base = format!("http://{}", running.address());
        Ok(Self { running: Some(running), base })
    }

    /// Where it listens, as URLs begin.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Puts documents into its store, all of them or none.
    pub(crate) fn put(&self, documents: &[Json]) -> anyhow::Result<Result<(), NotTaken>> {
        self.write(JSON, &json!({"put": documents}).to_string())
    }

    /// Puts documents in YAML into its store.
    pub(crate) fn put_yaml(&self, documents: &str) -> anyhow::Result<Result<(), NotTaken>> {
        self.write(("content-type", "application/yaml"), documents)
    }

    fn write(&self, content: (&str, &str), body: &str) -> anyhow::Result<Result<(), NotTaken>> {
        let answer = self.ask("POST", "/v1/revisions", &[content], body)?;
        match answer.status {
            200 | 201 => Ok(Ok(())),
            422 => Ok(Err(NotTaken(answer.text))),
            status => bail!("the documents got status {status}: {}", answer.text),
        }
    }

    /// Asks.
    pub(crate) fn get(&self, path: &str) -> anyhow::Result<Answer> {
        self.ask("GET", path, &[], "")
    }

    /// Asks with a body of JSON.
    pub(crate) fn post(&self, path: &str, body: &Json) -> anyhow::Result<Answer> {
        self.ask("POST", path, &[JSON], &body.to_string())
    }

    /// Asks.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> anyhow::Result<Answer> {
        let mut request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = if body.is_empty() && method != "POST" {
            agent().run(request.body(())?)
        } else {
            agent().run(request.body(body.to_owned())?)
        }
        .with_context(|| format!("{method} {path}"))?;
        let headers = response.headers().iter();
        let headers = headers.map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into()));
        Ok(Answer {
            status: response.status().as_u16(),
            headers: headers.collect(),
            text: response.body_mut().with_config().limit(LARGEST as u64).read_to_string()?,
        })
    }
}

impl std::fmt::Display for NotTaken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the documents were refused: {}", self.0)
    }
}

impl std::error::Error for NotTaken {}

impl Drop for Server {
    fn drop(&mut self) {
        if let (Some(running), Ok(runtime)) = (self.running.take(), runtime()) {
            runtime.block_on(running.stop());
        }
    }
}

/// A case passes only if it does both ways. Where a library cannot show something, the server alone decides.
pub(crate) fn both(library: Outcome, served: anyhow::Result<Outcome>) -> Outcome {
    let served = served.unwrap_or_else(|problem| Outcome::failed(&problem));
    let (mut lines, mut open) = (Vec::new(), Vec::new());
    for (way, outcome) in [("library", library), ("served", served)] {
        match outcome {
            Outcome::Passed => {}
            Outcome::Failed(problems) => lines.extend(problems.iter().map(|line| format!("{way}: {line}"))),
            Outcome::Skipped(reason) => open.push((way, reason)),
        }
    }
    match open.pop() {
        _ if !lines.is_empty() => Outcome::Failed(lines),
        Some(("served", reason)) => Outcome::Skipped(reason),
        _ => Outcome::Passed,
    }
}

fn runtime() -> anyhow::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().ok()).as_ref().context("there is no runtime")
}

fn agent() -> &'static ureq::Agent {
    static AGENT: OnceLock<ureq::Agent> = OnceLock::new();
    AGENT.get_or_init(|| {
        let config = ureq::Agent::config_builder().http_status_as_error(false).allow_non_standard_methods(true);
        config.max_redirects(0).build().into()
    })
}
