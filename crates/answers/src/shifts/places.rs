//! Places at gateways, routes and backends, and pods that call each other: all of them are asked on both sides, or those that a change can
//! reach where their system can tell.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use upheld_dialects::dialect::{Dialect, Listing, Reached};
use upheld_dialects::dialects;
use upheld_engine::work;
use upheld_report::{Depth, Report, ShiftCounts, Shifts, Size};

use super::{Answers, Asked, Compared, Gathered, Owners, Walk, not_compared};
use crate::owners;
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
        let (mut gathered, mut is_nothing, mut asked) = (Gathered::default(), true, 0);
        for dialect in dialects() {
            let reached = self.reached(dialect);
            let Reached { same, began, ended, beyond, listing, .. } = reached;
            is_nothing &= reached.questions.is_empty() && same + began + ended + beyond == 0;
            if listing == Listing::Cut {
                let because = format!("there are more than {MOST} places to ask about");
                all = all.with(not_compared("What is beyond the first of them".to_owned(), because));
            }
            if self.from == 0 {
                all.counts += ShiftCounts { compared: same, began, ended, beyond, ..ShiftCounts::default() };
            }
            for alike in in_order(reached.questions) {
                // Whoever asks from here on gets one answer at least.
                if asked > self.from && work::is_hurried() {
                    all.next = Some(asked);
                    break;
                }
                if asked >= self.from {
                    self.place(&alike, &mut all, &mut gathered);
                }
                asked += 1;
            }
            if let Some(next) = all.next {
                let what = format!("What comes after the first {next} questions about places");
                all = all.with(not_compared(what, "one answer takes no longer, and the next one goes on there"));
                break;
            }
        }
        if is_nothing && self.from == 0 {
            return self.attached().fold(all, |all, kind| {
                all.with(not_compared(kind.to_owned(), "nothing was read that it could be attached to"))
            });
        }
        all.shifts = gathered.shifts();
        all
    }

    /// The questions of a dialect that the change may reach; all of them where that is not known.
    fn reached(&self, dialect: &dyn Dialect) -> Reached {
        let snapshots = [self.before.snapshot(), self.after.snapshot()];
        // What holds at places does not depend on the time, which two sides may have read one after the other.
        let [was, is] = [self.before.options(), self.after.options()].map(|one| (&one.mesh, &one.semantics));
        let is_known = self.walk == Walk::Reached && was == is;
        let reached = is_known.then(|| dialect.reached(snapshots, self.causes.documents(), MOST)).flatten();
        reached.unwrap_or_else(|| {
            let [(was, was_all), (is, is_all)] = snapshots.map(|snapshot| dialect.questions(snapshot, MOST));
            // One by one: there may be so many that to sort them all takes a while.
            let mut both: BTreeMap<String, Words> = BTreeMap::new();
            for words in was.into_iter().chain(is) {
                work::step();
                both.insert(key(&words), words);
            }
            let is_cut = [was_all, is_all].contains(&Listing::Cut);
            Reached {
                questions: both.into_values().map(|words| vec![words]).collect(),
                listing: if is_cut { Listing::Cut } else { Listing::Whole },
                ..Reached::default()
            }
        })
    }

    /// What is otherwise at places with one answer before and one after: the first of them is asked about.
    fn place(&self, alike: &[Words], all: &mut Shifts, gathered: &mut Gathered) {
        let Some(words) = alike.first() else { return };
        let count = alike.len() as u64;
        // What one side does not name, such as a port, the other may be asked about all the same.
        let reports = |world: &World<'_>| -> Option<Vec<Report>> {
            let question = world.question(words).ok()?;
            world.answer_to(&question, Depth::Answer).ok().map(|answer| answer.reports)
        };
        match (reports(self.before), reports(self.after)) {
            (Some(before), Some(after)) => {
                all.counts.compared += before.len().max(after.len()) as u64 * count;
                let answers = Answers { words, asked: Asked::Same, before: &before, after: &after };
                let size = if words.from.is_some() { Size::Connections(count) } else { Size::Places(count) };
                let found = self.otherwise(&answers, size);
                if self.owners == Owners::Counted && !found.is_empty() {
                    for words in alike {
                        *all.owners.entry(self.owner(words)).or_default() += found.len() as u64;
                    }
                }
                for shift in found {
                    all.counts.changed += count;
                    gathered.add(shift);
                }
            }
            (Some(before), None) => all.counts.ended += before.len() as u64 * count,
            (None, after) => all.counts.began += after.map_or(0, |after| after.len()) as u64 * count,
        }
    }

    /// Whose a place is: whose the object is that it belongs to.
    fn owner(&self, words: &Words) -> Option<String> {
        let named = words.what.as_ref().or(words.from.as_ref())?;
        let object = named.split('#').next().unwrap_or(named);
        let (kind, rest) = object.split_once('/')?;
        let (scope, name) = rest.split_once('/')?;
        let snapshot = self.after.snapshot();
        let types = dialects().flat_map(Dialect::own_types).filter(|known| known.eq_ignore_ascii_case(kind));
        let found = types.into_iter().find_map(|known| snapshot.object_named(known, scope, name))?;
        owners::of_document(snapshot, snapshot.objects().get(found)?.at)
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

/// By which questions are in order.
fn key(words: &Words) -> String {
    serde_json::to_string(words).unwrap_or_default()
}

/// Questions in order, and lists of them by the first of each.
fn in_order(questions: Vec<Vec<Words>>) -> impl Iterator<Item = Vec<Words>> {
    let mut by_first: BTreeMap<Option<String>, Vec<Words>> = BTreeMap::new();
    for mut alike in questions {
        work::steps(alike.len() as u64);
        alike.sort_by_cached_key(key);
        by_first.insert(alike.first().map(key), alike);
    }
    by_first.into_values()
}
