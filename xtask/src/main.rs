//! The developers' own commands: each step of CI is one that a developer can type.
//!
//! ```text
//! cargo xtask test            all tests; with --install, also those that need PostgreSQL, Envoy, nginx and others
//! cargo xtask ci              everything a change must pass
//! cargo xtask seeds 10        the properties again, on ten other sets of random cases
//! cargo xtask soak --minutes 60   a server under mixed load: memory, file handles and latency over time
//! cargo xtask bench select    measurements, with ratios against a rival in the same run; also `kuma`, `gateway`, `access`, `analysis`, `comply`, `server`
//! cargo xtask fuzz --minutes 60   everything that reads foreign bytes, with bytes of all sorts
//! cargo xtask pages           pictures of every web page in target/pages, light and dark, wide and narrow
//! cargo xtask bench tools     how long the program takes to start, to answer from many files, and to complete names
//! cargo xtask dist            an archive to give away, with its checksum; a Debian package; a folder for an image
//! ```

mod chromium;
mod debian;
mod dist;
mod fuzz;
mod licences;
mod postgres;
mod python;
mod speed;
mod tools;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use tools::Missing;

const HELP: &str = "\
cargo xtask COMMAND

  test [--install]  all tests: units, properties, commands, documentation; programs that some of them need are
                 listed, and installed with --install
  ci             everything a change must pass: format, lint, test, doc, conformance
  format         check the format (cargo fmt --all puts it right)
  lint           clippy, warnings denied
  doc            build the documentation, warnings denied
  conformance    run the corpora, where they are
  audit          licences of what this is made of; and its known weaknesses, where cargo-deny and its data can be had
  seeds [ROUNDS] the properties on other random cases than those of `test`; a round that fails prints its seed
  bench NAME     measure; NAME is one of: select, kuma, gateway, access, analysis, comply, server; `server --attack` with strangers,
                 `server --envoy` behind a real Envoy, `server --pages` for the web pages of a large world
  bench growth [FEW MANY]
                 what every operation, page and command costs in worlds of FEW and of MANY policies of each system [300 3000]
  bench tools    how long the program takes to start, to answer from 2 000 files, and to complete names
  soak --minutes N
                 a server under mixed load for N minutes: memory, file handles and latency over time
  fuzz --minutes N [TARGET…]
                 everything that reads foreign bytes, with bytes of all sorts, for N minutes together; takes a compiler of C++
  pages          pictures of every web page in target/pages, light and dark, wide and narrow; takes Chromium
  dist           in target/dist-archive: an archive to give away with checksum, SBOM and third-party notices, a Debian
                 package, and a folder that an image is built of; their sizes, and how long the program takes to start
";

/// What random cases are made of, for proptest. With one seed a change is held against the same cases as the one before it:
/// what fails is the change, not the luck of the day. `seeds` looks further.
const SEED: &str = "PROPTEST_RNG_SEED";
const USUAL_SEED: &str = "20260101";

/// How many worlds tests of the server make.
const WORLDS: &str = "UPHELD_WORLDS";
/// Tests that hold the server against a model of it, with how many worlds `seeds` asks them for: some 100 000 requests of the first, 18 000 answers
/// of the second.
const MODELS: [(&str, &str); 2] = [("enforcement_model", "2000"), ("visible_part", "40")];

/// The tests that simulate servers and stores, how many seeds they have, and how many each round of `seeds` asks for.
const SIMULATION: &str = "simulation";
const SIMULATIONS: &str = "UPHELD_SIMULATIONS";
const MORE_SIMULATIONS: &str = "2500";

/// Where the corpora are, seen from the project.
const CORPORA: &str = "../shared/corpora";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let passed = match arguments.as_slice() {
        ["test", "--install", rest @ ..] => test(Missing::Installed, rest),
        ["test", rest @ ..] => test(Missing::Listed, rest),
        ["ci"] => ci(),
        ["format"] => format(),
        ["lint"] => lint(),
        ["doc"] => doc(),
        ["conformance", rest @ ..] => conformance(rest),
        ["audit"] => audit(),
        ["soak", "--minutes", minutes] => bench(&["soak", "--minutes", minutes]),
        ["soak", ..] => {
            eprintln!(
                "how long? `cargo xtask soak --minutes 60`; `cargo xtask seeds` runs the properties on other cases"
            );
            return ExitCode::from(2);
        }
        ["fuzz", "--minutes", minutes, only @ ..] => match minutes.parse() {
            Ok(minutes) => fuzz::fuzz(minutes, only),
            Err(_) => {
                eprintln!("`{minutes}` is not a number of minutes");
                return ExitCode::from(2);
            }
        },
        ["fuzz", ..] => {
            eprintln!(
                "how long? `cargo xtask fuzz --minutes 60`, or `cargo xtask fuzz --minutes 5 read_yaml` for one target"
            );
            return ExitCode::from(2);
        }
        ["seeds"] => seeds(4),
        ["seeds", rounds] => match rounds.parse() {
            Ok(rounds) => seeds(rounds),
            Err(_) => {
                eprintln!("`{rounds}` is not a number of rounds");
                return ExitCode::from(2);
            }
        },
        ["bench", "growth"] => growth("300", "3000"),
        ["bench", "growth", few, many] => growth(few, many),
        ["bench", "tools"] => speed::tools(),
        ["bench", rest @ ..] => bench(rest),
        ["pages"] => pages(),
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
    let steps: [(&str, Step); 6] = [
        ("format", format),
        ("lint", lint),
        ("test", || test(Missing::Installed, &[])),
        ("doc", doc),
        ("conformance", || conformance(&[])),
        ("audit", audit),
    ];
    let mut took = Vec::new();
    for (name, step) in steps {
        println!("\n== {name}");
        let begun = Instant::now();
        if !step() {
            eprintln!("\nfailed: cargo xtask {name}");
            return false;
        }
        took.push(format!("{name} {} s", begun.elapsed().as_secs()));
    }
    println!("\nTime of each step: {}", took.join(", "));
    true
}

/// All tests, through the command that the README names. A Rust toolchain is all they need: what else some of them use is listed.
fn test(missing: Missing, rest: &[&str]) -> bool {
    if !runs("git", &["--version"]) {
        println!("note: git is not installed; the tests of `--at REV` need it. Install it with your package manager.");
    }
    let arguments = [&["test", "--workspace"], rest].concat();
    let mut command = cargo_command(&arguments);
    if std::env::var_os(SEED).is_none() {
        command.env(SEED, USUAL_SEED);
    }
    tools::with_tools(missing, command, |command| run(command, &format!("cargo {}", arguments.join(" "))))
}

/// Pictures of every page, made by the test that looks at them.
fn pages() -> bool {
    let arguments = ["test", "--workspace", "--test", "it", "every_view_fits"];
    let passed = run(cargo_command(&arguments), &format!("cargo {}", arguments.join(" ")));
    println!("The pictures are in target/pages.");
    passed
}

/// The properties of everything that needs nothing installed, enforcement against its model, and simulations, on random cases that no run had
/// before.
fn seeds(rounds: u64) -> bool {
    let properties: &[&str] =
        &["test", "--workspace", "--exclude", "upheld-store", "--exclude", "upheld-server", "--lib", "--tests"];
    let simulated: &[&str] = &[
        "test",
        "--package",
        "upheld-store",
        "--package",
        "upheld-server",
        "--test",
        "it",
        SIMULATION,
        "--",
        "--nocapture",
    ];
    // Of the server, only what is compared with a model: on many more worlds than in `test`.
    let start = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs());
    let mut failed = Vec::new();
    for seed in (start..).take(usize::try_from(rounds).unwrap_or(usize::MAX)) {
        let mut all = cargo_command(properties);
        all.arg("--no-fail-fast").env(SEED, seed.to_string());
        let mut simulation = cargo_command(simulated);
        simulation.env(SEED, seed.to_string()).env(SIMULATIONS, MORE_SIMULATIONS);
        let simulated = format!("{SEED}={seed} {SIMULATIONS}={MORE_SIMULATIONS} cargo {}", simulated.join(" "));
        let mut passed = run(simulation, &simulated);
        passed &= run(all, &format!("{SEED}={seed} cargo {}", properties.join(" ")));
        for (model, worlds) in MODELS {
            let arguments = ["test", "--package", "upheld-server", "--test", "it", model, "--", "--nocapture"];
            let mut held = cargo_command(&arguments);
            held.env(SEED, seed.to_string()).env(WORLDS, worlds);
            passed &= run(held, &format!("{SEED}={seed} {WORLDS}={worlds} cargo {}", arguments.join(" ")));
        }
        if !passed {
            failed.push(seed);
        }
    }
    for seed in &failed {
        eprintln!("failed: {SEED}={seed} cargo xtask test");
    }
    failed.is_empty()
}

fn format() -> bool {
    cargo(&["fmt", "--all", "--", "--check"])
}

fn lint() -> bool {
    let looks: [&[&str]; 4] = [
        &["--workspace", "--all-targets"],
        // What is built without a feature must not rot. With the targets of tests, the crates below are those of the look before.
        &["--workspace", "--no-default-features", "--lib", "--bins", "--examples"],
        // Without the features that tests add: the program as it is shipped, and as `cargo demo` builds it.
        &["-p", "upheld"],
        &["-p", "upheld", "--no-default-features", "--features", "cli"],
    ];
    looks.iter().all(|look| cargo(&[&["clippy"], *look, &["--", "-D", "warnings"]].concat()))
}

fn doc() -> bool {
    // With the targets of tests, cargo chooses the features that it chose for lints: nothing is checked a second time.
    let programs = ["bench", "conformance", "embed", "xtask"].iter().flat_map(|program| ["--bin", program]);
    let arguments = ["doc", "--workspace", "--no-deps", "--document-private-items", "--lib", "--examples"];
    let arguments: Vec<&str> = arguments.into_iter().chain(programs).collect();
    let mut command = cargo_command(&arguments);
    command.env("RUSTDOCFLAGS", "-D warnings");
    run(command, &format!("cargo {}", arguments.join(" ")))
}

fn conformance(rest: &[&str]) -> bool {
    if rest.is_empty() && !Path::new(CORPORA).is_dir() {
        println!("note: no corpora at {CORPORA}; nothing to run");
        return true;
    }
    // With a test beside the program, cargo chooses the features that it chose for all tests: nothing is built a second time.
    let build = ["build", "--quiet", "--workspace", "--bin", "conformance", "--test", "runner"];
    let Ok(program) = std::env::current_exe().map(|own| own.with_file_name("conformance")) else { return false };
    let mut command = Command::new(program);
    command.args(rest);
    cargo(&build) && run(command, &["conformance"].iter().chain(rest).copied().collect::<Vec<_>>().join(" "))
}

/// Licences, which need no network, and known weaknesses. Their list is kept at github.com/rustsec/advisory-db and in no registry: without the
/// network, or without cargo-deny, nobody can look, and that is said.
fn audit() -> bool {
    if !licences::check() {
        return false;
    }
    if !runs(&cargo_name(), &["deny", "--version"]) {
        println!(
            "note: cargo-deny is not installed, so nobody looked for known weaknesses: cargo install --locked cargo-deny"
        );
        return true;
    }
    if !cargo(&["deny", "--offline", "check", "licenses", "bans", "sources"]) {
        return false;
    }
    if !runs(&cargo_name(), &["deny", "fetch", "db"]) {
        println!(
            "note: the list of known weaknesses cannot be fetched from github.com/rustsec/advisory-db, so nobody looked"
        );
        return true;
    }
    cargo(&["deny", "check", "advisories"])
}

/// The map of growth, by the test that holds its deterministic part.
fn growth(few: &str, many: &str) -> bool {
    let arguments = ["test", "--release", "--package", "upheld", "--test", "growth", "--", "--nocapture"];
    let mut command = cargo_command(&arguments);
    let look = format!(",,{few},{many}");
    command.env("UPHELD_GROWTH", &look);
    run(command, &format!("UPHELD_GROWTH={look} cargo {}", arguments.join(" ")))
}

fn bench(rest: &[&str]) -> bool {
    let has_peers = rest.first().is_some_and(|name| ["access", "analysis"].contains(name));
    let peers: &[&str] = if has_peers { &["--features", "peers"] } else { &[] };
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
