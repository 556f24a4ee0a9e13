//! Who may call, as `MeshTrafficPermission` says it: by the action of the layers for a client, or by lists of identities.

use upheld_engine::merge::{About, Layered, Merged};
use upheld_model::{Config, Lookup};

/// The kind that says who may.
pub const KIND: &str = "MeshTrafficPermission";

/// Whether a caller may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may.
    Allowed,
    /// It may not.
    Refused,
}

/// What the layers for a caller come to; `None` for other kinds, and where nothing is known of the caller.
pub fn verdict(kind: &str, about: About<'_>, answer: &Layered, lookup: &Lookup<'_>) -> Option<Verdict> {
    if kind != KIND {
        return None;
    }
    let conf = answer.results.first().and_then(Merged::config);
    match about {
        About::Client { .. } => {
            let action = conf
                .as_ref()
                .and_then(|conf| conf.get("action"))
                .and_then(|action| action.as_text().map(str::to_owned));
            // Nothing is allowed unless a policy says so.
            let allowed = action.is_some_and(|action| action == "Allow" || action == "AllowWithShadowDeny");
            Some(if allowed { Verdict::Allowed } else { Verdict::Refused })
        }
        About::Inbound { caller, .. } => {
            let identity = caller.iter().find(|(key, _)| lookup.text(*key) == "spiffeID").map(|(_, text)| *text)?;
            let listed = |list: &str| {
                let items = conf.as_ref().and_then(|conf| conf.get(list)).map_or(&[][..], |list| list.items());
                items.iter().any(|item| names(item, identity))
            };
            // A deny counts before any allow.
            let allowed = !listed("deny") && (listed("allow") || listed("allowWithShadowDeny"));
            Some(if allowed { Verdict::Allowed } else { Verdict::Refused })
        }
        About::Whole | About::Targets(_) | About::Service(_) => None,
    }
}

/// Whether an item of a list names an identity; one without a pattern names everybody.
fn names(item: &Config, identity: &str) -> bool {
    let Some(pattern) = item.get("spiffeID") else { return true };
    let text = |name: &str| pattern.get(name).and_then(|text| text.as_text()).unwrap_or_default();
    match text("type") {
        "Prefix" => identity.starts_with(text("value")),
        _ => identity == text("value"),
    }
}
