//! `list`: what was read.

use std::collections::BTreeMap;

use anstyle::Style;
use indicatif::ProgressBar;
use serde_json::{Value as Json, json};
use upheld_dialects::access::SCOPE;
use upheld_dialects::comply::SCOPE as RELATED;
use upheld_dialects::kuma::ends::{find_mesh, meshes, services};
use upheld_dialects::kuma::layered::ROUTE;
use upheld_dialects::kuma::resources::ResourceType;
use upheld_engine::{PolicyId, Snapshot};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault, NodeRef, Role, Sym, Timestamp};

use super::all_pairs::{Tally, tally};
use super::{Session, refuse};
use crate::cli::{Format, List, Listed};
use crate::exit::Exit;
use crate::render::print_plain;
use crate::render::table::{Align, Table};
use crate::report::At;

/// One row; columns that a thing does not have stay empty.
struct Row {
    kind: String,
    mesh: String,
    name: String,
    tags: String,
    /// For how many pairs of proxy and service a policy stands.
    stands: Option<Tally>,
    created: Option<Timestamp>,
    at: Option<At>,
}

pub(super) fn run(session: &Session<'_>, list: &List) -> Exit {
    let now = match session.now() {
        Ok(now) => now,
        Err(problem) => return refuse(&[problem]),
    };
    let Some(loaded) = session.load() else { return Exit::Failed };
    let snapshot = &loaded.snapshot;
    let mut rows = match list.what {
        Some(Listed::Policies) => policies(session, snapshot),
        Some(Listed::Objects) => objects(snapshot).into_iter().chain(related(snapshot)).collect(),
        Some(Listed::Services) => service_rows(snapshot),
        Some(Listed::Meshes) => mesh_rows(snapshot),
        None => {
            let objects = objects(snapshot).into_iter().chain(related(snapshot));
            policies(session, snapshot).into_iter().chain(objects).collect()
        }
    };
    if let Some(mesh) = &session.settings.mesh.value {
        if let Err(problem) = find_mesh(snapshot, mesh) {
            return refuse(&[problem]);
        }
        rows.retain(|row| row.mesh == *mesh);
    }
    if let Some(kind) = &list.kind {
        if let Some(problem) = unknown_type(snapshot, kind) {
            return refuse(&[problem]);
        }
        rows.retain(|row| row.kind.eq_ignore_ascii_case(kind));
    }
    print(session, &rows, now);
    Exit::Yes
}

fn policies(session: &Session<'_>, snapshot: &Snapshot) -> Vec<Row> {
    // Only those who look for it pay for all pairs.
    let counted = !matches!(session.screen.format, Format::Table | Format::Name);
    let mut tallies = if counted { tallies(snapshot) } else { BTreeMap::new() };
    let mut row = |id: PolicyId, policy: &upheld_model::Policy| Row {
        stands: tallies.remove(&id),
        kind: snapshot.text(policy.kind).to_owned(),
        mesh: snapshot.text(policy.scope).to_owned(),
        name: snapshot.text(policy.name).to_owned(),
        tags: String::new(),
        created: policy.created,
        at: at(snapshot, policy.at),
    };
    snapshot.policies().iter().map(|(id, policy)| row(id, policy)).collect()
}

/// Where each policy stands; of several kinds that govern it, the one that it stands for most.
fn tallies(snapshot: &Snapshot) -> BTreeMap<PolicyId, Tally> {
    let mut tallies: BTreeMap<PolicyId, Tally> = BTreeMap::new();
    for (id, kind) in snapshot.kinds().iter() {
        for mesh in meshes(snapshot) {
            if snapshot.select(id, mesh).is_none() {
                continue;
            }
            let pairs = tally(snapshot, id, mesh, &ProgressBar::hidden());
            let found = pairs.tallies();
            let policies = snapshot.policies().iter();
            for (policy, _) in policies.filter(|(_, policy)| policy.kind == kind.governs && policy.scope == mesh) {
                let tally = found.get(&Some(policy)).copied().unwrap_or_else(|| pairs.none());
                let best = tallies.entry(policy).or_insert(tally);
                if tally.pairs > best.pairs {
                    *best = tally;
                }
            }
        }
    }
    tallies
}

fn objects(snapshot: &Snapshot) -> Vec<Row> {
    let row = |object: &upheld_model::Object| Row {
        stands: None,
        kind: snapshot.text(object.kind).to_owned(),
        mesh: snapshot.text(object.scope).to_owned(),
        name: snapshot.text(object.name).to_owned(),
        tags: (object.parts.iter())
            .filter(|part| part.role != Role::Outbound)
            .map(|part| tags_text(snapshot, &part.tags))
            .collect::<Vec<_>>()
            .join(" | "),
        created: object.created,
        at: at(snapshot, object.at),
    };
    // Routes are listed as the policies that they are.
    let own = snapshot.objects().iter().filter(|(_, object)| snapshot.text(object.kind) != ROUTE);
    own.map(|(_, object)| row(object)).collect()
}

/// Objects whose tags must agree with others; what they live in stands in place of the mesh.
fn related(snapshot: &Snapshot) -> Vec<Row> {
    let mut rows = Vec::new();
    for (_, comply) in snapshot.complies() {
        for object in comply.objects() {
            let reference = comply.reference(object);
            let (kind, id) = reference.split_once('/').unwrap_or(("", &reference));
            let tags = comply.tags_of(object);
            let tags: Vec<String> = tags.iter().map(|(key, values)| format!("{key}={}", values.join("|"))).collect();
            rows.push(Row {
                stands: None,
                kind: kind.to_owned(),
                mesh: comply
                    .owner_of(object)
                    .map_or_else(|| RELATED.to_owned(), |owner| comply.reference(owner).into()),
                name: id.to_owned(),
                tags: tags.join(","),
                created: None,
                at: comply.origin(object).and_then(|node| at(snapshot, node)),
            });
        }
    }
    rows
}

fn service_rows(snapshot: &Snapshot) -> Vec<Row> {
    let row = |kind: &str, mesh: Sym, name: Sym, tags: String| Row {
        stands: None,
        kind: kind.to_owned(),
        mesh: snapshot.text(mesh).to_owned(),
        name: snapshot.text(name).to_owned(),
        tags,
        created: None,
        at: None,
    };
    let services = services(snapshot).into_iter();
    services
        .map(|service| {
            let tags = format!("{}={}", snapshot.text(service.tag), snapshot.text(service.name));
            row("Service", service.mesh, service.name, tags)
        })
        .collect()
}

fn mesh_rows(snapshot: &Snapshot) -> Vec<Row> {
    let row = |mesh: Sym| Row {
        stands: None,
        kind: "Mesh".to_owned(),
        mesh: snapshot.text(mesh).to_owned(),
        name: snapshot.text(mesh).to_owned(),
        tags: String::new(),
        created: None,
        at: None,
    };
    meshes(snapshot).into_iter().map(row).collect()
}

/// `key=value,…` by key.
pub(super) fn tags_text(snapshot: &Snapshot, tags: &upheld_model::TagSet) -> String {
    let mut pairs: Vec<String> = (tags.as_slice().iter())
        .map(|tag| format!("{}={}", snapshot.text(tag.key), tag.value.map_or("?", |value| snapshot.text(value))))
        .collect();
    pairs.sort();
    pairs.join(",")
}

fn at(snapshot: &Snapshot, node: NodeRef) -> Option<At> {
    At::of(snapshot.files(), node)
}

fn unknown_type(snapshot: &Snapshot, kind: &str) -> Option<Diagnostic> {
    let mut known: Vec<&str> = snapshot.kinds().iter().map(|(_, known)| snapshot.text(known.governs)).collect();
    known.extend(ResourceType::ALL.map(ResourceType::name));
    let related = snapshot.complies().flat_map(|(_, comply)| &comply.profile().kinds);
    known.extend(related.map(|kind| kind.name.as_str()));
    known.sort_unstable();
    known.dedup();
    if known.iter().any(|known| known.eq_ignore_ascii_case(kind)) {
        return None;
    }
    let diagnostic = Diagnostic::error(Fault::NotFound, format!("there is no type `{kind}`"));
    Some(match nearest(kind, known.iter().copied()) {
        Some(nearest) => diagnostic.help(format!("did you mean `--kind {nearest}`?")),
        None => diagnostic.help(format!("types: {}", known.join(", "))),
    })
}

fn print(session: &Session<'_>, rows: &[Row], now: Timestamp) {
    let screen = &session.screen;
    let json = |row: &Row| -> Json {
        json!({
            "kind": row.kind, "mesh": row.mesh, "name": row.name, "tags": row.tags,
            "stands": row.stands.map(|tally| tally.json()),
            "created": row.created.map(|created| created.to_string()), "at": row.at,
        })
    };
    match screen.format {
        Format::Json | Format::Yaml => {
            screen.print_data(&json!({"items": rows.iter().map(json).collect::<Vec<_>>()}));
        }
        Format::Jsonl => rows.iter().for_each(|row| screen.print_data(&json(row))),
        Format::Name => {
            let names: String = rows.iter().map(|row| format!("{}/{}/{}\n", row.kind, row.mesh, row.name)).collect();
            print_plain(&names);
        }
        Format::Table | Format::Wide if rows.is_empty() => super::say("Nothing of that sort was read."),
        Format::Table | Format::Wide => {
            let wide = screen.format == Format::Wide;
            let mut columns = vec![("KIND", Align::Left), ("MESH", Align::Left), ("NAME", Align::Left)];
            if wide {
                columns.extend([("STANDS FOR", Align::Left), ("AGE", Align::Right), ("TAGS", Align::Left)]);
            }
            columns.push(("AT", Align::Left));
            let mut table = Table::new(&columns);
            for row in rows {
                // Policies about requests or about related objects are in no mesh.
                let mesh = if row.mesh == SCOPE || row.mesh == RELATED { "-" } else { &row.mesh };
                let mut cells = vec![row.kind.clone(), mesh.to_owned(), row.name.clone()];
                if wide {
                    cells.push(row.stands.map_or("-".to_owned(), |tally| tally.short()));
                    cells.extend([row.created.map_or("-".to_owned(), |created| age(created, now)), row.tags.clone()]);
                }
                cells.push(row.at.as_ref().map(ToString::to_string).unwrap_or_default());
                table.row(Style::new(), cells);
            }
            screen.print(&table.render(screen.width, 1));
        }
    }
}

/// `41s`, `3h`, `12d`: as Kubernetes users know it.
fn age(created: Timestamp, now: Timestamp) -> String {
    let seconds = now.0.saturating_sub(created.0) / 1_000_000_000;
    match seconds {
        i64::MIN..0 => "in the future".to_owned(),
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

impl Session<'_> {
    /// The moment that ages are counted from.
    fn now(&self) -> Result<Timestamp, Diagnostic> {
        match &self.common.now {
            Some(text) => text.parse().map_err(|_| {
                Diagnostic::error(Fault::WrongValue, format!("`--now {text}` is no time"))
                    .help("write it as 2025-03-01T12:00:00Z")
            }),
            None => Ok(Timestamp(i64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_as_in_kubernetes() {
        let second = 1_000_000_000;
        let ages = [41, 180, 7_200, 172_800].map(|seconds| age(Timestamp(0), Timestamp(seconds * second)));
        assert_eq!(ages, ["41s", "3m", "2h", "2d"]);
        assert_eq!(age(Timestamp(second), Timestamp(0)), "in the future");
    }
}
