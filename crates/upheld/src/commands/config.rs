//! `config`: the settings in force and where each comes from.

use serde_json::{Map, json};

use super::Session;
use crate::cli::Format;
use crate::config::name_of;
use crate::exit::Exit;
use crate::render::print_names;
use crate::render::table::{Align, Table};

pub(super) fn run(session: &Session<'_>, show_origin: bool) -> Exit {
    let settings = &session.settings;
    let excluded: Vec<&str> = settings.exclude.value.iter().map(|(_, pattern)| pattern.as_str()).collect();
    let rows = [
        ("files", settings.files.value.join(", "), &settings.files.origin),
        ("exclude", excluded.join(", "), &settings.exclude.origin),
        ("semantics", settings.semantics.value.join(", "), &settings.semantics.origin),
        ("mesh", settings.mesh.value.clone().unwrap_or_default(), &settings.mesh.origin),
        ("output", name_of(&settings.output.value), &settings.output.origin),
        ("color", name_of(&settings.color.value), &settings.color.origin),
        ("schemas", name_of(&settings.schemas.value), &settings.schemas.origin),
        ("trust", settings.trust.value.join(", "), &settings.trust.origin),
        ("anonymous", name_of(&settings.anonymous.value), &settings.anonymous.origin),
        ("max-stale", settings.max_stale.value.to_string(), &settings.max_stale.origin),
    ];
    let systems = settings.systems.iter().map(|(name, set)| (*name, set.value.join(", "), &set.origin));
    let rows: Vec<(&str, String, &String)> = rows.into_iter().chain(systems).collect();
    match session.screen.format {
        Format::Table | Format::Wide => {
            let mut columns = vec![("SETTING", Align::Left), ("VALUE", Align::Left)];
            if show_origin {
                columns.push(("ORIGIN", Align::Left));
            }
            let mut table = Table::new(&columns);
            for (setting, value, origin) in rows {
                let value = if value.is_empty() { "-".to_owned() } else { value };
                let origin = show_origin.then(|| origin.clone());
                table.row(anstyle::Style::new(), [setting.to_owned(), value].into_iter().chain(origin));
            }
            session.screen.print(&table.render(session.screen.width, usize::from(show_origin)));
        }
        Format::Name => print_names(rows.iter().map(|(setting, ..)| setting)),
        Format::Json | Format::Yaml | Format::Jsonl => {
            let map: Map<_, _> = rows
                .into_iter()
                .map(|(setting, value, origin)| (setting.to_owned(), json!({"value": value, "origin": origin})))
                .collect();
            session.screen.print_data(&map);
        }
    }
    Exit::Yes
}
