//! A snapshot that was changed again and again says the same as one that was loaded at once.

use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use upheld_dialects::access::Deciding;
use upheld_engine::decide::{Action, Maybe, Names, Request, Resource, Rule, Subject};
use upheld_engine::merge::{self, About, Merge, Merged, Target};
use upheld_engine::words::{EndNames, Words};
use upheld_engine::{EntryId, Family, PolicyId, Question, Ruling, Scratch, Select, Snapshot};
use upheld_loader::load::{Broken, Change, Choices, Loaded};
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostics, Files, NodeRef, SourceId, TagSet};

/// Documents of all sorts, those that are broken or clash with others too.
const DOCUMENTS: [&str; 41] = [
    r#"{"id": "a", "effect": "permit", "subjects": [{"role": "admin"}], "resources": [{"path": "/api/**"}], "actions": []}"#,
    r#"{"id": "b", "effect": "deny", "priority": 5, "subjects": [{"role": "ad*"}], "resources": [{"path": "/api/*/x"}], "actions": [{"method": "GET"}]}"#,
    r#"{"id": "c", "effect": "permit", "priority": -1, "subjects": [], "resources": [{"path": "/api/v?-*"}], "actions": []}"#,
    r#"{"id": "d", "effect": "deny", "priority": 5, "subjects": [{"group": "staff"}], "resources": [], "actions": [{"method": "POST"}]}"#,
    r#"{"id": "e", "enabled": false, "effect": "deny", "subjects": [], "resources": [], "actions": []}"#,
    r#"{"id": "a", "effect": "deny", "subjects": [{"role": "admin"}], "resources": [{"path": "/other"}], "actions": []}"#,
    r#"{"id": "f", "effect": "maybe", "subjects": [], "resources": [], "actions": []}"#,
    r#"{"id": "g", "effect": "permit", "subjects": [], "resources": [], "actions": [], "unheard": 1}"#,
    r#"[{"id": "h", "effect": "permit", "subjects": [], "resources": [{"path": "/list/**"}], "actions": []}, {"id": "i", "effect": "deny", "subjects": [], "resources": [{"path": "/list/x"}], "actions": []}]"#,
    r#"{"combiningAlgorithm": "first-applicable", "defaultEffect": "permit"}"#,
    r#"{"combiningAlgorithm": "permit-overrides", "policies": [{"id": "j", "effect": "permit", "subjects": [], "resources": [], "actions": [{"method": "PUT"}]}]}"#,
    r#"{"policySeed": {"file": "a", "environments": ["elsewhere"]}}"#,
    r#"{"kind": "PolicySet", "id": "set", "algorithm": "deny-overrides", "policies": [{"id": "k", "effect": "deny", "subjects": [], "resources": [{"path": "/set"}], "actions": []}]}"#,
    r#"{"kind": "PolicyTests", "cases": []}"#,
    r#"{"type": "AccessPolicy", "name": "l", "effect": "permit", "subjects": [{"role": "admin"}], "resources": [], "actions": []}"#,
    r#"{"type": "AccessPolicy", "name": "a", "effect": "deny", "subjects": [], "resources": [{"path": "/typed"}], "actions": []}"#,
    r#"{"kind": "PolicyKind", "name": "BuildGate", "about": "gates", "family": "decide", "match": {"subjects": "who", "resources": "builds", "actions": "steps"}, "effect": {"field": "verdict", "permit": ["release"], "deny": ["hold"]}, "rank": [{"highest": "weight"}, "position"], "resolve": {"algorithm": "first-applicable", "default": "deny"}, "default": {"means": "it stays"}}"#,
    r#"{"type": "BuildGate", "name": "freeze", "verdict": "hold", "who": [], "builds": [], "steps": [{"method": "GET"}]}"#,
    r#"{"type": "Mesh", "name": "default"}"#,
    r#"{"type": "Dataplane", "name": "web-1", "mesh": "default", "networking": {"address": "10.0.0.1", "inbound": [{"port": 80, "tags": {"kuma.io/service": "web"}}]}}"#,
    r#"{"type": "TrafficLog", "name": "all", "mesh": "default", "sources": [{"match": {"kuma.io/service": "*"}}], "destinations": [{"match": {"kuma.io/service": "*"}}], "conf": {"backend": "x"}}"#,
    r#"{"type": "TrafficLog", "name": "web", "mesh": "default", "sources": [{"match": {"kuma.io/service": "web"}}], "destinations": [{"match": {"kuma.io/service": "*"}}], "conf": {"backend": "y"}}"#,
    r#"{"type": "MeshTimeout", "name": "short", "mesh": "other", "spec": {"targetRef": {"kind": "Mesh"}, "to": [{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "1s"}}]}}"#,
    r#"{"type": "MeshUnheard", "name": "new", "mesh": "default", "spec": {"targetRef": {"kind": "Mesh"}, "to": [{"targetRef": {"kind": "Mesh"}, "default": {"a": 1}}]}}"#,
    r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}}"#,
    r#"{"id": "broken", "#,
    r#"{"type": "MeshTimeout", "name": "long", "mesh": "default", "spec": {"targetRef": {"kind": "Mesh"}, "to": [{"targetRef": {"kind": "MeshService", "name": "web"}, "default": {"idleTimeout": "2s"}}]}}"#,
    r#"{"type": "MeshTimeout", "name": "short", "mesh": "default", "spec": {"targetRef": {"kind": "MeshSubset", "tags": {"kuma.io/service": "web"}}, "to": [{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "3s"}}]}}"#,
    r#"{"type": "MeshTimeout", "name": "routed", "mesh": "default", "spec": {"targetRef": {"kind": "MeshHTTPRoute", "name": "api"}, "to": [{"targetRef": {"kind": "Mesh"}, "default": {"http": {"requestTimeout": "4s"}}}]}}"#,
    r#"{"type": "MeshHTTPRoute", "name": "api", "mesh": "default", "spec": {"targetRef": {"kind": "Mesh"}, "to": [{"targetRef": {"kind": "MeshService", "name": "web"}, "rules": [{"matches": [{"path": {"type": "PathPrefix", "value": "/api"}}], "default": {}}]}]}}"#,
    r#"{"type": "MeshService", "name": "web", "mesh": "default", "spec": {"selector": {"dataplaneTags": {"kuma.io/service": "web"}}, "ports": [{"port": 80, "targetPort": 80}]}}"#,
    r#"{"type": "MeshGateway", "name": "edge", "mesh": "default", "selectors": [{"match": {"kuma.io/service": "web"}}], "conf": {"listeners": [{"port": 80, "protocol": "HTTP"}]}}"#,
    r#"{"type": "Dataplane", "name": "api-1", "mesh": "default", "networking": {"address": "10.0.0.2", "inbound": [{"port": 81, "tags": {"kuma.io/service": "api", "version": "1"}}]}}"#,
    r#"{"type": "TrafficLog", "name": "any", "mesh": "default", "sources": [{"match": {"kuma.io/service": "*"}}, {"match": {"kuma.io/service": "api", "version": "1"}}], "destinations": [{"match": {"kuma.io/service": "*"}}], "conf": {"backend": "z"}}"#,
    r#"{"type": "TrafficLog", "name": "back", "mesh": "default", "sources": [{"match": {"kuma.io/service": "*"}}], "destinations": [{"match": {"kuma.io/service": "api"}}, {"match": {"kuma.io/service": "web"}}], "conf": {"backend": "w"}}"#,
    r#"{"type": "TrafficLog", "name": "web", "mesh": "default", "sources": [{"match": {"kuma.io/service": "api"}}], "destinations": [{"match": {"kuma.io/service": "web"}}], "conf": {"backend": "v"}}"#,
    r#"{"type": "TrafficPermission", "name": "may", "mesh": "default", "sources": [{"match": {"kuma.io/service": "api"}}], "destinations": [{"match": {"kuma.io/service": "*"}}]}"#,
    r#"{"type": "Dataplane", "name": "web-2", "mesh": "default", "networking": {"address": "10.0.0.3", "inbound": [{"port": 82, "tags": {"kuma.io/service": "web"}}]}}"#,
    r#"{"type": "MeshService", "name": "web", "mesh": "default", "labels": {"team": "a", "kuma.io/zone": "east"}, "spec": {"selector": {"dataplaneTags": {"kuma.io/service": "web"}}, "ports": [{"name": "main", "port": 81, "targetPort": 81}]}}"#,
    r#"{"type": "MeshTimeout", "name": "by-label", "mesh": "default", "spec": {"targetRef": {"kind": "Mesh"}, "to": [{"targetRef": {"kind": "MeshService", "labels": {"team": "a"}, "sectionName": "main"}, "default": {"idleTimeout": "5s"}}, {"targetRef": {"kind": "MeshService", "name": "api"}, "default": {"idleTimeout": "6s"}}]}}"#,
    r#"{"type": "MeshExternalService", "name": "outside", "mesh": "default", "labels": {"team": "a"}, "spec": {"match": {"type": "HostnameGenerator", "port": 443, "protocol": "tls"}, "endpoints": [{"address": "example.com", "port": 443}]}}"#,
];

/// What lies beside the store.
const FILE: &str = "
id: from-a-file
effect: permit
subjects: [{role: reader}]
resources: [{path: /files/**}]
actions: []
";

/// Documents of a store, in their order.
#[derive(Clone, Default)]
pub(super) struct Stored(Vec<(usize, &'static str, SourceId)>);

impl Stored {
    pub(super) fn input(place: usize, text: &str) -> Input {
        Input::text(format!("store:{place}"), Format::Json, text)
    }

    pub(super) fn load(&self, choices: Choices) -> Result<Loaded, Box<Broken>> {
        let stored = self.0.iter().map(|(place, text, _)| Self::input(*place, text));
        choices.load_for_store(vec![Input::text("files/a", Format::Yaml, FILE)], stored.collect())
    }

    /// Puts a document in its place, or takes away the one that is there.
    pub(super) fn change(&mut self, place: usize, text: Option<&'static str>, next: SourceId) -> Option<Change> {
        let known = self.0.iter().position(|(known, ..)| *known == place);
        match (known, text) {
            (Some(at), Some(text)) => {
                self.0[at].1 = text;
                Some(Change::Replaced(self.0[at].2, Self::input(place, text)))
            }
            (Some(at), None) => Some(Change::Gone(self.0.remove(at).2)),
            (None, Some(text)) => {
                self.0.push((place, text, next));
                Some(Change::New(Self::input(place, text)))
            }
            (None, None) => None,
        }
    }
}

/// Everything that can be seen of a snapshot, as text.
fn shown(loaded: &Result<Loaded, Box<Broken>>) -> String {
    match loaded {
        Ok(loaded) => {
            let Loaded { snapshot, set_aside, warnings, .. } = loaded;
            let mut text = format!("{}\n{set_aside:?}\n", snapshot.digest());
            for (kind, manifest) in Deciding::of(snapshot).into_iter().flat_map(Deciding::manifests) {
                let _ = writeln!(text, "{} {:?} {:?}", snapshot.text(kind), manifest.algorithm, manifest.default);
            }
            let families =
                decided(snapshot) + &super::comply_changes::related(snapshot) + &super::gateway_changes::led(snapshot);
            text + &listed(snapshot) + &families + &told(snapshot.files(), warnings)
        }
        Err(broken) => told(&broken.files, &broken.diagnostics),
    }
}

fn listed(snapshot: &Snapshot) -> String {
    let mut lines = String::new();
    let at = |at: NodeRef| snapshot.files().locate(at).map(|at| format!("{}:{}:{}", at.file, at.line, at.column));
    // Ids are nobody's business: one that came later has a later one.
    for (id, policy) in snapshot.policies().iter() {
        let [kind, scope, name] = [policy.kind, policy.scope, policy.name].map(|symbol| snapshot.text(symbol));
        let found = snapshot.policies().find((policy.kind, policy.scope, policy.name)) == Some(id);
        let _ = writeln!(lines, "{kind} {scope} {name} {:?} {found}", at(policy.at));
    }
    for (id, object) in snapshot.objects().iter() {
        let [kind, scope, name] = [object.kind, object.scope, object.name].map(|symbol| snapshot.text(symbol));
        let found = snapshot.object(object.kind, object.scope, object.name) == Some(id);
        let _ = writeln!(lines, "{kind} {scope} {name} {:?} {found} {}", at(object.at), object.parts.len());
    }
    for (id, kind) in snapshot.kinds().iter() {
        let _ =
            writeln!(lines, "{id:?} {} {:?}", snapshot.text(kind.name), at(kind.at).map(|at| at.contains("builtin")));
        for (_, mesh) in snapshot.objects().iter().filter(|(_, object)| snapshot.text(object.kind) == "Mesh") {
            let selects = snapshot.select(id, mesh.name).map(|select| selected(snapshot, select));
            let merges = snapshot.merge(id, mesh.name).map(|merge| merged(snapshot, merge));
            let _ = writeln!(lines, "  {} {selects:?} {merges:?}", snapshot.text(mesh.name));
        }
    }
    lines
}

fn title(snapshot: &Snapshot, policy: PolicyId) -> String {
    snapshot.policy(policy).map_or_else(String::new, |policy| snapshot.text(policy.name).to_owned())
}

/// What policies with selectors say to every pair of proxies, and to those of which nobody asks: all candidates in their order,
/// with their reasons.
fn selected(snapshot: &Snapshot, select: &Select) -> Vec<String> {
    let name = |entry: EntryId| {
        let entry = select.entry(entry)?;
        Some((snapshot.text(snapshot.policy(entry.policy)?.name), entry.split))
    };
    let mut lines: Vec<String> = select.entries().map(|entry| format!("{:?}", name(entry))).collect();
    let lookup = snapshot.lookup();
    let words = Words { lookup: &lookup, ends: EndNames { source: "one", destination: "other" } };
    let ends: Vec<Option<Vec<TagSet>>> = (snapshot.objects().iter().filter(|(_, object)| !object.parts.is_empty()))
        .map(|(_, object)| Some(object.parts.iter().map(|part| part.tags.clone()).collect()))
        .chain([None])
        .collect();
    for source in &ends {
        for destination in &ends {
            let question = Question { source: source.as_deref(), destination: destination.as_deref() };
            let ruling = Ruling::explain(select, &question);
            lines.extend(ruling.candidates.iter().map(|one| {
                let because = words.because(one.state, &one.reason);
                format!("{:?} {} {:?} {} {because}", name(one.entry), one.state.word(), one.measure, one.distance)
            }));
            let standing = select.standing(&question, &mut Scratch::default());
            lines.extend(standing.iter().map(|entry| title(snapshot, entry.policy)));
        }
    }
    lines
}

/// What layered policies say to every object with parts, about itself, about every other object and about services: all
/// candidates in their order, with their reasons.
fn merged(snapshot: &Snapshot, merge: &Merge) -> Vec<String> {
    let policies = merge.policies().map(|(_, policy)| (policy.policy, policy.dangling.len()));
    let mut lines: Vec<String> = policies.map(|(id, count)| format!("{} {count}", title(snapshot, id))).collect();
    let lookup = snapshot.lookup();
    let words = Words { lookup: &lookup, ends: EndNames { source: "one", destination: "other" } };
    let objects = || snapshot.objects().iter();
    for (_, subject) in objects().filter(|(_, object)| !object.parts.is_empty()) {
        let targets: Vec<[Target; 1]> = objects()
            .flat_map(|(object, described)| {
                let ports = described.parts.iter().map(move |part| [Target { object, section: Some(part.section) }]);
                ports.chain([[Target::whole(object)]])
            })
            .collect();
        let services = subject.parts.iter().map(|part| About::Service(&part.tags));
        let about = targets.iter().map(|target| About::Targets(target)).chain(services).chain([About::Whole]);
        for about in about {
            let ruling = Ruling::explain(merge, &merge::Question { subject: merge::Subject::of(subject), about });
            lines.extend(ruling.candidates.iter().map(|one| {
                let because = words.because(one.state, &one.reason);
                let policy = merge.entry(one.entry).map(|entry| (title(snapshot, entry.policy), entry.item));
                format!("{policy:?} {} {} {because}", one.state.word(), one.distance)
            }));
            for leaf in ruling.answer.results.iter().flat_map(Merged::leaves) {
                lines.push(format!("{} {} {}", leaf.path, leaf.by, leaf.overridden.len()));
            }
        }
    }
    lines
}

fn decided(snapshot: &Snapshot) -> String {
    let mut lines = String::new();
    for (id, decide) in snapshot.decides() {
        for rule in decide.rules() {
            let at = snapshot.files().locate(rule.at).map(|at| format!("{}:{}", at.file, at.line));
            let _ = writeln!(lines, "{id:?} {} {:?} {} {at:?}", rule.name, rule.status, rule.priority);
        }
        for path in ["/api/v1-x", "/api/b/x", "/other", "/list/x", "/files/1", "/set", "/typed"] {
            for (role, method) in [("admin", "GET"), ("reader", "POST"), ("adept", "PUT")] {
                let request = Request {
                    subject: Subject { roles: Names::of(&[role]), groups: Names::of(&["staff"]), ..Subject::default() },
                    action: Action { method: Maybe::Is(method.into()), ..Action::default() },
                    resource: Resource { path: Maybe::Is(path.into()), ..Resource::default() },
                    ..Request::default()
                };
                let _ = writeln!(lines, "{:?}", Ruling::explain(decide, &&request));
            }
        }
    }
    lines
}

fn told(files: &Files, diagnostics: &Diagnostics) -> String {
    let mut lines = String::new();
    for diagnostic in diagnostics.as_slice() {
        let places = diagnostic.label.iter().chain(&diagnostic.related);
        let places = places.map(|place| {
            let at = files.locate_span(place.source, place.span);
            format!("{:?} {}", at.map(|at| (at.file.to_owned(), at.line, at.column)), place.text)
        });
        let places: Vec<String> = places.collect();
        let _ = writeln!(lines, "{} {places:?} {:?}", diagnostic.message, diagnostic.help);
    }
    lines
}

/// The way of a server: what cannot be read is refused, and everything stays as it was.
pub(super) fn check(
    semantics: &[&str],
    documents: &[&'static str],
    steps: &[Vec<(usize, Option<usize>)>],
) -> Result<(), TestCaseError> {
    check_under(|| Choices::of_semantics(semantics), documents, steps)
}

/// The same, with other choices.
pub(super) fn check_under(
    choices: impl Fn() -> Choices,
    documents: &[&'static str],
    steps: &[Vec<(usize, Option<usize>)>],
) -> Result<(), TestCaseError> {
    let mut stored = Stored::default();
    let mut loaded = stored.load(choices()).expect("a file of ours can be read");
    for step in steps {
        let mut after = stored.clone();
        let mut next = loaded.snapshot.files().next().index();
        let mut changes = Vec::new();
        for (place, document) in step {
            // One change of a place in a step, as in a batch of a store.
            if step.iter().filter(|(other, _)| other == place).count() > 1 {
                continue;
            }
            let change = after.change(*place, document.map(|document| documents[document]), SourceId::new(next));
            next += usize::from(matches!(change, Some(Change::New(_))));
            changes.extend(change);
        }
        let (changed, anew) = (loaded.after(changes), after.load(choices()));
        prop_assert_eq!(shown(&changed), shown(&anew), "after {:?}", steps);
        if let Ok(changed) = changed {
            (loaded, stored) = (changed, after);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn changes_lead_where_loading_everything_leads(
        steps in prop::collection::vec(
            prop::collection::vec((0..8_usize, prop::option::weighted(0.8, 0..DOCUMENTS.len())), 1..3),
            1..8,
        ),
    ) {
        check(&[], &DOCUMENTS, &steps)?;
    }

    /// Policies with target references, and what they speak about: more of these.
    #[test]
    fn changed_layers_lead_where_loading_everything_leads(
        steps in prop::collection::vec(
            prop::collection::vec((0..12_usize, prop::option::weighted(0.8, prop_oneof![18..24_usize, 26..32_usize])), 1..3),
            1..12,
        ),
    ) {
        check(&[], &DOCUMENTS, &steps)?;
    }

    /// Policies with target references and objects that they speak about, no routes and no gateways: more of these.
    #[test]
    fn changed_objects_beside_layers_lead_where_loading_everything_leads(
        steps in prop::collection::vec(
            prop::collection::vec(
                (0..12_usize, prop::option::weighted(0.8, prop::sample::select(vec![18, 19, 26, 27, 30, 32, 37, 38, 39, 40]))),
                1..3,
            ),
            1..12,
        ),
    ) {
        check(&[], &DOCUMENTS, &steps)?;
    }

    /// Policies with selectors, and the proxies that they are about: more of these.
    #[test]
    fn changed_selections_lead_where_loading_everything_leads(
        steps in prop::collection::vec(
            prop::collection::vec((0..10_usize, prop::option::weighted(0.8, prop_oneof![18..22_usize, 32..37_usize])), 1..3),
            1..12,
        ),
    ) {
        check(&[], &DOCUMENTS, &steps)?;
    }

    /// Where nothing but policies changes that decide, all else is shared: more of these.
    #[test]
    fn changed_policies_lead_where_loading_everything_leads(
        steps in prop::collection::vec(
            prop::collection::vec((0..20_usize, prop::option::weighted(0.8, 0..16_usize)), 1..4),
            1..12,
        ),
    ) {
        check(&[], &DOCUMENTS, &steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// There, what is wrong with one policy is a warning, and a second one of the same name replaces the first.
    #[test]
    fn changes_in_the_compatibility_edition_lead_where_loading_everything_leads(
        steps in prop::collection::vec(
            prop::collection::vec((0..8_usize, prop::option::weighted(0.8, 0..20_usize)), 1..3),
            1..8,
        ),
    ) {
        check(&["access/compat"], &DOCUMENTS, &steps)?;
    }
}

/// A store with everything in it, of which one policy changes.
#[test]
fn what_did_not_change_is_shared() {
    let mut stored = Stored::default();
    for (place, document) in [0, 1, 18, 19, 20].into_iter().enumerate() {
        stored.change(place, Some(DOCUMENTS[document]), SourceId::new(0));
    }
    let before = stored.load(Choices::default()).unwrap();
    let changed = before.first_stored();
    let after = before.after(vec![Change::Replaced(changed, Stored::input(0, DOCUMENTS[2]))]).unwrap();
    let (before, after) = (&before.snapshot, &after.snapshot);

    let sources = before.files().iter().map(|(source, _)| source);
    let anew: Vec<SourceId> = sources.filter(|source| !after.files().share(*source, before.files())).collect();
    assert_eq!(anew, [changed]);
    let names = |rules: &[Arc<Rule>]| rules.iter().map(|rule| rule.name.to_string()).collect::<Vec<_>>();
    let [rules, others] = [before, after].map(|snapshot| snapshot.decides().next().unwrap().1.rules());
    let is_kept = |rule: &&Arc<Rule>| others.iter().any(|other| Arc::ptr_eq(rule, other));
    let kept: Vec<Arc<Rule>> = rules.iter().filter(is_kept).cloned().collect();
    assert_eq!(names(&kept), ["b", "from-a-file"]);
    let select = |snapshot: &Snapshot| {
        let (id, _) = snapshot.kinds().iter().find(|(_, kind)| snapshot.text(kind.name) == "TrafficLog").unwrap();
        let mesh = snapshot.symbols().get("default").unwrap();
        std::ptr::from_ref(snapshot.select(id, mesh).unwrap())
    };
    assert_eq!(select(before), select(after));
}

/// A mesh with so many policies and proxies.
fn many(count: usize, document: impl Fn(usize) -> String) -> Loaded {
    let documents = std::iter::once(DOCUMENTS[18].to_owned()).chain((0..count).map(document));
    let inputs = documents.enumerate().map(|(place, text)| Input::text(format!("store:{place}"), Format::Json, text));
    Choices::default().load_for_store(Vec::new(), inputs.collect()).unwrap()
}

/// How many pages, shards and buckets are copied when the last of so many says something else.
fn copied(count: usize, document: fn(usize, usize) -> String) -> usize {
    let before = many(count, |number| document(number, 0));
    before.snapshot.digest();
    let last = SourceId::new(before.first_stored().index() + count);
    let changed = Input::text("store:x", Format::Json, document(count - 1, 1));
    let after = before.after(vec![Change::Replaced(last, changed)]).unwrap();
    after.snapshot.digest();
    assert!(std::ptr::eq(before.snapshot.kinds(), after.snapshot.kinds()), "all of it was recognised once more");
    after.snapshot.unshared(&before.snapshot)
}

#[test]
fn a_selecting_policy_that_changes_copies_as_much_of_many_as_of_few() {
    let document = |number: usize, time: usize| {
        format!(
            r#"{{"type": "TrafficLog", "name": "t{number}", "mesh": "default", "sources": [{{"match": {{"kuma.io/service": "s{number}", "time": "{time}"}}}}], "destinations": [{{"match": {{"kuma.io/service": "*"}}}}], "conf": {{"backend": "b{time}"}}}}"#
        )
    };
    let (few, many) = (copied(200, document), copied(2_000, document));
    assert!((1..=24).contains(&few) && many <= few + 4, "{few} of few, {many} of many");
}

#[test]
fn a_layered_policy_that_changes_copies_as_much_of_many_as_of_few() {
    let document = |number: usize, time: usize| {
        format!(
            r#"{{"type": "MeshTimeout", "name": "m{number}", "mesh": "default", "spec": {{"targetRef": {{"kind": "MeshSubset", "tags": {{"kuma.io/service": "s{number}", "time": "{time}"}}}}, "to": [{{"targetRef": {{"kind": "Mesh"}}, "default": {{"idleTimeout": "{time}s"}}}}]}}}}"#
        )
    };
    let (few, many) = (copied(200, document), copied(2_000, document));
    assert!((1..=24).contains(&few) && many <= few + 4, "{few} of few, {many} of many");
}

#[test]
fn a_proxy_that_changes_beside_layered_policies_copies_as_much_of_many_as_of_few() {
    // Every tenth is a policy about the proxies around it.
    let document = |number: usize, time: usize| {
        let service = number - number % 10 + 1;
        if number.is_multiple_of(10) {
            format!(
                r#"{{"type": "MeshTimeout", "name": "m{number}", "mesh": "default", "spec": {{"targetRef": {{"kind": "Mesh"}}, "to": [{{"targetRef": {{"kind": "MeshService", "name": "s{service}"}}, "default": {{"idleTimeout": "1s"}}}}]}}}}"#
            )
        } else {
            format!(
                r#"{{"type": "Dataplane", "name": "d{number}", "mesh": "default", "networking": {{"address": "10.0.0.{time}", "inbound": [{{"port": {}, "tags": {{"kuma.io/service": "s{number}"}}}}]}}}}"#,
                80 + time
            )
        }
    };
    let (few, many) = (copied(200, document), copied(2_000, document));
    assert!((1..=24).contains(&few) && many <= few + 4, "{few} of few, {many} of many");
}

/// Objects, and policies with target references, beside each other: none of them needs all others.
#[test]
fn objects_and_layered_policies_are_taken_as_changes_beside_each_other() {
    let documents = [18, 19, 26, 27, 30];
    let inputs = documents.iter().map(|place| Stored::input(*place, DOCUMENTS[*place]));
    let before = Choices::default().load_for_store(Vec::new(), inputs.collect()).unwrap();
    let is_next = |after: &Loaded| std::ptr::eq(before.snapshot.kinds(), after.snapshot.kinds());
    let first = before.first_stored().index();
    let without = |place: usize| before.after(vec![Change::Gone(SourceId::new(first + place))]).unwrap();
    assert!(is_next(&before.after(vec![Change::New(Stored::input(32, DOCUMENTS[32]))]).unwrap()));
    // The policy that speaks of the service is warned of, or it is known by the tag of the proxy.
    assert!(is_next(&without(4)) && is_next(&without(2)) && is_next(&without(3)));
    // Nobody offers the service any more: whom that concerns is not indexed.
    assert!(!is_next(&without(1)));
    // Policies may be attached through routes.
    assert!(!is_next(&before.after(vec![Change::New(Stored::input(29, DOCUMENTS[29]))]).unwrap()));
}
