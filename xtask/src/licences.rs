//! Under which licences everything stands that this is made of, held against the list in `deny.toml`. It needs no network: cargo knows
//! what is in its lock file and what is unpacked here.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value as Json;

use crate::{cargo_command, cargo_name};

/// Where the licences are listed that are fine.
const LIST: &str = "deny.toml";

/// Whether all of them are on the list.
pub(crate) fn check() -> bool {
    match allowed().and_then(|allowed| Ok((packages()?, allowed))) {
        Ok((packages, allowed)) => {
            let refused: Vec<&String> =
                packages.iter().filter(|(_, licence)| !fits(licence, &allowed)).map(|(told, _)| told).collect();
            println!("licences of {} packages looked at, {} not on the list of {LIST}", packages.len(), refused.len());
            for told in &refused {
                eprintln!("not on the list: {told}");
            }
            refused.is_empty()
        }
        Err(problem) => {
            eprintln!("{problem}");
            false
        }
    }
}

/// The texts of `allow` in the section `[licenses]`.
fn allowed() -> Result<BTreeSet<String>, String> {
    let text = fs::read_to_string(LIST).map_err(|error| format!("{LIST}: {error}"))?;
    list(&text).ok_or_else(|| format!("{LIST} has no list `allow` in [licenses]"))
}

fn list(text: &str) -> Option<BTreeSet<String>> {
    let (_, section) = text.split_once("[licenses]")?;
    let (_, from) = section.split_once("allow = [")?;
    let (listed, _) = from.split_once(']')?;
    let lines = listed.lines().map(|line| line.split('#').next().unwrap_or_default());
    Some(lines.flat_map(|line| line.split('"').skip(1).step_by(2)).map(str::to_owned).collect())
}

/// Every package for this machine with its licence; those for others may not be unpacked here.
fn packages() -> Result<Vec<(String, String)>, String> {
    let told = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let host =
        told.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc does not say for what it compiles")?;
    let arguments = ["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host];
    let output = cargo_command(&arguments).output().map_err(|error| format!("{}: {error}", cargo_name()))?;
    if !output.status.success() {
        return Err(format!("cargo {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)));
    }
    let metadata: Json = serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata.get("packages").and_then(Json::as_array).into_iter().flatten();
    let text = |package: &Json, field: &str| package.get(field).and_then(Json::as_str).unwrap_or_default().to_owned();
    Ok(packages
        .map(|package| {
            let licence = text(package, "license");
            (format!("{} {}: {licence:?}", text(package, "name"), text(package, "version")), licence)
        })
        .collect())
}

/// Whether an expression of licences (SPDX, and `A/B` as cargo had it before) can be met by those allowed.
fn fits(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let met = any(&mut words, allowed);
    met == Some(true) && words.next().is_none()
}

type Words<'w> = std::iter::Peekable<std::str::SplitWhitespace<'w>>;

fn any(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> Option<bool> {
    let mut met = all(words, allowed)?;
    while words.next_if_eq(&"OR").is_some() {
        met |= all(words, allowed)?;
    }
    Some(met)
}

fn all(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> Option<bool> {
    let mut met = one(words, allowed)?;
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words, allowed)?;
    }
    Some(met)
}

fn one(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> Option<bool> {
    let word = words.next()?;
    if word == "(" {
        let met = any(words, allowed)?;
        return (words.next()? == ")").then_some(met);
    }
    // An exception makes another licence of it, which the list names as a whole.
    let name = match words.next_if_eq(&"WITH") {
        Some(_) => format!("{word} WITH {}", words.next()?),
        None => word.to_owned(),
    };
    Some(allowed.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_met_by_what_is_allowed() {
        let allowed =
            list("[licenses]\n# why\nallow = [\n  \"MIT\", # short\n  \"ISC\",\n]\n[other]\nallow = [\"GPL\"]")
                .unwrap();
        assert_eq!(allowed.iter().collect::<Vec<_>>(), ["ISC", "MIT"]);
        for (expression, met) in [
            ("MIT", true),
            ("GPL", false),
            ("", false),
            ("GPL OR MIT", true),
            ("GPL/MIT", true),
            ("GPL AND MIT", false),
            ("ISC AND (GPL OR MIT)", true),
            ("(ISC OR GPL) AND Zlib", false),
            ("MIT WITH exception", false),
            ("MIT OR", false),
            ("(MIT", false),
            ("MIT) OR GPL", false),
        ] {
            assert_eq!(fits(expression, &allowed), met, "{expression}");
        }
    }
}
