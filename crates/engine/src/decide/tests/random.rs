//! A short run of the fuzz target `decide`, the same in every build; the folder `fuzz` has the long one.

use std::collections::BTreeMap;

use crate::decide::reference::changing::Changing;
use crate::decide::reference::random::{EXPRESSIONS, World, check};
use crate::decide::*;
use crate::{Scratch, Silent, ask};

/// Bytes that look random and are the same in every run.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 32).unwrap()
    }

    pub(super) fn bytes(&mut self, most: usize) -> Vec<u8> {
        let length = self.next() % most;
        (0..length).map(|_| u8::try_from(self.next() % 256).unwrap()).collect()
    }
}

#[test]
fn random_bytes_are_decided_as_the_naive_way() {
    let mut numbers = Numbers(0x5eed_5eed_5eed_5eed);
    for round in 0..300 {
        let bytes = numbers.bytes(2000);
        if let Err(difference) = check(&bytes) {
            panic!("round {round}: {difference}");
        }
    }
}

#[test]
fn no_bytes_are_decided_as_the_naive_way() {
    check(&[]).unwrap();
}

fn patterns_of<'s>(set: &'s Set, all: &mut Vec<&'s Glob>) {
    for member in &set.members {
        match member {
            Member::Set(inner) => patterns_of(inner, all),
            Member::Rule(rule) => {
                for test in rule.target.resources.iter().flat_map(|matcher| &matcher.tests) {
                    let Test::Path(patterns) = test else { continue };
                    all.extend(patterns.iter().filter_map(|pattern| match pattern {
                        PathPattern::Glob(glob) => Some(glob),
                        PathPattern::Foreign(..) | PathPattern::Broken(_) => None,
                    }));
                }
            }
        }
    }
}

/// Long lists, many open ends, and every answer: what is never there is never compared.
#[test]
fn random_worlds_have_what_is_hard() {
    let mut numbers = Numbers(0x00c0_ffee_00c0_ffee);
    let (mut long_lists, mut many_paths, mut changed) = (0, 0, 0);
    let mut said: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..300 {
        let World { set, strictness, unknowns, requests, changes } = World::of(&numbers.bytes(2000));
        let mut changing = Changing::new(set.clone(), strictness, unknowns);
        changed += changes.into_iter().filter(|steps| changing.change(steps.clone())).count();
        let mut globs = Vec::new();
        patterns_of(&set, &mut globs);
        let mut by_text: BTreeMap<&str, usize> = BTreeMap::new();
        for glob in &globs {
            *by_text.entry(glob.text()).or_default() += 1;
        }
        long_lists += usize::from(by_text.values().any(|count| *count > 16));
        let decide = Decide::new(set.clone(), strictness).treating_unknowns(unknowns);
        let mut scratch = Scratch::default();
        for request in &requests {
            let decided = ask(&decide, &request, &mut scratch, &mut Silent);
            *said.entry(format!("{:?}", decided.value)).or_default() += 1;
            let Maybe::Is(path) = &request.resource.path else { continue };
            let mut open: Vec<&str> = globs.iter().filter(|glob| glob.matches(path)).map(|glob| glob.text()).collect();
            open.sort_unstable();
            open.dedup();
            many_paths += usize::from(open.len() > 64);
        }
    }
    assert!(long_lists >= 50, "{long_lists} long lists");
    assert!(many_paths >= 10, "{many_paths} requests with many paths");
    assert!(changed >= 300, "{changed} changes for their own price");
    assert!(said.len() >= 6 && said.values().all(|count| *count >= 1), "{said:?}");
}

#[test]
fn all_expressions_of_random_policies_can_be_read() {
    for text in EXPRESSIONS {
        Expression::parse(text).unwrap();
    }
}
