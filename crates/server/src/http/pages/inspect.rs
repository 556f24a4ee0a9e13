//! Pages that answer: the inspector for every question to policies, and the audit.

use axum::http::{HeaderValue, header};
use axum::response::Response;
use serde_json::{Value as Json, json};
use upheld_pages::{
    Address, Inspector, Medium, Section, Supposing, command, compliance as audited, explanation, invitation,
    supposition, unanswered,
};

use super::visit::{MESH, Visit, Wish, to};

pub(super) async fn connection(visit: Visit) -> Response {
    inspected(visit, Inspector::Connection).await
}

pub(super) async fn gateway(visit: Visit) -> Response {
    inspected(visit, Inspector::Gateway).await
}

pub(super) async fn access(visit: Visit) -> Response {
    inspected(visit, Inspector::Access).await
}

pub(super) async fn any(visit: Visit) -> Response {
    inspected(visit, Inspector::Any).await
}

/// The answer to the words of the address; the form alone where there are none.
async fn inspected(visit: Visit, inspector: Inspector) -> Response {
    let words = visit.words();
    if words.as_object().is_none_or(serde_json::Map::is_empty) {
        return invited(&visit, inspector).await;
    }
    answered(&visit, inspector, &words).await
}

async fn answered(visit: &Visit, inspector: Inspector, words: &Json) -> Response {
    let supposing = supposing(visit);
    if !supposing.is_nothing() {
        return supposed(visit, inspector, words, &supposing).await;
    }
    let asked = visit.asked(words);
    let question = as_the_page_asks(visit, "/v1/explain");
    match visit.post(question, words).await {
        Ok(said) => {
            let page = explanation(inspector, &asked, &said.json, Some(&supposing));
            visit.shows(&page, said, command::explain(Some(&visit.server()), &asked))
        }
        Err(said) => {
            let page = unanswered(inspector, &asked, &said.json, &visit.address());
            visit.refuses(&page, said)
        }
    }
}

/// The address of a question, asked where the page asks, with as many of the policies that do not match.
fn as_the_page_asks(visit: &Visit, endpoint: &str) -> Address {
    Address::of(endpoint).with(MESH, visit.value(MESH)).with("skipped", visit.value("skipped"))
}

/// What of an address is supposed.
fn supposing(visit: &Visit) -> Supposing {
    let everywhere = visit.value("everywhere") == "true";
    Supposing { without: visit.values("without"), was: visit.value("was").to_owned(), everywhere }
}

/// The answer if some policies were not there, or to another question than before, and what is otherwise in it.
async fn supposed(visit: &Visit, inspector: Inspector, words: &Json, supposing: &Supposing) -> Response {
    let Supposing { without, was, everywhere } = supposing;
    let mut body = json!({"question": words, "without": without, "everywhere": everywhere});
    if let Some(fields) = body.as_object_mut().filter(|_| !was.is_empty()) {
        fields.insert("was".to_owned(), Visit::words_of(was));
    }
    let mut asked = visit.asked(words);
    match visit.post(as_the_page_asks(visit, "/v1/suppose"), &body).await {
        Ok(said) => {
            let page = supposition(inspector, &asked, supposing, &said.json);
            if let Some(fields) = asked.as_object_mut() {
                fields.insert("without".to_owned(), json!(without));
            }
            visit.shows(&page, said, command::explain(Some(&visit.server()), &asked))
        }
        Err(said) => {
            let page = unanswered(inspector, &asked, &said.json, &visit.address());
            visit.refuses(&page, said)
        }
    }
}

fn section(inspector: Inspector) -> Section {
    match inspector {
        Inspector::Connection => Section::Connections,
        Inspector::Gateway => Section::Gateways,
        Inspector::Access => Section::Access,
        Inspector::Any => Section::Ask,
    }
}

async fn invited(visit: &Visit, inspector: Inspector) -> Response {
    // Whoever may not ask should not be invited to.
    match visit.get(Address::of("/v1/contents")).await {
        Ok(said) => {
            // The drawing itself costs what it shows.
            let is_gateway = |known: &Json| known.get("kind").is_some_and(|kind| kind == "Gateway");
            let has_gateways = said.list("types").iter().any(is_gateway);
            let drawn = inspector == Inspector::Gateway && has_gateways;
            let page = invitation(inspector, drawn.then_some("/gateway/map.svg"));
            visit.shows(&page, said, None)
        }
        Err(said) => visit.refused(section(inspector), said),
    }
}

/// The drawing of what leads where.
pub(super) async fn map(visit: Visit) -> Response {
    let drawn = Wish { accept: "image/svg+xml", ..Wish::default() };
    match visit.ask(drawn, Address::of("/v1/graph")).await {
        Ok(said) => {
            let mut response = said.unchanged();
            let alone = HeaderValue::from_static("default-src 'none'");
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, alone);
            response
        }
        Err(said) => said.unchanged(),
    }
}

/// Everybody and everything under one kind; without a kind, what there is to choose from.
pub(super) async fn connections(visit: Visit) -> Response {
    let kind = visit.value("kind");
    if !kind.is_empty() {
        return answered(&visit, Inspector::Connection, &json!({"allPairs": true, "kind": kind})).await;
    }
    match visit.get(Address::of("/v1/contents")).await {
        Ok(said) => {
            let kinds = said.list("kinds").iter();
            let kinds: Vec<String> = kinds.filter_map(|kind| kind.get("kind")?.as_str()).map(str::to_owned).collect();
            let page = upheld_pages::connections(&kinds);
            visit.shows(&page, said, None)
        }
        Err(said) => visit.refused(Section::Connections, said),
    }
}

/// Who violates which policy, and what would fix it.
pub(super) async fn compliance(visit: Visit) -> Response {
    let words = visit.words();
    match visit.post(Address::of("/v1/audit"), &words).await {
        Ok(said) => {
            let violates = !said.list("violations").is_empty();
            let only = |name: &str| words.get(name).cloned();
            let cut: serde_json::Map<String, Json> = ["workspace", "policies", "as"]
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), only(name)?)))
                .collect();
            let fixes = if violates { visit.post(Address::of("/v1/fix"), &Json::Object(cut)).await.ok() } else { None };
            let page = audited(&said.json, fixes.as_ref().map(|fixes| &fixes.json), Medium::Served);
            visit.shows(&page, said, Some(command::of("audit", Some(&visit.server()), &[])))
        }
        Err(said) => visit.refused(Section::Compliance, said),
    }
}

/// Leads to the page that answers what somebody typed.
pub(super) async fn ask(visit: Visit) -> Response {
    to(&meant(visit.value("q")))
}

/// What a line means: the forms that the first page names; anything else is looked for by its name.
fn meant(line: &str) -> Address {
    let line = line.trim();
    let two = |mark: &str| line.split_once(mark).map(|(one, other)| (one.trim(), other.trim()));
    if let Some((from, target)) = two("→").or_else(|| two("->")) {
        return Address::of("/connection").with("from", from).with("to", target);
    }
    if let Some((one, other)) = two("~") {
        return Address::of("/explain").with("what", &format!("{one}~{other}"));
    }
    if is_code(line) {
        return Address::below("/codes", &[line]);
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    if let [who @ .., action, resource] = words.as_slice()
        && resource.starts_with('/')
        && action.chars().all(|letter| letter.is_ascii_uppercase())
    {
        let subject = |word: &&str| if word.contains('=') { (*word).to_owned() } else { format!("role={word}") };
        let asked = who.iter().map(subject).fold(Address::of("/access"), |address, who| address.with("subject", &who));
        return asked.with("action", action).with("resource", resource);
    }
    if let [one] = words.as_slice()
        && let Some((host, path)) = one.split_once('/')
        && host.contains('.')
    {
        return Address::of("/gateway").with("host", host).with("path", &format!("/{path}"));
    }
    Address::of("/search").with("q", line)
}

/// `UP201`, `select.name-order`.
fn is_code(line: &str) -> bool {
    upheld_answers::codes::all().any(|meaning| meaning.code.eq_ignore_ascii_case(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_leads_to_the_page_that_answers() {
        let cases = [
            ("web-1 → backend-1", "/connection?from=web-1&to=backend-1"),
            (" web-1 -> backend-1 ", "/connection?from=web-1&to=backend-1"),
            ("project/a ~ zone/b", "/explain?what=project%2Fa~zone%2Fb"),
            ("admin DELETE /api/audit/123", "/access?subject=role%3Dadmin&action=DELETE&resource=%2Fapi%2Faudit%2F123"),
            ("id=ann GET /x", "/access?subject=id%3Dann&action=GET&resource=%2Fx"),
            ("GET /x", "/access?action=GET&resource=%2Fx"),
            ("shop.example/cart", "/gateway?host=shop.example&path=%2Fcart"),
            ("UP201", "/codes/UP201"),
            ("mesh-defaults", "/search?q=mesh-defaults"),
            ("<script>", "/search?q=%3Cscript%3E"),
            ("", "/search"),
        ];
        for (line, address) in cases {
            assert_eq!(meant(line).to_string(), address, "{line}");
        }
    }
}
