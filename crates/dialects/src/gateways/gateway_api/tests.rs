//! Where the systems answer the same question differently.

use std::sync::Arc;

use upheld_model::{Config, Content, Timestamp};

use super::policy::{Extent, Side};
use super::profiles::MergeStrategy;
use super::{Policy, Profile, Statement, effective};

fn colour(value: &str) -> Arc<Config> {
    let text = Config::made(Content::Text(value.into()));
    Config::made(Content::Map(vec![("colour".into(), text)]))
}

fn policy(name: &str, created: i64, says: Vec<Statement>) -> Policy {
    Policy { kind: "Colour".into(), namespace: "".into(), name: name.into(), created: Some(Timestamp(created)), says }
}

#[track_caller]
fn winner(profile: &Profile, policies: &[Policy], levels: &[Vec<usize>], expected: usize) {
    assert_eq!(effective(profile, policies, levels, None).origins(), [expected]);
}

#[test]
fn on_one_target_each_system_has_its_winner() {
    let both = |side| {
        [
            policy("older", 1, vec![Statement::on(side, colour("a"))]),
            policy("newer", 2, vec![Statement::on(side, colour("b"))]),
        ]
    };
    let table = [
        (Profile::gep_713(&[]), 1, 0),
        (Profile::gep_2649(Vec::new()), 0, 0),
        (Profile::gwctl(), 0, 1),
        (Profile::kuadrant(), 1, 0),
    ];
    for (profile, defaults, overrides) in table {
        winner(&profile, &both(Side::Defaults), &[vec![1, 0]], defaults);
        winner(&profile, &both(Side::Overrides), &[vec![1, 0]], overrides);
    }
}

#[test]
fn overrides_hold_across_levels_of_whole_defaults() {
    let stanza = |side| vec![Statement { side: Some(side), extent: Some(Extent::Whole), config: colour("a") }];
    let policies = [
        policy("gateway", 1, stanza(Side::Overrides)),
        policy("route", 2, stanza(Side::Defaults)),
        policy("rule", 3, stanza(Side::Defaults)),
    ];
    winner(&Profile::gep_713(&[]), &policies, &[vec![0], vec![1], vec![2]], 0);
}

#[test]
fn namespace_and_name_are_compared_as_one_text() {
    let mut policies = ["a", "a-b"]
        .map(|namespace| Policy { namespace: namespace.into(), ..policy("x", 1, vec![Statement::bare(colour("a"))]) });
    winner(&Profile::gep_2649(Vec::new()), &policies, &[vec![0, 1]], 1);
    policies[0].created = Some(Timestamp(0));
    winner(&Profile::gep_2649(Vec::new()), &policies, &[vec![0, 1]], 0);
}

#[test]
fn a_kind_that_offers_several_strategies_has_a_preferred_one() {
    let bare = |offered: &[MergeStrategy]| Profile::gep_713(offered).unsaid.bare;
    assert_eq!(
        bare(&[MergeStrategy::PatchOverrides, MergeStrategy::PatchDefaults]),
        MergeStrategy::PatchDefaults.act()
    );
    assert_eq!(bare(&[]), MergeStrategy::AtomicDefaults.act());
}
