//! Commands as users type them, with all that they print.

use crate::support::{in_root, root, run, shown, snapshot, upheld};

/// Runs a line in the root of the project and compares all that it printed.
macro_rules! command {
    ($name:ident, $line:literal) => {
        snapshot!("", $name, in_root($line), from $line);
    };
}

// The first mock of the interaction design: one kind, every candidate.
command!(explain_one_kind, "explain -f examples/demo --kind TrafficLog --from web-1 --to backend-1");
// The second mock: all kinds, a line each.
command!(explain_all_kinds, "explain -f examples/demo --from web-1 --to backend-1");
command!(explain_wide, "explain -f examples/demo --kind HealthCheck --from web-1 --to backend-1 -o wide");
command!(
    explain_verbose_shows_the_default,
    "explain -f examples/demo --kind TrafficLog --from web-1 --to backend-1 -v"
);
command!(explain_json, "explain -f examples/demo --kind TrafficLog --from web-1 --to backend-1 -o json");
command!(explain_yaml, "explain -f examples/demo --kind Retry --from web-1 --to backend -o yaml");
command!(explain_jsonl, "explain -f examples/demo --from web-1 --to backend -o jsonl");
command!(explain_names, "explain -f examples/demo --from web-1 --to backend -o name");
command!(explain_field, "explain -f examples/demo --kind TrafficLog --from web-1 --to backend-1 --field backend");
command!(explain_ascii, "explain -f examples/demo --from web-1 --to backend-1 --ascii");
command!(explain_tie, "explain -f examples/demo --kind HealthCheck --from web-1 --to backend-1");
command!(explain_nothing_matches, "explain -f examples/demo --kind Retry --from web-1 --to backend-1");
command!(explain_no_policy_of_the_kind, "explain -f examples/demo --kind Timeout --from web-1 --to backend-1");
command!(explain_grants_add_up, "explain -f examples/demo --kind TrafficPermission --from web-1 --to backend-1");
command!(explain_who_may_call, "explain -f examples/demo --kind TrafficPermission --to backend-1");
command!(
    explain_one_permission_in_0_4,
    "explain -f examples/demo --kind TrafficPermission --from web-2 --to backend-1 --semantics kuma/0.4"
);
command!(explain_service_to_service, "explain -f examples/demo --kind TrafficLog --from web --to backend");
command!(explain_agreeing_group, "explain -f examples/demo --kind TrafficLog --from api --to backend");
command!(
    explain_free_tags,
    "explain -f examples/demo --kind TrafficLog --from kuma.io/service=web,cloud=aws,region=us --to backend"
);
command!(
    explain_unknown_tag,
    "explain -f examples/demo --kind TrafficLog --from kuma.io/service=web,cloud=?,region=us --to backend"
);
command!(explain_external_service, "explain -f examples/demo --kind TrafficLog --from web-1 --to payments");
command!(explain_inbound, "explain -f examples/demo --kind TrafficLog --from web-1 --to 'backend-1#9090'");
command!(explain_proxy_alone, "explain -f examples/demo web-1");
command!(explain_all_pairs, "explain -f examples/demo --kind TrafficLog --all-pairs");
command!(explain_all_pairs_json, "explain -f examples/demo --kind TrafficLog --all-pairs -o json");
command!(explain_all_pairs_wide, "explain -f examples/demo --kind TrafficLog --all-pairs -o wide");
command!(explain_all_pairs_jsonl, "explain -f examples/demo --kind TrafficPermission --all-pairs -o jsonl");
command!(explain_own_kind, "explain -f examples/own-kind --kind CostCentre --from shop-1 --to mail");
command!(explain_layers_of_a_proxy, "explain -f examples/kuma-matching-real-resources dataplane/web-1");
command!(
    explain_layers_of_a_port,
    "explain -f examples/kuma-matching-real-resources dataplane/web-1 --to 'meshservice/backend#admin' --kind MeshTimeout"
);
command!(
    explain_layers_field,
    "explain -f examples/kuma-matching-real-resources dataplane/web-1 --to meshservice/backend --kind MeshTimeout --field http.requestTimeout"
);
command!(
    explain_layers_json,
    "explain -f examples/kuma-matching-real-resources dataplane/web-1 --to meshservice/redis --kind MeshTimeout -o json"
);
command!(
    explain_layers_for_a_caller,
    "explain -f examples/kuma-matching-real-resources dataplane/web-1 --from kuma.io/service=legacy --kind MeshTrafficPermission"
);
command!(
    explain_layers_for_an_unknown_caller,
    "explain -f examples/kuma-matching-real-resources dataplane/web-1 --from kuma.io/service=? --kind MeshTrafficPermission"
);
command!(explain_layers_between_proxies, "explain -f examples/kuma-matching-real-resources --from legacy-1 --to web-1");
command!(explain_layers_no_policy, "explain -f examples/kuma-matching-real-resources web-1 --kind MeshRetry");
command!(
    explain_layers_without_a_proxy,
    "explain -f examples/kuma-matching-real-resources --to meshservice/backend --kind MeshTimeout"
);
command!(
    explain_layers_unknown_port,
    "explain -f examples/kuma-matching-real-resources web-1 --to 'meshservice/backend#htttp'"
);
command!(explain_layers_all_pairs, "explain -f examples/kuma-matching-real-resources --kind MeshTimeout --all-pairs");
command!(explain_three_ends, "explain -f examples/kuma-matching-real-resources web-1 --from legacy-1 --to legacy");
command!(
    resolve_layers_field,
    "resolve -f examples/kuma-matching-real-resources web-1 --to meshservice/backend --kind MeshTimeout --field http.requestTimeout"
);
command!(
    resolve_layers_of_all_kinds,
    "resolve -f examples/kuma-matching-real-resources web-1 --to meshservice/backend"
);
command!(explain_without, "explain -f examples/demo --from web-1 --to backend-1 --kind HealthCheck --without hc-a");
command!(explain_without_nobody, "explain -f examples/demo --from web-1 --to backend-1 --without hc-aa");
command!(show_fields, "show -f examples/kuma-matching-real-resources MeshTimeout/mesh-defaults --fields");
command!(show_layers, "show -f examples/kuma-matching-real-resources MeshTimeout/backend");
command!(inspect_rules, "inspect -f examples/kuma-matching-real-resources /meshes/mesh-1/dataplanes/web-1/_rules");
command!(
    inspect_policy_dataplanes,
    "inspect -f examples/kuma-matching-real-resources /meshes/mesh-1/meshtimeouts/backend/_resources/dataplanes"
);
command!(inspect_nothing, "inspect -f examples/kuma-matching-real-resources /meshes/mesh-1/dataplanes/web-9/_rules");
command!(inspect_no_endpoint, "inspect -f examples/kuma-matching-real-resources /meshes/mesh-1/dataplanes/web-1/_rule");
// The mock of an effective configuration: three policies on one route.
command!(
    explain_gateway_rule,
    "explain -f examples/kgateway-policy-application-and-merging httproute/default/example-route#rule0 --kind TrafficPolicy"
);
command!(
    explain_gateway_field,
    "explain -f examples/kgateway-policy-application-and-merging httproute/default/example-route#rule0 --field cors"
);
command!(
    explain_gateway_request,
    "explain -f examples/kgateway-policy-application-and-merging --host shop.example --path /cart -o wide"
);
command!(
    explain_gateway_json,
    "explain -f examples/kgateway-policy-application-and-merging httproute/example-route -o json"
);
command!(
    explain_gateway_listener,
    "explain -f examples/kgateway-policy-application-and-merging gateway/example-gateway#http"
);
command!(explain_gateway_backend, "explain -f examples/kgateway-policy-application-and-merging backend/shop");
command!(
    explain_gateway_no_rule,
    "explain -f examples/kgateway-policy-application-and-merging httproute/example-route#rule1"
);
command!(
    explain_gateway_no_route,
    "explain -f examples/kgateway-policy-application-and-merging httproute/exmple-route"
);
command!(
    explain_gateway_no_host,
    "explain -f examples/kgateway-policy-application-and-merging --host shop.exmple --path /cart"
);
command!(
    explain_gateway_by_the_proposal,
    "explain -f examples/kgateway-policy-application-and-merging httproute/example-route --semantics kgateway/ep-11268"
);
command!(explain_declared_kind, "explain -f examples/own-gateway-kind httproute/shop --kind QuotaPolicy");
command!(
    explain_declared_kind_listener,
    "explain -f examples/own-gateway-kind gateway/edge#http --kind QuotaPolicy -o wide"
);
command!(explain_envoy_gateway, "explain -f examples/envoy-gateway httproute/shop --kind BackendTrafficPolicy");
command!(envoy_gateway_status, "status -f examples/envoy-gateway");
command!(gateway_status, "status -f examples/kgateway-policy-application-and-merging");
command!(gateway_status_json, "status -f examples/kgateway-policy-application-and-merging -o json");
command!(graph_dot, "graph -f examples/kgateway-policy-application-and-merging -o dot");
command!(graph_mermaid, "graph -f examples/kgateway-policy-application-and-merging -o mermaid");
command!(graph_svg, "graph -f examples/kgateway-policy-application-and-merging -o svg");
command!(explain_a_route_by_its_name, "explain example-route -f examples/kgateway-policy-application-and-merging");
command!(explain_nothing_of_gateways, "explain -f examples/kgateway-policy-application-and-merging");
command!(explain_a_project_by_its_name, "explain chekout -f examples/compliance");
command!(graph_of_nothing, "graph -f examples/access");
command!(drawing_without_a_graph, "list -f examples/demo -o svg");
command!(explain_typo_in_name, "explain -f examples/demo --kind TrafficLog --from wbe-1 --to backend-1");
command!(explain_typo_in_kind, "explain -f examples/demo --kind TraficLog --from web-1 --to backend-1");
command!(explain_incomplete, "explain -f examples/demo --kind TrafficLog --from web-1");
command!(explain_without_question, "explain -f examples/demo");
command!(explain_unknown_inbound, "explain -f examples/demo --kind TrafficLog --from web-1 --to 'backend-1#80'");
command!(explain_bad_tags, "explain -f examples/demo --kind TrafficLog --from kuma.io/service= --to backend");
command!(explain_unknown_semantics, "explain -f examples/demo --semantics kuma/0.5 --from web-1 --to backend-1");
command!(resolve_one, "resolve -f examples/demo --kind TrafficRoute --from web-1 --to backend-1");
command!(resolve_field, "resolve -f examples/demo --kind TrafficLog --from web-1 --to backend-1 --field backend");
command!(resolve_all_kinds_json, "resolve -f examples/demo --from web-1 --to backend-1 -o json");
command!(resolve_name, "resolve -f examples/demo --kind TrafficLog --from web-1 --to backend-1 -o name");
command!(resolve_default, "resolve -f examples/demo --kind Retry --from web-1 --to backend-1");
command!(
    resolve_missing_field,
    "resolve -f examples/demo --kind TrafficLog --from web-1 --to backend-1 --field bakend"
);
command!(
    resolve_undecided,
    "resolve -f examples/demo --kind TrafficLog --from kuma.io/service=web,cloud=?,region=us --to backend"
);
command!(
    resolve_refused,
    "resolve -f examples/demo --kind TrafficPermission --from web-2 --to backend-1 --semantics kuma/0.4"
);
command!(
    resolve_undecided_field,
    "resolve -f examples/demo --kind TrafficLog --from kuma.io/service=web,cloud=?,region=us --to backend --field backend"
);
command!(
    explain_undecided_field,
    "explain -f examples/demo --kind TrafficLog --from kuma.io/service=web,cloud=?,region=us --to backend --field backend"
);
command!(resolve_group_that_differs, "resolve -f examples/demo --kind TrafficLog --from web --to backend");
command!(list_everything, "list -f examples/demo");
command!(list_of_gateways_shows_namespaces_as_scopes, "list -f examples/kgateway-policy-application-and-merging");
command!(list_wide_with_ages, "list policies -f examples/demo -o wide --now 2025-03-01T12:00:00Z");
command!(
    list_wide_with_roles,
    "list policies -f examples/kuma-matching-real-resources -o wide --now 2025-03-01T12:00:00Z"
);
command!(list_services, "list services -f examples/demo");
command!(list_names, "list objects -f examples/demo -o name");
command!(list_unknown_type, "list -f examples/demo --kind Dataplan");
command!(show_policy, "show -f examples/demo web-to-backend-policy");
command!(show_object_json, "show -f examples/demo dataplane/backend-1 -o json");
command!(show_nothing, "show -f examples/demo web-to-backend-polic");
command!(kinds_list, "kinds -f builtin:demo");
command!(kinds_of_0_4, "kinds -f builtin:demo --semantics kuma/0.4 -o wide");
command!(kinds_show, "kinds -f builtin:demo show TrafficLog");
command!(kinds_show_layers, "kinds -f builtin:demo show MeshTimeout");
command!(schema_layers, "schema -f builtin:demo MeshTimeout");
command!(codes_list, "codes");
command!(codes_one, "codes UP010");
command!(codes_unknown, "codes UP0101");
command!(learn_list, "learn");
command!(learn_first_step, "learn select");
command!(learn_a_tie, "learn select --step 6");
command!(learn_last_step, "learn comply --step 3");
command!(learn_unknown, "learn selct");
command!(learn_beyond, "learn select --step 9");
command!(schema_one, "schema -f builtin:demo TrafficLog");
command!(schema_names, "schema -f builtin:demo -o name");
command!(schema_settings, "schema -f builtin:demo upheld.yaml");
command!(demo, "demo");
command!(help, "--help");
command!(help_explain, "explain --help");
command!(version_facts, "version -o name");
command!(missing_folder, "list -f example");
command!(unknown_command, "explian");

#[test]
fn every_format_of_every_answer_is_whole() {
    for format in ["json", "yaml", "jsonl", "name", "table", "wide"] {
        let line = format!("explain -f examples/demo --kind TrafficLog --from web-1 --to backend-1 -o {format}");
        let text = shown(&run(&root(), &line));
        assert!(text.contains("web-to-backend-policy"), "{format}: {text}");
    }
}

#[test]
fn manual_and_completion_are_printed() {
    assert!(shown(&run(&root(), "man")).contains(".TH upheld"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = shown(&run(&root(), &format!("completion {shell}")));
        assert!(text.starts_with("exit 0") && text.contains("upheld"), "{shell}: {text}");
    }
}

#[test]
fn completion_knows_names_from_the_files() {
    let folder = root().join("examples/demo");
    let complete = |words: &[&str]| {
        let mut command = upheld(&folder);
        command.env("COMPLETE", "fish").arg("--").arg("upheld").args(words);
        shown(&command.output().expect("the program starts"))
    };
    assert!(complete(&["explain", "--kind", "TrafficL"]).contains("TrafficLog"));
    assert!(complete(&["explain", "--from", "web"]).contains("web-1"));
    assert!(complete(&["show", "hc"]).contains("hc-a"));
}

#[test]
fn colour_only_where_it_is_wanted() {
    let line = "explain -f examples/demo --kind TrafficLog --from web-1 --to backend-1";
    let plain = shown(&run(&root(), line));
    assert!(!plain.contains('\x1b'), "piped output has no colour");
    let forced = shown(&run(&root(), &format!("{line} --color always")));
    assert!(forced.contains("\x1b[1m"), "{forced}");
    let mut command = upheld(&root());
    command.args(crate::support::words(line)).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
    let output = command.output().expect("the program starts");
    assert!(!shown(&output).contains("\x1b[3"), "NO_COLOR wins");
}

#[test]
fn a_connection_under_network_policies_resolves_to_whether_it_is_allowed_and_what_each_end_says() {
    let question = "resolve -f examples/network-policies --from api --to db --port 5432";
    let told = in_root(&format!("{question} -o json"));
    let text = told.split("--- stdout\n").nth(1).and_then(|rest| rest.split("--- stderr").next()).expect("is answered");
    let value: serde_json::Value = serde_json::from_str(text).expect("is JSON");
    assert_eq!(value["allowed"], true, "{told}");
    assert_eq!(value["decisions"].as_object().map(serde_json::Map::len), Some(2), "{told}");
    assert!(value["decisions"].as_object().expect("a map").values().all(|one| one["decision"] == "permit"), "{told}");
    let field = in_root(&format!("{question} --kind NetworkPolicy --field allowed"));
    assert!(field.starts_with("exit 0\n--- stdout\ntrue\n"), "{field}");
    let undecided = in_root("resolve -f examples/network-policies --from report --to db --port 5432");
    assert!(undecided.starts_with("exit 3\n--- stdout\nallowed: null\n"), "{undecided}");
}
