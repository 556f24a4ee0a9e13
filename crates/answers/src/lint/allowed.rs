//! Findings that somebody allowed, in a comment in the document or right above it:
//!
//! ```yaml
//! # upheld: allow UP201 until 2030-12-31 because both are rolled out together
//! ```

use std::cell::RefCell;
use std::collections::BTreeSet;

use upheld_dialects::dialect::{CouldGo, Finding};
use upheld_model::{Diagnostic, Fault, Files, Label, SourceId, Span, Timestamp};

const MARK: &str = "upheld: allow ";

/// All comments that allow something.
pub(super) struct Allowances<'f> {
    files: &'f Files,
    now: Timestamp,
    all: Vec<Allowance>,
    used: RefCell<BTreeSet<usize>>,
}

/// One of them.
struct Allowance {
    source: SourceId,
    span: Span,
    codes: Vec<String>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Counts,
    Expired,
    WithoutReason,
    Unreadable,
}

impl<'f> Allowances<'f> {
    pub(super) fn of(files: &'f Files, now: Timestamp) -> Self {
        let mut all = Vec::new();
        for (source, file) in files.iter().filter(|(_, file)| !file.name.starts_with("builtin:")) {
            let (text, mut start) = (file.tree.text(), 0);
            for line in text.split_inclusive('\n') {
                let comment = line.find('#').and_then(|hash| Some((hash, line.get(hash..)?)));
                if let Some((hash, comment)) = comment
                    && let Some(rest) = comment.trim_start_matches(['#', ' ']).strip_prefix(MARK)
                {
                    let (from, to) = (start + hash, start + line.trim_end().len());
                    let [from, to] = [from, to].map(|place| u32::try_from(place).unwrap_or(u32::MAX));
                    all.push(Allowance::read(source, Span { start: from, end: to }, rest.trim_end(), now));
                }
                start += line.len();
            }
        }
        Self { files, now, all, used: RefCell::default() }
    }

    /// The findings that nobody allowed, and how many were.
    pub(super) fn cut(&self, findings: Vec<Finding>) -> (Vec<Finding>, usize) {
        let count = findings.len();
        let rest: Vec<Finding> = findings.into_iter().filter(|finding| !self.allows(&finding.problem)).collect();
        let allowed = count - rest.len();
        (rest, allowed)
    }

    fn allows(&self, finding: &Diagnostic) -> bool {
        let Some(label) = &finding.label else { return false };
        let code = finding.fault.code();
        let fitting = self.all.iter().enumerate().filter(|(_, allowance)| {
            allowance.source == label.source
                && allowance.codes.iter().any(|known| known == code)
                && self.same_document(allowance, label)
        });
        let mut allowed = false;
        for (number, allowance) in fitting {
            self.used.borrow_mut().insert(number);
            allowed |= allowance.state == State::Counts;
        }
        allowed
    }

    /// Whether a comment stands in the document of a finding, or before it and after the one before.
    fn same_document(&self, allowance: &Allowance, label: &Label) -> bool {
        let Some(file) = self.files.get(label.source) else { return false };
        let ends = file.tree.documents().map(|document| document.span().end);
        let ends: Vec<u32> = ends.filter(|end| *end <= label.span.start).collect();
        let from = ends.last().copied().unwrap_or(0);
        let to = file.tree.documents().map(upheld_model::Value::span).find(|span| span.end >= label.span.start);
        let to = to.map_or(u32::MAX, |span| span.end);
        (from..=to).contains(&allowance.span.start)
    }

    /// What is wrong with the comments themselves, where some codes were not looked for.
    pub(super) fn findings(&self, not_asked: &[&str]) -> Vec<Finding> {
        let used = self.used.borrow();
        let wrong = self.all.iter().enumerate().filter_map(|(number, allowance)| {
            let codes = allowance.codes.join(", ");
            let (message, help) = match allowance.state {
                State::Expired => {
                    let today = self.now.to_string();
                    let today = today.get(..10).unwrap_or_default();
                    (
                        format!("the allowance of {codes} is over: it is {today}"),
                        "fix what it allows, or write a later day",
                    )
                }
                State::WithoutReason => {
                    (format!("the allowance of {codes} has no reason"), "write `because …` at its end")
                }
                State::Unreadable => (
                    "this allowance cannot be read".to_owned(),
                    "write `# upheld: allow UP201 until 2030-12-31 because …`; `until` may be left out",
                ),
                // Nobody knows whether there is something to allow that was not looked for.
                State::Counts if allowance.codes.iter().any(|code| not_asked.contains(&code.as_str())) => return None,
                State::Counts if !used.contains(&number) => {
                    (format!("there is no {codes} here to allow"), "remove the comment")
                }
                State::Counts => return None,
            };
            let finding = Diagnostic::warning(Fault::ExpiredAllowance, message).help(help);
            let finding = Finding::from(finding.at(allowance.source, allowance.span, ""));
            // What counts and is of no use can go; whoever wrote the others meant something by it.
            let goes = (allowance.state == State::Counts).then_some(CouldGo::Comment(allowance.source, allowance.span));
            Some(Finding { could_go: goes, ..finding.about(format!("{:?} {codes}", allowance.state)) })
        });
        wrong.collect()
    }
}

impl Allowance {
    fn read(source: SourceId, span: Span, text: &str, now: Timestamp) -> Self {
        let (before, reason) =
            text.split_once(" because ").map_or((text, ""), |(before, reason)| (before, reason.trim()));
        let (codes, until) =
            before.split_once(" until ").map_or((before, None), |(codes, day)| (codes, Some(day.trim())));
        let codes: Vec<String> = codes.split([',', ' ']).filter(|code| !code.is_empty()).map(str::to_owned).collect();
        let known = |code: &String| Fault::ALL.iter().any(|fault| fault.code() == code);
        // The whole of the last day counts.
        let until = until.map(|day| format!("{day}T23:59:59Z").parse::<Timestamp>());
        let state = match until {
            _ if codes.is_empty() || !codes.iter().all(known) => State::Unreadable,
            Some(Err(_)) => State::Unreadable,
            Some(Ok(last)) if last < now => State::Expired,
            _ if reason.is_empty() => State::WithoutReason,
            _ => State::Counts,
        };
        Self { source, span, codes, state }
    }
}
