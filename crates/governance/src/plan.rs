//! What changes would do, before they are made.

use smol_str::SmolStr;
use upheld_engine::comply::{Filter, Finding, Level};
use upheld_model::Timestamp;

use crate::{Action, Actor, Decision, Organisation};

/// A change with who makes it.
pub type Step = (Actor, Action);

/// What changes would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What becomes of each step.
    pub decisions: Vec<Decision>,
    /// Findings that would begin.
    pub added: Vec<Finding>,
    /// Findings that would end.
    pub removed: Vec<Finding>,
    /// Findings that would be covered by a waiver, and are not now.
    pub waived: Vec<Finding>,
    /// Findings that would count again.
    pub unwaived: Vec<Finding>,
    /// Findings that would be taken more seriously: they warn now and refuse then, or the like.
    pub raised: Vec<Finding>,
    /// Findings that would be taken less seriously.
    pub lowered: Vec<Finding>,
    /// How many violations would stay.
    pub kept: usize,
    /// Pairs that an end-user could relate now and could not then, and the other way round.
    pub flipped: Vec<Flip>,
}

/// A pair whose relation an enforced policy would refuse then and not now, or the other way round.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flip {
    /// One side.
    pub a: SmolStr,
    /// The other.
    pub b: SmolStr,
    /// What would be then.
    pub then: AfterChange,
}

/// What would be after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AfterChange {
    /// Nothing is against it any more.
    Allowed,
    /// A policy is against it.
    Refused,
}

impl Organisation {
    /// What changes would do, one after the other. A step that is refused changes nothing, and the others are tried all the
    /// same.
    pub fn what_if(&self, now: Timestamp, steps: &[Step]) -> Plan {
        self.clone().take(now, steps)
    }

    /// Makes changes for good, if the state is still the one with this digest; otherwise tells the digest that it has.
    pub fn apply(&mut self, now: Timestamp, steps: &[Step], digest: &str) -> Result<Plan, String> {
        let found = self.digest(now);
        if found == digest { Ok(self.take(now, steps)) } else { Err(found) }
    }

    fn take(&mut self, now: Timestamp, steps: &[Step]) -> Plan {
        let was = self.clone();
        let (mut clock, mut decisions) = (now, Vec::with_capacity(steps.len()));
        for (actor, action) in steps {
            let tried = self.commit(clock, actor, action);
            clock = tried.at;
            decisions.push(self.decision(tried));
        }
        let all = Filter::default();
        let passes = |own: &Self| own.comply.next_turn(now).is_some_and(|turn| turn <= clock);
        // What both share violates in both, unless time passed that judges it otherwise.
        let [before, after] = if passes(&was) || passes(self) {
            [was.violations(&all, now), self.violations(&all, clock)]
        } else {
            [was.violations_unlike(self, &all, now), self.violations_unlike(&was, &all, clock)]
        };
        let plan = compare(decisions, &before, &after);
        Plan { kept: was.comply.violation_count() - plan.removed.len(), ..plan }
    }
}

pub(crate) fn compare(decisions: Vec<Decision>, before: &[Finding], after: &[Finding]) -> Plan {
    let mut plan = Plan {
        decisions,
        added: Vec::new(),
        removed: Vec::new(),
        waived: Vec::new(),
        unwaived: Vec::new(),
        raised: Vec::new(),
        lowered: Vec::new(),
        kept: 0,
        flipped: Vec::new(),
    };
    // Both are in the order of the key.
    let (mut old, mut new) = (before.iter().peekable(), after.iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some(one), Some(other)) => one.identity().cmp(&other.identity()),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => break,
        };
        match order {
            std::cmp::Ordering::Less => plan.removed.extend(old.next().cloned()),
            std::cmp::Ordering::Greater => plan.added.extend(new.next().cloned()),
            std::cmp::Ordering::Equal => {
                if let (Some(was), Some(is)) = (old.next(), new.next()) {
                    plan.kept += 1;
                    // The more serious level comes first.
                    match is.level.cmp(&was.level) {
                        std::cmp::Ordering::Less => plan.raised.push(is.clone()),
                        std::cmp::Ordering::Greater => plan.lowered.push(is.clone()),
                        std::cmp::Ordering::Equal => {}
                    }
                    match (was.waiver.is_some(), is.waiver.is_some()) {
                        (false, true) => plan.waived.push(is.clone()),
                        (true, false) => plan.unwaived.push(is.clone()),
                        _ => {}
                    }
                }
            }
        }
    }
    plan.flipped = flips(before, after);
    plan
}

fn flips(before: &[Finding], after: &[Finding]) -> Vec<Flip> {
    let refused = |violations: &[Finding]| {
        let against = violations.iter().filter(|own| own.level == Level::Enforce && own.waiver.is_none());
        let mut pairs: Vec<(SmolStr, SmolStr)> = against
            .map(|own| {
                let (a, b) = (own.a.object.clone(), own.b.object.clone());
                if a <= b { (a, b) } else { (b, a) }
            })
            .collect();
        pairs.sort();
        pairs.dedup();
        pairs
    };
    let (was, is) = (refused(before), refused(after));
    let gone = was.iter().filter(|pair| is.binary_search(pair).is_err()).map(|pair| (pair, AfterChange::Allowed));
    let come = is.iter().filter(|pair| was.binary_search(pair).is_err()).map(|pair| (pair, AfterChange::Refused));
    let mut flips: Vec<Flip> =
        gone.chain(come).map(|((a, b), then)| Flip { a: a.clone(), b: b.clone(), then }).collect();
    flips.sort();
    flips
}
