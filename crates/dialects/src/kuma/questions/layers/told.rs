//! What becomes of an answer: what is asked does not depend on it.

use upheld_report::{AskedLayers, Report, Verdict, Weighed, report_layers, weigh_layers};

use super::super::connections::same_answer_key;

/// What is made of the answer to a question: a report, or no more than what it comes to.
pub(super) trait Told: Sized {
    fn of(asked: &AskedLayers<'_>) -> Option<Self>;
    fn verdict(&self) -> Verdict;
    fn speaks(&self) -> bool;
    /// Whether another answer says the same.
    fn is_like(&self, other: &Self) -> bool;
    /// The same for a caller by a name of its own.
    fn of_caller(self, name: impl FnOnce() -> String) -> Self;
}

impl Told for Report {
    fn of(asked: &AskedLayers<'_>) -> Option<Self> {
        report_layers(asked)
    }

    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn speaks(&self) -> bool {
        Self::speaks(self)
    }

    fn is_like(&self, other: &Self) -> bool {
        let key = |report| same_answer_key(std::slice::from_ref(report));
        key(self) == key(other)
    }

    fn of_caller(mut self, name: impl FnOnce() -> String) -> Self {
        self.about.from = Some(name());
        self
    }
}

impl Told for Weighed {
    fn of(asked: &AskedLayers<'_>) -> Option<Self> {
        weigh_layers(asked)
    }

    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn speaks(&self) -> bool {
        Self::speaks(self)
    }

    fn is_like(&self, other: &Self) -> bool {
        self == other
    }

    fn of_caller(self, _: impl FnOnce() -> String) -> Self {
        self
    }
}
