//! Instructions of one pair that is selected for, through the index.

use std::hint::black_box;

use upheld_engine::{Question, Scratch, Silent, ask};
use upheld_loader::Format;
use upheld_model::TagSet;

use super::{LARGE, SMALL, model};
use crate::instructions::{can_be_counted, of_one_act};
use crate::report::{self, Targets, figure, grouped, row};
use crate::workload::{Mesh, Size, documents};

/// The name under which this program starts itself.
pub(crate) const CHILD: &str = "select-pairs";

/// Pairs of a pass.
const PAIRS: usize = 2_000;

/// The meshes by name; proxies are not read, since tags are all that is asked with.
const SIZES: [(&str, Size); 2] = [("small", SMALL), ("large", LARGE)];

/// Counts and prints.
pub(crate) fn run() -> Result<(), String> {
    if !can_be_counted() {
        return Ok(());
    }
    report::heading("Instructions of one selected pair");
    row("", SIZES.iter().map(|(_, size)| format!("{} policies", grouped(size.policies))));
    let counts: Result<Vec<f64>, String> = SIZES.iter().map(|(name, _)| of_one_act(CHILD, &[name])).collect();
    let counts = counts?;
    row("ours", counts.iter().map(|count| figure(*count)));
    let mut targets = Targets::default();
    if let [few, many] = counts.as_slice() {
        targets.at_most("growth of a selected pair, 5 000 policies / 500", many / few, 3.0);
    }
    targets.print();
    Ok(())
}

/// What the child does: so many passes; it prints the number of pairs in one.
pub(crate) fn act(arguments: &[&str]) -> Result<(), String> {
    let [name, passes] = arguments else { return Err("two arguments are needed".to_owned()) };
    let (_, size) = SIZES.iter().find(|(known, _)| known == name).ok_or("there is no such size")?;
    let passes: usize = passes.parse().map_err(|_| format!("`{passes}` is no number"))?;
    let mut mesh = Mesh::new(*size);
    let snapshot = model::snapshot(vec![(Format::JsonLines, documents::json_lines(&mesh.policies))])?;
    let (kind, scope) = model::subject(&snapshot)?;
    let select = snapshot.select(kind, scope).ok_or("no policies")?;
    let mut lookup = snapshot.lookup();
    let mut tags = |tags: Option<&upheld_engine::select::reference::Tags>| -> Vec<TagSet> {
        let pairs = tags.into_iter().flatten();
        vec![TagSet::new(
            pairs.map(|(key, value)| (lookup.symbol(key), Some(lookup.symbol(value)))).collect::<Vec<_>>(),
        )]
    };
    let mut ends = Vec::new();
    for _ in 0..PAIRS {
        let (proxy, service) = mesh.pair();
        ends.push((tags(mesh.proxies.get(proxy)), tags(mesh.services.get(service))));
    }
    let mut scratch = Scratch::default();
    for (source, destination) in ends.iter().cycle().take(PAIRS * passes) {
        let question = Question { source: Some(source), destination: Some(destination) };
        _ = black_box(ask(select, &question, &mut scratch, &mut Silent));
    }
    println!("{PAIRS}");
    Ok(())
}
