//! Reports of a large audit: what it takes to write down every check, and to plan fixes, beside the audit alone. Another process does
//! it, so that its memory is that of one report.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use upheld_answers::compliance::{AuditQuestion, FixQuestion, Organisation as Asked};
use upheld_answers::formats::audit::{Beside, Format as Text, Listed};
use upheld_loader::load::load;
use upheld_loader::{Format, discover};
use upheld_pages::{MOST_IN_A_FILE, audit_file};

use super::documents::SEMANTICS;
use super::loading::Folder;
use super::organisation::Organisation;
use super::{PLANTED, Plan, SEED, ours};
use crate::measure;
use crate::report::{self, Targets, figure, grouped, number, row, time};

/// The name under which this program starts itself to write a report.
pub(crate) const CHILD: &str = "comply-report";

/// What is made of the files.
#[derive(Clone, Copy, Debug)]
enum Made {
    /// An audit that nobody reads.
    Audit,
    /// A report of it.
    Report(Text, Listed),
    /// The page of it.
    Page,
    /// A plan of fixes for all that violates.
    Fixes,
}

/// The name of what is made of the files, as users write it.
const ALONE: &str = "audit alone";
const FIX: &str = "fix";

/// Everything that is made of the files, each in a process of its own.
const ALL: [(&str, Made); 14] = [
    (ALONE, Made::Audit),
    ("-o json", Made::Report(Text::Json, Listed::Violations)),
    ("-o yaml", Made::Report(Text::Yaml, Listed::Violations)),
    ("-o jsonl", Made::Report(Text::JsonLines, Listed::Violations)),
    ("-o csv", Made::Report(Text::Csv, Listed::Violations)),
    ("-o sarif", Made::Report(Text::Sarif, Listed::Violations)),
    ("-o junit", Made::Report(Text::Junit, Listed::Violations)),
    ("-o policyreport", Made::Report(Text::PolicyReport, Listed::Violations)),
    ("-o policyreport --all", Made::Report(Text::PolicyReport, Listed::All)),
    ("-o openreports", Made::Report(Text::OpenReports, Listed::Violations)),
    ("-o markdown", Made::Report(Text::Markdown, Listed::Violations)),
    ("-o html", Made::Page),
    ("-o prometheus", Made::Report(Text::Prometheus, Listed::Violations)),
    (FIX, Made::Fixes),
];

/// As many policies as an organisation of that size is said to have.
pub(crate) const POLICIES: usize = 12;

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let Some(size) = plan.sizes.iter().rev().find(|size| size.letter != "XXL") else { return Ok(0) };
    let organisation = Organisation::new(size.with_rules(POLICIES), PLANTED, SEED);
    let (objects, relations) = organisation.counts();
    let [objects, relations] = [objects, relations].map(grouped);
    report::heading(&format!(
        "Reports of {relations} relationships of {objects} objects, {POLICIES} policies, from files to the last byte, on the wall"
    ));
    row("", ["took", "times the audit", "written", "most memory"]);
    let folder = Folder::new(&organisation, Format::JsonLines)?;
    let mut alone: Option<Written> = None;
    for (name, made) in ALL {
        report::progress(&format!("making {name}"));
        let written = child(&folder.path, name)?;
        let audit = alone.get_or_insert(written);
        let times = written.took.as_secs_f64() / audit.took.as_secs_f64();
        let bytes = format!("{} MB", figure(number(written.bytes) / 1e6));
        row(name, [time(written.took), figure(times), bytes, report::memory(Some(written.most))]);
        match made {
            Made::Audit => {
                targets.at_most("audit, s", written.took.as_secs_f64(), 1.0);
                targets.at_most("audit, most memory, MB", number(written.most) / 1e6, 300.0);
            }
            // Whoever asks for every check gets a document of hundreds of megabytes in a format that is slow to write.
            Made::Report(_, Listed::All) => {}
            Made::Report(..) | Made::Page => targets.at_most(&format!("{name}, times the audit"), times, 2.0),
            Made::Fixes => targets.at_most("fix, s", written.took.as_secs_f64(), 10.0),
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

/// What the child does: loads a folder, makes what is asked for, writes it to nowhere, and prints nanoseconds and bytes.
pub(crate) fn write_report(what: &str, folder: &str) -> Result<(), String> {
    let started = Instant::now();
    let (inputs, _) = discover(&[folder]);
    let loaded = load(inputs, &[SEMANTICS]).map_err(|_| "the workload is not understood")?;
    let asked = Asked::of(&loaded.snapshot, None, ours::NOW).map_err(|problem| problem.message)?;
    let question = AuditQuestion { no_fixes: true, ..AuditQuestion::default() };
    let first =
        |problems: Vec<upheld_model::Diagnostic>| problems.first().map_or(String::new(), |one| one.message.clone());
    let (_, made) = ALL.into_iter().find(|(name, _)| *name == what).ok_or("nothing of that name is made")?;
    let mut sink = Counted(0);
    if let Made::Fixes = made {
        let plan = asked.fix_plan(&FixQuestion::default(), &mut |_, _| {}).map_err(first)?;
        serde_json::to_writer(&mut sink, &plan).map_err(|error| error.to_string())?;
    } else {
        let audited = loaded.beside_digest(|| asked.audit(&question)).map_err(first)?;
        if let Made::Page = made {
            let document = serde_json::to_value(audited.audit.document_of(MOST_IN_A_FILE));
            let page = audit_file(&document.map_err(|error| error.to_string())?);
            sink.write_all(page.as_bytes()).map_err(|error| error.to_string())?;
        }
        if let Made::Report(text, listed) = made {
            let passing = asked.passing(&question).map_err(first)?;
            let beside = Beside { passing: &passing, listed, ..Beside::default() };
            text.write(&audited.audit, &beside, &mut sink).map_err(|error| error.to_string())?;
        }
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
