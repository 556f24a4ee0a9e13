//! Everything that can be seen from outside, as lines of text.

use proptest::prelude::*;
use smol_str::SmolStr;

use upheld_engine::comply::*;

use super::super::super::{Draft, *};
use super::super::world::Tested;

/// Everything: facts, records, and the version.
pub(super) fn export(comply: &Tested) -> Vec<String> {
    let mut lines = facts(comply);
    lines.push(format!("version {} at {}", comply.version(), comply.now()));
    lines.push(format!("defaults {:?}", comply.defaults()));
    for violation in comply.violations() {
        lines.push(format!("seen {violation:?} {:?}", comply.seen(&violation)));
    }
    lines.extend(comply.resolved().iter().map(|resolved| format!("resolved {resolved:?}")));
    lines
}

/// What is there, and what violates.
pub(super) fn facts(comply: &Tested) -> Vec<String> {
    let name = |object: ObjectId| comply.reference(object);
    let mut lines = Vec::new();
    let mut links = Vec::new();
    for object in comply.objects() {
        let owner = comply.owner_of(object).map(name);
        let Described { standing, partner, .. } = comply.described(object).unwrap();
        lines.push(format!("{} in {owner:?} {standing:?} {partner:?} {:?}", name(object), comply.tags_of(object)));
        for (_, link) in comply.links_of(object).filter(|(_, link)| link.a == object) {
            let role = link.role.filter(|role| comply.is_live(*role));
            links.push(format!("{} - {} as {:?}", name(link.a), name(link.b), role.map(name)));
        }
    }
    links.sort();
    lines.push(format!("{} links", comply.link_count()));
    lines.extend(links);
    lines.extend(comply.policies().iter().map(|policy| format!("{policy:?}")));
    lines.extend(comply.definitions().iter().map(|definition| {
        let Definition { subject, key, tag, options, default, mandatory, restricted, immutable, .. } = definition;
        let options = options.len();
        format!("{subject:?} {key} {tag:?} {options} {default:?} {mandatory:?} {restricted:?} {immutable:?}")
    }));
    lines.extend(comply.waivers().iter().map(|waiver| format!("{waiver:?}")));
    lines.extend(comply.violations().iter().map(|violation| format!("{violation:?}")));
    lines.extend(comply.checks(&Filter::default(), comply.now()).iter().map(|check| format!("{check:?}")));
    lines
}

/// The same facts, told to a new engine.
pub(super) fn rebuilt(comply: &Tested) -> Tested {
    let mut draft = Draft::new(comply.profile().clone(), comply.settings());
    let mut anew = |object: ObjectId| {
        let reference = comply.reference(object);
        let (_, id) = reference.split_once('/').unwrap();
        draft.facts.refer(comply.kind_of(object).unwrap(), id, None)
    };
    let ids: Vec<(ObjectId, ObjectId)> = comply.objects().into_iter().map(|object| (object, anew(object))).collect();
    let id = |object: ObjectId| ids.iter().find(|(own, _)| *own == object).map(|(_, new)| *new);
    for (object, new) in &ids {
        draft.facts.describe(*new, comply.described(*object).unwrap().clone()).unwrap();
        for (key, values) in comply.tags_of(*object) {
            draft.facts.tag(*new, &key, values.iter().map(SmolStr::as_str));
        }
        for (_, link) in comply.links_of(*object).filter(|(_, link)| link.a == *object) {
            assert!(draft.facts.link(id(link.a).unwrap(), id(link.b).unwrap(), link.role.and_then(id), None));
        }
    }
    for definition in comply.definitions() {
        draft.define(definition.clone());
    }
    for policy in comply.policies() {
        assert!(draft.facts.policy(policy.clone()));
    }
    for waiver in comply.waivers() {
        assert!(draft.facts.waiver(waiver.clone()));
    }
    assert_eq!(draft.facts.problems(), []);
    Tested::new(draft.build(), comply.now())
}

/// Whether two exports are equal, and if not, where.
pub(super) fn same(before: &[String], after: &[String]) -> Result<(), TestCaseError> {
    let gone: Vec<&String> = before.iter().filter(|line| !after.contains(line)).collect();
    let new: Vec<&String> = after.iter().filter(|line| !before.contains(line)).collect();
    prop_assert!(gone.is_empty() && new.is_empty(), "gone {:#?} new {:#?}", gone, new);
    prop_assert_eq!(before, after);
    Ok(())
}
