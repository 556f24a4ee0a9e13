//! `explain`: what is the result here, and why?

use serde_json::{Value as Json, json};

use upheld_engine::Snapshot;
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use super::question::{Answers, Group, answer};
use super::{Session, refuse, say};
use crate::cli::{Format, Question};
use crate::exit::Exit;
use crate::render::{explanation, print_plain, style, table};
use crate::report::{Explanation, Outcome};

pub(super) fn run(session: &Session<'_>, question: &Question) -> Exit {
    if let Some(problem) = incomplete(question) {
        return refuse(&[problem]);
    }
    let Some(loaded) = session.load() else { return Exit::Failed };
    let (answers, notes) = match told(session, &loaded.snapshot, question) {
        Ok(told) => told,
        Err(problems) => return refuse(&problems),
    };
    for note in notes {
        say(&note);
    }
    match session.screen.format {
        Format::Json | Format::Yaml => {
            let digest = loaded.snapshot.digest();
            session.screen.print_data(&document(&answers, digest));
        }
        Format::Jsonl => {
            for group in &answers.groups {
                for explanation in &group.explanations {
                    session.screen.print_data(&with_pairs(explanation, group));
                }
            }
        }
        Format::Name => print_plain(&names(&answers)),
        Format::Table | Format::Wide => session.screen.print(&text(session, question, &answers)),
    }
    Exit::Yes
}

/// What a question lacks before any file is read.
fn incomplete(question: &Question) -> Option<Diagnostic> {
    let message = "`--field` needs `--kind`: fields of different kinds have nothing in common";
    let lacks = question.field.is_some() && question.kind.is_none();
    lacks.then(|| Diagnostic::error(Fault::IncompleteQuestion, message))
}

/// The answers as they are told, and remarks on them.
fn told(
    session: &Session<'_>,
    snapshot: &Snapshot,
    question: &Question,
) -> Result<(Answers, Vec<String>), Vec<Diagnostic>> {
    let mut answers = answer(session, snapshot, question)?;
    for group in &mut answers.groups {
        // What was decided first, alphabetically; what fell to the default last.
        group.explanations.sort_by_key(|explanation| explanation.outcome == Outcome::Default);
    }
    let mut notes = Vec::new();
    if let Some(path) = &question.field {
        for explanation in answers.groups.iter_mut().flat_map(|group| &mut group.explanations) {
            let known: Vec<String> = explanation.fields.iter().map(|field| field.path.clone()).collect();
            explanation.fields.retain(|field| explanation::is_within(&field.path, path));
            if explanation.fields.is_empty() && explanation.outcome != Outcome::Undecided {
                let hint =
                    nearest(path, known.iter().map(String::as_str)).map(|name| format!("; did you mean `{name}`?"));
                notes.push(format!("note: {}: `{path}` is not set{}", explanation.kind, hint.unwrap_or_default()));
            }
        }
    }
    Ok((answers, notes))
}

/// The answers as programs get them.
pub(super) fn answers(
    session: &Session<'_>,
    snapshot: &Snapshot,
    question: &Question,
) -> Result<Vec<Json>, Vec<Diagnostic>> {
    if let Some(problem) = incomplete(question) {
        return Err(vec![problem]);
    }
    told(session, snapshot, question).map(|(answers, _)| listed_answers(&answers))
}

/// Everything, for programs.
fn document(answers: &Answers, digest: &str) -> Json {
    let all = listed_answers(answers);
    json!({"apiVersion": "upheld/v1", "kind": "Explanation", "snapshot": digest, "answers": all})
}

fn listed_answers(answers: &Answers) -> Vec<Json> {
    let groups = answers.groups.iter();
    groups.flat_map(|group| group.explanations.iter().map(|explanation| with_pairs(explanation, group))).collect()
}

fn with_pairs(explanation: &Explanation, group: &Group) -> Json {
    let mut document = serde_json::to_value(explanation).unwrap_or_default();
    if let Some(map) = document.as_object_mut() {
        map.insert("for".to_owned(), json!(group.pairs));
    }
    document
}

/// `Kind/policy` a line.
pub(super) fn names(answers: &Answers) -> String {
    let mut names: Vec<String> = Vec::new();
    for explanation in answers.groups.iter().flat_map(|group| &group.explanations) {
        let standing: Vec<&str> = match (explanation.outcome, explanation.policies.as_slice()) {
            (Outcome::Undecided, _) => vec!["(undecided)"],
            (_, []) => vec![&explanation.default.name],
            (_, policies) => policies.iter().map(String::as_str).collect(),
        };
        for name in standing {
            let name = format!("{}/{name}\n", explanation.kind);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names.concat()
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
