//! `test`: do the policies decide as expected, which of them does no test decide, and which changes does no test notice?

use serde_json::json;
use upheld_answers::World;
use upheld_answers::formats::tested::{junit, tap};
use upheld_answers::testing::{TestQuestion, mistakes};
use upheld_loader::load::Broken;

use super::analysis::earlier;
use super::decision::now;
use super::{Session, print_refused, print_warnings, refuse};
use crate::cli::{Format, Results, Test};
use crate::exit::Exit;
use crate::render::bar::Bar;
use crate::render::{diagnostics, print_document, print_names, tested};
use crate::report::{Survivor, TestReport, TestState};

pub(super) fn run(session: &Session<'_>, options: &Test) -> Exit {
    if let Err(problem) = now(session) {
        return refuse(&[problem]);
    }
    let how = session.options();
    let loaded = match session.try_load() {
        Ok(loaded) => loaded,
        Err(broken) => {
            // What is wrong with tests is reported along with the rest.
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
        mutate: options.mutate,
    };
    let before = match options.since.as_deref().map(|since| earlier(session, since)).transpose() {
        Ok(before) => before,
        Err(exit) => return exit,
    };
    let bar = Bar::new("changes");
    let tested = match &before {
        Some((before, how)) => world.test_since(&World::new(&before.snapshot, how), &question, &bar),
        None => world.test(&question, &bar),
    };
    bar.finish();
    print_warnings(&loaded, &world.warnings());
    match tested {
        Ok(report) => {
            print(session, &report, loaded.snapshot.digest());
            match report.ends() {
                TestState::Passed | TestState::Skipped => Exit::Yes,
                TestState::Failed => Exit::No,
                TestState::Undecided => Exit::Undecided,
            }
        }
        Err(refused) => print_refused(&loaded, &refused),
    }
}

fn print(session: &Session<'_>, report: &TestReport, digest: &str) {
    let screen = &session.screen;
    match (session.settings.output.value.results(), screen.format) {
        (Some(Results::Junit), _) => print_document(&junit::document(report)),
        (Some(Results::Tap), _) => print_document(&tap::document(report)),
        (None, Format::Json | Format::Yaml) => {
            screen.print_data(&report.document(digest));
        }
        (None, Format::Jsonl) => {
            report.cases.iter().for_each(|case| screen.print_data(case));
            let mut rest = json!({"summary": report.summary, "coverage": report.coverage});
            if let (Some(rest), Some(mutation)) = (rest.as_object_mut(), &report.mutation) {
                rest.insert("mutation".to_owned(), json!(mutation));
            }
            screen.print_data(&rest);
        }
        (None, Format::Name) => {
            let failed = report.cases.iter().filter(|case| case.state.is_bad());
            let survivors = report.mutation.iter().flat_map(|mutation| &mutation.survivors);
            let names = failed.map(|case| case.name.clone()).chain(survivors.map(Survivor::name));
            print_names(names);
        }
        (None, Format::Table | Format::Wide) => screen.print(&tested::all(report, screen)),
    }
}
