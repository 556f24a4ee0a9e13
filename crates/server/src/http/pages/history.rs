//! The log of revisions, newest first, and the difference between two.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value as Json, json};
use upheld_pages::{Address, Changed, Section, command, difference, history as listed};

use super::visit::{Said, Visit};

/// Entries on a page.
const ENTRIES: u64 = 40;
/// Documents whose difference is shown at once.
const DOCUMENTS: usize = 50;

pub(super) async fn history(visit: Visit) -> Response {
    let number = |name: &str| visit.value(name).parse::<u64>().ok();
    let shown = match (number("from"), number("to")) {
        (Some(from), Some(to)) => return between(&visit, from, to).await,
        _ => before(&visit, number("before"), ENTRIES).await,
    };
    match shown {
        Ok((entries, last, older, said)) => visit.shows(&listed(&entries, last, older), said, None),
        Err(said) => visit.refused(Section::History, said),
    }
}

/// What changes from one revision to another, and for whom.
pub(super) async fn changes(visit: Visit) -> Response {
    let number = |name: &str| visit.value(name).parse::<u64>().ok();
    let last = match visit.get(Address::of("/v1/revisions").with("limit", "1")).await {
        Ok(said) => said.json.get("last").and_then(Json::as_u64).unwrap_or_default(),
        Err(said) => return visit.refused(Section::History, said),
    };
    let after = number("to").unwrap_or(last);
    let before = number("from").unwrap_or(after.saturating_sub(1));
    match visit.post(Address::of("/v1/diff"), &json!({"before": before, "after": after})).await {
        Ok(said) => {
            let page = upheld_pages::changes(&said.json, Some((before, after)));
            let range = format!("{before}..{after}");
            visit.shows(&page, said, Some(command::of("diff", Some(&visit.server()), &[&range])))
        }
        Err(said) => visit.refused(Section::History, said),
    }
}

/// The last entries, newest first, and how many there are.
pub(super) async fn latest(visit: &Visit, count: u64) -> Result<(Vec<Json>, u64), Said> {
    before(visit, None, count).await.map(|(entries, last, ..)| (entries, last))
}

/// Entries before a revision, newest first; the last revision, and before which one older entries are.
async fn before(visit: &Visit, end: Option<u64>, count: u64) -> Result<(Vec<Json>, u64, Option<u64>, Said), Said> {
    let log =
        |after: &str, limit: u64| Address::of("/v1/revisions").with("after", after).with("limit", &limit.to_string());
    let head = visit.get(log("", 1)).await?;
    let (last, oldest) = (number(&head.json, "last"), number(&head.json, "oldest"));
    let end = end.unwrap_or(last.saturating_add(1)).min(last.saturating_add(1));
    let begin = end.saturating_sub(1).saturating_sub(count).max(oldest);
    let said = visit.get(log(&begin.to_string(), count)).await?;
    let items = said.list("items").iter();
    let mut entries: Vec<Json> = items.filter(|entry| number(entry, "revision") < end).cloned().collect();
    entries.reverse();
    let older = (begin > oldest).then_some(begin + 1);
    Ok((entries, last, older, said))
}

fn number(json: &Json, name: &str) -> u64 {
    json.get(name).and_then(Json::as_u64).unwrap_or_default()
}

/// Every document that was changed on the way from one revision to another, as it was at both.
async fn between(visit: &Visit, from: u64, to: u64) -> Response {
    match changed(visit, from, to).await {
        Ok((all, left, said)) => visit.shows(&difference(from, to, &all, left), said, None),
        Err(said) => visit.refused(Section::History, said),
    }
}

async fn changed(visit: &Visit, from: u64, to: u64) -> Result<(Vec<Changed>, usize, Said), Said> {
    /// The most that the log gives at once.
    const MOST: u64 = 1000;
    let (begin, end) = (from.min(to), from.max(to));
    if end - begin > MOST {
        let detail = format!("at most {MOST} revisions are held against each other");
        return Err(Said::problem(StatusCode::BAD_REQUEST, &detail));
    }
    let log = Address::of("/v1/revisions").with("after", &begin.to_string()).with("limit", &MOST.to_string());
    let log = log.with("changes", &u32::MAX.to_string());
    let said = visit.get(log).await?;
    let entries = said.list("items").iter();
    let changes = entries
        .filter(|entry| number(entry, "revision") <= end)
        .flat_map(|entry| entry.get("changes").and_then(Json::as_array).into_iter().flatten());
    let keys: BTreeSet<String> =
        changes.filter_map(|change| change.get("put").or(change.get("delete"))?.as_str()).map(str::to_owned).collect();
    let mut all = Vec::new();
    for id in keys.iter().take(DOCUMENTS) {
        let (before, after) = (document(visit, id, from).await?, document(visit, id, to).await?);
        if before != after {
            all.push(Changed { id: id.clone(), before, after });
        }
    }
    Ok((all, keys.len().saturating_sub(DOCUMENTS), said))
}

/// A document as it was; none where there was none.
async fn document(visit: &Visit, id: &str, revision: u64) -> Result<Option<Json>, Said> {
    let parts: Vec<&str> = id.splitn(3, '/').collect();
    let address = Address::below("/v1/documents", &parts).with("at", &revision.to_string());
    match visit.get(address).await {
        Ok(said) => Ok(said.json.get("document").cloned()),
        Err(said) if said.status == StatusCode::NOT_FOUND => Ok(None),
        Err(said) => Err(said),
    }
}
