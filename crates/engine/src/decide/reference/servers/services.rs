//! Services, and what they are built with.

use super::proxies::go_clean;
use super::{Seen, Server, text};

pub(super) const ALL: [Server; 11] = [
    Server { name: "Node", reads: |path| Some(Seen::Escaped(path.to_owned())) },
    Server { name: "Go", reads: |path| text::unescaped(path, |_| true).map(Seen::Decoded) },
    Server { name: "Go, cleaned", reads: |path| Some(Seen::Decoded(go_clean(&text::unescaped(path, |_| true)?))) },
    Server { name: "Tomcat", reads: tomcat },
    Server { name: "Tomcat, slashes allowed", reads: |path| servlet(path).map(Seen::Decoded) },
    Server { name: "Spring", reads: spring },
    Server { name: "Parameters after decoding", reads: late_parameters },
    Server { name: "Kestrel", reads: kestrel },
    Server { name: "IIS", reads: iis },
    Server { name: "Decoding twice", reads: |path| twice(path).map(Seen::Decoded) },
    Server { name: "Decoding twice, cleaned", reads: |path| Some(Seen::Decoded(go_clean(&twice(path)?))) },
];

fn without_parameters(path: &str) -> String {
    let mut kept = String::new();
    let mut within = false;
    for one in path.chars() {
        within = one != '/' && (within || one == ';');
        if !within {
            kept.push(one);
        }
    }
    kept
}

/// By default, escaped slashes and backslashes are refused.
fn tomcat(path: &str) -> Option<Seen> {
    if path.to_lowercase().contains("%2f") || text::unescaped(path, |_| true)?.contains('\\') {
        return None;
    }
    servlet(path).map(Seen::Decoded)
}

/// Parameters are cut off before anything is decoded; then come backslashes, slashes and dots.
fn servlet(path: &str) -> Option<String> {
    let decoded = text::unescaped(&without_parameters(path), |_| true)?;
    text::below_the_root(&text::with_single_slashes(&decoded.replace('\\', "/")))
}

/// Parameters, then escapes, then double slashes; dots stay.
fn spring(path: &str) -> Option<Seen> {
    let decoded = text::unescaped(&without_parameters(path), |_| true)?;
    Some(Seen::Decoded(text::with_single_slashes(&decoded)))
}

/// Segment by segment: decoded, and then without parameters.
fn late_parameters(path: &str) -> Option<Seen> {
    let mut names: Vec<String> = Vec::new();
    for segment in path.split('/') {
        let decoded = text::unescaped(segment, |_| true)?;
        names.push(decoded.split(';').next()?.to_owned());
    }
    Some(Seen::Decoded(names.join("/")))
}

/// All is decoded but slashes, then dots go. An escaped slash is part of the name that it stands in.
fn kestrel(path: &str) -> Option<Seen> {
    let mut kept: Vec<String> = Vec::new();
    let count = path.split('/').count();
    for (place, segment) in path.split('/').enumerate().skip(1) {
        let name = text::unescaped(segment, |_| true)?;
        let is_dots = name == "." || name == "..";
        if name == ".." {
            kept.pop();
        }
        if !is_dots {
            kept.push(name);
        } else if place + 1 == count {
            kept.push(String::new());
        }
    }
    Some(Seen::Decoded(format!("/{}", kept.join("/"))))
}

/// All is decoded, backslashes are slashes, and dots go. What is escaped twice is refused.
fn iis(path: &str) -> Option<Seen> {
    let decoded = text::unescaped(path, |_| true)?;
    if text::unescaped(&decoded, |_| true)? != decoded {
        return None;
    }
    Some(Seen::Decoded(text::within_the_root(&decoded.replace('\\', "/"))))
}

fn twice(path: &str) -> Option<String> {
    text::unescaped(&text::unescaped(path, |_| true)?, |_| true)
}
