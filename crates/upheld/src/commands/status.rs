//! `status`: what controllers would report of each policy, and at how many places each of its fields survives.

use anstyle::Style;
use serde_json::json;
use upheld_answers::{PolicyStatus, World};

use super::{Session, print_warnings};
use crate::cli::Format;
use crate::exit::Exit;
use crate::render::print_plain;
use crate::render::table::{Align, Table};

pub(super) fn run(session: &Session<'_>) -> Exit {
    let Some(loaded) = session.load() else { return Exit::Failed };
    let options = session.options();
    let world = World::new(&loaded.snapshot, &options);
    let told = world.statuses();
    print_warnings(&loaded, &world.warnings());
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml => screen.print_data(&json!({"items": told})),
        Format::Jsonl => {
            for one in &told {
                screen.print_data(one);
            }
        }
        Format::Name => print_plain(&told.iter().map(|one| format!("{}\n", one.policy)).collect::<String>()),
        Format::Table | Format::Wide if told.is_empty() => {
            super::say("There is no policy that a controller reports on.");
        }
        Format::Table | Format::Wide => screen.print(&table(&told).render(screen.width, 1)),
    }
    Exit::Yes
}

fn table(told: &[PolicyStatus]) -> Table {
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
            let cells = [one.policy.clone(), "-".to_owned(), "attached to nothing".to_owned(), fields.clone()];
            table.row(Style::new(), cells);
        }
        for entry in &one.ancestors {
            let conditions = entry.conditions.iter();
            let conditions = conditions.map(|known| format!("{}={}/{}", known.name, known.status, known.reason));
            let section = entry.section.as_ref().map(|section| format!("#{section}")).unwrap_or_default();
            let ancestor = format!("{}{section}", entry.ancestor);
            let cells =
                [one.policy.clone(), ancestor, conditions.collect::<Vec<_>>().join(" "), std::mem::take(&mut fields)];
            table.row(Style::new(), cells);
        }
    }
    table
}
