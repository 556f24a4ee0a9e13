//! Patterns, tried character by character at all places of a text at once: plain, and still quick where many wildcards
//! meet a long text.

use crate::decide::glob::Wildcard;
use crate::decide::rule::PathPattern;

/// Whether a pattern of roles or applications covers a text.
pub(super) fn wild(pattern: &Wildcard, text: &str) -> bool {
    if let Wildcard::Foreign(_, pattern) = pattern {
        return pattern.covers(text);
    }
    let mut places = Places::new(text);
    for one in pattern.text().chars() {
        match one {
            '*' => places.run(|_| true),
            one => places.step(|given| given == one),
        }
    }
    places.is_at_end()
}

/// Whether a pattern covers a path.
pub(super) fn path(pattern: &PathPattern, path: &str) -> bool {
    let text = match pattern {
        PathPattern::Foreign(_, pattern) => return pattern.covers(path),
        PathPattern::Broken(_) => return false,
        PathPattern::Glob(glob) if glob.text() == "*" => return true,
        PathPattern::Glob(glob) => glob.text(),
    };
    let mut places = Places::new(path);
    let mut pattern = text.chars().peekable();
    while let Some(one) = pattern.next() {
        match one {
            '*' if pattern.next_if_eq(&'*').is_some() => places.run(|_| true),
            '*' => places.run(|given| given != '/'),
            '?' => places.step(|given| given != '/'),
            '\\' => {
                let escaped = pattern.next();
                places.step(|given| Some(given) == escaped);
            }
            one => places.step(|given| given == one),
        }
    }
    places.is_at_end()
}

/// Up to where a text may be covered, after a part of a pattern.
struct Places {
    text: Vec<char>,
    /// One for each character, and one for the end.
    reached: Vec<bool>,
}

impl Places {
    fn new(text: &str) -> Self {
        let text: Vec<char> = text.chars().collect();
        let reached = std::iter::once(true).chain(text.iter().map(|_| false)).collect();
        Self { text, reached }
    }

    /// Takes one character.
    fn step(&mut self, takes: impl Fn(char) -> bool) {
        let after = self.reached.iter().zip(&self.text).map(|(reached, one)| *reached && takes(*one));
        self.reached = std::iter::once(false).chain(after).collect();
    }

    /// Takes any number of characters.
    fn run(&mut self, takes: impl Fn(char) -> bool) {
        let mut goes_on = false;
        let before = std::iter::once(None).chain(self.text.iter().map(Some));
        for (reached, one) in self.reached.iter_mut().zip(before) {
            goes_on = *reached || (goes_on && one.is_some_and(|one| takes(*one)));
            *reached = goes_on;
        }
    }

    fn is_at_end(&self) -> bool {
        self.reached.last() == Some(&true)
    }
}
