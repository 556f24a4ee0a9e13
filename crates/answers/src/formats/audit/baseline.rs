//! An earlier audit that a later one is compared with: as SARIF, or as the JSON of `upheld audit -o json`.

use serde_json::Value as Json;

use super::super::baseline::{Content, Earlier, text_at};
use crate::report::compliance::{Audit, Check};

/// What the fingerprint of a violation is called in SARIF.
pub(super) const FINGERPRINT: &str = "violation/v1";

/// The violations of an earlier run.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    earlier: Earlier<Violation>,
}

/// What makes a violation another one than it was. Fixes are not part of it: they depend on everything else.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Violation {
    state: String,
    level: String,
    a: Vec<String>,
    b: Vec<String>,
    waiver: Option<String>,
}

impl Violation {
    fn of(check: &Check) -> Self {
        Self {
            state: check.state.name().to_owned(),
            level: check.level.name().to_owned(),
            a: check.a.values.clone(),
            b: check.b.values.clone(),
            waiver: check.waiver.as_ref().map(|waiver| waiver.id.clone()),
        }
    }
}

impl Baseline {
    /// Reads what an earlier run printed. A violation that was gone by then is no part of it.
    pub fn read(text: &str) -> Result<Self, String> {
        Ok(Self { earlier: Earlier::read(text)? })
    }

    /// Says of every violation of an audit whether it was there before, and which are gone.
    #[must_use]
    pub fn compared(&self, mut audit: Audit) -> Audit {
        let found = audit.checks.iter().map(|check| (check.id.as_str(), Violation::of(check)));
        let (states, compared) = self.earlier.beside(found);
        for (check, state) in audit.checks.iter_mut().zip(states) {
            check.baseline_state = Some(state);
        }
        Audit { baseline: Some(compared), ..audit }
    }
}

impl Content for Violation {
    const CALLED: &'static str = "audit";
    const KIND: &'static str = "AuditReport";
    const LIST: &'static str = "violations";
    const RULE: &'static str = "policy";
    const FINGERPRINT: &'static str = FINGERPRINT;

    fn of_result(result: &Json) -> Option<Self> {
        let properties = result.get("properties")?;
        let level = match (text_at(properties, "level"), text_at(result, "level")) {
            ("", "error") => "enforce",
            ("", "warning") => "warn",
            ("", "note") => "audit",
            (level, _) => level,
        };
        Some(Self {
            state: text_at(properties, "state").to_owned(),
            level: level.to_owned(),
            a: texts(properties.get("aValues")),
            b: texts(properties.get("bValues")),
            waiver: waiver(properties),
        })
    }

    fn of_item(violation: &Json) -> Option<Self> {
        let values = |side: &str| texts(violation.get(side).and_then(|side| side.get("values")));
        Some(Self {
            state: text_at(violation, "state").to_owned(),
            level: text_at(violation, "level").to_owned(),
            a: values("a"),
            b: values("b"),
            waiver: waiver(violation),
        })
    }
}

fn waiver(holder: &Json) -> Option<String> {
    holder.get("waiver").and_then(|waiver| waiver.get("id")).and_then(Json::as_str).map(str::to_owned)
}

fn texts(list: Option<&Json>) -> Vec<String> {
    list.and_then(Json::as_array).into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}
