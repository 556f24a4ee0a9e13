//! Pages that list and show: the first one, policies, objects, kinds, codes, and what is wrong with files.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::Value as Json;
use upheld_pages::{Address, Beside, Section, Sort, address_of, command, list, thing};

use super::history::latest;
use super::visit::{Said, Visit, to};

/// Rows on a page.
const ROWS: &str = "60";

/// Where one begins; for browsers. Programs are told where endpoints are, as ever.
pub(super) async fn home(visit: Visit) -> Response {
    if !visit.accepts_html() {
        return visit.as_before().await;
    }
    match visit.get(Address::of("/v1/contents")).await {
        Ok(said) => {
            let latest = latest(&visit, 8).await.ok();
            let page = upheld_pages::home(&said.json, latest.as_ref().map(|(entries, ..)| entries.as_slice()));
            visit.shows(&page, said, Some(command::of("list", Some(&visit.server()), &[])))
        }
        Err(said) => visit.refused(Section::Ask, said),
    }
}

pub(super) async fn policies(visit: Visit) -> Response {
    listed(visit, Sort::Policies).await
}

pub(super) async fn objects(visit: Visit) -> Response {
    listed(visit, Sort::Objects).await
}

async fn listed(visit: Visit, sort: Sort) -> Response {
    let (path, word) = endpoint(sort);
    let kind = visit.value("kind");
    let address = Address::of(path).with("kind", kind).with("after", visit.value("after")).with("limit", ROWS);
    match visit.get(address).await {
        Ok(mut said) => {
            mark(&mut said.json, sort);
            let page = list(sort, kind, &said.json);
            let rest: Vec<&str> = if kind.is_empty() { vec![word] } else { vec![word, "--kind", kind] };
            visit.shows(&page, said, Some(command::of("list", Some(&visit.server()), &rest)))
        }
        Err(said) => visit.refused(Section::Policies, said),
    }
}

/// Where things are listed, and what commands call them.
fn endpoint(sort: Sort) -> (&'static str, &'static str) {
    match sort {
        Sort::Policies => ("/v1/policies", "policies"),
        Sort::Objects => ("/v1/objects", "objects"),
    }
}

/// Lists of one sort do not say which.
fn mark(listed: &mut Json, sort: Sort) {
    let word = if sort == Sort::Objects { "object" } else { "policy" };
    for item in listed.get_mut("items").and_then(Json::as_array_mut).into_iter().flatten() {
        if let Some(fields) = item.as_object_mut() {
            fields.insert("sort".to_owned(), word.into());
        }
    }
}

/// What is wrong with the policies themselves.
pub(super) async fn findings(visit: Visit) -> Response {
    match visit.post(Address::of("/v1/lint"), &serde_json::json!({})).await {
        Ok(said) => {
            let page = upheld_pages::findings(&said.json);
            visit.shows(&page, said, Some(command::of("lint", Some(&visit.server()), &[])))
        }
        Err(said) => visit.refused(Section::Policies, said),
    }
}

pub(super) async fn search(visit: Visit) -> Response {
    let query = visit.value("q");
    match visit.get(Address::of("/v1/search").with("q", query).with("limit", ROWS)).await {
        Ok(said) => {
            let page = upheld_pages::search(query, &said.json);
            visit.shows(&page, said, Some(command::of("list", Some(&visit.server()), &[])))
        }
        Err(said) => visit.refused(Section::Policies, said),
    }
}

/// Leads to the policy that an answer names; where several are called so, they are listed.
pub(super) async fn find(visit: Visit) -> Response {
    let (kind, scope, name) = (visit.value("kind"), visit.value("scope"), visit.value("name"));
    let said = match visit.get(Address::of("/v1/search").with("q", name).with("limit", "100")).await {
        Ok(said) => said,
        Err(said) => return visit.refused(Section::Policies, said),
    };
    let items = said.list("items");
    let is = |item: &&Json, field: &str, wanted: &str| {
        wanted.is_empty()
            || item.get(field).and_then(Json::as_str).is_some_and(|known| known.eq_ignore_ascii_case(wanted))
    };
    let text = |item: &Json, field: &str| item.get(field).and_then(Json::as_str).unwrap_or_default().to_owned();
    let is_named = |item: &&Json| {
        let (own, mesh) = (text(item, "name"), text(item, "mesh"));
        own == name || format!("{mesh}/{own}") == name
    };
    let named: Vec<&Json> = items.iter().filter(is_named).collect();
    let of_kind: Vec<&Json> = named.iter().copied().filter(|item| is(item, "kind", kind)).collect();
    // What answers call a kind is not always what documents call it.
    let fitting = if of_kind.is_empty() { named } else { of_kind };
    let scoped: Vec<&Json> = fitting.iter().copied().filter(|item| is(item, "mesh", scope)).collect();
    match if scoped.is_empty() { fitting } else { scoped }.as_slice() {
        [only] => {
            let [sort, kind, scope, name] = ["sort", "kind", "mesh", "name"].map(|field| text(only, field));
            match visit.value("edit") {
                "" => to(&address_of(only)),
                question => to(&Address::below("/edit", &[&sort, &kind, &scope, &name]).with("for", question)),
            }
        }
        _ => {
            let page = upheld_pages::search(name, &said.json);
            visit.shows(&page, said, None)
        }
    }
}

pub(super) async fn policy(visit: Visit, Path(named): Path<(String, String, String)>) -> Response {
    shown(visit, Sort::Policies, named).await
}

pub(super) async fn object(visit: Visit, Path(named): Path<(String, String, String)>) -> Response {
    shown(visit, Sort::Objects, named).await
}

async fn shown(visit: Visit, sort: Sort, (kind, scope, name): (String, String, String)) -> Response {
    match visit.get(Address::below(endpoint(sort).0, &[&kind, &scope, &name])).await {
        Ok(said) => {
            let id = format!("{kind}/{scope}/{name}");
            let body = serde_json::json!({"policy": id});
            let about =
                if sort == Sort::Policies { visit.post(Address::of("/v1/survival"), &body).await.ok() } else { None };
            let deleted = match visit.value("if") {
                "deleted" => visit.post(Address::of("/v1/affected"), &body).await.ok(),
                _ => None,
            };
            let part = |said: &Option<Said>, name: &str| said.as_ref().and_then(|said| said.json.get(name)).cloned();
            let beside = Beside {
                survival: part(&about, "survival").unwrap_or_default(),
                without: part(&deleted, "ifDeleted").unwrap_or_default(),
            };
            let page = thing(sort, &said.json, &beside);
            visit.shows(&page, said, Some(command::of("show", Some(&visit.server()), &[&id])))
        }
        Err(said) => visit.refused(Section::Policies, said),
    }
}

pub(super) async fn kinds(visit: Visit) -> Response {
    match visit.get(Address::of("/v1/contents").with("all", "true")).await {
        Ok(said) => {
            let page = upheld_pages::kinds(&said.json);
            visit.shows(&page, said, Some(command::of("kinds", Some(&visit.server()), &[])))
        }
        Err(said) => visit.refused(Section::Reference, said),
    }
}

pub(super) async fn codes(visit: Visit) -> Response {
    match visit.get(Address::of("/v1/codes").with("limit", "200").with("after", visit.value("after"))).await {
        Ok(said) => {
            let page = upheld_pages::codes(&said.json);
            visit.shows(&page, said, Some(command::of("codes", None, &[])))
        }
        Err(said) => visit.refused(Section::Reference, said),
    }
}

pub(super) async fn code(visit: Visit, Path(code): Path<String>) -> Response {
    match visit.get(Address::below("/v1/codes", &[&code])).await {
        Ok(said) => {
            let page = upheld_pages::code(&said.json);
            visit.shows(&page, said, Some(command::of("codes", None, &[&code])))
        }
        Err(said) => visit.refused(Section::Reference, said),
    }
}

pub(super) async fn lessons(visit: Visit) -> Response {
    match visit.get(Address::of("/v1/lessons")).await {
        Ok(said) => {
            let page = upheld_pages::lessons(&said.json);
            visit.shows(&page, said, Some(command::of("learn", None, &[])))
        }
        Err(said) => visit.refused(Section::Reference, said),
    }
}

/// A lesson after a step; the first when none is named.
pub(super) async fn lesson(visit: Visit, Path(lesson): Path<String>) -> Response {
    let step = visit.value("step");
    match visit.get(Address::below("/v1/lessons", &[&lesson]).with("step", step)).await {
        Ok(said) => {
            let page = upheld_pages::lesson(&said.json);
            let rest: Vec<&str> = if step.is_empty() { vec![&lesson] } else { vec![&lesson, "--step", step] };
            visit.shows(&page, said, Some(command::of("learn", None, &rest)))
        }
        Err(said) => visit.refused(Section::Reference, said),
    }
}

/// What is wrong with files, and what is odd.
pub(super) async fn diagnostics(visit: Visit) -> Response {
    let (ready, contents) = tokio::join!(visit.get(Address::of("/readyz")), visit.get(Address::of("/v1/contents")));
    let contents: Said = match contents {
        Ok(said) => said,
        Err(said) => return visit.refused(Section::Ask, said),
    };
    let warnings = contents.list("warnings");
    let readiness = match ready {
        Ok(said) => said.json,
        Err(said) if said.status == StatusCode::SERVICE_UNAVAILABLE => said.json,
        Err(_) => Json::Null,
    };
    let page = upheld_pages::diagnostics(&readiness, warnings);
    visit.shows(&page, contents, Some(command::of("list", Some(&visit.server()), &[])))
}
