//! Encrypted connections, and certificates of clients.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, RevokedCertParams, SanType, SerialNumber,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tempfile::TempDir;
use upheld_server::config::{Anonymous, Clients, Known, Limits, Need, Security, Tls};
use upheld_server::{Config, StartError, start};

use crate::support::Served;

/// An authority.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        parameters.distinguished_name.push(DnType::CommonName, "Authority");
        let key = KeyPair::generate().unwrap();
        let pem = parameters.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(parameters, key), pem }
    }

    /// A certificate and its key.
    fn certificate(&self, name: &str) -> (String, String) {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.subject_alt_names =
            vec![SanType::DnsName("localhost".try_into().unwrap()), SanType::IpAddress([127, 0, 0, 1].into())];
        let key = KeyPair::generate().unwrap();
        (parameters.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }
}

/// A folder with all that a server needs.
struct Files(TempDir);

impl Files {
    fn new(authority: &Authority) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.server(authority);
        files
    }

    fn server(&self, authority: &Authority) {
        let (certificate, key) = authority.certificate("server");
        self.write("server.pem", &certificate);
        self.write("server.key", &key);
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn tls(&self, clients: Option<Clients>) -> Tls {
        Tls { certificate: self.0.path().join("server.pem"), key: self.0.path().join("server.key"), clients }
    }

    fn clients(&self, authority: &Authority, need: Need) -> Clients {
        let known =
            |name: &str, role: &str| Known { name: name.to_owned(), roles: vec![role.to_owned()], groups: Vec::new() };
        let authority = self.write("clients.pem", &authority.pem);
        Clients {
            authority,
            revoked: Vec::new(),
            need,
            known: vec![known("writer", "author"), known("proxy-*", "asker")],
        }
    }
}

fn served(tls: Tls) -> Served {
    let security = Security { tls: Some(tls), ..Security::default() };
    let limits = Limits { head_time: Duration::from_secs(2), ..Limits::default() };
    Served::guarded(Config { security, limits, ..Config::default() })
}

/// Asks over TLS: the status, or nothing if there is no connection.
fn asked(served: &Served, trusted: &Authority, own: Option<&(String, String)>, line: &str, body: &str) -> Option<u16> {
    let mut stream = shaken(served, trusted, own, &[b"http/1.1"]);
    let length = body.len();
    let request = format!(
        "{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.split(' ').next()?.parse().ok())
}

fn shaken(
    served: &Served,
    trusted: &Authority,
    own: Option<&(String, String)>,
    protocols: &[&[u8]],
) -> StreamOwned<ClientConnection, std::net::TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(trusted.pem.as_bytes()).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match own {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
            builder
                .with_client_auth_cert(vec![certificate], PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap())
                .unwrap()
        }
    };
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let connection = ClientConnection::new(Arc::new(config), ServerName::try_from("localhost").unwrap()).unwrap();
    StreamOwned::new(connection, served.connect())
}

const PUT: &str = "PUT /v1/documents/AccessPolicy/access/a";
const POLICY: &str = r#"{"id": "a", "effect": "permit", "subjects": [], "resources": [], "actions": []}"#;

#[test]
fn an_encrypted_server_answers_encrypted_only() {
    let authority = Authority::new();
    let served = served(Files::new(&authority).tls(None));
    assert_eq!(asked(&served, &authority, None, "GET /healthz", ""), Some(200));
    assert_eq!(asked(&served, &Authority::new(), None, "GET /healthz", ""), None, "another authority");
    assert!(!served.raw(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").contains("200"));
    assert!(served.running().bootstrap_token().is_some());
}

#[test]
fn both_versions_of_http_are_offered() {
    let authority = Authority::new();
    let served = served(Files::new(&authority).tls(None));
    for (wanted, given) in [(&[&b"h2"[..], b"http/1.1"][..], &b"h2"[..]), (&[&b"http/1.1"[..]][..], b"http/1.1")] {
        let mut stream = shaken(&served, &authority, None, wanted);
        stream.conn.complete_io(&mut stream.sock).unwrap();
        assert_eq!(stream.conn.alpn_protocol(), Some(given));
    }
}

#[test]
fn silent_handshakes_block_nobody_and_end() {
    let authority = Authority::new();
    let served = served(Files::new(&authority).tls(None));
    let silent: Vec<_> = (0..50)
        .map(|number| {
            let mut stream = served.connect();
            if number % 2 == 0 {
                stream.write_all(b"\x16\x03\x01\x02\x00").unwrap();
            }
            stream
        })
        .collect();
    assert_eq!(asked(&served, &authority, None, "GET /healthz", ""), Some(200));
    for mut stream in silent {
        let ended = stream.read_to_end(&mut Vec::new()).map_err(|error| error.kind());
        assert_ne!(ended, Err(std::io::ErrorKind::WouldBlock), "still open");
    }
}

#[test]
fn a_required_certificate_says_who_it_is() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let files = Files::new(&authority);
    let served = served(files.tls(Some(files.clients(&clients, Need::Required))));
    assert_eq!(served.running().bootstrap_token(), None);
    let status = |own: Option<&(String, String)>, line: &str, body: &str| asked(&served, &authority, own, line, body);
    let (writer, proxy, other) =
        (clients.certificate("writer"), clients.certificate("proxy-7"), clients.certificate("other"));
    assert_eq!(status(None, "GET /healthz", ""), None);
    assert_eq!(status(Some(&authority.certificate("writer")), "GET /healthz", ""), None, "of another authority");
    assert_eq!(status(Some(&writer), PUT, POLICY), Some(201));
    assert_eq!(status(Some(&proxy), PUT, POLICY), Some(403));
    assert_eq!(status(Some(&proxy), "POST /v1/decide", "{}"), Some(200));
    assert_eq!(status(Some(&other), "POST /v1/decide", "{}"), Some(403));
    let mut stream = shaken(&served, &authority, Some(&writer), &[b"http/1.1"]);
    stream.write_all(b"GET /v1/revisions/1 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok();
    assert!(String::from_utf8_lossy(&answer).contains(r#""actor":"certificate:writer""#));
}

#[test]
fn who_need_not_have_a_certificate_may_be_anonymous() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let files = Files::new(&authority);
    let tls = Some(files.tls(Some(files.clients(&clients, Need::Optional))));
    let security = Security { tls, anonymous: Some(Anonymous::Read), ..Security::default() };
    let served = Served::guarded(Config { security, ..Config::default() });
    assert_eq!(asked(&served, &authority, None, "GET /v1/revisions", ""), Some(200));
    assert_eq!(asked(&served, &authority, None, PUT, POLICY), Some(401));
    assert_eq!(asked(&served, &authority, Some(&clients.certificate("writer")), PUT, POLICY), Some(201));
    let wrong = authority.certificate("writer");
    assert_eq!(asked(&served, &authority, Some(&wrong), "GET /v1/revisions", ""), None, "of another authority");
}

impl Authority {
    /// A certificate with a number, and its key.
    fn numbered(&self, name: &str, serial: u64) -> (String, String) {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.serial_number = Some(SerialNumber::from(serial));
        let key = KeyPair::generate().unwrap();
        (parameters.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    /// The list of those that do not count any more, valid until a year.
    fn revoked(&self, serials: &[u64], until: i32) -> String {
        let revoked = serials.iter().map(|serial| RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: rcgen::date_time_ymd(2024, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let list = CertificateRevocationListParams {
            this_update: rcgen::date_time_ymd(2024, 1, 1),
            next_update: rcgen::date_time_ymd(until, 1, 1),
            crl_number: SerialNumber::from(1_u64),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: rcgen::KeyIdMethod::Sha256,
        };
        list.signed_by(&self.issuer).unwrap().pem().unwrap()
    }
}

#[test]
fn revoked_certificates_are_refused_also_where_they_are_connected_already() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let files = Files::new(&authority);
    let list = files.write("clients.crl", &clients.revoked(&[7], 2199));
    let known = Clients { revoked: vec![list], ..files.clients(&clients, Need::Required) };
    let served = served(files.tls(Some(known)));
    let (good, bad) = (clients.numbered("writer", 8), clients.numbered("writer", 7));
    let ask = |own: &(String, String)| asked(&served, &authority, Some(own), "GET /v1/revisions", "");
    assert_eq!(ask(&good), Some(200));
    assert_eq!(ask(&bad), None, "it is on the list");

    // A stream, and a connection that waits for the next request.
    let mut stream = shaken(&served, &authority, Some(&good), &[b"http/1.1"]);
    stream.write_all(b"GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut first = [0; 15];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    let mut idle = shaken(&served, &authority, Some(&good), &[b"http/1.1"]);
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    idle.read_exact(&mut first).unwrap();
    files.write("clients.crl", &clients.revoked(&[7, 8], 2199));
    served.reload();
    for mut ended in [stream, idle] {
        let told = ended.read_to_end(&mut Vec::new()).map_err(|error| error.kind());
        assert_ne!(told.err(), Some(std::io::ErrorKind::WouldBlock), "still open");
    }
    assert_eq!(ask(&good), None, "it is on the list now");

    files.write("clients.crl", &clients.revoked(&[], 2025));
    served.reload();
    assert_eq!(ask(&bad), None, "a list that is too old says nothing, and lets nobody in");
    files.write("clients.crl", "nonsense");
    served.reload();
    assert_eq!(ask(&bad), None, "the last one stays");
    files.write("clients.crl", &clients.revoked(&[], 2199));
    served.reload();
    assert_eq!((ask(&good), ask(&bad)), (Some(200), Some(200)), "taken off the list");
}

#[test]
fn certificates_are_read_again() {
    let (old, new) = (Authority::new(), Authority::new());
    let files = Files::new(&old);
    let served = served(files.tls(None));
    assert_eq!(asked(&served, &old, None, "GET /healthz", ""), Some(200));
    files.server(&new);
    served.reload();
    assert_eq!(asked(&served, &new, None, "GET /healthz", ""), Some(200));
    assert_eq!(asked(&served, &old, None, "GET /healthz", ""), None);
    files.write("server.key", "nonsense");
    served.reload();
    assert_eq!(asked(&served, &new, None, "GET /healthz", ""), Some(200), "the last one stays");
}

#[test]
fn what_is_wrong_with_certificates_is_said_at_the_start() {
    let authority = Authority::new();
    let files = Files::new(&authority);
    let said = || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let security = Security { tls: Some(files.tls(None)), ..Security::default() };
        let config = Config { security, listen: "127.0.0.1:0".parse().unwrap(), ..Config::default() };
        match runtime.block_on(start(config)) {
            Err(StartError::Security(error)) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let key = authority.certificate("other").1;
    files.write("server.key", &key);
    let mismatch = said();
    assert!(mismatch.contains("server.pem") && !mismatch.contains("PRIVATE KEY"), "{mismatch}");
    files.write("server.key", "nonsense");
    assert!(said().contains("server.key: no private key"));
    files.write("server.pem", "");
    assert!(said().contains("server.pem: there is no certificate"));
}
