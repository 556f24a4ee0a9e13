//! `*-resourcerules`: rules for real resources, in deployments of all sorts.

use anyhow::Context;
use serde_json::json;
use upheld_dialects::kuma::edition::Edition;

use super::deployment::of_resources;
use super::entries::COUNTS;
use super::scene::{Cast, compare, text};
use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run(case: &Case, edition: Edition) -> anyhow::Result<Outcome> {
    let blocks = of_resources(case.variant().context("the case has no variant")?)?;
    let mut cast = Cast::default();
    let mut counting = Vec::new();
    let mut kind = String::new();
    for document in case.documents("input.yaml")? {
        let name = cast.deploy(&document, &blocks);
        if text(&document, "name").starts_with(COUNTS) {
            counting.push(name);
            text(&document, "type").clone_into(&mut kind);
        }
    }
    let scene = cast.read(edition)?;
    let actual = match scene.rules(&kind)? {
        Some(rules) => {
            let slots = scene.slots(&rules, |name| counting.iter().any(|known| known == name));
            scene.resource_rules(&rules, &rules.resource_rules(&slots))?
        }
        None => json!({}),
    };
    Ok(compare(&case.document("golden.yaml")?, &actual))
}
