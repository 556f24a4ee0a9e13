//! `explain a~b`: do two objects agree, and why?

use serde_json::json;
use upheld_engine::comply::Related;
use upheld_engine::words;
use upheld_model::{Diagnostic, Fault};

use super::Asked;
use crate::cli::{Format, Organisation, Question};
use crate::commands::{Session, refuse};
use crate::exit::Exit;
use crate::render::{compliance, print_plain};
use crate::report::compliance::{Relation, held_against, mended};

/// Whether a question is about two related objects.
pub(in crate::commands) fn is_asked(question: &Question) -> bool {
    question.what.as_deref().is_some_and(|what| what.contains('~'))
}

pub(in crate::commands) fn run(session: &Session<'_>, question: &Question) -> Exit {
    let organisation = Organisation { policies: question.kind.clone() };
    let Some(mut asked) = Asked::load(session, &organisation, None) else { return Exit::Failed };
    let relation = match relation(&mut asked, question.what.as_deref().unwrap_or_default()) {
        Ok(relation) => relation,
        Err(problems) => return refuse(&problems),
    };
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml => {
            let digest = asked.snapshot().digest();
            let document =
                json!({"apiVersion": "upheld/v1", "kind": "Explanation", "snapshot": digest, "answers": [relation]});
            screen.print_data(&document);
        }
        Format::Jsonl => screen.print_data(&relation),
        Format::Name => {
            let names: String = relation.checks.iter().map(|check| format!("{}\n", check.policy)).collect();
            print_plain(&names);
        }
        Format::Table | Format::Wide => screen.print(&compliance::relation(&relation, screen)),
    }
    Exit::Yes
}

/// Everything about two objects.
fn relation(asked: &mut Asked, written: &str) -> Result<Relation, Vec<Diagnostic>> {
    let (a, b) = asked.pair(written)?;
    let found = asked.comply.check(a, b);
    let (first, second) = (asked.comply.reference(a), asked.comply.reference(b));
    if !asked.comply.can_be_judged(a, b) {
        let message = format!("no policy can be about `{first}` and `{second}`");
        let help = words::comply::pairs(asked.comply.profile());
        return Err(vec![Diagnostic::error(Fault::NotFound, message).help(help)]);
    }
    let related = found.iter().any(|check| check.related == Related::Yes) || asked.comply.are_related(a, b);
    let viewer = asked.actor(&crate::cli::Person::default(), Some(upheld_engine::comply::Class::EndUser));
    let viewer = viewer.map_err(|problem| vec![problem])?;
    let mut checks = Vec::new();
    for check in &found {
        let mut told = held_against(&asked.comply, asked.loaded.snapshot.files(), check);
        if check.related == Related::Yes && check.about.waiver.is_none() {
            told.fixes = mended(&asked.comply.fixes(&viewer, &check.about));
        }
        checks.push(told);
    }
    let others =
        asked.comply.policies().into_iter().filter(|policy| !found.iter().any(|check| check.about.policy == policy.id));
    let others = others.map(|policy| policy.id.to_string()).collect();
    let semantics = asked.comply.profile().name.to_string();
    let between = (first.to_string(), second.to_string());
    Ok(Relation { answer: String::new(), semantics, between, related, checks, others }.finished())
}
