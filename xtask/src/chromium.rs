//! The browser that pages are looked at with, which has too many libraries to be unpacked beside the others and is installed; and what looks for
//! barriers in pages.

use std::path::Path;
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

/// axe-core, which finds what keeps people from using a page.
pub(crate) struct Axe;

const AXE: &str = "target/axe";

impl Tool for Axe {
    fn name(&self) -> &'static str {
        "axe-core"
    }

    fn without(&self) -> &'static str {
        "UPHELD_WITHOUT_AXE"
    }

    fn is_there(&self) -> bool {
        let script = Path::new(AXE).join("node_modules/axe-core/axe.min.js");
        std::env::var_os("UPHELD_AXE").is_some() || script.exists()
    }

    fn how(&self) -> String {
        format!("npm install --prefix {AXE} axe-core")
    }

    fn install(&self) {
        if !runs("npm", &["--version"]) {
            println!("note: axe-core comes by npm, and there is none.");
            return;
        }
        let mut command = Command::new("npm");
        command.args(["install", "--no-audit", "--no-fund", "--prefix", AXE, "axe-core"]);
        let _installed = run(command, &self.how());
    }
}
