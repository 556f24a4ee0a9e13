//! Documents in an editor: tried by `/v1/suppose`, written by `/v1/documents` under the revision that its author saw.

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use upheld_answers::formats::yaml;
use upheld_pages::{Address, Draft, Keeper, Section, Sort, Tried, editor};

use super::session::Sent;
use super::visit::{Said, Visit, Wish, to};

/// Which document: what it is, its kind, scope and name.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Named {
    sort: Word,
    kind: String,
    scope: String,
    name: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Policy,
    Object,
}

impl Named {
    fn sort(&self) -> Sort {
        match self.sort {
            Word::Policy => Sort::Policies,
            Word::Object => Sort::Objects,
        }
    }

    fn parts(&self) -> [&str; 3] {
        [&self.kind, &self.scope, &self.name]
    }
}

/// The document as it is.
pub(super) async fn form(visit: Visit, Path(named): Path<Named>) -> Response {
    match begun(&visit, &named).await {
        Ok((draft, said)) => visit.shows(&editor(&draft, Tried::NotYet), said, None),
        Err(said) => visit.refused(Section::Policies, said),
    }
}

/// What a form of an editor has in it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Edited {
    text: String,
    message: String,
    /// The revision that its author saw.
    base: String,
    /// The question that it is edited for.
    #[serde(rename = "for")]
    question: String,
    #[serde(rename = "do")]
    act: Act,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Act {
    #[default]
    Try,
    Write,
}

/// What would change, or that it was written.
pub(super) async fn sent(Path(named): Path<Named>, Sent { visit, said }: Sent<Edited>) -> Response {
    let found = begun(&visit, &named).await;
    // Browsers end lines as mail does.
    let text = said.text.replace("\r\n", "\n");
    let (message, question) = (said.message.trim().to_owned(), said.question);
    match (found, said.act) {
        (Ok((draft, page)), Act::Try) => tried(&visit, &Draft { text, message, question, ..draft }, page).await,
        (Ok((draft, _)), Act::Write) => written(&visit, Draft { text, message, question, ..draft }, &said.base).await,
        // Somebody deleted it in between, and what was typed is still worth something.
        (Err(told), _) if told.status == StatusCode::NOT_FOUND => {
            let (sort, first, place) = (named.sort(), 1, String::new());
            let (parts, keeper) = (named.parts(), keeper(&visit, &named.parts(), &text, None).await);
            let draft = Draft { sort, id: parts.map(str::to_owned), text, first, place, question, message, keeper };
            match said.act {
                Act::Write if said.base.is_empty() => written(&visit, draft, "").await,
                _ => visit.refuses(&editor(&draft, Tried::Conflict(&told.json, "")), told),
            }
        }
        (Err(told), _) => visit.refused(Section::Policies, told),
    }
}

/// The document as it is, and who keeps it.
async fn begun(visit: &Visit, named: &Named) -> Result<(Draft, Said), Said> {
    let (sort, parts) = (named.sort(), named.parts());
    let path = if sort == Sort::Objects { "/v1/objects" } else { "/v1/policies" };
    let said = visit.get(Address::below(path, &parts)).await?;
    let at = |field: &str| said.json.get("at").and_then(|at| at.get(field));
    let place = at("file").and_then(Json::as_str).unwrap_or_default().to_owned();
    let (text, first, keeper) = match stored(visit, &parts).await {
        Some((document, revision)) => {
            let text = text_of(&document);
            (text.clone(), 1, keeper(visit, &parts, &text, Some(revision)).await)
        }
        None => {
            let source = said.json.get("source");
            let text = source.and_then(|source| source.get("text")).and_then(Json::as_str).unwrap_or_default();
            let first = source.and_then(|source| source.get("line")).and_then(Json::as_u64).unwrap_or(1);
            (flush(text), first, Keeper::File)
        }
    };
    let (question, message) = (visit.value("for").to_owned(), String::new());
    Ok((Draft { sort, id: parts.map(str::to_owned), text, first, place, question, message, keeper }, said))
}

/// What the store has, and the revision that last changed it.
async fn stored(visit: &Visit, parts: &[&str]) -> Option<(Json, u64)> {
    let said = visit.get(Address::below("/v1/documents", parts)).await.ok()?;
    Some((said.json.get("document")?.clone(), said.json.get("changed")?.as_u64()?))
}

fn text_of(document: &Json) -> String {
    yaml(document).unwrap_or_default().trim_end().to_owned() + "\n"
}

/// Whoever may not write what is there already may not write at all.
async fn keeper(visit: &Visit, parts: &[&str], text: &str, revision: Option<u64>) -> Keeper {
    let address = Address::below("/v1/documents", parts).with("dryRun", "true");
    match visit.ask(put(text, None), address).await {
        Err(said) if [StatusCode::FORBIDDEN, StatusCode::UNAUTHORIZED].contains(&said.status) => Keeper::StoreOfOthers,
        _ => Keeper::Store(revision),
    }
}

fn put(text: &str, condition: Option<(HeaderName, HeaderValue)>) -> Wish {
    let body = Body::from(text.to_owned());
    Wish { method: Method::PUT, body, content_type: "application/yaml", condition, ..Wish::default() }
}

/// Without what stands before every line.
fn flush(text: &str) -> String {
    let margin = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let least = text.lines().filter(|line| !line.trim().is_empty()).map(margin).min().unwrap_or(0);
    text.lines().map(|line| line.get(least..).unwrap_or_default().to_owned() + "\n").collect()
}

/// What would hold; that something is wrong with a text that is still typed is an answer as well.
async fn tried(visit: &Visit, draft: &Draft, page: Said) -> Response {
    let words = Visit::words_of(&draft.question);
    let asked = words.as_object().is_some_and(|words| !words.is_empty());
    let instead = json!([{"document": draft.id.join("/"), "text": draft.text}]);
    let mut body = json!({"instead": instead, "everywhere": true});
    if let Some(fields) = body.as_object_mut().filter(|_| asked) {
        fields.insert("question".to_owned(), words.clone());
    }
    match visit.post(Visit::chosen_as(&draft.question, "/v1/suppose"), &body).await {
        Ok(said) => {
            let shown = editor(draft, Tried::Supposed(&words, &said.json));
            visit.shows(&shown, said, None)
        }
        Err(said) if said.status.is_client_error() => {
            let shown = editor(draft, Tried::Refused(&said.json));
            visit.shows(&shown, if visit.wants_data() { said } else { page }, None)
        }
        Err(said) => visit.refused(Section::Policies, said),
    }
}

/// Writes it, if it is as its author saw it.
async fn written(visit: &Visit, draft: Draft, base: &str) -> Response {
    let parts: Vec<&str> = draft.id.iter().map(String::as_str).collect();
    let condition = match base.parse::<u64>() {
        Ok(revision) => (header::IF_MATCH, format!("\"{revision}\"")),
        Err(_) => (header::IF_NONE_MATCH, "*".to_owned()),
    };
    let Ok(value) = HeaderValue::from_str(&condition.1) else { return visit.refused(Section::Policies, unread()) };
    let address = Address::below("/v1/documents", &parts).with("message", &draft.message);
    match visit.ask(put(&draft.text, Some((condition.0, value))), address).await {
        Ok(_) => to(&draft.sort.address(&parts)),
        Err(said) if [StatusCode::PRECONDITION_FAILED, StatusCode::NOT_FOUND].contains(&said.status) => {
            let now = stored(visit, &parts).await;
            let keeper = Keeper::Store(now.as_ref().map(|(_, revision)| *revision));
            let theirs = now.map(|(document, _)| text_of(&document)).unwrap_or_default();
            let draft = Draft { keeper, ..draft };
            let shown = editor(&draft, Tried::Conflict(&said.json, &theirs));
            visit.refuses(&shown, said)
        }
        Err(said) if said.status.is_client_error() => {
            let shown = editor(&draft, Tried::Refused(&said.json));
            visit.refuses(&shown, said)
        }
        Err(said) => visit.refused(Section::Policies, said),
    }
}

fn unread() -> Said {
    Said::problem(StatusCode::BAD_REQUEST, "the form cannot be read")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_a_list_is_edited_from_the_margin_on() {
        assert_eq!(flush("    id: a\n    list:\n    - b\n\n      c: d"), "id: a\nlist:\n- b\n\n  c: d\n");
    }
}
