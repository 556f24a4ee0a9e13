//! `buntime-pep/glob`: whether a pattern covers a path.

use serde_json::json;
use upheld_engine::decide::Glob;

use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let (pattern, path) = (case.text("pattern")?, case.text("path")?);
    let actual = match Glob::parse(pattern) {
        Ok(glob) => json!(glob.matches(path)),
        Err(bad) => json!(format!("the pattern {}", bad.problem.sentence())),
    };
    Ok(Outcome::compare(case.field("match"), &actual))
}
