//! What a server knows, in place of files: its documents are taken along, and commands answer from them as they would from files; or it is
//! asked itself, where it answers for whoever has a token.

use std::fmt;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostic, Fault};
use ureq::http::{Response, StatusCode};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Body, RequestBuilder};

use crate::exit::Exit;

/// Documents of a server at one revision.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    texts: Vec<Text>,
    /// The editions in force there.
    pub(crate) semantics: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Text {
    name: String,
    /// Told by the name where it is left out.
    format: Option<Written>,
    #[serde(rename = "text")]
    content: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Written {
    Json,
}

/// Whom to ask, and as whom.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// Its address: `http://localhost:8181`, or `localhost:8181`.
    pub(crate) url: String,
    /// The token that it knows us by.
    pub(crate) token: Option<String>,
    /// A file with the certificate of whoever vouches for it, if nobody known to everybody does.
    pub(crate) authority: Option<String>,
    /// The revision; the current one, when left out.
    pub(crate) at: Option<String>,
}

/// A question that a server answers itself.
#[derive(Debug)]
pub(crate) struct Asked<'q> {
    /// The last part of its address.
    pub(crate) about: &'static str,
    /// What stands in the address beside it.
    pub(crate) parameters: Vec<(&'static str, &'q str)>,
    /// The rest of the question, and how it is written.
    pub(crate) body: String,
    pub(crate) format: Format,
}

impl Server {
    /// Takes its documents along.
    pub(crate) fn fetch(&self) -> Result<Remote, NoAnswer> {
        let base = self.base();
        let request = self.agent()?.get(format!("{base}/v1/snapshot")).query_pairs(self.revision());
        let response = self.known_to(request).call().map_err(|error| self.unreachable(&error))?;
        let semantics = response.headers().get("upheld-semantics").and_then(|value| value.to_str().ok());
        let semantics = semantics.unwrap_or_default().split(", ").filter(|name| !name.is_empty());
        let semantics = semantics.map(str::to_owned).collect();
        let body = self.answered(response)?;
        let texts = body.lines().map(serde_json::from_str).collect::<Result<Vec<Text>, _>>();
        let texts = texts.map_err(|error| self.unexpected(&error))?;
        Ok(Remote { texts, semantics })
    }

    /// Lets it answer a question itself.
    pub(crate) fn ask<A: DeserializeOwned>(&self, asked: Asked<'_>) -> Result<A, NoAnswer> {
        let Asked { about, parameters, body, format } = asked;
        let media = match format {
            Format::Yaml => "application/yaml",
            Format::JsonLines => "application/x-ndjson",
            _ => "application/json",
        };
        let request = self.agent()?.post(format!("{}/v1/{about}", self.base())).header("content-type", media);
        let request = request.query_pairs(self.revision()).query_pairs(parameters);
        let response = self.known_to(request).send(body).map_err(|error| self.unreachable(&error))?;
        serde_json::from_str(&self.answered(response)?).map_err(|error| self.unexpected(&error))
    }

    /// Its whole history, to be checked here.
    #[cfg(feature = "server")]
    pub(crate) fn history(&self) -> Result<History, NoAnswer> {
        let request = self.known_to(self.agent()?.get(format!("{}/v1/history", self.base())));
        let mut response = request.call().map_err(|error| self.unreachable(&error))?;
        if response.status() == StatusCode::INTERNAL_SERVER_ERROR {
            let body = response.body_mut().read_to_string().unwrap_or_default();
            let told: Told = serde_json::from_str(&body).unwrap_or_default();
            if told.sort.ends_with("/damaged-history") {
                return Ok(History::Damaged(told.detail));
            }
            return Err(self.unexpected(&body));
        }
        self.answered(response).map(History::Lines)
    }

    pub(crate) fn base(&self) -> String {
        with_scheme(&self.url)
    }

    fn revision(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.at.as_deref().map(|at| ("at", at)).into_iter()
    }

    fn known_to<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        match &self.token {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    pub(crate) fn unreachable(&self, why: &dyn fmt::Display) -> NoAnswer {
        let message = format!("the server `{}` cannot be reached: {why}", self.base());
        let help = "is it running? `upheld serve` starts one; `--server URL` says where it is";
        NoAnswer::new(Diagnostic::error(Fault::Unreadable, message).help(help), Exit::Unreachable)
    }

    fn unexpected(&self, why: &dyn fmt::Display) -> NoAnswer {
        self.unreachable(&format!("it sends an unexpected answer: {why}"))
    }

    /// The body of an answer; what it says of itself if it is none.
    fn answered(&self, mut response: Response<Body>) -> Result<String, NoAnswer> {
        let status = response.status();
        let body = response.body_mut().with_config().limit(MOST).read_to_string();
        let body = body.map_err(|error| self.unreachable(&error))?;
        if status.is_success() {
            return Ok(body);
        }
        let told: Told = serde_json::from_str(&body).unwrap_or_default();
        // Whoever asks for what is not there is answered; a server that fails is not there.
        let exit = if status.is_server_error() { Exit::Unreachable } else { Exit::Failed };
        if status == StatusCode::UNPROCESSABLE_ENTITY && !told.diagnostics.is_empty() {
            return Err(NoAnswer { diagnostics: told.diagnostics.into_iter().map(Diagnostic::from).collect(), exit });
        }
        let detail = if told.detail.is_empty() { status.to_string() } else { told.detail };
        let message = format!("the server `{}` refuses: {detail}", self.base());
        let problem = Diagnostic::error(Fault::Unreadable, message);
        let diagnostic = match status.as_u16() {
            401 | 403 => problem.help("put a token that may read into the environment variable UPHELD_TOKEN"),
            _ => problem,
        };
        Err(NoAnswer::new(diagnostic, exit))
    }

    pub(crate) fn agent(&self) -> Result<ureq::Agent, NoAnswer> {
        let unusable = |diagnostic| NoAnswer::new(diagnostic, Exit::Failed);
        choose_encryption();
        let mut tls = TlsConfig::builder();
        if let Some(file) = &self.authority {
            let unreadable =
                |why: String| unusable(Diagnostic::error(Fault::Unreadable, format!("cannot read `{file}`: {why}")));
            let pem = std::fs::read(file).map_err(|error| unreadable(error.to_string()))?;
            let mut certificates: Vec<Certificate<'static>> = Vec::new();
            for item in parse_pem(&pem) {
                if let PemItem::Certificate(certificate) = item.map_err(|error| unreadable(error.to_string()))? {
                    certificates.push(certificate);
                }
            }
            tls = tls.root_certs(RootCerts::Specific(Arc::new(certificates)));
        }
        let config = ureq::Agent::config_builder().http_status_as_error(false).tls_config(tls.build());
        Ok(config.build().into())
    }
}

/// What a server says of its history.
#[cfg(feature = "server")]
#[derive(Debug)]
pub(crate) enum History {
    /// All of it, as `export` writes it.
    Lines(String),
    /// It contradicts itself, and why.
    Damaged(String),
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct NoAnswer {
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) exit: Exit,
}

impl NoAnswer {
    pub(crate) fn new(diagnostic: Diagnostic, exit: Exit) -> Self {
        Self { diagnostics: vec![diagnostic], exit }
    }
}

/// The address with a scheme: on this machine nothing is encrypted, elsewhere everything.
fn with_scheme(url: &str) -> String {
    let url = url.trim_end_matches('/');
    if url.contains("://") {
        return url.to_owned();
    }
    let authority = url.split('/').next().unwrap_or_default();
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    let is_here = host == "localhost"
        || host == "[::1]"
        || host.parse().is_ok_and(|address: std::net::Ipv4Addr| address.is_loopback());
    format!("{}://{url}", if is_here { "http" } else { "https" })
}

/// Whatever encrypts in this process does it in one way, the one that the server takes, too.
fn choose_encryption() {
    if CryptoProvider::get_default().is_none() {
        // When somebody else was quicker, theirs is the default; that is fine.
        rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
    }
}

/// Bytes that are taken along at most.
const MOST: u64 = 1 << 31;

/// What a server says when it refuses.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Told {
    /// An address that ends in the sort of problem.
    #[serde(rename = "type")]
    sort: String,
    detail: String,
    /// What is wrong with the question.
    diagnostics: Vec<Problem>,
}

/// What is wrong with a question, without its place: that is in the text of the server.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    code: String,
    message: String,
    help: Vec<String>,
}

impl From<Problem> for Diagnostic {
    fn from(Problem { code, message, help }: Problem) -> Self {
        let known = Fault::ALL.iter().copied().find(|fault| fault.code() == code);
        help.into_iter().fold(Self::error(known.unwrap_or(Fault::Unreadable), message), Self::help)
    }
}

impl Remote {
    /// The documents, as if they were files.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = Input> + '_ {
        self.texts.iter().map(|Text { name, format, content }| match format {
            Some(Written::Json) => Input::text(name.clone(), Format::Json, content.clone()),
            None => Input::bytes(name.clone(), content.clone().into_bytes()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::with_scheme;

    #[test]
    fn an_address_without_a_scheme_is_encrypted_unless_it_is_this_machine() {
        for (written, expected) in [
            ("localhost:4711", "http://localhost:4711"),
            ("127.0.0.1:4711/", "http://127.0.0.1:4711"),
            ("[::1]:4711", "http://[::1]:4711"),
            ("policies.example", "https://policies.example"),
            ("policies.example:8443/upheld", "https://policies.example:8443/upheld"),
            ("127.example:80", "https://127.example:80"),
            ("http://policies.example", "http://policies.example"),
        ] {
            assert_eq!(with_scheme(written), expected, "{written}");
        }
    }
}
