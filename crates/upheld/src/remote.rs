//! What a server knows, in place of files: its documents are taken along, and every command answers from them as it would from
//! files.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use serde::Deserialize;
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostic, Fault};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

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
    /// Its address: `http://localhost:8181`.
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
    pub(crate) fn fetch(&self) -> Result<Remote, Diagnostic> {
        let base = self.url.trim_end_matches('/');
        let query = self.at.map(|at| format!("?at={at}")).unwrap_or_default();
        let unreachable = |why: &dyn std::fmt::Display| {
            Diagnostic::error(Fault::Unreadable, format!("the server `{base}` cannot be reached: {why}"))
                .help("is it running? `upheld serve` starts one; `--server URL` says where it is")
        };
        let mut request = self.agent()?.get(format!("{base}/v1/snapshot{query}"));
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
            return Err(match status.as_u16() {
                401 | 403 => problem.help("put a token that may read into the environment variable UPHELD_TOKEN"),
                _ => problem,
            });
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
