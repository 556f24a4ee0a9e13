//! Runs corpora of real cases against the engine and counts.
//!
//! ```text
//! root/<corpus>/<family>/…   ──(corpus)──▶ families with their case files
//! case file                  ──(case)────▶ Cases ──(adapter of the family)──▶ Outcome
//! outcomes                   ──(report)──▶ one line a family, the total last
//! ```
//!
//! An adapter reads the format of its family and knows no case by name: a folder with the same layout and other cases
//! runs as well. It feeds documents through the same door as everybody else and compares what the engine says; what a server
//! answers too is asked twice, in the library and over HTTP (`served`).

mod access;
mod authzen;
mod case;
mod compliance;
mod corpus;
mod difference;
mod documents;
mod gateway;
mod kuma;
mod outcome;
mod report;
mod served;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Parser;
use globset::Glob;

use crate::case::Case;
use crate::corpus::{CaseFile, Family};
use crate::outcome::{Outcome, Tally};

/// Runs the cases of one family.
type Adapter = fn(&Case) -> anyhow::Result<Outcome>;

/// Which adapter reads which family.
type Adapters = [(&'static str, Adapter)];

/// Run corpora of real cases against the engine.
#[derive(Debug, Parser)]
#[command(name = "conformance")]
struct Arguments {
    /// The folder that holds the corpora
    #[arg(long, value_name = "DIR", default_value = "../shared/corpora")]
    root: PathBuf,
    /// Only families whose name matches, for example 'kuma/legacy-*'
    #[arg(long, value_name = "GLOB", default_value = "*")]
    family: Glob,
    /// Show how each failure differs, and why each skipped case was skipped
    #[arg(long)]
    verbose: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse(), &mut io::stdout().lock()) {
        Ok(total) if total.failed == 0 => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(problem) if is_broken_pipe(&problem) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("conformance: {problem:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments, out: &mut impl Write) -> anyhow::Result<Tally> {
    let root = &arguments.root;
    let families = corpus::families(root).with_context(|| {
        format!("cannot read the corpora in `{}` (use --root to say where they are)", root.display())
    })?;
    let wanted = arguments.family.compile_matcher();
    let chosen: Vec<&Family> = families.iter().filter(|family| wanted.is_match(&family.name)).collect();
    if chosen.is_empty() {
        let mut corpora: Vec<_> = families.iter().filter_map(|family| family.name.split_once('/')).collect();
        corpora.dedup_by_key(|(corpus, _)| *corpus);
        let known: Vec<String> = corpora.iter().map(|(corpus, _)| format!("'{corpus}/*'")).collect();
        let known = if known.is_empty() { "there are none".to_owned() } else { known.join(", ") };
        bail!("no family in `{}` matches `{}` (families: {known})", root.display(), arguments.family);
    }
    let mut total = Tally::default();
    for family in chosen {
        let outcomes: Vec<(String, Outcome)> = family.cases.iter().flat_map(|case| run_file(family, case)).collect();
        total += report::family(out, family, &outcomes, arguments.verbose)?;
    }
    writeln!(out, "{total}")?;
    Ok(total)
}

fn run_file(family: &Family, file: &CaseFile) -> Vec<(String, Outcome)> {
    let Some(adapter) = adapter(&family.name) else {
        let reason = format!("family {} is not supported yet", family.name);
        return vec![(file.name.clone(), Outcome::Skipped(reason))];
    };
    // A case that cannot be put to the engine has not passed.
    let run = |case: &Case| adapter(case).unwrap_or_else(|problem| Outcome::failed(&problem));
    match Case::read(file) {
        Ok(cases) => cases.iter().map(|case| (case.name().to_owned(), run(case))).collect(),
        Err(problem) => vec![(file.name.clone(), Outcome::failed(&problem))],
    }
}

/// The adapter of a family, if it is supported.
fn adapter(family: &str) -> Option<Adapter> {
    let (name, adapters): (&str, &[&Adapters]) = match family.split_once('/')? {
        ("authz", name) => (name, &[&access::ADAPTERS, &authzen::ADAPTERS]),
        ("compliance", _) => return Some(compliance::run),
        ("gateway-api" | "kgateway", _) => (family, &[&gateway::ADAPTERS]),
        ("kuma", name) => (name, &kuma::ADAPTERS),
        _ => return None,
    };
    adapters.iter().copied().flatten().find(|(known, _)| *known == name).map(|(_, adapter)| *adapter)
}

/// Whoever reads the output has seen enough.
fn is_broken_pipe(problem: &anyhow::Error) -> bool {
    problem.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
