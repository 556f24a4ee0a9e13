//! Direct answers and views agree: asking about one client or one destination equals looking it up in what is listed for all
//! of them, over random policies.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use upheld_dialects::kuma::rules::{Rules, SubsetRule, kinds};
use upheld_engine::merge::{About, Layered, Merged, Question, Subject, Target, chain};
use upheld_engine::{EntryId, Scratch, Silent, Snapshot, ask};
use upheld_loader::load::load;
use upheld_loader::{Format, Input};
use upheld_model::{Config, Facet, Object, TagSet};

type Tags = BTreeMap<String, String>;

const VALUES: [&str; 3] = ["one", "two", "three"];

fn pick(choices: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(choices)
}

fn tags(keys: &'static [&'static str], size: std::ops::Range<usize>) -> impl Strategy<Value = Tags> {
    let key = pick(keys).prop_map(str::to_owned);
    prop::collection::btree_map(key, pick(&VALUES).prop_map(str::to_owned), size)
}

/// A client or a called service: somebody without any tag is in no cell, and nobody is like that.
fn somebody() -> impl Strategy<Value = Tags> {
    tags(&["kuma.io/service", "team", "env"], 1..4)
}

fn top() -> impl Strategy<Value = Json> {
    prop_oneof![
        2 => Just(json!({"kind": "Mesh"})),
        1 => pick(&VALUES).prop_map(|app| json!({"kind": "Dataplane", "labels": {"app": app}})),
        1 => pick(&["http", "admin"]).prop_map(|section| json!({"kind": "Dataplane", "sectionName": section})),
        1 => tags(&["team"], 1..2).prop_map(|tags| json!({"kind": "MeshSubset", "tags": tags})),
    ]
}

fn conf() -> impl Strategy<Value = Json> {
    let field = |name: &'static str| (0..4_u8).prop_map(move |number| json!({name: format!("{number}s")}));
    let http = field("requestTimeout").prop_map(|http| json!({"http": http}));
    prop_oneof![field("idleTimeout"), field("connectionTimeout"), http]
}

fn from() -> impl Strategy<Value = Json> {
    let target = prop_oneof![
        1 => Just(json!({"kind": "Mesh"})),
        3 => tags(&["team", "env"], 1..3).prop_map(|tags| json!({"kind": "MeshSubset", "tags": tags})),
        2 => pick(&VALUES).prop_map(|name| json!({"kind": "MeshService", "name": name})),
    ];
    (target, conf()).prop_map(|(target, conf)| json!({"targetRef": target, "default": conf}))
}

fn to() -> impl Strategy<Value = Json> {
    let service = (pick(&VALUES), prop::option::of(pick(&["http", "grpc"])));
    let target = prop_oneof![
        1 => Just(json!({"kind": "Mesh"})),
        3 => service.prop_map(|(name, section)| match section {
            Some(section) => json!({"kind": "MeshService", "name": name, "sectionName": section}),
            None => json!({"kind": "MeshService", "name": name}),
        }),
        1 => pick(&VALUES).prop_map(|team| json!({"kind": "MeshService", "labels": {"team": team}})),
    ];
    (target, conf()).prop_map(|(target, conf)| json!({"targetRef": target, "default": conf}))
}

/// Policies, a proxy with two inbounds, and three services.
fn documents() -> impl Strategy<Value = Vec<Json>> {
    let spec = (top(), prop::collection::vec(from(), 0..4), prop::collection::vec(to(), 0..4));
    let proxy = (pick(&VALUES), pick(&VALUES), pick(&VALUES));
    (prop::collection::vec(spec, 1..6), proxy).prop_map(|(specs, (app, team, other_team))| {
        let mut documents = vec![json!({"type": "Mesh", "name": "default"})];
        for (name, team) in VALUES.iter().zip(VALUES.iter().cycle().skip(1)) {
            documents.push(json!({
                "type": "MeshService", "mesh": "default", "name": name, "labels": {"team": team},
                "spec": {"ports": [{"name": "http", "port": 80}, {"name": "grpc", "port": 81}]},
            }));
        }
        documents.push(json!({
            "type": "Dataplane", "mesh": "default", "name": "proxy", "labels": {"app": app},
            "networking": {"address": "10.0.0.1", "inbound": [
                {"name": "http", "port": 80, "tags": {"kuma.io/service": "one", "team": team}},
                {"name": "admin", "port": 81, "tags": {"kuma.io/service": "one", "team": other_team}},
            ]},
        }));
        for (number, (top, from, to)) in specs.into_iter().enumerate() {
            let spec = json!({"targetRef": top, "from": from, "to": to});
            let name = format!("policy-{}", (number * 3) % 5);
            documents.push(json!({"type": "MeshTimeout", "mesh": "default", "name": name, "spec": spec}));
        }
        documents
    })
}

fn snapshot(documents: &[Json]) -> Snapshot {
    let text: String = documents.iter().map(|document| format!("{document}\n")).collect();
    load(vec![Input::text("random.jsonl", Format::JsonLines, text)], &[]).expect("documents can be read").snapshot
}

/// What is looked at: the only kind, and the proxy.
struct Seen<'s> {
    rules: Rules<'s>,
    proxy: &'s Object,
}

impl<'s> Seen<'s> {
    fn of(snapshot: &'s Snapshot) -> Self {
        let rules = kinds(snapshot, snapshot.symbols().get("default").unwrap()).into_iter().next().unwrap();
        let dataplane = snapshot.symbols().get("Dataplane").unwrap();
        let proxy = snapshot.objects().iter().find(|(_, object)| object.kind == dataplane).unwrap().1;
        Self { rules, proxy }
    }

    /// The policies of the proxy, or of one of its inbounds, the lowest priority first.
    fn slots(&self, part: Option<u32>) -> Vec<u32> {
        let matched = self.rules.matched(self.proxy).into_iter();
        matched.filter(|one| part.is_none_or(|part| one.has(part))).map(|one| one.slot).collect()
    }

    fn ask(&self, about: About<'_>) -> Option<(Vec<EntryId>, Arc<Config>)> {
        let question = Question { subject: Subject::of(self.proxy), about };
        let Layered { entries, results, .. } = ask(self.rules.merge, &question, &mut Scratch::default(), &mut Silent);
        Some((entries, results.first().and_then(Merged::config)?))
    }

    fn tags(&self, tags: &Tags) -> TagSet {
        let mut lookup = self.rules.snapshot.lookup();
        TagSet::new(
            tags.iter().map(|(key, value)| (lookup.symbol(key), Some(lookup.symbol(value)))).collect::<Vec<_>>(),
        )
    }
}

/// The first cell that has somebody, as Kuma goes by it.
fn looked_up(rules: &[SubsetRule], tags: &Tags) -> Option<(Vec<EntryId>, Arc<Config>)> {
    let rule = rules.iter().find(|rule| rule.subset.has(tags))?;
    Some((rule.entries.iter().rev().copied().collect(), rule.conf.clone()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_client_is_asked_as_it_is_listed(
        documents in documents(), clients in prop::collection::vec(somebody(), 1..6), part in 0..2_u32,
    ) {
        let snapshot = snapshot(&documents);
        let seen = Seen::of(&snapshot);
        let listing = seen.rules.client_rules(&seen.slots(Some(part))).unwrap();
        for client in clients {
            let asked = seen.ask(About::Client { part, tags: &seen.tags(&client) });
            prop_assert_eq!(looked_up(&listing, &client), asked, "{:?}", client);
        }
    }

    #[test]
    fn a_service_known_by_tags_is_asked_as_it_is_listed(
        documents in documents(), services in prop::collection::vec(tags(&["kuma.io/service"], 1..2), 1..4),
    ) {
        let snapshot = snapshot(&documents);
        let seen = Seen::of(&snapshot);
        let listing = seen.rules.service_rules(&seen.slots(None)).unwrap();
        for service in services {
            prop_assert_eq!(looked_up(&listing, &service), seen.ask(About::Service(&seen.tags(&service))));
        }
    }

    #[test]
    fn a_resource_is_asked_as_it_is_listed(documents in documents()) {
        let snapshot = snapshot(&documents);
        let seen = Seen::of(&snapshot);
        let slots = seen.slots(None);
        let (listing, around) = (seen.rules.resource_rules(&slots), seen.rules.surroundings());
        let entries = seen.rules.entries(&slots, Facet::Objects);
        for (object, described) in snapshot.objects().iter() {
            let sections = described.parts.iter().map(|part| Some(part.section));
            for section in std::iter::once(None).chain(sections) {
                let keys = chain(Target { object, section }, &around);
                let found = listing.first(&keys);
                let found = found.and_then(|rule| Some((rule.entries.clone(), rule.results.first()?.config()?)));
                let targets = seen.rules.merge.targets_to_ask(&entries, &keys, &around);
                prop_assert_eq!(found, seen.ask(About::Targets(&targets)));
            }
        }
    }
}
