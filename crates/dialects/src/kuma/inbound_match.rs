//! Matches of inbound rules: `{spiffeID: {type, value}, sni: {type, value}}`. A rule without a match is about everybody.

use std::cmp::Reverse;

use upheld_model::Config;
use upheld_model::config::Content;

/// Where a rule stands among others; the smaller is more specific. Values are not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precedence {
    spiffe_id: SpiffeIdPrecedence,
    any_sni: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SpiffeIdPrecedence {
    Exact,
    Prefix,
    UnknownType,
    Any,
}

/// Where a rule with a match stands; a stable sort by it gives the order in which Kuma lists rules.
pub fn precedence(inbound_match: Option<&Config>) -> Precedence {
    let spiffe_id = match pattern(inbound_match, SPIFFE_ID) {
        Some(Pattern::Exact(_)) => SpiffeIdPrecedence::Exact,
        Some(Pattern::Prefix(_)) => SpiffeIdPrecedence::Prefix,
        Some(Pattern::UnknownType) => SpiffeIdPrecedence::UnknownType,
        None => SpiffeIdPrecedence::Any,
    };
    Precedence { spiffe_id, any_sni: pattern(inbound_match, SNI).is_none() }
}

/// How specific a match is where confs of several rules meet; the smaller is more specific. Unlike in the list of rules,
/// a longer prefix comes before a shorter one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Specificity {
    precedence: Precedence,
    prefix: Reverse<usize>,
}

/// How specific a match is. Among the matches that cover a client, confs of the more specific ones override.
pub fn specificity(inbound_match: Option<&Config>) -> Specificity {
    let prefix = match pattern(inbound_match, SPIFFE_ID) {
        Some(Pattern::Prefix(prefix)) => prefix.len(),
        _ => 0,
    };
    Specificity { precedence: precedence(inbound_match), prefix: Reverse(prefix) }
}

/// Whether one match covers all clients of another.
pub fn subsumes(general: Option<&Config>, specific: Option<&Config>) -> bool {
    [SPIFFE_ID, SNI].into_iter().all(|name| match (pattern(general, name), pattern(specific, name)) {
        (None, _) => true,
        (Some(general), Some(specific)) => general.covers(specific),
        (Some(_), None) => false,
    })
}

const SPIFFE_ID: &str = "spiffeID";
const SNI: &str = "sni";

/// What a member of a match asks of a text.
#[derive(Clone, Copy)]
enum Pattern<'c> {
    Exact(&'c str),
    Prefix(&'c str),
    UnknownType,
}

impl Pattern<'_> {
    fn covers(self, other: Pattern<'_>) -> bool {
        match (self, other) {
            (Self::Exact(mine), Pattern::Exact(theirs)) => mine == theirs,
            (Self::Prefix(mine), Pattern::Exact(theirs) | Pattern::Prefix(theirs)) => theirs.starts_with(mine),
            // Even two patterns of the same unknown type may mean anything.
            _ => false,
        }
    }
}

fn pattern<'c>(inbound_match: Option<&'c Config>, name: &str) -> Option<Pattern<'c>> {
    let member = inbound_match?.get(name).filter(|member| member.content != Content::Null)?;
    let text = |name| member.get(name).and_then(|value| value.as_text()).unwrap_or_default();
    Some(match text("type") {
        "Exact" => Pattern::Exact(text("value")),
        "Prefix" => Pattern::Prefix(text("value")),
        _ => Pattern::UnknownType,
    })
}

#[cfg(test)]
mod tests {
    use std::slice;
    use std::sync::Arc;

    use serde_json::{Value as Json, json};
    use upheld_model::SourceId;

    use super::super::testing::tree;
    use super::*;

    fn config(json: &Json) -> Arc<Config> {
        Config::of(SourceId::new(0), tree(slice::from_ref(json)).documents().next().unwrap())
    }

    fn client(kind: &str, value: &str) -> Json {
        json!({"spiffeID": {"type": kind, "value": value}})
    }

    fn server(name: &str) -> Json {
        json!({"sni": {"type": "Exact", "value": name}})
    }

    fn both(mut client: Json, server: &Json) -> Json {
        client["sni"] = server["sni"].clone();
        client
    }

    #[test]
    fn rules_are_listed_by_client_and_then_by_server_name() {
        let most_specific_first = [
            both(client("Exact", "spiffe://a"), &server("b")),
            client("Exact", "spiffe://a"),
            both(client("Prefix", "spiffe://a"), &server("b")),
            client("Prefix", "spiffe://a/b"),
            both(client("Unheard", "spiffe://a"), &server("b")),
            server("b"),
            json!({"spiffeID": null}),
        ];
        let keys: Vec<Precedence> = most_specific_first.iter().map(|json| precedence(Some(&config(json)))).collect();
        assert!(keys.is_sorted_by(|better, worse| better < worse), "{keys:#?}");
        assert_eq!(keys.last(), Some(&precedence(None)));
    }

    #[test]
    fn prefixes_differ_by_length_where_confs_meet_only() {
        let (long, short) = (config(&client("Prefix", "spiffe://a/b")), config(&client("Prefix", "spiffe://a")));
        assert_eq!(precedence(Some(&long)), precedence(Some(&short)));
        assert!(specificity(Some(&long)) < specificity(Some(&short)));
        let named = config(&both(client("Prefix", "spiffe://a"), &server("b")));
        assert!(specificity(Some(&named)) < specificity(Some(&long)), "the server name counts before the length");
    }

    #[test]
    fn a_match_covers_those_that_ask_for_more() {
        fn check(general: &Json, specific: &Json, both_ways: bool) {
            let (general, specific) = (config(general), config(specific));
            assert!(subsumes(Some(&general), Some(&specific)), "{general:?} {specific:?}");
            assert_eq!(subsumes(Some(&specific), Some(&general)), both_ways, "{specific:?} {general:?}");
            assert!(subsumes(None, Some(&specific)));
            assert!(!subsumes(Some(&specific), None));
        }
        check(&client("Exact", "spiffe://a"), &client("Exact", "spiffe://a"), true);
        check(&client("Prefix", "spiffe://a"), &client("Exact", "spiffe://a"), false);
        check(&client("Prefix", "spiffe://a"), &client("Prefix", "spiffe://a/b"), false);
        check(&client("Prefix", "spiffe://a"), &both(client("Prefix", "spiffe://a"), &server("b")), false);
        check(&server("b"), &both(client("Exact", "spiffe://a"), &server("b")), false);
        assert!(subsumes(None, None));
    }

    #[test]
    fn a_match_does_not_cover_other_clients() {
        fn check(one: &Json, other: &Json) {
            assert!(!subsumes(Some(&config(one)), Some(&config(other))), "{one} {other}");
        }
        check(&client("Exact", "spiffe://a"), &client("Exact", "spiffe://b"));
        check(&client("Exact", "spiffe://a"), &client("Prefix", "spiffe://a"));
        check(&client("Prefix", "spiffe://a"), &client("Exact", "spiffe://b"));
        check(&client("Unheard", "spiffe://a"), &client("Unheard", "spiffe://a"));
        check(&server("a"), &both(client("Exact", "spiffe://a"), &server("b")));
        check(&both(client("Prefix", "spiffe://a"), &server("b")), &client("Exact", "spiffe://a"));
    }
}
