//! What ranks policies and their items: numbers to compare, with the words that people know them by.

use upheld_engine::FacetChoice;
use upheld_engine::merge::Column;
use upheld_model::layers::Mark;
use upheld_model::{Config, Content, Symbols};

use super::parsed::Parsed;
use crate::kuma::edition::Edition;
use crate::kuma::role::Role;
use crate::kuma::target_ref::{TargetKind, TargetRef};

/// What ranks policies and their items, in words that kinds use.
pub const COLUMNS: [&str; 8] =
    ["target-kind", "target-detail", "origin", "gateway-tags", "role", "item-kind", "item-section", CALLER_MATCH];

/// What ranks rules for some callers only. Rules that are not ranked by it are for all callers.
const CALLER_MATCH: &str = "caller-match";

/// What ranks all items of a policy.
pub(super) fn of_policy(parsed: &Parsed<'_, '_>, edition: Edition, symbols: &mut Symbols) -> Vec<Mark> {
    let Parsed { meta, top, role, .. } = parsed;
    let (detail, detail_word) = detail(top, edition);
    let (origin, origin_word) = match meta.origin() {
        Some("global") => (-1, "global"),
        Some("zone") => (1, "zone"),
        _ => (0, "none"),
    };
    let gateway_tags = if top.kind == TargetKind::MeshGateway { top.tags.len() } else { 0 };
    let role_number = Role::ALL.iter().position(|known| known == role).unwrap_or_default();
    let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let gateway_word = gateway_tags.to_string();
    let marks = [
        ("target-kind", top.kind.specificity(edition), top.kind.name()),
        ("target-detail", detail, detail_word),
        ("origin", origin, origin_word),
        ("gateway-tags", count(gateway_tags), gateway_word.as_str()),
        ("role", count(role_number), role.word()),
    ];
    marks.map(|(column, number, word)| mark(symbols, column, number, word)).into()
}

/// How closely a reference describes proxies.
///
/// Kuma 2 compares in pairs: a name beats labels, otherwise a section beats none. That is not an order: a section without a
/// selector beats a name, a name beats labels with a section, and these two are equal. Here no pair is the other way round
/// than there, but two that are equal there differ here: a name and no selector at all, and a section of labelled proxies
/// and one of all.
fn detail(top: &TargetRef<'_>, edition: Edition) -> (i64, &'static str) {
    let by_section = top.section.is_some();
    if top.kind != TargetKind::Dataplane {
        return (0, "no section");
    }
    let by_name = edition != Edition::V3 && top.name.is_some();
    let of_all = edition != Edition::V3 && top.labels.is_none();
    match (by_name, by_section) {
        (false, false) => (0, "no section"),
        (false, true) if of_all => (3, "a section of any proxy"),
        (false, true) => (1, "a section"),
        (true, false) => (2, "a name"),
        (true, true) => (3, "a name and a section"),
    }
}

/// What ranks an item about destinations, besides its policy.
pub(super) fn of_destination(reference: &TargetRef<'_>, edition: Edition, symbols: &mut Symbols) -> Vec<Mark> {
    let section = reference.section.filter(|_| reference.kind == TargetKind::MeshService);
    vec![
        mark(symbols, "item-kind", reference.kind.specificity(edition), reference.kind.name()),
        mark(symbols, "item-section", i64::from(section.is_some()), section.unwrap_or("no section")),
    ]
}

/// What ranks a rule for some callers, besides its policy.
pub(super) fn of_callers(inbound_match: &Config, symbols: &mut Symbols) -> Vec<Mark> {
    vec![mark(symbols, CALLER_MATCH, closeness(inbound_match), "named callers")]
}

/// What ranks a rule for all callers, where others are for some.
pub(super) fn of_all_callers(choice: &FacetChoice, symbols: &mut Symbols) -> Vec<Mark> {
    if has_callers(choice, symbols) { vec![mark(symbols, CALLER_MATCH, 0, "all callers")] } else { Vec::new() }
}

/// Whether rules of a field can be for some callers only.
pub(super) fn has_callers(choice: &FacetChoice, symbols: &Symbols) -> bool {
    let is_callers = |column: Column| matches!(column, Column::Mark(mark) if symbols.text(mark) == CALLER_MATCH);
    choice.rank.rungs().iter().any(|rung| is_callers(rung.column))
}

/// Higher for callers that are described more closely: `inbound_match::specificity` as one number.
fn closeness(inbound_match: &Config) -> i64 {
    let member = |name: &str| inbound_match.get(name).filter(|member| member.content != Content::Null);
    let client = member("spiffeID");
    let text = |name: &str| client.and_then(|client| client.get(name)?.as_text()).unwrap_or_default();
    let (class, length) = match (client, text("type")) {
        (None, _) => (0, 0),
        (Some(_), "Exact") => (3, 0),
        (Some(_), "Prefix") => (2, text("value").len()),
        (Some(_), _) => (1, 0),
    };
    let by_server = i64::from(member("sni").is_some());
    ((class * 2 + by_server) << 32) + i64::try_from(length).unwrap_or(i64::from(u32::MAX)).min(i64::from(u32::MAX))
}

fn mark(symbols: &mut Symbols, column: &str, number: i64, word: &str) -> Mark {
    Mark { column: symbols.intern(column), number, word: symbols.intern(word) }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use serde_json::{Value as Json, json};
    use upheld_model::SourceId;

    use super::*;
    use crate::kuma::inbound_match;
    use crate::kuma::testing::tree;

    #[test]
    fn closeness_is_the_specificity_of_matches() {
        let client = |kind: &str, value: &str| json!({"type": kind, "value": value});
        let clients =
            [Json::Null, client("Exact", "a"), client("Prefix", "a"), client("Prefix", "ab"), client("?", "a")];
        let servers = [Json::Null, client("Exact", "b")];
        let matches: Vec<Json> = (clients.iter())
            .flat_map(|client| servers.iter().map(move |server| json!({"spiffeID": client, "sni": server})))
            .collect();
        let configs = matches
            .iter()
            .map(|json| Config::of(SourceId::new(0), tree(slice::from_ref(json)).documents().next().unwrap()));
        let configs: Vec<_> = configs.collect();
        for a in &configs {
            for b in &configs {
                let by_match = inbound_match::specificity(Some(b)).cmp(&inbound_match::specificity(Some(a)));
                assert_eq!(closeness(a).cmp(&closeness(b)), by_match, "{a:?} {b:?}");
            }
        }
    }
}
