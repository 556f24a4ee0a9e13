//! `list`: what was read.

use anstyle::Style;
use serde_json::json;
use upheld_answers::World;
use upheld_answers::inventory::{Listed, OWNER, Row, Wanted};
use upheld_dialects::dialects;
use upheld_model::{Diagnostic, Fault, Timestamp};

use super::decision::clock;
use super::{Session, print_refused, refuse};
use crate::cli::{self, Format, List};
use crate::exit::Exit;
use crate::render::print_names;
use crate::render::table::{Align, Table};

pub(super) fn run(session: &Session<'_>, list: &List) -> Exit {
    let now = match session.now() {
        Ok(now) => now,
        Err(problem) => return refuse(&[problem]),
    };
    let Some(loaded) = session.load() else { return Exit::Failed };
    let options = session.options();
    let wanted = Wanted {
        what: match list.what {
            None => Listed::All,
            Some(cli::Listed::Policies) => Listed::Policies,
            Some(cli::Listed::Objects) => Listed::Objects,
            Some(cli::Listed::Services) => Listed::Services,
            Some(cli::Listed::Meshes) => Listed::Meshes,
        },
        kind: list.kind.clone(),
        tallies: !matches!(session.screen.format, Format::Table | Format::Name),
    };
    match World::new(&loaded.snapshot, &options).list(&wanted) {
        Ok(rows) => print(session, &rows, now),
        Err(refused) => return print_refused(&loaded, &refused),
    }
    Exit::Yes
}

/// What systems make of policies, as far as a wide screen has room for it.
const COMPUTED: [(&str, &str); 3] = [("role", "ROLE"), ("origin", "ORIGIN"), ("zone", "ZONE")];

fn has_any(rows: &[Row], name: &str) -> bool {
    rows.iter().any(|row| row.computed(name).is_some())
}

fn print(session: &Session<'_>, rows: &[Row], now: Timestamp) {
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml => {
            screen.print_data(&json!({"items": rows.iter().map(Row::json).collect::<Vec<_>>()}));
        }
        Format::Jsonl => rows.iter().for_each(|row| screen.print_data(&row.json())),
        Format::Name => {
            print_names(rows.iter().map(Row::id));
        }
        Format::Table | Format::Wide if rows.is_empty() => super::say("Nothing of this kind was read."),
        Format::Table | Format::Wide => {
            let wide = screen.format == Format::Wide;
            let mut columns = vec![("KIND", Align::Left), ("SCOPE", Align::Left), ("NAME", Align::Left)];
            let computed: Vec<_> = COMPUTED.into_iter().filter(|(name, _)| wide && has_any(rows, name)).collect();
            if wide {
                columns.extend([("STANDS FOR", Align::Left), ("AGE", Align::Right)]);
                columns.extend(computed.iter().map(|(_, heading)| (*heading, Align::Left)));
                columns.push(("TAGS", Align::Left));
            }
            columns.push(("AT", Align::Left));
            let mut table = Table::new(&columns);
            for row in rows {
                // A mesh or a namespace; policies about requests or about related objects are in neither, but objects may belong to one.
                let nowhere = dialects().any(|dialect| dialect.is_in_no_scope(&row.kind, &row.mesh));
                let scope = if nowhere { row.computed(OWNER).unwrap_or("-") } else { &row.mesh };
                let mut cells = vec![row.kind.clone(), scope.to_owned(), row.name.clone()];
                if wide {
                    cells.push(row.stands.map_or("-".to_owned(), |tally| tally.short()));
                    cells.push(row.created.map_or("-".to_owned(), |created| age(created, now)));
                    cells.extend(computed.iter().map(|(name, _)| row.computed(name).unwrap_or("-").to_owned()));
                    cells.push(row.tags.clone());
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
            None => Ok(clock()),
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
