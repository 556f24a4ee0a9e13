//! Paths into documents.

use upheld_model::tree::{Kind, Value};

/// Paths of which the first that leads somewhere counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths(Vec<Vec<Step>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    key: String,
    /// Every item of the list that stands there.
    each: bool,
}

impl Paths {
    /// Reads one path or several, and says which is none.
    pub(super) fn read(written: Value<'_>) -> (Self, Option<Value<'_>>) {
        let one = (written.kind() == Kind::Text).then_some(written);
        let mut paths = Vec::new();
        let mut bad = None;
        for path in one.into_iter().chain(written.items()) {
            match steps(path.text()) {
                Some(steps) => paths.push(steps),
                None => bad = bad.or(Some(path)),
            }
        }
        (Self(paths), bad)
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where the first path leads that leads somewhere.
    pub fn all<'t>(&self, document: Value<'t>) -> Vec<Value<'t>> {
        for path in &self.0 {
            let mut at = vec![document];
            for step in path {
                let next = at.into_iter().filter_map(|value| value.get(&step.key));
                at = if step.each { next.flat_map(Value::items).collect() } else { next.collect() };
            }
            at.retain(|value| value.kind() != Kind::Null);
            if !at.is_empty() {
                return at;
            }
        }
        Vec::new()
    }

    /// The first value.
    pub fn one<'t>(&self, document: Value<'t>) -> Option<Value<'t>> {
        self.all(document).first().copied()
    }

    /// As a user would write them.
    pub fn texts(&self) -> Vec<String> {
        let step = |step: &Step| if step.each { format!("{}[]", step.key) } else { step.key.clone() };
        self.0.iter().map(|path| path.iter().map(step).collect::<Vec<_>>().join(".")).collect()
    }

    /// All of them in a sentence.
    pub fn told(&self) -> String {
        self.texts().iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(" or ")
    }
}

fn steps(path: &str) -> Option<Vec<Step>> {
    let step = |part: &str| {
        let (key, each) = match part.strip_suffix("[]") {
            Some(key) => (key, true),
            None => (part, false),
        };
        (!key.is_empty() && !key.contains(['[', ']'])).then(|| Step { key: key.to_owned(), each })
    };
    path.split('.').map(step).collect()
}
