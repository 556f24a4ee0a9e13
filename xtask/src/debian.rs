//! Programs for the tests that come as packages of Debian, each unpacked into its own folder of `target`: nothing is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::Tool;
use crate::{run, runs};

/// A program.
pub(crate) struct Package {
    name: &'static str,
    /// The name of the package that carries it.
    archive: &'static str,
    /// Where it is unpacked.
    folder: &'static str,
    /// The program, in the folder.
    program: &'static str,
    /// What it is asked, to see whether it runs on this machine.
    asked: &'static str,
    /// Names another one.
    named: &'static str,
    /// Tells the tests to do without.
    without: &'static str,
}

/// All of them.
pub(crate) const ALL: [Package; 2] = [
    Package {
        name: "nginx",
        archive: "nginx",
        folder: "target/nginx",
        program: "usr/sbin/nginx",
        asked: "-v",
        named: "UPHELD_NGINX",
        without: "UPHELD_WITHOUT_NGINX",
    },
    Package {
        name: "Caddy",
        archive: "caddy",
        folder: "target/caddy",
        program: "usr/bin/caddy",
        asked: "version",
        named: "UPHELD_CADDY",
        without: "UPHELD_WITHOUT_CADDY",
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
        std::env::var_os(self.named).is_some() || self.works()
    }

    fn how(&self) -> String {
        format!("apt-get download {} (unpacked into {})", self.archive, self.folder)
    }

    fn install(&self) {
        if !runs("apt-get", &["--version"]) || !runs("dpkg", &["--version"]) {
            println!("note: {} comes as a package of Debian, and there is no apt-get.", self.name);
            return;
        }
        // A fresh machine has no list of packages yet.
        let _unpacked = self.unpack() || (self.apt_get(&["update"]) && self.unpack());
    }
}

impl Package {
    fn works(&self) -> bool {
        let program = Path::new(self.folder).join(self.program);
        program.to_str().is_some_and(|program| runs(program, &[self.asked]))
    }

    fn unpack(&self) -> bool {
        if let Err(error) = std::fs::create_dir_all(self.folder) {
            println!("note: {}: {error}", self.folder);
            return false;
        }
        if !self.apt_get(&["download", self.archive]) {
            return false;
        }
        self.archives().iter().all(|archive| {
            let mut command = Command::new("dpkg");
            command.arg("-x").arg(archive).arg(self.folder);
            run(command, &format!("dpkg -x {} {}", archive.display(), self.folder))
        })
    }

    /// What was downloaded.
    fn archives(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        files.filter(|path| path.extension().is_some_and(|extension| extension == "deb")).collect()
    }

    /// Downloads go where it runs.
    fn apt_get(&self, arguments: &[&str]) -> bool {
        let mut command = Command::new("apt-get");
        command.args(arguments).current_dir(self.folder).env("DEBIAN_FRONTEND", "noninteractive");
        run(command, &format!("apt-get {}", arguments.join(" ")))
    }
}
