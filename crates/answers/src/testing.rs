//! Do the policies decide as expected, and which of them does no test decide?
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

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use upheld_engine::Snapshot;
use upheld_engine::decide::Decide;
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::{Diagnostic, Diagnostics, Files};

use self::coverage::Counter;
use self::read::{Asks, Case, Setting, read};
use self::select::select;
pub use self::shapes::document;
use crate::decisions::decider;
use crate::options::Options;
use crate::refused::Refused;
use crate::report::{At, Detail, Difference, Summary, TestReport, TestState, Tested, decide, request_asked};
use crate::world::World;

/// Which tests are run, and what is counted. Everything may be left out.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TestQuestion {
    /// Only cases with such a name; `*` is any run of characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// Only cases with one of these tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tag: Vec<String>,
    /// The least share of the policies that tests must decide, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_under: Option<u8>,
    /// Whether to leave out what no test decides.
    pub no_coverage: bool,
}

/// What is wrong with the tests of files whose other documents may be broken.
pub fn mistakes(files: &Files, options: &Options) -> Diagnostics {
    let mut found = Diagnostics::default();
    read(files, setting(options), &mut found);
    found
}

fn setting(options: &Options) -> Setting {
    Setting { edition: options.edition(), now: options.now }
}

/// Runs the tests that lie beside the policies.
pub(crate) fn run(world: &World<'_>, question: &TestQuestion) -> Result<TestReport, Refused> {
    let snapshot = world.snapshot();
    let mut found = Diagnostics::default();
    let cases = read(snapshot.files(), setting(world.options()), &mut found);
    found.extend(without_policies(snapshot, &cases));
    if found.errors() > 0 {
        found.sort();
        return Err(found.into_iter().collect::<Vec<_>>().into());
    }
    let selected = select(&cases, question)?;
    // What some of the cases decide says little about all of them.
    let whole = question.only.is_none() && question.tag.is_empty();
    let counts = !question.no_coverage && (whole || question.fail_under.is_some());
    let mut runner = Runner { snapshot, world, counter: counts.then(|| Counter::new(snapshot)) };
    let cases: Vec<Tested> = selected.iter().map(|case| runner.case(case)).collect();
    let coverage = runner.counter.map(|counter| counter.finish(question.fail_under));
    Ok(TestReport { summary: Summary::of(&cases), cases, coverage })
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

struct Runner<'w, 's> {
    snapshot: &'s Snapshot,
    world: &'w World<'s>,
    /// Where it is told what no case decides.
    counter: Option<Counter<'s>>,
}

impl Runner<'_, '_> {
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
                Asks::Explanation(question) => match self.world.answers(question) {
                    Ok(answers) => {
                        if let Some(counter) = &mut self.counter {
                            counter.answers(&answers);
                        }
                        tested.differences = compare::of_answers(&case.expect, &answers);
                        tested.because = sentences(&answers, &tested.differences);
                    }
                    Err(refused) => return unanswered(tested, &refused.diagnostics),
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
    let hint = nearest(expected, names()).map_or_else(|| ".".to_owned(), |near| format!("; {}", did_you_mean(near)));
    Some(format!(" There is no policy `{expected}`{hint}"))
}

fn asked(asks: &Asks) -> Json {
    match asks {
        Asks::Decision { request, .. } => request_asked(request),
        Asks::Explanation(question) => {
            let flags = [
                ("kind", json!(question.kind)),
                ("what", json!(question.what)),
                ("from", json!(question.from)),
                ("to", json!(question.to)),
                ("field", json!(question.field)),
                ("host", json!(question.host)),
                ("path", json!(question.path)),
                ("method", json!(question.method)),
                ("port", json!(question.port)),
                ("header", if question.header.is_empty() { Json::Null } else { json!(question.header) }),
            ];
            let given = flags.into_iter().filter(|(_, value)| !value.is_null());
            Json::Object(given.map(|(name, value)| (name.to_owned(), value)).collect())
        }
    }
}
