//! A package for Debian and what descends from it: files in the places where such systems look for them. `dpkg-deb` packs it, which every
//! such system has; nothing else is needed.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Outcome, commit_time, copy_folder, create, program, said, size, told, write};

/// Makes the package of a filled folder; nothing where there is no `dpkg-deb`.
pub(super) fn package(home: &Path, filled: &Path, version: &str) -> Outcome<Option<PathBuf>> {
    if !crate::runs("dpkg-deb", &["--version"]) {
        return Ok(None);
    }
    let architecture = said("dpkg", &["--print-architecture"])?;
    let architecture = architecture.trim();
    let name = format!("upheld_{version}_{architecture}");
    let root = home.join(&name);
    if root.exists() {
        fs::remove_dir_all(&root).map_err(|error| told(&root, &error))?;
    }
    lay_out(&root, filled)?;
    let binary = root.join("usr/bin/upheld");
    let about = Control { version, architecture, kilobytes: size(&root)?.div_ceil(1024), libc: libc_of(&binary)? };
    create(&root.join("DEBIAN"))?;
    write(&root.join("DEBIAN/control"), &about.text())?;
    let package = home.join(format!("{name}.deb"));
    let (from, to) = (root.display().to_string(), package.display().to_string());
    let epoch = format!("SOURCE_DATE_EPOCH={}", commit_time());
    said("env", &[&epoch, "dpkg-deb", "--root-owner-group", "-Zgzip", "--build", &from, &to])?;
    Ok(Some(package))
}

/// Every file in its place.
fn lay_out(root: &Path, filled: &Path) -> Outcome<()> {
    let copy = |from: &str, to: &str| {
        let (from, to) = (filled.join(from), root.join(to));
        create(to.parent().unwrap_or(root))?;
        fs::copy(&from, &to).map(|_| ()).map_err(|error| told(&from, &error))
    };
    copy(&program("upheld"), "usr/bin/upheld")?;
    copy("completions/upheld.bash", "usr/share/bash-completion/completions/upheld")?;
    copy("completions/_upheld", "usr/share/zsh/vendor-completions/_upheld")?;
    copy("completions/upheld.fish", "usr/share/fish/vendor_completions.d/upheld.fish")?;
    for file in ["README.md", "CHANGELOG.md", "THIRD-PARTY.md", "sbom.cdx.json"] {
        copy(file, &format!("usr/share/doc/upheld/{file}"))?;
    }
    copy("LICENSE", "usr/share/doc/upheld/copyright")?;
    copy_folder(&filled.join("docs"), &root.join("usr/share/doc/upheld/docs"))?;
    copy_folder(&filled.join("deploy/monitoring"), &root.join("usr/share/doc/upheld/monitoring"))?;
    copy_folder(&filled.join("man/man1"), &root.join("usr/share/man/man1"))?;
    for page in fs::read_dir(root.join("usr/share/man/man1")).map_err(|error| told(root, &error))? {
        let page = page.map_err(|error| told(root, &error))?.path();
        said("gzip", &["-n", "-9", "-f", &page.display().to_string()])?;
    }
    // A package has its program elsewhere than somebody who copies one.
    let unit = filled.join("deploy/upheld.service");
    let text = fs::read_to_string(&unit).map_err(|error| told(&unit, &error))?;
    let own = root.join("lib/systemd/system");
    create(&own)?;
    write(&own.join("upheld.service"), &text.replace("/usr/local/bin/upheld", "/usr/bin/upheld"))
}

/// What the package says of itself.
struct Control<'c> {
    version: &'c str,
    architecture: &'c str,
    kilobytes: u64,
    /// The oldest C library that the program runs with.
    libc: String,
}

impl Control<'_> {
    fn text(&self) -> String {
        let Self { version, architecture, kilobytes, libc } = self;
        format!(
            "Package: upheld\nVersion: {version}\nArchitecture: {architecture}\nInstalled-Size: {kilobytes}\n\
             Depends: libc6 (>= {libc}), libgcc-s1\nSection: admin\nPriority: optional\n\
             Maintainer: upheld <upheld@localhost>\n\
             Description: which policies apply, which one wins, and why\n \
             Answers questions about policies of service meshes, gateways, access and related objects, on files\n \
             or as a server, and explains every answer.\n"
        )
    }
}

/// The newest version of the C library that a program asks for, by the names of what it uses.
fn libc_of(binary: &Path) -> Outcome<String> {
    let bytes = fs::read(binary).map_err(|error| told(binary, &error))?;
    Ok(newest_libc(&bytes).map_or_else(|| "2.17".to_owned(), |(major, minor)| format!("{major}.{minor}")))
}

fn newest_libc(bytes: &[u8]) -> Option<(u32, u32)> {
    const NAME: &[u8] = b"GLIBC_";
    let versions = bytes.windows(NAME.len()).enumerate().filter(|(_, window)| *window == NAME).filter_map(|(at, _)| {
        let rest = bytes.get(at + NAME.len()..)?;
        let end = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
        let mut numbers = std::str::from_utf8(rest.get(..end)?).ok()?.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    versions.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_library_that_is_asked_for_is_found() {
        let bytes = b"..GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_PRIVATE\0GLIBC_";
        assert_eq!(newest_libc(bytes), Some((2, 34)));
        assert_eq!(newest_libc(b"nothing"), None);
    }

    #[test]
    fn the_description_of_a_package_has_the_lines_that_it_must_have() {
        let about = Control { version: "1.2.3", architecture: "amd64", kilobytes: 7, libc: "2.34".to_owned() }.text();
        for line in ["Package: upheld", "Version: 1.2.3", "Architecture: amd64", "Depends: libc6 (>= 2.34), libgcc-s1"]
        {
            assert!(about.lines().any(|own| own == line), "{line}: {about}");
        }
        let description = about.lines().skip_while(|line| !line.starts_with("Description:")).skip(1);
        assert!(description.clone().count() > 0 && description.into_iter().all(|line| line.starts_with(' ')));
    }
}
