//! Random worlds: the same policies and places for the family and for its naive twin.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use smol_str::SmolStr;
use upheld_model::config::{Config, Content};
use upheld_model::{
    AttachedLayer, Attachments, Code, LabelWant, LayerContent, LayerMerge, MergeAction, NamespaceLabels, NodeRef,
    Object, Policy, PolicyContent, Reason, Sym, Symbols, TagSet, TargetNamespaces, TargetReference, TargetSelector,
    Timestamp,
};

use super::super::fields::{Inheritance, PlainWhenDeep, Prefer, Reach, Rules, Within};
use super::super::rank::RankDirection;
use super::super::reference::{
    NAMESPACE_NAME, NaiveColumn as C, NaiveDeep, NaiveFold, NaiveKind, NaiveLayer, NaiveLevel, NaiveLooks,
    NaiveNamespaces, NaivePolicy, NaiveRung, NaiveSite, Texts,
};
use super::super::wholes::{WholeJoin, WholeRules};
use super::super::*;
use crate::ask::{EntryId, Place};
use crate::kind::{HierarchyFold, HierarchyKind, LayerDefaults, Levels};
use crate::ladder::{Best, Ladder, Rung};
use crate::merge::Strategy as MergeStrategy;
use crate::snapshot::PolicyId;
use crate::support::NOWHERE;

const KINDS: [&str; 2] = ["Route", "Gateway"];
const NAMESPACES: [&str; 2] = ["infra", "infra-b"];
const OBJECTS: [&str; 2] = ["one", "two"];
const SECTIONS: [&str; 2] = ["part", "other"];
const NAMES: [&str; 5] = ["a", "a-b", "a.c", "b", "c"];
const FIELDS: [&str; 3] = ["cors", "csrf", "retry"];
const VALUES: [&str; 3] = ["x", "y", "z"];

/// A world as texts.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) kind: NaiveKind,
    pub(super) policies: Vec<NaivePolicy>,
    pub(super) sites: Vec<NaiveSite>,
    pub(super) levels: Vec<NaiveLevel>,
}

fn texts(keys: &'static [&'static str], most: usize) -> impl Strategy<Value = Texts> {
    let pairs = subsequence(keys.to_vec(), 0..=most.min(keys.len()));
    (pairs, prop::collection::vec(select(VALUES.to_vec()), most)).prop_map(|(keys, values)| {
        keys.into_iter().zip(values).map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    })
}

fn text(options: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(options.to_vec()).prop_map(str::to_owned)
}

fn section() -> impl Strategy<Value = Option<String>> {
    prop::option::weighted(0.4, text(&SECTIONS))
}

fn layer() -> impl Strategy<Value = NaiveLayer> {
    (texts(&FIELDS, 3), any::<bool>(), any::<bool>()).prop_map(|(fields, overrides, whole)| NaiveLayer {
        fields,
        overrides,
        whole,
    })
}

/// Where objects are selected: by labels that namespaces have or not, or by their names.
fn within() -> impl Strategy<Value = NaiveNamespaces> {
    let label = (text(&LABELS), prop::option::of(text(&VALUES)));
    let labels = prop::collection::btree_map(label.0, label.1, 0..3);
    let name = prop::option::weighted(0.3, text(&NAMESPACES));
    let labelled = (labels, name).prop_map(|(mut labels, name)| {
        labels.extend(name.map(|name| (NAMESPACE_NAME.to_owned(), Some(name))));
        NaiveNamespaces::Labelled(labels)
    });
    prop_oneof![3 => Just(NaiveNamespaces::Own), 1 => Just(NaiveNamespaces::All), 2 => labelled]
}

fn policy() -> impl Strategy<Value = NaivePolicy> {
    let target = (text(&KINDS), text(&NAMESPACES), text(&OBJECTS), section());
    let selector = (text(&KINDS), texts(&LABELS, 2), section(), within());
    let identity = (text(&NAMESPACES), text(&NAMES), prop::option::of(0..3_i64), -1..2_i64, prop::option::of(0..2_i64));
    let says = prop::collection::vec(layer(), 1..3);
    let attached = (prop::collection::vec(target, 0..4), prop::collection::vec(selector, 0..2));
    (identity, attached, says, prop::bool::weighted(0.05)).prop_map(
        |((namespace, name, created, weight, number), (targets, selectors), layers, broken)| NaivePolicy {
            namespace,
            name,
            created,
            weight,
            number,
            targets,
            selectors,
            layers,
            broken,
        },
    )
}

const LABELS: [&str; 2] = ["app", "team"];

/// Policies with different identities.
pub(super) fn policies() -> impl Strategy<Value = Vec<NaivePolicy>> {
    prop::collection::vec(policy(), 0..8).prop_map(|policies| {
        let by_identity: BTreeMap<(String, String), NaivePolicy> =
            policies.into_iter().map(|policy| ((policy.namespace.clone(), policy.name.clone()), policy)).collect();
        by_identity.into_values().collect()
    })
}

fn looks() -> impl Strategy<Value = NaiveLooks> {
    let object = (text(&KINDS), text(&NAMESPACES), text(&OBJECTS));
    let around = prop::option::of(texts(&LABELS, 2));
    let object = (object, texts(&LABELS, 2), section(), any::<bool>(), around);
    let object = object.prop_map(|(object, labels, section, global, around)| {
        let mut namespaces = vec![object.1.clone()];
        if global {
            namespaces.extend(NAMESPACES.map(str::to_owned));
        }
        NaiveLooks::Object { object, labels, section, namespaces, around }
    });
    let listed = prop::collection::vec((text(&NAMESPACES), text(&NAMES)), 0..3).prop_map(NaiveLooks::Listed);
    let own = prop::collection::vec(texts(&FIELDS, 3), 0..3).prop_map(NaiveLooks::Own);
    prop_oneof![6 => object, 2 => listed, 1 => own]
}

fn sites() -> impl Strategy<Value = Vec<NaiveSite>> {
    let site = (0..3_u8, 0..3_u16, 0..3_u8, looks());
    prop::collection::vec(site, 0..7).prop_map(|sites| {
        let site = |(scope, level, section, looks): (u8, u16, u8, NaiveLooks)| {
            // What targets say themselves is a scope of its own, before all others.
            let own = matches!(looks, NaiveLooks::Own(_));
            NaiveSite { scope: if own { 0 } else { scope + 1 }, level, section, looks }
        };
        sites.into_iter().map(site).collect()
    })
}

/// Ladders of the editions that there are, and any others.
pub(super) fn kinds() -> impl Strategy<Value = NaiveKind> {
    let rung = |column, highest| NaiveRung(column, highest);
    let tail =
        vec![C::Reference, C::Position, C::Section, C::Side, C::Weight, C::Number, C::Created, C::Namespace, C::Name];
    let rest = subsequence(tail, 0..=9).prop_shuffle();
    let ends = prop::collection::vec(any::<bool>(), 12);
    let fold = select(vec![
        NaiveFold::Fields(NaiveDeep::AsNamed),
        NaiveFold::Fields(NaiveDeep::Child),
        NaiveFold::Fields(NaiveDeep::Parent),
        NaiveFold::Best,
        NaiveFold::Next,
    ]);
    (rest, ends, any::<bool>(), fold).prop_map(move |(rest, ends, by_side, fold)| {
        let columns = rest.into_iter().chain([C::Identity, C::Layer]);
        let mut rungs = vec![rung(C::Scope, false), rung(C::Level, false)];
        rungs.extend(columns.zip(ends).map(|(column, highest)| rung(column, highest)));
        NaiveKind { rungs, by_side, fold }
    })
}

pub(super) fn worlds() -> impl Strategy<Value = World> {
    let level = (any::<bool>(), any::<bool>()).prop_map(|(deep, parent)| NaiveLevel { deep, parent });
    (kinds(), policies(), sites(), prop::collection::vec(level, 0..4)).prop_map(
        |(kind, mut policies, sites, levels)| {
            // Where the better one says how it meets others, nobody overrides.
            for layer in policies.iter_mut().flat_map(|policy| &mut policy.layers) {
                layer.overrides &= kind.fold != NaiveFold::Best;
            }
            World { kind, policies, sites, levels }
        },
    )
}

/// The same for the family.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) symbols: RefCell<Symbols>,
    pub(super) hierarchy: Hierarchy,
    objects: Vec<Option<Object>>,
    listed: Vec<Vec<Listed>>,
    own: Vec<Vec<OwnLayer>>,
    namespaces: Vec<Vec<Sym>>,
    around: Vec<Option<TagSet>>,
    levels: Vec<LevelJoin>,
    sites: Vec<NaiveSite>,
    pub(super) broken: Vec<(Sym, Sym)>,
}

impl Built {
    /// Whether configurations meet as wholes.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.hierarchy.kind().fold, HierarchyFold::Wholes(_))
    }

    pub(super) fn new(world: &World) -> Self {
        let mut symbols = Symbols::default();
        let kind = Arc::new(kind(&world.kind, &mut symbols));
        let mut hierarchy = Hierarchy::new(kind);
        let mut broken = Vec::new();
        for (number, policy) in world.policies.iter().enumerate() {
            let real = policy_of(policy, &world.kind, &mut symbols);
            broken.extend(policy.broken.then_some((real.scope, real.name)));
            hierarchy.put(PolicyId::new(number), &real, &symbols);
        }
        let mut built = Self {
            symbols: RefCell::new(symbols),
            hierarchy,
            objects: Vec::new(),
            listed: Vec::new(),
            own: Vec::new(),
            namespaces: Vec::new(),
            around: Vec::new(),
            levels: world.levels.iter().copied().map(level).collect(),
            sites: world.sites.clone(),
            broken,
        };
        built.look_at(&world.kind);
        built
    }

    /// Prepares what places refer to: ids of entries may be others after a change.
    pub(super) fn look_at(&mut self, kind: &NaiveKind) {
        let mut symbols = self.symbols.borrow_mut();
        (self.objects, self.listed, self.own, self.namespaces, self.around) = Default::default();
        for site in &self.sites {
            let (mut object, mut listed, mut own, mut namespaces) = (None, Vec::new(), Vec::new(), Vec::new());
            let mut around = None;
            match &site.looks {
                NaiveLooks::Object {
                    object: (kind, namespace, name),
                    labels,
                    namespaces: reach,
                    around: known,
                    ..
                } => {
                    let labels = tags(labels, &mut symbols);
                    around = known.as_ref().map(|known| tags(known, &mut symbols));
                    object = Some(Object {
                        kind: symbols.intern(kind),
                        scope: symbols.intern(namespace),
                        name: symbols.intern(name),
                        facts: labels,
                        parts: Vec::new(),
                        at: NOWHERE,
                        created: None,
                    });
                    namespaces = reach.iter().map(|namespace| symbols.intern(namespace)).collect();
                }
                NaiveLooks::Listed(names) => {
                    for (position, (namespace, name)) in (0..).zip(names) {
                        let (namespace, name) = (symbols.intern(namespace), symbols.intern(name));
                        // Layers of one policy share the position of the reference.
                        let entries = self.hierarchy.of_policy(namespace, name);
                        listed.extend(entries.iter().map(|entry| Listed { entry: *entry, position, at: NOWHERE }));
                    }
                }
                NaiveLooks::Own(layers) => {
                    for (node, fields) in (0..).zip(layers) {
                        let says = match kind.fold {
                            NaiveFold::Fields(_) => OwnContent::Fields(
                                fields.iter().map(|(key, value)| (key.into(), None, value_of(value))).collect(),
                            ),
                            NaiveFold::Best | NaiveFold::Next => OwnContent::Whole(map_of(fields)),
                        };
                        own.push(OwnLayer { says, at: NodeRef { node, ..NOWHERE } });
                    }
                }
            }
            self.objects.push(object);
            self.listed.push(listed);
            self.own.push(own);
            self.namespaces.push(namespaces);
            self.around.push(around);
        }
    }

    /// Asks with the places, in the words of the family.
    pub(super) fn ask<T>(&self, asked: impl FnOnce(&Hierarchy, &Question<'_>) -> T) -> T {
        let sites: Vec<Site<'_>> =
            self.sites.iter().enumerate().map(|(number, site)| self.site(number, site)).collect();
        let broken = |entry: &Entry, _: Place| {
            if self.broken.contains(&(entry.namespace, entry.name)) {
                Usable::Broken(Reason::new(Code::OffBroken, &[]))
            } else {
                Usable::Yes
            }
        };
        let question = Question { sites: &sites, levels: &self.levels, omits: &[], omits_in: None, usable: &broken };
        asked(&self.hierarchy, &question)
    }

    fn site<'q>(&'q self, number: usize, site: &'q NaiveSite) -> Site<'q> {
        let looks = match &site.looks {
            NaiveLooks::Object { section, .. } => {
                let section = section
                    .as_ref()
                    .map(|text| Section { symbol: self.symbols.borrow_mut().intern(text), text: text.as_str() });
                let object = self.objects[number].as_ref().unwrap();
                EntrySource::Object {
                    object,
                    section,
                    namespaces: &self.namespaces[number],
                    around: NamespaceLabels {
                        always: Some((self.symbols.borrow_mut().intern(NAMESPACE_NAME), object.scope)),
                        others: self.around[number].as_ref(),
                    },
                }
            }
            NaiveLooks::Listed(_) => EntrySource::Listed(&self.listed[number]),
            NaiveLooks::Own(_) => EntrySource::Own(&self.own[number]),
        };
        Site { scope: site.scope, level: site.level, section: site.section, looks }
    }

    /// `namespace/name#layer`, or `own`.
    pub(super) fn title(&self, entry: EntryId) -> String {
        self.hierarchy.entry(entry).map_or_else(
            || "own".to_owned(),
            |entry| {
                let symbols = self.symbols.borrow();
                format!("{}/{}#{}", symbols.text(entry.namespace), symbols.text(entry.name), entry.layer)
            },
        )
    }
}

fn tags(texts: &Texts, symbols: &mut Symbols) -> TagSet {
    TagSet::new(texts.iter().map(|(key, value)| (symbols.intern(key), Some(symbols.intern(value)))).collect::<Vec<_>>())
}

fn level(level: NaiveLevel) -> LevelJoin {
    let reach = if level.deep { Reach::Deep } else { Reach::Shallow };
    let prefer = if level.parent { Prefer::Parent } else { Prefer::Child };
    LevelJoin { inheritance: Inheritance { reach, prefer }, word: None }
}

pub(super) fn value_of(text: &str) -> Arc<Config> {
    Config::made(Content::Text(text.into()))
}

fn map_of(fields: &Texts) -> Arc<Config> {
    Config::made(Content::Map(fields.iter().map(|(key, value)| (SmolStr::new(key), value_of(value))).collect()))
}

/// The policy of the model.
pub(super) fn policy_of(policy: &NaivePolicy, kind: &NaiveKind, symbols: &mut Symbols) -> Policy {
    let targets = policy.targets.iter().map(|(kind, namespace, name, section)| TargetReference {
        kind: symbols.intern(kind),
        namespace: symbols.intern(namespace),
        name: symbols.intern(name),
        section: section.as_ref().map(|section| symbols.intern(section)),
        at: NOWHERE,
    });
    let targets = targets.collect();
    let selectors = policy.selectors.iter().map(|(kind, labels, section, within)| TargetSelector {
        kind: symbols.intern(kind),
        namespaces: match within {
            NaiveNamespaces::Own => TargetNamespaces::Own,
            NaiveNamespaces::All => TargetNamespaces::All,
            NaiveNamespaces::Labelled(labels) => TargetNamespaces::Labelled(
                labels
                    .iter()
                    .map(|(key, value)| match value {
                        Some(value) => LabelWant::Is(symbols.intern(key), symbols.intern(value)),
                        None => LabelWant::Absent(symbols.intern(key)),
                    })
                    .collect(),
            ),
        },
        wants: labels.iter().map(|(key, value)| LabelWant::Is(symbols.intern(key), symbols.intern(value))).collect(),
        section: section.as_ref().map(|section| symbols.intern(section)),
        at: NOWHERE,
    });
    let selectors = selectors.collect();
    let layers = policy.layers.iter().map(|layer| {
        let says = match kind.fold {
            NaiveFold::Fields(_) => LayerContent::Fields(
                layer.fields.iter().map(|(key, value)| (SmolStr::new(key), value_of(value))).collect(),
            ),
            NaiveFold::Best | NaiveFold::Next => LayerContent::Whole { config: map_of(&layer.fields), merged: None },
        };
        // The better one of two scopes stays as a whole or lets the wider one fill its gaps; it never gives way.
        let act = match (kind.fold, layer.whole, layer.overrides) {
            (NaiveFold::Best, true, _) | (_, true, false) => MergeAction::Keep,
            (NaiveFold::Best, false, _) | (_, false, false) => MergeAction::KeepOver,
            (_, true, true) => MergeAction::Take,
            (_, false, true) => MergeAction::TakeOver,
        };
        AttachedLayer { says, meets: Some(LayerMerge { act, strategy: 0 }) }
    });
    let attachments = Attachments {
        group: None,
        targets,
        selectors,
        weight: policy.weight,
        numbers: policy.number.map(|number| (symbols.intern(NUMBER), number)).into_iter().collect(),
        layers: layers.collect(),
        problems: Vec::new(),
    };
    let name = symbols.intern(&policy.name);
    Policy {
        kind: symbols.intern("Policy"),
        scope: symbols.intern(&policy.namespace),
        name,
        title: name,
        created: policy.created.map(Timestamp),
        at: NOWHERE,
        payload: None,
        says: PolicyContent::Attached(Arc::new(attachments)),
    }
}

/// What the number is called that policies rank by.
pub(super) const NUMBER: &str = "priority";

/// The column of the family; `number` is what policies rank by.
pub(super) fn column(naive: C, number: Sym) -> Column {
    match naive {
        C::Scope => Column::Scope,
        C::Level => Column::Level,
        C::Reference => Column::Reference,
        C::Position => Column::Position,
        C::Section => Column::Section,
        C::Side => Column::Side,
        C::Weight => Column::Weight,
        C::Number => Column::Number(number),
        C::Created => Column::Created,
        C::Namespace => Column::Namespace,
        C::Name => Column::Name,
        C::Layer => Column::Layer,
        C::Identity => Column::Identity,
    }
}

pub(super) fn kind(naive: &NaiveKind, symbols: &mut Symbols) -> HierarchyKind {
    let number = symbols.intern(NUMBER);
    let rung = |NaiveRung(naive, highest): &NaiveRung| Rung {
        column: column(*naive, number),
        best: if *highest { Best::Highest } else { Best::Lowest },
    };
    let rungs = naive.rungs.iter().map(rung).collect();
    let rules = |plain_when_deep| Rules { fields: Vec::new(), plain_when_deep, within: Within::ByField };
    let wholes =
        |within, across| HierarchyFold::Wholes(WholeRules { within, across, strategies: vec![MergeStrategy::patch()] });
    let fold = match naive.fold {
        NaiveFold::Fields(deep) => {
            let rules = rules(match deep {
                NaiveDeep::AsNamed => PlainWhenDeep::AsNamed,
                NaiveDeep::Child => PlainWhenDeep::Child,
                NaiveDeep::Parent => PlainWhenDeep::Parent,
            });
            HierarchyFold::Fields { own: rules.clone(), policies: rules }
        }
        NaiveFold::Best => wholes(WholeJoin::Keep, Some(WholeJoin::AsTheBetterSays)),
        NaiveFold::Next => wholes(WholeJoin::AsTheNextSays, None),
    };
    let ends = if naive.by_side { RankDirection::BySide } else { RankDirection::AsRanked };
    let word = symbols.intern("test");
    HierarchyKind {
        group: word,
        reads: word,
        profile: None,
        rank: Ladder::new(rungs),
        ends,
        fold,
        levels: Levels::Delegations,
        scopes: Vec::new(),
        places: Vec::new(),
        strategies: Vec::new(),
        unsaid: LayerDefaults::default(),
    }
}
