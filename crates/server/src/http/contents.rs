//! `/v1/contents`, `/v1/search`: what there is at a glance, and where something is of which one knows a part of its name.

use std::sync::Arc;

use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value as Json_, json};
use upheld_answers::inventory::Row;
use upheld_answers::{KindLine, diagnostic_json};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::asked::{Asked, Readable, aside};
use super::extract::Query;
use super::inventory::{readable, rows};
use super::questions::ask_for;
use super::stamp::stamped;
use crate::app::Shared;
use crate::auth::{Access, Operation};
use crate::problem::Problem;
use crate::telemetry::Observed;
use crate::view::{Counts, RowSort, View, WhichRows, count};

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(contents)).routes(routes!(search))
}

/// Which kinds are told.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// Kinds without policies, too.
    all: bool,
}

/// So many warnings are told at once.
const WARNINGS: usize = 100;

/// What there is, in numbers: policies by kind, with how each kind resolves, objects by type, and what is odd about documents.
#[utoipa::path(get, path = "/v1/contents", params(Wanted),
    responses((status = 200, body = Object), (status = 400, body = Problem)))]
async fn contents(
    Asked(whole): Asked,
    Readable(view): Readable,
    observed: Observed,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Problem> {
    let policies = rows(&view, WhichRows { what: RowSort::Policies, kind: None }).await?;
    let objects = rows(&view, WhichRows { what: RowSort::Objects, kind: None }).await?;
    let access = observed.access().cloned();
    // As everywhere: what is odd is told to those who may read whatever it is about.
    let tells = access.as_ref().is_some_and(|access| whole.is_whole_to(access, Operation::Read));
    let warnings = if tells { view.loaded.warnings.as_slice() } else { &[] };
    let files = view.loaded.snapshot.files();
    let odd: Vec<Json_> = warnings.iter().take(WARNINGS).map(|warning| diagnostic_json(files, warning)).collect();
    let all_odd = warnings.len();
    let held = Arc::clone(&view);
    let counted = ask_for(&view, move |world| {
        let counts = |what: RowSort, rows: &[(String, Row)]| counted(&held, access.as_ref(), what, rows);
        let (mut by_kind, by_type) = (counts(RowSort::Policies, &policies), counts(RowSort::Objects, &objects));
        let with_policies = by_kind.len();
        let (of_policies, of_objects): (usize, usize) = (by_kind.values().sum(), by_type.values().sum());
        let mut kinds: Vec<Json_> = world
            .kind_lines()
            .iter()
            .filter(|line| wanted.all || by_kind.contains_key(line.name.as_str()))
            .map(|line| told(line, by_kind.get(line.name.as_str()).copied().unwrap_or_default()))
            .collect();
        by_kind.retain(|kind, _| !kinds.iter().any(|known| known["kind"] == *kind));
        kinds.extend(by_kind.iter().map(|(kind, count)| json!({"kind": kind, "policies": count})));
        kinds.sort_by_key(|kind| kind["kind"].as_str().unwrap_or_default().to_owned());
        let types: Vec<Json_> = by_type.iter().map(|(kind, count)| json!({"kind": kind, "objects": count})).collect();
        Ok(json!({
            "kind": "Contents", "policies": of_policies, "objects": of_objects, "kindsWithPolicies": with_policies,
            "kinds": kinds, "types": types, "warningCount": all_odd, "warnings": odd,
        }))
    });
    counted.await
}

/// How many there are of each kind that may be read. For a caller who may read all of them, they were counted before.
fn counted(view: &View, access: Option<&Access>, what: RowSort, rows: &[(String, Row)]) -> Counts {
    if access.is_some_and(|access| access.may_all(Operation::Read)) {
        return view.counts(what, rows);
    }
    let may_read = readable(access.cloned());
    count(rows.iter().map(|(_, row)| row).filter(|row| may_read(row)))
}

fn told(line: &KindLine, policies: usize) -> Json_ {
    let KindLine { name, semantics, matches, rank, resolve, about, at } = line;
    json!({
        "kind": name, "policies": policies, "semantics": semantics, "matches": matches, "rank": rank, "resolve": resolve,
        "about": about, "at": at,
    })
}

/// What is looked for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct Sought {
    /// A part of a name, of `KIND/SCOPE/NAME`, or of tags; large and small letters are the same.
    #[param(example = "web")]
    q: String,
    /// At most so many; 20 when left out, 100 at the most.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
}

/// Policies and objects by a part of their names, the best first: names that are what was asked for, names that begin so, then others.
#[utoipa::path(get, path = "/v1/search", params(Sought),
    responses((status = 200, body = Object), (status = 400, body = Problem)))]
async fn search(
    Readable(view): Readable,
    observed: Observed,
    Query(sought): Query<Sought>,
) -> Result<Response, Problem> {
    const USUAL: usize = 20;
    const MOST: usize = 100;
    let limit = match sought.limit.unwrap_or(USUAL) {
        limit @ 1..=MOST => limit,
        limit => return Err(Problem::bad_request(format!("`limit={limit}`: a search finds 1 to {MOST} things"))),
    };
    let policies = rows(&view, WhichRows { what: RowSort::Policies, kind: None }).await?;
    let objects = rows(&view, WhichRows { what: RowSort::Objects, kind: None }).await?;
    let access = observed.access().cloned();
    aside(&view, move |view| {
        let (may_read, wanted) = (readable(access), sought.q.trim());
        let all = policies.iter().map(|row| ("policy", row)).chain(objects.iter().map(|row| ("object", row)));
        let mut found: Vec<Found<'_>> = all
            .filter_map(|(sort, (id, row))| Some((nearness(id, row, wanted)?, id.as_str(), sort, row)))
            .filter(|(.., row)| may_read(row))
            .collect();
        let order = |one: &Found<'_>, other: &Found<'_>| (one.0, one.1, one.2).cmp(&(other.0, other.1, other.2));
        let more = found.len() > limit;
        if more {
            // Whoever types the first letter finds nearly everything, and sees the best of it.
            found.select_nth_unstable_by(limit, order);
            found.truncate(limit);
        }
        found.sort_by(order);
        let items: Vec<Json_> = (found.into_iter().take(limit))
            .map(|(_, id, sort, row)| {
                let mut item = row.json();
                if let Some(fields) = item.as_object_mut() {
                    fields.insert("id".to_owned(), json!(id));
                    fields.insert("sort".to_owned(), json!(sort));
                }
                item
            })
            .collect();
        let found = json!({"kind": "Found", "items": items, "more": if more { json!(true) } else { Json_::Null }});
        Ok(axum::response::IntoResponse::into_response(axum::Json(stamped(view, found))))
    })
    .await
}

/// How well something fits, its id, whether it is a policy or an object, and what is known of it.
type Found<'r> = (Nearness, &'r str, &'static str, &'r Row);

/// How well something fits what was looked for; the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// It is called so.
    Same,
    /// Its name begins so.
    Begins,
    /// Its id has it somewhere.
    Named,
    /// Its tags have it somewhere.
    Tagged,
}

fn nearness(id: &str, row: &Row, wanted: &str) -> Option<Nearness> {
    if wanted.is_empty() {
        return None;
    }
    let below = |prefix: &str| wanted.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/'));
    let same = row.name.eq_ignore_ascii_case(wanted)
        || id.eq_ignore_ascii_case(wanted)
        || below(&row.mesh).is_some_and(|rest| row.name.eq_ignore_ascii_case(rest))
        || wanted
            .split_once('/')
            .is_some_and(|(kind, name)| row.kind.eq_ignore_ascii_case(kind) && row.name.eq_ignore_ascii_case(name));
    if same {
        Some(Nearness::Same)
    } else if begins(&row.name, wanted) {
        Some(Nearness::Begins)
    } else if has(id, wanted) {
        Some(Nearness::Named)
    } else {
        has(&row.tags, wanted).then_some(Nearness::Tagged)
    }
}

fn begins(text: &str, wanted: &str) -> bool {
    text.as_bytes().get(..wanted.len()).is_some_and(|start| start.eq_ignore_ascii_case(wanted.as_bytes()))
}

/// Whether a text has another in it, in large or small letters. Most texts do not: they are passed over by their letters alone.
fn has(text: &str, wanted: &str) -> bool {
    let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
    let Some(first) = wanted.first() else { return true };
    memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text)
        .any(|place| text.get(place..place + wanted.len()).is_some_and(|part| part.eq_ignore_ascii_case(wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: &str, mesh: &str, name: &str) -> Row {
        Row {
            kind: kind.to_owned(),
            mesh: mesh.to_owned(),
            name: name.to_owned(),
            tags: "team=Blue".to_owned(),
            stands: None,
            computed: Vec::new(),
            created: None,
            at: None,
        }
    }

    #[test]
    fn what_is_called_so_comes_before_what_only_has_it_in_its_name() {
        let near = |wanted: &str| nearness("Log/default/web-log", &row("Log", "default", "web-log"), wanted);
        for same in ["web-log", "WEB-LOG", "default/web-log", "log/web-log", "Log/default/web-log"] {
            assert_eq!(near(same), Some(Nearness::Same), "{same}");
        }
        assert_eq!(near("web"), Some(Nearness::Begins));
        assert_eq!(near("-log"), Some(Nearness::Named));
        assert_eq!(near("blue"), Some(Nearness::Tagged));
        assert_eq!((near("red"), near("")), (None, None));
    }
}
