//! Policies that are made to be slow.

use upheld_engine::decide::shifts::{Bounds, Verdict, lint, shifts};

use super::Plan;
use crate::access::{Effect, Ours, Policy, SubjectTest};
use crate::measure::timed;
use crate::report::{self, Targets, row, time};
use crate::workload::random::Random;

/// Makes the policies of a set.
type Set = fn(usize, &mut Random) -> Policy;

const SETS: [(&str, Set); 4] = [
    ("`/**/a1/**/b1/**` and so on", inner_runs),
    ("up to 16 wildcards in each", many_wildcards),
    ("one pattern, roles and groups in all combinations", crossed),
    ("roles with `*` on both sides", wild_roles),
];

pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    report::heading(&format!("Hostile: {} policies each, one of them removed", plan.hostile));
    row("", ["diff", "verdict", "lint", "bound"]);
    let mut slowest: f64 = 0.0;
    for (name, set) in SETS {
        report::progress(&format!("hostile: {name}"));
        let mut random = Random::new(22);
        let mut policies: Vec<Policy> = (0..plan.hostile).map(|number| set(number, &mut random)).collect();
        let before = Ours::new(&policies)?.decide;
        policies.pop();
        let after = Ours::new(&policies)?.decide;
        let (verdict, diff) = timed(|| shifts(&before, &after, &Bounds::default()));
        let said = match &verdict {
            Verdict::Equal { .. } => "equal".to_owned(),
            Verdict::Differs(_) => "differs".to_owned(),
            Verdict::Undecided { bound, .. } => format!("{bound:?}"),
        };
        let (linted, lint) = timed(|| lint(&before, &Bounds::default()));
        let bound = linted.bound.map_or_else(|| "none".to_owned(), |bound| format!("{bound:?}"));
        row(name, [time(diff), said, time(lint), bound]);
        slowest = slowest.max(diff.as_secs_f64()).max(lint.as_secs_f64());
    }
    targets.at_most("hostile sets, until a verdict or a bound, s", slowest, 2.0);
    Ok(0)
}

fn policy(number: usize, subjects: Vec<SubjectTest>, pattern: String) -> Policy {
    let effect = if number.is_multiple_of(3) { Effect::Deny } else { Effect::Permit };
    Policy { id: format!("policy-{number}"), effect, subjects, pattern, methods: Vec::new() }
}

fn role(name: String) -> SubjectTest {
    SubjectTest::Role(name)
}

fn inner_runs(number: usize, _: &mut Random) -> Policy {
    policy(number, vec![role("user".to_owned())], format!("/**/a{number}/**/b{number}/**"))
}

fn many_wildcards(number: usize, random: &mut Random) -> Policy {
    let segments = (0..8).map(|_| ["a", "*", "**", "b", "*a*", "?b*"].get(random.below(6)).copied().unwrap_or("*"));
    policy(number, vec![role("user".to_owned())], format!("/{}", segments.collect::<Vec<_>>().join("/")))
}

fn crossed(number: usize, random: &mut Random) -> Policy {
    let mut subjects: Vec<SubjectTest> = (0..4).map(|_| role(format!("role-{}", random.below(60)))).collect();
    subjects.extend((0..4).map(|_| SubjectTest::Group(format!("group-{}", random.below(60)))));
    policy(number, subjects, "/**".to_owned())
}

fn wild_roles(number: usize, _: &mut Random) -> Policy {
    policy(number, vec![role(format!("*{number}*"))], "/**".to_owned())
}
