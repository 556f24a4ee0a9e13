//! The command line that asks the same as a page.

use serde_json::Value as Json;
use upheld_report::quoted;

/// `upheld explain`, with a flag for each word of a question.
pub fn explain(server: Option<&str>, words: &Json) -> Option<String> {
    let fields = words.as_object()?;
    // A request that is a document takes a file.
    if fields.contains_key("request") {
        return None;
    }
    let mut all = begun("explain", server);
    let mut named = String::new();
    for (name, value) in fields {
        let values = match value {
            Json::Array(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        for value in values {
            match (name.as_str(), value) {
                ("what", Json::String(what)) => named = format!(" {}", quoted(what)),
                (_, Json::Bool(true)) => all.push_str(&format!(" --{}", flag(name))),
                (_, Json::String(text)) => all.push_str(&format!(" --{} {}", flag(name), quoted(text))),
                (_, Json::Number(number)) => all.push_str(&format!(" --{} {number}", flag(name))),
                _ => {}
            }
        }
    }
    Some(all + &named)
}

/// Any other command with what follows it.
pub fn of(command: &str, server: Option<&str>, rest: &[&str]) -> String {
    rest.iter().fold(begun(command, server), |all, word| format!("{all} {}", quoted(word)))
}

fn begun(command: &str, server: Option<&str>) -> String {
    let server = server.map(|server| format!(" --server {}", quoted(server))).unwrap_or_default();
    format!("upheld {command}{server}")
}

/// `allPairs` is `all-pairs` there.
fn flag(name: &str) -> String {
    name.chars().fold(String::new(), |mut flag, letter| {
        if letter.is_uppercase() {
            flag.push('-');
        }
        flag.extend(letter.to_lowercase());
        flag
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_become_flags_that_a_shell_takes_as_they_are() {
        let words = json!({"kind": "Log", "from": "it's", "subject": ["role=a", "b c"], "allPairs": true, "port": 8, "what": "a~b"});
        let command = explain(Some("http://127.0.0.1:1"), &words);
        assert_eq!(
            command.as_deref(),
            Some(
                r"upheld explain --server http://127.0.0.1:1 --kind Log --from 'it'\''s' --subject role=a --subject 'b c' --all-pairs --port 8 'a~b'"
            )
        );
        assert_eq!(explain(None, &json!({"request": {}})), None);
    }
}
