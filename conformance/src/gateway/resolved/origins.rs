//! Fields with the policies that they come from, as cases write them.

use serde_json::{Map, Value as Json, json};
use upheld_dialects::kgateway::{Resolver, Scope, Semantics, Subject, Via};
use upheld_engine::ObjectId;

/// The fields of a scope. All kinds of policies are in one map.
pub(super) fn fields(resolver: &Resolver<'_>, scope: &Scope) -> Map<String, Json> {
    let mut fields = Map::new();
    for resolved in &scope.resolved {
        // Kinds that do not merge leave no trace in the output.
        if resolved.subject == Subject::DirectResponse || !resolved.folded.broken.is_empty() {
            continue;
        }
        for (name, joined) in &resolved.folded.fields {
            if resolved.is_reported(name, Semantics::Current) {
                let origins = joined.origins.iter().filter_map(|policy| origin(resolver, scope, *policy));
                fields.insert(name.to_string(), sorted(origins.collect()));
            }
        }
    }
    fields
}

/// A policy with the ways in which it is attached.
fn origin(resolver: &Resolver<'_>, scope: &Scope, policy: usize) -> Option<Json> {
    let entry = resolver.policies().get(policy)?;
    let mut ways: Vec<Json> = Vec::new();
    for (bracket, attached) in scope.ways(policy) {
        let found = if attached.via == Via::ExtensionRef {
            vec![(Via::ExtensionRef, None)]
        } else {
            // A case lists every way in which a policy speaks about the object, whatever the section.
            let spoken = resolver.spoken(policy, bracket.target).into_iter();
            spoken.map(|spoken| (spoken.via, spoken.section)).collect()
        };
        for (via, section) in found {
            let mut way = json!({ "by": by(via), "target": resolver.references().title(bracket.target) });
            if let Some(fields) = way.as_object_mut() {
                fields.extend(section.map(|section| ("sectionName".to_owned(), json!(section.as_str()))));
                if bracket.is_inherited() {
                    fields.insert("inherited".to_owned(), json!(true));
                }
                if via == Via::TargetSelector && namespace(resolver, bracket.target) != entry.namespace {
                    fields.insert("globalPolicyNamespace".to_owned(), json!(true));
                }
            }
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
    }
    let kind = entry.subject.kind();
    Some(json!({ "kind": kind, "namespace": entry.namespace, "name": entry.name, "via": sorted(ways) }))
}

fn namespace(resolver: &Resolver<'_>, object: ObjectId) -> String {
    let title = resolver.references().title(object);
    let path = title.split_once(' ').map_or("", |(_, path)| path);
    path.split_once('/').map_or("", |(namespace, _)| namespace).to_owned()
}

const fn by(via: Via) -> &'static str {
    match via {
        Via::ExtensionRef => "extensionRef",
        Via::TargetRef => "targetRef",
        Via::TargetSelector => "targetSelector",
        Via::Builtin => "builtin",
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
pub(super) fn decoded(scope: &Scope) -> anyhow::Result<Map<String, Json>> {
    let mut decoded = Map::new();
    let Some(resolved) = scope.of(Subject::Traffic).filter(|resolved| resolved.folded.broken.is_empty()) else {
        return Ok(decoded);
    };
    for (field, filter) in DECODED {
        if let Some(joined) = resolved.folded.fields.get(field) {
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
