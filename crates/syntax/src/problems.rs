//! The problems of one text: in goes every one that a reader meets, out come the first few of each
//! kind and how many more there were.
//!
//! A generated file can repeat one mistake a million times. Nobody reads a million messages, and
//! keeping them would take many times the memory of the file.

use upheld_model::{Diagnostic, Fault, Severity, SourceId};

/// How many problems of one kind are shown for one text.
const SHOWN: usize = 20;

/// Collects the problems of one text.
#[derive(Debug)]
pub(crate) struct Problems {
    source: SourceId,
    found: Vec<Diagnostic>,
    kinds: Vec<Kind>,
}

/// How often one kind of problem was met.
#[derive(Debug)]
struct Kind {
    fault: Fault,
    severity: Severity,
    met: usize,
}

impl Problems {
    pub(crate) fn new(source: SourceId) -> Self {
        Self { source, found: Vec::new(), kinds: Vec::new() }
    }

    /// Adds a problem; it is only put in words if it will be shown.
    pub(crate) fn add(&mut self, fault: Fault, words: impl FnOnce(SourceId) -> Diagnostic) {
        if let Some(kind) = self.kinds.iter_mut().find(|kind| kind.fault == fault) {
            kind.met += 1;
            if kind.met <= SHOWN {
                self.found.push(words(self.source));
            }
        } else {
            let first = words(self.source);
            self.kinds.push(Kind { fault, severity: first.severity, met: 1 });
            self.found.push(first);
        }
    }

    /// Everything to show, in the order in which it was met.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        for kind in self.kinds {
            let more = kind.met.saturating_sub(SHOWN);
            if more > 0 {
                let message = format!("{more} more problems of this kind are not shown");
                let mut summary = Diagnostic::error(kind.fault, message);
                summary.severity = kind.severity;
                // It belongs to the file: it stands where the last one that is shown stands.
                summary.label = self.found.iter().rfind(|d| d.fault == kind.fault).and_then(|d| d.label.clone());
                self.found.push(summary);
            }
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_problems_of_one_kind_are_counted_and_others_stay_visible() {
        let mut problems = Problems::new(SourceId::new(0));
        for number in 0..1_000 {
            problems.add(Fault::Syntax, |_| Diagnostic::error(Fault::Syntax, format!("{number}")));
        }
        problems.add(Fault::UnknownTag, |_| Diagnostic::error(Fault::UnknownTag, "tag"));
        let found = problems.finish();
        assert_eq!(found.len(), 22);
        assert_eq!(found[19].message, "19");
        assert_eq!(found[20].message, "tag");
        assert_eq!(found[21].message, "980 more problems of this kind are not shown");
    }
}
