//! Short fuzz runs: the kept bytes of every target, and the same damaged ones each time. The folder `fuzz` has the long runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use upheld_server::fuzzing::{TARGETS, Target};

/// What hurts most where it does not belong.
const TOKENS: [&[u8]; 24] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\u00",
    b"\\ud800",
    b"null",
    b"-1",
    b"1e999",
    b"18446744073709551616",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\n---\n",
    b"&a ",
    b"*a",
    b"!!int ",
    b"/../",
    b"%2e",
    b"\x08\xff\xff\xff\xff\x0f",
    b"**",
];

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (limit.max(1) as u64)).unwrap()
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap()
    }

    /// Damages a body in up to six places.
    fn damage(&mut self, mut bytes: Vec<u8>, other: &[u8]) -> Vec<u8> {
        for _ in 0..=self.below(6) {
            let at = self.below(bytes.len() + 1);
            let end = (at + self.below(16)).min(bytes.len());
            match self.below(6) {
                0 => drop(bytes.drain(at..end)),
                1 => {
                    let byte = self.byte();
                    bytes.splice(at..end.min(at + 1), [byte]);
                }
                2 => {
                    let copy = bytes[at..end].to_vec();
                    bytes.splice(at..at, copy);
                }
                3 => {
                    let start = self.below(other.len());
                    let length = self.below(other.len() - start);
                    bytes.splice(at..end, other[start..start + length].iter().copied());
                }
                _ => {
                    let token = TOKENS[self.below(TOKENS.len())];
                    bytes.splice(at..end, token.iter().copied());
                }
            }
        }
        bytes
    }
}

fn check(target: &Target, place: u8, body: &[u8]) {
    if let Err(wrong) = target.check(&[&[place], body].concat()) {
        panic!("{wrong}\nof {:?}", String::from_utf8_lossy(body));
    }
}

#[test]
fn the_examples_are_understood() {
    let target = Target::start().unwrap();
    for example in Target::examples() {
        assert_eq!(target.check(&example), Ok(true), "{:?}", String::from_utf8_lossy(&example));
    }
}

#[test]
fn whatever_comes_is_answered() {
    let target = Target::start().unwrap();
    let examples: Vec<Vec<u8>> = Target::examples().collect();
    let mut numbers = Numbers(0x5eed_5eed_5eed_5eed);
    for round in 0..200 {
        for (position, example) in examples.iter().enumerate() {
            let (place, body) = (example[0], &example[1..]);
            let other = &examples[(position + round) % examples.len()][1..];
            let damaged = numbers.damage(body.to_vec(), other);
            check(&target, place, &damaged);
            check(&target, place, other);
            let length = numbers.below(64);
            let random: Vec<u8> = (0..length).map(|_| numbers.byte()).collect();
            check(&target, place, &random);
        }
    }
}

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn every_target_reads_its_kept_bytes_and_damaged_ones() {
    let all: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    assert_eq!(names(&kept()), all, "a folder in fuzz/corpus for each target");
    let mut numbers = Numbers(0x5eed_5eed_5eed_5eed);
    for target in TARGETS {
        let folder = kept().join(target.name);
        let texts: Vec<Vec<u8>> = names(&folder).iter().map(|name| fs::read(folder.join(name)).unwrap()).collect();
        assert!(!texts.is_empty(), "{} has kept bytes", target.name);
        let damaged = (0..8).flat_map(|_| &texts).map(|text| numbers.damage(text.clone(), text)).collect::<Vec<_>>();
        for bytes in texts.iter().chain(&damaged).map(Vec::as_slice).chain([&b""[..], &[0xff; 64]]) {
            if let Err(wrong) = (target.check)(bytes) {
                panic!("{}: {wrong}\nof {:?}", target.name, String::from_utf8_lossy(bytes));
            }
        }
    }
}
