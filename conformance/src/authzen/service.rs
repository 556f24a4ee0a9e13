//! Policies and a directory, and the calls that paths of HTTP stand for.

use std::sync::Arc;

use serde_json::Value as Json;
use upheld_dialects::access::Edition;
use upheld_dialects::access::authzen::{AuthZen, BadRequest, Directory};
use upheld_dialects::access::decider::{Decider, WhichKind};
use upheld_engine::Snapshot;
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_server::Config;

use crate::documents;
use crate::served::Server;

/// What answers the requests of a family.
#[derive(Debug)]
pub(super) struct Service {
    snapshot: Snapshot,
    directory: Arc<Directory>,
}

/// What becomes of a request over HTTP.
#[derive(Debug, PartialEq)]
pub(super) enum Response {
    /// Status 200 with this body.
    Good(Json),
    /// Status 400, and why.
    Bad(String),
}

/// How the world would call the server: what it publishes must not be what it listens on.
const PUBLIC_URL: &str = "https://decisions.example.com";

/// The calls of the standard.
#[derive(Clone, Copy, Debug)]
pub(super) enum Endpoint {
    Evaluation,
    Evaluations,
    SearchSubject,
    SearchResource,
    SearchAction,
}

impl Endpoint {
    /// The call at a path.
    pub(super) fn of(path: &str) -> Option<Self> {
        match path {
            "/access/v1/evaluation" => Some(Self::Evaluation),
            "/access/v1/evaluations" => Some(Self::Evaluations),
            "/access/v1/search/subject" => Some(Self::SearchSubject),
            "/access/v1/search/resource" => Some(Self::SearchResource),
            "/access/v1/search/action" => Some(Self::SearchAction),
            _ => None,
        }
    }
}

impl Service {
    /// Of policies in YAML, and of a directory as a document.
    pub(super) fn new(policies: &str, directory: &Json) -> anyhow::Result<Self> {
        let policies = Input::text("policies.yaml", Format::Yaml, policies);
        let directory = Input::text("directory.json", Format::Json, directory.to_string());
        match load(vec![policies, directory], &["access/strict"]) {
            Ok(Loaded { snapshot, .. }) => {
                let directory = snapshot.companion::<Directory>().cloned().unwrap_or_default();
                Ok(Self { snapshot, directory: Arc::new(directory) })
            }
            Err(broken) => Err(documents::refused(broken.diagnostics.as_slice())),
        }
    }

    /// The same policies and directory behind a server.
    pub(super) fn served(policies: &str, directory: &Json) -> anyhow::Result<Server> {
        let server = Server::with(Config { public_url: Some(PUBLIC_URL.to_owned()), ..Config::default() })?;
        server.put_yaml(policies)??;
        server.put(std::slice::from_ref(directory))??;
        Ok(server)
    }

    /// Answers a request.
    pub(super) fn call(&self, endpoint: Endpoint, request: &Json) -> anyhow::Result<Response> {
        let decider = Decider::of(&self.snapshot, WhichKind::Only, Edition::Strict);
        let decider = decider.map_err(|problem| anyhow::anyhow!(problem.message))?;
        let authzen = AuthZen::new(Decider { directory: &self.directory, ..decider }, None);
        let answer: Result<Json, BadRequest> = match endpoint {
            Endpoint::Evaluation => authzen.evaluation(request).map(|answer| answer.json()),
            Endpoint::Evaluations => authzen.evaluations(request).map(|batch| batch.json()),
            Endpoint::SearchSubject => authzen.search_subject(request).map(|found| found.json()),
            Endpoint::SearchResource => authzen.search_resource(request).map(|found| found.json()),
            Endpoint::SearchAction => authzen.search_action(request).map(|found| found.json()),
        };
        Ok(answer.map_or_else(|bad| Response::Bad(bad.to_string()), Response::Good))
    }
}
