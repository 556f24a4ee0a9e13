//! A program that embeds `upheld`: read a folder once, then answer as often as you like.
//!
//! `cargo run -p embed -- examples/kuma-choosing-a-policy TrafficLog web-1 backend-1`

use std::process::ExitCode;

use upheld::{Policies, Problems, Question};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, kind, from, to] = arguments.as_slice() else {
        eprintln!("usage: embed FOLDER KIND FROM TO");
        return ExitCode::from(2);
    };
    match answer(folder, kind, from, to) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(problems) => {
            eprintln!("{problems}");
            ExitCode::FAILURE
        }
    }
}

/// What becomes of a connection under a kind of policy, and what each policy has to do with it.
fn answer(folder: &str, kind: &str, from: &str, to: &str) -> Result<String, Problems> {
    let policies = Policies::from_paths(&[folder])?;
    let answer = policies.explain(&Question::between(from, to).kind(kind))?;
    if answer.reports.is_empty() {
        return Ok(format!("{kind} is not about connections.\n"));
    }
    let mut text = String::new();
    for report in answer.reports {
        text += &format!("{}\n", report.headline.text);
        for field in &report.fields {
            text += &format!("  {} = {}\n", field.path, field.text());
        }
        for candidate in &report.candidates {
            text += &format!("  {:5} {}: {}\n", candidate.state.word(), candidate.title(), candidate.reason.text);
        }
    }
    Ok(text)
}
