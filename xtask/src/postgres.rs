//! The tests of the store start their own PostgreSQL, if its programs are on the machine.

use std::path::Path;
use std::process::Command;

use crate::tools::Tool;

/// Tells the tests to do without.
const WITHOUT: &str = "UPHELD_WITHOUT_POSTGRES";

/// Where Debian and its relatives keep the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// Debian's package, without the parts that a test does not need.
const INSTALL: [&str; 4] = ["install", "--yes", "--no-install-recommends", "postgresql"];

/// PostgreSQL.
pub(crate) struct Postgres;

impl Tool for Postgres {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn without(&self) -> &'static str {
        WITHOUT
    }

    fn is_there(&self) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let versions =
            std::fs::read_dir(VERSIONS).into_iter().flatten().flatten().map(|entry| entry.path().join("bin"));
        std::env::split_paths(&path).chain(versions).any(|folder| folder.join("initdb").is_file())
    }

    fn how(&self) -> String {
        match forbidden() {
            None => format!("apt-get {} (on this machine)", INSTALL.join(" ")),
            Some(why) => format!("nothing: {why}. Install `postgresql` yourself"),
        }
    }

    fn install(&self) {
        match forbidden() {
            Some(why) => println!("note: PostgreSQL: {why}. Install `postgresql` yourself."),
            // A fresh machine has no list of packages yet.
            None => {
                let _installed = apt_get(&INSTALL) || (apt_get(&["update"]) && apt_get(&INSTALL));
            }
        }
    }
}

/// Why nothing may be installed.
fn forbidden() -> Option<&'static str> {
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    if !Path::new("/etc/debian_version").is_file() {
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
