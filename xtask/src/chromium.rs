//! The browser that pages are looked at with. It has too many libraries to be unpacked beside the others: it is installed.

use std::process::Command;

use crate::tools::Tool;
use crate::{run, runs};

/// Chromium.
pub(crate) struct Chromium;

/// Where Debian puts it.
const PROGRAM: &str = "/usr/bin/chromium";
/// Names another one.
const NAMED: &str = "UPHELD_CHROMIUM";

impl Tool for Chromium {
    fn name(&self) -> &'static str {
        "Chromium"
    }

    fn without(&self) -> &'static str {
        "UPHELD_WITHOUT_CHROMIUM"
    }

    fn is_there(&self) -> bool {
        std::env::var_os(NAMED).is_some() || runs(PROGRAM, &["--version"])
    }

    fn how(&self) -> String {
        "apt-get install chromium (into the system)".to_owned()
    }

    fn install(&self) {
        if !runs("apt-get", &["--version"]) {
            println!("note: Chromium comes as a package of Debian, and there is no apt-get.");
            return;
        }
        let mut command = Command::new("apt-get");
        command.args(["install", "-y", "--no-install-recommends", "chromium"]).env("DEBIAN_FRONTEND", "noninteractive");
        let _installed = run(command, "apt-get install chromium");
    }
}
