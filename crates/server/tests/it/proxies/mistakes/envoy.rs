//! External authorization of Envoy, over gRPC and over HTTP.

use serde_json::{Value as Json, json};
use upheld_loader::Format;
use upheld_model::SourceId;

use super::super::front::{ENVOY_GRPC, ENVOY_HTTP, Fronts};
use super::super::parts::Upstream;
use super::Expected::{Refuses, WorksBut};
use super::{Caught, Expected, NotSeen, Row, Servers, WORKS, hold};

/// What is changed in an example.
struct Change {
    example: &'static str,
    change: fn(&mut Parts),
}

/// The parts of an example that one configuration has for itself.
struct Parts {
    /// The settings of the connection manager.
    manager: Json,
    /// Where the questions go.
    cluster: Json,
}

impl Parts {
    fn authorization(&mut self) -> &mut Json {
        let filters = self.manager["http_filters"].as_array_mut().unwrap();
        let own = filters.iter_mut().find(|filter| filter["name"] == "envoy.filters.http.ext_authz").unwrap();
        &mut own["typed_config"]
    }

    fn prefix(&mut self, prefix: &str) {
        self.authorization()["http_service"]["path_prefix"] = prefix.into();
    }

    /// Which headers of clients are passed on.
    fn allow(&mut self, headers: &[&str]) {
        let patterns: Vec<Json> = headers.iter().map(|header| json!({"exact": header})).collect();
        self.authorization()["allowed_headers"] = json!({"patterns": patterns});
    }

    /// What the configuration of the route says.
    fn say(&mut self, name: &str, value: &str) {
        let host = &mut self.manager["route_config"]["virtual_hosts"][0];
        let route = &mut host["typed_per_filter_config"]["envoy.filters.http.ext_authz"];
        route["check_settings"]["context_extensions"][name] = value.into();
    }

    /// Paths go on as they came.
    fn keep_paths(&mut self) {
        let manager = self.manager.as_object_mut().unwrap();
        for name in ["normalize_path", "merge_slashes", "path_with_escaped_slashes_action"] {
            assert!(manager.remove(name).is_some(), "{name}");
        }
    }
}

const CALLS: &[&str] = &["peer=127.0.0.1"];
const CALLS_AND_HOPS: &[&str] = &["peer=127.0.0.1", "hops=1"];
const TWO_HOPS: &[&str] = &["peer=127.0.0.1", "hops=2"];
const ASKS: &[&str] = &["peer=127.0.0.1", "hops=1", "host-header=host", "headers=all"];
const ASKS_TWO_HOPS: &[&str] = &["peer=127.0.0.1", "hops=2", "host-header=host", "headers=all"];
const NOBODY: &[&str] = &[];

const fn calls(
    name: &'static str,
    change: fn(&mut Parts),
    trust: &'static [&'static str],
    expected: Expected,
) -> Row<Change> {
    Row { name, change: Change { example: ENVOY_GRPC, change }, trust, expected, forged: Caught }
}

const fn asks(
    name: &'static str,
    change: fn(&mut Parts),
    trust: &'static [&'static str],
    expected: Expected,
) -> Row<Change> {
    Row { name, change: Change { example: ENVOY_HTTP, change }, trust, expected, forged: Caught }
}

/// All that the policies look at.
fn all_headers(parts: &mut Parts) {
    parts.allow(&["x-evil", "x-forwarded-for", "x-forwarded-host"]);
    // The address of the client is added to X-Forwarded-For.
    parts.manager["use_remote_address"] = true.into();
}

const UNSEEN: &[&str] = &["/host/", "/address/", "/header/"];

const ROWS: &[Row<Change>] = &[
    calls("as it should be", |_| {}, CALLS, WORKS),
    calls("paths as they came", Parts::keep_paths, CALLS, WORKS),
    calls("merge_slashes off", |parts| parts.manager["merge_slashes"] = false.into(), CALLS, WORKS),
    calls(
        "escaped slashes become slashes",
        |parts| parts.manager["path_with_escaped_slashes_action"] = "UNESCAPE_AND_FORWARD".into(),
        CALLS,
        WORKS,
    ),
    calls("headers one by one", |parts| parts.authorization()["encode_raw_headers"] = true.into(), CALLS, WORKS),
    calls(
        "an address that is added, and one hop",
        |parts| parts.manager["use_remote_address"] = true.into(),
        CALLS_AND_HOPS,
        WORKS,
    ),
    calls("too many hops", |_| {}, TWO_HOPS, WorksBut(&["/address/"])),
    calls(
        "too many hops for an address that is added",
        |parts| parts.manager["use_remote_address"] = true.into(),
        TWO_HOPS,
        WorksBut(&["/address/"]),
    ),
    calls("nobody is believed", |_| {}, NOBODY, WORKS),
    calls(
        "some headers, and the route says so",
        |parts| {
            parts.allow(&["x-identity"]);
            parts.say("headers", "some");
        },
        CALLS,
        WorksBut(&["/header/"]),
    ),
    calls("a word for headers that is none", |parts| parts.say("headers", "som"), CALLS, Refuses("neither `all` nor")),
    calls("a kind that is none", |parts| parts.say("kind", "AcessPolicy"), CALLS, Refuses("no policy of the kind")),
    calls(
        "no HTTP/2 for gRPC",
        |parts| drop(parts.cluster.as_object_mut().unwrap().remove("typed_extension_protocol_options")),
        CALLS,
        Refuses("HTTP/1.1 503"),
    ),
    asks("as it should be", all_headers, ASKS, WORKS),
    asks(
        "paths as they came",
        |parts| {
            all_headers(parts);
            parts.keep_paths();
        },
        ASKS,
        WORKS,
    ),
    asks(
        "a slash behind the prefix",
        |parts| {
            all_headers(parts);
            parts.prefix("/forward-auth/");
        },
        ASKS,
        WORKS,
    ),
    asks(
        "no prefix",
        |parts| drop(parts.authorization()["http_service"].as_object_mut().unwrap().remove("path_prefix")),
        ASKS,
        Refuses("path_prefix: /forward-auth"),
    ),
    asks("another prefix", |parts| parts.prefix("/forward-authorization"), ASKS, Refuses("path_prefix: /forward-auth")),
    asks("a page as prefix", |parts| parts.prefix("/policies"), ASKS, Refuses("path_prefix: /forward-auth")),
    asks(
        "headers with paths are passed on",
        |parts| {
            all_headers(parts);
            let names = ["x-original-uri", "x-original-method", "x-forwarded-uri", "x-forwarded-method"];
            parts.allow(&[&names[..], &["x-evil", "x-forwarded-for"]].concat());
        },
        ASKS,
        WORKS,
    ),
    asks("no headers", |parts| parts.allow(&["x-identity"]), CALLS, WorksBut(UNSEEN)),
    asks("nobody is believed", |parts| parts.allow(&["x-identity"]), NOBODY, WorksBut(UNSEEN)),
    asks("no address", |parts| parts.allow(&["x-evil"]), ASKS, WorksBut(&["/address/"])),
    Row {
        name: "too many hops",
        change: Change { example: ENVOY_HTTP, change: all_headers },
        trust: ASKS_TWO_HOPS,
        expected: WorksBut(&["/address/"]),
        forged: NotSeen,
    },
];

#[test]
fn mistakes_in_envoy_let_nothing_through() {
    let (servers, upstream) = (Servers::start(ROWS), Upstream::start());
    let (mut listeners, mut clusters) = (Vec::new(), Vec::new());
    for (place, row) in ROWS.iter().enumerate() {
        let mut example = read(row.change.example);
        let resources = &mut example["static_resources"];
        let mut listener = resources["listeners"][0].take();
        let manager = "/filter_chains/0/filters/0/typed_config";
        let mut own =
            Parts { manager: listener.pointer_mut(manager).unwrap().take(), cluster: resources["clusters"][0].take() };
        // An error closes the connection at once.
        own.manager["delayed_close_timeout"] = "0.05s".into();
        (row.change.change)(&mut own);
        let name = format!("upheld-{place}");
        for way in ["/grpc_service/envoy_grpc/cluster_name", "/http_service/server_uri/cluster"] {
            if let Some(named) = own.authorization().pointer_mut(way) {
                *named = name.clone().into();
            }
        }
        own.cluster["load_assignment"]["cluster_name"] = name.clone().into();
        port(&mut own.cluster, servers.address(row.trust).port());
        own.cluster["name"] = name.into();
        *listener.pointer_mut(manager).unwrap() = own.manager;
        listener["name"] = format!("front-{place}").into();
        listener["address"]["socket_address"]["port_value"] = 0.into();
        listeners.push(listener);
        clusters.push(own.cluster);
    }
    let mut service = read(ENVOY_GRPC)["static_resources"]["clusters"][1].take();
    port(&mut service, upstream.address.port());
    clusters.push(service);
    let resources = json!({"listeners": listeners, "clusters": clusters});
    let names: Vec<String> = (0..ROWS.len()).map(|place| format!("front-{place}")).collect();
    let Some(fronts) = Fronts::envoy(&format!("static_resources: {resources}\n"), &names) else { return };
    hold(ROWS, &fronts.addresses, &upstream);
}

fn read(example: &str) -> Json {
    // The machine may be busy; whether Envoy waits is not what is tested.
    let text = example.replace(": 0.5s", ": 20s");
    let (file, problems) = upheld_syntax::parse("envoy.yaml", Format::Yaml, text, SourceId::new(0));
    assert!(problems.is_empty(), "{problems:?}");
    serde_json::to_value(file.tree.documents().next().unwrap()).unwrap()
}

fn port(cluster: &mut Json, port: u16) {
    let address = "/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address/socket_address/port_value";
    *cluster.pointer_mut(address).unwrap() = port.into();
}
