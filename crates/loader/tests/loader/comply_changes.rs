//! Documents about related objects that change one by one lead where loading all of them leads, and most is shared.

use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use upheld_dialects::comply::Organisations;
use upheld_engine::Snapshot;
use upheld_engine::comply::{Comply, Filter};
use upheld_governance::words::cause;
use upheld_loader::load::{Change, Choices, Loaded};
use upheld_loader::{Format, Input};
use upheld_model::{SourceId, Timestamp};

use super::changes::{Stored, check};

/// After everything that is written here.
const NOW: Timestamp = Timestamp(1_800_000_000_000_000_000);

/// Those that go well together come first: objects, relationships, policies, waivers, manifests of another system, changes.
/// Then those that define something for all others, that clash with others, or that are broken.
const DOCUMENTS: [&str; 45] = [
    r#"{"ref": "workspace/w", "tags": {"env": ["dev"]}}"#,
    r#"{"ref": "workspace/v", "name": "Other", "tags": {"env": ["prod"]}}"#,
    r#"{"ref": "project/p", "workspace": "w", "tags": {"env": ["dev"]}}"#,
    r#"{"ref": "project/p", "name": "Shop", "workspace": "workspace/w", "tags": {"env": ["prod", "qa"]}}"#,
    r#"{"ref": "project/q", "workspace": "v", "paymentMethod": "m", "tags": {"env": ["dev"]}}"#,
    r#"{"ref": "project/q", "tags": {"env": "prod"}, "links": [{"to": "landingZone/z"}, {"to": "user/u", "role": "reader"}]}"#,
    r#"{"ref": "landingZone/z", "tags": {"env": ["prod"]}}"#,
    r#"{"ref": "landingZone/z", "disabled": true}"#,
    r#"{"ref": "user/u", "tags": {"env": ["prod"]}}"#,
    r#"{"ref": "projectRole/reader"}"#,
    r#"{"ref": "paymentMethod/m"}"#,
    r#"{"a": "project/p", "b": "landingZone/z"}"#,
    r#"{"a": "landingZone/z", "b": "project/p"}"#,
    r#"{"a": "project/p", "b": "user/u", "role": "projectRole/reader"}"#,
    r#"{"a": "project/p", "b": "user/u"}"#,
    r#"{"a": "workspace/w", "b": "user/u"}"#,
    r#"[{"a": "workspace/v", "b": "project/q"}, {"a": "project/q", "b": "landingZone/z"}]"#,
    r#"{"type": "MeshPolicy", "name": "env", "a": {"kind": "workspace", "tag": "env"}, "b": {"kind": "project", "tag": "env"}}"#,
    r#"{"type": "MeshPolicy", "name": "env", "a": {"kind": "project", "tag": "env"}, "b": {"kind": "workspace", "tag": "env"}, "enforcement": "warn"}"#,
    r#"{"type": "MeshPolicy", "name": "zone", "a": {"kind": "project", "tag": "env"}, "b": {"kind": "landingZone", "tag": "env"}}"#,
    r#"{"type": "MeshPolicy", "name": "user", "a": {"kind": "project", "tag": "env"}, "b": {"kind": "principal", "tag": "env"}, "enforceFrom": "2020-01-01T00:00:00Z"}"#,
    r#"{"kind": "Waiver", "id": "later", "policy": "env", "match": {"workspace": "w"}, "reason": "moving"}"#,
    r#"{"kind": "Waiver", "id": "earlier", "policy": "env", "reason": "moving"}"#,
    r#"{"apiVersion": "v1", "kind": "meshWorkspace", "metadata": {"name": "team"}, "spec": {"displayName": "Team", "tags": {"env": ["dev"]}}}"#,
    r#"{"apiVersion": "v1", "kind": "meshProject", "metadata": {"name": "app", "ownedByWorkspace": "team"}, "spec": {"displayName": "App", "tags": {"env": ["prod"]}}}"#,
    r#"{"apiVersion": "v2", "kind": "meshUser", "metadata": {"name": "ana"}, "spec": {"email": "ana@example.com", "tags": {"env": ["dev"]}}}"#,
    r#"{"apiVersion": "v1", "kind": "meshWorkspaceUserBinding", "roleRef": {"name": "Manager"}, "targetRef": {"name": "team"}, "subjects": [{"name": "ana"}, {"name": "u"}]}"#,
    r#"{"apiVersion": "v3", "kind": "meshProjectUserBinding", "metadata": {"name": "b"}, "roleRef": {"name": "Admin"}, "targetRef": {"name": "app", "ownedByWorkspace": "team"}, "subject": {"name": "ana"}}"#,
    r#"{"kind": "Changes", "changes": [{"at": "2026-01-01T00:00:00Z", "by": "admin", "verb": "setTags", "object": "workspace/w", "tags": {"env": ["prod"]}}]}"#,
    r#"{"kind": "Changes", "changes": [{"at": "2026-02-01T00:00:00Z", "by": "admin", "verb": "create", "object": {"ref": "workspace/n", "tags": {"env": ["qa"]}}}, {"at": "2026-03-01T00:00:00Z", "by": "admin", "verb": "deleteObject", "object": "landingZone/z"}]}"#,
    r#"{"kind": "Changes", "changes": [{"at": "2026-03-01T00:00:00Z", "by": "system", "verb": "setTags", "object": "project/p", "tags": {"env": []}}]}"#,
    r#"{"kind": "Compliance", "objects": [{"ref": "user/k"}], "relationships": [{"a": "workspace/w", "b": "user/k"}], "policies": [{"id": "member", "a": {"kind": "workspace", "tag": "env"}, "b": {"kind": "principal", "tag": "env"}}]}"#,
    r#"{"ref": "workspace/w", "class": "partner", "tags": {"env": ["dev"]}}"#,
    r#"{"ref": "workspace/v", "deleted": true}"#,
    r#"{"ref": "user/u", "deleted": true}"#,
    r#"{"ref": "group/g", "workspace": "w"}"#,
    r#"{"kind": "Compliance", "settings": {"exemptPartnerWorkspaces": true}, "userDefaultTags": {"env": ["dev"]}}"#,
    r#"{"kind": "TagDefinition", "of": "project", "key": "env", "type": "multiSelect", "options": ["dev", "prod"]}"#,
    r#"{"kind": "Changes", "changes": [{"verb": "setTags", "object": "project/p", "tags": {}}]}"#,
    r#"{"kind": "Waiver", "id": "later", "policy": "zone", "match": {"a": "project/q"}, "reason": "other"}"#,
    r#"{"a": "project/p", "b": "paymentMethod/m"}"#,
    r#"{"ref": "project/p", "tagz": {}}"#,
    r#"{"type": "TrafficLog", "name": "all", "mesh": "default", "sources": [{"match": {"kuma.io/service": "*"}}], "destinations": [{"match": {"kuma.io/service": "*"}}], "conf": {"backend": "x"}}"#,
    r#"{"id": "a", "effect": "permit", "subjects": [], "resources": [], "actions": []}"#,
    r#"{"kind": "AcceptedViolations", "name": "r1-1", "at": "2026-01-15T00:00:00Z", "by": {"name": "ana", "role": "orgAdmin"}, "action": "link", "object": "project/p", "violations": [{"policy": "zone", "rule": 0, "workspace": "workspace/w", "a": "project/p", "b": "landingZone/z"}]}"#,
];

/// Everything that can be seen of related objects, as text.
pub(super) fn related(snapshot: &Snapshot) -> String {
    let mut lines = String::new();
    for (kind, documented) in snapshot.companion::<Organisations>().into_iter().flat_map(Organisations::iter) {
        let (organisation, comply) = (&documented.organisation, documented.organisation.comply());
        let _ = writeln!(lines, "{} {}", snapshot.text(kind), organisation.digest(NOW));
        let _ = writeln!(lines, "version {} pairs {}", organisation.version(), comply.pair_count());
        for object in comply.objects() {
            let at = comply.described(object).and_then(|own| snapshot.files().locate(own.at?));
            let at = at.map(|at| (at.file.to_owned(), at.line));
            let _ = writeln!(lines, "{} {at:?} {:?}", comply.reference(object), comply.tags_of(object));
        }
        let history = organisation.history();
        for check in comply.checks(&Filter::default(), NOW) {
            let seen = history.seen(&check).map(|seen| cause(comply.profile(), &seen));
            let _ = writeln!(lines, "{check:?} {seen:?}");
        }
        for policy in comply.policies() {
            let at = policy.at.and_then(|at| snapshot.files().locate(at)).map(|at| (at.file.to_owned(), at.line));
            let _ = writeln!(lines, "{} {at:?}", policy.id);
        }
        let waivers: Vec<&str> = comply.waivers().iter().map(|waiver| waiver.id.as_str()).collect();
        let _ = writeln!(lines, "{waivers:?}");
    }
    lines
}

fn steps(places: usize, documents: usize) -> impl Strategy<Value = Vec<Vec<(usize, Option<usize>)>>> {
    let change = (0..places, prop::option::weighted(0.8, 0..documents));
    prop::collection::vec(prop::collection::vec(change, 1..4), 1..16)
}

/// A store to begin with, so that most documents find what they refer to.
fn beginning() -> Vec<(usize, Option<usize>)> {
    [0, 1, 2, 4, 6, 8, 9, 10, 11, 17, 19, 23, 24, 25].into_iter().map(Some).enumerate().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn changes_of_related_objects_lead_where_loading_everything_leads(steps in steps(20, DOCUMENTS.len())) {
        let steps: Vec<_> = std::iter::once(beginning()).chain(steps).collect();
        check(&[], &DOCUMENTS, &steps)?;
    }

    /// Those that go well together, each in a place of its own: most of these changes are taken.
    #[test]
    fn sound_changes_of_related_objects_lead_where_loading_everything_leads(
        steps in prop::collection::vec((0..32_usize, any::<bool>()), 1..24),
    ) {
        let beginning = beginning().into_iter().map(|(_, document)| (document.unwrap(), document)).collect();
        let steps = steps.into_iter().map(|(document, there)| vec![(document, there.then_some(document))]);
        let steps: Vec<_> = std::iter::once(beginning).chain(steps).collect();
        check(&[], &DOCUMENTS, &steps)?;
    }
}

fn state(loaded: &Loaded) -> Arc<Comply> {
    let all = loaded.snapshot.companion::<Organisations>().unwrap();
    let (_, documented) = all.iter().next().unwrap();
    Arc::clone(documented.organisation.comply())
}

/// Whether one more document, or one less, is taken as a change of what is there.
fn is_taken(stored: &[usize], change: usize) -> bool {
    let mut documents = Stored::default();
    for (place, document) in stored.iter().enumerate() {
        documents.change(place, Some(DOCUMENTS[*document]), SourceId::new(0));
    }
    let before = documents.load(Choices::default()).unwrap();
    let more = before.after(vec![Change::New(Stored::input(99, DOCUMENTS[change]))]).unwrap();
    let added = SourceId::new(before.snapshot.files().next().index());
    let less = more.after(vec![Change::Gone(added)]).unwrap();
    let same = |one: &Loaded, other: &Loaded| Arc::ptr_eq(state(one).profile(), state(other).profile());
    assert_eq!(state(&before).digest(NOW), state(&less).digest(NOW));
    assert_eq!(same(&before, &more), same(&more, &less), "{}", DOCUMENTS[change]);
    same(&before, &more)
}

#[test]
fn every_sort_of_document_is_taken_as_a_change() {
    let base = [0, 1, 2, 6, 8, 9, 10, 17, 23, 25];
    for (change, sort) in [
        (4, "an object"),
        (11, "a relationship"),
        (13, "a relationship with a role"),
        (19, "a policy"),
        (21, "a waiver"),
        (24, "a manifest"),
        (26, "a binding"),
        (28, "a change"),
        (31, "a collection"),
    ] {
        assert!(is_taken(&base, change), "{sort}");
    }
    for (change, sort) in [(36, "settings"), (37, "a definition")] {
        assert!(!is_taken(&base, change), "{sort}");
    }
}

#[test]
fn a_base_with_a_past_is_changed_below_it() {
    assert!(is_taken(&[0, 2, 17, 28], 1));
    assert!(is_taken(&[0, 2, 17, 29, 6], 28), "in the middle of history");
}

#[test]
fn a_document_that_changes_copies_as_much_of_many_as_of_few() {
    let copied = |workspaces: usize| {
        let mut texts = vec![DOCUMENTS[17].to_owned()];
        for number in 0..workspaces {
            texts.push(format!(r#"{{"ref": "workspace/{number}", "tags": {{"env": ["dev"]}}}}"#));
            for project in 0..5 {
                texts.push(format!(
                    r#"{{"ref": "project/{number}-{project}", "workspace": "{number}", "tags": {{"env": ["dev"]}}}}"#
                ));
            }
        }
        let stored = texts.iter().enumerate().map(|(place, text)| Stored::input(place, text));
        let before = Choices::default().load_for_store(Vec::new(), stored.collect()).unwrap();
        let changed = SourceId::new(before.first_stored().index() + 2);
        let text = r#"{"ref": "project/0-0", "workspace": "0", "tags": {"env": ["prod"]}}"#;
        let after = before.after(vec![Change::Replaced(changed, Input::text("x", Format::Json, text))]).unwrap();
        assert_eq!(state(&after).violation_count(), 1);
        state(&after).unshared(&state(&before))
    };
    let [few, many] = [20, 700].map(copied);
    assert!(many <= 10, "{many}");
    assert!(few <= many, "{few} of few, {many} of many");
}
