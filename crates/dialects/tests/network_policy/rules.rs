//! Every rule of network policies, by name.

use serde_json::json;

use crate::world::{ask, may, namespace, pod, policy, read, reports, said, verdict, world};

#[test]
fn a_pod_that_no_policy_selects_is_reachable() {
    let loaded = world(&["podSelector: {matchLabels: {app: other}}"]);
    let reports = reports(&loaded, &json!({"from": "web", "to": "db", "port": 5432}));
    assert_eq!(
        said(&reports),
        ["egress of pod/a/web: permit by (default)", "ingress of pod/a/db: permit by (default)"]
    );
}

#[test]
fn a_pod_that_a_policy_selects_is_isolated() {
    let loaded = world(&["podSelector: {matchLabels: {app: db}}"]);
    let answers = reports(&loaded, &json!({"from": "web", "to": "db", "port": 5432}));
    assert_eq!(said(&answers), ["egress of pod/a/web: permit by (default)", "ingress of pod/a/db: deny by a/p0"]);
    assert_eq!(may(&loaded, "db", "web", 80), "permit", "others are not");
}

#[test]
fn a_policy_selects_pods_of_its_own_namespace_only() {
    let loaded = world(&["podSelector: {}"]);
    assert_eq!([may(&loaded, "web", "db", 1), may(&loaded, "web", "far", 1)], ["deny", "permit"]);
}

#[test]
fn an_empty_or_missing_pod_selector_selects_all_pods_of_the_namespace() {
    for spec in ["podSelector: {}", "policyTypes: [Ingress]", "podSelector: {matchLabels: {}, matchExpressions: []}"] {
        let loaded = world(&[spec]);
        assert_eq!([may(&loaded, "far", "db", 1), may(&loaded, "far", "web", 1)], ["deny", "deny"], "{spec}");
    }
}

#[test]
fn every_operator_of_selectors() {
    for (expression, web, db) in [
        ("{key: app, operator: In, values: [web, x]}", "deny", "permit"),
        ("{key: app, operator: NotIn, values: [web, x]}", "permit", "deny"),
        ("{key: tier, operator: NotIn, values: [x]}", "deny", "deny"),
        ("{key: tier, operator: NotIn, values: [front]}", "permit", "deny"),
        ("{key: tier, operator: Exists}", "deny", "permit"),
        ("{key: tier, operator: DoesNotExist}", "permit", "deny"),
        ("{key: app, operator: Exists}, {key: tier, operator: DoesNotExist}", "permit", "deny"),
    ] {
        let loaded = world(&[&format!("podSelector: {{matchExpressions: [{expression}]}}")]);
        assert_eq!([may(&loaded, "far", "web", 1), may(&loaded, "far", "db", 1)], [web, db], "{expression}");
    }
}

#[test]
fn missing_and_empty_peers_are_everybody() {
    for rule in ["{}", "{from: []}", "{from: null}", "{from: null, ports: []}"] {
        let loaded = world(&[&format!("podSelector: {{}}, ingress: [{rule}]")]);
        assert_eq!(may(&loaded, "far", "db", 1), "permit", "{rule}");
        assert_eq!(may(&loaded, "203.0.113.7", "db", 1), "permit", "{rule}");
    }
    for rules in ["[]", "null"] {
        let loaded = world(&[&format!("podSelector: {{}}, ingress: {rules}")]);
        assert_eq!(may(&loaded, "far", "db", 1), "deny", "no rule permits nobody");
    }
}

#[test]
fn a_pod_selector_alone_means_pods_of_the_own_namespace() {
    let loaded = world(&["podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {app: web}}}]}]"]);
    assert_eq!([may(&loaded, "a/web", "db", 1), may(&loaded, "far", "db", 1)], ["permit", "deny"]);
    assert_eq!(may(&loaded, "203.0.113.7", "db", 1), "deny");
}

#[test]
fn a_namespace_selector_alone_means_all_pods_of_these_namespaces() {
    let loaded = world(&["podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {team: two}}}]}]"]);
    assert_eq!([may(&loaded, "far", "db", 1), may(&loaded, "web", "db", 1)], ["permit", "deny"]);
    let loaded = world(&["podSelector: {}, ingress: [{from: [{namespaceSelector: {}}]}]"]);
    assert_eq!([may(&loaded, "far", "db", 1), may(&loaded, "web", "db", 1)], ["permit", "permit"]);
    assert_eq!(may(&loaded, "203.0.113.7", "db", 1), "deny", "addresses are in no namespace");
}

#[test]
fn both_selectors_of_a_peer_must_hold_and_one_of_several_peers() {
    let both = "{namespaceSelector: {matchLabels: {team: one}}, podSelector: {matchLabels: {app: web}}}";
    let loaded = world(&[&format!("podSelector: {{}}, ingress: [{{from: [{both}]}}]")]);
    assert_eq!([may(&loaded, "web", "db", 1), may(&loaded, "far", "db", 1)], ["permit", "deny"]);
    let either = "{namespaceSelector: {matchLabels: {team: two}}}, {podSelector: {matchLabels: {app: web}}}";
    let loaded = world(&[&format!("podSelector: {{}}, ingress: [{{from: [{either}]}}]")]);
    assert_eq!([may(&loaded, "web", "db", 1), may(&loaded, "far", "db", 1)], ["permit", "permit"]);
}

#[test]
fn a_selector_that_wants_labels_away_means_pods_all_the_same() {
    let absent = "{namespaceSelector: {matchExpressions: [{key: x, operator: DoesNotExist}]}}";
    let loaded = world(&[&format!("podSelector: {{}}, ingress: [{{from: [{absent}]}}]")]);
    assert_eq!([may(&loaded, "far", "db", 1), may(&loaded, "203.0.113.7", "db", 1)], ["permit", "deny"]);
}

#[test]
fn every_namespace_has_its_name_as_a_label() {
    let by_name = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: b}}}";
    let spec = format!("podSelector: {{}}, ingress: [{{from: [{by_name}]}}]");
    let loaded = world(&[&spec]);
    assert_eq!([may(&loaded, "far", "db", 1), may(&loaded, "web", "db", 1)], ["permit", "deny"]);
    let undescribed = read(&[pod("web", "b", ""), pod("db", "a", ""), policy("p", &spec)].concat());
    assert_eq!(may(&undescribed, "web", "db", 1), "permit");
}

#[test]
fn other_labels_of_a_namespace_that_nobody_described_are_unknown() {
    let spec = "podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {team: two}}}]}]";
    let text = [pod("web", "b", ""), pod("db", "a", ""), policy("p", spec)].concat();
    let answers = reports(&read(&text), &json!({"from": "web", "to": "db", "port": 1}));
    assert_eq!(verdict(&answers), "undecided");
    let headline = &answers.last().unwrap().headline.text;
    assert!(headline.contains("source namespace label team: wants two, its value is not known"), "{headline}");
    for (labels, expected) in [("team: two", "permit"), ("team: one", "deny"), ("", "deny")] {
        assert_eq!(may(&read(&(text.clone() + &namespace("b", labels))), "web", "db", 1), expected, "{labels}");
    }
}

#[test]
fn blocks_of_addresses_with_exceptions() {
    let block = "{ipBlock: {cidr: 203.0.113.0/24, except: [203.0.113.64/26, 203.0.113.7/32]}}";
    let loaded = world(&[&format!("podSelector: {{}}, ingress: [{{from: [{block}]}}]")]);
    for (address, expected) in [
        ("203.0.113.8", "permit"),
        ("203.0.113.7", "deny"),
        ("203.0.113.65", "deny"),
        ("198.51.100.1", "deny"),
        ("2001:db8::1", "deny"),
        ("::ffff:203.0.113.8", "permit"),
    ] {
        assert_eq!(may(&loaded, address, "db", 1), expected, "{address}");
    }
    assert_eq!(may(&loaded, "web", "db", 1), "undecided", "whether blocks cover pods is not defined");
    let loaded =
        world(&["podSelector: {}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: '2001:db8::/32'}}]}]"]);
    assert_eq!([may(&loaded, "db", "2001:db8::1", 1), may(&loaded, "db", "2001:db9::1", 1)], ["permit", "deny"]);
}

#[test]
fn ports_by_number_range_and_protocol() {
    let loaded = world(&["podSelector: {}, ingress: [{ports: [{port: 80}, {port: 8000, endPort: 8010}]}]"]);
    for (port, expected) in
        [(80, "permit"), (81, "deny"), (7999, "deny"), (8000, "permit"), (8010, "permit"), (8011, "deny")]
    {
        assert_eq!(may(&loaded, "web", "db", port), expected, "{port}");
    }
    let loaded = world(&["podSelector: {}, ingress: [{ports: [{protocol: UDP, port: 53}, {protocol: SCTP}]}]"]);
    for (protocol, port, expected) in [
        (Some("UDP"), 53, "permit"),
        (Some("udp"), 54, "deny"),
        (None, 53, "deny"),
        (Some("TCP"), 53, "deny"),
        (Some("SCTP"), 9, "permit"),
    ] {
        let answers = reports(&loaded, &json!({"from": "web", "to": "db", "port": port, "protocol": protocol}));
        assert_eq!(verdict(&answers), expected, "{protocol:?} {port}");
    }
}

#[test]
fn missing_and_empty_ports_are_all_ports() {
    for rule in ["{ports: []}", "{ports: null}", "{from: [{podSelector: {}}]}"] {
        let loaded = world(&[&format!("podSelector: {{}}, ingress: [{rule}]")]);
        assert_eq!(may(&loaded, "web", "db", 4711), "permit", "{rule}");
    }
}

#[test]
fn a_port_by_name_is_a_container_port_of_the_called_pod() {
    let containers = "{ports: [{name: sql, containerPort: 5432}, {name: dns, containerPort: 53, protocol: UDP}]}";
    let sidecars = "{restartPolicy: Always, ports: [{name: side, containerPort: 15000}]}, {ports: [{name: once, containerPort: 1}]}";
    let spec = format!("spec: {{containers: [{containers}], initContainers: [{sidecars}]}}");
    let db = format!("---\n{{apiVersion: v1, kind: Pod, metadata: {{name: db, namespace: a}}, {spec}}}\n");
    let with = |rules: &str| read(&[pod("web", "a", "app: web"), db.clone(), policy("p", rules)].concat());
    let loaded = with("podSelector: {}, ingress: [{ports: [{port: sql}, {port: dns}, {port: side}, {port: once}]}]");
    for (port, expected) in [(5432, "permit"), (5433, "deny"), (53, "deny"), (15000, "permit"), (1, "deny")] {
        assert_eq!(may(&loaded, "web", "db", port), expected, "{port}");
    }
    assert_eq!(may(&loaded, "db", "web", 5432), "deny", "web has no port of that name");
    let loaded = with("podSelector: {}, ingress: [{ports: [{port: dns, protocol: UDP}]}]");
    let udp = |port: u16| reports(&loaded, &json!({"from": "web", "to": "db", "port": port, "protocol": "UDP"}));
    assert_eq!([verdict(&udp(53)), verdict(&udp(54))], ["permit", "deny"]);
    // Also for what leaves: the name is looked up at the pod that is called.
    let loaded = with("podSelector: {}, policyTypes: [Egress], egress: [{ports: [{port: sql}]}]");
    assert_eq!([may(&loaded, "web", "db", 5432), may(&loaded, "db", "web", 5432)], ["permit", "deny"]);
    assert_eq!(may(&loaded, "web", "203.0.113.7", 5432), "deny", "outside of the cluster ports have no names");
    let nobody = reports(&loaded, &json!({"from": "web", "to": "a/app=new", "port": 5432}));
    assert_eq!(verdict(&nobody), "undecided", "whose ports nobody described");
}

#[test]
fn directions_that_are_not_stated_follow_from_the_rules() {
    for (spec, egress, ingress) in [
        ("podSelector: {}", "permit", "deny"),
        ("podSelector: {}, egress: []", "permit", "deny"),
        ("podSelector: {}, egress: [{to: [{ipBlock: {cidr: 192.0.2.0/24}}]}]", "deny", "deny"),
        ("podSelector: {}, policyTypes: []", "permit", "deny"),
        ("podSelector: {}, policyTypes: [Ingress]", "permit", "deny"),
        ("podSelector: {}, policyTypes: [Egress]", "deny", "permit"),
        ("podSelector: {}, policyTypes: [Egress], ingress: [{ports: [{port: 9}]}]", "deny", "permit"),
        ("podSelector: {}, policyTypes: [Ingress, Egress]", "deny", "deny"),
    ] {
        let loaded = world(&[spec]);
        let out = may(&loaded, "db", "203.0.113.7", 1);
        assert_eq!([out, may(&loaded, "203.0.113.7", "db", 1)], [egress, ingress], "{spec}");
    }
}

#[test]
fn both_ends_must_agree() {
    let out = "podSelector: {matchLabels: {app: web}}, policyTypes: [Egress], egress: [{to: [{podSelector: {matchLabels: {app: db}}}]}]";
    let into = "podSelector: {matchLabels: {app: db}}, ingress: [{from: [{podSelector: {matchLabels: {app: web}}}]}]";
    let closed_out = "podSelector: {matchLabels: {app: web}}, policyTypes: [Egress]";
    let closed_in = "podSelector: {matchLabels: {app: db}}";
    for (specs, expected) in [
        ([out, into], "permit"),
        ([closed_out, into], "deny"),
        ([out, closed_in], "deny"),
        ([closed_out, closed_in], "deny"),
    ] {
        assert_eq!(may(&world(&specs), "web", "db", 1), expected, "{specs:?}");
    }
    for (specs, expected) in [
        ([out, into], "is allowed"),
        ([out, closed_in], "is refused, because of ingress of pod/a/db"),
        ([closed_out, closed_in], "is refused, because of egress of pod/a/web and ingress of pod/a/db"),
    ] {
        let answer = ask(&world(&specs), &json!({"from": "web", "to": "db", "port": 1})).unwrap();
        assert_eq!(answer.notes, [format!("note: pod/a/web → pod/a/db on TCP 1 {expected}")]);
    }
}

#[test]
fn policies_add_up_and_their_order_does_not_matter() {
    let closed = "podSelector: {}";
    let open = "podSelector: {matchLabels: {app: db}}, ingress: [{ports: [{port: 9}]}, {from: [{podSelector: {}}]}]";
    for specs in [[closed, open], [open, closed]] {
        let loaded = world(&specs);
        assert_eq!(
            [may(&loaded, "web", "db", 1), may(&loaded, "far", "db", 9), may(&loaded, "far", "db", 1)],
            ["permit", "permit", "deny"]
        );
    }
    let loaded = world(&[closed, open]);
    let answers = reports(&loaded, &json!({"from": "web", "to": "db", "port": 1}));
    assert_eq!(said(&answers)[1], "ingress of pod/a/db: permit by a/p1[1]");
}

#[test]
fn without_a_port_nothing_is_guessed() {
    let loaded = world(&["podSelector: {}, ingress: [{ports: [{port: 80}]}]"]);
    let words = json!({"from": "web", "to": "db"});
    assert_eq!(verdict(&reports(&loaded, &words)), "undecided");
    let notes = ask(&loaded, &words).unwrap().notes;
    assert_eq!(notes.len(), 2);
    assert!(notes[1].ends_with("add `--port`; of the TCP ports that policies and pods name, open are 80"), "{notes:?}");
    let loaded = world(&["podSelector: {}, ingress: [{from: [{podSelector: {}}]}]"]);
    let answer = ask(&loaded, &words).unwrap();
    assert_eq!((verdict(&answer.reports), answer.notes.len()), ("permit", 1), "no rule asks for a port");
}

#[test]
fn a_pod_alone_has_what_may_leave_it_and_what_may_come() {
    let loaded =
        world(&["podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {app: web}}}], ports: [{port: 80}]}]"]);
    let answers = reports(&loaded, &json!({"what": "pod/a/db"}));
    assert_eq!(
        said(&answers),
        ["egress of pod/a/db: permit by (default)", "ingress of pod/a/db: undecided by (undecided)"]
    );
    let names: Vec<&str> = answers[1].candidates.iter().map(|candidate| candidate.policy.as_str()).collect();
    assert_eq!(names.len(), 2);
    assert!(names.contains(&"a/p0") && names.contains(&"a/p0[0]"));
    let one = |words| said(&reports(&loaded, &words));
    assert_eq!(one(json!({"from": "far"})), ["egress of pod/b/far: permit by (default)"]);
    assert_eq!(one(json!({"to": "far"})), ["ingress of pod/b/far: permit by (default)"]);
}

#[test]
fn a_copy_of_the_kind_answers_alike() {
    let kind = include_str!("../../src/network_policy/kinds/network-policy.yaml");
    let copy = kind.replace("name: NetworkPolicy\n", "name: Copy\ngoverns: NetworkPolicy\n");
    let text = [
        pod("web", "a", "app: web"),
        pod("db", "a", "app: db"),
        policy("p", "podSelector: {matchLabels: {app: db}}, ingress: [{ports: [{port: 80}]}]"),
        format!("---\n{copy}"),
    ];
    let loaded = read(&text.concat());
    for port in [80, 81] {
        let of = |kind: &str| {
            let mut answers = reports(&loaded, &json!({"from": "web", "to": "db", "port": port, "kind": kind}));
            for report in &mut answers {
                report.kind.clear();
            }
            serde_json::to_value(&answers).unwrap()
        };
        assert_eq!(of("NetworkPolicy"), of("copy"));
        assert_eq!(
            reports(&loaded, &json!({"from": "web", "to": "db", "port": port})).len(),
            4,
            "one for each kind and end"
        );
    }
}

#[test]
fn reasons_say_what_a_rule_wants_and_what_there_is() {
    let rule = "{from: [{podSelector: {matchLabels: {app: api}}}], ports: [{port: 80}, {port: 443}]}";
    let loaded = world(&[&format!("podSelector: {{matchLabels: {{app: db}}}}, ingress: [{rule}]")]);
    let because = |from: &str, port: u16| {
        let answers = reports(&loaded, &json!({"from": from, "to": "db", "port": port}));
        let rule = answers.last().unwrap().candidates.iter().find(|candidate| candidate.policy == "a/p0[0]").unwrap();
        let misses = rule.facts.iter().flat_map(|fact| &fact.misses).map(|miss| miss.text.clone());
        misses.collect::<Vec<_>>()
    };
    assert_eq!(because("web", 5432), ["source label app: wants api, has web", "port: wants 80, 443, has 5432"]);
    assert_eq!(
        because("203.0.113.7", 80),
        ["source namespace: wants a, has none", "source label app: wants api, has none"]
    );
}
