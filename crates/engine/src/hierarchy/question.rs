//! What is asked: places, from the nearest to the widest, at which entries are looked for.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::{Config, NamespaceLabels, NodeRef, Object, Reason, Sym};

use super::fields::Inheritance;
use super::index::Entry;
use crate::ask::{EntryId, Place};

/// What holds at a target.
#[derive(Clone, Copy)]
pub struct Question<'q> {
    /// Where to look for entries.
    pub sites: &'q [Site<'q>],
    /// How each level meets those before it.
    pub levels: &'q [LevelJoin],
    /// Fields that mean nothing at this target.
    pub omits: &'q [&'q str],
    /// Fields that mean nothing in one of the scopes, whatever they mean in others.
    pub omits_in: Option<(u8, &'q [&'q str])>,
    /// Which entries can be used where: what is wrong with a policy may depend on other documents.
    pub usable: &'q dyn Fn(&Entry, Place) -> Usable,
}

impl Question<'_> {
    /// Whether a field means nothing in a scope, while it may in others.
    pub(super) fn omits_in(&self, scope: u8, name: &str) -> bool {
        self.omits_in.is_some_and(|(there, names)| there == scope && names.contains(&name))
    }
}

impl std::fmt::Debug for Question<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Question").field("sites", &self.sites).field("levels", &self.levels).finish_non_exhaustive()
    }
}

/// A place at which entries are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Site<'q> {
    /// How near it is: what a nearer scope sets hides what a wider one sets.
    pub scope: u8,
    /// How many steps above the target: 0 is the target itself.
    pub level: u16,
    /// How specific it is among the places of its level: 0 is the most specific.
    pub section: u8,
    /// What is looked for.
    pub looks: EntrySource<'q>,
}

/// What is looked for at a place.
#[derive(Clone, Copy, Debug)]
pub enum EntrySource<'q> {
    /// Entries that name or select an object or a section of it.
    Object {
        /// The object.
        object: &'q Object,
        /// The section; `None` is the object as a whole.
        section: Option<Section<'q>>,
        /// The namespaces whose policies may select it by its labels.
        namespaces: &'q [Sym],
        /// What is known of its own namespace: policies of any other may select it by that.
        around: NamespaceLabels<'q>,
    },
    /// Entries that the place itself refers to.
    Listed(&'q [Listed]),
    /// What the target says itself, in this order.
    Own(&'q [OwnLayer]),
}

/// An entry that a place refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The entry.
    pub entry: EntryId,
    /// The number of the reference at this place.
    pub position: u32,
    /// Where the reference was written.
    pub at: NodeRef,
}

/// A section of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section<'q> {
    /// Its name, as entries have it.
    pub symbol: Sym,
    /// Its name, which is part of identities.
    pub text: &'q str,
}

/// What a target says itself.
#[derive(Clone, Debug)]
pub struct OwnLayer {
    /// What it says.
    pub says: OwnContent,
    /// Where it was written.
    pub at: NodeRef,
}

/// What a target says itself.
#[derive(Clone, Debug)]
pub enum OwnContent {
    /// By field and the part of it that is meant.
    Fields(Vec<(SmolStr, Option<SmolStr>, Arc<Config>)>),
    /// One configuration.
    Whole(Arc<Config>),
}

/// How a level meets those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LevelJoin {
    /// What happens.
    pub inheritance: Inheritance,
    /// What users call it.
    pub word: Option<Sym>,
}

/// Whether an entry can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usable {
    /// It can.
    Yes,
    /// It cannot, for this reason, and nothing holds where it is attached.
    Broken(Reason),
    /// It does not count, and all else is as if it were not there.
    Off(Reason),
}

impl<'q> Question<'q> {
    /// A place by its number.
    pub(super) fn site(&self, place: usize) -> Option<&'q Site<'q>> {
        self.sites.get(place)
    }

    /// How a level meets those before it.
    pub(super) fn level(&self, level: u16) -> LevelJoin {
        self.levels.get(usize::from(level)).copied().unwrap_or_default()
    }
}
