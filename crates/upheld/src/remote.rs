//! What a server knows, in place of files: its documents are taken along, and every command answers from them as it would from
//! files.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use serde::Deserialize;
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostic, Fault};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

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
#[derive(Debug)]
pub(crate) struct Server<'s> {
    /// Its address: `http://localhost:8181`, or `localhost:8181`.
    pub(crate) url: &'s str,
    /// The token that it knows us by.
    pub(crate) token: Option<String>,
    /// A file with the certificate of whoever vouches for it, if nobody known to everybody does.
    pub(crate) authority: Option<String>,
    /// The revision; the current one, when left out.
    pub(crate) at: Option<&'s str>,
}

impl Server<'_> {
    /// Takes its documents along.
    pub(crate) fn fetch(&self) -> Result<Remote, NoAnswer> {
        let base = &with_scheme(self.url);
        let query = self.at.map(|at| format!("?at={at}")).unwrap_or_default();
        let unreachable = |why: &dyn std::fmt::Display| {
            let message = format!("the server `{base}` cannot be reached: {why}");
            let help = "is it running? `upheld serve` starts one; `--server URL` says where it is";
            NoAnswer::new(Diagnostic::error(Fault::Unreadable, message).help(help), Exit::Unreachable)
        };
        let agent = self.agent().map_err(|diagnostic| NoAnswer::new(diagnostic, Exit::Failed))?;
        let mut request = agent.get(format!("{base}/v1/snapshot{query}"));
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut response = request.call().map_err(|error| unreachable(&error))?;
        let status = response.status();
        let semantics = response.headers().get("upheld-semantics").and_then(|value| value.to_str().ok());
        let semantics = semantics.unwrap_or_default().split(", ").filter(|name| !name.is_empty());
        let semantics = semantics.map(str::to_owned).collect();
        let body = response.body_mut().with_config().limit(MOST).read_to_string();
        let body = body.map_err(|error| unreachable(&error))?;
        if !status.is_success() {
            let told: Option<Told> = serde_json::from_str(&body).ok();
            let detail = told.map_or_else(|| status.to_string(), |told| told.detail);
            let problem = Diagnostic::error(Fault::Unreadable, format!("the server `{base}` refuses: {detail}"));
            let diagnostic = match status.as_u16() {
                401 | 403 => problem.help("put a token that may read into the environment variable UPHELD_TOKEN"),
                _ => problem,
            };
            // Whoever asks for a revision that is not there is answered; a server that fails is not there.
            let exit = if status.is_server_error() { Exit::Unreachable } else { Exit::Failed };
            return Err(NoAnswer::new(diagnostic, exit));
        }
        let texts = body.lines().map(serde_json::from_str).collect::<Result<Vec<Text>, _>>();
        let texts = texts.map_err(|error| unreachable(&format!("it sends an unexpected answer: {error}")))?;
        Ok(Remote { texts, semantics })
    }

    fn agent(&self) -> Result<ureq::Agent, Diagnostic> {
        choose_encryption();
        let mut tls = TlsConfig::builder();
        if let Some(file) = &self.authority {
            let unreadable = |why: String| Diagnostic::error(Fault::Unreadable, format!("cannot read `{file}`: {why}"));
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

/// Why nothing was taken along.
#[derive(Debug)]
pub(crate) struct NoAnswer {
    pub(crate) diagnostic: Box<Diagnostic>,
    pub(crate) exit: Exit,
}

impl NoAnswer {
    fn new(diagnostic: Diagnostic, exit: Exit) -> Self {
        Self { diagnostic: Box::new(diagnostic), exit }
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
#[derive(Deserialize)]
struct Told {
    detail: String,
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
