//! The documents of a snapshot as one fingerprint, whatever their order: blind to file names, formatting, comments and the order
//! of keys.

use std::sync::{Arc, OnceLock};

use upheld_model::tree::{Kind, Value};
use upheld_model::{Files, NodeRef};

use crate::digest::{Encoder, Fingerprint};
use crate::work;

/// Fingerprints of documents, in buckets by their first byte. A change copies the buckets that it touches, and only these are
/// hashed again.
#[derive(Clone, Debug)]
pub(super) struct DocumentSet {
    buckets: Vec<Arc<Bucket>>,
}

#[derive(Clone, Debug, Default)]
struct Bucket {
    /// In ascending order; a document that is there twice counts twice.
    fingerprints: Vec<Fingerprint>,
    digest: OnceLock<Fingerprint>,
}

const BUCKETS: usize = 256;

impl DocumentSet {
    /// Of some documents.
    pub(super) fn new(files: &Files, documents: &[NodeRef]) -> Self {
        // They are spread evenly, so that there is room for all of them without growing, which would take twice of it.
        let room = documents.len() / BUCKETS;
        let empty = || Bucket { fingerprints: Vec::with_capacity(room + room / 8), ..Bucket::default() };
        let mut buckets: Vec<Bucket> = std::iter::repeat_with(empty).take(BUCKETS).collect();
        for fingerprint in fingerprints(files, documents) {
            work::step();
            if let Some(bucket) = buckets.get_mut(usize::from(fingerprint[0])) {
                bucket.fingerprints.push(fingerprint);
            }
        }
        for bucket in &mut buckets {
            bucket.fingerprints.sort_unstable();
        }
        Self { buckets: buckets.into_iter().map(Arc::new).collect() }
    }

    /// With one more.
    pub(super) fn add(&mut self, fingerprint: Fingerprint) {
        self.change(fingerprint, |fingerprints| {
            let place = fingerprints.partition_point(|known| *known < fingerprint);
            fingerprints.insert(place, fingerprint);
        });
    }

    /// Without one of those that are alike.
    pub(super) fn remove(&mut self, fingerprint: Fingerprint) {
        self.change(fingerprint, |fingerprints| {
            if let Ok(place) = fingerprints.binary_search(&fingerprint) {
                fingerprints.remove(place);
            }
        });
    }

    fn change(&mut self, fingerprint: Fingerprint, edit: impl FnOnce(&mut Vec<Fingerprint>)) {
        let [first, ..] = fingerprint;
        if let Some(bucket) = self.buckets.get_mut(usize::from(first)) {
            let bucket = Arc::make_mut(bucket);
            edit(&mut bucket.fingerprints);
            bucket.digest = OnceLock::new();
        }
    }

    /// The fingerprint of all of them.
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        encoder.list(&self.buckets, |encoder, bucket| encoder.fingerprint(bucket.digest()));
    }

    /// How many buckets two sets do not share: what a change has hashed again.
    pub(super) fn unshared(&self, other: &Self) -> usize {
        self.buckets.iter().zip(&other.buckets).filter(|(own, other)| !Arc::ptr_eq(own, other)).count()
    }
}

impl Bucket {
    fn digest(&self) -> &Fingerprint {
        self.digest.get_or_init(|| {
            let mut encoder = Encoder::default();
            encoder.list(&self.fingerprints, Encoder::fingerprint);
            encoder.finish()
        })
    }
}

/// The fingerprints of documents.
pub(super) fn fingerprints(files: &Files, documents: &[NodeRef]) -> impl Iterator<Item = Fingerprint> {
    let mut encoder = Encoder::default();
    let values = documents.iter().filter_map(|at| files.value(*at));
    values.map(move |value| {
        value.fingerprint(|value| {
            encode(value, &mut encoder);
            encoder.take()
        })
    })
}

/// The fingerprint of what a document says.
pub fn of_document(document: Value<'_>) -> Fingerprint {
    document.fingerprint(|value| {
        let mut encoder = Encoder::default();
        encode(value, &mut encoder);
        encoder.finish()
    })
}

fn encode(value: Value<'_>, encoder: &mut Encoder) {
    match value.kind() {
        Kind::Null => encoder.word("null"),
        Kind::Text => {
            encoder.word("text");
            encoder.text(value.text());
        }
        Kind::Bool | Kind::Integer | Kind::Float => {
            encoder.word("scalar");
            encoder.text(value.text());
        }
        Kind::List => {
            encoder.word("list");
            encoder.list(value.items(), |encoder, item| encode(item, encoder));
        }
        Kind::Map => {
            let mut entries: Vec<_> = value.entries().collect();
            entries.sort_by_key(|(key, _)| key.text());
            encoder.word("map");
            encoder.list(entries, |encoder, (key, value)| {
                encode(key, encoder);
                encode(value, encoder);
            });
        }
    }
}
