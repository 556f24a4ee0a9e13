//! Built-in gateways of Kuma 2.

use super::world::{CLIQUES, V2, V3, WEB, World, timeout};

const EDGE: &str = "
type: Dataplane
name: edge
labels: {kuma.io/zone: east}
networking:
  address: 10.0.0.9
  gateway: {type: BUILTIN, tags: {kuma.io/service: edge, from: proxy}}
";

fn gateway(name: &str, labels: &str, selector: &str) -> String {
    format!(
        "type: MeshGateway\nname: {name}\nlabels: {{{labels}}}\nselectors: [{{match: {{{selector}}}}}]\n\
         tags: {{from: gateway, of: {name}}}\n\
         conf: {{listeners: [{{port: 80, tags: {{from: listener}}}}, {{port: 443, hostname: a.com}}, \
         {{port: 443, hostname: b.com, tags: {{host: b}}}}]}}"
    )
}

fn hostnames(world: &World) -> Vec<String> {
    let rules = world.rules("MeshTimeout");
    let listed = rules.by_hostname(world.proxy(), &rules.matched(world.proxy()));
    let names = |slots: &[u32]| slots.iter().map(|slot| format!(" {}", world.name(&rules, *slot))).collect::<String>();
    listed.iter().map(|(listener, slots)| format!("{listener}{}", names(slots))).collect()
}

#[test]
fn listeners_have_tags_of_proxy_gateway_and_listener() {
    let on = |top: &str| {
        let world = World::new(V2, &[EDGE, &gateway("gw", "", "kuma.io/service: edge"), &timeout("t", "", top)]);
        (world.listeners("MeshTimeout"), hostnames(&world))
    };
    let all = || vec!["10.0.0.9:80 t".to_owned(), "10.0.0.9:443 t".to_owned()];
    let hosts =
        || vec!["10.0.0.9:80:* t".to_owned(), "10.0.0.9:443:a.com t".to_owned(), "10.0.0.9:443:b.com t".to_owned()];
    assert_eq!(on("kind: Mesh"), (all(), hosts()));
    assert_eq!(on("kind: MeshService, name: edge"), (all(), hosts()));
    assert_eq!(on("kind: MeshGateway, name: gw"), (all(), hosts()));
    assert_eq!(on("kind: MeshSubset, tags: {from: listener}").0, ["10.0.0.9:80 t"]);
    assert_eq!(on("kind: MeshSubset, tags: {from: gateway}").0, ["10.0.0.9:443 t"]);
    assert_eq!(on("kind: MeshGateway, name: gw, tags: {host: b}"), (all()[1..].to_vec(), hosts()[2..].to_vec()));
    assert_eq!(on("kind: MeshGateway, name: other").0, [""; 0]);
    assert_eq!(on("kind: Dataplane").0, [""; 0]);
}

#[test]
fn without_a_gateway_nothing_is_attached() {
    for top in ["kind: Mesh", "kind: Dataplane", "kind: MeshGateway, name: gw", "kind: MeshService, name: edge"] {
        assert_eq!(World::new(V2, &[EDGE, &timeout("t", "", top)]).matched("MeshTimeout"), [""; 0], "{top}");
    }
}

#[test]
fn the_best_selector_wins_among_gateways_of_the_zone() {
    let (exact, any) = ("kuma.io/service: edge", "kuma.io/service: '*'");
    let serves = |gateways: &[String]| {
        let policies = ["a", "b"].map(|name| timeout(name, "", &format!("kind: MeshGateway, name: {name}")));
        let documents: Vec<&str> = std::iter::once(EDGE)
            .chain(gateways.iter().map(String::as_str))
            .chain(policies.iter().map(String::as_str))
            .collect();
        World::new(V2, &documents).matched("MeshTimeout")
    };
    assert_eq!(serves(&[gateway("a", "", any), gateway("b", "", exact)]), ["b"]);
    assert_eq!(serves(&[gateway("b", "", exact), gateway("a", "", exact)]), ["a"]);
    let west = "kuma.io/origin: zone, kuma.io/zone: west";
    assert_eq!(serves(&[gateway("a", "", any), gateway("b", west, exact)]), ["a"]);
    assert_eq!(
        serves(&[gateway("a", "", any), gateway("b", "kuma.io/origin: global, kuma.io/zone: west", exact)]),
        ["b"]
    );
}

#[test]
fn a_sidecar_that_a_gateway_selects_counts_as_one() {
    let catching = gateway("gw", "", "kuma.io/service: web");
    let world = World::new(V2, &[WEB, &catching, &timeout("t", "", "kind: Dataplane")]);
    assert_eq!(world.matched("MeshTimeout"), [""; 0]);
    let world = World::new(V2, &[WEB, &catching, &timeout("t", "", "kind: MeshGateway, name: gw")]);
    assert_eq!(world.matched("MeshTimeout"), [""; 0]);
    let world = World::new(V3, &[WEB, &catching, &timeout("t", "", "kind: Dataplane")]);
    assert_eq!(world.matched("MeshTimeout"), ["t"]);
}

#[test]
fn the_zone_of_the_gateway_counts() {
    let gateway = gateway("gw", "kuma.io/origin: zone, kuma.io/zone: east", "kuma.io/service: edge");
    let matched = |zone: &str| {
        let labels = format!("kuma.io/origin: zone, kuma.io/zone: {zone}");
        World::new(V2, &[EDGE, &gateway, &timeout("t", &labels, "kind: Mesh")]).matched("MeshTimeout")
    };
    assert_eq!((matched("east"), matched("west")), (vec!["t".to_owned()], Vec::new()));
}

#[test]
fn more_tags_of_a_gateway_count_before_the_role_and_only_late_releases_forget_to_sort() {
    let (two, one) =
        ("kind: MeshGateway, name: gw, tags: {of: gw, from: gateway}", "kind: MeshGateway, name: gw, tags: {of: gw}");
    let policies = [timeout("a", "", two), timeout("b", "kuma.io/policy-role: producer", one)];
    let gateway = gateway("gw", "", "kuma.io/service: edge");
    let world = |edition| World::new(edition, &[EDGE, &gateway, &policies[0], &policies[1]]);
    assert_eq!(world(V2).matched("MeshTimeout"), ["b", "a"]);
    assert_eq!(hostnames(&world(V2))[1], "10.0.0.9:443:a.com b a");
    assert_eq!(hostnames(&world(CLIQUES))[1], "10.0.0.9:443:a.com a b");
}
