//! Which files of a repository are not ours: they belong to other programs, or become something only when they are rendered.
//!
//! A file is left aside only if nothing in it could be read as a document of ours. Whatever looks like ours and is broken stays an
//! error; so does everything that somebody asked for by its name.

use std::collections::{BTreeMap, BTreeSet};

use upheld_dialects::Reading;
use upheld_dialects::document::Header;
use upheld_dialects::recognise::{Marks, is_claimed};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, File, Files, Severity, SourceId};
use upheld_syntax::without_documents;

use crate::aside::{LeftAside, Why};
use crate::paths;
use crate::read::Origin;

/// Takes the documents out of files that are not ours, and what is wrong with these out of the problems.
pub(crate) fn leave_aside(
    files: &mut Files,
    origins: &[Origin],
    problems: Diagnostics,
    reading: Reading<'_>,
) -> (Diagnostics, LeftAside) {
    let charts = charts(files.iter().map(|(_, file)| file.name.as_str()));
    let mut errors: BTreeMap<SourceId, Vec<&Diagnostic>> = BTreeMap::new();
    let mut warned = BTreeSet::new();
    for (source, problem) in problems.as_slice().iter().filter_map(|problem| Some((of(problem)?, problem))) {
        if problem.severity == Severity::Error {
            errors.entry(source).or_default().push(problem);
        } else {
            warned.insert(source);
        }
    }
    let is_found = |source: &SourceId| origins.get(source.index()) == Some(&Origin::Found);
    let mut marks = None;
    let mut aside = LeftAside::default();
    let (mut gone, mut foreign) = (BTreeSet::new(), BTreeSet::new());
    for (source, file) in files.iter().filter(|(source, _)| is_found(source)) {
        let candidate = Candidate {
            file,
            errors: errors.get(&source).map_or(&[], Vec::as_slice),
            chart: charts.iter().rev().find(|chart| is_in(&file.name, chart)).map(String::as_str),
        };
        let mut ours = |text: &str| marks.get_or_insert_with(|| Marks::of(reading, files)).are_in(text);
        if let Some(why) = candidate.why(&mut ours) {
            aside.add(why, &*file.name);
            gone.insert(source);
            aside
                .charts
                .extend(candidate.chart.filter(|_| why == Why::HelmTemplate).map(|chart| outermost(&charts, chart)));
        } else if warned.contains(&source) && candidate.errors.is_empty() && candidate.is_of_others(&mut ours) {
            foreign.insert(source);
        }
    }
    for source in &gone {
        let name = files.get(*source).map(|file| file.name.clone()).unwrap_or_default();
        files.put(*source, Some(File { name, tree: without_documents(String::new()) }));
    }
    let mut left = Diagnostics::default();
    // Nobody wants to be warned of what others write, but everybody of tables and pages that may have been meant.
    let is_wanted = |problem: &Diagnostic, source: SourceId| {
        !gone.contains(&source) && (!foreign.contains(&source) || problem.fault == Fault::NotRead)
    };
    left.extend(problems.into_iter().filter(|one| of(one).is_none_or(|source| is_wanted(one, source))));
    (left, aside)
}

/// The file that a problem is about.
fn of(problem: &Diagnostic) -> Option<SourceId> {
    problem.label.as_ref().map(|label| label.source)
}

/// Folders that are Helm charts.
pub(crate) fn charts<'n>(names: impl Iterator<Item = &'n str>) -> BTreeSet<String> {
    let folders = names.filter_map(|name| match name.rsplit_once('/') {
        Some((folder, CHART)) => Some(folder),
        None if name == CHART => Some("."),
        _ => None,
    });
    folders.map(str::to_owned).collect()
}

/// The file that makes a folder a Helm chart.
const CHART: &str = "Chart.yaml";

/// The chart that is rendered when a chart is: charts of which another is made lie inside of it.
pub(crate) fn outermost(charts: &BTreeSet<String>, chart: &str) -> String {
    charts.iter().find(|outer| is_in(chart, outer)).map_or_else(|| chart.to_owned(), Clone::clone)
}

/// Whether something is inside of a folder.
pub(crate) fn is_in(name: &str, folder: &str) -> bool {
    folder == "." || name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// A file that was found, and may not be ours.
struct Candidate<'f> {
    file: &'f File,
    errors: &'f [&'f Diagnostic],
    /// The chart that it is in.
    chart: Option<&'f str>,
}

impl Candidate<'_> {
    /// Why it is left aside, if it is.
    fn why(&self, ours: &mut impl FnMut(&str) -> bool) -> Option<Why> {
        let text = self.file.tree.text();
        let within = self.chart.map(|chart| paths::below(&self.file.name, chart));
        if within.is_some_and(|within| within.starts_with("templates/")) && has_template(text) {
            return Some(Why::HelmTemplate);
        }
        if !self.errors.is_empty() {
            return self.unparsed(text, ours);
        }
        let documents = || self.documents();
        if documents().any(|document| is_ours(document, &self.file.name)) || documents().next().is_none() {
            return None;
        }
        if documents().all(|document| document.at_path(&["sops", "mac"]).is_some()) {
            return Some(Why::Encrypted);
        }
        let is_plain = |document: Value<'_>| !matches!(document.kind(), Kind::Map | Kind::List);
        if documents().any(is_plain) && !ours(text) {
            return Some(Why::OtherProgram);
        }
        // Values have any fields, and some are called like ours.
        let is_typed = |document: Value<'_>| document.get("kind").is_some();
        let is_loose = within.is_some_and(|within| !within.starts_with("crds/"));
        (is_loose && !documents().any(is_typed) && !ours(text)).then_some(Why::HelmChart)
    }

    fn documents(&self) -> impl Iterator<Item = Value<'_>> {
        self.file.tree.documents().filter(|document| document.kind() != Kind::Null)
    }

    /// Whether nothing in it looks like ours.
    fn is_of_others(&self, ours: &mut impl FnMut(&str) -> bool) -> bool {
        !self.documents().any(|document| is_ours(document, &self.file.name)) && !ours(self.file.tree.text())
    }

    /// Why it is left aside although it cannot be parsed.
    fn unparsed(&self, text: &str, ours: &mut impl FnMut(&str) -> bool) -> Option<Why> {
        let is_template = has_template(text) || text.contains("{%");
        let is_ours = ours(text);
        match (is_template, is_ours) {
            (true, false) => Some(Why::Template),
            (false, false) => Some(Why::OtherProgram),
            (true, true) => self.fails_by_template(text).then_some(Why::Template),
            (false, true) => None,
        }
    }

    /// Whether it is a template that keeps a text from being parsed: a line with nothing else, or one that the error is at.
    fn fails_by_template(&self, text: &str) -> bool {
        // What stands in quotes is a text, whatever it says.
        let is_bare = |line: &str, start: usize| {
            line.get(..start).is_some_and(|before| before.matches(['"', '\'']).count().is_multiple_of(2))
        };
        let opens =
            |line: &str| ["{{", "{%"].iter().any(|mark| line.find(mark).is_some_and(|start| is_bare(line, start)));
        let alone = text.lines().map(str::trim_start).any(|line| line.starts_with("{{") || line.starts_with("{%"));
        let at_error = self.errors.iter().filter_map(|error| error.label.as_ref()).any(|label| {
            let line = self.file.tree.position(label.span.start).0;
            let near = text.lines().skip(line.saturating_sub(2)).take(2);
            near.into_iter().any(opens)
        });
        alone || at_error
    }
}

/// Whether a text has something for a template engine to fill in.
fn has_template(text: &str) -> bool {
    text.find("{{").is_some_and(|start| text.get(start..).is_some_and(|rest| rest.contains("}}")))
}

/// Whether somebody takes a document for theirs, or it is a resource of any system: then it is said or counted by its type.
fn is_ours(document: Value<'_>, file: &str) -> bool {
    let header = Header::of(document);
    let encrypted = |value: Value<'_>| value.text().starts_with("ENC[");
    let typed = header.kind.is_some_and(|kind| !encrypted(kind)) && header.api_version.is_some();
    typed || is_claimed(document, file)
}
