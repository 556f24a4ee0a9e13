//! Completion of names from the user's own files.

use std::ffi::OsStr;

use clap_complete::engine::CompletionCandidate;
use upheld_dialects::dialects;
use upheld_engine::Snapshot;

use crate::cli::Common;
use crate::report::steers;
use crate::{config, load};

/// Kinds of policies.
pub(crate) fn kinds(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current, |snapshot| snapshot.kinds().iter().map(|(_, kind)| text(snapshot, kind.name)).collect())
}

/// Meshes.
pub(crate) fn meshes(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current, |snapshot| {
        let scopes = dialects().flat_map(|dialect| dialect.scopes(snapshot));
        scopes.map(|scope| text(snapshot, scope)).collect()
    })
}

/// Ends of connections: proxies, services, external services.
pub(crate) fn ends(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current, |snapshot| {
        let objects = snapshot.objects().iter().map(|(_, object)| text(snapshot, object.name));
        let services = dialects().flat_map(|dialect| dialect.services(snapshot));
        let services = services.map(|service| text(snapshot, service.name));
        objects.chain(services).collect()
    })
}

/// Policies and objects.
pub(crate) fn things(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current, |snapshot| {
        let policies = snapshot.policies().iter().map(|(_, policy)| text(snapshot, policy.name));
        policies.chain(snapshot.objects().iter().map(|(_, object)| text(snapshot, object.name))).collect()
    })
}

/// The shell tells nothing of other flags, so names come from the settings: `upheld.yaml`, the environment, this folder.
fn candidates(current: &OsStr, names: impl Fn(&Snapshot) -> Vec<String>) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let Ok(settings) = config::settings(&Common::default(), |name| std::env::var(name).ok()) else { return Vec::new() };
    let Ok(loaded) = load::try_snapshot(&settings, None) else { return Vec::new() };
    let mut names = names(&loaded.snapshot);
    names.sort();
    names.dedup();
    // A shell would put a name that steers on the screen as it is.
    let fitting = names.into_iter().filter(|name| name.starts_with(current.as_ref()) && !name.contains(steers));
    fitting.map(CompletionCandidate::new).collect()
}

fn text(snapshot: &Snapshot, symbol: upheld_model::Sym) -> String {
    snapshot.text(symbol).to_owned()
}
