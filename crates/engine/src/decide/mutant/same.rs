//! What certainly fits the same requests. What cannot be known here may still do so.

use super::super::condition::{AddressLists, Condition};
use super::super::rule::{ANY_METHOD, Matcher, Test};
use super::values::apart;

/// So many alternatives are told apart value by value; where there are more, values are compared as they stand.
const MOST: usize = 64;

/// Whether some alternatives fit what others do: each is a special case of one on the other side.
pub(super) fn is_same(before: &[Matcher], after: &[Matcher]) -> bool {
    let (before, after) = (split(before), split(after));
    let within =
        |some: &[Matcher], others: &[Matcher]| some.iter().all(|one| others.iter().any(|other| implies(one, other)));
    within(&before, &after) && within(&after, &before)
}

/// Whether a condition holds whatever is asked.
pub(super) fn is_taken_for_granted(condition: &Condition) -> bool {
    match condition {
        Condition::Always => true,
        Condition::Address(AddressLists::Texts { allow: None, block }) => block.is_empty(),
        _ => false,
    }
}

/// Alternatives with one value in each test. A clause without alternatives is one without tests.
fn split(alternatives: &[Matcher]) -> Vec<Matcher> {
    if alternatives.is_empty() {
        return vec![Matcher::default()];
    }
    alternatives.iter().flat_map(split_one).collect()
}

fn split_one(matcher: &Matcher) -> Vec<Matcher> {
    let mut all = vec![Matcher::default()];
    for test in &matcher.tests {
        let values = apart(test);
        let values = if values.is_empty() || all.len() * values.len() > MOST { vec![test.clone()] } else { values };
        let with =
            |known: &Matcher, test: &Test| Matcher { tests: known.tests.iter().chain([test]).cloned().collect() };
        all = all.iter().flat_map(|known| values.iter().map(move |test| with(known, test))).collect();
    }
    all
}

/// Whether all that fits the one fits the other, too.
fn implies(special: &Matcher, general: &Matcher) -> bool {
    general.tests.iter().all(|test| is_always_true(test) || special.tests.contains(test))
}

fn is_always_true(test: &Test) -> bool {
    matches!(test, Test::Method(wanted) if wanted.iter().any(|wanted| wanted == ANY_METHOD))
}

#[cfg(test)]
mod tests {
    use smol_str::SmolStr;

    use super::*;

    fn one(tests: &[Test]) -> Matcher {
        Matcher { tests: tests.to_vec() }
    }

    fn groups(names: &[&str]) -> Test {
        Test::Group(names.iter().map(SmolStr::new).collect())
    }

    fn method(name: &str) -> Test {
        Test::Method(vec![name.into()])
    }

    #[test]
    fn what_another_alternative_covers_may_go() {
        let (wide, narrow) = (one(&[groups(&["a"])]), one(&[groups(&["a"]), method("GET")]));
        assert!(is_same(&[wide.clone(), narrow.clone()], std::slice::from_ref(&wide)));
        assert!(!is_same(&[wide.clone(), narrow.clone()], &[narrow]));
        assert!(is_same(&[wide.clone(), wide.clone()], &[wide]));
    }

    #[test]
    fn values_count_one_by_one() {
        let (both, apart) = ([one(&[groups(&["a", "b"])])], [one(&[groups(&["b"])]), one(&[groups(&["a"])])]);
        assert!(is_same(&both, &apart));
        assert!(!is_same(&both, &[one(&[groups(&["a"])])]));
    }

    #[test]
    fn any_method_is_no_test() {
        assert!(is_same(&[one(&[method("*")])], &[]));
        assert!(is_same(&[one(&[method("*"), groups(&["a"])])], &[one(&[groups(&["a"])])]));
        assert!(!is_same(&[one(&[method("GET")])], &[]));
    }
}
