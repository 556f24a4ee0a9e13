//! The nearest valid name, for "did you mean".

use std::fmt::Display;

/// The candidate that a typo most likely meant, if any is near enough.
///
/// ```
/// use upheld_model::nearest::nearest;
///
/// assert_eq!(nearest("sorces", ["sources", "destinations"]), Some("sources"));
/// assert_eq!(nearest("entirely-else", ["sources", "destinations"]), None);
/// ```
pub fn nearest<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    within(written, candidates, 1 + written.chars().count() / 3)
}

fn within<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>, allowed: usize) -> Option<&'c str> {
    let written_folded = written.to_lowercase();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let folded = candidate.to_lowercase();
            // Lengths that differ by more than the allowance cannot be near: skip the quadratic part.
            if folded.chars().count().abs_diff(written_folded.chars().count()) > allowed {
                return None;
            }
            let distance = distance(&written_folded, &folded);
            (distance <= allowed).then_some((distance, candidate))
        })
        .min_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(b.1)))
        .map(|(_, candidate)| candidate)
}

/// The candidate of which a name is a misspelling: much nearer than [`nearest`] asks for. A name of something else that
/// merely sounds alike is none.
///
/// ```
/// use upheld_model::nearest::misspelt;
///
/// assert_eq!(misspelt("destintions", ["sources", "destinations"]), Some("destinations"));
/// assert_eq!(misspelt("resources", ["sources", "destinations"]), Some("sources"));
/// assert_eq!(misspelt("sorts", ["sources", "destinations"]), None);
/// ```
pub fn misspelt<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    within(written, candidates, 1 + written.chars().count() / 8)
}

/// Whether a name is most likely another one with a slip of the pen: other capitals, or one letter. Names that differ in a digit
/// are different.
///
/// ```
/// use upheld_model::nearest::is_slip;
///
/// assert!(is_slip("sectionname", "sectionName") && is_slip("attempt", "attempts"));
/// assert!(!is_slip("http3Options", "http2Options") && !is_slip("requestMirror", "request"));
/// ```
pub fn is_slip(written: &str, known: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|one| !one.is_ascii_digit()).collect::<String>();
    let (folded, name) = (written.to_lowercase(), known.to_lowercase());
    if folded == name {
        return true;
    }
    let close = folded.chars().count().abs_diff(name.chars().count()) <= 1 && name.chars().count() > 3;
    close && letters(&folded) != letters(&name) && distance(&folded, &name) <= 1
}

/// The question after a name that does not exist. It goes with `nearest(…).map(did_you_mean)`.
pub fn did_you_mean(name: impl Display) -> String {
    format!("did you mean `{name}`?")
}

/// Edits between two texts, a swap of neighbours counting as one.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut previous: Option<char> = None;
    for (row, x) in a.chars().enumerate() {
        let mut next = Vec::with_capacity(last.len());
        next.push(row + 1);
        for (column, &y) in b.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut best =
                (at(&last, column) + usize::from(x != y)).min(at(&last, column + 1) + 1).min(at(&next, column) + 1);
            let swapped = column > 0 && previous == Some(y) && b.get(column - 1) == Some(&x);
            if swapped {
                best = best.min(at(&before, column - 1) + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut last, next);
        previous = Some(x);
    }
    last.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_counts_once() {
        assert_eq!(distance("destinatoins", "destinations"), 1);
    }

    #[test]
    fn equal_distance_goes_to_the_first_by_name() {
        assert_eq!(nearest("web-3", ["web-2", "web-1"]), Some("web-1"));
    }

    #[test]
    fn long_texts_do_not_explode() {
        let long = "x".repeat(5_000);
        assert_eq!(nearest(&long, ["sources"]), None);
    }
}
