//! Places at gateways, routes and backends, and pods that call each other: each is asked on both sides.

use std::collections::BTreeMap;

use upheld_dialects::dialect::Listing;
use upheld_dialects::dialects;
use upheld_engine::Snapshot;
use upheld_report::{Report, Shifts, Size};

use super::{Answers, Asked, Compared, Gathered, Owners, not_compared};
use crate::owners;
use crate::shown::shown;
use crate::{Words, World};

/// So many questions of each system are asked.
const MOST: usize = 100_000;

impl Compared<'_, '_> {
    /// What is otherwise at the places that dialects can list.
    pub(super) fn places(&self) -> Shifts {
        let mut all = Shifts::default();
        if self.causes.kinds().next().is_none() && self.before.options() == self.after.options() {
            return all;
        }
        let (was, was_all) = questions(self.before.snapshot());
        let (is, is_all) = questions(self.after.snapshot());
        if was_all == Listing::Cut || is_all == Listing::Cut {
            let because = format!("there are more than {MOST} places to ask about");
            all = all.with(not_compared("What is beyond the first of them".to_owned(), because));
        }
        if was.is_empty() && is.is_empty() {
            return self.attached().fold(all, |all, kind| {
                all.with(not_compared(kind.to_owned(), "nothing was read that it could be attached to"))
            });
        }
        let mut gathered = Gathered::default();
        for words in was.values().chain(is.iter().filter(|(name, _)| !was.contains_key(*name)).map(|(_, words)| words))
        {
            // What one side does not name, such as a port, the other may be asked about all the same.
            let reports = |world: &World<'_>| -> Option<Vec<Report>> {
                let question = world.question(words).ok()?;
                world.answer(&question).ok().map(|answer| answer.reports)
            };
            match (reports(self.before), reports(self.after)) {
                (Some(before), Some(after)) => {
                    all.counts.compared += before.len().max(after.len()) as u64;
                    let answers = Answers { words, asked: Asked::Same, before: &before, after: &after };
                    let one = if words.from.is_some() { Size::Connections(1) } else { Size::Places(1) };
                    let found = self.otherwise(&answers, one);
                    if self.owners == Owners::Counted && !found.is_empty() {
                        *all.owners.entry(self.owner(words)).or_default() += found.len() as u64;
                    }
                    for shift in found {
                        all.counts.changed += 1;
                        gathered.add(shift);
                    }
                }
                (Some(before), None) => all.counts.ended += before.len() as u64,
                (None, after) => all.counts.began += after.map_or(0, |after| after.len()) as u64,
            }
        }
        all.shifts = gathered.shifts();
        all
    }

    /// Whose a place is: whose the object is that it belongs to.
    fn owner(&self, words: &Words) -> Option<String> {
        let named = words.what.as_ref().or(words.from.as_ref())?;
        let object = named.split('#').next().unwrap_or(named);
        let snapshot = self.after.snapshot();
        owners::of_document(snapshot, shown(snapshot, object, self.after.options().mesh.as_deref()).ok()?.node)
    }

    /// The types of changed policies that are attached to places.
    fn attached(&self) -> impl Iterator<Item = &str> {
        let snapshots = [self.before.snapshot(), self.after.snapshot()];
        let is_attached = move |name: &str| {
            let mut kinds = snapshots.into_iter().flat_map(|snapshot| {
                let attached = snapshot.kinds().iter().filter(|(_, kind)| kind.hierarchy().is_some());
                attached.map(|(_, kind)| snapshot.text(kind.governs))
            });
            kinds.any(|governs| governs == name)
        };
        self.causes.kinds().filter(move |name| is_attached(name))
    }
}

/// What can be asked, by its words.
fn questions(snapshot: &Snapshot) -> (BTreeMap<String, Words>, Listing) {
    let mut all = BTreeMap::new();
    let mut listing = Listing::Whole;
    for dialect in dialects() {
        let (questions, own) = dialect.questions(snapshot, MOST);
        if own == Listing::Cut {
            listing = own;
        }
        all.extend(questions.into_iter().map(|words| (serde_json::to_string(&words).unwrap_or_default(), words)));
    }
    (all, listing)
}
