//! Matches of HTTP routes: `{path: {type, value}, method, headers, queryParams}`, with the defaults of the schema filled in.

use std::cmp::Reverse;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};
use upheld_model::Config;
use upheld_model::config::Content;

/// Where a match stands among others; the smaller is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precedence {
    path: PathPrecedence,
    any_method: bool,
    headers: Reverse<usize>,
    query_params: Reverse<usize>,
}

/// Numbers are lengths in bytes. Exact paths are all alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PathPrecedence {
    Exact,
    Prefix(Reverse<usize>),
    RegularExpression(Reverse<usize>),
    UnknownType,
    Any,
}

/// Where a match stands; a stable sort by it gives the order in which a proxy tries matches.
pub fn precedence(http_match: &Config) -> Precedence {
    let count = |name| Reverse(http_match.get(name).map_or(0, |list| list.items().len()));
    Precedence {
        path: member(http_match, "path").map_or(PathPrecedence::Any, path_precedence),
        any_method: member(http_match, "method").is_none(),
        headers: count("headers"),
        query_params: count("queryParams"),
    }
}

fn path_precedence(path: &Config) -> PathPrecedence {
    let length = Reverse(text(path, "value").len());
    match text(path, "type") {
        "Exact" => PathPrecedence::Exact,
        "PathPrefix" => PathPrecedence::Prefix(length),
        "RegularExpression" => PathPrecedence::RegularExpression(length),
        _ => PathPrecedence::UnknownType,
    }
}

/// A request as matches see it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// The path without its query.
    pub path: &'r str,
    /// Query parameters in order.
    pub query: &'r [(&'r str, &'r str)],
    /// The method.
    pub method: &'r str,
    /// Headers in order.
    pub headers: &'r [(String, String)],
}

/// Whether a request is what a match wants: all of its criteria.
pub fn fits(http_match: &Config, request: Request<'_>) -> bool {
    let all = |name: &str, fits: &dyn Fn(&Config) -> bool| {
        http_match.get(name).map_or(&[][..], |list| list.items()).iter().all(|item| fits(item))
    };
    let method = text(http_match, "method");
    member(http_match, "path").is_none_or(|path| path_fits(path, request.path))
        && (method.is_empty() || method == request.method)
        && all("headers", &|header| {
            let own = |(name, _): &&(String, String)| name.eq_ignore_ascii_case(text(header, "name"));
            value_fits(header, request.headers.iter().find(own).map(|(_, value)| value.as_str()))
        })
        && all("queryParams", &|param| {
            let own = request.query.iter().find(|(name, _)| *name == text(param, "name"));
            value_fits(param, own.map(|(_, value)| *value))
        })
}

fn path_fits(wanted: &Config, path: &str) -> bool {
    let value = text(wanted, "value");
    match text(wanted, "type") {
        "Exact" => path == value,
        "RegularExpression" => whole_fits(value, path),
        // Whole elements: `/a` takes `/a` and `/a/b`, not `/ab`.
        _ => {
            let value = value.trim_end_matches('/');
            path.strip_prefix(value).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }
    }
}

fn value_fits(wanted: &Config, value: Option<&str>) -> bool {
    let expected = text(wanted, "value");
    match (text(wanted, "type"), value) {
        ("Absent", value) => value.is_none(),
        ("Present", value) => value.is_some(),
        ("RegularExpression", Some(value)) => whole_fits(expected, value),
        ("Prefix", Some(value)) => value.starts_with(expected),
        (_, Some(value)) => value == expected,
        (_, None) => false,
    }
}

/// Proxies hold the whole text against a regular expression. One that cannot be read takes nothing.
fn whole_fits(expression: &str, text: &str) -> bool {
    Regex::new(&format!("^(?:{expression})$")).is_ok_and(|expression| expression.is_match(text))
}

/// The name that Kuma gives to the list of matches of a rule.
pub fn hash(matches: &Config) -> String {
    STANDARD.encode(Sha256::digest(as_go_writes(&canonical(matches))))
}

/// The name of the matches of a rule of a route.
pub fn hash_of_rule(rule: &Config) -> String {
    rule.get("matches").map_or_else(|| hash(&Config::made(Content::Null)), |matches| hash(matches))
}

/// The list with its members in the order of Kuma's own types, which the hash depends on.
fn canonical(matches: &Config) -> Json {
    match &matches.content {
        Content::List(items) => items.iter().map(|item| canonical_match(item)).collect(),
        _ => Json::Null,
    }
}

fn canonical_match(http_match: &Config) -> Json {
    let mut members = Map::new();
    if let Some(path) = member(http_match, "path") {
        members.insert("path".to_owned(), json!({"value": text(path, "value"), "type": text(path, "type")}));
    }
    let method = text(http_match, "method");
    if !method.is_empty() {
        members.insert("method".to_owned(), json!(method));
    }
    let mut list = |name: &str, canonical_item: fn(&Config) -> Json| {
        let items = http_match.get(name).map_or(&[][..], |list| list.items());
        if !items.is_empty() {
            members.insert(name.to_owned(), items.iter().map(|item| canonical_item(item)).collect());
        }
    };
    list("queryParams", canonical_query_param);
    list("headers", canonical_header);
    Json::Object(members)
}

fn canonical_query_param(param: &Config) -> Json {
    json!({"type": text(param, "type"), "name": text(param, "name"), "value": text(param, "value")})
}

/// A header may be asked to be there only, so its value is left out where there is none.
fn canonical_header(header: &Config) -> Json {
    let mut members = Map::new();
    for name in ["type", "name", "value"] {
        let text = text(header, name);
        if !text.is_empty() || name == "name" {
            members.insert(name.to_owned(), json!(text));
        }
    }
    Json::Object(members)
}

/// JSON as Go writes it: safe inside HTML and JavaScript. These characters occur inside of texts only.
fn as_go_writes(json: &Json) -> String {
    let escapes =
        [('<', "\\u003c"), ('>', "\\u003e"), ('&', "\\u0026"), ('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029")];
    escapes.into_iter().fold(json.to_string(), |json, (character, escape)| json.replace(character, escape))
}

/// A member that says something.
fn member<'c>(config: &'c Config, name: &str) -> Option<&'c Config> {
    config.get(name).map(AsRef::as_ref).filter(|value| value.content != Content::Null)
}

/// The text of a member as it was written; empty if there is none.
fn text<'c>(config: &'c Config, name: &str) -> &'c str {
    match member(config, name).map(|value| &value.content) {
        Some(Content::Text(text) | Content::Number(text)) => text,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::slice;
    use std::sync::Arc;

    use upheld_model::SourceId;

    use super::super::testing::tree;
    use super::*;

    fn config(json: &Json) -> Arc<Config> {
        Config::of(SourceId::new(0), tree(slice::from_ref(json)).documents().next().unwrap())
    }

    #[test]
    fn each_criterion_decides_where_those_before_are_equal() {
        let header = json!({"type": "Exact", "name": "a", "value": "b"});
        let path = |kind: &str, value: &str| json!({"path": {"type": kind, "value": value}});
        let best_first = [
            json!({"path": {"type": "Exact", "value": "/"}, "method": "GET"}),
            json!({"path": {"type": "Exact", "value": "/"}, "headers": [header]}),
            path("Exact", "/"),
            path("PathPrefix", "/longer"),
            path("PathPrefix", "/"),
            path("RegularExpression", "/.*/.*"),
            path("RegularExpression", "/.*"),
            path("Unheard", "/"),
            json!({"path": null, "method": "GET"}),
            json!({"headers": [header, header]}),
            json!({"headers": [header], "queryParams": [header]}),
            json!({"headers": [header]}),
            json!({"queryParams": [header]}),
            json!({"headers": [], "method": null}),
        ];
        let keys: Vec<Precedence> = best_first.iter().map(|json| precedence(&config(json))).collect();
        assert!(keys.is_sorted_by(|better, worse| better < worse), "{keys:#?}");
    }

    #[test]
    fn a_request_must_be_all_that_a_match_wants() {
        let headers = [("X-Team".to_owned(), "blue".to_owned())];
        let request = Request { path: "/api/v1", query: &[("page", "2")], method: "GET", headers: &headers };
        let check = |json: Json, expected: bool| assert_eq!(fits(&config(&json), request), expected, "{json}");
        let path = |kind: &str, value: &str| json!({"path": {"type": kind, "value": value}});
        check(json!({}), true);
        check(path("PathPrefix", "/"), true);
        check(path("PathPrefix", "/api"), true);
        check(path("PathPrefix", "/api/"), true);
        check(path("PathPrefix", "/ap"), false);
        check(path("Exact", "/api"), false);
        check(path("Exact", "/api/v1"), true);
        check(path("RegularExpression", "/api/v[0-9]"), true);
        check(path("RegularExpression", "/api"), false);
        check(path("RegularExpression", "("), false);
        check(json!({"method": "POST"}), false);
        check(json!({"method": "GET"}), true);
        let header =
            |kind: &str, name: &str, value: &str| json!({"headers": [{"type": kind, "name": name, "value": value}]});
        check(header("Exact", "x-team", "blue"), true);
        check(header("Exact", "x-team", "red"), false);
        check(header("Prefix", "x-team", "bl"), true);
        check(header("Present", "x-team", ""), true);
        check(header("Absent", "x-team", ""), false);
        check(header("Absent", "x-other", ""), true);
        check(header("Exact", "x-other", ""), false);
        check(json!({"queryParams": [{"type": "Exact", "name": "page", "value": "2"}]}), true);
        check(json!({"queryParams": [{"type": "RegularExpression", "name": "page", "value": "[3-9]"}]}), false);
        check(json!({"method": "GET", "path": {"type": "Exact", "value": "/"}}), false);
    }

    #[test]
    fn exact_paths_are_equal_whatever_their_length() {
        let of = |value: &str| precedence(&config(&json!({"path": {"type": "Exact", "value": value}})));
        assert_eq!(of("/"), of("/longer"));
    }

    #[test]
    fn members_are_written_in_the_order_of_kuma_and_empty_ones_left_out() {
        fn check(matches: &Json, expected: &str) {
            assert_eq!(as_go_writes(&canonical(&config(matches))), expected);
        }
        check(
            &json!([{
                "headers": [{"value": "1", "name": "a", "type": "Exact"}, {"type": "Present", "name": "b"}],
                "queryParams": [{"name": "q", "value": "", "type": "Exact"}],
                "method": "GET",
                "path": {"type": "PathPrefix", "value": "/"},
            }]),
            concat!(
                r#"[{"path":{"value":"/","type":"PathPrefix"},"method":"GET","#,
                r#""queryParams":[{"type":"Exact","name":"q","value":""}],"#,
                r#""headers":[{"type":"Exact","name":"a","value":"1"},{"type":"Present","name":"b"}]}]"#,
            ),
        );
        check(&json!([{"headers": [], "queryParams": null}, {"method": "PUT"}]), r#"[{},{"method":"PUT"}]"#);
        check(&json!([]), "[]");
        check(&json!(null), "null");
    }

    #[test]
    fn texts_are_escaped_as_go_does() {
        let matches = config(&json!([{"path": {"type": "Exact", "value": "/<a>&\"\\\t\u{1}ü\u{2028}"}}]));
        let expected = r#"[{"path":{"value":"/\u003ca\u003e\u0026\"\\\t\u0001ü\u2028","type":"Exact"}}]"#;
        assert_eq!(as_go_writes(&canonical(&matches)), expected);
    }

    #[test]
    fn hash_is_that_of_the_text() {
        let matches = config(&json!([{"path": {"type": "PathPrefix", "value": "/"}}]));
        assert_eq!(hash(&matches), "9Zuf5Tg79OuZcQITwBbQykxAk2u4fRKrwYn3//AL4Yo=");
    }
}
