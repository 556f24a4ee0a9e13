//! A server that judges writes is killed in the midst of them, again and again: what was let through and its record are both there, or neither.

use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use upheld_server::config::StoreLocation;
use upheld_store::testing::kill_after;

use super::{COMPANY, CURRENT, Company, What, audited, random_write};

/// Where the child finds its store, and what its random writes begin with.
const FOLDER: &str = "UPHELD_ADMISSION_FOLDER";
const SEED: &str = "UPHELD_ADMISSION_SEED";

const ROUNDS: u64 = 20;

#[test]
fn killed_between_decision_and_write_it_leaves_neither_half() {
    let (folder, random) = (TempDir::new().unwrap(), RandomState::new());
    let (mut acknowledged, mut recorded_ever) = (0, 0);
    for round in 0..ROUNDS {
        let said = killed(folder.path(), round, Duration::from_millis(random.hash_one(round) % 120));
        let revisions = said.iter().filter_map(|line| line.strip_prefix("done ")?.parse::<u64>().ok());
        acknowledged = revisions.chain([acknowledged]).max().unwrap();
        let company = Company::on(CURRENT, StoreLocation::Folder(folder.path().to_owned()));
        let last = company.revision().as_u64().unwrap();
        assert!(last >= acknowledged, "revision {acknowledged} was acknowledged, and the log ends with {last}");
        let listed = audited(&company);
        assert_eq!(listed["summary"]["hard"], 0, "{listed}");
        let records = company.records();
        let recorded: usize = records.iter().map(|record| record["violations"].as_array().unwrap().len()).sum();
        assert_eq!(listed["summary"]["soft"], recorded, "round {round}: {listed}");
        recorded_ever += recorded;
    }
    assert!(acknowledged > 0, "nothing was written");
    assert!(recorded_ever > 0, "nothing was let through, so nothing was tested");
}

/// The process that is killed; in other runs it has nothing to do.
#[test]
fn child() {
    let (Some(folder), Ok(seed)) = (std::env::var_os(FOLDER), std::env::var(SEED)) else { return };
    let company = Company::on(CURRENT, StoreLocation::Folder(folder.into()));
    if company.revision() == 0 {
        assert_eq!(company.write("root", COMPANY).status, 201);
    }
    let seed: u64 = seed.parse().unwrap();
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let company = &company;
            threads.spawn(move || {
                let mut numbers = seed * 4 + thread;
                // It would end by itself if nobody killed it.
                for _ in 0..2_000 {
                    let (who, what) = random_write(&mut numbers);
                    let answer = match what {
                        What::Put(document) => company.write(who, &document),
                        What::Delete(path) => company.ask(who, "DELETE", &path, "application/json", ""),
                    };
                    if let Some(revision) = answer.json()["revision"].as_u64().filter(|_| answer.status < 300) {
                        writeln!(std::io::stdout().lock(), "\ndone {revision}").unwrap();
                    }
                }
            });
        }
    });
}

/// Starts a server that is written to, and kills it a while after its first answer. Returns the whole lines that it said.
fn killed(folder: &Path, seed: u64, wait: Duration) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "admission::killed::child", "--nocapture"]).stdin(Stdio::null());
    command.env(FOLDER, folder).env(SEED, seed.to_string());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    kill_after(child, |line| line.starts_with("done"), wait)
}
