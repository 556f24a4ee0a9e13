//! What must not be written down.

use std::io;

use serde_json::Value as Json;

use super::credentials::{self, HIDDEN};

/// Paths into a request whose values are hidden.
#[derive(Clone, Debug, Default)]
pub(super) struct Redact(Vec<Vec<Step>>);

#[derive(Clone, Debug)]
enum Step {
    Any,
    Named(String),
}

impl Redact {
    /// Of JSON pointers, in which `*` is any name or place.
    pub(super) fn new(pointers: &[String]) -> io::Result<Self> {
        pointers.iter().map(|pointer| steps(pointer)).collect::<io::Result<_>>().map(Self)
    }

    /// Hides what is to be hidden, and credentials wherever they are.
    pub(super) fn apply(&self, document: &mut Json) {
        self.0.iter().for_each(|steps| hide(document, steps));
        credentials::hide(document);
    }
}

fn steps(pointer: &str) -> io::Result<Vec<Step>> {
    let Some(rest) = pointer.strip_prefix('/') else {
        let message = format!("`{pointer}` is not a valid JSON pointer: expected something like /subject/claims/email");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    };
    let step = |step: &str| match step {
        "*" => Step::Any,
        named => Step::Named(named.replace("~1", "/").replace("~0", "~")),
    };
    Ok(rest.split('/').map(step).collect())
}

fn hide(value: &mut Json, steps: &[Step]) {
    let Some((step, rest)) = steps.split_first() else {
        *value = Json::from(HIDDEN);
        return;
    };
    match (step, value) {
        (Step::Any, Json::Object(fields)) => fields.values_mut().for_each(|field| hide(field, rest)),
        (Step::Any, Json::Array(items)) => items.iter_mut().for_each(|item| hide(item, rest)),
        (Step::Named(name), Json::Object(fields)) => {
            if let Some(field) = fields.get_mut(name) {
                hide(field, rest);
            }
        }
        (Step::Named(name), Json::Array(items)) => {
            if let Some(item) = name.parse().ok().and_then(|place: usize| items.get_mut(place)) {
                hide(item, rest);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn redacted(pointers: &[&str], mut document: Json) -> Json {
        let pointers: Vec<String> = pointers.iter().map(|pointer| (*pointer).to_owned()).collect();
        Redact::new(&pointers).unwrap().apply(&mut document);
        document
    }

    #[test]
    fn values_are_hidden_with_all_that_is_in_them() {
        let document = json!({"subject": {"id": "ann", "claims": {"email": "a@x", "pin": {"a": 1}}}, "list": [1, 2]});
        assert_eq!(
            redacted(&["/subject/claims/*", "/list/1", "/nothing/here"], document),
            json!({"subject": {"id": "ann", "claims": {"email": HIDDEN, "pin": HIDDEN}}, "list": [1, HIDDEN]})
        );
    }

    #[test]
    fn names_may_have_slashes_and_lists_any_place() {
        let document = json!({"a/b": [{"~": 1, "k": 2}, {"~": 3}]});
        assert_eq!(redacted(&["/a~1b/*/~0"], document), json!({"a/b": [{"~": HIDDEN, "k": 2}, {"~": HIDDEN}]}));
    }

    #[test]
    fn what_is_no_pointer_is_refused_at_the_start() {
        assert!(Redact::new(&["subject.id".to_owned()]).is_err());
    }
}
