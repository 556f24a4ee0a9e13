//! Laws: what changes is listed if and only if asking differs, counts are exact, and every example does what is said of it.

mod touched;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::Value as Json;
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_report::{Change, Comparison, Direction, Report, Shifts, Verdict};

use crate::{Options, Words, World};

const KINDS: [&str; 3] = ["TrafficLog", "TrafficPermission", "MeshTimeout"];

pub(crate) fn options() -> Options {
    Options::at("2026-01-01T00:00:00Z".parse().expect("a time"))
}

pub(crate) fn loaded(documents: &[String]) -> Loaded {
    let inputs = (0..).zip(documents);
    let inputs = inputs
        .map(|(number, text): (usize, &String)| Input::text(format!("{number}.yaml"), Format::Yaml, text.clone()));
    load(inputs.collect(), &["kuma/0.3", "kuma/2"]).unwrap_or_else(|broken| panic!("{:?}", broken.diagnostics))
}

fn between(before: &Loaded, after: &Loaded) -> Shifts {
    let options = options();
    World::new(&before.snapshot, &options).shifts(&World::new(&after.snapshot, &options), &())
}

/// A document that is there before, after, or both, perhaps not the same.
#[derive(Clone, Debug)]
struct Versions {
    before: Option<String>,
    after: Option<String>,
}

fn versions(one: impl Strategy<Value = String> + Clone) -> impl Strategy<Value = Versions> {
    (one.clone(), one, 0..6_u8).prop_map(|(first, second, fate)| match fate {
        0 => Versions { before: Some(first), after: None },
        1 => Versions { before: None, after: Some(first) },
        2 => Versions { before: Some(first), after: Some(second) },
        _ => Versions { before: Some(first.clone()), after: Some(first) },
    })
}

fn tags() -> impl Strategy<Value = String> + Clone {
    let value = |values: &'static [&'static str]| proptest::sample::select(values);
    (value(&["", ", cloud: aws", ", cloud: gcp", ", cloud: '*'"]), value(&["", ", zone: a", ", zone: b"]))
        .prop_map(|(cloud, zone)| format!("{cloud}{zone}"))
}

fn proxy(number: usize) -> impl Strategy<Value = Versions> {
    let service = proptest::sample::select(&["web", "backend"][..]);
    let one = (service, tags()).prop_map(move |(service, tags)| {
        let tags = tags.replace("'*'", "aws");
        format!(
            "type: Dataplane\nmesh: default\nname: proxy-{number}\nnetworking:\n  address: 127.0.0.{}\n  inbound:\n  - \
             port: 80\n    tags: {{kuma.io/service: {service}{tags}}}\n",
            number + 1
        )
    });
    versions(one)
}

fn policy(number: usize) -> impl Strategy<Value = Versions> {
    let service = || proptest::sample::select(&["web", "backend", "'*'"][..]);
    let ends = (service(), tags(), service(), tags());
    let says = proptest::sample::select(&["a", "b"][..]);
    let kind = proptest::sample::select(&KINDS[..]);
    let one = (kind, ends, says).prop_map(move |(kind, (from, from_tags, to, to_tags), says)| match kind {
        "MeshTimeout" => {
            let seconds = if says == "a" { 1 } else { 2 };
            let target = match (from, from_tags.as_str()) {
                (_, tags) if tags.contains("aws") => "{kind: MeshSubset, tags: {cloud: aws}}".to_owned(),
                ("'*'", _) => "{kind: Mesh}".to_owned(),
                (service, _) => format!("{{kind: MeshService, name: {service}}}"),
            };
            let to = if to == "'*'" { "{kind: Mesh}".to_owned() } else { format!("{{kind: MeshService, name: {to}}}") };
            let field = if to_tags.is_empty() { "idleTimeout" } else { "connectionTimeout" };
            format!(
                "type: MeshTimeout\nmesh: default\nname: policy-{number}\nspec:\n  targetRef: {target}\n  to:\n  - \
                 targetRef: {to}\n    default: {{{field}: {seconds}s}}\n"
            )
        }
        kind => {
            let conf = if kind == "TrafficLog" { format!("conf: {{backend: {says}}}\n") } else { String::new() };
            format!(
                "type: {kind}\nmesh: default\nname: policy-{number}\nsources:\n- match: {{kuma.io/service: \
                 {from}{from_tags}}}\ndestinations:\n- match: {{kuma.io/service: {to}{to_tags}}}\n{conf}"
            )
        }
    });
    versions(one)
}

/// Two worlds that have much in common.
pub(crate) fn worlds() -> impl Strategy<Value = [Vec<String>; 2]> {
    let proxies: Vec<_> = (0..4).map(proxy).collect();
    let policies: Vec<_> = (0..5).map(policy).collect();
    (proxies, policies).prop_map(|(proxies, policies)| {
        let all = || proxies.iter().chain(&policies);
        let mesh = || std::iter::once("type: Mesh\nname: default\n".to_owned());
        let before = mesh().chain(all().filter_map(|one| one.before.clone())).collect();
        [before, mesh().chain(all().filter_map(|one| one.after.clone())).collect()]
    })
}

fn reversed(change: Change) -> Change {
    match change {
        Change::Added => Change::Removed,
        Change::Edited => Change::Edited,
        Change::Removed => Change::Added,
    }
}

fn name(document: &str) -> Option<&str> {
    document.lines().find_map(|line| line.strip_prefix("name: "))
}

/// What a pair gets, asked directly.
pub(crate) fn asked(loaded: &Loaded, kind: &str, from: &str, to: &str) -> Option<Vec<Report>> {
    let options = options();
    let world = World::new(&loaded.snapshot, &options);
    let has_policies = loaded.snapshot.policies().iter().any(|(_, policy)| loaded.snapshot.text(policy.kind) == kind);
    let [kind, from, to] = [kind, from, to].map(|word| Some(word.to_owned()));
    let question = world.question(&Words { kind, from, to, ..Words::default() }).ok()?;
    world.answer(&question).ok().map(|answer| answer.reports).or_else(|| (!has_policies).then(Vec::new))
}

/// What a report comes to, whoever says it, and in whatever order of fields.
pub(crate) fn result(reports: &[Report]) -> Vec<(String, &'static str, Json)> {
    let spoken = reports.iter().filter(|report| report.speaks() || report.verdict.granted().is_some());
    spoken
        .map(|report| (report.about.place.clone().unwrap_or_default(), report.verdict.word(), report.result.clone()))
        .collect()
}

/// All pairs of callers and called under a kind.
pub(crate) fn pairs(loaded: &Loaded, kind: &str) -> BTreeSet<(String, String)> {
    let options = options();
    let all = World::new(&loaded.snapshot, &options).all_pairs(kind, &()).expect("a kind");
    let named = all.meshes.iter().flat_map(crate::all_pairs::Pairs::each);
    named.map(|(from, to, _)| (loaded.snapshot.text(from).to_owned(), to.to_owned())).collect()
}

/// How many pairs differ, by asking each.
fn naively(before: &Loaded, after: &Loaded) -> u64 {
    let mut differ = 0;
    for kind in KINDS {
        let (was, is) = (pairs(before, kind), pairs(after, kind));
        for (from, to) in was.intersection(&is) {
            let [old, new] = [before, after].map(|loaded| asked(loaded, kind, from, to).expect("is answered"));
            differ += u64::from(result(&old) != result(&new));
        }
    }
    differ
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_changes_is_what_is_answered_otherwise([before, after] in worlds()) {
        let (before, after) = (loaded(&before), loaded(&after));
        let shifts = between(&before, &after);
        prop_assert_eq!(shifts.counts.changed, naively(&before, &after), "{:#?}", shifts);
        for shift in &shifts.shifts {
            let word = |name: &str| shift.example.question[name].as_str().unwrap_or_default().to_owned();
            let ask = |loaded: &Loaded| asked(loaded, &word("kind"), &word("from"), &word("to"));
            let (was, is) = (ask(&before).expect("is answered"), ask(&after).expect("is answered"));
            let says = |reports: &[Report], verdict| {
                reports.iter().any(|report| report.verdict == verdict) || (reports.is_empty() && verdict == Verdict::Unset)
            };
            prop_assert!(says(&was, shift.before.verdict) && says(&is, shift.after.verdict), "{:#?}", shift);
            prop_assert_ne!(result(&was), result(&is), "{:#?}", shift);
            prop_assert!(!shift.causes.is_empty(), "every difference has a cause: {:#?}", shift);
        }
    }

    #[test]
    fn nothing_changes_from_a_world_to_itself_and_back_is_the_mirror([before, after] in worlds()) {
        let (before, after) = (loaded(&before), loaded(&after));
        prop_assert_eq!(between(&before, &before).verdict, Comparison::Equal);
        let (there, back) = (between(&before, &after), between(&after, &before));
        prop_assert_eq!((there.counts.changed, there.counts.began), (back.counts.changed, back.counts.ended));
        let directions = |shifts: &Shifts, wanted: Direction| {
            shifts.shifts.iter().filter(|shift| shift.direction == wanted).map(|shift| shift.size.count()).sum::<u64>()
        };
        prop_assert_eq!(directions(&there, Direction::Widened), directions(&back, Direction::Narrowed));
        let changes = |shifts: &Shifts| shifts.changed.iter().map(|one| (one.name.clone(), one.change)).collect::<Vec<_>>();
        let mirrored: Vec<_> = changes(&back).into_iter().map(|(name, change)| (name, reversed(change))).collect();
        prop_assert_eq!(changes(&there), mirrored);
    }

    /// Where only policies change, only what they match is looked at, and nothing is missed.
    #[test]
    fn what_only_policies_change_is_what_is_answered_otherwise([before, after] in worlds(), number in 0..5_usize) {
        let is_policy = |text: &&String| !text.contains("type: Dataplane");
        let same: Vec<String> = before.iter().filter(|text| !is_policy(text)).cloned().collect();
        let mut after: Vec<String> = after.iter().filter(is_policy).cloned().collect();
        // Few changes, so that much lies outside of what they match.
        let kept = before.iter().filter(is_policy).skip(1 + number);
        after.truncate(2 + number);
        after.extend(kept.filter(|text| !after.iter().any(|own| name(own) == name(text))).cloned().collect::<Vec<_>>());
        after.extend(same);
        let (before, after) = (loaded(&before), loaded(&after));
        let shifts = between(&before, &after);
        prop_assert_eq!(shifts.counts.changed, naively(&before, &after), "{:#?}", shifts);
    }

    /// Whose results change without a policy, the largest owners first.
    #[test]
    fn owners_have_as_many_results_as_asking_each_shows([documents, _] in worlds(), number in 0..5_usize) {
        let team = |name: &str| match name { "proxy-0" => None, "proxy-1" => Some("red"), _ => Some("blue") };
        let owned = |text: &String| match name(text).and_then(team).filter(|_| text.contains("type: Dataplane")) {
            Some(team) => text.replace("tags: {", &format!("tags: {{team: {team}, ")),
            None => text.clone(),
        };
        let documents: Vec<String> = documents.iter().map(owned).collect();
        let policy = format!("policy-{number}");
        let (all, options) = (loaded(&documents), options());
        let Ok(affected) = World::new(&all.snapshot, &options).affected(&all, &policy) else { return Ok(()) };
        let rest: Vec<String> = documents.iter().filter(|text| name(text) != Some(&policy)).cloned().collect();
        let rest = loaded(&rest);
        let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
        for kind in KINDS {
            for (from, to) in pairs(&all, kind).intersection(&pairs(&rest, kind)) {
                let [old, new] = [&all, &rest].map(|loaded| asked(loaded, kind, from, to).expect("is answered"));
                if result(&old) != result(&new) {
                    *expected.entry(team(from).unwrap_or("(no owner)")).or_default() += 1;
                }
            }
        }
        if expected.keys().all(|owner| *owner == "(no owner)") {
            expected.clear();
        }
        let told = affected.owners();
        prop_assert!(told.is_sorted_by(|one, other| one.results >= other.results), "{:?}", told);
        let told: BTreeMap<&str, u64> = told.iter().map(|one| (one.owner.as_str(), one.results)).collect();
        prop_assert_eq!(told, expected);
    }

    /// Without a policy, exactly that changes which it had a part in.
    #[test]
    fn a_policy_that_goes_changes_what_reading_without_it_does([before, _after] in worlds(), number in 0..5_usize) {
        let all = loaded(&before);
        let name = format!("policy-{number}");
        let Some(place) = before.iter().position(|text| text.contains(&format!("name: {name}\n"))) else { return Ok(()) };
        let options = options();
        let affected = World::new(&all.snapshot, &options).affected(&all, &name).expect("is there");
        let mut rest = before.clone();
        rest.remove(place);
        let expected = between(&all, &loaded(&rest));
        prop_assert_eq!(affected.without.counts, expected.counts);
        prop_assert_eq!(affected.without.shifts.len(), expected.shifts.len());
    }
}

/// Nobody can tell what a policy changes for proxies and routes that were not read: that nothing changes is not proved then.
#[test]
fn policies_that_nothing_was_read_for_are_not_proved_to_be_equal() {
    let timeout = |value: &str| {
        format!(
            "type: Timeout\nmesh: default\nname: all\nsources: [{{match: {{kuma.io/service: '*'}}}}]\n\
             destinations: [{{match: {{kuma.io/service: '*'}}}}]\nconf: {{connectTimeout: {value}}}\n"
        )
    };
    let layer = |value: &str| {
        format!(
            "type: MeshTimeout\nmesh: default\nname: all\nspec: {{to: [{{targetRef: {{kind: Mesh}}, \
             default: {{idleTimeout: {value}}}}}]}}\n"
        )
    };
    let attached = |value: &str| {
        format!(
            "apiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {{name: all}}\nspec:\n  \
             targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: gone}}]\n  \
             timeouts: {{request: {value}}}\n"
        )
    };
    let versions = |policy: fn(&str) -> String| [policy("1s"), policy("2s")];
    let policies =
        [("Timeout", versions(timeout)), ("MeshTimeout", versions(layer)), ("TrafficPolicy", versions(attached))];
    for (kind, [before, after]) in policies {
        let one = loaded(std::slice::from_ref(&before));
        let shifts = between(&one, &loaded(&[after]));
        assert_eq!(shifts.verdict, Comparison::Undecided, "{shifts:#?}");
        let told: Vec<&str> = shifts.notes.iter().map(|note| note.text.as_str()).collect();
        assert!(matches!(told.as_slice(), [note] if note.starts_with(kind)), "{told:?}");
        assert_eq!(between(&one, &loaded(&[before])).verdict, Comparison::Equal);
    }
}

/// A proxy and an external service may have one name.
#[test]
fn two_things_of_one_name_are_compared_without_a_miscount() {
    let common = [
        "type: Mesh\nname: default\n".to_owned(),
        "type: Dataplane\nmesh: default\nname: web\nnetworking: {address: 127.0.0.1, inbound: [{port: 80, tags: \
         {kuma.io/service: shop}}]}\n"
            .to_owned(),
    ];
    let external = "type: ExternalService\nmesh: default\nname: web\ntags: {kuma.io/service: web, kuma.io/protocol: http}\n\
                    networking: {address: 'web.example:80'}\n";
    for kind in KINDS.into_iter().filter(|kind| *kind != "MeshTimeout") {
        let conf = if kind == "TrafficLog" { "conf: {backend: a}\n" } else { "" };
        let policy = format!(
            "type: {kind}\nmesh: default\nname: all\nsources: [{{match: {{kuma.io/service: '*'}}}}]\n\
             destinations: [{{match: {{kuma.io/service: '*'}}}}]\n{conf}"
        );
        let one: Vec<String> = common.iter().cloned().chain([policy]).collect();
        let two: Vec<String> = one.iter().cloned().chain([external.to_owned()]).collect();
        let (one, two) = (loaded(&one), loaded(&two));
        for (before, after) in [(&one, &two), (&two, &one)] {
            let counts = between(before, after).counts;
            assert_eq!(counts.changed, 0, "{kind}: {counts:?}");
        }
    }
}
