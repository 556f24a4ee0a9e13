//! Questions to policies of other families, as tests write them.

use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId};

use upheld_dialects::question::Words;

/// The question of a case; none if it is wrong.
pub(super) fn question(source: SourceId, case: Value<'_>, found: &mut Diagnostics) -> Option<Words> {
    let explain = case.get("explain")?;
    let before = found.errors();
    let text = |name: &str| explain.get(name).and_then(Value::as_text).map(str::to_owned);
    let port = explain.get("port").filter(|port| port.kind() == Kind::Integer);
    let number = port.and_then(Value::as_integer).and_then(|port| u16::try_from(port).ok());
    if let (Some(port), None) = (port, number) {
        let diagnostic = Diagnostic::error(Fault::WrongValue, format!("there is no port {}", port.text()));
        found.push(diagnostic.at_value(source, port, "expected 0 to 65535"));
    }
    let question = Words {
        what: text("what"),
        from: text("from"),
        to: text("to"),
        kind: text("kind"),
        field: text("field"),
        host: text("host"),
        path: text("path"),
        method: text("method"),
        header: explain.get("header").map(headers).unwrap_or_default(),
        port: number,
        protocol: text("protocol"),
        ..Words::default()
    };
    check(source, explain, &question, found);
    (found.errors() == before).then_some(question)
}

/// What the command line refuses, tests refuse, too.
fn check(source: SourceId, explain: Value<'_>, question: &Words, found: &mut Diagnostics) {
    for (key, _) in explain.entries().filter(|_| question.host.is_none()) {
        let is_connection = question.from.is_some() || question.to.is_some();
        if ["path", "method", "header"].contains(&key.text()) || (key.text() == "port" && !is_connection) {
            let message = format!("`{}` is about a request, so it needs `host`", key.text());
            let diagnostic = Diagnostic::error(Fault::IncompleteQuestion, message).at_value(source, key, "no host");
            found.push(diagnostic.help("add `host:`, for example `host: shop.example`"));
        }
    }
    let asked = [&question.what, &question.from, &question.to, &question.host];
    if asked.iter().all(|asked| asked.is_none()) {
        let diagnostic = Diagnostic::error(Fault::IncompleteQuestion, "`explain` does not say whose policies");
        let diagnostic = diagnostic.at_value(source, explain, "asks about nothing");
        found
            .push(diagnostic.help("name a connection with `from` and `to`, a proxy or route with `what`, or a `host`"));
    }
    if question.field.is_some() && question.kind.is_none() {
        let diagnostic = Diagnostic::error(Fault::IncompleteQuestion, "`field` needs `kind`");
        found.push(diagnostic.at_value(source, explain, "no kind").help("add `kind:`, for example `kind: TrafficLog`"));
    }
}

/// Headers as `name=value`, from a text, a list of texts or a map.
fn headers(value: Value<'_>) -> Vec<String> {
    match value.kind() {
        Kind::Map => value.entries().map(|(name, value)| format!("{}={}", name.text(), value.text())).collect(),
        Kind::List => value.items().map(|item| item.text().to_owned()).collect(),
        _ => vec![value.text().to_owned()],
    }
}
