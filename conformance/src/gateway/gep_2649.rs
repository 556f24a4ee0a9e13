//! GEP-2649: which of two policies supplies a value, for every pair of places and stanzas; and how values of each shape meet.

use anyhow::{Context, bail};
use serde_json::{Value as Json, json};
use upheld_dialects::gateways::gateway_api::effective::Inherited;
use upheld_dialects::gateways::gateway_api::policy::Side;
use upheld_dialects::gateways::gateway_api::{Policy, Profile, Statement, effective};
use upheld_engine::merge::{Keyed, Merged};
use upheld_model::Timestamp;

use super::values::{config, held, text, texts};
use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let cells = case.field("cells").as_array().context("the case has no cells")?;
    let mut actual = Vec::new();
    for cell in cells {
        let answer = if cell.get("type").is_some() { shape(cell)? } else { decision(case, cell)? };
        actual.push(answer);
    }
    Ok(Outcome::compare(case.field("cells"), &Json::Array(actual)))
}

fn shape(cell: &Json) -> anyhow::Result<Json> {
    // `listMap keyed by name`: every list of the example has this key.
    let key = text(cell, "type")?.split_once(" keyed by ").map(|(_, key)| key.trim());
    let fields = cell.get("object").and_then(Json::as_object).context("the object is no map")?;
    let keyed = key.map_or_else(Vec::new, |key| fields.keys().map(|field| Keyed::items(field, key)).collect());
    let mut says = Vec::new();
    for (stanza, side) in [("default", Side::Defaults), ("override", Side::Overrides)] {
        if let Some(written) = cell.get(stanza) {
            says.push(Statement::on(side, config(written)?));
        }
    }
    let policies = [policy("p", 0, says)];
    let object = config(&json!(fields))?;
    let result = held(&effective(&Profile::gep_2649(keyed), &policies, &[vec![0]], Some(&object)))?;
    let mut answer = cell.clone();
    *answer.get_mut("result").context("the cell has no result")? = result;
    Ok(answer)
}

fn decision(case: &Case, cell: &Json) -> anyhow::Result<Json> {
    let hierarchy: Vec<&str> = texts(case.field("hierarchy")).collect();
    let question = Question {
        hierarchy: &hierarchy,
        row: cell.get("row").and_then(Json::as_str),
        column: cell.get("column").and_then(Json::as_str),
        object: case.says("httpRouteSetsValue"),
    };
    // The row and the column, each once as the older and once as the first by name.
    let tries = [([1, 2], ["b", "a"]), ([2, 1], ["a", "b"]), ([1, 1], ["a", "b"]), ([1, 1], ["b", "a"])];
    let mut winners = Vec::new();
    for (ages, names) in tries {
        winners.push(question.winner(ages, names)?);
    }
    let winner = match winners.as_slice() {
        [first, rest @ ..] if rest.iter().all(|other| other == first) => *first,
        ["row", "column", "row", "column"] => "oldest-then-alphabetical",
        _ => bail!("no rule explains {winners:?}"),
    };
    let place = |side: Option<&str>| side.and_then(|side| side.split(' ').next()).unwrap_or_default().to_owned();
    let value = match winner {
        "none" => "empty".to_owned(),
        "object" => format!("value in {}", hierarchy.last().copied().unwrap_or_default()),
        "column" => place(question.column),
        _ => place(question.row),
    };
    Ok(json!({"row": cell.get("row"), "column": cell.get("column"), "winner": winner, "value": value}))
}

struct Question<'c> {
    hierarchy: &'c [&'c str],
    row: Option<&'c str>,
    column: Option<&'c str>,
    object: bool,
}

impl Question<'_> {
    fn winner(&self, ages: [i64; 2], names: [&str; 2]) -> anyhow::Result<&'static str> {
        let mut policies = Vec::new();
        let mut levels = vec![Vec::new(); self.hierarchy.len()];
        let sides = [(self.row, "row"), (self.column, "column")];
        for (place, (((side, word), age), name)) in sides.into_iter().zip(ages).zip(names).enumerate() {
            let mut says = Vec::new();
            if let Some(side) = side {
                let (target, stanza) = side.split_once(' ').context("a side has no stanza")?;
                let stanza = match stanza {
                    "default" => Side::Defaults,
                    "override" => Side::Overrides,
                    other => bail!("`{other}` is no stanza"),
                };
                says.push(Statement::on(stanza, config(&json!({"retryOn": [word]}))?));
                let level =
                    self.hierarchy.iter().position(|known| *known == target).context("there is no such level")?;
                levels.get_mut(level).context("there is no such level")?.push(place);
            }
            policies.push(policy(name, age, says));
        }
        let object = config(&json!({"retryOn": if self.object { json!(["object"]) } else { json!([]) }}))?;
        Ok(who(&effective(&Profile::gep_2649(Vec::new()), &policies, &levels, Some(&object))))
    }
}

fn who(inherited: &Inherited) -> &'static str {
    let leaves = inherited.merged().into_iter().flat_map(Merged::leaves);
    let by = leaves.filter(|leaf| leaf.path == "retryOn").map(|leaf| inherited.speaker(leaf.by)).next();
    match by {
        None => "none",
        Some(0) => "row",
        Some(1) => "column",
        Some(_) => "object",
    }
}

fn policy(name: &str, created: i64, says: Vec<Statement>) -> Policy {
    Policy { kind: "Retry".into(), namespace: "".into(), name: name.into(), created: Some(Timestamp(created)), says }
}
