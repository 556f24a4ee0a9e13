//! Encrypted connections, and who is at their other end.

use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use crate::auth::SecurityError;
use crate::config;
use crate::config::Need;

/// The one implementation of cryptography; made the default of the process, for whatever else encrypts in it.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    if CryptoProvider::get_default().is_none() {
        // When somebody else was quicker, theirs is the default; that is fine.
        rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
    }
    CryptoProvider::get_default().map_or_else(|| Arc::new(rustls::crypto::aws_lc_rs::default_provider()), Arc::clone)
}

/// What handshakes need. Connections keep what they began with.
#[derive(Debug)]
pub(crate) struct Tls {
    files: config::Tls,
    current: ArcSwap<ServerConfig>,
}

impl Tls {
    /// Reads the files.
    pub(crate) fn open(files: config::Tls) -> Result<Self, SecurityError> {
        let current = ArcSwap::from_pointee(read(&files)?);
        Ok(Self { files, current })
    }

    /// Reads the files again. What is broken is reported, and stays as it was.
    pub(crate) fn reload(&self) -> Result<(), SecurityError> {
        let read = read(&self.files);
        if let Err(error) = &read {
            tracing::error!(%error, "the certificate could not be reloaded; the previous one stays in use");
        }
        self.current.store(Arc::new(read?));
        Ok(())
    }

    /// For the next handshake.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.current.load_full())
    }
}

fn read(files: &config::Tls) -> Result<ServerConfig, SecurityError> {
    let certificates = certificates(&files.certificate)?;
    // The message could repeat what stands in the file.
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|_| SecurityError::file(&files.key, "no private key can be read from it"))?;
    let provider = provider();
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let builder =
        builder.with_safe_default_protocol_versions().map_err(|error| SecurityError::Setting(error.to_string()))?;
    let builder = match &files.clients {
        None => builder.with_no_client_auth(),
        Some(clients) => {
            let mut roots = RootCertStore::empty();
            for certificate in self::certificates(&clients.authority)? {
                roots.add(certificate).map_err(|error| SecurityError::file(&clients.authority, error))?;
            }
            let mut verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            if !clients.revoked.is_empty() {
                let lists: Result<Vec<_>, _> = clients.revoked.iter().map(|path| revoked(path)).collect();
                // A list that is too old to say anything lets nobody in: whoever was revoked since would not be on it.
                verifier = verifier.with_crls(lists?.into_iter().flatten()).enforce_revocation_expiration();
            }
            let verifier = match clients.need {
                Need::Required => verifier,
                Need::Optional => verifier.allow_unauthenticated(),
            };
            let verifier = verifier.build().map_err(|error| SecurityError::file(&clients.authority, error))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config =
        builder.with_single_cert(certificates, key).map_err(|error| SecurityError::file(&files.certificate, error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn revoked(path: &Path) -> Result<Vec<CertificateRevocationListDer<'static>>, SecurityError> {
    let unreadable = |_| SecurityError::file(path, "no list of revoked certificates can be read from it");
    let all: Result<Vec<_>, _> = CertificateRevocationListDer::pem_file_iter(path).map_err(unreadable)?.collect();
    let all = all.map_err(unreadable)?;
    if all.is_empty() {
        Err(SecurityError::file(path, "there is no list of revoked certificates in it"))
    } else {
        Ok(all)
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, SecurityError> {
    let unreadable = |_| SecurityError::file(path, "no certificate can be read from it");
    let all: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).map_err(unreadable)?.collect();
    let all = all.map_err(unreadable)?;
    if all.is_empty() { Err(SecurityError::file(path, "there is no certificate in it")) } else { Ok(all) }
}
