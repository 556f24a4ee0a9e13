//! `explain --all-pairs`: every proxy and every service of a mesh, and how often each policy counts.

use std::collections::BTreeSet;

use anstyle::Style;
use upheld_answers::all_pairs::{AllPairs, Pairs};
use upheld_answers::formats::json_line;
use upheld_answers::report::counted;
use upheld_answers::{Stamp, World};
use upheld_engine::{PolicyId, Snapshot};

use super::{Session, print_refused};
use crate::cli::{Format, Question};
use crate::exit::Exit;
use crate::render::bar::Bar;
use crate::render::style::{ANSWER, paint};
use crate::render::table::{Align, Table, wrap};
use crate::render::text::{Text, text};
use crate::render::{self, print_document, print_names};

pub(super) fn run(session: &Session<'_>, question: &Question) -> Exit {
    let Some(loaded) = session.load() else { return Exit::Failed };
    let options = session.options();
    let world = World::new(&loaded.snapshot, &options);
    let bar = Bar::new("pairs");
    let all = world.all_pairs(question.kind.as_deref().unwrap_or_default(), &bar);
    bar.finish();
    match all {
        #[cfg(feature = "server")]
        Ok(all) if session.settings.output.value.is_page() => {
            let words = upheld_answers::Words { all_pairs: true, ..question.words() };
            let stamp = Stamp::new(&loaded.snapshot, all.edition());
            print_document(&super::page::page(&words, &all.document(), &stamp));
        }
        Ok(all) => print(session, &loaded.snapshot, &all),
        Err(refused) => return print_refused(&loaded, &refused),
    }
    Exit::Yes
}

fn print(session: &Session<'_>, snapshot: &Snapshot, all: &AllPairs<'_>) {
    let screen = &session.screen;
    let tables = &all.meshes;
    match screen.format {
        Format::Jsonl => tables.iter().for_each(|table| print_lines(all, table)),
        Format::Wide => {
            let columns = [("MESH", Align::Left), ("FROM", Align::Left), ("TO", Align::Left), ("POLICY", Align::Left)];
            let mut rows = Table::new(&columns);
            for table in tables {
                for cell in table.cells().each() {
                    let refused = cell.standing.granted == Some(false) && !cell.standing.policies.is_empty();
                    let denied = if refused { " (does not grant it)" } else { "" };
                    let policies = all.names(&cell.standing).join(", ") + denied;
                    let [mesh, from] = [table.mesh(), cell.from].map(|symbol| snapshot.text(symbol));
                    let (from, to) = (and_alike(from, cell.proxies), and_alike(cell.to, cell.destinations));
                    rows.row(Style::new(), [mesh.to_owned(), from, to, policies]);
                }
            }
            screen.print(&rows.render(screen.width, 1));
        }
        Format::Name => {
            let found: BTreeSet<PolicyId> =
                tables.iter().flat_map(Pairs::tallies).filter_map(|(policy, _)| policy).collect();
            let names = found.into_iter().map(|policy| format!("{}/{}", all.kind_name(), all.name(policy)));
            print_names(names);
        }
        Format::Json | Format::Yaml => screen.print_data(&all.document()),
        Format::Table => {
            for table in tables {
                screen.print(&summary(all, snapshot.text(table.mesh()), table, screen.width));
            }
            screen.print(&render::stamp(&Stamp::new(snapshot, all.edition()), screen));
        }
    }
}

/// `web-1 and 49 alike`.
fn and_alike(first: &str, count: usize) -> String {
    if count > 1 { format!("{first} and {} alike", count - 1) } else { first.to_owned() }
}

/// Every pair, a line each.
fn print_lines(all: &AllPairs<'_>, table: &Pairs) {
    let mut lines = String::new();
    for (proxy, to, cell) in table.each() {
        lines.push_str(&json_line(&all.line(table, proxy, to, &cell)));
        if lines.len() > 1 << 16 {
            print_document(&std::mem::take(&mut lines));
        }
    }
    print_document(&lines);
}

fn summary(all: &AllPairs<'_>, mesh: &str, table: &Pairs, width: Option<usize>) -> Text {
    let pairs = counted(table.count(), "pair", "pairs");
    let proxies = counted(table.proxies(), "proxy", "proxies");
    let destinations = counted(table.destinations(), "destination", "destinations");
    let kind = all.kind_name();
    let answer = format!("{pairs} of {proxies} and {destinations} in mesh {mesh}: who decides {kind}.");
    let mut rows = Table::new(&[
        ("POLICY", Align::Left),
        ("PAIRS", Align::Right),
        ("PROXIES", Align::Right),
        ("DESTINATIONS", Align::Right),
        ("AT", Align::Left),
    ]);
    let mut tallies: Vec<_> = table.tallies().into_iter().collect();
    tallies.sort_by_key(|(policy, tally)| (policy.is_none(), std::cmp::Reverse(tally.pairs)));
    for (policy, tally) in tallies {
        let name = policy.map_or(all.default_name(), |policy| all.name(policy));
        let numbers = [tally.pairs, tally.proxies, tally.destinations].map(|number| number.to_string());
        let at = all.at(policy).map(|at| at.to_string()).unwrap_or_default();
        rows.row(Style::new(), [name.to_owned()].into_iter().chain(numbers).chain([at]));
    }
    let rows = rows.render(width, 1);
    text!(
        "{}\n\n{}\n  Which pairs: -o wide, those with the same answers together; every pair: -o jsonl\n",
        paint(ANSWER, &wrap(&answer, width)),
        rows
    )
}
