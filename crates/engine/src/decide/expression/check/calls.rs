//! Calls: which function is meant, and whether its arguments make sense.

use std::ops::Range;

use smol_str::SmolStr;
use upheld_model::Timestamp;
use upheld_model::nearest::{did_you_mean, nearest};

use super::signatures::{SIGNATURES, Signature, Style};
use super::{Checker, unclear};
use crate::decide::expression::Problem;
use crate::decide::expression::node::{Function, Kind, Node, Type};
use crate::decide::expression::syntax::{Syntax, SyntaxKind, Word};
use crate::decide::expression::time::Span;
use crate::decide::request::Fact;

/// The loops of CEL, which are not part of this language.
const LOOPS: [&str; 5] = ["all", "exists", "exists_one", "map", "filter"];

impl Checker<'_> {
    pub(super) fn call(
        &mut self,
        receiver: Option<&Syntax>,
        word: &Word,
        arguments: &[Syntax],
        range: Range<usize>,
    ) -> Node {
        let in_sets =
            receiver.is_some_and(|receiver| matches!(&receiver.kind, SyntaxKind::Name(name) if name == "sets"));
        let receiver = receiver.filter(|_| !in_sets);
        match (word.text.as_str(), receiver) {
            ("has", None) if !in_sets => return self.has(arguments, range),
            (name, Some(receiver)) if LOOPS.contains(&name) => {
                self.node(receiver);
                let problem = Problem::new(word.range.clone(), format!("loops are not allowed, and `{name}` is one"));
                let instead = "`element in list`, `sets.contains`, `sets.intersects` or `sets.equivalent`";
                self.problems.push(problem.help(format!("use {instead}")));
                return unclear(range);
            }
            _ => {}
        }
        let operands: Vec<Node> = receiver.into_iter().chain(arguments).map(|operand| self.value(operand)).collect();
        let name = if in_sets { smol_str::format_smolstr!("sets.{}", word.text) } else { word.text.clone() };
        match self.signature(&name, word, receiver.is_some()) {
            Some(signature) => self.apply(signature, operands, word, range),
            None => unclear(range),
        }
    }

    /// The function of a name, if it is called as it must be.
    fn signature(&mut self, name: &SmolStr, word: &Word, as_method: bool) -> Option<&'static Signature> {
        let fits = |signature: &Signature| match signature.style {
            Style::Either => true,
            Style::Method => as_method,
            Style::Plain => !as_method,
        };
        let found = SIGNATURES.iter().find(|signature| signature.name == name);
        if let Some(signature) = found.filter(|signature| fits(signature)) {
            return Some(signature);
        }
        let problem = match found {
            Some(signature) => Problem::new(word.range.clone(), format!("`{name}` is not called like this"))
                .help(format!("write `{}`", signature.example())),
            None => {
                let problem = Problem::new(word.range.clone(), format!("there is no function `{name}`"));
                let names = SIGNATURES.iter().filter(|signature| fits(signature)).map(|signature| signature.name);
                let near = nearest(name, names.clone()).map(did_you_mean);
                problem.help(near.unwrap_or_else(|| format!("there are {}", names.collect::<Vec<_>>().join(", "))))
            }
        };
        self.problems.push(problem);
        None
    }

    fn apply(&mut self, signature: &Signature, mut operands: Vec<Node>, word: &Word, range: Range<usize>) -> Node {
        if matches!(signature.function, Function::Part(_)) && operands.len() == 2 {
            self.check_zone(operands.pop());
        }
        if operands.len() != signature.takes.len() {
            let message = format!("`{}` is called with the wrong number of values", signature.name);
            let problem = Problem::new(word.range.clone(), message);
            self.problems.push(problem.help(format!("write `{}`", signature.example())));
            return unclear(range);
        }
        let before = self.problems.len();
        for (operand, types) in operands.iter().zip(signature.takes).filter(|(_, types)| !types.is_empty()) {
            let wanted: Vec<&str> = types.iter().map(|of| of.words()).collect();
            self.expect(operand, types, &format!("`{}` takes {}", signature.name, wanted.join(" or ")));
        }
        if self.problems.len() != before {
            return unclear(range);
        }
        let node = |kind| Node { kind, range: range.clone(), gives: signature.gives };
        match (signature.function, operands.as_slice()) {
            (Function::Matches, [text, pattern]) => match self.pattern(pattern) {
                Some(pattern) => node(Kind::Matches(Box::new(text.clone()), pattern)),
                None => unclear(range),
            },
            (Function::Contains, [whole, part]) => {
                match whole.gives {
                    Type::Text => {
                        self.expect(part, &[Type::Text], "a text contains texts");
                    }
                    Type::List => self.check_element(part, whole, &range),
                    _ => {}
                }
                node(Kind::Call(signature.function, operands))
            }
            (Function::Timestamp, [text]) if let Some(Fact::Text(written)) = text.constant() => {
                let example = "write it like `2030-01-31T00:00:00Z`";
                self.fold(
                    text,
                    written.parse().ok().map(|moment: Timestamp| node(Kind::Moment(moment))),
                    "timestamp",
                    example,
                )
            }
            (Function::Duration, [text]) if let Some(Fact::Text(written)) = text.constant() => {
                let example = "write it like `1h30m` or `2.5s`";
                self.fold(text, Span::read(written).map(|span| node(Kind::Span(span))), "duration", example)
            }
            _ => node(Kind::Call(signature.function, operands)),
        }
    }

    /// What a literal was read as, or a mistake.
    fn fold(&mut self, text: &Node, read: Option<Node>, what: &str, help: &str) -> Node {
        read.unwrap_or_else(|| {
            self.problems.push(Problem::new(text.range.clone(), format!("this is not a valid {what}")).help(help));
            unclear(text.range.clone())
        })
    }

    /// `has(subject.claims.level)`.
    fn has(&mut self, arguments: &[Syntax], range: Range<usize>) -> Node {
        let [argument] = arguments else {
            let problem = Problem::new(range.clone(), "`has` takes one field");
            self.problems.push(problem.help("write `has(subject.claims.level)`"));
            return unclear(range);
        };
        let before = self.problems.len();
        let field = self.node(argument);
        let is_field = match &field.kind {
            Kind::Path(_, fields) => !fields.is_empty(),
            Kind::Field(..) => true,
            _ => false,
        };
        if !is_field && self.problems.len() == before {
            let problem = Problem::new(field.range.clone(), "`has` takes a field");
            self.problems.push(problem.help("write `has(subject.claims.level)`"));
        }
        Node { kind: Kind::Has(Box::new(field)), range, gives: Type::Bool }
    }

    fn check_zone(&mut self, zone: Option<Node>) {
        let Some(zone) = zone else { return };
        if !matches!(zone.constant(), Some(Fact::Text(name)) if name == "UTC") {
            let problem = Problem::new(zone.range, "time zones are only for conditions of type `time`");
            self.problems.push(problem.help("here, times are in UTC: leave the zone out"));
        }
    }
}
