//! Policies and requests out of any bytes, and the comparison of what the engine and the naive way make of them. The fuzz
//! target `decide` and a short run in the tests share it.

mod alternatives;
mod bytes;
mod crowds;
mod facts;
mod policies;
mod requests;

use std::collections::BTreeMap;

use upheld_model::Code;

use super::super::cells::{Bounds, Cell, Suggested};
use super::super::examine::ExaminedPart;
use super::super::family::{By, Decide, Decided, Outcome, Strictness};
use super::super::path::Readings;
use super::super::request::Request;
use super::super::rule::Set;
use super::super::shortfall::Shortfall;
use super::super::truth::Truth;
use super::super::value::{Effect, PossibleEffect, Unknowns, Value};
use super::changing::{Changing, Step};
use crate::{EntryId, Ruling, Scratch, Silent, ask};

pub use self::bytes::Bytes;
#[cfg(test)]
pub(in crate::decide) use self::policies::EXPRESSIONS;

/// Policies, and what they are asked.
#[derive(Clone, Debug)]
pub struct World {
    /// The policies.
    pub set: Set,
    /// How requests are looked at.
    pub strictness: Strictness,
    /// How unknown policies are treated.
    pub unknowns: Unknowns,
    /// The requests.
    pub requests: Vec<Request>,
    /// What becomes of the policies, one change after the other.
    pub changes: Vec<Vec<Step>>,
}

impl World {
    /// The world that bytes stand for. All bytes stand for one; where they end, what is left is plain.
    pub fn of(bytes: &[u8]) -> Self {
        let mut bytes = Bytes::new(bytes);
        // Requests and changes first: a large set takes all bytes that are left.
        let requests = bytes.some(8, requests::request);
        let changes = bytes.some(6, |bytes| bytes.some(3, policies::step));
        let strictness = if bytes.one_in(8) { Strictness::Compat } else { Strictness::Strict };
        let unknowns = if bytes.one_in(4) { Unknowns::Xacml } else { Unknowns::Union };
        let set = policies::root(&mut bytes);
        Self { set, strictness, unknowns, requests, changes }
    }
}

/// Whether the engine decides as the naive way does, silently and with explanations; the difference if it does not.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let World { set, strictness, unknowns, requests, changes } = World::of(bytes);
    let new = |set: &Set| Decide::new(set.clone(), strictness).treating_unknowns(unknowns);
    // What remains of one set of policies must not show with another: neither in what an asker reuses, nor in an index that
    // was changed again and again.
    let mut scratch = Scratch::default();
    compare_cells(&new(&set), &requests, &mut scratch).map_err(|difference| format!("{difference}\n{set:#?}"))?;
    let mut changing = Changing::new(set, strictness, unknowns);
    for steps in std::iter::once(Vec::new()).chain(changes) {
        changing.change(steps);
        let set = changing.set();
        for decide in [&new(&set), changing.decide()] {
            for request in &requests {
                compare(decide, &set, request, strictness, &mut scratch)
                    .map_err(|difference| format!("{difference}\n{request:#?}\n{set:#?}"))?;
            }
        }
    }
    Ok(())
}

/// Cells that are looked at of each set of policies.
const BOUNDS: Bounds = Bounds { states: 300, points: 12, cells: 60 };

/// Whether requests of one cell get the same answer, those that policies suggest too.
fn compare_cells(decide: &Decide, requests: &[Request], scratch: &mut Scratch<Decide>) -> Result<(), String> {
    let suggested = Suggested::of(decide, BOUNDS);
    let mut answers: BTreeMap<Cell, (Request, Decided)> = BTreeMap::new();
    let found: Vec<(Cell, Request)> = suggested.cells().collect();
    let asked = requests.iter().map(|request| (suggested.atoms().locate(request), request.clone()));
    for (cell, request) in found.into_iter().chain(asked) {
        let located = suggested.atoms().locate(&request);
        if located != cell {
            return Err(format!("suggested for {cell:?}, but in {located:?}: {request:#?}"));
        }
        let decided = ask(decide, &&request, scratch, &mut Silent);
        let (first, known) = answers.entry(cell).or_insert_with(|| (request.clone(), decided));
        if *known != decided {
            return Err(format!("decided {decided:?}: {request:#?}\nbut {known:?} in the same cell: {first:#?}"));
        }
    }
    Ok(())
}

fn compare(
    decide: &Decide,
    set: &Set,
    request: &Request,
    strictness: Strictness,
    scratch: &mut Scratch<Decide>,
) -> Result<(), String> {
    let decided = ask(decide, &request, scratch, &mut Silent);
    let mut room = Readings::default();
    let asked = decide.asked(request, &mut room);
    let fails = match strictness {
        Strictness::Strict => false,
        Strictness::Compat => super::fails(set, asked),
    };
    let unknowns = decide.unknowns();
    let (value, by) =
        if fails { (Value::Unknown(PossibleEffect::Either), None) } else { super::decide(set, asked, unknowns) };
    let decider = match decided.by {
        By::Policy(entry) => decide.rule(entry).map(|rule| rule.name.clone()),
        By::Default | By::Algorithm | By::Nobody => None,
    };
    // Where nothing is certain, nobody decides.
    let by = value.effect().and(by);
    if (decided.value, &decider) != (value, &by) || !is_sound(&decided, set, unknowns) {
        return Err(format!("decided {decided:?}, {decider:?}; the naive way {value:?}, {by:?}"));
    }
    for (place, rule) in decide.rules().iter().enumerate() {
        let (lacks, told) = (Shortfall::of(rule, asked), decide.examine(EntryId::new(place), request));
        let of = |parts: &[ExaminedPart], truth: Truth| parts.iter().filter(|part| part.truth == truth).count();
        let expected = told.as_ref().map(|told| Shortfall {
            parts: told.parts().map(|part| u32::from(part.truth != Truth::True)).sum(),
            clauses: of(&told.clauses, Truth::False),
            conditions: of(&told.conditions, Truth::False),
            tests: told.parts().map(|part| part.misses.len()).sum(),
        });
        let code = told.as_ref().and_then(|told| told.first_miss()).map_or(Code::SkipCondition, |miss| miss.code);
        if expected != Some(lacks) || Shortfall::code(rule, asked) != code {
            return Err(format!("{} lacks {lacks:?}; told part by part {expected:?}, {code:?}", rule.name));
        }
    }
    for (how, answer) in
        [("explained", Ruling::explain(decide, &request).answer), ("matched", Ruling::matched(decide, &request).answer)]
    {
        if answer != decided {
            return Err(format!("decided {decided:?}; {how} {answer:?}"));
        }
    }
    Ok(())
}

/// Whether outcome and decider go with the value.
fn is_sound(decided: &Decided, set: &Set, unknowns: Unknowns) -> bool {
    let by_default = decided.value.effect().is_none();
    let outcome = match super::outcome(set, decided.value, unknowns) {
        None => return (decided.outcome, decided.by) == (Outcome::Undecided, By::Nobody),
        Some(Effect::Permit) => Outcome::Permit,
        Some(Effect::Deny) => Outcome::Deny,
        Some(Effect::Foreign) => Outcome::Foreign,
    };
    decided.outcome == outcome && (decided.by == By::Default) == by_default && decided.by != By::Nobody
}
