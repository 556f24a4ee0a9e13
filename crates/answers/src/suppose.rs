//! What somebody supposes: policies that are not there, documents that say something else, another question. Nothing is written.
//!
//! ```text
//! what was read ──(without, instead)──▶ what would be read
//!      │                                      │
//!      ▼ question                             ▼ question
//!    answer ───────────shifts──────────────▶ answer
//! ```

#[cfg(test)]
pub(crate) mod tests;

use serde::Deserialize;
use serde_json::{Value as Json, json};
use upheld_dialects::{Identity, dialects};
use upheld_engine::Snapshot;
use upheld_loader::load::{Broken, Loaded};
use upheld_model::{Diagnostic, Fault, NodeRef};
use upheld_report::{Answer, Refused, Shifts};

use crate::shifts::{Answers, Asked, shifts, shifts_of};
use crate::shown::node_of;
use crate::{Thing, Words, World};

/// What is supposed, and what is asked of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Supposition {
    /// Policies and objects that are not there: `name`, `kind/name` or `kind/scope/name`.
    pub without: Vec<String>,
    /// Documents that say something else.
    pub instead: Vec<Instead>,
    /// What is asked, as `explain` takes it.
    pub question: Option<Words>,
    /// What was asked before, if it is another question; the same when left out.
    pub was: Option<Words>,
    /// Whether all other results are wanted, too.
    pub everywhere: bool,
}

/// A document that says something else.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Instead {
    /// `kind/scope/name`.
    pub document: String,
    /// What it says, in YAML or JSON.
    pub text: String,
}

/// What would hold.
#[derive(Debug)]
pub struct Supposed {
    /// The answer to the question, as `explain` gives it.
    pub answer: Option<Json>,
    /// What is otherwise in it.
    pub here: Option<Shifts>,
    /// What is otherwise anywhere.
    pub everywhere: Option<Shifts>,
    /// What would be odd about what was rewritten.
    pub warnings: Vec<Json>,
    /// The reports of the answer as things are; none if there is no answer.
    pub was: Answer,
    /// The reports of the answer as it would be.
    pub told: Answer,
    /// What would be read; nothing if that is what was read.
    pub after: Option<Loaded>,
}

impl Supposed {
    /// As programs get it.
    pub fn document(&self, digest: &str) -> Json {
        json!({
            "apiVersion": "upheld/v2", "kind": "Supposed", "answer": self.answer, "here": self.here,
            "everywhere": self.everywhere, "diagnostics": self.warnings, "snapshot": digest,
        })
    }
}

impl World<'_> {
    /// What would hold under a supposition. `loaded` is what this world was read from.
    pub fn suppose(&self, loaded: &Loaded, supposed: &Supposition) -> Result<Supposed, Refused> {
        let changed = self.supposing(loaded, supposed)?;
        let after = changed.as_ref().unwrap_or(loaded);
        let next = World::new(&after.snapshot, self.options());
        let (mut answer, mut here, mut was, mut told) = (None, None, Answer::default(), Answer::default());
        if let Some(words) = &supposed.question {
            let question = next.question(words)?;
            told = next.answer(&question)?;
            answer = Some(match question.thing {
                Thing::AllConnections => next.explain(&question)?,
                _ => told.document(next.snapshot()),
            });
            let before = supposed.was.as_ref().unwrap_or(words);
            // Whoever could not be answered before has nothing that changes.
            was = self.question(before).and_then(|question| self.answer(&question)).unwrap_or_default();
            let asked = if before == words { Asked::Same } else { Asked::Another };
            let sides = Answers { words, asked, before: &was.reports, after: &told.reports };
            here = Some(shifts_of(self, &next, &sides));
        }
        let everywhere = supposed.everywhere.then(|| shifts(self, &next, &()));
        let warnings = new_warnings(loaded, after);
        Ok(Supposed { answer, here, everywhere, warnings, was, told, after: changed })
    }

    /// What would be read under a supposition; nothing if that is what was read.
    pub(crate) fn supposing(&self, loaded: &Loaded, supposed: &Supposition) -> Result<Option<Loaded>, Refused> {
        let mut after: Option<Loaded> = None;
        for name in &supposed.without {
            let now = after.as_ref().unwrap_or(loaded);
            let tried = now.without(self.found(&now.snapshot, name)?).ok_or_else(|| fixed(name, "taken out of"))?;
            after = Some(tried.map_err(|broken| refused(&broken))?);
        }
        for Instead { document, text } in &supposed.instead {
            let now = after.as_ref().unwrap_or(loaded);
            let at = self.found(&now.snapshot, document)?;
            let tried = now.rewritten(at, text).ok_or_else(|| fixed(document, "rewritten in"))?;
            after = Some(tried.map_err(|broken| refused(&broken))?);
        }
        Ok(after)
    }

    /// Where a document stands. Answers do not always call its kind as documents do: then its name will do.
    fn found(&self, snapshot: &Snapshot, written: &str) -> Result<NodeRef, Diagnostic> {
        let mesh = self.options().mesh.as_deref();
        let parts: Vec<&str> = written.splitn(3, '/').collect();
        let [kind, scope, name] = parts.as_slice() else { return node_of(snapshot, written, mesh) };
        let identity = Identity::new(*kind, *scope, *name);
        let apart = || dialects().find_map(|dialect| dialect.object(snapshot, &identity))?.at;
        let by_name = || node_of(snapshot, name, mesh).ok();
        node_of(snapshot, written, mesh).or_else(|problem| apart().or_else(by_name).ok_or(problem))
    }
}

/// What was not odd before.
fn new_warnings(before: &Loaded, after: &Loaded) -> Vec<Json> {
    let known: Vec<&String> = before.warnings.as_slice().iter().map(|warning| &warning.message).collect();
    let new = after.warnings.as_slice().iter().filter(|warning| !known.contains(&&warning.message));
    new.map(|warning| upheld_report::diagnostic_json(after.snapshot.files(), warning)).collect()
}

fn fixed(name: &str, done: &str) -> Diagnostic {
    let message = format!("`{name}` cannot be {done} its file by itself");
    Diagnostic::error(Fault::NotFound, message).help("move it into a document of its own")
}

/// What cannot be read is told with its places in what would be read.
fn refused(broken: &Broken) -> Refused {
    Refused { question: Some(broken.files.clone()), diagnostics: broken.diagnostics.as_slice().to_vec() }
}
