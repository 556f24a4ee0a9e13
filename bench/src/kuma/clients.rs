//! Listings of clients: how long, and how long it takes, against cell after cell held against item after item.

use std::time::Duration;

use upheld_dialects::kuma::rules::{Rules, SubsetRule};
use upheld_dialects::kuma::subsets::{Subset, Tag, cells};
use upheld_engine::merge::{AdmitScratch, Merged};
use upheld_engine::{EntryId, Snapshot};
use upheld_model::Facet;

use super::Plan;
use super::mesh::{Documents, Replicas, Size, proxies, rules, subjects};
use crate::measure::{median, timed};
use crate::report::{self, Targets, figure, grouped, ratio, row, time};

/// What the items of a policy look like.
struct Shape {
    name: &'static str,
    /// The tags of each item; none for the whole mesh.
    items: Vec<Vec<(String, String)>>,
    /// How long a listing may take.
    target: Option<Duration>,
}

/// The editions, by how they group items: groups that never overlap, or all items that meet pairwise.
const EDITIONS: [(&str, &str); 2] = [("exact", "kuma/2"), ("cliques", "kuma/2-cliques")];

/// More cells than this are too many for the rival.
const NAIVE_CELLS: usize = 20_000;

fn shapes() -> Vec<Shape> {
    let pair = |key: &str, value: usize| (key.to_owned(), format!("{key}-{value}"));
    let pairs = |count: usize| (0..count).map(|number| vec![pair("app", number), pair("ns", number)]);
    let product = |keys: usize, values: usize| {
        (0..keys).flat_map(move |key| (0..values).map(move |value| vec![(format!("k{key}"), format!("v{value}"))]))
    };
    let milliseconds = |count| Some(Duration::from_millis(count));
    vec![
        Shape {
            name: "70 disjoint pairs and Mesh",
            items: std::iter::once(Vec::new()).chain(pairs(70)).collect(),
            target: milliseconds(10),
        },
        Shape { name: "3 keys x 5 values", items: product(3, 5).collect(), target: None },
        Shape { name: "5 keys x 3 values", items: product(5, 3).collect(), target: milliseconds(50) },
        Shape { name: "10 keys x 1 value", items: product(10, 1).collect(), target: None },
        Shape {
            name: "500 disjoint pairs and Mesh",
            items: std::iter::once(Vec::new()).chain(pairs(500)).collect(),
            target: None,
        },
        Shape { name: "40 keys x 1 value", items: product(40, 1).collect(), target: None },
    ]
}

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    report::progress("listings of clients");
    let mut wrong = 0;
    let mut lines = Vec::new();
    for shape in shapes() {
        let mut cells_of = Vec::new();
        for (grouping, semantics) in EDITIONS {
            let snapshot = documents(&shape).load(&[semantics])?;
            let (told, spent) = listed(&snapshot, plan.rounds)?;
            let (cell, naive) = match &told {
                Ok(rules) => {
                    let naive = naive(&shape, &snapshot)?.filter(|_| grouping == "exact");
                    if let Some((cells, _)) = naive {
                        wrong += usize::from(cells != rules.len());
                    }
                    (format!("{} in {}", grouped(rules.len()), time(spent)), naive)
                }
                Err(limit) => (format!("> {} in {}", grouped(*limit), time(spent)), None),
            };
            cells_of.push(cell);
            if let Some((_, naive)) = naive {
                cells_of.push(format!("{} ({} x)", time(naive), figure(ratio(naive, spent))));
            } else if grouping == "exact" {
                cells_of.push("too many".to_owned());
            }
            if let Some(target) = shape.target {
                let name = format!("listing of clients, {}, {grouping}: ms", shape.name);
                targets.at_most(&name, spent.as_secs_f64() * 1e3, target.as_secs_f64() * 1e3);
            }
        }
        lines.push((shape.name, cells_of));
    }
    report::heading("Listings of clients: cells and time; `>` is the error that names the bound");
    row("", ["exact", "naive (ratio)", "cliques"]);
    for (name, cells) in lines {
        row(name, cells);
    }
    Ok(wrong)
}

fn documents(shape: &Shape) -> Documents {
    let mut documents = Documents::new(Size { proxies: 1, services: 0, policies: 0 }, 1, Replicas::Alike);
    let item = |(number, tags): (usize, &Vec<(String, String)>)| {
        let tags: Vec<String> = tags.iter().map(|(key, value)| format!(r#""{key}":"{value}""#)).collect();
        let target = if tags.is_empty() {
            r#"{"kind":"Mesh"}"#.to_owned()
        } else {
            format!(r#"{{"kind":"MeshSubset","tags":{{{}}}}}"#, tags.join(","))
        };
        let action = if number.is_multiple_of(2) { "Allow" } else { "Deny" };
        format!(r#"{{"targetRef":{target},"default":{{"action":"{action}"}}}}"#)
    };
    let items: Vec<String> = shape.items.iter().enumerate().map(item).collect();
    let spec = format!(r#"{{"targetRef":{{"kind":"Mesh"}},"from":[{}]}}"#, items.join(","));
    documents.line(&format!(r#"{{"type":"MeshTrafficPermission","mesh":"default","name":"all","spec":{spec}}}"#));
    documents
}

/// The listing, or the bound that it would pass.
type Told = Result<Vec<SubsetRule>, usize>;

fn listed(snapshot: &Snapshot, rounds: usize) -> Result<(Told, Duration), String> {
    let rules = rules(snapshot)?;
    let (rules, entries) = entries(&rules, snapshot)?;
    let mut times = Vec::new();
    let mut told = None;
    for _ in 0..rounds {
        let negations = upheld_dialects::kuma::subsets::Negations::On;
        let (result, spent) = timed(|| rules.subset_rules(&entries, negations));
        times.push(spent);
        told = Some(result.map_err(|error| error.limit));
    }
    Ok((told.ok_or("no rounds")?, median(times)))
}

/// The kind and its items for the only proxy, the lowest priority first.
fn entries<'r, 's>(rules: &'r [Rules<'s>], snapshot: &Snapshot) -> Result<(&'r Rules<'s>, Vec<EntryId>), String> {
    let rules = rules.first().ok_or("no policies")?;
    let proxies = proxies(snapshot);
    let proxy = subjects(&proxies).first().copied().ok_or("no proxy")?;
    let matched = rules.matched_with(proxy, &mut AdmitScratch::default());
    let slots: Vec<u32> = matched.iter().map(|admitted| admitted.slot).collect();
    Ok((rules, rules.entries(&slots, Facet::Clients)))
}

/// Every combination of tags, held against every item, folded each time: how many count, and the time.
fn naive(shape: &Shape, snapshot: &Snapshot) -> Result<Option<(usize, Duration)>, String> {
    let all = rules(snapshot)?;
    let (rules, entries) = entries(&all, snapshot)?;
    let subsets: Vec<Subset> = entries.iter().map(|id| rules.subset(*id)).collect();
    let tags: Vec<Tag> = subsets.iter().flat_map(|subset| subset.tags.iter().cloned()).collect();
    let mut values: std::collections::BTreeMap<&str, std::collections::BTreeSet<&str>> =
        std::collections::BTreeMap::new();
    for (key, value) in shape.items.iter().flatten() {
        values.entry(key).or_default().insert(value);
    }
    let count = values.values().fold(1_usize, |count, values| count.saturating_mul(values.len() + 1));
    if count > NAIVE_CELLS {
        return Ok(None);
    }
    let (found, spent) = timed(|| {
        let mut found = Vec::new();
        for cell in cells(&tags) {
            let speaking = entries.iter().zip(&subsets).filter(|(_, subset)| subset.has_all_of(&cell));
            let best_first: Vec<EntryId> = speaking.map(|(id, _)| *id).rev().collect();
            if !best_first.is_empty() {
                let confs: Vec<_> = rules.merge.fold(&best_first).iter().filter_map(Merged::config).collect();
                found.extend(confs.into_iter().map(|conf| (cell.clone(), conf, best_first.clone())));
            }
        }
        found.sort_by_key(|(cell, ..)| std::cmp::Reverse(cell.positive_tags()));
        found.len()
    });
    Ok(Some((found, spent)))
}
