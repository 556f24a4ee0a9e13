//! `unit-policy-role`: where a policy lives and what it says, and the role that follows.

use anyhow::bail;
use serde_json::{Value as Json, json};
use upheld_dialects::kuma::edition::Edition;
use upheld_dialects::kuma::role::{self, Namespace};

use super::config;
use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let edition = match case.text("version")? {
        "v2" => Edition::V2,
        "v3" => Edition::V3,
        other => bail!("there is no version `{other}`"),
    };
    let namespace = case.input("namespace").as_str();
    let is_system = case.input("isSystemNamespace") == &Json::Bool(true);
    let home = if is_system { Namespace::System } else { Namespace::Workloads };
    let actual = match role::compute(namespace, home, &*config(case.input("spec"))?, edition) {
        Ok(role) => json!({"role": role.word()}),
        Err(problem) => json!({"error": problem.to_string()}),
    };
    Ok(Outcome::compare(case.expected(), &actual))
}
