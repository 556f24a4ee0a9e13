//! Whom the parts of the program belong to, and under which licence: the texts themselves, each once.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use super::packages::{Package, Packages};
use super::{Outcome, told};

/// How files with such texts begin, in small letters.
const BEGINNINGS: [&str; 6] = ["license", "licence", "copying", "notice", "copyright", "unlicense"];

/// The notices of everything that comes from elsewhere.
pub(super) fn notices(packages: &Packages) -> Outcome<String> {
    let foreign: Vec<&Package> =
        packages.by_name().into_iter().map(|(_, package)| package).filter(|package| package.foreign).collect();
    let mut text = String::from("# Third-party software\n\nThis program contains the following packages.\n\n");
    text.push_str("| package | version | licence |\n|---|---|---|\n");
    for package in &foreign {
        let licence = package.licence.as_deref().unwrap_or("see below");
        text.push_str(&format!("| {} | {} | {licence} |\n", package.name, package.version));
    }
    let mut silent = Vec::new();
    let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in foreign {
        let name = format!("{} {}", package.name, package.version);
        let texts = texts(package)?;
        if texts.is_empty() {
            silent.push(name.clone());
        }
        for found in texts {
            users.entry(found).or_default().push(name.clone());
        }
    }
    // By who comes first, as in the table.
    let mut sections: Vec<(Vec<String>, String)> = users.into_iter().map(|(found, names)| (names, found)).collect();
    sections.sort();
    for (names, found) in sections {
        let fence = fence(&found);
        text.push_str(&format!("\n## {}\n\n{fence}text\n{}\n{fence}\n", names.join(", "), found));
    }
    if !silent.is_empty() {
        text.push_str("\n## Packages without a text of their own\n\nThe licences in the table apply to:\n\n");
        for name in &silent {
            text.push_str(&format!("- {name}\n"));
        }
    }
    Ok(text)
}

/// Longer than any in the text.
fn fence(text: &str) -> String {
    let longest = text.lines().map(|line| line.chars().take_while(|sign| *sign == '`').count()).max();
    "`".repeat(longest.unwrap_or_default().max(2) + 1)
}

/// The texts in the folder of a package, each once, without differences that nobody sees.
fn texts(package: &Package) -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    for path in files(package)? {
        let bytes = fs::read(&path).map_err(|error| told(&path, &error))?;
        let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let text = lines.join("\n").trim_matches('\n').to_owned();
        if !text.is_empty() && !found.contains(&text) {
            found.push(text);
        }
    }
    Ok(found)
}

fn files(package: &Package) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    if let Some(named) = &package.licence_file {
        files.push(package.folder.join(named));
    }
    let entries = fs::read_dir(&package.folder).map_err(|error| told(&package.folder, &error))?;
    for entry in entries {
        let path = entry.map_err(|error| told(&package.folder, &error))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let code = path.extension().is_some_and(|ending| ending == "rs" || ending == "toml");
        if path.is_file() && !code && BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) {
            files.push(path);
        }
    }
    files.retain(|path| path.is_file());
    files.sort();
    files.dedup();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::super::packages::tests::sample;
    use super::*;

    #[test]
    fn texts_are_there_once_with_everybody_who_uses_them() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["upheld", "upheld-model", "smol", "old"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let put = |path: &str, text: &str| fs::write(folder.path().join(path), text).unwrap();
        put("upheld/LICENSE", "our own");
        put("smol/LICENSE-MIT", "Copyright\r\nSmol  \r\n");
        put("smol/license.rs", "fn main() {}");
        put("old/COPYING", "\nCopyright\nSmol\n");
        put("old/NOTICE.txt", "```\nfenced\n```");
        let text = notices(&sample(folder.path())).unwrap();
        assert!(text.contains("| smol | 0.1.0 | MIT OR Apache-2.0 |"), "{text}");
        assert!(text.contains("## old 0.0.1, smol 0.1.0\n\n```text\nCopyright\nSmol\n```"), "{text}");
        assert!(text.contains("````text\n```\nfenced\n```\n````"), "{text}");
        assert!(!text.contains("our own") && !text.contains("fn main") && !text.contains("upheld-model"), "{text}");
        assert!(!text.contains("without a text"), "{text}");
    }

    #[test]
    fn who_has_no_text_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("smol")).unwrap();
        fs::create_dir_all(folder.path().join("old")).unwrap();
        let text = notices(&sample(folder.path())).unwrap();
        assert!(text.contains("without a text") && text.contains("- old 0.0.1\n- smol 0.1.0"), "{text}");
    }
}
