//! What holds for requests on a way, field by field: policies of the route go before those of its host, and those before the
//! ones of the gateway. Nothing is merged between them; a field of a nearer scope hides the same field of a wider one.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::merge::levels::Joined;
use upheld_model::Config;

use super::kinds::Subject;
use super::resolver::Resolver;
use super::scopes::Scope;
use crate::gateway_api::topology::{Gateway, Host, Outcome, Way};

/// Who holds a field, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// The rule itself.
    Rule,
    /// Policies of the rule, of its route, and of those that delegate to it.
    Route,
    /// Policies of the host.
    VirtualHost,
    /// Policies of all hosts behind a port.
    RouteConfiguration,
}

/// A field in a scope.
#[derive(Clone, Debug)]
pub struct Held {
    /// Who holds it.
    pub holder: Holder,
    /// Its value.
    pub value: Arc<Config>,
    /// Where it comes from: numbers of policies, or of parts of rules.
    pub origins: Vec<usize>,
}

/// A field that holds, and what it hides.
#[derive(Clone, Debug)]
pub struct Effective {
    /// The field.
    pub field: SmolStr,
    /// What of it, where several can hold side by side: a provider, or a part.
    pub key: Option<SmolStr>,
    /// What holds.
    pub held: Held,
    /// The same field of wider scopes, the nearest first.
    pub hidden: Vec<Held>,
}

/// Fields of which several can hold, each for another provider.
const BY_PROVIDER: [&str; 5] = ["extAuth", "extProc", "jwt", "oidc", "rateLimit.global"];

/// Fields that say how requests are passed on, and nothing about other answers.
const FORWARDING: [&str; 7] =
    ["autoHostRewrite", "internalRedirect", "requestMirror", "retry", "timeouts", "tracing", "urlRewrite"];

/// The key under which everything is turned off.
const DISABLED: &str = "disable";

impl Resolver<'_> {
    /// What holds on a way under a host of a gateway; nothing if a broken policy has made it answer with an error.
    pub fn effective(&self, gateway: &Gateway, host: &Host, way: &Way) -> Vec<Effective> {
        let route = self.route(way);
        let virtual_host = self.host(gateway, host);
        let listener = gateway.listeners.get(host.listener);
        let configuration = listener.map(|listener| self.route_configuration(gateway, listener));
        let scopes = [Some(&route), Some(&virtual_host), configuration.as_ref()];
        if scopes.into_iter().flatten().any(|scope| !scope.broken().is_empty()) {
            return Vec::new();
        }
        let mut found = Found::new();
        collect_builtin(&route, &mut found);
        collect(Holder::Route, &route, &mut found);
        collect(Holder::VirtualHost, &virtual_host, &mut found);
        if let Some(configuration) = &configuration {
            collect(Holder::RouteConfiguration, configuration, &mut found);
        }
        if way.outcome != Outcome::Forward {
            found.retain(|(field, _), _| !FORWARDING.contains(&field.as_str()));
        }
        let is_switch = |key: &Option<SmolStr>| key.as_deref() == Some(DISABLED);
        let off: Vec<SmolStr> =
            found.keys().filter(|(_, key)| is_switch(key)).map(|(field, _)| field.clone()).collect();
        found.retain(|(field, key), _| is_switch(key) || !off.contains(field));
        let effective = found.into_iter().filter_map(|((field, key), mut held)| {
            let rest = held.split_off(1.min(held.len()));
            Some(Effective { field, key, held: held.pop()?, hidden: rest })
        });
        effective.collect()
    }
}

type Found = BTreeMap<(SmolStr, Option<SmolStr>), Vec<Held>>;

/// What rules say, under the names of the same fields of policies.
fn collect_builtin(route: &Scope, found: &mut Found) {
    let Some(builtin) = &route.builtin else { return };
    for (name, joined) in &builtin.folded.fields {
        let (field, key) = match name.split_once('.') {
            Some(("urlRewrite", "path")) => ("urlRewrite", None),
            Some((field, key)) => (field, Some(SmolStr::new(key))),
            None => (name.as_str(), None),
        };
        let held = Held { holder: Holder::Rule, value: joined.value.clone(), origins: joined.origins.clone() };
        found.entry((SmolStr::new(field), key)).or_default().push(held);
    }
}

fn collect(holder: Holder, scope: &Scope, found: &mut Found) {
    let Some(resolved) = scope.of(Subject::Traffic) else { return };
    for (name, joined) in &resolved.folded.fields {
        for (key, value) in parts(name, joined) {
            let held = Held { holder, value, origins: joined.origins.clone() };
            found.entry((name.clone(), key)).or_default().push(held);
        }
    }
}

/// What of a field is hidden by itself.
fn parts(name: &str, joined: &Joined) -> Vec<(Option<SmolStr>, Arc<Config>)> {
    let value = &joined.value;
    if name == "timeouts" {
        // Other than within a scope, its parts are independent between scopes.
        return value.entries().iter().map(|(key, value)| (Some(key.clone()), value.clone())).collect();
    }
    if !BY_PROVIDER.contains(&name) {
        return vec![(None, value.clone())];
    }
    if value.get(DISABLED).is_some_and(|disable| super::rules::is_set(disable)) {
        return vec![(Some(DISABLED.into()), value.clone())];
    }
    if let Some(providers) = value.get("providers") {
        let named = |provider: &Arc<Config>| {
            (provider.get("provider").and_then(|name| name.as_text()).map(SmolStr::new), provider.clone())
        };
        return providers.items().iter().map(named).collect();
    }
    vec![(value.get("extensionRef").and_then(|name| name.as_text()).map(SmolStr::new), value.clone())]
}
