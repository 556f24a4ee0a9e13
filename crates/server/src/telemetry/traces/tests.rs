use std::sync::Mutex;

use axum::http::HeaderValue;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tracing_subscriber::layer::SubscriberExt;

use super::*;

type Received = std::sync::Arc<Mutex<Vec<u8>>>;

/// A collector that keeps what it gets.
async fn collector(tls: Option<TlsAcceptor>) -> (String, Received) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let scheme = if tls.is_some() { "https" } else { "http" };
    let address = format!("{scheme}://localhost:{}", listener.local_addr().unwrap().port());
    let received = Received::default();
    let kept = Received::clone(&received);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let kept = Received::clone(&kept);
            let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
                let kept = Received::clone(&kept);
                async move {
                    let body = request.into_body().collect().await?.to_bytes();
                    kept.lock().unwrap().extend_from_slice(&body);
                    // An empty message, and that all is well.
                    let answer = hyper::Response::builder()
                        .header("content-type", "application/grpc")
                        .header("grpc-status", "0")
                        .body(Full::new(Bytes::from_static(&[0, 0, 0, 0, 0])))
                        .unwrap_or_default();
                    Ok::<_, hyper::Error>(answer)
                }
            });
            let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            match tls.clone() {
                None => drop(tokio::spawn(builder.serve_connection(TokioIo::new(stream), service))),
                Some(tls) => drop(tokio::spawn(async move {
                    let stream = tls.accept(stream).await.unwrap();
                    builder.serve_connection(TokioIo::new(stream), service).await
                })),
            }
        }
    });
    (address, received)
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn traced(provider: &SdkTracerProvider, headers: &HeaderMap) -> Option<String> {
    let subscriber = tracing_subscriber::registry().with(layer(provider));
    tracing::subscriber::with_default(subscriber, || {
        let span = span("POST", "/v1/decide", headers);
        span.record("http.response.status_code", 200);
        trace_id(&span)
    })
}

#[test]
fn a_span_reaches_the_collector_as_part_of_the_trace_of_its_caller() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (endpoint, received) = runtime.block_on(collector(None));
    let _inside = runtime.enter();
    let provider = provider(&endpoint, None).unwrap();
    let mut headers = HeaderMap::new();
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    headers.insert("traceparent", HeaderValue::from_static(parent));
    assert_eq!(traced(&provider, &headers).as_deref(), Some("0af7651916cd43dd8448eb211c80319c"));
    end(&provider);
    let received = received.lock().unwrap();
    let trace = [0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c];
    assert!(contains(&received, &trace), "{} bytes", received.len());
    assert!(contains(&received, b"POST /v1/decide") && contains(&received, b"upheld"));
}

/// A certificate for this machine, as PEM, and what shows it.
fn encrypted() -> (String, TlsAcceptor) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let config = rustls::ServerConfig::builder_with_provider(crate::tls::provider());
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let mut config = config.with_single_cert(vec![made.cert.der().clone()], key.into()).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    (made.cert.pem(), TlsAcceptor::from(std::sync::Arc::new(config)))
}

#[test]
fn traces_go_over_tls_to_collectors_that_somebody_vouches_for() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (authority, tls) = encrypted();
    let folder = tempfile::tempdir().unwrap();
    let (right, wrong) = (folder.path().join("right.pem"), folder.path().join("wrong.pem"));
    std::fs::write(&right, authority).unwrap();
    std::fs::write(&wrong, encrypted().0).unwrap();
    for (authority, arrives) in [(Some(right), true), (Some(wrong), false), (None, false)] {
        let (endpoint, received) = runtime.block_on(collector(Some(tls.clone())));
        let _inside = runtime.enter();
        let provider = provider(&endpoint, authority.as_deref()).unwrap();
        traced(&provider, &HeaderMap::new());
        end(&provider);
        assert_eq!(contains(&received.lock().unwrap(), b"POST /v1/decide"), arrives, "{authority:?}");
    }
    let missing = folder.path().join("nothing.pem");
    let _inside = runtime.enter();
    assert!(provider("https://localhost:1", Some(&missing)).unwrap_err().contains("nothing.pem"));
}

#[test]
fn a_collector_that_is_away_stops_nobody() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let _inside = runtime.enter();
    // Nobody listens there.
    let provider = provider("http://127.0.0.1:1", None).unwrap();
    for _ in 0..5000 {
        traced(&provider, &HeaderMap::new());
    }
    end(&provider);
}

#[test]
fn an_address_is_needed_and_a_runtime() {
    let nothing = Operations::default();
    assert_eq!(endpoint(&nothing, |_| None), None);
    let set = |name: &str| (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| "http://c:4317".to_owned());
    assert_eq!(endpoint(&nothing, set).as_deref(), Some("http://c:4317"));
    let named = Operations { otlp: Some("http://d:4317".to_owned()), ..Operations::default() };
    assert_eq!(endpoint(&named, set).as_deref(), Some("http://d:4317"));
    assert!(provider("http://127.0.0.1:1", None).is_err());
}

#[test]
fn without_a_collector_there_is_no_span() {
    // Other tests trace in this process: what there is here must be said, too.
    let nobody = tracing::subscriber::NoSubscriber::default();
    let span = tracing::subscriber::with_default(nobody, || span("GET", "/", &HeaderMap::new()));
    assert!(span.is_disabled() && trace_id(&span).is_none());
}
