//! Questions about related objects, as tests write them: may a change be made, who violates, do two objects agree?

use serde_json::{Value as Json, json};
use upheld_dialects::comply::questions::{AuditQuestion, ChangeRequest};
use upheld_model::tree::{Kind, Value};

use crate::report::compliance::{Audit, Ruled};
use crate::report::each_once;

/// A change, in the words of `upheld can`: a text with blanks between them, or a list.
pub(super) fn change(case: Value<'_>) -> ChangeRequest {
    let text = |name: &str| case.get(name).and_then(Value::as_text).map(str::to_owned);
    let words = case.get("can").map_or_else(Vec::new, |can| match can.kind() {
        Kind::List => can.items().map(|word| word.text().to_owned()).collect(),
        _ => can.text().split_whitespace().map(str::to_owned).collect(),
    });
    ChangeRequest { change: words, role: text("role"), inside: text("in"), person: text("as") }
}

/// What an audit is cut to, with the names of the flags of `upheld audit`.
pub(super) fn audit(case: Value<'_>) -> AuditQuestion {
    let flag = |name: &str| case.get("audit")?.get(name)?.as_text().map(str::to_owned);
    AuditQuestion {
        workspace: flag("workspace"),
        policy: flag("policy"),
        kind: flag("kind"),
        object: flag("object"),
        person: case.get("as").and_then(Value::as_text).map(str::to_owned),
        // Tests compare what violates; what would fix it is looked for by nobody.
        no_fixes: true,
        ..AuditQuestion::default()
    }
}

/// What a test can expect of a change.
pub(super) fn of_change(ruled: &Ruled) -> Json {
    let mut whole = json!(ruled);
    if let Some(fields) = whole.as_object_mut() {
        fields.insert("policies".to_owned(), json!(each_once(ruled.violations.iter().map(|check| &check.policy))));
    }
    named_by_policy(&mut whole);
    whole
}

/// What a test can expect of an audit: the numbers stand beside the rest.
pub(super) fn of_audit(audit: &Audit) -> Json {
    let mut whole = json!(audit.document());
    if let Some(fields) = whole.as_object_mut() {
        if let Some(Json::Object(summary)) = fields.remove("summary") {
            fields.extend(summary);
        }
        let pairs = audit.violations().map(|check| format!("{}~{}", check.a.reference, check.b.reference));
        fields.insert("violating".to_owned(), json!(each_once(pairs)));
    }
    named_by_policy(&mut whole);
    whole
}

/// Tests name violations by their policy: nobody knows fingerprints.
fn named_by_policy(whole: &mut Json) {
    let violations = whole.get_mut("violations").and_then(Json::as_array_mut);
    for violation in violations.into_iter().flatten() {
        if let Some(fields) = violation.as_object_mut() {
            fields.shift_remove("id");
        }
    }
}
