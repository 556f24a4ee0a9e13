//! Policies and sets numbered in the order of evaluation.

use std::sync::Arc;

use super::{Conditions, Head, Node};
use crate::decide::rule::{Member, Rule, Set};
use crate::decide::value::Algorithm;

/// What was numbered so far.
#[derive(Default)]
pub(super) struct Numbering {
    pub(super) rules: Vec<Arc<Rule>>,
    pub(super) heads: Vec<Head>,
    pub(super) sets: Vec<Node>,
    order: u32,
}

impl Numbering {
    /// Numbers all that is in the outermost set.
    pub(super) fn of(root: Set) -> Self {
        let mut numbering = Self::default();
        numbering.set(root, None, 0);
        numbering
    }

    fn set(&mut self, mut set: Set, parent: Option<u32>, rank: u32) {
        let number = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        let mut members = std::mem::take(&mut set.members);
        // Stable, so the position counts where priorities are equal.
        members.sort_by(|a, b| b.priority().total_cmp(&a.priority()));
        let judged = parent.and_then(|parent| self.sets.get(parent as usize));
        let only_one = judged.is_some_and(|node| node.set.algorithm == Algorithm::OnlyOneApplicable);
        let always = parent.is_none() || only_one || set.algorithm.always_speaks() || set.default.is_some();
        self.order += 1;
        self.sets.push(Node { set, parent, order: self.order, rank, always });
        let mut rank = 0;
        let mut before: Option<f64> = None;
        for member in members {
            let priority = member.priority();
            rank += u32::from(before.is_some_and(|before| before.total_cmp(&priority).is_ne()));
            before = Some(priority);
            match member {
                Member::Rule(rule) => {
                    self.order += 1;
                    let conditions = if rule.conditions.is_empty() { Conditions::None } else { Conditions::Some };
                    let (set, effect) = (number, rule.effect);
                    self.heads.push(Head { set, order: self.order, rank, effect, conditions });
                    self.rules.push(rule);
                }
                Member::Set(inner) => self.set(*inner, Some(number), rank),
            }
        }
    }
}

impl Member {
    fn priority(&self) -> f64 {
        // Both zeros are one priority.
        0.0 + match self {
            Self::Rule(rule) => rule.priority,
            Self::Set(set) => set.priority,
        }
    }
}
