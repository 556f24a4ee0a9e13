//! A decision with everything that explains it.

use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};
use upheld_engine::decide::{
    Algorithm, Binding, By, Change, Clause, Could, Decide, Decided, Effect, Examined, Held, Measure, Miss, Outcome,
    Request, Rule, Truth, changes,
};
use upheld_engine::words;
use upheld_engine::{Candidate as Heard, EntryId, Hit, KindId, Ruling, Scratch, Silent, Snapshot, ask};
use upheld_model::{Code, State};

use super::At;
use super::asked::asked;
use super::explanation::word;
use crate::stamp::edition;

/// The answer to one request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The kind of policies.
    pub kind: String,
    /// The edition of the rules.
    pub semantics: String,
    /// What was asked.
    pub request: Json,
    /// `permit`, `deny` or `undecided`.
    #[serde(rename = "decision")]
    pub outcome: &'static str,
    /// The sentence that answers.
    pub answer: String,
    /// How votes were combined.
    pub algorithm: &'static str,
    /// The policy that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// What its description says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// All policies that apply and have the effect that stands.
    pub determining: Vec<String>,
    /// All policies, best first.
    pub candidates: Vec<Candidate>,
    /// What becomes of the default effect.
    pub default: DefaultRow,
    /// What other ways to combine would say.
    pub other_algorithms: Vec<Otherwise>,
    /// The smallest changes of the request that would flip it.
    pub changes: Vec<WouldFlip>,
    /// What must be done along with it.
    pub obligations: Vec<Duty>,
    /// What may be done along with it.
    pub advice: Vec<Duty>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

/// A policy that was looked at.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// What became of it.
    #[serde(serialize_with = "word")]
    pub state: State,
    /// Its name.
    pub policy: String,
    /// The set that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// What it says where it applies.
    pub effect: &'static str,
    /// How much it counts.
    #[serde(serialize_with = "number")]
    pub priority: f64,
    /// What it asks of a request, and what the request says.
    pub parts: Vec<Part>,
    /// How many parts would have to be otherwise.
    pub distance: u32,
    /// Why, in a code.
    pub code: &'static str,
    /// Why, in words.
    pub because: String,
    /// Where it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

/// A part of a policy held against the request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Which list of the policy it is in.
    pub clause: &'static str,
    /// Its place there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// How many alternatives there are besides the one that fits best.
    #[serde(skip_serializing_if = "is_zero")]
    pub others: usize,
    /// Whether it is true.
    pub holds: Holds,
    /// What it asks.
    pub asks: String,
    /// What does not fit.
    pub misses: Vec<Missed>,
}

/// Whether a part fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Holds {
    /// True.
    Yes,
    /// Not true.
    No,
    /// A fact is missing.
    Unknown,
}

/// What does not fit.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Missed {
    pub code: &'static str,
    pub field: String,
    pub want: String,
    pub have: Option<String>,
    pub text: String,
}

/// What stands when no policy applies.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DefaultRow {
    #[serde(serialize_with = "word")]
    pub state: State,
    pub effect: &'static str,
    pub because: String,
    /// The settings that say so, if any do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

/// What another algorithm would say.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Otherwise {
    /// Another way to combine.
    pub algorithm: &'static str,
    /// What it would say.
    pub decision: &'static str,
    /// The policy, or `(default)`; nothing if nobody decided.
    pub by: Option<String>,
}

/// A change that would turn the decision round; it was tried out.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WouldFlip {
    pub change: &'static str,
    pub policies: Vec<String>,
    pub text: String,
}

/// Something to be done along with the decision.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Duty {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Json::is_null")]
    pub properties: Json,
}

/// Whole numbers as they are written, without a fraction.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn number<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match number.to_string().parse::<i64>() {
        Ok(whole) => serializer.serialize_i64(whole),
        Err(_) => serializer.serialize_f64(*number),
    }
}

impl Decision {
    /// Who decided, by a word.
    pub fn by(&self) -> &str {
        match (&self.policy, self.default.state, self.outcome) {
            (Some(policy), ..) => policy,
            (None, State::Won, _) => "(default)",
            (None, _, "undecided") => "(nobody)",
            (None, ..) => "(algorithm)",
        }
    }

    /// As programs get it, with a name for the default, too.
    pub fn named(&self) -> Json {
        let mut document = json!(self);
        if let (Some(map), State::Won) = (document.as_object_mut(), self.default.state) {
            map.insert("policy".to_owned(), json!("(default)"));
        }
        document
    }
}

/// How much is told of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Everything.
    All,
    /// What was decided and by whom, with a sentence that says what was missing.
    Sentence,
    /// What was decided and by whom: for gates and batches.
    Answer,
}

/// Decides a request and tells about it.
pub fn decide(snapshot: &Snapshot, kind: KindId, decide: &Decide, request: &Request, detail: Detail) -> Decision {
    let mut scratch = Scratch::default();
    let decided = ask(decide, &request, &mut scratch, &mut Silent);
    let hits = scratch.hits().to_vec();
    let teller = Teller { snapshot, decide, request, decided, hits };
    teller.tell(kind, detail)
}

struct Teller<'a> {
    snapshot: &'a Snapshot,
    decide: &'a Decide,
    request: &'a Request,
    decided: Decided,
    hits: Vec<Hit<Measure>>,
}

impl Teller<'_> {
    fn tell(&self, kind: KindId, detail: Detail) -> Decision {
        let all = detail == Detail::All;
        let kind = self.snapshot.kind(kind);
        let text = |symbol| self.snapshot.text(symbol).to_owned();
        let decider = self.decider();
        let by_policy = matches!(self.decided.by, By::Policy(_) | By::Algorithm);
        let looks = all || (detail == Detail::Sentence && !by_policy);
        let candidates = if looks { self.candidates() } else { Vec::new() };
        let (obligations, advice) = self.duties();
        let (answer, default) = (self.answer(&candidates), self.default_row(&candidates));
        Decision {
            kind: kind.map(|kind| text(kind.name)).unwrap_or_default(),
            semantics: kind.and_then(|kind| edition(self.snapshot, kind)).unwrap_or_default().to_owned(),
            request: asked(self.request),
            outcome: self.decided.outcome.word(),
            answer,
            algorithm: self.decide.algorithm().word(),
            policy: decider.map(|entry| self.name(entry)),
            reason: decider.and_then(|entry| self.written(entry, "description")),
            determining: self.determining(),
            candidates: if all { candidates } else { Vec::new() },
            default,
            other_algorithms: if all { self.other_algorithms() } else { Vec::new() },
            changes: if all { self.changes() } else { Vec::new() },
            obligations,
            advice,
            notes: self.notes(),
        }
    }

    fn decider(&self) -> Option<EntryId> {
        match self.decided.by {
            By::Policy(entry) => Some(entry),
            By::Default | By::Algorithm | By::Nobody => None,
        }
    }

    fn name(&self, entry: EntryId) -> String {
        self.decide.rule(entry).map(|rule| rule.name.to_string()).unwrap_or_default()
    }

    fn written(&self, entry: EntryId, field: &str) -> Option<String> {
        let at = self.decide.rule(entry)?.at;
        let document = self.snapshot.files().value(at)?;
        let value = document.get(field).or_else(|| document.get("spec")?.get(field))?;
        value.as_text().map(str::to_owned)
    }

    fn determining(&self) -> Vec<String> {
        let effect = match self.decided.outcome {
            Outcome::Permit => Effect::Permit,
            Outcome::Deny => Effect::Deny,
            Outcome::Undecided | Outcome::Foreign => return Vec::new(),
        };
        let counts = |hit: &&Hit<Measure>| {
            hit.measure.applies() == Truth::True
                && self.decide.rule(hit.entry).is_some_and(|rule| rule.effect == effect)
        };
        self.hits.iter().filter(counts).map(|hit| self.name(hit.entry)).collect()
    }

    fn answer(&self, candidates: &[Candidate]) -> String {
        let word = self.decided.outcome.word().to_uppercase();
        let algorithm = self.decide.algorithm().word();
        match self.decided.by {
            By::Policy(entry) => {
                let name = self.name(entry);
                match self.rival(entry) {
                    Some(rival) => {
                        let algorithm = self.between(entry, rival);
                        let why = self.why(algorithm, entry);
                        format!("{word}, decided by {name}: under {} {why}.", algorithm.word())
                    }
                    None => format!("{word}, decided by {name}: no policy that applies says otherwise."),
                }
            }
            By::Default => self.by_default(&word, candidates),
            By::Algorithm => format!("{word} by {algorithm}: no policy that applies says otherwise."),
            By::Nobody => self.undecided(candidates),
        }
    }

    /// A policy that says otherwise and applies, or may do so.
    fn rival(&self, entry: EntryId) -> Option<EntryId> {
        let says_otherwise = |hit: &&Hit<Measure>| {
            hit.entry != entry && hit.measure.applies() != Truth::False && self.effect(hit.entry) != self.effect(entry)
        };
        self.hits.iter().find(says_otherwise).map(|hit| hit.entry)
    }

    /// The algorithm that chose between two policies: that of their set, or the outermost one.
    fn between(&self, one: EntryId, other: EntryId) -> Algorithm {
        let set = |entry| self.decide.set_of(entry).and_then(|set| set.at.map(|at| (at, set.algorithm)));
        match (set(one), set(other)) {
            (Some((one, algorithm)), Some((other, _))) if one == other => algorithm,
            _ => self.decide.algorithm(),
        }
    }

    fn why(&self, algorithm: Algorithm, entry: EntryId) -> String {
        let denies = self.effect(entry) == Some(Effect::Deny);
        let text = match algorithm {
            Algorithm::FirstApplicable => return format!("it is the first that applies ({})", self.priority(entry)),
            Algorithm::PriorityDenyOverrides => {
                return format!("it has the highest priority that applies ({})", self.priority(entry));
            }
            Algorithm::DenyOverrides | Algorithm::OrderedDenyOverrides if denies => "one deny outweighs every permit",
            Algorithm::PermitOverrides | Algorithm::OrderedPermitOverrides if !denies => {
                "one permit outweighs every deny"
            }
            Algorithm::DenyUnlessPermit if denies => "no policy certainly permits",
            Algorithm::DenyUnlessPermit => "one permit is enough",
            Algorithm::PermitUnlessDeny if denies => "one deny is enough",
            Algorithm::PermitUnlessDeny => "no policy certainly denies",
            _ => "the others do not count",
        };
        text.to_owned()
    }

    fn by_default(&self, word: &str, candidates: &[Candidate]) -> String {
        let rules = self.decide.rules().len();
        let looked = match rules {
            0 => "there are no policies".to_owned(),
            1 => "1 policy looked at, it does not apply".to_owned(),
            many => format!("{many} policies looked at, none applies"),
        };
        let otherwise =
            |candidate: &&Candidate| candidate.state == State::Skip && candidate.effect != self.decided.outcome.word();
        let closest = candidates.iter().find(otherwise).and_then(|candidate| {
            let fits = candidate.parts.iter().filter(|part| part.holds == Holds::Yes).count();
            let all = candidate.parts.len();
            let text = format!(" Closest: {} ({fits} of {all} clauses; {}).", candidate.policy, candidate.because);
            (fits > 0).then_some(text)
        });
        format!("{word} by default effect: {looked}.{}", closest.unwrap_or_default())
    }

    fn undecided(&self, candidates: &[Candidate]) -> String {
        let could = match self.decided.could() {
            Some(Could::Permit) => "it could be permit",
            Some(Could::Deny) => "it could be deny",
            _ => "it could be permit or deny",
        };
        let unknown = candidates.iter().find(|candidate| candidate.state == State::Unknown);
        let why = match (self.decide.bad_path(self.request), unknown) {
            (Some(bad), _) => format!("the path {}", bad.sentence()),
            (None, Some(candidate)) => format!("that depends on {} ({})", candidate.policy, candidate.because),
            (None, None) if candidates.is_empty() => "a fact is missing, or policies clash".to_owned(),
            (None, None) => {
                let clashing = candidates.iter().filter(|candidate| candidate.state == State::Kept);
                let all: Vec<String> =
                    clashing.map(|candidate| format!("{} says {}", candidate.policy, candidate.effect)).collect();
                format!("policies clash ({})", all.join(", "))
            }
        };
        format!("UNDECIDED, {could}: {why}. Enforcement denies it.")
    }

    fn effect(&self, entry: EntryId) -> Option<Effect> {
        self.decide.rule(entry).map(|rule| rule.effect)
    }

    fn priority(&self, entry: EntryId) -> String {
        format!("prio {}", self.decide.rule(entry).map(|rule| rule.priority).unwrap_or_default())
    }

    fn candidates(&self) -> Vec<Candidate> {
        let ruling = Ruling::explain(self.decide, &self.request);
        ruling.candidates.iter().filter_map(|heard| self.candidate(heard)).collect()
    }

    fn candidate(&self, heard: &Heard<Measure>) -> Option<Candidate> {
        let rule = self.decide.rule(heard.entry)?;
        let examined = self.decide.examine(heard.entry, self.request)?;
        let set = self.decide.set_of(heard.entry).map(|set| set.name.to_string()).filter(|name| !name.is_empty());
        let miss = examined.first_miss();
        let (code, because) = match (heard.state, miss) {
            (State::Skip | State::Unknown, Some(miss)) => (miss.code, words::miss(miss)),
            _ => (heard.reason.code, self.because(heard, &examined)),
        };
        Some(Candidate {
            state: heard.state,
            policy: rule.name.to_string(),
            set,
            effect: rule.effect.word(),
            priority: rule.priority,
            parts: examined.parts().map(|held| Part::of(held, others(rule, held.clause))).collect(),
            distance: heard.distance,
            code: code.text(),
            because,
            at: At::of(self.snapshot.files(), rule.at),
        })
    }

    fn because(&self, heard: &Heard<Measure>, _: &Examined) -> String {
        let lookup = self.snapshot.lookup();
        let ends = words::Ends { source: "", destination: "" };
        let text = words::Words { lookup: &lookup, ends }.because(heard.state, &heard.reason);
        let by = match heard.reason.params {
            [upheld_model::Param::Number(number), ..] => usize::try_from(number).ok().map(EntryId::new),
            _ => None,
        };
        let effect = self.effect(heard.entry);
        match (heard.reason.code, by) {
            // The weaker effect wins only where the stronger one is missing.
            (Code::DecideDenyOverrides, _) if effect == Some(Effect::Permit) => "no deny applies".to_owned(),
            (Code::DecidePermitOverrides, _) if effect == Some(Effect::Deny) => "no permit applies".to_owned(),
            (Code::DecideUnlessPermit, _) if effect == Some(Effect::Permit) => "one permit is enough".to_owned(),
            (Code::DecideUnlessDeny, _) if effect == Some(Effect::Deny) => "one deny is enough".to_owned(),
            (Code::DecideOutweighed, Some(by)) => format!("outweighed by {}", self.name(by)),
            (Code::DecideNotReached, Some(by)) => format!("not reached: {} comes first", self.name(by)),
            (Code::DecideSame, Some(by)) => format!("says the same as {}, later in order", self.name(by)),
            _ => text,
        }
    }

    fn default_row(&self, candidates: &[Candidate]) -> DefaultRow {
        let doubtful = candidates.iter().any(|candidate| candidate.state == State::Unknown);
        let (state, because) = match self.decided.by {
            By::Default => (State::Won, "no policy applies"),
            By::Nobody if doubtful => (State::Unknown, "stands if none of the unknown ones applies"),
            By::Nobody | By::Policy(_) | By::Algorithm => (State::Lost, "not reached"),
        };
        let settings = self.decide.sets().next().and_then(|root| root.at);
        let at = settings.and_then(|at| At::of(self.snapshot.files(), at));
        DefaultRow { state, effect: self.decide.default_effect().word(), because: because.to_owned(), at }
    }

    fn other_algorithms(&self) -> Vec<Otherwise> {
        let others = Algorithm::ALL.into_iter().take(3).filter(|algorithm| *algorithm != self.decide.algorithm());
        let tell = |algorithm: Algorithm| {
            let decided = self.decide.decide_among(self.request, &self.hits, algorithm);
            let by = match decided.by {
                By::Policy(entry) => Some(self.name(entry)),
                By::Default => Some("(default)".to_owned()),
                By::Algorithm | By::Nobody => None,
            };
            Otherwise { algorithm: algorithm.word(), decision: decided.outcome.word(), by }
        };
        others.map(tell).collect()
    }

    fn changes(&self) -> Vec<WouldFlip> {
        let tell = |change: &Change| match change {
            Change::Without(entries) => {
                let policies: Vec<String> = entries.iter().map(|entry| self.name(*entry)).collect();
                WouldFlip { change: "policies", text: format!("remove {}", policies.join(" and ")), policies }
            }
            Change::Request(edits, entry) => {
                let edits: Vec<String> = edits.iter().map(words::edit).collect();
                let policies: Vec<String> = entry.iter().map(|entry| self.name(*entry)).collect();
                let then =
                    if policies.is_empty() { String::new() } else { format!(": {} applies then", policies.join(", ")) };
                WouldFlip { change: "request", text: format!("if {}{then}", edits.join(" and ")), policies }
            }
        };
        changes(self.decide, self.request, &self.decided, &self.hits).iter().map(tell).collect()
    }

    fn duties(&self) -> (Vec<Duty>, Vec<Duty>) {
        let (mut obligations, mut advice) = (Vec::new(), Vec::new());
        for (duty, from) in self.decide.duties(self.request, &self.hits) {
            let properties = duty.at.and_then(|at| self.snapshot.files().value(at)?.get("properties"));
            let told = Duty {
                id: duty.id.to_string(),
                from: from.map(|entry| self.name(entry)),
                properties: json!(properties),
            };
            match duty.binding {
                Binding::Obligation => obligations.push(told),
                Binding::Advice => advice.push(told),
            }
        }
        (obligations, advice)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.decided.by == By::Default && self.decided.outcome == Outcome::Permit {
            notes.push("the default effect is permit, so whatever no policy speaks about is open".to_owned());
        }
        if let Some(doubtful) = self.rival_hidden() {
            let algorithm = self.decide.algorithm().word();
            notes.push(format!("{algorithm} hides what is not known: {doubtful} could say otherwise"));
        }
        notes
    }

    /// A policy that could turn the decision round, if the algorithm looked at what is not known.
    fn rival_hidden(&self) -> Option<String> {
        let against = match (self.decide.algorithm(), self.decided.outcome) {
            (Algorithm::DenyUnlessPermit, Outcome::Deny) => Effect::Permit,
            (Algorithm::PermitUnlessDeny, Outcome::Permit) => Effect::Deny,
            _ => return None,
        };
        let doubtful =
            |hit: &&Hit<Measure>| hit.measure.applies() == Truth::Error && self.effect(hit.entry) == Some(against);
        self.hits.iter().find(doubtful).map(|hit| self.name(hit.entry))
    }
}

impl Part {
    fn of(held: &Held, others: usize) -> Self {
        Self {
            clause: held.clause.word(),
            index: held.place,
            others,
            holds: match held.truth {
                Truth::True => Holds::Yes,
                Truth::False => Holds::No,
                Truth::Error => Holds::Unknown,
            },
            asks: held.asks.to_string(),
            misses: held.misses.iter().map(Missed::of).collect(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serializer hands out references")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// How many alternatives of a clause are not told of.
fn others(rule: &Rule, clause: Clause) -> usize {
    let own = rule.target.clauses().into_iter().find(|(known, _)| *known == clause);
    own.map_or(0, |(_, alternatives)| alternatives.len().saturating_sub(1))
}

impl Missed {
    fn of(miss: &Miss) -> Self {
        Self {
            code: miss.code.text(),
            field: miss.field.to_string(),
            want: miss.want.to_string(),
            have: miss.have.as_ref().map(ToString::to_string),
            text: words::miss(miss),
        }
    }
}
