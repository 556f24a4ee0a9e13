//! One size: everybody loads the policies, is checked against the plain loop, and then decides in turn with the others.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::ours::Ours;
use super::peers::{self, Peer};
use super::plain::Plain;
use super::workload::{Request, Workload};
use super::{Decider, Plan};
use crate::measure::{self, timed};
use crate::report::{self, grouped, number, ratio};

/// Decisions of which allocations are counted.
const COUNTED: usize = 1_000;

/// So many times is loaded what takes no longer than that.
const LOADS: usize = 5;
const QUICK_LOAD: Duration = Duration::from_millis(20);

/// What was found at one size.
#[derive(Debug)]
pub(super) struct Size {
    pub(super) policies: usize,
    /// How many requests match no policy, one, two, …
    pub(super) matched: Vec<usize>,
    pub(super) ours: Found,
    /// Listing all matching policies, ours.
    pub(super) listing: Duration,
    pub(super) plain: Found,
    /// Those that were not left out.
    pub(super) peers: Vec<(&'static str, Found)>,
    /// Our index alone.
    pub(super) index: Found,
}

/// What was found about somebody.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// One decision.
    pub(super) decision: Duration,
    pub(super) load: Duration,
    /// Bytes that it keeps after loading, and the most while loading.
    pub(super) live: usize,
    pub(super) peak: usize,
    /// Of one decision.
    pub(super) allocations: f64,
    pub(super) checked: usize,
    pub(super) wrong: usize,
}

impl Size {
    pub(super) fn peer(&self, peer: Peer) -> Option<&Found> {
        self.peers.iter().find(|(name, _)| *name == peer.name).map(|(_, found)| found)
    }
}

/// How many answers were wrong.
pub(super) fn wrong(sizes: &[Size]) -> usize {
    let all = |size: &Size| {
        let peers: usize = size.peers.iter().map(|(_, found)| found.wrong).sum();
        size.ours.wrong + peers
    };
    sizes.iter().map(all).sum()
}

/// What is right, for as many of the first requests as there was time for.
#[derive(Debug)]
struct Right {
    permitted: bool,
    matching: usize,
}

/// Measures one size; whoever took too long at the last one is left out.
pub(super) fn measure(plan: &Plan, policies: usize, last: Option<&Size>) -> Result<Size, String> {
    report::progress(&format!("deciding with {} policies", grouped(policies)));
    let workload = Workload::new(policies, plan.requests);
    let (mut plain, plain_found) = load(|| Ok(Plain::new(&workload.policies)))?;
    let right = right(&mut plain, &workload.requests, plan.checking[0]);
    let (mut ours, mut ours_found) = load(|| Ours::new(&workload.policies))?;
    check_listing(&mut ours, &workload.requests, &right, &mut ours_found);

    let mut all = vec![Contestant::new(Box::new(plain), plain_found), Contestant::new(Box::new(ours), ours_found)];
    let invited =
        peers::all().iter().copied().filter(|peer| last.is_none_or(|last| expected(*peer, last, policies, plan)));
    let mut names = Vec::new();
    for peer in invited {
        report::progress(&format!("  {}", peer.name));
        let (decider, found) = load(|| (peer.load)(&workload))?;
        all.push(Contestant::new(decider, found));
        names.push(peer.name);
    }
    for contestant in &mut all {
        contestant.check(&workload.requests, &right, plan.checking[1]);
        contestant.count_allocations(&workload.requests);
    }
    let mut lister = Ours::new(&workload.policies)?;
    let (_, index) = load(|| Ok(lister.index()))?;
    let (mut listings, mut listed) = (Vec::new(), 0);
    for _ in 0..plan.rounds {
        for contestant in &mut all {
            contestant.race(&workload.requests, plan.round);
        }
        let decision = all.get(1).and_then(|ours| ours.times.last()).copied().unwrap_or_default();
        let list = |request: &Request| lister.matching(request);
        listings.push(time_each(&workload.requests, &mut listed, plan.round, decision, list));
    }
    let mut found = all.into_iter().map(Contestant::finish);
    let (plain, ours) = (found.next().unwrap_or_default(), found.next().unwrap_or_default());
    let peers = names.into_iter().zip(found).collect();
    let listing = measure::median(listings);
    Ok(Size { policies, matched: histogram(&right), ours, listing, plain, peers, index })
}

/// Whether a peer can be expected to be done in time: nobody here gets slower by more than the policies get more.
fn expected(peer: Peer, last: &Size, policies: usize, plan: &Plan) -> bool {
    let growth = number(policies) / number(last.policies);
    let [loading, deciding] = plan.longest;
    last.peer(peer)
        .is_some_and(|found| found.load.mul_f64(growth) <= loading && found.decision.mul_f64(growth) <= deciding)
}

/// Loads to count the memory, and then again to take the time, a few times where that is quick.
fn load<T>(load: impl Fn() -> Result<T, String>) -> Result<(T, Found), String> {
    let mut loaded = None;
    let memory = mockalloc::record_allocs(|| loaded = Some(load()));
    drop(loaded);
    let (mut loaded, spent) = timed(&load);
    let mut times = vec![spent];
    while spent < QUICK_LOAD && times.len() < LOADS {
        let (again, spent) = timed(&load);
        times.push(spent);
        loaded = again;
    }
    let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let live = bytes(memory.mem_allocated().saturating_sub(memory.mem_freed()));
    loaded.map(|loaded| {
        (loaded, Found { load: measure::median(times), live, peak: bytes(memory.peak_mem()), ..Found::default() })
    })
}

fn right(plain: &mut Plain, requests: &[Request], budget: Duration) -> Vec<Right> {
    let started = Instant::now();
    let requests = requests.iter().enumerate().take_while(|(number, _)| *number == 0 || started.elapsed() < budget);
    requests.map(|(_, request)| Right { permitted: plain.decide(request), matching: plain.matching(request) }).collect()
}

fn check_listing(ours: &mut Ours, requests: &[Request], right: &[Right], found: &mut Found) {
    let wrong = requests.iter().zip(right).filter(|(request, right)| ours.matching(request) != right.matching);
    found.wrong += wrong.count();
}

fn histogram(right: &[Right]) -> Vec<usize> {
    let mut counts = vec![0; right.iter().map(|right| right.matching + 1).max().unwrap_or(0)];
    for right in right {
        if let Some(count) = counts.get_mut(right.matching) {
            *count += 1;
        }
    }
    counts
}

/// Somebody in the contest, with the times of one decision in each round.
struct Contestant {
    decider: Box<dyn Decider>,
    found: Found,
    times: Vec<Duration>,
    /// How many requests were decided in earlier rounds; the slow go on there, so as to see more than the first few.
    past: usize,
}

impl Contestant {
    fn new(decider: Box<dyn Decider>, found: Found) -> Self {
        Self { decider, found, times: Vec::new(), past: 0 }
    }

    /// Compares decisions with the right ones until there is no more time, and learns how long one takes.
    fn check(&mut self, requests: &[Request], right: &[Right], budget: Duration) {
        let started = Instant::now();
        let clock = measure::Clock::start();
        for (request, right) in requests.iter().zip(right) {
            if self.decider.decide(request) != right.permitted {
                self.found.wrong += 1;
                if self.found.wrong <= 3 {
                    eprintln!("wrong: {} about {request:?}", self.decider.name());
                }
            }
            self.found.checked += 1;
            if started.elapsed() >= budget {
                break;
            }
        }
        self.found.decision = clock.elapsed().div_f64(number(self.found.checked.max(1)));
    }

    fn count_allocations(&mut self, requests: &[Request]) {
        let count = self.found.checked.min(COUNTED);
        let decide = || requests.iter().take(count).for_each(|request| _ = black_box(self.decider.decide(request)));
        let allocations = mockalloc::record_allocs(decide).num_allocs();
        self.found.allocations = number(usize::try_from(allocations).unwrap_or(usize::MAX)) / number(count.max(1));
    }

    /// Decides for the time of one round.
    fn race(&mut self, requests: &[Request], round: Duration) {
        let known = self.times.last().copied().unwrap_or(self.found.decision);
        let time = time_each(requests, &mut self.past, round, known, |request| self.decider.decide(request));
        self.times.push(time);
    }

    fn finish(self) -> Found {
        Found { decision: measure::median(self.times), ..self.found }
    }
}

/// Acts on the requests after those of the past, again and again, for about as long as a round; the time of one act.
fn time_each<T>(
    requests: &[Request],
    past: &mut usize,
    round: Duration,
    known: Duration,
    mut act: impl FnMut(&Request) -> T,
) -> Duration {
    let acts = count(ratio(round, known));
    let turn = requests.iter().cycle().skip(*past % requests.len().max(1)).take(acts);
    *past += acts;
    let clock = measure::Clock::start();
    for request in turn {
        black_box(act(black_box(request)));
    }
    clock.elapsed().div_f64(number(acts))
}

/// At least one, at most ten million.
fn count(wanted: f64) -> usize {
    format!("{:.0}", wanted.clamp(1.0, 1e7)).parse().unwrap_or(1)
}
