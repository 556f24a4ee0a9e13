//! What a policy says that is attached to objects of a hierarchy: to which of them, and layers of configuration.
//!
//! Nothing here is resolved: an object is named by its identity, whether or not it is there, so that a policy can be read
//! without looking at any other document.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::config::Config;
use crate::source::NodeRef;
use crate::symbols::Sym;
use crate::tags::TagSet;

/// A policy that is attached to objects.
#[derive(Clone, Debug, Default)]
pub struct Attachments {
    /// The API group that the policy belongs to: types of several groups may have one name.
    pub group: Option<Sym>,
    /// Objects by name.
    pub targets: Vec<TargetReference>,
    /// Objects by their labels.
    pub selectors: Vec<TargetSelector>,
    /// How much it weighs; more goes first.
    pub weight: i64,
    /// Whole numbers that it ranks by, beside its age and its names, with what they are called.
    pub numbers: Vec<(Sym, i64)>,
    /// What it says.
    pub layers: Vec<AttachedLayer>,
    /// What is wrong with it by itself.
    pub problems: Vec<SmolStr>,
}

/// An object that a policy names, or a section of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetReference {
    /// Its type.
    pub kind: Sym,
    /// Its namespace.
    pub namespace: Sym,
    /// Its name.
    pub name: Sym,
    /// The section that is meant instead of the whole.
    pub section: Option<Sym>,
    /// Where that was written.
    pub at: NodeRef,
}

/// Objects that a policy selects, or a section of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSelector {
    /// Their type.
    pub kind: Sym,
    /// What their labels must be; all of it must hold, and nothing at all selects nothing.
    pub wants: Vec<LabelWant>,
    /// The section that is meant instead of the whole.
    pub section: Option<Sym>,
    /// Where that was written.
    pub at: NodeRef,
}

/// What a label must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelWant {
    /// It has this value.
    Is(Sym, Sym),
    /// It has one of these values.
    In(Sym, Vec<Sym>),
    /// It has none of these values; also if it is not there.
    NotIn(Sym, Vec<Sym>),
    /// It is there.
    Exists(Sym),
    /// It is not there.
    Absent(Sym),
    /// Nothing in particular: everything is selected.
    Anything,
    /// Nothing fulfils it: it was written in a way that nobody understands.
    Impossible,
}

impl LabelWant {
    /// Whether labels are as they must be.
    pub fn holds(&self, labels: &TagSet) -> bool {
        let value = |key: Sym| labels.get(key).and_then(|tag| tag.value);
        match self {
            Self::Is(key, wanted) => value(*key) == Some(*wanted),
            Self::In(key, wanted) => value(*key).is_some_and(|value| wanted.contains(&value)),
            Self::NotIn(key, unwanted) => value(*key).is_none_or(|value| !unwanted.contains(&value)),
            Self::Exists(key) => labels.get(*key).is_some(),
            Self::Absent(key) => labels.get(*key).is_none(),
            Self::Anything => true,
            Self::Impossible => false,
        }
    }
}

impl TargetSelector {
    /// Whether an object with these labels is selected, given that its type is the right one.
    pub fn selects(&self, labels: &TagSet) -> bool {
        !self.wants.is_empty() && self.wants.iter().all(|want| want.holds(labels))
    }
}

/// One layer of configuration, and how it meets others.
#[derive(Clone, Debug)]
pub struct AttachedLayer {
    /// What it says.
    pub says: LayerContent,
    /// How it meets others, where policies say that themselves.
    pub meets: Option<LayerMerge>,
}

/// What a layer says.
#[derive(Clone, Debug)]
pub enum LayerContent {
    /// Named fields, each of which meets others by a rule of its own.
    Fields(Vec<(SmolStr, Arc<Config>)>),
    /// One configuration.
    Whole {
        /// As it was written.
        config: Arc<Config>,
        /// As it counts where it is merged with another, if that is not the same.
        merged: Option<Arc<Config>>,
    },
}

/// How two layers meet: what was there before, which ranks better, and what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MergeAction {
    /// What was there stays.
    Keep,
    /// What comes replaces it.
    Take,
    /// Both, what was there preferred.
    KeepOver,
    /// Both, what comes preferred.
    TakeOver,
}

/// How a layer wants to meet others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayerMerge {
    /// What happens.
    pub act: MergeAction,
    /// By which of the strategies of its kind, where both count.
    pub strategy: u8,
}
