//! What a digest covers: whatever can change an answer, and nothing else.

use upheld_engine::comply::{Described, Level, ObjectState, Partner, Partners, Policy, Waiver};
use upheld_model::{NodeRef, SourceId, Timestamp};

use upheld_engine::comply::reference::NaiveEdition;

use super::super::*;
use super::world::{BEGIN, Tested, World, administrator, definition, link, policy, set_tags, waiver};

fn world() -> World {
    world_with(Settings::default())
}

fn world_with(settings: Settings) -> World {
    World::new(NaiveEdition::Classic, settings)
        .open(&["workspace.env", "project.env"])
        .object("workspace/w", "env=dev,qa")
        .object("project/p", "env=qa")
        .object("user/u", "")
        .link("workspace/w", "project/p")
}

fn enforced() -> Policy {
    policy("env", "workspace.env", "project.env")
}

fn digest(world: World) -> String {
    world.build().digest()
}

/// The digest of an organisation is not that of another one.
fn differ(all: &[(&str, String)]) {
    for (place, (name, own)) in all.iter().enumerate() {
        let same = all[..place].iter().find(|(_, other)| other == own);
        assert_eq!(same.map(|(other, _)| *other), None, "{name} is not told apart");
    }
}

/// It would change if names of types or variants of this program went in: those who stored it could not compare any more.
#[test]
fn the_digest_is_the_same_in_every_build() {
    let comply = world().with(enforced()).waiver(waiver("later", "env")).defaults("team=blue").build();
    assert_eq!(comply.digest(), "9563e1cad01691ceb4a05da5b592512e6f14a59d7e5eb7fe1b91fbaca18c8332");
}

#[test]
fn settings_count() {
    let of = |settings| digest(world_with(settings));
    let usual = Settings::default();
    differ(&[
        ("usual", of(usual)),
        ("tolerated", of(Settings { preexisting: Preexisting::Tolerated, ..usual })),
        ("exempt", of(Settings { partners: Partners::Exempt, ..usual })),
        ("required", of(Settings { membership: Membership::Required, ..usual })),
    ]);
}

#[test]
fn objects_tags_and_relationships_count() {
    let described = |described| digest(world().described("workspace/v", "", described));
    differ(&[
        ("none", digest(world())),
        ("one more", described(Described::default())),
        ("its name", described(Described { name: Some("V".into()), ..Described::default() })),
        ("disabled", described(Described { standing: ObjectState::Disabled, ..Described::default() })),
        ("partner", described(Described { partner: Partner::Yes, ..Described::default() })),
        ("its tags", digest(world().object("workspace/v", "env=dev"))),
        ("other values", digest(world().object("workspace/v", "env=qa"))),
        ("their order", digest(world().object("workspace/v", "env=dev,qa"))),
        ("and back", digest(world().object("workspace/v", "env=qa,dev"))),
        ("related", digest(world().link("workspace/w", "user/u"))),
    ]);
}

#[test]
fn policies_and_their_levels_count() {
    let of = |policy| digest(world().with(policy));
    let all = Level::ALL.into_iter().map(|level| (level.word(), of(Policy { level, ..enforced() })));
    let mut all: Vec<(&str, String)> = all.collect();
    all.push(("none", digest(world())));
    all.push(("with a hint", of(Policy { how_to_fix: Some("ask".into()), ..enforced() })));
    all.push(("another name", of(Policy { id: "other".into(), ..enforced() })));
    differ(&all);
    let later = Policy { enforce_from: Some(Timestamp(BEGIN.0 + 5)), ..enforced() };
    let organisation = world().with(later).build().organisation;
    assert_ne!(organisation.digest(BEGIN), organisation.digest(Timestamp(BEGIN.0 + 5)), "it is enforced from then on");
    assert_eq!(organisation.digest(BEGIN), organisation.digest(Timestamp(BEGIN.0 + 4)), "time itself says nothing");
}

#[test]
fn waivers_count_and_whether_they_are_in_force() {
    let of = |waiver| digest(world().with(enforced()).waiver(waiver));
    differ(&[
        ("none", digest(world().with(enforced()))),
        ("one", of(waiver("w", "env"))),
        ("of an object", of(Waiver { a: Some("workspace/w".into()), ..waiver("w", "env") })),
        ("of another side", of(Waiver { b: Some("workspace/w".into()), ..waiver("w", "env") })),
        ("with a ticket", of(Waiver { ticket: Some("T-1".into()), ..waiver("w", "env") })),
    ]);
    let expires = Waiver { expires: Some(Timestamp(BEGIN.0 + 5)), ..waiver("w", "env") };
    let organisation = world().with(enforced()).waiver(expires).build().organisation;
    assert_ne!(organisation.digest(BEGIN), organisation.digest(Timestamp(BEGIN.0 + 5)));
}

#[test]
fn definitions_and_default_tags_count() {
    differ(&[
        ("none", digest(world())),
        ("one more", digest(world().define(definition("landingZone.env")))),
        ("restricted", {
            let restricted = Definition { restricted: Restricted::Yes, ..definition("landingZone.env") };
            digest(world().define(restricted))
        }),
        ("default tags", digest(world().defaults("env=dev"))),
        ("others", digest(world().defaults("env=qa"))),
    ]);
}

#[test]
fn what_happened_counts_also_if_it_came_to_the_same() {
    let acted = |steps: &[Action]| {
        let mut comply: Tested = world().with(enforced()).build();
        for action in steps {
            assert!(comply.act(&administrator(), action).outcome.is_done());
        }
        comply
    };
    let there_and_back = acted(&[set_tags("workspace/w", "env=dev"), set_tags("workspace/w", "env=dev,qa")]);
    assert_eq!(there_and_back.violations(), []);
    assert_ne!(there_and_back.digest(), acted(&[]).digest(), "the record says so");
    let harmless = acted(&[link("workspace/w", "user/u")]);
    assert_eq!(harmless.digest(), digest(world().with(enforced()).link("workspace/w", "user/u")));
}

#[test]
fn where_something_was_written_does_not_count() {
    let at = Some(NodeRef { source: SourceId::new(3), node: 7 });
    let moved = world().described("workspace/v", "", Described { at, ..Described::default() });
    assert_eq!(digest(moved), digest(world().object("workspace/v", "")));
    assert_eq!(digest(world().with(Policy { at, ..enforced() })), digest(world().with(enforced())));
}

#[test]
fn what_is_meant_counts_in_a_plan() {
    let comply = world().build();
    let plan = |steps: &[Step]| comply.organisation.plan_id(BEGIN, steps);
    let (tag, other) = (set_tags("project/p", "env=dev"), set_tags("project/p", "env=qa"));
    differ(&[
        ("nothing", plan(&[])),
        ("one", plan(&[(administrator(), tag.clone())])),
        ("another", plan(&[(administrator(), other.clone())])),
        ("by another", plan(&[(Actor::System, tag.clone())])),
        ("both", plan(&[(administrator(), tag.clone()), (administrator(), other.clone())])),
        ("turned", plan(&[(administrator(), other), (administrator(), tag)])),
    ]);
}
