//! The law of removing: an object that the question does not name can go, and there is still an answer. Where
//! it is another proxy, the answer is even the same.

use proptest::prelude::*;
use serde_json::Value as Json;
use upheld_loader::load::Loaded;

use super::asked::{ask, loaded, words};

/// Objects, each with the name that policies and questions know it by.
const OBJECTS: [(&str, &str); 9] = [
    (
        "web",
        "type: Dataplane\nname: web\nlabels: {app: web}\nnetworking: {address: 10.0.0.1, inbound: [{port: 80, name: main, tags: {kuma.io/service: web, version: v1}}, {port: 81, tags: {kuma.io/service: web-admin}}]}\n",
    ),
    (
        "back",
        "type: Dataplane\nname: back\nlabels: {app: back}\nnetworking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: back}}]}\n",
    ),
    (
        "idle",
        "type: Dataplane\nname: idle\nlabels: {app: idle}\nnetworking: {address: 10.0.0.3, inbound: [{port: 80, tags: {kuma.io/service: idle}}]}\n",
    ),
    (
        "orders",
        "type: MeshService\nname: orders\nlabels: {kuma.io/display-name: orders}\nspec: {selector: {dataplaneTags: {kuma.io/service: back}}, ports: [{port: 80, name: http, appProtocol: http}]}\n",
    ),
    (
        "stock",
        "type: MeshService\nname: stock\nlabels: {kuma.io/display-name: stock}\nspec: {selector: {dataplaneTags: {kuma.io/service: idle}}, ports: [{port: 80, name: http, appProtocol: http}]}\n",
    ),
    (
        "paid",
        "type: MeshExternalService\nname: paid\nspec: {match: {type: HostnameGenerator, port: 443, protocol: http}, endpoints: [{address: pay.example, port: 443}]}\n",
    ),
    (
        "far",
        "type: ExternalService\nname: far\ntags: {kuma.io/service: far, kuma.io/protocol: http}\nnetworking: {address: 'far.example:80'}\n",
    ),
    (
        "route",
        "type: MeshHTTPRoute\nname: route\nspec: {to: [{targetRef: {kind: MeshService, name: orders}, rules: [{matches: [{path: {type: PathPrefix, value: /}}], default: {}}]}]}\n",
    ),
    ("mesh", "type: Mesh\nname: default\nmtls: {enabledBackend: c, backends: [{name: c, type: builtin}]}\n"),
];

const TOPS: [&str; 6] = [
    "{kind: Mesh}",
    "{kind: Dataplane, name: web}",
    "{kind: Dataplane, labels: {app: idle}}",
    "{kind: MeshSubset, tags: {version: v1}}",
    "{kind: MeshService, name: back}",
    "{kind: Dataplane, sectionName: main}",
];

const CALLED: [&str; 5] = [
    "{kind: Mesh}",
    "{kind: MeshService, name: orders}",
    "{kind: MeshService, name: stock, sectionName: http}",
    "{kind: MeshExternalService, name: paid}",
    "{kind: MeshHTTPRoute, name: route}",
];

const CALLERS: [&str; 3] =
    ["{kind: Mesh}", "{kind: MeshService, name: web}", "{kind: MeshSubset, tags: {version: v1}}"];

const SERVICES: [&str; 4] = ["'*'", "web", "back", "far"];

/// Questions: what, from, to; and what they name.
type Asked = (Option<&'static str>, Option<&'static str>, Option<&'static str>);

const QUESTIONS: [(Asked, &[&str]); 6] = [
    ((Some("dataplane/web"), None, None), &["web"]),
    ((Some("dataplane/web"), None, Some("meshservice/orders")), &["web", "orders"]),
    ((None, Some("dataplane/web"), Some("dataplane/back")), &["web", "back"]),
    ((Some("dataplane/back"), Some("kuma.io/service=web"), None), &["back"]),
    ((None, Some("kuma.io/service=web,version=v1"), Some("kuma.io/service=back")), &[]),
    ((None, Some("dataplane/web"), Some("kuma.io/service=far")), &["web"]),
];

/// A policy; `NAME` becomes a name of its own.
fn policy() -> impl Strategy<Value = String> {
    let pick = |list: &'static [&'static str]| proptest::sample::select(list);
    prop_oneof![
        (pick(&TOPS), pick(&CALLED), 1..9_u8).prop_map(|(top, to, time)| format!(
            "type: MeshTimeout\nname: NAME\nspec: {{targetRef: {top}, to: [{{targetRef: {to}, default: {{idleTimeout: {time}s}}}}]}}\n"
        )),
        (pick(&TOPS), pick(&CALLERS), pick(&["Allow", "Deny"])).prop_map(|(top, from, action)| format!(
            "type: MeshTrafficPermission\nname: NAME\nspec: {{targetRef: {top}, from: [{{targetRef: {from}, default: {{action: {action}}}}}]}}\n"
        )),
        (pick(&SERVICES), pick(&SERVICES)).prop_map(|(from, to)| format!(
            "type: TrafficLog\nname: NAME\nsources: [{{match: {{kuma.io/service: {from}}}}}]\ndestinations: [{{match: {{kuma.io/service: {to}}}}}]\nconf: {{backend: b}}\n"
        )),
        (pick(&SERVICES), pick(&SERVICES)).prop_map(|(from, to)| format!(
            "type: TrafficPermission\nname: NAME\nsources: [{{match: {{kuma.io/service: {from}}}}}]\ndestinations: [{{match: {{kuma.io/service: {to}}}}}]\n"
        )),
    ]
}

fn world(objects: &[&str], policies: &[String]) -> Loaded {
    let numbered = policies.iter().enumerate().map(|(number, text)| text.replace("NAME", &format!("p{number}")));
    let texts: Vec<String> = objects.iter().map(|text| (*text).to_owned()).chain(numbered).collect();
    loaded(&texts.join("---\n"), &["kuma/0.3", "kuma/2"])
}

/// Kind, place, verdict and result.
type Said = (String, Option<String>, String, Json);

/// What speaks; an error says why there is none.
fn answer(loaded: &Loaded, (what, from, to): Asked) -> Result<Vec<Said>, String> {
    let answer = ask(&loaded.snapshot, &words(what, from, to, None)).map_err(|refused| format!("{refused:#?}"))?;
    let speaking = answer.reports.into_iter().filter(upheld_report::Report::speaks);
    Ok(speaking.map(|one| (one.kind, one.about.place, format!("{:?}", one.verdict), one.result)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn removing_objects_that_are_not_needed_never_turns_an_answer_into_an_error(
        policies in proptest::collection::vec(policy(), 1..6),
        removed in proptest::collection::vec(any::<bool>(), OBJECTS.len()),
        (question, named) in proptest::sample::select(&QUESTIONS[..]),
    ) {
        let all: Vec<&str> = OBJECTS.iter().map(|(_, text)| *text).collect();
        let before = answer(&world(&all, &policies), question);
        prop_assert!(before.is_ok(), "{question:?}: {before:?}");
        let gone = |place: usize| removed.get(place) == Some(&true) && !named.contains(&OBJECTS[place].0);
        let kept: Vec<&str> = (0..OBJECTS.len()).filter(|place| !gone(*place)).map(|place| OBJECTS[place].1).collect();
        let after = answer(&world(&kept, &policies), question);
        prop_assert!(after.is_ok(), "{question:?}: {after:?}");
        // The proxies come first. Whatever policies say of other proxies is not about the ends in question.
        let spare = |place: usize| place < 3 && !named.contains(&OBJECTS[place].0);
        let kept: Vec<&str> =
            (0..OBJECTS.len()).filter(|place| !(gone(*place) && spare(*place))).map(|place| OBJECTS[place].1).collect();
        prop_assert_eq!(answer(&world(&kept, &policies), question), before);
    }
}
