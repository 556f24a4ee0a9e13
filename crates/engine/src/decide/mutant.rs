//! Policies with one thing otherwise, one after the other: whoever tests policies should notice each of them.
//!
//! ```text
//! Decide ──▶ mutants    policy by policy and set by set, one clause at a time     policy
//!              └ same     without those that certainly decide alike               same
//! Mutant ──▶ applied    the policies with that one thing otherwise
//! ```

mod paths;
mod policy;
mod same;
mod values;

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::{NodeRef, SourceId};

use super::cells::{Bounds, Suggested};
use super::examine::asks;
use super::family::{Decide, RuleChange, Strictness};
use super::path::Readings;
use super::request::Request;
use super::rule::{Binding, Clause, Matcher, Member, Rule, Set, Status, Target};
use super::truth::Truth;
use super::value::{Algorithm, Effect};
use crate::ask::EntryId;

/// Policies of which one thing is otherwise.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Whose.
    pub of: MutantOf,
    /// What is otherwise.
    pub mutation: Mutation,
    /// In which list of a policy that was written, and where in it; none if it is the policy as a whole.
    pub place: Option<(Clause, usize)>,
    body: Body,
}

/// What a mutant is a mutant of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MutantOf {
    /// A policy.
    Policy(EntryId),
    /// A set, by its number; the outermost is the first.
    Set(usize),
}

/// What is otherwise, in the words in which policies are reported.
#[derive(Clone, Debug, PartialEq)]
pub enum Mutation {
    /// The effect is turned round.
    Effect {
        /// What it was.
        was: Effect,
        /// What it is.
        becomes: Effect,
    },
    /// The policy is taken away.
    Removed,
    /// One of several alternatives is taken away.
    Alternative {
        /// Of what.
        clause: Clause,
        /// What it asked for.
        asks: SmolStr,
    },
    /// A clause has no alternatives any more, so that it fits all.
    Everything {
        /// Which.
        clause: Clause,
        /// What it asked for.
        asks: SmolStr,
    },
    /// An alternative asks for one thing less.
    Test {
        /// Of what.
        clause: Clause,
        /// What it asked for.
        was: SmolStr,
        /// What it asks for.
        becomes: SmolStr,
    },
    /// What a test asks for is one value less, or a wider pattern.
    Values {
        /// Of what: `path`.
        field: SmolStr,
        /// What it was.
        was: SmolStr,
        /// What it is.
        becomes: SmolStr,
    },
    /// A condition is taken away.
    Condition {
        /// What it asked for.
        asks: SmolStr,
    },
    /// A duty is taken away.
    Duty {
        /// Whether it must be done.
        binding: Binding,
        /// Which.
        id: SmolStr,
    },
    /// The priority is what it is when none is written.
    Priority {
        /// What it was.
        was: f64,
    },
    /// What stands when no policy says anything is turned round.
    Default {
        /// What it was.
        was: Effect,
        /// What it is.
        becomes: Effect,
    },
    /// A set is about everything.
    Target {
        /// What it was about.
        asks: SmolStr,
    },
}

/// What stands in the place of what was there.
#[derive(Clone, Debug)]
enum Body {
    Rule(Box<Rule>),
    Nothing,
    /// A policy that may stand elsewhere in the order.
    Moved(Arc<Rule>),
    Set(Box<Set>),
}

/// All mutants, made one after the other. Those of policies come first, in the order of evaluation.
pub fn mutants(decide: &Decide) -> impl Iterator<Item = Mutant> {
    let policies = decide.rules().into_iter().enumerate().filter(|(_, rule)| rule.status == Status::On);
    let policies = policies.flat_map(|(place, rule)| {
        let entry = EntryId::new(place);
        let by_order = decide.is_outermost(entry) && decide.algorithm().looks_at_order();
        policy::mutants(rule, by_order).map(move |made| Mutant {
            of: MutantOf::Policy(entry),
            mutation: made.mutation,
            place: made.place,
            body: made.body,
        })
    });
    let sets = decide.sets().enumerate().flat_map(|(number, set)| of_set(number, set));
    policies.chain(sets)
}

fn of_set(number: usize, set: &Set) -> impl Iterator<Item = Mutant> + use<> {
    let mut made: Vec<(Mutation, Set)> = Vec::new();
    // The outermost set has a default, written or not; one that always speaks never needs it.
    let default = set.default.or((number == 0).then_some(Effect::Deny)).filter(|_| !set.algorithm.always_speaks());
    if let Some((was, becomes)) = default.and_then(|was| Some((was, was.opposite()?))) {
        made.push((Mutation::Default { was, becomes }, Set { default: Some(becomes), ..set.clone() }));
    }
    if !set.target.is_everything() {
        let asks = told(&set.target);
        made.push((Mutation::Target { asks }, Set { target: Target::default(), ..set.clone() }));
    }
    for (place, duty) in set.duties.iter().enumerate() {
        let duties = without(&set.duties, place);
        if !duties.contains(duty) {
            let mutation = Mutation::Duty { binding: duty.binding, id: duty.id.clone() };
            made.push((mutation, Set { duties, ..set.clone() }));
        }
    }
    made.into_iter().map(move |(mutation, set)| Mutant {
        of: MutantOf::Set(number),
        mutation,
        place: None,
        body: Body::Set(Box::new(set)),
    })
}

impl Mutant {
    /// The policies with that one thing otherwise; none if it makes no difference where the policy stands. `written` is where a
    /// policy or set was written, as in [`Decide::with_changes`].
    pub fn applied<P: Ord>(&self, decide: &Decide, written: impl Fn(NodeRef) -> P) -> Option<Decide> {
        match (self.of, &self.body) {
            (MutantOf::Policy(entry), Body::Rule(rule)) => decide.with_rule(entry, (**rule).clone()),
            (MutantOf::Policy(entry), Body::Nothing) => decide.without_rule(entry),
            (MutantOf::Policy(entry), Body::Moved(rule)) => {
                let before = Arc::clone(decide.rules().get(entry.index())?);
                let changes = [RuleChange::Removed(before), RuleChange::Added(Arc::clone(rule))];
                let moved = decide.with_changes(&changes, written)?;
                let stays = moved.rules().get(entry.index()).is_some_and(|known| Arc::ptr_eq(known, rule));
                // With the same neighbours, only those with equal priorities count otherwise.
                (!stays || decide.algorithm() != Algorithm::FirstApplicable).then_some(moved)
            }
            (MutantOf::Set(number), Body::Set(set)) => decide.with_set(number, (**set).clone()),
            (MutantOf::Policy(_), Body::Set(_)) | (MutantOf::Set(_), _) => None,
        }
    }

    /// Whether a request may be decided otherwise: if the policy says the same of it, so do all together.
    pub fn touches(&self, decide: &Decide, request: &Request) -> bool {
        let MutantOf::Policy(entry) = self.of else { return true };
        let Some(rule) = decide.rule(entry) else { return true };
        // There the first policy that fails ends it all, so more counts than what each says.
        if decide.strictness() == Strictness::Compat {
            return true;
        }
        let mut room = Readings::default();
        let asked = decide.asked(request, &mut room);
        let target = rule.target.covers(asked);
        match &self.body {
            Body::Rule(changed) if changed.effect == rule.effect && changed.duties == rule.duties => {
                let becomes = changed.target.covers(asked);
                let conditions = |rule: &Rule| {
                    let all = rule.conditions.iter().map(|condition| condition.holds(asked));
                    all.fold(Truth::True, Truth::and)
                };
                // Whether doubts of a policy count can depend on what they are about.
                let differs = || conditions(rule) != conditions(changed) || rule.reads_path() != changed.reads_path();
                target != becomes || (target != Truth::False && differs())
            }
            _ => target != Truth::False,
        }
    }

    /// Requests that may tell it from the policies that it was made of: all combinations of values that the policy in question
    /// tells apart, before and after.
    pub fn suggested(&self, decide: &Decide, bounds: Bounds) -> Vec<Request> {
        let apart = match (self.of, &self.body) {
            (MutantOf::Policy(entry), body) => {
                let Some(before) = decide.rules().get(entry.index()) else { return Vec::new() };
                let after = match body {
                    Body::Rule(after) => Some((**after).clone().into()),
                    _ => None,
                };
                let around = decide.set_of(entry).map(|set| set.target.clone()).unwrap_or_default();
                [Member::Rule(Arc::clone(before))].into_iter().chain(after).chain([about(around)]).collect()
            }
            (MutantOf::Set(number), _) => {
                decide.sets().nth(number).map(|set| about(set.target.clone())).into_iter().collect()
            }
        };
        let alone = Set {
            name: SmolStr::default(),
            algorithm: Algorithm::default(),
            default: None,
            target: Target::default(),
            duties: Vec::new(),
            priority: 0.0,
            members: apart,
            at: None,
        };
        let alone =
            Decide::new(alone, decide.strictness()).reading_paths(decide.paths()).treating_unknowns(decide.unknowns());
        Suggested::of(&alone, bounds).cells().map(|(_, request)| request).collect()
    }
}

/// A policy that is about these requests.
fn about(target: Target) -> Member {
    let at = NodeRef { source: SourceId::new(0), node: 0 };
    Rule::new(SmolStr::default(), Effect::Permit, target, at).into()
}

/// What a target asks for, clause by clause.
fn told(target: &Target) -> SmolStr {
    let clauses = target.clauses().into_iter().filter(|(_, alternatives)| !alternatives.is_empty());
    clauses.map(|(_, alternatives)| alternatives_told(alternatives).to_string()).collect::<Vec<_>>().join("; ").into()
}

fn alternatives_told(alternatives: &[Matcher]) -> SmolStr {
    alternatives.iter().map(|one| matcher_told(one).to_string()).collect::<Vec<_>>().join(" or ").into()
}

fn matcher_told(matcher: &Matcher) -> SmolStr {
    matcher.tests.iter().map(asks).collect::<Vec<_>>().join(" ").into()
}

/// A list without what stands at a place.
fn without<T: Clone>(all: &[T], place: usize) -> Vec<T> {
    all.iter().enumerate().filter(|(known, _)| *known != place).map(|(_, item)| item.clone()).collect()
}

impl Effect {
    /// The other one; a word that no algorithm knows has none.
    fn opposite(self) -> Option<Self> {
        match self {
            Self::Permit => Some(Self::Deny),
            Self::Deny => Some(Self::Permit),
            Self::Foreign => None,
        }
    }
}

impl Algorithm {
    /// Whether what is decided depends on who comes first, not only who is named.
    fn looks_at_order(self) -> bool {
        matches!(self, Self::FirstApplicable | Self::PriorityDenyOverrides)
    }
}
