//! What the program does before it knows what is asked: as little as the line needs.

use std::fs;
use std::process::{Command, Stdio};

/// Allocations of a run, and documents that it parsed.
fn cost(line: &str) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cost");
    let mut command = Command::new(env!("CARGO_BIN_EXE_upheld"));
    command.args(line.split(' ')).current_dir(folder.path()).stdin(Stdio::null());
    command.env_clear().env("UPHELD_COST", &file).env("NO_COLOR", "1");
    assert!(command.output().unwrap().status.success(), "upheld {line}");
    let figures = fs::read_to_string(&file).unwrap();
    let figures: Vec<u64> = figures.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
    (figures[0], figures[2])
}

#[test]
fn what_the_program_says_about_itself_takes_no_documents() {
    for (line, most) in [("--version", 2_000), ("version", 2_700), ("version -o json", 2_700), ("--help", 3_700)] {
        let (allocations, documents) = cost(line);
        assert_eq!(documents, 0, "upheld {line}");
        assert!(allocations <= most, "upheld {line}: {allocations} allocations, at most {most}");
    }
}
