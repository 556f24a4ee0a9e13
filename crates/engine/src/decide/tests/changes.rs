//! A change costs what it touches: counted, not timed.

use std::sync::Arc;

use upheld_model::{NodeRef, SourceId};

use super::world::{all_of, path, rule, set};
use crate::decide::index::Unshared;
use crate::decide::*;
use crate::{Scratch, Silent, ask};

/// What the policy at a place asks for.
type Asks = fn(u32) -> Target;

fn role(text: &str) -> Test {
    Test::Role(vec![Wildcard::parse(text).unwrap()])
}

/// A path and a role of its own for each; some have patterns in them.
fn by_path(number: u32) -> Target {
    let subject = if number.is_multiple_of(5) { format!("role-{number}-*") } else { format!("role-{number}") };
    let pattern =
        if number.is_multiple_of(7) { format!("/services/s-{number}*/**") } else { format!("/services/s-{number}/**") };
    Target { subjects: all_of(vec![role(&subject)]), resources: all_of(vec![path(&pattern)]), ..Target::default() }
}

/// No path: all stand in one list.
fn by_group(number: u32) -> Target {
    Target { subjects: all_of(vec![Test::Group(vec![format!("group-{number}").into()])]), ..Target::default() }
}

fn written(number: u32, asks: Asks, priority: f64) -> Arc<Rule> {
    let at = NodeRef { source: SourceId::new(0), node: number };
    Arc::new(Rule { priority, at, ..rule(&format!("p{number}"), Effect::Permit, asks(number)) })
}

fn many(count: u32, asks: Asks) -> Decide {
    let members = (0..count).map(|number| Member::Rule(written(number, asks, 0.0)));
    Decide::new(set(Algorithm::DenyOverrides, members.collect()), Strictness::Strict)
}

/// What a policy copies that comes, changes and goes, one step after the other.
fn touched(count: u32, asks: Asks) -> [Unshared; 3] {
    let before = many(count, asks);
    let known = Arc::clone(before.rules().get(count as usize / 2).unwrap());
    let change = |decide: &Decide, changes: &[RuleChange]| decide.with_changes(changes, |at| at).unwrap();
    let new = written(count, asks, 5.0);
    let came = change(&before, &[RuleChange::Added(Arc::clone(&new))]);
    let other = Arc::new(Rule { target: asks(count + 1), ..(*known).clone() });
    let changed = change(&came, &[RuleChange::Removed(known), RuleChange::Added(other)]);
    let gone = change(&changed, &[RuleChange::Removed(new)]);
    assert_eq!(gone.rules().len(), count as usize);
    [came.unshared(&before), changed.unshared(&came), gone.unshared(&changed)]
}

#[test]
fn a_change_copies_the_same_among_few_and_among_many() {
    for asks in [by_path, by_group] as [Asks; 2] {
        for count in [300, 1_000, 10_000] {
            for Unshared { pages, items } in touched(count, asks) {
                assert!(pages <= 8, "{pages} pages among {count}");
                assert!(items <= 16, "{items} items among {count}");
            }
        }
    }
}

/// What is copied with each change must not grow for ever.
#[test]
fn recent_items_are_frozen_when_they_are_many() {
    let mut decide = many(3_000, by_path);
    for number in 3_000..4_000 {
        decide = decide.with_changes(&[RuleChange::Added(written(number, by_path, 0.0))], |at| at).unwrap();
        let Unshared { items, .. } = decide.unshared(&decide.clone());
        assert!(items <= 4 * 512, "{items} items");
    }
    let subject = Subject { roles: Names::of(&["role-3999"]), ..Subject::default() };
    let resource = Resource { path: Maybe::Is("/services/s-3999/x".into()), ..Resource::default() };
    let request = Request { subject, resource, ..Request::default() };
    let decided = ask(&decide, &&request, &mut Scratch::default(), &mut Silent);
    assert_eq!(decided.by, By::Policy(crate::EntryId::new(3_999)));
}

#[test]
fn what_is_not_there_cannot_be_removed() {
    let decide = many(3, by_path);
    let other = written(1, by_path, 0.0);
    assert!(decide.with_changes(&[RuleChange::Removed(other)], |at| at).is_none());
}

#[test]
fn settings_change_without_the_policies() {
    let before = many(300, by_path);
    let after = before.with_settings(Algorithm::PermitUnlessDeny, Some(Effect::Permit), None);
    assert_eq!(after.unshared(&before), Unshared { pages: 0, items: 0 });
    assert_eq!((after.algorithm(), after.default_effect()), (Algorithm::PermitUnlessDeny, Effect::Permit));
    let decided = ask(&after, &&Request::default(), &mut Scratch::default(), &mut Silent);
    assert_eq!((decided.outcome, decided.by), (Outcome::Permit, By::Algorithm));
}
