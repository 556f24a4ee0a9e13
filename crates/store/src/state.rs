//! The fold of the log.

use std::fmt;
use std::sync::Arc;

use upheld_model::{Pages, TextShards};

use crate::{Change, Digest, Entry, Key, Revision};

/// All documents at one revision, in the order in which they came. Who is replaced keeps the place; who comes back goes to the end.
/// A clone shares nearly all of them.
#[derive(Clone, Default)]
pub struct State {
    revision: Revision,
    digest: Digest,
    /// Nothing where a document was that is gone.
    documents: Pages<Option<(Key, Document)>>,
    places: TextShards<Key, usize>,
}

/// What is different at one place of two states.
#[derive(Clone, Copy, Debug)]
pub struct Difference<'s> {
    /// The place.
    pub place: usize,
    /// What was there.
    pub before: Option<(&'s Key, &'s Document)>,
    /// What is there.
    pub after: Option<(&'s Key, &'s Document)>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { revision, digest, documents: _, places: _ } = self;
        let documents: Vec<_> = self.iter().collect();
        let mut shown = f.debug_struct("State");
        shown.field("revision", revision).field("digest", digest).field("documents", &documents).finish()
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        (self.revision, self.digest, self.len()) == (other.revision, other.digest, other.len())
            && self.iter().eq(other.iter())
    }
}

impl Eq for State {}

/// So many places may be empty in any case.
const MOST_EMPTY: usize = 64;

/// A document as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// What it says, as JSON.
    pub text: Arc<str>,
    /// Who changed it last: what `If-Match` is held against.
    pub revision: Revision,
}

impl State {
    /// Of what a store kept: documents in order, with the digest that it noted.
    pub fn of(revision: Revision, digest: Digest, documents: impl IntoIterator<Item = (Key, Document)>) -> Self {
        let mut state = Self { revision, digest, ..Self::default() };
        for (key, document) in documents {
            state.put(key, document);
        }
        state
    }

    /// The last revision that is in it.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The fingerprint of all documents.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// All documents in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Document)> {
        self.documents.iter().flatten().map(|(key, document)| (key, document))
    }

    /// All places in order, with the documents that are there.
    pub fn places(&self) -> impl Iterator<Item = Option<(&Key, &Document)>> {
        self.documents.iter().map(|place| place.as_ref().map(|(key, document)| (key, document)))
    }

    /// How many places there are, those of documents that are gone too.
    pub fn room(&self) -> usize {
        self.documents.len()
    }

    /// What is not as it was before, place by place. What both share is not looked at.
    pub fn since<'s>(&'s self, before: &'s Self) -> impl Iterator<Item = Difference<'s>> {
        let at = |state: &'s Self, place: usize| {
            state.documents.get(place).and_then(|found| found.as_ref()).map(|(key, document)| (key, document))
        };
        let fewer = self.documents.len()..before.documents.len();
        let places = self.documents.differing(&before.documents).chain(fewer);
        let all = places.map(move |place| Difference { place, before: at(before, place), after: at(self, place) });
        all.filter(|difference| difference.before != difference.after)
    }

    /// One document.
    pub fn get(&self, key: &Key) -> Option<&Document> {
        let (_, document) = self.documents.get(*self.places.get(key)?)?.as_ref()?;
        Some(document)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Goes on by one entry.
    pub fn apply(&mut self, entry: &Entry) {
        for change in &entry.changes {
            self.change(change, entry.revision);
        }
        self.revision = entry.revision;
    }

    /// As it would be after some changes, under a revision that is not there yet.
    #[must_use]
    pub fn with(&self, changes: &[Change]) -> Self {
        let mut state = self.clone();
        state.revision = self.revision.next();
        for change in changes {
            state.change(change, state.revision);
        }
        state
    }

    fn change(&mut self, change: &Change, revision: Revision) {
        match change {
            Change::Put { key, text } => {
                self.digest = self.digest.with(key, text);
                let document = Document { text: Arc::clone(text), revision };
                if let Some(old) = self.put(key.clone(), document) {
                    self.digest = self.digest.without(key, &old.text);
                }
            }
            Change::Delete { key } => {
                if let Some(old) = self.delete(key) {
                    self.digest = self.digest.without(key, &old.text);
                }
            }
        }
    }

    /// Puts a document where the one with its key is, or at the end; the one that was there.
    fn put(&mut self, key: Key, document: Document) -> Option<Document> {
        let known = self.places.get(&key).copied();
        let place = known.unwrap_or(self.documents.len());
        let old = self.documents.get(place).cloned().flatten().map(|(_, document)| document);
        self.documents.put(place, Some((key.clone(), document)), || None);
        if known.is_none() {
            self.places.insert(key, place);
        }
        old
    }

    /// Takes a document away; the one that was there.
    fn delete(&mut self, key: &Key) -> Option<Document> {
        let place = self.places.remove(key)?;
        let (_, old) = self.documents.get(place).cloned().flatten()?;
        self.documents.put(place, None, || None);
        if self.documents.len() > MOST_EMPTY + 2 * self.len() {
            self.close_ranks();
        }
        Some(old)
    }

    /// Gives the places of those that are gone to others.
    fn close_ranks(&mut self) {
        self.documents = self.documents.iter().flatten().cloned().map(Some).collect();
        let keys = self.documents.iter().flatten().map(|(key, _)| key.clone());
        self.places = keys.enumerate().map(|(place, key)| (key, place)).collect();
    }

    /// The documents at some places alone, as if there had never been others; the revision is the same.
    #[must_use]
    pub fn part(&self, keep: impl Fn(&Key) -> bool) -> Self {
        let kept = self.iter().filter(|(key, _)| keep(key)).map(|(key, document)| (key.clone(), document.clone()));
        let part = Self::of(self.revision, Digest::default(), kept);
        Self { digest: part.recount(), ..part }
    }

    /// The digest, counted anew from all documents.
    pub fn recount(&self) -> Digest {
        self.iter().fold(Digest::default(), |digest, (key, document)| digest.with(key, &document.text))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(name: u8) -> Key {
        Key::new("Thing", "here", &name.to_string()).unwrap()
    }

    proptest! {
        #[test]
        fn a_state_is_a_list_in_which_whoever_comes_back_goes_to_the_end(
            steps in prop::collection::vec(
                prop::collection::vec((0..90_u8, prop::option::weighted(0.5, any::<u8>())), 1..30),
                1..40,
            ),
        ) {
            let (mut state, mut naive) = (State::default(), Vec::<(Key, String)>::new());
            for step in steps {
                let before = state.clone();
                for (name, text) in step {
                    let place = naive.iter().position(|(known, _)| *known == key(name));
                    let change = match text {
                        Some(text) => {
                            let text = text.to_string();
                            match place.and_then(|place| naive.get_mut(place)) {
                                Some((_, known)) => known.clone_from(&text),
                                None => naive.push((key(name), text.clone())),
                            }
                            Change::Put { key: key(name), text: text.into() }
                        }
                        None => {
                            place.map(|place| naive.remove(place));
                            Change::Delete { key: key(name) }
                        }
                    };
                    state = state.with(&[change]);
                }
                let shown: Vec<_> = state.iter().map(|(key, document)| (key.clone(), document.text.to_string())).collect();
                prop_assert_eq!(&shown, &naive);
                prop_assert_eq!((state.len(), state.recount()), (naive.len(), state.digest()));
                prop_assert!(naive.iter().all(|(key, text)| state.get(key).is_some_and(|found| *found.text == **text)));
                let naive_since = (0..state.room().max(before.room())).filter(|place| {
                    before.places().nth(*place).flatten() != state.places().nth(*place).flatten()
                });
                prop_assert_eq!(state.since(&before).map(|found| found.place).collect::<Vec<_>>(), naive_since.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_change_is_found_without_looking_at_all_the_others() {
        let put = |name: u8, text: &str| Change::Put { key: key(name), text: text.into() };
        let all: Vec<Change> = (0..=u8::MAX).map(|name| put(name, "one")).collect();
        let before = State::default().with(&all);
        let after = before.with(&[put(100, "two")]);
        assert_eq!(after.documents.unshared(&before.documents), 1);
        assert_eq!(after.places.unshared(&before.places), 0);
        let found: Vec<_> =
            after.since(&before).filter_map(|found| Some((found.place, found.after?.0.clone()))).collect();
        assert_eq!(found, [(100, key(100))]);
    }
}
