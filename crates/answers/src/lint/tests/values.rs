//! What is lost, what is beaten, what nothing reaches and whose nothing is.

use super::*;

fn timeout(name: &str, from: &str, to: &str, conf: &str) -> String {
    format!(
        "---\ntype: Timeout\nmesh: default\nname: {name}\nsources: [{{match: {{{from}}}}}]\ndestinations: [{{match: \
         {{{to}}}}}]\nconf: {{{conf}}}\n"
    )
}

fn layer(name: &str, target: &str, default: &str) -> String {
    format!(
        "---\ntype: MeshTimeout\nmesh: default\nname: {name}\nspec:\n  targetRef: {target}\n  to:\n  - targetRef: {{kind: Mesh}}\n    \
         default: {{{default}}}\n"
    )
}

fn with(text: &str, wanted: &LintWanted) -> Linted {
    let loaded = loaded(text);
    World::new(&loaded.snapshot, &options()).lint(loaded.warnings.as_slice(), wanted).expect("known kinds")
}

/// The messages of findings of a code.
fn messages(text: &str, code: &str) -> Vec<String> {
    let of_code = linted(text).findings.into_iter().filter(|finding| finding.code() == code);
    of_code.map(|finding| finding.problem.message).collect()
}

const BOTH: &str = "connectTimeout: 5s, http: {requestTimeout: 9s}";

#[test]
fn up303_a_narrower_policy_that_says_less_takes_the_place_of_a_broader_one() {
    let text = timeout("all", ANY, ANY, BOTH) + &timeout("web", WEB, ANY, "connectTimeout: 1s");
    let expected = "web takes the place of all as a whole: where it does, `http.requestTimeout` of all does not count";
    assert_eq!(messages(&text, "UP303"), [expected]);
    let whole = timeout("all", ANY, ANY, BOTH) + &timeout("web", WEB, ANY, BOTH);
    assert_eq!(codes(&whole), [""; 0], "nothing is lost");
    let apart = timeout("backend", BACKEND, ANY, BOTH) + &timeout("web", WEB, ANY, "connectTimeout: 1s");
    assert_eq!(codes(&apart), [""; 0], "they never meet");
    let comment = "# upheld: allow UP303 until 2026-06-30 because the default is meant";
    assert_eq!(codes(&text.replace("name: web", &format!("name: web {comment}"))), [""; 0]);
    let over = comment.replace("2026-06-30", "2025-06-30");
    assert_eq!(codes(&text.replace("name: web", &format!("name: web {over}"))), ["UP303", "UP604"]);
}

#[test]
fn up107_wildcards_that_beat_exact_values() {
    let wide = "kuma.io/service: '*', cloud: '*', zone: '*'";
    let text = log("wide", wide, ANY, "x") + &log("exact", "kuma.io/service: web, cloud: aws", ANY, "y");
    let expected = "wide goes before exact because it has more tags, though it names fewer exact values: 0 against 2";
    assert_eq!(messages(&text, "UP107"), [expected]);
    let same = log("wide", wide, ANY, "x") + &log("exact", "kuma.io/service: web, cloud: aws, zone: '*'", ANY, "y");
    assert_eq!(messages(&same, "UP107"), [""; 0]);
}

#[test]
fn up301_and_up202_a_layer_that_another_one_overrides_everywhere() {
    let proxies = proxy("web-1", WEB) + &proxy("backend-1", BACKEND);
    let text = proxies.clone()
        + &layer("a", "{kind: Mesh}", "idleTimeout: 1h, connectionTimeout: 5s")
        + &layer("b", "{kind: Mesh}", "idleTimeout: 2h");
    assert_eq!(
        messages(&text, "UP301"),
        ["`idleTimeout` of b counts nowhere: others override it for all of 4 connections that it reaches"]
    );
    let linted = linted(&text);
    let dead = linted.findings.iter().find(|finding| finding.code() == "UP301").expect("was found");
    assert_eq!(dead.problem.related.len(), 1, "who goes before");
    assert!(dead.problem.label.is_some());
    assert_eq!(messages(&text, "UP202").len(), 1, "{linted:?}");
    let apart =
        proxies + &layer("a", "{kind: Mesh}", "idleTimeout: 1h") + &layer("b", "{kind: Mesh}", "connectionTimeout: 5s");
    assert_eq!(codes(&apart), [""; 0]);
}

const EDGE: [&str; 2] = [
    include_str!("../../../../../examples/kgateway-policy-application-and-merging/gateway.yaml"),
    include_str!("../../../../../examples/kgateway-policy-application-and-merging/edge.yaml"),
];

#[test]
fn up304_and_up305_what_is_nested_or_in_lists_is_lost_where_merges_are_shallow() {
    let text = EDGE.join("---\n");
    let lost = messages(&text, "UP304");
    assert!(
        lost.iter()
            .any(|message| message.contains("`transformation.request.set` of default/policy-without-section-name")),
        "{lost:?}"
    );
    let lists = messages(&text, "UP305");
    assert!(
        lists.iter().any(|message| message.contains("`cors.allowOrigins` of default/extensionref-policy")),
        "{lists:?}"
    );
}

#[test]
fn up306_routes_on_one_way_that_want_opposite_sides_to_go_before() {
    let route = |name: &str, more: &str, path: &str, to: &str| {
        format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, annotations: {{{more}}}}}\n\
             spec:\n  {}rules:\n  - matches: [{{path: {{type: PathPrefix, value: {path}}}}}]\n    backendRefs: [{to}]\n",
            if name == "root" { "parentRefs: [{name: example-gateway}]\n  " } else { "" }
        )
    };
    let asks = |word: &str| format!("kgateway.dev/inherited-policy-priority: {word}");
    let delegate = |name: &str| format!("{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: {name}}}");
    let chain = |root: &str, middle: &str| {
        [EDGE[0], &route("root", root, "/", &delegate("middle")), &route("middle", middle, "/a", &delegate("leaf"))]
            .concat()
            + &route("leaf", &asks("DeepMergePreferParent"), "/a/b", "{name: shop, port: 80}")
    };
    let (parent, child) = (asks("ShallowMergePreferParent"), asks("DeepMergePreferChild"));
    let found = messages(&chain(&parent, &child), "UP306");
    assert_eq!(found.len(), 1, "{:?}", linted(&chain(&parent, &child)).findings);
    assert!(found[0].starts_with("HTTPRoute default/root asks for ShallowMergePreferParent"), "{found:?}");
    assert_eq!(messages(&chain(&child, &child), "UP306"), [""; 0]);
    assert_eq!(messages(&chain(&parent, ""), "UP306"), [""; 0], "who asks for nothing disagrees with nobody");
}

#[test]
fn up204_the_older_of_two_policies_counts() {
    let policy = |name: &str, made: &str, request: &str| {
        format!(
            "---\napiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {{name: {name}, creationTimestamp: \
             \"{made}\"}}\nspec:\n  targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: example-route}}]\n  \
             timeouts: {{request: {request}}}\n"
        )
    };
    let both =
        |second: &str| EDGE.join("---\n") + &policy("old", "2025-01-01T00:00:00Z", "1s") + &policy("new", second, "2s");
    let aged = messages(&both("2025-01-01T00:00:41Z"), "UP204");
    assert_eq!(aged.len(), 1, "{aged:?}");
    assert!(aged[0].starts_with("default/old goes before default/new in `timeouts.request`"), "{aged:?}");
    assert_eq!(
        messages(&both("2025-01-01T00:00:00Z"), "UP202").len(),
        1,
        "as old as the other one: their names decide"
    );
}

#[test]
fn up602_and_up603_are_found_only_where_somebody_asks() {
    let text = proxy("web-1", WEB) + &proxy("backend-1", BACKEND) + &log("a", WEB, ANY, "x");
    assert_eq!(codes(&text), [""; 0]);
    let required = LintWanted { require: vec!["TrafficLog".to_owned()], ..LintWanted::default() };
    let found = with(&text, &required).findings;
    let told: Vec<&str> = found.iter().map(|finding| finding.problem.message.as_str()).collect();
    assert_eq!(told, ["no TrafficLog holds for backend-1 at any of 2 places"]);
    let owned = LintWanted { require_owner: true, ..LintWanted::default() };
    assert_eq!(with(&text, &owned).findings[0].code(), "UP603");
    let labelled = text.replace("name: a\n", "name: a\nlabels: {example.com/team: shop}\n");
    assert_eq!(with(&labelled, &owned).findings.len(), 0);
    let allowed = text.replace("name: a\n", "name: a # upheld: allow UP603 because it is a sample\n");
    assert_eq!((codes(&allowed).len(), with(&allowed, &owned).findings.len()), (0, 0), "also where nobody asks");
    let loaded = loaded(&text);
    let unknown = LintWanted { require: vec!["TraficLog".to_owned()], ..LintWanted::default() };
    assert!(World::new(&loaded.snapshot, &options()).lint(&[], &unknown).is_err());
}
