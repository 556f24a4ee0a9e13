//! Traces, as OpenTelemetry has them: sent to a collector in batches, from a thread of their own. What does not fit into the
//! queue is dropped, so that a collector that is slow or away never makes a request wait.

use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::http::HeaderMap;
use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_otlp::tonic_types::transport::{Certificate, ClientTlsConfig};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithTonicConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::registry::LookupSpan;

use crate::config::Operations;

/// Spans with this target are traced, and only they: what the sending of traces logs must not become traces.
pub(super) const TARGET: &str = "upheld_trace";

/// How long a collector may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// Where traces go.
pub(super) fn endpoint(operations: &Operations, environment: impl Fn(&str) -> Option<String>) -> Option<String> {
    let named = |name: &str| environment(name).filter(|value| !value.is_empty());
    let said = operations.otlp.clone();
    said.or_else(|| named("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")).or_else(|| named("OTEL_EXPORTER_OTLP_ENDPOINT"))
}

/// What sends them there. The collector is looked for when there is something to send.
pub(super) fn provider(endpoint: &str, authority: Option<&Path>) -> Result<SdkTracerProvider, String> {
    if tokio::runtime::Handle::try_current().is_err() {
        return Err("traces are sent by a runtime, and there is none here".to_owned());
    }
    let exporter = SpanExporter::builder().with_tonic().with_endpoint(endpoint).with_timeout(PATIENCE);
    let exporter = if endpoint.starts_with("https:") { exporter.with_tls_config(tls(authority)?) } else { exporter };
    let exporter = exporter.build().map_err(|error| error.to_string())?;
    let version = opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    // `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` go before.
    let named = std::env::var_os("OTEL_SERVICE_NAME").is_some_and(|name| !name.is_empty());
    let resource = Resource::builder().with_attribute(version);
    let resource = if named { resource } else { resource.with_service_name("upheld") };
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build())
}

/// Whom the collector must be vouched for by: who is named, or those whom browsers trust.
fn tls(authority: Option<&Path>) -> Result<ClientTlsConfig, String> {
    crate::tls::provider();
    let Some(path) = authority else { return Ok(ClientTlsConfig::new().with_webpki_roots()) };
    let pem = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)))
}

/// Who vouches for the collector.
pub(super) fn authority(operations: &Operations, environment: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let named = || environment("OTEL_EXPORTER_OTLP_CERTIFICATE").filter(|value| !value.is_empty()).map(PathBuf::from);
    operations.otlp_authority.clone().or_else(named)
}

/// What makes traces of spans.
pub(super) fn layer<S>(provider: &SdkTracerProvider) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
{
    let only = Targets::new().with_target(TARGET, LevelFilter::INFO);
    let tracer = provider.tracer("upheld");
    tracing_opentelemetry::layer()
        .with_tracer(tracer)
        .with_location(false)
        .with_threads(false)
        .with_filter(only)
        .boxed()
}

/// Sends what is left, for as long as a collector may take.
pub(super) fn end(provider: &SdkTracerProvider) {
    if let Err(error) = provider.shutdown_with_timeout(PATIENCE) {
        tracing::warn!(%error, "the last traces could not be sent");
    }
}

/// The span of a request. Whoever asks may be part of a trace already; then this is.
pub(super) fn span(method: &str, route: &str, headers: &HeaderMap) -> Span {
    let span = tracing::info_span!(
        target: TARGET,
        "request",
        otel.name = %format_args!("{method} {route}"),
        otel.kind = "server",
        otel.status_code = tracing::field::Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = tracing::field::Empty,
        upheld.request_id = tracing::field::Empty,
        upheld.caller = tracing::field::Empty,
    );
    if !span.is_disabled() && headers.contains_key("traceparent") {
        let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &Headers(headers));
        // It only fails where nobody traces.
        span.set_parent(parent).ok();
    }
    span
}

/// The trace that a span belongs to.
pub(super) fn trace_id(span: &Span) -> Option<String> {
    if span.is_disabled() {
        return None;
    }
    let context = span.context();
    let found = context.span().span_context().clone();
    found.is_valid().then(|| found.trace_id().to_string())
}

struct Headers<'h>(&'h HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(axum::http::HeaderName::as_str).collect()
    }
}

#[cfg(test)]
mod tests;
