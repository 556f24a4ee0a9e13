//! What is asked about meshes: connections, proxies, all pairs.

mod connections;
mod layers;
mod whole_mesh;

use upheld_engine::Snapshot;
use upheld_model::{Diagnostic, Fault, PolicyContent};
use upheld_report::Answer;

pub(super) use self::whole_mesh::{layered_cells, layered_reach};
use super::ends::proxies;
use crate::dialect::dialects;
use crate::question::{Asked, Refused, Thing};

/// How a question is asked.
pub(super) const EXAMPLE: &str = "name a connection: `--from web-1 --to backend-1`, or a proxy: `dataplane/web-1`";

/// Whether there is anything to ask about.
pub(super) fn has_anything(snapshot: &Snapshot) -> bool {
    let has_policies = || {
        snapshot
            .policies()
            .iter()
            .any(|(_, policy)| matches!(policy.says, PolicyContent::Selectors { .. } | PolicyContent::Layers(_)))
    };
    proxies(snapshot).next().is_some() || has_policies()
}

/// Answers questions about connections.
pub(super) fn answer(asked: &Asked<'_>) -> Option<Result<Answer, Refused>> {
    let Thing::Connection(connection) = &asked.question.thing else { return None };
    let kind = match asked.kind() {
        Ok(kind) => kind,
        Err(problem) => return Some(Err(problem.into())),
    };
    if let Some((_, kind)) = kind.filter(|(_, kind)| kind.select().is_none() && kind.merge().is_none()) {
        let governs = asked.snapshot.text(kind.governs);
        let is_read_elsewhere = dialects().any(|dialect| dialect.owns_type(governs));
        return (!is_read_elsewhere).then(|| Err(not_about_connections(asked, kind.decide().is_some()).into()));
    }
    Some(connections::answer(asked, connection, kind.map(|(id, _)| id)).map_err(Refused::from))
}

/// A kind that says nothing about connections.
fn not_about_connections(asked: &Asked<'_>, decides: bool) -> Diagnostic {
    let about = if decides { "decide requests" } else { "are attached to other things" };
    let message = format!("policies of this kind {about}, not connections");
    let problem = Diagnostic::error(Fault::IncompleteQuestion, message);
    dialects().filter_map(|dialect| dialect.example(asked.snapshot)).fold(problem, Diagnostic::help)
}
