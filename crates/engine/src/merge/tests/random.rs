//! Random worlds and questions: few facts, tags and names, so that everything meets everything.

use std::collections::BTreeMap;

use proptest::prelude::*;
use upheld_model::{Facet, Role};

use super::super::reference::{
    NaiveAudience, NaiveCondition, NaiveKeyed, NaiveObject, NaivePart, NaivePatch, NaivePolicy, NaiveQuestion,
    NaiveReach, NaiveRung, NaiveSection, NaiveStatement, NaiveTarget, NaiveValue, NaiveWorld, Texts,
};

pub(super) const FACTS: [&str; 2] = ["zone", "app"];
pub(super) const TAGS: [&str; 2] = ["service", "version"];
pub(super) const VALUES: [&str; 2] = ["one", "two"];
pub(super) const SECTIONS: [&str; 2] = ["http", "80"];
pub(super) const COLUMNS: [&str; 2] = ["weight", "item-weight"];
pub(super) const CALLER: &str = "spiffeID";
pub(super) const MESH: &str = "mesh";

fn text(choices: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::sample::select(choices).prop_map(str::to_owned)
}

/// Texts of an object.
fn texts(keys: &'static [&'static str], values: &'static [&'static str]) -> impl Strategy<Value = Texts> {
    weighted(0.7, keys, values)
}

/// What is wanted of texts: little, so that it is often found.
fn wants(keys: &'static [&'static str], values: &'static [&'static str]) -> impl Strategy<Value = Texts> {
    weighted(0.2, keys, values)
}

fn weighted(
    probability: f64,
    keys: &'static [&'static str],
    values: &'static [&'static str],
) -> impl Strategy<Value = Texts> {
    let value = proptest::option::weighted(probability, text(values));
    proptest::collection::vec(value, keys.len()).prop_map(|values| {
        keys.iter().zip(values).filter_map(|(key, value)| Some(((*key).to_owned(), value?))).collect()
    })
}

/// Tags of a client or service.
pub(super) fn tags() -> impl Strategy<Value = Texts> {
    texts(&TAGS, &VALUES)
}

/// A proxy: what policies are attached to.
pub(super) fn proxy() -> impl Strategy<Value = NaiveObject> {
    let role = proptest::sample::select(&[Role::Inbound, Role::Inbound, Role::Outbound, Role::Gateway][..]);
    let part = (role, text(&SECTIONS), tags());
    let part = part.prop_map(|(role, section, tags)| NaivePart { role, section, port: None, tags });
    (texts(&FACTS, &VALUES), proptest::collection::vec(part, 1..4)).prop_map(|(facts, parts)| NaiveObject {
        kind: "Proxy".to_owned(),
        name: "proxy".to_owned(),
        facts,
        parts,
    })
}

/// Services with ports, one of which has a name, and the mesh around them.
fn objects() -> impl Strategy<Value = Vec<NaiveObject>> {
    let port = |section: &str, port: &str| NaivePart {
        role: Role::Port,
        section: section.to_owned(),
        port: Some(port.to_owned()),
        tags: Texts::new(),
    };
    let service = (texts(&["team"], &VALUES), 0..3_usize);
    proptest::collection::vec(service, 1..4).prop_map(move |services| {
        let service = |(number, (facts, ports)): (usize, (Texts, usize))| NaiveObject {
            kind: "Service".to_owned(),
            name: format!("service-{number}"),
            facts,
            parts: [port("http", "80"), port("81", "81")].into_iter().take(ports).collect(),
        };
        let mesh = NaiveObject { kind: "Mesh".to_owned(), name: MESH.to_owned(), ..NaiveObject::default() };
        services.into_iter().enumerate().map(service).chain([mesh]).collect()
    })
}

fn audience() -> impl Strategy<Value = NaiveAudience> {
    let condition = (0..3_u8, text(&FACTS), text(&VALUES)).prop_map(|(what, key, value)| match what {
        0 => NaiveCondition::Is(key, value),
        1 => NaiveCondition::AbsentOr(key, value),
        _ => NaiveCondition::Absent(key),
    });
    let roles: [&[Role]; 3] = [&[Role::Inbound], &[Role::Inbound, Role::Gateway], &[Role::Gateway, Role::Outbound]];
    let conditions = proptest::collection::vec(condition, 0..2);
    let section = proptest::option::weighted(0.2, text(&SECTIONS));
    let parts = (proptest::sample::select(Vec::from(roles)), wants(&TAGS, &["one", "two", "*"]), section);
    (conditions, parts).prop_map(|(conditions, (roles, tags, section))| NaiveAudience {
        conditions,
        roles: roles.to_vec(),
        tags,
        section,
    })
}

fn marks() -> impl Strategy<Value = BTreeMap<String, i64>> {
    proptest::collection::btree_map(text(&COLUMNS), 0..2_i64, 0..2)
}

fn statement() -> impl Strategy<Value = NaiveStatement> {
    let section = prop_oneof![
        text(&["http", "81"]).prop_map(NaiveSection::Named),
        text(&["80", "81"]).prop_map(NaiveSection::Port),
    ];
    let services = (wants(&["team"], &VALUES), proptest::option::of(section));
    let mesh = Just(NaiveReach::Objects("Mesh".to_owned(), Texts::new(), None));
    let objects = prop_oneof![
        3 => services.prop_map(|(facts, section)| NaiveReach::Objects("Service".to_owned(), facts, section)),
        1 => mesh,
    ];
    let callers = wants(&[CALLER], &["one", "tw*", "*"]);
    let about = prop_oneof![
        Just((Facet::Whole, NaiveReach::Everything)),
        objects.prop_map(|reach| (Facet::Objects, reach)),
        wants(&TAGS, &VALUES).prop_map(|tags| (Facet::Services, NaiveReach::Tags(tags))),
        wants(&TAGS, &VALUES).prop_map(|tags| (Facet::Clients, NaiveReach::Tags(tags))),
        callers.prop_map(|callers| (Facet::Inbound, NaiveReach::Callers(callers))),
    ];
    (about, 0..3_u32, marks(), config()).prop_map(|((facet, reach), item, marks, config)| NaiveStatement {
        facet,
        item,
        reach,
        marks,
        config,
    })
}

/// Configurations over few keys, so that layers meet, replace, remove, add up and meet by key.
pub(super) fn config() -> impl Strategy<Value = NaiveValue> {
    let leaf = prop_oneof![4 => text(&VALUES).prop_map(NaiveValue::Text), 1 => Just(NaiveValue::Null)].boxed();
    let map = |keys: &'static [&'static str], inner: BoxedStrategy<NaiveValue>| {
        proptest::collection::btree_map(text(keys), inner, 0..3).prop_map(NaiveValue::Map).boxed()
    };
    let payload = map(&["a", "b"], leaf.clone());
    let key = prop_oneof![leaf.clone(), map(&["x", "y"], leaf.clone())];
    let item = (proptest::option::weighted(0.9, key), proptest::option::weighted(0.8, payload.clone()), leaf.clone());
    let item = item.prop_map(|(key, payload, other)| {
        let fields = [("matches", key), ("default", payload), ("other", Some(other))];
        NaiveValue::Map(fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
    });
    let list =
        proptest::collection::vec(prop_oneof![1 => leaf.clone(), 4 => item], 0..3).prop_map(NaiveValue::List).boxed();
    let inner = prop_oneof![2 => leaf.clone(), 3 => list, 1 => payload].boxed();
    let nested = map(&["a", "appendC", "rules"], inner.clone());
    let root = map(&["a", "b", "appendC", "rules"], prop_oneof![3 => inner, 1 => nested].boxed());
    prop_oneof![12 => root, 1 => leaf]
}

pub(super) fn policies() -> impl Strategy<Value = Vec<NaivePolicy>> {
    let statements = proptest::collection::vec(statement(), 1..7);
    let policy = (text(&["title-a", "title-b"]), proptest::collection::vec(audience(), 0..3), marks(), statements);
    proptest::collection::vec(policy, 1..8).prop_map(|policies| {
        let named = policies.into_iter().enumerate().map(|(index, (title, audiences, marks, statements))| {
            // Names in another order than arrival.
            NaivePolicy { name: format!("p{}", (index * 5) % 7), title, audiences, marks, statements }
        });
        named.collect()
    })
}

fn ladder() -> impl Strategy<Value = Vec<NaiveRung>> {
    let mut rungs: Vec<NaiveRung> = COLUMNS.iter().map(|column| NaiveRung::Mark((*column).to_owned())).collect();
    rungs.extend([NaiveRung::Title, NaiveRung::Item, NaiveRung::Name]);
    (Just(rungs).prop_shuffle(), 0..=5_usize).prop_map(|(mut rungs, length)| {
        rungs.truncate(length);
        rungs
    })
}

pub(super) fn patch() -> impl Strategy<Value = NaivePatch> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(ignores_nulls, append, best_first)| NaivePatch {
        ignores_nulls,
        append: append.then(|| "append".to_owned()),
        keyed: Some(NaiveKeyed {
            field: "rules".to_owned(),
            key: "matches".to_owned(),
            payload: "default".to_owned(),
            best_first,
        }),
    })
}

pub(super) fn world() -> impl Strategy<Value = NaiveWorld> {
    (objects(), policies(), ladder(), patch()).prop_map(|(objects, policies, ladder, patch)| NaiveWorld {
        objects,
        policies,
        ladder,
        patch,
    })
}

/// A question; parts and targets may not exist.
pub(super) fn question() -> impl Strategy<Value = NaiveQuestion> {
    let caller = || texts(&[CALLER], &["one", "two"]);
    prop_oneof![
        1 => Just(NaiveQuestion::Whole),
        3 => target().prop_map(|target| NaiveQuestion::Targets(chain(target))),
        1 => tags().prop_map(NaiveQuestion::Service),
        2 => (0..3_usize, tags()).prop_map(|(part, tags)| NaiveQuestion::Client(part, tags)),
        2 => (0..3_usize, caller()).prop_map(|(part, caller)| NaiveQuestion::Inbound(part, caller)),
    ]
}

/// A question, also with values that nobody names, and ones that are not known.
pub(super) fn any_question() -> impl Strategy<Value = NaiveQuestion> {
    let tags = || texts(&["service", "version", "team"], &["one", "two", "three", "?"]);
    let caller = texts(&[CALLER, "sni"], &["one", "two", "twenty", "other"]);
    prop_oneof![
        3 => question(),
        1 => tags().prop_map(NaiveQuestion::Service),
        2 => (0..3_usize, tags()).prop_map(|(part, tags)| NaiveQuestion::Client(part, tags)),
        1 => (0..3_usize, caller).prop_map(|(part, caller)| NaiveQuestion::Inbound(part, caller)),
        1 => proptest::collection::vec(target(), 0..3).prop_map(NaiveQuestion::Targets),
    ]
}

pub(super) fn target() -> impl Strategy<Value = NaiveTarget> {
    let section = proptest::option::of(text(&["http", "81"]));
    prop_oneof![
        5 => (0..3_usize, section).prop_map(|(number, section)| (format!("service-{number}"), section)),
        1 => Just((MESH.to_owned(), None)),
    ]
}

/// A target and what is around it.
pub(super) fn chain(target: NaiveTarget) -> Vec<NaiveTarget> {
    let whole = (target.0.clone(), None);
    let mut chain = vec![target, whole, (MESH.to_owned(), None)];
    chain.dedup();
    chain
}
