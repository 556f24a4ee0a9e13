//! Which waiver covers a violation.

use upheld_model::{State, Timestamp};

use super::super::reference::random::waiver;
use super::super::{Comply, Waiver};
use super::world::World;

const NOW: Timestamp = Timestamp(1);

/// Two workspaces with a project each, in landing zones that violate the only policy: no workspace is a side of a pair.
fn violated() -> Comply {
    let world = World::classic().policy("p", "landingZone.env", "project.env");
    let world = [("here", "1"), ("there", "2")].into_iter().fold(world, |world, (workspace, number)| {
        let [workspace, project, zone] =
            [format!("workspace/{workspace}"), format!("project/{number}"), format!("landingZone/{number}")];
        let world = world.object(&workspace, "").object(&project, "env=prod").object(&zone, "env=dev");
        world.link(&workspace, &project).link(&project, &zone)
    });
    world.build()
}

/// Projects that violate, with the waiver that covers them.
fn covered(waivers: &[Waiver]) -> Vec<(String, Option<String>)> {
    let mut comply = violated();
    for waiver in waivers {
        assert!(comply.grant(waiver.clone()));
    }
    let violations = comply.violations(NOW).into_iter();
    let told = violations.map(|own| {
        assert_eq!(own.waiver.is_some(), own.state == State::Off);
        (own.b.object.to_string(), own.waiver.map(|waiver| waiver.to_string()))
    });
    told.collect()
}

fn expected(first: Option<&str>, second: Option<&str>) -> Vec<(String, Option<String>)> {
    [("project/1", first), ("project/2", second)]
        .map(|(project, waiver)| (project.to_owned(), waiver.map(str::to_owned)))
        .into()
}

#[test]
fn of_several_that_cover_it_the_one_that_came_first_is_named() {
    let (early, late) = (waiver("z", "p"), waiver("a", "p"));
    assert_eq!(covered(&[early.clone(), late.clone()]), expected(Some("z"), Some("z")));
    assert_eq!(covered(&[late, early]), expected(Some("a"), Some("a")));
    let near = Waiver { b: Some("project/1".into()), ..waiver("near", "p") };
    assert_eq!(covered(&[near, waiver("all", "p")]), expected(Some("near"), Some("all")));
}

#[test]
fn one_that_names_only_a_workspace_covers_what_lives_there() {
    let here = Waiver { scope: Some("workspace/here".into()), ..waiver("w", "p") };
    assert_eq!(covered(&[here]), expected(Some("w"), None));
}

#[test]
fn one_that_names_a_side_covers_no_other() {
    let second = Waiver { b: Some("project/2".into()), ..waiver("w", "p") };
    assert_eq!(covered(std::slice::from_ref(&second)), expected(None, Some("w")));
    let nowhere = Waiver { scope: Some("workspace/here".into()), ..second };
    assert_eq!(covered(&[nowhere]), expected(None, None));
}
