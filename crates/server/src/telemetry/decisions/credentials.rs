//! What lets in whoever has it: never written down, wherever it stands in a request.

use serde_json::Value as Json;

/// What stands where something was.
pub(super) const HIDDEN: &str = "[redacted]";

/// Names of headers and fields that hold credentials, in small letters with `-`.
const NAMES: [&str; 14] = [
    "authorization",
    "proxy-authorization",
    "authentication",
    "cookie",
    "cookies",
    "set-cookie",
    "set-cookie2",
    "api-key",
    "apikey",
    "passwd",
    "session-id",
    "sessionid",
    "jwt",
    "credentials",
];

/// How names of fields end that hold credentials: `x-auth-token`, `clientSecret`.
const ENDINGS: [&str; 8] =
    ["authorization", "token", "secret", "password", "api-key", "apikey", "private-key", "privatekey"];

/// Fields that name something whose value is beside them.
const NAMING: [&str; 4] = ["name", "key", "header", "field"];

/// The schemes of `Authorization`, as they begin its value.
const SCHEMES: [&str; 9] =
    ["bearer", "basic", "digest", "negotiate", "ntlm", "dpop", "hawk", "token", "aws4-hmac-sha256"];

/// How tokens of this server begin.
const OWN: &str = "upheld_";

/// So long is a word after `Bearer` in a sentence that is a token.
const LONG: usize = 16;

/// Hides credentials in a document, at any depth.
pub(super) fn hide(value: &mut Json) {
    match value {
        Json::Object(fields) => {
            let names_secret = NAMING.iter().any(|field| {
                let named = fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(field));
                named.and_then(|(_, name)| name.as_str()).is_some_and(is_secret)
            });
            for (key, field) in fields.iter_mut() {
                let is_name = NAMING.iter().any(|known| key.eq_ignore_ascii_case(known));
                if is_secret(key) || names_secret && !is_name {
                    replace(field);
                } else {
                    hide(field);
                }
            }
        }
        Json::Array(items) => {
            if let [Json::String(name), value] = items.as_mut_slice()
                && is_secret(name)
            {
                replace(value);
            }
            items.iter_mut().for_each(hide);
        }
        Json::String(text) => {
            if let Some(hidden) = in_text(text) {
                *text = hidden;
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// Whether there is something, or not, is no secret.
fn replace(value: &mut Json) {
    if !matches!(value, Json::Null | Json::Bool(_)) {
        *value = Json::from(HIDDEN);
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase().replace('_', "-");
    NAMES.contains(&name.as_str()) || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// A text without credentials; nothing if it has none.
pub(super) fn in_text(text: &str) -> Option<String> {
    if is_credential(text) {
        return Some(HIDDEN.to_owned());
    }
    let without_tokens = without_tokens(text);
    let without_parameters = without_parameters(without_tokens.as_deref().unwrap_or(text));
    without_parameters.or(without_tokens)
}

/// Whether a whole text is the value of such a header, or the header itself: `Bearer abc`, `Cookie: a=b`.
fn is_credential(text: &str) -> bool {
    let text = text.trim();
    if text.split_once(':').is_some_and(|(name, _)| !name.contains([' ', '/']) && is_secret(name)) {
        return true;
    }
    let Some((scheme, rest)) = text.split_once(char::is_whitespace) else { return false };
    let rest = rest.trim();
    if !SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return false;
    }
    // `basic user` and `token bucket` are words; whatever follows `Bearer` alone is a token.
    let is_word = !scheme.eq_ignore_ascii_case("bearer") && rest.chars().all(|one| one.is_ascii_lowercase());
    !is_word && !rest.contains(char::is_whitespace) || rest.contains('=')
}

/// Tokens within a text: JSON Web Tokens, those of this server, and long words after `Bearer`.
fn without_tokens(text: &str) -> Option<String> {
    let mut kept = String::new();
    let (mut rest, mut found, mut after_scheme) = (text, false, false);
    while !rest.is_empty() {
        let end = rest.find(|one: char| !is_of_token(one)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if is_token(word) || after_scheme && word.len() >= LONG {
            kept.push_str(HIDDEN);
            found = true;
        } else {
            kept.push_str(word);
        }
        if !word.is_empty() {
            after_scheme = word.eq_ignore_ascii_case("bearer");
        }
        let mut characters = after.chars();
        kept.extend(characters.next());
        rest = characters.as_str();
    }
    found.then_some(kept)
}

fn is_of_token(one: char) -> bool {
    one.is_ascii_alphanumeric() || "-_.~+".contains(one)
}

fn is_token(word: &str) -> bool {
    // A JSON Web Token begins with `{"` in Base64, and has two or four dots.
    let parts = word.split('.').count();
    let is_web_token = word.starts_with("eyJ") && (parts == 3 || parts == 5) && word.len() > LONG;
    is_web_token || word.strip_prefix(OWN).is_some_and(|rest| rest.len() >= LONG)
}

/// Parameters of a query that hold credentials: `/x?token=abc`.
fn without_parameters(text: &str) -> Option<String> {
    let (path, query) = text.split_once('?')?;
    let mut found = false;
    let mut hidden = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if is_secret(name) && !value.is_empty() => {
            found = true;
            format!("{name}={HIDDEN}")
        }
        _ => pair.to_owned(),
    };
    let pairs: Vec<String> = query.split('&').map(&mut hidden).collect();
    found.then(|| format!("{path}?{}", pairs.join("&")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn hidden(mut document: Json) -> Json {
        hide(&mut document);
        document
    }

    #[test]
    fn credentials_are_hidden_under_any_name_at_any_depth() {
        for name in [
            "Authorization",
            "authorization ",
            "PROXY-AUTHORIZATION",
            "Cookie",
            "set-cookie",
            "X-Api-Key",
            "x_api_key",
            "X-Auth-Token",
            "access_token",
            "csrfToken",
            "clientSecret",
            "password",
        ] {
            for secret in [json!("planted"), json!(["planted"]), json!({"a": "planted"}), json!(4711)] {
                assert_eq!(hidden(json!({name: secret})), json!({name: HIDDEN}), "{name}");
                let deep = json!({"resource": {"properties": {"headers": [{"x": {name: secret}}]}}});
                assert!(!hidden(deep).to_string().contains("planted"), "{name}");
                let pairs = json!([{"name": name, "value": secret}, {"Key": name, "values": [secret]}]);
                assert!(!hidden(pairs).to_string().contains("planted"), "{name}");
                assert_eq!(hidden(json!([name, secret])), json!([name, HIDDEN]));
            }
        }
    }

    #[test]
    fn texts_that_look_like_credentials_are_hidden_whatever_they_are_called() {
        let token = format!("eyJ{0}.eyJ{0}.{0}", "planted1");
        for text in [
            "Bearer planted".to_owned(),
            " basic cGxhbnRlZDpwbGFudGVk".to_owned(),
            "Digest username=\"planted\", response=\"planted\"".to_owned(),
            "Cookie: sid=planted; theme=planted".to_owned(),
            "authorization:planted".to_owned(),
            token.clone(),
            format!("/callback/{token}/x"),
            format!("it says `Bearer {}`", "planted12planted12"),
            format!("upheld_{}", "planted1".repeat(4)),
            "/x?a=1&access_token=planted&b=2".to_owned(),
        ] {
            let shown = hidden(json!({"claims": {"note": text}})).to_string();
            assert!(!shown.contains("planted") && !shown.contains("cGxh"), "{text}: {shown}");
        }
        assert_eq!(in_text("/x?a=1&token=planted&b=2").as_deref(), Some("/x?a=1&token=[redacted]&b=2"));
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        let document = json!({
            "subject": {"id": "ann", "roles": ["token-issuer", "basic user"], "claims": {"secret": true, "token": null, "authorizations": 2}},
            "action": {"method": "GET", "name": "read"},
            "resource": {"path": "/api/tokens?page=2", "type": "secret", "headers": {"x-tier": "gold", "host": "a.example"}},
            "environment": {"ip": "192.0.2.7", "time": "2025-03-01T12:00:00Z", "note": "the bearer of bad news", "version": "1.2.3"},
        });
        assert_eq!(hidden(document.clone()), document);
    }
}
