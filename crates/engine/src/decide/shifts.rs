//! Which requests are decided otherwise by other policies: over all requests that there could be, not over known ones.
//!
//! ```text
//! before, after ──▶ changed    policies and sets that are not the same: only where one of them matches can anything differ
//!               ──▶ paths      classes of paths, below the patterns of those
//!               ──▶ space      the other parts of a request, cut where tests cut them          formula
//! a class       ──▶ side       what each side says of all its requests, as a diagram           diagram
//!               ──▶ compare    where they differ, a request of each sort, and both sides are asked it
//! one side      ──▶ lint       policies that can never match or decide, that say what others say, that clash
//!               ──▶ region     requests of a region that do not get what all of them must get
//! ```
//!
//! That nothing differs is a proof, for every request of which nothing is unknown, whose path everybody reads alike, whose texts
//! are not too long for patterns, and whose facts are not so many that expressions give up. That something differs is shown by a request which both sides have answered so. Whatever could not be
//! shown is said to be possible, and where a bound is met, that is said.

mod changed;
mod compare;
mod diagram;
mod formula;
mod lint;
mod paths;
mod region;
mod side;
mod space;
#[cfg(test)]
mod tests;

use smol_str::SmolStr;

pub use self::lint::{Finding, Linted, Other, Problem, lint};
pub use self::region::{Breach, Claim, Held, held};
use super::family::{By, Decide, Outcome};
use super::request::Request;
use super::rule::Rule;
use crate::ask::EntryId;

/// How far to go. Counts, not times: the same policies give the same verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// States in which patterns of paths can be while they are told apart.
    pub states: usize,
    /// Nodes of the diagrams of one class of paths.
    pub nodes: usize,
    /// Steps of all diagrams.
    pub steps: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { states: 1_000_000, nodes: 50_000, steps: 100_000_000 }
    }
}

/// What is the end of an analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// There are more states of patterns of paths.
    States(usize),
    /// There are more nodes for the paths of one class, of which this is one.
    Nodes(usize, SmolStr),
    /// There are more steps.
    Steps(usize),
    /// Something that is not looked at.
    NotCovered(NotCovered),
}

impl Bound {
    /// As a clause: `there are …`.
    pub fn text(&self) -> String {
        match self {
            Self::States(most) => format!("there are more than {most} states of patterns of paths"),
            Self::Nodes(most, path) => format!("there are more than {most} nodes for paths such as `{path}`"),
            Self::Steps(most) => format!("it takes more than {most} steps"),
            Self::NotCovered(NotCovered::Compatibility) => {
                "policies of the compatibility edition are not compared".to_owned()
            }
            Self::NotCovered(NotCovered::PathReading) => "the two sides read paths in different ways".to_owned(),
        }
    }
}

/// What is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCovered {
    /// Policies that are looked at as the original system does.
    Compatibility,
    /// Paths that one side reads in one way, and the other in another.
    PathReading,
}

/// Whether two sets of policies decide alike.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// They do, for every complete request.
    Equal {
        /// So many policies and sets are not the same.
        changed: usize,
        /// So many classes of paths were looked at.
        classes: usize,
    },
    /// They do not.
    Differs(Vec<Shift>),
    /// Nobody knows whether there is more.
    Undecided {
        /// Why.
        bound: Bound,
        /// What was found up to then.
        found: Vec<Shift>,
    },
}

impl Verdict {
    /// What was found.
    pub fn shifts(&self) -> &[Shift] {
        match self {
            Self::Equal { .. } => &[],
            Self::Differs(shifts) | Self::Undecided { found: shifts, .. } => shifts,
        }
    }
}

/// Requests that are decided otherwise, for one reason and by the same deciders.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// Which change it comes from.
    pub cause: Cause,
    /// What they got.
    pub before: Decision,
    /// What they get.
    pub after: Decision,
    /// In so many classes of paths.
    pub classes: u64,
    /// One of them.
    pub example: Request,
    /// Whether both sides have answered it so.
    pub certainty: Certainty,
}

/// What a request gets, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decision {
    /// What becomes of it.
    pub outcome: Outcome,
    /// Who decided.
    pub by: By,
}

/// A change that others come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A policy that was not there.
    Added(EntryId),
    /// A policy that is there no more, by its place before.
    Removed(EntryId),
    /// A policy that says something else: its place before, and after.
    Edited(EntryId, EntryId),
    /// How the outermost set combines.
    Algorithm,
    /// What the outermost set says when nobody else does.
    Default,
    /// A set inside, by its number on the side where it is: after, or before if it is gone.
    Set(Option<usize>, Option<usize>),
}

/// Whether something was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// Both sides have answered the example as it is said.
    Sure,
    /// They would if these could be as they must be for that; nobody has found out.
    May(Vec<SmolStr>),
}

/// Which requests two sets of policies decide otherwise.
pub fn shifts(before: &Decide, after: &Decide, bounds: &Bounds) -> Verdict {
    compare::compare(before, after, None, bounds)
}

/// The same among the requests of a region: what a policy matches, whatever its effect is. Requests of which nobody can tell whether they are in
/// it count as in it.
pub fn shifts_within(before: &Decide, after: &Decide, region: &Rule, bounds: &Bounds) -> Verdict {
    compare::compare(before, after, Some(region), bounds)
}
