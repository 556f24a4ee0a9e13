//! Reports of a large audit: what it takes to write down every check, beside the audit alone. Another process does it, so that its
//! memory is that of one report.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use upheld_answers::compliance::{AuditQuestion, Organisation as Asked};
use upheld_answers::formats::audit::{Beside, Format as Text, Listed};
use upheld_loader::load::load;
use upheld_loader::{Format, discover};

use super::documents::SEMANTICS;
use super::loading::Folder;
use super::organisation::Organisation;
use super::{PLANTED, Plan, SEED, ours};
use crate::measure;
use crate::report::{self, Targets, figure, number, row, time};

/// The name under which this program starts itself to write a report.
pub(crate) const CHILD: &str = "comply-report";

/// The formats that are written, and whether with what passes.
const FORMATS: [(&str, Option<Text>, Listed); 4] = [
    ("audit alone", None, Listed::Violations),
    ("junit", Some(Text::Junit), Listed::Violations),
    ("policyreport", Some(Text::PolicyReport), Listed::Violations),
    ("policyreport --all", Some(Text::PolicyReport), Listed::All),
];

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let Some(size) = plan.sizes.iter().rev().find(|size| size.letter != "XXL") else { return Ok(0) };
    let organisation = Organisation::new(*size, PLANTED, SEED);
    report::heading(&format!("Reports, size {}, from files to the last byte, on the wall", size.letter));
    row("", ["took", "times the audit", "written", "most memory"]);
    let folder = Folder::new(&organisation, Format::JsonLines)?;
    let mut alone: Option<Written> = None;
    for (name, ..) in FORMATS {
        report::progress(&format!("writing {name}"));
        let written = child(&folder.path, name)?;
        let audit = alone.get_or_insert(written);
        let times = written.took.as_secs_f64() / audit.took.as_secs_f64();
        let bytes = format!("{} MB", figure(number(written.bytes) / 1e6));
        row(name, [time(written.took), figure(times), bytes, report::memory(Some(written.most))]);
        if name == "junit" || name == "policyreport" {
            targets.at_most(&format!("-o {name}, times the audit"), times, 2.0);
        }
    }
    Ok(0)
}

/// What writing a report took.
#[derive(Clone, Copy, Debug)]
struct Written {
    took: Duration,
    bytes: usize,
    most: usize,
}

fn child(folder: &Path, format: &str) -> Result<Written, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program).args([CHILD, format]).arg(folder).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    let mut words = said.split_ascii_whitespace();
    let mut next = || words.next().and_then(|word| word.parse().ok());
    let (Some(took), Some(bytes), Some(most)) = (next(), next(), next()) else {
        return Err(format!("nothing was written: {}", String::from_utf8_lossy(&output.stderr)));
    };
    let [bytes, most] = [bytes, most].map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    Ok(Written { took: Duration::from_nanos(took), bytes, most })
}

/// What the child does: loads a folder, audits it, writes the report to nowhere, and prints nanoseconds and bytes.
pub(crate) fn write_report(format: &str, folder: &str) -> Result<(), String> {
    let started = Instant::now();
    let (inputs, _) = discover(&[folder]);
    let loaded = load(inputs, &[SEMANTICS]).map_err(|_| "the workload is not understood")?;
    let asked = Asked::of(&loaded.snapshot, None, ours::NOW).map_err(|problem| problem.message)?;
    let question = AuditQuestion { no_fixes: true, ..AuditQuestion::default() };
    let first =
        |problems: Vec<upheld_model::Diagnostic>| problems.first().map_or(String::new(), |one| one.message.clone());
    let audited = asked.audit(&question).map_err(first)?;
    let passing = asked.passing(&question).map_err(first)?;
    let (_, text, listed) = FORMATS.into_iter().find(|(name, ..)| *name == format).ok_or("no such format")?;
    let mut sink = Counted(0);
    if let Some(text) = text {
        let beside = Beside { passing: &passing, listed, ..Beside::default() };
        text.write(&audited.audit, &beside, &mut sink).map_err(|error| error.to_string())?;
    }
    let took = started.elapsed();
    println!("{} {} {}", took.as_nanos(), sink.0, measure::peak_memory().unwrap_or_default());
    Ok(())
}

/// Takes everything and keeps nothing.
struct Counted(usize);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
