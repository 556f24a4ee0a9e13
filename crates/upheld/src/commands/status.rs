//! `status`: what controllers would report of gateways, listeners, routes and policies, and at how many places each field of a
//! policy survives.

use anstyle::Style;
use serde_json::Value as Json;
use upheld_answers::report::{Condition, status_list};
use upheld_answers::{ObjectStatus, PolicyStatus, World};

use super::{Session, print_warnings};
use crate::cli::Format;
use crate::exit::Exit;
use crate::render::print_names;
use crate::render::table::{Align, Table};
use crate::render::text::Text;

pub(super) fn run(session: &Session<'_>) -> Exit {
    let Some(loaded) = session.load() else { return Exit::Failed };
    let options = session.options();
    let world = World::new(&loaded.snapshot, &options);
    let (objects, policies) = (world.object_statuses(), world.statuses());
    print_warnings(&loaded, &world.warnings());
    let screen = &session.screen;
    let resources = || -> Vec<Json> {
        objects.iter().map(ObjectStatus::resource).chain(policies.iter().map(PolicyStatus::resource)).collect()
    };
    match screen.format {
        Format::Json | Format::Yaml => screen.print_data(&status_list(&resources())),
        Format::Jsonl => resources().iter().for_each(|one| screen.print_data(one)),
        Format::Name => {
            let objects = objects.iter().map(|one| one.object.to_string());
            let names = objects.chain(policies.iter().map(|one| one.policy.to_string()));
            print_names(names);
        }
        Format::Table | Format::Wide if objects.is_empty() && policies.is_empty() => {
            super::say("There is nothing that a controller reports on.");
        }
        Format::Table | Format::Wide => {
            let tables = [object_table(&objects), policy_table(&policies)];
            let filled = tables.into_iter().zip([objects.is_empty(), policies.is_empty()]).filter(|(_, empty)| !empty);
            let texts = filled.map(|(table, _)| table.render(screen.width, 1));
            screen.print(&Text::joined(texts, "\n"));
        }
    }
    Exit::Yes
}

fn conditions(all: &[Condition]) -> String {
    let told = all.iter().map(|known| format!("{}={}/{}", known.name, known.status, known.reason));
    told.collect::<Vec<_>>().join(" ")
}

fn object_table(objects: &[ObjectStatus]) -> Table {
    let mut table = Table::new(&[("OBJECT", Align::Left), ("AT", Align::Left), ("CONDITIONS", Align::Left)]);
    let mut row = |object: &ObjectStatus, at: String, conditions: String| {
        table.row(Style::new(), [object.object.to_string(), at, conditions]);
    };
    for one in objects {
        if !one.conditions.is_empty() {
            row(one, "-".to_owned(), conditions(&one.conditions));
        }
        for listener in &one.listeners {
            let noun = if listener.attached_routes == 1 { "route" } else { "routes" };
            let at = format!("listener {} ({} {noun})", listener.name, listener.attached_routes);
            row(one, at, conditions(&listener.conditions));
        }
        for parent in &one.parents {
            row(one, parent.ancestor.to_string(), conditions(&parent.conditions));
        }
        for note in &one.notes {
            row(one, "-".to_owned(), note.clone());
        }
    }
    table
}

fn policy_table(told: &[PolicyStatus]) -> Table {
    let mut table = Table::new(&[
        ("POLICY", Align::Left),
        ("ANCESTOR", Align::Left),
        ("CONDITIONS", Align::Left),
        ("FIELDS", Align::Left),
    ]);
    for one in told {
        let fields = one.fields.iter().map(|field| format!("{} {}/{}", field.field, field.survives, field.of));
        let mut fields = fields.collect::<Vec<_>>().join(", ");
        if one.ancestors.is_empty() {
            let why =
                if one.notes.is_empty() { "no controller reports on it here".to_owned() } else { one.notes.join("; ") };
            table.row(Style::new(), [one.policy.to_string(), "-".to_owned(), why, fields.clone()]);
        }
        for entry in &one.ancestors {
            let conditions = conditions(&entry.conditions);
            table.row(
                Style::new(),
                [one.policy.to_string(), entry.ancestor.to_string(), conditions, std::mem::take(&mut fields)],
            );
        }
    }
    table
}
