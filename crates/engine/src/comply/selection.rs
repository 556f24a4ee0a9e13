//! Which objects of a side a policy is cut to. That depends on the side alone, so it is part of its signature.

use smol_str::SmolStr;
use upheld_model::{Sym, ValuesId};

use super::Comply;
use super::facts::{Object, ObjectId, Objects, chain_in};
use super::profile::Profile;
use super::value_lists::{NO_VALUES, ValueLists};

/// Which objects of a side count: those that one of `among` selects, or all where there is none; but for those that one of
/// `except` selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// One of them has to select the object.
    pub among: Vec<Selector>,
    /// None of them may.
    pub except: Vec<Selector>,
}

/// Selects objects; what is left out fits everything, the rest must all fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// Tags, each with values of which the object must have one.
    pub tags: Vec<(SmolStr, Vec<SmolStr>)>,
    /// References, of which the object must have one.
    pub objects: Vec<SmolStr>,
    /// References of scopes, in one of which the object must live.
    pub scopes: Vec<SmolStr>,
}

impl Selection {
    /// Whether all objects count.
    pub fn is_everything(&self) -> bool {
        self.among.is_empty() && self.except.is_empty()
    }

    /// All selectors.
    pub fn selectors(&self) -> impl Iterator<Item = &Selector> {
        self.among.iter().chain(&self.except)
    }

    /// The references that it names.
    pub fn references(&self) -> impl Iterator<Item = &SmolStr> {
        self.selectors().flat_map(|selector| selector.objects.iter().chain(&selector.scopes))
    }
}

/// Whether a policy counts for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selected {
    Yes,
    /// No selector is about it.
    NotAmong,
    /// It is left out.
    Excepted,
}

/// A selection in symbols, as signatures read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Picks {
    among: Vec<Pick>,
    except: Vec<Pick>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pick {
    tags: Vec<(Sym, Vec<Sym>)>,
    objects: Vec<SmolStr>,
    scopes: Vec<SmolStr>,
}

impl Picks {
    /// A selection in symbols; nothing if all objects count.
    pub(super) fn of(selection: &Selection, mut symbol: impl FnMut(&str) -> Sym) -> Option<Self> {
        let mut pick = |selector: &Selector| {
            let Selector { tags, objects, scopes } = selector;
            let mut tag = |(key, values): &(SmolStr, Vec<SmolStr>)| {
                (symbol(key), values.iter().map(|value| symbol(value)).collect())
            };
            Pick { tags: tags.iter().map(&mut tag).collect(), objects: objects.clone(), scopes: scopes.clone() }
        };
        let Selection { among, except } = selection;
        let picks =
            || Self { among: among.iter().map(&mut pick).collect(), except: except.iter().map(&mut pick).collect() };
        (!selection.is_everything()).then(picks)
    }

    fn all(&self) -> impl Iterator<Item = &Pick> {
        self.among.iter().chain(&self.except)
    }

    /// Whether it looks at one of these tags.
    pub(super) fn looks_at(&self, keys: &[Sym]) -> bool {
        self.all().flat_map(|pick| &pick.tags).any(|(key, _)| keys.contains(key))
    }

    /// Whether it looks at where objects live.
    pub(super) fn looks_at_scopes(&self) -> bool {
        self.all().any(|pick| !pick.scopes.is_empty())
    }
}

/// A column of signatures: what rules can tell of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// The values of a tag.
    Tag(Sym),
    /// Whether a policy counts for it.
    Selected(std::sync::Arc<Picks>),
}

/// Stands in signatures for being selected; no list is meant, only that it is not [`NO_VALUES`].
const SELECTED: usize = 1;

/// Reads columns of objects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns<'c> {
    pub(super) objects: &'c Objects,
    pub(super) profile: &'c Profile,
    pub(super) lists: &'c ValueLists,
}

impl<'c> Columns<'c> {
    pub(super) fn of(comply: &'c Comply) -> Self {
        Self { objects: &comply.objects, profile: &comply.profile, lists: &comply.lists }
    }

    /// What stands in a column of an object.
    pub(super) fn read(self, id: ObjectId, column: &Column) -> ValuesId {
        let Some(object) = self.objects.get(id.index()) else { return NO_VALUES };
        match column {
            Column::Tag(key) => object.values(*key),
            Column::Selected(picks) if self.selected(id, picks) == Selected::Yes => ValuesId::new(SELECTED),
            Column::Selected(_) => NO_VALUES,
        }
    }

    /// Whether a policy counts for an object.
    pub(super) fn selected(self, id: ObjectId, picks: &Picks) -> Selected {
        let Some(object) = self.objects.get(id.index()) else { return Selected::NotAmong };
        let fits = |pick: &Pick| self.fits(id, object, pick);
        if !picks.among.is_empty() && !picks.among.iter().any(fits) {
            Selected::NotAmong
        } else if picks.except.iter().any(fits) {
            Selected::Excepted
        } else {
            Selected::Yes
        }
    }

    fn fits(self, id: ObjectId, object: &Object, pick: &Pick) -> bool {
        let Self { objects, profile, lists } = self;
        let tagged =
            |(key, wanted): &(Sym, Vec<Sym>)| lists.get(object.values(*key)).iter().any(|value| wanted.contains(value));
        let named = |wanted: &[SmolStr], own: &Object| wanted.contains(&profile.reference(own.kind, &own.id));
        let lives = || {
            let scope = chain_in(objects, id).find(|(_, own)| Some(own.kind) == profile.scope);
            scope.is_some_and(|(_, scope)| named(&pick.scopes, scope))
        };
        pick.tags.iter().all(tagged)
            && (pick.objects.is_empty() || named(&pick.objects, object))
            && (pick.scopes.is_empty() || lives())
    }
}
