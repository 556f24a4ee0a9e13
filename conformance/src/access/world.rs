//! The policies of a case as everybody's are read, and questions to them.

use std::fmt;

use anyhow::{Context, bail};
use serde_json::{Value as Json, json};
use upheld_dialects::access::decider::{Decider, WhichKind};
use upheld_dialects::access::{Edition, request, view};
use upheld_engine::decide::{Decide, Decided, Request};
use upheld_engine::{Ruling, Scratch, Silent, ask};
use upheld_loader::load::{Broken, Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostics, Severity, SourceId};

/// Policies with their settings, read under an edition.
#[derive(Debug)]
pub(super) struct World {
    loaded: Loaded,
    pub(super) edition: Edition,
}

/// Why something was not read.
#[derive(Debug)]
pub(super) struct Refused {
    messages: Vec<String>,
    /// Whether some error says where it is.
    pub(super) located: bool,
}

impl Refused {
    fn of(found: &Diagnostics) -> Self {
        let errors = || found.as_slice().iter().filter(|problem| problem.severity == Severity::Error);
        let messages = errors().map(|problem| problem.message.clone()).collect();
        Self { messages, located: errors().any(|problem| problem.label.is_some()) }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused: {}", self.messages.join("; "))
    }
}

impl World {
    /// Reads a document with settings and policies.
    pub(super) fn read(edition: Edition, document: &Json) -> Result<Self, Refused> {
        Self::read_as(edition.name(), document)
    }

    /// Reads a document by a named semantics.
    pub(super) fn read_as(semantics: &str, document: &Json) -> Result<Self, Refused> {
        let edition = Edition::of(semantics).unwrap_or_default();
        let input = Input::text("manifest.json", Format::Json, document.to_string());
        match load(vec![input], &[semantics]) {
            Ok(loaded) => Ok(Self { loaded, edition }),
            Err(broken) => {
                let Broken { diagnostics, .. } = *broken;
                Err(Refused::of(&diagnostics))
            }
        }
    }

    /// The policies.
    pub(super) fn decide(&self) -> anyhow::Result<&Decide> {
        let mut decides = self.loaded.snapshot.decides();
        decides.next().map(|(_, decide)| decide).context("nothing was read that decides requests")
    }

    /// The policies with all that belongs to them.
    pub(super) fn decider(&self) -> anyhow::Result<Decider<'_>> {
        let decider = Decider::of(&self.loaded.snapshot, WhichKind::Only, self.edition);
        decider.map_err(|problem| anyhow::anyhow!(problem.message))
    }

    /// What a request gets, with the index and without.
    pub(super) fn decided(&self, request: &Request) -> anyhow::Result<Decided> {
        let decide = self.decide()?;
        let decided = ask(decide, &request, &mut Scratch::default(), &mut Silent);
        let explained = Ruling::explain(decide, &request).answer;
        if decided != explained {
            bail!("the index says {decided:?}, every policy looked at says {explained:?}");
        }
        Ok(decided)
    }

    /// An answer in the words of the corpora: `{effect, policy, reason}`.
    pub(super) fn answer(&self, request: &Request) -> anyhow::Result<Json> {
        self.decided(request)?;
        let decider = self.decider()?;
        let request = decider.complete(request.clone(), None);
        let decision = decider.decision(&request, &mut Scratch::default());
        let mut answer = view::decision(decider.files, decider.decide, &decision);
        if let Some(fields) = answer.as_object_mut()
            && let Some(policy) = fields.remove("matchedPolicy")
        {
            fields.insert("policy".to_owned(), policy);
        }
        Ok(answer)
    }
}

/// Settings and policies as one document.
pub(super) fn document(algorithm: &Json, default: &Json, policies: &Json) -> Json {
    json!({"combiningAlgorithm": algorithm, "defaultEffect": default, "policies": policies})
}

/// Reads a request.
pub(super) fn read_request(edition: Edition, request: &Json) -> anyhow::Result<Result<Request, Refused>> {
    let source = SourceId::new(0);
    let (file, _) = upheld_syntax::parse("request", Format::Json, request.to_string(), source);
    let document = file.tree.documents().next().context("the case has no request")?;
    let mut found = Diagnostics::default();
    Ok(request::read(source, document, edition, &mut found).ok_or_else(|| Refused::of(&found)))
}
