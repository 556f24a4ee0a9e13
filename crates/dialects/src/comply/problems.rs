//! What is wrong with objects and relationships as a whole.

use smol_str::SmolStr;
use upheld_engine::comply::{Draft, ObjectId, Problem};
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::{Diagnostic, Diagnostics, Fault, Files, NodeRef};

use crate::recognise::Surroundings;

/// Near names are looked for this often: with many missing objects a whole file is missing.
const LOOKED_FOR: usize = 20;

/// Reports everything.
pub(super) fn report(draft: &Draft, files: &Files, found: &mut Diagnostics) {
    let problems = draft.problems();
    let missing: Vec<ObjectId> = problems.iter().filter_map(missing).collect();
    let mut looked_for = 0;
    for problem in &problems {
        let told = |object: ObjectId| draft.so_far().reference(object);
        let (fault, message, label, help, at) = match problem {
            Problem::Missing { object, at } => {
                let reference = told(*object);
                looked_for += 1;
                let near = (looked_for <= LOOKED_FOR).then(|| near(draft, &missing, &reference)).flatten();
                let help = match near {
                    Some(near) => did_you_mean(near),
                    None => format!("describe it: `ref: {reference}`, with its tags"),
                };
                (Fault::DanglingReference, format!("there is no `{reference}`"), "does not exist", help, at)
            }
            Problem::TwoOwners { object, first, second, at } => {
                let message = format!("`{}` belongs to `{}` and to `{}`", told(*object), told(*first), told(*second));
                (Fault::LivesTwice, message, "the second one", "remove one of them".to_owned(), at)
            }
            Problem::Cycle { through, at } => {
                let mut names: Vec<SmolStr> = through.iter().map(|object| told(*object)).collect();
                names.extend(names.first().cloned());
                let message = format!("objects belong to each other: {}", names.join(" in "));
                (Fault::LivesTwice, message, "one of them", "remove one of these relationships".to_owned(), at)
            }
        };
        let diagnostic = Diagnostic::error(fault, message).help(help);
        found.push(located(diagnostic, files, *at, label));
    }
}

fn missing(problem: &Problem) -> Option<ObjectId> {
    match problem {
        Problem::Missing { object, .. } => Some(*object),
        _ => None,
    }
}

/// The nearest object of the same kind that is there.
fn near(draft: &Draft, missing: &[ObjectId], reference: &str) -> Option<SmolStr> {
    let so_far = draft.so_far();
    let there = so_far.objects().into_iter().filter(|object| missing.binary_search(object).is_err());
    let prefix = reference.split_once('/').map_or("", |(kind, _)| kind);
    let names: Vec<SmolStr> = there.map(|object| so_far.reference(object)).collect();
    let same = names.iter().filter(|name| name.split_once('/').is_some_and(|(kind, _)| kind == prefix));
    nearest(reference, same.map(SmolStr::as_str)).map(SmolStr::new)
}

/// With a place, if it is known.
pub(super) fn located(diagnostic: Diagnostic, files: &Files, at: Option<NodeRef>, label: &str) -> Diagnostic {
    match at.and_then(|at| Some((at, files.value(at)?))) {
        Some((at, value)) => diagnostic.at(at.source, crate::recognise::first_span(value), label),
        None => diagnostic,
    }
}

/// Who tells of two of one name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Twice<'f> {
    pub(super) files: &'f Files,
    pub(super) surroundings: Surroundings,
}

impl Twice<'_> {
    /// Where everything that is read is meant.
    pub(super) fn among(files: &Files) -> Twice<'_> {
        Twice { files, surroundings: Surroundings::Own }
    }

    /// The second of them, and the first.
    pub(super) fn tell(self, message: String, at: NodeRef, first: Option<NodeRef>) -> Diagnostic {
        let diagnostic = Diagnostic::error(Fault::DefinedTwice, message).help("rename or remove one of them");
        self.beside(located(diagnostic, self.files, Some(at), "second definition"), first)
    }

    /// The same, for those who say it in their own words.
    pub(super) fn beside(self, diagnostic: Diagnostic, first: Option<NodeRef>) -> Diagnostic {
        let diagnostic = match first.and_then(|first| Some((first, self.files.value(first)?))) {
            Some((first, value)) => {
                diagnostic.related(first.source, crate::recognise::first_span(value), "first definition")
            }
            None => diagnostic,
        };
        self.surroundings.twice(self.files, diagnostic)
    }
}
