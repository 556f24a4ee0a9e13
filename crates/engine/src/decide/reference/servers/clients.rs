//! Rules that clients, and programs that parse URLs, follow.

use super::{Seen, Server, text};

pub(super) const ALL: [Server; 6] = [
    Server { name: "RFC 3986, 5.2.4", reads: |path| Some(Seen::Escaped(remove_dot_segments(path))) },
    Server { name: "RFC 3986, 6.2.2", reads: normalized },
    Server { name: "WHATWG URL", reads: |path| Some(Seen::Escaped(whatwg(path))) },
    Server { name: "WHATWG URL, with a base", reads: |path| Some(Seen::Escaped(whatwg_with_base(path))) },
    Server { name: "RFC 1808", reads: |path| path.split(';').next().map(|path| Seen::Escaped(path.to_owned())) },
    Server { name: "Python urlparse", reads: python },
];

/// The algorithm of 5.2.4, buffer by buffer.
pub(super) fn remove_dot_segments(path: &str) -> String {
    let (mut input, mut output) = (path.to_owned(), String::new());
    let remove_last = |output: &mut String| output.truncate(output.rfind('/').unwrap_or_default());
    while !input.is_empty() {
        if let Some(rest) = input.strip_prefix("../").or_else(|| input.strip_prefix("./")) {
            input = rest.to_owned();
        } else if let Some(rest) = input.strip_prefix("/./") {
            input = format!("/{rest}");
        } else if input == "/." {
            input = String::from("/");
        } else if let Some(rest) = input.strip_prefix("/../") {
            input = format!("/{rest}");
            remove_last(&mut output);
        } else if input == "/.." {
            input = String::from("/");
            remove_last(&mut output);
        } else if input == "." || input == ".." {
            input.clear();
        } else {
            let begin = usize::from(input.starts_with('/'));
            let end = input.chars().skip(begin).position(|one| one == '/');
            let length = end.map_or(input.chars().count(), |end| end + begin);
            output.extend(input.chars().take(length));
            input = input.chars().skip(length).collect();
        }
    }
    output
}

/// Unreserved characters are decoded, then dot segments are removed.
fn normalized(path: &str) -> Option<Seen> {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    Some(Seen::Escaped(remove_dot_segments(&text::unescaped(path, is_unreserved)?)))
}

/// The path state of the URL standard, for `http` and `https`, of a URL that ends in this path.
fn whatwg(path: &str) -> String {
    let path = path.trim_end_matches(|one: char| one <= ' ').replace(['\t', '\n', '\r'], "");
    let mut segments: Vec<String> = Vec::new();
    let mut buffer = String::new();
    for one in path.chars().skip(1).map(Some).chain([None]) {
        let is_slash = matches!(one, Some('/' | '\\'));
        if is_slash || one.is_none() {
            match buffer.to_lowercase().as_str() {
                ".." | ".%2e" | "%2e." | "%2e%2e" => {
                    segments.pop();
                    if !is_slash {
                        segments.push(String::new());
                    }
                }
                "." | "%2e" => {
                    if !is_slash {
                        segments.push(String::new());
                    }
                }
                _ => segments.push(buffer.clone()),
            }
            buffer.clear();
        } else if let Some(one) = one {
            // Others are escaped as well, which changes no name.
            buffer.push(one);
        }
    }
    format!("/{}", segments.join("/"))
}

/// `new URL(path, base)`: what follows two slashes is a host.
fn whatwg_with_base(path: &str) -> String {
    let path = path.trim_end_matches(|one: char| one <= ' ').replace(['\t', '\n', '\r'], "");
    let slashes = path.chars().take_while(|one| "/\\".contains(*one)).count();
    if slashes < 2 {
        return whatwg(&path);
    }
    let rest: String = path.chars().skip(slashes).skip_while(|one| !"/\\".contains(*one)).collect();
    if rest.is_empty() { "/".to_owned() } else { whatwg(&rest) }
}

/// `urlparse`: what follows two slashes is a host, and the last segment has parameters.
fn python(path: &str) -> Option<Seen> {
    let path = match path.strip_prefix("//") {
        Some(rest) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/"),
        None => path,
    };
    let (folder, last) = path.rsplit_once('/')?;
    Some(Seen::Escaped(format!("{folder}/{}", last.split(';').next()?)))
}
