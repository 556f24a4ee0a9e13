//! A program that embeds `upheld`: read a folder once, then answer as often as you like.
//!
//! `cargo run -p embed -- examples/kuma-choosing-a-policy TrafficLog web-1 backend-1`

use std::process::ExitCode;

use upheld_dialects::kuma::ends::connect;
use upheld_engine::{Question, Scratch, Silent, ask};
use upheld_input::discover;
use upheld_input::load::load;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, kind, from, to] = arguments.as_slice() else {
        eprintln!("usage: embed FOLDER KIND FROM TO");
        return ExitCode::from(2);
    };
    match answer(folder, kind, from, to) {
        Ok(policy) => {
            println!("{policy}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn answer(folder: &str, kind: &str, from: &str, to: &str) -> Result<String, String> {
    let (inputs, problems) = discover(&[folder]);
    if let Some(problem) = problems.first() {
        return Err(problem.message.clone());
    }
    let loaded = load(inputs, &["kuma/0.3"]).map_err(|broken| {
        let messages = broken.diagnostics.as_slice().iter().map(|diagnostic| diagnostic.message.clone());
        messages.collect::<Vec<_>>().join("\n")
    })?;
    let snapshot = &loaded.snapshot;

    let mut kinds = snapshot.kinds().iter();
    let (kind, _) = kinds.find(|(_, known)| snapshot.text(known.name) == kind).ok_or("no such kind")?;
    let mut lookup = snapshot.lookup();
    let connection = connect(snapshot, &mut lookup, None, Some(from), Some(to))
        .map_err(|problems| problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("\n"))?;
    let Some(select) = snapshot.select(kind, connection.mesh) else { return Ok("(default)".to_owned()) };

    // The hot path: no strings and no allocation; `Ruling::explain` tells the whole story of the same evaluation.
    let first = |end: &Option<upheld_dialects::kuma::ends::End>| {
        end.as_ref()?.members.first().map(|member| member.parts.clone())
    };
    let (source, destination) = (first(&connection.source), first(&connection.destination));
    let question = Question { source: source.as_deref(), destination: destination.as_deref() };
    let winner = ask(select, &question, &mut Scratch::default(), &mut Silent).winner;
    let policy = winner.and_then(|entry| snapshot.policy(select.entry(entry)?.policy));
    Ok(policy.map_or("(default)", |policy| snapshot.text(policy.name)).to_owned())
}
