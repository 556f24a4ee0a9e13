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
    /// Where they are looked for.
    pub namespaces: TargetNamespaces,
    /// The section that is meant instead of the whole.
    pub section: Option<Sym>,
    /// Where that was written.
    pub at: NodeRef,
}

/// The namespaces in which a policy selects objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TargetNamespaces {
    /// Its own; others only where a place takes policies from there.
    #[default]
    Own,
    /// All.
    All,
    /// Those whose labels are as they must be, its own among them or not.
    Labelled(Vec<LabelWant>),
}

/// What is known of the labels of a namespace.
#[derive(Clone, Copy, Debug, Default)]
pub struct NamespaceLabels<'l> {
    /// A label that every namespace has, with its value here.
    pub always: Option<(Sym, Sym)>,
    /// All others; `None` if nobody knows them.
    pub others: Option<&'l TagSet>,
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
        let found = self.key().and_then(|key| labels.get(key));
        match self {
            Self::Exists(_) => found.is_some(),
            Self::Absent(_) => found.is_none(),
            _ => self.takes(found.and_then(|tag| tag.value)),
        }
    }

    /// Whether a label with this value is as it must be; `None` is one that is not there.
    fn takes(&self, value: Option<Sym>) -> bool {
        match self {
            Self::Is(_, wanted) => value == Some(*wanted),
            Self::In(_, wanted) => value.is_some_and(|value| wanted.contains(&value)),
            Self::NotIn(_, unwanted) => value.is_none_or(|value| !unwanted.contains(&value)),
            Self::Exists(_) => value.is_some(),
            Self::Absent(_) => value.is_none(),
            Self::Anything => true,
            Self::Impossible => false,
        }
    }

    /// The label that it is about.
    fn key(&self) -> Option<Sym> {
        match self {
            Self::Is(key, _) | Self::In(key, _) | Self::NotIn(key, _) | Self::Exists(key) | Self::Absent(key) => {
                Some(*key)
            }
            Self::Anything | Self::Impossible => None,
        }
    }
}

impl NamespaceLabels<'_> {
    /// Whether a label is as it must be; `None` if nobody knows it.
    fn fulfil(&self, want: &LabelWant) -> Option<bool> {
        let always = self.always.filter(|(key, _)| want.key() == Some(*key));
        match (always, self.others) {
            (Some((_, value)), _) => Some(want.takes(Some(value))),
            (None, Some(others)) => Some(want.holds(others)),
            (None, None) => want.key().is_none().then(|| want.takes(None)),
        }
    }
}

impl TargetNamespaces {
    /// Whether the objects of a namespace are selected whosesoever the policy is, by the labels of the namespace; `None` if that
    /// depends on labels that nobody knows.
    pub fn reach(&self, labels: NamespaceLabels<'_>) -> Option<bool> {
        match self {
            Self::Own => Some(false),
            Self::All => Some(true),
            Self::Labelled(wants) => {
                let mut all = Some(true);
                for want in wants {
                    match labels.fulfil(want) {
                        // One that certainly fails is enough, whatever the others are.
                        Some(false) => return Some(false),
                        Some(true) => {}
                        None => all = None,
                    }
                }
                all
            }
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
