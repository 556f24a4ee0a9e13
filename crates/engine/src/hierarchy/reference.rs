//! The naive twin: every policy is held against every place, by texts, and each field is folded by itself. It shares no code with
//! the family.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Names and values.
pub type Texts = BTreeMap<String, String>;

/// The label of every namespace that has its name.
pub const NAMESPACE_NAME: &str = "name";

/// A policy.
#[derive(Clone, Debug, PartialEq)]
pub struct NaivePolicy {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// When it was created.
    pub created: Option<i64>,
    /// How much it weighs.
    pub weight: i64,
    /// A number that it ranks by.
    pub number: Option<i64>,
    /// Objects that it names: type, namespace, name and section.
    pub targets: Vec<(String, String, String, Option<String>)>,
    /// Objects that it selects: type, labels, section, and where they are.
    pub selectors: Vec<(String, Texts, Option<String>, NaiveNamespaces)>,
    /// What it says.
    pub layers: Vec<NaiveLayer>,
    /// Whether something is wrong with it.
    pub broken: bool,
}

/// The namespaces in which a policy selects.
#[derive(Clone, Debug, PartialEq)]
pub enum NaiveNamespaces {
    /// Its own.
    Own,
    /// All.
    All,
    /// Those with these labels; a label without a value must not be there.
    Labelled(BTreeMap<String, Option<String>>),
}

/// A layer of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct NaiveLayer {
    /// What it says.
    pub fields: Texts,
    /// Whether it wins over what is nearer.
    pub overrides: bool,
    /// Whether it wins or loses as a whole.
    pub whole: bool,
}

/// A place.
#[derive(Clone, Debug, PartialEq)]
pub struct NaiveSite {
    /// How near it is.
    pub scope: u8,
    /// How many steps above the target.
    pub level: u16,
    /// How specific within its level.
    pub section: u8,
    /// What is looked for.
    pub looks: NaiveLooks,
}

/// What is looked for at a place.
#[derive(Clone, Debug, PartialEq)]
pub enum NaiveLooks {
    /// Policies that name or select an object.
    Object {
        /// Type, namespace and name.
        object: (String, String, String),
        /// Its labels.
        labels: Texts,
        /// The section.
        section: Option<String>,
        /// Namespaces whose policies may select it.
        namespaces: Vec<String>,
        /// The labels of its own namespace, besides its name; nobody may know them.
        around: Option<Texts>,
    },
    /// These policies, by namespace and name.
    Listed(Vec<(String, String)>),
    /// What the target says itself.
    Own(Vec<Texts>),
}

/// A rung: what it reads, and whether the highest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NaiveRung(pub NaiveColumn, pub bool);

/// What a rung reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are called as the columns of the family")]
pub enum NaiveColumn {
    Scope,
    Level,
    Reference,
    Position,
    Section,
    Side,
    Weight,
    Number,
    Created,
    Namespace,
    Name,
    Layer,
    Identity,
}

/// How a kind ranks and resolves.
#[derive(Clone, Debug)]
pub struct NaiveKind {
    /// The order of folding.
    pub rungs: Vec<NaiveRung>,
    /// Overrides are read from the other end.
    pub by_side: bool,
    /// How layers meet.
    pub fold: NaiveFold,
}

/// How layers meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NaiveFold {
    /// Field by field; what a level that merges deep does with fields that cannot be combined.
    Fields(NaiveDeep),
    /// The better one, as a whole; between scopes as it says itself.
    Best,
    /// Each as it says itself.
    Next,
}

/// Who wins under a deep merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are called as the choices of the family")]
pub enum NaiveDeep {
    AsNamed,
    Child,
    Parent,
}

/// How a level meets those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NaiveLevel {
    /// Whether it merges deep.
    pub deep: bool,
    /// Whether it is preferred.
    pub parent: bool,
}

/// Somebody who says something at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Speaker {
    /// `namespace/name#layer`, or `own` for a target.
    pub title: String,
    /// The place.
    pub place: usize,
    fields: Texts,
    overrides: bool,
    whole: bool,
    position: usize,
    layer: usize,
    policy: Option<NaivePolicy>,
    site: NaiveSite,
}

/// What holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NaiveAnswer {
    /// The order of folding: titles and places.
    pub order: Vec<(String, usize)>,
    /// Values, and who set them.
    pub fields: BTreeMap<String, (String, String)>,
    /// Whether somebody is broken.
    pub broken: bool,
}

/// Asks.
pub fn answer(kind: &NaiveKind, policies: &[NaivePolicy], sites: &[NaiveSite], levels: &[NaiveLevel]) -> NaiveAnswer {
    let speakers = speakers(kind, policies, sites);
    let order = speakers.iter().map(|speaker| (speaker.title.clone(), speaker.place)).collect();
    if speakers.iter().any(|speaker| speaker.policy.as_ref().is_some_and(|policy| policy.broken)) {
        return NaiveAnswer { order, broken: true, ..NaiveAnswer::default() };
    }
    let fields = match kind.fold {
        NaiveFold::Fields(deep) => fold_fields(&speakers, levels, deep),
        NaiveFold::Best => fold_best(&speakers),
        NaiveFold::Next => fold_next(speakers.iter()),
    };
    NaiveAnswer { order, fields, broken: false }
}

/// All who say something, in the order of folding.
pub fn speakers(kind: &NaiveKind, policies: &[NaivePolicy], sites: &[NaiveSite]) -> Vec<Speaker> {
    let mut all: Vec<Speaker> = Vec::new();
    for (place, site) in sites.iter().enumerate() {
        if let NaiveLooks::Own(own) = &site.looks {
            for (position, fields) in own.iter().enumerate() {
                all.push(Speaker {
                    title: "own".to_owned(),
                    place,
                    fields: fields.clone(),
                    overrides: false,
                    whole: false,
                    position,
                    layer: 0,
                    policy: None,
                    site: site.clone(),
                });
            }
        }
        for policy in policies {
            let Some(position) = attached(policy, site) else { continue };
            for (layer, said) in policy.layers.iter().enumerate() {
                all.push(Speaker {
                    title: format!("{}/{}#{layer}", policy.namespace, policy.name),
                    place,
                    fields: said.fields.clone(),
                    overrides: said.overrides,
                    whole: said.whole,
                    position,
                    layer,
                    policy: Some(policy.clone()),
                    site: site.clone(),
                });
            }
        }
    }
    all.sort_by(|a, b| compare(kind, a, b).then(a.place.cmp(&b.place)));
    let mut kept: Vec<Speaker> = Vec::new();
    for speaker in all {
        let same = |known: &Speaker| {
            known.policy.is_some()
                && known.title == speaker.title
                && (known.site.scope, known.site.level) == (speaker.site.scope, speaker.site.level)
        };
        if !kept.iter().any(same) {
            kept.push(speaker);
        }
    }
    kept
}

/// The first rung on which two differ.
pub fn separating(kind: &NaiveKind, a: &Speaker, b: &Speaker) -> Option<NaiveColumn> {
    kind.rungs.iter().find(|rung| on_rung(kind, **rung, a, b).is_ne()).map(|rung| rung.0)
}

fn compare(kind: &NaiveKind, a: &Speaker, b: &Speaker) -> Ordering {
    kind.rungs.iter().map(|rung| on_rung(kind, *rung, a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn on_rung(kind: &NaiveKind, NaiveRung(column, highest): NaiveRung, a: &Speaker, b: &Speaker) -> Ordering {
    use NaiveColumn as C;
    let of =
        |speaker: &Speaker, read: fn(&NaivePolicy) -> String| speaker.policy.as_ref().map_or_else(String::new, read);
    let section = |speaker: &Speaker| match &speaker.site.looks {
        NaiveLooks::Object { section: Some(section), .. } => format!("/{section}"),
        _ => String::new(),
    };
    let identity = |speaker: &Speaker| {
        let own = of(speaker, |policy| format!("{}/{}", policy.namespace, policy.name));
        format!("{own}{}", section(speaker))
    };
    let refers = |speaker: &Speaker| usize::from(matches!(speaker.site.looks, NaiveLooks::Object { .. }));
    let number = |speaker: &Speaker| speaker.policy.as_ref().and_then(|policy| policy.number);
    let ascending = match column {
        C::Scope => a.site.scope.cmp(&b.site.scope),
        C::Level => a.site.level.cmp(&b.site.level),
        C::Reference => refers(a).cmp(&refers(b)),
        C::Position => a.position.cmp(&b.position),
        C::Section => a.site.section.cmp(&b.site.section),
        C::Side => b.overrides.cmp(&a.overrides),
        C::Weight => {
            let weight = |speaker: &Speaker| speaker.policy.as_ref().map_or(0, |policy| policy.weight);
            weight(a).cmp(&weight(b))
        }
        C::Number => match (number(a), number(b)) {
            (Some(a), Some(b)) => a.cmp(&b),
            (a, b) => {
                let last = a.is_none().cmp(&b.is_none());
                if highest { last.reverse() } else { last }
            }
        },
        C::Created => {
            let created = |speaker: &Speaker| speaker.policy.as_ref().and_then(|policy| policy.created);
            created(a).unwrap_or(i64::MAX).cmp(&created(b).unwrap_or(i64::MAX))
        }
        C::Namespace => of(a, |policy| policy.namespace.clone()).cmp(&of(b, |policy| policy.namespace.clone())),
        C::Name => of(a, |policy| policy.name.clone()).cmp(&of(b, |policy| policy.name.clone())),
        C::Layer => a.layer.cmp(&b.layer),
        C::Identity => identity(a).cmp(&identity(b)),
    };
    let ordered = if highest { ascending.reverse() } else { ascending };
    let place = |wanted: C| kind.rungs.iter().position(|rung| rung.0 == wanted);
    let below = place(C::Side).is_some_and(|side| place(column).is_some_and(|place| side < place));
    if kind.by_side && below && a.overrides && b.overrides { ordered.reverse() } else { ordered }
}

/// Whether a policy is attached to a place; if the place lists it, where.
fn attached(policy: &NaivePolicy, site: &NaiveSite) -> Option<usize> {
    match &site.looks {
        NaiveLooks::Own(_) => None,
        NaiveLooks::Listed(listed) => {
            listed.iter().position(|(namespace, name)| *namespace == policy.namespace && *name == policy.name)
        }
        NaiveLooks::Object { object, labels, section, namespaces, around } => {
            let (kind, namespace, name) = object;
            let named = policy
                .targets
                .iter()
                .any(|target| (&target.0, &target.1, &target.2, &target.3) == (kind, namespace, name, section));
            let selected = policy.selectors.iter().any(|(wanted, wants, part, within)| {
                let is_there = match within {
                    NaiveNamespaces::Own => namespaces.contains(&policy.namespace),
                    NaiveNamespaces::All => true,
                    NaiveNamespaces::Labelled(wants) => wants.iter().all(|(key, value)| match around {
                        _ if key == NAMESPACE_NAME => value.as_ref() == Some(namespace),
                        Some(known) => known.get(key) == value.as_ref(),
                        None => true,
                    }),
                };
                is_there
                    && wanted == kind
                    && part == section
                    && !wants.is_empty()
                    && wants.iter().all(|(key, value)| labels.get(key) == Some(value))
            });
            (named || selected).then_some(0)
        }
    }
}

fn fold_fields(speakers: &[Speaker], levels: &[NaiveLevel], deep: NaiveDeep) -> BTreeMap<String, (String, String)> {
    let mut names: Vec<&String> = speakers.iter().flat_map(|speaker| speaker.fields.keys()).collect();
    names.sort();
    names.dedup();
    let mut fields = BTreeMap::new();
    for name in names {
        let mut scopes: BTreeMap<u8, (String, String)> = BTreeMap::new();
        for scope in speakers.iter().map(|speaker| speaker.site.scope) {
            let mut held: Option<(String, String)> = None;
            let mut above: Vec<u16> = speakers.iter().filter(|s| s.site.scope == scope).map(|s| s.site.level).collect();
            above.sort_unstable();
            above.dedup();
            for level in above {
                let here = |s: &&Speaker| s.site.scope == scope && s.site.level == level && s.fields.contains_key(name);
                let first = speakers.iter().find(here);
                let Some(said) = first else { continue };
                let said = (said.fields.get(name).cloned().unwrap_or_default(), said.title.clone());
                let NaiveLevel { deep: is_deep, parent } = levels.get(usize::from(level)).copied().unwrap_or_default();
                let takes = match (is_deep, deep) {
                    (false, _) | (true, NaiveDeep::AsNamed) => parent,
                    (true, NaiveDeep::Child) => false,
                    (true, NaiveDeep::Parent) => true,
                };
                if held.is_none() || takes {
                    held = Some(said);
                }
            }
            if let Some(held) = held {
                scopes.entry(scope).or_insert(held);
            }
        }
        if let Some((_, nearest)) = scopes.into_iter().next() {
            fields.insert(name.clone(), nearest);
        }
    }
    fields
}

type Held = BTreeMap<String, (String, String)>;

fn said(speaker: &Speaker) -> Held {
    let fields = speaker.fields.iter();
    fields.map(|(key, value)| (key.clone(), (value.clone(), speaker.title.clone()))).collect()
}

/// What the target says itself lies over what policies come to. Of these counts the first in each scope, even if it says nothing;
/// it decides whether a wider scope fills its gaps.
fn fold_best(speakers: &[Speaker]) -> Held {
    let (own, speakers): (Vec<&Speaker>, Vec<&Speaker>) = speakers.iter().partition(|speaker| speaker.policy.is_none());
    let mut held = fold_policies(&speakers);
    for speaker in own.into_iter().rev() {
        held.extend(said(speaker));
    }
    held
}

fn fold_policies(speakers: &[&Speaker]) -> Held {
    let mut scopes: Vec<u8> = speakers.iter().map(|speaker| speaker.site.scope).collect();
    scopes.dedup();
    let best = |scope: u8| speakers.iter().copied().find(|speaker| speaker.site.scope == scope);
    let mut held: Option<(Held, bool)> = None;
    for speaker in scopes.into_iter().filter_map(best) {
        held = Some(match held {
            None => (said(speaker), speaker.whole),
            Some((before, true)) => (before, true),
            Some((before, false)) => (said(speaker).into_iter().chain(before).collect(), false),
        });
    }
    held.map(|(held, _)| held).unwrap_or_default()
}

/// Each one, from the nearest to the widest, as it says itself.
fn fold_next<'s>(speakers: impl Iterator<Item = &'s Speaker>) -> Held {
    let mut held = Held::new();
    for speaker in speakers {
        let new = said(speaker);
        held = match (speaker.whole, speaker.overrides) {
            (true, _) if new.is_empty() => held,
            (true, false) if !held.is_empty() => held,
            (true, _) => new,
            (false, true) => held.into_iter().chain(new).collect(),
            (false, false) => new.into_iter().chain(held).collect(),
        };
    }
    held
}
