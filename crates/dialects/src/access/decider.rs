//! Who decides requests: the policies of one kind with all that belongs to them.

use std::sync::LazyLock;

use upheld_engine::decide::{Decide, Request};
use upheld_engine::{KindId, Scratch, Silent, Snapshot, ask};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault, Files};
use upheld_report::Decision;

use super::authzen::Directory;
use super::manifest::Manifest;
use super::{Deciding, Edition, POLICY, reader};

/// Policies that decide requests, with all that belongs to them.
#[derive(Clone, Copy, Debug)]
pub struct Decider<'s> {
    /// Which kind they are of.
    pub kind: KindId,
    /// The policies.
    pub decide: &'s Decide,
    /// The settings beside them.
    pub manifest: &'s Manifest,
    /// What is known of those whom they decide about.
    pub directory: &'s Directory,
    /// Where they were written.
    pub files: &'s Files,
    /// How they and requests are read.
    pub edition: Edition,
}

/// Which kind of policies decides.
#[derive(Clone, Copy, Debug)]
pub enum WhichKind<'k> {
    /// This one, whichever others have policies: what is enforced does not depend on which documents are there.
    Named(&'k str),
    /// The only one that has policies.
    Only,
}

/// A setting: the kind of policies that decides requests where nobody names another.
#[derive(Clone, Debug)]
pub struct DecidingKind(pub String);

impl<'k> WhichKind<'k> {
    /// The one that a question names, or that is set.
    pub fn of(named: Option<&'k str>, set: Option<&'k str>) -> Self {
        named.or(set).map_or(Self::Only, Self::Named)
    }
}

static NO_SETTINGS: LazyLock<Manifest> = LazyLock::new(Manifest::default);
static NOBODY: LazyLock<Directory> = LazyLock::new(Directory::default);

impl<'s> Decider<'s> {
    /// Whoever decides requests in a snapshot.
    pub fn of(snapshot: &'s Snapshot, which: WhichKind<'_>, edition: Edition) -> Result<Self, Diagnostic> {
        let all: Vec<(KindId, &Decide)> = deciders(snapshot).collect();
        let name = |id: KindId| snapshot.kind(id).map_or("", |kind| snapshot.text(kind.name));
        let with_policies = || all.iter().filter(|(_, decide)| !decide.rules().is_empty());
        let found = match which {
            WhichKind::Named(named) => all.iter().find(|(id, _)| name(*id).eq_ignore_ascii_case(named)),
            WhichKind::Only if all.len() > 1 => match with_policies().collect::<Vec<_>>().as_slice() {
                [only] => Some(*only),
                several => {
                    let names: Vec<&str> = several.iter().map(|(id, _)| name(*id)).collect();
                    return Err(ambiguous(&names));
                }
            },
            WhichKind::Only => all.first(),
        };
        let Some((kind, decide)) = found.copied() else {
            return Err(match which {
                WhichKind::Named(named) => not_found(named, &all.iter().map(|(id, _)| name(*id)).collect::<Vec<_>>()),
                WhichKind::Only => nobody(),
            });
        };
        let governs = snapshot.kind(kind).map(|kind| (kind.name, snapshot.text(kind.governs)));
        let manifest = governs.and_then(|(name, _)| Deciding::of(snapshot)?.manifest(name)).unwrap_or(&NO_SETTINGS);
        // Kinds of users have no original to be compatible with.
        let edition = if governs.is_some_and(|(_, typed)| typed == POLICY) { edition } else { Edition::Strict };
        let directory = snapshot.companion::<Directory>().unwrap_or(&NOBODY);
        Ok(Self { kind, decide, manifest, directory, files: snapshot.files(), edition })
    }

    /// What a request gets.
    pub fn decision(&self, request: &Request, scratch: &mut Scratch<Decide>) -> Decision<'s> {
        let decided = ask(self.decide, &request, scratch, &mut Silent);
        Decision::of(self.files, self.decide, request, &decided, scratch.hits())
    }
}

/// All policies that decide access requests, by kind.
pub fn deciders(snapshot: &Snapshot) -> impl Iterator<Item = (KindId, &Decide)> {
    let governs = |id: KindId| snapshot.kind(id).map_or("", |kind| snapshot.text(kind.governs));
    snapshot.decides().filter(move |(id, _)| !reader::is_owned_by_another(governs(*id)))
}

fn not_found(named: &str, all: &[&str]) -> Diagnostic {
    let message = format!("no policy of kind `{named}` decides requests here");
    let meant = nearest(named, all.iter().copied()).map(|meant| format!("--kind {meant}"));
    Diagnostic::error(Fault::NotFound, message)
        .suggest_or(meant, || "`upheld list policies` shows what was read".to_owned())
}

fn nobody() -> Diagnostic {
    let help = "an access policy has `id`, `effect`, `subjects`, `resources` and `actions`: see docs/access.md";
    Diagnostic::error(Fault::NotFound, "there are no policies that decide requests").help(help)
}

fn ambiguous(names: &[&str]) -> Diagnostic {
    let message = format!("policies of several kinds decide requests: {}", names.join(", "));
    Diagnostic::error(Fault::Ambiguous, message).help(format!("add `--kind {}`", names.first().unwrap_or(&"")))
}
