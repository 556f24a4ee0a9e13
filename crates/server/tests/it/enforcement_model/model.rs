//! From what arrives to what becomes of it.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::arrivals::{self, Arrived};
use super::directory;
use super::facts::{Fact, Path, Request};
use super::paths;
use super::policies::texts;
use super::sets::{Outcomes, combined};
use super::worlds::{Ask, World};

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Word {
    Permit,
    Deny,
    Undecided,
    Excluded,
    /// The request itself is refused.
    Refused,
    /// Permitted, but with an obligation that is not fulfilled.
    Unfulfilled,
}

impl Word {
    /// Whether the request goes on.
    pub(super) fn opens(self) -> bool {
        matches!(self, Self::Permit | Self::Excluded)
    }
}

/// What the model makes of a request.
pub(super) fn answer(world: &World, ask: &Ask) -> Word {
    let arrived = match ask {
        Ask::Forward(http) => arrivals::forwarded(http, &world.trust),
        Ask::Check(check) => arrivals::checked(check, &world.trust),
        Ask::Decide(body) => return decide(world, arrivals::decided(body)).0,
        Ask::Evaluation(body) => return decide(world, arrivals::evaluated(body)).0,
    };
    let Ok(Arrived { request, is_identity_readable }) = arrived else { return Word::Refused };
    if is_excluded(&world.manifest, &request) {
        return Word::Excluded;
    }
    if !is_identity_readable {
        return Word::Refused;
    }
    let fulfilled: Vec<&str> = match ask {
        Ask::Check(check) => check.said("obligations").unwrap_or_default().split(',').map(str::trim).collect(),
        _ => world.trust.fulfils.clone(),
    };
    match decide(world, request) {
        (Word::Permit, obligations) if !obligations.iter().all(|id| fulfilled.contains(&id.as_str())) => {
            Word::Unfulfilled
        }
        (word, _) => word,
    }
}

fn path_of(manifest: &Json, request: &Request) -> Path {
    match &request.path {
        Fact::Absent => Path::Absent,
        Fact::Is(Json::String(path)) => paths::read(path, manifest["pathReading"].as_str().unwrap_or("every")),
        _ => Path::Unreadable,
    }
}

/// What policies say of a request, and the obligations that could come with it.
pub(super) fn decide(world: &World, mut request: Request) -> (Word, BTreeSet<String>) {
    directory::complete(&mut request, world.directory.as_ref());
    let path = path_of(&world.manifest, &request);
    let algorithm = world.manifest["combiningAlgorithm"].as_str().unwrap_or("deny-overrides");
    let (outcomes, obligations) = combined(algorithm, &world.policies, &request, &path);
    let effect = world.manifest["defaultEffect"].as_str().unwrap_or("deny");
    let word = match outcomes.or_default(Some(effect)) {
        Outcomes { permit: true, deny: false, .. } => Word::Permit,
        Outcomes { permit: false, deny: true, .. } => Word::Deny,
        _ => Word::Undecided,
    };
    (word, obligations)
}

/// Whether every reading of the path is excluded, for this method.
fn is_excluded(manifest: &Json, request: &Request) -> bool {
    let Path::Read(readings) = path_of(manifest, request) else { return false };
    let excluded = manifest.get("excludePaths").and_then(Json::as_array).into_iter().flatten();
    let entries: Vec<&Json> = excluded.collect();
    let covers = |entry: &Json, path: &str| match entry {
        Json::String(pattern) => paths::matches(pattern, path),
        entry => {
            let method =
                |own: &str| texts(&entry["methods"]).into_iter().any(|method| method.eq_ignore_ascii_case(own));
            let for_method = match &request.method {
                Fact::Is(own) => entry.get("methods").is_none() || method(own.as_str().unwrap_or_default()),
                _ => entry.get("methods").is_none(),
            };
            for_method && paths::matches(entry["path"].as_str().unwrap_or_default(), path)
        }
    };
    readings.iter().all(|path| entries.iter().any(|entry| covers(entry, path)))
}
