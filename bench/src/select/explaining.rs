//! Explaining: one question with the fate of every policy, against loading the same policies from their text.

use std::hint::black_box;

use upheld_engine::{Question, Ruling};
use upheld_loader::Format;
use upheld_model::TagSet;

use super::{Plan, model};
use crate::measure::{interleaved, timed};
use crate::report::{self, figure, grouped, ratio, row, time};
use crate::workload::{Mesh, Size, documents};

/// Measures and prints.
pub(super) fn run(plan: &Plan) -> Result<(), String> {
    let count = plan.explained;
    report::progress(&format!("explaining one answer among {} policies", grouped(count)));
    let mesh = Mesh::new(Size { proxies: count, services: count.div_ceil(5), policies: count });
    let yaml = documents::yaml(&mesh.policies);
    let load = || model::snapshot(vec![(Format::Yaml, yaml.clone())]);

    let snapshot = load()?;
    let (kind, scope) = model::subject(&snapshot)?;
    let select = snapshot.select(kind, scope).ok_or("no policies")?;
    let mut lookup = snapshot.lookup();
    let mut parts = |tags: Option<&upheld_engine::select::reference::Tags>| {
        let tags = tags.into_iter().flatten();
        [TagSet::new(tags.map(|(tag, value)| (lookup.symbol(tag), Some(lookup.symbol(value)))).collect::<Vec<_>>())]
    };
    let (source, destination) = (parts(mesh.proxies.first()), parts(mesh.services.last()));
    let question = Question { source: Some(&source), destination: Some(&destination) };

    let [explained, loaded] = interleaved(
        plan.rounds,
        [
            &mut || {
                let (ruling, spent) = timed(|| Ruling::explain(select, &question));
                if black_box(ruling).candidates.len() == count {
                    Ok(spent)
                } else {
                    Err("policies are missing".to_owned())
                }
            },
            &mut || {
                let (snapshot, spent) = timed(load);
                snapshot.map(|_| spent)
            },
        ],
    )?;
    report::heading(&format!("Explaining one answer, with the fate of each of {} policies", grouped(count)));
    row("explain", [time(explained)]);
    row("load the same policies from YAML", [time(loaded)]);
    row("load / explain", [figure(ratio(loaded, explained))]);
    Ok(())
}
