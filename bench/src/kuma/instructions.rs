//! Instructions of one merged target: the configuration of a proxy for a service that it calls.

use std::hint::black_box;

use upheld_engine::merge::{About, Question, Target, chain};
use upheld_engine::{Scratch, Silent, ask};

use super::mesh::{Documents, Replicas, Size, proxies, rules, subjects};
use crate::instructions::{can_be_counted, of_one_act};
use crate::report::{self, Targets, figure, grouped, row};

/// The name under which this program starts itself.
pub(crate) const CHILD: &str = "merge-targets";

/// Numbers of policies.
const SIZES: [usize; 2] = [100, 1_000];

const PROXIES: usize = 20;
const SERVICES: usize = 100;

/// Counts and prints.
pub(crate) fn run() -> Result<(), String> {
    if !can_be_counted() {
        return Ok(());
    }
    report::heading("Instructions of one merged target");
    row("", SIZES.map(|size| format!("{} policies", grouped(size))));
    let counts: Result<Vec<f64>, String> = SIZES.iter().map(|size| of_one_act(CHILD, &[&size.to_string()])).collect();
    row("ours", counts?.iter().map(|count| figure(*count)));
    Targets::default().print();
    Ok(())
}

/// What the child does: so many passes; it prints the number of targets in one.
pub(crate) fn act(arguments: &[&str]) -> Result<(), String> {
    let [policies, passes] = arguments else { return Err("two arguments are needed".to_owned()) };
    let number = |text: &str| text.parse::<usize>().map_err(|_| format!("`{text}` is no number"));
    let (policies, passes) = (number(policies)?, number(passes)?);
    let size = Size { proxies: PROXIES, services: SERVICES, policies };
    let snapshot = Documents::with_policies(size, PROXIES, Replicas::Different).load(&[])?;
    let (rules, proxies) = (rules(&snapshot)?, proxies(&snapshot));
    let service = snapshot.symbols().get("MeshService");
    let services: Vec<Target> = (snapshot.objects().iter())
        .filter(|(_, object)| Some(object.kind) == service)
        .map(|(id, _)| Target::whole(id))
        .collect();
    let mut asked = Vec::new();
    for rules in &rules {
        let around = rules.surroundings();
        for subject in subjects(&proxies) {
            asked.extend(services.iter().map(|target| (rules.merge, subject, chain(*target, &around))));
        }
    }
    let mut scratch = Scratch::default();
    for (merge, subject, targets) in asked.iter().cycle().take(asked.len() * passes) {
        let question = Question { subject: *subject, about: About::Targets(targets) };
        _ = black_box(ask(*merge, &question, &mut scratch, &mut Silent));
    }
    println!("{}", asked.len());
    Ok(())
}
