//! Tests of claims, properties and other facts: operators and their values.

use std::net::IpAddr;

use ipnet::IpNet;
use smol_str::SmolStr;
use upheld_engine::decide::{Fact, FactOf, FactTest, Operator, Order, Pattern, Test, Truth};
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Fault};

use super::never::Sense;
use super::{Reading, shortened};
use crate::access::facts::{fact_of, number_of};

impl Reading<'_> {
    pub(super) fn fact(&mut self, item: Value<'_>, field: &str, of: FactOf, prefix: &str) -> Option<Test> {
        let test = item.get(field).filter(|value| value.kind() != Kind::Null)?;
        let name = test.get("name")?;
        let value = test.get("value").filter(|value| value.kind() != Kind::Null);
        let word = test.get("operator").filter(|value| value.kind() != Kind::Null);
        let mut operator = self.operator(test, word, value)?;
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
        let sense = match operator {
            Operator::NotIn(_) | Operator::Absent => Sense::Unwanted,
            _ => Sense::Wanted,
        };
        // Names of headers are the same in capital and small letters.
        let is_header = !prefix.is_empty() || of == FactOf::Resource && name.text().starts_with("headers.");
        let own = if is_header { name.text().to_lowercase() } else { name.text().to_owned() };
        if !prefix.is_empty() {
            self.header_name(name, sense);
        }
        let whole = format!("{prefix}{own}");
        let path = fact_path(&whole);
        self.property(name, of, &path, sense);
        if let (FactOf::Resource, [only], Some(value)) = (of, path.as_slice(), value)
            && only == "host"
        {
            operator = self.hosts_compared(value, operator);
        }
        let name = match path.as_slice() {
            // Without its quotes.
            [only] => only.clone(),
            _ => whole.into(),
        };
        Some(Test::Fact(FactTest { of, name, called: None, path, operator, absent, mismatch: Truth::Error }))
    }

    pub(super) fn operator(
        &mut self,
        test: Value<'_>,
        word: Option<Value<'_>>,
        value: Option<Value<'_>>,
    ) -> Option<Operator> {
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
                self.wrong(value, format!("`{name}` takes no value"), "remove the value");
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
                let wanted = vec![self.compared(value)?];
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
                let wanted = value.items().map(|item| self.compared(item)).collect::<Option<_>>()?;
                Some(match name {
                    "in" => Operator::In(wanted),
                    "nin" => Operator::NotIn(wanted),
                    _ => Operator::ContainsAny(wanted),
                })
            }
            "gt" | "gte" | "lt" | "lte" => {
                let Some(bound) = number_of(value) else {
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
                Some(Operator::Contains(self.compared(value)?))
            }
            _ => self.text_operator(name, value),
        }
    }

    /// A value that facts are compared with.
    fn compared(&mut self, value: Value<'_>) -> Option<Fact> {
        match fact_of(value) {
            Fact::Null => {
                let help = "what is null is as good as left out: use the operator `absent` or `exists`".to_owned();
                self.wrong_but(value, "nothing equals null".to_owned(), "expected a value", help);
                None
            }
            Fact::Unknown => {
                let message = format!("`{}` has more than 64 bits, and would equal its neighbours", value.text());
                self.wrong_but(value, message, "too large", "write it as text, in quotes".to_owned());
                None
            }
            fact => Some(fact),
        }
    }

    pub(super) fn text_operator(&mut self, name: &str, value: Value<'_>) -> Option<Operator> {
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
            _ if !self.has_room() => None,
            _ => match Pattern::build(text, None) {
                Ok(regex) => {
                    self.weigh(value, regex.weight());
                    Some(Operator::Regex(regex))
                }
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
    pub(super) fn network(&mut self, value: Value<'_>) -> Option<IpNet> {
        let text = value.text();
        let address = text.parse::<IpAddr>().ok().map(|address| IpNet::from(address.to_canonical()));
        let network = address.or_else(|| text.parse::<IpNet>().ok().map(canonical));
        match network {
            None => {
                let message = format!("`{text}` is neither an address nor a network");
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
    (problem, left_out.then_some("they are not supported, because matching could take too long"))
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
