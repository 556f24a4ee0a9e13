//! Host names with wildcards: `*.example.com` stands for any number of elements before `.example.com`, at least one.

use crate::document::placeholder;

/// The names that two host names have in common.
pub fn intersect<'h>(one: &'h str, other: &'h str) -> Option<&'h str> {
    if covers(one, other) {
        Some(other)
    } else if covers(other, one) {
        Some(one)
    } else {
        None
    }
}

/// Whether every name that the second stands for is one of the first.
pub fn covers(wide: &str, narrow: &str) -> bool {
    if wide.is_empty() || wide == "*" || wide.eq_ignore_ascii_case(narrow) {
        return true;
    }
    let (Some(wide), false) = (wide.strip_prefix('*'), narrow == "*") else { return false };
    let narrow = narrow.strip_prefix('*').unwrap_or(narrow);
    narrow.len() > wide.len() && narrow.to_ascii_lowercase().ends_with(&wide.to_ascii_lowercase())
}

/// Whether a part of a host name is put in later, so that nobody knows which it is.
pub fn is_unfilled(name: &str) -> bool {
    placeholder(name).is_some()
}

/// The names that two host names may have in common: those that they have, or, where a part of one is put in later, the
/// narrower one.
pub fn may_intersect<'h>(one: &'h str, other: &'h str) -> Option<&'h str> {
    let narrower = if other.starts_with('*') { one } else { other };
    intersect(one, other).or_else(|| (is_unfilled(one) || is_unfilled(other)).then_some(narrower))
}

/// Whether a host name may be this one once its parts are put in.
pub fn may_become(name: &str, host: &str) -> bool {
    let Some(open) = placeholder(name) else { return covers(name, host) };
    let Some((before, after)) = name.split_once(open) else { return false };
    let before = before.strip_prefix('*').unwrap_or(before);
    // What stands before and after it is there already; a wildcard stands for anything before it.
    let begins = name.starts_with('*') || host.starts_with(before);
    let last = after.rsplit('}').next().unwrap_or(after);
    begins && host.ends_with(last) && host.len() > before.len() + last.len()
}

/// How narrow a host name is: exact ones before wildcards, long ones before short ones.
pub fn specificity(name: Option<&str>) -> (bool, usize) {
    match name {
        None | Some("" | "*") => (false, 0),
        Some(name) => (!name.starts_with('*'), name.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_cover_longer_names() {
        assert!(covers("*.example.com", "a.example.com"));
        assert!(covers("*.example.com", "a.b.example.com"));
        assert!(covers("*.example.com", "*.b.example.com"));
        assert!(!covers("*.example.com", "example.com"));
        assert!(!covers("*.b.example.com", "*.example.com"));
        assert!(!covers("*.example.com", "*"));
        assert!(!covers("*.example.com", "badexample.com"));
        assert!(covers("*", "*"));
    }

    #[test]
    fn what_is_put_in_later_may_be_anything() {
        assert_eq!(may_intersect("*.${DOMAIN}", "app.${DOMAIN}"), Some("app.${DOMAIN}"));
        assert_eq!(may_intersect("*.${DOMAIN}", "app.example.com"), Some("app.example.com"));
        assert_eq!(may_intersect("app.${DOMAIN}", "*.example.com"), Some("app.${DOMAIN}"));
        assert_eq!(may_intersect("a.com", "b.com"), None);
        assert!(may_become("app.${DOMAIN}", "app.example.com"));
        assert!(may_become("*.${DOMAIN}", "app.example.com"));
        assert!(may_become("${A}.${B}.com", "app.example.com"));
        assert!(!may_become("app.${DOMAIN}", "web.example.com"));
        assert!(!may_become("app.${A}.org", "app.example.com"));
    }

    #[test]
    fn the_narrower_name_is_common() {
        assert_eq!(intersect("*.example.com", "a.example.com"), Some("a.example.com"));
        assert_eq!(intersect("a.example.com", "*.example.com"), Some("a.example.com"));
        assert_eq!(intersect("*.com", "*.example.com"), Some("*.example.com"));
        assert_eq!(intersect("a.com", "b.com"), None);
    }
}
