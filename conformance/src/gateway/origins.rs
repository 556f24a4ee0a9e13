//! What becomes of the origins of a field, and how much of a result one policy has a part in.

use anyhow::bail;
use serde_json::{Value as Json, json};
use upheld_engine::hierarchy::fields::{Origins, Share};

use super::values::texts;
use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let names = names(case);
    let mut origins = read(case.field("initial"), &names);
    let source = read(case.field("sourceOrigins"), &names);
    let by = case.field("ref").as_str().and_then(|name| number(name, &names));
    let operation = case.text("op")?;
    if operation == "refCount" {
        let actual = match by.map_or(Share::Nowhere, |by| origins.standing(by)) {
            Share::Nowhere => "None",
            Share::Partly => "Partial",
            Share::Everywhere => "All",
        };
        return Ok(Outcome::compare(case.expected(), &json!(actual)));
    }
    let field = case.text("field")?;
    // One policy is its own origin; what was merged before brings its origins along.
    let others = by.map_or_else(|| source.of(field).to_vec(), |by| vec![by]);
    match operation {
        "setOne" => origins.replace(field, &others),
        "append" => origins.add(field, &others),
        other => bail!("`{other}` is no operation on origins"),
    }
    let expected = shown(&read(case.expected(), &names), &names);
    Ok(Outcome::compare(&expected, &shown(&origins, &names)))
}

/// All names in order, so that numbers are in the order of names.
fn names(case: &Case) -> Vec<&str> {
    let maps = ["initial", "sourceOrigins", "expected"].map(|field| case.field(field));
    let lists = maps.into_iter().filter_map(Json::as_object).flat_map(|map| map.values());
    let mut names: Vec<&str> = lists.flat_map(texts).chain(case.field("ref").as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn number(name: &str, names: &[&str]) -> Option<usize> {
    names.iter().position(|known| *known == name)
}

fn read(written: &Json, names: &[&str]) -> Origins {
    let fields = written.as_object().into_iter().flatten();
    let of = |list| texts(list).filter_map(|name| number(name, names)).collect();
    fields.map(|(field, list)| (field.as_str().into(), of(list))).collect()
}

/// A field without an origin is as good as none.
fn shown(origins: &Origins, names: &[&str]) -> Json {
    let name = |number: &usize| names.get(*number).copied().unwrap_or_default();
    let fields = origins.iter().filter(|(_, origins)| !origins.is_empty());
    fields.map(|(field, origins)| (field.to_string(), json!(origins.iter().map(name).collect::<Vec<_>>()))).collect()
}
