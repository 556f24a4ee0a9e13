//! Tests for people: what failed and why, how many passed, what no test decides, and which changes no test notices.

use anstyle::{AnsiColor, Style};

use super::style::{ANSWER, DIM, WARNING, paint};
use super::table::{Align, Table, indented, wrap};
use super::text::{Text, text};
use super::{Screen, visible};
use crate::report::{Coverage, MutationReport, Survivor, TestReport, TestState, Tested, untested};
use upheld_answers::formats::tested::{coverage_sentence, difference, inner, summary};

/// How many policies and parts are listed before "and N more".
const ROWS: usize = 10;

/// The same for changes that no test notices, which are what was asked for.
const SURVIVORS: usize = 40;

const FAILED: Style = AnsiColor::Red.on_default().bold();

/// All that is to be said about a run.
pub(crate) fn all(report: &TestReport, screen: &Screen) -> Text {
    let mut text = cases(report, screen);
    let good = if report.summary.failed + report.summary.undecided == 0 { ANSWER } else { FAILED };
    text.push_str(paint(good, &summary(report.summary)));
    text.push_str("\n");
    if let Some(coverage) = &report.coverage {
        text.push_str("\n");
        text.push_str(covered(coverage, screen));
    }
    if let Some(mutation) = &report.mutation {
        text.push_str("\n");
        text.push_str(survived(mutation, screen));
    }
    text
}

fn cases(report: &TestReport, screen: &Screen) -> Text {
    let shown: Vec<&Tested> = report.cases.iter().filter(|case| screen.verbose || case.state.is_bad()).collect();
    if shown.is_empty() {
        return Text::default();
    }
    let columns = ["STATE", "AT", "CASE", "EXPECTED", "CAME OUT", "BECAUSE"].map(|name| (name, Align::Left));
    let mut table = Table::new(&columns);
    for case in shown {
        let (state, style) = match case.state {
            TestState::Passed => ("PASSED", AnsiColor::Green.on_default()),
            TestState::Failed => ("FAILED", FAILED),
            TestState::Skipped => ("SKIPPED", DIM),
            TestState::Undecided => ("UNDECIDED", WARNING),
        };
        let (expected, actual) = match case.state {
            TestState::Failed | TestState::Undecided => difference(case),
            TestState::Passed => (inner(&case.expected), "the same".to_owned()),
            TestState::Skipped => (inner(&case.expected), "-".to_owned()),
        };
        let because = case.because.clone().unwrap_or_default();
        table.row(style, [state.to_owned(), case.at.to_string(), case.name.clone(), expected, actual, because]);
    }
    table.render(screen.width, 4) + "\n"
}

fn covered(coverage: &Coverage, screen: &Screen) -> Text {
    let sentence = coverage_sentence(coverage);
    let style = if coverage.is_short() { FAILED } else { Style::new() };
    let mut text = paint(style, &wrap(&sentence, screen.width)) + "\n";
    let limit = if screen.verbose { usize::MAX } else { ROWS };
    let undecided: Vec<_> = coverage.undecided().collect();
    if !undecided.is_empty() {
        let mut table = Table::new(&["NO TEST DECIDES", "KIND", "AT"].map(|name| (name, Align::Left)));
        for policy in undecided.iter().take(limit) {
            let at = policy.at.as_ref().map(ToString::to_string).unwrap_or_default();
            table.row(WARNING, [policy.policy.clone(), policy.kind.clone(), at]);
        }
        text.push_str(text!("\n{}{}", table.render(screen.width, 1), more(undecided.len(), limit, screen)));
    }
    let never: Vec<_> = coverage.never_true().collect();
    if !never.is_empty() {
        let mut table = Table::new(&["NO TEST MAKES TRUE", "ASKS", "AT"].map(|name| (name, Align::Left)));
        for clause in never.iter().take(limit) {
            let name = format!("{}: {}[{}]", clause.policy, clause.clause, clause.index);
            let at = clause.at.as_ref().map(ToString::to_string).unwrap_or_default();
            table.row(WARNING, [name, clause.asks.clone(), at]);
        }
        text.push_str(text!("\n{}{}", table.render(screen.width, 1), more(never.len(), limit, screen)));
    }
    text
}

/// Changes that no test notices, and a test that would.
fn survived(mutation: &MutationReport, screen: &Screen) -> Text {
    let style = if mutation.survivors.is_empty() { ANSWER } else { FAILED };
    let mut text = paint(style, &wrap(&mutation.headline.text, screen.width)) + "\n";
    if mutation.survivors.is_empty() {
        return text;
    }
    let rows: Vec<[String; 3]> = mutation.by_policy().flat_map(|survivors| rows(survivors, screen)).collect();
    let limit = if screen.verbose { usize::MAX } else { SURVIVORS };
    let mut table = Table::new(&["POLICY", "NO TEST NOTICES", "AT"].map(|name| (name, Align::Left)));
    for row in rows.iter().take(limit) {
        table.row(WARNING, row.clone());
    }
    text.push_str(text!("\n{}{}", table.render(screen.width, 1), more(rows.len(), limit, screen)));
    text.push_str(text!("\n{}", indented(mutation.hint(), 2, screen.width)));
    for line in mutation.suggested.iter().flat_map(|test| test.case().lines().map(visible).collect::<Vec<_>>()) {
        text.push_str(text!("    {}\n", line));
    }
    text
}

/// The changes of one policy, which is named once for all of them.
fn rows(survivors: &[Survivor], screen: &Screen) -> Vec<[String; 3]> {
    let row = |name: &str, survivor: &Survivor, text: &str| {
        let at = survivor.at.as_ref().map(ToString::to_string).unwrap_or_default();
        [name.to_owned(), text.to_owned(), at]
    };
    match untested(survivors).filter(|_| !screen.verbose) {
        Some((survivor, text)) => vec![row(&survivor.policy, survivor, &text)],
        None => {
            let names = survivors.iter().take(1).map(|first| first.policy.as_str()).chain(std::iter::repeat(""));
            survivors.iter().zip(names).map(|(survivor, name)| row(name, survivor, &survivor.change.text)).collect()
        }
    }
}

fn more(count: usize, limit: usize, screen: &Screen) -> Text {
    match count.saturating_sub(limit) {
        0 => Text::default(),
        left => indented(&paint(DIM, &format!("… and {left} more (--verbose shows all)")), 2, screen.width),
    }
}
