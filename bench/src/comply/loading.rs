//! From files to an audit: what reading takes, and how little of it is judging. Another process does it, so that its memory
//! is that of loading alone.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use upheld_engine::comply::Comply;
use upheld_loader::load::load;
use upheld_loader::{Format, discover};

use super::documents::{SEMANTICS, texts};
use super::organisation::Organisation;
use super::{PLANTED, Plan, SEED, ours};
use crate::measure::{self, median, timed};
use crate::report::{self, Targets, figure, number, row, time};

/// The name under which this program starts itself to load a folder.
pub(crate) const CHILD: &str = "comply-load";

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let Some(size) = plan.sizes.iter().rev().find(|size| size.letter != "XXL") else { return Ok(0) };
    let organisation = Organisation::new(*size, PLANTED, SEED);
    let right = fingerprint(ours::build(&organisation)?.comply());
    let mut wrong = 0;
    report::heading(&format!("From files to an audit, size {}, on the wall", size.letter));
    row("", ["load", "load and audit", "CPU time of both", "share of loading", "most memory"]);
    for (name, format, rounds) in [("JSON Lines", Format::JsonLines, plan.rounds.min(3)), ("YAML", Format::Yaml, 1)] {
        report::progress(&format!("loading {name}"));
        let folder = Folder::new(&organisation, format)?;
        let found: Result<Vec<Once>, String> = (0..rounds).map(|_| child(&folder.path)).collect();
        let found = found?;
        wrong += found.iter().filter(|once| once.fingerprint != right).count();
        let load = median(found.iter().map(|once| once.load).collect());
        let whole = median(found.iter().map(|once| once.load + once.audit).collect());
        let worked = median(found.iter().map(|once| once.worked).collect());
        let most = found.iter().map(|once| once.most).max().unwrap_or_default();
        let share = format!("{} %", figure(load.as_secs_f64() / whole.as_secs_f64() * 100.0));
        let name = format!("{name}, {} MB", figure(number(folder.bytes) / 1e6));
        row(&name, [time(load), time(whole), time(worked), share, report::memory(Some(most))]);
        if format == Format::JsonLines {
            targets.at_most("load JSON Lines and audit, s", whole.as_secs_f64(), 2.0);
            targets.at_most("load JSON Lines and audit, s, excellent", whole.as_secs_f64(), 0.7);
            targets.at_most("memory, most while loading JSON Lines, MB", number(most) / 1e6, 500.0);
        } else {
            targets.at_most("load YAML and audit, s", whole.as_secs_f64(), 3.0);
        }
    }
    let build = |_| ours::draft(&organisation).map(|draft| timed(|| black_box(draft.build())).1);
    let builds: Result<Vec<Duration>, String> = (0..plan.rounds.min(3)).map(build).collect();
    row("of which relating and judging all objects", [time(median(builds?))]);
    Ok(wrong)
}

/// A folder with the documents of an organisation, as long as it is used.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    bytes: usize,
}

impl Folder {
    pub(crate) fn new(organisation: &Organisation, format: Format) -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("upheld-bench-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| error.to_string())?;
        let mut own = Self { path, bytes: 0 };
        for (name, text) in texts(organisation, format) {
            fs::write(own.path.join(name), &text).map_err(|error| error.to_string())?;
            own.bytes += text.len();
        }
        Ok(own)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// What loading once took and found.
#[derive(Debug)]
struct Once {
    load: Duration,
    audit: Duration,
    /// All threads.
    worked: Duration,
    most: usize,
    fingerprint: String,
}

fn child(folder: &Path) -> Result<Once, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program).arg(CHILD).arg(folder).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    let mut words = said.split_ascii_whitespace();
    let mut next = || words.next().and_then(|word| word.parse().ok());
    let (Some(load), Some(audit), Some(worked), Some(most)) = (next(), next(), next(), next()) else {
        return Err(format!("nothing was loaded: {}", String::from_utf8_lossy(&output.stderr)));
    };
    let fingerprint = words.next().unwrap_or_default().to_owned();
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let [load, audit, worked] = [load, audit, worked].map(Duration::from_nanos);
    Ok(Once { load, audit, worked, most, fingerprint })
}

/// What the child does: loads a folder, audits, and prints nanoseconds, bytes and what was found.
pub(crate) fn load_folder(folder: &str) -> Result<(), String> {
    let started = Instant::now();
    let (inputs, problems) = discover(&[folder]);
    if let Some(problem) = problems.first() {
        return Err(problem.message.clone());
    }
    let loaded = load(inputs, &[SEMANTICS]).map_err(|broken| {
        let first = broken.diagnostics.as_slice().first().map(|problem| problem.message.clone());
        format!("the workload is not understood: {}", first.unwrap_or_default())
    })?;
    let load = started.elapsed();
    let (_, comply) = loaded.snapshot.complies().next().ok_or("there is no organisation")?;
    let started = Instant::now();
    black_box(comply.audit());
    let audit = started.elapsed();
    let worked = measure::process_time().unwrap_or_default();
    let most = measure::peak_memory().unwrap_or_default();
    println!("{} {} {} {most} {}", load.as_nanos(), audit.as_nanos(), worked.as_nanos(), fingerprint(comply));
    Ok(())
}

/// All violations in a number: who breaks what.
fn fingerprint(comply: &Comply) -> String {
    let violations = comply.violations(ours::NOW);
    let bytes =
        violations.iter().flat_map(|own| [&own.policy, &own.a.object, &own.b.object]).flat_map(|text| text.bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{}-{hash:x}", violations.len())
}
