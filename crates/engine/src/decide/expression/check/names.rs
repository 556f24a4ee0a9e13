//! Names of the request, fields and indexes.

use std::ops::Range;

use upheld_model::nearest::{did_you_mean, nearest};

use super::{Checker, unclear};
use crate::decide::expression::Problem;
use crate::decide::expression::node::{Kind, Node, Root, Type};
use crate::decide::expression::syntax::Word;
use crate::decide::request::Fact;

impl Checker<'_> {
    /// The request or a part of it.
    pub(super) fn root(&mut self, name: &str, range: Range<usize>) -> Node {
        let part = if name == Root::Request.name() { Some(Root::Request) } else { part(name) };
        if let Some(root) = part {
            return Node { kind: Kind::Path(root, Vec::new()), range, gives: Type::Part };
        }
        let names = Root::PARTS.into_iter().map(|(name, _)| name).chain([Root::Request.name()]);
        let problem = Problem::new(range.clone(), format!("there is no `{name}`"));
        self.problems.push(match nearest(name, names) {
            Some(meant) => problem.help(did_you_mean(meant)),
            None => {
                problem.help("facts are under `subject`, `action`, `resource` and `environment`; put text in quotes")
            }
        });
        unclear(range)
    }

    /// A field of something.
    pub(super) fn field(&mut self, base: Node, word: &Word, range: Range<usize>) -> Node {
        let name = word.text.as_str();
        match base.kind {
            Kind::Path(Root::Request, _) => match part(name) {
                Some(root) => Node { kind: Kind::Path(root, Vec::new()), range, gives: Type::Part },
                None => {
                    let names: Vec<&str> = Root::PARTS.iter().map(|(name, _)| *name).collect();
                    self.no_field("request", word, &names);
                    unclear(range)
                }
            },
            Kind::Path(root, fields) if fields.is_empty() => {
                let known = root.fields().iter().find(|(known, _)| *known == name);
                if known.is_none() && !root.is_open() {
                    let names: Vec<&str> = root.fields().iter().map(|(name, _)| *name).collect();
                    self.no_field(root.name(), word, &names);
                    return unclear(range);
                }
                let gives = known.map_or(Type::Any, |(_, gives)| *gives);
                Node { kind: Kind::Path(root, vec![word.text.clone()]), range, gives }
            }
            _ if !base.gives.may_be(&[Type::Map]) => {
                let written = self.written(&base.range);
                let message = format!("`{written}` is {} and has no fields", base.gives.words());
                let problem = Problem::new(word.range.clone(), message);
                self.problems.push(match base.gives {
                    Type::List => problem.help(format!("to test for an element, write `\"{name}\" in {written}`")),
                    _ => problem.help("fields are those of maps"),
                });
                unclear(range)
            }
            Kind::Path(root, mut fields) => {
                fields.push(word.text.clone());
                Node { kind: Kind::Path(root, fields), range, gives: Type::Any }
            }
            _ => Node { kind: Kind::Field(Box::new(base), word.text.clone()), range, gives: Type::Any },
        }
    }

    /// An element of a list, or a field of a map.
    pub(super) fn index(&mut self, base: Node, index: Node, range: Range<usize>) -> Node {
        if let (Some(Fact::Text(name)), false) = (index.constant(), base.gives == Type::List) {
            let word = Word { text: name.clone(), range: index.range.clone() };
            return self.field(base, &word, range);
        }
        self.expect(&base, &[Type::List, Type::Map, Type::Part], "only lists and maps have an index");
        match base.gives {
            Type::List => {
                self.expect(&index, &[Type::Number], "elements of a list have numbers");
            }
            Type::Map | Type::Part => {
                self.expect(&index, &[Type::Text], "fields of a map have names");
            }
            _ => {
                self.expect(&index, &[Type::Number, Type::Text], "an index is a number or a name");
            }
        }
        Node { kind: Kind::Index(Box::new([base, index])), range, gives: Type::Any }
    }

    fn no_field(&mut self, of: &str, word: &Word, names: &[&str]) {
        let problem = Problem::new(word.range.clone(), format!("`{of}` has no field `{}`", word.text));
        self.problems.push(match nearest(&word.text, names.iter().copied()) {
            Some(meant) => problem.help(did_you_mean(meant)),
            None if of == "subject" => {
                problem.help(format!("it has {}; anything else is under `subject.claims`", names.join(", ")))
            }
            None => problem.help(format!("it has {}", names.join(", "))),
        });
    }
}

fn part(name: &str) -> Option<Root> {
    Root::PARTS.into_iter().find(|(known, _)| *known == name).map(|(_, root)| root)
}
