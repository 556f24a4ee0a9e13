//! Policies that change step by step, and the same policies as the naive way sees them: one list, written anew each time.

use std::sync::Arc;

use upheld_model::{NodeRef, SourceId};

use super::super::family::{Decide, RuleChange, Strictness};
use super::super::rule::{Member, Rule, Set};
use super::super::value::{Algorithm, Effect, Unknowns};

/// Policies that change.
#[derive(Clone, Debug)]
pub struct Changing {
    /// The outermost set without its members.
    root: Set,
    strictness: Strictness,
    unknowns: Unknowns,
    /// The members of the outermost set in the order in which they are written; nothing where one was that is gone.
    members: Vec<(NodeRef, Option<Member>)>,
    written: usize,
    decide: Decide,
}

/// One step of a change. Places count all members that ever were, and start anew at the end.
#[derive(Clone, Debug)]
pub enum Step {
    /// Somebody writes a member before another one.
    Insert(usize, Member),
    /// Somebody writes another policy in the place of a member, or where one was.
    Replace(usize, Rule),
    /// Somebody takes a member away.
    Remove(usize),
    /// Somebody changes how the outermost set combines, and what it says by default.
    Settings(Algorithm, Option<Effect>),
}

impl Changing {
    /// Of the members of a set, written in their order.
    pub fn new(mut root: Set, strictness: Strictness, unknowns: Unknowns) -> Self {
        let members = std::mem::take(&mut root.members);
        let decide = Decide::new(root.clone(), strictness);
        let mut changing = Self { root, strictness, unknowns, members: Vec::new(), written: 0, decide };
        for member in members {
            let at = changing.new_place();
            changing.members.push((at, Some(written_at(member, at))));
        }
        changing.decide = changing.built();
        changing
    }

    /// All that is there now.
    pub fn set(&self) -> Set {
        Set { members: self.members.iter().filter_map(|(_, member)| member.clone()).collect(), ..self.root.clone() }
    }

    /// The same, changed step by step.
    pub fn decide(&self) -> &Decide {
        &self.decide
    }

    /// Takes some steps at once. Whether they were taken for the price of the change: sets are built anew.
    pub fn change(&mut self, steps: Vec<Step>) -> bool {
        let (mut changes, mut anew) = (Vec::new(), false);
        for step in steps {
            let count = self.members.len();
            match step {
                Step::Insert(place, member) => {
                    let at = self.new_place();
                    let member = written_at(member, at);
                    self.members.insert(place % (count + 1), (at, Some(member.clone())));
                    note(&mut changes, &mut anew, None, Some(member));
                }
                Step::Replace(place, rule) => {
                    let Some((at, member)) = self.members.get_mut(place % count.max(1)) else { continue };
                    let new = written_at(rule.into(), *at);
                    note(&mut changes, &mut anew, member.replace(new.clone()), Some(new));
                }
                Step::Remove(place) => {
                    let Some((_, member)) = self.members.get_mut(place % count.max(1)) else { continue };
                    note(&mut changes, &mut anew, member.take(), None);
                }
                Step::Settings(algorithm, default) => {
                    (self.root.algorithm, self.root.default) = (algorithm, default);
                    self.decide = self.decide.with_settings(algorithm, default, self.root.at);
                }
            }
        }
        let place = |at: NodeRef| self.members.iter().position(|(known, _)| *known == at);
        let changed = if anew { None } else { self.decide.with_changes(&changes, place) };
        let cheap = changed.is_some();
        self.decide = changed.unwrap_or_else(|| self.built());
        cheap
    }

    fn built(&self) -> Decide {
        Decide::new(self.set(), self.strictness).treating_unknowns(self.unknowns)
    }

    fn new_place(&mut self) -> NodeRef {
        self.written += 1;
        NodeRef { source: SourceId::new(self.written), node: 0 }
    }
}

/// What a step means for one member. One that came and went in the same change never was.
fn note(changes: &mut Vec<RuleChange>, anew: &mut bool, gone: Option<Member>, came: Option<Member>) {
    match gone {
        Some(Member::Rule(gone)) => {
            let just_came = |change: &RuleChange| matches!(change, RuleChange::Added(rule) if Arc::ptr_eq(rule, &gone));
            match changes.iter().position(just_came) {
                Some(place) => drop(changes.remove(place)),
                None => changes.push(RuleChange::Removed(gone)),
            }
        }
        Some(Member::Set(_)) => *anew = true,
        None => {}
    }
    match came {
        Some(Member::Rule(came)) => changes.push(RuleChange::Added(came)),
        Some(Member::Set(_)) => *anew = true,
        None => {}
    }
}

fn written_at(member: Member, at: NodeRef) -> Member {
    match member {
        Member::Rule(rule) => Rule { at, ..Arc::unwrap_or_clone(rule) }.into(),
        Member::Set(set) => Set { at: Some(at), ..*set }.into(),
    }
}
