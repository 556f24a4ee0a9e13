//! Where a policy counts, and what would change if it went, were switched off or said something else.

use serde_json::{Value as Json, json};
use upheld_loader::load::{Broken, Loaded};
use upheld_model::{Diagnostic, Fault, Severity};
use upheld_report::{At, Refused, Shift, Shifts, Standing};

use crate::World;
use crate::all_pairs::Tally;
use crate::owners::{Owner, largest_first};
use crate::shifts::{Owners, shifts_of_owners};
use crate::shown::{Shown, shown};

/// What is supposed of a policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PolicyChange {
    /// It is not there.
    #[default]
    Deleted,
    /// It is switched off.
    Disabled,
    /// It says this.
    Edited(Json),
}

impl PolicyChange {
    /// In a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Disabled => "disabled",
            Self::Edited(_) => "edited",
        }
    }

    /// How documents call what would be then.
    fn field(&self) -> &'static str {
        match self {
            Self::Deleted => "ifDeleted",
            Self::Disabled => "ifDisabled",
            Self::Edited(_) => "ifEdited",
        }
    }
}

/// Where a policy counts, and what would change.
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
    /// What is supposed.
    pub supposed: PolicyChange,
    /// What would change without it as it is.
    pub without: Shifts,
}

/// Who decides in place of others, and of how many results.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Successor {
    /// The policies, or what the default is called.
    pub policies: Vec<String>,
    /// How many results: connections, places or kinds of requests.
    pub results: u64,
}

impl Affected {
    /// Who takes over, those with most results first.
    pub fn successors(&self) -> Vec<Successor> {
        let mut all: Vec<Successor> = Vec::new();
        let has = |standing: &Standing| standing.policies.iter().any(|policy| self.is_called(policy));
        let goes = |shift: &&Shift| has(&shift.before) && !has(&shift.after);
        for shift in self.without.shifts.iter().filter(goes) {
            match all.iter_mut().find(|known| known.policies == shift.after.policies) {
                Some(known) => known.results += shift.size.count(),
                None => all.push(Successor { policies: shift.after.policies.clone(), results: shift.size.count() }),
            }
        }
        all.sort_by(|one, other| other.results.cmp(&one.results).then_with(|| one.policies.cmp(&other.policies)));
        all
    }

    /// Whether answers mean it: they call it by its name alone or with its namespace, and with the number of a part.
    fn is_called(&self, written: &str) -> bool {
        let plain = written.split_once('[').map_or(written, |(plain, _)| plain);
        plain == self.name || self.policy.split_once('/').is_some_and(|(_, own)| own == plain)
    }

    /// Whose results change, the largest owners first; none where nobody says whose anything is.
    pub fn owners(&self) -> Vec<Owner> {
        largest_first(&self.without.owners)
    }

    /// As programs get it.
    pub fn document(&self, digest: &str) -> Json {
        let counts: serde_json::Map<String, Json> =
            self.counts.iter().map(|(kind, tally)| (kind.clone(), tally.json())).collect();
        json!({
            "apiVersion": "upheld/v2", "kind": "Affected", "policy": self.policy, "at": self.at, "counts": counts,
            self.supposed.field(): self.without, "takesOver": self.successors(), "owners": self.owners(), "snapshot": digest,
        })
    }
}

impl World<'_> {
    /// Where a policy counts, and what would change if it went. `loaded` is what this world was read from.
    pub fn affected(&self, loaded: &Loaded, policy: &str) -> Result<Affected, Refused> {
        self.affected_if(loaded, policy, PolicyChange::Deleted)
    }

    /// The same, if something else is supposed of it.
    pub fn affected_if(&self, loaded: &Loaded, policy: &str, supposed: PolicyChange) -> Result<Affected, Refused> {
        let snapshot = self.snapshot();
        let found = shown(snapshot, policy, self.options().mesh.as_deref())?;
        let then = match &supposed {
            PolicyChange::Deleted => without(loaded, &found)?,
            PolicyChange::Disabled => instead(loaded, &found, &self.switched_off(&found)?)?,
            PolicyChange::Edited(document) => instead(loaded, &found, document)?,
        };
        let after = World::new(&then.snapshot, self.options());
        let without = shifts_of_owners(self, &after, Owners::Counted, &());
        let at = At::of(snapshot.files(), found.node);
        Ok(Affected { policy: found.identity(), name: found.name, at, counts: found.counts, supposed, without })
    }

    /// The document of a policy that is switched off.
    fn switched_off(&self, found: &Shown) -> Result<Json, Refused> {
        let snapshot = self.snapshot();
        let mut kinds = snapshot.kinds().iter().filter(|(_, kind)| snapshot.text(kind.governs) == found.kind);
        let document = snapshot.files().value(found.node).and_then(|value| serde_json::to_value(value).ok());
        let mut document = document.filter(|_| kinds.any(|(_, kind)| kind.decide().is_some()));
        let body = document.as_mut().and_then(|document| {
            let inner = if document.get("spec").is_some_and(Json::is_object) {
                document.get_mut("spec")
            } else {
                Some(document)
            };
            inner.and_then(Json::as_object_mut)
        });
        if let Some(body) = body {
            body.insert("enabled".to_owned(), json!(false));
        }
        document.ok_or_else(|| {
            let message = format!("{} cannot be switched off: its kind has no switch", found.identity());
            Diagnostic::error(Fault::IncompleteQuestion, message).help("ask with `--if deleted`").into()
        })
    }
}

/// Everything, with another document in place of one.
fn instead(loaded: &Loaded, found: &Shown, document: &Json) -> Result<Loaded, Refused> {
    let name = found.identity();
    let fixed = || Diagnostic::error(Fault::NotFound, format!("{name} cannot be edited in its file by itself"));
    let tried = loaded.instead(found.node, &document.to_string()).ok_or_else(fixed)?;
    tried.map_err(|broken| unreadable(&format!("with {name} edited so"), &broken))
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
    tried.map_err(|broken| unreadable(&format!("without {name}"), &broken))
}

/// Why documents cannot be read any more.
fn unreadable(how: &str, broken: &Broken) -> Refused {
    let own = Diagnostic::error(Fault::NotFound, format!("{how} the documents cannot be read"));
    let first = broken.diagnostics.as_slice().iter().find(|problem| problem.severity == Severity::Error);
    let own = match first {
        Some(problem) => own.help(problem.message.clone()),
        None => own,
    };
    own.into()
}
