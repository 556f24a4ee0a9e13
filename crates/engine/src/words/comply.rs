//! Sentences of the family comply: why a rule holds between two objects, or does not.

use smol_str::SmolStr;

use upheld_model::Code;
use upheld_model::nearest::nearest;

use crate::comply::{Finding, Profile, SideOf, Subject, Verdict};

/// Why a rule holds between two objects, or does not.
pub fn because(finding: &Finding) -> String {
    let Finding { a, b, verdict, .. } = finding;
    let also = |value: &&SmolStr| a.values.contains(value);
    let (shared, extra): (Vec<SmolStr>, Vec<SmolStr>) = b.values.iter().cloned().partition(|value| also(&value));
    match verdict {
        Verdict::BothEmpty => "passes only because neither side has the tag".to_owned(),
        Verdict::Common => format!("both carry {}", list(&shared)),
        Verdict::Within => format!("{} {} allowed", list(&shared), is_or_are(shared.len())),
        Verdict::OneEmpty if a.values.is_empty() => format!("only the {} carries the tag", kind(&b.object)),
        Verdict::OneEmpty => format!("only the {} carries the tag", kind(&a.object)),
        Verdict::Disjoint => "nothing in common".to_owned(),
        Verdict::NotSubset => format!("{} {} outside the allowed set", list(&extra), is_or_are(extra.len())),
        Verdict::Present => format!("has {} {}", a.tag, braces(&a.values)),
        Verdict::Allowed => format!("has {} {}, which {} allowed", a.tag, braces(&a.values), is_or_are(a.values.len())),
        Verdict::Untagged => format!("passes only because it has no {}", a.tag),
        Verdict::Absent => {
            let needed = format!("has no {}, which every {} in scope needs", a.tag, kind(&a.object));
            if b.values.is_empty() { needed } else { format!("{needed}: allowed {}", allowed(b)) }
        }
        Verdict::NotAllowed => {
            let outside: Vec<SmolStr> = a.values.iter().filter(|value| !b.values.contains(value)).cloned().collect();
            let meant = outside.iter().find_map(|value| nearest(value, b.values.iter().map(SmolStr::as_str)));
            let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
            format!("has {} {}: allowed {}{meant}", a.tag, braces(&outside), allowed(b))
        }
    }
}

/// Why a policy does not count for an object of a subject.
pub fn out_of_scope(code: Code, subject: &str) -> String {
    match code {
        Code::SkipExcepted => format!("out of scope: `except` leaves out this {subject}"),
        _ => format!("out of scope: `where` does not select this {subject}"),
    }
}

/// What the house calls the kind of an object.
pub fn house_name(profile: &Profile, reference: &str) -> String {
    let word = kind(reference);
    let spec = profile.kind(word).and_then(|kind| profile.kind_spec(kind));
    spec.map_or(word, |spec| spec.title.as_deref().unwrap_or(&spec.name)).to_owned()
}

/// `are dev, qa and prod`; of many the first.
fn allowed(side: &SideOf) -> String {
    const MOST: usize = 8;
    match side.values.get(..MOST).filter(|first| first.len() < side.values.len()) {
        Some(first) => format!("are {} and others", first.iter().map(seen).collect::<Vec<_>>().join(", ")),
        None => format!("{} {}", is_or_are(side.values.len()), list(&side.values)),
    }
}

fn kind(reference: &str) -> &str {
    reference.split_once('/').map_or(reference, |(kind, _)| kind)
}

/// Values in braces: `{dev, test}`, or `{}`.
pub fn braces(values: &[SmolStr]) -> String {
    let values: Vec<String> = values.iter().map(seen).collect();
    format!("{{{}}}", values.join(", "))
}

fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// A value among other words; in quotes where its ends would not be seen.
fn seen(value: &SmolStr) -> String {
    let quoted = format!("{value:?}");
    let is_plain = !value.is_empty() && value.trim() == value && !value.contains(['{', '}', ',', ';']);
    if is_plain && quoted.trim_matches('"') == value.as_str() { value.to_string() } else { quoted }
}

/// `dev`, `dev and qa`, `dev, test and qa`.
pub fn list(values: &[SmolStr]) -> String {
    joined(values, "and")
}

/// Values with a word before the last: `dev, test or qa`.
pub fn joined(values: &[SmolStr], word: &str) -> String {
    let values: Vec<String> = values.iter().map(seen).collect();
    match values.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

/// The pairs that policies can be about.
pub fn pairs(profile: &Profile) -> String {
    let subject = |subject| {
        let spec = profile.subject_spec(subject);
        spec.map_or("", |spec| spec.title.as_deref().unwrap_or(&spec.name)).to_owned()
    };
    let pair = |(a, b): &(Subject, Subject)| {
        if a == b {
            SmolStr::from(format!("each {}", subject(*a)))
        } else {
            SmolStr::from(format!("{} and {}", subject(*a), subject(*b)))
        }
    };
    let pairs: Vec<SmolStr> = profile.pairs.iter().map(pair).collect();
    format!("policies can be about {}", pairs.join("; "))
}
