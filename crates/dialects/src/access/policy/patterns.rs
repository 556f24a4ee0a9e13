//! Patterns of paths that no path looks like, mostly because they are written in the language of another system.

/// Why nothing looks like a pattern, and what was probably meant.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::access) struct NeverMatches {
    /// As a clause: `the pattern …`.
    pub(in crate::access) because: &'static str,
    /// Another pattern.
    pub(in crate::access) meant: String,
}

/// Whether no path looks like a pattern. What stands after a `\` is meant as it is.
pub(in crate::access) fn never_matches(pattern: &str) -> Option<NeverMatches> {
    let never = |because: &'static str, meant: String| Some(NeverMatches { because, meant: with_escapes(&meant) });
    let bare = without_escapes(pattern);
    if !bare.starts_with(['/', '*']) {
        if let Some(rest) = bare.strip_prefix('^') {
            return never("begins with the `^` of regular expressions", globbed(rest));
        }
        return never("does not begin with `/`, as all paths do", format!("/{bare}"));
    }
    if bare.split('/').any(|segment| segment == "." || segment == "..") {
        return never("has a dot segment, which readers of paths remove", normal(&bare));
    }
    if let Some(decoded) = decoded(&bare) {
        return never("has an escape: paths are decoded before they are matched", decoded);
    }
    if braces(&bare) != bare {
        return never("has braces, which are no parameters here", braces(&bare));
    }
    if let Some(globs) = with_each_choice(&bare) {
        return never("has a choice in parentheses, which are no groups here", globs);
    }
    if parameters(&bare) != bare {
        return never("has a parameter of another system, which is a text here", parameters(&bare));
    }
    let is_expression = [".*", ".+", "["].iter().any(|mark| bare.contains(mark)) || bare.ends_with('$');
    if is_expression {
        return never("is written as a regular expression, and matched as it stands", globbed(&bare));
    }
    None
}

/// Where characters wait that are meant as they are: nobody uses this part of Unicode in patterns.
const APART: u32 = 0xe000;

/// With characters after a `\` put apart.
fn without_escapes(pattern: &str) -> String {
    let mut characters = pattern.chars();
    let mut bare = String::new();
    while let Some(character) = characters.next() {
        match character {
            '\\' => bare.extend(characters.next().map(put_apart)),
            other => bare.push(other),
        }
    }
    bare
}

fn put_apart(character: char) -> char {
    let place = if character.is_ascii() { char::from_u32(APART + u32::from(character)) } else { None };
    place.unwrap_or(character)
}

/// The character that was put apart.
fn apart(character: char) -> Option<u8> {
    let code = u32::from(character).checked_sub(APART).and_then(|code| u8::try_from(code).ok());
    code.filter(u8::is_ascii)
}

/// With a `\` before each character that was put apart.
fn with_escapes(bare: &str) -> String {
    let mut pattern = String::new();
    for character in bare.chars() {
        match apart(character) {
            Some(escaped) => pattern.extend(['\\', char::from(escaped)]),
            None => pattern.push(character),
        }
    }
    pattern
}

/// Without dot segments.
fn normal(pattern: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in pattern.split('/') {
        match segment {
            "." => {}
            ".." => drop(kept.pop().filter(|last| !last.is_empty())),
            other => kept.push(other),
        }
    }
    let joined = kept.join("/");
    if joined.starts_with('/') { joined } else { format!("/{joined}") }
}

/// With its escapes decoded, if it has any.
fn decoded(pattern: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(pattern.len());
    let (mut rest, mut found) = (pattern.as_bytes(), false);
    while let [first, after @ ..] = rest {
        let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let escaped = match after {
            [high, low, ..] if *first == b'%' => digit(high).zip(digit(low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                let decoded = high * 16 + low;
                if br"*?\{}[]%".contains(&decoded) {
                    // What would be a wildcard is meant as it is.
                    bytes.extend_from_slice(put_apart(char::from(decoded)).encode_utf8(&mut [0; 4]).as_bytes());
                } else {
                    bytes.push(decoded);
                }
                rest = rest.get(3..).unwrap_or_default();
                found = true;
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    found.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// With `*` for each parameter in braces.
fn braces(pattern: &str) -> String {
    let mut with_stars = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((_, behind)) = after.split_once('}') else { break };
        with_stars.push_str(before);
        with_stars.push('*');
        rest = behind;
    }
    with_stars + rest
}

/// With `*` for each segment that is a parameter of a router: `:id`, `<id>`, `<int:id>`.
fn parameters(pattern: &str) -> String {
    let is_name = |text: &str| {
        let first = text.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_');
        first && text.chars().all(|one| one.is_alphanumeric() || "_-:".contains(one))
    };
    let is_parameter = |segment: &str| {
        let colon = segment.strip_prefix(':').map(|name| name.trim_end_matches(['?', '*', '+']));
        let angles = segment.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
        colon.or(angles).is_some_and(is_name)
    };
    let segments = pattern.split('/').map(|segment| if is_parameter(segment) { "*" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

/// What a pattern with `(a|b)` means without it, as a list in a sentence; nothing if it has none.
fn with_each_choice(pattern: &str) -> Option<String> {
    /// So many are listed; instead of more of them there is a wildcard.
    const MOST: usize = 8;
    let (before, rest) = pattern.split_once('(')?;
    let (choices, after) = rest.split_once(')').filter(|(choices, _)| choices.contains('|'))?;
    let choices = choices.strip_prefix("?:").unwrap_or(choices);
    let all: Vec<String> = choices.split('|').map(|choice| format!("{before}{choice}{after}")).collect();
    if all.len() > MOST || after.contains('(') {
        return Some(globbed(&format!("{before}*{after}")));
    }
    Some(all.join("`, `"))
}

/// What a regular expression probably means as a pattern.
fn globbed(expression: &str) -> String {
    let mut pattern = String::new();
    let mut characters = expression.trim_start_matches('^').trim_end_matches('$').chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '[' => {
                characters.by_ref().find(|character| *character == ']');
                pattern.push('*');
                characters.next_if(|next| "+*?".contains(*next));
            }
            '.' if characters.peek().is_some_and(|next| "*+".contains(*next)) => {
                characters.next();
                pattern.push_str("**");
            }
            // `\d` and its like.
            class if apart(class).is_some_and(|class| class.is_ascii_alphabetic()) => {
                pattern.push('*');
                characters.next_if(|next| "+*".contains(*next));
            }
            other => pattern.push(other),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_other_systems_are_found_and_translated() {
        for (pattern, meant) in [
            ("admin/**", "/admin/**"),
            ("/my%20files/**", "/my files/**"),
            ("/a/../b", "/b"),
            ("/a/./b", "/a/b"),
            ("/users/{id}/keys", "/users/*/keys"),
            ("/api/v[0-9]+/.*", "/api/v*/**"),
            ("^/api$", "/api"),
            ("^/api/\\d+", "/api/*"),
            ("/api/.*", "/api/**"),
            ("/caf%C3%A9", "/café"),
            ("/a\\*/my%20files", "/a\\*/my files"),
            ("a\\{b", "/a\\{b"),
            ("/100%25/%2A", "/100\\%/\\*"),
            ("/x/\\[y\\]/{id}", "/x/\\[y\\]/*"),
            ("/admin/:id", "/admin/*"),
            ("/:x", "/*"),
            ("/a/:rest*/b", "/a/*/b"),
            ("/<id>", "/*"),
            ("/users/<int:id>/keys", "/users/*/keys"),
            ("/(a|b)/x", "/a/x`, `/b/x"),
            ("/(?:a|b)", "/a`, `/b"),
        ] {
            assert_eq!(never_matches(pattern).map(|never| never.meant).as_deref(), Some(meant), "{pattern}");
        }
    }

    #[test]
    fn others_are_left_alone() {
        let plain =
            ["/admin/**", "**", "*", "/a.b/c", "/x?y", "/a+b", "/a(b", "/100%", "/users/\\{id\\}", "*/x", "/a|/b"];
        let names = ["/wiki/Rust_(language)", "/v1/books:read", "/\\:x", "/\\<id>", "/\\(a|b\\)", "/:", "/a<b>"];
        for pattern in plain.into_iter().chain(names) {
            assert_eq!(never_matches(pattern), None, "{pattern}");
        }
    }
}
