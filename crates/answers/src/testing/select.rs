//! Which cases are run.

use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use super::TestQuestion;
use super::read::Case;

/// The cases that were asked for.
pub(super) fn select<'c>(cases: &'c [Case], options: &TestQuestion) -> Result<Vec<&'c Case>, Diagnostic> {
    if cases.is_empty() {
        let diagnostic = Diagnostic::error(Fault::NotFound, "there are no tests");
        let help = "a document with tests begins with `kind: PolicyTests`: see docs/testing.md";
        return Err(diagnostic.help(help).help("`upheld schema PolicyTests` shows what it looks like"));
    }
    let tagged = |case: &&Case| options.tag.is_empty() || case.tags.iter().any(|tag| options.tag.contains(tag));
    let named =
        |case: &&Case| options.only.as_deref().is_none_or(|only| covers(only, &case.name) || covers(only, &case.own));
    let selected: Vec<&Case> = cases.iter().filter(tagged).filter(named).collect();
    if !selected.is_empty() {
        return Ok(selected);
    }
    let tags = cases.iter().flat_map(|case| &case.tags).map(String::as_str);
    let unknown = options.tag.iter().find(|tag| !tags.clone().any(|known| known == tag.as_str()));
    Err(match (unknown, &options.only) {
        (Some(tag), _) => {
            let diagnostic = Diagnostic::error(Fault::NotFound, format!("no case has the tag `{tag}`"));
            diagnostic.suggest_or(nearest(tag, tags).map(|near| format!("--tag {near}")), || {
                "cases have tags under `tags:`".to_owned()
            })
        }
        (None, Some(only)) => {
            let diagnostic = Diagnostic::error(Fault::NotFound, format!("no case is called like `{only}`"));
            diagnostic.suggest_or(
                nearest(only, cases.iter().map(|case| case.own.as_str())).map(|near| format!("--only '{near}'")),
                || format!("`*` stands for any characters: `--only '*{only}*'`"),
            )
        }
        (None, None) => Diagnostic::error(Fault::NotFound, "no case has all that was asked for"),
    })
}

/// Whether a pattern, in which a star stands for any characters, covers a name.
fn covers(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let pieces: Vec<&str> = rest.split('*').collect();
    let Some((last, between)) = pieces.split_last() else { return true };
    for piece in between {
        match left.split_once(piece) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn a_star_is_any_run_of_characters() {
        for (pattern, name, expected) in [
            ("admins", "admins", true),
            ("admins", "admins may", false),
            ("admins*", "admins may", true),
            ("*may", "admins may", true),
            ("a*m*y", "admins may", true),
            ("a*z*y", "admins may", false),
            ("*", "", true),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(covers(pattern, name), expected, "{pattern} {name}");
        }
    }
}
