//! `legacy-seed-doc`: the examples of the documentation, with the winner of each edition.

use serde_json::{Map, Value as Json, json};

use super::outbound::winners;
use super::{FROM_04, UP_TO_03};
use crate::case::Case;
use crate::outcome::Outcome;

/// The editions as the cases call them.
const EDITIONS: [(&str, &str); 2] = [("from-0.4", FROM_04), ("up-to-0.3", UP_TO_03)];

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let mut actual = Map::new();
    for (key, edition) in EDITIONS {
        actual.insert(key.to_owned(), names(&winners(case, edition)?));
    }
    let expected: Json = case.expected_map()?.iter().map(|(edition, rows)| (edition.clone(), names(rows))).collect();
    Ok(Outcome::compare(&expected, &Json::Object(actual)))
}

/// Names of policies by service; expecting null is expecting nothing.
fn names(rows: &Json) -> Json {
    let rows = rows.as_object().into_iter().flatten();
    let names = rows.map(|(service, row)| (service, row.get("policy").unwrap_or(row)));
    names.filter(|(_, name)| !name.is_null()).map(|(service, name)| (service.clone(), json!(name))).collect()
}
