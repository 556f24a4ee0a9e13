//! What the contest found, as tables, and the targets.

use std::time::Duration;

use super::contest::{Found, Size};
use super::peers::{self, Peer};
use crate::report::{self, Targets, figure, grouped, number, ratio, row, time};

pub(super) fn print(found: &[Size]) {
    let sizes = || found.iter().map(|size| format!("N = {}", grouped(size.policies)));
    report::heading("Requests: how many of a hundred match a policy, and how many of them");
    row("", sizes());
    row("one policy or more", found.iter().map(|size| share(size, 1..)));
    for count in 1..=5 {
        row(&format!("{count}"), found.iter().map(|size| share(size, count..=count)));
    }
    row("more than 5", found.iter().map(|size| share(size, 6..)));
    row("of so many requests", found.iter().map(|size| grouped(size.matched.iter().sum())));

    report::heading("Decisions from strings, µs (and how many times slower than ours)");
    row("", sizes());
    row("ours", found.iter().map(|size| microseconds(size.ours.decision)));
    row("ours, listing all matching policies", found.iter().map(|size| against_ours(size.listing, size)));
    each(found, |found, size| against_ours(found.decision, size));

    report::heading("Allocations of one decision");
    row("", sizes());
    row("ours", found.iter().map(|size| figure(size.ours.allocations)));
    each(found, |found, _| figure(found.allocations));

    report::heading("Loading (and of one policy, µs)");
    row("", sizes());
    row("ours", found.iter().map(|size| loading(&size.ours, size)));
    row("ours, the index alone", found.iter().map(|size| loading(&size.index, size)));
    each(found, loading);

    report::heading("Bytes of memory for one policy: kept, and at most while loading");
    row("", sizes());
    row("ours", found.iter().map(|size| bytes(&size.ours, size)));
    row("ours, the index alone", found.iter().map(|size| bytes(&size.index, size)));
    each(found, bytes);

    report::heading("Decisions checked against the plain loop (wrong)");
    row("", sizes());
    row("ours, with the number of matching policies", found.iter().map(|size| checked(&size.ours)));
    each_peer(found, |found, _| checked(found));
}

/// A line for each rival.
fn each(found: &[Size], cell: impl Fn(&Found, &Size) -> String) {
    row("plain loop over the policies", found.iter().map(|size| cell(&size.plain, size)));
    each_peer(found, cell);
}

fn each_peer(found: &[Size], cell: impl Fn(&Found, &Size) -> String) {
    for &peer in peers::all() {
        let cell = |size| Size::peer(size, peer).map_or_else(|| "-".to_owned(), |found| cell(found, size));
        row(peer.name, found.iter().map(cell));
    }
}

fn share(size: &Size, counts: impl std::ops::RangeBounds<usize>) -> String {
    let all: usize = size.matched.iter().sum();
    let some = size.matched.iter().enumerate().filter(|(count, _)| counts.contains(count));
    format!("{:.2} %", number(some.map(|(_, requests)| requests).sum()) / number(all.max(1)) * 100.0)
}

fn microseconds(time: Duration) -> String {
    match time.as_secs_f64() * 1e6 {
        microseconds if microseconds < 10.0 => format!("{microseconds:.3}"),
        microseconds => figure(microseconds),
    }
}

fn against_ours(time: Duration, size: &Size) -> String {
    format!("{} (x {})", microseconds(time), figure(ratio(time, size.ours.decision)))
}

fn loading(found: &Found, size: &Size) -> String {
    format!("{} ({})", time(found.load), figure(load_of_policy(found, size)))
}

fn load_of_policy(found: &Found, size: &Size) -> f64 {
    found.load.as_secs_f64() * 1e6 / number(size.policies)
}

fn bytes(found: &Found, size: &Size) -> String {
    let [live, peak] = [found.live, found.peak].map(|bytes| number(bytes) / number(size.policies));
    format!("{}, {}", figure(live), figure(peak))
}

fn checked(found: &Found) -> String {
    format!("{} ({})", grouped(found.checked), found.wrong)
}

/// How many times faster than a peer we must be at a number of policies.
const FASTER: [(Peer, usize, f64); 14] = [
    (peers::CEL, 10, 8.0),
    (peers::CEL, 1_000, 250.0),
    (peers::CEDAR, 10, 30.0),
    (peers::CEDAR, 1_000, 1_500.0),
    (peers::CEDAR, 10_000, 15_000.0),
    (peers::REGORUS, 10, 50.0),
    (peers::REGORUS, 1_000, 2_500.0),
    (peers::REGORUS_INDEXED, 10, 60.0),
    (peers::REGORUS_INDEXED, 100, 60.0),
    (peers::REGORUS_INDEXED, 1_000, 60.0),
    (peers::REGORUS_INDEXED, 10_000, 60.0),
    (peers::REGORUS_INDEXED, 100_000, 60.0),
    (peers::CASBIN, 10, 40.0),
    (peers::CASBIN, 1_000, 3_000.0),
];

/// How many times faster than the plain loop we must be at a number of policies.
const FASTER_THAN_PLAIN: [(usize, f64); 3] = [(100, 3.0), (1_000, 30.0), (10_000, 300.0)];

/// From so many policies on, what one of them costs is looked at.
const MANY: usize = 1_000;

pub(super) fn judge(found: &[Size], targets: &mut Targets) {
    let at = |policies: usize| found.iter().find(|size| size.policies == policies);
    for (peer, policies, target) in FASTER {
        if let Some((size, rival)) = at(policies).and_then(|size| Some((size, size.peer(peer)?))) {
            let name = format!("N = {}: {} / ours", grouped(policies), peer.name);
            targets.at_least(&name, ratio(rival.decision, size.ours.decision), target);
        }
    }
    if let Some(size) = at(10) {
        targets.at_most("N = 10: ours / plain loop", ratio(size.ours.decision, size.plain.decision), 1.3);
    }
    for (policies, target) in FASTER_THAN_PLAIN {
        if let Some(size) = at(policies) {
            let name = format!("N = {}: plain loop / ours", grouped(policies));
            targets.at_least(&name, ratio(size.plain.decision, size.ours.decision), target);
        }
    }
    if let Some((few, many)) = at(10).zip(at(100_000)) {
        let growth = ratio(many.ours.decision, few.ours.decision);
        targets.at_most("growth of the time of a decision, N = 100 000 / N = 10", growth, 4.0);
    }
    for size in found {
        let size_name = format!("N = {}", grouped(size.policies));
        let listing = ratio(size.listing, size.ours.decision);
        targets.at_most(&format!("{size_name}: listing all matching policies / decision"), listing, 1.15);
        targets.at_most(&format!("{size_name}: allocations of a decision"), size.ours.allocations, 0.0);
        if size.policies >= MANY {
            let bytes = number(size.index.live) / number(size.policies);
            targets.at_most(&format!("{size_name}: bytes of the index for one policy"), bytes, 200.0);
            let load = load_of_policy(&size.index, size);
            targets.at_most(&format!("{size_name}: indexing one policy, µs"), load, 2.0);
        }
    }
}
