//! What holds among the fields of a value, besides the shape of each: which exclude each other, which need each other.

use std::collections::BTreeMap;

use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Fault};

use super::{Checker, Path, Shape};

/// A rule about a value.
#[derive(Clone, Debug)]
pub enum Rule {
    /// So many of these fields are set, at least and at most.
    Count(Vec<Path>, usize, usize),
    /// Each of these leads to one value at most.
    Once(Vec<Path>),
    /// A field names the one of several others that is set: by value, the field.
    Union(String, Vec<(String, String)>),
    /// Where fields have one of these values (nothing: it is left out), something is demanded.
    When(Vec<(Path, Vec<Option<String>>)>, Vec<Demand>),
    /// No two items of a list agree in all of these; in what they are, if these are none.
    Unique(Vec<Path>),
    /// A list has so many items.
    Length(usize, usize),
    /// The first duration is not longer than the second.
    NotLonger(Path, Path),
}

/// What is demanded.
#[derive(Clone, Debug)]
pub enum Demand {
    /// It is set.
    Needs(Path),
    /// One of them is set.
    NeedsOne(Vec<Path>),
    /// It is not set.
    Forbids(Path),
    /// It looks like this, if it is set.
    Is(Path, Shape),
}

/// Whether the fields of a value are right. Where some are not, nobody asks for those that seem to be missing: a field under a
/// wrong name is one mistake, not two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fields {
    Right,
    Wrong,
}

impl<'c> Checker<'c> {
    /// Whether a value obeys a rule.
    pub(super) fn obey(&mut self, value: Value<'c>, rule: &'c Rule, fields: Fields) -> bool {
        match rule {
            Rule::Count(paths, least, most) => self.count(value, paths, *least, *most, fields),
            Rule::Once(paths) => paths.iter().filter(|path| !self.once(value, path)).count() == 0,
            Rule::Union(tag, members) => self.union(value, tag, members, fields),
            Rule::When(conditions, demands) => {
                let applies = conditions.iter().all(|(path, values)| holds(value, path, values));
                // All of them are held against the value, so that all mistakes are reported.
                let broken = |demand: &&'c Demand| !self.demand(value, conditions, demand, fields);
                !applies || demands.iter().filter(broken).count() == 0
            }
            Rule::Unique(keys) => self.unique(value, keys),
            Rule::Length(least, most) => self.length(value, *least, *most),
            Rule::NotLonger(short, long) => self.not_longer(value, short, long),
        }
    }

    fn count(&mut self, value: Value<'c>, paths: &[Path], least: usize, most: usize, fields: Fields) -> bool {
        let set: Vec<(&Path, Value<'_>)> =
            paths.iter().filter_map(|path| Some((path, *path.values(value).first()?))).collect();
        let here = self.here("the document");
        if set.len() > most {
            let names = quoted(set.iter().map(|(path, _)| *path));
            let message = format!("{here} has {}, but only one of them may be set", names.join(" and "));
            if let Some((_, second)) = set.get(most) {
                let diagnostic =
                    Diagnostic::error(Fault::WrongValue, message).at_value(self.source, *second, "one too many");
                self.found.push(diagnostic.help(format!("keep one of {}", names.join(", "))));
            }
            return false;
        }
        if set.len() < least && fields == Fields::Right {
            let names = quoted(paths.iter()).join(" or ");
            self.lacks(value, format!("{here} needs {names}"), "one of them is missing here");
            return false;
        }
        true
    }

    fn once(&mut self, value: Value<'c>, path: &Path) -> bool {
        let values = path.values(value);
        let [first, second, ..] = values.as_slice() else { return true };
        let message = format!("{} has `{path}` more than once", self.here("the document"));
        let diagnostic = Diagnostic::error(Fault::WrongValue, message).at_value(self.source, *second, "second");
        let diagnostic = diagnostic.related(self.source, first.span(), "first");
        self.found.push(diagnostic.help("put all of it into one of them"));
        false
    }

    fn union(&mut self, value: Value<'c>, tag: &str, members: &[(String, String)], fields: Fields) -> bool {
        let Some(chosen) = value.get(tag).filter(|tag| tag.kind() == Kind::Text) else { return true };
        let mut right = true;
        for (name, field) in members {
            let set = value.get(field).filter(|value| value.kind() != Kind::Null);
            match set {
                Some(set) if chosen.text() != name => {
                    right = false;
                    let message =
                        format!("{} has `{field}`, but its `{tag}` is `{}`", self.here("the document"), chosen.text());
                    let label = format!("goes with `{tag}: {name}`");
                    let diagnostic = Diagnostic::error(Fault::WrongValue, message).at_value(self.source, set, label);
                    self.found.push(diagnostic.help(format!("write `{tag}: {name}`, or remove `{field}`")));
                }
                None if chosen.text() == name && fields == Fields::Right => {
                    right = false;
                    let message = format!("{} has `{tag}: {name}`, so it needs `{field}`", self.here("the document"));
                    self.lacks(value, message, &format!("`{field}` is missing here"));
                }
                _ => {}
            }
        }
        right
    }

    fn demand(
        &mut self,
        value: Value<'c>,
        conditions: &[(Path, Vec<Option<String>>)],
        demand: &'c Demand,
        fields: Fields,
    ) -> bool {
        let here = self.here("the document");
        match demand {
            Demand::Needs(path) => {
                if !path.values(value).is_empty() || fields == Fields::Wrong {
                    return true;
                }
                let message = format!("{here} needs `{path}`, because {}", because(value, conditions));
                self.lacks(value, message, &format!("`{path}` is missing here"));
                false
            }
            Demand::NeedsOne(paths) => {
                if paths.iter().any(|path| !path.values(value).is_empty()) || fields == Fields::Wrong {
                    return true;
                }
                let names = quoted(paths.iter()).join(" or ");
                let message = format!("{here} needs {names}, because {}", because(value, conditions));
                self.lacks(value, message, "one of them is missing here");
                false
            }
            Demand::Forbids(path) => {
                let Some(set) = path.values(value).first().copied() else { return true };
                let message = format!("{here} cannot have `{path}`, because {}", because(value, conditions));
                let diagnostic =
                    Diagnostic::error(Fault::WrongValue, message).at_value(self.source, set, "not allowed here");
                self.found.push(diagnostic.help(format!("remove `{path}`, or change the other field")));
                false
            }
            Demand::Is(path, shape) => path.values(value).into_iter().fold(true, |right, inner| {
                let before = self.found.as_slice().len();
                let fits = self.check_at(path, inner, shape);
                let why = because(value, conditions);
                for problem in self.found.since(before) {
                    problem.help.push(format!("because {why}"));
                }
                fits && right
            }),
        }
    }

    fn unique(&mut self, value: Value<'c>, keys: &[Path]) -> bool {
        let mut known: BTreeMap<Vec<Option<&str>>, Value<'_>> = BTreeMap::new();
        let mut right = true;
        for item in value.items() {
            let own = |path: &Path| path.values(item).first().map(|value| value.text());
            let mut key: Vec<Option<&str>> = keys.iter().map(own).collect();
            if keys.is_empty() {
                key.push(item.as_text());
            }
            if key.iter().all(Option::is_none) {
                continue;
            }
            let Some(first) = known.insert(key, item) else { continue };
            right = false;
            let names = quoted(keys.iter()).join(", ");
            let message = if names.is_empty() {
                format!("`{}` stands twice in {}", item.text(), self.here("the list"))
            } else {
                format!("two items of {} have the same {names}", self.here("the list"))
            };
            let (at, before) = (marked(item, keys), marked(first, keys));
            let diagnostic = Diagnostic::error(Fault::WrongValue, message).at_value(self.source, at, "second");
            let diagnostic = diagnostic.related(self.source, before.span(), "first");
            self.found.push(diagnostic.help("change or remove one of them"));
        }
        right
    }

    fn length(&mut self, value: Value<'c>, least: usize, most: usize) -> bool {
        let count = value.items().count();
        if (least..=most).contains(&count) {
            return true;
        }
        let (here, limit) = (self.here("the list"), if count < least { "at least" } else { "at most" });
        let wanted = if count < least { least } else { most };
        let items = if wanted == 1 { "item" } else { "items" };
        let message = format!("{here} must have {limit} {wanted} {items}, not {count}");
        let label = format!("expected {limit} {wanted} {items}");
        self.found.push(Diagnostic::error(Fault::WrongValue, message).at_value(self.source, value, label));
        false
    }

    fn not_longer(&mut self, value: Value<'c>, short: &Path, long: &Path) -> bool {
        let [Some(first), Some(second)] = [short, long].map(|path| path.values(value).first().copied()) else {
            return true;
        };
        let (Some(less), Some(more)) = (milliseconds(first.text()), milliseconds(second.text())) else { return true };
        // Zero turns a limit off.
        if less <= more || more == 0.0 {
            return true;
        }
        let message = format!("{} has a `{short}` longer than its `{long}`", self.here("the document"));
        let label = format!("expected at most {}", second.text());
        self.found.push(Diagnostic::error(Fault::WrongValue, message).at_value(self.source, first, label));
        false
    }

    /// Tells that something is not there.
    fn lacks(&mut self, value: Value<'_>, message: String, label: &str) {
        let span = value.entries().next().map_or(value.span(), |(key, _)| key.span());
        self.found.push(Diagnostic::error(Fault::MissingField, message).at(self.source, span, label));
    }
}

/// Whether a field has one of some values.
fn holds(value: Value<'_>, path: &Path, wanted: &[Option<String>]) -> bool {
    let found = path.values(value);
    let is = |text: Option<&str>| wanted.iter().any(|wanted| wanted.as_deref() == text);
    if found.is_empty() { is(None) } else { found.iter().any(|value| is(Some(value.text())) || is(Some(ANY))) }
}

/// Stands for every value.
const ANY: &str = "*";

/// The conditions, as they hold.
fn because(value: Value<'_>, conditions: &[(Path, Vec<Option<String>>)]) -> String {
    let words = conditions.iter().map(|(path, wanted)| {
        let found = path.values(value);
        let is = |value: &&Value<'_>| wanted.iter().flatten().any(|wanted| wanted == value.text());
        match found.iter().find(is) {
            Some(found) => format!("`{path}` is `{}`", found.text()),
            None if found.is_empty() => format!("`{path}` is left out"),
            None => format!("`{path}` is set"),
        }
    });
    words.collect::<Vec<_>>().join(" and ")
}

fn quoted<'p>(paths: impl Iterator<Item = &'p Path>) -> Vec<String> {
    paths.map(|path| format!("`{path}`")).collect()
}

/// The first of some fields that is set, or else all of it.
fn marked<'v>(item: Value<'v>, keys: &[Path]) -> Value<'v> {
    keys.iter().find_map(|path| path.values(item).first().copied()).unwrap_or(item)
}

/// How long a duration is.
fn milliseconds(text: &str) -> Option<f64> {
    let mut rest = text;
    let mut sum = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at_checked(digits)?;
        let unit = after.find(|character: char| character.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(unit)?;
        let scale = match unit {
            "h" => 3_600_000.0,
            "m" => 60_000.0,
            "s" => 1_000.0,
            "ms" => 1.0,
            "us" | "µs" | "μs" => 0.001,
            "ns" => 0.000_001,
            "" if number == "0" => 0.0,
            _ => return None,
        };
        sum += number.parse::<f64>().ok()? * scale;
        rest = after;
    }
    Some(sum)
}
