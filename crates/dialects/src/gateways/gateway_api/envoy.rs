//! What Envoy Gateway reads from a spec before it merges: fields that its interface requires are always written, so a spec
//! without them says their empty value and thereby removes or replaces what the parent says.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::{Config, Content};

/// The empty value of a required field.
#[derive(Clone, Copy, Debug)]
enum Zero {
    Null,
    Text,
}

/// Where a field is required: below which fields of a spec, and what it says when nobody writes it.
const REQUIRED: [(&[&str], &str, Zero); 14] = [
    (&["apiKeyAuth"], "credentialRefs", Zero::Null),
    (&["apiKeyAuth"], "extractFrom", Zero::Null),
    (&["authorization"], "defaultAction", Zero::Null),
    (&["healthCheck", "active"], "type", Zero::Text),
    (&["healthCheck", "active", "http"], "path", Zero::Text),
    (&["jwt"], "providers", Zero::Null),
    (&["oidc", "provider"], "issuer", Zero::Text),
    (&["oidc", "denyRedirect"], "headers", Zero::Null),
    (&["oidc", "forwardIDToken"], "header", Zero::Text),
    (&["loadBalancer"], "type", Zero::Text),
    (&["loadBalancer", "consistentHash"], "type", Zero::Text),
    (&["loadBalancer", "endpointOverride"], "extractFrom", Zero::Null),
    (&["rateLimit", "global"], "rules", Zero::Null),
    (&["rateLimit", "local"], "rules", Zero::Null),
];

/// A spec with all that is required.
pub fn with_required(spec: &Arc<Config>) -> Arc<Config> {
    let fill = |spec, (path, field, zero): (&[&str], &str, Zero)| filled(&spec, path, field, zero);
    REQUIRED.into_iter().fold(spec.clone(), fill)
}

fn filled(config: &Arc<Config>, path: &[&str], field: &str, zero: Zero) -> Arc<Config> {
    let Content::Map(entries) = &config.content else { return config.clone() };
    let mut entries = entries.clone();
    match path.split_first() {
        Some((first, rest)) => {
            for (_, value) in entries.iter_mut().filter(|(key, _)| key == first) {
                *value = filled(value, rest, field, zero);
            }
        }
        None if config.get(field).is_some() => {}
        None => {
            let empty = match zero {
                Zero::Null => Content::Null,
                Zero::Text => Content::Text(SmolStr::default()),
            };
            entries.push((field.into(), Config::made(empty)));
        }
    }
    Arc::new(Config { content: Content::Map(entries), at: config.at })
}
