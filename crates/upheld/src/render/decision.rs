//! Decisions for people: the answer, every policy with what fits and what does not, then what would be otherwise.

use upheld_model::State;

use super::style::{ANSWER, DIM, WARNING, by_state, paint, state};
use super::table::{Align, Table, indented, wrap};
use super::{Screen, visible};
use crate::cli::Format;
use crate::report::{Decision, DecisionCandidate as Candidate, Holds, Otherwise, Part};

/// How many rows of a state are shown before "and N more".
const ROWS: usize = 8;

/// How many changes are shown.
const CHANGES: usize = 4;

/// A decision in full.
pub(crate) fn one(decision: &Decision, screen: &Screen) -> String {
    let mut text = paint(ANSWER, &wrap(&visible(&decision.answer), screen.width)) + "\n\n";
    if let Some(reason) = &decision.reason {
        text.push_str(&indented(&format!("\"{}\"", visible(reason)), 2, screen.width));
        text.push('\n');
    }
    text.push_str(&candidates(decision, screen));
    text.push_str(&other_algorithms(decision, screen));
    text.push_str(&changes(decision, screen));
    for (word, duties) in [("Obligations", &decision.obligations), ("Advice", &decision.advice)] {
        if !duties.is_empty() {
            let all: Vec<String> = duties.iter().map(|duty| duty.id.clone()).collect();
            text.push_str(&indented(&format!("{word}: {}", all.join(", ")), 2, screen.width));
        }
    }
    for note in &decision.notes {
        text.push('\n');
        text.push_str(&indented(&paint(WARNING, &format!("! {note}")), 2, screen.width));
    }
    text
}

/// What other algorithms would say; in short where they say the same.
fn other_algorithms(decision: &Decision, screen: &Screen) -> String {
    let others = &decision.other_algorithms;
    if others.is_empty() || decision.candidates.is_empty() {
        return String::new();
    }
    let by = decision.policy.as_deref().or((decision.default.state == State::Won).then_some("(default)"));
    let same = others.iter().all(|other| other.decision == decision.outcome && other.by.as_deref() == by);
    let told = if same {
        let names: Vec<&str> = others.iter().map(|other| other.algorithm).collect();
        format!("{} → the same", names.join(", "))
    } else {
        let one = |other: &Otherwise| {
            let by = other.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
            format!("{} → {}{by}", other.algorithm, other.decision.to_uppercase())
        };
        others.iter().map(one).collect::<Vec<_>>().join("      ")
    };
    // The sentence above names the algorithm only where it made a difference.
    let own = if decision.answer.contains(decision.algorithm) {
        String::new()
    } else {
        indented(&format!("Algorithm           {}", decision.algorithm), 2, screen.width)
    };
    format!("\n{own}{}", indented(&format!("Other algorithms    {told}"), 2, screen.width))
}

fn changes(decision: &Decision, screen: &Screen) -> String {
    if decision.changes.is_empty() {
        return String::new();
    }
    let verb = if decision.outcome == "permit" { "deny" } else { "permit" };
    let mut text = format!("  Smallest changes that would {verb} it\n");
    let limit = if screen.verbose { usize::MAX } else { CHANGES };
    for (number, change) in decision.changes.iter().take(limit).enumerate() {
        text.push_str(&indented(&format!("{}. {}", number + 1, visible(&change.text)), 4, screen.width));
    }
    let more = decision.changes.len().saturating_sub(limit);
    if more > 0 {
        text.push_str(&paint(DIM, &format!("    … and {more} more (--verbose shows all)\n")));
    }
    text
}

fn candidates(decision: &Decision, screen: &Screen) -> String {
    let wide = screen.format == Format::Wide;
    let sets = decision.candidates.iter().any(|candidate| candidate.set.is_some());
    let mut columns = vec![("STATE", Align::Left), ("POLICY", Align::Left)];
    if sets {
        columns.push(("SET", Align::Left));
    }
    columns.extend([
        ("EFFECT", Align::Left),
        ("PRIO", Align::Right),
        ("SUBJECT", Align::Left),
        ("RESOURCE", Align::Left),
        ("ACTION", Align::Left),
    ]);
    let conditions = decision.candidates.iter().any(|candidate| candidate.parts.len() > 3);
    if conditions {
        columns.push(("CONDITION", Align::Left));
    }
    if wide {
        columns.push(("CODE", Align::Left));
    }
    columns.extend([("BECAUSE", Align::Left), ("AT", Align::Left)]);
    let mut table = Table::new(&columns);
    let limit = if screen.verbose { usize::MAX } else { ROWS };
    let (shown, left_out) = by_state(&decision.candidates, limit, |candidate| candidate.state);
    for candidate in shown {
        table.row(state(candidate.state), cells(candidate, sets, conditions, wide, screen));
    }
    let default = &decision.default;
    let word = if default.state == State::Lost { "-" } else { default.state.word() };
    let mut cells = vec![word.to_owned(), "(default)".to_owned()];
    if sets {
        cells.push(String::new());
    }
    cells.extend([default.effect.to_owned(), "-".to_owned(), String::new(), String::new(), String::new()]);
    if conditions {
        cells.push(String::new());
    }
    if wide {
        cells.push(String::new());
    }
    cells.extend([default.because.clone(), default.at.as_ref().map(ToString::to_string).unwrap_or_default()]);
    table.row(state(default.state), cells);
    let mut text = table.render(screen.width, 2);
    if left_out > 0 {
        text.push_str(&paint(DIM, &format!("  … and {left_out} more (--verbose shows all)\n")));
    }
    text
}

fn cells(candidate: &Candidate, sets: bool, conditions: bool, wide: bool, screen: &Screen) -> Vec<String> {
    let mut cells = vec![candidate.state.word().to_owned(), candidate.policy.clone()];
    if sets {
        cells.push(candidate.set.clone().unwrap_or_default());
    }
    cells.extend([candidate.effect.to_owned(), candidate.priority.to_string()]);
    let of = |clause: &str| candidate.parts.iter().filter(|part| part.clause == clause).collect::<Vec<_>>();
    for clause in ["subjects", "resources", "actions"] {
        cells.push(of(clause).first().map(|part| fits(part, screen)).unwrap_or_default());
    }
    if conditions {
        let all: Vec<String> = of("conditions").iter().map(|part| fits(part, screen)).collect();
        cells.push(all.join("; "));
    }
    if wide {
        cells.push(candidate.code.to_owned());
    }
    cells.extend([candidate.because.clone(), candidate.at.as_ref().map(ToString::to_string).unwrap_or_default()]);
    cells
}

/// What a part asks for, with a mark.
fn fits(part: &Part, screen: &Screen) -> String {
    let mark = match (part.holds, screen.ascii) {
        (Holds::Yes, false) => "✓",
        (Holds::Yes, true) => "ok",
        (Holds::No, false) => "✗",
        (Holds::No, true) => "no",
        (Holds::Unknown, _) => "?",
    };
    match part.others {
        0 => format!("{} {mark}", part.asks),
        others => format!("{} (+{others}) {mark}", part.asks),
    }
}

/// One line for a batch.
pub(crate) fn line(decision: &Decision) -> String {
    format!("{:<9}  {}", decision.outcome, decision.by())
}
