//! `fix`: which edits would mend violations?

use serde_json::json;
use upheld_engine::comply::{Class, Cut, Violation};
use upheld_model::Diagnostic;

use super::Asked;
use super::audit::unknown_policy;
use crate::cli::{Fix, Format};
use crate::commands::{Session, refuse};
use crate::exit::Exit;
use crate::render::{compliance, print_plain};
use crate::report::compliance::{Remedy, mended, violated};

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &Fix) -> Exit {
    let Some(mut asked) = Asked::load(session, &wanted.organisation, None) else { return Exit::Failed };
    let viewer = match asked.actor(&wanted.person, Some(Class::EndUser)) {
        Ok(viewer) => viewer,
        Err(problem) => return refuse(&[problem]),
    };
    let mut cut = Cut::default();
    let mut only: Option<(String, String)> = None;
    if let Err(problems) = narrow(&asked, wanted, &mut cut, &mut only) {
        return refuse(&problems);
    }
    // A plan for a whole scope, or all ways for the few violations that were named.
    let whole = wanted.what.is_none() && wanted.policy.is_none();
    let answer: Remedy = if whole {
        let (fixes, left) = asked.comply.remedy(&viewer, cut.scope);
        Remedy::plan(&asked.comply, asked.loaded.snapshot.files(), &fixes, &left)
    } else {
        let between = |own: &Violation| {
            only.as_ref().is_none_or(|(a, b)| {
                let (first, second) = (own.a.object.as_str(), own.b.object.as_str());
                (first, second) == (a, b) || (second, first) == (a, b)
            })
        };
        let open: Vec<Violation> = asked.comply.violations_within(&cut).into_iter().filter(between).collect();
        let mut checks = Vec::new();
        for violation in open.iter().filter(|own| own.waiver.is_none()) {
            let mut check = violated(&asked.comply, asked.loaded.snapshot.files(), violation);
            check.fixes = mended(&asked.comply.fixes(&viewer, violation));
            checks.push(check);
        }
        Remedy::ways(checks)
    };
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&json!(answer)),
        Format::Name => print_plain(&answer.objects().iter().map(|name| format!("{name}\n")).collect::<String>()),
        Format::Table | Format::Wide => screen.print(&compliance::remedy(&answer, screen)),
    }
    if answer.is_clean() { Exit::Yes } else { Exit::No }
}

fn narrow(
    asked: &Asked,
    wanted: &Fix,
    cut: &mut Cut,
    only: &mut Option<(String, String)>,
) -> Result<(), Vec<Diagnostic>> {
    let one = |problem: Diagnostic| vec![problem];
    if let Some(workspace) = &wanted.workspace {
        cut.scope = Some(asked.scope(workspace).map_err(one)?);
    }
    if let Some(policy) = &wanted.policy {
        let known = asked.comply.policy(policy).ok_or_else(|| one(unknown_policy(&asked.comply, policy)))?;
        cut.policy = Some(known.id.clone());
    }
    match wanted.what.as_deref() {
        Some(pair) if pair.contains('~') => {
            let (a, b) = asked.pair(pair)?;
            cut.object = Some(a);
            *only = Some((asked.comply.reference(a).to_string(), asked.comply.reference(b).to_string()));
        }
        Some(object) => cut.object = Some(asked.object(object).map_err(one)?),
        None => {}
    }
    Ok(())
}
