//! Requests: mostly plain, sometimes with what is absent, unknown or odd.

use smol_str::SmolStr;
use upheld_model::Timestamp;

use super::Bytes;
use super::facts::{FACTS, fact, name, names};
use crate::decide::request::{Action, Environment, Fact, Facts, Maybe, Names, Request, Resource, Subject};

const PLAIN: [&str; 10] =
    ["a", "b", "ab", "aab", "", "c", "x", "é", "a-segment-of-over-sixteen-bytes", "a-segment-of-over-sixteen-bytez"];
const ODD: [&str; 20] = [
    ".",
    "..",
    "%61",
    "%2F",
    "%2e%2e",
    "%C3%A9",
    "%zz",
    "%00",
    "\0",
    "%ff",
    "*",
    ".a",
    "%2561",
    "a\nb",
    "..;x",
    "\\",
    "..%5c",
    "a;b",
    "a%2f..",
    "%252e%252e",
];
const METHODS: [&str; 8] = ["GET", "get", "POST", "PUT", "PURGE", "purge", "OTHER", "*"];

/// Half of the requests know all that the index asks for.
pub(super) fn request(bytes: &mut Bytes<'_>) -> Request {
    let doubts = bytes.one_in(2);
    Request {
        subject: subject(bytes, doubts),
        action: action(bytes, doubts),
        resource: resource(bytes, doubts),
        environment: environment(bytes, doubts),
    }
}

fn maybe<T>(bytes: &mut Bytes<'_>, doubts: bool, one: impl Fn(&mut Bytes<'_>) -> T) -> Maybe<T> {
    match bytes.below(16) {
        15 if doubts => Maybe::Unknown,
        14 => Maybe::Absent,
        _ => Maybe::Is(one(bytes)),
    }
}

fn subject(bytes: &mut Bytes<'_>, doubts: bool) -> Subject {
    Subject {
        kind: maybe(bytes, doubts, name),
        id: maybe(bytes, doubts, name),
        roles: several(bytes, doubts),
        groups: several(bytes, doubts),
        claims: facts(bytes, doubts),
    }
}

fn several(bytes: &mut Bytes<'_>, doubts: bool) -> Names {
    match bytes.below(16) {
        15 if doubts => Names::Unknown,
        12 if doubts => Names::at_least(names(bytes)),
        14 => Names::Known(Vec::new()),
        13 => Names::Known(bytes.some(24, name)),
        _ => Names::Known(names(bytes)),
    }
}

fn facts(bytes: &mut Bytes<'_>, doubts: bool) -> Facts {
    let mut facts = Facts::default();
    for _ in 0..bytes.below(5) {
        let name = bytes.pick(&FACTS);
        let value = if doubts && bytes.one_in(8) { doubtful(bytes) } else { fact(bytes) };
        facts.set(name, value);
    }
    facts
}

fn doubtful(bytes: &mut Bytes<'_>) -> Fact {
    match bytes.below(3) {
        0 => Fact::Unknown,
        1 => Fact::List(vec![fact(bytes), Fact::Unknown]),
        _ => Fact::Map(Facts::from_iter([("y".into(), Fact::Unknown)])),
    }
}

fn action(bytes: &mut Bytes<'_>, doubts: bool) -> Action {
    let method = maybe(bytes, doubts, |bytes| SmolStr::new_static(bytes.pick(&METHODS)));
    Action { method, operation: maybe(bytes, doubts, name), facts: facts(bytes, doubts) }
}

fn resource(bytes: &mut Bytes<'_>, doubts: bool) -> Resource {
    let mut facts = facts(bytes, doubts);
    for field in ["owner", "ownerId"] {
        if bytes.one_in(3) {
            facts.set(field, Fact::Text(name(bytes)));
        }
    }
    let path = maybe(bytes, doubts, |bytes| path(bytes, doubts));
    Resource {
        app: maybe(bytes, doubts, name),
        path,
        kind: maybe(bytes, doubts, name),
        id: maybe(bytes, doubts, name),
        facts,
    }
}

/// Three of the same are what crowds of patterns cover.
fn path(bytes: &mut Bytes<'_>, odd: bool) -> SmolStr {
    let segments = match bytes.below(16) {
        0..3 => return SmolStr::new_static("/a/a/a"),
        3 => vec!["a"; 3 + bytes.below(60)],
        _ => bytes.some(6, |bytes| match bytes.below(8) {
            7 if odd => bytes.pick(&ODD),
            0..5 => bytes.pick(PLAIN.get(..4).unwrap_or_default()),
            _ => bytes.pick(&PLAIN),
        }),
    };
    let start = if bytes.one_in(8) { "" } else { "/" };
    format!("{start}{}", segments.join("/")).into()
}

fn environment(bytes: &mut Bytes<'_>, doubts: bool) -> Environment {
    const HOUR: i64 = 3600 * 1_000_000_000;
    let hour = |bytes: &mut Bytes<'_>| Timestamp(i64::try_from(bytes.below(96)).unwrap_or_default() * HOUR);
    let address = |bytes: &mut Bytes<'_>| {
        SmolStr::new_static(bytes.pick(&["10.1.2.3", "192.0.2.9", "::ffff:10.1.2.3", "2001:db8::1", "nonsense"]))
    };
    Environment { ip: maybe(bytes, doubts, address), time: maybe(bytes, doubts, hour), facts: facts(bytes, doubts) }
}
