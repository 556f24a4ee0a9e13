//! Random organisations and actions: few objects, tags and values, so that everything meets everything; now and then more
//! rules than a word has bits, and more values.

mod actions;

use std::fmt;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::Strategy;
use smol_str::{SmolStr, format_smolstr};
use upheld_model::Timestamp;

pub(super) use self::actions::{ending, steps};
use super::super::policy::Strategy as Asked;
use super::super::reference::NaiveEdition;
use super::super::*;
use super::world::{BEGIN, Tested, World, policy, waiver};

pub(super) const OBJECTS: [&str; 13] = [
    "workspace/w1",
    "workspace/w2",
    "project/p1",
    "project/p2",
    "project/p3",
    "landingZone/l1",
    "landingZone/l2",
    "user/u1",
    "user/u2",
    "group/g1",
    "buildingBlockDefinition/b1",
    "projectRole/r1",
    "projectRole/r2",
];
const SUBJECTS: [&str; 6] =
    ["workspace", "project", "landingZone", "principal", "buildingBlockDefinition", "projectRole"];
/// What policies may be about, in the order of the current edition.
const PAIRS: [(&str, &str); 8] = [
    ("workspace", "project"),
    ("workspace", "principal"),
    ("workspace", "landingZone"),
    ("workspace", "buildingBlockDefinition"),
    ("project", "principal"),
    ("project", "landingZone"),
    ("project", "buildingBlockDefinition"),
    ("projectRole", "principal"),
];
pub(super) const KEYS: [&str; 2] = ["env", "unit"];
const VALUES: [&str; 3] = ["x", "y", ""];
pub(super) const POLICIES: [&str; 5] = ["one", "two", "three", "four", "five"];
const WAIVERS: [&str; 3] = ["first", "second", "third"];
/// More values than a word has bits.
const MANY: usize = 70;

/// An organisation as it is before anything happens.
#[derive(Clone)]
pub(super) struct Start {
    pub(super) edition: NaiveEdition,
    pub(super) settings: Settings,
    pub(super) objects: Vec<Thing>,
    pub(super) links: Vec<Tie>,
    pub(super) policies: Vec<Policy>,
    pub(super) waivers: Vec<Waiver>,
    pub(super) defaults: Tags,
}

/// An object.
#[derive(Clone, Debug)]
pub(super) struct Thing {
    pub(super) reference: SmolStr,
    pub(super) tags: Tags,
    pub(super) standing: Standing,
    pub(super) partner: Partner,
}

/// A relationship.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tie {
    pub(super) a: SmolStr,
    pub(super) b: SmolStr,
    pub(super) role: Option<SmolStr>,
}

/// In few words, for cases that fail: objects about which nothing is said are left out.
impl fmt::Debug for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?} {:?}", self.edition, self.settings)?;
        for thing in &self.objects {
            let tags: Vec<_> = thing.tags.iter().filter(|(_, values)| !values.is_empty()).collect();
            let usual = (thing.standing, thing.partner) == (Standing::Live, Partner::No);
            if !tags.is_empty() || !usual {
                let Thing { reference, standing, partner, .. } = thing;
                writeln!(f, "{reference} {standing:?} partner={partner:?} {tags:?}")?;
            }
        }
        for Tie { a, b, role } in &self.links {
            writeln!(f, "{a} - {b} as {role:?}")?;
        }
        for Policy { id, a, b, rules, strategy, level, enforce_from, .. } in &self.policies {
            let rules = rules.iter().map(|rule| format!("{}/{}", rule.a, rule.b)).collect::<Vec<_>>().join(" ");
            writeln!(f, "{id}: {a:?} <> {b:?} {rules} {strategy:?} {level:?} from {enforce_from:?}")?;
        }
        writeln!(f, "{:?} defaults {:?}", self.waivers, self.defaults)
    }
}

impl Start {
    /// The engine, told everything; tags of all kinds but principals are defined.
    pub(super) fn build(&self) -> Tested {
        let mut world = World::new(self.edition, self.settings);
        for subject in SUBJECTS.iter().filter(|subject| **subject != "principal") {
            for key in KEYS {
                world = world.define(open(&format!("{subject}.{key}")));
            }
        }
        for thing in &self.objects {
            let (standing, partner) = (thing.standing, thing.partner);
            let described = Described { standing, partner, ..Described::default() };
            world = world.described(&thing.reference, "", described);
            for (key, values) in &thing.tags {
                let values: Vec<&str> = values.iter().map(SmolStr::as_str).collect();
                world = world.tag(&thing.reference, key, &values);
            }
        }
        for tie in &self.links {
            world = world.link_as(&tie.a, &tie.b, tie.role.as_deref());
        }
        for policy in &self.policies {
            world = world.with(policy.clone());
        }
        for waiver in &self.waivers {
            world = world.waiver(waiver.clone());
        }
        world.default_tags(self.defaults.clone()).build()
    }
}

/// A tag that takes any of the values.
pub(super) fn open(tag: &str) -> Definition {
    let many = (0..MANY).map(|number| format_smolstr!("v{number}"));
    let options = VALUES.map(SmolStr::new).into_iter().chain(many).collect();
    Definition { options, ..super::world::definition(tag) }
}

fn text(choices: &'static [&'static str]) -> impl Strategy<Value = SmolStr> {
    select(choices).prop_map(SmolStr::new_static)
}

pub(super) fn values() -> impl Strategy<Value = Vec<SmolStr>> {
    let few = subsequence(&VALUES[..], 0..=2).prop_map(|values| values.into_iter().map(SmolStr::new_static).collect());
    let many = (0..MANY, 0..MANY).prop_map(|(start, count)| {
        (start..start + count).map(|number| format_smolstr!("v{}", number % MANY)).collect()
    });
    prop_oneof![9 => few, 1 => many]
}

pub(super) fn tags() -> impl Strategy<Value = Tags> {
    proptest::collection::vec(values(), KEYS.len())
        .prop_map(|values| KEYS.iter().map(|key| SmolStr::new_static(key)).zip(values).collect())
}

pub(super) fn editions() -> impl Strategy<Value = NaiveEdition> {
    select(&[NaiveEdition::Classic, NaiveEdition::Current][..])
}

fn settings() -> impl Strategy<Value = Settings> {
    let switches = (any::<bool>(), any::<bool>(), proptest::bool::weighted(0.25));
    switches.prop_map(|(tolerated, exempt, required)| Settings {
        preexisting: if tolerated { Preexisting::Tolerated } else { Preexisting::Blocks },
        partners: if exempt { Partners::Exempt } else { Partners::Judged },
        membership: if required { Membership::Required } else { Membership::Optional },
    })
}

fn things() -> impl Strategy<Value = Vec<Thing>> {
    let standing = prop_oneof![8 => Just(Standing::Live), 1 => Just(Standing::Disabled), 1 => Just(Standing::Deleted)];
    let partner = prop_oneof![3 => Just(Partner::No), 1 => Just(Partner::Yes)];
    proptest::collection::vec((tags(), standing, partner), OBJECTS.len()).prop_map(|all| {
        let thing = |(reference, (tags, standing, partner)): (&&'static str, _)| Thing {
            reference: SmolStr::new_static(reference),
            tags,
            standing,
            partner,
        };
        OBJECTS.iter().zip(all).map(thing).collect()
    })
}

/// A relationship that makes sense, at least in the current edition.
pub(super) fn tie() -> impl Strategy<Value = Tie> {
    let role = proptest::option::of(text(&["projectRole/r1", "projectRole/r2"]));
    // Some more often than others, so that different relationships make the same pairs.
    let project = || text(&["project/p1", "project/p1", "project/p2", "project/p2", "project/p3"]);
    let workspace = || text(&["workspace/w1", "workspace/w1", "workspace/w1", "workspace/w2"]);
    let principal = || text(&["user/u1", "user/u1", "user/u2", "group/g1"]);
    let block = || text(&["buildingBlockDefinition/b1"]);
    let plain = |(a, b)| Tie { a, b, role: None };
    prop_oneof![
        2 => (workspace(), project()).prop_map(plain),
        2 => (workspace(), principal()).prop_map(plain),
        3 => (project(), principal(), role).prop_map(|(a, b, role)| Tie { a, b, role }),
        2 => (project(), text(&["landingZone/l1", "landingZone/l1", "landingZone/l2"])).prop_map(plain),
        1 => (workspace(), block()).prop_map(plain),
        1 => (project(), block()).prop_map(plain),
    ]
}

/// Those that an edition knows; a project lives in one workspace.
fn fitting(edition: NaiveEdition, ties: Vec<Tie>) -> Vec<Tie> {
    let mut kept: Vec<Tie> = Vec::new();
    for tie in ties {
        let owned = |own: &Tie| own.a.starts_with("workspace/") && tie.a.starts_with("workspace/") && own.b == tie.b;
        let second = tie.b.starts_with("project/") && kept.iter().any(owned);
        let unknown = edition == NaiveEdition::Classic && tie.b.starts_with("buildingBlock");
        if !second && !unknown {
            kept.push(tie);
        }
    }
    kept
}

/// A policy that an edition takes.
pub(super) fn policies(edition: NaiveEdition) -> impl Strategy<Value = Policy> {
    let classic = edition == NaiveEdition::Classic;
    let known: Vec<(&str, &str)> =
        if classic { [PAIRS[0], PAIRS[1], PAIRS[4], PAIRS[5]].to_vec() } else { PAIRS.to_vec() };
    let rules = proptest::collection::vec((text(&KEYS), text(&KEYS)), 1..=if classic { 3 } else { 1 });
    let level =
        prop_oneof![5 => Just(Level::Enforce), 1 => Just(Level::Warn), 1 => Just(Level::Audit), 1 => Just(Level::Off)];
    let from = proptest::option::weighted(0.2, moment());
    (select(&POLICIES[..]), select(known), any::<bool>(), rules, level, from).prop_map(
        move |(id, (a, b), other, rules, level, enforce_from)| {
            // What is left to choose: the order of the sides, or the strategy.
            let (a, b) = if classic && other { (b, a) } else { (a, b) };
            let strategy = if !classic && other { Asked::Subset } else { Asked::Intersection };
            let rules = rules.into_iter().map(|(a, b)| Rule { a, b }).collect();
            let plain = policy(id, &format!("{a}.env"), &format!("{b}.env"));
            Policy { rules, strategy, level, enforce_from, ..plain }
        },
    )
}

/// More rules about one pair than a word has bits, now and then.
fn crowd(edition: NaiveEdition) -> impl Strategy<Value = Vec<Policy>> {
    let size = prop_oneof![5 => Just(0_usize), 1 => 62..67_usize];
    size.prop_map(move |size| {
        let many = |number: usize| {
            let (a, b) = (KEYS[number % 2], KEYS[number / 2 % 2]);
            policy(&format!("many-{number}"), &format!("project.{a}"), &format!("landingZone.{b}"))
        };
        let policies = (0..size).map(many);
        match edition {
            NaiveEdition::Current => policies.collect(),
            // There, one policy can have them all.
            NaiveEdition::Classic => {
                let rules: Vec<Rule> = policies.flat_map(|policy| policy.rules).collect();
                let whole = Policy { rules, ..policy("many", "project.env", "landingZone.env") };
                if whole.rules.is_empty() { Vec::new() } else { vec![whole] }
            }
        }
    })
}

pub(super) fn moment() -> impl Strategy<Value = Timestamp> {
    (0..10_i64).prop_map(|later| Timestamp(BEGIN.0 + later))
}

pub(super) fn waivers() -> impl Strategy<Value = Waiver> {
    let object = || proptest::option::weighted(0.3, text(&OBJECTS));
    let scope = proptest::option::weighted(0.3, text(&["workspace/w1", "workspace/w2"]));
    let time = || proptest::option::weighted(0.3, moment());
    (select(&WAIVERS[..]), select(&POLICIES[..]), object(), object(), scope, time(), time()).prop_map(
        |(id, policy, a, b, scope, not_before, expires)| Waiver {
            a,
            b,
            scope,
            not_before,
            expires,
            ..waiver(id, policy)
        },
    )
}

fn distinct<T>(all: Vec<T>, name: impl Fn(&T) -> &SmolStr) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for one in all {
        if !kept.iter().any(|own| name(own) == name(&one)) {
            kept.push(one);
        }
    }
    kept
}

/// An organisation of an edition.
pub(super) fn start(edition: NaiveEdition) -> impl Strategy<Value = Start> {
    let links = proptest::collection::vec(tie(), 0..14);
    let policies = proptest::collection::vec(policies(edition), 0..5);
    let waivers = proptest::collection::vec(waivers(), 0..3);
    let defaults = prop_oneof![3 => Just(Tags::new()), 1 => tags()];
    (settings(), things(), links, policies, crowd(edition), waivers, defaults).prop_map(
        move |(settings, objects, links, policies, crowd, waivers, defaults)| Start {
            edition,
            settings,
            objects,
            links: fitting(edition, links),
            policies: distinct(policies, |policy| &policy.id).into_iter().chain(crowd).collect(),
            waivers: distinct(waivers, |waiver| &waiver.id),
            defaults,
        },
    )
}

/// An organisation of either edition.
pub(super) fn starts() -> impl Strategy<Value = Start> {
    editions().prop_flat_map(start)
}
