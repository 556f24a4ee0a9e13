//! I3: verdicts do not depend on the order in which things are reported, on duplicates, on names, or on what is irrelevant.

use proptest::prelude::*;
use smol_str::{SmolStr, format_smolstr};

use super::super::super::reference::random::{Start, policy, starts};
use super::super::super::*;
use super::NOW;

/// The start told the other way round, everything that can be said twice said twice.
pub(super) fn turned(start: &Start) -> Start {
    let mut other = start.clone();
    other.objects.reverse();
    for thing in &mut other.objects {
        thing.tags.reverse();
        for (_, values) in &mut thing.tags {
            values.extend(values.clone());
        }
    }
    other.links.extend(start.links.clone());
    other.links.reverse();
    other.policies.reverse();
    other
}

/// Every id and every value renamed.
fn renamed(start: &Start) -> Start {
    let object = |reference: &SmolStr| {
        let (kind, id) = reference.split_once('/').unwrap();
        // In another order than before.
        let mut letters: Vec<char> = id.chars().collect();
        letters.reverse();
        format_smolstr!("{kind}/{}", letters.into_iter().collect::<String>())
    };
    let mut other = start.clone();
    for thing in &mut other.objects {
        thing.reference = object(&thing.reference);
        thing.tags = thing.tags.iter().map(renamed_tag).collect();
    }
    for tie in &mut other.links {
        (tie.a, tie.b) = (object(&tie.a), object(&tie.b));
        tie.role = tie.role.as_ref().map(object);
    }
    for policy in &mut other.policies {
        policy.values = policy.values.iter().map(renamed_value).collect();
        for selection in &mut policy.only {
            for selector in selection.among.iter_mut().chain(&mut selection.except) {
                selector.tags = selector.tags.iter().map(renamed_tag).collect();
                for references in [&mut selector.objects, &mut selector.scopes] {
                    *references = references.iter().map(object).collect();
                }
            }
        }
    }
    for waiver in &mut other.waivers {
        for part in [&mut waiver.a, &mut waiver.b, &mut waiver.scope] {
            *part = part.as_ref().map(object);
        }
    }
    other
}

fn renamed_tag((key, values): &(SmolStr, Vec<SmolStr>)) -> (SmolStr, Vec<SmolStr>) {
    (key.clone(), values.iter().map(renamed_value).collect())
}

fn renamed_value(value: &SmolStr) -> SmolStr {
    format_smolstr!("{value}, renamed")
}

/// What is violated by whom, and who covers it.
fn verdicts(comply: &Comply) -> Vec<(SmolStr, usize, String, String, Option<SmolStr>)> {
    let told = |violation: &Finding| {
        let (a, b) = (violation.a.object.to_string(), violation.b.object.to_string());
        (violation.policy.clone(), violation.rule, a, b, violation.waiver.clone())
    };
    comply.violations(NOW).iter().map(told).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn i3_order_and_duplicates_do_not_matter(start in starts()) {
        prop_assert_eq!(start.build().violations(NOW), turned(&start).build().violations(NOW));
    }

    #[test]
    fn i3_names_do_not_matter(start in starts()) {
        let mut once = verdicts(&start.build());
        let mut twice = verdicts(&renamed(&start).build());
        // The ids are letters and a digit: read backwards, they are themselves again.
        for (_, _, a, b, _) in &mut twice {
            for side in [a, b] {
                let (kind, id) = side.split_once('/').unwrap();
                *side = format!("{kind}/{}", id.chars().rev().collect::<String>());
            }
        }
        once.sort();
        twice.sort();
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn i3_irrelevant_tags_and_policies_do_not_matter(start in starts()) {
        let mut more = start.clone();
        for thing in &mut more.objects {
            thing.tags.insert(0, (SmolStr::new_static("colour"), vec![thing.reference.clone()]));
        }
        more.policies.insert(0, policy("colours", "workspace.colour", "project.colour"));
        more.policies.push(policy("sizes", "project.size", "landingZone.size"));
        let mut violations = more.build().violations(NOW);
        violations.retain(|violation| violation.policy != "colours");
        prop_assert_eq!(violations, start.build().violations(NOW));
    }
}
