//! A process that is killed while it works.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::time::Duration;

/// Kills a process a while after it said a certain line. Returns all whole lines that it said.
///
/// # Panics
///
/// If its output is not piped, or if it cannot be killed.
#[expect(clippy::expect_used, reason = "a test cannot go on without")]
pub fn kill_after(mut child: Child, is_awaited: impl Fn(&str) -> bool, wait: Duration) -> Vec<String> {
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut next = || {
        let mut line = String::new();
        let whole = output.read_line(&mut line).is_ok() && line.ends_with('\n');
        whole.then(|| line.trim_end().to_owned())
    };
    let mut said: Vec<String> = Vec::new();
    while !said.last().is_some_and(|line| is_awaited(line)) {
        let Some(line) = next() else { break };
        said.push(line);
    }
    std::thread::sleep(wait);
    child.kill().expect("a process that can be killed");
    child.wait().expect("a process of ours");
    said.extend(std::iter::from_fn(next));
    said
}
