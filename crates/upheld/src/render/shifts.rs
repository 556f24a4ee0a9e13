//! What changes, for people.

use crate::report::{At, Cause, Certainty, Direction, Family, Shift, Shifting, Shifts, Standing, Turn, visible};
use upheld_answers::{Affected, LintFinding, Linted, WhyNot};
use upheld_model::{Files, Label, Severity, State};

use super::text::{Text, text};
use super::{Screen, style, table};

/// So many shifts of one cause are told in full.
const SHOWN: usize = 3;
/// So many changed documents are listed.
const LISTED: usize = 10;

/// All of it, what lets more through first.
pub(crate) fn text(shifts: &Shifts, screen: &Screen) -> Text {
    let mut text = style::paint(style::ANSWER, &table::wrap(&shifts.headline.text, screen.width)) + "\n";
    text.push_str(changed(shifts, screen));
    text.push_str(body(shifts, screen));
    text
}

/// A proof, or what speaks against it.
pub(crate) fn proof(word: &str, shifts: &Shifts, screen: &Screen) -> Text {
    let sentence = format!("{word}: {}", shifts.headline.text);
    let mut text = style::paint(style::ANSWER, &table::wrap(&sentence, screen.width)) + "\n";
    text.push_str(body(shifts, screen));
    text
}

/// Where a policy counts, and what would change without it.
pub(crate) fn affected(affected: &Affected, screen: &Screen) -> Text {
    let Affected { policy, counts, without, supposed, at, .. } = affected;
    let place = at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
    let mut text =
        style::paint(style::ANSWER, &table::wrap(&format!("{}{place}", visible(policy)), screen.width)) + "\n";
    for (kind, tally) in counts {
        text.push_str(text!("  {}\n", tally.sentence(kind)));
    }
    let sentence = format!("If it were {}: {}", supposed.word(), without_documents(without));
    text.push_str(text!("\n{}\n", style::paint(style::ANSWER, &table::wrap(&sentence, screen.width))));
    let successors = affected.successors().into_iter().map(|one| (one.policies.join(" and "), one.results));
    text.push_str(largest("Taken over by", successors.collect(), screen));
    let owners = affected.owners().into_iter().map(|one| (one.owner, one.results));
    text.push_str(largest("Largest owners:", owners.collect(), screen));
    text.push_str(body(without, screen));
    text
}

/// Those with most results, in a line.
fn largest(title: &str, all: Vec<(String, u64)>, screen: &Screen) -> Text {
    if all.is_empty() {
        return Text::default();
    }
    let more = match all.len().saturating_sub(SHOWN) {
        0 => String::new(),
        left => format!(", and {left} more"),
    };
    let each: Vec<String> = all.into_iter().take(SHOWN).map(|(name, results)| format!("{name} ({results})")).collect();
    table::indented(&visible(&format!("{title} {}{more}", each.join(", "))), 2, screen.width)
}

/// What changes, without the document that does: that one is known.
fn without_documents(shifts: &Shifts) -> String {
    Shifting::compared(shifts.verdict, &shifts.counts, shifts.turned(Turn::Begins), shifts.turned(Turn::Ends))
}

fn changed(shifts: &Shifts, screen: &Screen) -> Text {
    if shifts.changed.is_empty() {
        return Text::default();
    }
    let mut text = Text::from("\n");
    let shown = if screen.verbose { shifts.changed.len() } else { LISTED };
    for document in shifts.changed.iter().take(shown) {
        let at = document.at.as_ref().map(|at| text!("  {}", style::paint(style::DIM, at))).unwrap_or_default();
        text.push_str(text!("  {:<8} {}{}\n", document.change.word(), visible(&document.id()), at));
    }
    if shifts.changed.len() > shown {
        text.push_str(text!("  and {} more (--verbose lists all)\n", shifts.changed.len() - shown));
    }
    text
}

fn body(shifts: &Shifts, screen: &Screen) -> Text {
    let mut text = Text::default();
    let decides = |shift: &&Shift| shift.family == Family::Decide || shift.direction != Direction::Neither;
    let (decisions, others): (Vec<&Shift>, Vec<&Shift>) = shifts.shifts.iter().partition(decides);
    text.push_str(section("DECISIONS", &decisions, screen));
    text.push_str(section("RESULTS", &others, screen));
    if !shifts.violations.is_empty() {
        text.push_str(text!("\n  {}\n", style::paint(style::HEADING, "VIOLATIONS")));
        let shown = if screen.verbose { shifts.violations.len() } else { LISTED };
        for violation in shifts.violations.iter().take(shown) {
            let (sign, word) = match violation.turn {
                Turn::Begins => ("+", "begins"),
                Turn::Ends => ("-", "ends"),
            };
            let line = format!("{sign} {word} ({}): {}", violation.state, visible(&violation.message));
            text.push_str(table::indented(&line, 2, screen.width));
        }
        text.push_str(left_out(shifts.violations.len(), shown));
    }
    for note in &shifts.notes {
        text.push_str(text!("\n{}", table::indented(&note.text, 2, screen.width)));
    }
    if let Some(first) = shifts.shifts.first() {
        text.push_str(text!(
            "\n  {}\n",
            style::paint(style::DIM, &format!("One of them in full: {}", first.example.command))
        ));
    }
    text
}

/// Shifts by cause.
fn section(title: &str, shifts: &[&Shift], screen: &Screen) -> Text {
    if shifts.is_empty() {
        return Text::default();
    }
    let mut text = text!("\n  {}\n", style::paint(style::HEADING, title));
    let mut rest = shifts;
    while let Some(first) = rest.first() {
        let same = |shift: &&&Shift| shift.causes == first.causes && shift.direction == first.direction;
        let count = rest.iter().take_while(same).count();
        let (block, others) = rest.split_at(count);
        rest = others;
        text.push_str(heading(&first.causes, block, screen));
        let shown = if screen.verbose { block.len() } else { SHOWN };
        block.iter().take(shown).for_each(|shift| text.push_str(one(shift, screen)));
        text.push_str(left_out(block.len(), shown));
    }
    text
}

fn left_out(all: usize, shown: usize) -> Text {
    if all > shown { text!("      and {} more (--verbose shows all)\n", all - shown) } else { Text::default() }
}

fn heading(causes: &[Cause], block: &[&Shift], screen: &Screen) -> Text {
    let names: Vec<String> = causes.iter().take(LISTED).map(|cause| visible(&cause.title())).collect();
    let more = causes.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let names = if names.is_empty() { "other rules".to_owned() } else { names.join(", ") };
    let total = block
        .iter()
        .skip(1)
        .fold(block.first().map(|first| first.size), |size, shift| size.map(|size| size.plus(shift.size.count())));
    let total = total.map(|size| format!("  {}", size.text())).unwrap_or_default();
    table::indented(&format!("{names}{more}{total}"), 2, screen.width)
}

fn one(shift: &Shift, screen: &Screen) -> Text {
    let mark = if shift.direction == Direction::Widened { "!" } else { "~" };
    let verdicts = if shift.before.verdict == shift.after.verdict {
        format!("{} {}", shift.kind, standing(&shift.before, &shift.after))
    } else {
        let word = |standing: &Standing| standing.verdict.word().to_uppercase();
        let words = format!("{} → {}", word(&shift.before), word(&shift.after));
        format!("{words}  {} {}", shift.kind, standing(&shift.before, &shift.after))
    };
    let tie = if shift.after.arbitrary && !shift.before.arbitrary { "  ! by name or age only (UP201)" } else { "" };
    let line = format!("{mark} {verdicts}, {}, for example {}{tie}", shift.size.text(), visible(&shift.example.what));
    let mut text = table::indented(&line, 4, screen.width);
    for field in &shift.fields {
        let value = |value: &Option<String>| value.as_deref().map_or_else(|| "not set".to_owned(), visible);
        let name = if field.field.is_empty() { "value" } else { &field.field };
        let line = format!("{}  {} → {}", visible(name), value(&field.before), value(&field.after));
        text.push_str(table::indented(&line, 8, screen.width));
    }
    if let Certainty::May { unless } = &shift.certainty {
        text.push_str(table::indented(&format!("may: not looked into: {}", unless.join(", ")), 8, screen.width));
    }
    text
}

/// `by a, before by b`; of many, who is new and who is there no more.
fn standing(before: &Standing, after: &Standing) -> String {
    let names = |names: &[&String]| names.iter().map(|name| visible(name)).collect::<Vec<_>>().join(", ");
    let all = |side: &Standing| names(&side.policies.iter().collect::<Vec<_>>());
    if before.policies == after.policies {
        return format!("by {}", all(after));
    }
    let only = |own: &Standing, other: &Standing| {
        let only: Vec<&String> = own.policies.iter().filter(|name| !other.policies.contains(name)).collect();
        (own.policies.len() > only.len()).then(|| names(&only))
    };
    match (only(before, after), only(after, before)) {
        (Some(gone), Some(came)) if gone.is_empty() && came.is_empty() => {
            format!("by {}, in another order", all(after))
        }
        (Some(gone), Some(came)) if gone.is_empty() => format!("by {came} and those before"),
        (Some(gone), Some(came)) if came.is_empty() => format!("no more by {gone}"),
        (Some(gone), Some(came)) => format!("by {came} in place of {gone}"),
        _ => format!("by {}, before by {}", all(after), all(before)),
    }
}

/// Findings about policies, a line each.
pub(crate) fn linted(linted: &Linted, files: &Files, screen: &Screen) -> Text {
    let mut text = style::paint(style::ANSWER, &table::wrap(&linted.sentence(), screen.width)) + "\n";
    if let Some(compared) = &linted.baseline {
        text.push_str(table::indented(&format!("beside the baseline: {}", compared.sentence()), 2, screen.width));
    }
    if !linted.findings.is_empty() {
        text.push_str("\n");
    }
    for LintFinding { problem: finding, fix, baseline_state, .. } in &linted.findings {
        let at = |label: &Label| At::of_label(files, label).map(|at| at.to_string());
        let place = finding.label.as_ref().and_then(at).unwrap_or_default();
        let style = match finding.severity {
            Severity::Error => style::state(State::Hard),
            Severity::Warning => style::WARNING,
            Severity::Note => style::DIM,
        };
        let word = style::paint(style, &format!("{:<8}", finding.severity.word()));
        let known = baseline_state.map(|state| format!(" [{}]", state.name())).unwrap_or_default();
        let line = text!("{} {}{} {}", word, finding.fault.code(), known, finding.message);
        text.push_str(table::indented(&line, 2, screen.width));
        let others: Vec<String> = finding.related.iter().filter_map(at).collect();
        let others = if others.is_empty() { String::new() } else { format!(" (and {})", others.join(", ")) };
        let place = format!("{place}{others}");
        if !place.is_empty() {
            text.push_str(text!("           {}\n", style::paint(style::DIM, &place)));
        }
        if let Some(fix) = fix {
            text.push_str(table::indented(&format!("fix: {}", fix.text()), 11, screen.width));
        }
        if screen.verbose {
            for help in &finding.help {
                text.push_str(table::indented(&visible(help), 11, screen.width));
            }
        }
    }
    if linted.findings.iter().any(|finding| finding.fix.is_some()) {
        let hint = "Make the fixes, each proved first: upheld lint --fix, or as a diff: upheld lint --fix -o patch";
        text.push_str(text!("\n  {}\n", style::paint(style::DIM, hint)));
    }
    if let Some(first) = linted.findings.first() {
        let hint = format!("What a code means: upheld codes {}", first.code());
        text.push_str(text!("\n  {}\n", style::paint(style::DIM, &hint)));
    }
    text
}

/// What stands in the way of a policy, and what would let it count.
pub(crate) fn why_not(why: &WhyNot, screen: &Screen) -> Text {
    let mut text = Text::default();
    for place in &why.places {
        let instead = place.instead.iter().map(|name| visible(name)).collect::<Vec<_>>().join(", ");
        let because = place.reason.as_ref().map(|reason| format!(": {}", visible(&reason.text))).unwrap_or_default();
        let sentence = match place.state {
            Some(state) if why.counts() => format!("{} counts here ({state}){because}", visible(&why.policy)),
            Some(state) => {
                format!("{} does not count for {} ({state}){because}", visible(&why.policy), visible(&place.about))
            }
            None => format!("{} was not looked at for {}", visible(&why.policy), visible(&place.about)),
        };
        text.push_str(style::paint(style::ANSWER, &table::wrap(&format!("{sentence}."), screen.width)) + "\n");
        if !why.counts() && !instead.is_empty() {
            text.push_str(table::indented(&format!("in its place: {instead}"), 2, screen.width));
        }
    }
    if why.counts() {
        return text;
    }
    if why.edits.is_empty() {
        return text + "\n  No single edit that was tried would let it count.\n";
    }
    text.push_str(text!("\n  {}\n", style::paint(style::HEADING, "EDITS THAT WOULD LET IT COUNT, EACH TRIED")));
    for (number, tried) in why.edits.iter().enumerate() {
        let counts = &tried.shifts.counts;
        let wider = if counts.widened > 0 { "; more is let through then" } else { "" };
        let others = counts.changed.saturating_sub(1) + counts.requests.saturating_sub(1);
        let others = match others {
            0 => "changes nothing else".to_owned(),
            1 => "changes 1 other result".to_owned(),
            count => format!("changes {count} other results"),
        };
        let line = format!("{}. {}: {others}{wider}", number + 1, visible(&tried.edit));
        text.push_str(table::indented(&line, 2, screen.width));
    }
    text
}
