//! What people do, sensible or not.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Strategy;
use smol_str::SmolStr;
use upheld_engine::comply::reference::random::{
    KEYS, OBJECTS, POLICIES, SUBJECTS, WAIVERS, editions, moment, policies, tags, text, tie, values, waivers,
};

use upheld_engine::comply::Tags;
use upheld_engine::comply::reference::NaiveEdition;

use super::super::super::*;
use super::super::world::{definition, person, person_in, redefinition};
use super::{Began, began, open};

/// Who does what.
pub(in super::super) type Step = (Actor, Action);

/// An organisation and what happens in it.
pub(in super::super) fn steps(most: usize) -> impl Strategy<Value = (Began, Vec<Step>)> {
    editions()
        .prop_flat_map(move |edition| (began(edition), proptest::collection::vec((actor(), action(edition)), 1..=most)))
}

pub(in super::super) fn actor() -> impl Strategy<Value = Actor> {
    let roles = ["workspaceOwner", "workspaceMember", "orgUser", "complianceManager", "platformEngineer"];
    prop_oneof![
        3 => Just(Actor::System),
        4 => Just(person("orgAdmin")),
        4 => Just(person("workspaceManager")),
        1 => Just(person_in("workspaceManager", "workspace/w1")),
        2 => select(roles.to_vec()).prop_map(person),
    ]
}

/// Something that ends relationships.
pub(in super::super) fn ending() -> impl Strategy<Value = Action> {
    prop_oneof![2 => unlink(), 1 => text(&OBJECTS).prop_map(|object| Action::Delete { object })]
}

fn unlink() -> impl Strategy<Value = Action> {
    tie().prop_map(|tie| Action::Unlink { a: tie.a, b: tie.b, role: tie.role })
}

/// Anything that an edition may be asked to do.
pub(in super::super) fn action(edition: NaiveEdition) -> BoxedStrategy<Action> {
    let object = || text(&OBJECTS);
    let facts = prop_oneof![
        2 => create(),
        6 => (object(), some_tags()).prop_map(|(object, tags)| Action::SetTags { object, tags }),
        6 => tie().prop_map(|tie| Action::Link { a: tie.a, b: tie.b, role: tie.role }),
        4 => ending(),
        1 => (object(), object()).prop_map(|(a, b)| Action::Link { a, b, role: None }),
    ];
    let other = match edition {
        NaiveEdition::Classic => NaiveEdition::Current,
        NaiveEdition::Current => NaiveEdition::Scoped,
        NaiveEdition::Scoped => NaiveEdition::Classic,
    };
    let rules = prop_oneof![
        3 => policies(edition).prop_map(Action::CreatePolicy),
        4 => policies(edition).prop_map(Action::UpdatePolicy),
        1 => policies(other).prop_map(Action::UpdatePolicy),
        2 => text(&POLICIES).prop_map(|policy| Action::DeletePolicy { policy }),
        2 => waivers().prop_map(Action::Grant),
        1 => text(&WAIVERS).prop_map(|waiver| Action::Revoke { waiver }),
        1 => moment().prop_map(|to| Action::Advance { to }),
        1 => some_tags().prop_map(|tags| Action::SetDefaults { tags }),
    ];
    prop_oneof![6 => facts, 4 => rules, 1 => schema()].boxed()
}

fn create() -> impl Strategy<Value = Action> {
    let owner = text(&["workspace/w1", "workspace/w2"]);
    let links = proptest::collection::vec((text(&OBJECTS), proptest::option::weighted(0.2, text(&OBJECTS))), 0..3);
    (text(&OBJECTS), tags(), owner, links).prop_map(|(object, tags, owner, links)| {
        let owner = object.starts_with("project/").then_some((owner, None));
        let links = owner.into_iter().chain(links).map(|(other, role)| NewLink { other, role });
        Action::Create(NewObject { object: object.clone(), tags, links: links.collect(), ..NewObject::default() })
    })
}

fn some_tags() -> impl Strategy<Value = Tags> {
    let size = proptest::sample::subsequence(vec!["1", "1.0", "2"], 1..3);
    let size = size.prop_map(|values| (SmolStr::new_static("size"), values.into_iter().map(SmolStr::new).collect()));
    proptest::collection::vec(prop_oneof![5 => (text(&KEYS), values()), 1 => size], 1..3)
}

fn tag() -> impl Strategy<Value = String> {
    (select(&SUBJECTS[..]), select(&KEYS[..])).prop_map(|(subject, key)| format!("{subject}.{key}"))
}

fn schema() -> impl Strategy<Value = Action> {
    let switches = || (any::<bool>(), any::<bool>(), any::<bool>());
    let define = (tag(), values(), switches()).prop_map(|(tag, default, (mandatory, restricted, immutable))| {
        Action::Define(Definition {
            default,
            mandatory: if mandatory { Mandatory::Yes } else { Mandatory::No },
            restricted: if restricted { Restricted::Yes } else { Restricted::No },
            immutable: if immutable { Immutable::Yes } else { Immutable::No },
            ..open(&tag)
        })
    });
    let redefine = (tag(), values(), switches()).prop_map(|(tag, default, (mandatory, restricted, immutable))| {
        Action::Redefine(Redefinition {
            default: Some(default),
            mandatory: Some(if mandatory { Mandatory::Yes } else { Mandatory::No }),
            restricted: Some(if restricted { Restricted::Yes } else { Restricted::No }),
            immutable: Some(if immutable { Immutable::Yes } else { Immutable::No }),
            ..redefinition(&tag)
        })
    });
    let undefine = (text(&SUBJECTS), text(&KEYS)).prop_map(|(subject, key)| Action::Undefine { subject, key });
    let size = select(&SUBJECTS[..]).prop_map(|subject| {
        Action::Define(Definition {
            tag: TagType::Number,
            options: Vec::new(),
            ..definition(&format!("{subject}.size"))
        })
    });
    prop_oneof![2 => define, 2 => redefine, 2 => undefine, 1 => size]
}
