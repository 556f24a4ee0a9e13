//! What is known of subjects, resources and actions beside what requests say of them.

mod document;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use upheld_engine::decide::{Fact, Facts, Names};

pub use document::{DIRECTORY, shape};

/// Known entities. Their properties fill what a request leaves out.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    subjects: Entities,
    resources: Entities,
    actions: BTreeMap<SmolStr, KnownAction>,
    /// For each role, the roles that it has as well.
    roles: BTreeMap<SmolStr, Vec<SmolStr>>,
    /// For each group, the groups that it is in, and the roles that its members have.
    groups: BTreeMap<SmolStr, GroupMembership>,
}

/// What a directory has of a subject.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entry<'d> {
    /// Nothing.
    None,
    /// One entry, with its type.
    One(&'d str, &'d Facts),
    /// Several: it may be any of them.
    Several,
}

/// What it means to be in a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupMembership {
    /// The groups that it is in.
    pub groups: Vec<SmolStr>,
    /// The roles that its members have.
    pub roles: Vec<SmolStr>,
}

impl Directory {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        let Self { subjects, resources, actions, roles, groups } = self;
        subjects.by_type.is_empty()
            && resources.by_type.is_empty()
            && actions.is_empty()
            && roles.is_empty()
            && groups.is_empty()
    }

    /// Says which roles somebody with a role has as well.
    pub fn insert_role(&mut self, name: &str, contains: Vec<SmolStr>) {
        self.roles.insert(SmolStr::new(name), contains);
    }

    /// Says what it means to be in a group.
    pub fn insert_group(&mut self, name: &str, membership: GroupMembership) {
        self.groups.insert(SmolStr::new(name), membership);
    }

    /// Whether it says something about a role.
    pub fn has_role(&self, name: &str) -> bool {
        self.roles.contains_key(name)
    }

    /// Whether it says something about a group.
    pub fn has_group(&self, name: &str) -> bool {
        self.groups.contains_key(name)
    }

    /// Adds the groups that groups are in, the roles of members of groups, and the roles that roles have as well.
    pub fn contain(&self, roles: &mut Names, groups: &mut Names) {
        if self.roles.is_empty() && self.groups.is_empty() {
            return;
        }
        if let Names::Known(groups) | Names::AtLeast(groups) = groups {
            closed(groups, |group| self.groups.get(group).map_or(&[], |membership| membership.groups.as_slice()));
        }
        let of_groups = || groups.known().iter().filter_map(|group| self.groups.get(group));
        if let Names::Known(roles) | Names::AtLeast(roles) = roles {
            let mut growing = Growing::of(roles);
            of_groups().for_each(|membership| growing.add(&membership.roles));
        } else {
            *roles = Names::at_least(of_groups().flat_map(|membership| membership.roles.clone()).collect());
        }
        // Members of some other group may have any of its roles.
        if !groups.are_all_known() && self.groups.values().any(|one| !one.roles.is_empty()) {
            *roles = Names::at_least(roles.known().to_vec());
        }
        if let Names::Known(roles) | Names::AtLeast(roles) = roles {
            closed(roles, |role| self.roles.get(role).map_or(&[], Vec::as_slice));
        }
    }

    /// What there is of an id whose type a request leaves out.
    pub fn subject_of_any_type(&self, id: &str) -> Entry<'_> {
        let mut all = self.subjects.by_type.iter().filter_map(|(kind, own)| Some((kind.as_str(), own.by_id.get(id)?)));
        match (all.next(), all.next()) {
            (None, _) => Entry::None,
            (Some((kind, facts)), None) => Entry::One(kind, facts),
            _ => Entry::Several,
        }
    }

    /// Whether there is a subject of this type and id; of any, where one of them is unknown.
    pub fn has_subject(&self, kind: Option<&SmolStr>, id: Option<&SmolStr>) -> bool {
        self.subjects.has(kind, id)
    }

    /// The same for resources.
    pub fn has_resource(&self, kind: Option<&SmolStr>, id: Option<&SmolStr>) -> bool {
        self.resources.has(kind, id)
    }

    /// Adds a subject, in place of an older one.
    pub fn insert_subject(&mut self, kind: &str, id: &str, properties: Facts) {
        self.subjects.insert(kind, id, properties);
    }

    /// Adds a resource, in place of an older one.
    pub fn insert_resource(&mut self, kind: &str, id: &str, properties: Facts) {
        self.resources.insert(kind, id, properties);
    }

    /// Adds an action, in place of an older one.
    pub fn insert_action(&mut self, name: &str, action: KnownAction) {
        self.actions.insert(SmolStr::new(name), action);
    }

    /// The properties of a subject, if it is known.
    pub fn subject(&self, kind: &str, id: &str) -> Option<&Facts> {
        self.subjects.get(kind, id)
    }

    /// The properties of a resource, if it is known.
    pub fn resource(&self, kind: &str, id: &str) -> Option<&Facts> {
        self.resources.get(kind, id)
    }

    /// An action, if it is known.
    pub fn action(&self, name: &str) -> Option<&KnownAction> {
        self.actions.get(name)
    }

    /// All subjects, or those of a type, with their types: by type and id, or from one on.
    pub fn all_subjects<'d>(
        &'d self,
        kind: Option<&str>,
        from: Option<(&'d str, &'d str)>,
    ) -> impl Iterator<Item = (&'d str, &'d str, &'d Facts)> {
        self.subjects.all(kind, from)
    }

    /// The same for resources.
    pub fn all_resources<'d>(
        &'d self,
        kind: Option<&str>,
        from: Option<(&'d str, &'d str)>,
    ) -> impl Iterator<Item = (&'d str, &'d str, &'d Facts)> {
        self.resources.all(kind, from)
    }

    /// All actions by name.
    pub fn actions(&self) -> impl Iterator<Item = (&str, &KnownAction)> {
        self.actions.iter().map(|(name, action)| (name.as_str(), action))
    }
}

/// Adds what each name leads to, until there is nothing more.
fn closed<'d>(names: &mut Vec<SmolStr>, more: impl Fn(&str) -> &'d [SmolStr]) {
    let mut growing = Growing::of(names);
    let mut next = 0;
    while let Some(name) = growing.names.get(next).cloned() {
        growing.add(more(&name));
        next += 1;
    }
}

/// Names that become more, each once.
struct Growing<'n> {
    names: &'n mut Vec<SmolStr>,
    /// Which there are, where they are too many to be compared one by one.
    known: FxHashSet<SmolStr>,
}

impl<'n> Growing<'n> {
    /// So many names are compared one by one.
    const FEW: usize = 32;

    fn of(names: &'n mut Vec<SmolStr>) -> Self {
        let mut known = FxHashSet::default();
        if names.len() > Self::FEW {
            names.retain(|name| known.insert(name.clone()));
        }
        Self { names, known }
    }

    fn add(&mut self, more: &[SmolStr]) {
        for name in more {
            if self.known.is_empty() && self.names.len() > Self::FEW {
                self.known.extend(self.names.iter().cloned());
            }
            let is_new =
                if self.known.is_empty() { !self.names.contains(name) } else { self.known.insert(name.clone()) };
            if is_new {
                self.names.push(name.clone());
            }
        }
    }
}

/// The texts of some properties, each one text or a list of them.
pub(in crate::access) fn names_of(facts: &Facts, fields: [&str; 2]) -> Names {
    let mut names = Vec::new();
    for fact in fields.into_iter().filter_map(|field| facts.get(field)) {
        let items = match fact {
            Fact::Null => &[],
            Fact::List(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        for item in items {
            let Fact::Text(name) = item else { return Names::Unknown };
            names.push(name.clone());
        }
    }
    Names::Known(names)
}

/// Subjects or resources, found by type and id at once.
#[derive(Clone, Debug, Default)]
struct Entities {
    by_type: FxHashMap<SmolStr, OfType>,
}

#[derive(Clone, Debug, Default)]
struct OfType {
    by_id: FxHashMap<SmolStr, Facts>,
    /// The order in which searches list them.
    sorted: BTreeSet<SmolStr>,
}

impl Entities {
    fn insert(&mut self, kind: &str, id: &str, properties: Facts) {
        let of_type = self.by_type.entry(SmolStr::new(kind)).or_default();
        of_type.sorted.insert(SmolStr::new(id));
        of_type.by_id.insert(SmolStr::new(id), properties);
    }

    fn get(&self, kind: &str, id: &str) -> Option<&Facts> {
        self.by_type.get(kind)?.by_id.get(id)
    }

    fn has(&self, kind: Option<&SmolStr>, id: Option<&SmolStr>) -> bool {
        let has_id = |of_type: &OfType| id.map_or(!of_type.by_id.is_empty(), |id| of_type.by_id.contains_key(id));
        match kind {
            Some(kind) => self.by_type.get(kind).is_some_and(has_id),
            None => self.by_type.values().any(has_id),
        }
    }

    fn all<'d>(
        &'d self,
        kind: Option<&str>,
        from: Option<(&'d str, &'d str)>,
    ) -> impl Iterator<Item = (&'d str, &'d str, &'d Facts)> {
        let wanted = |known: &&SmolStr| {
            kind.is_none_or(|kind| kind == **known) && from.is_none_or(|(first, _)| known.as_str() >= first)
        };
        let mut types: Vec<&SmolStr> = self.by_type.keys().filter(wanted).collect();
        types.sort_unstable();
        types.into_iter().flat_map(move |kind| {
            let start = from.filter(|(first, _)| *first == kind).map(|(_, id)| id);
            self.of_type(kind, start).map(move |(id, facts)| (kind.as_str(), id, facts))
        })
    }

    /// Those of a type by id, or from an id on.
    fn of_type<'d>(&'d self, kind: &str, from: Option<&str>) -> impl Iterator<Item = (&'d str, &'d Facts)> {
        let start = from.map_or(Bound::Unbounded, Bound::Included);
        let of_type = self.by_type.get(kind);
        let ids = of_type.map(|of_type| of_type.sorted.range::<str, _>((start, Bound::Unbounded)));
        let known = move |id: &'d SmolStr| Some((id.as_str(), of_type?.by_id.get(id)?));
        ids.into_iter().flatten().filter_map(known)
    }
}

/// An action with the values that each of its properties may have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownAction {
    /// With one value: always this one.
    fixed: Facts,
    /// With several values.
    open: Vec<(SmolStr, Vec<Fact>)>,
}

/// The most ways in which the alternatives of one action may be combined.
pub const MOST_VARIANTS: usize = 256;

/// Why an action cannot have such alternatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadAlternatives {
    /// A property could have no value at all.
    NoValue(SmolStr),
    /// They can be combined in more than [`MOST_VARIANTS`] ways.
    TooMany,
}

impl KnownAction {
    /// An action whose properties have one of these values each.
    pub fn new(properties: Vec<(SmolStr, Vec<Fact>)>) -> Result<Self, BadAlternatives> {
        let mut action = Self::default();
        let mut variants: usize = 1;
        for (name, given) in properties {
            // Each once; facts cannot be sorted, but there are few.
            let mut values: Vec<Fact> = Vec::new();
            for value in given {
                if !values.contains(&value) {
                    values.push(value);
                }
                variants_within(variants, values.len())?;
            }
            variants = variants_within(variants, values.len())?;
            match values.as_slice() {
                [] => return Err(BadAlternatives::NoValue(name)),
                [only] => action.fixed.set(&name, only.clone()),
                _ => action.open.push((name, values)),
            }
        }
        Ok(action)
    }

    /// What is known of the action without being told: a property with several values has one that nobody knows.
    pub fn properties(&self) -> Facts {
        let open = self.open.iter().map(|(name, _)| (name.clone(), Fact::Unknown));
        self.fixed.iter().cloned().chain(open).collect()
    }

    /// Each way in which the properties with several values can have them, the last property changing fastest.
    pub fn variants(&self) -> Vec<Facts> {
        let mut variants = vec![Facts::default()];
        for (name, values) in &self.open {
            let with = |variant: &Facts, value: &Fact| {
                variant.iter().cloned().chain([(name.clone(), value.clone())]).collect::<Facts>()
            };
            variants = variants.iter().flat_map(|variant| values.iter().map(|value| with(variant, value))).collect();
        }
        variants
    }

    /// The properties that are the same in each variant.
    pub fn fixed(&self) -> &Facts {
        &self.fixed
    }
}

fn variants_within(variants: usize, values: usize) -> Result<usize, BadAlternatives> {
    let variants = variants.saturating_mul(values);
    if variants > MOST_VARIANTS { Err(BadAlternatives::TooMany) } else { Ok(variants) }
}
