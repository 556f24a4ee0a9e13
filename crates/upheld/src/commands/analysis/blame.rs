//! `blame`: who set each field of a result?

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::json;
use upheld_loader::git::{Commit, blame};

use crate::cli::{Format, Question};
use crate::commands::{Asked, Session, ask, refuse};
use crate::exit::Exit;
use crate::render::table::{Align, Table};
use crate::render::text::{Text, text};
use crate::render::{print_names, style};
use crate::report::{At, Depth};

/// A field, and who wrote the line that sets it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    kind: String,
    about: String,
    field: String,
    value: String,
    policy: String,
    at: Option<At>,
    commit: Option<String>,
    author: Option<String>,
    date: Option<String>,
    subject: Option<String>,
}

pub(in crate::commands) fn run(session: &Session<'_>, question: &Question) -> Exit {
    let Some(Asked { answer, .. }) = ask(session, question, Depth::All) else { return Exit::Failed };
    let mut lines: Vec<Line> = Vec::new();
    for report in &answer.reports {
        for field in &report.fields {
            for source in &field.from {
                lines.push(Line {
                    kind: report.kind.clone(),
                    about: report.about.what.clone(),
                    field: field.name(),
                    value: field.text(),
                    policy: source.policy.clone(),
                    at: source.at.clone(),
                    commit: None,
                    author: None,
                    date: None,
                    subject: None,
                });
            }
        }
        // Decisions have no fields: whoever decides says it all.
        for candidate in report.candidates.iter().filter(|one| report.fields.is_empty() && one.stands()) {
            lines.push(Line {
                kind: report.kind.clone(),
                about: report.about.what.clone(),
                field: report.verdict.word().to_owned(),
                value: report.summary.clone(),
                policy: candidate.policy.clone(),
                at: candidate.at.clone(),
                commit: None,
                author: None,
                date: None,
                subject: None,
            });
        }
    }
    if let Err(problem) = fill(&mut lines, session.common.at.as_deref()) {
        return refuse(&[problem]);
    }
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml => {
            screen.print_data(&json!({"apiVersion": "upheld/v2", "kind": "Blame", "fields": lines}));
        }
        Format::Jsonl => lines.iter().for_each(|line| screen.print_data(line)),
        Format::Name => {
            let names: BTreeSet<&String> = lines.iter().filter_map(|line| line.commit.as_ref()).collect();
            print_names(names);
        }
        Format::Table | Format::Wide => screen.print(&table(&lines, screen.width)),
    }
    Exit::Yes
}

/// Asks git once for each file.
fn fill(lines: &mut [Line], revision: Option<&str>) -> Result<(), upheld_model::Diagnostic> {
    let mut wanted: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for at in lines.iter().filter_map(|line| line.at.as_ref()) {
        wanted.entry(at.file().to_owned()).or_default().insert(at.line());
    }
    let mut found: BTreeMap<(String, usize), Commit> = BTreeMap::new();
    for (file, numbers) in wanted {
        let numbers: Vec<usize> = numbers.into_iter().collect();
        let known = blame(&file, &numbers, revision)?;
        found.extend(known.into_iter().map(|(line, commit)| ((file.clone(), line), commit)));
    }
    for line in lines {
        let Some(at) = &line.at else { continue };
        if let Some(commit) = found.get(&(at.file().to_owned(), at.line())) {
            line.commit = Some(commit.short().to_owned());
            line.author = Some(commit.author.clone());
            line.date = commit.at.to_string().get(..10).map(str::to_owned);
            line.subject = Some(commit.subject.clone());
        }
    }
    Ok(())
}

fn table(lines: &[Line], width: Option<usize>) -> Text {
    let headings = ["FIELD", "VALUE", "POLICY", "AT", "COMMIT", "AUTHOR", "DATE", "FOR"];
    let mut table = Table::new(&headings.map(|heading| (heading, Align::Left)));
    let told = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    for line in lines {
        let at = line.at.as_ref().map(ToString::to_string).unwrap_or_default();
        let commit = line.commit.clone().unwrap_or_else(|| "not committed".to_owned());
        let cells = [line.field.clone(), line.value.clone(), line.policy.clone(), at, commit];
        let more = [told(&line.author), told(&line.date), told(&line.subject)];
        table.row(anstyle::Style::new(), cells.into_iter().chain(more));
    }
    let mut last: Option<&str> = None;
    let abouts = lines.iter().map(|line| line.about.as_str()).filter(|about| last.replace(about) != Some(about));
    let headline = match abouts.collect::<Vec<_>>().as_slice() {
        [] => "Nothing is set here.".to_owned(),
        [one] => format!("Who set what for {one}."),
        [first, rest @ ..] => format!("Who set what for {first} and {} more.", rest.len()),
    };
    text!("{}\n\n{}", style::paint(style::ANSWER, &headline), table.render(width, 7))
}
