//! A short fuzz run: the same few thousand damaged documents each time. None may panic, and whatever is read must be
//! well formed. The folder `fuzz` has the long run.

use upheld_loader::{Input, read};
use upheld_model::{Diagnostics, Files, Kind, Span, Tree, Value};

const YAML: &str = "%YAML 1.2\n---\napiVersion: kuma.io/v1alpha1\nkind: MeshTimeout # comment\nmetadata: &meta\n  name: \"tim\\u00e9out\"\n  labels: {kuma.io/mesh: default, 'it''s': !!str 5}\nspec:\n  <<: [*meta, {x: &x [1, 2.5e3, ~]}]\n  to:\n    - targetRef: *x\n      text: |+\n        one\n          two\n\n    - ? complex\n      : >-\n        folded\n        text\n---\n- yes\n- 0x1F\n- - a\n  - b: [c, d: e]\n...\n---\n\"key\": value\n";
const JSON: &str = "{\"kind\": \"Mesh\", \"text\": \"a\\n\\u00e9\\ud83d\\ude00é\", \"list\": [1, -2.5e+3, true, false, null, {}], \"map\": {\"a\": {\"b\": []}}}";
const LINES: &str =
    "{\"a\": 1}\n\n[\"b\", {\"c\": \"\\t\"}]\r\n\"d\"\nnull\n-0.5\n{\"kind\": \"Mesh\", \"name\": \"default\"}\n";

const TABLE: &str =
    "ref,tags.é[],\"a \"\"b\"\"\",tags.team\r\nx,dev;test,\"1, 2\",\n\"y\",,\"\",red\n\nz,\"a\"\"b;c\",é,\n";

/// What hurts most where it does not belong.
const TOKENS: [&[u8]; 40] = [
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b"  ",
    b"\n  ",
    b"\n---\n",
    b"\n...\n",
    b": ",
    b":",
    b"- ",
    b"? ",
    b"[",
    b"]",
    b"{",
    b"}",
    b",",
    b"\"",
    b"'",
    b"\\",
    b"\\u",
    b"&a ",
    b"*a",
    b"*x ",
    b"<<: ",
    b"!",
    b"!!int ",
    b"%",
    b"#",
    b" # ",
    b"|",
    b">-\n",
    b"@",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"\xc3",
    b"true",
    b"1e9",
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

    /// Damages a document in up to eight places.
    fn damage(&mut self, mut bytes: Vec<u8>, other: &[u8]) -> Vec<u8> {
        for _ in 0..=self.below(8) {
            let at = self.below(bytes.len() + 1);
            let end = (at + self.below(20)).min(bytes.len());
            match self.below(7) {
                0 => drop(bytes.drain(at..end)),
                1 => bytes.truncate(at),
                2 => {
                    let random = u8::try_from(self.below(256)).unwrap();
                    bytes.insert(at, random);
                }
                3 => {
                    let copy = bytes[at..end].to_vec();
                    let to = self.below(bytes.len() + 1);
                    bytes.splice(to..to, copy);
                }
                4 => {
                    let start = self.below(other.len());
                    let length = self.below(other.len() - start);
                    bytes.splice(at..end, other[start..start + length].iter().copied());
                }
                _ => {
                    let token = TOKENS[self.below(TOKENS.len())];
                    bytes.splice(at..at, token.iter().copied());
                }
            }
        }
        bytes
    }
}

#[test]
fn damaged_documents_never_panic_and_what_is_read_is_well_formed() {
    let mut numbers = Numbers(0x5eed_5eed_5eed_5eed);
    let seeds = [("a.yaml", YAML), ("a.json", JSON), ("a.jsonl", LINES), ("a.csv", TABLE), ("-", JSON)];
    for round in 0..1_500 {
        for (position, (name, seed)) in seeds.iter().enumerate() {
            let other = seeds[(position + round) % seeds.len()].1.as_bytes();
            let bytes = numbers.damage(seed.as_bytes().to_vec(), other);
            let (files, problems) = read(vec![Input::bytes(*name, bytes)]);
            check(&files, &problems);
        }
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut numbers = Numbers(0x00c0_ffee_00c0_ffee);
    for _ in 0..500 {
        for name in ["a.yaml", "a.json", "a.jsonl", "a.csv"] {
            let length = numbers.below(200);
            // A table is only read further if its header is one of ours.
            let start: &[u8] = if name == "a.csv" { b"ref,a.b[]\n" } else { b"" };
            let random = (0..length).map(|_| u8::try_from(numbers.below(256)).unwrap());
            let random = start.iter().copied().chain(random).collect();
            let printable = (0..length).flat_map(|_| TOKENS[numbers.below(TOKENS.len())].to_vec());
            let printable = start.iter().copied().chain(printable).collect();
            let (files, problems) = read(vec![Input::bytes(name, random), Input::bytes(name, printable)]);
            check(&files, &problems);
        }
    }
}

fn check(files: &Files, problems: &Diagnostics) {
    for (_, file) in files.iter() {
        for document in file.tree.documents() {
            check_value(&file.tree, document);
        }
    }
    for problem in problems.as_slice() {
        assert!(!problem.message.is_empty() && !problem.message.ends_with('.'), "{problem:?}");
        for label in problem.label.iter().chain(&problem.related) {
            check_span(&files.get(label.source).unwrap().tree, label.span);
        }
    }
}

fn check_value(tree: &Tree, value: Value<'_>) {
    check_span(tree, value.span());
    match value.kind() {
        Kind::List => value.items().for_each(|item| check_value(tree, item)),
        Kind::Map => {
            for (key, value) in value.entries() {
                assert!(!matches!(key.kind(), Kind::List | Kind::Map));
                check_span(tree, key.span());
                check_value(tree, value);
            }
        }
        Kind::Bool => assert!(value.as_bool().is_some()),
        Kind::Float => assert!(value.as_number().is_some(), "{}", value.text()),
        Kind::Null | Kind::Integer | Kind::Text => {}
    }
}

/// Inside of the text, and between characters.
fn check_span(tree: &Tree, span: Span) {
    assert!(tree.text().get(span.start as usize..span.end as usize).is_some(), "{span:?} of {:?}", tree.text());
}
