//! The tests of the store start their own PostgreSQL, if its programs are on the machine.

use std::path::Path;
use std::process::Command;

/// Tells the tests to do without.
pub(crate) const WITHOUT: &str = "UPHELD_WITHOUT_POSTGRES";

/// Where Debian and its relatives keep the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// Debian's package, without the parts that a test does not need.
const INSTALL: [&str; 4] = ["install", "--yes", "--no-install-recommends", "postgresql"];

/// Whether its programs are on the machine.
pub(crate) fn is_there() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = std::fs::read_dir(VERSIONS).into_iter().flatten().flatten().map(|entry| entry.path().join("bin"));
    std::env::split_paths(&path).chain(versions).any(|folder| folder.join("initdb").is_file())
}

/// Installs it where that is allowed, and says what it does. Whether it is there now.
pub(crate) fn install() -> bool {
    if let Some(why) = forbidden() {
        println!(
            "note: PostgreSQL is not installed, and {why}; the tests that need it are left out. Install `postgresql`."
        );
        return false;
    }
    println!("note: PostgreSQL is not installed; installing Debian's package for the tests of the store");
    // A fresh machine has no list of packages yet.
    let installed = apt_get(&INSTALL) || (apt_get(&["update"]) && apt_get(&INSTALL));
    if !installed || !is_there() {
        println!("note: PostgreSQL could not be installed; the tests that need it are left out");
        return false;
    }
    true
}

/// Why nothing may be installed.
fn forbidden() -> Option<&'static str> {
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    if std::env::var_os(WITHOUT).is_some() {
        Some("UPHELD_WITHOUT_POSTGRES is set")
    } else if !Path::new("/etc/debian_version").is_file() {
        Some("this is not Debian")
    } else if !root {
        Some("only root may install it")
    } else {
        None
    }
}

fn apt_get(arguments: &[&str]) -> bool {
    println!("$ apt-get {}", arguments.join(" "));
    let status = Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive").status();
    status.is_ok_and(|status| status.success())
}
