//! `xacml-tables`: what children say, and what comes of it.

use anyhow::{Context, bail};
use serde_json::json;
use upheld_engine::decide::{Algorithm, PossibleEffect, Rank, Tally, Truth, Unknowns, Value, Vote};

use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let (word, children) = (case.text("a")?, case.text("in")?);
    let actual = match word.strip_prefix("target+") {
        Some(target) => {
            let combined = children.chars().next().context("the row has no combined value")?;
            value(combined)?.under(truth(target)?)
        }
        None => combined(Algorithm::of(word).with_context(|| format!("there is no algorithm `{word}`"))?, children)?,
    };
    Ok(Outcome::compare(case.field("out"), &json!(letter(actual))))
}

fn combined(algorithm: Algorithm, children: &str) -> anyhow::Result<Value> {
    let mut tally = Tally::default();
    for (order, child) in (0..).zip(children.chars()) {
        let (target, value) = match child {
            '-' => (Truth::False, Value::NotApplicable),
            '!' => (Truth::Error, Value::Unknown(PossibleEffect::Either)),
            letter => (Truth::True, value(letter)?),
        };
        tally.add(Vote { order, rank: Rank::of(0.0), target, value, by: None });
    }
    Ok(tally.combine(algorithm, Unknowns::Xacml).value)
}

const LETTERS: [(char, Value); 6] = [
    ('P', Value::Permit),
    ('D', Value::Deny),
    ('N', Value::NotApplicable),
    ('p', Value::Unknown(PossibleEffect::Permit)),
    ('d', Value::Unknown(PossibleEffect::Deny)),
    ('x', Value::Unknown(PossibleEffect::Either)),
];

fn value(letter: char) -> anyhow::Result<Value> {
    let known = LETTERS.into_iter().find(|(known, _)| *known == letter);
    known.map(|(_, value)| value).with_context(|| format!("`{letter}` is no value"))
}

fn letter(value: Value) -> char {
    LETTERS.into_iter().find(|(_, known)| *known == value).map_or('?', |(letter, _)| letter)
}

/// What a target comes to.
pub(super) fn truth(word: &str) -> anyhow::Result<Truth> {
    Ok(match word {
        "match" => Truth::True,
        "no-match" => Truth::False,
        "indeterminate" => Truth::Error,
        other => bail!("a target cannot be `{other}`"),
    })
}
