//! `unit-merge`: confs in order, the lowest priority first, and what they come to.
//!
//! The original works on typed values: a field that is always serialised carries a null where it has no value, which removes
//! what came before. `schema` says which fields are of this sort, which append, and which list meets by key.

use anyhow::Context;
use serde_json::{Map, Value as Json};
use upheld_engine::merge::{ItemOrder, Keyed, Layer, Strategy, fold, group};

use super::config;
use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let schema = case.field("schema");
    let always: Vec<Vec<&str>> = paths(&schema["alwaysSerialized"]);
    let confs = case.field("input").as_array().context("the case has no list of confs")?;
    let mut layers = Vec::new();
    for (by, conf) in confs.iter().enumerate().rev() {
        let mut conf = conf.clone();
        serialise_all(&mut conf, &always);
        layers.push(Layer { by, config: config(&conf)? });
    }
    let groups = match schema["groupBy"].as_str() {
        Some(field) => group::by_value(field, &layers),
        None => vec![layers],
    };
    let strategy = strategy(schema);
    let mut actual = Vec::new();
    for group in groups {
        let merged = fold(&strategy, &group).and_then(|merged| merged.config());
        let mut conf = merged.map_or(Ok(Json::Object(Map::new())), |config| serde_json::to_value(config.as_ref()))?;
        serialise_all(&mut conf, &always);
        actual.push(conf);
    }
    let mut expected = case.expected().clone();
    for conf in expected.as_array_mut().into_iter().flatten() {
        serialise_all(conf, &always);
    }
    Ok(Outcome::compare(&expected, &Json::Array(actual)))
}

fn strategy(schema: &Json) -> Strategy {
    let text = |name: &str| schema["mergeByKey"].get(name).and_then(Json::as_str).map(Into::into);
    let keyed = text("field").zip(text("key")).zip(text("conf"));
    let keyed = keyed.map(|((field, key), payload)| Keyed { field, key, payload, order: ItemOrder::WorstFirst });
    Strategy { append_prefix: Some("append".into()), keyed: keyed.into_iter().collect(), ..Strategy::patch() }
}

fn paths(list: &Json) -> Vec<Vec<&str>> {
    let texts = list.as_array().into_iter().flatten().filter_map(Json::as_str);
    texts.map(|path| path.split('.').collect()).collect()
}

fn serialise_all(conf: &mut Json, paths: &[Vec<&str>]) {
    for path in paths {
        serialise(conf, path);
    }
}

/// Puts a null where a field without a value is written all the same; its parent must be there.
fn serialise(conf: &mut Json, path: &[&str]) {
    match (conf.as_object_mut(), path) {
        (Some(map), [field]) => drop(map.entry(*field).or_insert(Json::Null)),
        (Some(map), [field, rest @ ..]) => {
            if let Some(inner) = map.get_mut(*field) {
                serialise(inner, rest);
            }
        }
        _ => {}
    }
}
