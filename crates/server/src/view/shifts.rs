//! What changes from one view to another.

use upheld_answers::{Options, World};
use upheld_model::Timestamp;
use upheld_report::Shifts;

use super::View;

impl View {
    /// What is answered otherwise in another view, at a moment. Takes a while: not for threads that answer.
    pub(crate) fn shifts_to(&self, after: &Self, moment: Timestamp) -> Shifts {
        let options = |view: &Self| {
            let deciding_kind = Some(view.deciding_kind().to_owned());
            Options { semantics: view.semantics().to_vec(), deciding_kind, ..Options::at(moment) }
        };
        let (was, is) = (options(self), options(after));
        let before = World::new(&self.loaded.snapshot, &was);
        before.review(&World::new(&after.loaded.snapshot, &is), &())
    }
}
