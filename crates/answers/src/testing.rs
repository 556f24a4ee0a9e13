//! Do the policies decide as expected, and which of them does no test decide?
//!
//! ```text
//! documents ──read──▶ cases ──select──▶ asked ──compare──▶ report
//!                                         ├──coverage──────▲
//!                                         └──mutate────────┘   the same cases, asked of policies with one thing otherwise
//! ```

mod changed;
mod compare;
mod coverage;
mod expectable;
mod explained;
mod invariants;
mod many;
mod mutate;
mod parts;
mod read;
mod select;
mod shapes;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use upheld_engine::decide::Decide;
use upheld_engine::{KindId, Snapshot};
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::{Diagnostic, Diagnostics, Files};

use self::coverage::Counter;
use self::expectable::expectable;
use self::invariants::Invariant;
use self::read::{Asks, Case, Related, Setting, read};
use self::select::select;
pub use self::shapes::document;
use crate::progress::Progress;
use crate::report::{
    At, Depth, Difference, INVARIANT, Proved, Report, Skipped, Summary, TestReport, TestState, Tested, decide,
    request_document,
};
use crate::world::World;
use upheld_dialects::access::arrivals::Arrived;
use upheld_dialects::access::decider::{Decider, WhichKind};
use upheld_dialects::access::questions::edition;
use upheld_dialects::comply::questions::judged;
use upheld_dialects::question::{Options, Words};
use upheld_dialects::recognise::{tests, tests_of};
use upheld_report::{Proof, Refused, Shifting};

/// Which tests are run, and what is counted. Everything may be left out.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TestQuestion {
    /// Only cases with such a name; `*` stands for any characters.
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
    /// Whether to change access policies one clause at a time, and to list the changes that no test notices.
    pub mutate: bool,
}

/// What is wrong with the tests of files whose other documents may be broken.
pub fn mistakes(files: &Files, options: &Options) -> Diagnostics {
    let mut found = Diagnostics::default();
    read(tests(files), setting(options), &mut found);
    found
}

fn setting(options: &Options) -> Setting {
    Setting { edition: edition(options), now: options.now }
}

/// Runs the tests that lie beside the policies; with another world, what must stay as it was there is looked at.
pub(crate) fn run(
    world: &World<'_>,
    before: Option<&World<'_>>,
    question: &TestQuestion,
    progress: &dyn Progress,
) -> Result<TestReport, Refused> {
    let snapshot = world.snapshot();
    let mut found = Diagnostics::default();
    let cases = read(tests_of(snapshot), setting(world.options()), &mut found);
    found.extend(without_policies(snapshot, world.options(), &cases));
    if found.errors() > 0 {
        found.sort();
        return Err(found.into_iter().collect::<Vec<_>>().into());
    }
    let selected = select(&cases, question)?;
    // What some of the cases decide says little about all of them.
    let whole = question.only.is_none() && question.tag.is_empty();
    let counts = !question.no_coverage && (whole || question.fail_under.is_some());
    let mut runner = Runner { world, before, instead: None, counter: counts.then(|| Counter::new(snapshot)) };
    let cases: Vec<Tested> = selected.iter().map(|case| runner.case(case)).collect();
    let coverage = runner.counter.map(|counter| counter.finish(question.fail_under));
    let mutation = question.mutate.then(|| mutate::mutate(world, &passed(&selected, &cases), progress));
    Ok(TestReport { summary: Summary::of(&cases), cases, coverage, mutation })
}

/// Why nobody looks at what must stay as it was.
const NOTHING_BEFORE: &str =
    "there is nothing to compare with; name what was before: `upheld test --since main`, `POST /v1/test?since=3`";

/// What must stay as it is from one world to another, says an invariant beside one of them, and does not, or may not. A change does not
/// get rid of an invariant by taking it away.
pub(crate) fn unkept(before: &World<'_>, after: &World<'_>) -> Vec<Shifting> {
    let (mut all, mut known): (Vec<Shifting>, Vec<(String, Json)>) = Default::default();
    for (world, side) in [(after, ""), (before, " (before the change)")] {
        let mut found = Diagnostics::default();
        let cases = read(tests_of(world.snapshot()), setting(world.options()), &mut found);
        let undecided = |name: String, because| Shifting::Invariant { name, verdict: Proved::Undecided, because };
        if found.errors() > 0 {
            let wrong: Vec<Diagnostic> = found.into_iter().collect();
            all.push(undecided(format!("tests{side}"), format!("they cannot be read: {}", words(&wrong))));
        }
        for case in cases.iter().filter(|case| case.skip.is_none()) {
            let Asks::Invariant(invariant) = &case.asks else { continue };
            let own = (case.name.clone(), invariant.given.clone());
            if !invariant.is_about_changes() || known.contains(&own) {
                continue;
            }
            let name = format!("{}{side}", case.name);
            known.push(own);
            all.extend(match invariant.proof(after, Some(before), None) {
                Ok(Proof { verdict: Proved::Holds, .. }) => None,
                Ok(proof) => Some(Shifting::Invariant { name, verdict: proof.verdict, because: proof.headline.text }),
                Err(refused) => Some(undecided(name, words(&refused.diagnostics))),
            });
        }
    }
    all
}

/// The cases that came out as expected: only these can notice something. That something changed is no news here.
fn passed<'c>(selected: &[&'c Case], tested: &[Tested]) -> Vec<&'c Case> {
    let is_about_changes = |case: &Case| matches!(&case.asks, Asks::Invariant(one) if one.is_about_changes());
    let ended = selected.iter().zip(tested).filter(|(_, tested)| tested.state == TestState::Passed);
    ended.map(|(case, _)| *case).filter(|case| !is_about_changes(case)).collect()
}

/// Cases that no policy could answer, told once for each reason.
fn without_policies(snapshot: &Snapshot, options: &Options, cases: &[Case]) -> Vec<Diagnostic> {
    let mut problems: Vec<Diagnostic> = Vec::new();
    for case in cases {
        let kind = match &case.asks {
            Asks::Decision { kind, .. } | Asks::Arrival { kind, .. } => kind,
            Asks::Invariant(invariant) if invariant.is_about_requests() => &invariant.kind,
            Asks::Explanation(_) | Asks::Related { .. } | Asks::Invariant(_) => continue,
        };
        let Err(problem) = decider(snapshot, options, kind.as_deref()) else { continue };
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

/// Who decides what a case asks.
fn decider<'s>(snapshot: &'s Snapshot, options: &Options, kind: Option<&str>) -> Result<Decider<'s>, Diagnostic> {
    Decider::of(snapshot, WhichKind::of(kind, options.deciding_kind.as_deref()), edition(options))
}

struct Runner<'w, 's> {
    world: &'w World<'s>,
    /// What was before.
    before: Option<&'w World<'s>>,
    /// Policies that are asked instead of those of their kind.
    instead: Option<(KindId, &'w Decide)>,
    /// Where it is told what no case decides.
    counter: Option<Counter<'s>>,
}

impl Runner<'_, '_> {
    fn case(&mut self, case: &Case) -> Tested {
        let mut tested = Tested {
            name: case.name.clone(),
            state: TestState::Skipped,
            at: At::of(self.world.snapshot().files(), case.at).unwrap_or_default(),
            tags: case.tags.clone(),
            asked: asked(&case.asks),
            expected: case.expect.clone(),
            differences: Vec::new(),
            because: case.skip.clone(),
            proof: None,
        };
        if case.skip.is_none() {
            match &case.asks {
                Asks::Decision { .. } | Asks::Arrival { .. } => self.decision(case, &mut tested),
                Asks::Invariant(invariant) if invariant.is_about_changes() && self.before.is_none() => {
                    tested.because = Some(NOTHING_BEFORE.to_owned());
                    return tested;
                }
                Asks::Invariant(invariant) => return self.invariant(invariant, tested),
                Asks::Explanation(question) => {
                    let options = self.world.options().clone();
                    if let Err(refused) = self.explanation(&options, question, case, &mut tested) {
                        return unanswered(tested, &refused.diagnostics);
                    }
                }
                Asks::Related { asks, kind, now } => {
                    let options = Options { now: *now, ..self.world.options().clone() };
                    let asked = match &**asks {
                        Related::Pair(what) => {
                            let (what, kind) = (Some(what.clone()), kind.clone());
                            self.explanation(&options, &Words { what, kind, ..Words::default() }, case, &mut tested)
                        }
                        asks => self.related(&options, asks, kind.as_deref(), case, &mut tested),
                    };
                    if let Err(refused) = asked {
                        return unanswered(tested, &refused.diagnostics);
                    }
                }
            }
            tested.state = if tested.differences.is_empty() { TestState::Passed } else { TestState::Failed };
        }
        tested
    }

    /// Whether something holds everywhere.
    fn invariant(&self, invariant: &Invariant, tested: Tested) -> Tested {
        let proof = match invariant.proof(self.world, self.before, self.instead) {
            Ok(proof) => proof,
            Err(refused) => return unanswered(tested, &refused.diagnostics),
        };
        let state = match proof.verdict {
            Proved::Holds => TestState::Passed,
            Proved::Broken => TestState::Failed,
            Proved::Undecided => TestState::Undecided,
        };
        let differences = match proof.verdict {
            Proved::Holds => Vec::new(),
            verdict => vec![Difference {
                path: INVARIANT.to_owned(),
                expected: json!(Proved::Holds.word()),
                actual: json!(verdict.word()),
            }],
        };
        let because = Some(proof.headline.text.clone());
        Tested { state, differences, because, proof: Some(proof), ..tested }
    }

    /// Asks as `upheld explain` does.
    fn explanation(
        &mut self,
        options: &Options,
        question: &Words,
        case: &Case,
        tested: &mut Tested,
    ) -> Result<(), Refused> {
        // What a case expects may be about any policy.
        let skipped = if case.looks_closely() { Skipped::All } else { options.skipped.clone() };
        let options = Options { skipped, ..options.clone() };
        let world = World::new(self.world.snapshot(), &options);
        let answer = world.question(question).and_then(|question| world.answer(&question))?;
        if let Some(counter) = &mut self.counter {
            counter.reports(&answer.reports);
        }
        let expectable: Vec<Json> = answer.reports.iter().map(expectable).collect();
        tested.differences = compare::of_answers(&case.expect, &expectable);
        tested.because = sentences(&answer.reports, &tested.differences);
        Ok(())
    }

    /// Asks as `upheld can` and `upheld audit` do.
    fn related(
        &mut self,
        options: &Options,
        asks: &Related,
        kind: Option<&str>,
        case: &Case,
        tested: &mut Tested,
    ) -> Result<(), Refused> {
        let organisation = World::new(self.world.snapshot(), options).organisation(kind)?;
        let (answer, sentence, rules) = match asks {
            Related::Change(request) => {
                let (ruled, _) = organisation.would(request)?;
                let mut rules = judged(&ruled.violations);
                rules.extend(organisation.judged_by_change(request));
                (changed::of_change(&ruled), ruled.answer, rules)
            }
            Related::Audit(question) => {
                let audited = organisation.audit(question)?.audit;
                (changed::of_audit(&audited), audited.answer, organisation.judged_by_audit(question))
            }
            Related::Pair(_) => return Ok(()),
        };
        if let Some(counter) = &mut self.counter {
            counter.rules(organisation.kind, &rules);
        }
        tested.differences = compare::of_answer(&case.expect, &answer);
        tested.because = Some(sentence);
        Ok(())
    }

    fn decision(&mut self, case: &Case, tested: &mut Tested) {
        let (Asks::Decision { kind, .. } | Asks::Arrival { kind, .. }) = &case.asks else { return };
        let snapshot = self.world.snapshot();
        let Ok(decider) = decider(snapshot, self.world.options(), kind.as_deref()) else { return };
        let kind = decider.kind;
        let instead = self.instead.filter(|(changed, _)| *changed == kind);
        let policies = instead.map_or(decider.decide, |(_, instead)| instead);
        let request = match case.arrived(decider) {
            Some(Arrived::Asks(request)) => request,
            Some(Arrived::Told(word, reason)) => {
                tested.differences = compare::of_answer(&case.expect, &json!({"decision": word, "reason": reason}));
                tested.because = reason;
                return;
            }
            None => return,
        };
        let report = |depth: Depth| decide(snapshot, kind, policies, &request, depth);
        let full = case.looks_closely();
        let mut decision = report(if full { Depth::All } else { Depth::Answer });
        if let Some(counter) = &mut self.counter {
            counter.decision(kind, policies, &request, &decision);
        }
        let mut answer = expectable(&decision);
        if case.is_held_back(decider, &decision)
            && let Some(fields) = answer.as_object_mut()
        {
            fields.insert("decision".to_owned(), json!("deny"));
        }
        tested.differences = compare::of_answer(&case.expect, &answer);
        if !tested.differences.is_empty() && !full {
            decision = report(Depth::All);
        }
        tested.because = Some(decision.headline.text + &renamed(&case.expect, policies).unwrap_or_default());
    }
}

/// A question without an answer cannot have the right one.
fn unanswered(tested: Tested, problems: &[Diagnostic]) -> Tested {
    Tested { state: TestState::Failed, because: Some(words(problems)), ..tested }
}

fn words(problems: &[Diagnostic]) -> String {
    let words = problems.iter().map(|problem| {
        let help = problem.help.first().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{}{help}", problem.message)
    });
    words.collect::<Vec<_>>().join("; ")
}

/// What answers say in a sentence each; of several, those that differ from what was expected.
fn sentences(reports: &[Report], differences: &[Difference]) -> Option<String> {
    let differs = |number: usize| {
        let path = format!("answers[{number}].");
        differences.iter().any(|difference| difference.path.starts_with(&path))
    };
    let any = (0..reports.len()).any(differs);
    let all: Vec<&str> = (reports.iter().enumerate())
        .filter(|(number, _)| !any || differs(*number))
        .map(|(_, report)| report.headline.text.as_str())
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
        Asks::Decision { request, .. } => request_document(request),
        Asks::Arrival { arrival, .. } => arrival.given().clone(),
        Asks::Invariant(invariant) => invariant.given.clone(),
        Asks::Related { asks, .. } => match &**asks {
            Related::Change(request) => json!(request),
            Related::Audit(question) => json!({"audit": question}),
            Related::Pair(what) => json!({"relation": what}),
        },
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
                ("protocol", json!(question.protocol)),
                ("header", if question.header.is_empty() { Json::Null } else { json!(question.header) }),
            ];
            let given = flags.into_iter().filter(|(_, value)| !value.is_null());
            Json::Object(given.map(|(name, value)| (name.to_owned(), value)).collect())
        }
    }
}
