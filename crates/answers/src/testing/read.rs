//! From documents to cases: every mistake is reported, and every combination and row is a case of its own.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use upheld_dialects::access::Edition;
use upheld_dialects::access::arrivals::{Arrival, Arrived};
use upheld_dialects::access::decider::Decider;
use upheld_dialects::comply::questions::{AuditQuestion, ChangeRequest};
use upheld_dialects::shape::Checker;
use upheld_engine::decide::{Maybe, Request};
use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, NodeRef, SourceId, Timestamp};

use super::invariants::{Form as InvariantForm, Invariant};
use super::parts::{Part, Parts};
use super::shapes::{Form, around};
use super::{changed, explained};
use upheld_dialects::question::Words;
use upheld_report::{Report, Verdict};

/// One question with its answer.
#[derive(Debug)]
pub(super) struct Case {
    /// As it is reported: a combination or row is named after its case and its parts.
    pub(super) name: String,
    /// The name that the document gives to the case.
    pub(super) own: String,
    pub(super) at: NodeRef,
    pub(super) tags: Vec<String>,
    pub(super) skip: Option<String>,
    pub(super) asks: Asks,
    /// A map with the parts that are stated, or a list of such maps.
    pub(super) expect: Json,
}

impl Case {
    /// Whether it expects what only a full answer has, which takes longer.
    pub(super) fn looks_closely(&self) -> bool {
        let looks = |expect: &Json| ["candidates", "answer"].iter().any(|part| expect.get(part).is_some());
        self.expect.as_array().map_or_else(|| looks(&self.expect), |all| all.iter().any(looks))
    }

    /// What policies are asked, with all that is known of it; nothing if it asks for no decision.
    pub(super) fn arrived(&self, decider: Decider<'_>) -> Option<Arrived> {
        match &self.asks {
            Asks::Decision { request, .. } => {
                Some(Arrived::Asks(Box::new(decider.complete((**request).clone(), None))))
            }
            Asks::Arrival { arrival, .. } => Some(arrival.arrived(decider)),
            Asks::Explanation(_) | Asks::Related { .. } | Asks::Invariant(_) => None,
        }
    }

    /// Whether a permit does not open, because nobody fulfils what comes with it.
    pub(super) fn is_held_back(&self, decider: Decider<'_>, report: &Report) -> bool {
        match &self.asks {
            Asks::Arrival { arrival, .. } => report.verdict == Verdict::Permit && arrival.is_held_back(decider, report),
            Asks::Decision { .. } | Asks::Explanation(_) | Asks::Related { .. } | Asks::Invariant(_) => false,
        }
    }
}

/// What a case asks.
#[derive(Clone, Debug)]
pub(super) enum Asks {
    /// May this go on?
    Decision { request: Box<Request>, kind: Option<String> },
    /// May this go on that arrives from outside?
    Arrival { arrival: Box<Arrival>, kind: Option<String> },
    /// What is the result here?
    Explanation(Box<Words>),
    /// Something about objects that must agree, under a kind of policies and at a moment.
    Related { asks: Box<Related>, kind: Option<String>, now: Timestamp },
    /// Does this hold everywhere?
    Invariant(Box<Invariant>),
}

/// What is asked about related objects.
#[derive(Clone, Debug)]
pub(super) enum Related {
    /// May a change be made?
    Change(ChangeRequest),
    /// Who violates?
    Audit(AuditQuestion),
    /// Do two agree?
    Pair(String),
}

/// How documents are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) edition: Edition,
    /// The moment of cases that name none.
    pub(super) now: Timestamp,
}

/// Reads the tests of some documents.
pub(super) fn read(documents: Vec<(SourceId, Value<'_>)>, setting: Setting, found: &mut Diagnostics) -> Vec<Case> {
    let mut cases = Vec::new();
    let around = around();
    for (source, document) in documents {
        Checker::new(source, found).check(document, &around);
        let parts = Parts::new(source, setting.edition, document.get("fixtures"), found);
        let now = moment(source, document, found).unwrap_or(setting.now);
        let mut suite = Suite { source, parts, now, names: BTreeMap::new(), found, cases: &mut cases };
        let all =
            |list: &str| document.get(list).into_iter().flat_map(Value::items).filter(|one| one.kind() == Kind::Map);
        for case in all("cases") {
            suite.case(case);
        }
        for invariant in all("invariants") {
            suite.invariant(invariant);
        }
        if ["cases", "invariants"].iter().all(|list| document.get(list).is_none()) {
            let problem = Diagnostic::error(Fault::MissingField, "there is neither `cases` nor `invariants`");
            let problem = problem.at_value(source, document, "this document tests nothing");
            found.push(
                problem.help("cases ask and expect an answer; invariants hold for everything that could be asked"),
            );
        }
    }
    cases
}

/// The cases of one document.
pub(super) struct Suite<'d, 't> {
    pub(super) source: SourceId,
    pub(super) parts: Parts,
    now: Timestamp,
    names: BTreeMap<&'t str, Value<'t>>,
    pub(super) found: &'d mut Diagnostics,
    cases: &'d mut Vec<Case>,
}

impl<'t> Suite<'_, 't> {
    fn case(&mut self, case: Value<'t>) {
        let fields = [
            "name", "request", "expect", "except", "skip", "tags", "kind", "now", "trust", "fulfils", "as", "in",
            "role",
        ];
        // What is nearer to another field is a misspelt one of those.
        let known = || fields.into_iter().chain(Form::words());
        let misspelt = |key: &str, word: &str| !fields.contains(&key) && nearest(key, known()) == Some(word);
        let form = Form::of(|word| case.entries().any(|(key, _)| key.text() == word || misspelt(key.text(), word)));
        let called = match case.get("name").and_then(Value::as_text) {
            Some(name) => format!("the case `{name}`"),
            None => "a case".to_owned(),
        };
        let shape = form.shape();
        if !Checker::new(self.source, self.found).of(called).check(case, &shape) {
            return;
        }
        self.is_new(case);
        match form {
            Form::Request => {
                let (Some(request), Some(expect)) = (self.common(case), self.expected(case)) else { return };
                self.decision(case, case, None, request, expect);
            }
            Form::Matrix => self.matrix(case),
            Form::Table => self.table(case),
            Form::Arrives => {
                let now = moment(self.source, case, self.found).unwrap_or(self.now);
                let arrival = Arrival::read(self.source, case, now, self.found);
                let (Some(arrival), Some(expect)) = (arrival, self.expected(case)) else { return };
                let kind = case.get("kind").and_then(Value::as_text).map(str::to_owned);
                self.add(case, case, None, Asks::Arrival { arrival: Box::new(arrival), kind }, expect);
            }
            Form::Explain => {
                let question = explained::question(self.source, case, self.found);
                let (Some(question), Some(expect)) = (question, self.expected(case)) else { return };
                self.add(case, case, None, Asks::Explanation(Box::new(question)), expect);
            }
            Form::Can => self.related(case, "outcome", Related::Change(changed::change(case))),
            Form::Audit => self.related(case, "answer", Related::Audit(changed::audit(case))),
            Form::Relation => {
                let pair = case.get("relation").map_or("", Value::text).to_owned();
                self.related(case, "verdict", Related::Pair(pair));
            }
        }
    }

    fn invariant(&mut self, written: Value<'t>) {
        let has = |form: &&InvariantForm| written.get(form.word()).is_some();
        let forms: Vec<&InvariantForm> = InvariantForm::ALL.iter().filter(has).collect();
        let form = match forms.as_slice() {
            [form] => **form,
            none_or_several => {
                let message = match none_or_several {
                    [] => {
                        "an invariant says what holds `never`, `always` or of `every`, or what stays `unchanged`; this one says none of it"
                    }
                    _ => "an invariant has one of `never`, `always`, `every` and `unchanged`; this one has several",
                };
                let problem = Diagnostic::error(Fault::MissingField, message).at_value(self.source, written, "here");
                let words = || InvariantForm::ALL.into_iter().map(InvariantForm::word);
                let meant = written.entries().find_map(|(key, _)| nearest(key.text(), words()));
                let problem = problem.suggest(meant.filter(|_| none_or_several.is_empty()));
                self.found.push(problem.help("for example `never: permit` and `where:` with a region"));
                return;
            }
        };
        let called = match written.get("name").and_then(Value::as_text) {
            Some(name) => format!("the invariant `{name}`"),
            None => "an invariant".to_owned(),
        };
        let shape = form.shape();
        if !Checker::new(self.source, self.found).of(called).check(written, &shape) {
            return;
        }
        self.is_new(written);
        if let Some(invariant) = Invariant::read(self.source, written, form, self.found) {
            self.add(written, written, None, Asks::Invariant(Box::new(invariant)), json!("HOLDS"));
        }
    }

    /// Adds a case about related objects; a word that is expected is a part of the answer.
    fn related(&mut self, case: Value<'t>, part: &str, asks: Related) {
        let now = moment(self.source, case, self.found).unwrap_or(self.now);
        let Some(expect) = self.expected_as(part, case) else { return };
        let kind = case.get("kind").and_then(Value::as_text).map(str::to_owned);
        self.add(case, case, None, Asks::Related { asks: Box::new(asks), kind, now }, expect);
    }

    fn is_new(&mut self, case: Value<'t>) {
        let Some(name) = case.get("name") else { return };
        if let Some(first) = self.names.insert(name.text(), name) {
            let message = format!("two cases are called `{}`", name.text());
            let diagnostic = Diagnostic::error(Fault::DefinedTwice, message)
                .at_value(self.source, name, "second case")
                .related(self.source, first.span(), "first case");
            self.found.push(diagnostic.help("rename one of them, so that answers can name it"));
        }
    }

    /// The request that a case begins with; none if it is wrong.
    pub(super) fn common(&mut self, case: Value<'t>) -> Option<Request> {
        let before = self.found.errors();
        let mut request = self.parts.nothing();
        for (key, value) in case.get("request").into_iter().flat_map(Value::entries) {
            if let Some(part) = Part::of(key.text()).filter(|_| value.kind() != Kind::Null) {
                self.parts.read(part, value, &mut request, self.found);
            }
        }
        moment(self.source, case, self.found);
        (self.found.errors() == before).then_some(request)
    }

    /// What a case or an exception expects of a decision.
    pub(super) fn expected(&mut self, of: Value<'t>) -> Option<Json> {
        self.expected_as("decision", of)
    }

    /// What a case expects; a word is a part of the answer.
    fn expected_as(&mut self, part: &str, of: Value<'t>) -> Option<Json> {
        let expect = of.get("expect")?;
        let empty = |value: Value<'_>| value.kind() == Kind::Map && value.entries().next().is_none();
        let nothing = expect.kind() == Kind::List && expect.items().next().is_none();
        if nothing || empty(expect) || expect.items().any(empty) {
            let diagnostic = Diagnostic::error(Fault::MissingField, "`expect` states nothing, so nothing could fail");
            let diagnostic = diagnostic.at_value(self.source, expect, "empty");
            self.found.push(diagnostic.help("state at least one part of the answer, for example `expect: deny`"));
            return None;
        }
        Some(match expect.as_text() {
            Some(word) => json!({part: word}),
            None => serde_json::to_value(expect).unwrap_or_default(),
        })
    }

    /// Adds a case that asks for a decision.
    pub(super) fn decision(
        &mut self,
        case: Value<'t>,
        at: Value<'t>,
        which: Option<&str>,
        mut request: Request,
        expect: Json,
    ) {
        // What is wrong with it was said when the common part was read.
        let now = moment(self.source, case, &mut Diagnostics::default()).unwrap_or(self.now);
        if request.environment.time == Maybe::Absent {
            request.environment.time = Maybe::Is(now);
        }
        let kind = case.get("kind").and_then(Value::as_text).map(str::to_owned);
        self.add(case, at, which, Asks::Decision { request: Box::new(request), kind }, expect);
    }

    fn add(&mut self, case: Value<'t>, at: Value<'t>, which: Option<&str>, asks: Asks, expect: Json) {
        let own = case.get("name").map_or("", Value::text).to_owned();
        self.cases.push(Case {
            name: which.map_or_else(|| own.clone(), |which| format!("{own} ({which})")),
            own,
            at: NodeRef { source: self.source, node: at.number() },
            tags: case.get("tags").into_iter().flat_map(Value::items).map(|tag| tag.text().to_owned()).collect(),
            skip: case.get("skip").and_then(Value::as_text).map(str::to_owned),
            asks,
            expect,
        });
    }
}

/// The moment that a document or a case names.
fn moment(source: SourceId, of: Value<'_>, found: &mut Diagnostics) -> Option<Timestamp> {
    let now = of.get("now").filter(|now| now.kind() == Kind::Text)?;
    let moment = now.text().parse().ok();
    if moment.is_none() {
        let diagnostic = Diagnostic::error(Fault::WrongValue, format!("`{}` is not a valid timestamp", now.text()));
        found.push(diagnostic.at_value(source, now, "expected for example `2025-03-01T12:00:00Z`"));
    }
    moment
}
