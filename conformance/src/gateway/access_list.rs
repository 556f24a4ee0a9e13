//! Two access lists under a strategy: what they come to, and whether the second one has a part in it.

use anyhow::bail;
use serde_json::{Value as Json, json};
use upheld_dialects::gateways::kgateway::DEFAULT_SEMANTICS;
use upheld_engine::HierarchyFold;
use upheld_engine::hierarchy::fields::{FieldLayer, Inheritance, Level, Prefer, Reach, Rules, fold};
use upheld_loader::load::load;

use super::values::{config, json};
use crate::case::Case;
use crate::outcome::Outcome;

const FIELD: &str = "httpACL";

/// The rules of the built-in kind.
fn rules() -> anyhow::Result<Rules> {
    let Ok(loaded) = load(Vec::new(), &[DEFAULT_SEMANTICS]) else { bail!("the built-in kinds are broken") };
    let kinds = loaded.snapshot.kinds().iter().map(|(_, kind)| kind);
    let traffic = kinds.filter(|kind| loaded.snapshot.text(kind.name) == "TrafficPolicy");
    let fold = traffic.filter_map(|kind| kind.hierarchy()).map(|hierarchy| &hierarchy.fold).next();
    match fold {
        Some(HierarchyFold::Fields { policies, .. }) => Ok(policies.clone()),
        _ => bail!("traffic policies do not meet field by field"),
    }
}

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
        let layers = vec![FieldLayer { by, fields: fields.into() }];
        levels.push(Level { layers, inheritance: Inheritance { reach, prefer } });
    }
    let folded = fold(&rules()?, &levels);
    let actual = match folded.get(FIELD) {
        Some(joined) => json!({"value": json(&joined.value)?, "p2IsOrigin": joined.origins.contains(&1)}),
        None => json!({"value": null, "p2IsOrigin": false}),
    };
    let expected = json!({"value": case.expected(), "p2IsOrigin": case.field("p2IsOrigin")});
    Ok(Outcome::compare(&expected, &actual))
}
