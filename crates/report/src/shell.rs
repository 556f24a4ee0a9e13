//! Commands that can be pasted into a shell.

use serde_json::Value as Json;

/// A word as a shell takes it.
pub fn quoted(value: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "-_./:=,@%+".contains(character);
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}

/// `upheld explain`, with a flag for each word of a question as programs write it, after flags that are the same for all questions.
pub fn explain_command(common: &str, words: &Json) -> String {
    let mut flags = String::new();
    let (mut named, mut before) = (String::new(), String::new());
    for (name, value) in words.as_object().into_iter().flatten() {
        let values = match value {
            Json::Array(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        for value in values {
            match (name.as_str(), value) {
                ("what", Json::String(what)) => named = format!(" {}", quoted(what)),
                // A request that is a document is read from a file, or from what comes in.
                ("request", document) => {
                    before = format!("echo {} | ", quoted(&document.to_string()));
                    flags.push_str(" --request -");
                }
                (_, Json::Bool(true)) => flags.push_str(&format!(" --{}", flag(name))),
                (_, Json::String(text)) => flags.push_str(&format!(" --{} {}", flag(name), quoted(text))),
                (_, Json::Number(number)) => flags.push_str(&format!(" --{} {number}", flag(name))),
                _ => {}
            }
        }
    }
    format!("{before}upheld explain{common}{flags}{named}")
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
        assert_eq!(
            explain_command(" --server http://127.0.0.1:1", &words),
            r"upheld explain --server http://127.0.0.1:1 --kind Log --from 'it'\''s' --subject role=a --subject 'b c' --all-pairs --port 8 'a~b'"
        );
        let request = json!({"request": {"path": "/it's"}});
        assert_eq!(explain_command("", &request), r#"echo '{"path":"/it'\''s"}' | upheld explain --request -"#);
    }
}
