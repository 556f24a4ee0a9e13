//! Who may reach what: each combination of the subjects, resources and actions that the directory lists is decided like any other
//! request.
//!
//! ```text
//! question ──▶ Pattern ──▶ Decider::reach ──▶ one Reached for each request ──▶ answer, or a search of AuthZEN
//! ```
//!
//! - `answer`: rows for people and programs
//! - `question`: what people and programs ask
//! - `token`: where the next page begins

mod answer;
mod known;
mod question;
pub(super) mod token;

use std::ops::ControlFlow;

use smol_str::SmolStr;
use upheld_engine::decide::{
    Action, Decide, Decided, Facts, Maybe, Measure, Names, Outcome, Request, Resource, Subject,
};
use upheld_engine::{Hit, Scratch};
use upheld_model::Timestamp;
use upheld_report::{Closest, Decision, missing, unknown_policies};

pub use self::answer::{MOST_DECISIONS, reach};
pub use self::question::ReachQuestion;
use super::authzen::mapping;
use super::decider::{CompleteRequest, Decider};

/// Requests that have something in common: what is said here, and one of those that are looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// What all of them have. A part that is looked for says only what is true of everybody who is found.
    pub request: Request,
    /// Which subjects.
    pub subject: Sought,
    /// Which resources.
    pub resource: Sought,
    /// Which actions.
    pub action: Sought,
}

/// What is looked for in the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sought {
    /// Nothing: the request says it.
    Given,
    /// All of them.
    All,
    /// Those of a type.
    OfType(SmolStr),
}

impl Pattern {
    /// A part that a request leaves out is looked for, and one of which it says only the type, among those of the type.
    pub fn of(request: Request) -> Self {
        let subject = match &request.subject {
            Subject { id: Maybe::Absent, kind: Maybe::Is(kind), roles, groups, .. }
                if *roles == Names::default() && *groups == Names::default() =>
            {
                Sought::OfType(kind.clone())
            }
            subject => Sought::all_if(*subject == Subject::default()),
        };
        let resource = match &request.resource {
            Resource { id: Maybe::Absent, path: Maybe::Absent, app: Maybe::Absent, kind: Maybe::Is(kind), .. } => {
                Sought::OfType(kind.clone())
            }
            resource => Sought::all_if(*resource == Resource::default()),
        };
        let action = Sought::all_if(request.action == Action::default());
        Self { request, subject, resource, action }
    }

    /// The names of the parts that are looked for.
    pub fn sought(&self) -> impl Iterator<Item = (&'static str, &Sought)> {
        let parts = [("subject", &self.subject), ("resource", &self.resource), ("action", &self.action)];
        parts.into_iter().filter(|(_, sought)| **sought != Sought::Given)
    }
}

impl Sought {
    fn all_if(nothing_is_said: bool) -> Self {
        if nothing_is_said { Self::All } else { Self::Given }
    }

    /// The type of those that are looked for, if it matters.
    pub(super) fn kind(&self) -> Option<&str> {
        match self {
            Self::OfType(kind) => Some(kind),
            Self::All | Self::Given => None,
        }
    }
}

/// The place of a request among all: what was found for it, in this order. What was given is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Type and id of the subject.
    pub subject: (SmolStr, SmolStr),
    /// Type and id of the resource.
    pub resource: (SmolStr, SmolStr),
    /// The name of the action.
    pub action: SmolStr,
    /// Which of the ways in which its properties can have their values.
    pub variant: u32,
}

/// One request, and what it gets.
#[derive(Debug)]
pub struct Reached<'r, 's> {
    /// Where it is among all.
    pub place: &'r Place,
    /// The request, as anybody would ask it.
    pub asked: &'r Request,
    /// What the action has in this variant.
    pub properties: &'r Facts,
    /// In how many variants the action is asked for.
    pub variants: usize,
    complete: &'r CompleteRequest,
    decider: Decider<'s>,
    decided: &'r Decided,
    hits: &'r [Hit<Measure>],
}

impl<'s> Reached<'_, 's> {
    /// What becomes of it.
    pub fn outcome(&self) -> Outcome {
        self.decided.outcome
    }

    /// What it gets, with all that belongs to it.
    pub fn decision(&self) -> Decision<'s> {
        let Decider { files, decide, .. } = self.decider;
        Decision::of(files, decide, self.complete, self.decided, self.hits)
    }

    /// What an undecided answer depends on first.
    pub fn missing(&self) -> Option<Closest> {
        missing(self.decider.decide, self.complete, self.hits)
    }

    /// The policies of which nobody knows whether they apply.
    pub fn unknown(&self) -> Vec<String> {
        unknown_policies(self.decider.decide, self.hits)
    }
}

impl<'s> Decider<'s> {
    /// Decides all requests of a pattern after a place, in the order of their places, until somebody has enough.
    pub fn reach(
        &self,
        pattern: &Pattern,
        after: Option<&Place>,
        now: Option<Timestamp>,
        mut each: impl FnMut(&Reached<'_, 's>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let directory = self.directory;
        let mut scratch = Scratch::<Decide>::default();
        let mut asked = pattern.request.clone();
        let mut place = Place::default();
        let (subjects, resources) = (pattern.subject != Sought::Given, pattern.resource != Sought::Given);
        let first = after.filter(|_| subjects).map(|after| (after.subject.0.as_str(), after.subject.1.as_str()));
        for subject in one_or(subjects, || directory.all_subjects(pattern.subject.kind(), first)) {
            if let Some((kind, id, stored)) = subject {
                if mapping::contradicts(&pattern.request.subject.claims, stored) {
                    continue;
                }
                place.subject = (SmolStr::new(kind), SmolStr::new(id));
                (asked.subject.kind, asked.subject.id) = is(&place.subject);
            }
            let first = after.filter(|_| resources && !subjects);
            let first = first.map(|after| (after.resource.0.as_str(), after.resource.1.as_str()));
            for resource in one_or(resources, || directory.all_resources(pattern.resource.kind(), first)) {
                if let Some((kind, id, stored)) = resource {
                    if mapping::contradicts(&pattern.request.resource.facts, stored) {
                        continue;
                    }
                    place.resource = (SmolStr::new(kind), SmolStr::new(id));
                    (asked.resource.kind, asked.resource.id) = is(&place.resource);
                }
                for action in one_or(pattern.action != Sought::Given, || directory.actions()) {
                    let variants = match action {
                        Some((name, known)) => {
                            place.action = SmolStr::new(name);
                            known.variants()
                        }
                        None => vec![Facts::default()],
                    };
                    for (variant, properties) in (0..).zip(&variants) {
                        place.variant = variant;
                        if after.is_some_and(|after| place <= *after) {
                            continue;
                        }
                        if let Some((name, _)) = action {
                            asked.action = mapping::action(name, properties.clone());
                        }
                        let complete = self.complete(asked.clone(), now);
                        let decided = self.decided(&complete, &mut scratch);
                        each(&Reached {
                            place: &place,
                            asked: &asked,
                            properties,
                            variants: variants.len(),
                            complete: &complete,
                            decider: *self,
                            decided: &decided,
                            hits: scratch.hits(),
                        })?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// All of them, or the one that the request says.
fn one_or<I: Iterator>(looked_for: bool, all: impl FnOnce() -> I) -> impl Iterator<Item = Option<I::Item>> {
    let given = (!looked_for).then_some(None);
    let found = looked_for.then(all);
    given.into_iter().chain(found.into_iter().flatten().map(Some))
}

fn is((kind, id): &(SmolStr, SmolStr)) -> (Maybe<SmolStr>, Maybe<SmolStr>) {
    (Maybe::Is(kind.clone()), Maybe::Is(id.clone()))
}
