//! `test`: do the policies decide as expected, and which of them does no test decide?
//!
//! ```text
//! documents ──read──▶ cases ──select──▶ asked ──compare──▶ report
//!                                         └──coverage──────▲
//! ```

mod compare;
mod coverage;
mod explained;
mod many;
mod parts;
mod read;
mod select;
mod shapes;

use serde_json::{Value as Json, json};
use upheld_engine::Snapshot;
use upheld_engine::decide::Decide;
use upheld_input::load::Broken;
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Diagnostics};

use self::coverage::Counter;
use self::read::{Asks, Case, Setting, read};
use self::select::select;
pub(super) use self::shapes::document;
use super::answers::Answerer;
use super::decision::{decider, edition, now};
use super::{Session, refuse};
use crate::cli::{Format, Results, Test};
use crate::exit::Exit;
use crate::render::{diagnostics, junit, print_plain, tap, tested};
use crate::report::{At, Detail, Difference, Summary, TestReport, TestState, Tested, decide, request_asked};

pub(super) fn run(session: &Session<'_>, options: &Test) -> Exit {
    let setting = match now(session) {
        Ok(now) => Setting { edition: edition(session), now },
        Err(problem) => return refuse(&[problem]),
    };
    let mut found = Diagnostics::default();
    let loaded = match session.try_load() {
        Ok(loaded) => loaded,
        Err(broken) => {
            // What is wrong with tests is told along with the rest.
            let Broken { files, mut diagnostics } = *broken;
            read(&files, setting, &mut found);
            diagnostics.extend(found);
            diagnostics.sort();
            diagnostics::print(&files, diagnostics.as_slice());
            return Exit::Failed;
        }
    };
    let snapshot = &loaded.snapshot;
    let cases = read(snapshot.files(), setting, &mut found);
    found.extend(without_policies(snapshot, &cases));
    if found.errors() > 0 {
        found.sort();
        diagnostics::print(snapshot.files(), found.as_slice());
        return Exit::Failed;
    }
    let selected = match select(&cases, options) {
        Ok(selected) => selected,
        Err(problem) => return refuse(&[problem]),
    };
    // What some of the cases decide says little about all of them.
    let whole = options.only.is_none() && options.tag.is_empty();
    let counts = !options.no_coverage && (whole || options.fail_under.is_some());
    let mut runner = Runner {
        snapshot,
        answerer: Answerer::new(session, snapshot),
        counter: counts.then(|| Counter::new(snapshot)),
    };
    let cases: Vec<Tested> = selected.iter().map(|case| runner.case(case)).collect();
    let coverage = runner.counter.map(|counter| counter.finish(options.fail_under));
    let report = TestReport { summary: Summary::of(&cases), cases, coverage };
    print(session, &report, snapshot.digest());
    if report.is_good() { Exit::Yes } else { Exit::No }
}

/// Cases that no policy could answer, told once for each reason.
fn without_policies(snapshot: &Snapshot, cases: &[Case]) -> Vec<Diagnostic> {
    let mut problems: Vec<Diagnostic> = Vec::new();
    for case in cases {
        let Asks::Decision { kind, .. } = &case.asks else { continue };
        let Err(problem) = decider(snapshot, kind.as_deref()) else { continue };
        if problems.iter().all(|known| known.message != problem.message)
            && let Some(value) = snapshot.files().value(case.at)
        {
            let value = value.get("name").unwrap_or(value);
            let help = problem.help.iter().map(|help| help.replace("--kind ", "kind: ")).collect();
            problems.push(Diagnostic { help, ..problem }.at_value(case.at.source, value, "this case asks"));
        }
    }
    problems
}

struct Runner<'s> {
    snapshot: &'s Snapshot,
    answerer: Answerer<'s>,
    /// Where it is told what no case decides.
    counter: Option<Counter<'s>>,
}

impl Runner<'_> {
    fn case(&mut self, case: &Case) -> Tested {
        let mut tested = Tested {
            name: case.name.clone(),
            state: TestState::Skipped,
            at: At::of(self.snapshot.files(), case.at).unwrap_or_default(),
            tags: case.tags.clone(),
            asked: asked(&case.asks),
            expected: case.expect.clone(),
            differences: Vec::new(),
            because: case.skip.clone(),
        };
        if case.skip.is_none() {
            match &case.asks {
                Asks::Decision { .. } => self.decision(case, &mut tested),
                Asks::Explanation(question) => match self.answerer.answers(question) {
                    Ok(answers) => {
                        if let Some(counter) = &mut self.counter {
                            counter.answers(&answers);
                        }
                        tested.differences = compare::of_answers(&case.expect, &answers);
                        tested.because = sentences(&answers, &tested.differences);
                    }
                    Err(problems) => return unanswered(tested, &problems),
                },
            }
            tested.state = if tested.differences.is_empty() { TestState::Passed } else { TestState::Failed };
        }
        tested
    }

    fn decision(&mut self, case: &Case, tested: &mut Tested) {
        let Asks::Decision { request, kind } = &case.asks else { return };
        let Ok((kind, policies)) = decider(self.snapshot, kind.as_deref()) else { return };
        let told = |detail: Detail| decide(self.snapshot, kind, policies, request, detail);
        // What only a full answer has takes longer.
        let full = ["candidates", "answer"].iter().any(|part| case.expect.get(part).is_some());
        let mut decision = told(if full { Detail::All } else { Detail::Answer });
        if let Some(counter) = &mut self.counter {
            counter.decision(kind, policies, request, &decision);
        }
        tested.differences = compare::of_answer(&case.expect, &decision.named());
        if !tested.differences.is_empty() && !full {
            decision = told(Detail::All);
        }
        tested.because = Some(decision.answer + &renamed(&case.expect, policies).unwrap_or_default());
    }
}

/// A question without an answer cannot have the right one.
fn unanswered(tested: Tested, problems: &[Diagnostic]) -> Tested {
    let words = problems.iter().map(|problem| {
        let help = problem.help.first().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{}{help}", problem.message)
    });
    Tested { state: TestState::Failed, because: Some(words.collect::<Vec<_>>().join("; ")), ..tested }
}

/// What answers say in a sentence each; of several, those that differ from what was expected.
fn sentences(answers: &[Json], differences: &[Difference]) -> Option<String> {
    let differs = |number: usize| {
        let path = format!("answers[{number}].");
        differences.iter().any(|difference| difference.path.starts_with(&path))
    };
    let any = (0..answers.len()).any(differs);
    let all: Vec<&str> = (answers.iter().enumerate())
        .filter(|(number, _)| !any || differs(*number))
        .filter_map(|(_, answer)| answer.get("answer")?.as_str())
        .collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// A policy that was expected to decide and does not exist was probably renamed.
fn renamed(expect: &Json, policies: &Decide) -> Option<String> {
    let expected = expect.get("policy")?.as_str().filter(|name| *name != "(default)")?;
    let names = || policies.rules().iter().map(|rule| rule.name.as_str());
    if names().any(|name| name == expected) {
        return None;
    }
    let hint = nearest(expected, names()).map(|near| format!("; did you mean `{near}`?"));
    Some(format!(" There is no policy `{expected}`{}", hint.unwrap_or_else(|| ".".to_owned())))
}

fn asked(asks: &Asks) -> Json {
    match asks {
        Asks::Decision { request, .. } => request_asked(request),
        Asks::Explanation(question) => {
            let request = &question.request;
            let flags = [
                ("kind", json!(question.kind)),
                ("what", json!(question.what)),
                ("from", json!(question.from)),
                ("to", json!(question.to)),
                ("field", json!(question.field)),
                ("host", json!(request.host)),
                ("path", json!(request.path)),
                ("method", json!(request.method)),
                ("port", json!(request.port)),
                ("header", if request.header.is_empty() { Json::Null } else { json!(request.header) }),
            ];
            let given = flags.into_iter().filter(|(_, value)| !value.is_null());
            Json::Object(given.map(|(name, value)| (name.to_owned(), value)).collect())
        }
    }
}

fn print(session: &Session<'_>, report: &TestReport, digest: &str) {
    let screen = &session.screen;
    match (session.settings.output.value.results(), screen.format) {
        (Some(Results::Junit), _) => print_plain(&junit::document(report)),
        (Some(Results::Tap), _) => print_plain(&tap::document(report)),
        (None, Format::Json | Format::Yaml) => {
            let mut document = json!({"apiVersion": "upheld/v1", "kind": "TestReport", "snapshot": digest});
            if let (Some(document), Json::Object(report)) = (document.as_object_mut(), json!(report)) {
                document.extend(report);
            }
            screen.print_data(&document);
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
