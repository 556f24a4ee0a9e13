//! Fields with the policies that they come from, as cases write them.

use serde_json::{Map, Value as Json, json};
use upheld_dialects::gateways::gateway_api::Asked;
use upheld_engine::hierarchy::{Attachment, Effective, Entry, Hierarchy, Question, Via};
use upheld_engine::{EntryId, Family, Hit, Silent};
use upheld_model::Object;

/// The fields of a scope under one kind of policy; cases have all kinds in one map.
pub(super) fn fields(asked: &Asked<'_>, answer: &Effective) -> Map<String, Json> {
    let mut fields = Map::new();
    let snapshot = asked.network().snapshot;
    // Kinds that do not merge leave no trace in the output.
    if snapshot.text(asked.kind().kind.governs) == "DirectResponse" {
        return fields;
    }
    let hits = asked.with(hits);
    for (name, joined) in answer.scopes.iter().flat_map(|own| own.folded.iter()) {
        // Upstream keeps the parts of a port under the port.
        if !upheld_dialects::gateways::kgateway::fields::is_inside_port(name) {
            let entries = joined.origins.iter().filter_map(|place| answer.order.get(*place));
            let origins = entries.filter_map(|member| origin(asked, &hits, member.entry));
            fields.insert(name.to_string(), sorted(origins.collect()));
        }
    }
    fields
}

fn hits(policies: &Hierarchy, question: &Question<'_>) -> Vec<Hit<Attachment>> {
    let mut hits = Vec::new();
    policies.find::<Silent>(question, &mut (), &mut hits);
    hits
}

/// A policy with the ways in which it is attached.
fn origin(asked: &Asked<'_>, hits: &[Hit<Attachment>], id: EntryId) -> Option<Json> {
    let snapshot = asked.network().snapshot;
    let entry = asked.kind().policies.entry(id)?;
    let mut ways: Vec<Json> = Vec::new();
    for hit in hits.iter().filter(|hit| hit.entry == id) {
        let (object, level) = (asked.spot(hit.place)?.object?, asked.place(hit.place)?.1);
        let found =
            if hit.measure.via == Via::Listed { vec![(Via::Listed, None)] } else { spoken(asked, entry, object) };
        let [kind, scope, name] = [object.kind, object.scope, object.name].map(|symbol| snapshot.text(symbol));
        for (via, section) in found {
            let mut way = json!({ "by": by(via), "target": format!("{kind} {scope}/{name}") });
            if let Some(fields) = way.as_object_mut() {
                fields.extend(section.map(|section| ("sectionName".to_owned(), json!(section))));
                if level > 0 {
                    fields.insert("inherited".to_owned(), json!(true));
                }
                if via == Via::Selected && object.scope != entry.namespace {
                    fields.insert("globalPolicyNamespace".to_owned(), json!(true));
                }
            }
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
    }
    let [kind, namespace, name] =
        [asked.kind().kind.governs, entry.namespace, entry.name].map(|symbol| snapshot.text(symbol));
    Some(json!({ "kind": kind, "namespace": namespace, "name": name, "via": sorted(ways) }))
}

/// A case lists every way in which a policy speaks about an object, whatever the section.
fn spoken<'s>(asked: &Asked<'s>, entry: &Entry, object: &Object) -> Vec<(Via, Option<&'s str>)> {
    let snapshot = asked.network().snapshot;
    let identity = (object.kind, object.scope, object.name);
    let named =
        entry.attachments.targets.iter().filter(|target| (target.kind, target.namespace, target.name) == identity);
    let selecting = entry.attachments.selectors.iter();
    let selecting = selecting.filter(|selector| selector.kind == object.kind && selector.selects(&object.facts));
    let named = named.map(|target| (Via::Named, target.section));
    let all = named.chain(selecting.map(|selector| (Via::Selected, selector.section)));
    all.map(|(via, section)| (via, section.map(|section| snapshot.text(section)))).collect()
}

const fn by(via: Via) -> &'static str {
    match via {
        Via::Listed => "extensionRef",
        Via::Named => "targetRef",
        Via::Selected => "targetSelector",
        Via::Own => "builtin",
    }
}

/// What a case expects, in the same order.
pub(super) fn expected(fields: Option<&Json>) -> Map<String, Json> {
    let fields = fields.and_then(Json::as_object).into_iter().flatten();
    let field = |(name, origins): (&String, &Json)| {
        let origins = origins.as_array().into_iter().flatten().map(|origin| {
            let mut origin = origin.clone();
            if let Some(ways) = origin.get_mut("via") {
                *ways = sorted(ways.as_array().cloned().unwrap_or_default());
            }
            origin
        });
        (name.clone(), sorted(origins.collect()))
    };
    fields.map(field).collect()
}

fn sorted(mut items: Vec<Json>) -> Json {
    items.sort_by_cached_key(Json::to_string);
    Json::Array(items)
}

/// Merged values by the filter that they configure. The proxy gets more, which is not about policies.
pub(super) fn decoded(answer: &Effective) -> anyhow::Result<Map<String, Json>> {
    let mut decoded = Map::new();
    for (field, filter) in DECODED {
        if let Some(joined) = answer.scopes.iter().find_map(|own| own.folded.get(field)) {
            decoded.insert(filter.to_owned(), serde_json::to_value(joined.value.as_ref())?);
        }
    }
    Ok(decoded)
}

/// The filters whose configuration is the merged value itself.
const DECODED: [(&str, &str); 2] =
    [("httpACL", "dynamic_modules/http-acl"), ("transformation", "dynamic_modules/simple_mutations")];

/// Of what a case expects, that which is compared.
pub(super) fn expected_decoded(decoded: Option<&Json>) -> Map<String, Json> {
    let decoded = decoded.and_then(Json::as_object).into_iter().flatten();
    let is_compared = |filter: &str| DECODED.iter().any(|(_, known)| *known == filter);
    decoded.filter(|(filter, _)| is_compared(filter)).map(|(filter, value)| (filter.clone(), value.clone())).collect()
}
