//! What could go: the edits that take it out of its file, and the proof that every result stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use upheld_dialects::dialect::CouldGo;
use upheld_loader::load::{Change, Loaded};
use upheld_loader::{Format, Input};
use upheld_model::tree::Value;
use upheld_model::{File, Files, SourceId, Span};
use upheld_report::Comparison;
use upheld_syntax::edit::{Edited, FileEdit, Replacement, applied, remaining};

use super::{LintFinding, Linted};
use crate::progress::Progress;
use crate::shifts::shifts;
use crate::{Options, World};

/// How a finding is ended without a change of any result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What goes.
    goes: CouldGo,
    /// The file in which it stands.
    pub source: SourceId,
    /// What it takes in the text of the file.
    pub replacements: Vec<Replacement>,
}

impl Fix {
    /// The edits that take something out of its file; nothing if only somebody who knows the file should do it.
    pub(super) fn of(files: &Files, goes: CouldGo) -> Option<Self> {
        let source = source_of(goes);
        let replacements = replacements(files.get(source)?, &[goes])?;
        Some(Self { goes, source, replacements })
    }

    /// In words.
    pub fn text(&self) -> &'static str {
        match self.goes {
            CouldGo::Policy(_) => "remove it; no result changes",
            CouldGo::Comment(..) => "remove the comment",
        }
    }
}

/// Fixes that were proved one after the other, each beside those before it.
#[derive(Debug, Default)]
pub struct Fixes {
    /// The files that change.
    pub files: Vec<FileEdit>,
    /// The findings that end.
    pub fixed: Vec<LintFinding>,
    /// Those whose fix does not hold, or not any more, each with the reason.
    pub left: Vec<(LintFinding, &'static str)>,
    /// What is read then; nothing if no file changes.
    pub after: Option<Loaded>,
}

const NOT_SIMPLE: &str = "it is written in a way that only somebody who knows the file should change";
const NOT_READ: &str = "the documents cannot be read without it";
const NOT_EQUAL: &str = "after the other fixes results would change without it";
const NOT_PROVED: &str = "that no result changes could not be proved";

impl World<'_> {
    /// Fixes of findings, tried one after the other: each is kept only if every result is proved to be what it was before the first.
    /// `loaded` is what this world was read from.
    pub fn lint_fixes(&self, loaded: &Loaded, linted: &Linted, progress: &dyn Progress) -> Fixes {
        let fixable: Vec<(&LintFinding, &Fix)> =
            linted.findings.iter().filter_map(|finding| Some((finding, finding.fix.as_ref()?))).collect();
        progress.expect(fixable.len() as u64);
        let mut tried = Tried { before: self, loaded, after: None, gone: BTreeMap::new(), edits: BTreeMap::new() };
        let mut fixes = Fixes::default();
        for (finding, fix) in fixable {
            match tried.without(fix) {
                Ok(()) => fixes.fixed.push(finding.clone()),
                Err(why) => fixes.left.push((finding.clone(), why)),
            }
            progress.done(1);
        }
        Fixes { files: tried.edits.into_values().collect(), after: tried.after, ..fixes }
    }
}

/// What is left after the fixes so far.
struct Tried<'t, 's> {
    before: &'t World<'s>,
    loaded: &'t Loaded,
    after: Option<Loaded>,
    gone: BTreeMap<SourceId, Vec<CouldGo>>,
    edits: BTreeMap<SourceId, FileEdit>,
}

impl Tried<'_, '_> {
    /// Takes something away as well, or says why it has to stay.
    fn without(&mut self, fix: &Fix) -> Result<(), &'static str> {
        let file = self.loaded.snapshot.files().get(fix.source).ok_or(NOT_SIMPLE)?;
        if self.went_along(fix) {
            return Ok(());
        }
        let mut gone = self.gone.get(&fix.source).cloned().unwrap_or_default();
        gone.push(fix.goes);
        let edit = edit(file, fix.source, &gone).ok_or(NOT_SIMPLE)?;
        let change = if edit.after.is_empty() {
            Change::Gone(fix.source)
        } else {
            Change::Replaced(fix.source, Input::text(file.name.clone(), Format::of_file(file), edit.after.clone()))
        };
        let current = self.after.as_ref().unwrap_or(self.loaded);
        let after = current.after(vec![change]).map_err(|_| NOT_READ)?;
        let options: &Options = self.before.options();
        match shifts(self.before, &World::new(&after.snapshot, options), &()).verdict {
            Comparison::Equal => {}
            Comparison::Differs => return Err(NOT_EQUAL),
            Comparison::Undecided => return Err(NOT_PROVED),
        }
        self.gone.insert(fix.source, gone);
        self.edits.insert(fix.source, edit);
        self.after = Some(after);
        Ok(())
    }

    /// Whether a comment stands in something that is gone already.
    fn went_along(&self, fix: &Fix) -> bool {
        let CouldGo::Comment(source, span) = fix.goes else { return false };
        let gone = self.edits.get(&source).into_iter().flat_map(|edit| &edit.replacements);
        gone.into_iter().any(|own| own.span.start <= span.start && span.end <= own.span.end)
    }
}

/// A file without some things, read again: nothing else in it may be otherwise.
fn edit(file: &File, source: SourceId, gone: &[CouldGo]) -> Option<FileEdit> {
    let before = file.tree.text();
    let replacements = replacements(file, gone)?;
    let after = applied(before, &replacements)?;
    let expected = remaining(file.tree.documents(), &numbers(gone))?;
    let finished = |after| FileEdit { name: file.name.clone(), before: before.to_owned(), after, replacements };
    if after.trim().is_empty() {
        // A file of which nothing is left goes.
        return expected.is_empty().then(|| finished(String::new()));
    }
    let (read, problems) = upheld_syntax::parse(file.name.as_str(), Format::of_file(file), after.clone(), source);
    if !problems.is_empty() {
        return None;
    }
    let found = remaining(read.tree.documents(), &BTreeSet::new())?;
    (expected == found).then(|| finished(after))
}

fn replacements(file: &File, gone: &[CouldGo]) -> Option<Vec<Replacement>> {
    let text = file.tree.text();
    let documents: Vec<Value<'_>> = file.tree.documents().collect();
    let mut all = Edited { text, format: Format::of_file(file) }.without(&documents, &numbers(gone))?;
    for goes in gone {
        if let CouldGo::Comment(_, span) = goes {
            all.push(without_comment(text, *span)?);
        }
    }
    all.sort();
    Some(all)
}

/// A comment goes with its line if nothing else stands there, and else with the blanks before it.
fn without_comment(text: &str, span: Span) -> Option<Replacement> {
    let (start, end) = (span.start as usize, span.end as usize);
    let line = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    let before = text.get(line..start)?.trim_end();
    let rest = text.get(end..)?;
    let to_break = rest.find('\n').map_or(rest.len(), |at| at + 1);
    let (start, end) = if before.is_empty() { (line, end + to_break) } else { (line + before.len(), end) };
    let [start, end] = [start, end].map(u32::try_from);
    Some(Replacement { span: Span { start: start.ok()?, end: end.ok()? }, text: String::new() })
}

fn numbers(gone: &[CouldGo]) -> BTreeSet<u32> {
    let policies = gone.iter().filter_map(|goes| match goes {
        CouldGo::Policy(at) => Some(at.node),
        CouldGo::Comment(..) => None,
    });
    policies.collect()
}

fn source_of(goes: CouldGo) -> SourceId {
    match goes {
        CouldGo::Policy(at) => at.source,
        CouldGo::Comment(source, _) => source,
    }
}
