//! Any bytes as documents of all dialects: read, listed, asked about.

use upheld_answers::inventory::{Listed, Wanted};
use upheld_answers::{Options, Question, World};
use upheld_dialects::access::host::host_name;
use upheld_dialects::access::javascript::{JavaScriptRegex, wildcard};
use upheld_engine::decide::Maybe;
use upheld_engine::decide::Request;
use upheld_engine::decide::expression::Expression;
use upheld_loader::load::load;
use upheld_loader::{Format, Input};
use upheld_model::Timestamp;

/// So many things of a world are shown.
const SHOWN: usize = 4;

/// As documents.
pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    ask(vec![Input::bytes("fuzz.yaml", bytes.to_vec())])
}

/// As an expression that a policy has as its condition.
pub(super) fn expression(bytes: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
    if let Ok(parsed) = Expression::parse(text) {
        let again = Expression::parse(parsed.text()).map_err(|_| format!("`{text}` is read once only"))?;
        if again.reads() != parsed.reads() {
            return Err(format!("`{text}` reads {:?}, and then {:?}", parsed.reads(), again.reads()));
        }
    }
    let policy = serde_json::json!({
        "id": "asked", "effect": "permit", "subjects": [], "resources": [], "actions": [],
        "conditions": [{"type": "cel", "expression": text}],
    });
    ask(vec![Input::text("fuzz.json", Format::Json, policy.to_string())])
}

/// As a pattern, and behind the first line a text that it is looked for in. A wildcard pattern is the same as its expression.
pub(super) fn pattern(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let (pattern, subject) = text.split_once('\n').unwrap_or((&text, ""));
    if let Ok(regex) = JavaScriptRegex::new(pattern) {
        regex.is_found_in(subject);
    }
    let expanded = format!("^{}$", pattern.replace('*', ".*"));
    if let (Ok(one), Ok(other)) = (wildcard(pattern), JavaScriptRegex::new(&expanded))
        && one.is_found_in(subject) != other.is_found_in(subject)
    {
        return Err(format!("`{pattern}` differs from `{expanded}` on `{subject}`"));
    }
    let policy = serde_json::json!({
        "id": "asked", "effect": "permit", "subjects": [{"role": pattern}], "resources": [{"path": pattern}], "actions": [],
    });
    ask(vec![Input::text("fuzz.json", Format::Json, policy.to_string())])
}

/// As a host or an address: in the form in which it is compared it stays as it is.
pub(super) fn host(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    if let Maybe::Is(host) = host_name(&text) {
        let bracketed = if host.contains(':') { format!("[{host}]") } else { host.to_string() };
        if host_name(&bracketed) != Maybe::Is(host.clone()) {
            return Err(format!("`{text}` is `{host}`, which is {:?}", host_name(&bracketed)));
        }
    }
    let policy = serde_json::json!({
        "id": "asked", "effect": "permit", "subjects": [], "resources": [{"property": {"name": "host", "value": text}}], "actions": [],
        "conditions": [{"type": "ip", "ranges": [text]}],
    });
    ask(vec![Input::text("fuzz.json", Format::Json, policy.to_string())])
}

fn ask(inputs: Vec<Input>) -> Result<(), String> {
    // What cannot be read is said.
    let Ok(loaded) = load(inputs, &[]) else { return Ok(()) };
    let options = Options::at(Timestamp(0));
    let world = World::new(&loaded.snapshot, &options);
    let _ = (world.warnings(), world.object_statuses(), world.statuses());
    let rows = world.list(&Wanted { what: Listed::All, ..Wanted::default() });
    let rows = rows.map_err(|_| "what was read cannot be listed")?;
    for row in rows.iter().take(SHOWN) {
        let _ = (world.show(&row.id()), world.answer(&Question::about_requests(vec![Request::default()], None)));
    }
    Ok(())
}
