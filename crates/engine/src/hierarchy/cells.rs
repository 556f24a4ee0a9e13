//! Targets at which the same entries meet in the same way: they have one answer.

use smallvec::SmallVec;
use smol_str::SmolStr;
use upheld_model::NodeRef;

use super::index::{Attachment, Hierarchy, Via};
use super::question::{LevelJoin, Question, Usable};
use crate::ask::{EntryId, Hit, Scratch, gather};
use crate::partition::{CellTable, Partition};
use crate::witness::Silent;

/// Questions in cells: each cell is what an answer depends on.
#[derive(Debug)]
pub struct Cells<'q> {
    hierarchy: &'q Hierarchy,
    table: CellTable<CellKey, Question<'q>>,
}

/// What an answer depends on: questions with equal keys have equal answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CellKey {
    hits: Vec<KeyHit>,
    levels: SmallVec<[LevelJoin; 2]>,
    omits: Vec<SmolStr>,
    omits_in: Vec<(u8, SmolStr)>,
}

/// An entry at a place, without what is different at every place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct KeyHit {
    entry: EntryId,
    own: Option<NodeRef>,
    scope: u8,
    level: u16,
    section: u8,
    via: Via,
    position: u32,
    counts: Use,
}

/// Whether an entry counts, without the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Use {
    Yes,
    Broken,
    Off,
}

impl<'q> Cells<'q> {
    /// No cells yet.
    pub fn new(hierarchy: &'q Hierarchy) -> Self {
        Self { hierarchy, table: CellTable::default() }
    }

    /// The cell of a question, made if it is new.
    pub fn classify(&mut self, question: Question<'q>) -> usize {
        self.table.add(self.hierarchy.cell(&question), question)
    }
}

impl Hierarchy {
    /// What the answer to a question depends on.
    pub fn cell(&self, question: &Question<'_>) -> CellKey {
        let mut scratch = Scratch::default();
        gather(self, question, &mut scratch, &mut Silent);
        self.cell_of(question, scratch.hits())
    }

    /// What the answer depends on, given what was gathered for the question.
    pub fn cell_of(&self, question: &Question<'_>, hits: &[Hit<Attachment>]) -> CellKey {
        let key = |hit: &Hit<Attachment>| {
            let site = question.site(hit.place.0 as usize)?;
            let Attachment { via, position, at } = hit.measure;
            let counts = match self.usable(question, hit) {
                Usable::Yes => Use::Yes,
                Usable::Broken(_) => Use::Broken,
                Usable::Off(_) => Use::Off,
            };
            // What a target says itself is told apart by where it was written; its number is only a place.
            let (entry, own) = match via {
                Via::Own => (EntryId::new(usize::MAX), Some(at)),
                Via::Listed | Via::Named | Via::Selected => (hit.entry, None),
            };
            let (scope, level, section) = (site.scope, site.level, site.section);
            Some(KeyHit { entry, own, scope, level, section, via, position, counts })
        };
        let mut keys = Vec::with_capacity(hits.len());
        keys.extend(hits.iter().filter_map(key));
        keys.sort_unstable();
        let omits = question.omits.iter().map(SmolStr::new).collect();
        // Where nobody speaks, nothing is left out.
        let spoken = |(scope, _): &(u8, &[&str])| keys.iter().any(|hit| hit.scope == *scope);
        let (scope, names) = question.omits_in.filter(spoken).unwrap_or_default();
        let omits_in = names.iter().map(|name| (scope, SmolStr::new(name))).collect();
        CellKey { hits: keys, levels: SmallVec::from_slice(question.levels), omits, omits_in }
    }
}

impl<'q> Partition for Cells<'q> {
    type Question<'p>
        = Question<'p>
    where
        'q: 'p;
    type Cell = usize;

    fn cells(&self) -> impl Iterator<Item = usize> {
        self.table.cells()
    }

    fn representative(&self, cell: usize) -> Question<'_> {
        const NOWHERE: Question<'static> =
            Question { sites: &[], levels: &[], omits: &[], omits_in: None, usable: &|_, _| Usable::Yes };
        self.table.first(cell).copied().unwrap_or(NOWHERE)
    }

    fn size(&self, cell: usize) -> u64 {
        self.table.size(cell)
    }

    fn locate(&self, question: Question<'_>) -> Option<usize> {
        self.table.find(&self.hierarchy.cell(&question))
    }
}
