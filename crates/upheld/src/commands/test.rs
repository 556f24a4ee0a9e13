//! `test`: do the policies decide as expected, and which of them does no test decide?

use serde_json::json;
use upheld_answers::World;
use upheld_answers::formats::tested::{junit, tap};
use upheld_answers::testing::{TestQuestion, mistakes};
use upheld_input::load::Broken;

use super::decision::now;
use super::{Session, refuse, tell_odd, tell_refused};
use crate::cli::{Format, Results, Test};
use crate::exit::Exit;
use crate::render::{diagnostics, print_plain, tested};
use crate::report::{TestReport, TestState};

pub(super) fn run(session: &Session<'_>, options: &Test) -> Exit {
    if let Err(problem) = now(session) {
        return refuse(&[problem]);
    }
    let how = session.options();
    let loaded = match session.try_load() {
        Ok(loaded) => loaded,
        Err(broken) => {
            // What is wrong with tests is told along with the rest.
            let Broken { files, mut diagnostics } = *broken;
            diagnostics.extend(mistakes(&files, &how));
            diagnostics.sort();
            diagnostics::print(&files, diagnostics.as_slice());
            return Exit::Failed;
        }
    };
    let world = World::new(&loaded.snapshot, &how);
    let question = TestQuestion {
        only: options.only.clone(),
        tag: options.tag.clone(),
        fail_under: options.fail_under,
        no_coverage: options.no_coverage,
    };
    let tested = world.test(&question);
    tell_odd(&loaded, &world.gateway_warnings());
    match tested {
        Ok(report) => {
            print(session, &report, loaded.snapshot.digest());
            if report.is_good() { Exit::Yes } else { Exit::No }
        }
        Err(refused) => tell_refused(&loaded, &refused),
    }
}

fn print(session: &Session<'_>, report: &TestReport, digest: &str) {
    let screen = &session.screen;
    match (session.settings.output.value.results(), screen.format) {
        (Some(Results::Junit), _) => print_plain(&junit::document(report)),
        (Some(Results::Tap), _) => print_plain(&tap::document(report)),
        (None, Format::Json | Format::Yaml) => {
            screen.print_data(&report.document(digest));
        }
        (None, Format::Jsonl) => {
            report.cases.iter().for_each(|case| screen.print_data(case));
            screen.print_data(&json!({"summary": report.summary, "coverage": report.coverage}));
        }
        (None, Format::Name) => {
            let failed = report.cases.iter().filter(|case| case.state == TestState::Failed);
            print_plain(&failed.map(|case| format!("{}\n", case.name)).collect::<String>());
        }
        (None, Format::Table | Format::Wide) => screen.print(&tested::all(report, screen)),
    }
}
