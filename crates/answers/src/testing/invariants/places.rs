//! Routes, gateways and backends: each is asked, under a kind of policy.

use serde_json::Value as Json;
use upheld_dialects::dialect::Listing;
use upheld_dialects::dialects;
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};
use upheld_report::{At, Breach, Certainty, Example, Field, Holding, Proof, Refused, Report, Size, Source, Standing};

use super::condition::Condition;
use super::tags::{Tagged, Wanted};
use crate::Words;
use crate::world::World;

/// So many questions are asked for one invariant.
pub(super) const MOST: usize = 100_000;

/// Whether fields at all places of a sort are as they must be.
pub(super) fn every(
    world: &World<'_>,
    kind: &str,
    what: &str,
    wanted: &Wanted,
    holds: &[Condition],
) -> Result<Proof, Refused> {
    let snapshot = world.snapshot();
    let tagged = Tagged::all(snapshot);
    let fits =
        |written: &str| wanted.is_empty() || tagged.iter().any(|one| one.is_called(written) && wanted.fits(&one.parts));
    let (mut breaches, mut looked_at, mut cut, mut nouns) = (Breaches::default(), 0, None, Vec::new());
    for dialect in dialects() {
        let (questions, listing) = dialect.questions(snapshot, MOST);
        cut = cut.or((listing == Listing::Cut).then(|| format!("there are more than {MOST} places to ask about")));
        for words in questions {
            let Some(written) = &words.what else { continue };
            let noun = written.split('/').next().unwrap_or_default();
            nouns.push(noun.to_owned());
            if !is_one(noun, what) || !fits(written) {
                continue;
            }
            let words = Words { kind: Some(kind.to_owned()), ..words };
            let answer = world.answer(&world.question(&words)?)?;
            for report in &answer.reports {
                looked_at += 1;
                if let Some(said) = said(report, holds) {
                    breaches.add(said, report, &words, None, Size::Places(1));
                }
            }
        }
    }
    if !nouns.iter().any(|noun| is_one(noun, what)) {
        return Err(unknown(what, nouns, &tagged).into());
    }
    let holds = match looked_at {
        0 => Holding::Nothing { many: "places".to_owned() },
        count => Holding::EverythingRead { count, one: "place".to_owned(), many: "places".to_owned() },
    };
    Ok(Proof::bounded(breaches.all(), cut, holds))
}

/// Whether a place is one of those that are meant: `route` means routes of every sort.
fn is_one(noun: &str, what: &str) -> bool {
    noun.eq_ignore_ascii_case(what) || (what.eq_ignore_ascii_case("route") && noun.ends_with("route"))
}

fn unknown(what: &str, mut nouns: Vec<String>, tagged: &[Tagged]) -> Diagnostic {
    nouns.extend(["connection", "proxy"].map(str::to_owned));
    nouns.sort();
    nouns.dedup();
    let message = format!("policies are not asked about every `{what}`");
    let problem = Diagnostic::error(Fault::NotFound, message);
    if tagged.iter().any(|one| one.kind.eq_ignore_ascii_case(what)) {
        return problem.help("without `kind`, `holds` is about the tags of each");
    }
    problem.suggest_or(nearest(what, nouns.iter().map(String::as_str)).map(|near| format!("every: {near}")), || {
        format!("there are: {}", nouns.join(", "))
    })
}

/// What a report says that it must not; nothing if all is as it must be.
pub(super) fn said(report: &Report, holds: &[Condition]) -> Option<Said> {
    holds.iter().find_map(|condition| {
        let name = &condition.field;
        let found = valued(report, name);
        let objection = condition.objection(found.map(|(value, _)| value))?;
        let from = found.map_or(&[][..], |(_, from)| from);
        let policies: Vec<String> = from.iter().map(|source| source.policy.clone()).collect();
        let says = match objection.value {
            Some(value) if policies.is_empty() => format!("{name} is {value} for"),
            Some(value) => format!("{} {name} to {value} for", if policies.len() == 1 { "sets" } else { "set" }),
            None => format!("{name} is not set for"),
        };
        Some(Said { policies, at: from.first().and_then(|source| source.at.clone()), says })
    })
}

/// The value of a field, or of a part of one, and who sets it.
fn valued<'r>(report: &'r Report, name: &str) -> Option<(&'r Json, &'r [Source])> {
    let inner = |field: &'r Field| -> Option<(&'r Json, &'r [Source])> {
        let rest = name.strip_prefix(&field.path)?;
        let steps = if rest.is_empty() { "" } else { rest.strip_prefix('.')? };
        let steps = steps.split('.').filter(|step| !step.is_empty());
        Some((steps.into_iter().try_fold(field.value.as_ref()?, |value, step| value.get(step))?, &field.from))
    };
    // Where only parts of it are set, it is there.
    let part = |field: &'r Field| -> Option<(&'r Json, &'r [Source])> {
        field.path.strip_prefix(name)?.strip_prefix('.')?;
        Some((field.value.as_ref()?, &field.from))
    };
    report.fields.iter().find_map(inner).or_else(|| report.fields.iter().find_map(part))
}

/// What speaks against something, and who says it.
pub(super) struct Said {
    policies: Vec<String>,
    at: Option<At>,
    says: String,
}

impl Said {
    /// What all policies of a result come to.
    pub(super) fn of_all(report: &Report, says: &str) -> Self {
        let at = report.candidates.iter().find(|one| one.stands()).and_then(|one| one.at.clone());
        Self { policies: Standing::of(report).policies, at, says: says.to_owned() }
    }
}

/// What speaks against something, one for each way of doing so.
#[derive(Default)]
pub(super) struct Breaches {
    all: Vec<Breach>,
}

impl Breaches {
    /// Adds what a report says; of several that say the same, the first is the example.
    pub(super) fn add(&mut self, said: Said, report: &Report, words: &Words, mesh: Option<&str>, size: Size) {
        let Said { policies, at, says } = said;
        let known = self.all.iter_mut().find(|known| known.policies == policies && known.says == says);
        if let Some(known) = known {
            known.size = known.size.plus(size.count());
            return;
        }
        let words = Words { kind: Some(report.kind.clone()), ..words.clone() };
        let example = Example {
            what: report.about.holds_for.first().unwrap_or(&report.about.what).clone(),
            command: words.command(mesh),
            question: serde_json::to_value(&words).unwrap_or_default(),
        };
        self.push(Breach { policies, at, says, size, example, certainty: Certainty::Sure });
    }

    /// Counts more of what is known to come from these policies; false if nothing is.
    pub(super) fn knows(&mut self, policies: &[String], count: u64) -> bool {
        let known = self.all.iter_mut().find(|known| known.policies == policies);
        if let Some(known) = known {
            known.size = known.size.plus(count);
            return true;
        }
        false
    }

    pub(super) fn push(&mut self, breach: Breach) {
        self.all.push(breach);
    }

    pub(super) fn all(self) -> Vec<Breach> {
        self.all
    }
}

/// What is known of an object, as breaches name it.
pub(super) fn of_object(command: String, what: String, says: String, at: Option<At>) -> Breach {
    let example = Example { what, command, question: Json::Null };
    Breach { policies: Vec::new(), at, says, size: Size::Places(1), example, certainty: Certainty::Sure }
}
