//! Sets of policies, in each other, with all that a policy may have.

use jiff::tz::TimeZone;
use smol_str::{SmolStr, format_smolstr};
use upheld_model::{NodeRef, SourceId, Timestamp};

use super::super::changing::Step;
use super::Bytes;
use super::alternatives::{action, resource, subject};
use super::crowds::{crowd, many};
use crate::decide::condition::{AddressLists, Condition, Midnight, TimeWindow, Validity, Weekdays};
use crate::decide::expression::Expression;
use crate::decide::rule::{Matcher, Member, Rule, Set, Status, Target};
use crate::decide::value::{Algorithm, Effect};

/// How deep sets stand in each other.
const DEEPEST: usize = 3;
/// How many policies there are at most, about; the naive way looks at all of them.
const MOST: usize = 300;

/// What conditions say besides times and addresses.
pub(in crate::decide) const EXPRESSIONS: [&str; 8] = [
    "true",
    "subject.claims.level > 1",
    "subject.claims.x == resource.x",
    "'a' in subject.roles",
    "action.method == 'GET' || subject.id == 'a'",
    "resource.path.startsWith('/a') && subject.type != 'b'",
    "has(subject.claims.level) ? subject.claims.level < 2 : false",
    "environment.x.y == 1",
];

/// The outermost set. Its target is everything, mostly.
pub(super) fn root(bytes: &mut Bytes<'_>) -> Set {
    let with_target = bytes.one_in(16);
    set(bytes, 0, with_target)
}

/// A step of a change of the outermost set.
pub(super) fn step(bytes: &mut Bytes<'_>) -> Step {
    let place = bytes.below(64);
    match bytes.below(16) {
        0..6 => {
            let target = target(bytes);
            Step::Replace(place, rule(bytes, target))
        }
        6..10 => Step::Remove(place),
        10 => Step::Insert(place, set(bytes, DEEPEST, false).into()),
        11 => {
            let algorithm = bytes.pick(&Algorithm::ALL);
            Step::Settings(algorithm, if bytes.one_in(3) { Some(effect(bytes)) } else { None })
        }
        _ => {
            let target = target(bytes);
            Step::Insert(place, rule(bytes, target).into())
        }
    }
}

fn set(bytes: &mut Bytes<'_>, depth: usize, with_target: bool) -> Set {
    let algorithm = bytes.pick(&Algorithm::ALL);
    let default = if bytes.one_in(3) { Some(effect(bytes)) } else { None };
    let target = if with_target { target(bytes) } else { Target::default() };
    let priority = priority(bytes);
    let mut members = Vec::new();
    if bytes.given_out() < MOST && bytes.one_in(2) {
        members.extend(crowd(bytes).into_iter().map(Member::from));
    }
    members.extend(bytes.any(7, |bytes| member(bytes, depth)));
    let name = format_smolstr!("s{}", bytes.new_number());
    Set { name, algorithm, default, target, duties: Vec::new(), priority, members, at: None }
}

fn member(bytes: &mut Bytes<'_>, depth: usize) -> Member {
    if depth < DEEPEST && bytes.given_out() < MOST && bytes.one_in(5) {
        let with_target = bytes.one_in(3);
        return set(bytes, depth + 1, with_target).into();
    }
    let target = if bytes.one_in(48) { many(bytes) } else { target(bytes) };
    rule(bytes, target).into()
}

/// A policy with a target.
pub(super) fn rule(bytes: &mut Bytes<'_>, target: Target) -> Rule {
    let conditions = if bytes.one_in(4) { bytes.some(2, condition) } else { Vec::new() };
    Rule {
        name: format_smolstr!("p{}", bytes.new_number()),
        description: None,
        effect: effect(bytes),
        target,
        conditions,
        duties: Vec::new(),
        priority: priority(bytes),
        status: if bytes.one_in(12) { Status::Off } else { Status::On },
        at: NodeRef { source: SourceId::new(0), node: 0 },
    }
}

fn effect(bytes: &mut Bytes<'_>) -> Effect {
    match bytes.below(48) {
        47 => Effect::Foreign,
        number if number % 2 == 0 => Effect::Permit,
        _ => Effect::Deny,
    }
}

/// Few of them, so that many are equal.
fn priority(bytes: &mut Bytes<'_>) -> f64 {
    bytes.pick(&[0.0, 0.0, 0.0, -0.0, 1.0, -1.0])
}

/// Every other clause asks for nothing, so that many policies apply.
fn target(bytes: &mut Bytes<'_>) -> Target {
    let mut clause = |one: fn(&mut Bytes<'_>) -> Matcher| match bytes.below(4) {
        0 | 1 => Vec::new(),
        2 => vec![one(bytes)],
        _ => bytes.some(3, one),
    };
    Target { subjects: clause(subject), resources: clause(resource), actions: clause(action) }
}

fn condition(bytes: &mut Bytes<'_>) -> Condition {
    match bytes.below(8) {
        0 | 1 => Condition::Time(window(bytes)),
        2 => Condition::Validity(validity(bytes)),
        3 => {
            let network = |text: &str| text.parse().ok();
            let allow = if bytes.one_in(3) { None } else { network("10.0.0.0/8").map(|one| vec![one]) };
            let block = network(bytes.pick(&["10.1.0.0/16", "192.0.2.0/24", "2001:db8::/32"]));
            Condition::Address(AddressLists::Networks { allow, block: block.into_iter().collect() })
        }
        4 => {
            let block = vec![SmolStr::new_static("192.0.2.9")];
            Condition::Address(AddressLists::Texts { allow: None, block })
        }
        5 => Condition::Always,
        _ => Expression::parse(bytes.pick(&EXPRESSIONS)).map_or(Condition::Always, Condition::Expression),
    }
}

fn window(bytes: &mut Bytes<'_>) -> TimeWindow {
    let hour =
        |bytes: &mut Bytes<'_>| u32::try_from(bytes.below(25)).ok().filter(|hour| *hour > 0).map(|hour| hour * 3600);
    TimeWindow {
        after: hour(bytes),
        before: hour(bytes),
        days: bytes.one_in(2).then(|| Weekdays::of([4, 5])),
        midnight: if bytes.one_in(2) { Midnight::Never } else { Midnight::Crossed },
        zone: TimeZone::UTC,
        dates: Validity::default(),
    }
}

fn validity(bytes: &mut Bytes<'_>) -> Validity {
    let day = |bytes: &mut Bytes<'_>| {
        let day = i64::try_from(bytes.below(4)).unwrap_or_default();
        (day > 0).then_some(Timestamp(day * 24 * 3600 * 1_000_000_000))
    };
    Validity { from: day(bytes), until: day(bytes) }
}
