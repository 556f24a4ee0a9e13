//! Conditions on fields and tags: `http.requestTimeout <= 30s`, `costCenter exists`, `env in [dev, prod]`.

use std::cmp::Ordering;

use serde_json::Value as Json;
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId};
use upheld_report::one_line;

/// Something that must be so of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    /// The field or tag.
    pub(super) field: String,
    must: Must,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Must {
    Exist,
    BeAbsent,
    Be(Order, String),
    BeOneOf(Vec<String>),
}

/// How a value stands to the one that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Less,
    AtMost,
    Equal,
    Unequal,
    AtLeast,
    More,
}

/// Longer ones first, so that `<=` is not taken for `<`.
const ORDERS: [(&str, Order); 7] = [
    ("<=", Order::AtMost),
    (">=", Order::AtLeast),
    ("!=", Order::Unequal),
    ("==", Order::Equal),
    ("<", Order::Less),
    (">", Order::More),
    ("=", Order::Equal),
];

impl Condition {
    /// Reads one; nothing if it is wrong.
    pub(super) fn read(source: SourceId, written: Value<'_>, found: &mut Diagnostics) -> Option<Self> {
        let condition = Self::parse(written.text());
        if condition.is_none() {
            let message = format!("`{}` is not a condition", written.text());
            let problem = Diagnostic::error(Fault::WrongValue, message).at_value(
                source,
                written,
                "expected a field, then `exists`, `absent`, `in [a, b]` or a comparison",
            );
            found.push(problem.help("for example `http.requestTimeout <= 30s` or `costCenter exists`"));
        }
        condition
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let named = |field: &str, must: Must| {
            let field = field.trim();
            let is_name = !field.is_empty() && !field.contains(char::is_whitespace);
            is_name.then(|| Self { field: field.to_owned(), must })
        };
        for (word, must) in [(" exists", Must::Exist), (" absent", Must::BeAbsent)] {
            if let Some(field) = text.strip_suffix(word) {
                return named(field, must);
            }
        }
        if let Some((field, list)) = text.split_once(" in ") {
            let list = list.trim().strip_prefix('[')?.strip_suffix(']')?;
            let values: Vec<String> = list.split(',').map(unquoted).filter(|value| !value.is_empty()).collect();
            return (!values.is_empty()).then(|| named(field, Must::BeOneOf(values))).flatten();
        }
        let at = text.find(['<', '>', '=', '!'])?;
        let (field, rest) = text.split_at_checked(at)?;
        let (sign, order) = ORDERS.into_iter().find(|(sign, _)| rest.starts_with(sign))?;
        let value = unquoted(rest.get(sign.len()..)?);
        let is_comparable = matches!(order, Order::Equal | Order::Unequal) || Quantity::of(&value).is_some();
        (!value.is_empty() && is_comparable).then(|| named(field, Must::Be(order, value))).flatten()
    }

    /// Why the value of a field is not as it must be; nothing if it is.
    pub(super) fn objection(&self, value: Option<&Json>) -> Option<Objection> {
        let value = value.filter(|value| !value.is_null());
        let text = value.map(plain);
        let holds = match (&self.must, &text) {
            (Must::Exist, text) => text.is_some(),
            (Must::BeAbsent, text) => text.is_none(),
            (Must::Be(Order::Unequal, _), None) => true,
            (Must::Be(..) | Must::BeOneOf(_), None) => false,
            (Must::Be(order, wanted), Some(text)) => order.holds(text, wanted),
            (Must::BeOneOf(wanted), Some(text)) => wanted.iter().any(|wanted| Order::Equal.holds(text, wanted)),
        };
        (!holds).then_some(Objection { value: text })
    }

    /// The same for a tag, which may have several values: each must be so.
    pub(super) fn objection_of(&self, values: &[&str]) -> Option<Objection> {
        if values.is_empty() {
            return self.objection(None);
        }
        values.iter().find_map(|value| self.objection(Some(&Json::from(*value))))
    }
}

/// A value that is not as it must be; nothing where there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Objection {
    pub(super) value: Option<String>,
}

impl Order {
    fn holds(self, value: &str, wanted: &str) -> bool {
        let compared = match (Quantity::of(value), Quantity::of(wanted)) {
            (Some(value), Some(wanted)) => value.compare(wanted),
            _ => None,
        };
        match (self, compared) {
            (Self::Equal, compared) => value == wanted || compared == Some(Ordering::Equal),
            (Self::Unequal, compared) => value != wanted && compared != Some(Ordering::Equal),
            // What cannot be compared is not known to be so.
            (_, None) => false,
            (Self::Less, Some(order)) => order.is_lt(),
            (Self::AtMost, Some(order)) => order.is_le(),
            (Self::AtLeast, Some(order)) => order.is_ge(),
            (Self::More, Some(order)) => order.is_gt(),
        }
    }
}

/// Something that has a size.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Quantity {
    Number(f64),
    /// In seconds.
    Duration(f64),
}

impl Quantity {
    fn of(text: &str) -> Option<Self> {
        let number = || text.parse().ok().filter(|number: &f64| number.is_finite()).map(Self::Number);
        number().or_else(|| duration(text).map(Self::Duration))
    }

    fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) | (Self::Duration(one), Self::Duration(other)) => {
                one.partial_cmp(&other)
            }
            // `0` is a duration, too.
            (Self::Number(0.0), Self::Duration(other)) => 0.0_f64.partial_cmp(&other),
            (Self::Duration(one), Self::Number(0.0)) => one.partial_cmp(&0.0),
            _ => None,
        }
    }
}

/// `1m30s`, `250ms`, `1.5h`, as configurations write durations: in seconds.
fn duration(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 8] = [
        ("ns", 1e-9),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("ms", 1e-3),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3_600.0),
        ("d", 86_400.0),
    ];
    let (mut left, mut all) = (text, 0.0);
    while !left.is_empty() {
        let end = left.find(|one: char| !one.is_ascii_digit() && one != '.')?;
        let (number, rest) = left.split_at_checked(end)?;
        let unit_end = rest.find(|one: char| one.is_ascii_digit() || one == '.').unwrap_or(rest.len());
        let (unit, rest) = rest.split_at_checked(unit_end)?;
        let (_, seconds) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
        all += number.parse::<f64>().ok()? * seconds;
        left = rest;
    }
    (!text.is_empty()).then_some(all)
}

/// A value as it is written.
fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| one_line(value), str::to_owned)
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inner = ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    inner.unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn holds(condition: &str, value: &Json) -> bool {
        Condition::parse(condition).unwrap().objection(Some(value)).is_none()
    }

    #[test]
    fn durations_and_numbers_have_an_order_and_texts_have_none() {
        for (condition, value, expected) in [
            ("a <= 30s", json!("30s"), true),
            ("a<30s", json!("30s"), false),
            ("a <= 1m", json!("59999ms"), true),
            ("a > 1m30s", json!("1.5m"), false),
            ("a >= 1m30s", json!("1.5m"), true),
            ("a = 60s", json!("1m"), true),
            ("a != 60s", json!("1m"), false),
            ("a <= 30s", json!("never"), false),
            ("a <= 30s", json!(5), false),
            ("a <= 30s", json!(0), true),
            ("a.b >= 3", json!(3.0), true),
            ("a == true", json!(true), true),
            ("a = \"x y\"", json!("x y"), true),
            ("a in [dev, prod]", json!("prod"), true),
            ("a in [dev, prod]", json!("qa"), false),
            ("a exists", json!(false), true),
            ("a exists", Json::Null, false),
            ("a absent", Json::Null, true),
            ("a <= 3", Json::Null, false),
            ("a != 3", Json::Null, true),
        ] {
            assert_eq!(holds(condition, &value), expected, "{condition} of {value}");
        }
    }

    #[test]
    fn what_says_nothing_is_no_condition() {
        for text in ["", "a", "exists", "a <=", "a <= soon", "a b = c", "a in dev", "a in []", "= 3", "a ~ b"] {
            assert_eq!(Condition::parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_value_of_a_tag_must_be_so() {
        let condition = Condition::parse("env in [dev, qa]").unwrap();
        assert_eq!(condition.objection_of(&["dev", "qa"]), None);
        assert_eq!(condition.objection_of(&["dev", "prod"]), Some(Objection { value: Some("prod".to_owned()) }));
        assert_eq!(condition.objection_of(&[]), Some(Objection { value: None }));
    }
}
