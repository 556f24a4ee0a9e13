//! Patterns of paths that cover more.

use smol_str::{SmolStr, format_smolstr};

use super::super::glob::Glob;
use super::super::rule::{PathPattern, Test};

/// A test of paths with one of its patterns wider, each with the pattern before and after.
pub(super) fn widened(test: &Test) -> Vec<(SmolStr, SmolStr, Test)> {
    let Test::Path(patterns) = test else { return Vec::new() };
    let mut made = Vec::new();
    for pattern in patterns {
        let PathPattern::Glob(glob) = pattern else { continue };
        for wider in wider(glob.text()) {
            let Ok(wide) = Glob::parse(&wider) else { continue };
            // What is wider comes beside the pattern: `/a/**` does not cover `/a`.
            let is_exact = stars(glob.text()).is_empty();
            let becomes = if is_exact { format_smolstr!("{}, {wider}", glob.text()) } else { wider.into() };
            let all = patterns.iter().cloned().chain([PathPattern::Glob(wide)]).collect();
            made.push((glob.text().into(), becomes, Test::Path(all)));
        }
    }
    made
}

/// The texts of wider patterns: any depth for each star that stays within a segment; all that lies below an exact path.
fn wider(text: &str) -> Vec<String> {
    // Alone it means any path.
    if text == "*" {
        return Vec::new();
    }
    let stars = stars(text);
    if stars.is_empty() {
        return vec![format!("{}/**", text.strip_suffix('/').unwrap_or(text))];
    }
    let single = stars.into_iter().filter(|(_, length)| *length == 1);
    let parts = single.filter_map(|(at, _)| Some((text.get(..at)?, text.get(at + 1..)?)));
    parts
        .filter(|(before, after)| !is_beside_many(before, after))
        .map(|(before, after)| format!("{before}**{after}"))
        .collect()
}

/// Whether a star between these is a segment beside one that is `**`, so that more of them cover the same.
fn is_beside_many(before: &str, after: &str) -> bool {
    let is_segment = (before.is_empty() || before.ends_with('/')) && (after.is_empty() || after.starts_with('/'));
    let follows = after == "/**" || after.starts_with("/**/");
    let precedes = before == "**/" || before.ends_with("/**/");
    is_segment && (follows || precedes)
}

/// Where runs of stars begin that mean something, and how long they are.
fn stars(text: &str) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match (character, runs.last_mut()) {
            // A backslash takes the meaning of what follows.
            ('\\', _) => drop(characters.next()),
            ('*', Some((begin, length))) if *begin + *length == at => *length += 1,
            ('*', _) => runs.push((at, 1)),
            _ => {}
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::wider;

    #[test]
    fn a_star_goes_deeper_and_an_exact_path_gets_what_is_below() {
        for (text, expected) in [
            ("/a/*", &["/a/**"][..]),
            ("/a/*/b/*", &["/a/**/b/*", "/a/*/b/**"]),
            ("/a/*.txt", &["/a/**.txt"]),
            ("/a", &["/a/**"]),
            ("/a/", &["/a/**"]),
            ("/a?", &["/a?/**"]),
            (r"/a\*", &[r"/a\*/**"]),
            (r"/\**", &[r"/\***"]),
            ("/a/**", &[]),
            ("/**/a/*", &["/**/a/**"]),
            ("/a/*/**", &[]),
            ("/**/*/a", &[]),
            ("/a*/**", &["/a**/**"]),
            ("*", &[]),
            ("/", &["/**"]),
        ] {
            assert_eq!(wider(text), expected, "{text}");
        }
    }
}
