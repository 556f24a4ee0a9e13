//! Names, titles and other names: no two things may answer to one.

use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::tree::Value;

use super::Reading;

/// The names that are taken, in lower case, with whose they are.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: Vec<(String, usize)>,
    next: usize,
}

impl Names {
    /// Takes the names of an item, and says which were taken already.
    pub(super) fn add(&mut self, reading: &mut Reading<'_>, item: Value<'_>) {
        let own = self.next;
        self.next += 1;
        let named = [item.get("name"), item.get("title")].into_iter().flatten();
        let aliases = item.get("aliases").into_iter().flat_map(Value::items);
        for name in named.chain(aliases) {
            let folded = name.text().to_ascii_lowercase();
            match self.taken.iter().find(|(known, _)| *known == folded) {
                // A title that is the name in other letters is fine.
                Some((_, whose)) if *whose == own => {}
                Some(_) => {
                    let message = format!("two things have the name `{}`", name.text());
                    let help = "names, titles and aliases must differ; case does not count".to_owned();
                    reading.wrong(name, message, "already used", Some(help));
                }
                None => self.taken.push((folded, own)),
            }
        }
    }
}

/// The nearest name, or all of them.
pub(crate) fn or_nearest<'n>(written: &str, names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    match nearest(written, names.iter().copied()) {
        Some(name) => did_you_mean(name),
        None => format!("there are: {}", names.join(", ")),
    }
}
