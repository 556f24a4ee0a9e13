//! Globs: in goes what a user wrote, out comes where to look and what matches.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use upheld_model::{Diagnostic, Fault};

use crate::paths;

/// `*`, `?`, `[..]` and `{a,b}` within one name, `**` across folders.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// As shown to users.
    pub(crate) text: String,
    /// The folder that all matches are in, as shown to users.
    pub(crate) folder: String,
    /// How many folders below it matches can be, at most.
    pub(crate) depth: usize,
    matcher: GlobMatcher,
}

impl Pattern {
    /// Whether a name has any of the signs of a pattern.
    pub(crate) fn is_one(named: &Path) -> bool {
        has_signs(&named.to_string_lossy())
    }

    pub(crate) fn new(named: &Path) -> Result<Self, Diagnostic> {
        let text = paths::display(named);
        let matcher = GlobBuilder::new(&text).literal_separator(true).build().map_err(|error| {
            Diagnostic::error(Fault::Unreadable, format!("broken pattern `{text}`: {}", error.kind()))
        })?;
        let mut parts = text.split('/').peekable();
        let mut folder = String::new();
        while let Some(part) = parts.next_if(|part| !has_signs(part)) {
            folder.push_str(part);
            folder.push('/');
        }
        let depth = if text.contains("**") { usize::MAX } else { parts.count().saturating_sub(1) };
        let folder = match folder.strip_suffix('/') {
            None => ".".to_owned(),
            Some("") => "/".to_owned(),
            Some(folder) => folder.to_owned(),
        };
        Ok(Self { folder, depth, matcher: matcher.compile_matcher(), text })
    }

    /// Whether the name of a file, as shown to users, matches.
    pub(crate) fn matches(&self, name: &str) -> bool {
        self.matcher.is_match(name)
    }
}

fn has_signs(name: &str) -> bool {
    name.contains(['*', '?', '[', '{'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::new(Path::new(text)).unwrap()
    }

    #[test]
    fn where_to_look() {
        for (text, folder, depth) in [
            ("*.yaml", ".", 0),
            ("./a/*.yaml", "a", 0),
            ("a/b/*/c.yaml", "a/b", 1),
            ("/etc/*.yaml", "/etc", 0),
            ("/*.yaml", "/", 0),
            ("../x/**/*.yaml", "../x", usize::MAX),
        ] {
            let pattern = pattern(text);
            assert_eq!((pattern.folder.as_str(), pattern.depth), (folder, depth), "{text}");
        }
    }

    #[test]
    fn what_matches() {
        for (text, name, matches) in [
            ("*.yaml", "a.yaml", true),
            ("*.yaml", "a/b.yaml", false),
            ("**/*.yaml", "a/b/c.yaml", true),
            ("**/*.yaml", "c.yaml", true),
            ("a?.yaml", "ab.yaml", true),
            ("[ab].yaml", "c.yaml", false),
            ("{a,b}/*.json", "b/c.json", true),
        ] {
            assert_eq!(pattern(text).matches(name), matches, "{text} {name}");
        }
    }

    #[test]
    fn a_broken_pattern_is_an_error() {
        let problem = Pattern::new(Path::new("a[.yaml")).unwrap_err();
        assert_eq!(problem.fault, Fault::Unreadable);
        assert!(problem.message.starts_with("broken pattern `a[.yaml`"), "{}", problem.message);
    }
}
