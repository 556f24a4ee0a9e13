//! What changes from one view to another.

use upheld_answers::{Options, World};
use upheld_model::Timestamp;
use upheld_report::Shifts;

use super::View;

impl View {
    /// What is answered otherwise in another view, at a moment; after so many questions about places, where an answer ended there before. Takes a
    /// while: not for threads that answer.
    pub(crate) fn shifts_to(&self, after: &Self, moment: Timestamp, from: usize) -> Shifts {
        let options = |view: &Self| {
            let deciding_kind = Some(view.deciding_kind().to_owned());
            Options { semantics: view.semantics().to_vec(), deciding_kind, ..Options::at(moment) }
        };
        let (was, is) = (options(self), options(after));
        let (before, after) = (World::new(&self.loaded.snapshot, &was), World::new(&after.loaded.snapshot, &is));
        if from == 0 { before.review(&after, &()) } else { before.more_shifts(&after, from) }
    }
}
