//! The command that asks a question, ready to paste.

use serde_json::Value as Json;
use upheld_report::quoted;

use crate::Words;

/// `upheld explain …` for the words of a question.
pub fn command(words: &Words, mesh: Option<&str>) -> String {
    let mut written = vec!["upheld".to_owned(), "explain".to_owned()];
    let mut flag = |name: &str, value: &str| written.extend([name.to_owned(), quoted(value)]);
    let single = [
        ("--kind", &words.kind),
        ("--from", &words.from),
        ("--to", &words.to),
        ("--host", &words.host),
        ("--path", &words.path),
        ("--method", &words.method),
    ];
    for (name, value) in single {
        if let Some(value) = value {
            flag(name, value);
        }
    }
    if let Some(port) = words.port {
        flag("--port", &port.to_string());
    }
    if let Some(protocol) = &words.protocol {
        flag("--protocol", protocol);
    }
    let several = [
        ("--header", &words.header),
        ("--subject", &words.subject),
        ("--action", &words.action),
        ("--resource", &words.resource),
        ("--env", &words.env),
    ];
    for (name, values) in several {
        for value in values {
            flag(name, value);
        }
    }
    if let Some(mesh) = mesh {
        flag("--mesh", mesh);
    }
    if let Some(Json::Object(request)) = &words.request {
        flag("--request", &Json::Object(request.clone()).to_string());
    }
    written.extend(words.what.as_deref().map(quoted));
    written.join(" ")
}
