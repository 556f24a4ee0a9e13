//! Whether an organisation may become another one: what a write of documents comes to, judged as what its author does.
//!
//! All that lies between the two states is one change: every action is held against shape and rights by itself, and policies are held
//! against the state that all of them lead to. It is refused as a whole or made as a whole.

mod difference;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_engine::comply::{Filter, Finding, FindingId, Mark};
use upheld_model::{State, Timestamp};

pub use self::difference::Foundation;
use self::difference::{PHASES, foundation};
use crate::act::{ActionSummary, Done, Refused};
use crate::records::Cause;
use crate::rights::Operation;
use crate::{Action, Actor, Organisation, Outcome, Refusal};

/// What becomes of a write.
#[derive(Clone, Debug)]
pub struct Admission {
    /// In a word.
    pub outcome: Outcome,
    /// What it would do, as actions, each with who does it; those after one that is refused are not looked at.
    pub actions: Vec<(Actor, Action)>,
    /// Why it is invalid or forbidden; the last of the actions is the one.
    pub refusal: Option<Refusal>,
    /// What policies refuse, by action.
    pub blocked: Vec<Blocked>,
    /// If it is made, what violates from then on and is told to its author, in order.
    pub new: Vec<Finding>,
    /// If it is made, all that violates from then on, by what caused it.
    pub begun: Vec<Recorded>,
    /// If it is made, what violates no more.
    pub ended: Vec<Finding>,
}

/// An action that policies refuse.
#[derive(Clone, Debug)]
pub struct Blocked {
    /// Who.
    pub actor: Actor,
    /// What.
    pub action: Action,
    /// Why, in order.
    pub violations: Vec<Finding>,
}

/// What began to violate because of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Because of what.
    pub cause: Cause,
    /// What.
    pub findings: Vec<Finding>,
}

impl Organisation {
    /// Whether this may become `after`. Whoever writes may have several roles: for each action the first of them counts that may do it.
    pub fn admission(&self, after: &Self, now: Timestamp, writers: &[Actor]) -> Admission {
        if let Some(foundation) = foundation(self, after) {
            return self.other_foundation(after, now, writers, foundation);
        }
        match Write::of(self, after, now, writers) {
            Ok(write) => write.finished(),
            Err(admission) => *admission,
        }
    }

    /// Whether one of these people may say how an organisation is that nobody knew before: whoever may change policies.
    pub fn may_found(&self, writers: &[Actor]) -> bool {
        writers.iter().any(|writer| self.may(writer, Operation::Policies, || None).is_ok())
    }

    /// Why none of these people may put violations on record themselves: that takes the right to waive them.
    pub fn may_record(&self, writers: &[Actor]) -> Option<Admission> {
        let refused = |writer: &Actor| self.may(writer, Operation::Waivers, || None).err();
        if writers.iter().any(|writer| refused(writer).is_none()) {
            return None;
        }
        Some(Admission { refusal: writers.last().and_then(refused), ..Admission::of(Outcome::Forbidden) })
    }

    /// Everything is judged by other rules: whoever may change policies may do that, and what violates by them is recorded.
    fn other_foundation(&self, after: &Self, now: Timestamp, writers: &[Actor], foundation: Foundation) -> Admission {
        let mut admission = Admission::of(Outcome::Allowed);
        let may = |writer: &&Actor| self.may(writer, Operation::Policies, || None).is_ok();
        let Some(writer) = writers.iter().find(may) else {
            let refusal = writers.last().and_then(|last| self.may(last, Operation::Policies, || None).err());
            return Admission { refusal, ..Admission::of(Outcome::Forbidden) };
        };
        let all = Filter::default();
        let plan = crate::plan::compare(Vec::new(), &self.violations(&all, now), &after.violations(&all, now));
        let object = SmolStr::new_static(foundation.words());
        let cause = self.cause(now, writer, ActionSummary { action: "settings", object, change: None });
        admission.ended = plan.removed;
        admission.new = plan.added.iter().filter(|own| own.waiver.is_none()).cloned().collect();
        if admission.new.iter().any(|own| own.level.is_told()) {
            admission.outcome = Outcome::Soft;
        }
        if !plan.added.is_empty() {
            admission.begun.push(Recorded { cause, findings: plan.added });
        }
        admission
    }
}

impl Foundation {
    /// For people: what changed.
    fn words(self) -> &'static str {
        match self {
            Self::Kind => "the kind of policies",
            Self::Settings => "the settings",
            Self::Partners => "who is exempt",
        }
    }
}

/// A write on its way.
pub(crate) struct Write<'w> {
    before: &'w Organisation,
    /// The state so far: a copy, which shares what does not change.
    pub(crate) organisation: Organisation,
    now: Timestamp,
    writers: &'w [Actor],
    start: Mark,
    /// What counted before, where something may count again that did not.
    in_force: Option<Vec<FindingId>>,
    taken: Vec<Taken>,
}

/// An action that was taken.
struct Taken {
    actor: Actor,
    action: Action,
    done: Done,
    begun: Vec<FindingId>,
}

impl<'w> Write<'w> {
    /// All that leads from one state to another, done, before policies have their say; or why it is refused.
    pub(crate) fn of(
        before: &'w Organisation,
        after: &Organisation,
        now: Timestamp,
        writers: &'w [Actor],
    ) -> Result<Self, Box<Admission>> {
        let mut write = Self::new(before, now, writers);
        for phase in PHASES {
            for action in phase(&write.organisation, after) {
                if let Err(refused) = write.take(action) {
                    return Err(Box::new(write.refused(*refused)));
                }
            }
        }
        Ok(write)
    }

    fn new(before: &'w Organisation, now: Timestamp, writers: &'w [Actor]) -> Self {
        let organisation = before.clone();
        let start = organisation.comply.mark();
        Self { before, organisation, now, writers, start, in_force: None, taken: Vec::new() }
    }

    /// Takes an action as the first writer who may.
    fn take(&mut self, action: Action) -> Result<(), Box<(Action, Refused)>> {
        let Self { organisation, now, writers, in_force, .. } = self;
        if in_force.is_none() {
            *in_force = organisation.in_force_before(&action, *now);
        }
        let before = organisation.comply.mark();
        match organisation.attempt_in_turn(*now, writers, &action) {
            Ok((writer, done)) => {
                let begun = organisation.comply.changed_since(before).begun;
                self.taken.push(Taken { actor: writer.clone(), action, done, begun });
                Ok(())
            }
            Err(refused) => Err(Box::new((action, refused))),
        }
    }

    fn refused(self, (action, refused): (Action, Refused)) -> Admission {
        let Refused { outcome, refusal } = refused;
        let last = self.writers.last().cloned().unwrap_or(Actor::System);
        let actions = self.actions().chain([(last, action)]).collect();
        Admission { actions, refusal: Some(refusal), ..Admission::of(outcome) }
    }

    fn actions(&self) -> impl Iterator<Item = (Actor, Action)> {
        self.taken.iter().map(|taken| (taken.actor.clone(), taken.action.clone()))
    }

    /// Policies have their say.
    fn finished(mut self) -> Admission {
        let change = self.organisation.comply.changed_since(self.start);
        let actions = self.actions().collect();
        let mut blocked = Vec::new();
        for Taken { actor, action, done, .. } in &self.taken {
            let violations = self.organisation.blocking(self.now, actor, &done.looked, &change);
            if !violations.is_empty() {
                blocked.push(Blocked { actor: actor.clone(), action: action.clone(), violations });
            }
        }
        if !blocked.is_empty() {
            return Admission { actions, blocked, ..Admission::of(Outcome::Blocked) };
        }
        let quiet: Vec<FindingId> = (self.taken.iter().filter(|taken| taken.action.ends_something()))
            .flat_map(|taken| taken.begun.iter().copied())
            .collect();
        let in_force = self.in_force.take();
        let (_, mut new) = self.organisation.new_findings(in_force, &change, self.now);
        new.retain(|id| !quiet.contains(id));
        let named = |id: FindingId| self.organisation.comply.name(id, State::Soft, self.now);
        let mut new: Vec<Finding> = new.into_iter().filter_map(named).collect();
        new.sort();
        let outcome = if new.iter().any(|own| own.level.is_told()) { Outcome::Soft } else { Outcome::Allowed };
        // Rules that are gone have no names any more.
        let ended = change.ended.iter().filter_map(|id| self.before.comply.name(*id, State::Pass, self.now));
        let mut ended: Vec<Finding> = ended.collect();
        ended.sort();
        let begun = self.recorded(&change.begun);
        Admission { actions, new, begun, ended, ..Admission::of(outcome) }
    }

    /// What violates from now on, by the last action that made it so.
    fn recorded(&self, begun: &[FindingId]) -> Vec<Recorded> {
        let mut causes: FxHashMap<FindingId, usize> = FxHashMap::default();
        for (place, taken) in self.taken.iter().enumerate() {
            causes.extend(taken.begun.iter().map(|id| (*id, place)));
        }
        let mut by_place: Vec<Vec<Finding>> = vec![Vec::new(); self.taken.len()];
        for id in begun {
            let named = self.organisation.comply.name(*id, State::Soft, self.now);
            if let Some(list) = by_place.get_mut(causes.get(id).copied().unwrap_or_default()) {
                list.extend(named);
            }
        }
        let mut recorded = Vec::new();
        for (taken, mut findings) in self.taken.iter().zip(by_place) {
            if findings.is_empty() {
                continue;
            }
            findings.sort();
            let cause = self.organisation.cause(self.now, &taken.actor, taken.done.summary.clone());
            recorded.push(Recorded { cause, findings });
        }
        recorded
    }
}

impl Admission {
    fn of(outcome: Outcome) -> Self {
        let (actions, blocked, new, begun, ended) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { outcome, actions, refusal: None, blocked, new, begun, ended }
    }
}
