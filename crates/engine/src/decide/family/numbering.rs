//! Policies and sets numbered in the order of evaluation.

use std::sync::Arc;

use super::{Conditions, Head, Node, Policy};
use crate::decide::rule::{Member, Rule, Set};
use crate::decide::value::Rank;
use crate::order::number;

/// What was numbered so far.
#[derive(Default)]
pub(super) struct Numbering {
    pub(super) policies: Vec<Policy>,
    /// Parents first, without their members.
    pub(super) sets: Vec<Set>,
    /// What is known of each set besides.
    pub(super) nodes: Vec<Node>,
}

impl Numbering {
    /// Numbers all that is in the outermost set.
    pub(super) fn of(root: Set) -> Self {
        let mut numbering = Self::default();
        numbering.set(root, None);
        numbering
    }

    fn set(&mut self, mut set: Set, parent: Option<u32>) {
        let own = number(self.sets.len());
        let mut members = std::mem::take(&mut set.members);
        // Stable, so the position counts where priorities are equal.
        members.sort_by_key(Member::rank);
        self.nodes.push(Node { parent, start: number(self.policies.len()), rank: Rank::of(set.priority) });
        self.sets.push(set);
        for member in members {
            match member {
                Member::Rule(rule) => self.policies.push(Policy::new(rule, own)),
                Member::Set(inner) => self.set(*inner, Some(own)),
            }
        }
    }
}

impl Policy {
    /// A member of a set.
    pub(super) fn new(rule: Arc<Rule>, set: u32) -> Self {
        let conditions = if rule.conditions.is_empty() { Conditions::None } else { Conditions::Some };
        let head = Head { set, rank: Rank::of(rule.priority), effect: rule.effect, conditions };
        Self { rule: Some(rule), head }
    }
}

impl Member {
    fn rank(&self) -> Rank {
        Rank::of(match self {
            Self::Rule(rule) => rule.priority,
            Self::Set(set) => set.priority,
        })
    }
}
