//! Maximal cliques, by Bron and Kerbosch with the pivot of Tomita.
//!
//! There can be exponentially many, and without the pivot the search itself would take that long where there are few.

use super::bits::Bits;
use super::limits::{Effort, TooManyCells};

/// Hands over every maximal set of numbers that are all neighbours of each other.
pub(super) fn maximal_cliques(
    neighbours: &[Bits],
    effort: &mut Effort,
    mut found: impl FnMut(&[usize], &mut Effort) -> Result<(), TooManyCells>,
) -> Result<(), TooManyCells> {
    let count = neighbours.len();
    let mut clique: Vec<usize> = Vec::new();
    // Not recursive: a clique may have more members than a stack has room for.
    let mut stages = vec![Stage::new(Bits::all(count), Bits::none(count), neighbours, effort)?];
    while let Some(stage) = stages.last_mut() {
        let Some(next) = stage.branches.pop() else {
            stages.pop();
            clique.pop();
            continue;
        };
        effort.spend(2 * stage.open.steps())?;
        let Some((open, done)) = stage.take(next, neighbours) else { continue };
        clique.push(next);
        if open.is_empty() {
            if done.is_empty() {
                found(&clique, effort)?;
            }
            clique.pop();
        } else {
            stages.push(Stage::new(open, done, neighbours, effort)?);
        }
    }
    Ok(())
}

/// A clique that can still grow.
struct Stage {
    /// What can join it.
    open: Bits,
    /// What could, but all cliques with it are already found.
    done: Bits,
    /// What of the open is to be tried.
    branches: Vec<usize>,
}

impl Stage {
    fn new(open: Bits, done: Bits, neighbours: &[Bits], effort: &mut Effort) -> Result<Self, TooManyCells> {
        let branches = branches(&open, &done, neighbours, effort)?;
        Ok(Self { open, done, branches })
    }

    /// What can join, and what could have joined, when this one has.
    fn take(&mut self, next: usize, neighbours: &[Bits]) -> Option<(Bits, Bits)> {
        let near = neighbours.get(next)?;
        let joined = (self.open.and(near), self.done.and(near));
        self.open.remove(next);
        self.done.insert(next);
        Some(joined)
    }
}

/// A maximal clique has the pivot or something that is not a neighbour of it, so the neighbours of the pivot need not be
/// tried. The best pivot has the most of them.
fn branches(open: &Bits, done: &Bits, neighbours: &[Bits], effort: &mut Effort) -> Result<Vec<usize>, TooManyCells> {
    let open_count = open.count();
    let mut best: Option<(usize, &Bits)> = None;
    let of_done = done.iter().map(|number| (number, open_count));
    // Nothing is its own neighbour.
    let of_open = open.iter().map(|number| (number, open_count.saturating_sub(1)));
    for (number, most) in of_done.chain(of_open) {
        let Some(near) = neighbours.get(number) else { continue };
        effort.spend(open.steps())?;
        let common = open.count_common(near);
        if best.is_none_or(|(count, _)| common > count) {
            best = Some((common, near));
        }
        if common == most {
            break;
        }
    }
    let mut branches = open.clone();
    if let Some((_, near)) = best {
        branches.remove_all(near);
    }
    Ok(branches.iter().collect())
}
