//! Instructions of one decision.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::Decider;
use super::deciding::{Documents, WORST, request};
use super::ours::Ours;
use super::plain::Plain;
use super::workload::{Request, Workload};
use crate::instructions::{can_be_counted, of_one_act};
use crate::report::{self, Targets, figure, grouped, row};

/// The name under which this program starts itself to decide about requests.
pub(crate) const CHILD: &str = "decide-requests";

/// Numbers of policies, with the most instructions of one decision.
const SIZES: [(usize, f64); 3] = [(10, 3_500.0), (1_000, 4_500.0), (100_000, 5_500.0)];

/// Who is counted: as an argument, and in the table.
const WHO: [(&str, &str); 5] = [
    ("ours", "ours"),
    ("listing", "ours, listing all matching policies"),
    ("decider", "ours, completed by directory, hosts and time (with a copy)"),
    ("copy", "the copy"),
    ("plain", "plain loop over the policies"),
];

/// The most that a decider may take, in instructions of the engine alone.
const COMPLETED: f64 = 1.3;
/// The most that a request may take, in instructions of an ordinary one of its size.
const WORST_TO_ORDINARY: f64 = 30.0;
/// How often each of them is asked in a pass.
const WORST_REQUESTS: usize = 50;
/// Policies that the worst requests are decided by.
const POLICIES_OF_WORST: usize = 1_000;

/// Requests of a pass, and for how long a pass may run without valgrind; the slow get fewer requests.
const REQUESTS: usize = 2_000;
const PASS: Duration = Duration::from_millis(50);

/// Counts and prints.
pub(crate) fn run() -> Result<(), String> {
    if !can_be_counted() {
        return Ok(());
    }
    let mut targets = Targets::default();
    let mut counts = [const { Vec::new() }; 5];
    for (policies, target) in SIZES {
        for ((who, _), counts) in WHO.into_iter().zip(&mut counts) {
            let requests = affordable(who, policies)?;
            let [policies_text, requests_text] = [policies, requests].map(grouped);
            report::progress(&format!("counting: {who}, {policies_text} policies, {requests_text} requests"));
            counts.push(of_one_act(CHILD, &[who, &policies.to_string(), &requests.to_string()])?);
        }
        let [ours, listing, decider, copy, _] = &counts;
        if let (Some(ours), Some(listing), Some(decider), Some(copy)) =
            (ours.last(), listing.last(), decider.last(), copy.last())
        {
            let size = format!("N = {}", grouped(policies));
            targets.at_most(&format!("{size}: instructions of a decision"), *ours, target);
            targets.at_most(&format!("{size}: instructions of listing / of a decision"), listing / ours, 1.15);
            targets.at_most(
                &format!("{size}: instructions of a decider / of a decision"),
                (decider - copy) / ours,
                COMPLETED,
            );
        }
    }
    if let [few, .., many] = counts[0].as_slice() {
        targets.at_most("growth of the instructions of a decision, N = 100 000 / N = 10", many / few, 1.6);
    }
    report::heading("Instructions of one decision from strings");
    row("", SIZES.iter().map(|(policies, ..)| format!("N = {}", grouped(*policies))));
    for ((_, name), counts) in WHO.into_iter().zip(&counts) {
        row(name, counts.iter().map(|count| figure(*count)));
    }
    worst(&mut targets)?;
    targets.print();
    Ok(())
}

/// The worst requests against ordinary ones of their size.
fn worst(targets: &mut Targets) -> Result<(), String> {
    report::heading(&format!("Instructions of the worst requests, {} policies", grouped(POLICIES_OF_WORST)));
    row("", ["worst", "ordinary of its size", "worst / ordinary"]);
    for name in WORST {
        report::progress(&format!("counting: the worst {name}"));
        let (policies, requests) = (POLICIES_OF_WORST.to_string(), WORST_REQUESTS.to_string());
        let of = |which: &str| of_one_act(CHILD, &[which, &policies, &requests]);
        let (worst, ordinary) = (of(&format!("worst-{name}"))?, of(&format!("ordinary-{name}"))?);
        row(name, [worst, ordinary, worst / ordinary].map(figure));
        targets.at_most(
            &format!("{name}: instructions of the worst / of an ordinary request"),
            worst / ordinary,
            WORST_TO_ORDINARY,
        );
    }
    Ok(())
}

/// How many requests fit into a pass.
fn affordable(who: &str, policies: usize) -> Result<usize, String> {
    let workload = Workload::new(policies, REQUESTS);
    let mut act = actor(who, &workload)?;
    let started = Instant::now();
    let act = |request: &&Request| {
        black_box(act(request));
        started.elapsed() < PASS
    };
    Ok(workload.requests.iter().take_while(act).count().max(1))
}

/// What the child does: decides about so many requests, in so many passes; it prints the number of requests.
pub(crate) fn decide_requests(arguments: &[&str]) -> Result<(), String> {
    let [who, numbers @ ..] = arguments else { return Err("who decides?".to_owned()) };
    let numbers: Vec<usize> = numbers.iter().filter_map(|number| number.parse().ok()).collect();
    let [policies, requests, passes] = numbers.as_slice() else { return Err("three numbers are needed".to_owned()) };
    let workload = Workload::new(*policies, *requests);
    let mut act = actor(who, &workload)?;
    for _ in 0..*passes {
        for request in &workload.requests {
            black_box(act(request));
        }
    }
    println!("{requests}");
    Ok(())
}

/// What is done with a request.
type Actor = Box<dyn FnMut(&Request) -> usize>;

fn actor(who: &str, workload: &Workload) -> Result<Actor, String> {
    let (mut ours, mut plain) = (Ours::new(&workload.policies)?, Plain::new(&workload.policies));
    let one_of = |prefix: &str| who.strip_prefix(prefix).filter(|name| WORST.contains(name));
    if let Some((name, is_worst)) =
        one_of("worst-").map(|name| (name, true)).or(one_of("ordinary-").map(|name| (name, false)))
    {
        let mut act = Documents::new(&workload.policies)?.act()?;
        let requests: Vec<_> = (0..10).map(|number| request(name, is_worst, number)).collect();
        let mut requests = requests.into_iter().cycle();
        return Ok(Box::new(move |_| requests.next().map_or(0, &mut act)));
    }
    if who == "decider" {
        let mut act = Documents::new(&workload.policies)?.act()?;
        return Ok(Box::new(move |request| act(request.own.clone())));
    }
    Ok(match who {
        "copy" => Box::new(|request| black_box(request.own.clone()).subject.claims.len()),
        "ours" => Box::new(move |request| usize::from(ours.decide(request))),
        "listing" => Box::new(move |request| ours.matching(request)),
        _ => Box::new(move |request| usize::from(plain.decide(request))),
    })
}
