//! Cases that are many: matrices and tables.

use serde_json::{Map, Value as Json, json};
use upheld_engine::decide::Request;
use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Fault};

use super::parts::Part;
use super::read::Suite;
use super::shapes::DECISIONS;

/// The most combinations of one matrix.
const MOST: usize = 10_000;

/// One part of a matrix with all of its values.
struct Axis {
    part: Part,
    values: Vec<AxisValue>,
}

struct AxisValue {
    label: String,
    /// A request of which only this part counts.
    request: Request,
}

/// Combinations that come out otherwise.
struct Exception<'t> {
    written: Value<'t>,
    /// For each axis, the values that it is about; none for all.
    wanted: Vec<Option<Vec<usize>>>,
    expect: Json,
    used: usize,
}

impl<'t> Suite<'_, 't> {
    /// Every combination is a case of its own.
    pub(super) fn matrix(&mut self, case: Value<'t>) {
        let before = self.found.errors();
        let common = self.common(case);
        let expect = self.expected(case);
        let axes = self.axes(case);
        let mut exceptions: Vec<Exception<'t>> = Vec::new();
        for written in case.get("except").into_iter().flat_map(Value::items) {
            exceptions.extend(self.exception(written, &axes));
        }
        let (Some(common), Some(expect)) = (common, expect) else { return };
        if self.found.errors() > before {
            return;
        }
        for cell in combinations(&axes) {
            let mut request = common.clone();
            let mut labels = Vec::new();
            for (axis, number) in axes.iter().zip(&cell) {
                if let Some(value) = axis.values.get(*number) {
                    axis.part.copy(&value.request, &mut request);
                    labels.push(value.label.as_str());
                }
            }
            let exception = exceptions.iter_mut().find(|exception| exception.covers(&cell));
            let (at, expect) = match exception {
                Some(exception) => {
                    exception.used += 1;
                    (exception.written, exception.expect.clone())
                }
                None => (case, expect.clone()),
            };
            self.decision(case, at, Some(&labels.join(", ")), request, expect);
        }
        for exception in exceptions.iter().filter(|exception| exception.used == 0) {
            let message = "this exception matches nothing that the exceptions before it leave";
            let diagnostic = Diagnostic::error(Fault::NoEffect, message);
            let diagnostic = diagnostic.at_value(self.source, exception.written, "never counts");
            self.found.push(diagnostic.help("the first exception that fits counts: put this one first, or remove it"));
        }
    }

    fn axes(&mut self, case: Value<'t>) -> Vec<Axis> {
        let Some(matrix) = case.get("matrix") else { return Vec::new() };
        let mut axes = Vec::new();
        for part in Part::ALL {
            let Some(list) = matrix.get(part.word()).filter(|list| list.kind() == Kind::List) else { continue };
            if let Some(twice) = case.get("request").and_then(|request| request.get(part.word())) {
                let message = format!("`{}` stands in `request` and in `matrix`", part.word());
                let diagnostic = Diagnostic::error(Fault::WrongValue, message).at_value(self.source, twice, "here");
                self.found.push(diagnostic.help("leave one of them out"));
            }
            let mut values = Vec::new();
            for written in list.items() {
                let mut request = self.parts.nothing();
                self.parts.read(part, written, &mut request, self.found);
                values.push(AxisValue { label: label(written), request });
            }
            axes.push(Axis { part, values });
        }
        let count = axes.iter().try_fold(1, |count: usize, axis| count.checked_mul(axis.values.len()));
        let problem = match count {
            Some(0) => {
                Some((Fault::WrongValue, "the matrix has a list without values, so nothing is asked".to_owned()))
            }
            Some(1) if axes.is_empty() => Some((Fault::MissingField, "the matrix has no part of a request".to_owned())),
            Some(count) if count <= MOST => None,
            _ => Some((Fault::Limit, format!("the matrix has more than {MOST} combinations"))),
        };
        if let Some((fault, message)) = problem {
            let diagnostic = Diagnostic::error(fault, message).at_value(self.source, matrix, "here");
            self.found.push(diagnostic.help("for example `matrix: {subject: [alice, guest], action: [GET, POST]}`"));
        }
        axes
    }

    fn exception(&mut self, written: Value<'t>, axes: &[Axis]) -> Option<Exception<'t>> {
        let expect = self.expected(written)?;
        let when = written.get("when")?;
        if when.entries().next().is_none() {
            let diagnostic = Diagnostic::error(Fault::MissingField, "`when` names nothing");
            self.found
                .push(diagnostic.at_value(self.source, when, "empty").help("for example `when: {subject: alice}`"));
            return None;
        }
        for (key, _) in when.entries().filter(|(key, _)| !axes.iter().any(|axis| axis.part.word() == key.text())) {
            let message = format!("this exception matches nothing: the matrix has no `{}`", key.text());
            let diagnostic =
                Diagnostic::error(Fault::NoEffect, message).at_value(self.source, key, "not in the matrix");
            let names: Vec<String> = axes.iter().map(|axis| format!("`{}`", axis.part.word())).collect();
            self.found.push(diagnostic.help(format!("it has {}", names.join(", "))));
        }
        let mut wanted = Vec::new();
        for axis in axes {
            wanted.push(when.get(axis.part.word()).map(|values| self.wanted(axis, values)));
        }
        Some(Exception { written, wanted, expect, used: 0 })
    }

    /// The numbers of the values that an exception names.
    fn wanted(&mut self, axis: &Axis, values: Value<'t>) -> Vec<usize> {
        let one = [values];
        let many: Vec<Value<'t>> = values.items().collect();
        let named: &[Value<'t>] = if values.kind() == Kind::List { &many } else { &one };
        let mut numbers = Vec::new();
        for value in named {
            let wanted = label(*value);
            match axis.values.iter().position(|known| known.label == wanted) {
                Some(number) => numbers.push(number),
                None => {
                    let word = axis.part.word();
                    let message = format!("this exception matches nothing: no {word} of the matrix is `{wanted}`");
                    let diagnostic = Diagnostic::error(Fault::NoEffect, message);
                    let diagnostic = diagnostic.at_value(self.source, *value, "not in the matrix");
                    let labels = || axis.values.iter().map(|value| value.label.as_str());
                    self.found.push(diagnostic.suggest_or(nearest(&wanted, labels()), || {
                        format!("it has {}", labels().collect::<Vec<_>>().join(", "))
                    }));
                }
            }
        }
        numbers
    }

    /// Every row is a case of its own.
    pub(super) fn table(&mut self, case: Value<'t>) {
        let Some(common) = self.common(case) else { return };
        let rows = case.get("table").into_iter().flat_map(Value::items);
        for row in rows {
            let before = self.found.errors();
            let cells: Vec<Value<'t>> = row.items().collect();
            let ([subject, action, resource, decision] | [subject, action, resource, decision, _]) = *cells.as_slice()
            else {
                let message = format!("a row has 4 or 5 values, not {}", cells.len());
                let diagnostic = Diagnostic::error(Fault::WrongValue, message).at_value(self.source, row, "this row");
                self.found.push(diagnostic.help("write [subject, action, resource, decision] and perhaps the policy"));
                continue;
            };
            let mut request = common.clone();
            for (part, value) in Part::ALL.into_iter().zip([subject, action, resource]) {
                self.parts.read(part, value, &mut request, self.found);
            }
            let mut expect = Map::new();
            expect.insert("decision".to_owned(), json!(self.decision_word(decision)));
            if let Some(policy) = cells.get(4) {
                expect.insert("policy".to_owned(), json!(policy.text()));
            }
            if self.found.errors() == before {
                let labels = [subject, action, resource].map(label).join(", ");
                self.decision(case, row, Some(&labels), request, Json::Object(expect));
            }
        }
    }

    fn decision_word(&mut self, value: Value<'t>) -> &'t str {
        let word = value.text();
        if value.kind() != Kind::Text || !DECISIONS.contains(&word) {
            let message = format!("there is no decision `{word}`");
            let expected = format!("expected `{}`", DECISIONS.join("` or `"));
            let diagnostic = Diagnostic::error(Fault::WrongValue, message).at_value(self.source, value, expected);
            self.found.push(diagnostic.suggest(nearest(word, DECISIONS)));
        }
        word
    }
}

impl Exception<'_> {
    fn covers(&self, cell: &[usize]) -> bool {
        self.wanted
            .iter()
            .zip(cell)
            .all(|(wanted, number)| wanted.as_ref().is_none_or(|wanted| wanted.contains(number)))
    }
}

/// All combinations, the first part slowest.
fn combinations(axes: &[Axis]) -> Vec<Vec<usize>> {
    axes.iter().fold(vec![Vec::new()], |cells, axis| {
        let with = |cell: &Vec<usize>, number: usize| cell.iter().copied().chain([number]).collect();
        cells.iter().flat_map(|cell| (0..axis.values.len()).map(move |number| with(cell, number))).collect()
    })
}

/// How a value is called in the name of a case: as it was written, in one line.
fn label(value: Value<'_>) -> String {
    match value.kind() {
        Kind::Map => {
            let entries: Vec<String> =
                value.entries().map(|(key, value)| format!("{}: {}", key.text(), label(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Kind::List => format!("[{}]", value.items().map(label).collect::<Vec<_>>().join(", ")),
        _ => value.text().to_owned(),
    }
}
