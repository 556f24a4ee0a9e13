//! `kinds`: how each kind of policy matches, ranks and resolves.

use anstyle::Style;
use serde_json::json;
use upheld_answers::World;
use upheld_engine::{PolicyKind, Snapshot};

use super::{Session, print_refused};
use crate::cli::{Format, Kinds, KindsAction};
use crate::exit::Exit;
use crate::render::table::{Align, Table};
use crate::render::text::Text;
use crate::render::{print_names, print_text};

pub(super) fn run(session: &Session<'_>, kinds: &Kinds) -> Exit {
    let Some(loaded) = session.load_or_builtin() else { return Exit::Failed };
    let options = session.options();
    let world = World::new(&loaded.snapshot, &options);
    match &kinds.action {
        None => list(session, &world),
        Some(KindsAction::Show { name }) => match world.kind(name) {
            Ok(kind) => show(session, &loaded.snapshot, kind),
            Err(refused) => return print_refused(&loaded, &refused),
        },
    }
    Exit::Yes
}

fn list(session: &Session<'_>, world: &World<'_>) {
    let screen = &session.screen;
    match screen.format {
        Format::Name => {
            print_names(world.kind_lines().iter().map(|kind| &kind.name));
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
            for kind in world.kind_lines() {
                let semantics = kind.semantics.unwrap_or_else(|| "-".to_owned());
                let mut cells = vec![kind.name, semantics, kind.resolve.to_owned(), kind.rank];
                if wide {
                    cells.extend([kind.matches, kind.at.map(|at| at.to_string()).unwrap_or_default()]);
                }
                cells.push(kind.about);
                table.row(Style::new(), cells);
            }
            screen.print(&table.render(screen.width, 1));
        }
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&json!({"items": world.kinds()})),
    }
}

/// The document as it was written; kinds are data in the users' own format.
fn show(session: &Session<'_>, snapshot: &Snapshot, kind: &PolicyKind) {
    let Some(value) = snapshot.files().value(kind.at) else { return };
    match session.screen.format {
        Format::Table | Format::Wide => {
            let text = snapshot.files().get(kind.at.source).map_or("", |file| file.tree.text());
            let span = value.span();
            let written = text.get(span.start as usize..span.end as usize).unwrap_or_default();
            print_text(&Text::of_lines(document_only(written), ""));
        }
        Format::Name => print_names([snapshot.text(kind.name)]),
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
    pub(super) fn load_or_builtin(&self) -> Option<upheld_loader::load::Loaded> {
        if self.settings.files.origin != "default" {
            return self.load();
        }
        match crate::load::try_snapshot(&self.settings, self.common.at.as_deref()) {
            Ok(loaded) => Some(loaded),
            Err(_) => {
                let semantics: Vec<&str> = self.settings.semantics.value.iter().map(String::as_str).collect();
                upheld_loader::load::load(Vec::new(), &semantics)
                    .map_err(|broken| {
                        crate::render::diagnostics::print(&broken.files, broken.diagnostics.as_slice());
                    })
                    .ok()
            }
        }
    }
}
