//! `status`: what kgateway would report of each policy, and at how many places each of its fields survives.

use anstyle::Style;
use serde::Serialize;
use serde_json::json;
use upheld_dialects::envoy_gateway::{Attachments, PolicyStatus as EnvoyStatus, by_age};
use upheld_dialects::gateway_api::topology::Condition;
use upheld_dialects::kgateway::{PolicyEntry, PolicyStatus, Resolver};

use super::{Session, refuse};
use crate::cli::Format;
use crate::exit::Exit;
use crate::render::print_plain;
use crate::render::table::{Align, Table};

pub(super) fn run(session: &Session<'_>) -> Exit {
    let Some(loaded) = session.load() else { return Exit::Failed };
    let (topology, controller) = match session.topology(&loaded.snapshot) {
        Ok(known) => known,
        Err(problems) => return refuse(&problems),
    };
    let resolver = Resolver::new(&topology, &controller, session.gateway_semantics());
    let mut statuses = resolver.statuses();
    let mut survival = resolver.survival_on_ways();
    for status in &mut statuses {
        // What a nearer scope hides does not survive, although the status of the policy does not say so.
        if let Some(fields) = survival.remove(&status.policy) {
            status.survival = fields;
        }
    }
    let mut told: Vec<Told> = statuses.iter().map(|status| Told::of(&resolver, status)).collect();
    let envoy = Attachments::new(&topology, &by_age(&loaded.snapshot));
    let own = envoy.policies.iter();
    let statuses = envoy.status();
    told.extend(statuses.iter().filter_map(|status| {
        let policy = own.clone().find(|policy| policy.id == status.policy)?;
        Some(Told::of_envoy(&resolver, policy.title(), status))
    }));
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml => screen.print_data(&json!({"items": told})),
        Format::Jsonl => {
            for one in &told {
                screen.print_data(one);
            }
        }
        Format::Name => print_plain(&told.iter().map(|one| format!("{}\n", one.policy)).collect::<String>()),
        Format::Table | Format::Wide if told.is_empty() => super::say("There is no policy for gateways."),
        Format::Table | Format::Wide => screen.print(&table(&told).render(screen.width, 1)),
    }
    Exit::Yes
}

fn table(told: &[Told]) -> Table {
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

/// The status of a policy, as it is told.
#[derive(Debug, Serialize)]
struct Told {
    policy: String,
    ancestors: Vec<ToldAncestor>,
    /// At how many places each field survives.
    fields: Vec<ToldField>,
}

#[derive(Debug, Serialize)]
struct ToldAncestor {
    ancestor: String,
    #[serde(rename = "sectionName")]
    section: Option<String>,
    conditions: Vec<ToldCondition>,
}

#[derive(Debug, Serialize)]
struct ToldCondition {
    #[serde(rename = "type")]
    name: String,
    status: &'static str,
    reason: String,
    message: String,
}

#[derive(Debug, Serialize)]
struct ToldField {
    field: String,
    survives: usize,
    of: usize,
}

impl Told {
    fn of(resolver: &Resolver<'_>, status: &PolicyStatus) -> Self {
        let ancestors = status.ancestors.iter().map(|entry| ToldAncestor {
            ancestor: resolver.references().title(entry.ancestor.object),
            section: entry.ancestor.section.clone(),
            conditions: conditions(&entry.conditions),
        });
        let fields = status.survival.iter().map(|field| ToldField {
            field: field.field.to_string(),
            survives: field.survives,
            of: field.targets,
        });
        Self {
            policy: resolver.policies().get(status.policy).map(PolicyEntry::title).unwrap_or_default(),
            ancestors: ancestors.collect(),
            fields: fields.collect(),
        }
    }

    fn of_envoy(resolver: &Resolver<'_>, policy: String, status: &EnvoyStatus) -> Self {
        let ancestors = status.ancestors.iter().map(|entry| ToldAncestor {
            ancestor: resolver.references().title(entry.ancestor.object),
            section: entry.ancestor.section.clone(),
            conditions: conditions(&entry.conditions),
        });
        Self { policy, ancestors: ancestors.collect(), fields: Vec::new() }
    }
}

fn conditions(known: &[Condition]) -> Vec<ToldCondition> {
    let told = known.iter().map(|condition| ToldCondition {
        name: condition.name.clone(),
        status: if condition.status { "True" } else { "False" },
        reason: condition.reason.clone(),
        message: condition.message.clone(),
    });
    told.collect()
}
