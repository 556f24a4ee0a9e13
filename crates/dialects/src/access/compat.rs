//! One access policy, read as the original system reads it: its openings are kept, and said at load. What makes it throw is
//! refused.

use std::sync::Arc;

use jiff::tz::TimeZone;
use smol_str::SmolStr;
use upheld_engine::decide::{
    ANY_METHOD, AddressLists, Condition, Effect, Fact, FactOf, FactTest, ForeignPattern, Matcher, Midnight, Operator,
    Order, PathPattern, Rule, Status, Target, Test, TimeWindow, Truth, Validity, Weekdays, Wildcard,
};
use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, NodeRef, SourceId};

use super::facts::fact_of;
use super::javascript::{self, JavaScriptRegex, Refused};

/// Reads one policy; warnings say where it lets more through than its author may think.
pub fn read(source: SourceId, policy: Value<'_>, found: &mut Diagnostics) -> Option<Rule> {
    let before = found.errors();
    let mut reading = Reading { source, found };
    let id = policy.get("id").filter(|id| is_truthy(*id));
    if id.is_none() {
        reading.throws(policy, "this policy has no id");
    }
    let effect = reading.effect(policy);
    let target = Target {
        subjects: reading.matchers(policy, "subjects", Reading::subject),
        resources: reading.matchers(policy, "resources", Reading::resource),
        actions: reading.matchers(policy, "actions", Reading::action),
    };
    let mut conditions = reading.conditions(policy);
    // The original takes this word for its own: matched, and nothing said.
    if policy.get("effect").is_some_and(|effect| effect.text() == "not_applicable") {
        conditions.push(Condition::Never);
    }
    reading.unknown_fields(policy, &FIELDS);
    let description = policy.get("description").filter(|text| text.kind() != Kind::Null);
    if reading.found.errors() > before {
        return None;
    }
    Some(Rule {
        name: SmolStr::new(id?.text()),
        description: description.map(|text| SmolStr::new(text.text())),
        effect,
        target,
        conditions,
        duties: Vec::new(),
        priority: policy.get("priority").map_or(0.0, number),
        status: Status::On,
        at: NodeRef { source, node: policy.number() },
    })
}

const FIELDS: [&str; 9] =
    ["id", "name", "description", "effect", "priority", "subjects", "resources", "actions", "conditions"];

/// What the original makes of a pattern.
enum Pattern {
    Runs(Arc<dyn ForeignPattern>),
    /// It fails whenever it gets there.
    Fails,
}

struct Reading<'f> {
    source: SourceId,
    found: &'f mut Diagnostics,
}

impl Reading<'_> {
    /// The original throws here, so there is no answer to reproduce.
    fn throws(&mut self, value: Value<'_>, message: &str) {
        let diagnostic = Diagnostic::error(Fault::WrongValue, message).at_value(self.source, value, "here");
        self.found.push(diagnostic.help("the original fails on every request that reaches this policy"));
    }

    fn opens(&mut self, value: Value<'_>, message: impl Into<String>, help: &str) {
        let diagnostic = Diagnostic::warning(Fault::FailsOpen, message).at_value(self.source, value, "here");
        self.found.push(diagnostic.help(help));
    }

    fn unknown_fields(&mut self, map: Value<'_>, known: &[&'static str]) {
        for (key, _) in map.entries().filter(|(key, _)| !known.contains(&key.text())) {
            let message = format!("`{}` is not read", key.text());
            let diagnostic =
                Diagnostic::warning(Fault::UnknownField, message).at_value(self.source, key, "unknown field");
            self.found.push(diagnostic.suggest(nearest(key.text(), known.iter().copied())));
        }
    }

    fn effect(&mut self, policy: Value<'_>) -> Effect {
        let word = policy.get("effect");
        word.and_then(|word| Effect::of(word.text())).unwrap_or_else(|| {
            let message = match word {
                Some(word) => format!("`{}` is not a valid effect", word.text()),
                None => "this policy has no effect".to_owned(),
            };
            let help = "under first-applicable it lets the request through; other algorithms ignore it";
            self.opens(word.unwrap_or(policy), message, help);
            Effect::Foreign
        })
    }

    fn matchers(&mut self, policy: Value<'_>, field: &str, read: fn(&mut Self, Value<'_>) -> Matcher) -> Vec<Matcher> {
        let Some(list) = policy.get(field).filter(|list| list.kind() == Kind::List) else {
            let place = policy.get(field).unwrap_or(policy);
            self.throws(place, &format!("`{field}` must be a list"));
            return Vec::new();
        };
        let mut matchers = Vec::new();
        for item in list.items() {
            if item.kind() == Kind::Null {
                self.throws(item, "an alternative must be a map");
                continue;
            }
            let told = self.found.as_slice().len();
            let matcher = read(self, item);
            if matcher.tests.is_empty() && self.found.as_slice().len() == told {
                self.opens(item, "this alternative has no fields", "it matches everything");
            }
            matchers.push(matcher);
        }
        matchers
    }

    /// Empty texts, zeros and the like are not looked at.
    fn field<'t>(&mut self, item: Value<'t>, field: &str) -> Option<Value<'t>> {
        let value = item.get(field)?;
        if is_truthy(value) {
            return Some(value);
        }
        if value.kind() != Kind::Null {
            self.opens(value, format!("`{field}` is empty"), "an empty field is ignored, so it matches everything");
        }
        None
    }

    fn subject(&mut self, item: Value<'_>) -> Matcher {
        self.unknown_fields(item, &["id", "role", "group", "claim"]);
        let mut tests = Vec::new();
        tests.extend(self.field(item, "id").map(|id| Test::Id(exact(id))));
        tests.extend(self.field(item, "role").and_then(|role| self.wild(role)).map(Test::Role));
        tests.extend(self.field(item, "group").map(|group| Test::Group(exact(group))));
        tests.extend(self.field(item, "claim").and_then(|claim| self.claim(claim)));
        Matcher { tests }
    }

    fn resource(&mut self, item: Value<'_>) -> Matcher {
        self.unknown_fields(item, &["app", "path", "type", "owner"]);
        let mut tests = Vec::new();
        tests.extend(self.field(item, "app").and_then(|app| self.wild(app)).map(Test::App));
        if let Some(path) = self.field(item, "path") {
            let text = SmolStr::new(path.text());
            tests.extend(self.pattern(path).map(|pattern| {
                Test::Path(vec![match pattern {
                    Pattern::Runs(pattern) => PathPattern::Foreign(text, pattern),
                    Pattern::Fails => PathPattern::Broken(text),
                }])
            }));
        }
        tests.extend(self.field(item, "type").map(|kind| Test::Type(exact(kind))));
        if let Some(owner) = self.field(item, "owner") {
            self.opens(owner, "`owner` is ignored", "it matches the resources of everybody");
        }
        Matcher { tests }
    }

    fn action(&mut self, item: Value<'_>) -> Matcher {
        self.unknown_fields(item, &["method", "operation"]);
        let mut tests = Vec::new();
        if let Some(method) = self.field(item, "method") {
            if method.kind() == Kind::Text {
                tests.push(Test::Method(vec![SmolStr::new(method.text())]));
            } else {
                self.throws(method, "a method must be text");
            }
        }
        tests.extend(self.field(item, "operation").map(|operation| Test::Operation(exact(operation))));
        // Any method alone asks for nothing; still it is not an opening.
        if tests.is_empty() && item.get("method").is_some_and(|method| method.text() == ANY_METHOD) {
            tests.push(Test::Method(vec![SmolStr::new_static(ANY_METHOD)]));
        }
        Matcher { tests }
    }

    /// A pattern, or one on which the original fails when it gets there; nothing if it cannot be had here at all.
    fn pattern(&mut self, value: Value<'_>) -> Option<Pattern> {
        if value.kind() != Kind::Text {
            self.throws(value, "a pattern must be text");
            return None;
        }
        match javascript::wildcard(value.text()) {
            Ok(pattern) => Some(Pattern::Runs(Arc::new(pattern))),
            Err(refused @ Refused::Invalid(_)) => {
                self.fails(value, refused);
                Some(Pattern::Fails)
            }
            Err(refused @ Refused::Unsupported(_)) => {
                self.throws(value, &refused.to_string());
                None
            }
        }
    }

    /// The original fails here, but only when it gets there.
    fn fails(&mut self, value: Value<'_>, refused: Refused) {
        let diagnostic =
            Diagnostic::warning(Fault::FailsOpen, refused.to_string()).at_value(self.source, value, "here");
        self.found.push(diagnostic.help("requests that reach it are undecided here; the original lets them through"));
    }

    fn wild(&mut self, value: Value<'_>) -> Option<Vec<Wildcard>> {
        let plain = |text: &str| text.chars().all(|one| one.is_ascii_alphanumeric() || "-_:/@ ".contains(one));
        if value.kind() == Kind::Text && plain(value.text()) {
            return Some(vec![Wildcard::Exact(SmolStr::new(value.text()))]);
        }
        let text = SmolStr::new(value.text());
        Some(vec![match self.pattern(value)? {
            Pattern::Runs(pattern) => Wildcard::Foreign(text, pattern),
            Pattern::Fails => Wildcard::Broken(text),
        }])
    }

    fn claim(&mut self, claim: Value<'_>) -> Option<Test> {
        self.unknown_fields(claim, &["name", "value", "operator"]);
        let value = claim.get("value");
        let word = claim.get("operator").filter(|word| word.kind() != Kind::Null).map_or("eq", Value::text);
        let list = |value: Value<'_>| match fact_of(value) {
            // Two lists are never the same one.
            Fact::List(_) | Fact::Map(_) => Vec::new(),
            fact => vec![fact],
        };
        let text = value.map_or_else(|| "undefined".to_owned(), text);
        let bound = value.map_or(f64::NAN, number);
        let inherited = claim.get("name").is_some_and(|name| INHERITED.contains(&name.text()));
        let operator = match (word, value) {
            // What every object has is there, and is not nothing.
            ("eq", None) if inherited => Operator::Never,
            ("neq", None) if inherited => Operator::NotIn(Vec::new()),
            ("eq", None) => Operator::Absent,
            ("neq", None) => Operator::Exists,
            ("eq", Some(value)) => Operator::In(list(value)),
            ("neq", Some(value)) => {
                self.opens(claim, "`neq` holds also where there is no such claim", "a caller without the claim passes");
                Operator::NotIn(list(value))
            }
            ("gt", _) => Operator::Order(Order::Greater, bound.into()),
            ("lt", _) => Operator::Order(Order::Less, bound.into()),
            ("contains", _) => Operator::Foreign(SmolStr::new(&text), Arc::new(Within(SmolStr::new(&text)))),
            ("regex", value) => {
                let source = if value.is_none() { "(?:)" } else { text.as_str() };
                match JavaScriptRegex::new(source) {
                    Ok(regex) => Operator::Foreign(SmolStr::new(source), Arc::new(regex)),
                    Err(refused @ Refused::Invalid(_)) => {
                        self.fails(value.unwrap_or(claim), refused);
                        Operator::Broken(SmolStr::new(source))
                    }
                    Err(refused @ Refused::Unsupported(_)) => {
                        self.throws(value.unwrap_or(claim), &refused.to_string());
                        return None;
                    }
                }
            }
            (unknown, _) => {
                let place = claim.get("operator").unwrap_or(claim);
                let message = format!("there is no operator `{unknown}`, so nothing passes");
                let diagnostic = Diagnostic::warning(Fault::WrongValue, message);
                self.found.push(diagnostic.at_value(self.source, place, "unknown operator"));
                Operator::Never
            }
        };
        let absent = if matches!(operator, Operator::NotIn(_)) { Truth::True } else { Truth::False };
        let name = SmolStr::new(claim.get("name").map_or("undefined", Value::text));
        // Names with dots are looked up whole, so the path has one part.
        let (path, mismatch) = (vec![name.clone()], Truth::False);
        Some(Test::Fact(FactTest { of: FactOf::Subject, name, called: None, path, operator, absent, mismatch }))
    }

    fn conditions(&mut self, policy: Value<'_>) -> Vec<Condition> {
        let Some(list) = policy.get("conditions").filter(|list| is_truthy(*list)) else { return Vec::new() };
        if list.kind() != Kind::List {
            self.throws(list, "`conditions` must be a list");
            return Vec::new();
        }
        list.items().filter_map(|item| self.condition(item)).collect()
    }

    fn condition(&mut self, item: Value<'_>) -> Option<Condition> {
        if item.kind() == Kind::Null {
            self.throws(item, "a condition must be a map");
            return None;
        }
        Some(match item.get("type").map_or("", Value::text) {
            "time" => self.time(item),
            "ip" => self.addresses(item),
            "custom" => {
                self.opens(item, "this expression is never evaluated", "the condition always holds");
                Condition::Always
            }
            _ => {
                self.opens(item, "there is no condition of this type", "it always holds");
                Condition::Always
            }
        })
    }

    fn time(&mut self, item: Value<'_>) -> Condition {
        let told = self.found.as_slice().len();
        let mut bound = |field: &str| {
            let value = item.get(field).filter(|value| is_truthy(*value))?;
            if value.kind() != Kind::Text {
                self.throws(value, "a time must be text");
                return None;
            }
            let minutes = minutes(value.text());
            if minutes.is_nan() {
                self.opens(value, format!("`{}` is not a valid time of day", value.text()), "the bound is ignored");
                return None;
            }
            Some(seconds(minutes))
        };
        let (after, before) = (bound("after"), bound("before"));
        let days = item.get("dayOfWeek").filter(|days| is_truthy(*days)).and_then(|days| self.weekdays(days));
        if after.is_none() && before.is_none() && days.is_none() && self.found.as_slice().len() == told {
            self.opens(item, "this condition has no time that counts", "it always holds");
        }
        let (midnight, zone, dates) = (Midnight::Never, TimeZone::UTC, Validity::default());
        Condition::Time(TimeWindow { after, before, days, midnight, zone, dates })
    }

    fn weekdays(&mut self, days: Value<'_>) -> Option<Weekdays> {
        match days.kind() {
            Kind::List => {
                let numbers: Vec<f64> = days.items().filter_map(Value::as_number).collect();
                Some(Weekdays::of((0..7).filter(|day| numbers.contains(&f64::from(*day)))))
            }
            // The original looks for the digit.
            Kind::Text => Some(Weekdays::of((0..7).filter(|day: &u8| days.text().contains(&day.to_string())))),
            _ => {
                self.throws(days, "`dayOfWeek` must be a list");
                None
            }
        }
    }

    fn addresses(&mut self, item: Value<'_>) -> Condition {
        let told = self.found.as_slice().len();
        if let Some(cidr) = item.get("cidr") {
            self.opens(cidr, "`cidr` is ignored", "every address passes; list the addresses in `allowlist`");
        }
        let mut list = |field: &str| {
            let list = item.get(field).filter(|list| is_truthy(*list))?;
            if list.kind() != Kind::List {
                self.throws(list, &format!("`{field}` must be a list"));
            }
            Some(list.items().filter_map(Value::as_text).map(SmolStr::new).collect::<Vec<_>>())
        };
        let (allow, block) = (list("allowlist"), list("blocklist"));
        if allow.is_none() && block.as_ref().is_none_or(Vec::is_empty) && self.found.as_slice().len() == told {
            self.opens(item, "this condition has no address that counts", "it always holds");
        }
        Condition::Address(AddressLists::Texts { allow, block: block.unwrap_or_default() })
    }
}

impl ForeignPattern for JavaScriptRegex {
    fn covers(&self, text: &str) -> bool {
        self.is_found_in(text)
    }
}

/// Texts that have this one in them.
#[derive(Debug)]
struct Within(SmolStr);

impl ForeignPattern for Within {
    fn covers(&self, text: &str) -> bool {
        text.contains(self.0.as_str())
    }
}

/// What every JavaScript object has.
const INHERITED: [&str; 12] = [
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// What counts as true in JavaScript.
pub(super) fn is_truthy(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Null => false,
        Kind::Bool => value.as_bool() == Some(true),
        Kind::Integer | Kind::Float => value.as_number().is_some_and(|number| number != 0.0 && !number.is_nan()),
        Kind::Text => !value.text().is_empty(),
        Kind::List | Kind::Map => true,
    }
}

/// What equals a value of a policy without coercion: only texts can, since requests have texts there.
fn exact(value: Value<'_>) -> Vec<SmolStr> {
    value.as_text().map(SmolStr::new).into_iter().collect()
}

/// What JavaScript makes of a value as a number.
fn number(value: Value<'_>) -> f64 {
    match value.kind() {
        Kind::Null => 0.0,
        Kind::Bool => f64::from(u8::from(value.as_bool() == Some(true))),
        Kind::Integer | Kind::Float => value.as_number().unwrap_or(f64::NAN),
        Kind::Text | Kind::List | Kind::Map => text_number(&text(value)),
    }
}

/// What JavaScript makes of a value as a text.
fn text(value: Value<'_>) -> String {
    match value.kind() {
        Kind::Null => "null".to_owned(),
        Kind::Integer | Kind::Float => value.as_number().unwrap_or(f64::NAN).to_string(),
        Kind::Bool | Kind::Text => value.text().to_owned(),
        Kind::List => {
            let item = |item: Value<'_>| if item.kind() == Kind::Null { String::new() } else { text(item) };
            value.items().map(item).collect::<Vec<_>>().join(",")
        }
        Kind::Map => "[object Object]".to_owned(),
    }
}

fn text_number(text: &str) -> f64 {
    let text = text.trim();
    let radix = |digits: &str, radix: u32| u64::from_str_radix(digits, radix).ok();
    let prefixed = match text.get(..2) {
        Some("0x" | "0X") => text.get(2..).and_then(|digits| radix(digits, 16)),
        Some("0o" | "0O") => text.get(2..).and_then(|digits| radix(digits, 8)),
        Some("0b" | "0B") => text.get(2..).and_then(|digits| radix(digits, 2)),
        _ => None,
    };
    match (text, prefixed) {
        ("", _) => 0.0,
        #[expect(clippy::cast_precision_loss, reason = "JavaScript numbers are floats")]
        (_, Some(number)) => number as f64,
        ("Infinity" | "+Infinity", _) => f64::INFINITY,
        ("-Infinity", _) => f64::NEG_INFINITY,
        (text, _) if text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) => {
            text.parse().unwrap_or(f64::NAN)
        }
        _ => f64::NAN,
    }
}

/// Minutes of the day, as the original splits and converts them.
fn minutes(text: &str) -> f64 {
    let mut parts = text.split(':').map(text_number);
    let hours = parts.next().unwrap_or(f64::NAN);
    hours * 60.0 + parts.next().unwrap_or(0.0)
}

/// Seconds at which a minute begins, as far as a day is concerned: the original looks at whole minutes.
fn seconds(minutes: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded just before")]
    let seconds = (minutes.clamp(0.0, 1e4).ceil() * 60.0) as u32;
    seconds
}
