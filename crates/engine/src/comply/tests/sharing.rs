//! A copy shares what it does not change.

use super::super::*;
use super::world::{World, told};

/// Workspaces with ten projects each; those of every third violate.
fn world(workspaces: usize) -> Comply {
    let mut world = World::classic().policy("p", "workspace.env", "project.env");
    for number in 0..workspaces {
        let workspace = format!("workspace/{number}");
        world = world.object(&workspace, "env=dev");
        for project in 0..10 {
            let project = format!("project/{number}/{project}");
            world = world.object(&project, if number % 3 == 0 { "env=prod" } else { "env=dev" });
            world = world.link(&workspace, &project);
        }
    }
    world.build()
}

/// How many pages a change copies.
fn copied(before: &Comply, change: impl FnOnce(&mut Comply)) -> usize {
    let mut after = before.clone();
    assert_eq!(after.unshared(before), 0, "a clone copies nothing");
    change(&mut after);
    after.settle();
    after.unshared(before)
}

#[test]
fn a_change_of_tags_copies_as_much_of_many_objects_as_of_few() {
    let retag = |comply: &mut Comply| {
        let object = comply.lookup("project/1/3").unwrap();
        let tags = [(comply.key("env"), comply.values(&["prod".into()]))];
        comply.retag(object, &tags);
    };
    let (few, many) = (world(30), world(600));
    let (of_few, of_many) = (copied(&few, retag), copied(&many, retag));
    assert!(of_many <= 8, "{of_many}");
    assert!(of_few <= of_many);
}

#[test]
fn a_relationship_that_ends_copies_as_much_of_many_as_of_few() {
    let unlink = |comply: &mut Comply| {
        let object = comply.lookup("project/1/3").unwrap();
        let links: Vec<LinkId> = comply.links_of(object).map(|(id, _)| id).collect();
        for link in links {
            comply.unlink(link);
        }
    };
    assert!(copied(&world(600), unlink) <= 8);
}

#[test]
fn those_who_share_do_not_see_a_change() {
    let before = world(30);
    let violations = told(&before.violations(upheld_model::Timestamp(0)));
    let mut after = before.clone();
    let object = after.lookup("workspace/0").unwrap();
    let tags = [(after.key("env"), after.values(&["prod".into()]))];
    after.retag(object, &tags);
    assert_eq!(told(&before.violations(upheld_model::Timestamp(0))), violations);
    assert_eq!(told(&after.violations(upheld_model::Timestamp(0))).len() + 10, violations.len());
}
