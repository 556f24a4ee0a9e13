//! A short fuzz run: the same bodies each time, most of them damaged examples. The folder `fuzz` has the long run.

use upheld_server::fuzzing::Target;

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
