//! What changes would do, before they are made.

use rustc_hash::FxHashSet;
use sha2::{Digest, Sha256};
use smol_str::SmolStr;

use super::finding::{Finding, FindingId};
use super::listing::Filter;
use super::policy::Level;
use super::{Action, Actor, Comply, Decision};

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
    pub then: Then,
}

/// What would be after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Then {
    /// Nothing is against it any more.
    Allowed,
    /// A policy is against it.
    Refused,
}

impl Comply {
    /// Makes changes one after the other, tells what they did, and takes them back. A step that is refused changes nothing,
    /// and the others are tried all the same.
    pub fn what_if(&mut self, steps: &[Step]) -> Plan {
        let before = self.recorded(&Filter::default());
        let mark = self.mark();
        let decisions = steps.iter().map(|(actor, action)| self.try_step(actor, action)).collect();
        let new: FxHashSet<FindingId> = self.changed_since(mark).begun.into_iter().collect();
        let history = self.history();
        let after = self.violations_within(&Filter::default(), self.now, |id| new.contains(&id) || history.has(id));
        self.roll_back(mark);
        self.settle();
        compare(decisions, &before, &after)
    }

    fn try_step(&mut self, actor: &Actor, action: &Action) -> Decision {
        let tried = self.try_out(actor, action);
        self.decision(tried)
    }

    /// Makes changes for good, if the state is still the one with this digest; otherwise tells the digest that it has.
    pub fn apply(&mut self, steps: &[Step], digest: &str) -> Result<Plan, String> {
        let found = self.digest();
        if found != digest {
            return Err(found);
        }
        let before = self.recorded(&Filter::default());
        let decisions = steps.iter().map(|(actor, action)| self.act(actor, action)).collect();
        Ok(compare(decisions, &before, &self.recorded(&Filter::default())))
    }

    /// A fingerprint of everything that answers rest on: SHA-256 over objects, tags, relationships, definitions, policies
    /// and waivers in the order of their names.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let mut put = |parts: &[&str]| {
            // Where one list ends and the next begins counts, too.
            hash.update(parts.len().to_le_bytes());
            for part in parts {
                hash.update(part.len().to_le_bytes());
                hash.update(part);
            }
        };
        put(&[&self.profile.name, &format!("{:?}", self.settings)]);
        for object in self.objects() {
            let Some(own) = self.described(object) else { continue };
            put(&[&self.reference(object), &format!("{:?} {:?}", own.standing, own.partner)]);
            put(&[own.paid_by.map(|by| self.reference(by)).as_deref().unwrap_or_default()]);
            for (key, values) in self.tags_of(object) {
                let parts: Vec<&str> = std::iter::once(&key).chain(&values).map(SmolStr::as_str).collect();
                put(&parts);
            }
            let mut others: Vec<(SmolStr, SmolStr)> = Vec::new();
            for (_, link) in self.links_of(object).filter(|(_, link)| link.a == object) {
                let role = link.role.map_or_else(SmolStr::default, |role| self.reference(role));
                others.push((self.reference(link.b), role));
            }
            others.sort();
            for (other, role) in &others {
                put(&["~", other, role]);
            }
        }
        let mut rules: Vec<String> = Vec::new();
        // Where something was written says nothing about what it is.
        rules.extend(self.definitions.iter().map(|own| format!("{:?}", super::Definition { at: None, ..own.clone() })));
        let policies = self.policies();
        rules.extend(policies.iter().map(|own| format!("{:?}", super::Policy { at: None, ..(*own).clone() })));
        rules.extend(self.waivers.all().iter().map(|own| format!("{:?}", super::Waiver { at: None, ..own.clone() })));
        // Time itself passes always; what it changes counts.
        let levels = policies.iter().map(|own| format!("{} {:?}", own.id, own.level_at(self.now)));
        rules.extend(levels);
        rules.extend(self.waivers.all().iter().map(|own| format!("{} {}", own.id, own.in_force(self.now))));
        rules.push(format!("{:?}", self.defaults));
        rules.sort();
        for rule in &rules {
            put(&[rule]);
        }
        format!("{:x}", hash.finalize())
    }
}

fn compare(decisions: Vec<Decision>, before: &[Finding], after: &[Finding]) -> Plan {
    let mut plan = Plan {
        decisions,
        added: Vec::new(),
        removed: Vec::new(),
        waived: Vec::new(),
        unwaived: Vec::new(),
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
    let gone = was.iter().filter(|pair| is.binary_search(pair).is_err()).map(|pair| (pair, Then::Allowed));
    let come = is.iter().filter(|pair| was.binary_search(pair).is_err()).map(|pair| (pair, Then::Refused));
    let mut flips: Vec<Flip> =
        gone.chain(come).map(|((a, b), then)| Flip { a: a.clone(), b: b.clone(), then }).collect();
    flips.sort();
    flips
}
