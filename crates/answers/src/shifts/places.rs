//! Places at gateways, routes and backends: each is asked on both sides.

use std::collections::BTreeSet;

use upheld_dialects::dialects;
use upheld_engine::Snapshot;
use upheld_report::{Report, Shifts, Size};

use super::{Answers, Compared, Gathered};
use crate::{Words, World};

impl Compared<'_, '_> {
    /// What is otherwise at the places that dialects can list.
    pub(super) fn places(&self) -> Shifts {
        let mut all = Shifts::default();
        if self.causes.kinds().next().is_none() && self.before.options() == self.after.options() {
            return all;
        }
        let names = |snapshot: &Snapshot| -> BTreeSet<String> {
            dialects().flat_map(|dialect| dialect.places(snapshot)).collect()
        };
        let (was, is) = (names(self.before.snapshot()), names(self.after.snapshot()));
        let mut gathered = Gathered::default();
        for name in was.union(&is) {
            let words = Words { what: Some(name.clone()), ..Words::default() };
            let reports = |world: &World<'_>, known: bool| -> Vec<Report> {
                let question = world.question(&words).ok().filter(|_| known);
                question
                    .and_then(|question| world.answer(&question).ok())
                    .map(|answer| answer.reports)
                    .unwrap_or_default()
            };
            let (before, after) = (reports(self.before, was.contains(name)), reports(self.after, is.contains(name)));
            match (was.contains(name), is.contains(name)) {
                (true, true) => {
                    all.counts.compared += before.len().max(after.len()) as u64;
                    let answers = Answers { words: &words, before: &before, after: &after };
                    for shift in self.otherwise(&answers, Size::Places(1)) {
                        all.counts.changed += 1;
                        gathered.add(shift);
                    }
                }
                (true, false) => all.counts.ended += before.len() as u64,
                (false, _) => all.counts.began += after.len() as u64,
            }
        }
        all.shifts = gathered.shifts();
        all
    }
}
