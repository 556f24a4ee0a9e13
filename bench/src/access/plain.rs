//! A loop over all policies, as anybody would write it first: the rival that every answer is compared with.

use super::Decider;
use super::workload::{Effect, Policy, Request, SubjectTest, User, segments};

/// Policies whose patterns are split.
#[derive(Debug)]
pub(super) struct Plain {
    rules: Vec<Rule>,
    /// Empty between decisions; keeps the memory for the segments of a path.
    spare: Vec<&'static str>,
}

#[derive(Debug)]
struct Rule {
    effect: Effect,
    subjects: Vec<SubjectTest>,
    pattern: Vec<Segment>,
    methods: Vec<String>,
}

#[derive(Debug)]
enum Segment {
    Literal(String),
    /// Exactly one.
    One,
    /// One or more.
    Many,
}

impl Plain {
    pub(super) fn new(policies: &[Policy]) -> Self {
        Self { rules: policies.iter().map(Rule::new).collect(), spare: Vec::new() }
    }

    /// How many policies match.
    pub(super) fn matching(&mut self, request: &Request) -> usize {
        self.with_path(request, |rules, path| rules.iter().filter(|rule| rule.matches(request, path)).count())
    }

    fn with_path<T>(&mut self, request: &Request, act: impl FnOnce(&[Rule], &[&str]) -> T) -> T {
        let mut path = emptied(std::mem::take(&mut self.spare));
        path.extend(segments(&request.path));
        let result = act(&self.rules, &path);
        self.spare = emptied(path);
        result
    }
}

impl Decider for Plain {
    fn name(&self) -> &'static str {
        "plain loop over the policies"
    }

    fn decide(&mut self, request: &Request) -> bool {
        self.with_path(request, |rules, path| {
            let mut permitted = false;
            for rule in rules {
                if rule.matches(request, path) {
                    match rule.effect {
                        Effect::Deny => return false,
                        Effect::Permit => permitted = true,
                    }
                }
            }
            permitted
        })
    }
}

/// The same memory, for text that lives as long as is wanted now.
fn emptied<'t>(mut texts: Vec<&str>) -> Vec<&'t str> {
    texts.clear();
    texts.into_iter().map(|_| "").collect()
}

impl Rule {
    fn new(policy: &Policy) -> Self {
        let pattern = policy.segments().map(|segment| match segment {
            "*" => Segment::One,
            "**" => Segment::Many,
            literal => Segment::Literal(literal.to_owned()),
        });
        let (subjects, methods) = (policy.subjects.clone(), policy.methods.clone());
        Self { effect: policy.effect, subjects, pattern: pattern.collect(), methods }
    }

    fn matches(&self, request: &Request, path: &[&str]) -> bool {
        (self.methods.is_empty() || self.methods.contains(&request.method))
            && fits(&self.pattern, path)
            && (self.subjects.is_empty() || self.subjects.iter().any(|test| holds(test, &request.user)))
    }
}

fn holds(test: &SubjectTest, user: &User) -> bool {
    match test {
        SubjectTest::Role(name) => user.roles.contains(name),
        SubjectTest::Group(name) => user.groups.contains(name),
        SubjectTest::Id(name) => user.id == *name,
        SubjectTest::Claim(name, value) => user.claims.iter().any(|claim| claim.0 == *name && claim.1 == *value),
    }
}

/// Goes on from left to right; where it fails, the last `**` takes one more segment. An earlier one never has to.
fn fits(pattern: &[Segment], path: &[&str]) -> bool {
    let (mut wanted, mut found) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(wanted), path.get(found)) {
            (None, None) => return true,
            (Some(Segment::Many), Some(_)) => again = Some((wanted + 1, found + 1)),
            (Some(Segment::One), Some(_)) => {}
            (Some(Segment::Literal(literal)), Some(segment)) if literal == segment => {}
            _ => match again {
                Some((after, taken)) if taken < path.len() => {
                    again = Some((after, taken + 1));
                    (wanted, found) = (after, taken + 1);
                    continue;
                }
                _ => return false,
            },
        }
        wanted += 1;
        found += 1;
    }
}

/// The same for a pattern and a path as text, for peers that can be given a function.
#[cfg(any(feature = "peers", test))]
pub(super) fn fits_text(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.as_bytes(), path.as_bytes());
    let (mut wanted, mut found) = (pattern, path);
    let mut again: Option<(&[u8], &[u8])> = None;
    loop {
        let fits = match (next(wanted), next(found)) {
            (None, None) => return true,
            (Some((b"**", after)), Some((_, rest))) => {
                again = Some((after, rest));
                Some((after, rest))
            }
            (Some((b"*", after)), Some((_, rest))) => Some((after, rest)),
            (Some((literal, after)), Some((segment, rest))) if literal == segment => Some((after, rest)),
            _ => None,
        };
        (wanted, found) = match (fits, again) {
            (Some(rests), _) => rests,
            (None, Some((after, rest))) => match next(rest) {
                Some((_, rest)) => {
                    again = Some((after, rest));
                    (after, rest)
                }
                None => return false,
            },
            (None, None) => return false,
        };
    }
}

/// The first segment of what starts with a slash, and what follows it.
#[cfg(any(feature = "peers", test))]
fn next(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let path = path.strip_prefix(b"/")?;
    let end = path.iter().position(|&byte| byte == b'/').unwrap_or(path.len());
    path.split_at_checked(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Rule {
        let (subjects, methods) = (Vec::new(), Vec::new());
        let (id, pattern) = ("policy".to_owned(), text.to_owned());
        Rule::new(&Policy { id, effect: Effect::Permit, subjects, pattern, methods })
    }

    /// Tries everything.
    fn naive(pattern: &[&str], path: &[&str]) -> bool {
        match (pattern, path) {
            ([], []) => true,
            (["**", after @ ..], [_, rest @ ..]) => naive(after, rest) || naive(pattern, rest),
            (["*", after @ ..], [_, rest @ ..]) => naive(after, rest),
            ([literal, after @ ..], [segment, rest @ ..]) => literal == segment && naive(after, rest),
            _ => false,
        }
    }

    /// All texts of one to so many of these segments.
    fn texts(segments: &[&str], length: usize) -> Vec<String> {
        let mut all = Vec::new();
        let mut longest = vec![String::new()];
        for _ in 0..length {
            let longer = |text: &String| segments.iter().map(|segment| format!("{text}/{segment}")).collect::<Vec<_>>();
            longest = longest.iter().flat_map(longer).collect();
            all.extend(longest.iter().cloned());
        }
        all
    }

    #[test]
    fn patterns_fit_what_trying_everything_fits() {
        let paths = texts(&["a", "b"], 5);
        for wanted in texts(&["a", "b", "*", "**"], 4) {
            let rule = pattern(&wanted);
            let split: Vec<&str> = segments(&wanted).collect();
            for path in &paths {
                let found: Vec<&str> = segments(path).collect();
                let expected = naive(&split, &found);
                assert_eq!(fits(&rule.pattern, &found), expected, "{wanted} {path}");
                assert_eq!(fits_text(&wanted, path), expected, "{wanted} {path}");
            }
        }
    }
}
