//! What several servers do alike.

/// With the escapes of those bytes decoded that are asked for. What is no escape stays. Nothing for a NUL: no server takes it.
pub(super) fn unescaped(path: &str, wanted: impl Fn(u8) -> bool) -> Option<String> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut left = path.bytes().collect::<std::collections::VecDeque<u8>>();
    while let Some(byte) = left.pop_front() {
        let digits: String = left.iter().take(2).map(|byte| char::from(*byte)).collect();
        let is_escape = byte == b'%' && digits.len() == 2 && digits.chars().all(|digit| digit.is_ascii_hexdigit());
        let code = u8::from_str_radix(&digits, 16).ok().filter(|code| is_escape && wanted(*code));
        if code.is_some() {
            left.drain(..2);
        }
        bytes.push(code.unwrap_or(byte));
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (!text.contains('\0')).then_some(text)
}

/// What cannot stand in a path is escaped, and so is `%`: whoever decodes this gets the same text.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte <= b' ' || byte >= 0x7f || b"%?#\"<>\\^`{|}".contains(&byte) {
            escaped.push_str(&format!("%{byte:02X}"));
        } else {
            escaped.push(char::from(byte));
        }
    }
    escaped
}

/// One slash for each run of slashes.
pub(super) fn with_single_slashes(path: &str) -> String {
    let mut path = path.to_owned();
    while path.contains("//") {
        path = path.replace("//", "/");
    }
    path
}

/// Without `.` and `..`; nothing if that leads above the root. A path that ends in one of them ends in a slash.
pub(super) fn below_the_root(path: &str) -> Option<String> {
    let mut kept: Vec<&str> = Vec::new();
    let ends_in_dots = path.ends_with("/.") || path.ends_with("/..");
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => {
                kept.pop()?;
            }
            name => kept.push(name),
        }
    }
    let slash = if ends_in_dots { "/" } else { "" };
    Some(format!("/{}", kept.join("/"))).map(|path| if path.ends_with('/') { path } else { path + slash })
}

/// The same, but whatever leads above the root leads to it.
pub(super) fn within_the_root(path: &str) -> String {
    let mut climbs = path.to_owned();
    loop {
        match below_the_root(&climbs) {
            Some(path) => return path,
            None => climbs = without_first_climb(&climbs),
        }
    }
}

/// Without the first `..` that leads above the root.
fn without_first_climb(path: &str) -> String {
    let mut depth = 0_usize;
    let mut segments: Vec<&str> = path.split('/').skip(1).collect();
    let place = segments.iter().position(|segment| match *segment {
        "." => false,
        ".." if depth == 0 => true,
        ".." => {
            depth -= 1;
            false
        }
        _ => {
            depth += 1;
            false
        }
    });
    if let Some(place) = place {
        let is_last = place + 1 == segments.len();
        segments.remove(place);
        if is_last {
            segments.push("");
        }
    }
    format!("/{}", segments.join("/"))
}
