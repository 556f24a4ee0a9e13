//! What agrees, piece by piece.

use rayon::prelude::*;
use upheld_engine::comply::{self, FindingId, ObjectId, Pair, Sides};
use upheld_engine::{Ruling, work};
use upheld_model::State;
use upheld_report::compliance::{Check, Passed, Passing, check_of, fingerprint};

use super::Organisation;

/// How many checks are written down at once, and how many of such pieces together.
const PIECE: usize = 4096;
const AT_ONCE: usize = 16;

/// What agrees in an organisation, within a filter.
#[derive(Clone, Debug)]
pub struct PassingChecks<'o> {
    pub(super) organisation: Organisation<'o>,
    pub(super) filter: comply::Filter,
}

impl PassingChecks<'_> {
    fn passed(&self, id: &FindingId) -> Option<Passed<'_>> {
        let (comply, files) = (self.organisation.comply(), self.organisation.snapshot.files());
        let Sides { policy, rule, a, b, scope } = comply.sides_of(*id)?;
        let place = |object: ObjectId| {
            let place = files.locate(comply.described(object)?.at?)?;
            Some((place.file, place.line))
        };
        let scope = scope.map(|scope| comply.reference(scope));
        let at = place(b).or_else(|| place(a));
        let (a, b) = (comply.reference(a), comply.reference(b));
        Some(Passed { id: fingerprint(policy, rule, &a, &b, scope.as_deref()), a, b, at })
    }

    fn checks_of(&self, pair: Pair) -> Vec<Check> {
        let comply = self.organisation.comply();
        let question = comply.question(pair, self.organisation.now);
        let found = comply.findings_of(&question, &Ruling::matched(comply, &question)).into_iter();
        let wanted = |policy: &str| self.filter.policy.as_ref().is_none_or(|wanted| wanted == policy);
        let held = found.filter(|found| found.state == State::Pass && wanted(&found.policy));
        held.map(|found| check_of(comply, self.organisation.snapshot.files(), &found).completed()).collect()
    }
}

impl Passing for PassingChecks<'_> {
    fn of_policy(&self, policy: &str, write: &(dyn Fn(&[Passed<'_>]) -> String + Sync), tell: &mut dyn FnMut(String)) {
        let held = self.organisation.comply().holding(policy, &self.filter);
        let work = work::here();
        for together in held.chunks(PIECE * AT_ONCE) {
            let written = |piece: &[FindingId]| {
                work::step();
                let passed: Vec<Passed<'_>> = piece.iter().filter_map(|id| self.passed(id)).collect();
                write(&passed)
            };
            let pieces = together.par_chunks(PIECE).map(|piece| work.during(|| written(piece)));
            pieces.collect::<Vec<String>>().into_iter().for_each(&mut *tell);
        }
    }

    fn workspaces(&self) -> Vec<Option<String>> {
        let comply = self.organisation.comply();
        let scopes = comply.meeting_scopes(&self.filter).into_iter();
        scopes.map(|scope| scope.map(|scope| comply.reference(scope).into())).collect()
    }

    fn of_workspace(&self, workspace: Option<&str>) -> Vec<Check> {
        let comply = self.organisation.comply();
        let scope = workspace.and_then(|workspace| comply.lookup(workspace).ok());
        let scopes = scope.map(|scope| vec![scope]).or_else(|| self.filter.scopes.clone());
        let filter = comply::Filter { scopes, ..self.filter.clone() };
        let here = comply.pairs(&filter).filter(|pair| pair.scope == scope);
        let mut checks: Vec<Check> = here.flat_map(|pair| self.checks_of(pair)).collect();
        checks.sort_by(|one, other| one.order().cmp(&other.order()));
        checks
    }
}
