//! What policies cost: bounds that follow from the policies alone, so that the index, a sweep and an explanation agree.

use super::condition::Condition;
use super::expression::Expression;
use super::path::MOST_FORMS;
use super::pattern::longest_text;
use super::rule::{Rule, Status};

/// How much there is to evaluate in policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// States of the automata of all patterns.
    pub patterns: usize,
    /// Nodes of all expressions.
    pub expressions: usize,
}

/// Steps that conditions of any policies may take for one request.
const LEAST_STEPS: usize = 1 << 14;
/// Steps that conditions may take for each node of an expression. Ordinary facts take one or two.
const STEPS_OF_NODE: usize = 8;
/// The longest text that [`Load::worst`] counts with, in bytes: the head of a request has no longer one.
const LONGEST_TEXT: usize = 1 << 16;

impl Load {
    /// Of one policy; one that is off costs nothing.
    pub fn of(rule: &Rule) -> Self {
        let size = |condition: &Condition| match condition {
            Condition::Expression(expression) => expression.size(),
            _ => 0,
        };
        let expressions = match rule.status {
            Status::On => rule.conditions.iter().map(size).sum(),
            Status::Off => 0,
        };
        Self { patterns: rule.weight(), expressions }
    }

    /// The longest text, in bytes, that is held against patterns.
    pub fn longest_text(self) -> usize {
        longest_text(self.patterns)
    }

    /// Steps that the conditions of one request may take together. Beyond them the request is undecided.
    pub fn most_steps(self) -> usize {
        LEAST_STEPS.saturating_add(self.expressions.saturating_mul(STEPS_OF_NODE))
    }

    /// Steps that the worst request takes: with a path that is read in many ways, long texts and long lists.
    pub fn worst(self) -> usize {
        let patterns = self.patterns.saturating_mul(self.longest_text().min(LONGEST_TEXT));
        let expressions = if self.expressions == 0 { 0 } else { self.most_steps() };
        MOST_FORMS.saturating_add(patterns).saturating_add(expressions)
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            patterns: self.patterns.saturating_add(other.patterns),
            expressions: self.expressions.saturating_add(other.expressions),
        }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self {
            patterns: self.patterns.saturating_sub(other.patterns),
            expressions: self.expressions.saturating_sub(other.expressions),
        }
    }
}

impl Expression {
    /// How many nodes it has.
    pub fn size(&self) -> usize {
        self.size
    }
}
