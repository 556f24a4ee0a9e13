//! What requests show that somebody made: how many of them no policy decides, and which policies apply to none.

use upheld_dialects::access::decider::deciders;
use upheld_dialects::dialect::Finding;
use upheld_model::{Diagnostic, Fault};
use upheld_report::counted;

use super::{LintWanted, at_document};
use crate::World;
use crate::replay::KnownRequests;

pub(super) fn findings(world: &World<'_>, wanted: &LintWanted) -> Vec<Finding> {
    let Some(known) = wanted.known.as_ref().filter(|known| known.requests > 0) else { return Vec::new() };
    let snapshot = world.snapshot();
    let mut sets = deciders(snapshot);
    let own = sets.find(|(kind, _)| snapshot.kind(*kind).is_some_and(|kind| snapshot.text(kind.name) == known.kind));
    let Some((_, decide)) = own else { return Vec::new() };
    let KnownRequests { requests, by_default, example, .. } = known;
    let mut found = Vec::new();
    if *by_default > 0 {
        let all = counted(usize::try_from(*requests).unwrap_or(usize::MAX), "known request", "known requests");
        let are = if *by_default == 1 { "is" } else { "are" };
        let effect = decide.default_effect().word();
        let message = format!("{by_default} of {all} {are} decided by no policy: the default ({effect}) decides alone");
        let mut problem = Diagnostic::warning(Fault::DefaultDecides, message);
        if let Some(example) = example {
            problem = problem.help(format!("for example {}: {}", example.what, example.command));
        }
        let problem = problem.help("write a policy that is about them, so that somebody has decided it");
        let problem = match decide.sets().next().and_then(|outermost| outermost.at) {
            Some(at) => at_document(snapshot, problem, at, "the default is set here"),
            None => problem,
        };
        found.push(Finding::from(problem).about("default"));
    }
    for rule in decide.rules().iter().filter(|rule| known.idle.contains(rule.name.as_str())) {
        let all = counted(usize::try_from(*requests).unwrap_or(usize::MAX), "known request", "known requests");
        let problem = Diagnostic::note(Fault::IdlePolicy, format!("{} applies to none of {all}", rule.name))
            .help("is it still needed? It may be about requests that are rare");
        found.push(Finding::from(at_document(snapshot, problem, rule.at, "applies to none")).about(rule.name.as_str()));
    }
    found
}
