//! Instructions of one decision, one change of a tag and one check.

use std::hint::black_box;

use smol_str::SmolStr;
use upheld_governance::{Action, Actor};

use super::changes::{links, tag_change};
use super::naive::Naive;
use super::organisation::{L, M, Of, Organisation, Size};
use super::{PLANTED, SEED, ours};
use crate::instructions::{can_be_counted, of_one_act};
use crate::report::{self, Targets, figure, row};
use crate::workload::random::Random;

/// The name under which this program starts itself.
pub(crate) const CHILD: &str = "comply-acts";

/// Acts of a pass, where they are counted by number.
const ACTS: usize = 2_000;

const SIZES: [Size; 2] = [M, L];
const RULES: usize = 50;

/// What is counted: as an argument, and in the table.
const WHAT: [(&str, &str); 6] = [
    ("admission", "a relationship decided, with reasons"),
    ("tags", "a tag of a project changed"),
    ("candidates", "candidates among 1 000 landing zones"),
    ("check", "a check in a full audit"),
    ("crowd", "a check, 50 rules about each pair"),
    ("naive", "a check by sets of texts"),
];

/// Counts and prints.
pub(crate) fn run() -> Result<(), String> {
    if !can_be_counted() {
        return Ok(());
    }
    let mut targets = Targets::default();
    report::heading("Instructions");
    row("", SIZES.iter().map(|size| format!("size {}", size.letter)));
    for (what, name) in WHAT {
        report::progress(&format!("counting: {name}"));
        let counts: Result<Vec<f64>, String> =
            SIZES.iter().map(|size| of_one_act(CHILD, &[what, size.letter])).collect();
        let counts = counts?;
        row(name, counts.iter().map(|count| figure(*count)));
        match (what, counts.as_slice()) {
            ("admission", [few, many]) => targets.at_most("growth of an admission, L / M", many / few, 1.2),
            ("check" | "crowd", [.., last]) => targets.at_most(&format!("instructions: {name}"), *last, 40.0),
            _ => {}
        }
    }
    targets.print();
    Ok(())
}

/// What the child does: so many passes; it prints the number of acts in one.
pub(crate) fn act(arguments: &[&str]) -> Result<(), String> {
    let [what, letter, passes] = arguments else { return Err("three arguments are needed".to_owned()) };
    let size = super::HUGE.sizes.iter().find(|size| size.letter == *letter).ok_or("there is no such size")?;
    let passes: usize = passes.parse().map_err(|_| format!("`{passes}` is no number"))?;
    let organisation = match *what {
        "crowd" => Organisation::crowded(size.projects * 20, 0, RULES, PLANTED, SEED),
        // As many rules in all sizes, so that only the organisation grows.
        _ => Organisation::new(Size { rules: RULES, ..*size }, PLANTED, SEED),
    };
    let mut acts = ACTS;
    match *what {
        "naive" => {
            let pairs: Vec<(usize, usize)> = organisation.pairs().into_iter().take(ACTS).collect();
            let naive = Naive::new(&organisation, &pairs)?;
            for _ in 0..passes {
                acts = black_box(naive.audit()).1;
            }
        }
        "check" | "crowd" => {
            let governed = ours::build(&organisation)?;
            (0..passes).for_each(|_| _ = black_box(governed.comply().audit()));
            acts = organisation.checks();
        }
        "candidates" => {
            let governed = ours::build(&organisation)?;
            let projects = organisation.all(Of::Project);
            // Each looks at all landing zones, so fewer will do.
            acts = ACTS / 20;
            for project in projects.iter().cycle().take(acts * passes) {
                let reference = organisation.thing(*project)?.reference();
                let id = governed.comply().lookup(&reference).map_err(|_| "no such project")?;
                _ = black_box(governed.candidates(ours::NOW, &Actor::System, id, Of::Zone.word(), None));
            }
        }
        "tags" => {
            let mut governed = ours::build(&organisation)?;
            let projects = organisation.all(Of::Project);
            let mut random = Random::new(SEED);
            for project in projects.iter().cycle().take(ACTS * passes) {
                let object = SmolStr::new(organisation.thing(*project)?.reference());
                let tags = tag_change(&organisation, *project, &mut random)?;
                _ = black_box(governed.commit(ours::NOW, &ours::administrator(), &Action::SetTags { object, tags }));
            }
        }
        _ => {
            let governed = ours::build(&organisation)?;
            let asked = links(&organisation, ACTS);
            let actor = ours::end_user();
            for action in asked.iter().cycle().take(ACTS * passes) {
                _ = black_box(governed.would(ours::NOW, &actor, action));
            }
        }
    }
    println!("{acts}");
    Ok(())
}
