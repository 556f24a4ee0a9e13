//! From hits to the answer, and what became of each hit.

use rustc_hash::FxHashSet;
use upheld_model::{Code, Param, Reason, Side, State};

use super::fit::{Found, any_selector};
use super::{Column, Granted, Question, Select, Selected, Specificity};
use crate::ask::{EntryId, Hit};
use crate::kind::Grants;
use crate::witness::Witness;

impl Select {
    /// The best one stands.
    pub(super) fn resolve_first<W: Witness<Specificity>>(
        &self,
        question: &Question<'_>,
        hits: &mut [Hit<Specificity>],
        witness: &mut W,
    ) -> Selected {
        let ranked = hits.iter().map(|hit| (self.key(hit), hit));
        let winner = ranked.clone().filter(|(_, hit)| hit.certain).max_by_key(|(key, _)| *key);
        let winner = winner.map(|(key, hit)| (key, hit.entry));
        // An uncertain hit of the winner itself cannot take the win away; one of another entry that ranks above can.
        let undecided = ranked
            .filter(|(_, hit)| !hit.certain)
            .any(|(key, hit)| winner.is_none_or(|(winning, entry)| key > winning && hit.entry != entry));
        let winner = winner.map(|(_, entry)| entry);
        if W::RECORDS {
            self.tell_first(winner, undecided, question, hits, witness);
        }
        let granted = self.granted(winner, question, witness);
        Selected { winner, kept: usize::from(winner.is_some()), undecided, granted }
    }

    fn tell_first<W: Witness<Specificity>>(
        &self,
        winner: Option<EntryId>,
        undecided: bool,
        question: &Question<'_>,
        hits: &mut [Hit<Specificity>],
        witness: &mut W,
    ) {
        self.sort(hits);
        let winning = hits.iter().find(|hit| hit.certain && Some(hit.entry) == winner).copied();
        let mut after = hits.iter().skip_while(|hit| !(hit.certain && Some(hit.entry) == winner));
        // By how much it wins is by how much it beats another policy, not another piece of itself.
        let policy = |entry: EntryId| self.entry(entry).map(|entry| entry.policy);
        let runner_up = after.find(|hit| policy(hit.entry) != winner.and_then(policy));
        if let Some(winning) = winning {
            let separation =
                runner_up.filter(|_| !undecided).and_then(|runner_up| self.separation(&winning, runner_up));
            let alone = if undecided { Code::SelectCertain } else { Code::SelectOnly };
            if let Some((rung, _)) = separation {
                witness.decided(rung);
            }
            witness.state(&winning, State::Won, || separation.map_or(Reason::new(alone, &[]), |(_, reason)| reason));
        }
        let certain = certain_entries(hits);
        for hit in hits.iter().filter(|hit| Some(hit.entry) != winner) {
            match winning {
                Some(winning) if hit.certain => witness.state(hit, State::Lost, || {
                    let separation = self.separation(hit, &winning);
                    separation.map_or(Reason::new(Code::SelectIdentity, &[]), |(_, reason)| reason)
                }),
                _ if certain.contains(&hit.entry) => {}
                _ => self.tell_unknown(hit, question, witness),
            }
        }
    }

    /// All of them count.
    pub(super) fn resolve_all<W: Witness<Specificity>>(
        &self,
        question: &Question<'_>,
        hits: &mut Vec<Hit<Specificity>>,
        witness: &mut W,
    ) -> Selected {
        self.sort(hits);
        let certain = certain_entries(hits);
        let uncertain: Vec<Hit<Specificity>> =
            hits.iter().filter(|hit| !hit.certain && !certain.contains(&hit.entry)).copied().collect();
        hits.retain(|hit| hit.certain);
        if W::RECORDS {
            for hit in hits.iter() {
                witness.state(hit, State::Kept, || Reason::new(Code::SelectAggregate, &[]));
            }
            for hit in &uncertain {
                self.tell_unknown(hit, question, witness);
            }
        }
        let winner = hits.first().map(|hit| hit.entry);
        Selected { winner, kept: hits.len(), undecided: !uncertain.is_empty(), granted: Granted::NotAsked }
    }

    fn tell_unknown<W: Witness<Specificity>>(&self, hit: &Hit<Specificity>, question: &Question<'_>, witness: &mut W) {
        let Some(entry) = self.entry(hit.entry) else { return };
        let reason = self.fitness(entry, question).reason;
        witness.state(hit, State::Unknown, || reason);
    }

    /// Whether the winner's own list of clients has the caller.
    fn granted<W: Witness<Specificity>>(
        &self,
        winner: Option<EntryId>,
        question: &Question<'_>,
        witness: &mut W,
    ) -> Granted {
        let (Some(Grants::Field(_)), Some(parts)) = (self.kind.grants, question.source) else {
            return Granted::NotAsked;
        };
        let Some(entry) = winner.and_then(|winner| self.entry(winner)) else { return Granted::NotAsked };
        match any_selector(&entry.grants, parts, Side::Source) {
            Found::Yes => Granted::Yes,
            Found::Unknown(reason) => {
                witness.note(|| reason);
                Granted::Unknown
            }
            Found::No(reason) => {
                witness.note(|| reason);
                Granted::No
            }
        }
    }

    fn key(&self, hit: &Hit<Specificity>) -> u64 {
        self.ordinals.key(hit.entry.index()) + self.ordinals.layout().pack(hit.measure)
    }

    /// Best first.
    fn sort(&self, hits: &mut [Hit<Specificity>]) {
        hits.sort_by_key(|hit| std::cmp::Reverse((self.key(hit), hit.certain)));
    }

    /// On which rung two hits differ, seen from the first.
    pub(super) fn separation(&self, mine: &Hit<Specificity>, theirs: &Hit<Specificity>) -> Option<(usize, Reason)> {
        let (number, rung) =
            self.kind.rank.separate(|column| self.read(mine, column), |column| self.read(theirs, column))?;
        let count = |hit| match self.read(hit, rung.column) {
            // What the document does not say ranks below all numbers.
            i64::MIN => Param::Nothing,
            number => Param::Number(number),
        };
        let created = |hit: &Hit<Specificity>| Param::Time(self.entry(hit.entry).and_then(|entry| entry.created));
        let params = match rung.column {
            Column::Created => [created(mine), created(theirs), Param::Nothing],
            Column::Number(field) => [count(mine), count(theirs), Param::Text(field)],
            Column::Name | Column::Identity => {
                let other = self.entry(theirs.entry).map_or(Param::Nothing, |entry| Param::Text(entry.name));
                [other, Param::Nothing, Param::Nothing]
            }
            _ => [count(mine), count(theirs), Param::Nothing],
        };
        Some((number, Reason::new(rung.code(), &params)))
    }

    /// What a rung reads of a hit.
    fn read(&self, hit: &Hit<Specificity>, column: Column) -> i64 {
        if column.of_match() {
            return i64::from(hit.measure.column(column));
        }
        let id = u32::try_from(hit.entry.index()).unwrap_or(u32::MAX);
        self.entry(hit.entry).map_or(0, |entry| self.ordinals.read(id, entry, &self.kind.rank, column))
    }
}

/// The entries that match whatever a missing fact may be.
fn certain_entries(hits: &[Hit<Specificity>]) -> FxHashSet<EntryId> {
    hits.iter().filter(|hit| hit.certain).map(|hit| hit.entry).collect()
}
