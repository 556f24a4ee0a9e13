//! A test that would notice a change: requests that the policy in question tells apart are tried out.

use serde_json::{Map, Value as Json, json};
use smol_str::SmolStr;
use upheld_engine::decide::cells::Bounds;
use upheld_engine::decide::{Decide, Maybe, Request};

use super::super::decider;
use super::super::expectable::expectable;
use super::Change;
use crate::report::{Depth, SuggestedTest, decide, request_document};
use crate::world::World;

/// How far to look. Counts, not times: the same policies give the same test.
const BOUNDS: Bounds = Bounds { states: 1 << 14, points: 1 << 6, cells: 1 << 10 };

/// Methods that people ask with.
const USUAL: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// A test that notices a change, if a request is found that is decided otherwise.
pub(super) fn suggested(world: &World<'_>, change: &Change<'_>) -> Option<SuggestedTest> {
    let changed = change.applied(world.snapshot())?;
    let mut best: Option<((Telling, usize), Request, Json)> = None;
    for request in change.mutant.suggested(change.decide, BOUNDS) {
        for request in variants(&request) {
            let Some((telling, expect)) = tried(world, change, &changed, &request) else { continue };
            let key = (telling, oddities(&request));
            if best.as_ref().is_none_or(|(known, ..)| key < *known) {
                best = Some((key, request, expect));
            }
        }
        if best.as_ref().is_some_and(|(known, ..)| *known == (Telling::Decided, 0)) {
            break;
        }
    }
    let (_, request, expect) = best?;
    let name = format!("{}: {}", change.name(), change.sentence(world.snapshot()).text);
    Some(SuggestedTest { name, request: request_document(&request), expect })
}

/// What a request gets that is decided otherwise with a change.
fn tried(world: &World<'_>, change: &Change<'_>, changed: &Decide, request: &Request) -> Option<(Telling, Json)> {
    let kind = world.snapshot().kind(change.kind).map(|kind| world.snapshot().text(kind.name));
    let decider = decider(world.snapshot(), world.options(), kind).ok()?;
    let asked = decider.complete(request.clone(), Some(world.options().now));
    if !change.mutant.touches(change.decide, &asked) {
        return None;
    }
    let answer =
        |policies: &Decide| expectable(&decide(world.snapshot(), change.kind, policies, &asked, Depth::Answer));
    difference(&answer(change.decide), &answer(changed))
}

/// A request, and the same with a method and a path as people know them.
fn variants(request: &Request) -> Vec<Request> {
    let (method, path) = (&request.action.method, &request.resource.path);
    let mut methods = vec![method.clone()];
    if is_odd_method(request) {
        methods.push(Maybe::Is("GET".into()));
    }
    let mut paths = vec![path.clone()];
    if is_odd_path(request) {
        paths.extend([Maybe::Is("/other".into()), Maybe::Absent]);
    }
    let with = |method: &Maybe<SmolStr>, path: &Maybe<SmolStr>| {
        let mut variant = request.clone();
        (variant.action.method, variant.resource.path) = (method.clone(), path.clone());
        variant
    };
    methods.iter().flat_map(|method| paths.iter().map(|path| with(method, path))).collect()
}

/// How many parts of a request nobody would write.
fn oddities(request: &Request) -> usize {
    usize::from(is_odd_method(request)) + usize::from(is_odd_path(request))
}

fn is_odd_method(request: &Request) -> bool {
    request.action.method.known().is_some_and(|method| !USUAL.contains(&method.as_str()))
}

fn is_odd_path(request: &Request) -> bool {
    request.resource.path.known().is_some_and(|path| !path.starts_with('/') || path.contains("//"))
}

/// How plain a difference is, the plainest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Telling {
    /// A request is permitted instead of denied, or the other way round.
    Decided,
    /// It is decided, and would not be, or the other way round.
    Undecided,
    /// Somebody else decides.
    Policy,
    /// Something else comes along.
    Duties,
}

/// What a test would expect to tell one answer from another.
fn difference(before: &Json, after: &Json) -> Option<(Telling, Json)> {
    let differs = |part: &str| ids(before.get(part)) != ids(after.get(part));
    let expect = |part: Option<&str>| {
        let stated = ["decision"].into_iter().chain(part).map(|part| (part.to_owned(), ids(before.get(part))));
        Json::Object(stated.collect::<Map<String, Json>>())
    };
    let doubtful = |answer: &Json| answer.get("decision") == Some(&json!("undecided"));
    if differs("decision") {
        let telling = if doubtful(before) || doubtful(after) { Telling::Undecided } else { Telling::Decided };
        return Some((telling, expect(None)));
    }
    let (part, telling) = [("policy", Telling::Policy), ("obligations", Telling::Duties), ("advice", Telling::Duties)]
        .into_iter()
        .find(|(part, _)| differs(part))?;
    Some((telling, expect(Some(part))))
}

/// A part of an answer as tests state it: lists by the names of what is in them.
fn ids(part: Option<&Json>) -> Json {
    match part {
        Some(Json::Array(items)) => items.iter().map(|item| item.get("id").cloned().unwrap_or_default()).collect(),
        Some(other) => other.clone(),
        None => Json::Null,
    }
}
