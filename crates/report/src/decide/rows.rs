//! The rows of a decision: every policy that was looked at, the set that spoke itself, the default; and remarks on them.

use serde_json::{Map, Value as Json, json};
use upheld_engine::decide::{
    By, Decide, Doubtful, Effect, Examined, ExaminedPart, Measure, Miss, Outcome as Decision, Readings, Rule,
    Shortfall, Speaking, SpeaksBy, Truth,
};
use upheld_engine::words;
use upheld_engine::{Candidate as Ruled, EntryId, PolicyKind, Ruling};
use upheld_model::{Code, Param, State};

use super::{DEFAULT, Reporter};
use crate::sentences::access as sentences;
use crate::{At, Candidate, DefaultRow, Fact, Holds, Phrase, Remark};

impl Reporter<'_> {
    /// Whoever decides first; of those that do not apply, so many of the nearest misses.
    pub(super) fn rows(&self, most: usize) -> Rows {
        let ruling = match most {
            // The index is enough for those that apply.
            0 => {
                let (ruling, all) = (Ruling::matched(self.decide, &self.request), self.decide.rules().len());
                match self.skipped.named() {
                    Some(name) => {
                        let left_out = all - ruling.candidates.len();
                        let named = self.decide.named(name);
                        Ruling { left_out, ..ruling }.with_others(self.decide, &self.request, named)
                    }
                    None => {
                        let matching = ruling.candidates.iter().filter(|candidate| candidate.state.matched()).count();
                        ruling.without_others(all - matching)
                    }
                }
            }
            most => self.nearest(most, Nearness::Parts),
        };
        let speaking = self.speaking().map(|speaking| self.set_row(&speaking));
        let candidates = ruling.candidates.iter().filter_map(|ruled| self.candidate(ruled));
        Rows { candidates: speaking.into_iter().chain(candidates).collect(), left_out: ruling.left_out }
    }

    /// The policy that comes nearest of those that could turn the decision.
    pub(super) fn nearest_rival(&self, rows: &Rows) -> Option<Candidate> {
        let opposes = |candidate: &Candidate| {
            let effect = candidate.facts.iter().find(|fact| fact.name == "effect").and_then(|fact| fact.value.as_str());
            candidate.state == State::Skip && effect != Some(self.decided.outcome.word())
        };
        let listed = rows.candidates.iter().find(|candidate| opposes(candidate)).cloned();
        let beyond = || {
            let ruling = self.nearest(1, Nearness::Rivals);
            let skipped = ruling.in_state(State::Skip).next().and_then(|ruled| self.candidate(ruled));
            skipped.filter(opposes)
        };
        listed.or_else(|| (rows.left_out > 0).then(beyond).flatten())
    }

    /// Holds all policies against the request, with so many of those that do not apply. How near one is, is a matter of the number of
    /// parts that do not fit. Then whoever could turn the decision comes first, what is not known before what is wrong, who lacks
    /// only a condition, and then the order of evaluation.
    fn nearest(&self, most: usize, nearness: Nearness) -> Ruling<Decide> {
        let mut room = Readings::default();
        let asked = self.decide.asked(self.request, &mut room);
        let key = |state: State, entry: EntryId, distance: u32| {
            let Some(rule) = self.decide.rule(entry).filter(|_| state == State::Skip) else { return ([0; 6], entry) };
            let says_the_same = rule.effect.word() == self.decided.outcome.word();
            let Shortfall { clauses, conditions, tests, .. } = Shortfall::of(rule, asked);
            let first = usize::from(says_the_same && nearness == Nearness::Rivals);
            let distance = usize::try_from(distance).unwrap_or(usize::MAX);
            let same = usize::from(says_the_same);
            ([first, distance, same, clauses + conditions, clauses, tests], entry)
        };
        Ruling::nearest(self.decide, &self.request, most, key)
    }

    /// The set that decides where no policy does.
    pub(super) fn speaking(&self) -> Option<Speaking<'_>> {
        let silent = self.decided.by == By::Algorithm;
        self.decide.speaking(self.request, self.hits).filter(|_| silent)
    }

    fn set_row(&self, speaking: &Speaking<'_>) -> Candidate {
        let Speaking { set, how, .. } = speaking;
        let name = set.name.to_string();
        let mut facts: Vec<Fact> = Vec::new();
        facts.extend((!name.is_empty()).then(|| Fact::plain("set", name.as_str())));
        facts.push(Fact::plain("effect", self.decided.outcome.word()));
        let (own, code) = match (how, self.decided.outcome) {
            (SpeaksBy::Default, _) => ("default", Code::DecideSetDefault),
            (SpeaksBy::Algorithm, Decision::Permit) => (set.algorithm.word(), Code::DecideUnlessDeny),
            (SpeaksBy::Algorithm, _) => (set.algorithm.word(), Code::DecideUnlessPermit),
        };
        let reason =
            Phrase { code: code.text().into(), parameters: Map::new(), text: sentences::silence(code).to_owned() };
        Candidate {
            state: State::Won,
            policy: sentences::of_set(&name, own),
            scope: None,
            item: None,
            facts,
            distance: None,
            reason: reason.with(code.parameters().first().copied().unwrap_or("set"), name),
            at: set.at.and_then(|at| At::of(self.snapshot.files(), at)),
            fields: Vec::new(),
        }
    }

    fn candidate(&self, ruled: &Ruled<Measure>) -> Option<Candidate> {
        let rule = self.decide.rule(ruled.entry)?;
        let examined = self.decide.examine(ruled.entry, self.request)?;
        let reason = match (ruled.state, examined.first_miss()) {
            (State::Skip | State::Unknown, Some(miss)) => missed(miss),
            _ => self.because(ruled),
        };
        Some(Candidate {
            state: ruled.state,
            policy: rule.name.to_string(),
            scope: None,
            item: None,
            facts: self.facts(ruled.entry, rule, &examined),
            distance: Some(ruled.distance),
            reason,
            at: At::of(self.snapshot.files(), rule.at),
            fields: Vec::new(),
        })
    }

    fn facts(&self, entry: EntryId, rule: &Rule, examined: &Examined) -> Vec<Fact> {
        let set = self.decide.set_of(entry).map(|set| set.name.to_string()).filter(|name| !name.is_empty());
        let mut facts: Vec<Fact> = set.map(|set| Fact::plain("set", set)).into_iter().collect();
        facts.push(Fact::plain("effect", rule.effect.word()));
        facts.push(Fact::plain("priority", number(rule.priority)));
        facts.extend(examined.parts().map(|held| self.clause(held, rule)));
        facts
    }

    /// What one clause asks of a request, and what the request says.
    fn clause(&self, held: &ExaminedPart, rule: &Rule) -> Fact {
        let own = rule.target.clauses().into_iter().find(|(known, _)| *known == held.clause);
        let fields = self.kind.and_then(PolicyKind::decide).map(|kind| &kind.fields.clauses);
        let called = fields.and_then(|fields| fields.iter().find(|(known, _)| *known == held.clause));
        Fact {
            name: called.map_or(held.clause.word().into(), |(_, name)| self.snapshot.text(*name).to_owned().into()),
            value: json!(held.asks.to_string()),
            holds: Some(match held.truth {
                Truth::True => Holds::Yes,
                Truth::False => Holds::No,
                Truth::Error => Holds::Unknown,
            }),
            index: held.place,
            others: own.map_or(0, |(_, alternatives)| alternatives.len().saturating_sub(1)),
            misses: held.misses.iter().map(missed).collect(),
        }
    }

    fn because(&self, ruled: &Ruled<Measure>) -> Phrase {
        let lookup = self.snapshot.lookup();
        let ends = words::EndNames { source: "", destination: "" };
        let phrase = Phrase::because(&words::Words { lookup: &lookup, ends }, ruled.state, &ruled.reason);
        let by = match ruled.reason.params {
            [Param::Number(number), ..] => usize::try_from(number).ok().map(EntryId::new),
            _ => None,
        };
        let denies = self.effect(ruled.entry) == Some(Effect::Deny);
        let opposed = by.map(|by| self.name(by)).filter(|name| !name.is_empty());
        let text = match (ruled.reason.code, &opposed) {
            // The weaker effect wins only where the stronger one is missing.
            (Code::DecideDenyOverrides, _) if !denies => "no deny applies".to_owned(),
            (Code::DecidePermitOverrides, _) if denies => "no permit applies".to_owned(),
            (Code::DecideUnlessPermit, _) if !denies => "one permit is enough".to_owned(),
            (Code::DecideUnlessDeny, _) if denies => "one deny is enough".to_owned(),
            (Code::DecideOutweighed, Some(by)) => format!("overridden by {by}"),
            (Code::DecideNotReached, Some(by)) => format!("not reached: {by} comes first"),
            (Code::DecideSame, Some(by)) => format!("says the same as {by}, later in order"),
            _ => phrase.text,
        };
        let mut parameters = phrase.parameters;
        if let Some((value, by)) = parameters.values_mut().next().zip(opposed) {
            *value = json!(by);
        }
        Phrase { code: phrase.code, parameters, text }
    }

    /// The default of the outermost set. It is said to be possible only where it would stand indeed.
    pub(super) fn default_row(&self, looks: bool) -> DefaultRow {
        let is_possible = || {
            self.decide.failing(self.request).is_none()
                && self.decide.without_doubt(self.request, self.hits).by == By::Default
        };
        let (state, code) = match self.decided.by {
            By::Default => (State::Won, Code::DecideDefault),
            By::Nobody if looks && is_possible() => (State::Unknown, Code::DefaultUnknown),
            By::Nobody | By::Policy(_) | By::Algorithm => (State::Lost, Code::DefaultNotReached),
        };
        let settings = self.decide.sets().next().and_then(|root| root.at);
        DefaultRow {
            state,
            name: DEFAULT.to_owned(),
            means: self.decide.default_effect().word().to_owned(),
            reason: Phrase {
                code: code.text().into(),
                parameters: Map::new(),
                text: sentences::of_default(state).to_owned(),
            },
            at: settings.and_then(|at| At::of(self.snapshot.files(), at)),
        }
    }

    pub(super) fn notes(&self) -> Vec<Remark> {
        let mut notes = Vec::new();
        if self.decided.by == By::Default && self.decided.outcome == Decision::Permit {
            notes.push(Remark::OpenDefault {});
        }
        if let Some((hidden, by)) = self.decide.hidden(self.request, self.hits) {
            let set = Some(by.name.to_string()).filter(|name| !name.is_empty());
            let policy = match hidden {
                Doubtful::Policy(entry) => self.name(entry),
                Doubtful::Set(number) => sentences::a_set(&self.set_name(number)),
            };
            notes.push(Remark::HiddenDoubt { algorithm: by.algorithm.word().to_owned(), set, policy });
        }
        if let Some(decider) = self.decider()
            && let Some(other) = self.decide.tied(self.request, self.hits, decider)
        {
            let priority = self.decide.rule(decider).map(|rule| rule.priority).unwrap_or_default();
            notes.push(Remark::OrderOfStore { policy: self.name(decider), other: self.name(other), priority });
        }
        notes
    }

    fn set_name(&self, number: usize) -> String {
        self.decide.sets().nth(number).map(|set| set.name.to_string()).unwrap_or_default()
    }
}

/// Policies as rows.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) candidates: Vec<Candidate>,
    /// How many others do not apply.
    pub(super) left_out: usize,
}

/// Which of the policies that do not apply come first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nearness {
    /// Those that lack the fewest parts.
    Parts,
    /// Those that could turn the decision; of these the same.
    Rivals,
}

pub(super) fn missed(miss: &Miss) -> Phrase {
    let Miss { code, field, want, have } = miss;
    let parameters = [
        ("field", json!(field.to_string())),
        ("want", json!(want.to_string())),
        ("have", json!(have.as_ref().map(ToString::to_string))),
    ];
    let parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Phrase { code: code.text().into(), parameters, text: words::miss(miss) }
}

/// Whole numbers as they are written, without a fraction.
fn number(number: f64) -> Json {
    number.to_string().parse::<i64>().map_or_else(|_| json!(number), |whole| json!(whole))
}
