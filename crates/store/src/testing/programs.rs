//! Where PostgreSQL's programs are, and as whom they run.

use std::io;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian and its relatives keep the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The user that PostgreSQL's package makes.
const OWNER: &str = "postgres";

/// The programs of one version.
#[derive(Debug)]
pub(super) struct Programs {
    folder: PathBuf,
    /// User and group that they run as, where they would refuse to run as root.
    owner: Option<(u32, u32)>,
}

impl Programs {
    pub(super) fn find() -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        folders.extend(versions());
        // A link in a folder for commands leads to where the others are too.
        let programs = folders.iter().map(|folder| folder.join("initdb")).find(|program| program.is_file())?;
        let folder = programs.canonicalize().ok()?.parent()?.to_owned();
        let owner = match id(&["-u"])? {
            0 => Some((id(&["-u", OWNER])?, id(&["-g", OWNER])?)),
            _ => None,
        };
        Some(Self { folder, owner })
    }

    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.folder.join(program));
        command.env("LC_ALL", "C");
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command
    }

    /// Makes a file the property of the one that the programs run as.
    pub(super) fn give(&self, file: &Path) -> io::Result<()> {
        let Some((user, group)) = self.owner else { return Ok(()) };
        chown(file, Some(user), Some(group))
    }
}

/// The folders of all versions, newest first.
fn versions() -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(VERSIONS) else { return Vec::new() };
    let mut versions: Vec<(u32, PathBuf)> = entries
        .flatten()
        .map(|entry| (entry.file_name().to_string_lossy().parse().unwrap_or(0), entry.path().join("bin")))
        .collect();
    versions.sort();
    versions.into_iter().rev().map(|(_, folder)| folder).collect()
}

/// A number of a user or group.
fn id(arguments: &[&str]) -> Option<u32> {
    let output = Command::new("id").args(arguments).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
