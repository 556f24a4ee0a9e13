//! Loads texts and asks, as a program that embeds the library would.

use upheld_dialects::kuma::ends::{End, connect};
use upheld_engine::{Question, Ruling, Select};
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::{Code, State};

/// A loaded text, ready for questions.
pub(crate) struct World {
    loaded: Loaded,
}

/// Who stands and who does not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Names in the state WON or KEPT, best first.
    pub(crate) standing: Vec<String>,
    /// Why the first of them stands.
    pub(crate) because: Option<Code>,
    /// The rung that decided, from one.
    pub(crate) rung: Option<usize>,
    /// Names in the state LOST, best first.
    pub(crate) lost: Vec<String>,
    /// Names in the state SKIP.
    pub(crate) skipped: Vec<String>,
}

impl World {
    pub(crate) fn new(text: &str, semantics: &str) -> Self {
        let loaded = load(vec![Input::text("test.yaml", Format::Yaml, text)], &[semantics]);
        Self { loaded: loaded.unwrap_or_else(|broken| panic!("{:#?}", broken.diagnostics)) }
    }

    /// Asks about one connection; both ends must be single things.
    pub(crate) fn ask(&self, kind: &str, from: &str, to: &str) -> Answer {
        let snapshot = &self.loaded.snapshot;
        let mut kinds = snapshot.kinds().iter();
        let (kind, _) = kinds.find(|(_, known)| snapshot.text(known.name) == kind).expect("a built-in kind");
        let mut lookup = snapshot.lookup();
        let connection = connect(snapshot, &mut lookup, None, Some(from), Some(to)).expect("both ends exist");
        let only = |end: &Option<End>| {
            let end = end.as_ref().expect("an end");
            assert_eq!(end.members.len(), 1, "{end:?}");
            end.members[0].parts.clone()
        };
        let (source, destination) = (only(&connection.source), only(&connection.destination));
        let select = snapshot.select(kind, connection.mesh).expect("policies of this kind");
        let question = Question { source: Some(&source), destination: Some(&destination) };
        let ruling = Ruling::explain(select, &question);
        let names = |states: &[State]| -> Vec<String> {
            let candidates = ruling.candidates.iter().filter(|candidate| states.contains(&candidate.state));
            candidates.map(|candidate| self.name(select, candidate.entry)).collect()
        };
        Answer {
            standing: names(&[State::Won, State::Kept]),
            because: ruling.candidates.first().map(|candidate| candidate.reason.code),
            rung: ruling.decided.map(|rung| rung + 1),
            lost: names(&[State::Lost]),
            skipped: names(&[State::Skip]),
        }
    }

    fn name(&self, select: &Select, entry: upheld_engine::EntryId) -> String {
        let snapshot = &self.loaded.snapshot;
        let policy = select.entry(entry).and_then(|entry| snapshot.policy(entry.policy)).expect("a policy");
        snapshot.text(policy.name).to_owned()
    }
}
