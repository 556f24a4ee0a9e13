//! Single acts in the largest organisation: decisions about relationships, changes of tags and policies, listings, offers.

use std::hint::black_box;
use std::time::{Duration, Instant};

use smol_str::SmolStr;
use upheld_engine::comply::{Comply, Strategy, Tags};
use upheld_governance::{Action, Actor, Organisation as Governed, Outcome};

use super::audits::kept_is_true;
use super::organisation::{Of, Organisation};
use super::{PLANTED, Plan, SEED, ours};
use crate::measure::{Spread, timed};
use crate::report::{self, Targets, figure, grouped, number, row, time};
use crate::workload::random::Random;

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let Some(size) = plan.sizes.iter().rev().find(|size| size.letter != "XXL") else { return Ok(0) };
    let organisation = Organisation::new(*size, PLANTED, SEED);
    let mut governed = ours::build(&organisation)?;
    report::heading(&format!("Single acts, size {}", size.letter));
    row("", ["p50", "p99"]);

    report::progress("decisions about relationships");
    let asked = links(&organisation, plan.decisions);
    let found = decide(&governed, &asked);
    line("a relationship decided, with reasons", found.spread);
    row("  of them refused", [format!("{} %", figure(number(found.refused) / number(asked.len().max(1)) * 100.0))]);
    let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
    for (name, time) in [("p50", found.spread.middle), ("p99", found.spread.slow)] {
        targets.at_most(&format!("admission with reasons, {name}, µs"), microseconds(time), 20.0);
        targets.at_most(&format!("admission with reasons, {name}, µs, excellent"), microseconds(time), 2.0);
    }
    let mut wrong = found.wrong;
    let known = decide_known(&governed, &asked);
    line("  the same, by objects instead of names", known.spread);
    wrong += usize::from(known.refused != found.refused);
    let by_objects = microseconds(known.spread.middle);
    targets.at_most("admission with reasons, by objects, p50, µs, excellent", by_objects, 2.0);

    report::progress("offers and listings");
    listings(&governed, &organisation, targets)?;
    report::progress("changes of tags");
    wrong += tags(plan, &mut governed, &organisation, targets)?;
    report::progress("changes of policies");
    wrong += policies(plan, &mut governed, &organisation, targets)?;

    report::progress("what is kept against a fresh audit");
    let comply = governed.comply();
    let (again, spent) = timed(|| ours::again(&governed));
    let same = again?.comply().violations(ours::NOW) == comply.violations(ours::NOW);
    row("kept is what a new start finds", [if same { "yes" } else { "NO" }.to_owned(), time(spent)]);
    wrong += usize::from(!same) + usize::from(!kept_is_true(comply));
    Ok(wrong)
}

fn line(name: &str, spread: Spread) {
    row(name, [spread.middle, spread.slow].map(time));
}

/// What became of decisions.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) spread: Spread,
    refused: usize,
    wrong: usize,
}

/// Relationships that could be: of a project or workspace with somebody, or of a project with a landing zone.
pub(super) fn links(organisation: &Organisation, count: usize) -> Vec<Action> {
    let all = Of::ALL.map(|of| organisation.all(of));
    let [workspaces, projects, people, zones] = &all;
    let mut random = Random::new(SEED);
    let mut pick = |from: &[usize]| {
        let number = from.get(random.below(from.len())).copied().unwrap_or_default();
        organisation.things.get(number).map(|thing| SmolStr::new(thing.reference())).unwrap_or_default()
    };
    let link = |number: usize| {
        let (a, b) = match number % 4 {
            0 | 1 => (pick(projects), pick(people)),
            2 => (pick(projects), pick(zones)),
            _ => (pick(workspaces), pick(people)),
        };
        Action::Link { a, b, role: None }
    };
    (0..count).map(link).collect()
}

/// Decides about all of them, one by one; nothing changes.
pub(super) fn decide(governed: &Governed, asked: &[Action]) -> Decided {
    let comply = governed.comply();
    let actor = ours::end_user();
    let before = comply.violation_count();
    let mut found = Decided { spread: Spread::default(), refused: 0, wrong: 0 };
    let mut times = Vec::with_capacity(asked.len());
    for action in asked {
        let started = Instant::now();
        let decision = black_box(governed.would(ours::NOW, &actor, action));
        times.push(started.elapsed());
        match decision.outcome {
            Outcome::Blocked => found.refused += 1,
            Outcome::Allowed => {}
            _ => found.wrong += 1,
        }
    }
    found.wrong += usize::from(comply.violation_count() != before);
    found.spread = Spread::of(times);
    found
}

/// As [`decide`], for who knows the objects already.
fn decide_known(governed: &Governed, asked: &[Action]) -> Decided {
    let comply = governed.comply();
    let actor = ours::end_user();
    let mut found = Decided { spread: Spread::default(), refused: 0, wrong: 0 };
    let mut times = Vec::with_capacity(asked.len());
    for action in asked {
        let Action::Link { a, b, .. } = action else { continue };
        let (Ok(a), Ok(b)) = (comply.lookup(a), comply.lookup(b)) else { continue };
        let started = Instant::now();
        let decision = black_box(governed.admit_objects(ours::NOW, &actor, a, b, None));
        times.push(started.elapsed());
        found.refused += usize::from(decision.is_some_and(|decision| decision.outcome == Outcome::Blocked));
    }
    found.spread = Spread::of(times);
    found
}

fn listings(governed: &Governed, organisation: &Organisation, targets: &mut Targets) -> Result<(), String> {
    let comply: &Comply = governed.comply();
    let find = |number: usize| {
        let reference = organisation.thing(number)?.reference();
        comply.lookup(&reference).map_err(|_| "an object is missing".to_owned())
    };
    let mut near: Option<(usize, usize)> = None;
    for workspace in organisation.all(Of::Workspace) {
        let rows = comply.violations_in(Some(find(workspace)?), ours::NOW).len();
        if near.is_none_or(|(_, known)| rows.abs_diff(100) < known.abs_diff(100)) {
            near = Some((workspace, rows));
        }
    }
    let (workspace, rows) = near.ok_or("no workspace")?;
    let workspace = find(workspace)?;
    let listing = repeated(1_000, || comply.violations_in(Some(workspace), ours::NOW).len());
    line(&format!("violations of a workspace, {rows} rows"), listing);
    targets.at_most("violations of a workspace with 100 rows, p50, µs", listing.middle.as_secs_f64() * 1e6, 100.0);

    let projects = organisation.all(Of::Project);
    let mut random = Random::new(SEED);
    let mut times = Vec::new();
    let (mut offered, mut zones) = (0, 0);
    for _ in 0..1_000 {
        let project = find(projects.get(random.below(projects.len())).copied().unwrap_or_default())?;
        let started = Instant::now();
        let candidates = governed.candidates(ours::NOW, &Actor::System, project, Of::Zone.word(), None);
        times.push(started.elapsed());
        offered += candidates.map_err(|_| "no such kind")?.len();
        zones += organisation.span(Of::Zone).1;
    }
    let spread = Spread::of(times);
    line("candidates among 1 000 landing zones", spread);
    row("  of them offered", [format!("{} %", figure(number(offered) / number(zones.max(1)) * 100.0))]);
    targets.at_most("candidates among 1 000, p50, µs", spread.middle.as_secs_f64() * 1e6, 100.0);
    targets.at_most("candidates among 1 000, p50, µs, excellent", spread.middle.as_secs_f64() * 1e6, 10.0);
    Ok(())
}

fn repeated<T>(times: usize, mut act: impl FnMut() -> T) -> Spread {
    let time = |_| {
        let started = Instant::now();
        black_box(act());
        started.elapsed()
    };
    Spread::of((0..times).map(time).collect())
}

/// Another set of values for one tag: that of another object of the kind.
pub(super) fn tag_change(organisation: &Organisation, thing: usize, random: &mut Random) -> Result<Tags, String> {
    let own = organisation.thing(thing)?;
    let closed = organisation.tags.iter().filter(|tag| !tag.open).count();
    let place = random.below(closed);
    let tag = organisation.tags.get(place).ok_or("no tag")?;
    let (first, count) = organisation.span(own.of);
    let other = organisation.thing(first + random.below(count))?;
    let values = organisation.values(other, place).iter().map(|value| SmolStr::new(tag.value(*value)));
    Ok(vec![(SmolStr::new(&tag.key), values.collect())])
}

/// From here on a clock for CPU time is exact enough, and waiting for a core would show on the wall.
const LONG: Duration = Duration::from_micros(100);

/// Degrees that are looked at together: what they are called, and up to which number of pairs.
const DEGREES: [(&str, usize); 4] =
    [("up to 15 relationships", 15), ("about 20", 30), ("31 to 1 000", 1_000), ("more than 1 000", usize::MAX)];

fn tags(
    plan: &Plan,
    governed: &mut Governed,
    organisation: &Organisation,
    targets: &mut Targets,
) -> Result<usize, String> {
    let mut random = Random::new(SEED);
    let mut times = DEGREES.map(|_| Vec::new());
    let mut wrong = 0;
    let kinds = Of::ALL.map(|of| organisation.span(of));
    for turn in 0..plan.tags {
        let (first, count) = kinds.get(turn % kinds.len()).copied().ok_or("no kind")?;
        let number = first + random.below(count);
        let object = SmolStr::new(organisation.thing(number)?.reference());
        let id = governed.comply().lookup(&object).map_err(|_| "an object is missing")?;
        let degree = governed.comply().links_of(id).count();
        let action = Action::SetTags { object, tags: tag_change(organisation, number, &mut random)? };
        let spent = act(governed, &ours::administrator(), &action, &mut wrong);
        if let Some((_, times)) = DEGREES.iter().zip(&mut times).find(|((_, end), _)| degree <= *end) {
            times.push(spent);
        }
    }
    for ((name, _), times) in DEGREES.iter().zip(times) {
        let count = times.len();
        let spread = Spread::of(times);
        line(&format!("a tag changed, {name} ({})", grouped(count)), spread);
        if *name == "about 20" {
            for (name, time) in [("p50", spread.middle), ("p99", spread.slow)] {
                targets.at_most(
                    &format!("tag change, about 20 relationships, {name}, µs"),
                    time.as_secs_f64() * 1e6,
                    50.0,
                );
            }
            let name = "tag change, about 20 relationships, p50, µs, excellent";
            targets.at_most(name, spread.middle.as_secs_f64() * 1e6, 5.0);
        }
    }
    Ok(wrong)
}

/// Makes a change; the clock is the one on the wall for what is over at once, else that for CPU time.
pub(super) fn act(governed: &mut Governed, actor: &Actor, action: &Action, wrong: &mut usize) -> Duration {
    let ((tried, at_once), whole) = timed(|| {
        let started = Instant::now();
        (black_box(governed.commit(ours::NOW, actor, action)), started.elapsed())
    });
    *wrong += usize::from(!tried.outcome.is_done());
    if at_once < LONG { at_once } else { at_once.min(whole) }
}

fn policies(
    plan: &Plan,
    governed: &mut Governed,
    organisation: &Organisation,
    targets: &mut Targets,
) -> Result<usize, String> {
    let mut wrong = 0;
    let administrator = ours::administrator();
    let (mut few, mut many) = (Vec::new(), Vec::new());
    let profile = governed.comply().profile().clone();
    for (turn, rule) in organisation.rules.iter().cycle().take(plan.policies).enumerate() {
        let policy = ours::policy(&profile, organisation, rule)?;
        // The weaker way breaks no more pairs than the stronger one did.
        let other = upheld_engine::comply::Policy { strategy: Strategy::Intersection, ..policy.clone() };
        let actions = if turn % 2 == 0 {
            [Action::DeletePolicy { policy: policy.id.clone() }, Action::CreatePolicy(policy.clone())]
        } else {
            [Action::UpdatePolicy(other), Action::UpdatePolicy(policy.clone())]
        };
        for action in &actions {
            few.push(act(governed, &administrator, action, &mut wrong));
        }
        let subset = upheld_engine::comply::Policy { strategy: Strategy::Subset, ..policy.clone() };
        if policy.strategy == Strategy::Intersection {
            for action in [Action::UpdatePolicy(subset), Action::UpdatePolicy(policy)] {
                many.push(act(governed, &administrator, &action, &mut wrong));
            }
        }
    }
    let spread = Spread::of(few);
    line("a policy changed", spread);
    line("a policy changed, most of its pairs break it", Spread::of(many));
    for (name, time) in [("p50", spread.middle), ("p99", spread.slow)] {
        targets.at_most(&format!("policy change, {name}, ms"), time.as_secs_f64() * 1e3, 20.0);
        targets.at_most(&format!("policy change, {name}, ms, excellent"), time.as_secs_f64() * 1e3, 3.0);
    }
    Ok(wrong)
}
