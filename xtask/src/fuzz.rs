//! Long runs of everything that reads foreign bytes, one target after the other.
//!
//! The coverage that libFuzzer follows is asked of the compiler with options that the stable one has: no nightly compiler and no
//! cargo-fuzz is needed, only a compiler of C++ for libFuzzer itself.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use std::{env, fs};

use crate::{cargo_command, run, runs};

/// The kept bytes: a folder for each target, of its name.
const KEPT: &str = "fuzz/corpus";
/// What was found on the way, for later runs on this machine.
const FOUND: &str = "target/fuzz/found";
/// What broke a target.
const BROKEN: &str = "fuzz/artifacts";
/// Where it is built.
const BUILT: &str = "target/fuzz/built";

/// What makes a program tell libFuzzer which ways it took.
const COVERAGE: [&str; 6] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// So many bytes an input has at most: readers meet the same states in small ones, and sooner.
const LONGEST: &str = "-max_len=4096";
/// An input that takes longer is a find.
const SLOWEST: &str = "-timeout=20";
/// A target that takes more memory, in MiB, is a find.
const LARGEST: &str = "-rss_limit_mb=3072";

/// How a target did.
struct Ran {
    name: String,
    executions: u64,
    took: Duration,
    passed: bool,
}

/// Runs all targets, or those named, for so many minutes together.
pub(crate) fn fuzz(minutes: u64, only: &[&str]) -> bool {
    let names = match targets(Path::new(KEPT), only) {
        Ok(names) => names,
        Err(problem) => {
            eprintln!("{problem}");
            return false;
        }
    };
    let Some(program) = build() else { return false };
    let each = Duration::from_secs((minutes * 60 / names.len() as u64).max(1));
    println!("{} targets, {} s each", names.len(), each.as_secs());
    let ran: Vec<Ran> = names.into_iter().map(|name| target(&program, name, each)).collect();
    println!("\n{:<20} {:>12} {:>8} {:>10}", "target", "executions", "seconds", "a second");
    for Ran { name, executions, took, passed } in &ran {
        let rate = executions / took.as_secs().max(1);
        let note = if *passed { "" } else { "   FAILED" };
        println!("{name:<20} {executions:>12} {:>8} {rate:>10}{note}", took.as_secs());
    }
    let failed = ran.iter().filter(|ran| !ran.passed).count();
    let executions: u64 = ran.iter().map(|ran| ran.executions).sum();
    println!("{executions} executions over {} targets, {failed} failed", ran.len());
    failed == 0
}

/// The targets that have kept bytes; a test holds them against those that there are.
fn targets(kept: &Path, only: &[&str]) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(kept).map_err(|error| format!("{}: {error}", kept.display()))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    if let Some(unknown) = only.iter().find(|name| !names.iter().any(|known| known == *name)) {
        return Err(format!("there is no target `{unknown}`; targets: {}", names.join(", ")));
    }
    names.retain(|name| only.is_empty() || only.contains(&name.as_str()));
    Ok(names)
}

fn build() -> Option<PathBuf> {
    if !["c++", "g++", "clang++"].iter().any(|compiler| runs(compiler, &["--version"])) {
        eprintln!(
            "libFuzzer is C++, and there is no compiler of it here: install g++ or clang with your package manager"
        );
        return None;
    }
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let told = Command::new(rustc).arg("-vV").output().ok()?;
    let told = String::from_utf8(told.stdout).ok()?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: "))?.to_owned();
    let here = env::current_dir().ok()?;
    let built = here.join(BUILT);
    // With a target of its own, only what is fuzzed has the options: build scripts run without.
    let arguments = ["build", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", &host];
    let mut command = cargo_command(&arguments);
    command.env("CARGO_ENCODED_RUSTFLAGS", COVERAGE.join("\u{1f}")).env("CARGO_TARGET_DIR", &built);
    run(command, &format!("cargo {}", arguments.join(" "))).then(|| built.join(host).join("release").join("any"))
}

fn target(program: &Path, name: String, each: Duration) -> Ran {
    println!("{name}");
    let (found, broken) = (Path::new(FOUND).join(&name), Path::new(BROKEN).join(&name));
    let made = [&found, &broken].into_iter().try_for_each(fs::create_dir_all);
    let start = Instant::now();
    let output = made.and_then(|()| {
        let mut command = Command::new(program);
        command.env("UPHELD_FUZZ_TARGET", &name).arg(&found).arg(Path::new(KEPT).join(&name));
        command.args([LONGEST, SLOWEST, LARGEST, "-print_final_stats=1"]);
        command.arg(format!("-max_total_time={}", each.as_secs()));
        command.arg(format!("-artifact_prefix={}/", broken.display())).output()
    });
    let took = start.elapsed();
    match output {
        Ok(Output { status, stderr, .. }) => {
            let text = String::from_utf8_lossy(&stderr);
            if !status.success() {
                let lines: Vec<&str> = text.lines().collect();
                let last = lines.get(lines.len().saturating_sub(40)..).unwrap_or_default();
                eprintln!("{}\nfailed: {name}; what it was given is in {}", last.join("\n"), broken.display());
            }
            Ran { executions: executions(&text), name, took, passed: status.success() }
        }
        Err(error) => {
            eprintln!("cannot run {}: {error}", program.display());
            Ran { name, executions: 0, took, passed: false }
        }
    }
}

/// How many inputs libFuzzer says it ran.
fn executions(told: &str) -> u64 {
    let count = told.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_those_with_kept_bytes() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["read_yaml", "decide"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        assert_eq!(targets(folder.path(), &[]).unwrap(), ["decide", "read_yaml"]);
        assert_eq!(targets(folder.path(), &["read_yaml"]).unwrap(), ["read_yaml"]);
        let unknown = targets(folder.path(), &["read"]).unwrap_err();
        assert_eq!(unknown, "there is no target `read`; targets: decide, read_yaml");
    }

    #[test]
    fn executions_are_read_from_the_last_lines() {
        let told =
            "Done 7 runs in 1 second(s)\nstat::number_of_executed_units: 4711\nstat::average_exec_per_sec:     9\n";
        assert_eq!(executions(told), 4711);
        assert_eq!(executions("nothing"), 0);
    }
}
