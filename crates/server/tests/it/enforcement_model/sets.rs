//! How policies are combined: every set has the outcomes that it could have, its members taken as independent of each other.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::facts::{Path, Request, Truth};
use super::policies::{about, applies, in_every_reading, is_on};

/// What could become of a policy or a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcomes {
    pub(super) permit: bool,
    pub(super) deny: bool,
    pub(super) nothing: bool,
}

const NONE: Outcomes = Outcomes { permit: false, deny: false, nothing: false };
const PERMIT: Outcomes = Outcomes { permit: true, ..NONE };
const DENY: Outcomes = Outcomes { deny: true, ..NONE };
const NOTHING: Outcomes = Outcomes { nothing: true, ..NONE };
/// Policies clash, or more is not known.
const EITHER: Outcomes = Outcomes { permit: true, deny: true, nothing: false };

impl Outcomes {
    fn or(self, other: Self) -> Self {
        Self {
            permit: self.permit || other.permit,
            deny: self.deny || other.deny,
            nothing: self.nothing || other.nothing,
        }
    }

    fn of_effect(effect: &str) -> Self {
        if effect == "permit" { PERMIT } else { DENY }
    }

    /// What takes the place of not being applicable.
    pub(super) fn or_default(self, effect: Option<&str>) -> Self {
        match effect {
            Some(effect) if self.nothing => Self { nothing: false, ..self }.or(Self::of_effect(effect)),
            _ => self,
        }
    }
}

/// What could become of one member, and what it takes for that.
#[derive(Clone, Debug)]
struct Member {
    outcomes: Outcomes,
    /// What becomes of it where its target is about the request.
    inner: Outcomes,
    target: Truth,
    priority: i64,
    /// The obligations that could come with a permit of it.
    obligations: BTreeSet<String>,
}

/// Policies and sets under an algorithm: what could become of them, and which obligations could come with a permit.
pub(super) fn combined(
    algorithm: &str,
    nodes: &[Json],
    request: &Request,
    path: &Path,
) -> (Outcomes, BTreeSet<String>) {
    let mut members: Vec<Member> = nodes.iter().map(|node| member(node, request, path)).collect();
    // The higher priority first; the sort keeps the places of equal ones.
    members.sort_by_key(|member| -member.priority);
    let outcomes = match algorithm {
        "deny-overrides" | "ordered-deny-overrides" => deny_overrides(&members),
        "permit-overrides" | "ordered-permit-overrides" => permit_overrides(&members),
        "first-applicable" => first(members.iter().map(|member| member.outcomes)),
        "priority-deny-overrides" => first(groups(&members).map(deny_overrides)),
        "deny-unless-permit" if members.iter().any(|member| member.outcomes == PERMIT) => PERMIT,
        "deny-unless-permit" => DENY,
        "permit-unless-deny" if members.iter().any(|member| member.outcomes == DENY) => DENY,
        "permit-unless-deny" if nodes.iter().any(|node| denies_by_path(node, request, path)) => EITHER,
        "permit-unless-deny" => PERMIT,
        "unanimous" => unanimous(&members),
        "only-one-applicable" => only_one(&members),
        other => panic!("an algorithm that the model does not know: {other}"),
    };
    let evaluated = match algorithm {
        // Where the first policy decides, only that one is evaluated.
        "first-applicable" => 1 + members.iter().position(|member| !member.outcomes.nothing).unwrap_or(members.len()),
        "permit-overrides" | "ordered-permit-overrides" | "deny-unless-permit" => {
            1 + members.iter().position(|member| member.outcomes == PERMIT).unwrap_or(members.len())
        }
        "priority-deny-overrides" => {
            let decided = groups(&members).find(|group| !deny_overrides(group).nothing);
            let last = decided.and_then(|group| group.last()).map(|last| last.priority);
            members.iter().filter(|member| last.is_none_or(|last| member.priority >= last)).count()
        }
        _ => members.len(),
    };
    let obligations = members.iter().take(evaluated).flat_map(|member| member.obligations.clone()).collect();
    (outcomes, obligations)
}

/// Whether a policy could deny because of a path that cannot be read.
fn denies_by_path(node: &Json, request: &Request, path: &Path) -> bool {
    let of = |path: &Path| member(node, request, path).outcomes;
    let supposed = [Truth::Yes, Truth::No].map(|truth| of(&Path::Supposed(truth)));
    *path == Path::Unreadable && of(path).deny && supposed.iter().any(|supposed| *supposed != of(path))
}

fn groups(members: &[Member]) -> impl Iterator<Item = &[Member]> {
    members.chunk_by(|one, other| one.priority == other.priority)
}

fn member(node: &Json, request: &Request, path: &Path) -> Member {
    let priority = node.get("priority").and_then(Json::as_i64).unwrap_or(0);
    let own = |effect: &str| {
        let duties = node.get("duties").and_then(Json::as_array).into_iter().flatten();
        let kept = duties.filter(|duty| duty["kind"] == "obligation" && duty["on"] == effect);
        kept.filter_map(|duty| duty["id"].as_str().map(str::to_owned)).collect::<BTreeSet<_>>()
    };
    let (inner, target, mut obligations, applicable) = match node.get("algorithm").and_then(Json::as_str) {
        Some(algorithm) => {
            let listed = |name: &str| node.get(name).and_then(Json::as_array).cloned().unwrap_or_default();
            let nodes = [listed("policies"), listed("sets")].concat();
            let (outcomes, obligations) = combined(algorithm, &nodes, request, path);
            let inner = outcomes.or_default(node.get("default").and_then(Json::as_str));
            let target = match node.get("target") {
                Some(target) => in_every_reading(request, path, |seen| about(target, seen)),
                None => Truth::Yes,
            };
            (inner, target, obligations, target)
        }
        None => {
            let inner = Outcomes::of_effect(node["effect"].as_str().unwrap_or_default());
            let on = is_on(node);
            let target = Truth::all([on, in_every_reading(request, path, |seen| about(node, seen))]);
            (inner, target, BTreeSet::new(), Truth::all([on, applies(node, request, path)]))
        }
    };
    let outcomes = match applicable {
        Truth::Yes => inner,
        Truth::No => NOTHING,
        Truth::Unknown => inner.or(NOTHING),
    };
    // A policy whose target is known may still depend on its conditions.
    let inner = match (node.get("algorithm"), applicable) {
        (None, Truth::No) => NOTHING,
        (None, Truth::Unknown) => inner.or(NOTHING),
        _ => inner,
    };
    obligations.extend(own("permit"));
    if !outcomes.permit {
        obligations.clear();
    }
    Member { outcomes, inner, target, priority, obligations }
}

fn deny_overrides(members: &[Member]) -> Outcomes {
    let could =
        |deny: bool| members.iter().any(|member| if deny { member.outcomes.deny } else { member.outcomes.permit });
    let must_deny = members.iter().any(|member| member.outcomes == DENY);
    Outcomes {
        deny: could(true),
        permit: !must_deny && could(false),
        nothing: members.iter().all(|member| member.outcomes.nothing),
    }
}

fn permit_overrides(members: &[Member]) -> Outcomes {
    let must_permit = members.iter().any(|member| member.outcomes == PERMIT);
    Outcomes {
        permit: members.iter().any(|member| member.outcomes.permit),
        deny: !must_permit && members.iter().any(|member| member.outcomes.deny),
        nothing: members.iter().all(|member| member.outcomes.nothing),
    }
}

fn first(outcomes: impl Iterator<Item = Outcomes>) -> Outcomes {
    let mut all = NOTHING;
    for outcomes in outcomes {
        all = Outcomes { nothing: outcomes.nothing, ..all.or(outcomes) };
        if !outcomes.nothing {
            break;
        }
    }
    all
}

/// Every combination of what could become of the members.
fn unanimous(members: &[Member]) -> Outcomes {
    let mut reached = BTreeSet::from([(false, false)]);
    for member in members {
        let before = std::mem::take(&mut reached);
        for (permits, denies) in before {
            let outcomes = member.outcomes;
            reached.extend(outcomes.permit.then_some((true, denies)));
            reached.extend(outcomes.deny.then_some((permits, true)));
            reached.extend(outcomes.nothing.then_some((permits, denies)));
        }
    }
    reached.into_iter().fold(NONE, |all, combination| {
        all.or(match combination {
            (true, true) => EITHER,
            (true, false) => PERMIT,
            (false, true) => DENY,
            (false, false) => NOTHING,
        })
    })
}

fn only_one(members: &[Member]) -> Outcomes {
    let certain: Vec<&Member> = members.iter().filter(|member| member.target == Truth::Yes).collect();
    let possible: Vec<&Member> = members.iter().filter(|member| member.target == Truth::Unknown).collect();
    match (certain.as_slice(), possible.as_slice()) {
        ([], []) => NOTHING,
        ([only], []) => only.inner,
        ([], [only]) => only.inner.or(NOTHING),
        _ => EITHER,
    }
}
