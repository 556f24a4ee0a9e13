//! `explain`: what is the result here, and why?

use upheld_answers::connections::{Answers, Group, incomplete};
use upheld_answers::stamp::line;
use upheld_answers::{Question, Stamp, World, document};

use super::{Session, refuse, say, tell_refused};
use crate::cli::{self, Format};
use crate::exit::Exit;
use crate::render::{self, explanation, print_plain, style, table};
use crate::report::{Explanation, Outcome};

pub(super) fn run(session: &Session<'_>, question: &cli::Question) -> Exit {
    let question = &question.plain();
    if let Some(problem) = incomplete(question) {
        return refuse(&[problem]);
    }
    let Some(loaded) = session.load() else { return Exit::Failed };
    let options = session.options();
    let (answers, notes) = match World::new(&loaded.snapshot, &options).connections(question) {
        Ok(told) => told,
        Err(refused) => return tell_refused(&loaded, &refused),
    };
    for note in notes {
        say(&note);
    }
    match session.screen.format {
        Format::Json | Format::Yaml => {
            session.screen.print_data(&document(&loaded.snapshot, "Explanation", &answers.listed()));
        }
        Format::Jsonl => {
            for group in &answers.groups {
                for explanation in &group.explanations {
                    session.screen.print_data(&line(&loaded.snapshot, &group.with_pairs(explanation)));
                }
            }
        }
        Format::Name => print_plain(&answers.names().iter().map(|name| format!("{name}\n")).collect::<String>()),
        Format::Table | Format::Wide => {
            let stamp = Stamp::new(&loaded.snapshot, answers.editions());
            let footer = render::stamp(&stamp, &session.screen);
            session.screen.print(&(text(session, question, &answers) + &footer));
        }
    }
    Exit::Yes
}

fn text(session: &Session<'_>, question: &Question, answers: &Answers) -> String {
    let screen = &session.screen;
    let several = answers.groups.len() > 1;
    let mut text = String::new();
    if several {
        let pairs: usize = answers.groups.iter().map(|group| group.pairs.len()).sum();
        let answer =
            format!("{} is {pairs} connections with {} different answers.", answers.between, answers.groups.len());
        text.push_str(&style::paint(style::ANSWER, &table::wrap(&answer, screen.width)));
        text.push_str("\n\n");
    }
    for (index, group) in answers.groups.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        if several {
            text.push_str(&style::paint(
                style::HEADING,
                &format!("{}. {}\n", index + 1, listed(&group.pairs, screen.verbose)),
            ));
        }
        text.push_str(&group_text(session, question, group));
        if !answers.incomplete.is_empty() {
            let flag = if question.destination().is_some() { "--from" } else { "--to" };
            let sentence = format!("Not asked, because they need {flag}: {}", answers.incomplete.join(", "));
            text.push('\n');
            text.push_str(&table::indented(&sentence, 2, screen.width));
        }
        if !several && group.pairs.len() > 1 {
            let same = listed(&group.pairs, screen.verbose);
            text.push_str(&format!("\n  The same holds for all {}: {same}\n", group.pairs.len()));
        }
    }
    text
}

fn group_text(session: &Session<'_>, question: &Question, group: &Group) -> String {
    let screen = &session.screen;
    match (group.explanations.as_slice(), &question.kind, &question.field) {
        ([one], Some(_), Some(path)) => explanation::field(path, one, screen),
        ([one], Some(_), None) => explanation::one(one, screen),
        // What a kind says at a few places of one connection is shown in full.
        (few, Some(_), None) if (2..=3).contains(&few.len()) => {
            few.iter().map(|one| explanation::one(one, screen)).collect::<Vec<_>>().join("\n")
        }
        ([], ..) => "No kind of policy that can be asked here has a policy in this mesh.\n\n  \
                     `upheld list policies` shows what was read; `upheld kinds` what is known.\n"
            .to_owned(),
        (several, _, _) => {
            let answer = overview_sentence(several, group.pairs.first().map_or("", String::as_str));
            let details = several.iter().find(|explanation| is_tie(explanation)).or_else(|| several.first());
            let details = details.map(|explanation| command(session, question, explanation));
            explanation::overview(&answer, several, details.as_deref(), screen)
        }
    }
}

fn is_tie(explanation: &Explanation) -> bool {
    explanation.rung.as_ref().is_some_and(|rung| rung.arbitrary)
}

fn overview_sentence(explanations: &[Explanation], pair: &str) -> String {
    let mut kinds: Vec<&str> = explanations
        .iter()
        .filter(|explanation| !explanation.policies.is_empty())
        .map(|explanation| explanation.kind.as_str())
        .collect();
    kinds.dedup();
    let applied = kinds.len();
    let ties = explanations.iter().filter(|explanation| is_tie(explanation)).count();
    let undecided = explanations.iter().filter(|explanation| explanation.outcome == Outcome::Undecided).count();
    let kinds = match applied {
        0 => "No kind applies".to_owned(),
        1 => "1 kind applies".to_owned(),
        applied => format!("{applied} kinds apply"),
    };
    let mut sentence = format!("{kinds} to {pair}");
    let placed = explanations.iter().any(|explanation| explanation.place.is_some());
    let of_them = if placed { "of the answers" } else { "of them" };
    match ties {
        0 => {}
        1 => sentence.push_str(&format!("; 1 {of_them} rests on an arbitrary tie-break")),
        ties => sentence.push_str(&format!("; {ties} {of_them} rest on arbitrary tie-breaks")),
    }
    if undecided > 0 {
        sentence.push_str(&format!("; {undecided} undecided because a fact is missing"));
    }
    sentence + "."
}

/// The command that shows one kind in full, ready to paste.
fn command(session: &Session<'_>, question: &Question, explanation: &Explanation) -> String {
    let mut words = vec!["upheld".to_owned(), "explain".to_owned()];
    let mut flag = |name: &str, value: &str| {
        words.push(name.to_owned());
        words.push(quoted(value));
    };
    for file in &session.common.files {
        flag("-f", file);
    }
    if let Some(revision) = &session.common.at {
        flag("--at", revision);
    }
    flag("--kind", &explanation.kind);
    // A proxy alone has many answers: the command is about one of them.
    let alone = question.from.is_none() && question.to.is_none();
    let called = explanation.to.as_deref().filter(|to| alone && to.contains('/') && !to.contains(' '));
    let from = if question.to.is_none() { question.from.as_deref() } else { question.source() };
    for (name, value) in [("--from", from), ("--to", question.to.as_deref().or(called))] {
        if let Some(value) = value {
            flag(name, value);
        }
    }
    if let Some(mesh) = &session.common.mesh {
        flag("--mesh", mesh);
    }
    for semantics in &session.common.semantics {
        flag("--semantics", semantics);
    }
    words.extend(question.what.as_deref().filter(|_| question.to.is_none()).map(quoted));
    words.join(" ")
}

/// As a shell takes it.
fn quoted(value: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "-_./:=,@%+".contains(character);
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}

fn listed(pairs: &[String], verbose: bool) -> String {
    const SHOWN: usize = 5;
    if verbose || pairs.len() <= SHOWN {
        return pairs.join(", ");
    }
    let shown: Vec<&str> = pairs.iter().take(SHOWN).map(String::as_str).collect();
    format!("{} and {} more", shown.join(", "), pairs.len() - SHOWN)
}
