//! How questions are answered.

use upheld_dialects::access::Edition;
use upheld_model::Timestamp;

/// What holds for all questions of an asker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Only this mesh.
    pub mesh: Option<String>,
    /// Editions of the rules, for example `kuma/2` or `kgateway/ep-11268`: the same as the snapshot was loaded with.
    pub semantics: Vec<String>,
    /// The moment of asking.
    pub now: Timestamp,
}

impl Options {
    /// Nothing but a moment: all meshes, the usual editions.
    pub fn at(now: Timestamp) -> Self {
        Self { mesh: None, semantics: Vec::new(), now }
    }

    /// How requests for decisions are read.
    pub fn edition(&self) -> Edition {
        self.semantics.iter().find_map(|name| Edition::of(name)).unwrap_or_default()
    }
}
