//! One access policy, read strictly: whatever could mean something else than its author thinks is refused.

use std::net::IpAddr;
use std::ops::Range;

use ipnet::IpNet;
use regex::RegexBuilder;
use smol_str::SmolStr;
use upheld_engine::decide::{
    ANY_METHOD, AddressLists, BadPattern, Binding, Condition, Duty, Effect, Expression, Fact, FactOf, FactTest, Glob,
    MAX_REGEX, Matcher, Operator, Order, PathPattern, Rule, Status, Target, Test, Truth, Validity, Wild,
};
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::tree::{Kind, Span, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, NodeRef, SourceId, Timestamp};

use super::facts::fact_of;
use super::shapes::{self, Fields};
use super::window;
use crate::shape::{Checker, Shape};

/// Reads policies of one kind.
#[derive(Debug)]
pub struct PolicyReader {
    /// How its fields are called.
    pub fields: Fields,
    shape: Shape,
}

impl PolicyReader {
    /// For policies with these fields.
    pub fn new(fields: Fields) -> Self {
        let shape = fields.policy();
        Self { fields, shape }
    }

    /// Reads one policy with its id; every mistake is reported.
    pub fn read(&self, source: SourceId, policy: Value<'_>, found: &mut Diagnostics) -> Option<Rule> {
        if !Checker::new(source, found).check(policy, &self.shape) {
            self.rest(policy, &mut Reading::new(source, found));
            return None;
        }
        let id = policy.get(&self.fields.id)?;
        let mut reading = Reading::new(source, found);
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
        found: &mut Diagnostics,
    ) -> Option<Rule> {
        self.rule(body, name, &mut Reading::new(source, found))
    }

    /// What else is wrong with a policy that does not have its shape, as far as that can be told.
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
        let get = |field: &str| policy.get(field).filter(|value| value.kind() != Kind::Null);
        let effect = get(&self.fields.effect).and_then(|word| reading.effect(word, &self.fields));
        let target = Target {
            subjects: reading.matchers(get(&self.fields.subjects), Reading::subject),
            resources: reading.matchers(get(&self.fields.resources), Reading::resource),
            actions: reading.matchers(get(&self.fields.actions), Reading::action),
        };
        let mut conditions: Vec<Condition> =
            get("valid").and_then(|value| reading.validity(value)).into_iter().collect();
        for item in get(&self.fields.conditions).into_iter().flat_map(Value::items) {
            conditions.extend(reading.condition(item));
        }
        let priority = get(&self.fields.priority).map_or(Some(0.0), |value| reading.priority(value));
        let status = match get("enabled").and_then(Value::as_bool) {
            Some(false) => Status::Off,
            _ => Status::On,
        };
        let duties = reading.duties(get("duties"));
        let at = NodeRef { source: reading.source, node: policy.number() };
        if reading.found.errors() > before {
            return None;
        }
        Some(Rule { name, effect: effect?, target, conditions, duties, priority: priority?, status, at })
    }
}

/// Reads the parts of policies of one file.
pub(super) struct Reading<'f> {
    pub(super) source: SourceId,
    pub(super) found: &'f mut Diagnostics,
    /// Whether an alternative that must not fit is being read.
    negated: bool,
}

impl<'f> Reading<'f> {
    /// For policies of one file.
    pub(super) fn new(source: SourceId, found: &'f mut Diagnostics) -> Self {
        Self { source, found, negated: false }
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
            let message = format!("`{}` has no value, so nobody would look at it", key.text());
            self.wrong(key, message, "give it a value or remove it");
        }
        let is_empty = |value: &Value<'_>| value.kind() == Kind::List && value.items().next().is_none();
        for (key, value) in item.entries().filter(|(_, value)| is_empty(value)) {
            let message = format!("`{}` is an empty list, which nothing fits", key.text());
            self.wrong(value, message, "expected at least one value");
        }
        if matcher.tests.is_empty() && self.found.errors() == before {
            let message = "this alternative asks for nothing, so it would fit everything".to_owned();
            let help = "leave the whole list empty if everything is meant: `[]`".to_owned();
            self.wrong_but(item, message, "expected at least one field", help);
        }
    }

    pub(super) fn subject(&mut self, item: Value<'_>) -> Matcher {
        let mut tests = Vec::new();
        tests.extend(texts(item, "id").map(Test::Id));
        tests.extend(texts(item, "type").map(Test::SubjectType));
        tests.extend(self.wild(item, "role").map(Test::Role));
        tests.extend(texts(item, "group").map(Test::Group));
        tests.extend(self.fact(item, "claim", FactOf::Subject, ""));
        Matcher { tests }
    }

    pub(super) fn resource(&mut self, item: Value<'_>) -> Matcher {
        let mut tests = Vec::new();
        tests.extend(self.wild(item, "app").map(Test::App));
        tests.extend(self.paths(item));
        tests.extend(texts(item, "type").map(Test::Type));
        tests.extend(texts(item, "id").map(Test::ResourceId));
        tests.extend(item.get("owner").filter(|owner| owner.kind() != Kind::Null).map(|_| Test::OwnedBySubject));
        if let Some(hosts) = texts(item, "host") {
            let values = hosts.into_iter().map(|host| Fact::Text(host.to_lowercase().into())).collect();
            tests.push(Test::Fact(FactTest {
                of: FactOf::Resource,
                name: SmolStr::new_static("host"),
                path: vec![SmolStr::new_static("host")],
                operator: Operator::In(values),
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
        for method in items(item, "method") {
            let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'+-.^_`|~".contains(&byte);
            if method.text() != ANY_METHOD && !method.text().bytes().all(token) {
                let message = format!("`{}` is no method of HTTP", method.text());
                self.wrong(method, message, "expected a method such as `GET`, or `*` for any");
            }
        }
        tests.extend(texts(item, "method").map(Test::Method));
        tests.extend(texts(item, "operation").map(Test::Operation));
        tests.extend(self.fact(item, "property", FactOf::Action, ""));
        Matcher { tests }
    }

    fn wild(&mut self, item: Value<'_>, field: &str) -> Option<Vec<Wild>> {
        let values = items(item, field);
        if values.is_empty() {
            return None;
        }
        let mut patterns = Vec::new();
        for value in values {
            match Wild::parse(value.text()) {
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
                Ok(glob) => patterns.push(PathPattern::Glob(glob)),
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

    fn fact(&mut self, item: Value<'_>, field: &str, of: FactOf, prefix: &str) -> Option<Test> {
        let test = item.get(field).filter(|value| value.kind() != Kind::Null)?;
        let name = test.get("name")?;
        let value = test.get("value").filter(|value| value.kind() != Kind::Null);
        let word = test.get("operator").filter(|value| value.kind() != Kind::Null);
        let operator = self.operator(test, word, value)?;
        let passes = test.get("absent").and_then(Value::as_bool) == Some(true);
        let negative = matches!(operator, Operator::NotIn(_));
        if passes
            && !negative
            && !self.negated
            && let Some(absent) = test.get("absent")
        {
            let message = "`absent: true` is for `neq`, `nin` and `not`; others cannot hold without a value".to_owned();
            self.wrong(absent, message, "remove it");
        }
        let absent = match (passes, negative, &operator) {
            (true, true, _) => Truth::True,
            // Within `not`, what does not fit passes.
            (true, false, _) => Truth::False,
            (false, _, Operator::In(_)) if !self.negated => Truth::False,
            (false, ..) => Truth::Error,
        };
        // Names of headers are the same in capital and small letters.
        let own = if prefix.is_empty() { name.text().to_owned() } else { name.text().to_lowercase() };
        let whole = format!("{prefix}{own}");
        let path = fact_path(&whole);
        let name = match path.as_slice() {
            // Without its quotes.
            [only] => only.clone(),
            _ => whole.into(),
        };
        Some(Test::Fact(FactTest { of, name, path, operator, absent, mismatch: Truth::Error }))
    }

    fn operator(&mut self, test: Value<'_>, word: Option<Value<'_>>, value: Option<Value<'_>>) -> Option<Operator> {
        const OPERATORS: [&str; 16] = [
            "eq",
            "neq",
            "gt",
            "gte",
            "lt",
            "lte",
            "in",
            "nin",
            "contains",
            "containsAny",
            "startsWith",
            "endsWith",
            "regex",
            "cidr",
            "exists",
            "absent",
        ];
        let name = word.map_or("eq", Value::text);
        if matches!(name, "exists" | "absent") {
            if let Some(value) = value {
                self.wrong(value, format!("`{name}` compares with nothing"), "remove the value");
            }
            return Some(if name == "exists" { Operator::Exists } else { Operator::Absent });
        }
        if !OPERATORS.contains(&name) {
            let place = word.unwrap_or(test);
            let message = format!("there is no operator `{name}`");
            let help =
                nearest(name, OPERATORS).map_or_else(|| format!("operators: {}", OPERATORS.join(", ")), did_you_mean);
            self.wrong_but(place, message, "unknown operator", help);
            return None;
        }
        let Some(value) = value else {
            let message = format!("`{name}` needs a value to compare with");
            self.found.push(
                Diagnostic::error(Fault::MissingField, message)
                    .at_value(self.source, test, "`value` is missing here")
                    .help("add `value:`, or use the operator `exists`"),
            );
            return None;
        };
        match name {
            "eq" | "neq" => {
                if matches!(value.kind(), Kind::List | Kind::Map) {
                    let help = format!("use `{}` for several values", if name == "eq" { "in" } else { "nin" });
                    self.wrong_but(
                        value,
                        format!("`{name}` compares with one value"),
                        "expected text, a number or a boolean",
                        help,
                    );
                    return None;
                }
                let wanted = vec![fact_of(value)];
                Some(if name == "eq" { Operator::In(wanted) } else { Operator::NotIn(wanted) })
            }
            "in" | "nin" | "containsAny" => {
                if value.kind() != Kind::List || value.items().next().is_none() {
                    self.wrong(
                        value,
                        format!("`{name}` needs a list of values"),
                        "expected a list with at least one item",
                    );
                    return None;
                }
                let empty = |item: &Value<'_>| item.as_text() == Some("");
                if let Some(item) = value.items().find(|item| name == "containsAny" && empty(item)) {
                    self.wrong(item, "every text contains the empty one".to_owned(), "expected some text");
                    return None;
                }
                let wanted = value.items().map(fact_of).collect();
                Some(match name {
                    "in" => Operator::In(wanted),
                    "nin" => Operator::NotIn(wanted),
                    _ => Operator::ContainsAny(wanted),
                })
            }
            "gt" | "gte" | "lt" | "lte" => {
                let Some(bound) = value.as_number().filter(|bound| bound.is_finite()) else {
                    self.wrong(value, format!("`{name}` compares numbers"), "expected a number");
                    return None;
                };
                let order = match name {
                    "gt" => Order::Greater,
                    "gte" => Order::AtLeast,
                    "lt" => Order::Less,
                    _ => Order::AtMost,
                };
                Some(Operator::Order(order, bound))
            }
            "contains" => {
                if value.kind() == Kind::Text && value.text().is_empty() {
                    self.wrong(value, "every text contains the empty one".to_owned(), "expected some text");
                    return None;
                }
                if matches!(value.kind(), Kind::List | Kind::Map) {
                    let help = "use `containsAny` for several values".to_owned();
                    self.wrong_but(value, "`contains` looks for one value".to_owned(), "expected one value", help);
                    return None;
                }
                Some(Operator::Contains(fact_of(value)))
            }
            _ => self.text_operator(name, value),
        }
    }

    fn text_operator(&mut self, name: &str, value: Value<'_>) -> Option<Operator> {
        if name == "cidr" {
            let values: Vec<Value<'_>> = if value.kind() == Kind::List { value.items().collect() } else { vec![value] };
            if values.is_empty() {
                self.wrong(value, "`cidr` needs a network".to_owned(), "expected at least one address or network");
            }
            let networks: Vec<IpNet> = values.into_iter().filter_map(|value| self.network(value)).collect();
            return (!networks.is_empty()).then_some(Operator::Within(networks));
        }
        let Some(text) = value.as_text().filter(|text| !text.is_empty()) else {
            self.wrong(value, format!("`{name}` compares with text"), "expected some text");
            return None;
        };
        match name {
            "startsWith" => Some(Operator::StartsWith(text.into())),
            "endsWith" => Some(Operator::EndsWith(text.into())),
            _ => match RegexBuilder::new(text).size_limit(MAX_REGEX).build() {
                Ok(regex) => Some(Operator::Regex(regex)),
                Err(error) => {
                    let (problem, help) = regex_problem(&error);
                    let message = format!("the regular expression `{}` cannot be used: {problem}", shortened(text));
                    match help {
                        Some(help) => self.wrong_but(value, message, "here", help.to_owned()),
                        None => self.wrong(value, message, "here"),
                    }
                    None
                }
            },
        }
    }

    /// An address, or a network in CIDR notation.
    fn network(&mut self, value: Value<'_>) -> Option<IpNet> {
        let text = value.text();
        let address = text.parse::<IpAddr>().ok().map(|address| IpNet::from(address.to_canonical()));
        let network = address.or_else(|| text.parse::<IpNet>().ok().map(canonical));
        match network {
            None => {
                let message = format!("`{text}` is no address and no network");
                self.wrong(value, message, "expected for example `192.0.2.7` or `10.0.0.0/8`");
            }
            Some(network) if network.addr() != network.network() => {
                let message = format!("`{text}` is read as the whole network `{}`", network.trunc());
                let diagnostic = Diagnostic::warning(Fault::WrongValue, message).at_value(self.source, value, "here");
                self.found.push(diagnostic.help(format!("for one address write `{}`", network.addr())));
                return Some(network.trunc());
            }
            Some(_) => {}
        }
        network
    }

    pub(super) fn condition(&mut self, item: Value<'_>) -> Vec<Condition> {
        let kind = item.get("type").map_or("", Value::text);
        if !shapes::CONDITIONS.contains(&kind) && item.get("type").is_some_and(|kind| kind.kind() == Kind::Text) {
            let place = item.get("type").unwrap_or(item);
            let message = format!("there is no condition of type `{kind}`");
            let help =
                nearest(kind, shapes::CONDITIONS).map_or_else(|| "types: time, ip, custom".to_owned(), did_you_mean);
            self.wrong_but(place, message, "expected `time`, `ip` or `custom`", help);
            return Vec::new();
        }
        let shape = shapes::condition(kind);
        if !Checker::new(self.source, self.found).check(item, &shape) {
            return Vec::new();
        }
        match kind {
            "time" => window::read(self, item).map(Condition::Time).into_iter().collect(),
            "ip" => self.addresses(item).into_iter().map(Condition::Address).collect(),
            _ => item.get("expression").and_then(|text| self.expression(text)).into_iter().collect(),
        }
    }

    /// Each list is a condition of its own: all of them must hold.
    fn addresses(&mut self, item: Value<'_>) -> Vec<AddressLists> {
        let before = self.found.errors();
        let mut lists = Vec::new();
        for field in ["allowlist", "cidr", "blocklist"] {
            let Some(list) = item.get(field).filter(|value| value.kind() != Kind::Null) else { continue };
            let values: Vec<Value<'_>> = if list.kind() == Kind::List { list.items().collect() } else { vec![list] };
            if values.is_empty() {
                self.wrong(list, format!("`{field}` is empty"), "expected at least one address or network");
            }
            let networks: Vec<IpNet> = values.into_iter().filter_map(|value| self.network(value)).collect();
            lists.push(if field == "blocklist" {
                AddressLists::Networks { allow: None, block: networks }
            } else {
                AddressLists::Networks { allow: Some(networks), block: Vec::new() }
            });
        }
        if lists.is_empty() && self.found.errors() == before {
            let message = "this condition names no address, so it would always hold".to_owned();
            self.wrong(item, message, "expected `allowlist`, `blocklist` or `cidr`");
        }
        if self.found.errors() == before { lists } else { Vec::new() }
    }

    fn expression(&mut self, value: Value<'_>) -> Option<Condition> {
        match Expression::parse(value.text()) {
            Ok(expression) => Some(Condition::Expression(expression)),
            Err(problems) => {
                for problem in problems {
                    let span = within(value, &problem.range);
                    let diagnostic = Diagnostic::error(Fault::WrongValue, problem.message).at(
                        self.source,
                        span,
                        "in this expression",
                    );
                    self.found.push(match problem.help {
                        Some(help) => diagnostic.help(help),
                        None => diagnostic,
                    });
                }
                None
            }
        }
    }

    fn validity(&mut self, value: Value<'_>) -> Option<Condition> {
        let from = self.moment(value.get("from"));
        let until = self.moment(value.get("until"));
        let given = |field: &str| value.get(field).is_some_and(|moment| moment.kind() != Kind::Null);
        if !given("from") && !given("until") {
            self.wrong(value, "`valid` names no moment".to_owned(), "expected `from` or `until`");
            return None;
        }
        Some(Condition::Validity(Validity { from, until }))
    }

    pub(super) fn moment(&mut self, value: Option<Value<'_>>) -> Option<Timestamp> {
        let value = value.filter(|value| value.kind() != Kind::Null)?;
        let moment = value.text().parse().ok();
        if moment.is_none() {
            let message = format!("`{}` is no moment", value.text());
            self.wrong(value, message, "expected for example `2025-03-01T12:00:00Z`");
        }
        moment
    }

    pub(super) fn duties(&mut self, list: Option<Value<'_>>) -> Vec<Duty> {
        let read = |item: Value<'_>| {
            let text = |field: &str| item.get(field).map_or("", Value::text);
            Duty {
                binding: if text("kind") == "advice" { Binding::Advice } else { Binding::Obligation },
                id: text("id").into(),
                on: if text("on") == "deny" { Effect::Deny } else { Effect::Permit },
                at: Some(NodeRef { source: self.source, node: item.number() }),
            }
        };
        list.into_iter().flat_map(Value::items).map(read).collect()
    }
}

/// Networks of IPv4 addresses in the clothes of IPv6 as what they are, as it is done with addresses.
fn canonical(network: IpNet) -> IpNet {
    /// The bits that such addresses begin with.
    const MAPPED: u8 = 96;
    let folded = match (network.addr().to_canonical(), network.prefix_len().checked_sub(MAPPED)) {
        (address @ IpAddr::V4(_), Some(length)) if network.addr().is_ipv6() => IpNet::new(address, length).ok(),
        _ => None,
    };
    folded.unwrap_or(network)
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

/// `a.b` is two parts, `"a.b".c` as well.
fn fact_path(name: &str) -> Vec<SmolStr> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut quoted = false;
    for character in name.chars() {
        match character {
            '"' => quoted = !quoted,
            '.' if !quoted => parts.push(SmolStr::from(std::mem::take(&mut part))),
            other => part.push(other),
        }
    }
    parts.push(part.into());
    parts
}

/// What is wrong with a regular expression, and what to do about it.
fn regex_problem(error: &regex::Error) -> (String, Option<&'static str>) {
    if let regex::Error::CompiledTooBig(_) = error {
        let help = "repetitions within repetitions multiply: count less, or use `*` and `+`";
        return ("it would take more than 1 MiB".to_owned(), Some(help));
    }
    let whole = error.to_string();
    let problem = whole.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let left_out = problem.contains("look-around") || problem.contains("backreference");
    (problem, left_out.then_some("they are left out, so that no text can take long"))
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
