//! One policy about connections that says something else, for everybody who could be concerned: against asking about every pair on both
//! sides.

use std::hint::black_box;
use std::time::Duration;

use upheld_answers::report::Shifts;
use upheld_answers::{Options, World};
use upheld_dialects::dialect::Ends;
use upheld_dialects::dialects;
use upheld_engine::select::reference::{NaivePolicy, Tags};
use upheld_engine::{Granularity, PolicyKind, Question, Scratch, Select, Silent, Snapshot, ask};
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::{Side, TagSet, Timestamp, Value};

use super::Plan;
use crate::measure::{median, process_time, timed};
use crate::report::{self, Targets, figure, grouped, ratio, row, time};
use crate::select::model;
use crate::workload::Mesh;
use crate::workload::documents::{MESH, SEMANTICS, json_proxies, yaml};

/// What becomes of the one policy.
#[derive(Clone, Copy)]
enum Edit {
    /// One service calls another: it has another value.
    Narrow,
    /// It is about a team, and then about everybody.
    Widened,
    /// It is about everybody, and goes before nearly all others: it has another value.
    Everybody,
}

impl Edit {
    const ALL: [Self; 3] = [Self::Narrow, Self::Widened, Self::Everybody];

    fn words(self) -> &'static str {
        match self {
            Self::Narrow => "service to service",
            Self::Widened => "team, then all",
            Self::Everybody => "all, before others",
        }
    }

    /// The policy before and after, with the values that it sets.
    fn versions(self) -> [(NaivePolicy, &'static str); 2] {
        let tags = |pairs: &[(&str, &str)]| -> Vec<Tags> {
            vec![pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()]
        };
        let policy = |sources, destinations| NaivePolicy {
            name: "edited".to_owned(),
            created: None,
            sources: tags(sources),
            destinations: tags(destinations),
        };
        let (service, anybody) = ("kuma.io/service", [("kuma.io/service", "*")]);
        match self {
            Self::Narrow => {
                let other = [("kuma.io/zone", "*"), ("version", "*"), ("env", "*"), ("team", "*")];
                let from: Vec<(&str, &str)> = [(service, "service-0001")].into_iter().chain(other).collect();
                let narrow = policy(&from, &[(service, "service-0002")]);
                [(narrow.clone(), "before"), (narrow, "after")]
            }
            Self::Widened => [(policy(&[("team", "team-3")], &anybody), "same"), (policy(&anybody, &anybody), "same")],
            Self::Everybody => {
                let variant = [(service, "*"), ("kuma.io/zone", "*"), ("version", "*"), ("env", "*")];
                let wide = policy(&variant, &anybody);
                [(wide.clone(), "before"), (wide, "after")]
            }
        }
    }
}

/// What was measured of one edit.
struct Found {
    edit: Edit,
    /// A snapshot out of the last one, and two that were loaded each for itself.
    diff: [Duration; 2],
    changed: u64,
    groups: usize,
    /// How long it takes to ask about every pair on both sides.
    rival: Duration,
    /// How many pairs are otherwise then; not known if only some were asked about.
    counted: Option<u64>,
}

/// Measures and prints; how many answers are wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let mut wrong = 0;
    for size in plan.meshes {
        let mesh = Mesh::new(*size);
        let mut all = Vec::new();
        for edit in Edit::ALL {
            report::progress(&format!("one edit among {}: {}", size.words(), edit.words()));
            all.push(measure(plan, &mesh, edit)?);
        }
        let what = "proxies x services x policies; CPU time of all threads";
        report::heading(&format!("One edited policy, {} ({what})", size.words()));
        row("", all.iter().map(|found| found.edit.words()));
        row("diff, a policy that was changed", all.iter().map(|found| time(found.diff[0])));
        row("diff, both loaded", all.iter().map(|found| time(found.diff[1])));
        row("pairs that are answered otherwise", all.iter().map(|found| grouped(count(found.changed))));
        row("groups of them", all.iter().map(|found| grouped(found.groups)));
        row("rival: every pair asked of both", all.iter().map(|found| time(found.rival)));
        row("rival / diff", all.iter().map(|found| figure(ratio(found.rival, found.diff[0]))));
        let differences = all.iter().map(|found| found.counted.map(|counted| found.changed.abs_diff(counted)));
        let words = |count: Option<u64>| count.map_or("not counted".to_owned(), |count| count.to_string());
        row("difference to what the rival counts", differences.clone().map(words));
        wrong += differences.flatten().filter(|count| *count > 0).count();
        if size.policies == LARGEST {
            for (found, most) in all.iter().zip([50.0, 200.0, 200.0]) {
                for (how, spent) in ["that was changed", "both loaded"].into_iter().zip(found.diff) {
                    let name = format!("one edit in {}, {}, {how}, ms", size.words(), found.edit.words());
                    targets.at_most(&name, spent.as_secs_f64() * 1e3, most);
                }
            }
        }
    }
    Ok(wrong)
}

/// Each round does it so often, because the clock of all threads is a coarse one.
const TIMES: u32 = 5;
/// So many pairs are asked about at most; of larger meshes some callers, and the time is that of all of them.
const MOST_ASKED: usize = 2_000_000;
/// The number of policies that the targets are about.
const LARGEST: usize = 5_000;

fn count(pairs: u64) -> usize {
    usize::try_from(pairs).unwrap_or(usize::MAX)
}

fn measure(plan: &Plan, mesh: &Mesh, edit: Edit) -> Result<Found, String> {
    let [before, after] = edit.versions().map(|(policy, value)| text(&policy, value));
    let before = loaded(mesh, &before)?;
    let apart = loaded(mesh, &after)?;
    let changed = rewritten(&before, &after)?;
    let options = Options { semantics: vec![SEMANTICS.to_owned()], ..Options::at(Timestamp(0)) };
    let world = |loaded: &'_ Loaded| -> Shifts {
        World::new(&before.snapshot, &options).shifts(&World::new(&loaded.snapshot, &options), &())
    };
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..plan.rounds {
        for (after, times) in [&changed, &apart].into_iter().zip(&mut times) {
            let begun = process_time().ok_or("the system does not tell CPU times")?;
            for _ in 0..TIMES {
                black_box(world(after));
            }
            let ended = process_time().ok_or("the system does not tell CPU times")?;
            times.push(ended.saturating_sub(begun) / TIMES);
        }
    }
    let shifts = world(&changed);
    let sides = [Asked::of(&before.snapshot)?, Asked::of(&changed.snapshot)?];
    let pairs = sides[1].ends.callers.len() * sides[1].ends.called.len();
    let step = pairs.div_ceil(MOST_ASKED).max(1);
    let (counted, asking) = timed(|| asked(&sides, step));
    Ok(Found {
        edit,
        diff: times.map(median),
        changed: shifts.counts.changed,
        groups: shifts.shifts.len(),
        rival: asking * u32::try_from(step).unwrap_or(1),
        counted: (step == 1).then_some(counted),
    })
}

/// A policy whose value nobody else sets, so that another winner is another result.
fn text(policy: &NaivePolicy, value: &str) -> String {
    yaml(std::slice::from_ref(policy)).replace("backend: splunk", &format!("backend: {value}"))
}

fn loaded(mesh: &Mesh, edited: &str) -> Result<Loaded, String> {
    let mut inputs = vec![
        Input::text("mesh.yaml", Format::Yaml, format!("type: Mesh\nname: {MESH}\n")),
        Input::text("proxies.jsonl", Format::JsonLines, json_proxies(&mesh.proxies)),
        Input::text("edited.yaml", Format::Yaml, edited),
    ];
    let policies = mesh.policies.iter().map(|policy| text(policy, &policy.name));
    inputs.push(Input::text("policies.yaml", Format::Yaml, policies.collect::<String>()));
    load(inputs, &[SEMANTICS]).map_err(|broken| format!("{:?}", broken.diagnostics.as_slice().first()))
}

/// The next snapshot out of the last.
fn rewritten(before: &Loaded, text: &str) -> Result<Loaded, String> {
    let policy = before.snapshot.policies().iter().find(|(_, policy)| before.snapshot.text(policy.name) == "edited");
    let at = policy.map(|(_, policy)| policy.at).ok_or("no policy")?;
    let after = before.rewritten(at, text.trim_start_matches("---\n")).ok_or("cannot be rewritten")?;
    after.map_err(|broken| format!("{:?}", broken.diagnostics.as_slice().first()))
}

/// How many pairs have another winner, or a winner that says something else; of every so many callers one is asked.
fn asked([was, is]: &[Asked<'_>; 2], step: usize) -> u64 {
    let mut differ = 0;
    let mut scratch = <[Scratch<Select>; 2]>::default();
    for ((_, was_from), (_, is_from)) in was.ends.callers.iter().zip(&is.ends.callers).step_by(step) {
        for ((_, was_to), (_, is_to)) in was.ends.called.iter().zip(&is.ends.called) {
            let [one, other] = &mut scratch;
            differ += u64::from(was.winner(was_from, was_to, one) != is.winner(is_from, is_to, other));
        }
    }
    differ
}

/// One side, as the rival asks it.
struct Asked<'s> {
    snapshot: &'s Snapshot,
    select: &'s Select,
    ends: std::sync::Arc<Ends>,
}

impl<'s> Asked<'s> {
    fn of(snapshot: &'s Snapshot) -> Result<Self, String> {
        let (kind, scope) = model::subject(snapshot)?;
        let select = snapshot.select(kind, scope).ok_or("no policies")?;
        let choices = snapshot.kind(kind).and_then(PolicyKind::select);
        let each =
            choices.and_then(|select| select.side(Side::Destination)).map_or(Granularity::Service, |item| item.each);
        let ends = dialects().find_map(|dialect| dialect.ends(snapshot, scope, each)).ok_or("no proxies")?;
        Ok(Self { snapshot, select, ends })
    }

    /// What the winner sets.
    fn winner(&self, from: &[TagSet], to: &[TagSet], scratch: &mut Scratch<Select>) -> Option<&'s str> {
        let question = Question { source: Some(from), destination: Some(to) };
        let entry = self.select.entry(ask(self.select, &question, scratch, &mut Silent).winner?)?;
        let policy = self.snapshot.policy(entry.policy)?;
        self.snapshot.files().value(policy.payload?)?.get("backend").map(Value::text)
    }
}
