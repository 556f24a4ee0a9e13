//! Envoy Gateway: a policy over that of its parent, under each merge type that the case has a result for.

use anyhow::Context;
use serde_json::{Map, Value as Json, json};
use upheld_dialects::gateway_api::envoy::with_required;
use upheld_dialects::gateway_api::profiles::MergeType;
use upheld_dialects::gateway_api::{Profile, Saying, effective};

use super::envoy_attachment;
use super::policies::read;
use super::values::{config, held, without_nulls};
use crate::case::Case;
use crate::outcome::Outcome;

const TYPES: [(&str, MergeType); 2] =
    [("jsonmerge.expected.yaml", MergeType::JsonMerge), ("strategicmerge.expected.yaml", MergeType::StrategicMerge)];

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    if !case.has_file("original.yaml") {
        return envoy_attachment::run(case);
    }
    let mut policies = Vec::new();
    for file in ["original.yaml", "patch.yaml"] {
        let document = case.document(file)?;
        let spec = with_required(&config(document.get("spec").context("the policy has no spec")?)?);
        policies.push(read(&document, vec![Saying::bare(spec)])?);
    }
    let (mut expected, mut actual) = (Map::new(), Map::new());
    for (file, merge_type) in TYPES.into_iter().filter(|(file, _)| case.has_file(file)) {
        let document = case.document(file)?;
        let spec = document.get("spec").cloned().unwrap_or_default();
        expected.insert(file.to_owned(), spec);
        let merged = effective(&Profile::envoy_gateway(merge_type), &policies, &[vec![0], vec![1]], None);
        actual.insert(file.to_owned(), held(&merged)?);
    }
    // Which empty fields are written is a matter of the original's types.
    let said = |fields: Map<String, Json>| without_nulls(&json!(fields));
    Ok(Outcome::compare(&said(expected), &said(actual)))
}
