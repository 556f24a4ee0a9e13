//! Policies that follow GEP-713 and that nobody here has heard of: a `PolicyKind` document declares them by a profile, and this
//! makes their effective policy along a path of gateways and routes.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_engine::merge::{Extent, Inherited, Side};
use upheld_engine::{Best, ObjectId, PolicyId, PolicyKind, Snapshot};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Config, Content, Sym};

use super::effective::{effective, oldest_first};
use super::policy::{Policy, Saying};
use super::profiles::{MergeStrategy, Profile};
use super::topology::{Gateway, Host, Topology, Way};
use crate::document::Resource;

/// The profiles that a kind may name.
pub const PROFILES: [&str; 5] = ["direct", "gep-713", "gep-2649", "gwctl", "kuadrant"];

/// The strategies of GEP-713 that a kind may offer.
pub const STRATEGIES: [&str; 5] = ["None", "AtomicDefaults", "PatchDefaults", "AtomicOverrides", "PatchOverrides"];

/// The fields by which policies say what they are attached to.
const TARGETS: [&str; 2] = ["targetRefs", "targetRef"];

/// Type, namespace and name of a target, and the section that is named.
type TargetKey = (SmolStr, SmolStr, SmolStr, Option<SmolStr>);

/// All policies of one declared kind.
#[derive(Debug)]
pub struct Declared<'s> {
    snapshot: &'s Snapshot,
    profile: Option<Profile>,
    ids: Vec<PolicyId>,
    policies: Vec<Policy>,
    at: FxHashMap<TargetKey, Vec<usize>>,
    rank: Vec<(Sym, Best)>,
}

/// A place that policies can be attached to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// The object.
    pub object: ObjectId,
    /// A section of it.
    pub section: Option<String>,
    /// The policies, the oldest first.
    pub policies: Vec<usize>,
}

impl<'s> Declared<'s> {
    /// Reads the policies of a kind; `None` for kinds that are not declared by a profile.
    pub fn new(snapshot: &'s Snapshot, kind: &PolicyKind) -> Option<Self> {
        let inherit = kind.inherit()?;
        let offered = inherit.strategies.iter().filter_map(|name| MergeStrategy::named(snapshot.text(*name)));
        let profile = match snapshot.text(inherit.profile) {
            "gep-713" => Some(Profile::gep_713(&offered.collect::<Vec<_>>())),
            "gep-2649" => Some(Profile::gep_2649(Vec::new())),
            "gwctl" => Some(Profile::gwctl()),
            "kuadrant" => Some(Profile::kuadrant()),
            _ => None,
        };
        let profile = profile.map(|profile| match &inherit.resolve {
            Some(strategy) => Profile { strategy: strategy.clone(), ..profile },
            None => profile,
        });
        let mut declared = Self {
            snapshot,
            profile,
            ids: Vec::new(),
            policies: Vec::new(),
            at: FxHashMap::default(),
            rank: inherit.rank.clone(),
        };
        for (id, policy) in snapshot.policies().iter().filter(|(_, policy)| policy.kind == kind.governs) {
            let Some(resource) = snapshot.files().value(policy.at).and_then(Resource::of) else { continue };
            if resource.group() == Some(snapshot.text(inherit.group)) {
                declared.add(id, policy.scope, resource);
            }
        }
        Some(declared)
    }

    fn add(&mut self, id: PolicyId, namespace: Sym, resource: Resource<'_>) {
        let snapshot = self.snapshot;
        let Some(policy) = snapshot.policy(id) else { return };
        let number = self.policies.len();
        let own = snapshot.text(namespace);
        let says = resource.spec().map_or_else(Vec::new, |spec| sayings(policy.at.source, spec));
        let rank = self.rank.iter().map(|(field, best)| {
            let path: Vec<&str> = snapshot.text(*field).split('.').collect();
            let number = resource.spec().and_then(|spec| spec.at_path(&path)).and_then(Value::as_integer);
            // The best one first; one that has no number comes after all that have one.
            match best {
                Best::Highest => number.map_or(i64::MAX, i64::wrapping_neg),
                Best::Lowest => number.unwrap_or(i64::MAX),
            }
        });
        let rank = rank.collect();
        self.ids.push(id);
        self.policies.push(Policy {
            rank,
            kind: SmolStr::new(snapshot.text(policy.kind)),
            namespace: SmolStr::new(own),
            name: SmolStr::new(snapshot.text(policy.name)),
            created: policy.created,
            says,
        });
        for target in targets(resource) {
            let text = |name: &str| target.get(name).map(Value::text).filter(|text| !text.is_empty());
            let key = (
                SmolStr::new(text("kind").unwrap_or_default()),
                SmolStr::new(text("namespace").unwrap_or(own)),
                SmolStr::new(text("name").unwrap_or_default()),
                text("sectionName").map(SmolStr::new),
            );
            self.at.entry(key).or_default().push(number);
        }
    }

    /// The policies, by number.
    pub fn policies(&self) -> &[Policy] {
        &self.policies
    }

    /// The policy of the snapshot.
    pub fn id(&self, number: usize) -> Option<PolicyId> {
        self.ids.get(number).copied()
    }

    /// The places on a way that policies can be attached to, the least specific first.
    pub fn levels_of_way(&self, topology: &Topology<'_>, gateway: &Gateway, host: &Host, way: &Way) -> Vec<Level> {
        let mut levels = self.levels_of_listener(gateway, host.listener);
        for step in &way.chain {
            levels.push(self.level(step.route, None));
            let rule = rule_name(topology.snapshot, step.route, step.rule);
            levels.extend(rule.map(|name| self.level(step.route, Some(name))));
        }
        levels
    }

    /// The same for a listener: its gateway, the set that has it, and the listener.
    pub fn levels_of_listener(&self, gateway: &Gateway, listener: usize) -> Vec<Level> {
        let mut levels = vec![self.level(gateway.object, None)];
        if let Some(listener) = gateway.listeners.get(listener) {
            if listener.owner != gateway.object {
                levels.push(self.level(listener.owner, None));
            }
            levels.push(self.level(listener.owner, Some(listener.name.clone())));
        }
        levels
    }

    /// One place.
    pub fn level(&self, object: ObjectId, section: Option<String>) -> Level {
        let text = |symbol| SmolStr::new(self.snapshot.text(symbol));
        let described = self.snapshot.objects().get(object);
        let key = described.map(|object| {
            (text(object.kind), text(object.scope), text(object.name), section.as_deref().map(SmolStr::new))
        });
        let found = key.and_then(|key| self.at.get(&key)).map_or(&[][..], Vec::as_slice);
        Level { object, section, policies: oldest_first(&self.policies, found) }
    }

    /// What the policies of some levels come to. A direct policy is not merged: the oldest of the most specific place stands.
    pub fn effective(&self, levels: &[Level]) -> Inherited {
        let numbers: Vec<Vec<usize>> = levels.iter().map(|level| level.policies.clone()).collect();
        match &self.profile {
            Some(profile) => effective(profile, &self.policies, &numbers, None),
            None => {
                // Wider places are worse, and so are newer policies: the established one is a whole override.
                let worst_first = numbers.iter().flat_map(|level| level.iter().rev().copied());
                let levels: Vec<Vec<usize>> = worst_first.map(|policy| vec![policy]).collect();
                effective(&Profile::gep_713(&[]), &self.policies, &levels, None)
            }
        }
    }
}

fn targets<'t>(resource: Resource<'t>) -> Vec<Value<'t>> {
    let written = resource.spec().into_iter().flat_map(|spec| TARGETS.iter().filter_map(move |name| spec.get(name)));
    let each = |value: Value<'t>| -> Vec<Value<'t>> {
        if value.kind() == Kind::List { value.items().collect() } else { vec![value] }
    };
    written.flat_map(each).collect()
}

/// Stanzas of defaults and overrides, and what stands in neither.
fn sayings(source: upheld_model::SourceId, spec: Value<'_>) -> Vec<Saying> {
    let mut sayings = Vec::new();
    let mut bare = Vec::new();
    for (key, value) in spec.entries().filter(|(_, value)| value.kind() != Kind::Null) {
        let side = match key.text() {
            "defaults" | "default" => Side::Defaults,
            "overrides" | "override" => Side::Overrides,
            name if TARGETS.contains(&name) || name == "targetSelectors" => continue,
            name => {
                bare.push((SmolStr::new(name), Config::of(source, value)));
                continue;
            }
        };
        let whole = Config::of(source, value);
        let extent = match whole.get("strategy").and_then(|strategy| strategy.as_text()) {
            Some("atomic") => Some(Extent::Whole),
            Some("patch" | "merge") => Some(Extent::Fields),
            _ => None,
        };
        let kept = whole.entries().iter().filter(|(key, _)| key != "strategy" || extent.is_none()).cloned().collect();
        let config = Arc::new(Config { content: Content::Map(kept), at: whole.at });
        sayings.push(Saying { side: Some(side), extent, config });
    }
    if !bare.is_empty() {
        sayings.push(Saying::bare(Config::made(Content::Map(bare))));
    }
    sayings
}

/// The name of a rule, by which policies pick it.
fn rule_name(snapshot: &Snapshot, route: ObjectId, rule: usize) -> Option<String> {
    let document = snapshot.files().value(snapshot.objects().get(route)?.at)?;
    let rule = Resource::of(document)?.field("rules")?.items().nth(rule)?;
    rule.get("name").map(|name| name.text().to_owned())
}
