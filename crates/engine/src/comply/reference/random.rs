//! Random organisations: few objects, tags and values, so that everything meets everything; now and then more rules than a word
//! has bits, and more values.

use std::fmt;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::Strategy;
use smol_str::{SmolStr, format_smolstr};
use upheld_model::Timestamp;

use super::super::policy::Strategy as Asked;
use super::super::{
    Comply, Described, Draft, Level, ObjectState, Partner, Partners, Policy, Profile, Rule, Selection, Selector,
    Subject, Tags, Waiver,
};
use super::{NaiveEdition, editions};

/// The moment at which everything begins.
pub const BEGIN: Timestamp = Timestamp(1_000);

/// All objects that there can be.
pub const OBJECTS: [&str; 13] = [
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
/// What policies and definitions are about.
pub const SUBJECTS: [&str; 6] =
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
/// Those of the classic edition.
const CLASSIC_PAIRS: [(&str, &str); 4] =
    [("workspace", "project"), ("workspace", "principal"), ("project", "principal"), ("project", "landingZone")];
/// The keys of tags.
pub const KEYS: [&str; 2] = ["env", "unit"];
/// Most values.
pub const VALUES: [&str; 3] = ["x", "y", ""];
/// The names of policies.
pub const POLICIES: [&str; 5] = ["one", "two", "three", "four", "five"];
/// The names of waivers.
pub const WAIVERS: [&str; 3] = ["first", "second", "third"];
/// More values than a word has bits.
pub const MANY: usize = 70;

/// An organisation as it is before anything happens.
#[derive(Clone)]
pub struct Start {
    /// Which pairs there are.
    pub edition: NaiveEdition,
    /// Whether policies look at the provider's own scopes.
    pub partners: Partners,
    /// Who there is.
    pub objects: Vec<Thing>,
    /// How they are related.
    pub links: Vec<Tie>,
    /// What holds.
    pub policies: Vec<Policy>,
    /// What is excused.
    pub waivers: Vec<Waiver>,
}

/// An object.
#[derive(Clone, Debug)]
pub struct Thing {
    /// `kind/id`.
    pub reference: SmolStr,
    /// Its tags.
    pub tags: Tags,
    /// What it is good for.
    pub standing: ObjectState,
    /// Whether it is the provider's own.
    pub partner: Partner,
}

/// A relationship.
#[derive(Clone, Debug)]
pub struct Tie {
    /// One side.
    pub a: SmolStr,
    /// The other.
    pub b: SmolStr,
    /// What qualifies it.
    pub role: Option<SmolStr>,
}

impl fmt::Debug for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?} {:?}", self.edition, self.partners)?;
        for thing in &self.objects {
            let tags: Vec<_> = thing.tags.iter().filter(|(_, values)| !values.is_empty()).collect();
            let usual = (thing.standing, thing.partner) == (ObjectState::Live, Partner::No);
            if !tags.is_empty() || !usual {
                let Thing { reference, standing, partner, .. } = thing;
                writeln!(f, "{reference} {standing:?} partner={partner:?} {tags:?}")?;
            }
        }
        for Tie { a, b, role } in &self.links {
            writeln!(f, "{a} - {b} as {role:?}")?;
        }
        for Policy { id, a, b, rules, strategy, values, only, level, enforce_from, .. } in &self.policies {
            let rules = rules.iter().map(|rule| format!("{}/{}", rule.a, rule.b)).collect::<Vec<_>>().join(" ");
            writeln!(
                f,
                "{id}: {a:?} <> {b:?} {rules} {strategy:?} {values:?} {only:?} {level:?} from {enforce_from:?}"
            )?;
        }
        writeln!(f, "{:?}", self.waivers)
    }
}

impl NaiveEdition {
    /// The same as a profile.
    pub fn profile(self) -> Profile {
        match self {
            Self::Classic => editions::classic(),
            Self::Current => editions::current(),
            Self::Scoped => editions::scoped(),
        }
    }
}

impl Start {
    /// All of it, told to a draft.
    pub fn tell(&self, draft: &mut Draft) {
        for thing in &self.objects {
            let object = refer(draft, &thing.reference);
            let (standing, partner) = (thing.standing, thing.partner);
            draft.describe(object, Described { standing, partner, ..Described::default() }).ok();
            for (key, values) in &thing.tags {
                draft.tag(object, key, values.iter().map(SmolStr::as_str));
            }
        }
        for tie in &self.links {
            let (a, b) = (refer(draft, &tie.a), refer(draft, &tie.b));
            let role = tie.role.as_ref().map(|role| refer(draft, role));
            draft.link(a, b, role, None);
        }
        for policy in &self.policies {
            draft.policy(policy.clone());
        }
        for waiver in &self.waivers {
            draft.waiver(waiver.clone());
        }
    }

    /// The engine, told everything.
    pub fn build(&self) -> Comply {
        let mut draft = Draft::new(Arc::new(self.edition.profile()), self.partners);
        self.tell(&mut draft);
        draft.build()
    }
}

/// An object by its reference.
pub fn refer(draft: &mut Draft, reference: &str) -> super::super::ObjectId {
    let (kind, id) = reference.split_once('/').unwrap_or((reference, ""));
    let kind = draft.profile().kind(kind).unwrap_or(super::super::Kind(0));
    draft.refer(kind, id, None)
}

/// `project.env` as a subject and a tag.
pub fn tag_of(text: &str) -> (Subject, SmolStr) {
    let (subject, key) = text.split_once('.').unwrap_or((text, ""));
    (editions::current().subject(subject).unwrap_or(Subject(0)), SmolStr::new(key))
}

/// A policy between two tags that is enforced.
pub fn policy(id: &str, a: &str, b: &str) -> Policy {
    let ((a, first), (b, second)) = (tag_of(a), tag_of(b));
    Policy::new(SmolStr::new(id), [a, b], vec![Rule { a: first, b: second }])
}

/// A waiver of a whole policy.
pub fn waiver(id: &str, policy: &str) -> Waiver {
    Waiver {
        id: SmolStr::new(id),
        policy: SmolStr::new(policy),
        a: None,
        b: None,
        scope: None,
        category: None,
        reason: SmolStr::new_static("agreed"),
        approved_by: None,
        ticket: None,
        not_before: None,
        expires: None,
        at: None,
    }
}

/// One of these texts.
pub fn text(choices: &'static [&'static str]) -> impl Strategy<Value = SmolStr> {
    select(choices).prop_map(SmolStr::new_static)
}

/// The values of a tag.
pub fn values() -> impl Strategy<Value = Vec<SmolStr>> {
    let few =
        subsequence(VALUES.as_slice(), 0..=2).prop_map(|values| values.into_iter().map(SmolStr::new_static).collect());
    let many = (0..MANY, 0..MANY).prop_map(|(start, count)| {
        (start..start + count).map(|number| format_smolstr!("v{}", number % MANY)).collect()
    });
    prop_oneof![9 => few, 1 => many]
}

/// All tags, some without values.
pub fn tags() -> impl Strategy<Value = Tags> {
    proptest::collection::vec(values(), KEYS.len())
        .prop_map(|values| KEYS.iter().map(|key| SmolStr::new_static(key)).zip(values).collect())
}

/// Any edition.
pub fn editions() -> impl Strategy<Value = NaiveEdition> {
    select(vec![NaiveEdition::Classic, NaiveEdition::Current, NaiveEdition::Scoped])
}

fn partners() -> impl Strategy<Value = Partners> {
    select(vec![Partners::Judged, Partners::Exempt])
}

fn things() -> impl Strategy<Value = Vec<Thing>> {
    let standing =
        prop_oneof![8 => Just(ObjectState::Live), 1 => Just(ObjectState::Disabled), 1 => Just(ObjectState::Deleted)];
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
pub fn tie() -> impl Strategy<Value = Tie> {
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
pub fn policies(edition: NaiveEdition) -> BoxedStrategy<Policy> {
    let between = between(edition);
    if edition != NaiveEdition::Scoped {
        return between.boxed();
    }
    let cut = (between, selection(), selection()).prop_map(|(policy, a, b)| Policy { only: [a, b], ..policy });
    prop_oneof![1 => cut, 2 => alone()].boxed()
}

/// Which objects a policy is cut to; mostly all of them.
fn selection() -> impl Strategy<Value = Selection> {
    let some = |most| proptest::collection::vec(selector(), 0..=most);
    prop_oneof![
        1 => Just(Selection::default()),
        2 => (some(2), some(1)).prop_map(|(among, except)| Selection { among, except }),
    ]
}

fn selector() -> impl Strategy<Value = Selector> {
    let wanted = proptest::collection::vec(text(&VALUES), 1..=2);
    let tags = proptest::collection::vec((text(&KEYS), wanted), 0..=2);
    let objects = prop_oneof![3 => Just(Vec::new()), 1 => proptest::collection::vec(text(&OBJECTS), 1..=3)];
    let scopes = prop_oneof![
        2 => Just(Vec::new()),
        1 => proptest::collection::vec(text(&["workspace/w1", "workspace/w2"]), 1..=2),
    ];
    (tags, objects, scopes).prop_map(|(tags, objects, scopes)| Selector { tags, objects, scopes })
}

/// A policy about single objects.
fn alone() -> impl Strategy<Value = Policy> {
    let rules = proptest::collection::vec(text(&KEYS), 1..=2);
    let strategy = select(Asked::ALONE.to_vec());
    let subject = select(vec!["workspace", "project", "landingZone", "principal"]);
    (select(POLICIES.as_slice()), subject, rules, strategy, values(), selection(), level()).prop_map(
        |(id, subject, keys, strategy, values, only, level)| {
            let tag = format!("{subject}.env");
            let rules = keys.into_iter().map(|key| Rule { a: key.clone(), b: key }).collect();
            let only = [only, Selection::default()];
            Policy { rules, strategy, values, only, level, ..policy(id, &tag, &tag) }
        },
    )
}

fn level() -> impl Strategy<Value = Level> {
    prop_oneof![5 => Just(Level::Enforce), 1 => Just(Level::Warn), 1 => Just(Level::Audit), 1 => Just(Level::Off)]
}

/// A policy between two objects.
fn between(edition: NaiveEdition) -> impl Strategy<Value = Policy> {
    let classic = edition == NaiveEdition::Classic;
    let known: Vec<(&str, &str)> = PAIRS.into_iter().filter(|pair| !classic || CLASSIC_PAIRS.contains(pair)).collect();
    let rules = proptest::collection::vec((text(&KEYS), text(&KEYS)), 1..=if classic { 3 } else { 1 });
    let from = proptest::option::weighted(0.2, moment());
    (select(POLICIES.as_slice()), select(known), any::<bool>(), rules, level(), from).prop_map(
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
            let key = |number: usize| if number.is_multiple_of(2) { "env" } else { "unit" };
            let (a, b) = (key(number), key(number / 2));
            policy(&format!("many-{number}"), &format!("project.{a}"), &format!("landingZone.{b}"))
        };
        let policies = (0..size).map(many);
        match edition {
            NaiveEdition::Current | NaiveEdition::Scoped => policies.collect(),
            // There, one policy can have them all.
            NaiveEdition::Classic => {
                let rules: Vec<Rule> = policies.flat_map(|policy| policy.rules).collect();
                let whole = Policy { rules, ..policy("many", "project.env", "landingZone.env") };
                if whole.rules.is_empty() { Vec::new() } else { vec![whole] }
            }
        }
    })
}

/// A moment, soon after everything begins.
pub fn moment() -> impl Strategy<Value = Timestamp> {
    (0..10_i64).prop_map(|later| Timestamp(BEGIN.0 + later))
}

/// A waiver.
pub fn waivers() -> impl Strategy<Value = Waiver> {
    let object = || proptest::option::weighted(0.3, text(&OBJECTS));
    let scope = proptest::option::weighted(0.3, text(&["workspace/w1", "workspace/w2"]));
    let time = || proptest::option::weighted(0.3, moment());
    (select(WAIVERS.as_slice()), select(POLICIES.as_slice()), object(), object(), scope, time(), time()).prop_map(
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
pub fn start(edition: NaiveEdition) -> impl Strategy<Value = Start> {
    let links = proptest::collection::vec(tie(), 0..14);
    let policies = proptest::collection::vec(policies(edition), 0..5);
    let waivers = proptest::collection::vec(waivers(), 0..3);
    (partners(), things(), links, policies, crowd(edition), waivers).prop_map(
        move |(partners, objects, links, policies, crowd, waivers)| Start {
            edition,
            partners,
            objects,
            links: fitting(edition, links),
            policies: distinct(policies, |policy| &policy.id).into_iter().chain(crowd).collect(),
            waivers: distinct(waivers, |waiver| &waiver.id),
        },
    )
}

/// An organisation of any edition.
pub fn starts() -> impl Strategy<Value = Start> {
    editions().prop_flat_map(start)
}
