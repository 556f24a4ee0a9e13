//! The one form in which paths are matched.
//!
//! A path is percent-decoded once, then its dot segments are removed as RFC 3986 has it. An escaped slash is a slash then.
//! Duplicate slashes, a trailing slash, the case of letters and unicode forms are kept: they make another path. What has
//! no such form (a broken escape, bytes that are no UTF-8, a NUL) is not known, so nothing can be permitted by it.

/// Why a path has no normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BadPath {
    /// A `%` without two hexadecimal digits.
    BrokenEscape,
    /// What is decoded is no UTF-8.
    NotUtf8,
    /// A NUL, where texts end elsewhere.
    Nul,
}

impl BadPath {
    /// As a clause: `the path …`.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::BrokenEscape => "has a `%` without two hexadecimal digits",
            Self::NotUtf8 => "is not UTF-8 after decoding",
            Self::Nul => "has a NUL character",
        }
    }
}

/// The normal form of a path: itself, or what is put into the buffer.
pub(super) fn normal<'p>(path: &'p str, buffer: &'p mut String) -> Result<&'p str, BadPath> {
    if !needs_work(path) {
        return Ok(path);
    }
    let decoded = decode(path)?;
    remove_dots(&decoded, buffer);
    Ok(buffer)
}

/// Most paths are in their normal form already.
fn needs_work(path: &str) -> bool {
    let bytes = path.as_bytes();
    memchr::memchr3_iter(b'%', 0, b'.', bytes).any(|place| {
        let before = place.checked_sub(1).and_then(|before| bytes.get(before));
        bytes.get(place) != Some(&b'.') || before.is_none_or(|before| *before == b'/')
    })
}

fn decode(path: &str) -> Result<String, BadPath> {
    let mut decoded = Vec::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        let byte = if byte == b'%' {
            let mut digit = || bytes.next().and_then(|byte| char::from(byte).to_digit(16));
            let (Some(high), Some(low)) = (digit(), digit()) else { return Err(BadPath::BrokenEscape) };
            u8::try_from(high * 16 + low).unwrap_or_default()
        } else {
            byte
        };
        if byte == 0 {
            return Err(BadPath::Nul);
        }
        decoded.push(byte);
    }
    String::from_utf8(decoded).map_err(|_| BadPath::NotUtf8)
}

fn remove_dots(path: &str, kept: &mut String) {
    kept.clear();
    let floor = usize::from(path.starts_with('/'));
    let mut segments: Vec<&str> = Vec::new();
    let mut given = path.split('/').peekable();
    while let Some(segment) = given.next() {
        if segment != "." && segment != ".." {
            segments.push(segment);
            continue;
        }
        // Nothing is above the root.
        if segment == ".." && segments.len() > floor {
            segments.pop();
        }
        // `/a/.` and `/a/b/..` are the folder `/a/`.
        if given.peek().is_none() {
            segments.push("");
        }
    }
    for (index, segment) in segments.iter().enumerate() {
        if index > 0 {
            kept.push('/');
        }
        kept.push_str(segment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tricks_are_undone_by_one_rule() {
        let table = [
            ("/admin", Ok("/admin")),
            ("/admin/", Ok("/admin/")),
            ("/Admin", Ok("/Admin")),
            ("//admin", Ok("//admin")),
            ("/admin//users", Ok("/admin//users")),
            ("/./admin", Ok("/admin")),
            ("/admin/.", Ok("/admin/")),
            ("/public/../admin", Ok("/admin")),
            ("/public/..", Ok("/")),
            ("/..", Ok("/")),
            ("/../admin", Ok("/admin")),
            ("/../../admin", Ok("/admin")),
            ("/public/%2e%2e/admin", Ok("/admin")),
            ("/public/%2E./admin", Ok("/admin")),
            ("/public%2F..%2fadmin", Ok("/admin")),
            ("/admin%2Fusers", Ok("/admin/users")),
            ("/%61dmin", Ok("/admin")),
            ("/%2561dmin", Ok("/%61dmin")),
            ("/a.b/..c/.d", Ok("/a.b/..c/.d")),
            ("/caf%C3%A9", Ok("/café")),
            ("/cafe\u{301}", Ok("/cafe\u{301}")),
            ("/a%0Ab", Ok("/a\nb")),
            ("/a;b=c/..", Ok("/")),
            ("", Ok("")),
            ("admin/..", Ok("")),
            ("*", Ok("*")),
            ("/admin%00", Err(BadPath::Nul)),
            ("/admin\0", Err(BadPath::Nul)),
            ("/%", Err(BadPath::BrokenEscape)),
            ("/%2", Err(BadPath::BrokenEscape)),
            ("/%zz", Err(BadPath::BrokenEscape)),
            ("/%ff", Err(BadPath::NotUtf8)),
            ("/%c0%ae", Err(BadPath::NotUtf8)),
        ];
        for (path, expected) in table {
            let mut buffer = String::new();
            assert_eq!(normal(path, &mut buffer), expected, "{path:?}");
        }
    }

    #[test]
    fn a_normal_form_without_escapes_stays_as_it_is() {
        for path in ["/a/b", "/", "", "/a//b/", "/x/..y"] {
            let mut buffer = String::new();
            let once = normal(path, &mut buffer).unwrap().to_owned();
            let mut again = String::new();
            assert_eq!(normal(&once, &mut again).unwrap(), once);
        }
    }
}
