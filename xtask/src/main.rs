//! The developers' own commands: each step of CI is one that a developer can type.
//!
//! ```text
//! cargo xtask test            all tests
//! cargo xtask ci              everything a change must pass
//! cargo xtask bench select    measurements, with ratios against a rival in the same run; also `kuma`, `gateway`, `access`, `comply`, `server`
//! cargo xtask dist            an archive to give away, with its checksum
//! ```

mod dist;
mod postgres;
mod python;

use std::path::Path;
use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask COMMAND

  test           all tests: units, properties, commands, documentation
  ci             everything a change must pass: format, lint, test, doc, conformance
  format         check the format (cargo fmt --all puts it right)
  lint           clippy, warnings denied
  doc            build the documentation, warnings denied
  conformance    run the corpora, where they are
  bench NAME     measure; NAME is one of: select, kuma, gateway, access, comply, server
  dist           an archive to give away in target/dist-archive, with checksum, SBOM and third-party notices
";

/// Where the corpora are, seen from the project.
const CORPORA: &str = "../shared/corpora";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let passed = match arguments.as_slice() {
        ["test", rest @ ..] => test(rest),
        ["ci"] => ci(),
        ["format"] => format(),
        ["lint"] => lint(),
        ["doc"] => doc(),
        ["conformance", rest @ ..] => conformance(rest),
        ["bench", rest @ ..] => bench(rest),
        ["dist"] => dist::dist(),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            true
        }
        [unknown, ..] => {
            eprint!("there is no command `{unknown}`\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether it passed.
type Step = fn() -> bool;

fn ci() -> bool {
    let steps: [(&str, Step); 5] = [
        ("format", format),
        ("lint", lint),
        ("test", || test(&[])),
        ("doc", doc),
        ("conformance", || conformance(&[])),
    ];
    for (name, step) in steps {
        println!("\n== {name}");
        if !step() {
            eprintln!("\nfailed: cargo xtask {name}");
            return false;
        }
    }
    true
}

/// All tests, through the command that the README names. A Rust toolchain is all they need; what else they use is installed
/// into `target`, and where it cannot be, that is said.
fn test(rest: &[&str]) -> bool {
    if !runs("git", &["--version"]) {
        println!("note: git is not installed; the tests of `--at REV` need it. Install it with your package manager.");
    }
    let arguments = [&["test", "--workspace"], rest].concat();
    let mut command = cargo_command(&arguments);
    if !postgres::is_there() && !postgres::install() {
        command.env(postgres::WITHOUT, "1");
    }
    for package in &python::ALL {
        if !package.is_there() {
            command.env(package.without, "1");
        }
    }
    run(command, &format!("cargo {}", arguments.join(" ")))
}

fn format() -> bool {
    cargo(&["fmt", "--all", "--", "--check"])
}

fn lint() -> bool {
    // Code that only a feature builds must not rot.
    cargo(&["clippy", "--workspace", "--all-targets", "--features", "bench/peers", "--", "-D", "warnings"])
}

fn doc() -> bool {
    let arguments = ["doc", "--workspace", "--no-deps", "--document-private-items"];
    let mut command = cargo_command(&arguments);
    command.env("RUSTDOCFLAGS", "-D warnings");
    run(command, &format!("cargo {}", arguments.join(" ")))
}

fn conformance(rest: &[&str]) -> bool {
    if rest.is_empty() && !Path::new(CORPORA).is_dir() {
        println!("note: no corpora at {CORPORA}; nothing to run");
        return true;
    }
    // In the profile of the tests: building everything once more would take longer than all cases together.
    cargo(&[&["run", "--quiet", "--package", "conformance", "--"], rest].concat())
}

fn bench(rest: &[&str]) -> bool {
    let peers: &[&str] = if rest.first() == Some(&"access") { &["--features", "peers"] } else { &[] };
    cargo(&[&["run", "--profile", "dist", "--quiet", "--package", "bench"], peers, &["--"], rest].concat())
}

fn cargo(arguments: &[&str]) -> bool {
    run(cargo_command(arguments), &format!("cargo {}", arguments.join(" ")))
}

/// The cargo that runs this.
fn cargo_name() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

fn cargo_command(arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_name());
    command.args(arguments);
    command
}

fn run(mut command: Command, shown: &str) -> bool {
    println!("$ {shown}");
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cannot run `{shown}`: {error}");
            false
        }
    }
}

fn runs(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}
