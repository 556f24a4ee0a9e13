//! The newer endpoints, where no corpus shows what they do.

use serde_json::{Value as Json, json};
use upheld_engine::Snapshot;

use super::inspect;
use crate::kuma::testing::{snapshot_of, with};

/// Kinds as those that are built in, which are YAML.
fn kinds(edition: &str) -> Vec<Json> {
    let rank = json!(["target-kind", "target-detail", "origin", "gateway-tags", "role", "name", "identity", "item"]);
    let item_rank = json!([
        "target-kind",
        "target-detail",
        "origin",
        "role",
        "item-kind",
        "item-section",
        "name",
        "identity",
        "item"
    ]);
    let kind = |name: &str, position: u32, matches: Json| {
        json!({
            "kind": "PolicyKind", "name": name, "semantics": edition, "family": "merge", "match": matches,
            "rank": rank, "resolve": {"depth": "deep", "nulls": "ignore"}, "position": position,
        })
    };
    let to = json!({"field": "to", "of": "resources", "payload": "default", "rank": item_rank});
    let services = json!({"field": "to", "of": "services", "payload": "default"});
    let clients = json!({"field": "from", "of": "clients", "payload": "default"});
    let callers_rank =
        json!(["caller-match", "target-kind", "target-detail", "origin", "role", "name", "identity", "item"]);
    let inbound = json!({"field": "rules", "of": "inbound", "payload": "default", "rank": callers_rank});
    let timeout = if edition == "kuma/3" { json!([to, inbound]) } else { json!([to, services, clients, inbound]) };
    let route = json!([with(to.clone(), &json!({"payload": "*"}))]);
    vec![
        kind("MeshHTTPRoute", 100, route),
        kind("MeshTimeout", 1000, timeout),
        kind("MeshTrace", 700, json!([{"field": "default", "of": "proxy"}])),
    ]
}

fn world(edition: &str, documents: &[Json]) -> Snapshot {
    let all: Vec<Json> = kinds(edition).into_iter().chain(documents.iter().cloned()).collect();
    snapshot_of(edition, &all)
}

fn mesh(mode: &str) -> Json {
    json!({"type": "Mesh", "name": "default", "meshServices": {"mode": mode}})
}

fn proxy(name: &str) -> Json {
    json!({"type": "Dataplane", "name": name, "labels": {"kuma.io/zone": "east"}, "networking": {
        "address": "10.0.0.1",
        "inbound": [
            {"port": 90, "tags": {"kuma.io/service": "web"}},
            {"port": 80, "name": "main", "tags": {"kuma.io/service": "web", "version": "1"}},
        ],
    }})
}

fn service(name: &str, ports: &Json) -> Json {
    json!({"type": "MeshService", "name": name, "labels": {"kuma.io/zone": "east"}, "spec": {"ports": ports}})
}

fn timeout(name: &str, spec: &Json) -> Json {
    json!({"type": "MeshTimeout", "name": name, "spec": spec})
}

fn body(snapshot: &Snapshot, path: &str) -> Json {
    inspect(snapshot, &format!("/meshes/default/{path}")).unwrap()
}

/// Status, title and detail of an error.
fn refused(snapshot: &Snapshot, path: &str) -> (u16, String, String) {
    let problem = inspect(snapshot, path).unwrap_err();
    let body = problem.body();
    assert_eq!((&body["type"], &body["details"]), (&json!("/std-errors"), &body["detail"]));
    assert_eq!(body["status"], problem.status());
    let text = |field: &str| body[field].as_str().unwrap().to_owned();
    (problem.status(), text("title"), text("detail"))
}

#[test]
fn every_key_of_a_rule_is_there() {
    let documents = [
        mesh("Disabled"),
        proxy("web-1"),
        timeout("t", &json!({"from": [{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "1s"}}]})),
    ];
    let keys = |edition: &str, documents: &[Json]| {
        let rules = body(&world(edition, documents), "dataplanes/web-1/_rules");
        rules["rules"][0].as_object().unwrap().keys().map(String::clone).collect::<Vec<_>>()
    };
    let v2 = ["type", "toRules", "toResourceRules", "fromRules", "inboundRules", "warnings"];
    assert_eq!(keys("kuma/2", &documents), v2);
    let rules = timeout("t", &json!({"rules": [{"default": {"idleTimeout": "1s"}}]}));
    let v3 = ["type", "toResourceRules", "inboundRules", "warnings"];
    assert_eq!(keys("kuma/3", &[mesh("Disabled"), proxy("web-1"), rules]), v3);
}

#[test]
fn inbounds_are_ordered_by_port_and_named_where_they_have_a_name() {
    let rules = json!({"rules": [
        {"default": {"idleTimeout": "1s"}},
        {"matches": [{"spiffeID": {"type": "Exact", "value": "spiffe://a"}}], "default": {"idleTimeout": "2s"}},
    ]});
    let snapshot = world("kuma/2", &[mesh("Disabled"), proxy("web-1"), timeout("t", &rules)]);
    let response = body(&snapshot, "dataplanes/web-1/_rules");
    let inbounds = &response["rules"][0]["inboundRules"];
    let main = json!({"name": "main", "port": 80, "tags": {"kuma.io/service": "web", "version": "1"}});
    assert_eq!(inbounds[0]["inbound"], main);
    assert_eq!(inbounds[1]["inbound"], json!({"port": 90, "tags": {"kuma.io/service": "web"}}));
    let callers = json!({"spiffeID": {"type": "Exact", "value": "spiffe://a"}});
    assert_eq!(inbounds[0]["rules"][0]["match"], callers);
    assert_eq!(inbounds[0]["rules"][0]["origin"][0]["ruleIndex"], 1);
    assert_eq!(inbounds[0]["rules"][1].get("match"), None);
}

#[test]
fn sections_of_one_service_are_ordered_by_name() {
    let item = |section: Option<&str>| {
        let target = json!({"kind": "MeshService", "name": "b", "sectionName": section});
        json!({"targetRef": target, "default": {"idleTimeout": "1s"}})
    };
    let documents = [
        mesh("Exclusive"),
        proxy("web-1"),
        service("b", &json!([{"port": 2, "name": "y"}, {"port": 1, "name": "x"}])),
        with(
            timeout("t", &json!({"to": [item(Some("y")), item(None), item(Some("x"))]})),
            &json!({"labels": {"kuma.io/zone": "east"}}),
        ),
    ];
    let response = body(&world("kuma/2", &documents), "dataplanes/web-1/_rules");
    let rules = response["rules"][0]["toResourceRules"].as_array().unwrap();
    let sections: Vec<&str> = rules.iter().map(|rule| rule["resourceSectionName"].as_str().unwrap()).collect();
    assert_eq!(sections, ["", "x", "y"]);
    let origin = rules[2]["origin"].as_array().unwrap();
    let indexes: Vec<i64> = origin.iter().map(|origin| origin["ruleIndex"].as_i64().unwrap()).collect();
    assert_eq!(indexes, [1, 0], "the lowest priority first");
}

#[test]
fn references_that_mean_nothing_are_warned_of_beside_rules() {
    let dangling = json!({
        "targetRef": {"kind": "MeshHTTPRoute", "name": "none"},
        "to": [{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "1s"}}],
    });
    let all = json!({"to": [{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "1s"}}]});
    let documents = [mesh("Disabled"), proxy("web-1"), timeout("lost", &dangling)];
    let rules = |documents: &[Json]| body(&world("kuma/2", documents), "dataplanes/web-1/_rules")["rules"].clone();
    assert_eq!(rules(&documents), json!([]), "warnings alone show nothing");
    let documents: Vec<Json> = documents.into_iter().chain([timeout("t", &all)]).collect();
    let warning = "unable to resolve TargetRef on policy: mesh:default name:lost \
                   error:\"couldn't resolve MeshHTTPRoute targetRef with name 'none'\"";
    assert_eq!(rules(&documents)[0]["warnings"], json!([warning]));
}

#[test]
fn proxies_are_listed_page_by_page() {
    let names = ["web-3", "web-1", "api-1", "web-2"];
    let all = timeout("all", &json!({}));
    let documents: Vec<Json> = names.iter().map(|name| proxy(name)).chain([mesh("Disabled"), all]).collect();
    let snapshot = world("kuma/2", &documents);
    let path = "meshtimeouts/all/_resources/dataplanes";
    let page = |query: &str| {
        let response = body(&snapshot, &format!("{path}?{query}"));
        let items = response["items"].as_array().unwrap().iter();
        let names: Vec<String> = items.map(|item| item["name"].as_str().unwrap().to_owned()).collect();
        (names.join(" "), response["total"].as_i64().unwrap(), response.get("next").cloned())
    };
    let next = |query: &str| Some(json!(format!("/meshes/default/{path}?{query}")));
    assert_eq!(page(""), ("web-3 web-1 api-1 web-2".to_owned(), 4, None));
    assert_eq!(page("size=2&name=web"), ("web-3 web-1".to_owned(), 3, next("name=web&offset=2&size=2")));
    assert_eq!(page("size=2&name=web&offset=2"), ("web-2".to_owned(), 3, None));
    assert_eq!(page("offset=9"), (String::new(), 4, None));
    let refused = |query: &str| refused(&snapshot, &format!("/meshes/default/{path}?{query}"));
    let expected = |detail: &str| (400, "Could not retrieve policy".to_owned(), detail.to_owned());
    assert_eq!(refused("size=x"), expected("Invalid page size"));
    assert_eq!(refused("size=1001"), expected("Invalid page size"));
    assert_eq!(refused("offset=x"), expected("Invalid offset"));
}

#[test]
fn errors_have_the_words_of_kuma() {
    let snapshot = world("kuma/2", &[mesh("Disabled"), proxy("web-1")]);
    let check = |path: &str, status: u16, title: &str, detail: &str| {
        assert_eq!(refused(&snapshot, path), (status, title.to_owned(), detail.to_owned()), "{path}");
    };
    let missing = |path: &str, title: &str| check(path, 404, title, "Not found");
    missing("/meshes/none/dataplanes/web-1/_rules", "Failed to retrieve Mesh");
    missing("/meshes/none/dataplanes/web-1/_policies", "Failed to retrieve Mesh");
    missing("/meshes/none/dataplanes/web-1/_layout", "Failed to build MeshContext");
    missing("/meshes/default/dataplanes/none/_rules", "Could not retrieve Dataplane");
    missing("/meshes/default/meshgateways/none/_rules", "Could not retrieve MeshGateway");
    missing("/meshes/default/meshtimeouts/none/_resources/dataplanes", "Could not retrieve policy");
    missing("/meshes/default/meshservices/none/_dataplanes", "Could not retrieve policy");
    let disabled = "bad request: can't use _policies endpoint without meshService enabled";
    check("/meshes/default/dataplanes/web-1/_outbounds/x/_routes", 400, "Bad Request", disabled);
    let exclusive = world("kuma/2", &[mesh("Exclusive"), proxy("web-1")]);
    let inbound = "/meshes/default/dataplanes/web-1/_inbounds/kri_dp_default_east__web-1_none/_policies";
    let expected = (500, "Failed building response".to_owned(), "Internal Server Error".to_owned());
    assert_eq!(refused(&exclusive, inbound), expected);
}

#[test]
fn an_inbound_without_a_name_is_found_by_its_port() {
    let rules =
        json!({"targetRef": {"kind": "Dataplane", "sectionName": "90"}, "rules": [{"default": {"idleTimeout": "1s"}}]});
    let snapshot = world("kuma/3", &[mesh("Disabled"), proxy("web-1"), timeout("t", &rules)]);
    let policies = |section: &str| {
        body(&snapshot, &format!("dataplanes/web-1/_inbounds/kri_dp_default_east__web-1_{section}/_policies"))
    };
    let kri = "kri_mt_default___t_";
    let expected = json!({"policies": [{
        "kind": "MeshTimeout", "rules": [{"conf": {"idleTimeout": "1s"}, "kri": kri}], "origins": [{"kri": kri}],
    }]});
    assert_eq!(policies("90"), expected);
    assert_eq!(policies("main"), json!({"policies": []}));
}

#[test]
fn policies_of_the_mesh_hold_for_what_does_not_exist() {
    let all = json!({"to": [{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "1s"}}]});
    let snapshot = world("kuma/3", &[mesh("Disabled"), proxy("web-1"), timeout("t", &all)]);
    let response = body(&snapshot, "dataplanes/web-1/_outbounds/kri_msvc_default_east__nobody_80/_policies");
    assert_eq!(response["policies"][0]["conf"], json!([{"idleTimeout": "1s"}]));
}

#[test]
fn a_policy_that_speaks_twice_about_one_service_is_an_origin_twice() {
    let item = |kind: &str| json!({"targetRef": {"kind": kind, "name": "b"}, "default": {"idleTimeout": "1s"}});
    let documents = [
        mesh("Exclusive"),
        proxy("web-1"),
        service("b", &json!([{"port": 80}])),
        with(
            timeout("t", &json!({"to": [item("MeshService"), item("MeshService")]})),
            &json!({"labels": {"kuma.io/zone": "east"}}),
        ),
    ];
    let kri = "kri_msvc_default_east__b_80";
    let response = body(&world("kuma/2", &documents), &format!("dataplanes/web-1/_outbounds/{kri}/_policies"));
    let origin = json!({"kri": "kri_mt_default_east__t_"});
    assert_eq!(response["policies"][0]["origins"], json!([origin, origin]));
}

#[test]
fn listeners_and_services_are_in_the_layout() {
    let listening = with(
        proxy("web-1"),
        &json!({"networking": {"address": "10.0.0.1", "listeners": [
            {"type": "ZoneIngress", "port": 10001}, {"type": "ZoneEgress", "port": 10002, "name": "out"},
        ]}}),
    );
    let external =
        json!({"type": "MeshExternalService", "name": "a", "spec": {"match": {"port": 443, "protocol": "tls"}}});
    let documents =
        [mesh("Disabled"), listening, service("b", &json!([{"port": 80}, {"port": 9, "name": "x"}])), external];
    let response = body(&world("kuma/3", &documents), "dataplanes/web-1/_layout");
    let listener = |section: &str, kind: &str, port: u32| {
        json!({
            "kri": format!("kri_dp_default_east__web-1_{section}"), "type": kind, "port": port,
            "proxyResourceName": format!("self_{}_dp_{section}", kind.to_lowercase()),
        })
    };
    assert_eq!(
        response["listeners"],
        json!([listener("10001", "ZoneIngress", 10001), listener("out", "ZoneEgress", 10002)])
    );
    let outbound = |kri: &str, port: u32, protocol: &str| json!({"kri": kri, "port": port, "protocol": protocol, "proxyResourceName": kri});
    let expected = json!([
        outbound("kri_extsvc_default___a_443", 443, "tls"),
        outbound("kri_msvc_default_east__b_80", 80, "tcp"),
        outbound("kri_msvc_default_east__b_x", 9, "tcp"),
    ]);
    assert_eq!(response["outbounds"], expected);
}

#[test]
fn the_identity_with_the_most_labels_counts() {
    let identity = |name: &str, labels: Json, ready: &str| {
        json!({
            "type": "MeshIdentity", "name": name, "labels": {"kuma.io/zone": name},
            "spec": {"selector": {"dataplane": {"matchLabels": labels}}},
            "status": {"conditions": [{"type": "Ready", "status": ready}]},
        })
    };
    let labelled = with(proxy("web-1"), &json!({"labels": {"app": "web", "kuma.io/workload": "w"}}));
    let id = |identities: [Json; 3]| {
        let documents: Vec<Json> = [mesh("Disabled"), labelled.clone()].into_iter().chain(identities).collect();
        body(&world("kuma/3", &documents), "dataplanes/web-1/_layout").get("spiffeId").cloned()
    };
    let all = |ready: &str| {
        [
            identity("a", json!({}), "True"),
            identity("c", json!({"app": "web"}), "True"),
            identity("b", json!({"app": "web"}), ready),
        ]
    };
    assert_eq!(id(all("True")), Some(json!("spiffe://default.b.mesh.local/workload/w")));
    assert_eq!(id(all("False")), None, "others do not step in");
}

#[test]
fn sidecars_with_the_tags_of_a_gateway_are_still_sidecars_for_a_policy() {
    let gateway = json!({
        "type": "MeshGateway", "name": "edge", "selectors": [{"match": {"kuma.io/service": "web"}}],
        "conf": {"listeners": [{"port": 8080}]},
    });
    let policy = timeout(
        "t",
        &json!({
            "targetRef": {"kind": "Dataplane"},
            "to": [{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "1s"}}],
        }),
    );
    let snapshot = world("kuma/2", &[mesh("Disabled"), proxy("web-1"), gateway, policy]);
    assert_eq!(body(&snapshot, "meshtimeouts/t/_resources/dataplanes")["total"], 1);
    assert_eq!(body(&snapshot, "dataplanes/web-1/_rules")["rules"], json!([]));
}

#[test]
fn the_older_list_of_rules_is_flat_and_by_name() {
    let calling = with(
        proxy("web-1"),
        &json!({"networking": {
            "address": "10.0.0.1",
            "inbound": [{"port": 80, "tags": {"kuma.io/service": "web"}}],
            "outbound": [{"port": 1, "tags": {"kuma.io/service": "b"}}, {"port": 2, "tags": {"kuma.io/service": "b"}}],
        }}),
    );
    let conf = |seconds: &str| json!({"idleTimeout": seconds});
    let policy = timeout(
        "t",
        &json!({
            "to": [{"targetRef": {"kind": "MeshService", "name": "b"}, "default": conf("1s")}],
            "from": [
                {"targetRef": {"kind": "Mesh"}, "default": conf("2s")},
                {"targetRef": {"kind": "MeshSubset", "tags": {"team": "a"}}, "default": conf("3s")},
            ],
        }),
    );
    let trace = json!({"type": "MeshTrace", "name": "tr", "spec": {"default": {"sampling": {"overall": 1}}}});
    let response = body(&world("kuma/2", &[mesh("Disabled"), calling, policy, trace]), "dataplanes/web-1/rules");
    let items = response["items"].as_array().unwrap();
    let line = |item: &Json| {
        let text = |field: &str| item.get(field).map_or_else(|| "-".to_owned(), Json::to_string);
        ["type", "name", "addresses", "subset", "conf"].map(text).join(" ")
    };
    let expected = [
        r#""SingleItem" - - {} {"sampling":{"overall":1}}"#,
        r#""DestinationSubset" "b" ["127.0.0.1:1","127.0.0.1:2"] {"kuma.io/service":"b"} {"idleTimeout":"1s"}"#,
        r#""ClientSubset" "web" ["10.0.0.1:80"] {"team":"a"} {"idleTimeout":"3s"}"#,
        r#""ClientSubset" "web" ["10.0.0.1:80"] {"team":"!a"} {"idleTimeout":"2s"}"#,
    ];
    assert_eq!(items.iter().map(line).collect::<Vec<_>>(), expected);
    assert_eq!(response["total"], 4);
    assert_eq!(items[1]["origins"], json!([{"mesh": "default", "name": "t"}]));
}
