//! Parts of policies that no request can ever meet: a deny that looks as if it kept something out, and does not.
//!
//! Where a policy denies, and within `not`, such a part is refused. In a permit it lets nothing through, so it is warned about. Documents that
//! a store holds already load with a warning in place of the error, and decide as they did; the next write of them is refused.

use smol_str::SmolStr;
use upheld_engine::decide::{Fact, FactOf, Operator};
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Fault, Severity};

use super::patterns::never_matches;
use super::{Reading, items, shortened};
use crate::access::host::{HostPart, host_of_policy, host_part};
use crate::access::request;

/// Whether a document is new, or a store holds it already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// It is written now: its mistakes are errors.
    #[default]
    New,
    /// A store holds it: a server must start with it.
    Stored,
}

/// What can never match, and what to do about it.
pub(in crate::access) struct Never {
    pub(in crate::access) message: String,
    pub(in crate::access) label: &'static str,
    pub(in crate::access) help: String,
}

/// Whether a test passes where its value is never met.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    /// It does not.
    Wanted,
    /// It does: `neq` and its like.
    Unwanted,
}

const NEVER: &str = "never matches";

/// What a text in a role is that stands in no role: an expression of another language.
const EXPRESSIONS: [&str; 4] = [".*", ".+", "\\", "["];

impl Reading<'_> {
    /// Reports a part that never matches, by what it does to the policy.
    pub(super) fn never_met(&mut self, value: Value<'_>, never: Never, sense: Sense) {
        let lets_through = self.negated || sense == Sense::Unwanted || self.never == Severity::Error;
        if lets_through {
            self.impossible(value, never);
        } else {
            let Never { message, label, help } = never;
            let diagnostic = Diagnostic::warning(Fault::WrongValue, message);
            self.found.push(diagnostic.at_value(self.source, value, label).help(help));
        }
    }

    /// Refuses a part that can never hold.
    pub(in crate::access) fn impossible(&mut self, value: Value<'_>, never: Never) {
        let Never { message, label, help } = never;
        let diagnostic = match self.standing {
            Standing::New => Diagnostic::error(Fault::ImpossibleMatch, message),
            Standing::Stored => Diagnostic::warning(Fault::ImpossibleMatch, message),
        };
        self.found.push(diagnostic.at_value(self.source, value, label).help(help));
    }

    pub(super) fn looks_like_no_path(&mut self, value: Value<'_>) {
        let Some(never) = never_matches(value.text()) else { return };
        let message = format!("the pattern `{}` matches no path: it {}", shortened(value.text()), never.because);
        let help = format!(
            "did you mean `{}`? To mean just that text, write a `\\` before `{{`, `[`, `(`, `<`, `:` or `%`",
            never.meant
        );
        self.never_met(value, Never { message, label: NEVER, help }, Sense::Wanted);
    }

    /// The hosts of an alternative, in the form in which those of requests are compared.
    pub(super) fn hosts(&mut self, item: Value<'_>) -> Option<Vec<Fact>> {
        let values = items(item, "host");
        let hosts = values.iter().map(|value| self.host(*value, Sense::Wanted)).collect();
        (!values.is_empty()).then_some(hosts)
    }

    fn host(&mut self, value: Value<'_>, sense: Sense) -> Fact {
        match host_of_policy(value.text()) {
            Ok(host) => Fact::Text(host),
            Err(no_host) => {
                let message = format!("the host `{}` {}", shortened(value.text()), no_host.because);
                self.never_met(value, Never { message, label: NEVER, help: no_host.help }, sense);
                Fact::Text(value.text().to_lowercase().into())
            }
        }
    }

    /// Ids, types, groups and operations are compared as they are. They are open, so one of them may have a star in its name.
    pub(super) fn literal_stars(&mut self, item: Value<'_>, fields: &[&'static str]) {
        let lets_through = self.negated || self.never == Severity::Error;
        for field in fields.iter().filter(|_| lets_through) {
            for value in items(item, field).into_iter().filter(|value| value.text().contains('*')) {
                let message =
                    format!("`{field}: {}` is compared as it is; the star stands for nothing else", value.text());
                let help = format!("leave `{field}` out to mean all of them, or name those that you mean");
                let diagnostic = Diagnostic::warning(Fault::LiteralStar, message);
                self.found.push(diagnostic.at_value(self.source, value, "a star and nothing else").help(help));
            }
        }
    }

    /// Roles are open, so whatever looks like an expression may be the name of one.
    pub(super) fn roles_are_no_expressions(&mut self, item: Value<'_>) {
        for value in items(item, "role") {
            let role = value.text();
            let is_group = role.contains('(') && role.contains('|');
            let is_anchored = role.starts_with('^') || role.ends_with('$');
            if is_anchored || is_group || EXPRESSIONS.iter().any(|mark| role.contains(mark)) {
                let message = format!("the role `{}` looks like a regular expression", shortened(role));
                let help = "only `*` has a meaning in roles: any characters; write a list to name several roles";
                let diagnostic = Diagnostic::warning(Fault::WrongValue, message);
                self.found.push(diagnostic.at_value(self.source, value, "compared as it is").help(help));
            }
        }
    }

    /// The name of a property. Requests with a field that is nearly a known one are refused, so none has such a property.
    pub(super) fn property(&mut self, name: Value<'_>, of: FactOf, path: &[SmolStr], sense: Sense) {
        let Some(first) = path.first() else { return };
        if let Some(meant) = request::misspelt(first, of) {
            let message = format!("no request has the property `{first}`");
            let help = format!("did you mean `{meant}`?");
            self.never_met(name, Never { message, label: NEVER, help }, sense);
        }
    }

    /// The values that a host is compared with, in the form of hosts.
    pub(super) fn hosts_compared(&mut self, value: Value<'_>, operator: Operator) -> Operator {
        let sense = if matches!(operator, Operator::NotIn(_)) { Sense::Unwanted } else { Sense::Wanted };
        let values: Vec<Value<'_>> = match value.items().next() {
            Some(_) => value.items().collect(),
            None => vec![value],
        };
        let mut hosts = |given: Vec<Fact>| {
            let host = |(fact, value): (Fact, &Value<'_>)| match fact {
                Fact::Text(_) => self.host(*value, sense),
                other => other,
            };
            given.into_iter().zip(&values).map(host).collect()
        };
        match operator {
            Operator::In(given) => Operator::In(hosts(given)),
            Operator::NotIn(given) => Operator::NotIn(hosts(given)),
            Operator::StartsWith(text) => Operator::StartsWith(self.host_part(value, &text, HostPart::Start)),
            Operator::EndsWith(text) => Operator::EndsWith(self.host_part(value, &text, HostPart::End)),
            Operator::Contains(given) => Operator::Contains(self.host_inside(value, given)),
            Operator::ContainsAny(given) => {
                let inside = given.into_iter().zip(values).map(|(fact, value)| self.host_inside(value, fact));
                Operator::ContainsAny(inside.collect())
            }
            other => other,
        }
    }

    fn host_inside(&mut self, value: Value<'_>, wanted: Fact) -> Fact {
        match wanted {
            Fact::Text(text) => Fact::Text(self.host_part(value, &text, HostPart::Inside)),
            other => other,
        }
    }

    /// A part of a host in the form that hosts have. A part that no host has is never met.
    fn host_part(&mut self, value: Value<'_>, text: &str, part: HostPart) -> SmolStr {
        let form = host_part(text, part);
        if form.is_none() {
            let message = format!("no host has `{}` there", shortened(text));
            let help =
                "write whole labels, such as `.bücher.example`, without port, scheme, path, wildcard or final dot";
            self.never_met(value, Never { message, label: NEVER, help: help.to_owned() }, Sense::Wanted);
        }
        form.unwrap_or_else(|| text.to_lowercase().into())
    }

    /// A header whose name cannot be one.
    pub(super) fn header_name(&mut self, name: Value<'_>, sense: Sense) {
        let text = name.text().replace('"', "");
        // Proxies that speak HTTP/2 tell `:authority` and its like as headers.
        let token = text.strip_prefix(':').unwrap_or(&text);
        if token.is_empty() || token.contains('*') || !is_token(token) {
            let message = format!("`{}` cannot be the name of a header", shortened(name.text()));
            let help = "names of headers have letters, digits and `-`, for example `x-tier`".to_owned();
            self.never_met(name, Never { message, label: NEVER, help }, sense);
        }
    }
}

/// Whether a text may be a method or the name of a header: a token of HTTP.
pub(super) fn is_token(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
