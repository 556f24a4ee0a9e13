//! Paths and policies out of any bytes. The fuzz target `paths` and a short run in the tests share it.

use smol_str::format_smolstr;
use upheld_model::{NodeRef, SourceId};

use super::super::random::{Bytes, World};
use crate::decide::family::{Decide, Outcome, Strictness};
use crate::decide::glob::Glob;
use crate::decide::path::Readings;
use crate::decide::request::{Maybe, NormalizedRequest, Path, Request, Resource};
use crate::decide::rule::{Matcher, PathPattern, Rule, Set, Target, Test};
use crate::decide::value::{Algorithm, Effect, Value};
use crate::{Scratch, Silent, ask};

/// What paths are put together of: names, separators, dots and parameters, plain, escaped and escaped twice.
const PARTS: [&str; 48] = [
    "/",
    "/",
    "/",
    "/",
    "a",
    "a",
    "b",
    "b",
    "/a",
    "/b",
    "/..",
    "/../",
    "/.",
    "..",
    ".",
    "//",
    "%2f",
    "%2F",
    "%252f",
    "\\",
    "%5c",
    "%255C",
    ";",
    ";x",
    "%3b",
    "%253b",
    "%2e",
    "%2E%2e",
    ".%2e",
    "%252e",
    "%25",
    "%2525",
    "%3f",
    "%23",
    "%253F",
    "%20",
    "\t",
    "%09",
    "%0a",
    " ",
    "%61",
    "%2561",
    "%c3%a9",
    "é",
    "%25c3%25a9",
    "%25ff",
    "?",
    "%2500",
];
const PATTERNS: [&str; 14] =
    ["/**", "*", "/a/**", "/b/**", "/a", "/b", "/", "/a/*", "/a/b", "/*/b", "/**/b", "/a*", "/a;x", "/*"];

/// The path that bytes stand for.
pub fn path_of(bytes: &mut Bytes<'_>) -> String {
    (0..=bytes.below(12)).fold("/".to_owned(), |path, _| path + PARTS.get(bytes.below(48)).copied().unwrap_or_default())
}

/// Whether the engine has every reading that somebody has, and permits only what is permitted in all of them; the difference if
/// it does not.
pub fn check(given: &[u8]) -> Result<(), String> {
    let (start, rest) = given.split_at_checked(14).unwrap_or((given, &[]));
    let path = path_of(&mut Bytes::new(start));
    // A query is cut off by everybody.
    let readings = super::readings(path.split('?').next().unwrap_or_default());
    if let Some(own) = super::of_the_engine(&path)
        && let Some((reading, who)) = readings.iter().find(|(reading, _)| !own.contains(reading))
    {
        return Err(format!("{path:?} is {reading:?} for {who}, and that is none of {own:?}"));
    }
    let mut bytes = Bytes::new(rest);
    let (set, requests) = if bytes.one_in(4) {
        let World { set, requests, .. } = World::of(rest);
        (set, requests)
    } else {
        (policies(&mut bytes), vec![Request::default()])
    };
    let decide = Decide::new(set.clone(), Strictness::Strict);
    for request in requests.into_iter().take(3) {
        let request =
            Request { resource: Resource { path: Maybe::Is(path.as_str().into()), ..request.resource }, ..request };
        is_safe(&decide, &set, &request, &readings).map_err(|problem| format!("{path:?} {problem}\n{set:#?}"))?;
    }
    Ok(())
}

/// Whether a request that is permitted is so for everybody who reads its path.
fn is_safe(decide: &Decide, set: &Set, request: &Request, readings: &[(String, String)]) -> Result<(), String> {
    if ask(decide, &request, &mut Scratch::default(), &mut Silent).outcome != Outcome::Permit {
        return Ok(());
    }
    let mut room = Readings::default();
    let asked = decide.asked(request, &mut room);
    for (reading, who) in readings {
        let (value, _) =
            super::super::decide(set, NormalizedRequest { path: Path::Is(reading), ..asked }, decide.unknowns());
        let effect = if value == Value::NotApplicable { set.default } else { value.effect() };
        if effect != Some(Effect::Permit) {
            return Err(format!("is permitted, but {value:?} as {reading:?} for {who}"));
        }
    }
    Ok(())
}

/// Policies about paths alone.
fn policies(bytes: &mut Bytes<'_>) -> Set {
    let at = NodeRef { source: SourceId::new(0), node: 0 };
    let effect = |bytes: &mut Bytes<'_>| if bytes.one_in(2) { Effect::Deny } else { Effect::Permit };
    let mut members = Vec::new();
    for number in 0..=bytes.below(5) {
        let pattern =
            PATTERNS.get(bytes.below(14)).and_then(|pattern| Glob::parse(pattern).ok()).map(PathPattern::Glob);
        let mut tests = vec![Test::Path(pattern.into_iter().collect())];
        if bytes.one_in(6) {
            tests = vec![Test::Not(Matcher { tests })];
        }
        let target = Target { resources: vec![Matcher { tests }], ..Target::default() };
        members.push(Rule::new(format_smolstr!("p{number}"), effect(bytes), target, at).into());
    }
    let default = bytes.one_in(2).then(|| effect(bytes));
    Set {
        name: format_smolstr!("s"),
        algorithm: Algorithm::ALL.get(bytes.below(10)).copied().unwrap_or_default(),
        default,
        target: Target::default(),
        duties: Vec::new(),
        priority: 0.0,
        members,
        at: None,
    }
}
