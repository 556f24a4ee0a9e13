//! Whether a policy applies, by docs/access.md.

use std::cmp::Ordering;

use serde_json::{Map, Value as Json};

use super::expressions;
use super::facts::{Fact, Facts, Path, Request, Truth, address, is_within, seconds};
use super::paths;

/// Which alternatives are looked at.
#[derive(Clone, Copy)]
pub(super) enum Of {
    Subjects,
    Resources,
    Actions,
}

/// Whether what is read stands within `not`.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    Plain,
    Not,
}

/// A request as one reader of its path sees it.
pub(super) struct Seen<'r> {
    pub(super) request: &'r Request,
    pub(super) path: PathSeen<'r>,
}

/// A path as one reader sees it.
#[derive(Clone, Copy)]
pub(super) enum PathSeen<'r> {
    /// There is none.
    Nothing,
    /// It cannot be read.
    Unreadable,
    /// Each part of a policy that looks at it is supposed to come out so.
    Supposed(Truth),
    As(&'r str),
}

impl PathSeen<'_> {
    fn is(self, nothing: Truth, holds: impl Fn(&str) -> bool) -> Truth {
        match self {
            Self::Nothing => nothing,
            Self::Unreadable => Truth::Unknown,
            Self::Supposed(truth) => truth,
            Self::As(path) => Truth::of(holds(path)),
        }
    }

    pub(super) fn matches(self, pattern: &[&str]) -> Truth {
        self.is(Truth::No, |path| pattern.iter().any(|pattern| paths::matches(pattern, path)))
    }

    pub(super) fn starts_with(self, start: &str) -> Truth {
        self.is(Truth::Unknown, |path| path.starts_with(start))
    }
}

/// What holds of a request: the same in every reading of its path, or it is unknown.
pub(super) fn in_every_reading(request: &Request, path: &Path, holds: impl Fn(&Seen<'_>) -> Truth) -> Truth {
    match path {
        Path::Absent => holds(&Seen { request, path: PathSeen::Nothing }),
        Path::Unreadable => holds(&Seen { request, path: PathSeen::Unreadable }),
        Path::Supposed(truth) => holds(&Seen { request, path: PathSeen::Supposed(*truth) }),
        Path::Read(readings) => {
            Truth::agreed(readings.iter().map(|path| holds(&Seen { request, path: PathSeen::As(path) })))
        }
    }
}

/// Whether a policy is switched on.
pub(super) fn is_on(policy: &Json) -> Truth {
    Truth::of(policy.get("enabled") != Some(&Json::Bool(false)))
}

/// Whether a policy applies that is switched on.
pub(super) fn applies(policy: &Json, request: &Request, path: &Path) -> Truth {
    let valid = policy.get("valid").map_or(Truth::Yes, |valid| within_times(valid, request.time));
    let holds = |seen: &Seen<'_>| Truth::all([about(policy, seen), conditions(policy, seen)]);
    Truth::all([valid, in_every_reading(request, path, holds)])
}

/// Whether a policy, or the target of a set, is about a request.
pub(super) fn about(target: &Json, seen: &Seen<'_>) -> Truth {
    Truth::all([
        alternatives(target.get("subjects"), Of::Subjects, seen),
        alternatives(target.get("resources"), Of::Resources, seen),
        alternatives(target.get("actions"), Of::Actions, seen),
    ])
}

fn alternatives(list: Option<&Json>, of: Of, seen: &Seen<'_>) -> Truth {
    match list.and_then(Json::as_array) {
        None => Truth::Yes,
        Some(list) if list.is_empty() => Truth::Yes,
        Some(list) => Truth::any(list.iter().map(|alternative| all_fields(alternative, of, seen, Within::Plain))),
    }
}

fn all_fields(alternative: &Json, of: Of, seen: &Seen<'_>, within: Within) -> Truth {
    let fields = alternative.as_object().into_iter().flatten();
    Truth::all(fields.map(|(name, wanted)| field(name, wanted, of, seen, within)))
}

fn field(name: &str, wanted: &Json, of: Of, seen: &Seen<'_>, within: Within) -> Truth {
    let request = seen.request;
    match (of, name) {
        (_, "not") => all_fields(wanted, of, seen, Within::Not).not(),
        (Of::Resources, "path") if within == Within::Not && matches!(seen.path, PathSeen::Nothing) => Truth::Unknown,
        (Of::Subjects, "id") => exact(wanted, &request.subject_id, within),
        (Of::Subjects, "type") => exact(wanted, &request.subject_type, within),
        (Of::Subjects, "group") => among(wanted, &request.groups, |wanted, group| wanted == group),
        (Of::Subjects, "role") => match among(wanted, &request.roles, paths::text_matches) {
            Truth::No if request.more_roles => Truth::Unknown,
            truth => truth,
        },
        (Of::Subjects, "claim") => test(wanted, &request.claims, within),
        (Of::Resources, "path") => seen.path.matches(&texts(wanted)),
        (Of::Resources, "app") => one_of(wanted, &request.app, within, paths::text_matches),
        (Of::Resources, "type") => exact(wanted, &request.resource_type, within),
        (Of::Resources, "id") => exact(wanted, &request.resource_id, within),
        (Of::Resources, "host") => exact(wanted, &request.host, within),
        (Of::Resources, "owner") => owner(request, within),
        (Of::Resources, "header") => {
            let mut wanted = wanted.clone();
            wanted["name"] = wanted["name"].as_str().unwrap_or_default().to_lowercase().into();
            test(&wanted, &request.headers, within)
        }
        (Of::Resources, "property") => test(wanted, &request.properties, within),
        // Any method, also one that is not known.
        (Of::Actions, "method") if texts(wanted).contains(&"*") => Truth::Yes,
        (Of::Actions, "method") => one_of(wanted, &request.method, within, str::eq_ignore_ascii_case),
        (Of::Actions, "operation") => exact(wanted, &request.operation, within),
        (Of::Actions, "property") => test(wanted, &request.action, within),
        _ => panic!("a field that the model does not know: {name}"),
    }
}

/// The texts of a field, which may be a list.
pub(super) fn texts(value: &Json) -> Vec<&str> {
    match value {
        Json::String(text) => vec![text],
        Json::Array(list) => list.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    }
}

fn one_of(wanted: &Json, fact: &Fact, within: Within, matches: impl Fn(&str, &str) -> bool) -> Truth {
    match fact {
        // As an absent claim.
        Fact::Absent if within == Within::Not => Truth::Unknown,
        Fact::Absent => Truth::No,
        Fact::Unknown => Truth::Unknown,
        Fact::Is(value) => match value.as_str() {
            Some(own) => Truth::of(texts(wanted).into_iter().any(|wanted| matches(wanted, own))),
            None => Truth::Unknown,
        },
    }
}

fn exact(wanted: &Json, fact: &Fact, within: Within) -> Truth {
    one_of(wanted, fact, within, |wanted, own| wanted == own)
}

fn among(wanted: &Json, fact: &Fact, matches: impl Fn(&str, &str) -> bool) -> Truth {
    match fact {
        Fact::Absent => Truth::No,
        Fact::Unknown => Truth::Unknown,
        Fact::Is(list) => {
            let owned = texts(list);
            Truth::of(texts(wanted).into_iter().any(|wanted| owned.iter().any(|own| matches(wanted, own))))
        }
    }
}

fn owner(request: &Request, within: Within) -> Truth {
    let named = |name: &str| match request.properties.get(name) {
        Fact::Is(Json::String(text)) if text.is_empty() => Fact::Absent,
        fact => fact,
    };
    let owner = match (named("owner"), named("ownerId")) {
        (Fact::Absent, other) | (other, Fact::Absent) => other,
        (one, other) if one == other => one,
        _ => Fact::Unknown,
    };
    match (owner, &request.subject_id) {
        // As an absent claim.
        (Fact::Absent, _) | (_, Fact::Absent) if within == Within::Not => Truth::Unknown,
        (Fact::Absent, _) | (_, Fact::Absent) => Truth::No,
        (Fact::Is(Json::String(owner)), Fact::Is(id)) => Truth::of(id.as_str() == Some(&owner)),
        _ => Truth::Unknown,
    }
}

/// A claim, a header or a property.
fn test(wanted: &Json, facts: &Facts, within: Within) -> Truth {
    let name = wanted["name"].as_str().unwrap_or_default();
    let operator = wanted.get("operator").and_then(Json::as_str).unwrap_or("eq");
    let value = wanted.get("value").unwrap_or(&Json::Null);
    let absent_counts = wanted.get("absent") == Some(&Json::Bool(true));
    let fact = facts.get(name);
    match (operator, &fact) {
        ("exists", Fact::Absent) | ("absent", Fact::Is(_)) => Truth::No,
        ("exists", Fact::Is(_)) | ("absent", Fact::Absent) => Truth::Yes,
        ("eq" | "in", Fact::Absent) if within == Within::Plain || absent_counts => Truth::No,
        ("neq" | "nin", Fact::Absent) if absent_counts => Truth::Yes,
        (_, Fact::Is(own)) => held(operator, own, value),
        (_, Fact::Absent | Fact::Unknown) => Truth::Unknown,
    }
}

fn held(operator: &str, own: &Json, value: &Json) -> Truth {
    let text = |holds: &dyn Fn(&str, &str) -> bool| match (own.as_str(), value.as_str()) {
        (Some(own), Some(value)) => Truth::of(holds(own, value)),
        _ => Truth::Unknown,
    };
    let list = || value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
    let order =
        |holds: &[Ordering]| numbers(own, value).map_or(Truth::Unknown, |order| Truth::of(holds.contains(&order)));
    let contains = |value: &Json| match (own, value) {
        (Json::String(own), Json::String(value)) => Truth::of(own.contains(value.as_str())),
        (Json::Array(own), value) => Truth::of(own.iter().any(|own| same(own, value))),
        _ => Truth::Unknown,
    };
    match operator {
        "eq" => Truth::of(same(own, value)),
        "neq" => Truth::of(!same(own, value)),
        "in" => Truth::of(list().iter().any(|value| same(own, value))),
        "nin" => Truth::of(!list().iter().any(|value| same(own, value))),
        "gt" => order(&[Ordering::Greater]),
        "gte" => order(&[Ordering::Greater, Ordering::Equal]),
        "lt" => order(&[Ordering::Less]),
        "lte" => order(&[Ordering::Less, Ordering::Equal]),
        "contains" => contains(value),
        "containsAny" => Truth::any(list().iter().map(contains)),
        "startsWith" => text(&|own, value| own.starts_with(value)),
        "endsWith" => text(&|own, value| own.ends_with(value)),
        "regex" => text(&found),
        "cidr" => match own.as_str().and_then(address) {
            Some(own) => Truth::of(list().iter().filter_map(Json::as_str).any(|network| is_within(own, network))),
            None => Truth::Unknown,
        },
        _ => panic!("an operator that the model does not know: {operator}"),
    }
}

/// The expressions that are generated, by hand.
fn found(own: &str, expression: &str) -> bool {
    match expression {
        "^a" => own.starts_with('a'),
        "b$" => own.ends_with('b'),
        "[0-9]" => own.bytes().any(|byte| byte.is_ascii_digit()),
        "^(red|blue)$" => own == "red" || own == "blue",
        _ => panic!("an expression that the model does not know: {expression}"),
    }
}

/// Whole numbers exactly, others as they are.
pub(super) fn numbers(one: &Json, other: &Json) -> Option<Ordering> {
    let whole = |value: &Json| value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

pub(super) fn same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(_), Json::Number(_)) => numbers(one, other) == Some(Ordering::Equal),
        _ => one == other,
    }
}

fn conditions(policy: &Json, seen: &Seen<'_>) -> Truth {
    let list = policy.get("conditions").and_then(Json::as_array);
    Truth::all(list.into_iter().flatten().map(|condition| match condition["type"].as_str() {
        Some("ip") => addresses(condition, &seen.request.address),
        Some("time") => times(condition, seen.request.time),
        Some("custom") => expressions::evaluate(condition["expression"].as_str().unwrap_or_default(), seen),
        other => panic!("a condition that the model does not know: {other:?}"),
    }))
}

fn addresses(condition: &Json, fact: &Fact) -> Truth {
    let Fact::Is(Json::String(text)) = fact else { return Truth::Unknown };
    let Some(own) = address(text) else { return Truth::Unknown };
    let listed =
        |name: &str| condition.get(name).map(|list| texts(list).into_iter().any(|network| is_within(own, network)));
    let allowed = listed("allowlist").unwrap_or(true) && listed("cidr").unwrap_or(true);
    Truth::of(allowed && !listed("blocklist").unwrap_or(false))
}

fn within_times(times: &Json, time: i64) -> Truth {
    let named = |name: &str| times.get(name).and_then(Json::as_str).and_then(seconds);
    Truth::of(named("from").is_none_or(|from| from <= time) && named("until").is_none_or(|until| time < until))
}

fn times(condition: &Json, time: i64) -> Truth {
    const DAY: i64 = 86_400;
    let offset = match condition.get("timezone").and_then(Json::as_str) {
        None | Some("UTC") => 0,
        Some("Asia/Tokyo") => 9 * 3600,
        other => panic!("a zone that the model does not know: {other:?}"),
    };
    let clock = |name: &str| {
        let text = condition.get(name).and_then(Json::as_str)?;
        let mut parts = text.split(':').map(|part| part.parse::<i64>().unwrap());
        Some(parts.next()? * 3600 + parts.next()? * 60 + parts.next().unwrap_or(0))
    };
    let local = time + offset;
    let (day, moment) = (local.div_euclid(DAY), local.rem_euclid(DAY));
    let (after, before) = (clock("after"), clock("before"));
    let (is_within, begun) = match (after, before) {
        // Over midnight: it began the day before where the second half holds.
        (Some(after), Some(before)) if before < after => {
            (moment >= after || moment < before, if moment >= after { day } else { day - 1 })
        }
        (after, before) => {
            (after.is_none_or(|after| moment >= after) && before.is_none_or(|before| moment < before), day)
        }
    };
    // The first day of 1970 was a Thursday.
    let weekday = (begun + 4).rem_euclid(7);
    let days = condition.get("dayOfWeek").and_then(Json::as_array);
    let on_day = days.is_none_or(|days| days.iter().any(|day| day.as_i64() == Some(weekday)));
    Truth::all([Truth::of(is_within && on_day), within_times(condition, time)])
}

/// The map of a field, if it is there.
pub(super) fn map<'v>(value: &'v Json, name: &str) -> Option<&'v Map<String, Json>> {
    value.get(name).and_then(Json::as_object)
}
