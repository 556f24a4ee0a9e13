//! The answers to questions about policies of any family but *decide*, as programs get them.

use std::cell::OnceCell;

use serde_json::Value as Json;
use upheld_engine::Snapshot;
use upheld_model::Diagnostic;

use super::{Session, explain, gateway};
use crate::cli::Question;

/// Answers many questions about one snapshot.
pub(super) struct Answerer<'s> {
    session: &'s Session<'s>,
    snapshot: &'s Snapshot,
    /// Gateways take a while to see through, so that is done once, and only if somebody asks.
    gateways: OnceCell<Result<gateway::World<'s>, Vec<Diagnostic>>>,
}

impl<'s> Answerer<'s> {
    pub(super) fn new(session: &'s Session<'s>, snapshot: &'s Snapshot) -> Self {
        Self { session, snapshot, gateways: OnceCell::new() }
    }

    /// What `explain -o json` answers, or why it cannot.
    pub(super) fn answers(&self, question: &Question) -> Result<Vec<Json>, Vec<Diagnostic>> {
        if !gateway::is_asked(question) {
            return explain::answers(self.session, self.snapshot, question);
        }
        match self.gateways.get_or_init(|| self.session.topology(self.snapshot)) {
            Ok(world) => gateway::answers(self.session, world, question).map_err(|problem| vec![problem]),
            Err(problems) => Err(problems.clone()),
        }
    }
}
