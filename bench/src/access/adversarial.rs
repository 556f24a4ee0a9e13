//! Policies that are made to be slow for an index: the answers must stay right, and no decision should take much longer
//! than the plain loop does.

use std::rc::Rc;
use std::time::Duration;

use super::ours::Ours;
use super::plain::Plain;
use super::workload::{Effect, Policy, Request, SubjectTest, User};
use super::{Decider, Plan};
use crate::measure::{interleaved, timed};
use crate::report::{self, figure, grouped, number, ratio, row};
use crate::workload::random::Random;

/// The most wildcards of a pattern.
const WILDCARDS: usize = 16;

/// Segments of the longest path.
const LONGEST: usize = 40;

const REQUESTS: usize = 50;

/// Makes the policies of a set.
type Set = fn(usize, &mut Random) -> Policy;

const SETS: [(&str, Set); 4] = [
    ("many inner `**`, up to 16 wildcards", many_wildcards),
    ("`**` and `*` in turn, all alike but the end", alike),
    ("many policies with one pattern", one_pattern),
    ("many policies of one role on `/**`", one_role),
];

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan) -> Result<usize, String> {
    report::heading(&format!("Adversarial: {} policies each, µs of a decision", grouped(plan.adversarial)));
    row("", ["plain loop", "ours", "plain loop / ours", "listing, ours", "checked (wrong)"]);
    let mut wrong = 0;
    for (name, set) in SETS {
        report::progress(&format!("adversarial: {name}"));
        wrong += measure(name, set, plan)?;
    }
    Ok(wrong)
}

fn measure(name: &str, set: Set, plan: &Plan) -> Result<usize, String> {
    let mut random = Random::new(13);
    let policies: Vec<Policy> = (0..plan.adversarial).map(|number| set(number, &mut random)).collect();
    let requests: Vec<Request> = (0..REQUESTS).map(|_| request(&mut random)).collect();
    let (mut plain, mut ours, mut lister) = (Plain::new(&policies), Ours::new(&policies)?, Ours::new(&policies)?);
    let mut wrong = 0;
    for request in &requests {
        let same = plain.decide(request) == ours.decide(request) && plain.matching(request) == ours.matching(request);
        wrong += usize::from(!same);
    }
    let [plain, ours, listing] = interleaved(
        plan.rounds,
        [
            &mut || Ok(time_all(&requests, |request| usize::from(plain.decide(request)))),
            &mut || Ok(time_all(&requests, |request| usize::from(ours.decide(request)))),
            &mut || Ok(time_all(&requests, |request| lister.matching(request))),
        ],
    )?;
    let microseconds = |time: Duration| figure(time.as_secs_f64() * 1e6 / number(requests.len()));
    let cells = [microseconds(plain), microseconds(ours), figure(ratio(plain, ours)), microseconds(listing)];
    row(name, cells.into_iter().chain([format!("{} ({wrong})", grouped(requests.len()))]));
    Ok(wrong)
}

fn time_all(requests: &[Request], act: impl FnMut(&Request) -> usize) -> Duration {
    timed(|| std::hint::black_box(requests.iter().map(act).sum::<usize>())).1
}

/// `/**/a/**/b/**`, of two different segments, so that every `**` can stop in many places.
fn many_wildcards(number: usize, random: &mut Random) -> Policy {
    let mut pattern = String::new();
    for _ in 0..=random.below(WILDCARDS) {
        pattern.push_str(if random.one_in(4) { "/*" } else { "/**" });
        if !random.one_in(3) {
            pattern.push('/');
            pattern.push_str(segment(random));
        }
    }
    policy(number, pattern, random)
}

/// `/**/*/**/*/a/…`: all share the way to the end.
fn alike(number: usize, random: &mut Random) -> Policy {
    let pattern = format!("{}/{}/end-{number}", "/**/*".repeat(WILDCARDS / 2), segment(random));
    policy(number, pattern, random)
}

fn one_pattern(number: usize, random: &mut Random) -> Policy {
    let mut policy = policy(number, "/a/**".to_owned(), random);
    policy.subjects = vec![SubjectTest::Role(format!("role-{}", number + 2))];
    policy
}

fn one_role(number: usize, random: &mut Random) -> Policy {
    let mut policy = policy(number, "/**".to_owned(), random);
    policy.effect = Effect::Permit;
    policy
}

/// A policy that the user has the role for; one in fifty denies.
fn policy(number: usize, pattern: String, random: &mut Random) -> Policy {
    let effect = if random.one_in(50) { Effect::Deny } else { Effect::Permit };
    let subjects = vec![SubjectTest::Role("role-1".to_owned())];
    Policy { id: format!("policy-{number}"), effect, subjects, pattern, methods: vec!["GET".to_owned()] }
}

fn request(random: &mut Random) -> Request {
    let path = (0..=random.below(LONGEST)).map(|_| format!("/{}", segment(random))).collect();
    let roles = vec!["role-1".to_owned()];
    let user = User { id: "user-1".to_owned(), roles, groups: Vec::new(), claims: Vec::new() };
    Request::new(Rc::new(user), "GET".to_owned(), path)
}

fn segment(random: &mut Random) -> &'static str {
    if random.one_in(4) { "b" } else { "a" }
}
