//! Addresses: a question is one, whole, so that it can be linked, reloaded and kept.

use std::fmt;

use serde_json::Value as Json;

/// The address of a page of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    path: String,
    query: String,
    fragment: String,
}

impl Address {
    /// A page.
    pub fn of(path: &str) -> Self {
        Self { path: path.to_owned(), query: String::new(), fragment: String::new() }
    }

    /// A page below another, by names that may have anything in them.
    pub fn below(path: &str, names: &[&str]) -> Self {
        let named: String = names.iter().map(|name| format!("/{}", encoded(name))).collect();
        Self::of(&format!("{path}{named}"))
    }

    /// With a word of the question; an empty one says nothing.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        if !value.is_empty() {
            let mark = if self.query.is_empty() { '?' } else { '&' };
            self.query.push_str(&format!("{mark}{}={}", encoded(name), encoded(value)));
        }
        self
    }

    /// With all words of a question.
    #[must_use]
    pub fn with_words(self, words: &Json) -> Self {
        let fields = words.as_object().into_iter().flatten();
        fields.fold(self, |address, (name, value)| match value {
            Json::Array(values) => values.iter().fold(address, |address, value| address.with(name, &plain(value))),
            value => address.with(name, &plain(value)),
        })
    }

    /// With all words of a question, as another address has them.
    #[must_use]
    pub(crate) fn with_query(mut self, query: &str) -> Self {
        if !query.is_empty() {
            let plain: String = query.chars().filter(char::is_ascii_graphic).collect();
            self.query = format!("?{}", plain.trim_start_matches('?').replace('#', "%23"));
        }
        self
    }

    /// The words of the question, as the address has them.
    pub(crate) fn query(&self) -> &str {
        self.query.trim_start_matches('?')
    }

    /// At a place of the page.
    #[must_use]
    pub fn at(mut self, fragment: &str) -> Self {
        self.fragment = if fragment.is_empty() { String::new() } else { format!("#{}", encoded(fragment)) };
        self
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.path, self.query, self.fragment)
    }
}

fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        other => other.to_string(),
    }
}

/// As an address has it: whatever could mean something there is written by its number.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut all, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => all.push(char::from(byte)),
            _ => all.push_str(&format!("%{byte:02X}")),
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whatever_a_name_has_in_it_the_address_means_that_name() {
        let address = Address::below("/policy", &["A", "b", "../c?d#e&f"]).with("q", "a&b=c d").at("L3");
        assert_eq!(address.to_string(), "/policy/A/b/..%2Fc%3Fd%23e%26f?q=a%26b%3Dc%20d#L3");
    }

    #[test]
    fn words_that_are_several_stand_several_times() {
        let words = json!({"subject": ["role=a", "id=b"], "port": 80, "kind": null, "to": ""});
        assert_eq!(Address::of("/x").with_words(&words).to_string(), "/x?subject=role%3Da&subject=id%3Db&port=80");
    }
}
