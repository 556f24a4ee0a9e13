//! Changes of a request in words.

use upheld_engine::decide::cells::{Field, Given};
use upheld_engine::decide::{Edit, Fact, FactOf, shown};

/// A change that would turn a decision round: what is removed, or what were otherwise and which policy applies then.
pub(crate) fn removal(policies: &[String]) -> String {
    format!("remove {}", policies.join(" and "))
}

/// A change of a request, given each part of it as a clause.
pub(crate) fn otherwise(edits: &[String], policy: Option<&str>) -> String {
    let then = policy.map(|policy| format!(": {policy} applies then")).unwrap_or_default();
    format!("if {}{then}", edits.join(" and "))
}

/// One change of a request, as a clause after "if": `the subject had role editor`; `called` is what policies call a fact.
pub(crate) fn edit(edit: &Edit, called: Option<&str>) -> String {
    match edit {
        Edit::Add(Field::Groups, group) => format!("the subject were in group {group}"),
        Edit::Add(_, role) => format!("the subject had role {role}"),
        Edit::Remove(Field::Groups, group) => format!("the subject were not in group {group}"),
        Edit::Remove(_, role) => format!("the subject did not have role {role}"),
        Edit::Set(field, given) => set(field, given, called),
    }
}

fn set(field: &Field, given: &Given, called: Option<&str>) -> String {
    let what = match (field, called) {
        (Field::Fact(..), Some(called)) => called.to_owned(),
        (field, _) => title(field),
    };
    let value = match given {
        Given::Absent => return format!("there were no {what}"),
        Given::OwnId => return format!("the {what} were the subject itself"),
        Given::Names(names) if names.is_empty() => return format!("the subject had no {what}"),
        Given::Names(names) => names.join(", "),
        Given::Text(text) | Given::Fact(Fact::Text(text)) if is_any_other(text) => return another(field, &what, text),
        Given::Text(text) => text.to_string(),
        Given::Moment(moment) => moment.to_string(),
        Given::Fact(fact) => shown(fact).to_string(),
    };
    match field {
        Field::SubjectId => format!("the subject were {value}"),
        Field::SubjectType => format!("the subject were of type {value}"),
        Field::Type => format!("the resource were of type {value}"),
        Field::ResourceId => format!("the resource were {value}"),
        Field::Time => format!("it were asked at {value}"),
        Field::Address => format!("it came from {value}"),
        _ => format!("the {what} were {value}"),
    }
}

/// Whether a text stands for all that no policy names: `other`, `other1`.
fn is_any_other(text: &str) -> bool {
    text.strip_prefix("other").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn another(field: &Field, what: &str, example: &str) -> String {
    match field {
        Field::SubjectId => format!("the subject were another one ({example})"),
        Field::SubjectType => format!("the subject were of another type ({example})"),
        Field::Type => format!("the resource were of another type ({example})"),
        Field::ResourceId => format!("the resource were another one ({example})"),
        _ => format!("the {what} were another one ({example})"),
    }
}

/// What a part of a request is called.
fn title(field: &Field) -> String {
    let word = match field {
        Field::SubjectId => "id of the subject",
        Field::SubjectType => "type of the subject",
        Field::Roles => "roles",
        Field::Groups => "groups",
        Field::App => "application",
        Field::Path => "path",
        Field::Type => "type of the resource",
        Field::ResourceId => "id of the resource",
        Field::Method => "method",
        Field::Operation => "operation",
        Field::Address => "address",
        Field::Time => "time",
        Field::Fact(FactOf::Resource, path) if matches!(path.as_slice(), [name] if name == "owner" || name == "ownerId") => {
            "owner of the resource"
        }
        Field::Fact(of, path) => return format!("{} {}", of.word(), path.join(".")),
    };
    word.to_owned()
}
