//! `explain a~b`: do two objects agree, and why?

use upheld_answers::stamp::line;
use upheld_answers::{Stamp, document};

use super::{asked, load};
use crate::cli::{Format, Organisation, Question};
use crate::commands::{Session, refuse};
use crate::exit::Exit;
use crate::render::{self, compliance, print_plain};

pub(in crate::commands) fn run(session: &Session<'_>, question: &Question) -> Exit {
    let organisation = Organisation { policies: question.kind.clone() };
    let Some(loaded) = load(session, None) else { return Exit::Failed };
    let Some(asked) = asked(session, &loaded, &organisation) else { return Exit::Failed };
    let relation = match asked.relation(question.what.as_deref().unwrap_or_default()) {
        Ok(relation) => relation,
        Err(problems) => return refuse(&problems),
    };
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml => screen.print_data(&document(&loaded.snapshot, "Explanation", &[relation])),
        Format::Jsonl => screen.print_data(&line(&loaded.snapshot, &relation)),
        Format::Name => {
            let names: String = relation.checks.iter().map(|check| format!("{}\n", check.policy)).collect();
            print_plain(&names);
        }
        Format::Table | Format::Wide => {
            let stamp = Stamp::new(&loaded.snapshot, [relation.semantics.as_str()]);
            screen.print(&(compliance::relation(&relation, screen) + &render::stamp(&stamp, screen)));
        }
    }
    Exit::Yes
}
