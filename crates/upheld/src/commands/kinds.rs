//! `kinds`: how each kind of policy matches, ranks and resolves.

use anstyle::Style;
use serde_json::{Value as Json, json};
use upheld_engine::words::{layer_rung_name, rung_name};
use upheld_engine::{Choices, PolicyKind, Resolve, Snapshot};

use super::question::find_kind;
use super::{Session, refuse};
use crate::cli::{Format, Kinds, KindsAction};
use crate::exit::Exit;
use crate::render::print_plain;
use crate::render::table::{Align, Table};
use crate::report::At;

pub(super) fn run(session: &Session<'_>, kinds: &Kinds) -> Exit {
    let Some(loaded) = session.load_or_builtin() else { return Exit::Failed };
    let snapshot = &loaded.snapshot;
    match &kinds.action {
        None => list(session, snapshot),
        Some(KindsAction::Show { name }) => match find_kind(snapshot, name) {
            Ok(id) => show(session, snapshot, id),
            Err(problem) => return refuse(&[problem]),
        },
    }
    Exit::Yes
}

fn list(session: &Session<'_>, snapshot: &Snapshot) {
    let screen = &session.screen;
    let text = |kind: &PolicyKind| {
        let lookup = snapshot.lookup();
        match &kind.choices {
            Choices::Select(select) => {
                let matches: Vec<String> = (select.matches.iter())
                    .map(|item| format!("{} ({})", snapshot.text(item.field), item.side.word()))
                    .collect();
                let rank: Vec<String> = select.rank.rungs().iter().map(|rung| rung_name(*rung, &lookup)).collect();
                let resolve = if select.resolve == Resolve::All { "all" } else { "first" };
                (matches.join(" and "), rank.join(", "), resolve)
            }
            Choices::Inherit(inherit) => {
                let profile = format!("profile {}", snapshot.text(inherit.profile));
                ("targetRefs (gateways and routes)".to_owned(), profile, "merge")
            }
            Choices::Decide(decide) => {
                let fields: Vec<&str> = decide.fields.clauses.iter().map(|(_, field)| snapshot.text(*field)).collect();
                let rank = format!("{}, position", snapshot.text(decide.fields.priority));
                (fields.join(", "), rank, decide.algorithm.word())
            }
            Choices::Comply(comply) => {
                let profile = &comply.profile;
                let pairs = profile.pairs.iter();
                let pairs: Vec<String> = pairs
                    .map(|(a, b)| format!("{} ~ {}", profile.subject_name(*a), profile.subject_name(*b)))
                    .collect();
                let strategies: Vec<&str> = profile.strategies.iter().map(|strategy| strategy.word()).collect();
                (pairs.join(", "), strategies.join(", "), "all")
            }
            Choices::Merge(merge) => {
                let matches: Vec<String> = (merge.facets.iter())
                    .map(|choice| format!("{} ({})", snapshot.text(choice.field), choice.facet.word()))
                    .collect();
                let rank: Vec<String> = merge.rank.rungs().iter().map(|rung| layer_rung_name(*rung, &lookup)).collect();
                (matches.join(" and "), rank.join(", "), "merge")
            }
        }
    };
    let about = |kind: &PolicyKind| {
        snapshot.files().value(kind.at).and_then(|value| value.get("about")).map_or("", |about| about.text()).to_owned()
    };
    match screen.format {
        Format::Name => {
            let names: String =
                snapshot.kinds().iter().map(|(_, kind)| format!("{}\n", snapshot.text(kind.name))).collect();
            print_plain(&names);
        }
        Format::Table | Format::Wide => {
            let wide = screen.format == Format::Wide;
            let mut columns = vec![
                ("KIND", Align::Left),
                ("SEMANTICS", Align::Left),
                ("RESOLVE", Align::Left),
                ("RANK", Align::Left),
            ];
            if wide {
                columns.extend([("MATCH", Align::Left), ("AT", Align::Left)]);
            }
            columns.push(("DECIDES", Align::Left));
            let mut table = Table::new(&columns);
            for (_, kind) in snapshot.kinds().iter() {
                let (matches, rank, resolve) = text(kind);
                let semantics = kind.semantics.map_or("-", |semantics| snapshot.text(semantics)).to_owned();
                let mut cells = vec![snapshot.text(kind.name).to_owned(), semantics, resolve.to_owned(), rank];
                if wide {
                    let at = At::of(snapshot.files(), kind.at).map(|at| at.to_string()).unwrap_or_default();
                    cells.extend([matches, at]);
                }
                cells.push(about(kind));
                table.row(Style::new(), cells);
            }
            screen.print(&table.render(screen.width, 1));
        }
        Format::Json | Format::Yaml | Format::Jsonl => {
            let documents: Vec<Json> =
                (snapshot.kinds().iter()).map(|(_, kind)| json!(snapshot.files().value(kind.at))).collect();
            screen.print_data(&json!({"items": documents}));
        }
    }
}

/// The document as it was written; kinds are data in the users' own format.
fn show(session: &Session<'_>, snapshot: &Snapshot, id: upheld_engine::KindId) {
    let Some(kind) = snapshot.kind(id) else { return };
    let Some(value) = snapshot.files().value(kind.at) else { return };
    match session.screen.format {
        Format::Table | Format::Wide => {
            let text = snapshot.files().get(kind.at.source).map_or("", |file| file.tree.text());
            let span = value.span();
            let written = text.get(span.start as usize..span.end as usize).unwrap_or_default();
            print_plain(&format!("{}\n", document_only(written)));
        }
        Format::Name => print_plain(&format!("{}\n", snapshot.text(kind.name))),
        _ => session.screen.print_data(&value),
    }
}

/// A document ends before the mark of the next one and the comments that belong to it.
fn document_only(written: &str) -> &str {
    let end = written.find("\n---").unwrap_or(written.len());
    written.get(..end).unwrap_or(written).trim_end()
}

impl Session<'_> {
    /// The user's files, for kinds of their own; the built-in kinds alone where there are no files.
    pub(super) fn load_or_builtin(&self) -> Option<upheld_input::load::Loaded> {
        if self.settings.files.origin != "default" {
            return self.load();
        }
        match crate::load::try_snapshot(&self.settings, self.common.at.as_deref()) {
            Ok(loaded) => Some(loaded),
            Err(_) => {
                let semantics: Vec<&str> = self.settings.semantics.value.iter().map(String::as_str).collect();
                upheld_input::load::load(Vec::new(), &semantics)
                    .map_err(|broken| {
                        crate::render::diagnostics::print(&broken.files, broken.diagnostics.as_slice());
                    })
                    .ok()
            }
        }
    }
}
