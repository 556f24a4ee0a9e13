//! `status`: what kgateway would report of each policy, and at how many places each of its fields survives.

use anstyle::Style;
use serde_json::{Value as Json, json};
use upheld_dialects::gateway_api::settings::Settings as TopologySettings;
use upheld_dialects::gateway_api::topology::Topology;
use upheld_dialects::kgateway::{PolicyEntry, PolicyStatus, Resolver, Settings};

use super::Session;
use crate::cli::Format;
use crate::exit::Exit;
use crate::render::table::{Align, Table};
use crate::render::{diagnostics, print_plain};

pub(super) fn run(session: &Session<'_>) -> Exit {
    let Some(loaded) = session.load() else { return Exit::Failed };
    let topology = Topology::build(&loaded.snapshot, &TopologySettings::default());
    if !topology.warnings.is_empty() {
        diagnostics::print(loaded.snapshot.files(), &topology.warnings);
    }
    let resolver = Resolver::new(&topology, &Settings::default(), session.gateway_semantics());
    let mut statuses = resolver.statuses();
    let mut survival = resolver.survival_on_ways();
    for status in &mut statuses {
        // What a nearer scope hides does not survive, although the status of the policy does not say so.
        if let Some(fields) = survival.remove(&status.policy) {
            status.survival = fields;
        }
    }
    let title =
        |status: &PolicyStatus| resolver.policies().get(status.policy).map(PolicyEntry::title).unwrap_or_default();
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml | Format::Jsonl => {
            let documents: Vec<Json> =
                statuses.iter().map(|status| document(&resolver, &title(status), status)).collect();
            if screen.format == Format::Jsonl {
                for document in &documents {
                    screen.print_data(document);
                }
            } else {
                screen.print_data(&json!({"items": documents}));
            }
        }
        Format::Name => print_plain(&statuses.iter().map(|status| title(status) + "\n").collect::<String>()),
        Format::Table | Format::Wide => {
            let mut table = Table::new(&[
                ("POLICY", Align::Left),
                ("ANCESTOR", Align::Left),
                ("CONDITIONS", Align::Left),
                ("FIELDS", Align::Left),
            ]);
            for status in &statuses {
                let fields: Vec<String> = (status.survival.iter())
                    .map(|field| format!("{} {}/{}", field.field, field.survives, field.targets))
                    .collect();
                let mut rows: Vec<(String, String)> = (status.ancestors.iter())
                    .map(|entry| {
                        let conditions = entry.conditions.iter().map(|condition| {
                            format!("{}={}/{}", condition.name, truth(condition.status), condition.reason)
                        });
                        let ancestor = resolver.references().title(entry.ancestor.object);
                        let section = entry.ancestor.section.as_ref().map(|section| format!("#{section}"));
                        (ancestor + &section.unwrap_or_default(), conditions.collect::<Vec<_>>().join(" "))
                    })
                    .collect();
                if rows.is_empty() {
                    rows.push(("-".to_owned(), "attached to nothing".to_owned()));
                }
                for (place, (ancestor, conditions)) in rows.into_iter().enumerate() {
                    let fields = if place == 0 { fields.join(", ") } else { String::new() };
                    table.row(Style::new(), [title(status), ancestor, conditions, fields]);
                }
            }
            if statuses.is_empty() {
                super::say("There is no policy for gateways.");
            } else {
                screen.print(&table.render(screen.width, 1));
            }
        }
    }
    Exit::Yes
}

fn truth(status: bool) -> &'static str {
    if status { "True" } else { "False" }
}

fn document(resolver: &Resolver<'_>, title: &str, status: &PolicyStatus) -> Json {
    let ancestors: Vec<Json> = (status.ancestors.iter())
        .map(|entry| {
            let conditions: Vec<Json> = (entry.conditions.iter())
                .map(|condition| {
                    json!({
                        "type": condition.name, "status": truth(condition.status), "reason": condition.reason,
                        "message": condition.message,
                    })
                })
                .collect();
            json!({
                "ancestor": resolver.references().title(entry.ancestor.object),
                "sectionName": entry.ancestor.section, "conditions": conditions,
            })
        })
        .collect();
    let fields: Vec<Json> = (status.survival.iter())
        .map(|field| json!({"field": field.field.as_str(), "survives": field.survives, "of": field.targets}))
        .collect();
    json!({"policy": title, "ancestors": ancestors, "fields": fields})
}
