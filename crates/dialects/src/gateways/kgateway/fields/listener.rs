//! Fields of `ListenerPolicy`: those for all ports, and those for single ones. The two are never mixed.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::config::{Config, Content};
use upheld_model::tree::{Kind, Value};
use upheld_model::{NodeRef, SourceId};

use super::{Field, entries, payload};
use crate::gateways::gateway_api::stored::stored;

/// Settings that origins are kept under another name for.
const RENAMED: [(&str, &str); 6] = [
    ("earlyRequestHeaderModifier", "earlyHeaderMutationExtensions"),
    ("healthCheck", "healthCheckPolicy"),
    ("idleTimeout", "mergeIdleTimeout"),
    ("rbac", "rbacNetworkFilter"),
    (SKIP_APPEND, "skipXffAppend"),
    ("streamIdleTimeout", "mergeStreamIdleTimeout"),
];

const HOPS: &str = "xffNumTrustedHops";
const RANGES: &str = "xffTrustedCIDRs";
const SKIP_APPEND: &str = "skipXFFAppend";

/// Whether a field is a part of what is said about one port; origins of upstream are those of the whole.
pub fn is_inside_port(name: &str) -> bool {
    name.strip_prefix("perPortPolicy[").and_then(|rest| rest.split_once(']')).is_some_and(|(_, rest)| !rest.is_empty())
}

/// The name of a field as documents have it.
pub(super) fn written_name(name: &str) -> String {
    let name = name.replacen("perPortPolicy[", "perPort[", 1);
    let (path, last) = name.rsplit_once('.').map_or(("", name.as_str()), |(path, last)| (path, last));
    match RENAMED.iter().find(|(_, kept)| *kept == last) {
        Some((written, _)) if path.is_empty() => (*written).to_owned(),
        Some((written, _)) => format!("{path}.{written}"),
        None => name,
    }
}

pub(super) fn fields(source: SourceId, spec: Value<'_>) -> Vec<Field> {
    let mut fields = Vec::new();
    if let Some(default) = spec.get("default") {
        block(source, "default.", default, &mut fields);
    }
    for port in spec.get("perPort").into_iter().flat_map(Value::items) {
        let Some(number) = port.get("port").map(Value::text) else { continue };
        let whole = format!("perPortPolicy[{number}]");
        let content = port.get("listener").map(|listener| stored(source, listener));
        let content = content.filter(|listener| listener.content != Content::Null);
        let empty = || {
            let at = Some(NodeRef { source, node: port.number() });
            Arc::new(Config { content: Content::Map(Vec::new()), at })
        };
        fields.push((SmolStr::new(&whole), content.unwrap_or_else(empty)));
        if let Some(listener) = port.get("listener") {
            block(source, &format!("{whole}."), listener, &mut fields);
        }
    }
    fields
}

fn block(source: SourceId, prefix: &str, settings: Value<'_>, fields: &mut Vec<Field>) {
    for (key, value) in entries(settings) {
        match key.as_str() {
            "httpSettings" => fields.extend(http_fields(source, &format!("{prefix}httpSettings."), value)),
            "tcpSettings" => {
                for (key, value) in entries(value) {
                    push(source, &format!("{prefix}tcpSettings."), &key, value, fields);
                }
            }
            _ => push(source, prefix, &key, value, fields),
        }
    }
}

/// Settings for HTTP, each under a name with a prefix.
pub(super) fn http_fields(source: SourceId, prefix: &str, settings: Value<'_>) -> Vec<Field> {
    let mut fields = Vec::new();
    // Who does not use the address of the connection gets one setting made of all that is about forwarding.
    let forwarded = settings.get("useRemoteAddress").and_then(Value::as_bool) == Some(false);
    for (key, value) in payload(settings) {
        match key.as_str() {
            HOPS | RANGES if forwarded => {}
            RANGES => {}
            "forwardClientCertDetails" => certificate_details(source, prefix, value, &mut fields),
            "maxRequestsPerConnection" if value.as_integer().is_some_and(|number| number <= 0) => {}
            _ => push(source, prefix, &key, value, &mut fields),
        }
    }
    if forwarded {
        let parts = [HOPS, RANGES, SKIP_APPEND].into_iter().filter_map(|key| Some((key, settings.get(key)?)));
        let parts = parts.filter(|(_, value)| value.kind() != Kind::Null);
        let entries = parts.map(|(key, value)| (SmolStr::new(key), stored(source, value))).collect();
        let at = settings.get("useRemoteAddress").map(|value| NodeRef { source, node: value.number() });
        let config = Arc::new(Config { content: Content::Map(entries), at });
        fields.push((format!("{prefix}xffConfig").into(), config));
    }
    fields
}

/// Whoever says which details to pass on means to pass them on.
fn certificate_details(source: SourceId, prefix: &str, settings: Value<'_>, fields: &mut Vec<Field>) {
    let set = |name| settings.get(name).filter(|value| value.kind() != Kind::Null);
    let details = set("details").map(|details| stored(source, details));
    let implied = || {
        let details = details.as_ref()?;
        Some(Arc::new(Config { content: Content::Text("SanitizeSet".into()), at: details.at }))
    };
    if let Some(mode) = set("mode").map(|mode| stored(source, mode)).or_else(implied) {
        fields.push((format!("{prefix}forwardClientCertDetails.mode").into(), mode));
    }
    if let Some(details) = details {
        fields.push((format!("{prefix}forwardClientCertDetails.details").into(), details));
    }
}

fn push(source: SourceId, prefix: &str, key: &str, value: Value<'_>, fields: &mut Vec<Field>) {
    let config = stored(source, value);
    if key == "accessLog" {
        fields.push((format!("{prefix}accessLogConfig").into(), config.clone()));
    }
    let name = RENAMED.iter().find(|(written, _)| *written == key).map_or(key, |(_, name)| name);
    fields.push((format!("{prefix}{name}").into(), config));
}
