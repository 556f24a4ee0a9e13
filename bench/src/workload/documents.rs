//! The documents of a mesh, as people and programs write them.

use upheld_engine::select::reference::{NaivePolicy, Tags};

/// The type of the policies.
pub(crate) const KIND: &str = "TrafficLog";
/// The mesh that everything is in.
pub(crate) const MESH: &str = "default";
/// The edition whose rules the policies follow: number of tags, exact values, name.
pub(crate) const SEMANTICS: &str = "kuma/0.3";

const CREATED: &str = "2025-03-01T12:00:00Z";

/// One YAML document for each policy.
pub(crate) fn yaml(policies: &[NaivePolicy]) -> String {
    let mut text = String::new();
    for NaivePolicy { name, sources, destinations, .. } in policies {
        text.push_str(&format!("---\ntype: {KIND}\nmesh: {MESH}\nname: {name}\ncreationTime: '{CREATED}'\n"));
        text.push_str("labels:\n  owner: platform\n  kuma.io/origin: zone\n");
        for (field, selectors) in [("sources", sources), ("destinations", destinations)] {
            text.push_str(&format!("{field}:\n"));
            for selector in selectors {
                text.push_str("- match:\n");
                for (tag, value) in selector {
                    let quote = if value == "*" { "'" } else { "" };
                    text.push_str(&format!("    {tag}: {quote}{value}{quote}\n"));
                }
            }
        }
        text.push_str("conf:\n  backend: splunk\n  format: '%START_TIME% %DURATION%'\n");
    }
    text
}

/// One JSON value for each policy, each on a line, with the same content as the YAML.
pub(crate) fn json_lines(policies: &[NaivePolicy]) -> String {
    let mut text = String::new();
    for NaivePolicy { name, sources, destinations, .. } in policies {
        text.push_str(&format!(r#"{{"type":"{KIND}","mesh":"{MESH}","name":"{name}","creationTime":"{CREATED}","#));
        text.push_str(r#""labels":{"owner":"platform","kuma.io/origin":"zone"},"#);
        for (field, selectors) in [("sources", sources), ("destinations", destinations)] {
            let selectors: Vec<String> =
                selectors.iter().map(|selector| format!(r#"{{"match":{}}}"#, json_map(selector))).collect();
            text.push_str(&format!(r#""{field}":[{}],"#, selectors.join(",")));
        }
        text.push_str("\"conf\":{\"backend\":\"splunk\",\"format\":\"%START_TIME% %DURATION%\"}}\n");
    }
    text
}

/// One JSON value for each proxy. Their names ascend, so proxies keep their places.
pub(crate) fn json_proxies(proxies: &[Tags]) -> String {
    let mut text = String::new();
    for (number, tags) in proxies.iter().enumerate() {
        text.push_str(&format!(r#"{{"type":"Dataplane","mesh":"{MESH}","name":"proxy-{number:06}","#));
        text.push_str(&format!(
            "\"networking\":{{\"address\":\"10.0.0.1\",\"inbound\":[{{\"port\":8080,\"tags\":{}}}]}}}}\n",
            json_map(tags)
        ));
    }
    text
}

fn json_map(tags: &Tags) -> String {
    let entries: Vec<String> = tags.iter().map(|(tag, value)| format!(r#""{tag}":"{value}""#)).collect();
    format!("{{{}}}", entries.join(","))
}
