//! How clients, proxies and services read a path, each written down on its own and in the plainest way, after their documentation.
//! Nothing here is shared with the readings of the engine: those must have whatever one of these makes of a path, alone or behind
//! another one. `docs/paths.md` has the same in a table, which a test holds against this.

mod clients;
mod proxies;
mod random;
mod services;
mod text;

use super::super::path::{self, PathReading, ReadPath, Readings};

pub use random::{check, path_of};

/// Somebody who reads paths.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// As the documentation calls it.
    pub name: &'static str,
    /// What it makes of a path; nothing if it refuses it.
    reads: fn(&str) -> Option<Seen>,
}

/// A path as somebody sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    /// With its escapes, or what is left of them.
    Escaped(String),
    /// Without.
    Decoded(String),
}

/// Everybody whom we have a model of.
pub fn all() -> impl Iterator<Item = &'static Server> + Clone {
    clients::ALL.iter().chain(&proxies::ALL).chain(&services::ALL)
}

impl Server {
    /// What it takes a path for, as policies name things: without escapes.
    pub fn reading(&self, path: &str) -> Option<String> {
        Some(match (self.reads)(path)? {
            Seen::Escaped(path) => text::unescaped(&path, |_| true)?,
            Seen::Decoded(path) => path,
        })
    }

    /// What whoever comes next may get: what is decoded is passed on as it is, or is escaped again.
    fn passes_on(&self, path: &str) -> Vec<String> {
        let forms = match (self.reads)(path) {
            None => Vec::new(),
            Some(Seen::Escaped(path)) => vec![path],
            Some(Seen::Decoded(path)) => vec![text::escaped(&path), path],
        };
        forms.iter().flat_map(|form| arrives(form)).collect()
    }
}

/// The path of what arrives: a query is none of it, and a fragment is cut off by some.
fn arrives(form: &str) -> Vec<String> {
    let path = form.split('?').next().unwrap_or_default();
    let mut paths = vec![path.to_owned()];
    paths.extend(path.split_once('#').map(|(path, _)| path.to_owned()));
    paths.retain(|path| path.starts_with('/'));
    paths
}

/// What everybody takes a path for, alone and behind another one, with who that is.
pub fn readings(path: &str) -> Vec<(String, String)> {
    let mut readings: Vec<(String, String)> = Vec::new();
    let mut tell = |who: String, reading: String| {
        if !readings.iter().any(|(known, _)| *known == reading) {
            readings.push((reading, who));
        }
    };
    for first in all() {
        first.reading(path).into_iter().for_each(|reading| tell(first.name.to_owned(), reading));
        for passed in first.passes_on(path) {
            for second in all() {
                let who = || format!("{} behind {}, which passes on {passed:?}", second.name, first.name);
                second.reading(&passed).into_iter().for_each(|reading| tell(who(), reading));
            }
        }
    }
    readings
}

/// The readings of the engine, or nothing if it refuses to read the path.
pub fn of_the_engine(path: &str) -> Option<Vec<String>> {
    let mut room = Readings::default();
    Some(match path::read(path, PathReading::Every, &mut room).ok()? {
        ReadPath::One(one) => vec![one.to_owned()],
        ReadPath::Several(several) => several.iter().map(ToString::to_string).collect(),
    })
}
