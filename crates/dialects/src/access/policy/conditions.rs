//! What must hold besides, and what comes with a decision.

use ipnet::IpNet;
use jiff::fmt::temporal::Pieces;
use upheld_engine::decide::{AddressLists, Binding, Condition, Duty, Effect, Expression, Validity};
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Fault, NodeRef, Timestamp};

use super::{Reading, within};
use crate::access::{shapes, window};
use crate::shape::Checker;

impl Reading<'_> {
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
    pub(super) fn addresses(&mut self, item: Value<'_>) -> Vec<AddressLists> {
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

    pub(super) fn expression(&mut self, value: Value<'_>) -> Option<Condition> {
        if !self.has_room() {
            return None;
        }
        match Expression::parse(value.text()) {
            Ok(expression) => {
                self.weigh(value, expression.weight());
                Some(Condition::Expression(expression))
            }
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

    pub(super) fn validity(&mut self, value: Value<'_>) -> Option<Condition> {
        let from = self.moment(value.get("from"));
        let until = self.moment(value.get("until"));
        let given = |field: &str| value.get(field).is_some_and(|moment| moment.kind() != Kind::Null);
        if !given("from") && !given("until") {
            self.wrong(value, "`valid` has no time".to_owned(), "expected `from` or `until`");
            return None;
        }
        if let (Some(start), Some(end)) = (from, until)
            && start >= end
        {
            self.wrong(value, format!("from {start} until {end} is never"), "expected `from` before `until`");
            return None;
        }
        Some(Condition::Validity(Validity { from, until }))
    }

    pub(in crate::access) fn moment(&mut self, value: Option<Value<'_>>) -> Option<Timestamp> {
        let value = value.filter(|value| value.kind() != Kind::Null)?;
        let moment = moment_of(value.text());
        if moment.is_none() {
            let message = format!("`{}` is not a valid timestamp", value.text());
            self.wrong(value, message, "expected for example `2025-03-01T12:00:00Z`");
        }
        moment
    }

    pub(in crate::access) fn duties(&mut self, list: Option<Value<'_>>) -> Vec<Duty> {
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

/// A moment; those beyond the first and last one that can be told are as early or late as these.
pub(in crate::access) fn moment_of(text: &str) -> Option<Timestamp> {
    let far = || {
        let pieces = Pieces::parse(text).ok().filter(|pieces| pieces.time().is_some() && pieces.offset().is_some())?;
        match pieces.date().year() {
            ..=1677 => Some(Timestamp(i64::MIN)),
            2262.. => Some(Timestamp(i64::MAX)),
            _ => None,
        }
    };
    text.parse().ok().or_else(far)
}
