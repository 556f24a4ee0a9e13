//! Two access lists under a strategy: what they come to, and whether the second one has a part in it.

use anyhow::bail;
use serde_json::{Value as Json, json};
use upheld_dialects::gateway_api::field_rules::{Semantics, traffic_policy};
use upheld_engine::merge::levels::{FieldLayer, Inheritance, Level, Prefer, Reach, fold};

use super::values::{config, json};
use crate::case::Case;
use crate::outcome::Outcome;

const FIELD: &str = "httpACL";

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let (reach, prefer) = match case.text("strategy")? {
        "AugmentedShallow" => (Reach::Shallow, Prefer::Child),
        "OverridableShallow" => (Reach::Shallow, Prefer::Parent),
        "AugmentedDeep" => (Reach::Deep, Prefer::Child),
        "OverridableDeep" => (Reach::Deep, Prefer::Parent),
        other => bail!("`{other}` is no strategy"),
    };
    let mut levels = Vec::new();
    for (by, name) in ["p1", "p2"].into_iter().enumerate() {
        let fields = match case.field(name) {
            Json::Null => Vec::new(),
            written => vec![(FIELD.into(), config(written)?)],
        };
        let layers = vec![FieldLayer { by, fields }];
        levels.push(Level { layers, inheritance: Inheritance { reach, prefer }, broken: Vec::new() });
    }
    let folded = fold(&traffic_policy(Semantics::Code2026), &levels);
    let actual = match folded.fields.get(FIELD) {
        Some(joined) => json!({"value": json(&joined.value)?, "p2IsOrigin": joined.origins.contains(&1)}),
        None => json!({"value": null, "p2IsOrigin": false}),
    };
    let expected = json!({"value": case.expected(), "p2IsOrigin": case.field("p2IsOrigin")});
    Ok(Outcome::compare(&expected, &actual))
}
