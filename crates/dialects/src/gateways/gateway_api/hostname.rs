//! Host names with wildcards: `*.example.com` stands for any number of elements before `.example.com`, at least one.

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
    fn the_narrower_name_is_common() {
        assert_eq!(intersect("*.example.com", "a.example.com"), Some("a.example.com"));
        assert_eq!(intersect("a.example.com", "*.example.com"), Some("a.example.com"));
        assert_eq!(intersect("*.com", "*.example.com"), Some("*.example.com"));
        assert_eq!(intersect("a.com", "b.com"), None);
    }
}
