//! `explain` for gateways: routes and their rules, listeners, backends, requests.

use upheld_answers::stamp::line;
use upheld_answers::{Stamp, World, document};

use super::{Session, say, tell_odd, tell_refused};
use crate::cli::{Format, Question};
use crate::exit::Exit;
use crate::render::{self, gateway, print_plain};

pub(super) fn run(session: &Session<'_>, question: &Question) -> Exit {
    let Some(loaded) = session.load() else { return Exit::Failed };
    let options = session.options();
    let world = World::new(&loaded.snapshot, &options);
    let answers = world.gateways(&question.plain());
    tell_odd(&loaded, &world.gateway_warnings());
    let answers = match answers {
        Ok(answers) => answers,
        Err(refused) => return tell_refused(&loaded, &refused),
    };
    tell_odd(&loaded, &world.unattached_policies());
    for note in &answers.notes {
        say(note);
    }
    let (screen, reports) = (&session.screen, &answers.reports);
    match screen.format {
        Format::Json | Format::Yaml => {
            screen.print_data(&document(&loaded.snapshot, "GatewayExplanation", reports));
        }
        Format::Jsonl => reports.iter().for_each(|report| screen.print_data(&line(&loaded.snapshot, report))),
        Format::Name => print_plain(&answers.names().iter().map(|name| format!("{name}\n")).collect::<String>()),
        Format::Table | Format::Wide => {
            let texts: Vec<String> = reports.iter().map(|report| gateway::one(report, screen)).collect();
            let stamp = Stamp::new(&loaded.snapshot, reports.iter().map(|report| report.semantics.as_str()));
            screen.print(&(texts.join("\n") + &render::stamp(&stamp, screen)));
        }
    }
    Exit::Yes
}
