//! Questions about related objects and their tags.

pub(super) mod audit;
pub(super) mod can;
pub(super) mod fix;
mod history;
pub(super) mod offers;
pub(super) mod show;
pub(super) mod waivers;
pub(super) mod what_if;

use serde::Serialize;
use serde::de::DeserializeOwned;
use upheld_answers::compliance::Organisation as Asked;
use upheld_loader::Format;
use upheld_loader::load::Loaded;
use upheld_model::{Diagnostic, Fault};

use super::decision::now;
use super::{Session, not_answered, print_warnings, refuse};
use crate::cli::{Organisation, Person};
use crate::exit::Exit;
use crate::remote;

/// A question that files or a server answer: what is asked, of which organisation, and as whom.
struct Question<'q> {
    /// What a server calls it.
    about: &'static str,
    organisation: &'q Organisation,
    person: &'q Person,
    /// What a plan must be called, if somebody looked at it before.
    plan: Option<&'q str>,
}

/// Answers a question: here from documents, or by the server that is asked in our place, which gets the same question as a body. Problems were
/// printed if there is no answer.
fn answer<A: DeserializeOwned>(
    session: &Session<'_>,
    question: &Question<'_>,
    body: &impl Serialize,
    here: impl FnOnce(&Asked<'_>) -> Result<A, Vec<Diagnostic>>,
) -> Result<A, Exit> {
    let Some(server) = &session.server else {
        let loaded = load(session, None).ok_or(Exit::Failed)?;
        let asked = asked(session, &loaded, question.organisation).ok_or(Exit::Failed)?;
        return here(&asked).map_err(|problems| refuse(&problems));
    };
    let body = serde_json::to_string(body).unwrap_or_default();
    question.there(server, body, Format::Json)
}

impl Question<'_> {
    /// Lets a server answer it.
    fn there<A: DeserializeOwned>(&self, server: &remote::Server, body: String, format: Format) -> Result<A, Exit> {
        let Self { about, organisation, person, plan } = *self;
        let parameters =
            [("policies", organisation.policies.as_deref()), ("as", person.person.as_deref()), ("plan", plan)];
        let parameters = parameters.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let asked = remote::Asked { about, parameters, body, format };
        server.ask(asked).map_err(|no_answer| not_answered(&no_answer))
    }
}

/// Loads the user's files, to be asked at a moment; problems were printed if there is nothing to ask.
fn load(session: &Session<'_>, beside: Option<&str>) -> Option<Loaded> {
    if let Err(problem) = now(session) {
        refuse(&[problem]);
        return None;
    }
    let loaded = session.load_beside(beside)?;
    // Which of two counts changes every answer.
    let twice = loaded.warnings.as_slice().iter().filter(|warning| warning.fault == Fault::DefinedTwice);
    print_warnings(&loaded, &twice.cloned().collect::<Vec<_>>());
    Some(loaded)
}

/// The objects that are asked about; problems were printed if there are none.
fn asked<'l>(session: &Session<'_>, loaded: &'l Loaded, organisation: &Organisation) -> Option<Asked<'l>> {
    match Asked::of(&loaded.snapshot, organisation.policies.as_deref(), session.options().now) {
        Ok(asked) => Some(asked),
        Err(problem) => {
            refuse(&[problem]);
            None
        }
    }
}
