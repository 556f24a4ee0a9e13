//! Where a policy counts, and what would change if it went.

use serde_json::{Value as Json, json};
use upheld_loader::load::Loaded;
use upheld_model::{Diagnostic, Fault, Severity};
use upheld_report::{At, Refused, Shifts};

use crate::World;
use crate::all_pairs::Tally;
use crate::shifts::shifts;
use crate::shown::{Shown, shown};

/// Where a policy counts, and what would change if it went.
#[derive(Debug)]
pub struct Affected {
    /// `KIND/SCOPE/NAME`.
    pub policy: String,
    /// Its name.
    pub name: String,
    /// Where it was written.
    pub at: Option<At>,
    /// For how many connections it stands, by kind.
    pub counts: Vec<(String, Tally)>,
    /// What would change if it were not there.
    pub without: Shifts,
}

impl Affected {
    /// As programs get it.
    pub fn document(&self, digest: &str) -> Json {
        let counts: serde_json::Map<String, Json> =
            self.counts.iter().map(|(kind, tally)| (kind.clone(), tally.json())).collect();
        json!({
            "apiVersion": "upheld/v2", "kind": "Affected", "policy": self.policy, "at": self.at, "counts": counts,
            "ifDeleted": self.without, "snapshot": digest,
        })
    }
}

impl World<'_> {
    /// Where a policy counts, and what would change if it went. `loaded` is what this world was read from.
    pub fn affected(&self, loaded: &Loaded, policy: &str) -> Result<Affected, Refused> {
        let snapshot = self.snapshot();
        let found = shown(snapshot, policy, self.options().mesh.as_deref())?;
        let without = without(loaded, &found)?;
        let after = World::new(&without.snapshot, self.options());
        let shifts = shifts(self, &after, &());
        let at = At::of(snapshot.files(), found.node);
        Ok(Affected { policy: found.identity(), name: found.name, at, counts: found.counts, without: shifts })
    }
}

/// Everything but one document.
fn without(loaded: &Loaded, found: &Shown) -> Result<Loaded, Refused> {
    let name = found.identity();
    let fixed = || {
        let message = format!("{name} cannot be taken out of its file by itself");
        Diagnostic::error(Fault::NotFound, message)
            .help("it stands in a list with other things: move it into a document of its own")
    };
    let tried = loaded.without(found.node).ok_or_else(fixed)?;
    tried.map_err(|broken| {
        let message = format!("without {name} the documents cannot be read");
        let own = Diagnostic::error(Fault::NotFound, message);
        let first = broken.diagnostics.as_slice().iter().find(|problem| problem.severity == Severity::Error);
        let own = match first {
            Some(problem) => own.help(problem.message.clone()),
            None => own,
        };
        Refused::from(own)
    })
}
