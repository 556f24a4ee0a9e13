//! One access policy, read strictly: whatever could mean something else than its author thinks is refused.

pub(super) mod conditions;
mod fact_tests;
pub(super) mod never;
pub(super) mod patterns;

use std::cell::Cell;
use std::ops::Range;

use smol_str::SmolStr;
use upheld_engine::decide::{
    ANY_METHOD, BadPattern, Condition, Effect, FactOf, FactTest, Glob, MOST_ALTERNATIVES, MOST_WEIGHT, Matcher,
    Operator, PathPattern, Rule, Status, Target, Test, Truth, Wildcard,
};
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::tree::{Kind, Span, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, NodeRef, Severity, SourceId};

pub use self::never::Standing;
use self::never::is_token;
use super::shapes::Fields;
use crate::shape::{Checker, Shape};

/// Reads policies of one kind.
#[derive(Debug)]
pub struct PolicyReader {
    /// How its fields are called.
    pub fields: Fields,
    shape: Shape,
    /// What the patterns weigh that were read so far.
    weight: Cell<usize>,
}

impl PolicyReader {
    /// For policies with these fields.
    pub fn new(fields: Fields) -> Self {
        let shape = fields.policy();
        Self { fields, shape, weight: Cell::new(0) }
    }

    /// Reads one policy with its id; every mistake is reported.
    pub fn read(
        &self,
        source: SourceId,
        policy: Value<'_>,
        standing: Standing,
        found: &mut Diagnostics,
    ) -> Option<Rule> {
        if !Checker::new(source, found).check(policy, &self.shape) {
            self.rest(policy, &mut Reading::new(source, standing, found));
            return None;
        }
        let id = policy.get(&self.fields.id)?;
        let mut reading = Reading::new(source, standing, found);
        let valid = reading.id(id);
        let rule = self.rule(policy, SmolStr::new(id.text()), &mut reading)?;
        valid.then_some(rule)
    }

    /// Reads what a policy says, given its id.
    pub(super) fn body(
        &self,
        source: SourceId,
        body: Value<'_>,
        name: SmolStr,
        standing: Standing,
        found: &mut Diagnostics,
    ) -> Option<Rule> {
        self.rule(body, name, &mut Reading::new(source, standing, found))
    }

    /// Reads which requests something is about, written as in a policy.
    pub(super) fn region(&self, source: SourceId, region: Value<'_>, found: &mut Diagnostics) -> Option<Rule> {
        let mut reading = Reading::new(source, Standing::New, found);
        let before = reading.found.errors();
        let (target, conditions) = self.matching(region, &mut reading);
        let at = NodeRef { source, node: region.number() };
        let rule = Rule { conditions, ..Rule::new(SmolStr::default(), Effect::Deny, target, at) };
        (reading.found.errors() == before).then_some(rule)
    }

    /// What else is wrong with a policy that does not have its shape, as far as that can be known.
    fn rest(&self, policy: Value<'_>, reading: &mut Reading<'_>) {
        if let Some(word) = policy.get(&self.fields.effect).filter(|word| word.kind() == Kind::Text) {
            reading.effect(word, &self.fields);
        }
        let conditions = policy.get(&self.fields.conditions).filter(|list| list.kind() == Kind::List);
        for item in conditions.into_iter().flat_map(Value::items) {
            reading.condition(item);
        }
    }

    fn rule(&self, policy: Value<'_>, name: SmolStr, reading: &mut Reading<'_>) -> Option<Rule> {
        let before = reading.found.errors();
        reading.weight = self.weight.get();
        let get = |field: &str| policy.get(field).filter(|value| value.kind() != Kind::Null);
        let effect = get(&self.fields.effect).and_then(|word| reading.effect(word, &self.fields));
        // Whoever is not let in comes and asks; whoever is not kept out does not.
        reading.never = if effect == Some(Effect::Permit) { Severity::Warning } else { Severity::Error };
        let (target, conditions) = self.matching(policy, reading);
        let priority = get(&self.fields.priority).map_or(Some(0.0), |value| reading.priority(value));
        let status = match get("enabled").and_then(Value::as_bool) {
            Some(false) => Status::Off,
            _ => Status::On,
        };
        let duties = reading.duties(get("duties"));
        self.weight.set(reading.weight);
        let at = NodeRef { source: reading.source, node: policy.number() };
        if reading.found.errors() > before {
            return None;
        }
        let description = get("description").and_then(Value::as_text).map(SmolStr::new);
        Some(Rule { name, description, effect: effect?, target, conditions, duties, priority: priority?, status, at })
    }

    /// Which requests a policy is about.
    fn matching(&self, policy: Value<'_>, reading: &mut Reading<'_>) -> (Target, Vec<Condition>) {
        let get = |field: &str| policy.get(field).filter(|value| value.kind() != Kind::Null);
        let target = Target {
            subjects: reading.matchers(get(&self.fields.subjects), Reading::subject),
            resources: reading.matchers(get(&self.fields.resources), Reading::resource),
            actions: reading.matchers(get(&self.fields.actions), Reading::action),
        };
        reading.few_enough(policy, &target);
        let mut conditions: Vec<Condition> =
            get("valid").and_then(|value| reading.validity(value)).into_iter().collect();
        for item in get(&self.fields.conditions).into_iter().flat_map(Value::items) {
            conditions.extend(reading.condition(item));
        }
        (target, conditions)
    }
}

/// Reads the parts of policies of one file.
pub(super) struct Reading<'f> {
    pub(super) source: SourceId,
    pub(super) found: &'f mut Diagnostics,
    /// Whether a store holds the document already.
    standing: Standing,
    /// Whether an alternative that must not fit is being read.
    negated: bool,
    /// What a pattern means that no path looks like.
    never: Severity,
    /// What the patterns weigh that were read so far.
    weight: usize,
}

impl<'f> Reading<'f> {
    /// For policies of one file.
    pub(super) fn new(source: SourceId, standing: Standing, found: &'f mut Diagnostics) -> Self {
        Self { source, found, standing, negated: false, never: Severity::Error, weight: 0 }
    }

    /// Refuses a value.
    pub(super) fn wrong(&mut self, value: Value<'_>, message: String, expected: &str) {
        self.found.push(Diagnostic::error(Fault::WrongValue, message).at_value(self.source, value, expected));
    }

    /// As [`Self::wrong`], with something to do.
    pub(super) fn wrong_but(&mut self, value: Value<'_>, message: String, expected: &str, help: String) {
        let diagnostic = Diagnostic::error(Fault::WrongValue, message).at_value(self.source, value, expected);
        self.found.push(diagnostic.help(help));
    }

    /// Whether one more pattern may be made. Those that are too large together are refused with the first that is too much, and nobody waits for
    /// the rest.
    fn has_room(&self) -> bool {
        self.weight <= MOST_WEIGHT
    }

    /// Counts a pattern that was made.
    fn weigh(&mut self, value: Value<'_>, weight: usize) {
        let had_room = self.has_room();
        self.weight = self.weight.saturating_add(weight);
        if had_room && !self.has_room() {
            let message = format!(
                "the patterns are too large together: up to here their automata have about {} states",
                self.weight
            );
            let help =
                "write `+` or `*` instead of large repetitions, and texts instead of patterns where they are known";
            let diagnostic = Diagnostic::error(Fault::Limit, message);
            let label = format!("expected at most {MOST_WEIGHT} in all policies");
            self.found.push(diagnostic.at_value(self.source, value, &label).help(help));
        }
    }

    /// Refuses a policy whose alternatives make too many combinations.
    fn few_enough(&mut self, policy: Value<'_>, target: &Target) {
        let count = target.alternatives();
        if count > MOST_ALTERNATIVES {
            let message = format!("the alternatives of this policy make {count} combinations of one value each");
            let expected = format!("expected at most {MOST_ALTERNATIVES}");
            let help =
                "split it into several policies, or name groups and patterns in place of single values".to_owned();
            self.wrong_but(policy, message, &expected, help);
        }
    }

    pub(super) fn id(&mut self, id: Value<'_>) -> bool {
        let text = id.text();
        let first = text.chars().next().is_some_and(|first| first.is_ascii_alphanumeric());
        let rest = text.chars().all(|one| one.is_ascii_alphanumeric() || "._:/-".contains(one));
        if first && rest && text.len() <= 256 {
            return true;
        }
        let expected = "letters, digits and `.` `_` `:` `/` `-`, up to 256";
        self.wrong(id, format!("`{text}` cannot be an id"), expected);
        false
    }

    fn effect(&mut self, word: Value<'_>, fields: &Fields) -> Option<Effect> {
        let effect = fields.effect_of(word.text());
        if effect.is_none() {
            let words: Vec<&str> = fields.permit.iter().chain(&fields.deny).map(String::as_str).collect();
            let lower = word.text().to_ascii_lowercase();
            let meant = words.iter().copied().find(|known| *known == lower).or(match lower.as_str() {
                "allow" | "grant" | "accept" => fields.permit.first().map(String::as_str),
                "forbid" | "block" | "refuse" => fields.deny.first().map(String::as_str),
                _ => nearest(word.text(), words.iter().copied()),
            });
            let message = format!("there is no effect `{}`", word.text());
            let expected =
                format!("expected {}", words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or "));
            match meant {
                Some(meant) => self.wrong_but(word, message, &expected, did_you_mean(meant)),
                None => self.wrong(word, message, &expected),
            }
        }
        effect
    }

    pub(super) fn priority(&mut self, value: Value<'_>) -> Option<f64> {
        /// Beyond it, not every whole number is one.
        const MOST: f64 = 9_007_199_254_740_992.0;
        let number = value.as_number().filter(|number| number.is_finite() && number.abs() <= MOST);
        if number.is_none() {
            self.wrong(value, "this priority is out of range".to_owned(), "expected a number up to 2^53");
        }
        number
    }

    pub(super) fn matchers(
        &mut self,
        list: Option<Value<'_>>,
        read: fn(&mut Self, Value<'_>) -> Matcher,
    ) -> Vec<Matcher> {
        let mut matchers = Vec::new();
        for item in list.into_iter().flat_map(Value::items) {
            let before = self.found.errors();
            let mut matcher = read(self, item);
            if let Some(not) = item.get("not").filter(|not| not.kind() != Kind::Null) {
                self.negated = true;
                let inner = read(self, not);
                self.negated = false;
                self.not_empty(not, &inner, before);
                matcher.tests.push(Test::Not(inner));
            }
            self.not_empty(item, &matcher, before);
            matchers.push(matcher);
        }
        matchers
    }

    /// An alternative that asks for nothing would fit all, which is rarely meant; nor is one of no values.
    fn not_empty(&mut self, item: Value<'_>, matcher: &Matcher, before: usize) {
        // A field without a value asks for nothing, so the rest would fit more than its author thinks.
        for (key, _) in item.entries().filter(|(_, value)| value.kind() == Kind::Null) {
            let message = format!("`{}` has no value, so it would be ignored", key.text());
            self.wrong(key, message, "give it a value or remove it");
        }
        let is_empty = |value: &Value<'_>| value.kind() == Kind::List && value.items().next().is_none();
        for (key, value) in item.entries().filter(|(_, value)| is_empty(value)) {
            let message = format!("`{}` is an empty list, which matches nothing", key.text());
            self.wrong(value, message, "expected at least one value");
        }
        if matcher.tests.is_empty() && self.found.errors() == before {
            let message = "this alternative has no fields, so it would match everything".to_owned();
            let help = "to match everything, leave the whole list empty: `[]`".to_owned();
            self.wrong_but(item, message, "expected at least one field", help);
        }
    }

    pub(super) fn subject(&mut self, item: Value<'_>) -> Matcher {
        let mut tests = Vec::new();
        self.literal_stars(item, &["id", "type", "group"]);
        self.roles_are_no_expressions(item);
        tests.extend(texts(item, "id").map(Test::Id));
        tests.extend(texts(item, "type").map(Test::SubjectType));
        tests.extend(self.wild(item, "role").map(Test::Role));
        tests.extend(texts(item, "group").map(Test::Group));
        tests.extend(self.fact(item, "claim", FactOf::Subject, ""));
        Matcher { tests }
    }

    pub(super) fn resource(&mut self, item: Value<'_>) -> Matcher {
        let mut tests = Vec::new();
        self.literal_stars(item, &["id", "type"]);
        tests.extend(self.wild(item, "app").map(Test::App));
        tests.extend(self.paths(item));
        tests.extend(texts(item, "type").map(Test::Type));
        tests.extend(texts(item, "id").map(Test::ResourceId));
        tests.extend(item.get("owner").filter(|owner| owner.kind() != Kind::Null).map(|_| Test::OwnedBySubject));
        if let Some(hosts) = self.hosts(item) {
            tests.push(Test::Fact(FactTest {
                of: FactOf::Resource,
                name: SmolStr::new_static("host"),
                called: None,
                path: vec![SmolStr::new_static("host")],
                operator: Operator::In(hosts),
                absent: if self.negated { Truth::Error } else { Truth::False },
                mismatch: Truth::False,
            }));
        }
        tests.extend(self.fact(item, "header", FactOf::Resource, "headers."));
        tests.extend(self.fact(item, "property", FactOf::Resource, ""));
        Matcher { tests }
    }

    pub(super) fn action(&mut self, item: Value<'_>) -> Matcher {
        let mut tests = Vec::new();
        self.literal_stars(item, &["operation"]);
        for method in items(item, "method") {
            if method.text() != ANY_METHOD && (!is_token(method.text()) || method.text().contains('*')) {
                let message = format!("`{}` is not a valid HTTP method", method.text());
                self.wrong(method, message, "expected a method such as `GET`, or `*` for any");
            }
        }
        tests.extend(texts(item, "method").map(Test::Method));
        tests.extend(texts(item, "operation").map(Test::Operation));
        tests.extend(self.fact(item, "property", FactOf::Action, ""));
        Matcher { tests }
    }

    fn wild(&mut self, item: Value<'_>, field: &str) -> Option<Vec<Wildcard>> {
        let values = items(item, field);
        if values.is_empty() {
            return None;
        }
        let mut patterns = Vec::new();
        for value in values {
            match Wildcard::parse(value.text()) {
                Ok(pattern) => patterns.push(pattern),
                Err(bad) => self.bad_pattern(value, &bad),
            }
        }
        Some(patterns)
    }

    fn paths(&mut self, item: Value<'_>) -> Option<Test> {
        let values = items(item, "path");
        if values.is_empty() {
            return None;
        }
        let mut patterns = Vec::new();
        for value in values {
            match Glob::parse(value.text()) {
                Ok(glob) => {
                    self.looks_like_no_path(value);
                    patterns.push(PathPattern::Glob(glob));
                }
                Err(bad) => self.bad_pattern(value, &bad),
            }
        }
        Some(Test::Path(patterns))
    }

    fn bad_pattern(&mut self, value: Value<'_>, bad: &BadPattern) {
        let message = format!("the pattern `{}` {}", shortened(value.text()), bad.problem.sentence());
        let span = within(value, &bad.range);
        let diagnostic = Diagnostic::error(Fault::WrongValue, message).at(self.source, span, "here");
        self.found.push(diagnostic.help(bad.problem.help()));
    }
}

/// The values of a field that holds one or many.
fn items<'t>(item: Value<'t>, field: &str) -> Vec<Value<'t>> {
    match item.get(field) {
        Some(value) if value.kind() == Kind::List => value.items().collect(),
        Some(value) if value.kind() != Kind::Null => vec![value],
        _ => Vec::new(),
    }
}

fn texts(item: Value<'_>, field: &str) -> Option<Vec<SmolStr>> {
    let values = items(item, field);
    (!values.is_empty()).then(|| values.into_iter().map(|value| SmolStr::new(value.text())).collect())
}

/// The place of a range of a text, if the text stands there as it is.
fn within(value: Value<'_>, range: &Range<usize>) -> Span {
    let span = value.span();
    let length = span.end.saturating_sub(span.start) as usize;
    let text = value.text().len();
    // Quotes stand around it; anything else was unescaped, and the whole is shown.
    let start = match length.checked_sub(text) {
        Some(0) => span.start,
        Some(2) => span.start + 1,
        _ => return span,
    };
    let at = |place: usize| start + u32::try_from(place.min(text)).unwrap_or_default();
    if range.is_empty() { span } else { Span { start: at(range.start), end: at(range.end) } }
}

fn shortened(text: &str) -> String {
    let start: String = text.chars().take(60).collect();
    if start.len() < text.len() { format!("{start}…") } else { start }
}
