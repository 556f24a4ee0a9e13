//! How long the program itself takes: to start, to answer from many files, to complete names. Times are printed beside what is wanted, and
//! nothing fails because of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, String>;

/// How often each is done; the median is told.
const ROUNDS: usize = 15;
/// How many files an answer is looked for in.
const FILES: usize = 2_000;

/// Measures everything with the program as it is given away. Whether it could be done.
pub(crate) fn tools() -> bool {
    if !crate::cargo(&["build", "--profile", "dist", "--locked", "--package", "upheld"]) {
        return false;
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let binary = target.join("dist").join(format!("upheld{}", std::env::consts::EXE_SUFFIX));
    match measured(&binary) {
        Ok(()) => true,
        Err(problem) => {
            eprintln!("{problem}");
            false
        }
    }
}

/// The line that tells how long the program takes to start.
pub(crate) fn start_up(binary: &Path) -> Outcome<String> {
    let binary = binary.canonicalize().map_err(|error| format!("{}: {error}", binary.display()))?;
    let version = median(|| spent(Command::new(&binary).arg("version")))?;
    Ok(line("upheld version", version, Duration::from_millis(10)))
}

fn measured(binary: &Path) -> Outcome<()> {
    println!("{}", start_up(binary)?);
    let binary = binary.canonicalize().map_err(|error| error.to_string())?;
    let folder = std::env::temp_dir().join(format!("upheld-tools-{}", std::process::id()));
    let told = repository(&folder).and_then(|()| {
        let explain = median(|| {
            let mut command = Command::new(&binary);
            command.args([
                "explain",
                "--kind",
                "MeshTimeout",
                "--from",
                "dataplane/web-1",
                "--to",
                "service/backend-1",
            ]);
            spent(command.current_dir(&folder))
        })?;
        println!("{}", line(&format!("upheld explain, {FILES} files"), explain, Duration::from_millis(500)));
        let complete = median(|| {
            let mut command = Command::new(&binary);
            command.env("COMPLETE", "fish").args(["--", "upheld", "explain", "--from", "web"]);
            spent(command.current_dir(&folder))
        })?;
        println!("{}", line(&format!("completion of a name, {FILES} files"), complete, Duration::from_millis(50)));
        Ok(())
    });
    fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
    told
}

/// A mesh in many files, as repositories keep it: a proxy or a policy each.
fn repository(folder: &Path) -> Outcome<()> {
    let write = |name: String, text: String| {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).and_then(|()| fs::write(&path, text)).map_err(|error| error.to_string())
    };
    write("mesh.yaml".to_owned(), "type: Mesh\nname: default\n".to_owned())?;
    for (number, service) in (1..FILES / 2).flat_map(|number| [(number, "web"), (number, "backend")]) {
        if number.is_multiple_of(2) {
            write(
                format!("policies/{}/{service}-{number}.yaml", number % 20),
                format!(
                    "type: MeshTimeout\nname: {service}-{number}\nmesh: default\nspec:\n  \
                     targetRef: {{kind: MeshService, name: {service}-{}}}\n  to:\n  - targetRef: {{kind: Mesh}}\n    \
                     default: {{idleTimeout: {number}s}}\n",
                    number - 1
                ),
            )?;
        } else {
            write(
                format!("proxies/{}/{service}-{number}.yaml", number % 20),
                format!(
                    "type: Dataplane\nname: {service}-{number}\nmesh: default\nnetworking:\n  address: 10.0.{}.{}\n  \
                     inbound:\n  - port: 80\n    tags: {{kuma.io/service: {service}-{number}}}\n  outbound:\n  - port: 10001\n    \
                     tags: {{kuma.io/service: backend-{number}}}\n",
                    number / 250,
                    number % 250 + 1
                ),
            )?;
        }
    }
    Ok(())
}

/// The median of several runs, after one that fills the caches.
fn median(mut once: impl FnMut() -> Outcome<Duration>) -> Outcome<Duration> {
    once()?;
    let mut all = (0..ROUNDS).map(|_| once()).collect::<Outcome<Vec<_>>>()?;
    all.sort_unstable();
    all.get(ROUNDS / 2).copied().ok_or_else(|| "nothing was measured".to_owned())
}

/// How long a command takes; what it prints is of no interest, but it must do it.
fn spent(command: &mut Command) -> Outcome<Duration> {
    let started = Instant::now();
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let took = started.elapsed();
    if !output.status.success() || output.stdout.is_empty() {
        return Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(took)
}

fn line(what: &str, took: Duration, wanted: Duration) -> String {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let verdict = if took <= wanted { "met" } else { "missed" };
    format!("{what:<36}{:>9.1} ms   wanted {:>4.0} ms: {verdict}", milliseconds(took), milliseconds(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_beside_what_is_wanted() {
        let wanted = Duration::from_millis(10);
        let slow = line("upheld version", Duration::from_micros(12_500), wanted);
        assert!(slow.contains("12.5 ms") && slow.ends_with("wanted   10 ms: missed"), "{slow}");
        assert!(line("upheld version", wanted, wanted).ends_with("met"));
    }

    #[test]
    fn as_many_files_are_made_as_are_told() {
        fn count(folder: &Path) -> usize {
            let entries = fs::read_dir(folder).expect("is there").map(|entry| entry.expect("is there").path());
            entries.map(|path| if path.is_dir() { count(&path) } else { 1 }).sum()
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        repository(folder.path()).expect("is writable");
        let made = count(folder.path());
        assert!(made.abs_diff(FILES) <= 2, "{made}");
    }
}
