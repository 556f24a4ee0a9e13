//! What the program says about itself: codes, schemas, completion, manual, version.

use std::collections::BTreeMap;
use std::path::Path;

use anstyle::Style;
use serde_json::{Map, Value as Json, json};
use upheld_answers::codes::{all, like};
use upheld_answers::report::Family;
use upheld_answers::{schema, testing};
use upheld_dialects::recognise::TESTS;
use upheld_dialects::shape::Shape;
use upheld_dialects::{dialects, editions, policy_kind};
use upheld_engine::Snapshot;
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use super::{Session, refuse, say};
use crate::cli::{self, Format, Shell};
use crate::config;
use crate::exit::Exit;
use crate::render::style::{ANSWER, HEADING, paint};
use crate::render::table::{Align, Table, wrap};
use crate::render::text::{Text, text};
use crate::render::{print_names, print_own, print_text};

/// `codes`
pub(super) fn codes(session: &Session<'_>, wanted: Option<&str>) -> Exit {
    let found = match wanted.map_or_else(|| Ok(all().collect()), like) {
        Ok(found) => found,
        Err(problem) => return refuse(&[problem]),
    };
    let screen = &session.screen;
    match (found.as_slice(), screen.format) {
        (_, Format::Json | Format::Yaml | Format::Jsonl) => screen.print_data(&found),
        (_, Format::Name) => {
            print_names(found.iter().map(|meaning| meaning.code));
        }
        ([one], _) => {
            let indent = |text: &str| Text::of_lines(text, "  ");
            screen.print(&text!(
                "{}\n\n{}\n\n{}\n{}\n{}\n{}",
                paint(ANSWER, &format!("{}: {}", one.code, one.title)),
                wrap(&Text::from(one.text), Some(screen.width.unwrap_or(100).min(100))),
                paint(HEADING, "Bad"),
                indent(one.bad),
                paint(HEADING, "Good"),
                indent(one.good)
            ));
        }
        (several, _) => {
            let mut table = Table::new(&[("CODE", Align::Left), ("MEANS", Align::Left)]);
            for meaning in several {
                table.row(Style::new(), [meaning.code.to_owned(), meaning.title.to_owned()]);
            }
            screen.print(&(table.render(screen.width, 0) + "\n  Explain one: upheld codes UP010\n"));
        }
    }
    Exit::Yes
}

/// `schema`
pub(super) fn schema(session: &Session<'_>, wanted: Option<&str>) -> Exit {
    let Some(loaded) = session.load_or_builtin() else { return Exit::Failed };
    let schemas = schemas(&loaded.snapshot);
    let screen = &session.screen;
    let Some(wanted) = wanted else {
        if screen.format == Format::Name {
            print_names(schemas.keys());
        } else {
            let all: Map<String, Json> = schemas.into_iter().collect();
            screen.print_data(&json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$defs": all,
                "anyOf": all.keys().map(|name| json!({"$ref": format!("#/$defs/{name}")})).collect::<Vec<_>>(),
            }));
        }
        return Exit::Yes;
    };
    match schemas.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)) {
        Some((_, schema)) => {
            screen.print_data(schema);
            Exit::Yes
        }
        None => {
            let diagnostic = Diagnostic::error(Fault::NotFound, format!("there is no document type `{wanted}`"));
            refuse(&[diagnostic.suggest_or(
                nearest(wanted, schemas.keys().map(String::as_str)).map(|name| format!("upheld schema {name}")),
                || "`upheld schema -o name` lists all of them".to_owned(),
            )])
        }
    }
}

fn schemas(snapshot: &Snapshot) -> BTreeMap<String, Json> {
    let document = |title: &str, schema: Json| {
        let mut whole = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title});
        if let (Some(whole), Json::Object(schema)) = (whole.as_object_mut(), schema) {
            whole.extend(schema);
        }
        whole
    };
    let any_of = |shapes: &[Shape]| match shapes {
        [only] => only.schema(),
        several => json!({"anyOf": several.iter().map(Shape::schema).collect::<Vec<_>>()}),
    };
    let mut schemas = BTreeMap::new();
    for (name, shapes) in dialects().flat_map(|dialect| dialect.shapes(snapshot)) {
        let schema = document(&name, any_of(&shapes));
        schemas.insert(name, schema);
    }
    let families: Vec<Json> = policy_kind::shapes().map(|(_, shape)| shape.schema()).collect();
    schemas.insert("PolicyKind".to_owned(), document("PolicyKind", json!({"anyOf": families})));
    schemas.insert("Report".to_owned(), document("Report", schema::report().schema()));
    schemas.insert("Explanation".to_owned(), document("Explanation", schema::explanation().schema()));
    schemas.insert(TESTS.to_owned(), document(TESTS, testing::document().schema()));
    schemas.insert(config::FILE.to_owned(), document(config::FILE, config::shape().schema()));
    schemas
}

/// `completion`
pub(super) fn completion(shell: Shell) -> Exit {
    let shells = clap_complete::env::Shells::builtins();
    let mut script = Vec::new();
    let written = shells.completer(shell.name()).is_some_and(|completer| {
        completer.write_registration("COMPLETE", "upheld", "upheld", "upheld", &mut script).is_ok()
    });
    if !written {
        return Exit::Failed;
    }
    print_own(&script);
    Exit::Yes
}

/// `man`
pub(super) fn man(folder: Option<&Path>) -> Exit {
    let command = cli::command();
    let Some(folder) = folder else {
        let mut page = Vec::new();
        return match clap_mangen::Man::new(command).render(&mut page) {
            Ok(()) => {
                print_own(&page);
                Exit::Yes
            }
            Err(_) => Exit::Failed,
        };
    };
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    match written {
        Ok(()) => {
            say(&format!("Wrote the manual pages to {}", folder.display()));
            Exit::Yes
        }
        Err(error) => {
            refuse(&[Diagnostic::error(Fault::Unreadable, format!("cannot write to {}: {error}", folder.display()))])
        }
    }
}

/// `version`
pub(super) fn version(session: &Session<'_>) -> Exit {
    let version = env!("CARGO_PKG_VERSION");
    let semantics: Vec<&str> = editions().into_iter().collect();
    let families = Family::ALL.map(Family::name);
    let facts = json!({
        "version": version,
        "semantics": semantics,
        "families": families,
        "formats": ["yaml", "json", "jsonl", "csv"],
        "platform": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
    });
    if session.screen.for_people() {
        print_text(&text!(
            "upheld {}\nsemantics: {}\nfamilies: {}\nplatform: {}-{}\n",
            version,
            semantics.join(", "),
            families.join(", "),
            std::env::consts::ARCH,
            std::env::consts::OS
        ));
    } else {
        session.screen.print_data(&facts);
    }
    Exit::Yes
}
