//! What is wrong with a policy by itself: references that lead nowhere or are not allowed, values that cannot be.
//!
//! A policy with errors is not applied, and what it is attached to answers with an error instead: a route without one of its
//! policies could be less safe than anybody wanted.

mod addresses;
mod extensions;
mod secrets;

use upheld_engine::ObjectId;
use upheld_model::tree::{Kind, Value};

use super::policy_type::PolicyType;
use super::references::{References, Unresolved, list};
use crate::document::Resource;
use crate::gateways::gateway_api::grants::End;

/// All errors of a policy, in the order of its checks.
pub(super) fn of(
    policy: PolicyType,
    namespace: &str,
    resource: Resource<'_>,
    references: &References<'_>,
) -> Vec<String> {
    let Some(spec) = resource.spec() else { return Vec::new() };
    let from = End { group: policy.group(), kind: policy.name(), namespace };
    match policy {
        PolicyType::Traffic => traffic(from, spec, references),
        PolicyType::Listener => {
            let blocks = list(spec, "perPort").filter_map(|port| port.get("listener")).chain(spec.get("default"));
            let http = blocks.filter_map(|block| block.get("httpSettings"));
            http.flat_map(|settings| http_settings(from, settings, references)).collect()
        }
        PolicyType::HttpListener => http_settings(from, spec, references),
        PolicyType::BackendConfig => {
            let secret = spec.at_path(&["tls", "secretRef"]);
            secret.and_then(|secret| secrets::reference(from, secret, references).err()).into_iter().collect()
        }
        PolicyType::BackendTls | PolicyType::DirectResponse => Vec::new(),
    }
}

fn traffic(from: End<'_>, spec: Value<'_>, references: &References<'_>) -> Vec<String> {
    let set = |path: &[&str]| spec.at_path(path).filter(|value| value.kind() != Kind::Null);
    let extension = |place: &extensions::Place| {
        let settings = set(place.path)?;
        extensions::check(from, place, settings, references).err()
    };
    let mut errors: Vec<String> = extensions::BEFORE.iter().filter_map(extension).collect();
    errors.extend(set(&["headerModifiers"]).and_then(|settings| secrets::headers(from, settings, references).err()));
    errors.extend(set(&["acl"]).and_then(|acl| addresses::access_list(acl).err()));
    errors.extend(set(&["apiKeyAuth"]).and_then(|settings| secrets::api_keys(from, settings, references).err()));
    errors.extend(extensions::AFTER.iter().filter_map(extension));
    errors.extend(set(&["basicAuth"]).and_then(|settings| secrets::basic(from, settings, references).err()));
    errors
}

/// Backends that logs and traces go to, and proxies that are trusted.
fn http_settings(from: End<'_>, settings: Value<'_>, references: &References<'_>) -> Vec<String> {
    let logs = list(settings, "accessLog").flat_map(|log| {
        let services = ["grpcService", "openTelemetry"].into_iter().filter_map(move |sink| log.get(sink));
        services.filter_map(|sink| sink.get("backendRef").or_else(|| sink.at_path(&["grpcService", "backendRef"])))
    });
    let trace = settings.at_path(&["tracing", "provider", "openTelemetry", "grpcService", "backendRef"]);
    let all = logs.map(|backend| ("access log", backend)).chain(trace.map(|backend| ("tracing", backend)));
    let problem = |(what, backend)| {
        let unresolved = references.backend(from, backend).err()?;
        Some(format!("{what}: {}", unresolved.words()))
    };
    all.filter_map(problem).chain(addresses::trusted(settings).err()).collect()
}

/// What is wrong with the certificates that a `BackendTLSPolicy` trusts. One that can be used is enough.
pub(super) fn certificates(
    namespace: &str,
    resource: Resource<'_>,
    references: &References<'_>,
) -> Option<Certificates> {
    let from = End { group: PolicyType::BackendTls.group(), kind: PolicyType::BackendTls.name(), namespace };
    // As it was called first, in `v1alpha2`.
    let (validation, list_of) = match resource.field("validation") {
        Some(validation) => (validation, "caCertificateRefs"),
        None => (resource.field("tls")?, "caCertRefs"),
    };
    let resolve = |reference: Value<'_>| -> Result<ObjectId, Unresolved> {
        let kind = super::references::text(reference, "kind").unwrap_or("ConfigMap");
        references.named(from, ("", kind), reference)
    };
    let resolved: Vec<_> = list(validation, list_of).map(resolve).collect();
    if resolved.is_empty() || resolved.iter().all(Result::is_ok) {
        return None;
    }
    Some(if resolved.iter().any(Result::is_ok) { Certificates::SomeMissing } else { Certificates::NoneValid })
}

/// Which certificates cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certificates {
    /// Not all of them.
    SomeMissing,
    /// All of them.
    NoneValid,
}
