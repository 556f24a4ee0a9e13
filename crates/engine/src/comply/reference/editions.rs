//! The two editions as profiles, built by hand.

use smol_str::SmolStr;

use super::super::{
    Class, Defaults, DerivedPair, Effect, EffectRow, End, Holds, Keys, Kind, KindSpec, NeedsScope, Order, PairKind,
    Profile, Relation, Right, RoleSpec, Rules, Selectors, Strategy, Subject, SubjectSpec, Trigger,
};

const WORKSPACE: Subject = Subject(0);
const PROJECT: Subject = Subject(1);
const LANDING_ZONE: Subject = Subject(2);
const PRINCIPAL: Subject = Subject(3);
const BUILDING_BLOCK: Subject = Subject(4);
const PROJECT_ROLE: Subject = Subject(5);
const PAYMENT_METHOD: Subject = Subject(6);

/// The place of the kind of workspaces.
const SCOPE: Kind = Kind(0);
/// The place of the kind of project roles.
const ROLE: Kind = Kind(6);

/// The edition of 2021.
pub fn classic() -> Profile {
    let direct = |pair: u8| vec![DerivedPair { pair: PairKind(pair), a: End::A, b: End::B }];
    let block = |of, with, by| EffectRow { on: Trigger::Tags, of: Some(of), with, by, effect: Effect::Block };
    Profile {
        name: SmolStr::new_static("twin/classic"),
        kinds: kinds(),
        subjects: subjects(),
        scope: Some(SCOPE),
        relations: vec![
            owns(direct(0)),
            related(WORKSPACE, PRINCIPAL, direct(1)),
            access(direct(2)),
            related(PROJECT, LANDING_ZONE, direct(3)),
        ],
        pairs: vec![(WORKSPACE, PROJECT), (WORKSPACE, PRINCIPAL), (PROJECT, PRINCIPAL), (PROJECT, LANDING_ZONE)],
        order: Order::Either,
        rules: Rules::Many,
        strategies: vec![Strategy::Intersection],
        selectors: Selectors::None,
        effects: vec![
            EffectRow { on: Trigger::Link, of: None, with: None, by: None, effect: Effect::Block },
            block(PROJECT, None, None),
            block(WORKSPACE, Some(PRINCIPAL), Some(Class::EndUser)),
        ],
        roles: roles(&[]),
    }
}

/// The newest edition.
pub fn current() -> Profile {
    let direct = |pair: u8| DerivedPair { pair: PairKind(pair), a: End::A, b: End::B };
    let scope = |pair: u8| DerivedPair { pair: PairKind(pair), a: End::Scope, b: End::B };
    let role = |pair: u8| DerivedPair { pair: PairKind(pair), a: End::Role, b: End::B };
    let block = |on, of, with| EffectRow { on, of, with, by: Some(Class::EndUser), effect: Effect::Block };
    Profile {
        name: SmolStr::new_static("twin/current"),
        relations: vec![
            owns(vec![direct(0)]),
            related(WORKSPACE, PRINCIPAL, vec![direct(1)]),
            access(vec![direct(4), role(7)]),
            related(PROJECT, LANDING_ZONE, vec![direct(5), scope(2)]),
            related(WORKSPACE, BUILDING_BLOCK, vec![direct(3)]),
            related(PROJECT, BUILDING_BLOCK, vec![direct(6), scope(3)]),
        ],
        pairs: vec![
            (WORKSPACE, PROJECT),
            (WORKSPACE, PRINCIPAL),
            (WORKSPACE, LANDING_ZONE),
            (WORKSPACE, BUILDING_BLOCK),
            (PROJECT, PRINCIPAL),
            (PROJECT, LANDING_ZONE),
            (PROJECT, BUILDING_BLOCK),
            (PROJECT_ROLE, PRINCIPAL),
        ],
        order: Order::Fixed,
        rules: Rules::One,
        strategies: Strategy::BETWEEN.to_vec(),
        effects: vec![block(Trigger::Link, None, None), block(Trigger::Tags, Some(PROJECT), Some(WORKSPACE))],
        roles: roles(&[Right::Tag(Some(PROJECT))]),
        ..classic()
    }
}

/// The newest edition, with policies about single objects and policies that are cut to some.
pub fn scoped() -> Profile {
    let newest = current();
    let single = [WORKSPACE, PROJECT, LANDING_ZONE, PRINCIPAL].map(|subject| (subject, subject));
    let tags = |of| EffectRow {
        on: Trigger::Tags,
        of: Some(of),
        with: Some(of),
        by: Some(Class::EndUser),
        effect: Effect::Block,
    };
    Profile {
        name: SmolStr::new_static("twin/scoped"),
        pairs: newest.pairs.iter().copied().chain(single).collect(),
        rules: Rules::Many,
        selectors: Selectors::Taken,
        effects: newest.effects.iter().cloned().chain([tags(PROJECT), tags(WORKSPACE)]).collect(),
        ..newest
    }
}

fn kinds() -> Vec<KindSpec> {
    let kind = |name: &'static str, subject| KindSpec {
        name: SmolStr::new_static(name),
        title: None,
        aliases: Vec::new(),
        subject,
        defaults: if name == "user" { Defaults::Given } else { Defaults::None },
    };
    vec![
        kind("workspace", WORKSPACE),
        kind("project", PROJECT),
        kind("landingZone", LANDING_ZONE),
        kind("user", PRINCIPAL),
        kind("group", PRINCIPAL),
        kind("buildingBlockDefinition", BUILDING_BLOCK),
        kind("projectRole", PROJECT_ROLE),
        kind("paymentMethod", PAYMENT_METHOD),
    ]
}

fn subjects() -> Vec<SubjectSpec> {
    let subject = |name: &'static str| SubjectSpec {
        name: SmolStr::new_static(name),
        title: None,
        aliases: Vec::new(),
        keys: if name == "principal" { Keys::AnyUntilDefined } else { Keys::Defined },
    };
    let names = ["workspace", "project", "landingZone", "principal", "buildingBlockDefinition", "projectRole"];
    names.into_iter().chain(["paymentMethod"]).map(subject).collect()
}

fn related(a: Subject, b: Subject, gives: Vec<DerivedPair>) -> Relation {
    Relation { a, b, role: None, holds: Holds::Related, needs_scope: NeedsScope::No, gives }
}

fn owns(gives: Vec<DerivedPair>) -> Relation {
    Relation { holds: Holds::Owned, ..related(WORKSPACE, PROJECT, gives) }
}

fn access(gives: Vec<DerivedPair>) -> Relation {
    Relation { role: Some(ROLE), needs_scope: NeedsScope::Yes, ..related(PROJECT, PRINCIPAL, gives) }
}

fn roles(also_compliance: &[Right]) -> Vec<RoleSpec> {
    let role = |name: &'static str, class, may: &[Right]| RoleSpec {
        name: SmolStr::new_static(name),
        aliases: Vec::new(),
        class,
        may: may.to_vec(),
    };
    let own = [
        Right::Create(Some(PROJECT)),
        Right::Delete(Some(PROJECT)),
        Right::Link,
        Right::Tag(Some(WORKSPACE)),
        Right::Tag(Some(PROJECT)),
        Right::Violations,
    ];
    let all =
        [Right::Create(None), Right::Delete(None), Right::Tag(None), Right::Link, Right::Waivers, Right::Violations];
    let rules = [Right::Policies, Right::Definitions];
    let compliance = [&rules[..], &[Right::Waivers, Right::Violations], also_compliance].concat();
    vec![
        role("workspaceManager", Class::EndUser, &own),
        role("workspaceOwner", Class::EndUser, &own),
        role("workspaceMember", Class::EndUser, &[]),
        role("orgAdmin", Class::Administrator, &[&all[..], &rules].concat()),
        role("orgUser", Class::Administrator, &all),
        role("complianceManager", Class::Administrator, &compliance),
        role("platformEngineer", Class::Administrator, &[Right::Tag(Some(PROJECT)), Right::Tag(Some(LANDING_ZONE))]),
    ]
}
