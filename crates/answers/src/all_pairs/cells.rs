//! All pairs in cells of equal answers. There may be millions of pairs, so who stands for each is a number until somebody looks.

use std::collections::HashMap;
use std::hash::Hash;

use upheld_model::Sym;

use super::{Pairs, Standing};

/// Pairs with one answer: callers who get the same answers everywhere, and called ones of whom everybody gets the same.
#[derive(Clone, Debug)]
pub struct Cell<'p> {
    /// The first of those who call.
    pub from: Sym,
    /// How many call.
    pub proxies: usize,
    /// The first of those called.
    pub to: &'p str,
    /// How many are called.
    pub destinations: usize,
    /// Who stands.
    pub standing: Standing,
}

/// All cells of a mesh.
#[derive(Debug)]
pub struct PairCells<'p> {
    /// The first of callers who get the same answers, their class, and how many they are.
    callers: Vec<(&'p Sym, usize, usize)>,
    /// The same of those called.
    called: Vec<(&'p String, usize, usize)>,
    /// Who stands by number, by class of callers and class of those called.
    numbers: Vec<Vec<u32>>,
    standings: Vec<Standing>,
}

impl Pairs {
    /// All pairs in cells.
    pub fn cells(&self) -> PairCells<'_> {
        let (numbers, standings) = self.by_standing();
        let callers = alike(&self.source_of, &self.proxies, |class| numbers.get(class));
        let column = |class: usize| {
            let rows = callers.iter().filter_map(|(_, caller, _)| numbers.get(*caller));
            rows.filter_map(|row| row.get(class).copied()).collect::<Vec<u32>>()
        };
        let called = alike(&self.destination_of, &self.destinations, column);
        PairCells { callers, called, numbers, standings }
    }
}

impl<'p> PairCells<'p> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.callers.len() * self.called.len()
    }

    /// Each of them, by the first caller and the first that is called.
    pub fn each(&self) -> impl Iterator<Item = Cell<'p>> {
        self.callers.iter().flat_map(move |(from, caller, proxies)| {
            let row = self.numbers.get(*caller);
            self.called.iter().map(move |(to, called, destinations)| {
                let number = row.and_then(|row| row.get(*called));
                let standing = number.and_then(|number| self.standings.get(*number as usize)).cloned();
                let standing = standing.unwrap_or_default();
                Cell { from: **from, proxies: *proxies, to: to.as_str(), destinations: *destinations, standing }
            })
        })
    }
}

/// Members of classes with equal answers together: the first of them, its class, and how many they are.
fn alike<'m, M, K: Eq + Hash>(
    class_of: &[usize],
    members: &'m [M],
    answers: impl Fn(usize) -> K,
) -> Vec<(&'m M, usize, usize)> {
    let mut found: Vec<(&M, usize, usize)> = Vec::new();
    let mut place_of: HashMap<usize, usize> = HashMap::new();
    let mut known: HashMap<K, usize> = HashMap::new();
    for (class, member) in class_of.iter().zip(members) {
        let place = *place_of.entry(*class).or_insert_with(|| {
            *known.entry(answers(*class)).or_insert_with(|| {
                found.push((member, *class, 0));
                found.len() - 1
            })
        });
        if let Some((_, _, count)) = found.get_mut(place) {
            *count += 1;
        }
    }
    found
}
