//! What is given away: an archive with the program, its documentation, what it is made of, and whom that belongs to; the same as a package
//! for Debian; and a folder that an image for containers is built of.
//!
//! ```text
//! upheld-VERSION-TARGET.tar.gz
//!   upheld  README.md  CHANGELOG.md  LICENSE  THIRD-PARTY.md  sbom.cdx.json  docs/  deploy/  man/  completions/
//! upheld-VERSION-TARGET.tar.gz.sha256
//! upheld_VERSION_ARCHITECTURE.deb            where there is dpkg-deb
//! upheld-VERSION-TARGET-container/           a Containerfile and all that it copies
//! ```
//!
//! The same sources give the same archive: names are sorted, times are that of the commit, nobody owns anything.

mod container;
mod deb;
mod notices;
mod packages;
mod sbom;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use packages::Packages;

use crate::speed;

/// What goes wrong is reported as it is.
type Outcome<T> = Result<T, String>;

/// Makes everything. Whether it is there.
pub(crate) fn dist() -> bool {
    match make() {
        Ok(()) => true,
        Err(problem) => {
            eprintln!("{problem}");
            false
        }
    }
}

fn make() -> Outcome<()> {
    let target = said("rustc", &["-vV"])?;
    let target = target.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc does not say its host")?;
    let metadata = ["metadata", "--format-version", "1", "--locked", "--filter-platform", target];
    let metadata = said(&crate::cargo_name(), &metadata)?;
    let packages = Packages::read(&metadata, "upheld")?;
    if !crate::cargo(&["build", "--profile", "dist", "--locked", "--package", "upheld"]) {
        return Err("the program cannot be built".to_owned());
    }
    let built = packages.target_folder.join("dist");
    let name = format!("upheld-{}-{target}", packages.version());
    let home = packages.target_folder.join("dist-archive");
    let folder = home.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| told(&folder, &error))?;
    }
    let binary = built.join(program("upheld"));
    fill(&folder, &binary, &packages)?;
    let archive = pack(&home, &name)?;
    let container = container::context(&home, &folder, &name)?;
    let package = deb::package(&home, &folder, packages.version())?;
    if package.is_none() {
        println!("note: there is no dpkg-deb here, so no Debian package is made");
    }
    for made in [Some(binary.clone()), Some(archive), package, Some(container)].into_iter().flatten() {
        println!("{:>9.1} MB  {}", megabytes(size(&made)?), made.display());
    }
    speed::start_up(&binary).inspect(|took| println!("{took}")).map(|_| ())
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// How many bytes a file has, or all files of a folder.
fn size(path: &Path) -> Outcome<u64> {
    if !path.is_dir() {
        return Ok(fs::metadata(path).map_err(|error| told(path, &error))?.len());
    }
    let mut all = 0;
    for entry in fs::read_dir(path).map_err(|error| told(path, &error))? {
        all += size(&entry.map_err(|error| told(path, &error))?.path())?;
    }
    Ok(all)
}

/// Everything that the archive has.
fn fill(folder: &Path, binary: &Path, packages: &Packages) -> Outcome<()> {
    create(folder)?;
    let own = folder.join(program("upheld"));
    fs::copy(binary, &own).map_err(|error| told(binary, &error))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE"] {
        let from = Path::new(file);
        if from.is_file() {
            fs::copy(from, folder.join(file)).map_err(|error| told(from, &error))?;
        }
    }
    copy_folder(Path::new("docs"), &folder.join("docs"))?;
    copy_folder(Path::new("examples/deploy"), &folder.join("deploy"))?;
    let own = own.display().to_string();
    let manual = folder.join("man/man1");
    create(&manual)?;
    said(&own, &["man", "--dir", &manual.display().to_string()])?;
    let completions = folder.join("completions");
    create(&completions)?;
    for (shell, file) in [("bash", "upheld.bash"), ("zsh", "_upheld"), ("fish", "upheld.fish")] {
        write(&completions.join(file), &said(&own, &["completion", shell])?)?;
    }
    write(&folder.join("THIRD-PARTY.md"), &notices::notices(packages)?)?;
    write(&folder.join("sbom.cdx.json"), &sbom::sbom(packages))
}

/// One file of a folder, and its checksum beside it.
fn pack(home: &Path, name: &str) -> Outcome<PathBuf> {
    let (tar, archive) = (home.join(format!("{name}.tar")), home.join(format!("{name}.tar.gz")));
    let time = format!("--mtime=@{}", commit_time());
    let (home_name, tar_name) = (home.display().to_string(), tar.display().to_string());
    let same = ["--sort=name", "--format=ustar", "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rw,go=rX"];
    said("tar", &[&same[..], &[&time, "-C", &home_name, "-cf", &tar_name, name]].concat())?;
    // Without `-n` the archive would have the time of its making in it.
    said("gzip", &["-n", "-9", "-f", &tar_name])?;
    let sum = said("sha256sum", &["--", &archive.display().to_string()])?;
    let sum = sum.split_whitespace().next().ok_or("sha256sum says nothing")?;
    let mut beside = archive.clone().into_os_string();
    beside.push(".sha256");
    write(Path::new(&beside), &format!("{sum}  {name}.tar.gz\n"))?;
    Ok(archive)
}

/// When the sources were as they are, in seconds: the time of what is made of them.
fn commit_time() -> u64 {
    let commit = said("git", &["log", "-1", "--format=%ct"]).unwrap_or_default();
    let time = std::env::var("SOURCE_DATE_EPOCH").unwrap_or(commit);
    time.trim().parse().unwrap_or_default()
}

fn program(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// What a program says, if all is well.
fn said(program: &str, arguments: &[&str]) -> Outcome<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot run `{program}`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{program} {}` failed", arguments.join(" ")));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("`{program}` says something that is no text"))
}

fn create(folder: &Path) -> Outcome<()> {
    fs::create_dir_all(folder).map_err(|error| told(folder, &error))
}

fn write(path: &Path, text: &str) -> Outcome<()> {
    fs::write(path, text).map_err(|error| told(path, &error))
}

fn copy_folder(from: &Path, to: &Path) -> Outcome<()> {
    create(to)?;
    for entry in fs::read_dir(from).map_err(|error| told(from, &error))? {
        let path = entry.map_err(|error| told(from, &error))?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copy_folder(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name)).map_err(|error| told(&path, &error))?;
        }
    }
    Ok(())
}

fn told(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
