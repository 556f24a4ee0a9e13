//! Ways to values inside a value, as rules name them: `tls.mode`, `filters[].type`.

use std::fmt;

use upheld_model::tree::{Kind, Value};

/// A way to values: keys, and `[]` for every item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path(String);

impl Path {
    /// As it is written.
    pub fn new(written: &str) -> Self {
        Self(written.to_owned())
    }

    /// The values that it leads to. What is there but empty counts as left out.
    pub fn values<'v>(&self, value: Value<'v>) -> Vec<Value<'v>> {
        let mut found = vec![value];
        for step in self.0.split('.') {
            let (key, items) = match step.strip_suffix("[]") {
                Some(key) => (key, true),
                None => (step, false),
            };
            let next = found.into_iter().filter_map(|value| if key.is_empty() { Some(value) } else { value.get(key) });
            let next = next.filter(|value| value.kind() != Kind::Null);
            found = if items { next.flat_map(Value::items).collect() } else { next.collect() };
        }
        found
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
